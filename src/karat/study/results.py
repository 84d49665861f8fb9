"""What a study knows of its results and the files of other tools do not say: scale, function, status, right answers.

Many tools write the name of an item and the answer, and nothing of the design. Where a column is missing, it comes from
the item table, by the item and the factors that both have. Where the blocks of a study have different scales, each
answer is on the scale of its block, which then is the name of the question.

Some names a study must leave to karat: of the columns that the server itself fills in the tables of results. A factor
or a background question of such a name would be asked, but its column in the results would be karat's own.
"""

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from karat.judgments import Judgments
from karat.judgments.scales import Scale
from karat.messages import Message
from karat.study.plan import Block
from karat.study.study import Study

FILLED = ("function", "subgroup", "status", "expected", "pair")


def with_study(judgments: Judgments, study: Study) -> tuple[Judgments, list[Message]]:
    """The judgments with the scale of the study and with what its item tables say of each item, and what was added.

    Nothing that the results say themselves is replaced.
    """
    notes: list[Message] = []
    frame = judgments.frame
    wanted = [name for name in FILLED if name not in frame.columns]
    if (frame["function"] == "test").all():
        wanted = ["function", *wanted]
    for name in wanted:
        found = _column_of(name, frame, study.blocks)
        if name == "expected":
            found = _with_choices(found, frame, study)
        # What stands in the results already, such as test for every trial of a study without fillers, is not taken.
        new = 0 if found is None else int((found.is_not_null() & ~_same(found, frame, name)).sum())
        if found is not None and new:
            frame = frame.with_columns(pl.coalesce(found, frame[name] if name in frame.columns else found).alias(name))
            notes.append(Message("results.from_items", {"column": name, "n": new}))
    frame, taken, messages = _on_scales(frame, judgments.scales, study)
    notes += messages
    other = _other_items(frame, study)
    if not notes:
        return judgments, other
    made = Judgments(frame, taken, judgments.participants)
    made.notes = tuple(dict.fromkeys([*judgments.notes, *made.notes]))
    return made, [*other, *notes]


def _other_items(frame: pl.DataFrame, study: Study) -> list[Message]:
    """A note where the results have no test item of the study, which may be the wrong one."""
    here, there = (
        {name for table in tables for column in ("item", "pair") if column in table.columns
         for name in table.filter(pl.col("function") == "test")[column].drop_nulls().unique()}
        for tables in ([frame], [block.items.frame for block in study.blocks])
    )  # fmt: skip
    if not here or not there or here & there:
        return []
    values = {"file": study.path.name, "study": study.path.resolve().parent.name, "n": len(there)}
    return [Message("results.other_items", values)]


def _same(found: pl.Series, frame: pl.DataFrame, name: str) -> pl.Series:
    """Whether the results say the same; they say test of a trial of which nothing is known."""
    if name not in frame.columns or (found.drop_nulls() != "test").any():
        return pl.repeat(False, frame.height, eager=True)
    return (found == frame[name]).fill_null(False)


def _on_scales(
    frame: pl.DataFrame, scales: dict[str, Scale], study: Study
) -> tuple[pl.DataFrame, dict[str, Scale], list[Message]]:
    """The results with the scales of the study, and what is to be said of it."""
    own = {block.scale for block in study.blocks}
    if len(own) == 1:
        (scale,) = own
        if set(scales.values()) == own:
            return frame, dict(scales), []
        values = {"file": study.path.name, "kind": scale.kind, "answers": scale.known()}
        return frame, dict.fromkeys(scales, scale), [Message("results.scale", values)]
    known = {name: block.scale for block in study.blocks for name in _questions(block)}
    if set(scales) == {""}:
        where = _block_of(frame, study.blocks)
        if where is None or where.null_count():
            return frame, dict(scales), [Message("results.unknown_blocks", {"file": study.path.name})]
        frame = frame.with_columns(where.alias("question"))
        scales = dict.fromkeys(where.unique(maintain_order=True).to_list(), scales[""])
    taken = {question: known.get(question, scale) for question, scale in scales.items()}
    if taken == scales:
        return frame, taken, []
    known_scales = {question: f"{scale.kind}, {scale.known()}" for question, scale in taken.items()}
    return frame, taken, [Message("results.scales", {"file": study.path.name, "scales": known_scales})]


