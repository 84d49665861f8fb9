"""The number of factors by parallel analysis, Velicer's minimum average partial, and the scree.

They answer different questions and often differ. Parallel analysis of factors tends to give the most, MAP the fewest;
the final number should also be one that can be interpreted. The formulas are in `karat.models.factors.extraction`.

Intervals of loadings and factor correlations come from resampling participants. A draw takes as many participants as
there are, with replacement, each with all cases, and analyses them again. Its factors are matched with those of the
whole sample by congruence (order and signs). Intervals are the quantiles of the draws. A factor with a mean congruence
under .85 is a different one in many draws (Lorenzo-Seva and ten Berge 2006).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.errors import counted
from karat.executors import SERIAL, Executor
from karat.measure.dimensions.factors import Factors
from karat.measure.dimensions.matrix import Kind, check_invertible, correlations_of
from karat.measure.result import BriefResult, MeasureError, MeasureResult, PlotColumns, check_level
from karat.messages import Message, check_number, check_word
from karat.models.factors import (
    acceleration,
    congruence,
    extract,
    map_test,
    matched,
    nearest_correlation,
    parallel_analysis,
    pearson,
    polychoric,
    rotate,
)
from karat.plots import Figure
from karat.plots.shares import scree_plot
from karat.types import Floats, Progress


@dataclass(frozen=True)
class NumberOfFactors(BriefResult):
    """The number of factors by each rule, and the eigenvalues behind it."""

    rules: pl.DataFrame
    """rule and number."""
    eigenvalues: pl.DataFrame
    """number; for components and for factors, the eigenvalue and the quantile of random data; the average partial
    correlation after this many components (map, map_4)."""
    files: ClassVar = {"number-of-factors": "rules", "eigenvalues": "eigenvalues"}
    figure_file: ClassVar = "eigenvalues"

    def number(self, rule: str) -> int:
        """The number of factors by one rule.

        >>> one = [[1, 0.6, 0.5, 0.4], [0.6, 1, 0.5, 0.4], [0.5, 0.5, 1, 0.3], [0.4, 0.4, 0.3, 1]]
        >>> number_of_factors(one, observations=200, draws=20).number("MAP")
        1
        """
        numbers = dict(self.rules.iter_rows())
        check_word(MeasureError, "rule", rule, numbers)
        return int(numbers[rule])

    @property
    def summary(self) -> tuple[Message, ...]:
        """The number of factors by each rule."""
        rules = dict(self.rules.iter_rows())
        low, high = min(rules.values()), max(rules.values())
        if low == high:
            return (Message("number_of_factors.agreed", {"n": low, "rules": list(rules)}),)
        each = [Message("number_of_factors.rule", {"rule": rule, "n": number}) for rule, number in rules.items()]
        return (Message("number_of_factors.range", {"low": low, "high": high, "rules": each}),)

    def plot(self, width_cm: float = 16) -> Figure:
        """The scree: eigenvalues beside those of random data."""
        number = counted(self.number("parallel analysis (factors)"), "factor")
        finding = f"Parallel analysis finds {number}, the minimum average partial {self.number('MAP')}"
        key = f"dashed: what {100 * self.settings['quantile']:.0f} % of random data stay below"
        return scree_plot(self.eigenvalues, finding, key, width_cm)


def number_of_factors(
    matrix: Any,
    correlations: Kind = "pearson",
    observations: int | None = None,
    draws: int = 100,
    quantile: float = 0.95,
    seed: int = 1,
) -> NumberOfFactors:
    """The numbers of factors by parallel analysis, MAP and the scree, of ratings or of correlations.

    Parameters
    ----------
    draws
        The number of random tables of parallel analysis.
    quantile
        The quantile of random eigenvalues that real ones must exceed.

    >>> one = [[1, 0.6, 0.5, 0.4], [0.6, 1, 0.5, 0.4], [0.5, 0.5, 1, 0.3], [0.4, 0.4, 0.3, 1]]
    >>> print(number_of_factors(one, observations=200, draws=20))
    All rules give 1 factor: parallel analysis (factors), parallel analysis (components), MAP, ...
    """
    check_number(MeasureError, "draws", draws, at_least=1)
    check_number(MeasureError, "quantile", quantile, above=0, below=1)
    source = correlations_of(matrix, correlations, observations)
    if len(source.pairs) < 3:
        raise MeasureError(Message("number_of_factors.too_few_pairs"))
    check_invertible(source)
    # Polychoric correlations of shuffled ratings would take too long; random normal numbers are as good.
    shuffled = source.values if correlations == "pearson" else None
    parallel = parallel_analysis(source.matrix, source.observations, shuffled, draws, quantile, seed)
    simple, averages = map_test(source.matrix)
    fourth, averages_4 = map_test(source.matrix, power=4)
    values = parallel.component_values
    rules = {
        "parallel analysis (factors)": parallel.factors, "parallel analysis (components)": parallel.components,
        "MAP": simple, "MAP (fourth power)": fourth, "bend of the scree": acceleration(values),
        "eigenvalues above 1": int((values > 1).sum()),
    }  # fmt: skip
    p = len(values)
    after = {"map": averages, "map_4": averages_4}
    eigenvalues = pl.DataFrame({
        "number": np.arange(1, p + 1), "component": values, "component_random": parallel.component_quantiles,
        "factor": parallel.factor_values, "factor_random": parallel.factor_quantiles,
        **{name: np.append(column[1:], [np.nan] * (p - len(column) + 1)) for name, column in after.items()},
    })  # fmt: skip
    table = pl.DataFrame({"rule": list(rules), "number": list(rules.values())})
    settings = {"correlations": correlations, "draws": draws, "quantile": quantile, "seed": seed}
    return NumberOfFactors(table, eigenvalues, settings=settings, notes=source.notes)


SIMILAR = 0.85


@dataclass(frozen=True)
class FactorIntervals(MeasureResult):
    """The variation of loadings and correlations of factors between samples of participants."""

    loadings: pl.DataFrame
    """pair, factor, loading, lower, upper."""
    correlations: pl.DataFrame
    """first, second, correlation, lower, upper; without rows for one factor."""
    congruence: pl.DataFrame
    """factor, and its mean congruence with the draws."""
    points: ClassVar = PlotColumns(("pair", "factor"), "loading", "loading")

    @property
    def summary(self) -> tuple[Message, ...]:
        """The mean width of the intervals of loadings."""
        width = float(np.mean((self.loadings["upper"] - self.loadings["lower"]).to_numpy()))
        about = {"level": self.settings["level"], "width": width, "draws": self.settings["draws"]}
        return (Message("factor_intervals.width", about),)


def factor_intervals(
    found: Factors,
    draws: int = 200,
    level: float = 0.95,
    seed: int = 1,
    *,
    progress: Progress | None = None,
    executor: Executor = SERIAL,
) -> FactorIntervals:
    """Intervals of a solution by resampling participants, or the rows of a table without participants.

    `executor` says where the draws are analysed (`karat.executors.open_executor`).

    Parameters
    ----------
    found
        The solution, from `factors`.
    draws
        The number of resamples.

    >>> random = np.random.default_rng(1)
    >>> truth = random.standard_normal((200, 1))
    >>> ratings = pl.DataFrame(truth + random.standard_normal((200, 4)), schema=list("abcd"))
    >>> from karat.measure.dimensions.factors import factors
    >>> factor_intervals(factors(ratings, 1), draws=20).table().shape
    (4, 5)
    """
    source = found.source
    if source.values is None:
        raise MeasureError(Message("factor_intervals.no_ratings"))
    check_number(MeasureError, "draws", draws, at_least=2)
    check_level(level)
    notes = []
    if source.keys is not None and "participant" in source.keys.columns:
        _, who = np.unique(source.keys["participant"].to_numpy(), return_inverse=True)
    else:
        who = np.arange(len(source.values))
        notes.append(Message("factor_intervals.no_participants"))
    cases = np.split(np.argsort(who, kind="stable"), np.cumsum(np.bincount(who))[:-1])
    random = np.random.default_rng(seed)
    people = [random.integers(0, len(cases), len(cases)) for _ in range(draws)]
    again = executor.map(_resample, (found, cases), people, name="factor intervals", progress=progress)
    solutions = [solution for solution in again if solution is not None]
    if len(solutions) < draws:
        notes.append(Message("factor_intervals.left_out", {"n": draws - len(solutions)}))
    if len(solutions) < 2:
        raise MeasureError(Message("factor_intervals.no_solutions"))
    loadings, correlations = (np.stack(parts) for parts in zip(*solutions, strict=True))
    similar = np.stack([np.diag(congruence(found.loadings, draw)) for draw in loadings]).mean(axis=0)
    unstable = [name for name, value in zip(found.names, similar, strict=True) if value < SIMILAR]
    if unstable:
        notes.append(
            Message("factor_intervals.unstable", {"factors": unstable, "n": len(unstable), "congruence": SIMILAR})
        )
    settings = {"draws": draws, "level": level, "seed": seed, "participants": len(cases)}
    cells = {(i, j): (pair, name) for i, pair in enumerate(found.pairs) for j, name in enumerate(found.names)}
    two = {(i, j): (found.names[i], found.names[j]) for i, j in combinations(range(len(found.names)), 2)}
    return FactorIntervals(
        _interval_table(("pair", "factor", "loading"), cells, found.loadings, loadings, level),
        _interval_table(("first", "second", "correlation"), two, found.correlations, correlations, level),
        pl.DataFrame({"factor": found.names, "congruence": similar}), settings=settings, notes=tuple(notes),
    )  # fmt: skip


def _resample(
    about: tuple[Factors, list[NDArray[np.int64]]], people: NDArray[np.int64]
) -> tuple[Floats, Floats] | None:
    """The matched loadings and factor correlations of one draw of participants; None without a solution."""
    solution, cases = about
    if solution.source.values is None:
        return None
    values = solution.source.values[np.concatenate([cases[person] for person in people])]
    if (np.ptp(values, axis=0) == 0).any():
        return None
    kind = solution.settings["correlations"]
    matrix = pearson(values) if kind == "pearson" else nearest_correlation(polychoric(values))[0]
    if np.linalg.eigvalsh(matrix).min() < 1e-10:
        return None
    extraction = extract(matrix, len(solution.names), solution.settings["method"], others=0)
    if not extraction.converged:
        return None
    rotated = rotate(extraction.loadings, solution.settings["rotation"], solution.settings["kaiser"])
    order, signs = matched(rotated.loadings, solution.loadings)
    return rotated.loadings[:, order] * signs, rotated.correlations[np.ix_(order, order)] * np.outer(signs, signs)


def _interval_table(
    columns: tuple[str, str, str], places: Mapping[tuple[int, int], tuple[str, str]], whole: Floats, draws: Floats,
    level: float,
) -> pl.DataFrame:  # fmt: skip
    """Some cells of a matrix with their names and intervals."""
    lower, upper = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0)
    rows = [(*names, whole[place], lower[place], upper[place]) for place, names in places.items()]
    schema = dict.fromkeys(columns[:2], pl.String) | dict.fromkeys((columns[2], "lower", "upper"), pl.Float64)
    return pl.DataFrame(rows, schema=schema, orient="row")
