"""Power as a result: a table, a summary, and a curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from karat.messages import Message
from karat.models.proportions import wilson
from karat.simulate.mean_squares import Tested

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WANTED = 0.8


@dataclass(frozen=True)
class Power:
    """The power of a planned contrast for every size of the study that was simulated.

    `table()` has one row a size: participants (recruited, before exclusions), items, effect (in `unit`), difference
    (what that is on the scale, in `scale_unit`), simulations, power with Wilson's 95 % interval (lower, upper), type_s
    (the share of significant results with the wrong sign), type_m (by how much significant estimates exceed the true
    difference on average) and untested (how many simulated studies could not be tested, and so are not significant).
    """

    cells: pl.DataFrame
    contrast: str
    unit: Message
    scale_unit: Message
    alpha: float
    exclude: float
    analysis: str
    seed: int
    notes: tuple[Message, ...] = ()

    def table(self) -> pl.DataFrame:
        """One row a size of the study."""
        return self.cells

    def needed(self, wanted: float = WANTED) -> pl.DataFrame:
        """For every number of items and effect, the fewest participants tried that reach this power; null if none."""
        reached = pl.col("participants").filter(pl.col("power") >= wanted).min()
        return self.cells.group_by("items", "effect", maintain_order=True).agg(participants=reached)

    def __str__(self) -> str:
        return "\n".join(map(str, (*self.summary, *self.notes)))

    @property
    def summary(self) -> tuple[Message, ...]:
        """For every number of items and effect, how many participants reach the power that is usually wanted."""
        found = []
        for row in self.needed().iter_rows(named=True):
            case = {"items": row["items"], "effect": float(f"{row['effect']:.3g}"), "unit": self.unit, "wanted": WANTED}
            if row["participants"] is None:
                best = self.cells.filter(pl.col("items") == row["items"], pl.col("effect") == row["effect"])
                most = best.sort("participants").row(-1, named=True)
                values = {**case, "power": most["power"], "participants": most["participants"]}
                found.append(Message("power.not_reached", values))
            else:
                found.append(Message("power.reached", {**case, "participants": row["participants"]}))
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        return {
            "contrast": self.contrast, "unit": str(self.unit), "scale_unit": str(self.scale_unit), "alpha": self.alpha,
            "exclude": self.exclude, "analysis": self.analysis, "seed": self.seed,
            "notes": [note.to_dict() for note in self.notes],
            "sizes": self.cells.to_dicts(),
        }  # fmt: skip

    def plot(self) -> Figure:
        """The power curve."""
        from karat.plots.power import power_plot

        xlabel = "participants recruited" if self.exclude else "participants"
        key = f"Contrast {self.contrast}; bars are 95 % intervals of the simulation"
        return power_plot(self.cells, str(self.unit), xlabel, self._finding(), key)

    def _finding(self) -> str:
        """The only line in a sentence, or how many of several lines reach the power that is usually wanted."""
        needed = self.needed()
        if needed.height == 1:
            return str(self.summary[0])
        reached = needed.height - needed["participants"].null_count()
        most = max(self.cells["participants"].to_list())
        cases = f"{reached} of {needed.height} combinations of items and effect"
        return f"{cases} reach a power of .80 with up to {most} participants"

    def svg(self) -> str:
        """The power curve as SVG."""
        from karat.plots.style import to_svg

        told = " ".join(map(str, (*self.summary, *self.notes)))
        return to_svg(self.plot(), f"Power of the contrast {self.contrast}", told)


def summarised(tested: Sequence[Tested], difference: float, alpha: float) -> dict[str, float | int | None]:
    """Power, type S and type M errors of simulated studies with a true difference.

    >>> found = summarised([(1.0, 0.3, 0.01), (-1.0, 0.3, 0.01), (0.2, 0.3, 0.5), (1.5, 0.3, 0.001)], 0.5, 0.05)
    >>> found["power"], round(found["type_s"], 3), round(found["type_m"], 3)
    (0.75, 0.333, 2.333)
    """
    table = np.array(tested, dtype=float)
    estimates, p = table[:, 0], table[:, 2]
    significant = p < alpha
    hits = int(significant.sum())
    lower, upper = wilson(hits, len(p))
    known = hits > 0 and difference != 0
    return {
        "simulations": len(p), "power": hits / len(p), "lower": float(lower), "upper": float(upper),
        "type_s": float(np.mean(np.sign(estimates[significant]) != np.sign(difference))) if known else None,
        "type_m": float(np.mean(np.abs(estimates[significant])) / abs(difference)) if known else None,
        "untested": int(np.isnan(p).sum()),
    }  # fmt: skip
