"""The definition of a stimulus and of conditions, for criteria and measures alike.

A stimulus is an item in one condition and, if there are several, one question. A choice between two items is also
identified by its two items, whichever side each was shown on. Conditions are columns that karat does not know by name,
that contain text, truth values or whole numbers, and that vary within an item. These columns are not conditions:

people        A column that never varies within a participant, such as gender or browser, describes participants, unless
              it is called condition and each participant saw a single item.
shown         A column that follows from the side or the polarity, such as the sentence on the left, also if other
              conditions vary within the item.
derived       A column that follows from the answer, such as right and wrong: participants who gave the same answer to
              a stimulus always have the same value, and the design does not explain the values (see below).
numbers       A whole number that the design does not fix, such as a count of clicks, that has more than 10 values, or
              that only rises along the trials of each participant, such as the number of the block. An identifier of
              stimuli, each value of which belongs to one item, may be a number.
measurements  A column that leaves hardly two participants per stimulus, fewer than 1.5 on average.

A factor that predicts the answers perfectly follows from them too: if all participants rate grammatical versions 5 to 7
and ungrammatical ones 1 to 3, the rating determines the version. The design distinguishes such a factor from a derived
column, because a design fixes which values a participant sees, and answers do not. The design explains a column

- if it is the same for all participants who saw the item in the same list, or in the same group of participants (a
  column on people), and such participants exist; or
- if participants differ less than by chance in how often they have each value. With x = 1 where trial t of a
  participant has the value and p the share of the value among all trials with the item of t,

      R = sum over participants (sum over t (x - p))^2 / sum over all trials p (1 - p)

  is about 1 where values come independently of each other, more where participants differ, and about 0 where each
  participant has each value a fixed number of times, as in Latin squares and fully crossed designs. R must be below .5.

All rows with an answer count, except practice trials. Choices are decided separately from other answers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import polars as pl

from karat.judgments.columns import COLUMNS
from karat.judgments.scales import Choice, Scale
from karat.judgments.trial_order import presented
from karat.messages import Message

NUMBER = re.compile(r"((?:(?<!\S)[-\N{MINUS SIGN}])?\d+(?:\.\d+)?)")
SHARED = 1.5
"""The average number of participants that must share a stimulus for a column to count as a condition."""
FIXED = 0.5
"""Below this dispersion the design fixes how often a participant sees each value."""
MOST_NUMBERS = 10
"""A whole number with more different values is not a condition, unless it identifies stimuli."""
NO_CONDITION = re.compile(
    r"(?i)x|x\.\d+|unnamed.*|variable|index|row_?(names?|number|id)?|"
    r"(?!(system|model|cond|condition|method)[_. ]id$).*[_. ]id|id|hit|assignment|.*(hit|assignment|worker|"
    r"session)_?id|"
    r"trial_?(index|nr|no|number)|slide_number.*|.*time_?stamp|.*_time|(.*[_. ])?comments?|confidence|"
    r"answer_text|response_?action|.*\[\d+\]|(response|rating)\..*|(.*[_. ])?check_?box|wrongs?|errors|"
    r"(.*[_. ])?attempts|(response|rating|judge?ment)_?|.*[_. ](response|answer|rating|judge?ment)s?|"
    r"hit_?type_?id|keywords|reward|.*deadline|browser|os|screen_?[hw]|user_?agent|(branch|checkpoint|randomi[sz]er)-.*|"
    r"internal_node_id|accuracy|(.*[_. ])?feedback|proliferate\.condition|.*_pid|sentence_text|"
    r"gender|sex|age|languages?|education|.*correct.*|winner.*|(chosen|selected|picked|preferred).*|"
    r".*[_. ](chosen|selected|picked|preferred)|(number|num|n)[_. ]of[_. ].*|answer\..*orders?|annotation|expected.*|"
    r"(hard|soft|majority|consensus|aggregated?|final)[_. ]?(label|vote)s?|labels?[_. ].*|.*[_. ]annotators|"
    r"(choice|option)s?[_. ]?\d+"
)
"""Names of columns that are never conditions: row names of R, ids, positions, texts, second answers, the platform."""
MOST_CONTEXTS = 8
"""With more values, a column called context is the text before each item, and no factor."""
LAYOUT = re.compile(
    r".*(group|list|block|version|survey|session|item_?set)|z_?scores?|.*_z|exclude.*|native.*|name|speaker.*|font|penn\w*|person_?[a-d1-4]"
)
"""Names of columns for the list or voice in which something was shown, and of computed columns."""
BLOCKS = r"(?i)^(trials?|block|part|phase|section|round|run|page|half)[\W_]*\d+$"
"""Levels that count parts of a questionnaire: trial_1, block 2."""
PLACE = re.compile(r".*(position|order|number|index|side)|order_?number.*")
"""Names of columns whose numbers say when something was shown; with words, they may be a word order."""
CONDITION = re.compile(
    r"(?i)(cond|conditions?)|(?:item|sent|sentence|stim|stimulus|trial|exp)?[_. ]?(?:type|cond|condition)"
)
"""Names of a column with the whole design."""
NOTHING = ("NA", "N/A", "NaN", "nan", "null", "None", "none given", "-", "")
FEWEST_LEVELS, MOST_CELLS, FEW_CELLS, EVEN, MOST_TRIED = 2, 12, 8, 1.5, 12
CROSSED = 0.5
"""A condition within items occurs with most items in at least this many of its levels."""
SOME_WORDS, MANY_WORDS = 3, 6
ITEM = ("item", "question")
PAIR = ("_first", "_second")
"""The two items of a choice in alphabetical order."""
SHOWN = ("left", "right", "polarity")
"""How an item was shown."""
KINDS = (pl.String, pl.Boolean, pl.Int64)
Found = TypeVar("Found")


def natural_order(level: str) -> tuple[tuple[str | float, ...], str]:
    """A key to sort levels as text, with the numbers in it as numbers."""
    parts = NUMBER.split(level)
    minus = "\N{MINUS SIGN}"
    return tuple(float(part.replace(minus, "-")) if place % 2 else part for place, part in enumerate(parts)), level


@dataclass(frozen=True)
class Stimuli:
    """The columns that distinguish stimuli, and the others by the reason why they do not."""

    base: tuple[str, ...] = ("item",)
    """item, question if there is one, and the two items of a choice (`_first`, `_second`)."""
    factors: tuple[str, ...] = ()
    """Conditions of the design."""
    identifiers: tuple[str, ...] = ()
    """Columns each value of which belongs to one item, such as the sentence; conditions if no factor is one."""
    properties: tuple[str, ...] = ()
    """Columns that are the same in all trials with an item, such as its construction."""
    people: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    derived: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    measurements: tuple[str, ...] = ()

    @property
    def conditions(self) -> tuple[str, ...]:
        """The columns that distinguish the stimuli of an item."""
        return (*self.factors, *self.identifiers)

    @property
    def keys(self) -> list[str]:
        """All columns that distinguish stimuli."""
        return [*self.base, *self.conditions]

    @property
    def design(self) -> tuple[str, ...]:
        """Conditions and properties of items."""
        return (*self.conditions, *self.properties)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The columns that are not conditions, with the reason."""
        columns = {
            "stimuli.people": self.people, "stimuli.shown": self.shown, "stimuli.derived": self.derived,
            "stimuli.numbers": self.numbers, "stimuli.measurements": self.measurements,
        }  # fmt: skip
        return tuple(Message(code, {"names": names}) for code, names in columns.items() if names)

    def varying(self, rows: pl.DataFrame, besides: Collection[str] = ()) -> list[str]:
        """The conditions that distinguish the stimuli of these rows."""
        keys = [name for name in ITEM if name in rows.columns]
        varying: list[str] = []
        count = rows.select(keys).n_unique() if self.conditions else 0
        for name in self.conditions:
            if name not in rows.columns or name in besides:
                continue
            more = rows.select(*keys, *varying, name).n_unique()
            if more > count:
                varying.append(name)
                count = more
        return varying

    def effects(self, rows: pl.DataFrame) -> list[str]:
        """The probable factors of the design, which contrasts compare if no conditions are named.

        Conditions that vary within most items come first. If there are none, as in tables whose items are named with
        their condition, properties of items are ranked by design: see `_ranked`.
        """
        candidates = [n for n in (*self.factors, *self.properties) if n in rows.columns and _may_be_factor(rows[n])]
        candidates = [name for name in candidates if not _is_an_answer(rows, name)]
        within = sorted(
            (name for name in self.factors if name in candidates and _crossing(rows, name) >= CROSSED),
            key=lambda name: rows[name].n_unique(),
        )
        within = _of_condition(rows, within)
        # Of a condition and the columns that it combines, those with fewer levels come first.
        varying = replace(self, factors=tuple(within), identifiers=()).varying(rows)
        return [name for name in self.factors if name in varying] or _ranked(rows, candidates)

    def with_conditions(self, names: Sequence[str] | None) -> Stimuli:
        """The same with these columns as the only conditions; unchanged for None."""
        return self if names is None else replace(self, factors=tuple(names), identifiers=())

    def with_pairs(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows with the two items of a choice, if these distinguish stimuli."""
        return with_choices(rows) if PAIR[0] in self.base else rows

    def number(self, rows: pl.DataFrame, further: Sequence[str] = ()) -> pl.Series:
        """The number of each row's stimulus, from 0, in the order of first occurrence.

        `further` names more columns that distinguish stimuli, such as the sides of a choice.
        """
        rows = self.with_pairs(rows)
        return numbered(rows, [*(name for name in self.keys if name in rows.columns), *further])


def _of_condition(rows: pl.DataFrame, names: list[str]) -> list[str]:
    """A column called condition and the columns that it combines; all names if there is none."""
    whole = next((name for name in names if (match := CONDITION.fullmatch(name)) and match[1]), None)
    if whole is None:
        return names
    levels = rows[whole].n_unique()
    return [name for name in names if name == whole or rows.select(whole, name).n_unique() == levels]


def _may_be_factor(column: pl.Series) -> bool:
    """Whether a column may be a factor by its name and its values, and no id, position, measurement or text."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|\s+", "_", column.name).lower()
    never = (NO_CONDITION.fullmatch(column.name), NO_CONDITION.fullmatch(words), LAYOUT.fullmatch(words))
    values = column.drop_nulls().unique()
    texts = words == "context" and values.len() > MOST_CONTEXTS
    if words in ("sentence", "sentence_2") or texts or any(never):
        return False
    if values.dtype == pl.String and not _is_null_a_level(column):
        values = values.filter(~values.is_in(NOTHING))
    if values.len() < FEWEST_LEVELS or _words(column) >= MANY_WORDS:
        return False
    numbers = values.cast(pl.Float64, strict=False)
    fractions = (numbers != numbers.round()).any() and not are_contrasts(numbers)
    if not numbers.null_count() and (PLACE.fullmatch(words) or fractions):
        return False
    if values.dtype != pl.String:
        return True
    letters = set(values.str.replace_all(r"[\W\d_]", "").str.to_lowercase())
    return not (letters <= {"left", "right"} or values.str.contains(BLOCKS).all())


