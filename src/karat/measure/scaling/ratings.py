"""Strengths of stimuli from ratings, yes-or-no answers, sliders and magnitudes.

- "mean": the mean answer, with Student's interval over participants (Wilson's for the share of yes).
- "zscore": the mean of answers standardised within participant, which removes differences in the part of the scale that
  participants use. Participants whose answers do not vary have no z-scores.
- "magnitude": the mean logarithm of the ratio to the modulus, standardised within participant, which cancels the
  modulus. Zero, negative and text answers are not magnitudes. `karat.read` lists them; with skip_bad=True it leaves
  them out. The notes count trials without an answer.
- "binary" and "ordinal": the recommended models, logit models with effects of participants and of stimuli,

      P(yes) = F(beta + b_participant + b_stimulus),   P(answer <= k) = F(alpha_k - b_participant - b_stimulus),

  b ~ N(0, variance). A strength is the mode of b_stimulus: logits above the average stimulus, shrunk towards it, more
  so with few answers. Its standard error treats the variances as known (`karat.models.glrm.fit`).

The covariance of two means comes from the participants who judged both. With d_ps the deviation of participant p's
answer from the mean of stimulus s (0 if p did not judge it) and n_s answers,

    cov(s, t) = sum over p of d_ps d_pt / sqrt(n_s (n_s - 1) n_t (n_t - 1)),

so that the variance of a mean is s^2 / n, and the difference of two stimuli that all participants judged has the
standard error of the paired t test.

Scores of stimuli by group of trials, also in bootstrap samples of participants, are the mean answer, the mean z-score
within participant and group, or the result of a function that takes judgments and returns a table with `item` and
`estimate`, or an object with such a `.table()`. The first two are sums over participants, so that a thousand samples
take two products of matrices; a function is called for each sample.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array
from scipy.special import stdtrit

from karat.errors import KaratError
from karat.judgments import Judgments
from karat.judgments.scales import Binary, Continuous, Magnitude, Ordinal
from karat.measure.rated import Rated
from karat.measure.result import MeasureError, first_names
from karat.measure.scaling.result import Strengths, by_strength
from karat.messages import Message, message_of
from karat.models.glrm import Fit, fit_crossed
from karat.models.glrm.families import FamilyName
from karat.models.glrm.fit import task_covariance, task_errors
from karat.models.proportions import wilson
from karat.models.resampling import quotient, summing
from karat.types import Floats, Ints

MOST = 3000
"""With more stimuli than this, there are no covariances, because the matrix would fill the memory."""
NO_VARIANCE = 1e-8
SHOWN = 3
"""The most participants that a message names."""


def rating_strengths(answers: Rated, model: str, level: float = 0.95, most: int = MOST) -> Strengths:
    """The strength of each stimulus by one of the models above, with covariances of at most `most` stimuli."""
    return (_modelled if model in ("binary", "ordinal") else _averaged)(answers, model, level, most)


def _averaged(answers: Rated, model: str, level: float, most: int) -> Strengths:
    """Strengths that are means of answers or of z-scores."""
    value, people = answers.value, len(answers.people)
    notes: list[Message] = []
    if model in ("zscore", "magnitude"):
        value = standardised_within(answers.rater, value, people)
        notes = _without_spread(answers, value)
    usable = np.isfinite(value)
    if not usable.any():
        raise MeasureError(Message("strengths.no_spread", {"model": model}))
    rater, stimulus, value = answers.rater[usable], answers.stimulus[usable], value[usable]
    number = np.bincount(stimulus, minlength=answers.stimuli.height)
    mean, se = _means(stimulus, value, number)
    # A mean of one answer has no interval, because Student's t has no quantile without degrees of freedom.
    half = np.where(number > 1, stdtrit(np.maximum(number - 1, 1), (1 + level) / 2), np.nan) * se
    ends = (mean - half, mean + half)
    if isinstance(answers.scale, Binary) and model == "mean":
        ends = wilson(np.bincount(stimulus, value, len(number)), number, level)
    single = int((number < 2).sum())
    if single:
        notes.append(Message("strengths.single_answers", {"n": single}))
    covariance = np.empty((0, 0))
    if len(number) <= most:
        covariance = mean_covariance(rater, stimulus, value - mean[stimulus], number, people)
    else:
        notes.append(_uncorrelated(len(number)))
    frame, covariance, _ = by_strength(answers.stimuli, mean, covariance, number, level, se, ends)
    return Strengths(frame, model, _unit(answers, model), level, covariance, notes=tuple(notes))


def _means(stimulus: Ints, value: Floats, number: Ints) -> tuple[Floats, Floats]:
    """The mean of each stimulus and its standard error."""
    mean = quotient(np.bincount(stimulus, value, len(number)), number)
    squares = np.bincount(stimulus, (value - mean[stimulus]) ** 2, len(number))
    return mean, np.sqrt(quotient(squares, number * (number - 1)))


def mean_covariance(rater: Ints, stimulus: Ints, deviation: Floats, number: Ints, people: int) -> Floats:
    """The covariance of means of stimuli, by the formula above; NaN for a stimulus with one answer."""
    table = csr_array((deviation, (rater, stimulus)), shape=(people, len(number)))
    scale = np.where(number > 1, 1 / np.sqrt(np.maximum(number * (number - 1), 1)), np.nan)
    covariance: Floats = (table.T @ table).toarray() * np.outer(scale, scale)
    return covariance


def _without_spread(answers: Rated, value: Floats) -> list[Message]:
    """A note on participants whose answers do not vary and have no z-scores."""
    missing = ~np.isfinite(value)
    flat = np.unique(answers.rater[missing])
    if not len(flat):
        return []
    names = first_names([answers.people[number] for number in flat], SHOWN)
    return [Message("strengths.flat_answers", {"answers": int(missing.sum()), "n": len(flat), **names})]


def _modelled(answers: Rated, model: str, level: float, most: int) -> Strengths:
    """Strengths that are modes of stimulus effects in a logit model with crossed effects."""
    try:
        family: FamilyName = "binary" if model == "binary" else "ordinal"
        fit = fit_crossed(answers.category, answers.rater, answers.stimulus, family=family)
    except ValueError as error:
        raise MeasureError(Message("strengths.not_fitted", {"reason": _reason(answers, error)})) from error
    notes = _fit_notes(fit)
    few = len(fit.tasks) <= most
    covariance = task_covariance(fit) if few else np.empty((0, 0))
    se = None
    if not few:
        se = task_errors(fit)
        notes.append(_uncorrelated(len(fit.tasks)))
    if fit.variances["task"] < NO_VARIANCE:
        # With a variance of zero, standard errors would be zero.
        se = np.full(len(fit.tasks), np.nan)
    number = np.bincount(answers.stimulus, minlength=answers.stimuli.height)
    frame, covariance, _ = by_strength(answers.stimuli, fit.task_effects, covariance, number, level, se)
    settings = {"levels": tuple(answers.levels[int(category)] for category in fit.categories)}
    return Strengths(
        frame, model, Message("unit.shrunken_logits"), level, covariance, settings=settings, notes=tuple(notes), fit=fit
    )


def _reason(answers: Rated, error: ValueError) -> Message:
    if len(answers.people) < 2 or answers.stimuli.height < 2:
        return Message("strengths.two_of_each")
    return message_of(error)


def _fit_notes(fit: Fit) -> list[Message]:
    alike = fit.variances["task"] < NO_VARIANCE
    notes = [] if alike else [Message("strengths.shrunk")]
    if not fit.converged:
        notes.append(Message("strengths.not_converged", {"convergence": fit.convergence.message}))
    if alike:
        notes.append(Message("strengths.no_stimulus_variance"))
    if fit.variances["worker"] < NO_VARIANCE:
        notes.append(Message("strengths.no_participant_variance"))
    if len(fit.same_answer_workers):
        notes.append(
            Message("strengths.same_answers", {"n": len(fit.same_answer_workers), "participants": len(fit.workers)})
        )
    return notes


def _unit(answers: Rated, model: str) -> Message:
    scale = answers.scale
    if model == "zscore":
        return Message("unit.answer_deviations")
    if model == "magnitude":
        return Message("unit.ratio_deviations")
    if isinstance(scale, Binary):
        return Message("unit.shares", {"answer": answers.levels[-1]})
    if isinstance(scale, Ordinal):
        return Message("unit.points", {"low": 1, "high": len(answers.levels)})
    if isinstance(scale, Magnitude):
        return Message("unit.log_ratios")
    if isinstance(scale, Continuous) and scale.low is not None and scale.high is not None:
        return Message("unit.points", {"low": scale.low, "high": scale.high})
    return Message("unit.answers")


def _uncorrelated(stimuli: int) -> Message:
    return Message("strengths.covariances", {"n": stimuli})


Score = Callable[[Judgments], Any]


def weighted_means(answers: Rated, chosen: Floats, weights: Floats, standardised: bool) -> Floats:
    """The mean of each stimulus (rows) among the chosen answers, for each column of participants' weights."""
    rows = np.flatnonzero(chosen)
    stimulus, rater, value = answers.stimulus[rows], answers.rater[rows], answers.value[rows]
    value = standardised_within(rater, value, len(answers.people)) if standardised else value
    usable = np.isfinite(value)
    shape = (answers.stimuli.height, len(answers.people))
    stimulus, rater, value = stimulus[usable], rater[usable], value[usable]
    # Sums of deviations from the mean do not lose the digits of large numbers.
    middle = float(value.mean()) if len(value) else 0.0
    number = summing(stimulus, rater, shape=shape) @ weights
    total = summing(stimulus, rater, value - middle, shape) @ weights
    return quotient(total, number) + middle


