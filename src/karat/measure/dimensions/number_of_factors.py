"""How many factors: parallel analysis, Velicer's minimum average partial, and the scree, side by side.

They answer different questions and often differ. Parallel analysis of factors tends to give the most, MAP the fewest;
the final number should also be one that can be interpreted. The formulas are in `karat.models.factors.extraction`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from karat.errors import counted
from karat.measure.dimensions.correlations import Kind, check_invertible, correlations_of
from karat.measure.errors import MeasureError
from karat.messages import Message
from karat.models.factors import acceleration, map_test, parallel_analysis
from karat.plots.style import BLUE, GREY, figure, say

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class NumberOfFactors:
    """What each rule says, and the eigenvalues it says it from."""

    rules: pl.DataFrame
    """rule and number."""
    eigenvalues: pl.DataFrame
    """number; of components and of factors, the eigenvalue and the quantile of random data; the average partial
    correlation that is left after so many components (map, map_4)."""
    settings: dict[str, Any] = field(default_factory=dict)
    notes: tuple[Message, ...] = ()

    def table(self) -> pl.DataFrame:
        """The rules and their numbers."""
        return self.rules

    def number(self, rule: str) -> int:
        """What one rule says.

        >>> one = [[1, 0.6, 0.5, 0.4], [0.6, 1, 0.5, 0.4], [0.5, 0.5, 1, 0.3], [0.4, 0.4, 0.3, 1]]
        >>> number_of_factors(one, observations=200, draws=20).number("MAP")
        1
        """
        numbers = dict(self.rules.iter_rows())
        if rule not in numbers:
            raise MeasureError(Message("number_of_factors.unknown_rule", {"rule": rule, "known": list(numbers)}))
        return int(numbers[rule])

    @property
    def summary(self) -> tuple[Message, ...]:
        """How many factors each rule gives."""
        rules = dict(self.rules.iter_rows())
        low, high = min(rules.values()), max(rules.values())
        if low == high:
            return (Message("number_of_factors.agreed", {"n": low, "rules": list(rules)}),)
        each = [Message("number_of_factors.rule", {"rule": rule, "n": number}) for rule, number in rules.items()]
        return (Message("number_of_factors.range", {"low": low, "high": high, "rules": each}),)

    def __str__(self) -> str:
        return " ".join(map(str, self.summary))

    def plot(self, width_cm: float = 16) -> Figure:
        """The scree: eigenvalues beside those that random data reach."""
        with figure(width_cm, 8) as drawn:
            axes = drawn.subplots()
            x = self.eigenvalues["number"].to_numpy()
            for kind, colour, marker, at in (("component", BLUE, "o", 0), ("factor", GREY, "s", 1)):
                axes.plot(x, self.eigenvalues[kind].to_numpy(), color=colour, marker=marker, markersize=4)
                axes.plot(x, self.eigenvalues[f"{kind}_random"].to_numpy(), color=colour, linestyle="--", linewidth=0.8)
                axes.annotate(
                    f"{kind}s", (x[at], self.eigenvalues[kind][at]), xytext=(6 - 12 * at, 4 - 12 * at),
                    textcoords="offset points", color=colour, horizontalalignment=("left", "right")[at],
                )  # fmt: skip
            axes.set_xlabel("number")
            axes.set_ylabel("eigenvalue")
            axes.set_xticks(x[:: max(1, len(x) // 12)])
            share = 100 * self.settings["quantile"]
            found = counted(self.number("parallel analysis (factors)"), "factor")
            finding = f"Parallel analysis finds {found}, the minimum average partial {self.number('MAP')}"
            say(drawn, finding, f"dashed: what {share:.0f} % of random data stay below")
        return drawn


def number_of_factors(
    matrix: Any,
    correlations: Kind = "pearson",
    observations: int | None = None,
    draws: int = 100,
    quantile: float = 0.95,
    seed: int = 1,
) -> NumberOfFactors:
    """The numbers of factors by parallel analysis, MAP and the scree, of ratings or of correlations.

    >>> one = [[1, 0.6, 0.5, 0.4], [0.6, 1, 0.5, 0.4], [0.5, 0.5, 1, 0.3], [0.4, 0.4, 0.3, 1]]
    >>> print(number_of_factors(one, observations=200, draws=20))
    All rules give 1 factor: parallel analysis (factors), parallel analysis (components), MAP, ...
    """
    if draws < 1 or not 0 < quantile < 1:
        raise MeasureError(Message("number_of_factors.settings"))
    source = correlations_of(matrix, correlations, observations)
    if len(source.pairs) < 3:
        raise MeasureError(Message("number_of_factors.too_few_pairs"))
    check_invertible(source)
    # Polychoric correlations of shuffled ratings would take too long; normal deviates are as good a null for them.
    shuffled = source.values if correlations == "pearson" else None
    parallel = parallel_analysis(source.matrix, source.observations, shuffled, draws, quantile, seed)
    simple, averages = map_test(source.matrix)
    fourth, averages_4 = map_test(source.matrix, power=4)
    values = parallel.component_values
    rules = {
        "parallel analysis (factors)": parallel.factors,
        "parallel analysis (components)": parallel.components,
        "MAP": simple,
        "MAP (fourth power)": fourth,
        "bend of the scree": acceleration(values),
        "eigenvalues above 1": int((values > 1).sum()),
    }
    p = len(values)
    after = {"map": averages, "map_4": averages_4}
    eigenvalues = pl.DataFrame(
        {
            "number": np.arange(1, p + 1),
            "component": values,
            "component_random": parallel.component_quantiles,
            "factor": parallel.factor_values,
            "factor_random": parallel.factor_quantiles,
        }
        | {name: np.append(own[1:], [np.nan] * (p - len(own) + 1)) for name, own in after.items()}
    )
    table = pl.DataFrame({"rule": list(rules), "number": list(rules.values())})
    settings = {"correlations": correlations, "draws": draws, "quantile": quantile, "seed": seed}
    return NumberOfFactors(table, eigenvalues, settings, source.notes)