MOST_CONTRASTS = 3


def are_contrasts(numbers: pl.Series) -> bool:
    """Whether numbers code the levels of a factor: two or three, symmetric around zero, such as -0.5 and 0.5.

    >>> are_contrasts(pl.Series([0.5, -0.5, 0.5])), are_contrasts(pl.Series([0.5, 1.5]))
    (True, False)
    """
    values = numbers.drop_nulls().unique().sort().to_list()
    return FEWEST_LEVELS <= len(values) <= MOST_CONTRASTS and values == [-value for value in reversed(values)]


NULL, FEWEST_NULLS = "null", 0.25
"""In linguistics, null may be a level beside that. In this share of the rows or more, it is not a missing value."""


def _is_null_a_level(column: pl.Series) -> bool:
    """Whether null is one of the two levels of a factor, as in sentences with that or null."""
    share = (column == NULL).mean()
    two = not column.null_count() and column.n_unique() == FEWEST_LEVELS
    return two and isinstance(share, float) and FEWEST_NULLS <= share <= 1 - FEWEST_NULLS


def _words(column: pl.Series) -> float:
    """The median number of words of the values of a column."""
    if column.dtype != pl.String:
        return 1.0
    return float(column.drop_nulls().unique().str.count_matches(r"\S+").median() or 0)  # type: ignore[arg-type]


