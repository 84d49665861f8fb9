"""The short form of a semantic differential: one pair for each dimension, as a study to follow.

The representative of a dimension is the pair that it carries with the largest gap between its loading there and its
largest other loading; so it stands for that dimension and for no other. The study that is written is the first one with
these pairs alone: the same texts, scale, instructions and screening, and a new title.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from karat.measure.dimensions.factors import Factors
from karat.measure.dimensions.notes import carriers
from karat.measure.errors import MeasureError
from karat.messages import Message
from karat.study.file import NAME, find_study
from karat.study.study import Study, load


@dataclass(frozen=True)
class ShortForm:
    """The pair that stands for each dimension."""

    frame: pl.DataFrame
    """dimension, pair, loading, other (the largest loading elsewhere, by size), communality."""
    settings: dict[str, Any] = field(default_factory=dict)
    notes: tuple[Message, ...] = ()

    @property
    def pairs(self) -> list[str]:
        """The pairs, one a dimension."""
        return self.frame["pair"].to_list()

    def table(self) -> pl.DataFrame:
        """The dimensions and their pairs."""
        return self.frame

    @property
    def summary(self) -> tuple[Message, ...]:
        """The pair of each dimension."""
        pairs = [
            Message("short_form.pair", {"pair": row["pair"], "dimension": row["dimension"]})
            for row in self.frame.to_dicts()
        ]
        return (Message("short_form.pairs", {"n": len(pairs), "pairs": pairs}),)

    def __str__(self) -> str:
        return " ".join(map(str, (*self.summary, *self.notes)))

    def write(self, study: str | Path, folder: str | Path, title: str | None = None) -> list[Path]:
        """Write the study to follow into a new folder, from the study that the ratings came from.

        >>> from karat.study.init import write_study
        >>> found = ShortForm(pl.DataFrame({"dimension": ["F1", "F2"], "pair": ["clarity", "flow"]}))
        >>> with tempfile.TemporaryDirectory() as place:
        ...     _ = write_study(f"{place}/first", "differential")
        ...     [path.name for path in found.write(f"{place}/first", f"{place}/short")]
        ...     load(f"{place}/short").blocks[0].questions["question"].to_list()
        ['study.toml', 'items.csv', 'questions.csv']
        ['clarity', 'flow']
        """
        first, target = load(study), Path(folder)
        block = first.blocks[0]
        if len(first.blocks) != 1 or block.questions is None:
            raise MeasureError(Message("short_form.study"))
        unknown = [pair for pair in self.pairs if pair not in set(block.questions["question"])]
        if unknown:
            raise MeasureError(Message("short_form.unknown_question", {"question": unknown[0]}))
        if target.exists() and any(target.iterdir()):
            raise MeasureError(Message("short_form.folder", {"folder": str(target)}))
        with tempfile.TemporaryDirectory() as place:
            names = self._drafted(first, find_study(study), Path(place), title or f"{first.title} (short form)")
            target.mkdir(parents=True, exist_ok=True)
            for name in names:
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(Path(place) / name, target / name)
        return [target / name for name in names]

    def _drafted(self, first: Study, source: Path, place: Path, title: str) -> list[str]:
        """The files of the new study in a place of their own, where they are read once to see that they are right."""
        block = first.blocks[0].settings
        tables = [name for name in (*block.items, block.templates, block.lexicon) if name]
        for name in tables:
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source.parent / name, place / name)
        questions = first.blocks[0].questions
        assert questions is not None  # noqa: S101 - write has looked
        questions.filter(pl.col("question").is_in(self.pairs)).write_csv(place / "questions.csv")
        asked = min(block.repeated_questions, len(self.pairs))
        text = source.read_text(encoding="utf-8-sig")
        for key, value in (("title", _toml(title)), ("questions", _toml("questions.csv")),
                           ("repeated_questions", str(asked))):  # fmt: skip
            text = _with(text, key, value)
        (place / NAME).write_text(text, encoding="utf-8")
        minutes = math.ceil(load(place).minutes())
        (place / NAME).write_text(_with(text, "minutes", str(minutes)), encoding="utf-8")
        written = load(place).blocks[0].questions
        if written is None or set(written["question"]) != set(self.pairs):
            raise MeasureError(Message("short_form.not_rewritten"))
        return [NAME, *tables, "questions.csv"]


def short_form(found: Factors) -> ShortForm:
    """The pair that stands best for each dimension of a factor solution.

    >>> from karat.measure.dimensions.factors import factors
    >>> one = [[1, 0.6, 0.5, 0.4], [0.6, 1, 0.5, 0.4], [0.5, 0.5, 1, 0.3], [0.4, 0.4, 0.3, 1]]
    >>> print(short_form(factors(one, 1, observations=200)))
    The short form has 1 pair: pair 1 for F1.
    """
    carried, sizes = carriers(found.loadings), np.abs(found.loadings)
    rows, notes = [], []
    for number, name in enumerate(found.names):
        own = np.flatnonzero(carried == number)
        if not len(own):
            notes.append(Message("short_form.no_pair", {"dimension": name}))
            continue
        others = np.delete(sizes, number, axis=1).max(axis=1) if sizes.shape[1] > 1 else np.zeros(len(sizes))
        # Rounded, so that pairs that are equal but for rounding are taken in their order.
        best = own[np.argmax((sizes[own, number] - others[own]).round(9))]
        rows.append(
            (name, found.pairs[best], found.loadings[best, number], others[best], found.communalities[best])
        )  # fmt: skip
    schema = {"dimension": pl.String, "pair": pl.String} | dict.fromkeys(
        ("loading", "other", "communality"), pl.Float64
    )
    return ShortForm(pl.DataFrame(rows, schema=schema, orient="row"), {"factors": len(found.names)}, tuple(notes))


def _toml(text: str) -> str:
    """A text as TOML writes it."""
    return json.dumps(text, ensure_ascii=False)


def _with(text: str, key: str, value: str) -> str:
    """The study file with another value for the first key of this name; unchanged where the key is not there.

    >>> _with('minutes = 8  # about', "minutes", "3")
    'minutes = 3  # about'
    """
    quoted = r'"(?:[^"\\]|\\.)*"|' + r"'[^']*'|[^\s#]+"
    pattern = re.compile(rf"^({re.escape(key)}[ \t]*=[ \t]*)(?:{quoted})", re.MULTILINE)
    return pattern.sub(lambda match: match[1] + value, text, count=1)
