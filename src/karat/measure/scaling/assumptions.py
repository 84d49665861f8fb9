"""Do choices fit the model of strengths: is there one order (transitivity), shared by all (homogeneity)?

Statistics that are large if an assumption fails are compared with their values in studies simulated from Thurstone's
model, fitted to the same comparisons (`karat.models.choices.assumptions`). p is the share of studies, including the
observed one, in which the statistic is at least as large. A large p does not show that the assumption holds, only that
there is no evidence against it.
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
"""The messages of each test: its subject, and the conclusion from a small p."""
COUNTED = ("weak", "moderate", "strong", "circular")
"""The tests that count triads."""


@dataclass(frozen=True)
class ChoiceAssumptions(MeasureResult):
    """Tests of one order of the stimuli that all participants share."""

    tests: pl.DataFrame
    """test, statistic, expected (the mean of the simulated studies), p."""
    findings: tuple[Message, ...] = field(repr=False)
    """The conclusion of each test, in the order of the rows."""
    people: pl.DataFrame = field(repr=False)
    """participant, n, outfit (about 1 if the model holds), direction (along the second dimension), circular, triads,
    zeta (of participants who compared all stimuli)."""
    points: ClassVar = PlotColumns(("test",), "p", "p")

    def table(self) -> pl.DataFrame:
        """The tests with their conclusions."""
        return self.tests.with_columns(finding=pl.Series(map(str, self.findings), dtype=pl.String))

    @property
    def summary(self) -> tuple[Message, ...]:
        """The evidence against one order that all participants share."""
        p_values = self.tests["p"].to_list()
        against = tuple(finding for finding, p in zip(self.findings, p_values, strict=True) if p < SHOWN)
        return against or (Message("assumptions.nothing", {"p": min(p_values, default=None)}),)


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
    """Tests of transitivity and of homogeneity, also between the groups of participants in the column `by`.

    `executor` analyses the simulated studies (`karat.executors.open_executor`).

    Parameters
    ----------
    by
        The column with the groups of participants to compare.

    >>> import karat
    >>> random = np.random.default_rng(1)
    >>> left = random.integers(5, size=400)
    >>> right = (left + random.integers(1, 5, size=400)) % 5
    >>> choices = np.where(right - left + random.normal(size=400) > 0, "left", "right")
    >>> frame = {"participant": np.arange(400) // 40, "trial": np.arange(400) % 40 + 1, "item": left * 5 + right,
    ...          "left": left, "right": right, "response": choices}
    >>> print(choice_assumptions(karat.Judgments(frame, karat.Choice()), samples=19))
    There is no evidence against one order of the stimuli shared by all participants ...
    """
    check_number(MeasureError, "samples", samples, at_least=19)
    compared, group = _choices(judgments, functions, question, by)
    pairs, person, people = compared.pairs, compared.person, len(compared.people)
    if people < 2:
        raise MeasureError(Message("assumptions.participants"))
    triads = compared_triads(pairs, seed)
    observed = misfit(pairs, person, people, triads, group)
    fit = fit_thurstone(pairs, person)
    random = np.random.default_rng(seed)
    # Simulating the studies is fast, so that it is done here, in order; analysing them takes long.
    answers = [simulated(pairs, person, people, fit, random).answer.astype(np.int8) for _ in range(samples)]

    def report(done: int, total: int) -> None:
        if progress is not None and done % 10 == 0:
            progress(f"{done} of {total} simulated studies")

    design = pairs, person, people, triads, group
    simulations = np.array(executor.map(_statistics, design, answers, name="choice assumptions", progress=report))
    circles, complete = circular_triads(pairs, person, people)
    notes = list(compared.notes)
    if not len(triads):
        notes.append(Message("assumptions.no_triads"))
    if not complete.any():
        notes.append(Message("assumptions.no_own_triads"))
    return ChoiceAssumptions(
        *_tests(observed.statistics, simulations, len(triads), int(complete.sum())),
        _people(compared, observed, circles, complete),
        settings={"by": by, "functions": tuple(functions), "samples": samples, "seed": seed},
        notes=tuple(notes),
    )


def _statistics(design: tuple[Pairs, Ints, int, Ints, Ints | None], answer: NDArray[np.int8]) -> Floats:
    """The statistics of a simulated study."""
    pairs, person, people, triads, group = design
    simulation = Pairs(pairs.left, pairs.right, answer.astype(np.int64), pairs.items)
    return misfit(simulation, person, people, triads, group).statistics


def _choices(
    judgments: Judgments, functions: Sequence[str], question: str | None, by: str | None
) -> tuple[Compared, Ints | None]:
    """The choices of one question, and the group of each participant."""
    parts = [
        answers
        for answers in rated(judgments, "choice_assumptions", functions, conditions=[], once=None)
        if isinstance(answers.scale, Choice) and question in (None, answers.question)
    ]
    if len(parts) != 1:
        raise MeasureError(Message("assumptions.several_questions" if parts else "assumptions.no_choices"))
    compared = compared_stimuli(parts[0])
    if by is None:
        return compared, None
    table = judgments.participants if by in judgments.participants.columns else parts[0].rows
    known_column(table, by, "choice_assumptions")
    groups = dict(table.select("participant", pl.col(by).cast(pl.String)).unique(maintain_order=True).iter_rows())
    several = table.select("participant", by).unique().height > len(groups)
    names = [groups.get(name) for name in compared.people]
    if several or None in names or len(set(names)) < 2:
        raise MeasureError(
            Message("assumptions.several_groups" if several else "assumptions.no_groups", {"column": by})
        )
    return compared, np.unique(np.array(names, dtype=str), return_inverse=True)[1].astype(np.int64)


def _tests(
    statistics: Floats, simulations: Floats, triads: int, triads_of_participants: int
) -> tuple[pl.DataFrame, tuple[Message, ...]]:
    """One row per test that can be computed, and its conclusion."""
    rows, findings = [], []
    for place, name in enumerate(NAMES):
        value = float(statistics[place])
        number = triads_of_participants if name == "circular" else triads
        if np.isnan(value) or (name in COUNTED and not number):
            continue
        p = float((1 + (simulations[:, place] >= value - 1e-9).sum()) / (1 + len(simulations)))
        expected = float(simulations[:, place].mean())
        size = Message("assumptions.size", {"value": value, "expected": expected})
        if name in COUNTED:
            size = Message("assumptions.triads", {"value": round(value), "of": number, "expected": expected})
        test, against = (Message(code) for code in TESTS[name])
        rows.append((str(test), value, expected, p))
        values = {"test": test, "size": size, "p": p}
        if p < SHOWN:
            findings.append(Message("assumptions.against", values | {"finding": against}))
        else:
            findings.append(Message("assumptions.not_against", values))
    schema = schema_of("test:s statistic expected p")
    return pl.DataFrame(rows, schema=schema, orient="row"), tuple(findings)


def _people(compared: Compared, observed: Misfit, circles: Ints, triads: Ints) -> pl.DataFrame:
    items = compared.pairs.items
    compared_all = triads == items * (items - 1) * (items - 2) // 6
    consistency = np.where(compared_all & (items > 2), zeta(circles.astype(np.float64), max(items, 3)), np.nan)
    return pl.DataFrame(
        {
            "participant": compared.people,
            "n": np.bincount(compared.person, minlength=len(compared.people)),
            "outfit": observed.outfit,
            "direction": observed.direction,
            "circular": circles,
            "triads": triads,
            "zeta": consistency,
        }
    ).with_columns(pl.col("zeta").fill_nan(None))
