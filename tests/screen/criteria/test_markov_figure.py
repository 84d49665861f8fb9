"""Figures of the Markov criterion."""

from __future__ import annotations

from dataclasses import replace

import pytest

import karat
from karat.plots.style import to_svg
from karat.screen.criteria.markov import Markov, markov
from messages import refuses
from tools.replication.crowd.error_figures import balance_plot, errors_plot


@pytest.fixture(scope="module")
def likert() -> Markov:
    return markov(karat.datasets.load("likert"), simulations=600)


@pytest.mark.few(1)
@pytest.mark.parametrize("width", [8.0, 16.0])
def test_distances_have_a_panel_for_each_kind(likert: Markov, width: float) -> None:
    drawn = likert.plot(width)
    assert [axis.get_xlabel().split("\n")[1] for axis in drawn.axes] == [
        "primary choice", "repeated pattern", "random guessing",
    ]  # fmt: skip
    assert f"{len(likert.flagged)} of 48" in drawn.get_suptitle().replace("\n", " ")
    assert to_svg(drawn, "Distances", "Simulated and real.") == to_svg(
        likert.plot(width), "Distances", "Simulated and real."
    )


def test_matrices_show_shares_and_missing_rows(likert: Markov) -> None:
    drawn = likert.plot_transitions(["p23", "p01"])
    texts = [text.get_text() for text in drawn.axes[0].texts]
    assert texts.count("–") == 20
    assert texts.count("1.00") == 1
    assert len(drawn.axes[1].texts) == 25
    assert likert.plot_transitions().get_suptitle().startswith("Which answer follows which")
    with refuses(karat.KaratError, "nobody99"):
        likert.plot_transitions(["nobody99"])


def test_errors_are_drawn_for_each_kind(likert: Markov) -> None:
    drawn = errors_plot(likert.errors_by_trials([20, 60], simulations=200))
    assert len(drawn.axes[0].lines) == 3
    assert drawn.get_suptitle().startswith("With 60 answers, ")


def test_errors_are_drawn_by_balance() -> None:
    evidence = markov(karat.datasets.load("crowd"), simulations=600)
    drawn = balance_plot(evidence.errors_by_balance([0.95, 0.5], simulations=2000))
    (axis,) = drawn.axes
    lines = {str(line.get_marker()): list(line.get_ydata()) for line in axis.lines}
    assert list(axis.lines[0].get_xdata()) == [50, 95]
    # Who keeps to one choice is harder to tell from credible participants where most right answers are the same.
    assert lines["o"][1] > lines["o"][0]
    with refuses(karat.KaratError, "errors_by_balance"):
        evidence.errors_by_balance([0.5])


def test_published_cutoffs_have_no_distributions() -> None:
    evidence = markov(karat.datasets.load("crowd"), cutoffs="published")
    with refuses(karat.KaratError, "cutoffs='simulated'"):
        evidence.plot()
    assert evidence.plot_transitions().axes


def test_other_scales_flags_need_no_matrices() -> None:
    crowd = karat.datasets.load("crowd")
    evidence = markov(crowd, cutoffs="published")
    first = replace(evidence.designs[0], participants=evidence.designs[0].participants.replace("w017", "somebody"))
    assert "w017" in evidence.flagged
    drawn = replace(evidence, designs=(first,)).plot_transitions()
    assert "w017" not in [axis.get_title(loc="left") for axis in drawn.axes]
