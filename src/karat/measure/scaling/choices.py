"""Strengths from choices between two stimuli: Bradley and Terry's model, Davidson's and Thurstone's.

    "bradley-terry"   two answers; P(left) / P(right) = exp(left - right). An answer "no difference" counts as half a
                      choice of either side.
    "davidson"        the same with "no difference" as a third answer (`karat.models.choices.bradley_terry`).
    "thurstone"       three answers; participants differ in their variability and in the smallest difference that they
                      notice (Langsford and others 2018; `karat.models.choices.thurstone`).

Strengths sum to zero. The standard errors of the first two models allow for dependent choices of one participant
(`karat.models.choices.bradley_terry`); those of the third come from the model, which includes participants.

Stimuli that were never compared, not even through other stimuli, have no common scale, and a stimulus that won or lost
all its comparisons has no finite strength. The first two models raise an error that names these stimuli, unless
`prior_sd` gives strengths a normal prior. Thurstone's model always has a wide prior, and a note names the stimuli for
which it matters. With the extra `bayes`, its full posterior can be sampled (`strength_draws` returns the draws).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.special import ndtri

from karat.judgments.stimuli import groups_and_numbers
from karat.measure.rated import COMPARED, Rated, stimulus_labels
from karat.measure.result import MeasureError, first_names
from karat.measure.scaling.result import Criterion, Strengths, by_strength
from karat.messages import Message, check_number, check_word
from karat.models.choices import ChoiceFit, Pairs, fit_pairs, groups_of
from karat.models.choices.posterior import Posterior, draw_posterior
from karat.models.choices.thurstone import PRIOR_SD, fit_thurstone, probabilities
from karat.models.numerics import significant
from karat.types import Floats, Ints

ANSWERS = {"left": 1, "none": 0, "right": -1}
SHOWN = 10
"""The most stimuli of a group that a message names."""
GROUPS = 3
"""The most groups of stimuli that a message lists."""
FEW = 10
"""With fewer participants than this, robust standard errors are unreliable."""


class Compared(NamedTuple):
    """The choices of one question as numbers."""

    pairs: Pairs
    person: Ints
    people: list[str]
    stimuli: pl.DataFrame
    """The item and conditions of each stimulus, by its number."""
    labels: list[str]
    notes: tuple[Message, ...]


def choice_strengths(
    answers: Rated,
    model: str,
    level: float = 0.95,
    side: bool = False,
    criterion: Criterion = "participant",
    prior_sd: float | None = None,
    posterior: bool = False,
    seed: int = 1,
) -> Strengths:
    """The strength of each stimulus that was compared.

    `side` adds a preference for the left side, `prior_sd` a normal prior (both for "bradley-terry" and "davidson").
    With `criterion`, each participant has a separate criterion or all share one, and `posterior` samples the full
    posterior, with the extra `bayes` (both for "thurstone").
    """
    _check_options(model, side, criterion, prior_sd, posterior)
    compared = compared_stimuli(answers)
    if model == "thurstone":
        return _thurstone(compared, level, criterion, posterior, seed)
    return _pairs(compared, model, level, side, prior_sd)


def _check_options(model: str, side: bool, criterion: Criterion, prior_sd: float | None, posterior: bool) -> None:
    """Refuse options that a model does not have."""
    check_word(MeasureError, "criterion", criterion, ("participant", "shared"))
    check_number(MeasureError, "prior_sd", prior_sd, above=0)
    thurstone = model == "thurstone"
    unknown = {
        "side": thurstone and side,
        "prior_sd": thurstone and prior_sd is not None,
        "criterion": not thurstone and criterion != "participant",
        "posterior": not thurstone and posterior,
    }
    for name, is_set in unknown.items():
        if is_set:
            others = ["bradley-terry", "davidson"] if thurstone else ["thurstone"]
            raise MeasureError(Message("choices.no_option", {"model": model, "option": name, "models": others}))


def compared_stimuli(answers: Rated) -> Compared:
    """The choices as numbers; a stimulus is the item on the left or right, with its conditions."""
    rows = answers.rows
    if not {"left", "right"} <= set(rows.columns):
        raise MeasureError(Message("choices.no_sides"))
    notes: list[Message] = []
    whole = rows.filter(pl.col("left").is_not_null() & pl.col("right").is_not_null())
    if whole.height < rows.height:
        notes.append(Message("choices.unnamed_side", {"n": rows.height - whole.height}))
    differ = whole.filter(pl.col("left") != pl.col("right"))
    if differ.height < whole.height:
        notes.append(Message("choices.same_sides", {"n": whole.height - differ.height}))
    if not differ.height:
        raise MeasureError(Message("choices.no_choices"))
    conditions = [name for name in answers.stimuli.columns[1:] if name != COMPARED]
    sides = [differ.select(pl.col(name).alias("item"), *conditions) for name in ("left", "right")]
    stimuli, number = groups_and_numbers(pl.concat(sides), sides[0].columns)
    left, right = np.split(number.to_numpy(), 2)
    answer = differ["response"].replace_strict(ANSWERS, return_dtype=pl.Int64).to_numpy()
    if not answer.any():
        raise MeasureError(Message("models.same_answers"))
    people, person = np.unique(differ["_rater"].to_numpy(), return_inverse=True)
    names = [answers.people[number] for number in people]
    return Compared(
        Pairs.of(left, right, answer, stimuli.height), person.astype(np.int64), names, stimuli,
        stimulus_labels(stimuli), tuple(notes),
    )  # fmt: skip


def _pairs(compared: Compared, model: str, level: float, side: bool, prior_sd: float | None) -> Strengths:
    """Bradley and Terry's model, or Davidson's."""
    pairs, notes = compared.pairs, list(compared.notes)
    apart = _unconnected(compared)
    if apart is not None and prior_sd is None:
        pairs_apart = apart.code == "choices.only_pairs"
        raise MeasureError(Message("choices.pairs_apart" if pairs_apart else "choices.not_connected", {"apart": apart}))
    if apart is not None:
        notes.append(Message("choices.prior", {"apart": apart, "sd": prior_sd}))
    ties = int((pairs.answer == 0).sum())
    if model == "bradley-terry" and ties:
        notes.append(Message("choices.half_ties", {"n": ties}))
    if model == "davidson" and not ties:
        notes.append(Message("choices.no_ties_davidson"))
    several = len(compared.people) > 1
    fit = fit_pairs(
        pairs, "half" if model == "bradley-terry" else None, side, prior_sd, compared.person if several else None
    )
    notes += _doubts(compared, fit)
    if side and fit.side is not None and fit.side_error is not None:
        reach = float(ndtri((1 + level) / 2)) * fit.side_error
        values = {"side": fit.side, "lower": fit.side - reach, "upper": fit.side + reach, "level": level}
        notes.append(Message("choices.side", values))
    settings: dict[str, object] = {"side": side, "prior_sd": prior_sd}
    covariance = fit.covariance if fit.robust is None else fit.robust
    return _strengths(compared, fit.strengths, covariance, model, Message("unit.logits"), level, settings, notes, fit)


def _thurstone(compared: Compared, level: float, criterion: Criterion, posterior: bool, seed: int) -> Strengths:
    """Thurstone's model, by penalised maximum likelihood or by its posterior."""
    notes = list(compared.notes)
    apart = _unconnected(compared)
    if apart is not None:
        notes.append(Message("choices.wide_prior", {"apart": apart, "sd": PRIOR_SD}))
    if criterion == "participant" and not compared.pairs.has_ties:
        notes.append(Message("choices.no_ties_thurstone"))
    settings: dict[str, object] = {"criterion": criterion, "posterior": posterior}
    shared, unit = criterion == "shared", Message("unit.noise_deviations")
    if posterior:
        try:
            draws = draw_posterior(compared.pairs, compared.person, shared, seed)
        except ImportError:
            raise MeasureError(Message("posterior.not_installed", {"command": "pip install 'karat[bayes]'"})) from None
        strengths = _strengths(
            compared, draws.strengths, draws.covariance, "thurstone", unit, level, settings | {"seed": seed},
            [*notes, *posterior_notes(draws)], None, draws.interval(level),
        )  # fmt: skip
        return replace(strengths, fit=draws.ordered(np.argsort(-draws.strengths, kind="stable")))
    fit = fit_thurstone(compared.pairs, compared.person, shared)
    notes += _doubts(compared, fit, robust=False)
    strengths = _strengths(compared, fit.strengths, fit.covariance, "thurstone", unit, level, settings, notes, fit)
    return replace(strengths, participants=_people(compared, fit.variability, fit.criterion))


