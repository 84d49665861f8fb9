"""The effect of a source: estimates, clustered errors by a second way, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize
from scipy.special import expit

import karat
from karat.messages import Message
from karat.screen import ScreenError, source_effect
from karat.screen.crowd.source_effect import Clustered
from messages import codes, raises

CROWD = karat.datasets.load("crowd")


def crowd_of(effect: float = -1.0, people: int = 24, items: int = 14, seed: int = 5) -> karat.Judgments:
    """Two sources of people with an effect on the log-odds; the second source also answers faster."""
    random = np.random.default_rng(seed)
    who, what = np.repeat(np.arange(people), items), np.tile(np.arange(items), people)
    online = who % 3 == 0
    kept = random.random(len(who)) < 0.8
    eta = 0.8 + 0.7 * random.normal(size=people)[who] + random.normal(size=items)[what] + effect * online
    right = (eta + random.logistic(size=len(who)) > 0).astype(int)
    frame = pl.DataFrame({
        "participant": [f"p{i}" for i in who], "item": [f"i{j}" for j in what],
        "response": np.where(right == 1, what % 2, 1 - what % 2).astype(str), "expected": (what % 2).astype(str),
        "rt": np.exp(random.normal(size=len(who)) - online), "difficulty": np.where(what < 7, "easy", "hard"),
    }).filter(pl.Series(kept))  # fmt: skip
    names = frame["participant"].unique(maintain_order=True).to_list()
    source = ["online" if int(name[1:]) % 3 == 0 else "lab" for name in names]
    expert = ["no" if one == "online" else "yes" for one in source]
    people_table = {"participant": names, "source": source, "expert": expert}
    return karat.Judgments(frame, karat.Binary(("0", "1")), people_table)


def dense(x: np.ndarray, e: np.ndarray, cluster: np.ndarray, contrast: np.ndarray) -> tuple[float, float]:
    """CR2 and its degrees of freedom by the definition, with matrices of all answers."""
    n = len(e)
    inverse = np.linalg.inv(x.T @ x)
    hat = np.eye(n) - x @ inverse @ x.T
    middle, columns = np.zeros((x.shape[1],) * 2), []
    for one in np.unique(cluster):
        own = np.flatnonzero(cluster == one)
        values, vectors = np.linalg.eigh(hat[np.ix_(own, own)])
        root = (vectors / np.sqrt(values)) @ vectors.T
        score = x[own].T @ root @ e[own]
        middle += np.outer(score, score)
        columns.append(hat[:, own] @ root @ x[own] @ inverse @ contrast)
    g = np.column_stack(columns)
    eigen = np.linalg.eigvalsh(g.T @ g)
    return float(np.sqrt(contrast @ inverse @ middle @ inverse @ contrast)), float(eigen.sum() ** 2 / (eigen**2).sum())


def arrays(judgments: karat.Judgments) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    frame = judgments.frame.join(judgments.participants, on="participant", how="left", maintain_order="left")
    x = np.column_stack([np.ones(frame.height), frame["source"] == "online", frame["difficulty"] == "hard"])
    y = (frame["response"] == frame["expected"]).to_numpy().astype(float)
    return x.astype(float), y, np.unique(frame["participant"].to_numpy(), return_inverse=True)[1]


def test_linear_estimate_and_errors_by_the_definition() -> None:
    judgments = crowd_of()
    found = source_effect(judgments, adjust=["difficulty"])
    x, y, cluster = arrays(judgments)
    beta = np.linalg.solve(x.T @ x, x.T @ y)
    row = found.effects.row(0, named=True)
    assert (row["source"], row["reference"]) == ("online", "lab")
    assert row["estimate"] == pytest.approx(beta[1])
    error, df = dense(x, y - x @ beta, cluster, np.eye(3)[1])
    assert row["se"] == pytest.approx(error)
    assert row["df"] == pytest.approx(df)
    assert df < len(np.unique(cluster)) - 1
    assert row["lower"] < row["estimate"] < row["upper"]


def test_cr1_by_the_definition() -> None:
    judgments = crowd_of()
    row = source_effect(judgments, adjust=["difficulty"], errors="CR1").effects.row(0, named=True)
    x, y, cluster = arrays(judgments)
    inverse = np.linalg.inv(x.T @ x)
    e = y - x @ inverse @ x.T @ y
    scores = np.array([x[cluster == g].T @ e[cluster == g] for g in np.unique(cluster)])
    groups, n = len(scores), len(y)
    covariance = groups / (groups - 1) * (n - 1) / (n - 3) * inverse @ scores.T @ scores @ inverse
    assert row["se"] == pytest.approx(np.sqrt(covariance[1, 1]))
    assert row["df"] == groups - 1


def test_logistic_average_marginal_effect_by_another_way() -> None:
    judgments = crowd_of()
    row = source_effect(judgments, adjust=["difficulty"], model="logistic").effects.row(0, named=True)
    x, y, cluster = arrays(judgments)
    beta = minimize(lambda b: np.sum(np.logaddexp(0, x @ b) - y * (x @ b)), np.zeros(3), tol=1e-12).x

    def effect(b: np.ndarray) -> float:
        here, there = x.copy(), x.copy()
        here[:, 1], there[:, 1] = 0, 1
        return float(np.mean(expit(there @ b) - expit(here @ b)))

    assert row["estimate"] == pytest.approx(effect(beta), abs=1e-5)
    slope = np.array([(effect(beta + one) - effect(beta - one)) / 2e-5 for one in 1e-5 * np.eye(3)])
    p = expit(x @ beta)
    root = np.sqrt(p * (1 - p))
    error, df = dense(x * root[:, None], (y - p) / root, cluster, slope)
    assert row["se"] == pytest.approx(error, rel=1e-4)
    assert row["df"] == pytest.approx(df, rel=1e-4)


def test_answers_of_one_person_are_not_independent_evidence() -> None:
    """Counted as independent, the error would be far too small, as participants differ."""
    judgments = crowd_of()
    x, y, _ = arrays(judgments)
    e = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
    naive = Clustered(x, e, np.arange(len(y)), "CR1").error(np.eye(3)[1])
    assert source_effect(judgments, adjust=["difficulty"]).effects["se"][0] > 1.3 * naive


@pytest.mark.slow
def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    held = []
    for seed in range(120):
        random = np.random.default_rng(seed)
        people, items = 18, 10
        who = np.repeat(np.arange(people), items)
        value = 0.5 * random.normal(size=people)[who] + random.normal(size=len(who))
        frame = {"participant": [f"p{i}" for i in who], "item": [f"i{j}" for j in np.tile(np.arange(items), people)],
                 "response": ["1"] * len(who), "value": value}  # fmt: skip
        table = {
            "participant": [f"p{i}" for i in range(people)],
            "source": ["a" if i < 5 else "b" for i in range(people)],
        }
        judged = karat.Judgments(frame, karat.Binary(("0", "1")), table)
        row = source_effect(judged, outcome="value").effects.row(0, named=True)
        held.append(row["lower"] < 0 < row["upper"])
    assert 0.90 <= np.mean(held) <= 0.99


def test_time_as_mediator_needs_the_direct_effect() -> None:
    judgments = crowd_of()
    with raises(ScreenError, "source_effect.mediator", column="rt", source="source", outcome="correct"):
        source_effect(judgments, adjust=["difficulty", "rt"])
    direct = source_effect(judgments, adjust=["difficulty", "rt"], effect="direct")
    assert direct.adjust == ("difficulty", "rt")
    assert direct.settings["effect"] == "direct"


def test_what_goes_together_cannot_be_told_apart() -> None:
    with raises(ScreenError, "source_effect.confounded", column="expert", source="source"):
        source_effect(crowd_of(), adjust=["expert"])
    with raises(ScreenError, "source_effect.redundant"):
        source_effect(crowd_of(), adjust=["difficulty", "item"])


def test_groups_tell_the_outcome_as_it_is() -> None:
    found = source_effect(CROWD, "behaviour", reference="attentive")
    means = dict(found.groups.select("source", "mean").iter_rows())
    assert found.effects["estimate"][0] == pytest.approx(means["guesser"] - means["attentive"])
    assert found.groups["participants"].sum() == 120
    assert codes(found.summary) == ["source_effect.not_adjusted", *["source_effect.effect"] * 3]
    assert "source_effect.adjustment_set" in codes(found.notes)


def test_empty_cells_are_left_out_and_counted() -> None:
    judgments = crowd_of()
    people = judgments.participants.with_columns(
        source=pl.when(pl.col("participant") == "p1").then(None).otherwise(pl.col("source"))
    )
    found = source_effect(karat.Judgments(judgments.frame, judgments.scales, people))
    gone = judgments.frame.filter(pl.col("participant") == "p1").height
    assert Message("source_effect.left_out", {"answers": gone}) in found.notes
    assert found.groups["answers"].sum() == len(judgments) - gone


@pytest.mark.parametrize(
    ("settings", "code", "values"),
    [
        ({"outcome": "corect"}, "unknown.column", {"name": "corect", "close": "correct"}),
        ({"source": "sauce"}, "unknown.column", {"name": "sauce", "close": "source"}),
        ({"reference": "moon"}, "source_effect.reference",
         {"reference": "moon", "source": "source", "values": ["lab", "online"]}),
        ({"model": "probit"}, "setting.refused", {"setting": "model"}),
        ({"level": 2}, "setting.refused", {"setting": "level"}),
        ({"adjust": ["source"]}, "source_effect.same_column", {}),
        ({"outcome": "difficulty"}, "source_effect.not_a_number", {"outcome": "difficulty"}),
        ({"outcome": "rt", "model": "logistic"}, "source_effect.not_binary", {"outcome": "rt"}),
    ],
)  # fmt: skip
def test_what_is_wrong_is_an_error(settings: dict[str, Any], code: str, values: dict[str, Any]) -> None:
    with raises(ScreenError, code, **values):
        source_effect(crowd_of(), **settings)


def test_doubtful_items_are_left_out_or_counted() -> None:
    with pytest.raises(ScreenError):
        source_effect(crowd_of(), doubtful="maybe")  # type: ignore[arg-type]


def test_a_group_that_is_always_right_has_no_logistic_model() -> None:
    judgments = crowd_of()
    lab = judgments.participants.filter(pl.col("source") == "lab")["participant"].to_list()
    frame = judgments.frame.with_columns(
        response=pl.when(pl.col("participant").is_in(lab)).then(pl.col("expected")).otherwise(pl.col("response"))
    )
    perfect = karat.Judgments(frame, judgments.scales, judgments.participants)
    with raises(ScreenError, "source_effect.no_maximum"):
        source_effect(perfect, model="logistic")
    assert source_effect(perfect).effects["estimate"][0] < 0
