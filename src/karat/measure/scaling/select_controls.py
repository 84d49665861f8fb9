"""Control items from a norming study: stimuli that nearly everybody rates at one end of the scale.

A control separates participants who judge from participants who guess only if its status is beyond doubt, which ratings
show better than the intuition of its author (Pieper et al., section 3.2). A stimulus is clear if

- the interval of its mean lies wholly within `clearly` of an end, as a share of the scale (a quarter: on five points
  below 2 or above 4);
- the standard deviation of its answers is at most `max_sd` (a quarter of the scale: 1 on five points). Yes-or-no
  answers have no such limit by default, because their share determines their standard deviation;
- it lies at the end of its status or expected answer, if it has one.

All clear stimuli are chosen, or the `n` nearest to each end. Expected answers are the halves of the scale, with the
middle point on the upper side: 1-2 and 3-5. Screen participants first, because those who guess make all items less
clear.

The verified items can be written to the item table of a study. Rows are matched by item and by the columns of the
norming study (conditions, status) that the table has. In a matched row, verified is yes if the stimulus was clear and
no if not, and an empty expected answer is filled in if the stimulus was clear. All other cells, rows and columns stay
as they are, as do delimiter, encoding and line ends. A spreadsheet is written as CSV.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from karat.errors import ScaleError
from karat.judgments import Judgments
from karat.judgments.columns import FUNCTIONS
from karat.judgments.files import replacing
from karat.judgments.message_tables import with_reasons
from karat.judgments.scales import Binary, Continuous, NumberRange, Ordinal
from karat.judgments.tables import SPREADSHEETS, FileTable, read_table
from karat.measure.rated import Rated, rated
from karat.measure.result import MeasureError, MeasureResult, PlotColumns, check_level
from karat.measure.scaling.ratings import rating_strengths
from karat.messages import Message, check_number
from karat.models.numerics import known
from karat.study.items import source_file

LOW, HIGH = "low", "high"
MARKED = "marked"
SIDE_OF_STATUS = {"grammatical": HIGH, "ungrammatical": LOW, "marked": MARKED}
FEWEST = 5
"""A stimulus with fewer answers is never clear."""
VALUES = pl.Struct(
    {"n": pl.Int64, "fewest": pl.Int64} | dict.fromkeys(("mean", "lower", "upper", "sd", "limit", "max_sd"), pl.Float64)
)
"""The values of the messages."""


@dataclass(frozen=True)
class Controls(MeasureResult):
    """The stimuli that are clear enough to be controls, and the reasons why the others are not."""

    frame: pl.DataFrame
    """item, conditions, status if known, mean, lower, upper, sd, n, side, expected, clear, chosen, and the message and
    values of the reason; no message if a stimulus is chosen."""
    points: ClassVar = PlotColumns(("item",), "mean", "mean answer")

    def table(self, language: str = "en") -> pl.DataFrame:
        """The stimuli, clearest first, with the reason if one is not chosen."""
        return with_reasons(self.frame, language)

    @property
    def chosen(self) -> pl.DataFrame:
        """The chosen stimuli."""
        return self.frame.filter("chosen")

    def write(
        self, path: str | Path, out: str | Path | None = None, *, in_place: bool = False, verified: str = "yes"
    ) -> Path:
        """Write to an item table which stimuli are verified, and fill in empty expected answers.

        The table goes to `out`; the file itself is changed only with `in_place=True`. Rows with a clear stimulus get
        the text `verified`, such as "2026-03, norming study". `karat.measure.scaling.select_controls` describes how
        rows are matched.
        """
        return write_verified(self.frame, Path(path), None if out is None else Path(out), in_place, verified)

    @property
    def summary(self) -> tuple[Message, ...]:
        """The numbers of clear and of chosen stimuli, and of stimuli that are not clear by reason."""
        clear, chosen = int(self.frame["clear"].sum()), int(self.frame["chosen"].sum())
        low = int((self.chosen["side"] == LOW).sum())
        numbers = {"clear": clear, "n": self.frame.height, "chosen": chosen, "low": low, "high": chosen - low}
        messages = [Message("select_controls.clear", numbers)]
        reasons = self.frame.filter(~pl.col("clear"))["message"].value_counts(sort=True)
        if reasons.height:
            counts = [Message("select_controls.count", {"n": n, "reason": code}) for code, n in reasons.iter_rows()]
            messages.append(Message("select_controls.not_clear", {"reasons": counts}))
        return tuple(messages)


def select_controls(
    judgments: Judgments,
    n: int | None = None,
    *,
    max_sd: float | None = None,
    clearly: float = 0.25,
    level: float = 0.95,
    functions: Sequence[str] = ("test",),
    conditions: Sequence[str] | None = None,
) -> Controls:
    """The stimuli of a norming study that can be controls.

    Parameters
    ----------
    n
        The number of controls at each end of the scale; by default all that are clear.
    max_sd
        The largest standard deviation of a control, in points; by default a quarter of the scale.
    clearly
        The largest distance of the interval of the mean from an end, as a share of the scale.

    >>> import karat
    >>> controls = select_controls(karat.datasets.load("likert"), functions=["control"], max_sd=1.5, clearly=0.4)
    >>> controls.table().columns
    ['item', 'status', 'mean', 'lower', 'upper', 'sd', 'n', 'side', 'expected', 'clear', 'chosen', 'reason']
    """
    _check(n, max_sd, clearly, level)
    answers = _norming(judgments, functions, conditions)
    low, high = _ends(answers)
    width = high - low
    limit = max_sd if max_sd is not None else np.inf if isinstance(answers.scale, Binary) else width / 4
    strengths = rating_strengths(answers, "mean", level)
    rows = [
        _with_verdict(row, _side_of(row, answers), (low + clearly * width, high - clearly * width), limit)
        for row in _with_status(answers, strengths.frame).to_dicts()
    ]
    expected = _expected(answers)
    schema: dict[str, Any] = {"message": pl.String, "values": VALUES}
    stimuli = pl.DataFrame(rows, schema_overrides=schema, infer_schema_length=None)
    table = _with_chosen(stimuli, (low, high), n).with_columns(
        expected=pl.when("clear").then(pl.col("side").replace_strict(expected, default=None, return_dtype=pl.String))
    )
    keys = dict.fromkeys(name for name in (*answers.stimuli.columns, "status") if name in table.columns)
    columns = [*keys, "mean", "lower", "upper", "sd", "n", "side", "expected", "clear", "chosen", "message", "values"]
    settings = {"n": n, "max_sd": limit, "clearly": clearly, "level": level, "functions": tuple(functions)}
    notes = (*answers.notes, *strengths.notes, *_too_few(table, n))
    return Controls(table.select(columns), settings=settings, notes=notes)


def _check(n: int | None, max_sd: float | None, clearly: float, level: float) -> None:
    check_number(MeasureError, "n", n, at_least=1)
    check_number(MeasureError, "max_sd", max_sd, above=0)
    check_number(MeasureError, "clearly", clearly, above=0, at_most=0.5)
    check_level(level)


def _norming(judgments: Judgments, functions: Sequence[str], conditions: Sequence[str] | None) -> Rated:
    """The answers to the only question; items with several statuses are distinguished by them."""
    rows = judgments.frame.filter(pl.col("function").is_in([name for name in functions if name in FUNCTIONS]))
    if conditions is None and "status" in rows.columns:
        conditions = judgments.stimuli().varying(rows)
        keys = ["item", *conditions]
        if rows.select(*keys, "status").n_unique() > rows.select(keys).n_unique():
            conditions = [*conditions, "status"]
    questions = rated(judgments, "select_controls", functions, conditions)
    if len(questions) > 1:
        names = [answers.question for answers in questions]
        raise MeasureError(Message("select_controls.questions", {"questions": names}))
    scale = questions[0].scale
    has_ends = isinstance(scale, Continuous) and scale.low is not None and scale.high is not None
    if not has_ends and not isinstance(scale, Ordinal | Binary):
        raise MeasureError(Message("select_controls.no_ends", {"kind": scale.kind}))
    return questions[0]


def _ends(answers: Rated) -> tuple[float, float]:
    scale = answers.scale
    if isinstance(scale, Continuous) and scale.low is not None and scale.high is not None:
        return scale.low, scale.high
    return (0.0, 1.0) if isinstance(scale, Binary) else (1.0, float(len(answers.levels)))


def _expected(answers: Rated) -> dict[str, str]:
    """The right answers at each end, in the notation of an item table."""
    levels = answers.levels
    if not levels:
        low, high = _ends(answers)
        middle = (low + high) / 2
        return {LOW: f"{low:g}-{middle:g}", HIGH: f"{middle:g}-{high:g}"}
    half = len(levels) // 2
    return {side: _spelled(part) for side, part in ((LOW, levels[:half]), (HIGH, levels[half:]))}


def _spelled(levels: Sequence[str]) -> str:
    """A set of adjacent levels: 1-2 if they are whole numbers, otherwise each by name."""
    if len(levels) > 1 and all(level.isdecimal() for level in levels):
        return f"{levels[0]}-{levels[-1]}"
    return "|".join(levels)


def _with_status(answers: Rated, frame: pl.DataFrame) -> pl.DataFrame:
    """The means with the standard deviation of the answers, and the status and expected answer of each stimulus."""
    keys = answers.stimuli.columns
    names = [name for name in ("status", "expected") if name in answers.rows.columns and name not in keys]
    of_stimuli = answers.rows.group_by(keys).agg(pl.col(name).drop_nulls().first() for name in names)
    sd = (pl.col("se") * pl.col("n").sqrt()).alias("sd")
    return frame.rename({"estimate": "mean"}).with_columns(sd).join(
        of_stimuli, on=keys, how="left", nulls_equal=True, maintain_order="left"
    )  # fmt: skip


def _side_of(row: dict[str, Any], answers: Rated) -> str | None:
    """The end of the scale to which the status or the expected answer of a stimulus belongs."""
    status = row.get("status")
    if status in SIDE_OF_STATUS:
        return SIDE_OF_STATUS[status]
    answer = row.get("expected")
    if answer is None:
        return None
    try:
        right = answers.scale.expected(answer)
    except ScaleError:
        return None
    if isinstance(right, NumberRange):
        middle = sum(_ends(answers)) / 2
        return LOW if right.high <= middle else HIGH if right.low >= middle else None
    places = [answers.levels.index(level) for level in right]
    half = len(answers.levels) // 2
    return LOW if max(places) < half else HIGH if min(places) >= half else None


def _with_verdict(
    row: dict[str, Any], expected_side: str | None, limits: tuple[float, float], max_sd: float
) -> dict[str, Any]:
    """A stimulus with its side, whether it is clear, and the reason if it is not."""
    side = LOW if row["mean"] <= sum(limits) / 2 else HIGH
    message = None
    if row["n"] < FEWEST or row["lower"] is None:
        message = "select_controls.too_few_answers"
    elif expected_side == MARKED:
        message = "select_controls.marked"
    elif expected_side is not None and expected_side != side:
        message = "select_controls.other_side"
    elif not (row["upper"] < limits[0] or row["lower"] > limits[1]):
        message = "select_controls.not_near_end"
    elif row["sd"] > max_sd:
        message = "select_controls.variation"
    values = {name: row[name] for name in ("n", "mean", "lower", "upper", "sd")} | {
        "fewest": FEWEST, "limit": limits[0] if side == LOW else limits[1], "max_sd": known(max_sd),
    }  # fmt: skip
    return row | {"side": side, "clear": message is None, "message": message, "values": values}


def _with_chosen(table: pl.DataFrame, ends: tuple[float, float], n: int | None) -> pl.DataFrame:
    """The stimuli, clearest first, with the choice of all clear ones or the n nearest to each end."""
    distance = pl.when(pl.col("side") == LOW).then(pl.col("mean") - ends[0]).otherwise(ends[1] - pl.col("mean"))
    ordered = table.with_columns(_distance=distance).sort(
        "clear", "_distance", "sd", descending=[True, False, False], maintain_order=True
    )
    place = pl.col("clear").cast(pl.Int64).cum_sum().over("side")
    chosen = pl.col("clear") & (place <= n) if n is not None else pl.col("clear")
    spare = pl.col("clear") & ~pl.col("chosen")
    return ordered.with_columns(chosen.alias("chosen")).with_columns(
        message=pl.when(spare).then(pl.lit("select_controls.others_clearer")).otherwise("message")
    )  # fmt: skip


def _too_few(table: pl.DataFrame, n: int | None) -> list[Message]:
    """Notes on ends of the scale with fewer than n controls."""
    if n is None:
        return []
    low, high = (int((table["chosen"] & (table["side"] == side)).sum()) for side in (LOW, HIGH))
    notes = [Message("select_controls.too_few_low", {"number": low, "n": n})] if low < n else []
    return [*notes, Message("select_controls.too_few_high", {"number": high, "n": n})] if high < n else notes


ENCODINGS = {"utf-8": "utf-8", "cp1252": "cp1252", "latin-1": "latin-1"}
"""The encodings that are kept when the table is written; all others become UTF-8."""


def write_verified(controls: pl.DataFrame, path: Path, out: Path | None, in_place: bool, verified: str = "yes") -> Path:
    """Write the item table with the verified items; returns its path."""
    target = _target(path, out, in_place)
    table = read_table(source_file(path))
    if table.problems:
        raise MeasureError(Message("verified_items.unreadable_rows", {"file": path.name}))
    if "item" not in table.frame.columns:
        raise MeasureError(Message("verified_items.no_item_column", {"file": path.name}))
    verdicts = _verified(controls, table.frame, path.name, verified)
    if not verdicts["verified"].is_not_null().any():
        examples = controls["item"].unique(maintain_order=True)[:3].to_list()
        raise MeasureError(Message("verified_items.no_items", {"file": path.name, "items": examples}))
    _write(table, _filled(table.frame, verdicts), target)
    return target


def _target(path: Path, out: Path | None, in_place: bool) -> Path:
    """The path to write to: the item table itself with `in_place`, otherwise a new file."""
    if in_place:
        if out is not None:
            raise MeasureError(Message("verified_items.two_targets"))
        if path.suffix.lower() in SPREADSHEETS:
            raise MeasureError(Message("verified_items.spreadsheet", {"file": path.name}))
        return path
    if out is None:
        raise MeasureError(Message("verified_items.no_target", {"file": path.name}))
    if out.exists():
        raise MeasureError(Message("verified_items.target_exists", {"target": str(out), "file": path.name}))
    if out.suffix.lower() in SPREADSHEETS:
        raise MeasureError(Message("verified_items.not_csv", {"name": out.with_suffix(".csv").name}))
    return out


def _verified(controls: pl.DataFrame, items: pl.DataFrame, file: str, verified: str) -> pl.DataFrame:
    """For each row of the item table: `verified`, no or nothing, and the expected answer."""
    conditions = controls.columns[1 : controls.columns.index("mean")]
    keys = ["item", *(column for column in conditions if column in items.columns)]
    verdicts = controls.select(
        *keys, pl.when("clear").then(pl.lit(verified)).otherwise(pl.lit("no")).alias("verified"),
        pl.col("expected").alias("answer"),
    ).unique(maintain_order=True)  # fmt: skip
    ambiguous = verdicts.filter(verdicts.select(keys).is_duplicated())
    if ambiguous.height:
        missing = [column for column in conditions if column not in items.columns]
        values = {"file": file, "item": str(ambiguous["item"][0]), "columns": missing}
        raise MeasureError(Message("verified_items.versions", values))
    return items.select(keys).join(verdicts, on=keys, how="left", nulls_equal=True, maintain_order="left")


def _filled(items: pl.DataFrame, verified: pl.DataFrame) -> pl.DataFrame:
    """The item table with both columns filled in; missing columns are added at the end."""
    before = {name: items[name] if name in items.columns else pl.Series(name, [None] * items.height, dtype=pl.String)
              for name in ("expected", "verified")}  # fmt: skip
    expected = pl.select(pl.coalesce(before["expected"], verified["answer"])).to_series().alias("expected")
    status = pl.select(pl.coalesce(verified["verified"], before["verified"])).to_series().alias("verified")
    return items.with_columns(expected, status)


def _write(table: FileTable, frame: pl.DataFrame, target: Path) -> None:
    """Write the table in the format of its file, in one step, so that an error never leaves half a file."""
    encoding, delimiter, end, mark = _file_format(table)
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end)
    writer.writerow(frame.columns)
    writer.writerows([["" if cell is None else cell for cell in row] for row in frame.iter_rows()])
    mode = target.stat().st_mode if target.exists() else None
    with replacing(target) as temporary:
        temporary.write_bytes(mark + text.getvalue().encode(encoding))
    if mode is not None:
        target.chmod(mode)


def _file_format(table: FileTable) -> tuple[str, str, str, bytes]:
    """Encoding, delimiter, line end and byte order mark of the file."""
    if table.file.suffix in SPREADSHEETS:
        return "utf-8", ",", "\n", b""
    content = table.file.path.read_bytes()
    mark = b"\xef\xbb\xbf" if content.startswith(b"\xef\xbb\xbf") else b""
    end = "\r\n" if b"\r\n" in content else "\n"
    return ENCODINGS.get(table.file.encoding, "utf-8"), table.delimiter or ",", end, mark
