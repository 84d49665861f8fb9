"""Fewer pairs, step by step, until each belongs clearly to one factor.

Macketanz et al. (2022) removed pairs "with low communalities and/or cross-loadings differing by less than 0.2". Here
one pair is removed at a time, and the factors are extracted again, because every removal changes the rest:

1. the pair with the lowest communality, while that is under `communality`;
2. else the pair whose two largest absolute loadings are closest together, while their distance is under `gap`.

The paper does not define a low communality; .4 is a common limit (Costello and Osborne 2005). The steps end if no pair
is left to remove, or if fewer pairs would not allow this many factors.

The short form of a semantic differential has one pair for each dimension: the one with the largest gap between its
loading there and its largest other loading, so that it represents that dimension and no other. It can be written as a
follow-up study: the first study with only these pairs, the same texts, scale, instructions and screening, and a new
title.
"""

import json
import math
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from karat.judgments.message_tables import with_reasons
from karat.measure.dimensions.factors import Factors, Kaiser, Method, RotationName, carriers, factors
from karat.measure.dimensions.matrix import Kind, RatingsMatrix
from karat.measure.result import MeasureError, MeasureResult, PlotColumns, schema_of
from karat.messages import Message, check_number
from karat.models.factors import kmo
from karat.models.factors.fit import degrees_of_freedom
from karat.plots import Figure
from karat.study.file import find_study
from karat.study.setting_base import NAME
from karat.study.study import Study, load

COMMUNALITY, GAP = 0.4, 0.2
LOG: dict[str, Any] = {
    "step": pl.Int64, "pair": pl.String, "message": pl.String,
    "values": pl.Struct({"communality": pl.Float64, "gap": pl.Float64, "limit": pl.Float64}),
    "communality": pl.Float64, "gap": pl.Float64, "pairs": pl.Int64, "chi2": pl.Float64, "dof": pl.Int64,
    "p_value": pl.Float64, "kmo": pl.Float64,
}  # fmt: skip


@dataclass(frozen=True)
class Reduction(MeasureResult):
    """The steps, and the factors of the remaining pairs."""

    log: pl.DataFrame
    """One row per removed pair: the message and values of the reason, and the fit of the solution before."""
    factors: Factors

    @property
    def kept(self) -> list[str]:
        """The remaining pairs."""
        return list(self.factors.pairs)

    @property
    def removed(self) -> list[str]:
        """The pairs that were removed, the first one first."""
        return self.log["pair"].to_list()

    def plot(self, width_cm: float = 16) -> Figure:
        """The loadings of the remaining pairs."""
        return self.factors.plot(width_cm)

    def table(self, language: str = "en") -> pl.DataFrame:
        """The steps, each with its reason."""
        return with_reasons(self.log, language)

    @property
    def summary(self) -> tuple[Message, ...]:
        """The number of removed pairs, and the summary of the factors of the others."""
        removed = Message("reduction.removed", {"n": self.log.height, "left": len(self.kept)})
        return removed, *self.factors.summary

    def __str__(self) -> str:
        notes = (*self.factors.notes, *self.notes)
        return " ".join(map(str, self.summary)) + "".join(f"\nNote: {note!s}" for note in notes)


