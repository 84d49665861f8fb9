"""What is simulated for a design: shares, balance, and who shares a simulation."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from karat.models.markov import Sequences
from karat.screen.markov_cutoffs import CutoffDesign, about_equal, errors_by_trials, simulate_cutoffs


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
