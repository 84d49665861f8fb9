"""How often intervals of 95 % hold the truth, in studies of 40 participants and 32 items that are drawn from the model:

    python tools/coverage.py [--runs 500] [--write docs/explanation/coverage.md]

Strengths of choices are drawn from a normal distribution, and each participant compares the items in a ring of their
own, so that everybody meets every item twice. The ordinal condition effect is that of a Latin square in which each
participant and each item has an intercept and an effect of its own. Coverage of strengths is averaged over items,
after truth and estimate are both centred. Each run has its own seed, so that the numbers are the same each time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.models.choices import ChoiceFit, Pairs, fit_pairs, groups_of
from karat.models.choices.thurstone import fit_thurstone
from karat.models.glrm import fit, intervals

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
PARTICIPANTS, ITEMS, RUNS = 40, 32, 500
WANTED = (0.93, 0.97)
SMALL = "## Planned comparisons in small studies"
"""The heading of the part of the page that `benchmarks/coverage.py` writes."""
REACH = 1.959964
"""Standard errors to either side of an interval of 95 %."""
STRENGTHS = 1.0
"""The standard deviation of the items' strengths."""
TIE = 0.6
"""Davidson's nu."""
SHAPE, CRITERION, CRITERION_SPREAD = 3.0, 0.5, 0.4
"""Of Thurstone's participants: the shape of sigma, and the median and the deviation (in logs) of the criterion."""
THRESHOLDS = np.array([-2.0, -0.7, 0.7, 2.0])
EFFECT, INTERCEPTS, SLOPES = 0.5, 0.8, 0.4
"""Of the ordinal model: the deviations of the condition effect over studies, and of participants' and items' own."""


class Run(NamedTuple):
    """One simulated study: the share of its intervals that held the truth, and their mean length."""

    held: float
    length: float
    refused: bool = False
    """Whether the data have no estimate, so that karat would refuse them: an item won or lost every comparison."""


@dataclass(frozen=True)
class Coverage:
    """The coverage of a model's intervals over many studies."""

    share: float
    error: float
    """The standard error of the share."""
    length: float
    runs: int
    refused: int

    def __str__(self) -> str:
        return f"{100 * self.share:.1f} % (standard error {100 * self.error:.1f}), mean length {self.length:.2f}"


def bradley_terry(seed: int) -> Run:
    """Choices without ties, with errors that hold where choices of one participant hang together."""
    return _pairs(seed, 0.0, True)


def bradley_terry_by_model(seed: int) -> Run:
    """The same with the errors of the model."""
    return _pairs(seed, 0.0, False)


def davidson(seed: int) -> Run:
    """Choices with ties, with errors that hold where choices of one participant hang together."""
    return _pairs(seed, TIE, True)


def davidson_by_model(seed: int) -> Run:
    """The same with the errors of the model."""
    return _pairs(seed, TIE, False)


def _pairs(seed: int, nu: float, robust: bool) -> Run:
    random = np.random.default_rng(seed)
    truth, left, right, who = compared(random)
    half = (truth[left] - truth[right]) / 2
    weights = np.stack([np.exp(-half), np.full(len(half), nu), np.exp(half)], axis=1)
    cumulated = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    answer = (random.random(len(half))[:, None] > cumulated).sum(axis=1) - 1
    pairs = Pairs.of(left, right, answer, ITEMS)
    if groups_of(pairs).max() > 0:
        return Run(float("nan"), float("nan"), refused=True)
    return of_strengths(truth, fit_pairs(pairs, ties=nu > 0, participant=who if robust else None))


def thurstone(seed: int) -> Run:
    """Choices with three answers, by Thurstone's model with a criterion for each participant."""
    random = np.random.default_rng(seed)
    truth, left, right, who = compared(random)
    # Weibull's variability with E[log sigma] = 0, the unit of strengths.
    sigma = np.exp((np.log(random.exponential(size=PARTICIPANTS)) + np.euler_gamma) / SHAPE)
    criterion = CRITERION * np.exp(CRITERION_SPREAD * random.normal(size=PARTICIPANTS))
    felt = truth[left] - truth[right] + sigma[who] * random.normal(size=len(left))
    answer = np.where(np.abs(felt) < criterion[who], 0, np.sign(felt)).astype(np.int64)
    return of_strengths(truth, fit_thurstone(Pairs.of(left, right, answer, ITEMS), who))


def ordinal(seed: int) -> Run:
    """The effect of a condition on ratings of five points, by the cumulative logit model with slopes."""
    random = np.random.default_rng(seed)
    who, what = np.divmod(np.arange(PARTICIPANTS * ITEMS), ITEMS)
    side = np.where((who + what) % 2, 0.5, -0.5)
    truth = EFFECT * random.normal()
    eta = truth * side
    for code, number in ((who, PARTICIPANTS), (what, ITEMS)):
        own = random.normal(size=(number, 2)) * [INTERCEPTS, SLOPES]
        eta = eta + own[code, 0] + own[code, 1] * side
    response = np.digitize(eta + random.logistic(size=len(eta)), THRESHOLDS) + 1
    data = {"response": response, "side": side, "participant": who, "item": what}
    formula = "response ~ side + (1 + side | participant) + (1 + side | item)"
    found = intervals(fit(formula, data, family="ordinal", simplify=True), parameters=["side"])
    lower, upper = float(found.lower[0]), float(found.upper[0])
    return Run(float(lower <= truth <= upper), upper - lower)


