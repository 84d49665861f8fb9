"""The share of some variances with its interval: against the profile of one angle, and against a slow second search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.optimize import minimize
from scipy.stats import chi2

from karat.models.glrm import Fit, NominalFit, fit_crossed, fit_nominal, worker_share
from karat.models.glrm.optimise import Evaluated, Evaluation
from karat.models.glrm.share import FittedShare, ShareSearch, variance_share
from karat.models.numerics import one_thread
from messages import raises, refuses
from models.glrm.dense import differences
from models.glrm.simulated import answers


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """The function leaves it to its callers, who know how large the models are."""
    with one_thread():
        yield


def forms(fit: Fit | NominalFit) -> FittedShare:
    half = 1 if isinstance(fit, Fit) else len(fit.categories) - 1
    place = np.arange(len(fit.parameters)) - len(fit.parameters)
    workers, tasks = (place >= -2 * half) & (place < -half), place >= -half
    return FittedShare(
        fit.objective, fit.parameters, fit.modes, fit.hessian, np.diag(workers * 1.0), np.diag(tasks * 1.0)
    )


def labels(deviation: float, seed: int) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(seed)
    who, what = np.repeat(np.arange(20), 15), np.tile(np.arange(15), 20)
    logits = random.normal(0, deviation, (20, 3))[who] + random.normal(0, 2, (15, 3))[what]
    return np.argmax(logits + random.gumbel(size=logits.shape), axis=1), who, what


@pytest.mark.parametrize("family", ["binary", "ordinal"])
@pytest.mark.parametrize(("deviation", "level"), [(1.0, 0.8), (0.05, 0.95)])
def test_with_two_variances_it_is_the_profile_of_their_angle(family: str, deviation: float, level: float) -> None:
    response, worker, task, _ = answers(family, workers=30, tasks=20, deviations=(deviation, 1.5, 0.0))
    fit = fit_crossed(response, worker, task, family=family)  # type: ignore[arg-type]
    expected, found = worker_share(fit, level), variance_share([forms(fit)], level)
    assert found.value == pytest.approx(expected.value, abs=1e-9)
    assert found.lower == pytest.approx(expected.lower, abs=1e-4)
    assert found.upper == pytest.approx(expected.upper, abs=1e-4)


def sparse(seed: int, family: str, deviations: tuple[float, float]) -> Fit:
    """Three answers per task: likelihoods are flat, and some have several tops."""
    random = np.random.default_rng(seed)
    what = np.repeat(np.arange(12), 3)
    who = np.concatenate([random.choice(10, 3, replace=False) for _ in range(12)])
    latent = random.normal(0, deviations[0], 10)[who] + random.normal(0, deviations[1], 12)[what]
    latent += random.logistic(size=len(latent))
    response = latent > 0.3 if family == "binary" else np.digitize(latent, [-1, 1])
    return fit_crossed(response, who, what, family=family)  # type: ignore[arg-type]


def test_an_end_may_be_many_standard_errors_away() -> None:
    fit = sparse(5, "binary", (1.0, 1.0))
    expected, found = worker_share(fit), variance_share([forms(fit)])
    assert 0.1 < expected.lower < 0.2
    assert (found.lower, found.upper) == pytest.approx((expected.lower, expected.upper), abs=1e-3)


def test_of_several_tops_the_outermost_counts() -> None:
    fit = sparse(189, "binary", (1.5, 0.5))
    search = ShareSearch([forms(fit)], 1)
    ends = [search.end_from(nudge, 1.9207, 100) for nudge in (0.3, 2.0)]
    assert ends == pytest.approx([0.651, 0.755], abs=2e-3)
    assert search.end(1.9207) == pytest.approx(max(ends), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["binary", "ordinal"])
def test_intervals_of_sparse_crowds_cover_the_share(family: str) -> None:
    """Both ways to find them, which hardly ever differ."""
    covered, narrower, number = np.zeros(2), np.zeros(2), 40
    for seed in range(number):
        fit = sparse(seed, family, (1.0, 1.0))
        both = worker_share(fit), variance_share([forms(fit)])
        covered += [one.lower <= 0.5 <= one.upper for one in both]
        widths = np.array([one.upper - one.lower for one in both])
        narrower += widths < widths.max() - 1e-3
    assert min(covered) >= 0.9 * number
    assert max(narrower) <= 0.05 * number


@pytest.mark.parametrize(
    ("deviation", "seed"),
    [pytest.param(0.7, 0, marks=pytest.mark.slow), pytest.param(0.2, 1, marks=pytest.mark.slow), (0.0, 0)],
)
def test_likelihood_at_an_end_has_fallen_by_the_level(deviation: float, seed: int) -> None:
    """A second way: the largest likelihood among parameters with the share of the end, from several starts."""
    fit = fit_nominal(*labels(deviation, seed))
    model = forms(fit)
    share = variance_share([model])
    assert share.lower <= share.value <= share.upper
    random = np.random.default_rng(1)
    half = len(fit.categories) - 1

    def fall(x: np.ndarray, end: float) -> float:
        """With the deviations of tasks stretched until workers have the share."""
        workers, tasks = x[-2 * half : -half], x[-half:]
        stretch = np.sqrt((1 - end) / end) * np.linalg.norm(workers) / np.linalg.norm(tasks)
        at = fit.objective(np.concatenate([x[:-half], stretch * tasks]), fit.modes)
        assert at is not None
        return at.value + fit.log_likelihood

    for end in {share.lower, share.upper} - {0.0, 1.0}:
        starts = (fit.parameters + random.normal(0, 0.3, len(fit.parameters)) for _ in range(2))
        least = min(minimize(fall, start, (end,), method="BFGS", options={"gtol": 3e-3}).fun for start in starts)
        assert least == pytest.approx(1.9207, abs=2e-3)


def test_workers_who_do_not_vary_have_a_short_interval_from_zero() -> None:
    share = variance_share([forms(fit_nominal(*labels(0.0, 0)))])
    assert share.lower == 0
    assert share.value < 1e-6
    assert 0.005 < share.upper < 0.06


def test_tasks_that_do_not_vary_have_an_interval_up_to_one() -> None:
    response, what, who = labels(0.0, 0)
    share = variance_share([forms(fit_nominal(response, who, what))])
    assert share.upper == 1
    assert 0.9 < share.lower < 1


@pytest.mark.slow
def test_the_same_model_twice_is_no_surer_than_once() -> None:
    model = forms(fit_nominal(*labels(0.7, 0)))
    once, twice = variance_share([model]), variance_share([model, model])
    assert twice.value == pytest.approx(once.value)
    assert (twice.lower, twice.upper) == pytest.approx((once.lower, once.upper), abs=1e-3)


def test_a_hessian_that_is_not_known_is_no_obstacle() -> None:
    model = forms(fit_nominal(*labels(0.7, 2)))
    unknown = replace(model, hessian=np.full_like(model.hessian, np.nan))
    assert variance_share([unknown]).upper == pytest.approx(variance_share([model]).upper, abs=1e-4)


def test_nothing_varies() -> None:
    model = forms(fit_nominal(*labels(0.7, 2)))
    with raises(ValueError, "models.no_variance"):
        variance_share([replace(model, parameters=np.zeros_like(model.parameters))])


def parabola(centre: Sequence[float], hessian: np.ndarray, one: np.ndarray, rest: np.ndarray) -> FittedShare:
    """A log-likelihood that falls by half a quadratic form: all that follows from it is known."""
    best = np.array(centre)

    def function(x: np.ndarray, modes: object) -> Evaluation:
        gap = x - best
        return Evaluation(7.0 + float(gap @ hessian @ gap) / 2, hessian @ gap, modes, lambda: hessian)

    return FittedShare(function, best, "modes", hessian, one, rest)


HESSIAN = np.array([[4.0, 1.0, -0.5], [1.0, 9.0, 2.0], [-0.5, 2.0, 5.0]])
FORMS = {
    "two deviations": (np.diag([0.0, 1.0, 0.0]), np.diag([0.0, 0.0, 1.0])),
    "two against one": (np.diag([1.0, 1.0, 0.0]), np.diag([0.0, 0.0, 1.0])),
    "a variance of coefficients": (np.array([[2.0, 0.6, 0], [0.6, 1.0, 0], [0, 0, 0]]), np.diag([0.0, 0.5, 1.0])),
}


@pytest.mark.parametrize("level", [0.95, 0.8])
@pytest.mark.parametrize("forms", FORMS)
def test_the_ends_are_those_of_the_shares_on_an_ellipsoid(forms: str, level: float) -> None:
    """A second way: every share on a fine grid of the parameters at which a parabola has fallen by enough."""
    one, rest = FORMS[forms]
    centre = np.array([1.5, -1.4, 2.0])
    found = variance_share([parabola(centre.tolist(), HESSIAN, one, rest)], level)
    longitude, height = np.meshgrid(np.linspace(0, 2 * np.pi, 600), np.linspace(-1, 1, 601))
    ring = np.sqrt(1 - height**2)
    sphere = np.stack([ring * np.cos(longitude), ring * np.sin(longitude), height]).reshape(3, -1)
    x = centre[:, None] + np.linalg.solve(np.linalg.cholesky(HESSIAN).T, sphere) * np.sqrt(chi2.ppf(level, 1))
    w, t = np.einsum("in,ij,jn->n", x, one, x), np.einsum("in,ij,jn->n", x, rest, x)
    shares = w / (w + t)
    assert (found.lower, found.upper) == pytest.approx((shares.min(), shares.max()), abs=2e-4)
    assert found.value == pytest.approx(centre @ one @ centre / (centre @ (one + rest) @ centre))
    assert found.level == level


def test_the_ends_of_a_pooled_share() -> None:
    """The mean of two parabolas: the best of searches along their common boundary, from many starts."""
    one, rest = FORMS["two deviations"]
    models = [parabola([0.3, 1.5, 2.0], HESSIAN, one, rest), parabola([1.0, 1.2, -2.5], 2 * HESSIAN, one, rest)]
    found = variance_share(models)
    centre = np.array([0.3, 1.5, 2.0, 1.0, 1.2, -2.5])
    root = block_diag(np.linalg.cholesky(HESSIAN), np.linalg.cholesky(2 * HESSIAN)) / np.sqrt(2)

    def share(direction: np.ndarray) -> float:
        x = centre + np.linalg.solve(root.T, direction / np.linalg.norm(direction)) * np.sqrt(chi2.ppf(0.95, 1))
        w, t = x[[1, 4]] @ x[[1, 4]], x[[2, 5]] @ x[[2, 5]]
        return float(w / (w + t))

    random = np.random.default_rng(1)
    starts = random.normal(size=(2, 6))
    assert found.lower == pytest.approx(min(minimize(share, start).fun for start in starts), abs=1e-4)
    assert found.upper == pytest.approx(-min(minimize(lambda x: -share(x), start).fun for start in starts), abs=1e-4)
    assert found.value == pytest.approx((1.5**2 + 1.2**2) / (1.5**2 + 1.2**2 + 2.0**2 + 2.5**2))


def test_how_far_the_likelihood_falls_without_a_form() -> None:
    """The least of a parabola on a subspace: what the parameters that are left cannot make good."""
    centre = np.array([0.5, 1.2, 2.0])
    model = parabola(centre.tolist(), HESSIAN, *FORMS["two deviations"])
    covariance = np.linalg.inv(HESSIAN)
    assert model.without(model.one) == pytest.approx(centre[1] ** 2 / covariance[1, 1] / 2, abs=1e-7)
    assert model.without(model.rest) == pytest.approx(centre[2] ** 2 / covariance[2, 2] / 2, abs=1e-7)
    # A form of all parameters is zero nowhere else, and the likelihood may not be known where it is.
    assert model.without(np.eye(3)) == np.inf

    def positive(x: np.ndarray, modes: object) -> Evaluated | None:
        return model.function(x, modes) if x[1] > 0 else None

    assert replace(model, function=positive).without(model.one) == np.inf
    nowhere = replace(model, function=lambda x, modes: None)
    with refuses(ValueError):
        nowhere.at  # noqa: B018


def test_end_at_zero_or_one_is_allowed_by_the_mean_likelihood() -> None:
    one, rest = FORMS["two deviations"]
    unit = np.eye(3)
    # Without its first form a model falls by half the square of its deviation.
    near, far = (parabola([0.5, np.sqrt(2 * fall), 3.0], unit, one, rest) for fall in (0.3, 3.0))
    assert variance_share([near]).lower == 0
    assert variance_share([far]).lower > 0
    assert variance_share([near, far]).lower == 0  # (0.3 + 3) / 2 < 1.92
    assert variance_share([near, far, far]).lower > 0
    back, forth = (parabola([0.5, 3.0, np.sqrt(2 * fall)], unit, one, rest) for fall in (0.3, 3.0))
    assert variance_share([back]).upper == variance_share([back, forth]).upper == 1
    assert variance_share([back, forth, forth]).upper < 1


def test_the_angle_and_the_fall_have_the_slopes_of_differences() -> None:
    one, rest = FORMS["a variance of coefficients"]
    models = [parabola([0.3, 1.5, 2.0], HESSIAN, one, rest), parabola([1.0, 1.2, -2.5], 2 * HESSIAN, one, rest)]
    search = ShareSearch(models, 1)
    x = np.array([0.4, -1.0, 2.0, 0.8, 1.5, -1.2])
    w = sum(float(part @ one @ part) for part in np.split(x, 2))
    t = sum(float(part @ rest @ part) for part in np.split(x, 2))
    angle, slope = search.angle(x)
    assert angle == pytest.approx(np.arctan(np.sqrt(w / t)))
    assert slope == pytest.approx(differences(lambda at: search.angle(at)[0], x), abs=1e-8)
    z = np.array([0.4, -1.0, 0.7, 0.8, 1.5, -1.2])
    fall, slope = search.fall(z)
    # Turned, each parabola falls by half the square of its coordinates, and the mean of both by that of all.
    assert fall == pytest.approx(z @ z / 2)
    assert slope == pytest.approx(z)
    assert search.fall(z)[0] == fall
    assert search.fall(2 * z)[0] == pytest.approx(4 * fall)


def test_search_begins_above_zero_where_deviations_grow() -> None:
    one, rest = FORMS["two deviations"]
    model = parabola([0.3, -1.5, 0.4], HESSIAN, one, rest)
    errors = np.sqrt(np.diag(np.linalg.inv(HESSIAN)))
    for sign, growing in ((1, 1), (-1, 2)):
        search = ShareSearch([model], sign)
        moved = search.turn @ search.start()
        expected = np.zeros(3)
        expected[growing] = 0.3 * errors[growing] * np.sign(model.parameters[growing])
        assert moved == pytest.approx(expected, abs=1e-12)


def test_parameters_that_are_not_allowed_are_far_below() -> None:
    model = parabola([0.3, 1.5, 2.0], HESSIAN, *FORMS["two deviations"])

    def bounded(x: np.ndarray, modes: object) -> Evaluated | None:
        at = model.function(x, modes)
        assert at is not None
        return None if x[0] > 3 else replace(at, value=np.inf) if x[0] < -3 else at  # type: ignore[type-var]

    search = ShareSearch([replace(model, function=bounded)], 1)
    for z in (np.linalg.solve(search.turn, np.array([4.0, 0, 0])), np.linalg.solve(search.turn, [-4.0, 0, 0])):
        fall, slope = search.fall(z)
        assert fall > 1e5
        assert slope @ z > 1e5  # and the way back is down


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_search_that_fails_has_no_end(sign: int) -> None:
    model = parabola([0.3, 1.5, 2.0], HESSIAN, *FORMS["two deviations"])
    assert np.isnan(ShareSearch([model], sign).end(2.0, steps=1))
    assert np.isfinite(ShareSearch([model], sign).end(2.0))
