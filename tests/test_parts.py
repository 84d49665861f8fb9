"""Judgments on disk, in parts."""

from __future__ import annotations

import pickle
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import karat
from field.postgres import NoPostgresError, a_database
from karat.errors import JudgmentsError
from karat.judgments.parts import Parts, PartsError, is_database, open_parts, pieces, pieces_of_csv, repartition
from karat.judgments.parts.folder import Folder, open_folder
from messages import refuses
from screen.judged import crowd
from screen.parted.splitting import split, whole
from strategies import judgments as any_judgments

ROWS = pl.DataFrame({"participant": ["a", "a", "b"], "item": ["x", "y", "x"], "response": ["1", "5", "3"]})


def folder_of(tmp_path: Path, *frames: pl.DataFrame) -> Path:
    for number, frame in enumerate(frames):
        frame.write_parquet(tmp_path / f"{number}.parquet")
    return tmp_path


def test_files_that_karat_wrote_know_their_scales_and_people(tmp_path: Path) -> None:
    likert = karat.datasets.load("likert")
    parts = split(likert, (0.3, 0.7), tmp_path)
    assert len(parts) == 2
    assert parts.scales == likert.scales
    assert whole(parts) == likert
    assert pickle.loads(pickle.dumps(parts)) == parts
    assert parts.name(1) == "001.parquet"


def test_other_files_need_a_scale_and_names(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, ROWS.rename({"participant": "who"}), ROWS.rename({"participant": "who"}))
    with refuses(PartsError, "0.parquet", "--scale ordinal:1-5"):
        open_parts(folder)
    with refuses(JudgmentsError, "0.parquet", "participant", "--map participant=NAME"):
        open_parts(folder, karat.Ordinal(5)).read(0)
    parts = open_parts(folder, karat.Ordinal(5), mapping={"participant": "who"})
    assert parts.read(1).frame["participant"].to_list() == ["a", "a", "b"]
    with refuses(PartsError, "0.parquet", "--map participant=whoo", "who"):
        open_parts(folder, karat.Ordinal(5), mapping={"participant": "whoo"})
    with refuses(PartsError, "--map participants=who", "participant"):
        open_parts(folder, karat.Ordinal(5), mapping={"participants": "who"})


def test_mapping_may_rename_or_drop_columns(tmp_path: Path) -> None:
    frame = ROWS.with_columns(sentence=pl.Series(["s1", "s2", "s1"]), trial=pl.Series(["no", "number", "here"]))
    parts = open_parts(folder_of(tmp_path, frame), karat.Ordinal(5), mapping={"item": "sentence", "trial": ""})
    read = parts.read(0).frame
    assert read["item"].to_list() == ["s1", "s2", "s1"]
    assert "trial" not in read.columns


def test_a_mapping_may_swap_columns_and_use_one_twice(tmp_path: Path) -> None:
    frame = ROWS.with_columns(pair=pl.Series(["s1", "s2", "s1"]))
    mapping = {"item": "pair", "pair": "item", "block": "item"}
    read = open_parts(folder_of(tmp_path, frame), karat.Ordinal(5), mapping=mapping).read(0).frame
    assert read.select("item", "pair", "block").rows() == [("s1", "x", "x"), ("s2", "y", "y"), ("s1", "x", "x")]


def test_questions_of_all_parts_get_the_one_scale(tmp_path: Path) -> None:
    frames = [ROWS.with_columns(question=pl.lit(name)) for name in ("warm", "cold")]
    parts = open_parts(folder_of(tmp_path, *frames), karat.Ordinal(5))
    assert parts.read(0).scales == {"warm": karat.Ordinal(5), "cold": karat.Ordinal(5)}


def test_what_is_wrong_is_reported_with_the_file(tmp_path: Path) -> None:
    wrong = ROWS.with_columns(response=pl.Series(["1", "9", "3"]))
    parts = open_parts(folder_of(tmp_path, ROWS, wrong), karat.Ordinal(5))
    with refuses(JudgmentsError, "1.parquet", "row 2", "response", '"9"'):
        parts.read(1)


