"""Every table of judgments among the reference data comes in with a few flags, and is what its README says."""

from __future__ import annotations

from pathlib import Path

import pytest

import karat
from commands import run
from messages import codes, refuses
from tools.replication.acceptability.data import MAPPINGS

TABLES = [
    ("ajt/likert.csv", ["--map", "expected=expected_min..expected_max"], 72, 7628, "ordinal"),
    (
        "ajt/forced_choice.csv",
        [part for column, own in MAPPINGS["forced_choice"].items() for part in ("--map", f"{column}={own}")],
        45, 3240, "choice",
    ),
    ("ba/mturk.csv", [], 160, 12320, "binary"),
    ("ba/binary_sim.csv", [], 120, 9600, "binary"),
    ("ba/ordinal_sim.csv", [], 120, 9600, "ordinal"),
    ("ba/nominal_sim.csv", [], 120, 9600, "nominal"),
    ("ba/authors_pool_sim.csv", [], 281, 22480, "binary"),
    ("pairs/thurstone_sim.csv", ["--answers", "1=left,-1=right,0=none"], 150, 15000, "choice"),
]  # fmt: skip


@pytest.mark.few(2)
@pytest.mark.parametrize(("name", "flags", "participants", "rows", "kind"), TABLES, ids=[row[0] for row in TABLES])
def test_table_comes_in(
    name: str, flags: list[str], participants: int, rows: int, kind: str, reference: Path, tmp_path: Path
) -> None:
    out = tmp_path / "judgments.parquet"
    output, _ = run("convert", reference / name, *flags, "-o", out)
    assert f"{rows:,} answers" in output
    judgments = karat.read(out)
    assert judgments.frame["participant"].n_unique() == participants
    assert len(judgments) == rows
    assert judgments.scale.kind == kind


def test_likert_times_are_milliseconds_and_right_answers_ranges(reference: Path) -> None:
    read = karat.read(reference / "ajt/likert.csv", mapping=MAPPINGS["likert"])
    first = read.frame.row(0, named=True)
    assert (first["participant"], first["item"], first["rt"], first["expected"]) == ("p001", "f37", 8.317, "3-5")
    assert "rt.milliseconds" in codes(read.notes)


def test_forced_choice_by_condition_is_the_side(reference: Path) -> None:
    frame = karat.read(reference / "ajt/forced_choice.csv", mapping=MAPPINGS["forced_choice"]).frame
    assert (frame["response"] == frame["response_position"].replace({"above": "left", "below": "right"})).all()
    test = frame.filter(frame["function"] == "test")
    assert test["expected"].null_count() == test.height


def test_one_missing_time_stays_missing(reference: Path) -> None:
    read = karat.read(reference / "ba/mturk.csv", mapping={"rt": "time"})
    assert read.frame["rt"].null_count() == 1
    assert read.frame.filter(read.frame["rt"].is_null())["participant"].to_list() == ["w079"]


def test_a_table_that_is_no_judgments_is_refused(reference: Path) -> None:
    with refuses(karat.IntakeError, "sentences.csv", "column participant", "--map participant=NAME"):
        karat.read(reference / "pairs/sentences.csv")
