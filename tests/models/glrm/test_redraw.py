"""Redrawn answers of one worker: a null distribution that an ordinary worker fits into, and a strange one does not."""

from __future__ import annotations

import numpy as np
import pytest

from karat.models.glrm import exceedances, fit_crossed, leave_one_out
from karat.models.glrm.redraw import ENOUGH, _Redraw


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
    latent, who, what = crowd(3, workers=40 if missing > 0.5 else 16, missing=missing)
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
    redraw = _Redraw(fit, 3)
    drawn = redraw._drawn(np.random.default_rng(7))
    response = np.where(latent > 0, 1.0, -1.0)
    response[who == 3] = drawn
    again = fit_crossed(response > 0, who, what)
    rest = who != 3
    without = fit_crossed(latent[rest] > 0, who[rest], what[rest])
    distance = 2 * (without.log_likelihood - again.log_likelihood)
    assert redraw.log_likelihood == pytest.approx(without.log_likelihood, abs=1e-6)
    assert redraw.reaches(distance - 1e-4, np.random.default_rng(7))
    assert not redraw.reaches(distance + 1e-4, np.random.default_rng(7))


@pytest.mark.slow
def test_drawing_stops_early_and_does_not_depend_on_the_map() -> None:
    latent, who, what = crowd(6, workers=10, tasks=20)
    fit = fit_crossed(latent > 0, who, what)
    distance = leave_one_out(fit).distance
    told: list[tuple[int, int]] = []
    first = exceedances(fit, distance, 400, 1, progress=lambda done, total: told.append((done, total)))
    again = exceedances(fit, distance, 400, 1, mapper=lambda f, xs: [f(x) for x in reversed(list(xs))][::-1])
    assert first.tolist() == again.tolist()
    assert told[-1] == (10, 10)
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
    distance = leave_one_out(fit).distance
    place = int(np.flatnonzero(fit.workers == 5)[0])
    redraw = _Redraw(fit, place)
    rest = who != 5
    alone = fit_crossed(response[rest], who[rest], what[rest], family="ordinal")
    assert redraw.log_likelihood == pytest.approx(alone.log_likelihood, abs=1e-6)
    assert set(np.unique(redraw._drawn(np.random.default_rng(1)))) <= {0, 1, 2}
    assert exceedances(fit, distance, 59, seed=1)[place] > 1 / 60


def test_a_cell_effect_is_refused() -> None:
    latent, who, what = crowd(6, workers=10, tasks=20)
    twice = np.concatenate([latent, latent[::-1]])
    fit = fit_crossed(twice > 0, np.tile(who, 2), np.tile(what, 2), interaction=True)
    with pytest.raises(ValueError, match="without a worker:task effect"):
        exceedances(fit, np.zeros(10), 9, 1)
