"""Redrawn answers of one worker: a null distribution that an ordinary worker fits into, and a strange one does not."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.models.glrm import deletion as module
from karat.models.glrm import exceedances, fit_crossed, leave_one_out
from karat.models.glrm.deletion import ENOUGH, Redraw, without
from karat.models.glrm.fit import task_covariance
from messages import refuses
from models.glrm.simulated import answers
from models.glrm.stated import Stated, columns_of


def crowd(seed: int, workers: int = 24, tasks: int = 40, missing: float = 0.0) -> tuple[np.ndarray, ...]:
    """Ordinary workers, but the first, who answers the other way round."""
    random = np.random.default_rng(seed)
    who, what = np.repeat(np.arange(workers), tasks), np.tile(np.arange(tasks), workers)
    eta = random.normal(0, 0.7, workers)[who] + random.normal(0, 2.5, tasks)[what]
    eta[who == 0] *= -1
    latent = eta + random.logistic(size=len(eta))
    kept = random.random(len(eta)) >= missing
    return latent[kept], who[kept], what[kept]


@pytest.mark.parametrize(
    ("family", "missing"),
    [
        ("binary", 0.0),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in (("binary", 0.8), ("ordinal", 0.0), ("ordinal", 0.2))),
    ],
)
def test_a_turned_worker_stands_out_and_the_others_do_not(family: str, missing: float) -> None:
    workers, tasks = (12, 25) if not missing and family == "binary" else (40 if missing > 0.5 else 16, 40)
    latent, who, what = crowd(3, workers, tasks, missing)
    response = latent > 0 if family == "binary" else np.digitize(latent, [-1.5, 1.5])
    fit = fit_crossed(response, who, what, family=family)  # type: ignore[arg-type]
    p = exceedances(fit, leave_one_out(fit).distance, 59, seed=1)
    assert p.shape == (len(fit.workers),)
    assert np.all((p > 0) & (p <= 1))
    if missing < 0.5:
        assert p[0] == 1 / 60
    assert np.mean(p[1:] < 0.05) < 0.2


@pytest.mark.slow
def test_the_p_value_of_ordinary_workers_is_about_uniform() -> None:
    values = []
    for seed in range(3):
        latent, who, what = crowd(seed + 10, workers=20, tasks=30)
        ordinary = who > 0
        fit = fit_crossed(latent[ordinary] > 0, who[ordinary], what[ordinary])
        values.append(exceedances(fit, leave_one_out(fit).distance, 40, seed=seed))
    p = np.concatenate(values)
    assert 0.35 < p.mean() < 0.65
    assert np.mean(p < 0.1) < 0.2


def test_the_distance_of_redrawn_answers_is_that_of_a_cold_refit() -> None:
    latent, who, what = crowd(5, workers=12, tasks=20)
    fit = fit_crossed(latent > 0, who, what)
    redraw = Redraw(fit, 3)
    drawn = redraw.draw_answers(np.random.default_rng(7))
    response = np.where(latent > 0, 1.0, -1.0)
    response[who == 3] = drawn
    again = fit_crossed(response > 0, who, what)
    rest = who != 3
    without = fit_crossed(latent[rest] > 0, who[rest], what[rest])
    distance = 2 * (without.log_likelihood - again.log_likelihood)
    assert redraw.log_likelihood == pytest.approx(without.log_likelihood, abs=1e-6)
    assert redraw.reaches(distance - 1e-4, np.random.default_rng(7))
    assert not redraw.reaches(distance + 1e-4, np.random.default_rng(7))


def test_an_observed_distance_that_is_just_reached_is_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    latent, who, what = crowd(5, workers=8, tasks=10)
    redraw = Redraw(fit_crossed(latent > 0, who, what), 3)
    ends: list[Any] = []
    monkeypatch.setattr(module, "minimise_off_zero", lambda *given: ends.append(given[1]) or given[1])
    assert redraw.reaches(0.0, np.random.default_rng(7))
    distance = 2 * (ends[0].at.value + redraw.log_likelihood)
    assert redraw.reaches(distance, np.random.default_rng(7))
    assert not redraw.reaches(float(np.nextafter(distance, np.inf)), np.random.default_rng(7))


@pytest.mark.slow
def test_drawing_stops_early_and_does_not_depend_on_the_map() -> None:
    latent, who, what = crowd(6, workers=10, tasks=20)
    fit = fit_crossed(latent > 0, who, what)
    distance = leave_one_out(fit).distance
    lines: list[tuple[int, int]] = []
    first = exceedances(fit, distance, 400, 1, progress=lambda done, total: lines.append((done, total)))
    again = exceedances(fit, distance, 400, 1, mapper=lambda f, xs: [f(x) for x in reversed(list(xs))][::-1])
    assert first.tolist() == again.tolist()
    assert lines[-1] == (10, 10)
    # Stopped early, p is a whole number of exceedances over fewer draws than were allowed.
    early = first[first > ENOUGH / 400]
    assert len(early)
    assert np.allclose(ENOUGH / early, np.round(ENOUGH / early))


def test_the_only_user_of_a_category_is_not_strange_for_that() -> None:
    latent, who, what = crowd(7, workers=12, tasks=30)
    ordinary = who > 0
    latent, who, what = latent[ordinary], who[ordinary], what[ordinary]
    response = np.digitize(latent, [-1.5, 1.5])
    response[np.flatnonzero(who == 5)[np.argmax(latent[who == 5])]] = 3
    fit = fit_crossed(response, who, what, family="ordinal")
    place = int(np.flatnonzero(fit.workers == 5)[0])
    distance = np.full(11, np.nan)
    distance[place] = 2 * (without(fit, "worker", place).log_likelihood - fit.log_likelihood)
    redraw = Redraw(fit, place)
    rest = who != 5
    alone = fit_crossed(response[rest], who[rest], what[rest], family="ordinal")
    assert redraw.log_likelihood == pytest.approx(alone.log_likelihood, abs=1e-6)
    assert set(np.unique(redraw.draw_answers(np.random.default_rng(1)))) <= {0, 1, 2}
    assert exceedances(fit, distance, 59, seed=1)[place] > 1 / 60


def test_a_cell_effect_and_measured_answers_are_refused() -> None:
    latent, who, what = crowd(6, workers=10, tasks=20)
    twice = np.concatenate([latent, latent[::-1]])
    fit = fit_crossed(twice > 0, np.tile(who, 2), np.tile(what, 2), interaction=True)
    for one in (fit, fit_crossed(latent, who, what, family="gaussian")):
        with refuses(ValueError, "worker:task"):
            exceedances(one, np.zeros(10), 9, 1)


def test_others_who_agree_leave_nothing_to_draw() -> None:
    _, who, what = crowd(6, workers=10, tasks=20)
    fit = fit_crossed((who != 4) | (what < 6), who, what)
    with refuses(ValueError):
        exceedances(fit, np.zeros(10), 9, 1)


@pytest.mark.parametrize(("workers", "tasks"), [(14, 6), (6, 14)])
def test_task_effects_are_drawn_from_the_curvature(workers: int, tasks: int) -> None:
    """A draw is linear in normal numbers, and so its covariance known: that of the tasks in a fit to the others."""
    response, who, what, _ = answers(workers=workers, tasks=tasks, sheets=3, deviations=(2.0, 1.5, 0.0))
    redraw, rest = Redraw(fit_crossed(response, who, what), 2), who != 2
    alone = fit_crossed(response[rest], who[rest], what[rest])
    assert alone.variances["worker"] > 1  # else the effects would be independent of each other
    size = tasks if workers > tasks else tasks + workers - 1
    columns = columns_of(lambda random: redraw.mode.schur.task_draw(random)[0], size)
    assert columns.shape == (tasks, size)
    assert columns @ columns.T == pytest.approx(task_covariance(alone) / alone.variances["task"], abs=1e-3)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("family", ["binary", "ordinal"])
def test_answers_are_drawn_around_the_others_predictor(family: Any, missing: float) -> None:
    """With noise that puts every latent value beside a threshold of a cold refit, on either side of it."""
    latent, who, what = crowd(8, 9, 12, missing)
    random = np.random.default_rng(1)
    x = random.normal(size=len(who))
    edges = [0.0] if family == "binary" else [-1.5, 1.5]
    response, design = np.digitize(latent + x, edges), np.column_stack([np.ones(len(x)), x])[:, family == "ordinal" :]
    redraw = Redraw(fit_crossed(response, who, what, design, family=family), 3)
    rest = who != 3
    alone = fit_crossed(response[rest], who[rest], what[rest], design[rest], family=family)
    normal = random.normal(size=8 + 12 + 1)
    moved = redraw.mode.schur.task_draw(Stated(normal))[0]  # type: ignore[arg-type]
    deviation = {name: np.sqrt(variance) for name, variance in alone.variances.items()}
    tasks = what[~rest]
    eta = design[~rest] @ alone.coefficients + deviation["worker"] * normal[-1]
    eta += alone.task_effects[tasks] + deviation["task"] * moved[tasks]
    assert (len(eta) < 12) == bool(missing)
    for number, edge in enumerate([0.0] if family == "binary" else alone.thresholds):
        for above in (0, 1):
            noise = edge - eta + 0.01 * (2 * above - 1)
            drawn = redraw.draw_answers(Stated(normal, noise))  # type: ignore[arg-type]
            result = 2 * above - 1 if family == "binary" else number + above
            assert drawn.tolist() == [result] * len(eta)


@pytest.mark.few(1)
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("rare", [0, 2])
def test_one_workers_category_leaves_the_others_numbers(rare: int, missing: float) -> None:
    latent, who, what = crowd(7, 8, 15, missing)
    kept = (who > 0) | (what > 0) | (not missing)  # with missing answers the first place of the table is empty
    latent, who, what = latent[kept], who[kept], what[kept]
    response = np.digitize(latent, [0.0]) + (0 if rare else 1)
    response[np.flatnonzero(who == 5)[:3]] = rare
    fit = fit_crossed(response, who, what, family="ordinal")
    redraw = Redraw(fit, 5)
    others = (redraw.layout.place(np.ones(len(who))) > 0) & ~redraw.rows
    expected = redraw.layout.place(response - (0 if rare else 1))
    assert redraw.answers[others].tolist() == expected[others].tolist()
    assert (redraw.family.categories, len(redraw.psi)) == (2, 1)
    drawn = redraw.draw_answers(np.random.default_rng(1))
    again, rest = response - (0 if rare else 1), who != 5
    alone = fit_crossed(again[rest], who[rest], what[rest], family="ordinal")
    again[~rest] = drawn
    distance = 2 * (alone.log_likelihood - fit_crossed(again, who, what, family="ordinal").log_likelihood)
    assert redraw.reaches(distance - 1e-4, np.random.default_rng(1))
    assert not redraw.reaches(distance + 1e-4, np.random.default_rng(1))


def test_a_variance_of_the_others_that_the_fit_lacks_is_found() -> None:
    latent, who, what = crowd(5, workers=12, tasks=20)
    response = latent + np.random.default_rng(1).normal(0, 1, 12)[who] > 0
    fit, rest = fit_crossed(response, who, what), who != 3
    parameters = fit.parameters.copy()
    parameters[-2] = 0
    # As where the fit is at zero, the Hessian does not tie this deviation to the others.
    redraw = Redraw(replace(fit, parameters=parameters, hessian=np.diag(np.diag(fit.hessian))), 3)
    alone = fit_crossed(response[rest], who[rest], what[rest])
    assert redraw.log_likelihood == pytest.approx(alone.log_likelihood, abs=1e-6)


def test_answers_unlike_the_others_bring_a_variance(monkeypatch: pytest.MonkeyPatch) -> None:
    """At zero the slope in a deviation says nothing, and the search has to look beside it."""
    random = np.random.default_rng(2)
    who, what = np.repeat(np.arange(10), 30), np.tile(np.arange(30), 10)
    response = random.normal(0, 1, 30)[what] + random.logistic(size=300) > 0
    redraw = Redraw(fit_crossed(response, who, what), 3)
    assert abs(redraw.scales.worker) < 1e-3
    redraw.parameters[-2], redraw.hessian = 0, np.diag(np.diag(redraw.hessian))
    again = np.where(who == 3, True, response)
    distance = 2 * (redraw.log_likelihood - fit_crossed(again, who, what).log_likelihood)
    monkeypatch.setattr(redraw, "draw_answers", lambda random: np.ones(30))
    assert redraw.reaches(distance - 1e-3, random)
    assert not redraw.reaches(distance + 1e-3, random)


@cache
def small() -> Any:
    latent, who, what = crowd(6, workers=3, tasks=6)
    return fit_crossed(latent > 0, who, what)


class Scheduled:
    """In place of `Redraw`: it reaches the distance when the schedule says so."""

    schedule: tuple[bool, ...] = ()

    def __init__(self, fit: Any, worker: int) -> None:
        self.left = list(self.schedule)
        self.worker = worker

    def reaches(self, observed: float, random: np.random.Generator) -> bool:
        assert observed == 7 + self.worker
        return self.left.pop(0)


@given(st.lists(st.sampled_from([True, True, False]), min_size=1, max_size=40))
def test_the_p_value_is_that_of_the_draws_until_ten_exceed(schedule: list[bool]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "Redraw", type("_", (Scheduled,), {"schedule": tuple(schedule)}))
        found = exceedances(small(), np.array([7.0, 8.0, np.nan]), len(schedule), 1)
    tenth = next((n for n in range(len(schedule)) if sum(schedule[: n + 1]) == 10), None)
    expected = (1 + sum(schedule)) / (1 + len(schedule)) if tenth is None else 10 / (tenth + 1)
    assert found.tolist() == pytest.approx([expected, expected, np.nan], nan_ok=True)


def test_each_worker_and_each_seed_has_draws_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []
    monkeypatch.setattr(Scheduled, "reaches", lambda self, observed, random: bool(seen.append(random.random())))
    monkeypatch.setattr(module, "Redraw", Scheduled)
    lines: list[tuple[int, int]] = []
    for seed in (1, 2, 1):
        exceedances(small(), np.zeros(3), 2, seed, progress=lambda done, total: lines.append((done, total)))
    assert seen[:6] == seen[12:]
    assert len(set(seen)) == 12
    assert lines == [(1, 3), (2, 3), (3, 3)] * 3
