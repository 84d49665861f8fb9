"""Do choices fit the model of strengths: is there one order (transitivity), and is it everybody's (homogeneity)?

Quantities that would be large if not are compared with those of studies simulated from Thurstone's model as fitted to
the same comparisons (`karat.models.choices.assumptions`). p is the share of studies, this one included, in which the
quantity is at least as large. A large p does not show that the assumption holds, only that nothing against it was seen.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.executors import SERIAL, Executor
from karat.judgments import Judgments
from karat.judgments.scales import Choice
from karat.measure.rated import known_column, rated
from karat.measure.result import MeasureError, MeasureResult, PlotColumns, schema_of
from karat.measure.scaling.choices import Compared, compared_stimuli
from karat.messages import Message, check_number
from karat.models.choices.assumptions import NAMES, Misfit, circular_triads, compared_triads, misfit, simulated, zeta
from karat.models.choices.pairs import Pairs
from karat.models.choices.thurstone import fit_thurstone
from karat.types import Floats, Ints

SHOWN = 0.05
TESTS = {
    "weak": ("assumptions.weak", "assumptions.against_weak"),
    "moderate": ("assumptions.moderate", "assumptions.against_moderate"),
    "strong": ("assumptions.strong", "assumptions.against_strong"),
    "circular": ("assumptions.circular", "assumptions.against_circular"),
    "dimension": ("assumptions.dimension", "assumptions.against_dimension"),
    "outfit": ("assumptions.outfit", "assumptions.against_outfit"),
    "groups": ("assumptions.groups", "assumptions.against_groups"),
}
"""The messages of each test: what is tested, and what a small p says."""
COUNTED = ("weak", "moderate", "strong", "circular")
"""The tests that count triads."""


@dataclass(frozen=True)
class ChoiceAssumptions(MeasureResult):
    """Tests of one order that all share."""

    tests: pl.DataFrame
    """test, statistic, expected (the mean of the simulated studies), p."""
    findings: tuple[Message, ...] = field(repr=False)
    """What each test found, in the order of the rows."""
    people: pl.DataFrame = field(repr=False)
    """participant, n, outfit (about 1 where the model holds), direction (along the second dimension), circular, triads,
    zeta (where all stimuli were compared)."""
    points: ClassVar = PlotColumns(("test",), "p", "p")

    def table(self) -> pl.DataFrame:
        """The tests, each with what it found."""
        return self.tests.with_columns(finding=pl.Series(map(str, self.findings), dtype=pl.String))

    @property
    def summary(self) -> tuple[Message, ...]:
        """What speaks against one order that all participants share."""
        p = self.tests["p"].to_list()
        against = tuple(found for found, own in zip(self.findings, p, strict=True) if own < SHOWN)
        return against or (Message("assumptions.nothing", {"p": min(p, default=None)}),)


def choice_assumptions(
    judgments: Judgments,
    by: str | None = None,
    *,
    question: str | None = None,
    functions: Sequence[str] = ("test",),
    samples: int = 199,
    seed: int = 1,
    progress: Callable[[str], None] | None = None,
    executor: Executor = SERIAL,
) -> ChoiceAssumptions:
    """Tests of transitivity and of homogeneity; `by` names a column that puts participants into groups.

    `executor` says where the simulated studies are analysed (`karat.executors.open_executor`).

    Parameters
    ----------
    by
        The column that puts participants into groups to compare.

    >>> import karat
    >>> random = np.random.default_rng(1)
    >>> left = random.integers(5, size=400)
    >>> right = (left + random.integers(1, 5, size=400)) % 5
    >>> said = np.where(right - left + random.normal(size=400) > 0, "left", "right")
    >>> frame = {"participant": np.arange(400) // 40, "trial": np.arange(400) % 40 + 1, "item": left * 5 + right,
    ...          "left": left, "right": right, "response": said}
    >>> print(choice_assumptions(karat.Judgments(frame, karat.Choice()), samples=19))
    There is no evidence against one order of the stimuli shared by all participants ...
    """
    check_number(MeasureError, "samples", samples, at_least=19)
    compared, group = _choices(judgments, functions, question, by)
    pairs, person, people = compared.pairs, compared.person, len(compared.people)
    if people < 2:
        raise MeasureError(Message("assumptions.participants"))
    triads = compared_triads(pairs, seed)
    found = misfit(pairs, person, people, triads, group)
    fit = fit_thurstone(pairs, person)
    random = np.random.default_rng(seed)
    # The studies are drawn here, one after the other; to analyse them is what takes long.
    answers = [simulated(pairs, person, people, fit, random).answer.astype(np.int8) for _ in range(samples)]

    def report(done: int, total: int) -> None:
        if progress is not None and done % 10 == 0:
            progress(f"{done} of {total} simulated studies")

    about = pairs, person, people, triads, group
    drawn = np.array(executor.map(_statistics, about, answers, name="choice assumptions", progress=report))
    circles, whole = circular_triads(pairs, person, people)
    notes = list(compared.notes)
    if not len(triads):
        notes.append(Message("assumptions.no_triads"))
    if not whole.any():
        notes.append(Message("assumptions.no_own_triads"))
    empty = {name for name, missing in (("triads", not len(triads)), ("own", not whole.any())) if missing}
    return ChoiceAssumptions(
        *_tests(found.statistics, drawn, empty, len(triads), int(whole.sum())),
        _people(compared, found, circles, whole),
        settings={"by": by, "functions": tuple(functions), "samples": samples, "seed": seed},
        notes=tuple(notes),
    )


def _statistics(about: tuple[Pairs, Ints, int, Ints, Ints | None], answer: NDArray[np.int8]) -> Floats:
    """What one order does not explain in a simulated study."""
    pairs, person, people, triads, group = about
    again = Pairs(pairs.left, pairs.right, answer.astype(np.int64), pairs.items)
    return misfit(again, person, people, triads, group).statistics


def _choices(
    judgments: Judgments, functions: Sequence[str], question: str | None, by: str | None
) -> tuple[Compared, Ints | None]:
    """The choices of one question, and the group of each participant."""
    asked = [
        one
        for one in rated(judgments, "choice_assumptions", functions, conditions=[], once=None)
        if isinstance(one.scale, Choice) and question in (None, one.question)
    ]
    if len(asked) != 1:
        raise MeasureError(Message("assumptions.several_questions") if asked else Message("assumptions.no_choices"))
    compared = compared_stimuli(asked[0])
    if by is None:
        return compared, None
    table = judgments.participants if by in judgments.participants.columns else asked[0].rows
    known_column(table, by, "choice_assumptions")
    groups = dict(table.select("participant", pl.col(by).cast(pl.String)).unique(maintain_order=True).iter_rows())
    several = table.select("participant", by).unique().height > len(groups)
    names = [groups.get(name) for name in compared.people]
    if several or None in names or len(set(names)) < 2:
        values = {"column": by}
        raise MeasureError(
            Message("assumptions.several_groups", values) if several else Message("assumptions.no_groups", values)
        )
    return compared, np.unique(np.array(names, dtype=str), return_inverse=True)[1].astype(np.int64)


def _tests(
    statistics: Floats, drawn: Floats, empty: set[str], triads: int, own: int
) -> tuple[pl.DataFrame, tuple[Message, ...]]:
    """A row per test that can be made, and what it found."""
    rows, findings = [], []
    for place, name in enumerate(NAMES):
        value = float(statistics[place])
        missing = (name in ("weak", "moderate", "strong") and "triads" in empty) or (
            name == "circular" and "own" in empty
        )
        if missing or np.isnan(value):
            continue
        p = float((1 + (drawn[:, place] >= value - 1e-9).sum()) / (1 + len(drawn)))
        expected = float(drawn[:, place].mean())
        size = Message("assumptions.size", {"value": value, "expected": expected})
        if name in COUNTED:
            counts = {"value": round(value), "of": own if name == "circular" else triads, "expected": expected}
            size = Message("assumptions.triads", counts)
        test, against = (Message(code) for code in TESTS[name])
        rows.append((str(test), value, expected, p))
        values = {"test": test, "size": size, "p": p}
        if p < SHOWN:
            findings.append(Message("assumptions.against", values | {"finding": against}))
        else:
            findings.append(Message("assumptions.not_against", values))
    schema = schema_of("test:s statistic expected p")
    return pl.DataFrame(rows, schema=schema, orient="row"), tuple(findings)


def _people(compared: Compared, found: Misfit, circles: Ints, whole: Ints) -> pl.DataFrame:
    items = compared.pairs.items
    complete = whole == items * (items - 1) * (items - 2) // 6
    consistent = np.where(complete & (items > 2), zeta(circles.astype(np.float64), max(items, 3)), np.nan)
    return pl.DataFrame(
        {
            "participant": compared.people,
            "n": np.bincount(compared.person, minlength=len(compared.people)),
            "outfit": found.outfit,
            "direction": found.direction,
            "circular": circles,
            "triads": whole,
            "zeta": consistent,
        }
    ).with_columns(pl.col("zeta").fill_nan(None))