def _people(compared: Compared, variability: Floats, criterion: Floats) -> pl.DataFrame:
    """The variability of each participant, and the smallest difference at which they choose a side."""
    number = len(compared.people)
    n = np.bincount(compared.person, minlength=number)
    estimates = {"variability": variability, "criterion": np.broadcast_to(criterion, number)}
    return pl.DataFrame({"participant": compared.people, "n": n} | estimates)


def _strengths(
    compared: Compared, estimate: Floats, covariance: Floats, model: str, unit: Message, level: float,
    settings: dict[str, object], notes: Iterable[Message], fit: object, ends: tuple[Floats, Floats] | None = None,
) -> Strengths:  # fmt: skip
    pairs = compared.pairs
    n = np.bincount(np.concatenate([pairs.left, pairs.right]), minlength=pairs.items)
    frame, ordered, _ = by_strength(compared.stimuli, estimate, covariance, n, level, ends=ends)
    return Strengths(frame, model, unit, level, ordered, settings=settings, notes=tuple(notes), fit=fit)


def _unconnected(compared: Compared) -> Message | None:
    """The stimuli that the choices do not connect; None if all are connected."""
    apart = groups_of(compared.pairs, directed=False)
    count = int(apart.max()) + 1
    if count > 1 and 2 * count == len(apart):  # each group has at least two stimuli
        return Message("choices.only_pairs", {"n": count})
    if count > 1:
        groups = [_group(compared.labels, apart, number) for number in _largest(apart, GROUPS)]
        more = count - GROUPS if count > GROUPS else None
        return Message("choices.groups", {"n": count, "groups": groups, "more": more})
    one_way = groups_of(compared.pairs)
    if int(one_way.max()) == 0:
        return None
    sizes = np.bincount(one_way)
    main = int(sizes.argmax()) if sizes.max() > 1 else -1
    alone = np.flatnonzero((sizes[one_way] == 1) & (one_way != main))
    single = None
    if len(alone):
        single = Message("choices.alone", first_names([compared.labels[number] for number in alone.tolist()], SHOWN))
    together = [number for number in _largest(one_way, int(one_way.max()) + 1) if number != main and sizes[number] > 1]
    groups = [_group(compared.labels, one_way, number) for number in together[:GROUPS]]
    more = len(together) - GROUPS if len(together) > GROUPS else None
    in_groups = Message("choices.together", {"groups": groups, "more": more}) if groups else None
    return Message("choices.one_way", {"alone": single, "together": in_groups})


