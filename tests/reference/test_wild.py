"""Thirty real result files, read as their authors read them: ../shared/reference/wild (see its README).

Each file is converted without options, with `--yes`, and with at most three answers (`benchmarks.wild.ANSWERS`), which
are the flags of a command line. A few short files are always tried; the others are slow.
"""

from __future__ import annotations

import csv
import io
import random
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import karat
from benchmarks import wild
from karat.intake.reading import ProposalError

FEWEST_ACCEPTED = 28
QUICK = ("b03", "c05", "d05", "f01", "j06")
MOST_ANSWERS = 3
TABLES = (
    "b01",
    "b02",
    "b03",
    "c01",
    "c05",
    "c06",
    "c08",
    "d02",
    "d05",
    "e01",
    "h02",
    "h06",
    "i01",
    "j01",
    "j03",
    "j05",
)
"""Files with one header row and no more than one line of a table per row."""
Rows = list[list[str]]


def written(rows: Rows, delimiter: str = ",", encoding: str = "utf-8") -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)
    return text.getvalue().encode(encoding)


def shuffled(rows: Rows) -> Rows:
    return [rows[0], *random.Random(1).sample(rows[1:], len(rows) - 1)]


REWRITTEN: dict[str, Callable[[Rows], bytes]] = {
    "semicolons": lambda rows: written(rows, ";"),
    "tabs": lambda rows: written(rows, "\t"),
    "UTF-16": lambda rows: written(rows, encoding="utf-16"),
    "row names of R": lambda rows: written([[str(place) if place else "", *row] for place, row in enumerate(rows)]),
    "an empty last column": lambda rows: written([[*row, ""] for row in rows]),
    "shuffled rows": lambda rows: written(shuffled(rows)),
}
"""What programs and people do to a table without changing what it says."""


@pytest.fixture(scope="module")
def cases(reference: Path) -> dict[str, dict[str, Any]]:
    """The cases by their ids."""
    if not (reference / "wild").is_dir():
        pytest.skip("the real result files (../shared/reference/wild) are not on this machine")
    return wild.cases()


@pytest.mark.slow
def test_nothing_is_read_wrongly_without_a_confirmation(cases: dict[str, dict[str, Any]]) -> None:
    outcomes = {name: wild.outcome(case) for name, case in cases.items()}
    assert {name: one.differences for name, one in outcomes.items() if one.differences} == {}
    certain = [name for name, case in cases.items() if not case["expect"]["flags"]]
    assert [name for name in certain if not outcomes[name].right] == []
    assert all(one.message.count("\n") <= 10 for one in outcomes.values())


@pytest.mark.slow
def test_first_proposals_are_right(cases: dict[str, dict[str, Any]]) -> None:
    outcomes = {name: wild.outcome(case, ["--yes"]) for name, case in cases.items()}
    assert sum(one.right for one in outcomes.values()) >= FEWEST_ACCEPTED


@pytest.mark.slow
def test_three_answers_are_enough(cases: dict[str, dict[str, Any]]) -> None:
    found = {}
    for name, case in cases.items():
        arguments = shlex.split(wild.ANSWERS.get(name, "--yes"))
        assert sum(one.startswith("--") for one in arguments) <= MOST_ANSWERS
        found[name] = wild.outcome(case, arguments)
    assert [name for name, one in found.items() if not one.right] == list(wild.REFUSED)
    assert Path(cases["j06"]["files"][0]).name in found["j06"].message


@pytest.mark.slow
@pytest.mark.parametrize("form", REWRITTEN)
@pytest.mark.parametrize("name", TABLES)
def test_the_same_in_another_form(name: str, form: str, cases: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    source = wild.WILD / cases[name]["files"][0]
    text = source.read_text(encoding="utf-8-sig", errors="replace")
    head = text.partition("\n")[0]
    with io.StringIO(text, newline="") as lines:
        rows = list(csv.reader(lines, delimiter=max(",;\t", key=head.count)))
    copy = tmp_path / source.name
    copy.write_bytes(REWRITTEN[form](rows))
    assert wild.outcome({**cases[name], "files": [str(copy)]}, ["--yes"]).right


def command(case: dict[str, Any]) -> list[str]:
    """The flags of the command that karat prints for a file which leaves something open."""
    with pytest.raises(ProposalError) as error:
        karat.read([wild.WILD / file for file in case["files"]])
    (line,) = [line for line in str(error.value).splitlines() if line.strip().startswith("karat convert")]
    words = shlex.split(line)
    assert words[:2] == ["karat", "convert"]
    assert words[-2:] == ["-o", "judgments.parquet"]
    return words[2 + len(case["files"]) : -2]


@pytest.mark.few(1)
@pytest.mark.parametrize("name", QUICK)
def test_short_files(cases: dict[str, dict[str, Any]], name: str) -> None:
    bare = wild.outcome(cases[name])
    assert bare.differences == ()
    assert bare.right == (name == "f01")
    if name in wild.REFUSED:
        assert not wild.outcome(cases[name], ["--yes"]).read
    elif not bare.right:
        assert wild.outcome(cases[name], ["--yes"]).right
        assert wild.outcome(cases[name], command(cases[name])).right, "the command that karat prints is enough"


FACTORS = {
    "a05": ["Case", "Number"],
    "b03": ["expression"],
    "c05": ["item_type"],
    "d01": ["item_part_1", "item_part_2"],
    "d02": ["report"],
    "d05": ["item_part_1", "item_part_2"],
    "h06": ["structure", "distance"],
    "j05": ["Condition"],
}
"""The authors' own factors: columns of the file, or parts of the items' names."""


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in FACTORS])
def test_factors_are_those_of_the_authors(cases: dict[str, dict[str, Any]], name: str) -> None:
    paths = [wild.WILD / file for file in cases[name]["files"]]
    assert karat.read(paths, accept=True).factors() == FACTORS[name]