def on_scales(study: Study, frame: pl.DataFrame) -> tuple[pl.DataFrame, Scale | dict[str, Scale]]:
    """One scale, or one for each question; where blocks have scales of their own, a block is a question."""
    distinct = list(dict.fromkeys(block.scale for block in study.blocks))
    if len(distinct) == 1:
        return frame, distinct[0]
    asked = pl.col("question") if "question" in frame.columns else pl.lit(None, dtype=pl.String)
    frame = frame.with_columns(question=pl.coalesce(asked, pl.col("block")))
    return frame, {question: block.scale for block in study.blocks for question in _questions(block)}


def _questions(block: Block) -> list[str]:
    """What the results call the questions of a block."""
    names: list[str] = [block.name] if block.questions is None else block.questions["question"].to_list()
    return names


def _block_of(frame: pl.DataFrame, blocks: tuple[Block, ...]) -> pl.Series | None:
    """The block that each answer belongs to, by its name or by the item; None where an item is in several blocks."""
    if "block" in frame.columns and set(frame["block"].unique()) <= {block.name for block in blocks}:
        return frame["block"]
    places = pl.concat(
        block.items.frame.select("item", _block=pl.lit(block.name)).unique(maintain_order=True) for block in blocks
    )
    if places["item"].is_duplicated().any():
        return None
    return frame.select("item").join(places, on="item", how="left", maintain_order="left")["_block"]


def _with_choices(found: pl.Series | None, frame: pl.DataFrame, study: Study) -> pl.Series | None:
    """The right answers to choices too, where the results say what stood left and right."""
    if not {"left", "right"} <= set(frame.columns):
        return found
    trials = [
        study.trials(index, number).select("left", "right", "expected")
        for index, block in enumerate(study.blocks)
        if block.task.compares
        for number in range(1, len(study.plan()[index].lists) + 1)
    ]
    if not trials:
        return found
    other = pl.col("expected").replace({"left": "right", "right": "left"})
    shown = pl.concat(trials).drop_nulls()
    swapped = shown.select(left="right", right="left", expected=other)
    table = pl.concat([shown, swapped]).unique(maintain_order=True)
    if table.select("left", "right").is_duplicated().any():
        return found
    keys = ["left", "right"]
    sides = frame.select(keys).join(table, on=keys, how="left", maintain_order="left")["expected"]
    return sides if found is None else pl.select(pl.coalesce(found, sides)).to_series()


def _column_of(name: str, frame: pl.DataFrame, blocks: tuple[Block, ...]) -> pl.Series | None:
    """A column of the item tables for every row of the results; None where rows of one item differ in it."""
    tables = []
    keys = ["item"] + [key for key in frame.columns if any(key in block.settings.factors for block in blocks)]
    for block in blocks:
        items = block.items.frame
        # Which answer to a choice is right depends on the sides, and those were drawn for each participant.
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
OF_DESIGN = ("trial", "list", "block", "session", "repetition", "question", "polarity", "left", "right")
"""The columns in which a questionnaire says where and how an item was shown; a factor of such a name would be lost."""
FORM_FIELDS = ("csrf", "token")
"""What every form of a participant carries beside its questions."""


class Taken(NamedTuple):
    """A name that is karat's own, or there twice; what is wrong with it, and how to fix it."""

    name: str
    what: str
    fix: str
    question: int | None = None
    """Which background question has it."""
    block: int | None = None
    """The block in whose items it is a column."""


def taken_names(study: Study) -> Iterator[Taken]:
    """The names of background questions and of columns of items that a study should not have."""
    asked: set[str] = set()
    for place, question in enumerate(study.settings.background):
        name = question.name
        if name in OF_PEOPLE or name in FORM_FIELDS:
            yield Taken(
                name, f"a background question is named {name}, as something that karat itself keeps of participants.",
                f"Give it another name, such as own_{name}.", question=place,
            )  # fmt: skip
        if name in asked:
            yield Taken(
                name, f"two background questions are named {name}.", "Give one of them another name.", question=place
            )
        asked.add(name)
    for place, block in enumerate(study.blocks):
        own = block.name if block.name.startswith("block ") else f"the block {block.name}"
        for name in block.items.frame.columns:
            if name in OF_ANSWERS:
                yield Taken(
                    name, f"the items of {own} have a column {name}, as the results have for the answers.",
                    f"Give it another name, such as item_{name}.", block=place,
                )  # fmt: skip
        for name in study.settings.block[place].factors:
            if name in OF_DESIGN:
                yield Taken(
                    name, f"a factor of {own} is named {name}, as a column that says where and how an item was shown.",
                    f"Give it another name, such as item_{name}.", block=place,
                )  # fmt: skip
