"""Deletion: who changes the model, by the published rule and beside a simulated null."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

import karat
from karat.judgments.message_tables import with_reasons
from karat.messages import Message
from karat.models.glrm import fit_crossed
from karat.screen import deletion, deletion_windows
from karat.screen.crowd.answers import crowd
from messages import raises
from screen.judged import FIVE

CROWD = karat.datasets.load("crowd")
PEOPLE = CROWD.participants["participant"].to_list()
SMALL = CROWD.without(PEOPLE[24:])


def test_the_distance_is_that_of_two_cold_fits() -> None:
    found = deletion(SMALL, by="published")
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


def test_the_published_rule_where_it_is_asked_for() -> None:
    found = deletion(SMALL, by="published").participants
    assert found["flagged"].to_list() == (found["p_value"] < 0.05).to_list()
    assert found["p_simulated"].null_count() == found.height
    assert deletion(SMALL, alpha=0.5, by="published").participants["flagged"].sum() > found["flagged"].sum()


@pytest.mark.slow
def test_a_simulated_null_beside_it() -> None:
    found = deletion(SMALL, simulations=39, seed=2, by="published", refit=True)
    simulated = found.participants["p_simulated"].to_numpy()
    assert np.all((simulated >= 1 / 40) & (simulated <= 1))
    adjusted = found.participants["p_adjusted"].to_numpy()
    assert np.all(adjusted >= simulated)
    largest = int(np.argmax(found.participants["distance"].to_numpy()))
    assert simulated[largest] < np.median(simulated)
    assert found.participants["message"].unique().to_list() == ["deletion.published"]
    assert found.participants["values"].struct.field("p").null_count() == 0
    assert "(simulated p = " in with_reasons(found.participants)["reason"][0]
    again = deletion(SMALL, simulations=39, seed=2, by="published", refit=True).participants["p_simulated"]
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


def test_bad_settings_are_errors() -> None:
    for settings, code, values in (
        ({"alpha": 0}, "setting.refused", {"setting": "alpha"}),
        ({"simulations": -1}, "setting.refused", {"setting": "simulations"}),
        ({"by": "chance"}, "setting.refused", {"setting": "by"}),
        ({"by": "simulated", "simulations": 19}, "deletion.too_few",
         {"simulations": 19, "alpha": 0.05, "least": 20}),
        ({"by": "simulated", "simulations": 99, "alpha": 0.01}, "deletion.too_few",
         {"simulations": 99, "alpha": 0.01, "least": 100}),
    ):  # fmt: skip
        with raises(karat.screen.ScreenError, code, **values):
            deletion(SMALL, **settings)
    with raises(karat.screen.ScreenError, "deletion.windows"):
        deletion_windows(SMALL, width=1)


def labels() -> karat.Judgments:
    random = np.random.default_rng(1)
    who, what = np.repeat(np.arange(12), 15), np.tile(np.arange(15), 12)
    logits = random.normal(0, 0.5, (12, 3))[who] + random.normal(0, 2, (15, 3))[what]
    chosen = np.argmax(logits + random.gumbel(size=logits.shape), axis=1)
    frame = {
        "participant": [f"w{i}" for i in who], "item": [f"t{j}" for j in what], "response": ["abc"[k] for k in chosen],
    }  # fmt: skip
    return karat.Judgments(frame, karat.Nominal(list("abc")))


@pytest.mark.slow
def test_labels_have_a_simulated_null_too() -> None:
    found = deletion(labels(), simulations=9, by="published", refit=True).participants
    assert found["distance"].null_count() == 0
    assert found["p_simulated"].is_between(1 / 10, 1).all()


@pytest.mark.slow
def test_the_simulated_null_decides_where_it_is_asked_to() -> None:
    settings = {"alpha": 0.2, "simulations": 39, "seed": 2}
    beside, decides = deletion(SMALL, **settings, by="published"), deletion(SMALL, **settings)
    found = decides.participants
    columns = ["participant", "distance", "df", "p_value", "p_simulated", "p_adjusted"]
    assert found.select(columns).equals(beside.participants.select(columns))
    assert not (found["flagged"] & (found["p_simulated"] >= 0.2)).any()
    assert found["flagged"].to_list() != beside.participants["flagged"].to_list()
    assert found["score"].to_list() == found["p_simulated"].to_list()
    assert found["threshold"].unique().to_list() == [0.2]
    for flagged, p, code, values in found.select("flagged", "p_simulated", "message", "values").iter_rows():
        others = "deletion.agrees" if p < 0.2 else "deletion.usual"
        assert code == ("deletion.unusual" if flagged else others)
        assert values["alpha"] == 0.2
    sentences = with_reasons(found)["reason"].to_list()
    assert any(sentence.endswith(", not below .20") for sentence in sentences)
    assert decides.settings["by"] == "simulated"
    axis = decides.plot().axes[0]
    assert axis.get_ylim()[1] > found["distance"].max()  # type: ignore[operator]


def labelled() -> karat.Judgments:
    """Labels that are read as ratings: all know them, but the last person confuses 1 and 5 now and then."""
    random = np.random.default_rng(4)
    right = random.integers(1, 6, 60)
    given = np.where(random.random((24, 60)) < 0.1, random.integers(1, 6, (24, 60)), right)
    given[-1] = np.where((random.random(60) < 0.4) & np.isin(right, (1, 5)), 6 - right, right)
    rows = [(f"w{who:02}", f"i{item}", str(given[who, item])) for who in range(24) for item in range(60 if who else 8)]
    return karat.Judgments(pl.DataFrame(rows, schema=["participant", "item", "response"], orient="row"), FIVE)


def test_nobody_who_agrees_above_chance_is_flagged() -> None:
    found = deletion(labelled(), simulations=99).participants
    assert found.filter(participant="w23").select("flagged", "message").row(0) == (False, "deletion.agrees")
    assert not found["flagged"].any()


def test_few_answers_flag_nobody() -> None:
    table = karat.Judgments(
        labelled().frame.with_columns(
            response=pl.when(participant="w00").then(pl.lit("3")).otherwise(pl.col("response"))
        ),
        FIVE,
    )
    first = deletion(table, alpha=0.5, simulations=99).participants.row(0, named=True)
    assert (first["df"], first["flagged"], first["message"]) == (8, False, "deletion.few")


def test_who_is_looked_at_does_not_change_who_is_flagged() -> None:
    some = PEOPLE[:24:4]
    whole = deletion(SMALL, simulations=39, by="simulated").participants.filter(pl.col("participant").is_in(some))
    alone = deletion(SMALL, simulations=39, by="simulated", only=some)
    assert alone.participants.filter(pl.col("participant").is_in(some))["flagged"].equals(whole["flagged"])
    rest = alone.participants.filter(~pl.col("participant").is_in(some))
    assert rest["score"].null_count() == rest.height
    assert not rest["flagged"].any()


@pytest.mark.slow
def test_draws_of_a_null_that_decides() -> None:
    few = SMALL.without(PEOPLE[8:])
    assert deletion(few).settings["simulations"] == 999
    assert deletion(few, alpha=0.0005).settings["simulations"] == 2000
    assert deletion(few, simulations=50).settings["simulations"] == 50
    assert deletion(labels(), only=["w1"]).settings["simulations"] == 199


@pytest.mark.slow
def test_a_rule_that_flags_nearly_everybody_is_said_to_fail() -> None:
    likert = karat.datasets.load("likert")
    found = deletion(likert, by="published")
    assert len(found.flagged) > 24
    assert Message("deletion.flags_most") in found.notes
    assert Message("deletion.flags_most") not in deletion(SMALL, by="published").notes
    # Redrawn answers know what is usual on this scale.
    assert len(deletion(likert).flagged) <= 6


def test_window_of_one_has_no_distances_and_hides_none() -> None:
    few = SMALL.without(PEOPLE[8:])
    longest = PEOPLE[0]
    frame = few.frame.filter((pl.col("participant") == longest) | (pl.col("trial") <= 40))
    windows = deletion_windows(karat.Judgments(frame, few.scales), width=20, step=20)
    alone = windows.filter(pl.col("first") > 40)
    assert alone["participant"].unique().to_list() == [longest]
    assert alone.select("distance", "df", "p_value").null_count().row(0) == (alone.height,) * 3
    assert not alone["flagged"].any()
    others = windows.filter(pl.col("first") <= 40)
    assert others["distance"].null_count() == 0
    assert others.height == 16


def test_windows_of_many_are_refused_with_a_fix() -> None:
    with raises(karat.screen.ScreenError, "deletion.too_many") as caught:
        deletion_windows(SMALL, width=40, step=40, at_most=10)
    assert "at_most = 24" in str(caught.value)
    few = SMALL.without(PEOPLE[6:])
    assert deletion_windows(few, width=40, step=40, at_most=6).height == 12
    with raises(karat.screen.ScreenError, "setting.refused", setting="alpha"):
        deletion_windows(few, width=40, alpha=2)


def test_on_very_hard_items_nobody_is_flagged() -> None:
    random = np.random.default_rng(1001)
    right = random.random(60) < 0.5
    slips = random.uniform(0.38, 0.48, (20, 1))
    said = np.where(random.random((20, 60)) < slips, ~right, right).astype(int)
    rows = [(f"p{person}", f"i{item}", str(said[person, item])) for person in range(20) for item in range(60)]
    table = pl.DataFrame(rows, schema=["participant", "item", "response"], orient="row")
    found = deletion(karat.Judgments(table, karat.Binary()))
    assert found.flagged == []
    assert "deletion.hard" in found.participants["message"].to_list()


def hard_items(seed: int, spread: float, people: int = 40, items: int = 40) -> karat.Judgments:
    """Ratings of attentive people, who differ in level and certainty, and of three who guess; items differ little."""
    random = np.random.default_rng(seed)
    certain = np.exp(random.normal(0, 0.2, (people, 1)))
    value = random.normal(0, spread, items) + random.normal(0, 0.4, (people, 1))
    table = np.digitize(value + random.normal(0, 1, (people, items)) * certain, [-1.5, -0.5, 0.5, 1.5]) + 1
    table[:3] = random.integers(1, 6, (3, items))
    rows = [(f"p{person:02}", f"i{item}", str(a)) for person, own in enumerate(table) for item, a in enumerate(own)]
    return karat.Judgments(pl.DataFrame(rows, schema=["participant", "item", "response"], orient="row"), FIVE)


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_agreeing_little_with_hard_items_is_usual(seed: int) -> None:
    assert set(deletion(hard_items(seed, 0.35)).flagged) <= {"p00", "p01", "p02"}


def test_guessing_is_found_where_items_differ() -> None:
    assert deletion(hard_items(3, 1.0)).flagged == ["p00", "p01", "p02"]
