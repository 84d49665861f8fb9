"""Figures of a crowd: the index by added workers, distances and windows."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

import karat
from karat.plots import FLAGGED_MARKER, KEPT_MARKER
from karat.plots.crowd import chi_squared, index_plot, windows_plot
from karat.plots.style import to_svg
from karat.screen import Deletion, deletion, deletion_windows
from karat.screen.crowd import SUSPICIOUS
from messages import refuses

CROWD = karat.simulate.crowd(30, 40, {"random guessing": 3}, decision="sign", seed=4)


@pytest.fixture(scope="module")
def evidence() -> Deletion:
    return deletion(CROWD, alpha=0.2, by="published")


def marks(axis: object, marker: str) -> list[tuple[float, float]]:
    """Where a marker is drawn."""
    lines = [line for line in axis.lines if line.get_marker() == marker and line.get_linestyle() == "None"]  # type: ignore[attr-defined]
    return [(float(x), float(y)) for line in lines for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)]


def test_the_curve_ischi_squared() -> None:
    x = np.linspace(1, 200, 50)
    for df in (2, 40, 77.0):
        np.testing.assert_allclose(chi_squared(x, df), stats.chi2.pdf(x, df), rtol=1e-9)


@pytest.mark.slow
def test_distances_stand_at_the_places_of_participants(evidence: Deletion) -> None:
    drawn = evidence.plot()
    table = evidence.participants.with_row_index("place", offset=1)
    (axis,) = drawn.axes
    for flagged, marker in ((True, FLAGGED_MARKER), (False, KEPT_MARKER)):
        expected = table.filter(pl.col("flagged") == flagged).select("place", "distance").rows()
        assert expected
        np.testing.assert_allclose(marks(axis, marker), expected)
    number = len(evidence.flagged)
    assert drawn.get_suptitle() == f"{number} of 30 participants are beyond the cutoff"
    written = {text.get_text() for text in axis.texts}
    assert f"{table['threshold'][0]:.0f}" in written
    assert written & set(evidence.flagged)
    assert to_svg(drawn, "a", "b") == to_svg(evidence.plot(), "a", "b")


@pytest.mark.slow
def test_a_ring_is_round_those_who_are_unusual_by_simulation() -> None:
    found = deletion(CROWD, alpha=0.2, simulations=39, by="published", refit=True)
    expected = found.participants.filter(pl.col("p_simulated") < 0.2).height
    (axis,) = found.plot().axes
    rings = [line for line in axis.lines if line.get_markerfacecolor() == "none"]
    assert [len(line.get_xdata()) for line in rings] == [expected]  # type: ignore[arg-type]
    assert "by simulation" in axis.get_title(loc="left")
    assert 0 < expected < 30


@pytest.mark.slow
def test_cutoffs_follow_the_numbers_of_answers() -> None:
    frame = CROWD.frame.filter((pl.col("participant") > "w010") | (pl.col("trial") <= 20))
    found = deletion(karat.Judgments(frame, CROWD.scales), by="published")
    (axis,) = found.plot(8).axes
    (steps,) = [line for line in axis.lines if line.get_linestyle() == "--"]
    assert list(steps.get_ydata()) == pytest.approx(found.participants["threshold"].to_list())
    assert found.plot_chance().get_suptitle().endswith(f"expects {found.participants['df'].mean():.0f}")


def test_the_histogram_is_a_density(evidence: Deletion) -> None:
    (axis,) = evidence.plot_chance().axes
    area = sum(bar.get_width() * bar.get_height() for bar in axis.patches)  # type: ignore[attr-defined]
    assert area == pytest.approx(1)
    mean = evidence.participants["distance"].mean()
    assert f"{mean:.0f} on average; the chi-squared curve expects 40" in evidence.plot_chance(16).get_suptitle()


@pytest.mark.slow
def test_windows_have_a_panel_each() -> None:
    windows = deletion_windows(CROWD, width=16, step=12)
    drawn = windows_plot(windows, alpha=0.3)
    seen = [axis for axis in drawn.axes if axis.get_visible()]
    assert [axis.get_title(loc="left") for axis in seen] == ["answers 1 to 16", "answers 13 to 28", "answers 25 to 40"]
    found = windows.filter(pl.col("p_value") < 0.3)
    assert sum(len(marks(axis, FLAGGED_MARKER)) for axis in seen) == found.height > 0
    assert drawn.get_suptitle().startswith(f"{found['participant'].n_unique()} of 30")
    with refuses(karat.KaratError, "windows_plot", "alpha"):
        windows_plot(windows, alpha=0)
    with refuses(karat.KaratError, "windows_plot", "deletion_windows"):
        windows_plot(windows.clear())


def test_a_line_with_intervals_for_each_kind() -> None:
    rows = [(kind, share, value, value - 0.05, value + 0.1)
            for kind, at in (("one", 0.2), ("two", 0.21)) for share, value in ((0.0, 0.1), (0.3, at))]  # fmt: skip
    found = pl.DataFrame(rows, schema=["kind", "share", "value", "lower", "upper"], orient="row")
    drawn = index_plot(found, SUSPICIOUS)
    (axis,) = drawn.axes
    assert drawn.get_suptitle().replace("\n", " ") == "30 % two raise the Spammer Index from .100 to .210"
    assert [text.get_text() for text in axis.texts] == ["one", "two", ".10"]
    (first, second) = (text.xy[1] for text in axis.texts[:2])  # type: ignore[attr-defined]
    assert second - first > 0.01
    assert len(axis.containers) == 2


def test_nobody_to_draw_is_a_sentence(evidence: Deletion) -> None:
    nobody = Deletion(evidence.participants.clear(), "deletion", evidence.settings)
    for draw in (nobody.plot, nobody.plot_chance):
        with pytest.raises(karat.KaratError):
            draw()
