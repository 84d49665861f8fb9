"""What holds for every reader: it knows its files, accounts for every unit, and survives broken input."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from commands import run
from intake.cases import CASES, FIXTURES, Case
from karat.cli.options import intake_lines
from karat.intake.readers import READERS, reader_for
from karat.judgments import Judgments
from karat.judgments.source import SourceFile

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def test_every_reader_has_a_case() -> None:
    assert {case.reader for case in CASES} == {reader.name for reader in READERS}


@each_case
def test_files_are_recognised(case: Case) -> None:
    found = {reader_for(SourceFile(path)).name for path in case.paths() if path.is_file()}
    assert case.reader in found


@pytest.mark.few(8)
@each_case
def test_every_unit_is_accounted_for(case: Case) -> None:
    intake = case.read()
    assert intake.units_in == case.units
    assert len(intake.judgments) == case.judgments
    assert intake.units_in == len(intake.judgments) + sum(intake.set_aside.values()) + intake.skipped_units


@pytest.mark.few(8)
@each_case
def test_account_names_the_files_and_the_summary(case: Case) -> None:
    intake = case.read()
    text = "\n".join(intake_lines(intake))
    assert "read       " in text
    assert f"{intake.judgments.frame['response'].count():,} answer" in text


@pytest.mark.few(8)
@each_case
def test_what_was_read_survives_a_round_trip(case: Case, tmp_path: Path) -> None:
    judgments = case.read().judgments
    judgments.to_parquet(tmp_path / "judgments.parquet")
    assert karat.read(tmp_path / "judgments.parquet") == judgments
    judgments.to_csv(tmp_path / "judgments.csv")
    assert karat.read(tmp_path / "judgments.csv") == judgments


@pytest.mark.few(3)
@each_case
def test_command_converts(case: Case, tmp_path: Path) -> None:
    out = tmp_path / "judgments.parquet"
    output, _ = run("convert", *case.paths(), *case.flags, "-o", out, "--json")
    read = karat.read(out)
    counts = json.loads(output)
    assert (counts["rows"], len(read)) == (case.judgments, case.judgments)
    assert counts["answers"] == sum(response is not None for response in read.frame["response"])


mutations = st.lists(
    st.tuples(
        st.sampled_from(["cut", "delete line", "double line", "insert", "swap cells", "quote", "garble", "bytes"]),
        st.integers(0, 10**9),
        st.binary(min_size=1, max_size=6),
    ),
    min_size=1,
    max_size=4,
)
ODD = [b"\0", b'"', b"\xff\xfe", b"\xc3", b"=1+1", b"{", b"[[", b"null", b"\r", b"\xef\xbb\xbf", b"-5", b"x" * 5000]


def mutated(content: bytes, changes: list[tuple[str, int, bytes]]) -> bytes:
    """The content of a file after some accidents."""
    for kind, where, what in changes:
        lines = content.split(b"\n")
        line = where % len(lines)
        at = where % (len(content) + 1)
        if kind == "cut":
            content = content[:at]
        elif kind == "delete line":
            content = b"\n".join(lines[:line] + lines[line + 1 :])
        elif kind == "double line":
            content = b"\n".join(lines[: line + 1] + lines[line:])
        elif kind == "insert":
            content = content[:at] + ODD[where % len(ODD)] + content[at:]
        elif kind == "swap cells":
            cells = lines[line].split(b",")
            lines[line] = b",".join(cells[::-1])
            content = b"\n".join(lines)
        elif kind == "quote":
            content = content.replace(b'"', b"'") if where % 2 else content[:at] + b'"' + content[at:]
        elif kind == "garble":
            content = content.decode("utf-8", "replace").encode("utf-16" if where % 2 else "cp1252", "replace")
        else:
            content = content[:at] + what + content[at + len(what) :]
    return content


@pytest.mark.parametrize("case", CASES[:: len(CASES) // 3], ids=lambda case: case.name)
@settings(max_examples=10)
@given(changes=mutations, which=st.integers(0, 9), skip_bad=st.booleans())
def test_broken_files_give_a_table_or_a_sentence(
    case: Case, changes: list[tuple[str, int, bytes]], which: int, skip_bad: bool
) -> None:
    assert_table_or_sentence(case, changes, which, skip_bad)


@pytest.mark.slow
@each_case
@settings(max_examples=100, derandomize=False)
@given(changes=mutations, which=st.integers(0, 9), skip_bad=st.booleans())
def test_many_more_broken_files(case: Case, changes: list[tuple[str, int, bytes]], which: int, skip_bad: bool) -> None:
    assert_table_or_sentence(case, changes, which, skip_bad)


def assert_table_or_sentence(case: Case, changes: list[tuple[str, int, bytes]], which: int, skip_bad: bool) -> None:
    """Break one file of a case and read it: a balanced table or a clear error, never a traceback."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "case"
        shutil.copytree(FIXTURES / case.name, folder)
        inside = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "case.toml")
        victim = inside[which % len(inside)]
        victim.write_bytes(mutated(victim.read_bytes(), changes))
        intake, message = None, ""
        try:
            intake = case.read(folder, skip_bad=skip_bad)
        except karat.KaratError as error:
            message = str(error)
        if intake is None:
            assert message.strip()
            assert "Traceback" not in message
        else:
            assert isinstance(intake.judgments, Judgments)
            assert intake.units_in == len(intake.judgments) + sum(intake.set_aside.values()) + intake.skipped_units
