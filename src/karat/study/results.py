"""Columns of results that come from the study, such as function, status and right answers, and karat's own columns.

Many tools write the item and the answer, and nothing about the design. A missing column is filled from the item table,
by the item and the factors that both have. If the blocks of a study have different scales, each answer is on the scale
of its block, whose name becomes the question.

The server fills some columns of the results. A study must not use their names for factors or background questions,
because the answers would be lost.
"""

import tomllib
from collections.abc import Iterator
from importlib.resources import files
from typing import NamedTuple

import polars as pl

from karat.judgments import Judgments
from karat.judgments.scales import Scale
from karat.messages import Message
from karat.study.plan import Block
from karat.study.study import Study

FILLED = ("function", "subgroup", "status", "expected", "pair")


def with_study(judgments: Judgments, study: Study) -> tuple[Judgments, list[Message]]:
    """The judgments with the scale of the study and the columns of its item tables, and notes on the additions.

    Values in the results are never replaced.
    """
    notes: list[Message] = []
    frame = judgments.frame
    wanted = [name for name in FILLED if name not in frame.columns]
    if (frame["function"] == "test").all():
        wanted = ["function", *wanted]
    for name in wanted:
        cells = _column_of(name, frame, study.blocks)
        if name == "expected":
            cells = _with_choices(cells, frame, study)
        # Values already in the results, such as test for every trial of a study without fillers, are no addition.
        new = 0 if cells is None else int((cells.is_not_null() & ~_same(cells, frame, name)).sum())
        if cells is not None and new:
            frame = frame.with_columns(pl.coalesce(cells, frame[name] if name in frame.columns else cells).alias(name))
            notes.append(Message("results.from_items", {"column": name, "n": new}))
    frame, scales, messages = _on_scales(frame, judgments.scales, study)
    notes += messages
    other = _other_items(frame, study)
    if not notes:
        return judgments, other
    completed = Judgments(frame, scales, judgments.participants)
    completed.notes = tuple(dict.fromkeys([*judgments.notes, *completed.notes]))
    return completed, [*other, *notes]


def _other_items(frame: pl.DataFrame, study: Study) -> list[Message]:
    """A note if the results have no test item of the study, which may be the wrong one."""
    here, there = (
        {name for table in tables for column in ("item", "pair") if column in table.columns
         for name in table.filter(pl.col("function") == "test")[column].drop_nulls().unique()}
        for tables in ([frame], [block.items.frame for block in study.blocks])
    )  # fmt: skip
    if not here or not there or here & there:
        return []
    values = {"file": study.path.name, "study": study.path.resolve().parent.name, "n": len(there)}
    return [Message("results.other_items", values)]


def _same(column: pl.Series, frame: pl.DataFrame, name: str) -> pl.Series:
    """A mask of the results with the same value; trials without a known function have the value test."""
    if name not in frame.columns or (column.drop_nulls() != "test").any():
        return pl.repeat(False, frame.height, eager=True)
    return (column == frame[name]).fill_null(False)


def _on_scales(
    frame: pl.DataFrame, scales: dict[str, Scale], study: Study
) -> tuple[pl.DataFrame, dict[str, Scale], list[Message]]:
    """The results with the scales of the study, and notes on changes."""
    distinct = {block.scale for block in study.blocks}
    if len(distinct) == 1:
        (scale,) = distinct
        if set(scales.values()) == distinct:
            return frame, dict(scales), []
        values = {"file": study.path.name, "kind": scale.kind, "answers": scale.known()}
        return frame, dict.fromkeys(scales, scale), [Message("results.scale", values)]
    by_question = _scale_of_questions(study)
    if set(scales) == {""}:
        where = _block_of(frame, study.blocks)
        if where is None or where.null_count():
            return frame, dict(scales), [Message("results.unknown_blocks", {"file": study.path.name})]
        frame = frame.with_columns(where.alias("question"))
        scales = dict.fromkeys(where.unique(maintain_order=True).to_list(), scales[""])
    new_scales = {question: by_question.get(question, scale) for question, scale in scales.items()}
    if new_scales == scales:
        return frame, new_scales, []
    known_scales = {question: f"{scale.kind}, {scale.known()}" for question, scale in new_scales.items()}
    return frame, new_scales, [Message("results.scales", {"file": study.path.name, "scales": known_scales})]


def on_scales(study: Study, frame: pl.DataFrame) -> tuple[pl.DataFrame, Scale | dict[str, Scale]]:
    """The results with their scale, or with one per question; blocks with different scales become questions."""
    distinct = {block.scale for block in study.blocks}
    if len(distinct) == 1:
        return frame, distinct.pop()
    question = [pl.col("question")] if "question" in frame.columns else []
    return frame.with_columns(question=pl.coalesce(*question, pl.col("block"))), _scale_of_questions(study)


def _scale_of_questions(study: Study) -> dict[str, Scale]:
    """The scale of each question in the results; a block without adjective pairs is one question."""
    return {
        name: block.scale for block in study.blocks
        for name in ([block.name] if block.questions is None else block.questions["question"].to_list())
    }  # fmt: skip


def _block_of(frame: pl.DataFrame, blocks: tuple[Block, ...]) -> pl.Series | None:
    """The block of each answer, by its name or by the item; None if an item is in several blocks."""
    if "block" in frame.columns and set(frame["block"].unique()) <= {block.name for block in blocks}:
        return frame["block"]
    places = pl.concat(
        block.items.frame.select("item", _block=pl.lit(block.name)).unique(maintain_order=True) for block in blocks
    )
    if places["item"].is_duplicated().any():
        return None
    return frame.select("item").join(places, on="item", how="left", maintain_order="left")["_block"]


