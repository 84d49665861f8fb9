"""The table: its checks, its summary, its way to disk and back, and the frames it takes."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path

import narwhals
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings

import karat
from messages import codes, refuses
from strategies import judgments

GOOD = {"participant": ["p1", "p1", "p2"], "item": ["a", "b", "a"], "response": [1, 5, 3], "rt": [0.5, 1.5, 2.0]}


def problems(frame: dict[str, list[object]], scale: karat.judgments.scales.Scale | None = None) -> str:
    with pytest.raises(karat.JudgmentsError) as caught:
        karat.Judgments(frame, scale or karat.Ordinal(5))
    return str(caught.value)


def test_columns_come_out_in_their_types() -> None:
    frame = karat.Judgments(GOOD | {"trial": ["1", "2", "1"], "x": [1, 2, 3]}, karat.Ordinal(5)).frame
    assert frame.schema == {
        "participant": pl.String, "item": pl.String, "response": pl.String, "trial": pl.Int64, "rt": pl.Float64,
        "function": pl.String, "x": pl.Int64,
    }  # fmt: skip
    assert frame["function"].to_list() == ["test"] * 3


def test_number_and_text_are_the_same_answer() -> None:
    as_text = karat.Judgments(GOOD | {"response": ["1", "5.0", " 3 "]}, karat.Ordinal(5))
    as_number = karat.Judgments(GOOD | {"response": [1.0, 5.0, 3.0]}, karat.Ordinal(5))
    assert as_text == as_number == karat.Judgments(GOOD, karat.Ordinal(5))


def test_participants_that_are_numbers_are_text() -> None:
    frame = karat.Judgments(GOOD | {"participant": [1.0, 1.0, 2.0]}, karat.Ordinal(5)).frame
    assert frame["participant"].to_list() == ["1", "1", "2"]


def test_missing_columns_are_named_with_the_nearest() -> None:
    result = problems({"partcipant": ["p1"], "item": ["a"]})
    assert all(name in result for name in ("column participant", "partcipant", "column response"))


def test_all_problems_are_shown_together() -> None:
    result = problems({
        "participant": ["p1", None, "p2"], "item": ["a", "b", "c"], "response": [9, 1, 2], "rt": ["fast", "-1", "2"],
    })  # fmt: skip
    assert 'row 1, response: "9" is not an answer on this scale, which has 1, 2, 3, 4, 5' in result
    assert 'row 1, rt: "fast" is not a number' in result
    assert 'row 2, rt: "-1" is not a response time' in result
    assert "row 2, participant: is empty" in result


def test_first_problems_then_a_count() -> None:
    result = problems({"participant": ["p"] * 50, "item": [str(i) for i in range(50)], "response": list(range(6, 56))})
    assert len(result.splitlines()) == 1 + 8 + 1
    assert "and 42 more: response is not an answer on this scale, which has 1, 2, 3, 4, 5 (rows 9 to 50)." in result


def test_the_same_problem_in_many_rows_is_reported_once() -> None:
    result = problems({"participant": ["p"] * 50, "item": [str(i) for i in range(50)], "response": [9] * 50})
    assert 'rows 1, 2, 3 and 47 more, response: "9" is not an answer on this scale' in result
    assert len(result.splitlines()) == 2


def test_one_trial_twice() -> None:
    result = problems(GOOD | {"trial": [1, 1, 1]})
    assert 'row 2, trial: "trial 1, also at row 1" occurs twice for one participant' in result
    assert "p1" not in result


@pytest.mark.parametrize("apart", [{"session": ["1", "2", "1"]}, {"question": ["clear", "neat", "clear"]}])
def test_one_trial_twice_in_two_sessions_or_questions(apart: dict[str, list[str]]) -> None:
    assert len(karat.Judgments(GOOD | {"trial": [1, 1, 1]} | apart, karat.Ordinal(5))) == 3


def test_the_same_row_without_trials_may_be_a_second_answer() -> None:
    rows = {"participant": ["p1", "p1"], "item": ["a", "a"], "response": [1, 1]}
    judgments = karat.Judgments(rows, karat.Ordinal(5))
    assert len(judgments) == 2
    assert [(note.code, note.values) for note in judgments.notes] == [("rows.identical", {"n": 1})]
    assert len(karat.Judgments(rows | {"trial": [1, 2]}, karat.Ordinal(5))) == 2


def test_a_function_in_two_spellings_is_reported_once_a_row() -> None:
    result = problems(GOOD | {"function": ["Catch", "catch", "test"]})
    assert result.count("is not an item function") == 2


def test_function_must_be_known() -> None:
    result = problems(GOOD | {"function": ["test", "atention", "Filler"]})
    assert '"atention" is not an item function. Did you mean attention?' in result
    assert karat.Judgments(GOOD | {"function": ["TEST", "control", "Filler"]}, karat.Ordinal(5)).frame[
        "function"
    ].to_list() == ["test", "control", "filler"]


@pytest.mark.parametrize(
    ("trial", "text"), [(0, "is below 1"), (1.5, "is not a whole number"), ("x", "is not a whole")]
)
def test_trials_are_whole_numbers_from_one(trial: object, text: str) -> None:
    assert text in problems(GOOD | {"trial": [str(trial), "2", "3"]})


def test_polarity_is_plus_or_minus_one() -> None:
    assert '"2" is not a polarity' in problems(GOOD | {"polarity": [1, -1, 2]})


def test_empty_cells_are_values() -> None:
    frame = karat.Judgments(
        GOOD | {"response": [1, None, ""], "rt": [None, float("nan"), 1.0], "expected": ["1-2", None, ""]},
        karat.Ordinal(5),
    ).frame
    assert frame["response"].to_list() == ["1", None, None]
    assert frame["rt"].to_list() == [None, None, 1.0]
    assert frame["expected"].to_list() == ["1-2", None, None]


def test_expected_answers_must_be_known() -> None:
    assert '"6-7" is not an answer on this scale' in problems(GOOD | {"expected": ["1|2", "6-7", "5"]})


def test_long_times_draw_a_note_and_no_error() -> None:
    read = karat.Judgments(GOOD | {"rt": [500, 1500, 2000]}, karat.Ordinal(5))
    assert read.frame["rt"].to_list() == [500.0, 1500.0, 2000.0]
    assert codes(read.notes) == ["rt.long"]


def test_infinite_times_are_refused() -> None:
    result = problems(GOOD | {"rt": [0.5, float("inf"), 1.0]})
    assert "row 2, rt" in result
    assert '"inf"' in result


def test_time_is_a_point_in_time() -> None:
    read = karat.Judgments(GOOD | {"time": ["2026-05-03 12:00", "1777811696", None]}, karat.Ordinal(5))
    assert read.frame["time"][0] == datetime(2026, 5, 3, 12, tzinfo=UTC)
    assert read.frame["time"][1] == datetime(2026, 5, 3, 12, 34, 56, tzinfo=UTC)
    zoned = karat.Judgments(
        GOOD | {"time": ["2026-05-03 12:00:01.5+02", "2026-05-03T12:00-0130", None]}, karat.Ordinal(5)
    )
    assert zoned.frame["time"][0] == datetime(2026, 5, 3, 10, 0, 1, 500_000, tzinfo=UTC)
    assert zoned.frame["time"][1] == datetime(2026, 5, 3, 13, 30, tzinfo=UTC)
    assert '"noon" is not a point in time' in problems(GOOD | {"time": ["noon", None, None]})


def test_scales_by_question() -> None:
    rows = GOOD | {"question": ["clear", "natural", "clear"], "response": ["3", "yes", "2"]}
    read = karat.Judgments(rows, {"clear": karat.Ordinal(3), "natural": karat.Binary(("no", "yes"))})
    assert read.frame["response"].to_list() == ["3", "yes", "2"]
    with refuses(karat.JudgmentsError, "2 scales"):
        _ = read.scale
    with refuses(karat.JudgmentsError, "row 2", "question", "natural", "clear"):
        karat.Judgments(rows, {"clear": karat.Ordinal(3)})


def test_choice_may_name_the_item_and_makes_the_pair() -> None:
    rows = {
        "participant": ["p1", "p1", "p2"], "left": ["i1", "i2", "i2"], "right": ["i2", "i1", "i1"],
        "response": ["i1", "left", "i1"], "expected": ["i1", "i1", None],
    }  # fmt: skip
    frame = karat.Judgments(rows, karat.Choice()).frame
    assert frame["item"].to_list() == ["i1:i2"] * 3
    assert frame["response"].to_list() == ["left", "left", "right"]
    assert frame["expected"].to_list() == ["left", "right", None]


def test_participants_are_everybody() -> None:
    people = {"participant": ["p2", "p9"], "age": [30, 40]}
    read = karat.Judgments(GOOD, karat.Ordinal(5), people)
    assert read.participants.to_dicts() == [
        {"participant": "p2", "age": 30}, {"participant": "p9", "age": 40}, {"participant": "p1", "age": None},
    ]  # fmt: skip
    assert "1 more participant listed without an answer" in read.summary()
    with refuses(karat.JudgmentsError, "p2"):
        karat.Judgments(GOOD, karat.Ordinal(5), {"participant": ["p2", "p2"]})
    with refuses(karat.JudgmentsError, "column participant"):
        karat.Judgments(GOOD, karat.Ordinal(5), {"who": ["p2"]})


def test_participant_facts_are_written_whatever_their_name(tmp_path: Path) -> None:
    people = pl.DataFrame({"participant": ["p1", "p2"], "list": [1, 2], "rt": [0.5, float("nan")]})
    people = people.with_columns(pl.col("list").cast(pl.Int8), pl.col("rt").cast(pl.Float32))
    read = karat.Judgments(GOOD, karat.Ordinal(5), people)
    read.to_csv(tmp_path / "a.csv")
    assert karat.read(tmp_path / "a.csv").participants.rows() == [("p1", 1, 0.5), ("p2", 2, None)]


def test_summary_says_what_there_is() -> None:
    assert karat.Judgments(GOOD | {"response": [1, None, 3], "order": ["x", "y", "x"]}, karat.Ordinal(5)).summary() == (
        "2 participants, 2 items, 2 answers\n"
        "functions  3 test\n"
        "scale      ordinal: 1, 2, 3, 4, 5\n"
        "times      median 1.50 s, 90 % between 0.50 and 2.00 s\n"
        "columns    order\n"
        "missing    1 without response; no column trial; 1 to 2 answers per participant"
    )


@pytest.mark.slow
@given(judgments())
def test_round_trip_loses_nothing(before: karat.Judgments) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, write in (("j.parquet", before.to_parquet), ("j.csv", before.to_csv)):
            path = Path(folder) / name
            write(path)
            assert karat.read(path) == before
        path = Path(folder) / "safe.csv"
        before.to_csv(path, safe_for_spreadsheets=True)
        assert karat.read(path) == before


@pytest.mark.slow
@settings(max_examples=30)
@given(judgments())
def test_checking_twice_changes_nothing(before: karat.Judgments) -> None:
    assert karat.Judgments(before.frame, before.scales, before.participants) == before


def test_csv_cannot_hold_nul(tmp_path: Path) -> None:
    read = karat.Judgments(GOOD | {"note": ["a\0b", "", ""]}, karat.Ordinal(5))
    with refuses(karat.KaratError, "x.csv", "NUL", "Parquet"):
        read.to_csv(tmp_path / "x.csv")
    assert not list(tmp_path.iterdir())
    read.to_parquet(tmp_path / "x.parquet")
    assert karat.read(tmp_path / "x.parquet") == read


def test_frames_of_other_libraries_come_in() -> None:
    expected = karat.Judgments(GOOD, karat.Ordinal(5))
    polars = pl.DataFrame(GOOD)
    frames = [polars, polars.lazy(), pd.DataFrame(GOOD), pa.table(GOOD), narwhals.from_native(polars),
              narwhals.from_native(pd.DataFrame(GOOD))]  # fmt: skip
    for frame in frames:
        assert karat.Judgments(frame, karat.Ordinal(5)) == expected
    with refuses(karat.JudgmentsError, "list", "polars", "pandas", "pyarrow", "narwhals"):
        karat.Judgments([1, 2], karat.Ordinal(5))


def test_pandas_with_missing_and_mixed_cells() -> None:
    frame = pd.DataFrame(GOOD | {"rt": [0.5, None, 2.0]})
    frame["response"] = pd.Series([1, "5", None], dtype=object)
    read = karat.Judgments(frame, karat.Ordinal(5)).frame
    assert read["response"].to_list() == ["1", "5", None]
    assert read["rt"].to_list() == [0.5, None, 2.0]


def test_to_pandas_and_back() -> None:
    likert = karat.datasets.load("likert")
    assert karat.Judgments(likert.to_pandas(), likert.scale, likert.participants) == likert
