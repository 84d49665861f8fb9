"""The table that all parts of karat share: who judged what, how, when and how fast.

It takes tables of other libraries and returns polars frames; `to_pandas` converts back.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from karat.errors import JudgmentsError, MissingPartError, counted
from karat.judgments import files
from karat.judgments.checks import Checked, check, plain_types, text_column
from karat.judgments.columns import COLUMNS, FUNCTIONS
from karat.judgments.scales import Choice, Scale
from karat.judgments.stimuli import Stimuli, StimuliOfTable
from karat.judgments.trial_order import with_positions
from karat.jupyter import NotebookDisplay
from karat.messages import Message

if TYPE_CHECKING:
    import pandas as pd


class Judgments(NotebookDisplay):
    """A checked table of judgments, one row per answer, with its scales and its participants.

    `frame` is a polars, pandas, pyarrow or narwhals table with at least the columns participant, item and response;
    `scale` is the scale of the answers, or a mapping from question to scale; `participants` has one row for each.
    All flaws of a table are reported together.

    >>> import karat
    >>> j = karat.Judgments(
    ...     {"participant": ["p1", "p1", "p2"], "item": ["a", "b", "a"], "response": [5, 1, 4], "rt": [2.1, 0.9, 3.0]},
    ...     karat.Ordinal(5),
    ... )
    >>> j.frame["response"].to_list()
    ['5', '1', '4']
    >>> karat.Judgments({"participant": ["p1"], "item": ["a"], "response": [9]}, karat.Ordinal(5))
    Traceback (most recent call last):
    ...
    karat.errors.JudgmentsError: This is not a table of judgments:
      row 1, response: "9" is not an answer on this scale, which has 1, 2, 3, 4, 5. ...
    """

    frame: pl.DataFrame
    """One row per answer, the columns checked and in their types."""
    scales: dict[str, Scale]
    """The scale of each question; the empty name is the scale of answers without a question."""
    participants: pl.DataFrame
    """One row per participant: the column participant, and any others."""
    notes: tuple[Message, ...]
    """The assumptions made when the table was read."""
    frozen: dict[str, Any] | None = None
    """The screening rules and items at the start of the study, if an export of karat recorded them."""

    def __init__(self, frame: Any, scale: Scale | Mapping[str, Scale], participants: Any = None) -> None:
        table = to_polars(frame)
        scales = scales_by_question(scale, table["question"] if "question" in table.columns else None)
        checked = check(table, scales)
        if checked.problems:
            raise JudgmentsError("This is not a table of judgments:", checked.problems)
        self._take(checked, scales, None if participants is None else to_polars(participants))

    @classmethod
    def from_checked(
        cls, checked: Checked, scales: Mapping[str, Scale], participants: pl.DataFrame | None = None
    ) -> Judgments:
        """Wrap a table whose checks found no problem, without checking it again."""
        judgments = cls.__new__(cls)
        judgments._take(checked, dict(scales), participants)
        return judgments

    def _take(self, checked: Checked, scales: dict[str, Scale], participants: pl.DataFrame | None) -> None:
        columns = [name for name in COLUMNS if name in checked.frame.columns]
        self.frame = checked.frame.select(columns + [name for name in checked.frame.columns if name not in COLUMNS])
        self.scales = scales
        self.participants = _all_participants(self.frame, participants)
        self.notes = tuple(checked.notes)
        self._stimuli = StimuliOfTable(self.frame, scales)

    @property
    def scale(self) -> Scale:
        """The scale of the answers, if all questions share one."""
        distinct = list(dict.fromkeys(self.scales.values()))
        if len(distinct) != 1:
            raise JudgmentsError(f"The questions have {len(distinct)} scales; see .scales for each.")
        return distinct[0]

    def __len__(self) -> int:
        return self.frame.height

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Judgments)
            and self.scales == other.scales
            and self.frame.equals(other.frame)
            and self.participants.equals(other.participants)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return self.summary()

    @property
    def answers(self) -> int:
        """The number of answers; rows without a response do not count.

        >>> import karat
        >>> karat.datasets.load("crowd").answers
        9600
        """
        return self.frame.height - self.frame["response"].null_count()

    def summary(self) -> str:
        """The numbers of participants, items and answers, the functions and scales, and what is missing.

        >>> import karat
        >>> print(karat.datasets.load("crowd").summary())  # doctest: +ELLIPSIS
        120 participants, 80 items, 9,600 answers
        ...
        """
        return "\n".join(_summary_lines(self))

    def without(self, participants: Collection[str]) -> Judgments:
        """The judgments of all other participants.

        >>> import karat
        >>> karat.datasets.load("likert").without(["p01", "p02"]).participants.height
        46
        """
        gone = pl.col("participant").is_in(list(participants))
        return self.with_frame(self.frame.filter(~gone), self.participants.filter(~gone))

    def with_frame(
        self, frame: pl.DataFrame, participants: pl.DataFrame | None = None, scales: Mapping[str, Scale] | None = None
    ) -> Judgments:
        """Some of these answers, or all with further columns; the decision on stimuli stays that on all answers.

        >>> import karat
        >>> likert = karat.datasets.load("likert")
        >>> few = likert.with_frame(likert.frame.head(40))
        >>> len(few), few.stimuli() is likert.stimuli()
        (40, True)
        """
        people = self.participants if participants is None else participants
        judgments = Judgments.from_checked(Checked(frame, notes=list(self.notes)), scales or self.scales, people)
        judgments._stimuli, judgments.frozen = self._stimuli, self.frozen
        return judgments

    def with_frozen(self, frozen: dict[str, Any] | None) -> Judgments:
        """The same answers with the frozen record of the start of the study (`karat.study.frozen`).

        >>> import karat
        >>> karat.datasets.load("likert").with_frozen({"rules": None}).frozen
        {'rules': None}
        """
        judgments = self.with_frame(self.frame)
        judgments.frozen = frozen
        return judgments

    def stimuli(self, scale: Scale | None = None) -> Stimuli:
        """The columns that distinguish stimuli, and why others do not (`karat.judgments.stimuli`).

        Choices are decided separately from other answers. In a table with both, name the `scale` of the choices.

        >>> import karat
        >>> karat.datasets.load("likert").stimuli().conditions
        ('order', 'integration')
        """
        if scale is None:
            scale = min(self.scales.values(), key=lambda own: isinstance(own, Choice))
        return self._stimuli.of(scale)

    def factors(self) -> list[str]:
        """The columns that look like factors of the design, which contrasts compare if no conditions are named.

        >>> import karat
        >>> karat.datasets.load("likert").factors()
        ['order', 'integration']
        """
        scale = min(self.scales.values(), key=lambda own: isinstance(own, Choice))
        if isinstance(scale, Choice):
            return []
        rows = self.frame.filter(pl.col("function") == "test", pl.col("response").is_not_null())
        return self.stimuli(scale).effects(rows)

    def with_stimuli(self, found: Mapping[bool, Stimuli]) -> Judgments:
        """The same answers as part of a larger table, with the decision on stimuli made for that table.

        `found` has the decision on choices under True and that on all other answers under False.
        """
        judgments = self.with_frame(self.frame)
        judgments._stimuli = StimuliOfTable(None, self.scales)
        judgments._stimuli.decide(found)
        return judgments

    def with_row_order(self) -> Judgments:
        """The same answers, with the rows of each participant declared to be in the order of the trials.

        Criteria about the order of trials need the column trial or time. Files often list answers in another order, so
        karat does not assume that rows are in order; this method declares it. Existing positions stay.

        >>> import karat
        >>> j = karat.Judgments({"participant": ["p1", "p1"], "item": ["a", "b"], "response": [5, 1]}, karat.Ordinal(5))
        >>> j.with_row_order().frame["trial"].to_list()
        [1, 2]
        """
        return self.with_frame(with_positions(self.frame))

    def fingerprint(self) -> str:
        """A short text that changes when an answer, a scale or the table of participants changes.

        >>> import karat
        >>> likert = karat.datasets.load("likert")
        >>> likert.fingerprint() == likert.without(["p01"]).fingerprint()
        False
        """
        return files.fingerprint(self.frame, self.scales, self.participants)

    def to_csv(self, path: str | Path, *, safe_for_spreadsheets: bool = False) -> None:
        """Write the table as CSV, with its scales and column types in `PATH-metadata.json`.

        With `safe_for_spreadsheets`, text that a spreadsheet would run as a formula is marked with an apostrophe.

        >>> import karat, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     karat.datasets.load("likert").to_csv(f"{folder}/likert.csv")
        ...     karat.read(f"{folder}/likert.csv") == karat.datasets.load("likert")
        True
        """
        files.write_csv(
            Path(path), self.frame, self.scales, self.participants, safe_for_spreadsheets=safe_for_spreadsheets,
            frozen=self.frozen,
        )  # fmt: skip

    def to_parquet(self, path: str | Path) -> None:
        """Write the table, its scales and its participants as one Parquet file.

        >>> import karat, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     karat.datasets.load("crowd").to_parquet(f"{folder}/crowd.parquet")
        ...     karat.read(f"{folder}/crowd.parquet") == karat.datasets.load("crowd")
        True
        """
        files.write_parquet(Path(path), self.frame, self.scales, self.participants, self.frozen)

    def to_pandas(self) -> pd.DataFrame:
        """The table as a pandas frame; pandas must be installed."""
        return to_pandas(self.frame)


def scales_by_question(scale: Scale | Mapping[str, Scale], questions: pl.Series | None) -> dict[str, Scale]:
    """The scale of each question; a single scale is that of all questions. `questions` is their column, if any.

    >>> from karat.judgments.scales import Binary
    >>> scales_by_question(Binary(), pl.Series(["natural", None, "natural"])) == {"natural": Binary(), "": Binary()}
    True
    """
    if not isinstance(scale, Scale):
        return dict(scale)
    if questions is None:
        return {"": scale}
    names = text_column(questions).unique(maintain_order=True).to_list()
    return {name or "": scale for name in names} or {"": scale}


def _all_participants(frame: pl.DataFrame, participants: pl.DataFrame | None) -> pl.DataFrame:
    """One row per participant: first those in the table of participants, then those with answers alone."""
    answered = frame.select(pl.col("participant").unique(maintain_order=True))
    if participants is None:
        return answered
    if "participant" not in participants.columns:
        raise JudgmentsError("The table of participants has no column participant.")
    described = plain_types(participants.with_columns(text_column(participants["participant"])), known=())
    names = described["participant"].drop_nulls()
    twice = names.filter(names.is_duplicated()).unique().sort().to_list()
    if twice or described["participant"].null_count():
        who = f"{', '.join(twice[:5])} more than once" if twice else "somebody without a name"
        raise JudgmentsError(f"The table of participants must have one row per participant; it has {who}.")
    columns = ["participant"] + [name for name in described.columns if name != "participant"]
    return pl.concat(
        [described.select(columns), answered.join(described, on="participant", how="anti")], how="diagonal"
    )


def _summary_lines(judgments: Judgments) -> list[str]:
    frame = judgments.frame
    counts = (frame["participant"].n_unique(), frame["item"].n_unique(), judgments.answers)
    lines = [", ".join(counted(n, word) for n, word in zip(counts, ("participant", "item", "answer"), strict=True))]
    if "question" in frame.columns:
        lines[0] += f", {counted(frame['question'].n_unique(), 'question')}"
    functions = dict(frame["function"].value_counts().iter_rows())
    parts = [f"{functions[name]:,} {name}" for name in FUNCTIONS if name in functions]
    lines.append(f"functions  {', '.join(parts) or 'none'}")
    for scale in dict.fromkeys(judgments.scales.values()):
        questions = [q for q, s in judgments.scales.items() if s == scale and q]
        about = f" ({', '.join(questions[:4])}{', ...' if len(questions) > 4 else ''})" if questions else ""
        lines.append(f"scale      {scale.kind}: {scale.known()}{about}")
    lines += _time_lines(frame)
    factors = judgments.factors()
    lines += [f"design     {', '.join(factors)}"] if factors else []
    extra = [name for name in frame.columns if name not in COLUMNS and name not in factors]
    lines += [f"columns    {', '.join(extra)}"] if extra else []
    silent = judgments.participants.height - counts[0]
    lines += [f"people     {counted(silent, 'more participant')} listed without an answer"] if silent else []
    lines.append(f"missing    {_missing(frame)}")
    return lines


def _time_lines(frame: pl.DataFrame) -> list[str]:
    if "rt" not in frame.columns or frame["rt"].null_count() == frame.height:
        return ["times      none"]
    rt = pl.col("rt")
    low, middle, high = frame.select(low=rt.quantile(0.05), middle=rt.median(), high=rt.quantile(0.95)).row(0)
    return [f"times      median {middle:.2f} s, 90 % between {low:.2f} and {high:.2f} s"]


def _missing(frame: pl.DataFrame) -> str:
    low, high = frame.group_by("participant").len().select(low=pl.col("len").min(), high=pl.col("len").max()).row(0)
    lines = [f"{frame[name].null_count():,} without {name}" for name in ("response", "rt", "trial")
            if name in frame.columns and frame[name].null_count()]  # fmt: skip
    absent = [name for name in ("trial", "rt") if name not in frame.columns]
    lines += [f"no column {' or '.join(absent)}"] if absent else []
    lines += [f"{low:,} to {high:,} answers per participant"] if low != high else []
    return "; ".join(lines) or "nothing"


def to_polars(table: Any) -> pl.DataFrame:
    """A polars frame from a polars, pandas, pyarrow or narwhals table, or from a mapping of columns.

    >>> to_polars({"participant": ["p1"], "rt": [0.5]}).shape
    (1, 2)
    """
    if isinstance(table, pl.DataFrame):
        return table
    if isinstance(table, pl.LazyFrame):
        return table.collect()
    if isinstance(table, dict):
        return pl.DataFrame(table, strict=False)
    if hasattr(table, "to_native"):
        return to_polars(table.to_native())
    if type(table).__module__.partition(".")[0] == "pandas" and hasattr(table, "columns"):
        # Column by column, because the conversion of polars needs pyarrow, which a pandas user may not have.
        return pl.DataFrame({str(name): _polars_column(table[name]) for name in table.columns}, strict=False)
    if hasattr(table, "__arrow_c_stream__"):
        return pl.DataFrame(table)
    if hasattr(table, "to_polars"):
        return to_polars(table.to_polars())
    if hasattr(table, "to_pandas"):
        return to_polars(table.to_pandas())
    raise JudgmentsError(
        f"A {type(table).__name__} is not a table. Give a polars, pandas, pyarrow or narwhals frame, "
        "or a mapping from column names to lists."
    )


def to_pandas(frame: pl.DataFrame) -> pd.DataFrame:
    """The same table in pandas, with or without pyarrow."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise MissingPartError("pandas is not installed: pip install pandas.") from None
    return pd.DataFrame({column.name: _pandas_column(column) for column in frame.get_columns()})


def _pandas_column(column: pl.Series) -> Any:
    if column.dtype.is_numeric() and column.null_count() == 0:
        return column.to_numpy()
    if column.dtype.is_float():
        return column.fill_null(math.nan).to_numpy()
    return column.to_list()


def _polars_column(column: Any) -> pl.Series:
    if getattr(column.dtype, "kind", "") in ("i", "u", "b") and not column.isna().any():
        return pl.Series(column.to_numpy())
    missing = column.isna().tolist()
    values = [None if gone else value for gone, value in zip(missing, column.tolist(), strict=True)]
    return pl.Series(values, strict=False) if values else pl.Series([], dtype=pl.String)
