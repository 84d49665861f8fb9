"""Agreement of raters against published values, definitions and simulated data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.models.agreement import (
    fleiss_kappa,
    icc_agreement,
    icc_consistency,
    icc_fixed_error,
    krippendorff_alpha,
    pair_agreement,
    resampled_kappa,
    variance_components,
)
from karat.models.resampling import resamples
from messages import refuses

FLEISS = np.array([
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
])  # fmt: skip
SHROUT = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=float)


def long(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The items, raters and values of the non-missing cells."""
    items, raters = np.nonzero(~np.isnan(table))
    return items, raters, table[items, raters]


def test_kappa_of_a_published_table() -> None:
    """14 raters, 10 items, 5 categories: kappa = .210 (the usual textbook example for Fleiss 1971)."""
    items, categories = np.nonzero(FLEISS)
    repeats = FLEISS[items, categories]
    assert fleiss_kappa(np.repeat(items, repeats), np.repeat(categories, repeats)) == pytest.approx(0.20993, abs=1e-5)


def test_icc_of_a_published_table() -> None:
    """Shrout and Fleiss (1979), six targets and four judges: ICC(2,1) = .29, ICC(3,1) = .71."""
    assert icc_agreement(*long(SHROUT)) == pytest.approx(0.29, abs=0.005)
    assert icc_consistency(*long(SHROUT)) == pytest.approx(0.71, abs=0.006)


def test_complete_tables_match_the_usual_mean_squares() -> None:
    table = np.random.default_rng(1).normal(size=(7, 5)) + np.arange(7)[:, None] - 0.5 * np.arange(5)
    n, k = table.shape
    rows, columns, mean = table.mean(axis=1), table.mean(axis=0), table.mean()
    msr = k * np.sum((rows - mean) ** 2) / (n - 1)
    msc = n * np.sum((columns - mean) ** 2) / (k - 1)
    mse = np.sum((table - rows[:, None] - columns + mean) ** 2) / ((n - 1) * (k - 1))
    assert icc_agreement(*long(table)) == pytest.approx((msr - mse) / (msr + (k - 1) * mse + k * (msc - mse) / n))
    assert icc_consistency(*long(table)) == pytest.approx((msr - mse) / (msr + (k - 1) * mse))