def _is_an_answer(rows: pl.DataFrame, name: str) -> bool:
    """Whether a column has the levels of the answers, several per item, and in some items more often than by chance.

    A design gives an item one level, or all of them equally often.
    """
    if not {"item", "response"} <= set(rows.columns) or CONDITION.fullmatch(name):
        return False
    both = rows.select("item", pl.col(name).cast(pl.String).alias("level"), pl.col("response").cast(pl.String))
    both = both.drop_nulls().filter(~pl.col("level").is_in(NOTHING))
    if not set(both["level"].unique()) <= set(both["response"].unique()) or both["level"].n_unique() < FEWEST_LEVELS:
        return False
    varied = both.group_by("item").agg(pl.col("level").n_unique().alias("n"))["n"]
    if (varied > 1).mean() < CROSSED:  # type: ignore[operator]
        return False
    share = both.group_by("level").agg((pl.len() / both.height).alias("share"))
    sizes = both.group_by("item").agg(pl.len().alias("n"))
    seen = both.group_by("item", "level").agg(pl.len().alias("seen"))
    cells = sizes.join(share, how="cross").join(seen, on=["item", "level"], how="left").fill_null(0)
    wanted = pl.col("n") * pl.col("share")
    squares, chance = cells.select(
        ((pl.col("seen") - wanted) ** 2).sum().alias("squares"), (wanted * (1 - pl.col("share"))).sum().alias("chance")
    ).row(0)
    return bool(squares > UNEVEN * chance)


