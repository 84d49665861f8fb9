"""Deletion: who changes the model, by the published rule and beside a simulated null."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

import karat
from karat.models.glrm import fit_crossed
from karat.screen import deletion, deletion_windows
from karat.screen.crowd import crowd

CROWD = karat.datasets.load("crowd")
PEOPLE = CROWD.participants["participant"].to_list()
SMALL = CROWD.without(PEOPLE[24:])


def test_the_distance_is_that_of_two_cold_fits() -> None:
    found = deletion(SMALL)
    answers = crowd(SMALL, "x")
    full = fit_crossed(answers.response, answers.worker, answers.task)
    for number in (0, 5, 13):
        rest = answers.worker != number
        without = fit_crossed(answers.response[rest], answers.worker[rest], answers.task[rest])
        row = found.participants.row(number, named=True)
        assert row["participant"] == answers.workers[number]
        assert row["distance"] == pytest.approx(2 * (without.log_likelihood - full.log_likelihood), abs=1e-5)
        assert row["df"] == (~rest).sum()
        assert row["p_value"] == pytest.approx(stats.chi2.sf(row["distance"], row["df"]))
        assert row["threshold"] == pytest.approx(stats.chi2.isf(0.05, row["df"]))
    assert found.log_likelihood == pytest.approx(full.log_likelihood, abs=1e-6)


def test_flags_follow_the_published_rule_and_nothing_is_simulated_unless_asked() -> None:
    found = deletion(SMALL).participants
    assert found["flagged"].to_list() == (found["p_value"] < 0.05).to_list()
    assert found["p_simulated"].null_count() == found.height
    assert deletion(SMALL, alpha=0.5).participants["flagged"].sum() > found["flagged"].sum()


def test_a_simulated_null_beside_it() -> None:
    found = deletion(SMALL, simulations=39, seed=2)
    simulated = found.participants["p_simulated"].to_numpy()
    assert np.all((simulated >= 1 / 40) & (simulated <= 1))
    adjusted = found.participants["p_adjusted"].to_numpy()
    assert np.all(adjusted >= simulated)
    largest = int(np.argmax(found.participants["distance"].to_numpy()))
    assert simulated[largest] < np.median(simulated)
    assert "(simulated p = " in found.participants["reason"][0]
    again = deletion(SMALL, simulations=39, seed=2).participants["p_simulated"]
    assert again.to_list() == simulated.tolist()


def test_windows_show_who_changed_half_way() -> None:
    frame = CROWD.frame.filter(pl.col("participant").is_in(PEOPLE[20:50]))
    turned = pl.when((pl.col("participant") == PEOPLE[30]) & (pl.col("trial") > 40))
    other = pl.col("response").replace({"1": "0", "0": "1"})
    frame = frame.with_columns(response=turned.then(other).otherwise(pl.col("response")))
    windows = deletion_windows(karat.Judgments(frame, CROWD.scales), width=40, step=40)
    mine = windows.filter(pl.col("participant") == PEOPLE[30])
    assert mine["first"].to_list() == [1, 41]
    assert mine["df"].to_list() == [40, 40]
    assert mine["distance"][1] == windows.filter(pl.col("first") == 41)["distance"].max()
    assert mine["distance"][1] > mine["distance"][0]
    assert windows.height == 60


def test_bad_settings_are_a_sentence() -> None:
    for settings, why in (({"alpha": 0}, "alpha must be"), ({"simulations": -1}, "simulations must be")):
        with pytest.raises(karat.KaratError, match=why):
            deletion(SMALL, **settings)
    with pytest.raises(karat.KaratError, match="width must be at least 2"):
        deletion_windows(SMALL, width=1)


def test_labels_have_no_simulated_null_and_it_is_said() -> None:
    random = np.random.default_rng(1)
    who, what = np.repeat(np.arange(12), 15), np.tile(np.arange(15), 12)
    logits = random.normal(0, 0.5, (12, 3))[who] + random.normal(0, 2, (15, 3))[what]
    chosen = np.argmax(logits + random.gumbel(size=logits.shape), axis=1)
    frame = {
        "participant": [f"w{i}" for i in who], "item": [f"t{j}" for j in what], "response": ["abc"[k] for k in chosen],
    }  # fmt: skip
    found = deletion(karat.Judgments(frame, karat.Nominal(list("abc"))), simulations=9)
    assert found.participants["distance"].null_count() == 0
    assert found.participants["p_simulated"].null_count() == 12
    assert "There is no simulated null for labels: p_simulated is empty." in found.notes


def test_a_rule_that_flags_nearly_everybody_is_said_to_fail() -> None:
    likert = karat.datasets.load("likert")
    found = deletion(likert)
    assert len(found.flagged) > 24
    assert any("flags most participants" in note for note in found.notes)
    assert not any("flags most participants" in note for note in deletion(SMALL).notes)
