"""Psych-DS, a standard for folders of behavioural data: how data files are named and how a data set is described.

A data file stands under `data/`, is a CSV file in UTF-8 and is named by pairs of a key (lower-case letters) and a value
(letters and digits), joined by underscores, with the ending `_data.csv`. `dataset_description.json` beside `data/` is
JSON-LD in the vocabulary of schema.org and lists every column of every data file (https://psych-ds.github.io).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

import polars as pl

NAME = re.compile(r"([a-z]+-[a-zA-Z0-9]+)(_[a-z]+-[a-zA-Z0-9]+)*_data\.csv")
"""What the name of a data file must look like."""
WITHOUT_MARKS = str.maketrans({"ß": "ss", "æ": "ae", "ø": "o", "ł": "l", "đ": "d"})
LONGEST = 40


def data_name(title: str, table: str) -> str:
    """The name of a data file of a study.

    >>> data_name("Word order of comitatives (Größe)", "judgments")
    'study-WordOrderOfComitativesGrosse_description-judgments_data.csv'
    """
    plain = unicodedata.normalize("NFKD", title.translate(WITHOUT_MARKS)).encode("ascii", "ignore").decode()
    words = re.findall(r"[A-Za-z0-9]+", plain)
    study = "".join(word[0].upper() + word[1:] for word in words)[:LONGEST] or "Judgments"
    return f"study-{study}_description-{table}_data.csv"


def dataset_description(
    title: str, description: str, codebook: pl.DataFrame, *, language: str = "", creators: Sequence[str] = (),
    license: str = "",  # noqa: A002
) -> dict[str, Any]:  # fmt: skip
    """What `dataset_description.json` holds; a column that stands in both tables is one variable.

    >>> import karat
    >>> from karat.report.codebook import codebook
    >>> found = dataset_description("Study", "An example.", codebook(karat.datasets.load("likert")))
    >>> found["@type"], found["variableMeasured"][0]["name"]
    ('Dataset', 'participant')
    """
    told: dict[str, Any] = {
        "@context": "https://schema.org/", "@type": "Dataset", "name": title, "description": description,
    }  # fmt: skip
    told |= {"inLanguage": language} if language else {}
    told |= {"creator": [{"@type": "Person", "name": name} for name in creators]} if creators else {}
    told |= {"license": license} if license else {}
    return told | {"variableMeasured": _variables(codebook)}


def _variables(codebook: pl.DataFrame) -> list[dict[str, Any]]:
    variables: dict[str, dict[str, Any]] = {}
    for row in codebook.to_dicts():
        text = row["meaning"] or "a column that the study file does not explain"
        text += f" ({row['values']})" if row["values"] else ""
        known = variables.setdefault(row["column"], {"@type": "PropertyValue", "name": row["column"]})
        before = known.get("description", "")
        known["description"] = before if text in before else f"{before}; among participants: {text}" if before else text
        if row["unit"]:
            known["unitText"] = row["unit"]
    return list(variables.values())
