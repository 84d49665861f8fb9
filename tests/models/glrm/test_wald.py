"""Type III tests do not depend on names or order; nested models are told from others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from karat.models.glrm.model import fit
from karat.models.glrm.wald import compare, type_three
from models.glrm.written_cases import GROUPS, study


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    return study()


@pytest.mark.parametrize("family", ["binary", "ordinal", "gaussian"])
def test_the_order_of_levels_does_not_matter(data: dict[str, Any], family: Any) -> None:
    response = {"binary": "yes", "ordinal": "rating", "gaussian": "time"}[family]
    formula = f"{response} ~ condition * group + size + {GROUPS}"
    one = type_three(fit(formula, data, family))
    other = type_three(fit(formula, data, family, levels={"condition": ["c", "a", "b"], "group": ["young", "old"]}))
    np.testing.assert_allclose(one.statistic, other.statistic, rtol=2e-4)
    assert one.df.tolist() == [2, 1, 1, 2]


def test_a_term_of_one_column_is_the_square_of_z(data: dict[str, Any]) -> None:
    model = fit(f"yes ~ size + group + {GROUPS}", data)
    tests = type_three(model)
    np.testing.assert_allclose(tests.statistic, model.table()["z"][1:] ** 2)
    np.testing.assert_allclose(tests.p, model.table()["p"][1:])
    assert list(tests.table()) == ["term", "chisq", "df", "p"]
    assert "X²(1)" in str(tests)


def test_with_treatments_main_effects_are_simple_effects_and_said_so(data: dict[str, Any]) -> None:
    formula = f"time ~ condition * group + {GROUPS}"
    treated = fit(formula, data, "gaussian", coding="treatment")
    tests = type_three(treated, "chisq")
    assert "Warning" in str(tests)
    assert tests.statistic[1] == pytest.approx(treated.table()["t"][3] ** 2)
    summed = type_three(fit(formula, data, "gaussian"), "chisq")
    assert summed.statistic[2] == pytest.approx(tests.statistic[2], rel=1e-4)
    assert summed.statistic[1] != pytest.approx(tests.statistic[1], rel=0.05)
    assert "Warning" not in str(summed)
    assert "Warning" not in str(type_three(fit(f"time ~ condition + {GROUPS}", data, "gaussian", coding="treatment")))


def test_cautions(data: dict[str, Any]) -> None:
    assert "size are tested where it is 0" in str(type_three(fit(f"yes ~ size * group + {GROUPS}", data)))
    some = ~((data["condition"] == "a") & (data["group"] == "old"))
    fewer = {name: column[some] for name, column in data.items()}
    assert "read the tests with care" in str(type_three(fit(f"yes ~ condition * group + {GROUPS}", fewer)))
    with pytest.raises(ValueError, match="measured answers"):
        type_three(fit(f"yes ~ group + {GROUPS}", data), "F")


def test_a_ratio_is_near_a_wald_test_and_any_order_will_do(data: dict[str, Any]) -> None:
    small, large = fit(f"yes ~ group + {GROUPS}", data), fit(f"yes ~ group + size + {GROUPS}", data)
    result = compare(small, large)
    assert result.statistic == pytest.approx(type_three(large).statistic[1], rel=0.2)
    assert compare(large, small) == result
    assert result.aic[0] - result.aic[1] == pytest.approx(result.statistic - 2)
    assert str(result).startswith("X²(1) = ")


def test_a_variance_at_zero_is_told(data: dict[str, Any]) -> None:
    one = fit("time ~ 1 + (1 | participant)", data, "gaussian")
    both = fit(f"time ~ 1 + {GROUPS}", data, "gaussian")
    told = str(compare(one, both))
    assert "the true p is smaller" in told
    assert "REML" in told


def test_what_cannot_be_compared(data: dict[str, Any]) -> None:
    binary, size = fit(f"yes ~ group + {GROUPS}", data), fit(f"yes ~ size + condition + {GROUPS}", data)
    with pytest.raises(ValueError, match="is not nested in"):
        compare(binary, size)
    with pytest.raises(ValueError, match="different answers"):
        compare(binary, fit(f"yes ~ group + size + {GROUPS}", {name: column[:-5] for name, column in data.items()}))
    with pytest.raises(ValueError, match="equally many parameters"):
        compare(binary, fit(f"yes ~ size + {GROUPS}", data))
    with pytest.raises(ValueError, match="different families"):
        compare(binary, fit(f"time ~ group + {GROUPS}", data, "gaussian"))
    reml = fit(f"time ~ group + {GROUPS}", data, "gaussian")
    with pytest.raises(
        ValueError,
        match=r"^REML criteria of models with different fixed effects cannot be compared; fit with reml=False",
    ):
        compare(reml, fit(f"time ~ group + size + {GROUPS}", data, "gaussian"))
    with pytest.raises(ValueError, match="by REML and the other was not"):
        compare(reml, fit(f"time ~ group + size + {GROUPS}", data, "gaussian", reml=False))
    with pytest.raises(ValueError, match="is not nested in"):
        compare(
            fit("time ~ 1 + (1 | item)", data, "gaussian"), fit("time ~ 1 + (1 + size | participant)", data, "gaussian")
        )


def test_what_the_tests_print(data: dict[str, Any]) -> None:
    measured = type_three(fit(f"time ~ group + size + {GROUPS}", data, "gaussian"))
    assert list(measured.table()) == ["term", "F", "df", "denominator", "p"]
    first, *rows = str(measured).splitlines()
    assert first == "Type III tests of the terms."
    for row, term, value, below in zip(rows, ("group", "size"), measured.statistic, measured.denominator, strict=True):
        assert row.startswith(f"  {term}: F(1, {below:.1f}) = {value:.2f}, p ")
    weight = np.random.default_rng(2).normal(size=len(data["size"]))
    crossed = type_three(fit(f"yes ~ size * weight + {GROUPS}", data | {"weight": weight}))
    assert crossed.notes == ("Terms that interact with size and weight are tested where it is 0.",)


def test_correlated_effects_are_not_nested_in_independent_ones(data: dict[str, Any]) -> None:
    correlated = fit("time ~ 1 + (1 + size | participant)", data, "gaussian")
    independent = fit("time ~ 1 + (1 + size || participant)", data, "gaussian")
    assert compare(independent, correlated).df == 1
    more = fit("time ~ 1 + (1 + condition + size || participant) + (1 | item)", data, "gaussian")
    with pytest.raises(ValueError, match=r"\(1 \+ size \| participant\)\" is not nested in"):
        compare(correlated, more)