UNEVEN = 1.5


def _crossing(rows: pl.DataFrame, name: str) -> float:
    """The average share of a column's levels in which an item occurs."""
    cells = rows.select("item", name).drop_nulls().unique()
    return cells.height / max(cells["item"].n_unique() * cells[name].n_unique(), 1)


@dataclass(frozen=True)
class _Factors:
    """Columns that may be the factors of a design."""

    rows: pl.DataFrame
    names: tuple[str, ...]

    @cached_property
    def complete(self) -> pl.DataFrame:
        """The items and levels of the rows in which all factors have a level."""
        return self.rows.select("item", *self.names).drop_nulls()

    @cached_property
    def cells(self) -> pl.DataFrame:
        """The combinations of levels, with the numbers of answers and items."""
        return self.complete.group_by(self.names).agg(pl.len(), pl.col("item").n_unique().alias("items"))

    @property
    def is_crossed(self) -> bool:
        """Whether every combination of levels occurs."""
        return self.cells.height == math.prod(self.complete[name].n_unique() for name in self.names)

    @cached_property
    def uneven(self) -> float:
        """The ratio of answers between the fullest and the emptiest cell."""
        counts = self.cells["len"]
        return float(counts.max()) / float(counts.min()) if counts.len() else math.inf  # type: ignore[arg-type]

    @property
    def is_design(self) -> bool:
        """Whether half of the answers have a level, cells are neither few nor many, and most have several items."""
        if 2 * self.complete.height < self.rows.height or not FEWEST_LEVELS <= self.cells.height <= MOST_CELLS:
            return False
        several = (self.cells["items"] > 1).sum()
        return 2 * several >= self.cells.height and self.cells["items"].sum() >= 2 * self.cells.height

    @cached_property
    def rank(self) -> tuple[float, ...]:
        """The order of preference: words before phrases and numbers, complete, few levels, evenly filled."""
        phrases = any(_words(self.rows[name]) >= SOME_WORDS for name in self.names)
        numbers = any(self.rows[name].dtype == pl.Int64 for name in self.names)
        gaps = round(1 - self.complete.height / max(self.rows.height, 1), 1)
        return phrases, numbers, gaps, self.cells.height, round(self.uneven, 1)

    def with_another(self, others: Sequence[str], most: int, uneven: float = math.inf) -> _Factors | None:
        """These factors and the best other one that is crossed with them in at most this many cells."""
        wider = [_Factors(self.rows, (*self.names, name)) for name in others if name not in self.names]
        designs = [two for two in wider if two.is_design and two.cells.height <= most and two.is_crossed]
        return min((two for two in designs if two.uneven <= uneven), key=lambda two: two.rank, default=None)


