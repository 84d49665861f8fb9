"""The documents of an archive: README, codebook, and Psych-DS description.

The codebook has every column of both tables with its meaning, type, values, and number of missing cells. Meanings come
from the columns that karat knows and from the study file (factors, background questions, labels of the scale); other
meanings are empty, for the authors to fill in. Values are listed if they are few and do not identify a person; for
numbers, the smallest and the largest are given.

Psych-DS (https://psych-ds.github.io) names a data file by pairs of a key (lower-case letters) and a value (letters and
digits), joined by underscores, with the ending `_data.csv`; `dataset_description.json` beside `data/` is JSON-LD in the
vocabulary of schema.org and lists every column of every data file.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from karat import __version__
from karat.errors import counted
from karat.intake.personal import names_a_person
from karat.judgments import Judgments
from karat.judgments.columns import COLUMNS
from karat.judgments.stimuli import natural_order
from karat.measure.result import schema_of
from karat.screen.screening import Screening
from karat.study.results import MEANINGS_OF_ANSWERS, MEANINGS_OF_PEOPLE
from karat.study.study import Study

RULES = "rules.toml"
"""The file in materials/ with the rules, if there is no study file."""
WORKBOOK = "judgments.xlsx"
"""The file in data/raw/ with both tables for a spreadsheet program."""


def readme(
    screening: Screening, study: Study | None, removed: Mapping[str, str], kept: Sequence[str], notes: Sequence[str],
    *, report: bool,
) -> str:  # fmt: skip
    """The text of README.md."""
    judgments = screening.judgments
    counts = f"{counted(len(judgments), 'judgment')} by {counted(judgments.participants.height, 'participant')}"
    lines = [
        f"# {'Judgments' if study is None else study.title}\n",
        f"{counts}; archived with karat {__version__} in the form of Psych-DS.\n",
        *(f"{change}\n" for change in screening.changes),
        "## What is where\n",
        "- `dataset_description.json`: what the data are, and every column",
        "- `data/`: judgments and participants as CSV; `data/raw/judgments.parquet` has both, with types and scales",
        f"- `data/raw/{WORKBOOK}`: both for a spreadsheet program, with texts in text cells",
        *(
            ["- `materials/`: the study file, its tables and images, as they were used"]
            if study is not None
            else [f"- `materials/{RULES}`: the rules of screening"]
            if screening.exclude is not None
            else []
        ),
        "- `documentation/codebook.csv`: every column with its meaning, type, values and missing cells",
        *(["- `documentation/methods.*.md`: methods in words, cited by keys of `literature.bib`"] if report else []),
        *([] if study is None else ["- `documentation/preregistration.*.md`: what the study file states beforehand"]),
        "- `results/screening/`: what each criterion found about each participant, and who stays",
        *(["- `results/report.html`: the report; open it in a browser"] if report else []),
        "- `checksums.txt`: SHA-256 of every file; check them with `sha256sum --check checksums.txt`\n",
        "## Who took part\n",
        "Participants have new names, dealt at random. " + _columns(removed, kept) + "\n",
        _screened(screening, study) + "\n",
        "## How to read the tables\n",
        "Everything under `data/` is raw: all answers of everybody, as they were given. Only names and the order of "
        "participants are new, and the columns above are gone. A spreadsheet may run a text that begins with =, +, - "
        f"or @ in a CSV file as a formula: open `data/raw/{WORKBOOK}` instead, where they are text. "
        "In `results/screening/` an apostrophe marks such texts.\n",
        "```text",
        f"karat screen data/raw/judgments.parquet{_rules(screening, study)}",
        "```\n",
        "finds the screening again, but for criteria that look at columns that were taken away.",
    ]
    lines += ["\n## To look at before publishing\n", *(f"- {note}" for note in notes)] if notes else []
    return "\n".join(lines) + "\n"


def _columns(removed: Mapping[str, str], on_request: Sequence[str]) -> str:
    sentences = [f"`{name}` ({why})" for name, why in removed.items()]
    text = f"Columns that were taken away: {', '.join(sentences)}." if sentences else "No column was taken away."
    return text + (f" Kept on request: {', '.join(f'`{name}`' for name in on_request)}." if on_request else "")


def _rules(screening: Screening, study: Study | None) -> str:
    """The option that repeats the rules in a command."""
    if study is not None:
        return f" --study materials/{study.path.name}"
    return "" if screening.exclude is None else f" --rules materials/{RULES}"


def _screened(screening: Screening, study: Study | None) -> str:
    everyone, excluded = screening.judgments.participants.height, len(screening.excluded)
    if screening.exclude is None:
        return "No rule of exclusion was stated, so that nobody is excluded."
    rules = "the rules that were given" if study is None else f"the rules of the study file ({study.fingerprint})"
    text = f"By {rules}, {excluded:,} of {counted(everyone, 'participant')} are excluded; their data are here as well."
    return text + (f" {' and '.join(screening.skipped)} could not run." if screening.skipped else "")


MOST_VALUES = 20
"""The most values of a column that are listed; of more, only their number is given."""
UNITS = {"rt": "seconds", "first_rt": "seconds", "working_time": "seconds", "away": "seconds"}
PRIVATE = ("participant", "person", "comment", "platform_id", "platform_session", "same_as")
"""Columns whose values are never listed."""
MORE = {
    "left_text": "what was shown first: left or above",
    "right_text": "what was shown second: right or below",
    "status": "what the platform says of the submission",
    "planned": "how many trials the participant was to answer",
}
SCHEMA = schema_of("table:s column:s type:s unit:s meaning:s values:s missing:i rows:i")


def codebook(judgments: Judgments, study: Study | None = None) -> pl.DataFrame:
    """One row per column: table, column, type, unit, meaning, values, missing and rows."""
    rows = [_row("judgments", judgments.frame[name], judgments, study) for name in judgments.frame.columns]
    people = judgments.participants
    rows += [_row("participants", people[name], judgments, study) for name in people.columns]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _row(table: str, column: pl.Series, judgments: Judgments, study: Study | None) -> tuple[object, ...]:
    name = column.name
    meaning = _judgment(name, study) if table == "judgments" else _person(name, study)
    values = _scales(judgments, study) if (table, name) == ("judgments", "response") else _values(column, study)
    return table, name, kind(column.dtype), UNITS.get(name, ""), meaning, values, column.null_count(), len(column)


def kind(dtype: pl.DataType) -> str:
    """The type of a column in a word or two."""
    if dtype.is_integer():
        return "whole number"
    if dtype.is_float():
        return "number"
    if dtype.is_temporal():
        return "time"
    return "true or false" if dtype == pl.Boolean else "text"


def _judgment(name: str, study: Study | None) -> str:
    if name in COLUMNS:
        return COLUMNS[name].meaning
    blocks = () if study is None else study.blocks
    if any(name in block.settings.factors for block in blocks):
        return "a factor of the design"
    meaning = MEANINGS_OF_ANSWERS.get(name) or MORE.get(name)
    if meaning:
        return meaning
    return "a column of the item table" if any(name in block.items.frame.columns for block in blocks) else ""


def _person(name: str, study: Study | None) -> str:
    questions = {} if study is None else {question.name: question.question for question in study.settings.background}
    if name in questions:
        return f"answer to: {questions[name]}"
    if name == "participant":
        return COLUMNS[name].meaning
    return MEANINGS_OF_PEOPLE.get(name) or MORE.get(name, "")


def _scales(judgments: Judgments, study: Study | None) -> str:
    """The scale of each question and its labels."""
    same: dict[str, list[str]] = {}
    for question, scale in judgments.scales.items():
        same.setdefault(f"{scale.kind}: {scale.known()}", []).append(question)
    sentences = [text if len(same) == 1 else f"{', '.join(names)}: {text}" for text, names in same.items()]
    blocks = () if study is None else study.blocks
    sentences += [
        f"shown as {', '.join(block.settings.scale.labels)}" for block in blocks if block.settings.scale.labels
    ]
    return "; ".join(dict.fromkeys(sentences))


def _values(column: pl.Series, study: Study | None) -> str:
    """The levels in the study file, else the values of the column if they are few."""
    name, values = column.name, column.drop_nulls()
    levels = {} if study is None else {n: f.levels for block in study.blocks for n, f in block.settings.factors.items()}
    if name in levels:
        return ", ".join(levels[name])
    if not len(values) or name in PRIVATE or names_a_person(name):
        return ""
    if column.dtype.is_numeric():
        low, high = values.cast(pl.Float64).sort().gather([0, -1]).to_list()
        return f"{low:g} to {high:g}"
    if column.dtype.is_temporal():
        return ""
    different = values.n_unique()
    if different <= MOST_VALUES and different < len(values):
        return ", ".join(sorted(values.unique().cast(pl.String), key=natural_order))
    return f"{different:,} different values"


NAME = re.compile(r"([a-z]+-[a-zA-Z0-9]+)(_[a-z]+-[a-zA-Z0-9]+)*_data\.csv")
"""The form of the name of a data file."""
WITHOUT_MARKS = str.maketrans({"ß": "ss", "æ": "ae", "ø": "o", "ł": "l", "đ": "d"})
LONGEST = 40


def data_name(title: str, table: str) -> str:
    """The name of a data file of a study."""
    plain = unicodedata.normalize("NFKD", title.translate(WITHOUT_MARKS)).encode("ascii", "ignore").decode()
    words = re.findall(r"[A-Za-z0-9]+", plain)
    study = "".join(word[0].upper() + word[1:] for word in words)[:LONGEST] or "Judgments"
    return f"study-{study}_description-{table}_data.csv"


def dataset_description(
    title: str, description: str, codebook: pl.DataFrame, *, language: str = "", creators: Sequence[str] = (),
    license: str = "",  # noqa: A002
) -> dict[str, Any]:  # fmt: skip
    """The content of `dataset_description.json`; a column of both tables is one variable."""
    optional = {
        "inLanguage": language, "creator": [{"@type": "Person", "name": name} for name in creators], "license": license,
    }  # fmt: skip
    return {
        "@context": "https://schema.org/", "@type": "Dataset", "name": title, "description": description,
        **{key: value for key, value in optional.items() if value}, "variableMeasured": _variables(codebook),
    }  # fmt: skip


def _variables(codebook: pl.DataFrame) -> list[dict[str, Any]]:
    variables: dict[str, dict[str, Any]] = {}
    for row in codebook.to_dicts():
        text = row["meaning"] or "a column that the study file does not explain"
        text += f" ({row['values']})" if row["values"] else ""
        variable = variables.setdefault(row["column"], {"@type": "PropertyValue", "name": row["column"]})
        before = variable.get("description", "")
        variable["description"] = (
            before if text in before else f"{before}; among participants: {text}" if before else text
        )
        if row["unit"]:
            variable["unitText"] = row["unit"]
    return list(variables.values())
