"""Figures: their style and the shapes that they share. They take data, not results.

Colours are Okabe and Ito's, which people with colour blindness can distinguish. Kept participants are blue circles,
flagged ones vermillion diamonds, so that they also differ in greyscale print.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure
else:
    # Only annotations need them, and matplotlib is slow to import.
    Axes = Figure = Any

BLACK, ORANGE, SKY_BLUE, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILLION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY, LIGHT_GREY = "#6B6B6B", "#D4D4D4"
KEPT, FLAGGED = BLUE, VERMILLION
KEPT_MARKER, FLAGGED_MARKER = "o", "D"
