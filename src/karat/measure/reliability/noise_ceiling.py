"""The noise ceiling: the best that predictions of these judgments can do.

Answers vary between participants, so not even the truth predicts them perfectly. With rel the split-half reliability of
the means of stimuli (Spearman and Brown),

    sqrt(rel)    is the correlation of the observed means with perfect predictions of them,

and for the answers of a single participant the ceiling lies between two correlations: with the mean of all other
participants, and with the mean of all, the participant included (Nili et al. 2014). For labels and choices it is the
share of answers equal to the majority of the other participants. Formulas: `karat.models.split_half`. Intervals are
bootstraps over participants; those for one participant are centred at the estimate by Fisher's z, because means and
majorities of bootstrap samples are noisier than those of the study.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from karat.executors import SERIAL, Executor, as_map
from karat.judgments import Judgments
from karat.measure.rated import Rated, rated
from karat.measure.reliability.agreement import LEVEL, check_bootstrap, has_halves, in_columns, resampled_people, splits
from karat.measure.result import BriefResult, MeasureError, PlotColumns, about_question, rounded, schema_of, table_of
from karat.messages import Message
from karat.models.resampling import centred_interval, interval_around
from karat.models.split_half import split_half, with_the_majority, with_the_mean
from karat.types import Floats

SCHEMA = schema_of("question:s ceiling:s estimate lower upper")
RELIABILITY, MEANS = "reliability of means", "predictions with means"
OTHERS, EVERYBODY = "a participant with the mean of the others", "a participant with the mean of all"
MAJORITY = "answers equal to the majority of the others"
FEW_OTHERS = 10
"""With fewer answers per stimulus, the majority of the others often differs from the most likely answer."""


@dataclass(frozen=True)
class NoiseCeiling(BriefResult):
    """The best that predictions can do, by question, with intervals."""

    ceilings: pl.DataFrame
    """question, ceiling, estimate, lower, upper."""
    participants: int
    points: ClassVar = PlotColumns(("question", "ceiling"), axis="correlation, or share of equal answers")
    files: ClassVar = {"noise-ceiling": "ceilings"}

    @property
    def summary(self) -> tuple[Message, ...]:
        """The number of participants, and the ceilings of each question."""
        messages = [Message("noise_ceiling.participants", {"n": self.participants})]
        for (question,), rows in self.ceilings.group_by("question", maintain_order=True):
            by_name = {row["ceiling"]: row for row in rows.to_dicts()}
            about = {"question": question or None, "level": self.settings.get("level", LEVEL)}
            if OTHERS in by_name and (MEANS not in by_name or by_name[MEANS]["estimate"] is None):
                messages.append(Message("noise_ceiling.undefined", {"question": question or None}))
            elif MEANS in by_name:
                low, high = by_name[OTHERS]["estimate"], by_name[EVERYBODY]["estimate"]
                same = low is not None and high is not None and round(low, 2) == round(high, 2)
                single = {"low": None if same else low, "high": high, "one": low if same else None}
                messages.append(Message("noise_ceiling.means", about | _interval(by_name[MEANS]) | single))
            if MAJORITY in by_name and by_name[MAJORITY]["estimate"] is not None:
                shares = {name: rounded(share) for name, share in _interval(by_name[MAJORITY]).items()}
                messages.append(Message("noise_ceiling.majority", about | shares))
        return tuple(messages)


def _interval(row: dict[str, Any]) -> dict[str, float | None]:
    return {name: row[name] for name in ("estimate", "lower", "upper")}


def noise_ceiling(
    judgments: Judgments,
    functions: Sequence[str] = ("test",),
    conditions: Sequence[str] | None = None,
    samples: int = 500,
    level: float = 0.95,
    seed: int = 1,
    *,
    executor: Executor = SERIAL,
) -> NoiseCeiling:
    """The best that predictions of means, of single participants and of labels can do, with bootstrap intervals.

    `executor` says where the samples are computed (`karat.executors.open_executor`).

    >>> import karat
    >>> print(noise_ceiling(karat.datasets.load("likert"), samples=100))  # doctest: +ELLIPSIS
    This is the best any model could predict, estimated from 48 participants. Perfect predictions would correlate ...
    """
    check_bootstrap(samples, level)
    rows: list[tuple[Any, ...]] = []
    notes: list[Message] = []
    people: set[str] = set()
    for answers in rated(judgments, "noise_ceiling", functions, conditions):
        if len(answers.people) < 2 or not (np.bincount(answers.stimulus) > 1).any():
            raise MeasureError(Message("noise_ceiling.no_shared_stimulus", {"question": answers.question or None}))
        people |= set(answers.people)
        notes += about_question(answers.question, answers.notes)
        weights, few = resampled_people(answers, samples, seed)
        notes += few
        k = answers.rows.height / answers.stimuli.height
        if not answers.has_numbers and k < FEW_OTHERS:
            notes += about_question(answers.question, [Message("noise_ceiling.few_others", {"k": k})])
        rows += [(answers.question, *row) for row in _ceilings(answers, weights, level, seed, executor)]
    table = table_of(rows, SCHEMA)
    settings = {"functions": tuple(functions), "samples": samples, "level": level, "seed": seed}
    return NoiseCeiling(table, len(people), settings=settings, notes=tuple(dict.fromkeys(notes)))


def _ceilings(
    answers: Rated, weights: Floats | None, level: float, seed: int, executor: Executor
) -> Iterator[tuple[str, float, float, float]]:
    """Each ceiling with its interval."""
    none = (np.nan, np.nan)
    stimulus, rater, value = answers.stimulus, answers.rater, answers.value
    if has_halves(answers):
        estimate = float(split_half(stimulus, rater, value, splits(answers, None), seed=seed)[0])
        ends = none
        if weights is not None:
            mapper = as_map(executor, name="split halves")
            many = split_half(stimulus, rater, value, splits(answers, weights), weights, seed, mapper)
            ends = interval_around(estimate, many, level)
        yield RELIABILITY, estimate, *ends
        middle, low, high = np.sqrt(np.maximum([estimate, *ends], 0.0)).tolist()
        yield MEANS, middle, low, high
    if answers.has_numbers:
        names = (OTHERS, EVERYBODY)
        estimates = with_the_mean(stimulus, rater, value)
        samples = _many(OTHERS, answers, weights, executor)
        for place, (name, (ceiling,)) in enumerate(zip(names, estimates, strict=True)):
            ends = none if weights is None else centred_interval(float(ceiling), samples[place], level)
            yield name, float(ceiling), *ends
    if answers.levels:
        ceiling = float(with_the_majority(stimulus, rater, answers.category)[0])
        ends = none
        if weights is not None:
            lower, upper = centred_interval(ceiling, _many(MAJORITY, answers, weights, executor)[0], level)
            ends = (float(np.maximum(lower, 0.0)), upper)
        yield MAJORITY, ceiling, *ends


def _many(kind: str, answers: Rated, weights: Floats | None, executor: Executor) -> tuple[Floats, ...]:
    """The values of all bootstrap samples, computed in chunks."""
    if weights is None:
        return ()
    parts = executor.map(_some_samples, (kind, answers, weights), in_columns(weights), name="noise ceiling")
    return tuple(np.concatenate(part) for part in zip(*parts, strict=True))


def _some_samples(about: tuple[str, Rated, Floats], columns: tuple[int, int]) -> tuple[Floats, ...]:
    """The values of some bootstrap samples."""
    kind, answers, weights = about
    some = weights[:, slice(*columns)]
    if kind == MAJORITY:
        return (with_the_majority(answers.stimulus, answers.rater, answers.category, some),)
    return with_the_mean(answers.stimulus, answers.rater, answers.value, some)
