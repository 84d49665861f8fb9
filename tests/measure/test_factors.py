"""Factor solutions: numbers beside their definitions, how many factors, intervals by resampling, and notes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from karat.measure import Factors, MeasureError, factor_intervals, factors, number_of_factors, ratings_matrix
from karat.measure.dimensions.factors import solution_notes
from karat.messages import Message
from karat.models.factors import Extraction, Rotation
from measure.differential import PAIRS, differential
from messages import codes, raises

ONE = [[1, 0.6, 0.5, 0.4], [0.6, 1, 0.5, 0.4], [0.5, 0.5, 1, 0.3], [0.4, 0.4, 0.3, 1]]


@pytest.fixture(scope="module")
def found() -> Factors:
    return factors(ratings_matrix(differential(people=150)), 2)


@pytest.mark.slow
def test_the_dimensions_are_found(found: Factors) -> None:
    assert found.converged
    sides = dict(found.frame.select("pair", "factor").iter_rows())
    assert sides["clear"] == sides["precise"] == sides["complete"]
    assert sides["simple"] == sides["direct"] == sides["short"] != sides["clear"]
    assert 0.1 < found.correlations[0, 1] < 0.6
    np.testing.assert_allclose(found.communalities, 1 - found.uniquenesses)
    model = found.loadings @ found.correlations @ found.loadings.T + np.diag(found.uniquenesses)
    np.testing.assert_allclose(model, found.source.matrix, atol=0.05)
    assert found.dof == 4


def test_sums_of_squares_are_the_communalities_divided(found: Factors) -> None:
    for column in ("unrotated", "rotated"):
        assert found.explained[column].sum() == pytest.approx(found.communalities.sum())
        assert found.explained[f"{column}_percent"].sum() == pytest.approx(100 * found.communalities.mean())


def test_the_table_has_pairs_of_a_factor_together(found: Factors) -> None:
    order = found.table()["factor"].to_list()
    assert order == sorted(order)
    assert set(found.table()["pair"]) == set(PAIRS)


def test_scores_are_standard_and_follow_their_pairs(found: Factors) -> None:
    scores = found.scores()
    assert scores.columns == ["participant", "item", "F1", "F2"]
    first = found.frame.filter(pl.col("factor") == "F1")["pair"].to_list()
    assert found.source.values is not None
    sums = found.source.values[:, [found.pairs.index(pair) for pair in first]].sum(axis=1)
    assert np.corrcoef(scores["F1"].to_numpy(), sums)[0, 1] > 0.95
    assert scores["F1"].mean() == pytest.approx(0, abs=1e-9)
    assert 0.7 < float(np.std(scores["F1"].to_numpy())) < 1
    assert float(np.std(found.scores("bartlett")["F1"].to_numpy())) > 1


def test_names(found: Factors) -> None:
    named = found.named("precision", "complexity")
    assert named.scores().columns[2:] == ["precision", "complexity"]
    assert named.explained["factor"].to_list() == ["precision", "complexity"]
    assert set(named.frame["factor"]) == {"precision", "complexity"}
    with raises(MeasureError, "factors.names"):
        found.named("precision")


@pytest.mark.slow
def test_minimum_residuals_find_the_same_structure(found: Factors) -> None:
    matrix = ratings_matrix(differential(people=150))
    for method, rotation in (("minres", "promax"), ("ml", "oblimin"), ("ml", "varimax")):
        other = factors(matrix, 2, method, rotation)  # type: ignore[arg-type]
        assert other.frame["factor"].to_list() == found.frame["factor"].to_list()
    assert np.array_equal(factors(matrix, 2, rotation="varimax").correlations, np.eye(2))


def test_it_prints_itself(found: Factors) -> None:
    explained, fit = found.summary
    assert (explained.code, explained.values["n"], explained.values["pairs"]) == ("factors.explained", 2, 6)
    assert (fit.code, fit.values["dof"], fit.values["chi2"]) == ("factors.fit", 4, found.chi2)
    assert found.notes
    assert str(found) == "\n".join([f"{explained!s} {fit!s}", *(f"Note: {note!s}" for note in found.notes)])
    full = factors(np.array(ONE)[:3, :3], 1, observations=99)
    assert codes(full.summary) == ["factors.explained", "factors.no_test"]
    assert "factors.no_degrees_of_freedom" in codes(full.notes)


@pytest.mark.parametrize(
    ("settings", "code", "values"),
    [
        ({"n": 2}, "factors.number", {"pairs": 4, "most": 1, "n": 2}),
        ({"n": 0}, "factors.number", {"pairs": 4, "most": 1, "n": 0}),
        ({"method": "paf"}, "setting.refused", {"setting": "method"}),
        ({"rotation": "quartimax"}, "setting.refused", {"setting": "rotation"}),
        ({"rotation": "oblimin", "kaiser": "spss"}, "factors.kaiser",
         {"known": ["none", "all"], "rotation": "oblimin", "kaiser": "spss"}),
        ({"start": "random"}, "setting.refused", {"setting": "start"}),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_for(settings: dict[str, object], code: str, values: dict[str, object]) -> None:
    with raises(MeasureError, code, **values):
        factors(ONE, **({"n": 1, "observations": 200} | settings))  # type: ignore[arg-type]


def test_two_pairs_have_no_factor() -> None:
    with raises(MeasureError, "factors.too_few_pairs"):
        factors(np.array(ONE)[:2, :2], 1, observations=200)


def test_scores_need_ratings() -> None:
    with raises(MeasureError, "factors.no_ratings"):
        factors(ONE, 1, observations=200).scores()
    with raises(MeasureError, "setting.refused", setting="method"):
        factors(ratings_matrix(differential(people=20)), 1).scores("mean")  # type: ignore[arg-type]


def test_few_cases_are_reported() -> None:
    assert Message("factors.few_cases", {"cases": 19, "pairs": 4}) in factors(ONE, 1, observations=19).notes


def test_two_dimensions_are_counted() -> None:
    found = number_of_factors(ratings_matrix(differential(people=100)), draws=20)
    assert found.number("parallel analysis (factors)") == 2
    assert found.number("parallel analysis (components)") == 2
    assert found.number("MAP") == 2
    (message,) = found.summary
    numbers = found.rules["number"].to_list()
    assert message.code == ("number_of_factors.agreed" if len(set(numbers)) == 1 else "number_of_factors.range")
    assert len(message.values["rules"]) == found.rules.height
    assert found.eigenvalues["component"].sum() == pytest.approx(6)
    # After two components least is left: the averages stand in the row of their number.
    assert found.eigenvalues["map"].fill_nan(None).arg_min() == 1
    with raises(MeasureError, "setting.refused", setting="rule"):
        found.number("Kaiser")


def test_the_scree_is_drawn_with_what_random_data_reach() -> None:
    axes = number_of_factors(ratings_matrix(differential()), draws=5).plot().axes[0]
    assert len(axes.lines) == 4
    assert [text.get_text() for text in axes.texts] == ["components", "factors"]


def test_polychoric_correlations() -> None:
    found = number_of_factors(ratings_matrix(differential(people=80)), "polychoric", draws=5)
    assert found.number("parallel analysis (components)") == 2


def test_number_of_factors_what_cannot_be_asked_for() -> None:
    matrix = ratings_matrix(differential(people=20))
    with raises(MeasureError, "setting.refused"):
        number_of_factors(matrix, draws=0)
    with raises(MeasureError, "number_of_factors.too_few_pairs"):
        number_of_factors(matrix.only(["clear", "simple"]))


@pytest.mark.slow
def test_intervals_hold_estimates_and_factors_are_stable() -> None:
    found = factors(ratings_matrix(differential()), 2)
    intervals = factor_intervals(found, draws=40)
    table = intervals.table()
    assert table.height == 12
    assert (table["lower"] < table["upper"]).all()
    inside = ((table["lower"] <= table["loading"]) & (table["loading"] <= table["upper"])).to_numpy()
    assert inside.mean() > 0.9
    assert (intervals.congruence["congruence"].to_numpy() > 0.95).all()
    assert intervals.correlations.height == 1
    assert intervals.settings["participants"] == 60
    assert intervals.notes == ()


def test_the_same_seed_gives_the_same_intervals() -> None:
    found = factors(ratings_matrix(differential(people=30)), 2)
    first, second, other = (factor_intervals(found, draws=5, seed=seed).table() for seed in (1, 1, 2))
    assert first.equals(second)
    assert not first.equals(other)


@pytest.mark.slow
def test_participants_with_many_equal_cases_widen_the_intervals() -> None:
    """Each case copied five times: as rows they look like five times the data, as participants like what they are."""
    values = np.random.default_rng(1).standard_normal((40, 1)) + np.random.default_rng(2).standard_normal((40, 4))
    rows = [(f"p{n}", f"t{copy}", *row) for n, row in enumerate(values) for copy in range(5)]
    matrix = ratings_matrix(differential(people=5))
    frame = pl.DataFrame(rows, schema=["participant", "item", *"abcd"], orient="row")
    whole = type(matrix)(frame, tuple("abcd"), "case", 40)
    people = factor_intervals(factors(whole, 1), draws=60).table()
    cases = factor_intervals(factors(frame.select(*"abcd"), 1), draws=60)
    width = (people["upper"] - people["lower"]).to_numpy().mean()
    narrow = (cases.table()["upper"] - cases.table()["lower"]).to_numpy().mean()
    assert width > 1.5 * narrow
    assert cases.notes[0].code == "factor_intervals.no_participants"


def test_a_factor_that_is_not_there_is_reported() -> None:
    noise = pl.DataFrame(np.random.default_rng(3).standard_normal((60, 6)), schema=list("abcdef"))
    notes = factor_intervals(factors(noise, 2), draws=20).notes
    assert "factor_intervals.unstable" in codes(notes)


def test_factor_intervals_what_cannot_be_asked_for() -> None:
    one = [[1, 0.6, 0.5, 0.4], [0.6, 1, 0.5, 0.4], [0.5, 0.5, 1, 0.3], [0.4, 0.4, 0.3, 1]]
    with raises(MeasureError, "factor_intervals.no_ratings"):
        factor_intervals(factors(one, 1, observations=100))
    with raises(MeasureError, "setting.refused"):
        factor_intervals(factors(ratings_matrix(differential(people=20)), 1), draws=1)


FACTOR_NOTES_PAIRS = ("a", "b", "c", "d", "e", "f")
CLEAN = np.array([[0.8, 0], [0.8, 0], [0.8, 0], [0, 0.8], [0, 0.8], [0, 0.8]])
EXTRACTION = Extraction(CLEAN, np.full(6, 0.36), 0.1, 1e-9, True, 0.1)


def notes(extraction: Extraction = EXTRACTION, loadings: np.ndarray = CLEAN, r: float = 0.3,
          exact: np.ndarray | None = None) -> list[Message]:  # fmt: skip
    phi = np.array([[1, r], [r, 1]])
    carried_on = Rotation(loadings if exact is None else exact, phi)
    return solution_notes(FACTOR_NOTES_PAIRS, ("F1", "F2"), extraction, Rotation(loadings, phi), carried_on)


def test_a_clean_solution_has_none() -> None:
    assert notes() == []


def test_heywood_cases() -> None:
    uniquenesses = np.array([0.005, 0.3, 0.3, 0.3, 0.005, 0.3])
    (note,) = notes(replace(EXTRACTION, uniquenesses=uniquenesses))
    assert note == Message("factors.heywood", {"pairs": ["a", "e"], "n": 2, "uniqueness": 0.005})


def test_factors_of_few_pairs() -> None:
    few = np.array([[0.8, 0], [0.8, 0], [0.8, 0], [0.6, 0.2], [0, 0.8], [0.3, 0.3]])
    (note,) = notes(loadings=few)
    assert note == Message("factors.few_pairs", {"factor": "F2", "pairs": ["e"]})
    (note,) = notes(loadings=np.column_stack([np.full(6, 0.8), np.zeros(6)]))
    assert note == Message("factors.no_pair", {"factor": "F2"})


@pytest.mark.parametrize(
    ("r", "code"), [(0.79, None), (0.82, "factors.discriminant_validity"), (-0.9, "factors.not_distinct")]
)
def test_discriminant_validity(r: float, code: str | None) -> None:
    found = notes(r=r)
    assert codes(found) == ([] if code is None else [code])
    for note in found:
        assert (note.values["first"], note.values["second"], note.values["r"]) == ("F1", "F2", r)


def test_the_variance_that_factors_share_is_said() -> None:
    (note,) = notes(r=0.82)
    assert note.values["shared"] == pytest.approx(0.82**2)
    assert note.values["weak"] == ["F1", "F2"]


def test_searches_that_did_not_arrive_or_are_not_the_best() -> None:
    not_converged = Message("factors.extraction_not_converged", {"gradient": 1e-9})
    assert notes(replace(EXTRACTION, converged=False)) == [not_converged]
    better = Message("factors.better_start", {"lowest": 0.05, "objective": 0.1})
    assert notes(replace(EXTRACTION, lowest=0.05)) == [better]
    (note,) = notes(exact=CLEAN + 0.05)
    assert (note.code, note.values["moved"]) == ("factors.varimax_stopped", pytest.approx(0.05))
