"""Redrawn labels of one worker: the distance is that of deletion, and only strange workers stand out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from karat.models.glrm import deletion as module
from karat.models.glrm import exceedances, fit_nominal, leave_one_out
from karat.models.glrm.deletion import NominalRedraw, predictive_p, without
from karat.models.glrm.nominal import NominalObjective
from messages import refuses
from models.glrm.stated import Stated, columns_of


def crowd(
    seed: int, workers: int = 14, tasks: int = 25, kind: str = "ordinary", missing: float = 0.0, deviation: float = 0.6
) -> tuple[np.ndarray, ...]:
    """Workers drawn from the model, but the first, of this kind."""
    random = np.random.default_rng(seed)
    who, what = np.repeat(np.arange(workers), tasks), np.tile(np.arange(tasks), workers)
    logits = random.normal(0, deviation, (workers, 3))[who] + random.normal(0, 2, (tasks, 3))[what]
    logits[:, 0] = 0  # the baseline
    response = np.argmax(logits + random.gumbel(size=logits.shape), axis=1)
    if kind == "random":
        response[who == 0] = random.integers(0, 3, tasks)
    elif kind == "primary":
        response[who == 0] = np.where(random.random(tasks) < 0.9, 2, random.integers(0, 3, tasks))
    kept = random.random(len(who)) >= missing
    return response[kept], who[kept], what[kept]


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize(("workers", "tasks"), [(14, 25), (25, 14)])
def test_the_distance_of_unchanged_labels_is_that_of_deletion(workers: int, tasks: int, missing: float) -> None:
    fit = fit_nominal(*crowd(3, workers, tasks, missing=missing))
    for worker in (0, 7):
        redraw, refit = NominalRedraw(fit, worker), without(fit, "worker", worker)
        assert redraw.log_likelihood == pytest.approx(refit.log_likelihood, abs=1e-6)
        own = fit.objective.indicators[:, fit.objective.layout.answers_of(worker)[0]]
        assert redraw.distance(own) == pytest.approx(2 * (refit.log_likelihood - fit.log_likelihood), abs=1e-5)


def test_the_distance_of_drawn_labels_is_that_of_a_cold_refit() -> None:
    response, who, what = crowd(5)
    redraw = NominalRedraw(fit_nominal(response, who, what), 3)
    labels = redraw.draw_labels(np.random.default_rng(7))
    again = response.copy()
    again[who == 3] = np.where(labels.sum(axis=0) > 0, 1 + labels.argmax(axis=0), 0).ravel()
    rest = who != 3
    alone, whole = fit_nominal(response[rest], who[rest], what[rest]), fit_nominal(again, who, what)
    distance = 2 * (alone.log_likelihood - whole.log_likelihood)
    assert redraw.distance(labels) == pytest.approx(distance, abs=1e-5)
    assert redraw.reaches(distance - 1e-4, np.random.default_rng(7))
    assert not redraw.reaches(distance + 1e-4, np.random.default_rng(7))


@pytest.mark.parametrize(("workers", "tasks"), [(8, 4), (4, 8)])
def test_task_effects_are_drawn_from_the_curvature(workers: int, tasks: int) -> None:
    """A draw is linear in normal numbers, and so its covariance known: the inverse, solved column by column."""
    redraw = NominalRedraw(fit_nominal(*crowd(4, workers, tasks)), 1)
    factor = redraw.other_modes.factor
    assert factor is not None
    size = 2 * tasks if workers > tasks else 2 * (tasks + workers - 1)
    columns = columns_of(lambda random: factor[0].task_draw(random), size)
    assert columns.shape == (2 * tasks, size)
    unit = np.eye(2 * tasks).reshape(2, tasks, -1)
    _, expected = factor[0].solve(np.zeros((workers - 1, 2, 2 * tasks)), unit)
    assert columns @ columns.T == pytest.approx(expected.reshape(2 * tasks, -1), abs=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize(("workers", "tasks"), [(11, 7), (7, 11)])
def test_labels_are_drawn_by_the_logits_of_the_others_model(workers: int, tasks: int, missing: float) -> None:
    """With noise that puts every logit of a category just above or below the baseline, and the others far below."""
    response, who, what = crowd(4, workers, tasks, missing=missing)
    random = np.random.default_rng(1)
    design = np.column_stack([np.ones(len(who)), random.normal(size=len(who))])
    fit, rest = fit_nominal(response, who, what, design), who != 3
    redraw = NominalRedraw(fit, 3)
    alone = fit_nominal(response[rest], who[rest], what[rest], design[rest])
    normal = random.normal(size=2 * (tasks if workers > tasks else tasks + workers - 1) + 2)
    assert redraw.other_modes.factor is not None
    moved = redraw.other_modes.factor[0].task_draw(Stated(normal)).T  # type: ignore[arg-type]
    logits = design[~rest] @ alone.coefficients + np.sqrt(alone.variances["worker"]) * normal[-2:]
    logits += (alone.task_effects + np.sqrt(alone.variances["task"]) * moved)[what[~rest]]
    for category in (0, 1):
        for above in (0, 1):
            noise = np.full((3, len(logits)), -1e3)
            noise[0] = 0
            noise[category + 1] = -logits[:, category] + 0.01 * (2 * above - 1)
            labels = redraw.draw_labels(Stated(normal, noise))  # type: ignore[arg-type]
            expected = np.zeros((2, len(logits)))
            expected[category] = above
            assert labels.tolist() == expected.tolist()


def test_a_variance_of_the_others_that_the_fit_lacks_is_found() -> None:
    response, who, what = crowd(3, 9, 20, deviation=1.5)
    fit, rest = fit_nominal(response, who, what), who != 3
    parameters = fit.parameters.copy()
    parameters[-4:-2] = 0
    # As where the fit is at zero, the Hessian does not tie these deviations to the others.
    redraw = NominalRedraw(replace(fit, parameters=parameters, hessian=np.diag(np.diag(fit.hessian))), 3)
    alone = fit_nominal(response[rest], who[rest], what[rest])
    assert redraw.log_likelihood == pytest.approx(alone.log_likelihood, abs=1e-6)


def test_labels_unlike_the_others_bring_a_variance() -> None:
    """At zero the slope in a deviation says nothing, and the search has to look beside it."""
    response, who, what = crowd(3, 9, 20, deviation=0.0)
    redraw = NominalRedraw(fit_nominal(response, who, what), 3)
    assert np.abs(redraw.parameters[-4:-2]).min() < 1e-3
    redraw.parameters[-4:-2], redraw.hessian = 0, np.diag(np.diag(redraw.hessian))
    again = np.where(who == 3, 2, response)
    distance = 2 * (redraw.log_likelihood - fit_nominal(again, who, what).log_likelihood)
    labels = np.zeros((2, 20))
    labels[1] = 1
    assert redraw.distance(labels) == pytest.approx(distance, abs=1e-3)
    assert redraw.distance(labels, distance + 0.1) < distance + 0.1


def test_smaller_distances_are_not_searched_for(monkeypatch: pytest.MonkeyPatch) -> None:
    redraw = NominalRedraw(fit_nominal(*crowd(4, 8, 10)), 3)
    labels = redraw.draw_labels(np.random.default_rng(7))
    distance = redraw.distance(labels)
    # An observed distance that is just reached is reached.
    assert redraw.reaches(distance, np.random.default_rng(7))
    monkeypatch.setattr(module, "minimise", None)
    assert distance <= redraw.distance(labels, distance + 10) < distance + 10
    assert not redraw.reaches(distance + 10, np.random.default_rng(7))


def test_what_cannot_be_drawn_from() -> None:
    response, who, what = crowd(9, 8, 10)
    fit = fit_nominal(response, who, what)
    with refuses(ValueError):
        NominalRedraw(replace(fit, parameters=np.full_like(fit.parameters, np.nan)), 2)
    redraw = NominalRedraw(fit, 2)
    redraw.other_modes = replace(redraw.other_modes, factor=None)
    with refuses(ValueError):
        redraw.draw_labels(np.random.default_rng(1))
    alone = fit_nominal(np.where(who == 2, response, 1), who, what)
    with refuses(ValueError):
        NominalRedraw(alone, 2)


@pytest.mark.slow
def test_p_values_of_workers_from_the_model_are_about_uniform() -> None:
    """They lean to the large side, as those of yes-or-no answers do: the test is cautious."""
    values = []
    for seed in range(3):
        fit = fit_nominal(*crowd(seed + 20, 12, 16))
        values.append(exceedances(fit, leave_one_out(fit).distance, 20, seed=seed))
    p = np.concatenate(values)
    assert 0.4 < p.mean() < 0.75
    assert 0 < np.mean(p < 0.25) < 0.4
    assert np.mean(p < 0.05) < 0.15


def first_worker(seed: int, kind: str, deviation: float) -> float:
    """The p value of the first of 14 workers with 40 tasks each."""
    fit = fit_nominal(*crowd(seed, tasks=40, kind=kind, deviation=deviation))
    distance = np.full(14, np.nan)
    distance[0] = 2 * (without(fit, "worker", 0).log_likelihood - fit.log_likelihood)
    return float(exceedances(fit, distance, 39, seed=1)[0])


@pytest.mark.slow
def test_a_worker_who_guesses_stands_out() -> None:
    assert [first_worker(seed, "random", 0.6) for seed in (8, 9)] == [1 / 40] * 2


@pytest.mark.slow
def test_single_favourite_is_an_effect_where_workers_vary() -> None:
    """Deletion sees little of a favourite: given the worker's effect, such labels are easy to tell."""
    alike, varied = ([first_worker(seed, "primary", one) for seed in range(8, 14)] for one in (0.2, 1.2))
    assert np.median(alike) < np.median(varied)