def reduce_pairs(
    matrix: RatingsMatrix | Any,
    n: int,
    communality: float = COMMUNALITY,
    gap: float = GAP,
    method: Method = "ml",
    rotation: RotationName | None = "promax",
    kaiser: Kaiser | None = None,
    *,
    correlations: Kind = "pearson",
    keep: Sequence[str] = (),
) -> Reduction:
    """Remove pairs of low communality or unclear loadings one by one, except those in `keep`.

    Parameters
    ----------
    n
        The number of factors.
    communality
        The smallest communality of a pair that stays.
    gap
        The smallest distance between the two highest loadings of a pair that stays.
    method
        How factors are extracted, as in `factors`.
    rotation
        The rotation, as in `factors`.
    kaiser
        Which rows the rotation normalises, as in `factors`.
    keep
        The pairs that stay in any case.

    >>> random = np.random.default_rng(1)
    >>> truth = random.standard_normal((300, 1))
    >>> ratings = pl.DataFrame(truth + 0.5 * random.standard_normal((300, 5)), schema=list("abcde"))
    >>> reduction = reduce_pairs(ratings.with_columns(noise=random.standard_normal(300)), 1)
    >>> reduction.removed, reduction.table()["reason"][0]
    (['noise'], 'communality .00 is under .40')
    """
    check_number(MeasureError, "communality", communality, at_least=0, below=1)
    check_number(MeasureError, "gap", gap, at_least=0, below=1)
    left, notes = matrix, []
    steps: list[tuple[Any, ...]] = []
    while True:
        solution = factors(left, n, method, rotation, kaiser, correlations=correlations)
        unknown = [pair for pair in keep if pair not in solution.pairs]
        if unknown:
            raise MeasureError(Message("reduction.unknown_pair", {"pair": unknown[0], "known": list(solution.pairs)}))
        worst = _worst(solution, communality, gap, set(keep))
        if worst is None:
            break
        pair, reason, explained, distance = worst
        if degrees_of_freedom(len(solution.pairs) - 1, n) < 0:
            about = {"pair": pair, "reason": reason, "factors": n, "pairs": len(solution.pairs)}
            notes.append(Message("reduction.stays", about))
            break
        # One pair may follow from others, which minimum residuals allow.
        matrix = solution.source.matrix
        adequacy = kmo(matrix)[0] if np.linalg.eigvalsh(matrix).min() > 1e-10 else float("nan")
        steps.append((
            len(steps) + 1, pair, reason.code, dict(reason.values), explained, distance, len(solution.pairs),
            solution.chi2, solution.dof, solution.p_value, adequacy,
        ))  # fmt: skip
        left = _without(left, pair)
    settings = {"communality": communality, "gap": gap, "keep": list(keep)} | solution.settings
    return Reduction(pl.DataFrame(steps, schema=LOG, orient="row"), solution, settings=settings, notes=tuple(notes))


def _worst(
    solution: Factors, communality: float, gap: float, keep: set[str]
) -> tuple[str, Message, float, float] | None:
    """The pair to remove next, why, its communality and its gap."""
    # The distance between the two largest loadings of a pair; with one factor, the loading.
    sizes = np.sort(np.abs(solution.loadings), axis=1)
    distance = np.asarray(sizes[:, -1] - sizes[:, -2] if sizes.shape[1] > 1 else sizes[:, -1])
    rows = [
        (pair, float(explained), float(apart))
        for pair, explained, apart in zip(solution.pairs, solution.communalities, distance, strict=True)
        if pair not in keep
    ]
    low = [row for row in rows if row[1] < communality]
    if low:
        pair, explained, apart = min(low, key=lambda row: row[1])
        values = {"communality": explained, "gap": apart, "limit": communality}
        return pair, Message("reduction.low_communality", values), explained, apart
    near = [row for row in rows if row[2] < gap] if len(solution.names) > 1 else []
    if near:
        pair, explained, apart = min(near, key=lambda row: row[2])
        return (
            pair,
            Message("reduction.close_loadings", {"communality": explained, "gap": apart, "limit": gap}),
            explained,
            apart,
        )
    return None


def _without(matrix: Any, pair: str) -> Any:
    """The ratings without a pair."""
    if isinstance(matrix, RatingsMatrix):
        return matrix.only([other for other in matrix.pairs if other != pair])
    if isinstance(matrix, pl.DataFrame):
        return matrix.drop(pair)
    raise MeasureError(Message("reduction.no_names"))


