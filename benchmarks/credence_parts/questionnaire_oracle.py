"""The oracle of questionnaires: likelihood ratios of answers and times with the generating parameters.

Strengths of stimuli, effects, the dialect, the shares of all behaviours and the trial of the change are known. What is
drawn for each participant is summed over: shift and stretch of the scale, the deviation of the effect, and the pace.
With A for answers and T for times,

    P(cooperative) = sum over majority, minority, fast, slow of  share * P(A) * P(T),

and the same for each kind of spammer; for late guessers the sums run over both parts of the questionnaire together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.special import expit

from karat.judgments.scales import Choice, Ordinal, Scale
from karat.simulate import Spread
from karat.simulate.behaviours import (
    INTERRUPTED,
    LOG_SECONDS,
    LONGER,
    PACE,
    PAUSE_SHARE,
    PAUSES,
    RATING_SECONDS,
    RESIDUAL,
    SHARE_OF_TIME,
)
from karat.simulate.scale_answers import levels_of, thresholds

from .scenes import Floats, Ints, log_sum

MINORITY, FAST, LATE = "minority dialect", "fast", "late guesser"
FASTER, HURRY = np.log(0.5), np.log(0.7)
"""How much less time fast participants take, and late guessers after the change, in logarithms."""
POINTS = {"shift": 15, "stretch": 5, "effect": 5, "pace": 101}
"""Of the grids. Paces are known so well from so many times that their grid must be fine."""


@dataclass(frozen=True)
class Plan:
    """The trials of everybody, practice left out, in the order of presentation."""

    frame: pl.DataFrame
    person: Ints
    place: Ints
    scale: Scale
    side: Floats
    compared: bool
    usual: float


@dataclass(frozen=True)
class Known:
    """Latent values of each trial for majority and minority, and what was drawn for each participant."""

    majority: Floats
    minority: Floats
    shift: Floats
    stretch: Floats
    effect: Floats
    pace: Floats
    changed: Ints


def log_ratios(plan: Plan, known: Known, answers: Ints, times: Floats, shares: dict[str, float]) -> dict[str, Floats]:
    """The log likelihood ratio of cooperative over each kind of spammer, and over any of them."""
    people, changed = len(known.shift), known.changed == 1
    by_part = np.stack([np.bincount(plan.person, ~changed, people), np.bincount(plan.person, changed, people)])
    levels = len(levels_of(plan.scale))
    major = looked(plan, known.majority, answers, changed)
    minor = looked(plan, known.minority, answers, changed)
    slow = float(SHARE_OF_TIME["guesser"])
    usual = clock(plan, times, changed)
    fast, dawdler = clock(plan, times, changed, FASTER), clock(plan, times, changed, 0.0, PAUSES)
    rest = 1 - sum(shares.values())
    cooperative = [
        (rest, whole(major) + whole(usual)),
        (shares.get(MINORITY, 0.0), whole(minor) + whole(usual)),
        (shares.get(FAST, 0.0), whole(major) + whole(fast)),
        (shares.get("dawdler", 0.0), whole(major) + whole(dawdler)),
    ]
    guessed = -by_part.sum(axis=0) * np.log(levels)
    same = np.bincount(plan.person, answers == answers[first_rows(plan)][plan.person], people) == by_part.sum(axis=0)
    hurried = clock(plan, times, changed, np.log(slow))
    spammers = {
        "guesser": guessed + whole(hurried),
        "straight-liner": np.where(same, -np.log(levels), -np.inf)
        + whole(clock(plan, times, changed, np.log(SHARE_OF_TIME["straight-liner"]))),
        "rusher": guessed + rushed(plan, times),
        "clever spammer": guessed + rushed(plan, times, 0.3),
        LATE: start(major) - by_part[1] * np.log(levels) + both(usual, clock(plan, times, changed, HURRY)),
    }
    attentive = mixed(cooperative)
    found = {kind: attentive - value for kind, value in spammers.items() if shares.get(kind)}
    found["any"] = attentive - mixed([(shares.get(kind, 0.0), value) for kind, value in spammers.items()])
    return found


def mixed(parts: list[tuple[float, Floats]]) -> Floats:
    """The logarithm of a mixture, the shares made to add up to one."""
    used = [(share, value) for share, value in parts if share > 0]
    total = sum(share for share, _ in used)
    return log_sum(np.stack([np.log(share / total) + value for share, value in used], axis=-1))


def first_rows(plan: Plan) -> Ints:
    """The row of each participant's first trial."""
    return np.flatnonzero(np.diff(plan.person, prepend=-1))


