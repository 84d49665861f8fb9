"""Answers as a crowd gave them: workers by tasks, on one scale, as the random-effects models take them.

A worker is a participant, a task an item in all its conditions (and a question, where there are several), as in the
paper. `conditions` names columns that make an item several tasks; None takes every stimulus as a task
(`karat.judgments.stimuli`). Practice is left out. Answers to questions that were shown the other way round are turned
(polarity), and a choice counts as the item chosen, not as its side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.judgments import Judgments
from karat.judgments.answer_codes import answered, by_scale, position
from karat.judgments.columns import nearest
from karat.judgments.scales import Binary, Choice, Nominal, Ordinal, Scale
from karat.judgments.trial_order import presented
from karat.messages import Message
from karat.screen.evidence import ScreenError

if TYPE_CHECKING:
    from karat.models.glrm import Fit, NominalFit

Family = Literal["binary", "ordinal", "nominal"]


@dataclass(frozen=True)
class Crowd:
    """One row an answer, in the order of presentation: who, to which task, and the number of the category."""

    rows: pl.DataFrame
    family: Family
    categories: tuple[str, ...]
    notes: tuple[Message, ...]

    @property
    def worker(self) -> NDArray[Any]:
        """The participant of each answer, by the place of their first answer."""
        return self.rows["_worker"].to_numpy()

    @property
    def task(self) -> NDArray[Any]:
        """The task of each answer."""
        return self.rows["_stimulus"].to_numpy()

    @property
    def response(self) -> NDArray[Any]:
        """The category of each answer, by its number."""
        return self.rows["_code"].to_numpy()

    @property
    def workers(self) -> list[str]:
        """The participants, by their numbers."""
        return self.rows["participant"].unique(maintain_order=True).to_list()


def crowd(judgments: Judgments, criterion: str, conditions: Sequence[str] | None = ()) -> Crowd:
    """The answers of judgments as a crowd, or the reason why a criterion cannot look at them so.

    >>> import karat
    >>> found = crowd(karat.datasets.load("crowd"), "deletion")
    >>> found.family, found.categories, len(found.workers)
    ('binary', ('0', '1'), 120)
    """
    parts = [
        (scale, rows)
        for scale, rows in by_scale(judgments, answered(judgments))
        if isinstance(scale, Binary | Ordinal | Nominal | Choice)
    ]
    if not parts:
        raise ScreenError(Message("crowd.no_categories", {"criterion": criterion}))
    scale, rows = max(parts, key=lambda part: part[1].height)
    notes = []
    if len(parts) > 1:
        notes.append(Message("crowd.several_scales", {"answers": rows.height, "scale": scale.kind}))
    check_conditions(conditions, rows.columns)
    rows = presented(rows)
    rows = rows.with_columns(
        _stimulus=judgments.stimuli(scale).with_conditions(conditions).number(rows), _code=code_of(scale, rows)
    )
    people = pl.DataFrame({"participant": rows["participant"].unique(maintain_order=True)}).with_row_index("_worker")
    rows = rows.join(people, on="participant", how="left", maintain_order="left").with_columns(
        pl.col("_worker").cast(pl.Int64)
    )
    if rows["_worker"].n_unique() < 2 or rows["_stimulus"].n_unique() < 2:
        raise ScreenError(Message("crowd.too_few"))
    if rows["_code"].n_unique() < 2:
        raise ScreenError(Message("crowd.same_answer"))
    return Crowd(rows, family_of(scale, rows), names_of(scale, rows), tuple(notes))


def check_conditions(conditions: Sequence[str] | None, columns: Sequence[str]) -> None:
    """Refuse conditions that are not among the columns."""
    unknown = [name for name in conditions or () if name not in columns]
    if unknown:
        close = nearest(unknown[0], list(columns))
        raise ScreenError(Message("crowd.no_column", {"column": unknown[0], "close": close}))


def code_of(scale: Scale, rows: pl.DataFrame) -> pl.Expr:
    """The number of each answer, in the order of `names_of`."""
    if isinstance(scale, Choice) and {"left", "right"} <= set(rows.columns):
        # Where a side is not named, the left one counts as the first.
        turned = (pl.col("left") > pl.col("right")).fill_null(False)
        side = position(scale).cast(pl.Int64)
        return pl.when(turned & (side < 2)).then(1 - side).otherwise(side)
    return position(scale, aligned="polarity" in rows.columns).cast(pl.Int64)


def family_of(scale: Scale, rows: pl.DataFrame) -> Family:
    """By which model the answers are fitted."""
    if isinstance(scale, Ordinal) and rows["_code"].n_unique() > 2:
        return "ordinal"
    return "binary" if rows["_code"].n_unique() == 2 else "nominal"


def names_of(scale: Scale, rows: pl.DataFrame) -> tuple[str, ...]:
    """What the answers are called."""
    if isinstance(scale, Choice) and {"left", "right"} <= set(rows.columns):
        return ("first", "second", "none")
    levels: tuple[str, ...] = getattr(scale, "levels", ())
    return levels


def fit(answers: Crowd, baseline: int | None = None) -> Fit | NominalFit:
    """The random-effects model of a crowd's answers: workers and tasks, by maximum likelihood."""
    from karat.models.glrm import fit_crossed, fit_nominal

    try:
        if answers.family == "nominal":
            return fit_nominal(answers.response, answers.worker, answers.task, baseline=baseline)
        return fit_crossed(answers.response, answers.worker, answers.task, family=answers.family)
    except np.linalg.LinAlgError:
        values = {"answers": len(answers.response), "categories": len(categories_used(answers))}
        raise ScreenError(Message("crowd.not_fitted", values)) from None


def categories_used(answers: Crowd) -> list[int]:
    """The numbers of the categories that occur."""
    return [int(code) for code in np.unique(answers.response)]
