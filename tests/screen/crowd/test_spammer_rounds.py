"""The Spammer Index of rounds: its parts, its interval, and when rounds are rounds."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize

import karat
from karat.messages import Message
from karat.models.numerics import one_thread
from karat.screen import ScreenError, spammer_index
from karat.screen.crowd.answers import crowd
from karat.screen.crowd.spammer_rounds import RoundsModel, index_of_rounds, share_of_fit, variances_of
from messages import raises

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


@pytest.mark.few(1)
@pytest.mark.parametrize("kinds", [2, 4])
def test_it_is_the_share_of_workers_in_all_parts(kinds: int) -> None:
    index = spammer_index(rounds(kinds))
    variances = dict(index.variances.select("source", "variance").iter_rows())
    assert list(variances) == ["workers", "tasks", "time", "workers:time", "tasks:time"]
    assert index.value == pytest.approx(variances["workers"] / sum(variances.values()))
    assert index.variances["share"].sum() == pytest.approx(1)
    assert 0 <= index.lower < index.value < index.upper < 1
    assert index.interval == "profile"
    # The rounds are 1 apart: the variance of two numbers d apart is d^2 / 2.
    assert variances["time"] == pytest.approx(0.5, abs=0.5)
    assert Message("spammer_index.rounds", {"rounds": 2, "column": "repetition"}) in index.notes


def test_the_rounds_variance_is_that_of_their_coefficients() -> None:
    answers = crowd(rounds(of_round=(0.0, 0.5, 1.5)), "x")
    when = answers.rows["repetition"].to_numpy() - 1
    found = RoundsModel(answers.rows, when, 3, "binary").fit(answers.response)
    assert found.converged
    effects = found.coefficients
    by_hand = sum((one - sum(effects) / 3) ** 2 for one in effects) / 2
    assert variances_of(found, 3)["time"] == pytest.approx(by_hand)


@pytest.mark.parametrize("kinds", [2, 4])
def test_the_forms_are_the_variances_of_the_table(kinds: int) -> None:
    answers = crowd(rounds(kinds, of_round=(0.0, 0.5, 1.5)), "x")
    found = RoundsModel(answers.rows, answers.rows["repetition"].to_numpy() - 1, 3, answers.family).fit(
        answers.response
    )
    forms, variances = share_of_fit(found, 3), variances_of(found, 3)
    x = found.parameters
    assert x @ forms.one @ x == pytest.approx(variances["workers"])
    assert x @ (forms.one + forms.rest) @ x == pytest.approx(sum(variances.values()))


@pytest.mark.slow
def test_likelihood_at_an_end_has_fallen_by_the_level() -> None:
    """A second way: the largest likelihood among parameters that have the index of an end."""
    answers = crowd(rounds(of_round=(0.0, 0.5, 1.5)), "x")
    found = RoundsModel(answers.rows, answers.rows["repetition"].to_numpy() - 1, 3, "binary").fit(answers.response)
    index, forms = index_of_rounds(answers, "repetition"), share_of_fit(found, 3)

    def fall(x: np.ndarray) -> tuple[float, np.ndarray]:
        at = found.objective(x, found.modes)
        assert at is not None
        return at.value + found.log_likelihood, at.gradient

    for end in (index.lower, index.upper):
        balance = (1 - end) * forms.one - end * forms.rest
        held = {"type": "eq", "fun": lambda x, b=balance: x @ b @ x, "jac": lambda x, b=balance: 2 * b @ x}
        with one_thread():
            least = minimize(fall, found.parameters, jac=True, method="SLSQP", constraints=held, options={"ftol": 1e-6})
        assert least.fun == pytest.approx(1.9207, abs=2e-3)


def test_workers_who_do_not_vary_have_an_interval_from_zero() -> None:
    index = index_of_rounds(crowd(rounds(workers=0.0, drift=0.0), "x"), "repetition")
    assert index.lower == 0
    assert index.interval == "profile"
    assert index.value < index.upper < 0.1


@pytest.mark.slow
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
    assert crowd(rounds(column="session"), "x").round_column == "session"
    frame = rounds(column="session").frame
    own = frame.with_columns(item=pl.col("item") + pl.col("session"))
    apart = karat.Judgments(own, karat.Binary(("0", "1")))
    assert crowd(apart, "x").round_column is None
    assert spammer_index(apart).variances["source"].to_list() == ["workers", "tasks"]


def test_answers_without_a_round_are_reported() -> None:
    frame = rounds().frame.with_columns(
        repetition=pl.when(pl.int_range(pl.len()) < 7).then(None).otherwise(pl.col("repetition"))
    )
    index = spammer_index(karat.Judgments(frame, karat.Binary(("0", "1"))))
    assert Message("spammer_index.without_round", {"answers": 7, "column": "repetition"}) in index.notes


@pytest.mark.slow
def test_labels_have_no_form_with_rounds_and_say_so() -> None:
    frame = rounds(4).frame
    labels = karat.Judgments(
        frame.filter(pl.col("response") != "4").with_columns(
            pl.col("response").replace({"1": "a", "2": "b", "3": "c"})
        ),
        karat.Nominal(["a", "b", "c"]),
    )
    with raises(ScreenError, "spammer_index.labels_in_rounds"):
        index_of_rounds(crowd(labels, "x"), "repetition")
    index = spammer_index(labels)
    assert Message("spammer_index.rounds_of_labels", {"column": "repetition"}) in index.notes
