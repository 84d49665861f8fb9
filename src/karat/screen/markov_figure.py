"""Figures of the Markov criterion: distances of simulated and real participants, matrices, errors by number of trials.

They are figures 3 (`distance_figure`), 4a (`balance_figure`) and 4b (`errors_figure`) of Ba, Mancenido, Chiou and Pan
for any data, and their transition matrices as squares.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.errors import KaratError, counted
from karat.languages import language_of
from karat.models.markov import distances, transition_counts, transition_matrices
from karat.plots.style import BLUE, FLAGGED, GREEN, GREY, KEPT, NARROW_CM, ORANGE, figure, say, threshold_line
from karat.screen.markov_cutoffs import KINDS, CutoffDesign, Simulated, errors_by_trials
from karat.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from karat.screen.markov import Markov

MOST_MATRICES = 6
TRIALS = (20, 40, 80, 160, 320)
BALANCES = (0.5, 0.6, 0.7, 0.8, 0.9)
COLOURS = {"primary choice": BLUE, "repeated pattern": ORANGE, "random guessing": GREEN}
MARKERS = {"primary choice": "o", "repeated pattern": "s", "random guessing": "^"}


def distance_figure(evidence: Markov, width_cm: float = 16) -> Figure:
    """A panel for each kind of pattern: how near credible and patterned answers are by simulation, and real ones below.

    >>> import karat
    >>> evidence = karat.screen.markov(karat.datasets.load("crowd"), simulations=500)
    >>> len(distance_figure(evidence).axes)
    3
    """
    if not evidence.simulated:
        raise KaratError("Only simulated cutoffs have distributions to draw: markov(judgments, cutoffs='simulated').")
    design, made = evidence.designs[0], max(evidence.simulated[0], key=lambda one: len(one.members))
    strategy = evidence.settings["strategy"]
    counts = transition_counts(design.codes, design.lengths, len(design.levels))[made.members]
    real = distances(counts, [target.matrix for target in design.patterns], strategy)
    flagged = pl.Series(design.participants).gather(made.members).is_in(evidence.flagged).to_numpy()
    narrow = width_cm < NARROW_CM
    with figure(width_cm, 15 if narrow else 7.5) as drawn:
        axes = drawn.subplots(*((3, 1) if narrow else (1, 3)))
        for axis, kind in zip(axes, KINDS, strict=True):
            _distances(axis, kind, made, design, real, flagged)
        axes[0].set_ylabel("density")
        number = len(evidence.flagged)
        everyone = counted(evidence.participants.height, "participant")
        say(drawn, f"Answers of {number} of {everyone} follow a pattern")
    return drawn


def _distances(
    axis: Axes, kind: str, made: Simulated, design: CutoffDesign, real: Floats, flagged: NDArray[np.bool_]
) -> None:
    """Densities of simulated distances, cutoffs, and a tick for each real participant."""
    own = [place for place, target in enumerate(design.patterns) if target.kind == kind]
    # Distances from guessing crowd at zero: their root shows them, as in the paper.
    root = kind == "random guessing"
    credible, followers, people = (
        np.sqrt(values) if root else values
        for values in (made.credible[kind], made.followers[kind], real[:, own].min(axis=1))
    )
    groups = zip(made.calibration.groups, made.calibration.cutoffs, strict=True)
    limits = np.array([limit for group, limit in groups if group[0] in own and np.isfinite(limit)])
    limits = np.sqrt(limits) if root else limits
    high = float(np.nanquantile(np.concatenate([credible, followers]), 0.999))
    bins = np.linspace(0, high if high > 0 else 1.0, 50).tolist()
    axis.hist(credible, bins=bins, density=True, histtype="stepfilled", color=KEPT, alpha=0.35)
    axis.hist(followers, bins=bins, density=True, histtype="step", color=FLAGGED, linewidth=1.3)
    top = axis.get_ylim()[1]
    for members, colour, height in ((~flagged, KEPT, -0.07), (flagged, FLAGGED, -0.07)):
        axis.plot(people[members], np.full(int(members.sum()), height * top), "|", color=colour, markersize=6)
    axis.set_ylim(-0.14 * top, 1.12 * top)
    for limit in sorted({float(limits.min()), float(limits.max())}) if len(limits) else []:
        threshold_line(axis, limit, "" if limit != limits.max() else f"{limit:.2g}", across="x")
    axis.set_yticks([])
    axis.set_xlabel(f"{'root of ' if root else ''}distance from\n{kind}")
    for x, text, colour in ((0.98, "credible", KEPT), (0.02, "patterned", FLAGGED)):
        side = "right" if x > 0.5 else "left"
        axis.text(x, 0.9, text, color=colour, transform=axis.transAxes, horizontalalignment=side)


def transition_figure(evidence: Markov, participants: Sequence[str] | None = None, width_cm: float = 16) -> Figure:
    """The transition matrices of some participants as squares with numbers; by default of the first that are flagged.

    >>> import karat
    >>> evidence = karat.screen.markov(karat.datasets.load("crowd"), simulations=500)
    >>> transition_figure(evidence, ["w001", "w017"]).get_suptitle()
    'Which answer follows which, of 2 participants'
    """
    design = evidence.designs[0]
    places = {name: place for place, name in enumerate(design.participants.to_list())}
    # Somebody may be flagged by their answers on another scale only.
    flagged = [name for name in evidence.flagged if name in places]
    wanted = list(participants) if participants is not None else (flagged or list(places))[:MOST_MATRICES]
    missing = [name for name in wanted if name not in places]
    if missing or not wanted:
        raise KaratError(f"There is no matrix of {', '.join(missing) or 'nobody'} to draw.")
    counts = transition_counts(design.codes, design.lengths, len(design.levels))
    matrices = transition_matrices(counts[[places[name] for name in wanted]])
    across = min(len(wanted), 2 if width_cm < NARROW_CM else 3)
    down = -(-len(wanted) // across)
    with figure(width_cm, 1.6 + down * (0.9 * width_cm / across + 0.6)) as drawn:
        axes = drawn.subplots(down, across, squeeze=False).ravel()
        for axis, name, matrix in zip(axes, wanted, matrices, strict=False):
            _matrix(axis, name, matrix, design.levels)
        for axis in axes[len(wanted) :]:
            axis.set_visible(False)
        say(drawn, f"Which answer follows which, of {counted(len(wanted), 'participant')}")
    return drawn


def _matrix(axis: Axes, name: str, matrix: Floats, levels: tuple[str, ...]) -> None:
    axis.imshow(np.nan_to_num(matrix), cmap="Blues", vmin=0, vmax=1)
    for row in range(len(levels)):
        for column in range(len(levels)):
            value = matrix[row, column]
            text = "–" if np.isnan(value) else language_of("en").value(value, ".2r")
            axis.text(
                column, row, text, color="white" if value > 0.6 else GREY if np.isnan(value) else "black",
                horizontalalignment="center", verticalalignment="center",
            )  # fmt: skip
    axis.set_xticks(range(len(levels)), levels)
    axis.set_yticks(range(len(levels)), levels)
    axis.tick_params(length=0)
    axis.set_title(name, fontweight="bold", color=GREY)
    axis.set_xlabel("next answer")
    axis.set_ylabel("answer")


def errors_figure(
    evidence: Markov, trials: Sequence[int] = TRIALS, simulations: int = 2_000, width_cm: float = 12
) -> Figure:
    """How many of those who follow a pattern would be missed with other numbers of trials like these.

    >>> import karat
    >>> evidence = karat.screen.markov(karat.datasets.load("crowd"), simulations=500)
    >>> len(errors_figure(evidence, trials=[20, 80], simulations=200).axes)
    1
    """
    settings = evidence.settings
    found = errors_by_trials(
        evidence.designs[0], trials, settings["alpha"], settings["strategy"], settings["seed"], simulations
    )
    with figure(width_cm, 8) as drawn:
        axis = drawn.subplots()
        _error_lines(axis, found, "trials")
        axis.set_xscale("log")
        axis.set_xticks(list(trials), [f"{number:,}" for number in trials])
        axis.set_xticks([], minor=True)
        axis.set_xlabel("answers per participant")
        worst = found.filter(pl.col("trials") == trials[-1]).sort("type_two").row(-1, named=True)
        say(drawn, f"With {trials[-1]:,} answers, {100 * worst['type_two']:.0f} % of {worst['kind']} are missed")
    return drawn


def balance_figure(
    evidence: Markov, majorities: Sequence[float] = BALANCES, simulations: int = 2_000, width_cm: float = 12
) -> Figure:
    """How many of those who follow a pattern would be missed if more, or fewer, trials had the most frequent answer.

    >>> import karat
    >>> evidence = karat.screen.markov(karat.datasets.load("crowd"), simulations=500)
    >>> len(balance_figure(evidence, majorities=[0.5, 0.9], simulations=200).axes)
    1
    """
    if not all(0 < majority < 1 for majority in majorities) or len(majorities) < 2:
        raise KaratError("balance_figure needs at least two shares between 0 and 1.")
    settings, design = evidence.settings, evidence.designs[0]
    usual = int(np.median(design.lengths))
    tables = [
        errors_by_trials(
            design, [usual], settings["alpha"], settings["strategy"], settings["seed"], simulations, majority
        ).with_columns(majority=pl.lit(100 * majority))
        for majority in sorted(majorities)
    ]
    found = pl.concat(tables)
    with figure(width_cm, 8) as drawn:
        axis = drawn.subplots()
        _error_lines(axis, found, "majority")
        axis.set_xlabel("trials to which most give the most frequent answer (%)")
        guessers = found.filter(pl.col("kind") == "random guessing")["type_two"].to_numpy()
        say(
            drawn,
            f"Guessers missed: {100 * guessers[0]:.0f} % with {100 * min(majorities):.0f} % of trials for one answer, "
            f"{100 * guessers[-1]:.0f} % with {100 * max(majorities):.0f} %",
        )
    return drawn


def _error_lines(axis: Axes, found: pl.DataFrame, by: str) -> None:
    """A line for each kind of pattern, with its name at the end."""
    ends: list[tuple[float, str]] = []
    for kind in KINDS:
        part = found.filter(pl.col("kind") == kind)
        shares = 100 * part["type_two"].to_numpy()
        axis.plot(part[by].to_numpy(), shares, marker=MARKERS[kind], color=COLOURS[kind], markersize=4)
        ends.append((float(shares[-1]), kind))
    _name(axis, ends, float(found[by][-1]))
    axis.set_ylim(-3, 103)
    axis.grid(axis="y")
    axis.set_ylabel("missed by the cutoffs (%)")


def _name(axis: Axes, ends: list[tuple[float, str]], at: float) -> None:
    """Write the names of lines beside their ends, one above the other where they meet."""
    lowest = -np.inf
    for height, kind in sorted(ends):
        lowest = max(height, lowest + 6)
        axis.annotate(
            kind, (at, lowest), xytext=(6, 0), textcoords="offset points", color=COLOURS[kind],
            verticalalignment="center", annotation_clip=False,
        )  # fmt: skip
