"""Any table with one judgment a row."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import karat


def write(folder: Path, text: str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_columns_are_guessed_and_told(tmp_path: Path) -> None:
    read = karat.read(write(tmp_path, "workerId,Task ID,LABEL,order\nw1,t1,a,1\nw1,t2,b,2\n"))
    assert read.frame.columns == ["participant", "item", "response", "trial", "function"]
    assert read.notes[0] == (
        "Columns taken by their names: participant=workerId, item=Task ID, response=LABEL, trial=order; "
        "say --map if one is wrong."
    )


def test_a_column_in_the_way_keeps_its_values(tmp_path: Path) -> None:
    text = "participant,item,response,rating,response_\np1,a,x,3,u\np1,b,y,4,v\n"
    frame = karat.read(write(tmp_path, text), mapping={"response": "rating"}).frame
    assert frame["response"].to_list() == ["3", "4"]
    assert frame["response_"].to_list() == ["x", "y"]
    assert frame["response__"].to_list() == ["u", "v"]


def test_a_column_can_be_left_out(tmp_path: Path) -> None:
    frame = karat.read(write(tmp_path, "participant,item,response,rt\np1,a,1,soon\n"), mapping={"rt": ""}).frame
    assert frame.columns == ["participant", "item", "response", "function"]


def test_columns_that_name_people_are_left_out_unless_told(tmp_path: Path) -> None:
    path = write(tmp_path, "participant,item,response,e-mail,response_\np1,a,1,x@y.org,2\n")
    read = karat.read(path)
    assert read.frame.columns == ["participant", "item", "response", "function", "response_"]
    assert any("e-mail left out" in note for note in read.notes)
    assert "e-mail" in karat.read(path, mapping={"e-mail": "e-mail"}).frame.columns


def test_a_mapping_must_name_columns_that_are_there(tmp_path: Path) -> None:
    with pytest.raises(karat.IntakeError, match=r"has no column workr for --map participant=workr. Is it worker\?"):
        karat.read(write(tmp_path, "worker,item,response\np1,a,1\n"), mapping={"participant": "workr"})


def test_range_of_expected_answers_from_two_columns(tmp_path: Path) -> None:
    text = "participant,item,response,low,high\np1,a,1,1,2\np1,b,3,,\n"
    frame = karat.read(write(tmp_path, text), mapping={"expected": "low..high"}, scale="ordinal:1-5").frame
    assert frame["expected"].to_list() == ["1-2", None]


@pytest.mark.parametrize(
    ("header", "times", "seconds", "word"),
    [
        ("rt", ["1500", "2500"], [1.5, 2.5], "milliseconds"), ("rt", ["1.5", "2.5"], [1.5, 2.5], "seconds"),
        ("reaction_time_ms", ["15", "25"], [0.015, 0.025], "milliseconds"),
        ("rt", ["1,5", "2,5"], [1.5, 2.5], "seconds"),
    ],
)  # fmt: skip
def test_unit_of_time_is_found_and_told(
    header: str, times: list[str], seconds: list[float], word: str, tmp_path: Path
) -> None:
    text = f"participant;item;response;{header}\np1;a;1;{times[0]}\np1;b;2;{times[1]}\n"
    read = karat.read(write(tmp_path, text))
    assert read.frame["rt"].to_list() == seconds
    assert any(f"read as {word}" in note and "--rt-unit" in note for note in read.notes)


def test_unit_of_time_can_be_told(tmp_path: Path) -> None:
    path = write(tmp_path, "participant,item,response,rt\np1,a,1,1500\n")
    assert karat.read(path, rt_unit="s").frame["rt"].to_list() == [1500.0]
    assert not any("--rt-unit" in note for note in karat.read(path, rt_unit="ms").notes)


def test_mixed_units_are_refused_unless_told(tmp_path: Path) -> None:
    rows = [f"p1,i{i},1,{1.5 + i}" for i in range(5)] + [f"p2,i{i},2,{1500 + i}" for i in range(5)]
    path = write(tmp_path, "participant,item,response,rt\n" + "\n".join(rows) + "\n")
    with pytest.raises(karat.IntakeError, match="mixes seconds and milliseconds") as caught:
        karat.read(path)
    assert "1 participant with times like milliseconds" in str(caught.value)
    assert "--rt-unit" in str(caught.value)
    assert karat.read(path, rt_unit="s").frame["rt"][9] == 1504.0


def test_missing_values_of_r(tmp_path: Path) -> None:
    read = karat.read(write(tmp_path, "participant,item,response,rt,trial\np1,a,NA,NA,1\np1,b,3,1.5,NA\n"))
    assert read.frame["response"].to_list() == [None, "3"]
    assert read.frame["rt"].to_list() == [None, 1.5]
    assert read.frame["trial"].to_list() == [1, None]
    assert "1 response NA read as missing." in read.notes


def test_trials_from_zero(tmp_path: Path) -> None:
    read = karat.read(write(tmp_path, "participant,item,response,trial_index\np1,a,1,0\np1,b,2,1\n"))
    assert read.frame["trial"].to_list() == [1, 2]
    assert "trial_index counts from 0; one was added to each trial." in read.notes


def test_times_that_are_called_time(tmp_path: Path) -> None:
    read = karat.read(write(tmp_path, "participant,item,response,time\np1,a,1,2.5\np1,b,0,3.5\n"))
    assert read.frame["rt"].to_list() == [2.5, 3.5]
    assert any("rt=time" in note for note in read.notes)
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
    with pytest.raises(karat.IntakeError, match='element 2: "3" is no object'):
        karat.read(write(tmp_path, '[{"participant":"p","item":"a","response":1}, 3]', "t.json"))
    with pytest.raises(karat.IntakeError, match="not a readable Parquet"):
        karat.read(write(tmp_path, "no", "t.parquet"))


def test_formulas_are_text(tmp_path: Path) -> None:
    path = write(tmp_path, "participant,item,response\n=cmd(),+1,@x\n-p,\t=a,-3\n")
    frame = karat.read(path, scale="nominal:@x,-3").frame
    assert frame["participant"].to_list() == ["=cmd()", "-p"]
    assert frame["response"].to_list() == ["@x", "-3"]