def _ranked(rows: pl.DataFrame, names: Sequence[str]) -> list[str]:
    """The properties of items that look most like the factors of a design.

    A column called condition, or type of item, is the whole design: the result is this column, or two columns that it
    combines. Otherwise the result is two columns whose levels occur in all combinations, or a single one. Columns are
    preferred in the order of `_Factors.rank`.
    """
    rows = rows.with_columns(
        pl.when(~pl.col(name).str.strip_chars().is_in(NOTHING)).then(pl.col(name)).alias(name)
        for name in names if rows.schema[name] == pl.String
    )  # fmt: skip
    single = sorted((column for n in names if (column := _Factors(rows, (n,))).is_design), key=lambda each: each.rank)
    free = [column.names[0] for column in single[:MOST_TRIED]]
    best: _Factors | None
    matches = [(match, column) for column in single if (match := CONDITION.fullmatch(column.names[0]))]
    if matches:
        whole = min(matches, key=lambda pair: pair[0][1] is None)[1]
        levels = whole.cells.height
        parts = [n for n in free if n not in whole.names and _Factors(rows, (*whole.names, n)).cells.height == levels]
        pairs = [
            two for n in parts
            if (two := _Factors(rows, (n,)).with_another(parts, levels)) and two.cells.height == levels
        ]  # fmt: skip
        best = min(pairs, key=lambda two: two.rank, default=None) or whole.with_another(free, FEW_CELLS, EVEN) or whole
    else:
        pairs = [two for n in free if (two := _Factors(rows, (n,)).with_another(free, MOST_CELLS))]
        best = min(pairs or single[:1], key=lambda two: two.rank, default=None)
    return [name for name in names if best is not None and name in best.names]


def find_stimuli(table: DesignRows) -> Stimuli:
    """Decide which columns distinguish stimuli."""
    return _Decision(table).result()


