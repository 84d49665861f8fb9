"""Downloads: they read back as what is stored, ask before they unblind, and keep formulas from running."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import polars as pl
import pytest

import karat
from field.admin.fielding import Fielded
from field.server.visitor import Reply, Visitor
from karat.field.store import arrivals, export, studies

FORMULA = '=HYPERLINK("http://elsewhere.example")'


def fetch(visitor: Visitor, name: str) -> Reply:
    """A download, with the question that may come before it answered."""
    reply = visitor.get(f"/admin/blind/download/{name}")
    if reply.headers["content-type"].startswith("text/html"):
        (form,) = [form for form in reply.forms if "/download/" in form.action]
        reply = visitor.send(form)
    assert reply.status == 200, reply.text
    assert reply.headers["content-disposition"] == f'attachment; filename="blind-{name}"'
    return reply


def unpacked(reply: Reply, folder: Path) -> Path:
    with zipfile.ZipFile(io.BytesIO(reply.body)) as archive:
        archive.extractall(folder)
    return folder / "judgments.csv"


def stored(fielded: Fielded) -> karat.Judgments:
    with fielded.store.read() as connection:
        return export.judgments(connection, fielded.id, fielded.study)


def test_judgments_read_back_and_formulas_do_not_run(researcher: Visitor, fielded: Fielded, tmp_path: Path) -> None:
    for _ in range(2):
        fielded.finish(comment=FORMULA)
    wanted = stored(fielded)
    assert len(wanted) > 20
    path = tmp_path / "judgments.parquet"
    path.write_bytes(fetch(researcher, "judgments.parquet").body)
    assert karat.read(path) == wanted
    for name, comment in (("judgments-csv.zip", f"'{FORMULA}"), ("judgments-raw-csv.zip", FORMULA)):
        table = unpacked(fetch(researcher, name), tmp_path / name)
        read = karat.read(table)
        assert read.frame.equals(wanted.frame)
        assert read.scales == wanted.scales
        people = pl.read_csv(table.with_name("judgments.participants.csv"))
        assert people["comment"].to_list() == [comment] * 2
    people = pl.read_csv(io.BytesIO(fetch(researcher, "participants.csv").body))
    assert people["comment"].to_list() == [f"'{FORMULA}"] * 2


@pytest.mark.slow
def test_open_study_hands_out_answers_only_after_asking(researcher: Visitor, fielded: Fielded) -> None:
    fielded.finish()
    asked = researcher.get("/admin/blind/download/judgments.parquet")
    assert "See the answers before the study ends?" in asked.text
    assert "no longer blind" not in researcher.get("/admin/blind").text
    fetch(researcher, "judgments.parquet")
    assert "no longer blind: answers to test trials" in researcher.get("/admin/blind").text


@pytest.mark.slow
def test_a_closed_study_gives_its_answers_at_once(researcher: Visitor, fielded: Fielded) -> None:
    fielded.finish()
    fielded.store.call(studies.set_state, fielded.id, "closed")
    reply = researcher.get("/admin/blind/download/judgments.parquet")
    assert reply.body[:4] == b"PAR1"
    assert "no longer blind" not in researcher.get("/admin/blind").text


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(("name", "there"), [("participants.csv", False), ("participants-with-ids.csv", True)])
def test_platform_ids_only_on_request(researcher: Visitor, fielded: Fielded, name: str, there: bool) -> None:
    fielded.come(identity=arrivals.Identity("worker-1", "s", "t"), platform="prolific", person_hash="h" * 64)
    assert (b"worker-1" in fetch(researcher, name).body) == there


@pytest.mark.slow
def test_the_codebook_names_every_column(researcher: Visitor, fielded: Fielded) -> None:
    fielded.finish()
    fielded.answer(fielded.come(person_hash="h" * 64))
    book = pl.read_csv(io.BytesIO(fetch(researcher, "codebook.csv").body))
    judgments = stored(fielded)
    own = book.filter(pl.col("table") == "judgments")
    assert own["column"].to_list() == judgments.frame.columns
    people = book.filter(pl.col("table") == "participants")
    assert people["column"].to_list() == judgments.participants.columns
    region = people.row(by_predicate=pl.col("column") == "region", named=True)
    assert (region["meaning"], region["values"]) == ("answer to: Where do you live?", "north; south")
    assert book["meaning"].null_count() == 0, book.filter(pl.col("meaning").is_null())
    of_items = own.filter(pl.col("meaning") == "a column of the item table")["column"].to_list()
    assert set(of_items) <= set(fielded.study.blocks[0].items.frame.columns)


@pytest.mark.slow
def test_events_can_be_downloaded(researcher: Visitor, fielded: Fielded) -> None:
    fielded.finish()
    assert fetch(researcher, "events.csv").body.startswith(b"participant,")


@pytest.mark.slow
def test_nothing_is_left_behind(
    researcher: Visitor, fielded: Fielded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    empty = researcher.get("/admin/blind/download/codebook.csv")
    assert (empty.status, "There are no answers yet." in empty.text) == (422, True)
    fielded.finish()
    fetch(researcher, "codebook.csv")
    assert list((tmp_path / "temporary").iterdir()) == []