def compared(random: np.random.Generator) -> tuple[Floats, Ints, Ints, Ints]:
    """The strengths, and who compared which items: for each participant all items in a ring of random order."""
    truth = STRENGTHS * random.normal(size=ITEMS)
    orders = random.permuted(np.tile(np.arange(ITEMS), (PARTICIPANTS, 1)), axis=1)
    return truth, orders.ravel(), np.roll(orders, -1, axis=1).ravel(), np.repeat(np.arange(PARTICIPANTS), ITEMS)


def of_strengths(truth: Floats, found: ChoiceFit) -> Run:
    """The share of items whose interval holds their strength."""
    away = found.strengths - found.strengths.mean() - (truth - truth.mean())
    errors = found.standard_errors
    return Run(float((np.abs(away) <= REACH * errors).mean()), float(2 * REACH * errors.mean()))


MODELS: dict[str, Callable[[int], Run]] = {
    "Bradley-Terry": bradley_terry,
    "Davidson": davidson,
    "Thurstone": thurstone,
    "ordinal condition effect": ordinal,
}
BESIDE: dict[str, Callable[[int], Run]] = {
    "Bradley-Terry, errors of the model": bradley_terry_by_model,
    "Davidson, errors of the model": davidson_by_model,
}
"""Shown on the page as well: these trust that choices of one participant are independent, which is true here."""


def coverage(model: Callable[[int], Run], runs: int = RUNS, processes: int = 2) -> Coverage:
    """The coverage of a model's intervals in this many simulated studies."""
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        found = list(pool.map(model, range(runs), chunksize=max(1, runs // (8 * processes))))
    kept = [run for run in found if not run.refused]
    held = np.array([run.held for run in kept])
    error = float(held.std(ddof=1) / np.sqrt(len(held)))
    return Coverage(float(held.mean()), error, float(np.mean([run.length for run in kept])), runs, runs - len(kept))


def page(found: dict[str, Coverage]) -> str:
    """The page of the documentation."""
    runs = next(iter(found.values())).runs
    rows = "".join(
        f"| {name} | {100 * one.share:.1f} % | {100 * one.error:.1f} | {one.length:.2f} | {one.refused} |\n"
        for name, one in found.items()
    )
    return f"""<!-- Made by tools/coverage.py and benchmarks/coverage.py; do not edit. -->

# Coverage of intervals

This page shows how often karat's 95 % intervals contain the true value, and how often its tests reject a true null
hypothesis. `python tools/coverage.py` draws true values, simulates a study with {PARTICIPANTS} participants and {ITEMS}
items, and computes the intervals, {runs} times per model.

| intervals | coverage | standard error | mean length | without estimate |
| --- | ---: | ---: | ---: | ---: |
{rows}
Coverage is the percentage of intervals that contain the true value, averaged over items for models of choices. Its
standard error reflects the {runs} studies. Lengths are in logits, or for Thurstone's model in standard deviations of a
typical participant's noise.

**Choices.** The strengths of the {ITEMS} items are drawn from a normal distribution. Each participant makes {ITEMS}
choices and sees every item twice, because they compare the neighbours in a random ring of all items. True and estimated
strengths are centred before they are compared, because only differences are meaningful. Bradley and Terry's and
Davidson's models use robust standard errors, which remain valid if the choices of a participant are correlated. They
are not in these simulations, so the model's own errors (last rows) would also do. If an item won or lost every
comparison, there is no estimate without a prior. karat refuses such studies, and the last column counts them.

**The ordinal condition effect.** Ratings on five points in two conditions, in a Latin square. Participants and items
each have a random intercept (standard deviation {INTERCEPTS}) and a random effect of the condition ({SLOPES}). The
model has both, and is simplified if its fit is singular, as in `karat.measure.contrasts`. The interval is Wald's, from
the normal distribution, which assumes many participants and items. `contrasts` uses t, as the next section shows.
"""


def main() -> None:
    """Simulate, print, and write the page where it is asked for."""
    parser = argparse.ArgumentParser(description="How often intervals of 95 % hold the truth.")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    found = {}
    for name, model in (MODELS | BESIDE).items():
        start = time.perf_counter()
        found[name] = coverage(model, options.runs)
        print(f"{name:36}{found[name]}  ({time.perf_counter() - start:.0f} s)", flush=True)
    if options.write:
        before = options.write.read_text(encoding="utf-8") if options.write.exists() else ""
        kept = f"\n{SMALL}{before.partition(SMALL)[2]}" if SMALL in before else ""
        options.write.write_text(page(found) + kept, encoding="utf-8")
    low, high = WANTED
    missed = [name for name in MODELS if not low <= found[name].share <= high]
    if missed:
        raise SystemExit(f"Outside of {100 * low:.0f} to {100 * high:.0f} %: {', '.join(missed)}.")


if __name__ == "__main__":
    main()