class _Decision:
    def __init__(self, table: DesignRows) -> None:
        self.table = table
        self.base = [name for name in ITEM if name in table.schema]
        self.pair = [name for name in PAIR if name in table.schema]
        self.as_shown = [name for name in SHOWN if name in table.schema]
        self.distinct: dict[tuple[str, ...], int] = {}
        self.by_design: dict[str, bool] = {}

    def result(self) -> Stimuli:
        names = candidates(self.table.schema)
        base = (*self.base, *self.pair)
        if not names:
            return Stimuli(base)
        self.people = self.table.people(names)
        if "item" in self.base and self.table.participants(["item"]) == self.table.participants([]):
            # With one item each, the condition of a participant is that of the item.
            self.people = [n for n in self.people if not ((match := CONDITION.fullmatch(n)) and match[1])]
        rest = [name for name in names if name not in self.people]
        properties = [name for name in rest if not self._varies(self.base, name)]
        rest = [name for name in rest if name not in properties]
        by_side = [name for name in rest if self._follows_from_side(name)]
        rest = [name for name in rest if name not in by_side]
        identifiers = {name for name in rest if self._identifies(name)}
        numbers = [name for name in rest if name not in identifiers and self._is_count(name)]
        rest = [name for name in rest if name not in numbers]
        # Identifiers of stimuli come last: they distinguish only what no factor does.
        rest.sort(key=lambda name: name in identifiers)
        while True:
            conditions, derived, measurements = self._conditions(rest)
            factors = [name for name in conditions if name not in identifiers]
            # The sentence on the left follows from the side and from the factors that vary within an item.
            sided = [name for name in conditions if name in identifiers and self._follows_from_side(name, factors)]
            if not sided:
                break
            by_side += sided
            rest = [name for name in rest if name not in sided]
        conditions = [name for name in conditions if not NO_CONDITION.fullmatch(name)]
        return Stimuli(
            base, tuple(name for name in conditions if name not in identifiers),
            tuple(name for name in conditions if name in identifiers), tuple(properties), tuple(self.people),
            tuple(by_side), tuple(derived), tuple(numbers), tuple(measurements),
        )  # fmt: skip

    def _conditions(self, names: list[str]) -> tuple[list[str], list[str], list[str]]:
        """The conditions, the columns that follow from the answer, and the measurements among these columns."""
        derived: list[str] = []
        while True:
            conditions: list[str] = []
            measurements: list[str] = []
            for name in [name for name in names if name not in derived]:
                keys = [*self.base, *conditions]
                if not self._varies(keys, name):
                    continue
                # If hardly anything is shared anyway, no column is to blame.
                if self._are_shared(keys) and not self._are_shared([*keys, name]):
                    measurements.append(name)
                elif self._is_derived(keys, name):
                    derived.append(name)
                else:
                    conditions.append(name)
            # The first conditions were not tested beside the later ones.
            more = [
                name for name in conditions
                if self._is_derived([*self.base, *(other for other in conditions if other != name)], name)
            ]  # fmt: skip
            if not more:
                return conditions, [name for name in names if name in derived], measurements
            derived += more

    def _distinct(self, columns: list[str]) -> int:
        key = tuple(sorted(columns))
        if key not in self.distinct:
            self.distinct[key] = self.table.distinct(list(key))
        return self.distinct[key]

    def _varies(self, keys: list[str], name: str) -> bool:
        return self._distinct([*keys, name]) > self._distinct(keys)

    def _are_shared(self, keys: list[str]) -> bool:
        """Whether enough participants answered each combination of these columns on average."""
        return self.table.participants(keys) >= SHARED * self._distinct(keys)

    def _follows_from_side(self, name: str, factors: Sequence[str] = ()) -> bool:
        """Whether a column varies only with the way in which an item was shown and with these factors."""
        if not self.as_shown or not self._varies([*self.base, *self.pair, *factors], name):
            return False
        return not self._varies([*self.base, *self.as_shown, *factors], name)

    def _identifies(self, name: str) -> bool:
        """Whether each value belongs to one item, as a sentence does and a condition does not."""
        if self._distinct(["item"]) < 2:
            return False
        pairs = self.table.counts(["item", name]).drop_nulls()
        several, values = pairs.select(pl.len(), pl.col(name).n_unique().alias("values")).collect().row(0)
        return bool(several == values)

    def _is_count(self, name: str) -> bool:
        """Whether a column has whole numbers that the design does not fix."""
        if self.table.schema[name] != pl.Int64:
            return False
        return self._distinct([name]) > MOST_NUMBERS or not self._designed(name) or self.table.rises(name)

    def _is_derived(self, keys: list[str], name: str) -> bool:
        keys = list(dict.fromkeys([*keys, *self.as_shown]))
        counts = self.table.counts([*keys, "response", name])
        return follows_from_answer(counts, keys, name) and not self._designed(name)

    def _designed(self, name: str) -> bool:
        """Whether the design explains the values of a column."""
        if name not in self.by_design:
            lists = ["list"] if "list" in self.table.schema and self._distinct(["list"]) > 1 else []
            groups = [[*self.base, group] for group in (*lists, *self.people)]
            self.by_design[name] = (
                any(self._are_shared(cells) and not self._varies(cells, name) for cells in groups)
                or self.table.dispersion(self.base, name) < FIXED
            )
        return self.by_design[name]


def candidates(schema: Mapping[str, object]) -> list[str]:
    """The columns that may be conditions, by name and type."""
    return [name for name, kind in schema.items() if kind in KINDS and name not in COLUMNS and name[:1] != "_"]