def dense(items: np.ndarray, raters: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Henderson's third method with projections on full design matrices and expectations as traces."""
    one = np.ones((len(y), 1))
    of_items, of_raters = np.eye(items.max() + 1)[items], np.eye(raters.max() + 1)[raters]

    def onto(*parts: np.ndarray) -> np.ndarray:
        matrix = np.hstack(parts)
        return matrix @ np.linalg.pinv(matrix)

    both, by_items, by_raters = onto(one, of_items, of_raters), onto(one, of_items), onto(one, of_raters)
    rest = np.eye(len(y)) - both
    error = float(y @ rest @ y / np.trace(rest))
    result = []
    for extra, factor in ((both - by_raters, of_items), (both - by_items, of_raters)):
        result.append((y @ extra @ y - np.trace(extra) * error) / np.trace(factor.T @ extra @ factor))
    return result[0], result[1], error


@given(st.integers(0, 10_000), st.floats(0.3, 0.9))
def test_missing_cells_agree_with_a_dense_computation(seed: int, share: float) -> None:
    random = np.random.default_rng(seed)
    table = random.normal(size=(9, 6)) + random.normal(size=(9, 1)) * 2
    table[random.random(table.shape) > share] = np.nan
    items, raters, values = long(table)
    items, raters = np.unique(items, return_inverse=True)[1], np.unique(raters, return_inverse=True)[1]
    if len(values) < 18:
        return
    result = variance_components(items, raters, values)
    if np.isnan(result[0]):
        return
    np.testing.assert_allclose(result, dense(items, raters, values), rtol=1e-6, atol=1e-8)
    turned = variance_components(raters, items, values)
    np.testing.assert_allclose(turned, (result[1], result[0], result[2]), rtol=1e-6, atol=1e-8)


def test_missing_cells_hardly_change_the_estimates() -> None:
    random = np.random.default_rng(4)
    table = 2 * random.normal(size=(400, 1)) + random.normal(size=(1, 60)) + random.normal(size=(400, 60))
    whole = icc_agreement(*long(table))
    table[random.random(table.shape) < 0.7] = np.nan
    assert icc_agreement(*long(table)) == pytest.approx(whole, abs=0.02)
    assert whole == pytest.approx(4 / 6, abs=0.12)


def test_kappa_with_missing_ratings() -> None:
    """Items with one rating have no pair; all others count once."""
    assert fleiss_kappa([0, 0, 1, 1, 1, 2], [0, 0, 1, 1, 1, 1]) == 1
    by_hand = ((0.0 + 1.0) / 2 - (0.25**2 + 0.75**2)) / (1 - (0.25**2 + 0.75**2))
    assert fleiss_kappa([0, 0, 1, 1, 1], [0, 1, 1, 1, 1]) == pytest.approx(by_hand)


def test_undefined_coefficients_are_nan() -> None:
    assert np.isnan(fleiss_kappa([], []))
    assert np.isnan(fleiss_kappa([0, 1], [0, 1]))
    assert np.isnan(fleiss_kappa([0, 0], [1, 1]))
    assert np.isnan(icc_agreement([0, 1], [0, 0], [1.0, 2.0]))
    with refuses(ValueError, "items", "categories"):
        fleiss_kappa([0, 1], [0])


def test_fixed_error_adds_the_logistic_variance() -> None:
    assert icc_fixed_error(1.0, 2.0, 3.0) == pytest.approx(1 / (6 + np.pi**2 / 3))


RAW = [
    [1, 1, None, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4],
    [4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [None, 5, 5, 5], [None, None, 1, 1], [None, None, 3, None],
]  # fmt: skip


def test_four_raters_of_gwets_example() -> None:
    """The data of Krippendorff (2004) and Gwet (2014); irrCAC gives the coefficients .76282 and .77544."""
    rows = [(i, g, value) for i, row in enumerate(RAW) for g, value in enumerate(row) if value is not None]
    item, rater, category = zip(*rows, strict=True)
    assert pair_agreement(item, rater, category)[0] == pytest.approx(0.76282, abs=1e-5)
    assert pair_agreement(item, rater, category, "gwet")[0] == pytest.approx(0.77544, abs=1e-5)


def test_two_raters_against_their_contingency_table() -> None:
    random = np.random.default_rng(4)
    first = random.integers(0, 4, 60)
    second = np.clip(first + random.integers(-1, 2, 60), 0, 3)
    table = np.zeros((4, 4))
    np.add.at(table, (first, second), 1 / 60)
    chance = np.outer(table.sum(axis=1), table.sum(axis=0))
    apart = (np.arange(4)[:, None] - np.arange(4)) ** 2
    item, rater, category = [*range(60)] * 2, [0] * 60 + [1] * 60, [*first, *second]
    plain, weighted = (pair_agreement(item, rater, category, quadratic=one)[0] for one in (False, True))
    assert plain == pytest.approx((np.trace(table) - np.trace(chance)) / (1 - np.trace(chance)))
    assert weighted == pytest.approx(1 - (apart * table).sum() / (apart * chance).sum())


def test_copies_of_a_rater_are_not_compared() -> None:
    item, rater, category = [0, 1, 2] * 3, [0] * 3 + [1] * 3 + [2] * 3, [0, 1, 1, 0, 1, 0, 1, 1, 0]
    drawn = np.array([[1.0, 2.0], [1.0, 0.0], [1.0, 1.0]])
    result = pair_agreement(item, rater, category, weights=drawn)
    only = pair_agreement(item[:3] + item[6:], [0] * 3 + [1] * 3, category[:3] + category[6:])
    assert result[0] == pytest.approx(pair_agreement(item, rater, category)[0])
    assert result[1] == pytest.approx(only[0])


PUBLISHED = [
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
]
Ratings = tuple[np.ndarray, np.ndarray, np.ndarray]


def ratings(rows: list[str]) -> Ratings:
    cells = [(item, rater, int(cell)) for rater, row in enumerate(rows) for item, cell in enumerate(row.split())
             if cell != "."]  # fmt: skip
    items, raters, values = (np.array(column) for column in zip(*cells, strict=True))
    return items, raters, values


@pytest.mark.parametrize(("level", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_the_published_example(level: str, value: float) -> None:
    """Four observers, twelve units, some missing: Krippendorff (2011), Computing Krippendorff's alpha-reliability."""
    assert krippendorff_alpha(*ratings(PUBLISHED), level)[0] == pytest.approx(value, abs=5e-4)


def slow_alpha(items: np.ndarray, raters: np.ndarray, values: np.ndarray, level: str) -> float:
    """Alpha by definition, pair by pair."""
    kept = [np.flatnonzero(items == item) for item in np.unique(items)]
    kept = [rows for rows in kept if len(rows) > 1]
    used = np.concatenate(kept) if kept else np.array([], dtype=int)
    levels, counts = np.unique(values[used], return_counts=True)

    def difference(a: float, b: float) -> float:
        if level == "nominal":
            return float(a != b)
        if level == "interval":
            return float((a - b) ** 2)
        low, high = min(a, b), max(a, b)
        between = counts[(levels >= low) & (levels <= high)].sum()
        return float((between - (counts[levels == a][0] + counts[levels == b][0]) / 2) ** 2)

    n = len(used)
    observed = sum(
        difference(values[a], values[b]) / (len(rows) - 1) for rows in kept for a in rows for b in rows if a != b
    )
    expected = sum(difference(values[a], values[b]) for a in used for b in used if a != b)
    return 1 - (observed / n) / (expected / (n * (n - 1))) if expected else float("nan")


def table(seed: int, share: float) -> Ratings:
    random = np.random.default_rng(seed)
    cells = np.clip(np.round(random.normal(2, 1, (8, 1)) + random.normal(0, 1, (8, 5))), 0, 4)
    items, raters = np.nonzero(random.random(cells.shape) < share)
    return items, raters, cells[items, raters]


@given(st.integers(0, 10_000), st.floats(0.3, 1.0), st.sampled_from(["nominal", "ordinal", "interval"]))
def test_alpha_is_its_definition(seed: int, share: float, level: str) -> None:
    items, raters, values = table(seed, share)
    if len(items):
        result = krippendorff_alpha(items, raters, values, level)[0]
        np.testing.assert_allclose(result, slow_alpha(items, raters, values, level), rtol=1e-9, atol=1e-12)


def copied(items: np.ndarray, raters: np.ndarray, values: np.ndarray, times: np.ndarray) -> list[np.ndarray]:
    """The ratings with copies of each rater according to weight; the fourth array is the rater of each copy."""
    chosen = np.repeat(np.arange(len(items)), times[raters].astype(int))
    return [items[chosen], values[chosen], raters[chosen]]


@given(st.integers(0, 10_000))
def test_weights_are_copies_that_are_not_compared(seed: int) -> None:
    items, raters, values = table(seed, 0.8)
    weights = resamples(int(raters.max()) + 1, 4, seed)
    for level in ("nominal", "interval"):
        result = krippendorff_alpha(items, raters, values, level, weights)
        for column, times in enumerate(weights.T):
            item, value, who = copied(items, raters, values, times)
            np.testing.assert_allclose(result[column], apart(item, value, who, level), rtol=1e-9, atol=1e-9)


def apart(item: np.ndarray, value: np.ndarray, who: np.ndarray, level: str) -> float:
    """Alpha over pairs of different raters only."""
    squared = (value[:, None] - value) ** 2 if level == "interval" else (value[:, None] != value).astype(float)
    other = (who[:, None] != who) & (item[:, None] == item)
    used = other.any(axis=1)
    if not used.any():
        return float("nan")
    per_item = {one: (item == one).sum() / other[item == one].sum() for one in np.unique(item[used])}
    factor = np.array([per_item.get(one, 0.0) for one in item])
    observed = (squared * other * factor[:, None]).sum() / used.sum()
    own = np.array([((who == who[row]) & (item == item[row])).sum() for row in range(len(item))])
    expected = squared[np.ix_(used, used)].sum() / (used.sum() ** 2 - own[used].sum())
    return float(1 - observed / expected) if expected > 0 else float("nan")


@given(st.integers(0, 10_000), st.floats(0.4, 1.0))
def test_resampled_kappa_with_weights_of_one_is_kappa(seed: int, share: float) -> None:
    items, raters, values = table(seed, share)
    if len(items):
        result = resampled_kappa(items, raters, values, np.ones((int(raters.max()) + 1, 2)))
        expected = fleiss_kappa(np.unique(items, return_inverse=True)[1], values)
        np.testing.assert_allclose(result, [expected, expected], rtol=1e-9, atol=1e-12)


def test_copies_do_not_inflate_agreement() -> None:
    """For random answers the mean over samples is about 0; pairs of copies would make it clearly positive."""
    random = np.random.default_rng(1)
    items, raters = np.repeat(np.arange(200), 8), np.tile(np.arange(8), 200)
    values = random.integers(0, 2, len(items))
    weights = resamples(8, 200, 1)
    assert abs(resampled_kappa(items, raters, values, weights).mean()) < 0.02
    assert abs(krippendorff_alpha(items, raters, values, "nominal", weights).mean()) < 0.02


def test_samples_do_not_depend_on_the_batch_size() -> None:
    items, raters, values = table(3, 0.9)
    weights = resamples(5, 7, 1)
    whole = krippendorff_alpha(items, raters, values, "ordinal", weights)
    apart = krippendorff_alpha(items, raters, values, "ordinal", weights, cells=1)
    np.testing.assert_array_equal(apart, whole)


def test_undefined_alpha_is_nan() -> None:
    for level in ("nominal", "ordinal", "interval"):
        assert np.isnan(krippendorff_alpha([], [], [], level))
        assert np.isnan(krippendorff_alpha([0, 1], [0, 0], [1, 2], level))
        assert np.isnan(krippendorff_alpha([0, 0, 1, 1], [0, 1, 0, 1], [2, 2, 2, 2], level))
        assert krippendorff_alpha([0, 0, 1, 1], [0, 1, 0, 1], [1, 1, 2, 2], level)[0] == 1