@dataclass(frozen=True)
class ShortForm(MeasureResult):
    """The pair that represents each dimension."""

    frame: pl.DataFrame
    """dimension, pair, loading, other (the largest loading elsewhere, by size), communality."""
    points: ClassVar = PlotColumns(("dimension", "pair"), "loading", "loading")

    @property
    def pairs(self) -> list[str]:
        """The pairs, one per dimension."""
        return self.frame["pair"].to_list()

    @property
    def summary(self) -> tuple[Message, ...]:
        """The pair of each dimension."""
        pairs = [
            Message("short_form.pair", {"pair": row["pair"], "dimension": row["dimension"]})
            for row in self.frame.to_dicts()
        ]
        return (Message("short_form.pairs", {"n": len(pairs), "pairs": pairs}),)

    def write(self, study: str | Path, folder: str | Path, title: str | None = None) -> list[Path]:
        """Write the follow-up study into a new folder, from the study of the ratings.

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
            title = title or f"{first.title} (short form)"
            names = self._drafted(first, block.questions, find_study(study), Path(place), title)
            target.mkdir(parents=True, exist_ok=True)
            for name in names:
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(Path(place) / name, target / name)
        return [target / name for name in names]

    def _drafted(self, first: Study, questions: pl.DataFrame, source: Path, place: Path, title: str) -> list[str]:
        """Write the files of the new study to a temporary folder and load them as a check; returns their names."""
        block = first.blocks[0].settings
        tables = [name for name in (*block.items, block.templates, block.lexicon) if name]
        for name in tables:
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source.parent / name, place / name)
        questions.filter(pl.col("question").is_in(self.pairs)).write_csv(place / "questions.csv")
        repeats = min(block.repeated_questions, len(self.pairs))
        text = source.read_text(encoding="utf-8-sig")
        for key, value in (("title", _toml(title)), ("questions", _toml("questions.csv")),
                           ("repeated_questions", str(repeats))):  # fmt: skip
            text = with_value(text, key, value)
        (place / NAME).write_text(text, encoding="utf-8")
        minutes = math.ceil(load(place).minutes())
        (place / NAME).write_text(with_value(text, "minutes", str(minutes)), encoding="utf-8")
        written = load(place).blocks[0].questions
        if written is None or set(written["question"]) != set(self.pairs):
            raise MeasureError(Message("short_form.not_rewritten"))
        return [NAME, *tables, "questions.csv"]


def short_form(found: Factors) -> ShortForm:
    """The pair that best represents each dimension of a factor solution.

    Parameters
    ----------
    found
        The solution, from `factors`.

    >>> from karat.measure.dimensions.factors import factors
    >>> one = [[1, 0.6, 0.5, 0.4], [0.6, 1, 0.5, 0.4], [0.5, 0.5, 1, 0.3], [0.4, 0.4, 0.3, 1]]
    >>> print(short_form(factors(one, 1, observations=200)))
    The short form has 1 pair: pair 1 for F1.
    """
    carried, sizes = carriers(found.loadings), np.abs(found.loadings)
    rows, notes = [], []
    for number, name in enumerate(found.names):
        members = np.flatnonzero(carried == number)
        if not len(members):
            notes.append(Message("short_form.no_pair", {"dimension": name}))
            continue
        others = np.delete(sizes, number, axis=1).max(axis=1) if sizes.shape[1] > 1 else np.zeros(len(sizes))
        # Rounded, so that pairs that differ only by rounding are taken in order.
        best = members[np.argmax((sizes[members, number] - others[members]).round(9))]
        rows.append((name, found.pairs[best], found.loadings[best, number], others[best], found.communalities[best]))
    frame = pl.DataFrame(rows, schema=schema_of("dimension:s pair:s loading other communality"), orient="row")
    return ShortForm(frame, settings={"factors": len(found.names)}, notes=tuple(notes))


def _toml(text: str) -> str:
    """A text as TOML writes it."""
    return json.dumps(text, ensure_ascii=False)


def with_value(text: str, key: str, value: str) -> str:
    """The study file with another value for the first key of this name, if it has the key."""
    quoted = r'"(?:[^"\\]|\\.)*"|' + r"'[^']*'|[^\s#]+"
    pattern = re.compile(rf"^({re.escape(key)}[ \t]*=[ \t]*)(?:{quoted})", re.MULTILINE)
    return pattern.sub(lambda match: match[1] + value, text, count=1)
