"""Overall ratings and features of texts beside scipy."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from karat.measure import MeasureError, feature_correlations, overall_regression, text_features
from karat.messages import Message
from messages import codes, raises


def texts() -> pl.DataFrame:
    random = np.random.default_rng(3)
    clarity, flow = random.standard_normal((2, 40))
    overall = 2 * clarity + 0.5 * flow + random.standard_normal(40)
    return pl.DataFrame({"overall": overall, "clarity": clarity, "flow": flow, "words": random.integers(3, 40, 40)})


def test_the_dimension_that_matters_comes_first() -> None:
    found = overall_regression(texts(), "overall", ["flow", "clarity"])
    assert found.table()["dimension"].to_list() == ["clarity", "flow"]
    assert codes(found.summary) == ["overall_regression.explained", "overall_regression.largest"]
    assert found.summary[1].values["dimension"] == "clarity"
    assert found.model.left_out_r2 < found.r2
    assert found.observations == 40


def test_texts_with_a_gap_are_left_out_and_reported() -> None:
    gaps = texts().with_columns(pl.when(pl.int_range(40) < 4).then(None).otherwise("overall").alias("overall"))
    found = overall_regression(gaps, "overall", ["clarity"])
    assert found.observations == 36
    assert found.notes == (Message("dimension_links.missing_values", {"n": 4}),)


def test_dimensions_that_overlap_are_reported() -> None:
    near = texts().with_columns(twin=pl.col("clarity") + 0.01 * pl.col("flow"))
    found = overall_regression(near.with_columns(pl.col("twin") + 0.1 * pl.col("words") / 40), "overall",
                               ["clarity", "twin"])  # fmt: skip
    assert found.notes == (Message("overall_regression.inflated", {"dimensions": ["clarity", "twin"], "times": 10}),)


def test_correlations_beside_scipy() -> None:
    found = feature_correlations(texts(), ["clarity", "flow"], ["words", "overall"])
    for row in found.frame.to_dicts():
        x, y = (texts()[row[name]].to_numpy() for name in ("dimension", "feature"))
        pearson = stats.pearsonr(x, y)
        assert (row["pearson"], row["p_value"]) == pytest.approx((pearson.statistic, pearson.pvalue))
        assert (row["lower"], row["upper"]) == pytest.approx(tuple(pearson.confidence_interval()))
        assert row["spearman"] == pytest.approx(stats.spearmanr(x, y).statistic)
    assert found.table()["feature"][0] == "overall"
    strongest = found.summary[1].values
    assert (strongest["dimension"], strongest["feature"]) == ("clarity", "overall")


def test_constant_feature_is_not_among_the_tests() -> None:
    alone = feature_correlations(texts(), ["clarity"], ["overall", "words"])
    with_constant = feature_correlations(
        texts().with_columns(always=pl.lit(1.0)), ["clarity"], ["overall", "words", "always"]
    )
    assert with_constant.frame["adjusted"][:2].to_list() == pytest.approx(alone.frame["adjusted"].to_list())
    assert np.isnan(with_constant.frame["adjusted"][2])


def test_a_feature_that_does_not_vary_has_no_correlation() -> None:
    found = feature_correlations({"clarity": [1.0, 2, 3, 4], "words": [5, 5, 5, 5]}, ["clarity"], ["words"])
    assert np.isnan(found.frame["pearson"][0])
    assert codes(found.summary) == ["feature_correlations.clear"]


def test_what_cannot_be_asked_for() -> None:
    with raises(MeasureError, "unknown.column"):
        overall_regression(texts(), "overall", ["clearness"])
    with raises(MeasureError, "overall_regression.too_few_texts"):
        overall_regression(texts().head(3), "overall", ["clarity", "flow"])
    with raises(MeasureError, "dimension_links.repeated_column"):
        overall_regression(texts(), "overall", ["clarity", "clarity"])
    with raises(MeasureError, "overall_regression.dependent"):
        overall_regression(texts().with_columns(same=2 * pl.col("clarity")), "overall", ["clarity", "same"])
    with raises(MeasureError, "feature_correlations.too_few_texts"):
        feature_correlations(texts().head(3), ["clarity"], ["words"])
    with raises(MeasureError, "dimension_links.no_numbers"):
        feature_correlations({"a": ["x"] * 4, "b": [1, 2, 3, 4]}, ["a"], ["b"])


@pytest.mark.parametrize(
    ("text", "words", "sentences"),
    [
        ("One sentence without an end", 5, 1), ("Two. Of them.", 3, 2), ("Wait... what?!", 2, 2),
        ("“No.” Then he left.", 4, 2), ("It's a well-known fact.", 4, 1),
        ("Über Öl redet man nicht", 5, 1), ("...", 0, 0), ("  ", 0, 0),
    ],
)  # fmt: skip
def test_words_and_sentences_are_counted(text: str, words: int, sentences: int) -> None:
    assert text_features([text]).select("words", "sentences").row(0) == (words, sentences)


def test_readability_is_lix() -> None:
    # Ten words, two sentences, three words of more than six letters.
    text = "The unusual weather surprised us all. We went home again."
    assert text_features([text])["lix"].to_list() == [10 / 2 + 100 * 3 / 10]


def test_a_missing_text_has_no_features() -> None:
    assert text_features([None, "A word."]).row(0) == (None,) * 6
