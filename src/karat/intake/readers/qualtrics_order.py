"""Qualtrics' display orders: in which order each participant saw the questions."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from karat.intake.readers.qualtrics_columns import ORDER_TAG, QualtricsColumn, Survey


def display_positions(body: pl.DataFrame, survey: Survey) -> dict[str, pl.Series]:
    """The position of each question for each participant, by tag; empty where no display order tells one.

    Questions stand in the order of the columns. A display order says in which order some of them were shown: these
    then share out their places anew.
    """
    orders = _orders(body, survey)
    if not orders:
        return {}
    tags = [column.tag for column in survey.judged]
    trials: dict[str, list[int]] = {tag: [] for tag in tags}
    for row in range(body.height):
        sequence = list(tags)
        for shown in orders:
            _share_out(sequence, shown[row])
        for position, tag in enumerate(sequence, start=1):
            trials[tag].append(position)
    return {tag: pl.Series("trial", numbers, dtype=pl.Int64) for tag, numbers in trials.items()}


def _orders(body: pl.DataFrame, survey: Survey) -> list[list[list[str]]]:
    """For each display order that names questions, the tags that each participant saw, in order."""
    whole: list[list[list[str]]] = []
    parts: dict[str, dict[str, str]] = {}
    for name in survey.orders:
        match = ORDER_TAG.fullmatch(name)
        if match and match["part"]:
            parts.setdefault(match["what"], {})[match["part"]] = name
        elif match:
            names = _names(survey.judged, match["what"])
            cells = body[name].to_list()
            whole.append([_tags((cell or "").split("|"), names) for cell in cells])
    for what, columns in parts.items():
        names = _names(survey.judged, what)
        ranks = body.select(pl.col(column).cast(pl.Float64, strict=False) for column in columns.values())
        whole.append([_tags(_by_rank(list(columns), row), names) for row in ranks.iter_rows()])
    return [order for order in whole if any(len(tags) > 1 for tags in order)]


def _by_rank(parts: Sequence[str], ranks: Sequence[float | None]) -> list[str]:
    """An export may give each part its own column, with its position."""
    known = [(rank, index) for index, rank in enumerate(ranks) if rank is not None and rank == rank]
    return [parts[index] for _, index in sorted(known)]


def _names(columns: Sequence[QualtricsColumn], what: str) -> dict[str, list[str]]:
    """What a display order may call a question: its tag, its id, or, within a matrix, its row."""
    names: dict[str, list[str]] = {}
    for column in columns:
        own = {column.tag, column.base, column.root}
        if what in (column.base, column.root) and column.row:
            own = {column.row, column.row_text}
        for name in own:
            names.setdefault(name, []).append(column.tag)
    return names


def _tags(parts: Sequence[str], names: dict[str, list[str]]) -> list[str]:
    return list(dict.fromkeys(tag for part in parts for tag in names.get(part.strip(), [])))


def _share_out(sequence: list[str], shown: Sequence[str]) -> None:
    places = sorted(sequence.index(tag) for tag in shown)
    for place, tag in zip(places, shown, strict=True):
        sequence[place] = tag
