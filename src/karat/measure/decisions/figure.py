"""The table of checks, crosses and tildes: pairs below each other, a column for each measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.figures import BLUE, GREY, LIGHT_GREY, VERMILLION, figure, say

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from karat.measure.decisions.compare import DecisionComparison

COLOURS = {"✓": BLUE, "×": VERMILLION, "~": GREY}
MOST = 60
LONGEST = 40
KEY = "✓ the stimulus that experts prefer   × the other one   ~ no difference found"


def decision_figure(found: DecisionComparison, width_cm: float = 16) -> Figure:
    """The pairs on which measures differ, up to sixty; the title says how many there are.

    >>> from karat.measure import compare_decisions
    >>> found = compare_decisions({"likert": {"1": "✓", "2": "~"}, "choice": {"1": "×", "2": "~"}})
    >>> decision_figure(found).get_suptitle()
    'Measures differ on 1 of 2 pairs'
    """
    rows = found.disagreements.head(MOST)
    names = found.measures
    with figure(width_cm, 3.2 + 0.5 * max(1, rows.height)) as drawn:
        axes = drawn.subplots()
        for place, row in enumerate(rows.to_dicts()):
            axes.axhline(place + 0.5, color=LIGHT_GREY, linewidth=0.4)
            for column, name in enumerate(names):
                symbol = row[name]
                axes.text(
                    column, place, symbol, color=COLOURS.get(symbol, GREY), fontsize=11, fontweight="bold",
                    horizontalalignment="center", verticalalignment="center",
                )  # fmt: skip
        axes.set_xlim(-0.5, len(names) - 0.5)
        axes.set_ylim(max(1, rows.height) - 0.5, -0.5)
        axes.set_xticks(range(len(names)), [name.replace(", ", ",\n").replace(" ", "\n") for name in names])
        axes.xaxis.tick_top()
        axes.set_yticks(range(rows.height), [_short(pair) for pair in rows["pair"]])
        axes.set_ylabel("pair")
        axes.tick_params(length=0)
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)
        axes.set_xlabel(KEY)
        total = found.disagreements.height
        shown = f" (the first {MOST} are shown)" if total > MOST else ""
        say(drawn, f"Measures differ on {total} of {found.everything.height} pairs{shown}")
    return drawn


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"
