"""Any table with one judgment per row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import karat
from intake.cases import noted
from karat.cli.options import intake_lines
from karat.intake import read_files
from karat.intake.guess import are_codes
from messages import codes, refuses


def write(folder: Path, text: str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_columns_are_guessed_and_reported(tmp_path: Path) -> None:
    read = karat.read(write(tmp_path, "workerId,Task ID,LABEL,order\nw1,t1,a,1\nw1,t2,b,2\n"))
    assert read.frame.columns == ["participant", "item", "response", "trial", "function"]
    columns = ["participant=workerId", "item=Task ID", "response=LABEL", "trial=order"]
    assert noted(read.notes, "table.columns") == {"columns": columns}


def test_a_column_in_the_way_keeps_its_values(tmp_path: Path) -> None:
    text = "participant,item,response,rating,response_\np1,a,x,3,u\np1,b,y,4,v\n"
    frame = karat.read(write(tmp_path, text), mapping={"response": "rating"}).frame
    assert frame["response"].to_list() == ["3", "4"]
    assert frame["response_"].to_list() == ["x", "y"]
    assert frame["response__"].to_list() == ["u", "v"]


def test_a_column_can_be_left_out(tmp_path: Path) -> None:
    frame = karat.read(write(tmp_path, "participant,item,response,rt\np1,a,1,soon\n"), mapping={"rt": ""}).frame
    assert frame.columns == ["participant", "item", "response", "function"]


def test_columns_that_name_people_are_left_out_unless_reported(tmp_path: Path) -> None:
    path = write(tmp_path, "participant,item,response,e-mail,response_\np1,a,1,x@y.org,2\n")
    read = karat.read(path)
    assert read.frame.columns == ["participant", "item", "response", "function", "response_"]
    assert noted(read.notes, "personal.left_out_unless_mapped")["columns"] == ["e-mail"]
    assert "e-mail" in karat.read(path, mapping={"e-mail": "e-mail"}).frame.columns


def test_a_mapping_must_name_columns_that_are_there(tmp_path: Path) -> None:
    with refuses(karat.IntakeError, "t.csv", "--map participant=workr", "worker"):
        karat.read(write(tmp_path, "worker,item,response\np1,a,1\n"), mapping={"participant": "workr"})


def test_range_of_expected_answers_from_two_columns(tmp_path: Path) -> None:
    text = "participant,item,response,low,high\np1,a,1,1,2\np1,b,3,,\n"
    frame = karat.read(write(tmp_path, text), mapping={"expected": "low..high"}, scale="ordinal:1-5").frame
    assert frame["expected"].to_list() == ["1-2", None]


@pytest.mark.parametrize(
    ("header", "times", "seconds", "code"),
    [
        ("rt", ["1500", "2500"], [1.5, 2.5], "rt.milliseconds"), ("rt", ["1.5", "2.5"], [1.5, 2.5], "rt.seconds"),
        ("reaction_time_ms", ["15", "25"], [0.015, 0.025], "rt.named_milliseconds"),
        ("rt", ["1,5", "2,5"], [1.5, 2.5], "rt.seconds"),
    ],
)  # fmt: skip
def test_unit_of_time_is_found_and_reported(
    header: str, times: list[str], seconds: list[float], code: str, tmp_path: Path
) -> None:
    text = f"participant;item;response;{header}\np1;a;1;{times[0]}\np1;b;2;{times[1]}\n"
    read = karat.read(write(tmp_path, text))
    assert read.frame["rt"].to_list() == seconds
    assert noted(read.notes, code)["column"] == header


def test_unit_of_time_can_be_reported(tmp_path: Path) -> None:
    path = write(tmp_path, "participant,item,response,rt\np1,a,1,1500\n")
    assert karat.read(path, rt_unit="s").frame["rt"].to_list() == [1500.0]
    assert not any(code.startswith("rt.") for code in codes(karat.read(path, rt_unit="ms").notes))


def test_mixed_units_are_refused_unless_reported(tmp_path: Path) -> None:
    rows = [f"p1,i{i},1,{1.5 + i}" for i in range(5)] + [f"p2,i{i},2,{1500 + i}" for i in range(5)]
    path = write(tmp_path, "participant,item,response,rt\n" + "\n".join(rows) + "\n")
    with refuses(karat.IntakeError, "t.csv", "rt", "1,502", 3.5, "--rt-unit s"):
        karat.read(path)
    assert karat.read(path, rt_unit="s").frame["rt"][9] == 1504.0


def test_missing_values_of_r(tmp_path: Path) -> None:
    read = karat.read(write(tmp_path, "participant,item,response,rt,trial\np1,a,NA,NA,1\np1,b,3,1.5,NA\n"))
    assert read.frame["response"].to_list() == [None, "3"]
    assert read.frame["rt"].to_list() == [None, 1.5]
    assert read.frame["trial"].to_list() == [1, None]
    assert noted(read.notes, "table.missing") == {"n": 1, "words": ["NA"]}


def test_trials_from_zero(tmp_path: Path) -> None:
    read = karat.read(write(tmp_path, "participant,item,response,trial_index\np1,a,1,0\np1,b,2,1\n"))
    assert read.frame["trial"].to_list() == [1, 2]
    assert noted(read.notes, "trial.from_zero") == {"column": "trial_index"}


def test_times_that_are_called_time(tmp_path: Path) -> None:
    read = karat.read(write(tmp_path, "participant,item,response,time\np1,a,1,2.5\np1,b,0,3.5\n"))
    assert read.frame["rt"].to_list() == [2.5, 3.5]
    assert "rt=time" in noted(read.notes, "table.columns")["columns"]
    read = karat.read(write(tmp_path, "participant,item,response,time\np1,a,1,1777811696\np1,b,0,1777811699\n"))
    assert "rt" not in read.frame.columns
    assert read.frame["time"].dt.year().to_list() == [2026, 2026]


def test_unknown_columns_are_numbers_only_where_nothing_is_lost(tmp_path: Path) -> None:
    frame = karat.read(write(tmp_path, "participant,item,response,n,x,code\np1,a,1,3,0.5,007\np1,b,1,,2,12\n")).frame
    assert frame.schema["n"] == pl.Int64
    assert frame.schema["x"] == pl.Float64
    assert frame["code"].to_list() == ["007", "12"]


@pytest.mark.parametrize("name", ["t.jsonl", "t.json", "t.parquet", "t.tsv", "t.xlsx"])
def test_formats(name: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"subject": ["p1", "p2"], "item": ["a", "b"], "rating": [1, 5], "x": ["ä", "=1"]})
    path = tmp_path / name
    if name.endswith("xlsx"):
        frame.to_pandas().to_excel(path, index=False)
    elif name.endswith("tsv"):
        frame.write_csv(path, separator="\t")
    else:
        {"jsonl": frame.write_ndjson, "json": frame.write_json, "parquet": frame.write_parquet}[name[2:]](path)
    read = karat.read(path, scale="ordinal:1-5")
    assert read.frame.select("participant", "item", "response").rows() == [("p1", "a", "1"), ("p2", "b", "5")]
    assert read.frame["x"].to_list()[0] == "ä"


def test_json_that_is_no_table(tmp_path: Path) -> None:
    with refuses(karat.IntakeError, "t.json", "element 2", 3):
        karat.read(write(tmp_path, '[{"participant":"p","item":"a","response":1}, 3]', "t.json"))
    with refuses(karat.IntakeError, "t.parquet"):
        karat.read(write(tmp_path, "no", "t.parquet"))


def test_formulas_are_text(tmp_path: Path) -> None:
    path = write(tmp_path, "participant,item,response\n=cmd(),+1,@x\n-p,\t=a,-3\n")
    frame = karat.read(path, scale="nominal:@x,-3").frame
    assert frame["participant"].to_list() == ["=cmd()", "-p"]
    assert frame["response"].to_list() == ["@x", "-3"]


LABELS = {"annotator_id": ["a", "a", "b"], "example_id": ["x", "y", "x"], "label": ["yes", "no", "yes"]}


def parquet(folder: Path, **columns: object) -> Path:
    path = folder / "labels.parquet"
    pl.DataFrame(LABELS | columns).write_parquet(path)
    return path


@pytest.mark.parametrize(
    ("name", "times", "seconds", "code"),
    [
        ("duration_s", [200.0, 300.0, 250.0], [200.0, 300.0, 250.0], "rt.named_seconds"),
        ("duration_ms", [20, 40, 60], [0.02, 0.04, 0.06], "rt.named_milliseconds"),
        ("responseTimeSeconds", [2.0, 4.0, 6.0], [2.0, 4.0, 6.0], "rt.named_seconds"),
        ("time_taken", [2000, 4000, 6000], [2.0, 4.0, 6.0], "rt.milliseconds"),
        ("rt_ms", [20, 40, 60], [0.02, 0.04, 0.06], "rt.named_milliseconds"),
    ],
)
def test_times_are_found_with_their_unit(
    name: str, times: list[float], seconds: list[float], code: str, tmp_path: Path
) -> None:
    read = karat.read(parquet(tmp_path, **{name: times}))
    assert read.frame["rt"].to_list() == seconds
    assert f"rt={name}" in noted(read.notes, "table.columns")["columns"]
    assert noted(read.notes, code)["column"] == name


@pytest.mark.parametrize("name", ["gold_label", "gold", "truth", "correct_label", "expected_answer", "true label"])
def test_gold_labels_are_found_and_counted(name: str, tmp_path: Path) -> None:
    path = parquet(tmp_path, **{name: ["yes", None, None]})
    intake = read_files([path])
    assert intake.judgments.frame["expected"].to_list() == ["yes", None, None]
    assert f"expected={name}" in noted(intake.notes, "table.columns")["columns"]
    assert intake_lines(intake)[-1] == "expected   the correct answer is known for 1 of 3 answers"
    assert intake.to_dict()["expected"] == 1


def test_without_right_answers_nothing_is_said_of_them(tmp_path: Path) -> None:
    assert not any(line.startswith("expected") for line in intake_lines(read_files([parquet(tmp_path)])))


@pytest.mark.parametrize("name", ["hit_id", "docID", "prompt_nr"])
def test_a_missing_column_is_named_with_the_likely_one(name: str, tmp_path: Path) -> None:
    path = write(tmp_path, f"annotator_id,length,{name},label\na,3,x,yes\na,4,y,no\n")
    with refuses(karat.IntakeError, "t.csv", "item", f"--map item={name}", "annotator_id", f"length, {name}, label"):
        karat.read(path)


def test_where_no_column_is_likely_none_is_offered(tmp_path: Path) -> None:
    with refuses(karat.IntakeError, "participant", "item", "--map response=NAME", "t.csv", "A, B"):
        karat.read(write(tmp_path, "A,B\n1,2\n"))


@pytest.mark.parametrize(("wrong", "right"), [("itme", "item"), ("items", "item"), ("expcted", "expected")])
def test_a_misspelt_column_of_a_mapping_is_reported(wrong: str, right: str, tmp_path: Path) -> None:
    path = parquet(tmp_path)
    with refuses(karat.IntakeError, f"--map {right}=label"):
        karat.read(path, mapping={wrong: "label"})
    crowdkit = write(tmp_path, "task,worker,label\nt,w,a\nt,v,b\n")
    with refuses(karat.IntakeError, f"--map {right}=response"):
        karat.read(crowdkit, mapping={wrong: "response"})


@pytest.mark.parametrize("name", ["group", "condition", "language", "sense"])
def test_other_names_of_a_mapping_are_new_columns(name: str, tmp_path: Path) -> None:
    frame = karat.read(parquet(tmp_path, cond=["u", "v", "w"]), mapping={name: "cond"}).frame
    assert frame[name].to_list() == ["u", "v", "w"]


def test_whole_numbers_from_0_may_be_codes_of_categories(tmp_path: Path) -> None:
    path = parquet(tmp_path, label=[0, 3, 2])
    read = karat.read(path)
    assert read.scale == karat.Ordinal(range(4))
    codes_of_categories = noted(read.notes, "scale.points")["codes"]
    assert karat.read(path, scale=f"nominal:{codes_of_categories}").scale == karat.Nominal(["0", "1", "2", "3"])
    assert noted(karat.read(parquet(tmp_path, label=[1, 3, 2])).notes, "scale.points")["codes"] is None


def numbers_of(kind: str) -> dict[str, list[object]]:
    """Numbers from 1 to 5 by 10 people on each of 60 items: codes, ratings, ratings in conditions, only ends used."""
    random = np.random.default_rng(5)
    shape = (60, 10)
    truth = np.broadcast_to(random.integers(1, 6, (60, 1)), shape)
    missed = random.random(shape) < 0.35
    table: dict[str, list[object]] = {}
    if kind == "codes":
        answers = np.where(missed, random.integers(1, 6, shape), truth)
    elif kind == "ratings":
        answers = np.clip(truth + missed * random.choice([-1, 1], shape), 1, 5)
    elif kind == "ends":
        answers = np.where(missed, random.choice([1, 1, 5, 5, 3], shape), np.where(truth > 2, 5, 1))
    else:
        # Half of the items come in a good and a bad condition, the others are fillers.
        good = (np.arange(10) % 2 == 0) & (np.arange(60) < 30)[:, None]
        judged = np.where(np.arange(60)[:, None] < 30, 1 + 4 * good, truth)
        answers = np.where(missed, random.integers(1, 6, shape), judged)
        table["version"] = np.where(good, "a", "b").ravel().tolist()
    item, who = np.indices(shape)
    return {
        "worker": [f"w{number}" for number in who.ravel()], "task": [f"t{number}" for number in item.ravel()],
        "label": answers.ravel().tolist(), **table,
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["codes", "ratings", "ends", "conditions"])
def test_numbers_are_labels_where_disagreement_has_no_distance(kind: str, tmp_path: Path) -> None:
    pl.DataFrame(numbers_of(kind)).write_csv(tmp_path / "t.csv")
    read = karat.read(tmp_path / "t.csv")
    if kind == "codes":
        assert read.scale == karat.Nominal(["1", "2", "3", "4", "5"])
        assert noted(read.notes, "scale.codes")["high"] == 5
    else:
        assert read.scale == karat.Ordinal(5)


def test_one_word_among_ratings_is_an_error(tmp_path: Path) -> None:
    rows = [f"p{number % 4},i{number // 4},{1 + number % 7}" for number in range(31)]
    with refuses(karat.IntakeError, "line 33, response", "nine", "1, 2, 3, 4, 5, 6, 7"):
        karat.read(write(tmp_path, "\n".join(["participant,item,rating", *rows, "p3,i7,nine"])))
    assert karat.read(parquet(tmp_path, label=["1", "2", "nine"])).scale == karat.Nominal(["1", "2", "nine"])


@pytest.mark.parametrize("points", [4, 5, 7])
def test_random_answers_do_not_make_codes_of_ratings(points: int) -> None:
    """Ratings that are nearly always the same, and 30 % of answers at random."""
    for seed in range(10):
        random = np.random.default_rng(seed)
        rating = random.integers(0, points, (200, 1)) + random.normal(0, 0.4, (200, 10))
        lapsed = random.random(rating.shape) < 0.3
        answers = np.where(lapsed, random.integers(0, points, rating.shape), np.clip(np.round(rating), 0, points - 1))
        rows = {"item": np.arange(200).repeat(10), "response": answers.ravel().astype(int).astype(str)}
        assert not are_codes(pl.DataFrame(rows), karat.Ordinal(range(points)))


def test_keys_nobody_gave_extend_a_guessed_scale(tmp_path: Path) -> None:
    read = karat.read(parquet(tmp_path, label=["a", "b", "a"], gold_label=["a", "c", None]))
    assert read.scale == karat.Nominal(["a", "b", "c"])
    assert noted(read.notes, "scale.nominal")["only"] == ["c"]
    with refuses(karat.IntakeError, "row 1, expected", "A1", "a, b"):
        karat.read(parquet(tmp_path, label=["a", "b", "a"], gold_label=["A1", "B1", None]))


@pytest.mark.parametrize("empty", [pl.Series([None] * 3), pl.Series([""] * 3), pl.Series([float("nan")] * 3)])
def test_a_table_without_any_answer_is_refused(empty: pl.Series, tmp_path: Path) -> None:
    path = parquet(tmp_path, label=empty)
    with refuses(karat.IntakeError, "labels.parquet", "label", "3 rows", "--map response=NAME"):
        karat.read(path)
    assert karat.read(path, scale="binary").frame["response"].null_count() == 3
