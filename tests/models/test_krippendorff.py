"""Krippendorff's alpha and resampled kappa beside published values and sums over all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.models.agreement import fleiss_kappa, krippendorff_alpha, resampled_kappa
from karat.models.resampling import resamples

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
    """The definition, pair by pair."""
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
        found = krippendorff_alpha(items, raters, values, level)[0]
        np.testing.assert_allclose(found, slow_alpha(items, raters, values, level), rtol=1e-9, atol=1e-12)


def copied(items: np.ndarray, raters: np.ndarray, values: np.ndarray, times: np.ndarray) -> list[np.ndarray]:
    """The ratings with each rater as often as they count; the fourth column says which rater a copy is of."""
    chosen = np.repeat(np.arange(len(items)), times[raters].astype(int))
    return [items[chosen], values[chosen], raters[chosen]]


@given(st.integers(0, 10_000))
def test_weights_are_uncompared_copies(seed: int) -> None:
    items, raters, values = table(seed, 0.8)
    weights = resamples(int(raters.max()) + 1, 4, seed)
    for level in ("nominal", "interval"):
        found = krippendorff_alpha(items, raters, values, level, weights)
        for column, times in enumerate(weights.T):
            item, value, who = copied(items, raters, values, times)
            np.testing.assert_allclose(found[column], apart(item, value, who, level), rtol=1e-9, atol=1e-9)


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
def test_resampled_kappa_with_everybody_once_is_kappa(seed: int, share: float) -> None:
    items, raters, values = table(seed, share)
    if len(items):
        found = resampled_kappa(items, raters, values, np.ones((int(raters.max()) + 1, 2)))
        expected = fleiss_kappa(np.unique(items, return_inverse=True)[1], values)
        np.testing.assert_allclose(found, [expected, expected], rtol=1e-9, atol=1e-12)


def test_copies_do_not_make_agreement() -> None:
    """With answers by chance, samples have a mean of about 0; pairs of copies would make it clearly positive."""
    random = np.random.default_rng(1)
    items, raters = np.repeat(np.arange(200), 8), np.tile(np.arange(8), 200)
    values = random.integers(0, 2, len(items))
    weights = resamples(8, 200, 1)
    assert abs(resampled_kappa(items, raters, values, weights).mean()) < 0.02
    assert abs(krippendorff_alpha(items, raters, values, "nominal", weights).mean()) < 0.02


def test_samples_do_not_depend_on_how_many_are_computed_at_once() -> None:
    items, raters, values = table(3, 0.9)
    weights = resamples(5, 7, 1)
    whole = krippendorff_alpha(items, raters, values, "ordinal", weights)
    apart = krippendorff_alpha(items, raters, values, "ordinal", weights, cells=1)
    np.testing.assert_array_equal(apart, whole)


def test_nothing_to_compare_is_missing() -> None:
    for level in ("nominal", "ordinal", "interval"):
        assert np.isnan(krippendorff_alpha([], [], [], level))
        assert np.isnan(krippendorff_alpha([0, 1], [0, 0], [1, 2], level))
        assert np.isnan(krippendorff_alpha([0, 0, 1, 1], [0, 1, 0, 1], [2, 2, 2, 2], level))
        assert krippendorff_alpha([0, 0, 1, 1], [0, 1, 0, 1], [1, 1, 2, 2], level)[0] == 1