def test_a_category_of_one_worker_alone_is_not_drawn() -> None:
    response, who, what = crowd(9)
    response[(who == 2) & (what == 4)] = 3
    fit = fit_nominal(response, who, what)
    redraw = NominalRedraw(fit, 2)
    labels = redraw.draw_labels(np.random.default_rng(1))
    assert len(labels) == 2
    assert redraw.log_likelihood == pytest.approx(without(fit, "worker", 2).log_likelihood, abs=1e-6)
    assert np.isfinite(redraw.distance(labels))


@pytest.mark.slow
def test_missing_answers_stay_missing_and_seeds_decide() -> None:
    response, who, what = crowd(6, 6, 12, missing=0.3)
    fit = fit_nominal(response, who, what)
    labels = NominalRedraw(fit, 4).draw_labels(np.random.default_rng(2))
    assert labels.shape == (2, (who == 4).sum())
    distance = leave_one_out(fit).distance
    first = exceedances(fit, distance, 4, 1)
    again = exceedances(fit, distance, 4, 1, mapper=lambda f, xs: [f(x) for x in reversed(list(xs))][::-1])
    assert first.tolist() == again.tolist()
    distance[3] = np.nan
    assert np.isnan(exceedances(fit, distance, 4, 1)[3])


def test_a_list_of_answers_is_redrawn_like_a_table() -> None:
    """The same model, laid out in both ways: the same labels from the same seed, and the same distances."""
    fit = fit_nominal(*crowd(6, 8, 12, missing=0.3))
    layout, objective = fit.objective.layout, fit.objective
    assert not layout.listed
    listed = replace(layout, listed=True)
    other = replace(fit, objective=NominalObjective(listed, objective.indicators, objective.design))
    one, two = NominalRedraw(fit, 3), NominalRedraw(other, 3)
    labels = one.draw_labels(np.random.default_rng(2))
    assert two.draw_labels(np.random.default_rng(2)).tolist() == labels.tolist()
    assert two.distance(labels) == pytest.approx(one.distance(labels), abs=1e-6)
    places = [0, 3]
    assert predictive_p(other, places, 30, seed=1)[places] == pytest.approx(
        predictive_p(fit, places, 30, seed=1)[places]
    )