def grid(deviation: float, points: int, reach: float = 2.5) -> tuple[Floats, Floats]:
    """Places and log weights of a normal distribution around zero, so many deviations to each side."""
    places = np.linspace(-reach, reach, points)
    weight = np.exp(-(places**2) / 2)
    return deviation * places, np.log(weight / weight.sum())


def looked(plan: Plan, latent: Floats, answers: Ints, changed: Ints) -> Floats:
    """Log probability of answers attentively: before and after the change x participants x grid; see `parted`."""
    spread = Spread()
    (a, wa), (s, ws) = grid(spread.participant, POINTS["shift"]), grid(spread.stretch, POINTS["stretch"])
    b, wb = grid(spread.participant_effect, POINTS["effect"])
    if isinstance(plan.scale, Choice):
        a, wa, s, ws = (np.zeros(1),) * 4
    shift, stretch, effect = (part.ravel() for part in np.meshgrid(a, np.exp(s), b, indexing="ij"))
    weight = (wa[:, None, None] + ws[:, None] + wb).ravel()
    value = latent[:, None] + plan.side[:, None] * effect
    if isinstance(plan.scale, Ordinal):
        cuts = np.concatenate([[-1e9], thresholds(len(plan.scale.levels)), [1e9]])
        low, high = (shift + stretch * cuts[answers + end][:, None] - value for end in (0, 1))
        terms = np.log(np.maximum(expit(high) - expit(low), 1e-300))
    else:
        # The left side is level 0 and has a positive preference.
        terms = np.log(expit(np.where(answers == 0, 1.0, -1.0)[:, None] * value))
    return parted(plan, terms, changed, weight)


def clock(plan: Plan, times: Floats, changed: Ints, by: float = 0.0, pauses: float = 0.0) -> Floats:
    """Log density of log times at a usual pace shifted by `by`: before and after x participants x grid of paces."""
    pace, weight = grid(PACE, POINTS["pace"], 4.0)
    function = np.array([LOG_SECONDS[name] for name in plan.frame["function"].to_list()])
    away = np.log(times) - function - np.log(plan.usual / RATING_SECONDS) - by
    away = away[:, None] - pace
    density = (1 - INTERRUPTED) * normal(away) + INTERRUPTED * normal(away - np.log(LONGER))
    if pauses:
        # Eight to 24 times as long, evenly: summed over in steps.
        longer = np.log(np.linspace(LONGER, 3 * LONGER, 9))
        density = (1 - pauses) * density + pauses * np.mean([normal(away - step) for step in longer], axis=0)
    return parted(plan, np.log(density + 1e-300), changed, weight)


def normal(away: Floats) -> Floats:
    """The density of the scatter of log times."""
    density: Floats = np.exp(-((away / RESIDUAL) ** 2) / 2) / (RESIDUAL * np.sqrt(2 * np.pi))
    return density


def rushed(plan: Plan, times: Floats, later: float = 0.0) -> Floats:
    """Log density of log times of those who rush, by participant; with `later`, of those who also pause cleverly."""
    quick = (times > 0.3499 + later) & (times < 0.9001 + later)
    density = quick / 0.55
    if later:
        density = (1 - PAUSE_SHARE) * density + PAUSE_SHARE * ((times > 19.99) & (times < 60.01)) / 40
    with np.errstate(divide="ignore"):
        terms = np.log(density * times)
    return np.bincount(plan.person, np.maximum(terms, -1e6))


def parted(plan: Plan, terms: Floats, changed: Ints, weight: Floats) -> Floats:
    """Sums of the terms of each participant before and after the change, log weights with the first."""
    people = int(plan.person.max()) + 1
    sums = np.zeros((2, people, terms.shape[1]))
    np.add.at(sums, (changed.astype(np.int64), plan.person), terms)
    sums[0] += weight
    return sums


def whole(parts: Floats) -> Floats:
    """Both parts, summed over the grid."""
    return log_sum(parts.sum(axis=0))


def start(parts: Floats) -> Floats:
    """The part before the change, summed over the grid."""
    return log_sum(parts[0])


def both(before: Floats, after: Floats) -> Floats:
    """The first part of one and the second of the other, at the same place of the grid."""
    return log_sum(before[0] + after[1])