def _with_choices(column: pl.Series | None, frame: pl.DataFrame, study: Study) -> pl.Series | None:
    """Right answers with those to choices, if the results have the items left and right."""
    if not {"left", "right"} <= set(frame.columns):
        return column
    trials = [
        study.trials(index, number).select("left", "right", "expected")
        for index, block in enumerate(study.blocks)
        if block.task.compares
        for number in range(1, len(study.plan()[index].lists) + 1)
    ]
    if not trials:
        return column
    other = pl.col("expected").replace({"left": "right", "right": "left"})
    pairs = pl.concat(trials).drop_nulls()
    swapped = pairs.select(left="right", right="left", expected=other)
    table = pl.concat([pairs, swapped]).unique(maintain_order=True)
    if table.select("left", "right").is_duplicated().any():
        return column
    keys = ["left", "right"]
    sides = frame.select(keys).join(table, on=keys, how="left", maintain_order="left")["expected"]
    return sides if column is None else pl.select(pl.coalesce(column, sides)).to_series()


def _column_of(name: str, frame: pl.DataFrame, blocks: tuple[Block, ...]) -> pl.Series | None:
    """A column of the item tables for every row of the results; None if rows of one item differ in it."""
    tables = []
    keys = ["item"] + [key for key in frame.columns if any(key in block.settings.factors for block in blocks)]
    for block in blocks:
        items = block.items.frame
        # The right answer to a choice depends on the sides, which are random for each participant.
        if name in items.columns and not (name == "expected" and block.task.compares):
            here = [key for key in keys if key in items.columns]
            lacking = [pl.lit(None, dtype=pl.String).alias(key) for key in keys if key not in here]
            tables.append(items.select(*here, name).with_columns(lacking).select(*keys, name))
    if not tables:
        return None
    table = pl.concat(tables).unique(maintain_order=True).filter(pl.col(name).is_not_null())
    if table.select(keys).is_duplicated().any():
        return None
    joined = frame.select(keys).join(table, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return joined[name]


Types = dict[str, pl.DataType | type[pl.DataType]]
OF_ANSWERS: Types = {
    "participant": pl.String, "response": pl.String, "rt": pl.Float64, "first_response": pl.String,
    "first_rt": pl.Float64, "changes": pl.Int64, "time": pl.Float64, "blurs": pl.Int64, "away": pl.Float64,
    "received": pl.Float64, "pointer": pl.String, "trace": pl.String, "isolated": pl.Boolean, "frame_rate": pl.Float64,
}  # fmt: skip
"""The columns of judgments that the server fills; the others are those of the questionnaire."""
OF_PEOPLE: Types = {
    "participant": pl.String, "list": pl.String, "state": pl.String, "source": pl.String, "started": pl.Float64,
    "finished": pl.Float64, "planned": pl.Boolean, "working_time": pl.Float64, "person": pl.String,
    "quiz_attempts": pl.Int64, "quiz_passed": pl.Boolean, "device": pl.String, "pilot": pl.Boolean,
    "comment": pl.String, "platform_id": pl.String, "platform_session": pl.String, "platform_study": pl.String,
    "consent_time": pl.Float64, "consent_text": pl.String, "version": pl.String,
}  # fmt: skip
"""The columns of participants that the server fills; the others are answers to background questions."""

_MEANINGS = tomllib.loads((files("karat.study") / "codebook.toml").read_text(encoding="utf-8"))
MEANINGS_OF_PEOPLE, MEANINGS_OF_ANSWERS = _MEANINGS["participants"], _MEANINGS["judgments"]
"""The meanings of columns that are not in `karat.judgments.columns`."""
OF_DESIGN = ("trial", "list", "block", "session", "repetition", "question", "polarity", "left", "right")
"""The columns for the place and form in which an item was shown; a factor with such a name would be lost."""
FORM_FIELDS = ("csrf", "token")
"""The technical fields of every form."""


class Taken(NamedTuple):
    """A name that karat uses or that occurs twice, with the flaw and its fix."""

    name: str
    what: str
    fix: str
    question: int | None = None
    """The background question that has it."""
    block: int | None = None
    """The block in whose items it is a column."""


def taken_names(study: Study) -> Iterator[Taken]:
    """The names of background questions and of columns of items that a study should not have."""
    earlier: set[str] = set()
    for place, question in enumerate(study.settings.background):
        name = question.name
        if name in OF_PEOPLE or name in FORM_FIELDS:
            what = f"a background question is named {name}, as something that karat itself keeps of participants."
            yield Taken(name, what, f"Give it another name, such as own_{name}.", place)
        if name in earlier:
            yield Taken(name, f"two background questions are named {name}.", "Give one of them another name.", place)
        earlier.add(name)
    for place, block in enumerate(study.blocks):
        where = block.name if block.name.startswith("block ") else f"the block {block.name}"
        for name in block.items.frame.columns:
            if name in OF_ANSWERS:
                what = f"the items of {where} have a column {name}, as the results have for the answers."
                yield Taken(name, what, f"Give it another name, such as item_{name}.", block=place)
        for name in study.settings.block[place].factors:
            if name in OF_DESIGN:
                what = f"a factor of {where} is named {name}, as a column that says where and how an item was shown."
                yield Taken(name, what, f"Give it another name, such as item_{name}.", block=place)
