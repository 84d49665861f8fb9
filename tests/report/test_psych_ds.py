"""The rules of Psych-DS, one by one, on archives of several studies: what its validator calls an error, or warns of.

The rules are those of https://psychds-docs.readthedocs.io (rules and conventions; schema 1.5); each test names the
codes that the validator would give.
"""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import karat
from karat.judgments import Judgments
from karat.report.archive import Archive, archive
from karat.simulate import answer_study
from karat.study.study import load

FILE = re.compile(r"([a-z]+-[a-zA-Z0-9]+)(_[a-z]+-[a-zA-Z0-9]+)*_data\.csv")
KEYWORDS = {"study", "site", "subject", "session", "task", "condition", "trial", "stimulus", "description"}
THING = {"name", "description", "url", "identifier", "sameAs"}
PROPERTIES = {
    "Dataset": THING | {"variableMeasured", "creator", "author", "license", "inLanguage", "keywords", "citation"},
    "Person": THING | {"givenName", "familyName", "affiliation"},
    "PropertyValue": THING | {"unitText", "unitCode", "minValue", "maxValue", "value"},
}
"""The properties of schema.org that karat may use, by type."""
VALUES = {"creator": "Person", "variableMeasured": "PropertyValue"}
"""The type of the objects that a property holds."""


@pytest.fixture(scope="module", params=["likert", "differential", "without a study"])
def made(request: pytest.FixtureRequest, root: Path, tmp_path_factory: pytest.TempPathFactory) -> Archive:
    folder = tmp_path_factory.mktemp("archive") / "new"
    if request.param == "without a study":
        return archive(awkward(), folder, rules={"completion": {}}, report=False)
    study = load(root / "examples" / request.param)
    results = answer_study(study, 8, seed=2)
    return archive(results, folder, study, creators=["Ada L.", "Émile B."], license="CC0-1.0", report=False)


def awkward() -> Judgments:
    """Results whose cells and headers have what breaks careless CSV."""
    frame = {
        "participant": ["a", "a", "b", "b"], "item": ["1", "2", "1", "2"], "response": [1, 2, 3, 1],
        "the sentence, as shown": ['She said "no", and left.', "two\nlines", "", None], "größe": ["ä", "ß", "€", "=1"],
    }  # fmt: skip
    return Judgments(frame, karat.Ordinal(3))


def description(made: Archive) -> dict[str, Any]:
    content = (made.folder / "dataset_description.json").read_bytes()
    return dict(json.loads(content.decode("utf-8")))


def tables(made: Archive) -> list[Path]:
    return [made.folder / path for path in made.files if path.parts[0] == "data" and path.suffix == ".csv"]


def rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, strict=True))


def test_what_must_be_there_is(made: Archive) -> None:
    """MISSING_DATASET_DESCRIPTION, MISSING_DATA_DIRECTORY, MISSING_DATAFILE, MISSING_README_DOC, FILE_EMPTY."""
    assert (made.folder / "dataset_description.json").is_file()
    assert (made.folder / "data").is_dir()
    assert (made.folder / "README.md").is_file()
    assert len(tables(made)) == 2
    assert [path for path in made.files if not (made.folder / path).stat().st_size] == []


def test_metadata_stand_in_one_place(made: Archive) -> None:
    """WRONG_METADATA_LOCATION; no other file overrides what the description says."""
    assert [path.as_posix() for path in made.files if path.name == "dataset_description.json"] == [
        "dataset_description.json"
    ]
    assert not [path for path in made.files if path.parts[0] == "data" and path.suffix == ".json"]


def test_data_files_are_named_by_official_keywords(made: Archive) -> None:
    """FILENAME_KEYWORD_FORMATTING_ERROR, FILENAME_UNOFFICIAL_KEYWORD_WARNING."""
    for path in tables(made):
        assert FILE.fullmatch(path.name)
        pairs = [part.split("-") for part in path.name.removesuffix("_data.csv").split("_")]
        assert {key for key, _ in pairs} <= KEYWORDS
        assert len({key for key, _ in pairs}) == len(pairs)


def test_the_tables_are_plain_csv(made: Archive) -> None:
    """CSV_HEADER_MISSING, CSV_FORMATTING_ERROR, CSV_HEADER_LENGTH_MISMATCH, ROWID_VALUES_NOT_UNIQUE."""
    for path in tables(made):
        assert not path.read_bytes().startswith(b"\xef\xbb\xbf")  # a mark would become part of the first name
        header, *body = rows(path)
        assert len(set(header)) == len(header)
        assert all(name == name.strip() != "" for name in header)
        assert body
        assert {len(row) for row in body} == {len(header)}
        assert "row_id" not in header


def test_the_description_has_the_fields_that_are_asked_for(made: Archive) -> None:
    """JSON_KEY_REQUIRED, INCORRECT_DATASET_TYPE, MISSING_DATASET_TYPE."""
    about = description(made)
    assert about["@context"] == "https://schema.org/"
    assert about["@type"] == "Dataset"
    for name in ("name", "description"):
        assert isinstance(about[name], str)
        assert about[name].strip()
    assert isinstance(about["variableMeasured"], list)


def test_variables_are_the_columns_and_nothing_else(made: Archive) -> None:
    """CSV_COLUMN_MISSING_FROM_METADATA, VARIABLE_MISSING_FROM_CSV_COLUMNS."""
    names = [one["name"] for one in description(made)["variableMeasured"]]
    assert len(names) == len(set(names))
    assert set(names) == {name for path in tables(made) for name in rows(path)[0]}


def test_every_term_is_one_of_schema_org(made: Archive) -> None:
    """INVALID_SCHEMAORG_PROPERTY, OBJECT_TYPE_MISSING, INVALID_OBJECT_TYPE, UNKNOWN_NAMESPACE."""

    def look(thing: dict[str, Any]) -> None:
        assert {key for key in thing if not key.startswith("@")} <= PROPERTIES[thing["@type"]]
        for key, value in thing.items():
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, dict):
                    assert one["@type"] == VALUES[key]
                    look(one)
                else:
                    assert isinstance(one, str)

    look(description(made))


def test_the_cells_are_those_of_the_judgments(tmp_path: Path) -> None:
    results = awkward()
    found = archive(results, tmp_path / "new", rules={"completion": {}}, keep=["größe"], report=False, seed=1)
    header, *body = rows(next(path for path in tables(found) if "description-judgments" in path.name))
    at = [header.index(name) for name in ("participant", "item", "the sentence, as shown", "größe")]
    wanted = results.frame.select(
        pl.col("participant").replace_strict(found.names), "item", "the sentence, as shown", "größe"
    )  # fmt: skip
    result = sorted(tuple("" if cell is None else cell for cell in row) for row in wanted.iter_rows())
    assert sorted(tuple(row[place] for place in at) for row in body) == result


def test_a_row_id_that_repeats_is_reported(tmp_path: Path) -> None:
    """ROWID_VALUES_NOT_UNIQUE: the standard keeps this name for a key of the rows."""
    own = awkward()
    for ids, repeats in ((["1", "2", "3", "4"], False), (["1", "2", "1", "2"], True)):
        numbered = Judgments(own.frame.with_columns(pl.Series("row_id", ids)), own.scales)
        found = archive(numbered, tmp_path / str(repeats), rules={"completion": {}}, report=False)
        lines = [note for note in found.notes if "row_id" in note and "Psych-DS" in note]
        assert bool(lines) == repeats
        text = (found.folder / "README.md").read_text(encoding="utf-8")
        assert ("Psych-DS keeps the name row_id" in text) == repeats