def _largest(groups: Ints, most: int) -> list[int]:
    sizes = np.bincount(groups)
    return [int(number) for number in np.argsort(-sizes, kind="stable")[:most]]


def _group(labels: Sequence[str], groups: Ints, number: int) -> Message:
    names = [labels[place] for place in np.flatnonzero(groups == number).tolist()]
    return Message("choices.group", first_names(names, SHOWN))


def _doubts(compared: Compared, fit: ChoiceFit, robust: bool = True) -> list[Message]:
    """Notes on unreliable estimates or standard errors."""
    notes = []
    if not fit.converged:
        notes.append(Message("choices.not_converged", {"gradient": significant(fit.gradient, 2)}))
    people = len(compared.people)
    if robust and people == 1:
        notes.append(Message("choices.one_participant"))
    elif robust and people < FEW:
        notes.append(Message("choices.few_participants", {"n": people}))
    return notes


def predict(strengths: Strengths, pairs: Iterable[tuple[str, str]]) -> pl.DataFrame:
    """The probability of each answer (left, none, right) to comparisons of stimuli, named by their labels.

    In Thurstone's model, it is the probability for a random participant of the population.

    Parameters
    ----------
    pairs
        The labels of the left and the right stimulus of each comparison.

    >>> import karat
    >>> rows = {"left": ["a", "b", "a"], "right": ["b", "a", "b"], "participant": ["p1", "p2", "p3"],
    ...         "item": ["ab"] * 3, "response": ["left", "left", "left"]}
    >>> strengths = karat.measure.strengths(karat.Judgments(rows, karat.Choice()), prior_sd=1.0)
    >>> predict(strengths, [("a", "b")]).columns
    ['left', 'right', 'p_left', 'p_none', 'p_right']
    """
    if strengths.model not in ("bradley-terry", "davidson", "thurstone"):
        raise MeasureError(Message("choices.not_choices", {"model": strengths.model}))
    labels = list(pairs)
    estimates = dict(zip(strengths.labels, strengths.frame["estimate"].to_list(), strict=True))
    unknown = list(dict.fromkeys(label for pair in labels for label in pair if label not in estimates))
    if unknown:
        raise MeasureError(Message("choices.unknown", first_names(unknown, SHOWN)))
    difference = np.array([estimates[left] - estimates[right] for left, right in labels], dtype=np.float64)
    fit = strengths.fit
    chances = fit.probabilities(difference) if isinstance(fit, Posterior) else probabilities(fit, difference)
    sides = {"left": [left for left, _ in labels], "right": [right for _, right in labels]}
    return pl.DataFrame(sides | dict(zip(("p_left", "p_none", "p_right"), chances.T, strict=True)))


def posterior_notes(posterior: Posterior) -> list[Message]:
    """Notes on the draws, and on chains that have not converged."""
    rhat = max(float(posterior.rhat.max()), float(posterior.variability_rhat.max()))
    ess = min(float(posterior.ess.min()), float(posterior.variability_ess.min()))
    values = {
        "draws": len(posterior.draws), "chains": posterior.chains, "rhat": rhat, "ess": round(ess),
        "divergences": posterior.divergences,
    }  # fmt: skip
    notes = [Message("posterior.draws", values)]
    return notes if posterior.trusted else [*notes, Message("posterior.not_trusted")]


def strength_draws(strengths: Strengths) -> pl.DataFrame:
    """The draws of the posterior, one column per stimulus (by its label, strongest first), one row per draw.

    >>> import karat
    >>> strength_draws(karat.measure.strengths(karat.datasets.load("likert"), "mean"))
    Traceback (most recent call last):
    ...
    karat.measure.result.MeasureError: These estimates have no posterior draws. Use posterior=True.
    """
    if not isinstance(strengths.fit, Posterior):
        raise MeasureError(Message("posterior.no_draws"))
    return pl.DataFrame(strengths.fit.draws, schema=strengths.labels, orient="row")