@pytest.mark.parametrize(
    ("frames", "names"),
    [
        ((ROWS, ROWS.with_columns(rt=1.0)), ("1.parquet", "rt", "0.parquet")),
        (
            (ROWS.with_columns(age=20), ROWS.with_columns(age=pl.lit("old"))),
            ("1.parquet", "column age", "String"),
        ),
    ],
)
def test_files_must_be_one_table(frames: Any, names: tuple[str, ...], tmp_path: Path) -> None:
    with refuses(PartsError, *names):
        open_parts(folder_of(tmp_path, *frames), karat.Ordinal(5))


def test_columns_without_any_value_and_in_another_order(tmp_path: Path) -> None:
    empty = ROWS.with_columns(age=pl.lit(None)).select("age", *ROWS.columns)
    parts = open_parts(folder_of(tmp_path, empty, ROWS.with_columns(age=pl.lit(3, dtype=pl.UInt8))), karat.Ordinal(5))
    first, second = parts.read(0).frame, parts.read(1).frame
    assert first.schema == second.schema
    assert first.schema["age"] == pl.Int64


def test_folders_without_parts_and_damaged_files(tmp_path: Path) -> None:
    with refuses(PartsError, f"karat convert {tmp_path}", "--parts 8"):
        open_parts(tmp_path)
    with refuses(PartsError, f"karat convert {tmp_path / 'nowhere'}", "--parts 8"):
        open_parts(tmp_path / "nowhere")
    (tmp_path / "a.parquet").write_bytes(b"PAR1 nothing")
    with refuses(PartsError, tmp_path / "a.parquet"):
        open_parts(tmp_path, karat.Ordinal(5))


def test_a_part_that_is_cut_off_is_named_with_the_fix(tmp_path: Path) -> None:
    split(karat.datasets.load("likert"), (0.3, 0.7), tmp_path)
    opened = open_parts(tmp_path)
    part = tmp_path / "001.parquet"
    part.write_bytes(part.read_bytes()[:-100])
    for look in (lambda: open_parts(tmp_path), lambda: opened.read(1), lambda: list(pieces(opened))):
        with refuses(PartsError, part):
            look()


def test_hidden_files_are_no_parts(tmp_path: Path) -> None:
    folder_of(tmp_path, ROWS)
    (tmp_path / ".0.parquet.tmp.parquet").write_bytes(b"half")
    (tmp_path / "_metadata.parquet").write_bytes(b"other")
    assert len(open_parts(tmp_path, karat.Ordinal(5))) == 1


def test_a_part_that_does_not_fit_is_refused_with_the_fix(tmp_path: Path) -> None:
    folder = tmp_path / "{lab}"  # braces in a name are no placeholders
    folder.mkdir()
    crowd(karat.Ordinal(5), people=200).to_parquet(folder / "large.parquet")
    open_parts(folder, memory=100_000_000)
    with refuses(PartsError, "large.parquet", "0.0002 GB", f"karat convert {folder} --parts 4"):
        open_parts(folder, memory=200_000)


def test_a_changed_file_has_another_stamp(tmp_path: Path) -> None:
    before = open_parts(folder_of(tmp_path, ROWS), karat.Ordinal(5))
    assert before.stamp(0) == open_parts(tmp_path, karat.Ordinal(5)).stamp(0)
    assert before.stamp(0) != open_parts(tmp_path, karat.Ordinal(7)).stamp(0)
    ROWS.head(2).write_parquet(tmp_path / "0.parquet")
    after = open_parts(tmp_path, karat.Ordinal(5))
    assert before.stamp(0) != after.stamp(0)


def test_parts_are_dealt_out_by_participant(tmp_path: Path) -> None:
    judgments = crowd(karat.Ordinal(5), people=50)
    # Rows of participants are scattered over three files.
    scattered = judgments.frame.sample(fraction=1.0, shuffle=True, seed=1)
    people = judgments.participants.with_columns(age=pl.int_range(pl.len()))
    (tmp_path / "in").mkdir()
    for number in range(3):
        own = scattered.gather_every(3, number)
        known = people.filter(pl.col("participant").is_in(own["participant"].unique().implode()))
        karat.Judgments(own, karat.Ordinal(5), known).to_parquet(tmp_path / "in" / f"{number}.parquet")
    folder = open_folder(tmp_path / "in", None, {}, None)
    files = repartition(pieces(folder, 100), tmp_path / "out", 4)
    assert [file.name for file in files] == [f"part-0000{number}.parquet" for number in (1, 2, 3, 4)]
    parts = open_parts(tmp_path / "out")
    read = [parts.read(number) for number in range(4)]
    names = [name for one in read for name in one.participants["participant"].to_list()]
    assert sorted(names) == judgments.participants["participant"].sort().to_list()
    by = ["participant", "trial"]
    assert_frame_equal(pl.concat([one.frame for one in read]).sort(by), judgments.frame.sort(by))
    assert_frame_equal(pl.concat([one.participants for one in read]).sort("participant"), people.sort("participant"))
    assert not (tmp_path / "out" / ".piles").exists()


