"""The Spammer Index of rounds: its parts, its interval, and when rounds are rounds."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.special import expit, logit

import karat
from karat.screen import ScreenError, spammer_index
from karat.screen.crowd import crowd
from karat.screen.spammer_rounds import _Model, _share, _variances, index_of_rounds, round_column

WORKERS, TASKS, ROUNDS = 30, 25, 2


def rounds(
    kinds: int = 2,
    workers: float = 0.8,
    of_round: tuple[float, ...] = (-0.5, 0.5),
    column: str = "repetition",
    drift: float = 0.6,
) -> karat.Judgments:
    random = np.random.default_rng(11)
    grid = np.meshgrid(range(WORKERS), range(TASKS), range(len(of_round)), indexing="ij")
    who, what, when = (part.ravel() for part in grid)
    eta = workers * random.normal(size=WORKERS)[who] + 1.5 * random.normal(size=TASKS)[what]
    eta = eta + drift * random.normal(size=(WORKERS, len(of_round)))[who, when] + np.array(of_round)[when]
    eta = eta + 0.4 * random.normal(size=(TASKS, len(of_round)))[what, when]
    cuts = [0.0] if kinds == 2 else [-1.5, 0.0, 1.5]
    answer = np.searchsorted(cuts, eta + random.logistic(size=len(eta)))
    table = {
        "participant": [f"w{i}" for i in who], "item": [f"t{j}" for j in what], column: when + 1,
        "trial": when * TASKS + what + 1,
        "response": (answer if kinds == 2 else answer + 1).astype(str),
    }  # fmt: skip
    return karat.Judgments(table, karat.Binary(("0", "1")) if kinds == 2 else karat.Ordinal(4))


@pytest.mark.parametrize("kinds", [2, 4])
def test_it_is_the_share_of_workers_in_all_parts(kinds: int) -> None:
    index = spammer_index(rounds(kinds))
    variances = dict(index.variances.select("source", "variance").iter_rows())
    assert list(variances) == ["workers", "tasks", "time", "workers:time", "tasks:time"]
    assert index.value == pytest.approx(variances["workers"] / sum(variances.values()))
    assert index.variances["share"].sum() == pytest.approx(1)
    assert 0 < index.lower < index.value < index.upper < 1
    assert index.interval == "Wald"
    # The rounds are 1 apart: the variance of two numbers d apart is d^2 / 2.
    assert variances["time"] == pytest.approx(0.5, abs=0.5)
    assert any("2 rounds (repetition)" in note for note in index.notes)


def test_the_rounds_variance_is_that_of_their_coefficients() -> None:
    answers = crowd(rounds(of_round=(0.0, 0.5, 1.5)), "x")
    when = answers.rows["repetition"].to_numpy() - 1
    found = _Model(answers.rows, when, 3, "binary").fit(answers.response)
    assert found.converged
    effects = found.coefficients
    by_hand = sum((one - sum(effects) / 3) ** 2 for one in effects) / 2
    assert _variances(found, 3)["time"] == pytest.approx(by_hand)


@pytest.mark.parametrize("kinds", [2, 4])
def test_the_wald_interval_against_differences_of_the_logit(kinds: int) -> None:
    """A second way: the slope of the logit by steps in every parameter, and the inverse of the whole Hessian."""
    answers = crowd(rounds(kinds), "x")
    model = _Model(answers.rows, answers.rows["repetition"].to_numpy() - 1, 2, answers.family)
    found = model.fit(answers.response)

    def logit_at(parameters: np.ndarray) -> float:
        at = dict(zip(found.parameter_names, parameters, strict=True))
        effects = [at.get(f"round {number}", 0.0) for number in (1, 2)]
        parts = {name: at[f"{name}.(Intercept)"] ** 2 for name in model.groups}
        return float(logit(_share(parts | {"time": float(np.var(effects, ddof=1))})))

    step = 1e-5 * np.eye(len(found.parameters))
    slope = np.array(
        [(logit_at(found.parameters + one) - logit_at(found.parameters - one)) / 2e-5 for one in step]
    )  # fmt: skip
    error = float(np.sqrt(slope @ np.linalg.inv(found.hessian) @ slope))
    index = index_of_rounds(answers, "repetition")
    centre = logit_at(found.parameters)
    assert index.lower == pytest.approx(expit(centre - 1.959964 * error), rel=1e-4)
    assert index.upper == pytest.approx(expit(centre + 1.959964 * error), rel=1e-4)


def test_workers_who_do_not_vary_have_an_interval_from_zero() -> None:
    index = index_of_rounds(crowd(rounds(workers=0.0, drift=0.0), "x"), "repetition")
    assert index.lower == 0
    assert index.value < index.upper < 0.3


def test_the_bootstrap_is_seeded_and_holds_the_index() -> None:
    answers = crowd(rounds(), "x")
    seen: list[int] = []
    one = index_of_rounds(answers, "repetition", 5, 3, lambda done, _: seen.append(done))
    again = index_of_rounds(answers, "repetition", 5, 3)
    assert one.interval == "bootstrap"
    assert seen == list(range(1, 6))
    assert (one.lower, one.upper) == (again.lower, again.upper)
    assert one.lower < one.value < one.upper


def test_sessions_are_rounds_where_tasks_return() -> None:
    assert round_column(crowd(rounds(column="session"), "x")) == "session"
    frame = rounds(column="session").frame
    own = frame.with_columns(item=pl.col("item") + pl.col("session"))
    apart = karat.Judgments(own, karat.Binary(("0", "1")))
    assert round_column(crowd(apart, "x")) is None
    assert spammer_index(apart).variances["source"].to_list() == ["workers", "tasks"]


def test_answers_without_a_round_are_told() -> None:
    frame = rounds().frame.with_columns(
        repetition=pl.when(pl.int_range(pl.len()) < 7).then(None).otherwise(pl.col("repetition"))
    )
    index = spammer_index(karat.Judgments(frame, karat.Binary(("0", "1"))))
    assert any("7 answers without a value of repetition left out" in note for note in index.notes)


def test_labels_have_no_form_with_rounds_and_say_so() -> None:
    frame = rounds(4).frame
    labels = karat.Judgments(
        frame.filter(pl.col("response") != "4").with_columns(
            pl.col("response").replace({"1": "a", "2": "b", "3": "c"})
        ),
        karat.Nominal(["a", "b", "c"]),
    )
    with pytest.raises(ScreenError, match="not for labels"):
        index_of_rounds(crowd(labels, "x"), "repetition")
    index = spammer_index(labels)
    assert any("Rounds (repetition) are not told apart for labels" in note for note in index.notes)
