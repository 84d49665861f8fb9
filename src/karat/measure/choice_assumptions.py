"""Do choices fit the model of strengths: is there one order (transitivity), and is it everybody's (homogeneity)?

Quantities that would be large if not are compared with those of studies simulated from Thurstone's model as fitted to
the same comparisons (`karat.models.choices.assumptions`). p is the share of studies, this one included, in which the
quantity is at least as large. A large p does not show that the assumption holds, only that nothing against it was seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.judgments import Judgments
from karat.measure.choice_strengths import Compared, compared_stimuli
from karat.measure.errors import MeasureError
from karat.measure.rated import Floats, Ints, known_column, rated
from karat.models.choices.assumptions import NAMES, Misfit, misfit, simulated
from karat.models.choices.pairs import Pairs
from karat.models.choices.thurstone import fit_thurstone
from karat.models.choices.transitivity import circular_triads, compared_triads, zeta
from karat.models.glrm.model import p_told
from karat.scales import Choice
from karat.work import HERE, Work

SHOWN = 0.05
TESTS = {
    "weak": "weak transitivity",
    "moderate": "moderate transitivity",
    "strong": "strong transitivity",
    "circular": "circular triads within participants",
    "dimension": "second dimension",
    "outfit": "participants' fit",
    "groups": "groups",
}
AGAINST = {
    "weak": "more triads of stimuli have no order than one shared order would leave to chance",
    "moderate": "more triads violate moderate transitivity than chance would have",
    "strong": "more triads violate strong transitivity than chance would have",
    "circular": "participants contradict themselves more often than the model has it",
    "dimension": "some participants order the stimuli in another way than the others",
    "outfit": "participants differ more in how well they fit the common order than the model has it",
    "groups": "the groups have strengths of their own",
}


@dataclass(frozen=True)
class ChoiceAssumptions:
    """Tests of one order that all share."""

    tests: pl.DataFrame
    """test, statistic, expected (the mean of the simulated studies), p, told."""
    people: pl.DataFrame = field(repr=False)
    """participant, n, outfit (about 1 where the model holds), direction (along the second dimension), circular, triads,
    zeta (where all stimuli were compared)."""
    settings: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def table(self) -> pl.DataFrame:
        """The tests."""
        return self.tests

    def __str__(self) -> str:
        against = self.tests.filter(pl.col("p") < SHOWN)
        if not against.height:
            text = "Nothing was seen against one order of the stimuli that all participants share"
            return " ".join([f"{text} (smallest p {p_told(float(self.tests['p'].min()))}).", *self.notes])  # type: ignore[arg-type]
        return " ".join([f"{row['test']}: {row['told']}" for row in against.to_dicts()] + list(self.notes))


def choice_assumptions(
    judgments: Judgments,
    by: str | None = None,
    *,
    question: str | None = None,
    functions: Sequence[str] = ("test",),
    samples: int = 199,
    seed: int = 1,
    progress: Callable[[str], None] | None = None,
    work: Work = HERE,
) -> ChoiceAssumptions:
    """Tests of transitivity and of homogeneity; `by` names a column that puts participants into groups.

    `work` says where the simulated studies are analysed (`karat.work.opened`).

    >>> import karat
    >>> random = np.random.default_rng(1)
    >>> left = random.integers(5, size=400)
    >>> right = (left + random.integers(1, 5, size=400)) % 5
    >>> said = np.where(right - left + random.normal(size=400) > 0, "left", "right")
    >>> frame = {"participant": np.arange(400) // 40, "trial": np.arange(400) % 40 + 1, "item": left * 5 + right,
    ...          "left": left, "right": right, "response": said}
    >>> print(choice_assumptions(karat.Judgments(frame, karat.Choice()), samples=19))
    Nothing was seen against one order of the stimuli that all participants share ...
    """
    if samples < 19:
        raise MeasureError(f"choice_assumptions: samples must be 19 or more for a p of .05, got {samples}.")
    compared, group = _choices(judgments, functions, question, by)
    pairs, person, people = compared.pairs, compared.person, len(compared.people)
    if people < 2:
        raise MeasureError("choice_assumptions: two participants or more are needed.")
    triads = compared_triads(pairs, seed)
    found = misfit(pairs, person, people, triads, group)
    fit = fit_thurstone(pairs, person)
    random = np.random.default_rng(seed)
    # The studies are drawn here, one after the other; to analyse them is what takes long.
    answers = [simulated(pairs, person, people, fit, random).answer.astype(np.int8) for _ in range(samples)]

    def told(done: int, total: int) -> None:
        if progress is not None and done % 10 == 0:
            progress(f"{done} of {total} simulated studies")

    about = pairs, person, people, triads, group
    drawn = np.array(work.map(_statistics, about, answers, name="choice assumptions", progress=told))
    circles, whole = circular_triads(pairs, person, people)
    notes = list(compared.notes)
    if not len(triads):
        notes.append("No three stimuli were all compared with each other, so that transitivity cannot be tested.")
    if not whole.any():
        notes.append(
            "Nobody compared three stimuli all with each other, so that there are no circular triads to count."
        )
    empty = {name for name, missing in (("triads", not len(triads)), ("own", not whole.any())) if missing}
    return ChoiceAssumptions(
        _tests(found.statistics, drawn, empty, len(triads), int(whole.sum())),
        _people(compared, found, circles, whole),
        {"by": by, "functions": tuple(functions), "samples": samples, "seed": seed},
        tuple(notes),
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
        what = "no choices" if not asked else "several questions with choices; say question=..."
        raise MeasureError(f"choice_assumptions: there are {what}.")
    compared = compared_stimuli(asked[0])
    if by is None:
        return compared, None
    table = judgments.participants if by in judgments.participants.columns else asked[0].rows
    known_column(table, by, "choice_assumptions")
    groups = dict(table.select("participant", pl.col(by).cast(pl.String)).unique(maintain_order=True).iter_rows())
    several = table.select("participant", by).unique().height > len(groups)
    names = [groups.get(name) for name in compared.people]
    if several or None in names or len(set(names)) < 2:
        raise MeasureError(
            f"choice_assumptions: {by} must put every participant into one of at least two groups; "
            + ("some are in several." if several else "some have none, or there is only one.")
        )
    return compared, np.unique(np.array(names, dtype=str), return_inverse=True)[1].astype(np.int64)


def _tests(statistics: Floats, drawn: Floats, empty: set[str], triads: int, own: int) -> pl.DataFrame:
    rows = []
    for place, name in enumerate(NAMES):
        value = float(statistics[place])
        missing = (name in ("weak", "moderate", "strong") and "triads" in empty) or (
            name == "circular" and "own" in empty
        )
        if missing or np.isnan(value):
            continue
        p = float((1 + (drawn[:, place] >= value - 1e-9).sum()) / (1 + len(drawn)))
        expected = float(drawn[:, place].mean())
        of = f" of {own if name == 'circular' else triads:,} triads" if place < 4 else ""
        size = f"{value:,.0f}{of}, {expected:,.1f} expected" if place < 4 else f"{value:.2f}, {expected:.2f} expected"
        told = AGAINST[name] if p < SHOWN else "nothing seen against it"
        rows.append((TESTS[name], value, expected, p, f"{told} ({size}, p {p_told(p)})."))
    return pl.DataFrame(rows, schema=["test", "statistic", "expected", "p", "told"], orient="row")


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