@pytest.mark.slow
@given(table=any_judgments(), parts=st.integers(1, 4), rows=st.integers(1, 5))
def test_nothing_is_lost_when_any_table_is_dealt_out(
    table: karat.Judgments, parts: int, rows: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("deal")
    table.to_parquet(folder / "in.parquet")
    files = repartition(pieces(open_folder(folder / "in.parquet", None, {}, None), rows), folder / "out", parts)
    read = [karat.read(file) for file in files]
    by = ["participant", "trial"]
    assert_frame_equal(pl.concat([one.frame for one in read]).sort(by), table.frame.sort(by))
    assert all(one.scales == table.scales for one in read)
    people = pl.concat([one.participants for one in read])
    assert_frame_equal(people.sort("participant"), table.participants.sort("participant"))


def test_csv_is_dealt_out_some_rows_at_a_time(tmp_path: Path) -> None:
    judgments = crowd(karat.Ordinal(5))
    judgments.frame.rename({"participant": "who"}).write_csv(tmp_path / "answers.csv")
    tables = pieces_of_csv([tmp_path / "answers.csv"], karat.Ordinal(5), {"participant": "who"}, 70)
    parts = open_parts(repartition(tables, tmp_path / "out", 3)[0].parent)
    by = ["participant", "trial"]
    assert_frame_equal(whole(parts).frame.sort(by), judgments.frame.sort(by))
    (tmp_path / "bad.csv").write_text("participant,item,response\na,x,1\na,y,\nb,x,9\n", encoding="utf-8")
    with refuses(JudgmentsError, "bad.csv", "row 3", "response", '"9"'):
        list(pieces_of_csv([tmp_path / "bad.csv"], karat.Ordinal(5), {}, 2))


def test_what_cannot_be_dealt_out(tmp_path: Path) -> None:
    judgments = crowd(karat.Ordinal(5))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with refuses(PartsError, tmp_path / "full"):
        repartition([judgments], tmp_path / "full", 2)
    with refuses(PartsError, "--parts 0"):
        repartition([judgments], tmp_path / "out", 0)
    with refuses(PartsError, "1, 2, 3, 4, 5, 6, 7"):
        repartition([judgments, crowd(karat.Ordinal(7), seed=2)], tmp_path / "out", 2)
    with refuses(JudgmentsError, "row 271", "row 1"):
        repartition([judgments, judgments], tmp_path / "twice", 2)


def test_addresses() -> None:
    assert is_database(Path("postgresql://me@host/lab#answers"))
    assert not is_database(Path("answers/postgresql"))
    assert is_database(Path("postgresql:///lab#answers"))
    with refuses(PartsError, "postgresql:///lab#judgments"):
        open_parts(Path("postgresql:///lab"), karat.Ordinal(5))
    with refuses(PartsError, "postgresql://me@host/lab#judgments"):
        open_parts("postgresql://me:secret@host/lab", karat.Ordinal(5))
    with refuses(PartsError, "postgresql://me@host/lab?port=1#judgments"):
        open_parts("postgresql://me@host/lab?password=secret&port=1", karat.Ordinal(5))
    with refuses(PartsError, "table answers", "--scale ordinal:1-5"):
        open_parts("postgresql://me@host/lab#answers")


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    """A database with the likert data in the table answers, and under other names in lab.answers."""
    psycopg = pytest.importorskip("psycopg")
    folder = Path(tempfile.mkdtemp(prefix="karat-pg-"))
    try:
        with a_database(folder) as url:
            address = url.replace("+psycopg", "")
            with psycopg.connect(address) as connection:
                _fill(connection)
            yield address
    except NoPostgresError as error:
        pytest.skip(str(error))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


LIKERT_COLUMNS = ("participant", "item", "response", "trial", "rt", "function", "status", "expected")


def _fill(connection: Any) -> None:
    frame = karat.datasets.load("likert").frame
    types = {"trial": "integer", "rt": "double precision"}
    columns = ", ".join(f"{name} {types.get(name, 'text')}" for name in LIKERT_COLUMNS)
    connection.execute(f"CREATE TABLE answers ({columns}, seen boolean)")
    connection.execute("CREATE SCHEMA lab")
    rows = frame.select(*LIKERT_COLUMNS, seen=pl.col("trial") % 2 == 0).sample(fraction=1.0, shuffle=True, seed=1)
    places = ", ".join(["%s"] * rows.width)
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO answers VALUES ({places})", rows.rows())
    connection.execute("CREATE TABLE lab.answers AS SELECT participant AS who, item, response, trial, rt FROM answers")
    connection.execute(
        "CREATE TABLE lab.asked AS SELECT participant, item, response, trial, item AS question, "
        "TIMESTAMPTZ '2026-05-03 12:34:56Z' AS time FROM answers"
    )


@pytest.mark.slow
def test_a_table_in_parts(database: str) -> None:
    likert = karat.datasets.load("likert")
    parts: Parts = open_parts(f"{database}#answers", likert.scale, parts=5)
    assert len(parts) == 5
    assert not isinstance(parts, Folder)
    # A command line takes the address for a path, which has lost a stroke.
    assert open_parts(str(Path(f"{database}#answers")), likert.scale, parts=5) == parts
    read = [pickle.loads(pickle.dumps(parts)).read(number) for number in range(5)]
    assert sum(one.participants.height for one in read) == 48
    assert [len(one) for one in read] == list(parts.rows)
    expected = likert.frame.select(*LIKERT_COLUMNS, seen=pl.col("trial") % 2 == 0).sort("participant", "trial")
    found = pl.concat([one.frame for one in read]).sort("participant", "trial")
    assert_frame_equal(found.select(expected.columns), expected)
    # Within a part, trials stand in order.
    assert all((one.frame["trial"].diff() > 0).sum() >= len(one) - one.participants.height for one in read)


def test_a_question_that_is_left_out_and_moments_of_a_table(database: str) -> None:
    scale = karat.datasets.load("likert").scale
    parts = open_parts(f"{database}#lab.asked", scale, mapping={"question": ""})
    assert parts.scales == {"": scale}
    read = parts.read(0).frame
    assert "question" not in read.columns
    assert read["time"].unique().to_list() == [datetime(2026, 5, 3, 12, 34, 56, tzinfo=UTC)]
    assert len(open_parts(f"{database}#lab.asked", scale).scales) == read["item"].n_unique()


def test_settings_of_a_session_change_nothing(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(database) as connection:
        own = connection.execute("SELECT 1 FROM pg_collation WHERE collname = 'en-x-icu'").fetchone()
        collation = "en-x-icu" if own else "default"
        connection.execute(f'CREATE TABLE lab.sorted (participant text COLLATE "{collation}", item text, '
                           "response int, time timestamptz)")  # fmt: skip
        for who in ("a", "B", "b", "I", "ı"):
            connection.execute("INSERT INTO lab.sorted VALUES (%s, 'x', 1, '2026-05-03 23:34:56Z')", (who,))
    settings = {"PGTZ": "Asia/Tokyo", "PGDATESTYLE": "German", "PGCLIENTENCODING": "LATIN5"}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    read = open_parts(f"{database}#lab.sorted", karat.Ordinal(5)).read(0).frame
    assert read["participant"].to_list() == ["B", "I", "a", "b", "ı"]
    assert read["time"].unique().to_list() == [datetime(2026, 5, 3, 23, 34, 56, tzinfo=UTC)]


def test_a_table_under_other_names_and_wrong_addresses(database: str) -> None:
    scale = karat.datasets.load("likert").scale
    parts = open_parts(f"{database}#lab.answers", scale, mapping={"participant": "who"})
    assert len(parts) == 1
    assert parts.read(0).participants.height == 48
    with refuses(PartsError, "lab.answers", "--map participant=NAME"):
        open_parts(f"{database}#lab.answers", scale)
    with refuses(PartsError, "table nothing"):
        open_parts(f"{database}#nothing", scale)
    with refuses(PartsError, "2 parts", "0.0001 GB", "--parts"):
        open_parts(f"{database}#answers", scale, parts=2, memory=100_000)
