"""The result of a criterion: one row per participant with score, threshold, verdict and reason.

A reason is a code and values, in the columns `message` and `values`. It becomes a sentence when a table is shown
(`karat.judgments.message_tables`). A value may itself be a message, as a struct of `message` and `values`, or a list of
messages.

The module also has what criteria about whole patterns of answers share: numbers, stimuli, and correlations per
participant.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args, get_origin

import numpy as np
import polars as pl
from polars.datatypes import DataType
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from karat.errors import KaratError
from karat.judgments import Judgments
from karat.judgments.answer_codes import answered, by_scale, is_ordered, position
from karat.judgments.columns import unknown_name
from karat.judgments.message_tables import with_reasons
from karat.judgments.scales import Scale
from karat.judgments.trial_order import presented, with_positions
from karat.jupyter import Result
from karat.messages import ENGLISH, Message, refused_setting
from karat.study.criterion import CriterionSettings
from karat.types import Floats, Ints

Fields = Mapping[str, type[DataType] | DataType]
"""The values in the messages of a criterion, with their types."""
Column = pl.Expr | str | float
"""A column of a table: an expression, a name, or one number for everybody."""


class ScreenError(KaratError, ValueError):
    """The reason why a criterion cannot be computed for these judgments."""


@dataclass(frozen=True)
class Evidence(Result):
    """The evidence of one criterion. It flags and gives reasons; the rule of the study decides on exclusions."""

    written: ClassVar[tuple[str, ...]] = ("score", "threshold", "flagged", "reason")
    """The columns that only this criterion has, in tables and in `screening.json`."""
    participants: pl.DataFrame
    """participant, score, threshold, flagged, message, values; a criterion may have further columns.

    A criterion of another package may have sentences in a column `reason` instead of `message` and `values`.
    """
    criterion: str
    settings: dict[str, Any] = field(default_factory=dict)
    notes: tuple[Message, ...] = ()
    trials: pl.DataFrame | None = None
    """Unusual trials, if the criterion has any: participant, trial and further columns."""

    def table(self, language: str = ENGLISH) -> pl.DataFrame:
        """The evidence as a table with reasons as sentences, flagged participants first."""
        return with_reasons(self.participants, language).sort("flagged", descending=True, maintain_order=True)

    @property
    def flagged(self) -> list[str]:
        """The flagged participants."""
        return self.participants.filter(pl.col("flagged"))["participant"].to_list()

    @property
    def counts(self) -> tuple[int, int]:
        """The numbers of flagged and of all participants."""
        return int(self.participants["flagged"].sum()), self.participants.height

    @property
    def summary(self) -> tuple[Message, ...]:
        """The result, without the notes."""
        return (flagged_message(*self.counts),)

    def row_of(self, participant: str) -> dict[str, Any]:
        """The evidence on one participant; an unknown name raises an error with the closest one."""
        people = self.participants["participant"].to_list()
        if participant not in people:
            raise ScreenError(unknown_name("unknown.participant", participant, people))
        return self.participants.row(people.index(participant), named=True)

    def __str__(self) -> str:
        return f"{self.criterion}: {' '.join(map(str, self.summary))}"


def flagged_message(flagged: int, participants: int) -> Message:
    """The message with the number of flagged participants.

    >>> str(flagged_message(7, 48))
    '7 of 48 participants flagged.'
    """
    return Message("evidence.flagged", {"flagged": flagged, "participants": participants})


def with_messages(table: pl.DataFrame) -> pl.DataFrame:
    """A table of evidence with its reasons as messages, even if a criterion of another package has sentences.

    >>> with_messages(pl.DataFrame({"reason": ["all the same"]})).row(0, named=True)["values"]
    {'text': 'all the same'}
    """
    if "message" in table.columns:
        return table
    return table.with_columns(message=pl.lit("error"), values=pl.struct(pl.col("reason").alias("text")))


def reason_rows(table: pl.DataFrame, columns: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """A table of evidence as plain data for JSON: these columns, or all, and the messages behind reasons."""
    explained = with_reasons(table, beside=True)
    if columns is not None:
        explained = explained.select(
            "participant", *columns, *(name for name in ("message", "values") if name in explained.columns)
        )
    rows = explained.to_dicts()
    for row in rows if "values" in explained.columns else ():
        row["values"] = _present(row["values"])
    return rows


def message_columns(messages: Sequence[Message | None], fields: Fields) -> list[pl.Series]:
    """Messages as the columns `message` and `values` of a table; `fields` are all values that the criterion has."""
    codes = [None if message is None else message.code for message in messages]
    rows = [dict.fromkeys(fields) | ({} if message is None else _plain(message.values)) for message in messages]
    return [pl.Series("message", codes, pl.String), pl.Series("values", rows, pl.Struct(dict(fields)))]


def values_of(fields: Fields, **values: pl.Expr | pl.Series) -> pl.Expr:
    """The column `values` of a table: these values, in the types of the criterion, and all others missing.

    >>> pl.select(values_of({"n": pl.Int64, "text": pl.String}, n=pl.lit(3))).item()
    {'n': 3, 'text': None}
    """
    return pl.struct(
        (pl.lit(values[name]) if isinstance(values.get(name), pl.Series) else values.get(name, pl.lit(None)))
        .cast(kind)
        .alias(name)
        for name, kind in fields.items()
    ).alias("values")


def verdicts(
    table: pl.DataFrame, score: Column, threshold: Column, flagged: pl.Expr, message: pl.Expr,
    values: Mapping[str, Any], *further: pl.Expr | str,
) -> pl.DataFrame:  # fmt: skip
    """The participants with their verdicts and reasons, and further columns of a table; no verdict flags nobody.

    >>> table = pl.DataFrame({"participant": ["p1", "p2"], "rt": [0.2, None]})
    >>> fast = verdicts(table, "rt", 1, pl.col("rt") < 1, pl.lit("speed.times"), {"mean": "rt"})
    >>> fast.select("threshold", "flagged", "values").rows()
    [(1.0, True, {'mean': 0.2}), (1.0, False, {'mean': None})]
    """
    score, threshold = (
        pl.col(column) if isinstance(column, str) else column if isinstance(column, pl.Expr) else pl.lit(float(column))
        for column in (score, threshold)
    )
    return table.select(
        "participant", score.alias("score"), threshold.alias("threshold"), flagged.fill_null(False).alias("flagged"),
        message.alias("message"), pl.struct(**values).alias("values"), *further,
    )  # fmt: skip


def no_column(column: str, columns: Sequence[str]) -> Message:
    """The message that the table of participants has no such column.

    >>> str(no_column("langauge", ["participant", "language"]))
    'The table of participants has no column langauge. Did you mean language?'
    """
    return unknown_name("participants.no_column", column, [name for name in columns if name != "participant"])


def timed(judgments: Judgments) -> pl.DataFrame:
    """The judgments for a criterion about time: those with a response time, without practice."""
    frame = judgments.frame
    if "rt" not in frame.columns or frame["rt"].null_count() == frame.height:
        raise ScreenError(Message("times.none"))
    rows = with_positions(frame).filter(pl.col("function") != "practice", pl.col("rt").is_not_null())
    if not rows.height:
        raise ScreenError(Message("times.only_practice"))
    return rows


def check_settings(model: type[CriterionSettings], **settings: Any) -> dict[str, Any]:
    """Return the settings, or raise ScreenError about the first that the criterion does not accept.

    The bounds are stated in the model of the settings only.

    >>> from karat.screen.criteria.credence import CredenceSettings
    >>> check_settings(CredenceSettings, below=1.5)
    Traceback (most recent call last):
    karat.screen.evidence.ScreenError: `below` cannot be 1.5. It must be above 0 and below 1.
    """
    try:
        model.model_validate(settings)
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        raise ScreenError(refused_setting(name, settings[name], *_accepted(model.model_fields[name]))) from None
    return settings


BOUNDS = {"gt": "setting.above", "ge": "setting.at_least", "lt": "setting.below", "le": "setting.at_most"}


def _accepted(field: FieldInfo) -> Iterator[Message]:
    """The values that a field of a settings model accepts: some words, whole numbers, a range."""
    kinds = [field.annotation, *get_args(field.annotation)]
    lists = [kind for kind in kinds if get_origin(kind) is list]
    kinds_of_items = [get_args(kind)[0] for kind in lists]
    words = [word for kind in (*kinds, *kinds_of_items) if get_origin(kind) is Literal for word in get_args(kind)]
    if words:
        yield Message("setting.list_of" if lists else "setting.one_of", {"known": list(map(repr, words))})
    if int in kinds:
        yield Message("setting.whole")
    for mark, code in BOUNDS.items():
        limits = [getattr(constraint, mark) for constraint in field.metadata if hasattr(constraint, mark)]
        yield from (Message(code, {"limit": limit}) for limit in limits)


def everybody(judgments: Judgments) -> pl.DataFrame:
    """One row per participant who answered, in order of appearance."""
    return judgments.frame.select(pl.col("participant").unique(maintain_order=True))


def _present(value: Any) -> Any:
    """A value without its missing parts."""
    if isinstance(value, dict):
        return {name: _present(part) for name, part in value.items() if part is not None}
    return [_present(part) for part in value] if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    """A value as plain data, with messages as their codes and values."""
    if isinstance(value, Message):
        return {"message": value.code, "values": _plain(value.values)}
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value


MOST_DIGITS = 11


def round_beside(value: pl.Expr, cutoff: pl.Expr, digits: int = 2) -> pl.Expr:
    """A number rounded to this many digits, or to more if rounding would hide its side of the cutoff.

    Without a cutoff, nothing can be hidden.

    >>> table = pl.DataFrame({"value": [2.9996, 1.234, None, 1.234], "cutoff": [3.0, 3.0, 3.0, None]})
    >>> table.select(round_beside(pl.col("value"), pl.col("cutoff"))).to_series().to_list()
    [2.9996, 1.23, None, 1.23]
    """
    tries = []
    for more in range(digits, MOST_DIGITS + 1):
        short = value.round(more)
        same_side = ((short < cutoff) == (value < cutoff)) & ((short > cutoff) == (value > cutoff))
        tries.append(pl.when(cutoff.is_null() | same_side).then(short))
    return pl.coalesce(*tries, value)


@dataclass(frozen=True)
class PartedEvidence:
    """The evidence of one criterion on judgments in parts."""

    criterion: str
    settings: dict[str, Any]
    participants: int
    """The number of participants."""
    flagged: int
    """The number of flagged participants."""
    files: tuple[Path, ...]
    """One Parquet file per part that has participants, in the order of parts."""
    notes: tuple[Message, ...] = ()
    written: tuple[str, ...] = field(default=Evidence.written, repr=False)
    """The columns that only this criterion has."""
    says: tuple[Message, ...] = field(default=(), repr=False)
    """The summary, if it is more than the number flagged."""

    @property
    def counts(self) -> tuple[int, int]:
        """The numbers of flagged and of all participants."""
        return self.flagged, self.participants

    def scan(self) -> pl.LazyFrame:
        """The evidence as a lazy table of the columns that `Evidence.participants` has, in the order of parts.

        Reasons are codes and values; `karat.judgments.message_tables.with_reasons` turns them into sentences.
        """
        return pl.scan_parquet(list(self.files))

    @property
    def summary(self) -> tuple[Message, ...]:
        """The result, without the notes."""
        return self.says or (flagged_message(self.flagged, self.participants),)

    def __str__(self) -> str:
        return f"{self.criterion}: {' '.join(map(str, self.summary))}"


def ordered_answers(judgments: Judgments, criterion: str) -> tuple[pl.DataFrame, list[Message]]:
    """The answers on ordered scales in the order of presentation, with their position as `_value`, and messages.

    Positions are aligned (polarity) and count steps from the lowest level. If questions have different scales,
    positions are standardised within each scale, because steps of different scales cannot be compared.
    """
    rows = answered(judgments)
    parts = [(scale, part) for scale, part in by_scale(judgments, presented(rows)) if is_ordered(scale)]
    if not parts:
        kinds = list(dict.fromkeys(scale.kind for scale in judgments.scales.values()))
        raise ScreenError(Message("answers.not_ordered", {"name": criterion, "kinds": kinds}))
    tables = [part.with_columns(_value=position(scale, aligned="polarity" in part.columns)) for scale, part in parts]
    notes = []
    if len(tables) > 1:
        spread = pl.col("_value").std()
        standard = pl.when(spread > 0).then((pl.col("_value") - pl.col("_value").mean()) / spread).otherwise(0.0)
        tables = [table.with_columns(_value=standard) for table in tables]
        notes.append(Message("answers.standardised"))
    together = pl.concat(tables)
    if together.height < rows.height:
        notes.append(Message("answers.unordered_left_out", {"n": rows.height - together.height}))
    return presented(together), notes


def with_stimuli(
    judgments: Judgments, rows: pl.DataFrame, further: tuple[str, ...] = (), scale: Scale | None = None
) -> tuple[pl.DataFrame, list[Message]]:
    """The rows with the number of their stimulus in `_stimulus`, and messages on columns that are not conditions.

    Stimuli are defined by the whole table (`karat.judgments.stimuli`). `further` are more columns that distinguish
    stimuli; `scale` is needed for choices.
    """
    stimuli = judgments.stimuli(scale)
    return rows.with_columns(_stimulus=stimuli.number(rows, further)), list(stimuli.messages)


def correlations(owner: Ints, x: Floats, y: Floats, people: int, centre: Ints | None = None) -> Floats:
    """The correlation of x and y within each participant, missing (NaN) if either does not vary.

    Values are centred within each participant (`owner`), or within each group of `centre`, which must be finer; a
    `centre` of -1 throughout leaves the values as they are.

    >>> correlations(np.array([0, 0, 0, 1]), np.array([1.0, 2, 3, 1]), np.array([1.0, 3, 5, 1]), 2).round(6).tolist()
    [1.0, nan]
    """
    groups = owner if centre is None else centre
    dx, dy = x, y
    if len(groups) and groups.min() >= 0:
        sizes = np.maximum(np.bincount(groups), 1)
        dx = x - (np.bincount(groups, x) / sizes)[groups]
        dy = y - (np.bincount(groups, y) / sizes)[groups]
    sxx, syy, sxy = (np.bincount(owner, product, people) for product in (dx * dx, dy * dy, dx * dy))
    # Differences that are only rounding errors are no variation.
    varies = (sxx > 1e-20 * np.bincount(owner, x * x, people)) & (syy > 1e-20 * np.bincount(owner, y * y, people))
    product = np.sqrt(sxx * syy)
    r: Floats = np.divide(sxy, product, out=np.full(people, np.nan), where=varies & (product > 0))
    return np.clip(r, -1.0, 1.0)


def means_of_others(cell: Ints, values: Floats) -> tuple[Floats, Ints]:
    """The mean of the other values in the cell of each value, 0 if there are none, and their number.

    >>> [values.tolist() for values in means_of_others(np.array([0, 0, 0, 1]), np.array([1.0, 2, 3, 9]))]
    [[2.5, 2.0, 1.5, 0.0], [2, 2, 2, 0]]
    """
    counts = np.bincount(cell)[cell] - 1
    sums = np.bincount(cell, values)[cell] - values
    return np.divide(sums, counts, out=np.zeros(len(values)), where=counts > 0), counts.astype(np.int64)


def owners(people: pl.DataFrame, rows: pl.DataFrame) -> Ints:
    """The index of each row's participant among all participants."""
    places = {name: place for place, name in enumerate(people["participant"].to_list())}
    return rows["participant"].replace_strict(places, return_dtype=pl.Int64).to_numpy()


def without_score(table: pl.DataFrame) -> list[Message]:
    """The message with the number of participants without a score."""
    silent = table["score"].null_count()
    return [Message("answers.no_score", {"n": silent})] if silent else []
