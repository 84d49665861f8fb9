"""Background variables: what is compared, how numbers are cut, and that nobody is lost."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.screen.compare.composition import background
from messages import codes, refuses

CELLS = st.one_of(
    st.lists(st.one_of(st.none(), st.sampled_from(["de", "fr", "", " ", "not known"])), min_size=1, max_size=60),
    st.lists(st.one_of(st.none(), st.booleans()), min_size=1, max_size=60),
    st.lists(st.one_of(st.none(), st.integers(-3, 99)), min_size=1, max_size=60),
    st.lists(st.one_of(st.none(), st.floats(allow_nan=True, width=32)), min_size=1, max_size=60),
)


@given(CELLS)
def test_the_groups_of_a_variable_are_everybody_once(values: list[object]) -> None:
    people = pl.DataFrame({"participant": [f"p{n}" for n in range(len(values))], "x": values}, strict=False)
    ((variable,), _) = background(people, ["x"])
    assert (np.sum(list(variable.groups.values()), axis=0) == 1).all()
    assert all(group.any() for group in variable.groups.values())


def test_ages_are_cut_at_quartiles_and_labels_say_who_is_in() -> None:
    ages = [*range(20, 60), None]
    people = pl.DataFrame({"participant": [f"p{n}" for n in range(41)], "age": ages})
    ((variable,), _) = background(people, ["age"])
    sizes = {group: int(mask.sum()) for group, mask in variable.groups.items()}
    assert sizes == {"under 30": 10, "30 to under 40": 10, "40 to under 50": 10, "50 and over": 10, "not known": 1}


def test_few_numbers_are_groups_and_fewer_people_make_tertiles() -> None:
    people = pl.DataFrame({"participant": list("abcdef"), "n": [1, 2, 3, 1, 2, 3], "age": [20, 30, 40, 50, 60, 70]})
    variables, _ = background(people, ["n", "age"])
    assert [list(one.groups) for one in variables] == [["1", "2", "3"], ["under 40", "40 to under 60", "60 and over"]]


def test_what_cannot_be_compared_is_left_out_with_a_note() -> None:
    n = 30
    people = pl.DataFrame({
        "participant": [f"p{i}" for i in range(n)], "study_id": ["s", "t"] * 15, "started": [datetime.now(UTC)] * n,
        "working_time": [float(i // 2) for i in range(n)], "comment": [f"text {i}" for i in range(n)],
        "town": [f"town {i // 2}" for i in range(n)], "country": ["DE"] * n, "quiz_attempts": [1, 2] * 15,
        "gender": ["f", "m", None] * 10, "user_agent": [f"Browser {'and ' * 20}{i % 2}" for i in range(n)],
    })  # fmt: skip
    variables, notes = background(people, used=["quiz_attempts"])
    assert [one.name for one in variables] == ["gender"]
    assert {name: int(mask.sum()) for name, mask in variables[0].groups.items()} == {"f": 10, "m": 10, "not known": 10}
    assert codes(notes) == ["background.left_out"] * 8
    assert {note.values["column"]: note.values["why"].code for note in notes} == {
        "study_id": "background.names", "started": "background.time", "working_time": "background.time",
        "comment": "background.all_different", "town": "background.too_many_values",
        "country": "background.same_value", "quiz_attempts": "background.criterion",
        "user_agent": "background.long",
    }  # fmt: skip


def test_columns_asked_for_by_a_wrong_name_or_without_groups() -> None:
    people = pl.DataFrame({"participant": [str(i) for i in range(20)], "town": [f"t{i}" for i in range(20)]})
    with refuses(karat.KaratError, "twon", "town"):
        background(people, ["twon"])
    with refuses(karat.KaratError, "town", 20, 12):
        background(people, ["town"])
    with refuses(karat.KaratError, "at"):
        background(people.with_columns(at=pl.lit(datetime.now(UTC))), ["at"])


def test_large_numbers_are_grouped_beyond_six_digits() -> None:
    people = pl.DataFrame({"participant": list("abcd"), "x": [1234567, 1234568, 1234567, 1234568]})
    ((variable,), _) = background(people, ["x"])
    assert {name: group.tolist() for name, group in variable.groups.items()} == {
        "1234567": [True, False, True, False], "1234568": [False, True, False, True],
    }  # fmt: skip
