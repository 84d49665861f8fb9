"""The comparisons of the report, and the model that decides whether a difference is shown.

Planned comparisons come first. Without a plan, the two levels of each factor are compared, and in a 2 × 2 design also
whether one factor changes the difference of the other. If a factor has more levels, the model's tests of whole factors
take their place. If the main result is the share of right answers, the model is one of right answers, because the model
of the answers does not test it. All p values on the page come from here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from karat.errors import KaratError
from karat.judgments import Judgments
from karat.judgments.scales import Binary
from karat.measure.effects.contrasts import Contrasts, contrasts, term_test
from karat.measure.effects.planned import PlannedContrasts, planned_contrasts
from karat.measure.measures import Measures
from karat.measure.result import is_shown
from karat.messages import Message, NotComputed, with_code
from karat.study.settings import ContrastSettings
from karat.types import Bools

RIGHT = ("wrong", "right")
"""The answers of the model of right answers."""
RIGHT_ANSWERS = "right answers"
"""The label of its results beside those of the answers."""

RIGHT_NOTES = {
    "contrasts.same_participants": "contrasts.always_right_participants",
    "contrasts.same_items": "contrasts.always_right_items",
    "model.probability": "contrasts.right_answers",
}
"""Notes on answers, and the same about right answers."""


@dataclass(frozen=True)
class RuleComparison:
    """One side minus another, or a difference of differences."""

    name: str
    first: str
    second: str
    weights: tuple[float, ...]
    """The weight of each cell: +1 on the first side, -1 on the second."""
    model: dict[str, Any] | None = None
    """The row of the model's table with p and the adjusted p."""
    planned: bool = False
    simple: bool = True
    """Whether it is the difference of two levels, not a difference of differences or a weighted sum."""

    @property
    def p(self) -> float | None:
        """The p that decides: unadjusted for a planned comparison, else adjusted if there are several."""
        if self.model is None:
            return None
        value = self.model["p"] if self.planned else self.model.get("adjusted", self.model["p"])
        return value if value is not None and value == value else None

    @property
    def shown(self) -> bool | None:
        """Whether a difference is shown; None if no model decides."""
        return None if self.p is None else is_shown(self.p)


@dataclass(frozen=True)
class TermTest:
    """The model's test of a whole factor, or of whether one factor changes the effect of another."""

    factors: tuple[str, ...]
    test: Message
    p: float

    @property
    def shown(self) -> bool:
        """Whether the term is shown to affect the answers."""
        return is_shown(self.p)


def model_of(measures: Measures | NotComputed, question: str | None) -> Contrasts | None:
    """The converged model of the question of the main result; None if several questions are in one figure."""
    if isinstance(measures, NotComputed) or question is None:
        return None
    results = (part.result for part in measures.parts if part.question in ("", question))
    fitted = (model for model in results if isinstance(model, Contrasts))
    return next((model for model in fitted if not any(with_code(model.notes, "contrasts.not_converged"))), None)


def right_model(
    rows: pl.DataFrame, factors: Sequence[str], levels: dict[str, list[str]], excluded: Sequence[str]
) -> Contrasts | None:
    """The model of right answers (_value is 100) by condition; None if it cannot be fitted."""
    stay = rows.filter(~pl.col("participant").is_in(list(excluded)))
    right = pl.when(pl.col("_value") > 0).then(pl.lit(RIGHT[1])).otherwise(pl.lit(RIGHT[0])).alias("response")
    try:
        judgments = Judgments(stay.select("participant", "item", right, *factors), Binary(RIGHT))
        model = contrasts(judgments, conditions=list(factors), levels=levels)
    except (KaratError, ValueError):
        return None
    # Its answers are right and wrong, not those that participants gave.
    notes = (replace(note, code=RIGHT_NOTES.get(note.code, note.code)) for note in model.notes)
    return replace(model, notes=tuple(notes))


def term_tests(model: Contrasts | None, factors: Sequence[str]) -> tuple[TermTest, ...]:
    """The model's tests of these factors and of their interactions."""
    if model is None or not model.means.height:
        return ()
    terms = set(model.means["term"].to_list())
    rows = [row for row in model.frame.to_dicts() if row["term"] in terms and row["p"] is not None]
    tested = [(tuple(model.factors_of(row["term"])), row) for row in rows if row["p"] == row["p"]]
    return tuple(TermTest(names, term_test(row), row["p"]) for names, row in tested if set(names) <= set(factors))


