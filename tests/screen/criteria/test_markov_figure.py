"""The figure, the tables and the cutoffs of transitions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import karat
from karat.models.markov import Sequences
from karat.plots.style import to_svg
from karat.screen.criteria.markov import Markov, markov
from karat.screen.markov_cutoffs import (
    CutoffDesign,
    about_equal,
    counts_of,
    errors_by_trials,
    row_table,
    scale_name,
    simulate_cutoffs,
    target_name,
    transition_table,
)
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


DESIGN = CutoffDesign(
    ("no", "maybe", "yes"), pl.Series(["p", "q"]), np.array([0, 2, 0, 0, 1, 1], np.int8), np.arange(6), np.array([4, 2])
)


def test_transitions_have_the_names_of_participants_and_answers() -> None:
    table = transition_table(DESIGN).filter(pl.col("count") > 0)
    assert table.rows() == [
        ("p", "no", "no", 1, 0.5), ("p", "no", "yes", 1, 0.5), ("p", "yes", "no", 1, 1.0),
        ("q", "maybe", "maybe", 1, 1.0),
    ]  # fmt: skip
    assert transition_table(DESIGN).height == counts_of(DESIGN).size
    assert scale_name(DESIGN) == "no to yes"


def test_rows_of_states_that_were_never_left_are_missing() -> None:
    table = row_table(DESIGN).filter(pl.col("participant") == "q", pl.col("target") == "always maybe")
    assert table["state"].to_list() == ["no", "maybe", "yes"]
    assert table["kld"].to_list() == [None, 0.0, None]
    guessing = row_table(DESIGN).filter(pl.col("target") == "evenly at random", pl.col("participant") == "p")
    assert guessing["kld"][0] == pytest.approx(np.log(3) - np.log(2))


def test_every_target_has_a_name_of_its_own() -> None:
    names = [target_name(target, DESIGN.levels) for target in DESIGN.patterns]
    assert len(set(names)) == len(names)
    assert {"always no", "staying", "round no, yes", "round no, yes, maybe", "evenly at random"} <= set(names)


def design(people: int = 60, trials: int = 40, lengths: list[int] | None = None) -> CutoffDesign:
    random = np.random.default_rng(1)
    sizes = np.array(lengths or [trials] * people)
    stimuli = np.concatenate([random.permutation(trials)[:size] for size in sizes])
    truth = np.arange(trials) % 2
    codes = np.where(random.random(len(stimuli)) < 0.85, truth[stimuli], 1 - truth[stimuli]).astype(np.int8)
    names = pl.Series([f"p{n}" for n in range(len(sizes))])
    return CutoffDesign(("no", "yes"), names, codes, stimuli, sizes)


def test_shares_are_those_of_the_crowd_and_never_certain() -> None:
    made = design()
    shares, counts = made.shares(), made.counts()
    np.testing.assert_allclose(shares, (counts + made.balance()) / 61)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert shares.min() > 0
    np.testing.assert_allclose(made.balance(), [0.5, 0.5])


def test_ties_count_for_both() -> None:
    made = CutoffDesign(
        ("a", "b"), pl.Series(["p", "q"]), np.array([0, 1], np.int8), np.array([0, 0]), np.array([1, 1])
    )
    assert made.balance().tolist() == [0.5, 0.5]


def test_some_participants_keep_their_order() -> None:
    made = design(lengths=[3, 2, 4])
    seen, codes = made.some(np.array([2, 0]))
    assert isinstance(seen, Sequences)
    assert seen.lengths.tolist() == [4, 3]
    assert seen.stimuli.tolist() == [*made.stimuli[5:9], *made.stimuli[:3]]
    assert codes.tolist() == [*made.codes[5:9], *made.codes[:3]]


def test_everybody_with_enough_answers_is_in_one_simulation() -> None:
    lengths = np.array([12, 40, 39, 38, 5, 30, 40, 12])
    groups = list(about_equal(lengths, 10))
    assert sorted(np.concatenate(groups).tolist()) == [0, 1, 2, 3, 5, 6, 7]
    for group in groups:
        assert lengths[group].max() <= 1.05 * lengths[group].min()


def test_fewer_answers_have_lower_cutoffs_and_miss_more() -> None:
    made = design(lengths=[40] * 40 + [15] * 40)
    short, full = simulate_cutoffs(made, 0.05, "average", 1, 2000, 10)
    assert (short.shortest, full.shortest) == (15, 40)
    assert (short.calibration.cutoffs < full.calibration.cutoffs).all()
    assert short.missed["primary choice"] > full.missed["primary choice"]


def test_the_level_does_not_depend_on_who_is_asked_first() -> None:
    """A crowd like the simulated one is flagged at the level."""
    made = design(people=400, trials=60)
    (one,) = simulate_cutoffs(made, 0.05, "rows", 1, 4000, 10)
    from karat.models.markov import distances, transition_counts

    real = distances(
        transition_counts(made.codes, made.lengths, 2), [target.matrix for target in made.patterns], "rows"
    )
    by_group, _ = one.calibration.grouped(real)
    assert (by_group < one.calibration.cutoffs).any(axis=1).mean() == pytest.approx(0.05, abs=0.03)


def test_errors_fall_with_the_number_of_trials() -> None:
    table = errors_by_trials(design(), [12, 60], simulations=1000)
    assert table.columns == ["trials", "kind", "type_two"]
    first, last = (table.filter(pl.col("trials") == number)["type_two"].to_numpy() for number in (12, 60))
    assert first[0] > last[0]
    assert first[1] > last[1]