def follows_from_answer(counts: pl.LazyFrame, keys: Sequence[str], name: str) -> bool:
    """Whether a column varies within stimuli, but never among participants who gave the same answer.

    `counts` has the number of each combination of keys, response and the column. Answers that only one participant gave
    to a stimulus are ignored.
    """
    answer = [*keys, "response"]
    several = counts.filter(pl.col("len").sum().over(answer) > 1)
    numbers = several.select(
        pl.struct(*keys, name).n_unique().alias("with"), pl.struct(keys).n_unique().alias("without"),
        pl.struct(*answer, name).n_unique().alias("answers_with"), pl.struct(answer).n_unique().alias("answers"),
    ).collect().row(0, named=True)  # fmt: skip
    return bool(numbers["with"] > numbers["without"] and numbers["answers_with"] == numbers["answers"])


class StimuliOfTable:
    """The decision on a table, made when first needed and shared by all tables derived from it."""

    def __init__(self, frame: pl.DataFrame | None, scales: Mapping[str, Scale]) -> None:
        self._frame = frame
        self._scales = dict(scales)

    @cached_property
    def _decided(self) -> dict[bool, Stimuli]:
        kinds = sorted({isinstance(scale, Choice) for scale in self._scales.values()})
        frame, self._frame = self._frame, None
        if frame is None:
            return {}
        rows = answered_rows(frame)
        return {kind: find_stimuli(DesignRows(rows_of_kind(rows, self._scales, kind))) for kind in kinds}

    def of(self, scale: Scale) -> Stimuli:
        """The stimuli of answers on a scale."""
        return self._decided[isinstance(scale, Choice)]

    def decide(self, decision: Mapping[bool, Stimuli]) -> None:
        """Adopt the decision on a larger table."""
        self.__dict__["_decided"] = dict(decision)
        self._frame = None

    def __getstate__(self) -> dict[str, object]:
        # Another process gets the decision without the table.
        return {"_frame": None, "_scales": self._scales, "_decided": self._decided}


def rows_of_kind(rows: pl.DataFrame, scales: Mapping[str, Scale], choices: bool) -> pl.DataFrame:
    """The rows on scales of choice, with their two items in `_first` and `_second`, or those on all other scales."""
    kinds = {isinstance(scale, Choice) for scale in scales.values()}
    if len(kinds) > 1:
        questions = [name for name, scale in scales.items() if isinstance(scale, Choice) == choices]
        if "question" in rows.columns:
            rows = rows.filter(pl.col("question").fill_null("").is_in(questions))
        elif "" not in questions:
            rows = rows.clear()
    return with_choices(rows) if choices else rows


def numbered(rows: pl.DataFrame, keys: Sequence[str]) -> pl.Series:
    """The number of each row's group, from 0, in the order of first occurrence."""
    return groups_and_numbers(rows, keys)[1]


def groups_and_numbers(rows: pl.DataFrame, keys: Sequence[str]) -> tuple[pl.DataFrame, pl.Series]:
    """The groups of rows in the order of first occurrence, and the number of each row's group."""
    import numpy as np

    # Faster than a join of the rows with the groups.
    grouped = rows.select(keys).with_row_index("_row").group_by(keys, maintain_order=True).agg("_row")
    number = np.empty(rows.height, np.int64)
    number[grouped["_row"].explode().to_numpy()] = np.repeat(np.arange(grouped.height), grouped["_row"].list.len())
    return grouped.drop("_row"), pl.Series(number)


