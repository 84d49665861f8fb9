"""Strengths of stimuli: how good, natural or acceptable each stimulus is, on one scale, with intervals.

The result is the same for rating scales, yes-or-no answers, magnitudes, and choices between two stimuli. Each scale has
a recommended model, which is the default:

    scale              recommended                        others
    rating scale       "ordinal"                          "mean", "zscore"
    yes or no          "binary"                           "mean"
    magnitudes         "magnitude"                        "mean"
    numbers, sliders   "zscore"                           "mean"
    choices            "thurstone" with "no difference",  "davidson"
                       "bradley-terry" without

The models are described in `karat.measure.scaling.ratings` and `karat.measure.scaling.choices`.
"""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from karat.judgments import Judgments
from karat.judgments.scales import Choice, Scale
from karat.measure.rated import answers_to, rated
from karat.measure.result import MeasureError, check_level
from karat.measure.scaling.ratings import rating_strengths
from karat.measure.scaling.result import Criterion, Strengths
from karat.messages import Message

MODELS: dict[str, tuple[str, ...]] = {
    "ordinal": ("ordinal", "mean", "zscore"),
    "binary": ("binary", "mean"),
    "magnitude": ("magnitude", "mean"),
    "continuous": ("zscore", "mean"),
    "choice": ("bradley-terry", "davidson", "thurstone"),
}
"""The models of each kind of scale, the recommended one first."""


def strengths(
    judgments: Judgments,
    model: str | None = None,
    *,
    question: str | None = None,
    conditions: Sequence[str] | None = None,
    functions: Sequence[str] = ("test",),
    level: float = 0.95,
    side: bool = False,
    criterion: Criterion = "participant",
    prior_sd: float | None = None,
    posterior: bool = False,
    seed: int = 1,
) -> Strengths:
    """The strength of each stimulus, by the recommended model of the scale or by `model`.

    Parameters
    ----------
    model
        The model; by default the one recommended for the scale.
    side
        For choices: whether to estimate a preference for the left side (not in Thurstone's model).
    criterion
        For Thurstone's model: whether each participant has a criterion for "no difference", or all share one.
    prior_sd
        For choices: the standard deviation of a normal prior of strengths (not in Thurstone's model).
    posterior
        For Thurstone's model: whether to sample the full posterior, with the extra `bayes`.
    seed
        The seed of the posterior.

    >>> import karat
    >>> strengths(karat.datasets.load("likert"), "mean").table().columns
    ['item', 'order', 'integration', 'estimate', 'se', 'lower', 'upper', 'rank', 'n']
    """
    check_level(level)
    answers = answers_to(question, rated(judgments, "strengths", functions, conditions), "strengths")
    chosen = _model(answers.scale, model)
    if isinstance(answers.scale, Choice):
        from karat.measure.scaling.choices import choice_strengths

        # Repeated comparisons of the same items by a participant count too.
        answers = answers_to(question, rated(judgments, "strengths", functions, conditions, once=None), "strengths")
        result = choice_strengths(answers, chosen, level, side, criterion, prior_sd, posterior, seed)
    else:
        _only_for_choices(chosen, side, criterion, prior_sd, posterior)
        result = rating_strengths(answers, chosen, level)
    silent = judgments.frame.filter(pl.col("function").is_in(list(functions)), pl.col("response").is_null())
    if "question" in silent.columns:
        silent = silent.filter(pl.col("question").fill_null("") == answers.question)
    no_answer = [Message("strengths.no_answer", {"n": silent.height})] if silent.height else []
    settings = {"model": chosen, "question": answers.question, "functions": tuple(functions), "level": level}
    notes = dict.fromkeys((*no_answer, *answers.notes, *result.notes))
    return replace(result, settings=settings | result.settings, notes=tuple(notes))


def _model(scale: Scale, model: str | None) -> str:
    """The model, or the recommended one; an error if it does not fit the scale."""
    fitting = MODELS.get(scale.kind, ())
    if not fitting:
        raise MeasureError(Message("strengths.no_order", {"kind": scale.kind}))
    if model is None:
        return "thurstone" if isinstance(scale, Choice) and scale.none else fitting[0]
    if model not in fitting:
        values = {"model": model, "kinds": [scale.kind], "models": list(fitting)}
        raise MeasureError(Message("strengths.no_model", values))
    return model


def _only_for_choices(model: str, side: bool, criterion: Criterion, prior_sd: float | None, posterior: bool) -> None:
    options = {
        "side": side, "criterion": criterion != "participant", "prior_sd": prior_sd is not None, "posterior": posterior,
    }  # fmt: skip
    for name, is_set in options.items():
        if is_set:
            raise MeasureError(Message("strengths.only_choices", {"option": name, "model": model}))