def standardised_within(rater: Ints, value: Floats, people: int) -> Floats:
    """The z-score of each answer within its participant; NaN if a participant's answers do not vary."""
    number = np.bincount(rater, minlength=people)
    deviation = value - (np.bincount(rater, value, people) / np.maximum(number, 1))[rater]
    sd = np.sqrt(np.bincount(rater, deviation**2, people) / np.maximum(number - 1, 1))[rater]
    return quotient(deviation, np.where(sd > 1e-12 * max(1.0, float(np.max(np.abs(value), initial=0.0))), sd, 0.0))


def bootstrap_sample(judgments: Judgments, counts: Mapping[str, int]) -> Judgments:
    """The judgments of each participant as often as `counts` says, copies under new names."""
    table = pl.DataFrame(
        [(name, name if copy == 1 else f"{name} ({copy})") for name, times in counts.items()
         for copy in range(1, times + 1)],
        schema={"participant": pl.String, "_name": pl.String}, orient="row",
    )  # fmt: skip

    def renamed(frame: pl.DataFrame) -> pl.DataFrame:
        joined = table.join(frame, on="participant", how="inner", maintain_order="left_right")
        return joined.with_columns(participant="_name").drop("_name").select(frame.columns)

    return judgments.with_frame(renamed(judgments.frame), renamed(judgments.participants))


def function_scores(score: Score, judgments: Judgments, key: str = "item", value: str = "estimate") -> dict[str, Any]:
    """The scores that a function computes from judgments, by item; empty if it cannot compute them."""
    try:
        scores = score(judgments)
    except KaratError:
        return {}
    return as_mapping(scores, key, value)


def as_mapping(scores: Any, key: str, value: str) -> dict[str, Any]:
    """A table, an object with a `.table()`, or a mapping, as a mapping from key to value."""
    if isinstance(scores, Mapping):
        return dict(scores)
    table = scores if isinstance(scores, pl.DataFrame) else scores.table() if hasattr(scores, "table") else None
    if not isinstance(table, pl.DataFrame) or not {key, value} <= set(table.columns):
        raise MeasureError(Message("scores.no_table", {"key": key, "value": value}))
    return dict(table.select(pl.col(key).cast(pl.String), value).iter_rows())