class DesignRows:
    """The answers on which the decision is based: one table here, parts in `karat.screen.parted`."""

    def __init__(self, rows: pl.DataFrame) -> None:
        self.rows = rows
        self.schema: Mapping[str, object] = rows.schema

    def distinct(self, columns: list[str]) -> int:
        """The number of distinct combinations of values."""
        return self.rows[columns[0]].n_unique() if len(columns) == 1 else self.rows.select(columns).n_unique()

    def participants(self, columns: list[str]) -> int:
        """The sum over all combinations of their numbers of participants."""
        return self.rows.select("participant", *columns).n_unique()

    def counts(self, columns: list[str]) -> pl.LazyFrame:
        """The number of occurrences of each combination, as `len`."""
        return self.rows.lazy().group_by(columns).agg(pl.len())

    def shares(self, keys: list[str], name: str) -> pl.LazyFrame:
        """The share of each value among the trials with an item."""
        whole = self.counts([*keys, name]).group_by(*keys, name).agg(pl.col("len").sum())
        return whole.with_columns(_share=pl.col("len") / pl.col("len").sum().over(keys))

    def map(self, function: Callable[..., Found], *given: object) -> list[Found]:
        """`function(rows, *given)` for each part."""
        return [function(self.rows, *given)]

    def people(self, names: list[str]) -> list[str]:
        """The columns that never vary within a participant."""
        parts = self.map(values_within, names)
        return [
            name
            for name in names
            if max(within[name] for within, _ in parts) <= 1
            and len({repr(value) for _, values in parts for value in values[name]}) > 1
        ]

    def dispersion(self, keys: list[str], name: str) -> float:
        """How much participants differ in the frequencies of values: R above."""
        parts = self.map(deviations, self.shares(keys, name), keys, name)
        squares, variance = (sum(part) for part in zip(*parts, strict=True))
        return squares / variance if variance else 0.0

    def rises(self, name: str) -> bool:
        """Whether a number never falls along the trials of any participant; False if their order is unknown."""
        return all(self.map(never_falls, name))


def deviations(rows: pl.DataFrame, shares: pl.LazyFrame, keys: Sequence[str], name: str) -> tuple[float, float]:
    """The numerator and the denominator of R for some participants; `shares` are those over all of them."""
    counts = rows.group_by("participant", name).agg(pl.len().alias("_has"))
    trials = rows.group_by("participant", *keys).agg(pl.len().alias("_trials"))
    expected = trials.join(shares.collect(), on=list(keys), nulls_equal=True).group_by("participant", name).agg(
        (pl.col("_trials") * pl.col("_share")).sum().alias("_expected"),
        (pl.col("_trials") * pl.col("_share") * (1 - pl.col("_share"))).sum().alias("_variance"),
    )  # fmt: skip
    both = expected.join(counts, on=["participant", name], how="left", nulls_equal=True)
    away = pl.col("_has").fill_null(0) - pl.col("_expected")
    squares, variance = both.select((away**2).sum(), pl.col("_variance").sum()).row(0)
    return float(squares or 0.0), float(variance or 0.0)


def values_within(rows: pl.DataFrame, names: list[str]) -> tuple[dict[str, int], dict[str, list[object]]]:
    """The largest number of values per participant in each column, and two of all values, without empty cells."""
    most = rows.group_by("participant").agg(pl.col(names).drop_nulls().n_unique()).select(pl.col(names).max())
    values = {name: rows[name].drop_nulls().unique().head(2).to_list() for name in names}
    return {name: int(most[name][0] or 0) for name in names}, values


def never_falls(rows: pl.DataFrame, name: str) -> bool:
    """Whether a number never falls along the trials of any participant; False if their order is unknown."""
    if not {"trial", "time"} & set(rows.columns):
        return False
    groups = [column for column in ("participant", "session") if column in rows.columns]
    falls = (pl.col(name).drop_nulls().diff() < 0).any()
    return not presented(rows).group_by(groups).agg(falls)[name].any()


def answered_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of a table that have an answer, without practice trials."""
    return frame.filter(pl.col("function") != "practice", pl.col("response").is_not_null())


def with_choices(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows on a scale of choice with their two items in alphabetical order, as `_first` and `_second`, if named."""
    if not {"left", "right"} <= set(rows.columns):
        return rows
    both = pl.col("left").is_not_null() & pl.col("right").is_not_null()
    return rows.with_columns(
        _first=pl.when(both).then(pl.min_horizontal("left", "right")),
        _second=pl.when(both).then(pl.max_horizontal("left", "right")),
    )