def comparisons(
    plan: Sequence[ContrastSettings], model: Contrasts | None, planned: pl.DataFrame | None, factors: list[str],
    order: dict[str, list[str]], cells: list[tuple[str, ...]],
) -> list[RuleComparison]:  # fmt: skip
    """The planned comparisons; without a plan, the two levels of each factor and the interaction of two factors.

    An interaction that is shown comes first, because the means of its factors then say little. Comparisons that are
    shown come before others. Without a plan nothing is compared if a factor has more than two levels.
    """
    if plan:
        rows = {} if planned is None else {row["contrast"]: row for row in planned.to_dicts()}
        weighted = [(contrast, _planned_weights(contrast, factors, cells)) for contrast in plan]
        return [
            RuleComparison(
                contrast.name, *_planned_sides(contrast), weights, rows.get(contrast.name), True, contrast.simple
            )
            for contrast, weights in weighted
            if weights is not None
        ]
    if any(len(order[name]) > 2 for name in factors):
        return []
    pairs = []
    two = [name for name in factors if len(order[name]) == 2]
    for name in two:
        first, second = order[name]
        masks = [np.array([_has(cell, factors, {name: level}) for cell in cells], dtype=bool) for level in order[name]]
        pairs.append(RuleComparison(name, first, second, _weights(*masks), _model_row(model, name, first, second)))
    if len(two) == len(factors) == 2 and len(cells) == 4:
        a, b = factors
        weights = tuple(1.0 if (cell[0] == order[a][0]) == (cell[1] == order[b][0]) else -1.0 for cell in cells)
        sides = f"{order[a][0]} minus {order[a][1]} at {order[b][0]}", f"at {order[b][1]}"
        row = None
        if model is not None and model.interactions.height:
            of_both = model.interactions.filter(pl.col("term").is_in(_terms(model, [a, b])))
            row = of_both.row(0, named=True) if of_both.height else None
        both = RuleComparison(f"{a} × {b}", *sides, weights, row, simple=False)
        pairs = [both, *pairs] if both.shown else [*pairs, both]
    return sorted(pairs, key=lambda contrast: not contrast.shown)


def right_plan(plan: Sequence[ContrastSettings], model: Contrasts | None) -> PlannedContrasts | None:
    """The planned comparisons in the model of right answers; None without a plan, or if the model lacks the cells."""
    if not plan or model is None:
        return None
    try:
        return planned_contrasts(plan, model)
    except (KaratError, ValueError):
        return None


def planned_rows(measures: Measures | NotComputed, question: str | None) -> pl.DataFrame | None:
    """The table of the planned comparisons of the measures; None if several questions are in one figure."""
    if isinstance(measures, NotComputed) or question is None:
        return None
    parts = (part for part in measures.parts if part.name == "planned" and part.question in ("", question))
    return next((part.result.frame for part in parts), None)


def _planned_sides(contrast: ContrastSettings) -> tuple[str, str]:
    """The names of the two sides of a planned comparison, with the levels of other factors that it is limited to."""
    where = ", ".join(contrast.within.values())
    first, second = (f"{side} ({where})" if where else side for side in contrast.sides)
    return first, second


def _planned_weights(
    contrast: ContrastSettings, factors: list[str], cells: list[tuple[str, ...]]
) -> tuple[float, ...] | None:
    """The weight of each cell of the report; None if a cell of the plan has no answers."""
    weights = np.zeros(len(cells))
    for wanted, weight in contrast.cells.items():
        mask = np.array([_has(cell, factors, dict(zip(contrast.names, wanted, strict=True))) for cell in cells])
        if not mask.any():
            return None
        weights += weight * mask / mask.sum()
    return tuple(map(float, weights))


def _has(cell: tuple[str, ...], factors: list[str], wanted: dict[str, str]) -> bool:
    place: dict[str, str] = {}
    for factor, level in zip(factors, cell, strict=True):
        names, levels = factor.split(", "), level.split(", ")
        place |= dict(zip(names, levels, strict=False)) if len(names) == len(levels) else {factor: level}
    return all(place.get(name) == level for name, level in wanted.items())


def _weights(first: Bools, second: Bools) -> tuple[float, ...]:
    return tuple(map(float, first / max(int(first.sum()), 1) - second / max(int(second.sum()), 1)))


def _model_row(model: Contrasts | None, factor: str, first: str, second: str) -> dict[str, Any] | None:
    """The difference of two levels of a factor in the model's table, in either direction."""
    if model is None or not model.differences.height:
        return None
    of_factor = model.differences.filter(pl.col("term").is_in(_terms(model, [factor])))
    rows = of_factor.filter(pl.col("first").is_in([first, second]), pl.col("second").is_in([first, second]))
    return rows.row(0, named=True) if rows.height else None


def _terms(model: Contrasts, factors: Sequence[str]) -> list[str]:
    """The terms of the model with exactly these factors."""
    terms = model.means["term"].unique().to_list()
    return [term for term in terms if set(model.factors_of(term)) == set(factors)]
