"""The multiverse of screening rules: who stays, and the size of a difference, under other reasonable rules.

A screening is a chain of decisions, each with alternatives that other researchers would have taken (`alternatives`).
All combinations are tried, with the same steps as the stated rules, and each gives the number of participants who stay
and a difference of conditions (`difference`). A result that appears in few combinations depends on the screening
(multiverse analysis: Steegen, Tuerlinckx, Gelman and Vanpaemel 2016; specification curve: Simonsohn, Simmons and Nelson
2020). It shows robustness and is not a test. The combinations are not a sample, and choosing one of them after seeing
the results would defeat the purpose of stating rules in advance.

Of more than 2,000 combinations a random sample is taken, which always includes the stated one. Combinations that agree
in their first criteria are tried by one process, which remembers what it has computed for them.

Each criterion lists its alternatives (`karat.study.criterion.Alternative`): the setting in words, the setting (None:
the criterion is left out) and its source. The usual ones make the smaller grid that is tried if a study states no
rules. Settings that belong to the study and are not a decision about participants (the length of the questionnaire, its
expected duration, the column of lengths) stay as stated.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from karat.executors import SERIAL, Executor
from karat.judgments import Judgments
from karat.judgments.files import write_table, write_text
from karat.judgments.scales import Ordinal
from karat.jupyter import Result
from karat.languages import language_of
from karat.messages import Message, message_of
from karat.screen.compare.difference import ScreenedDifference, contrast_of, difference
from karat.screen.evidence import Evidence, ScreenError
from karat.screen.rules import settings_of
from karat.screen.run import STAGES, Compute, computing, run
from karat.study.criteria import CRITERIA, criterion_named, left_out, title_of
from karat.study.settings import ContrastSettings
from karat.study.study import Study
from karat.types import Progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure


AT_MOST = 2000
TOGETHER = 20
"""The most combinations that a process tries at a time."""


@dataclass(frozen=True)
class Multiverse(Result):
    """One row per combination of rules: its settings in words, who stays, and the difference with its 95 % interval."""

    universes: pl.DataFrame
    """A column for each criterion, kept, excluded, estimate, lower, upper, and whether it is as stated."""
    criteria: tuple[str, ...]
    participants: int
    combinations: int
    """The number of all combinations, of which the rows may be a sample."""
    contrast: Message | None = None
    """The difference that is followed, if there is one."""
    unit: Message | None = None
    notes: tuple[Message, ...] = ()
    """Alternatives that were not tried and why, and whether the combinations are a sample."""
    seed: int = 1

    def table(self) -> pl.DataFrame:
        """The combinations, the stated one first, then by estimate or by participants who stay."""
        return self.universes.sort(
            [~pl.col("stated"), "estimate" if self.contrast else "kept"], nulls_last=True, maintain_order=True
        )

    @property
    def stated(self) -> dict[str, Any] | None:
        """The combination of the stated rules; None without rules."""
        rows = self.universes.filter(pl.col("stated"))
        return rows.row(0, named=True) if rows.height else None

    @property
    def kept_range(self) -> tuple[int, int]:
        """The smallest and the largest number of participants who stay."""
        kept = self.universes["kept"].to_list()
        return min(kept), max(kept)

    @cached_property
    def sensitivity(self) -> pl.DataFrame:
        """One row per setting: mean number kept and mean estimate over all combinations with it, and the range of these
        means over the settings of the criterion, the largest first."""
        tables = [
            self.universes.group_by(pl.col(name).alias("setting"), maintain_order=True)
            .agg(
                pl.len().cast(pl.Int64).alias("universes"), pl.col("kept").mean(), pl.col("estimate").mean(),
                excludes_zero().mean().alias("excludes_zero"),
            )
            .with_columns(
                kept_moves=pl.col("kept").max() - pl.col("kept").min(),
                estimate_moves=pl.col("estimate").max() - pl.col("estimate").min(),
            )
            .select(pl.lit(name).alias("criterion"), pl.all())
            for name in self.criteria
        ]  # fmt: skip
        if not tables:
            return pl.DataFrame(schema={"criterion": pl.String, "setting": pl.String})
        by = "estimate_moves" if self.contrast else "kept_moves"
        return pl.concat(tables).sort(by, descending=True, nulls_last=True, maintain_order=True)

    def plot(self, width_cm: float = 16) -> Figure:
        """The specification curve: all estimates in order with their intervals, who stays, and which setting holds.

        >>> import karat
        >>> len(multiverse(karat.datasets.load("likert"), {"attention": {}}).plot().axes)
        3
        """
        from karat.plots.specification_curve import curve_plot

        has_estimates = self.universes["estimate"].null_count() < self.universes.height
        # Combinations with the same result are sorted by the least influential criteria, for long strokes.
        least_first = self.sensitivity["criterion"].unique(maintain_order=True).reverse().to_list()
        order = [*(["estimate", "kept"] if has_estimates else ["kept"]), *least_first]
        rows = self.universes.sort(order, nulls_last=True, maintain_order=True)
        settings = {
            name: (title_of(name), self.universes[name].unique(maintain_order=True).to_list()) for name in self.criteria
        }
        difference = (str(self.contrast), "" if self.unit is None else str(self.unit)) if has_estimates else None
        return curve_plot(rows, settings, self.participants, difference, self._finding(has_estimates), width_cm)

    def _finding(self, has_estimates: bool) -> str:
        """The title of the figure."""
        rows, (fewest, most) = self.universes, self.kept_range
        stay = f"{fewest if fewest == most else f'{fewest} to {most}'} of {self.participants:,} participants stay"
        if not has_estimates:
            return f"{stay} in {rows.height:,} combinations of screening rules"
        estimates = rows.drop_nulls("estimate")
        english = language_of("en")
        low, high = (english.value(end, ".2r") for end in (estimates["estimate"].min(), estimates["estimate"].max()))
        apart = int(estimates.select(excludes_zero().sum()).item())
        every = {0: "none", estimates.height: "every combination"}.get(apart, f"{apart:,} of {estimates.height:,}")
        return f"The difference lies between {low} and {high}, and its interval excludes 0 in {every}; {stay}"

    def to_svg(self) -> str:
        """The specification curve as SVG."""
        from karat.plots.style import titled_svg

        return titled_svg(self.plot(), str(self))

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "summary": str(self), "participants": self.participants, "combinations": self.combinations,
            "contrast": None if self.contrast is None else str(self.contrast),
            "unit": "" if self.unit is None else str(self.unit), "seed": self.seed, "notes": list(map(str, self.notes)),
            "stated": self.stated, "sensitivity": self.sensitivity.to_dicts(), "universes": self.universes.to_dicts(),
        }  # fmt: skip

    def write(self, folder: str | Path) -> list[Path]:
        """Write multiverse.csv and multiverse.svg to a folder."""
        table, picture = Path(folder) / "multiverse.csv", Path(folder) / "multiverse.svg"
        write_table(table, self.table())
        write_text(picture, self.to_svg())
        return [table, picture]

    @property
    def summary(self) -> tuple[Message, ...]:
        """The number of participants who stay, and the difference."""
        low, high = self.kept_range
        number, stated = self.universes.height, self.stated
        values = {
            "combinations": number, "possible": self.combinations if number < self.combinations else None,
            "fewest": low,
            "most": high if high > low else None, "participants": self.participants,
            "stated": None if stated is None else stated["kept"],
        }  # fmt: skip
        return (Message("multiverse.kept", values), *self._of_difference())

    def _of_difference(self) -> list[Message]:
        estimated = self.universes.filter(pl.col("estimate").is_not_null())
        if self.contrast is None or not estimated.height:
            return [Message("multiverse.no_difference")]
        name = {"contrast": self.contrast, "unit": self.unit}
        messages, stated = [], self.stated
        if stated is not None and stated["estimate"] is not None:
            interval = {end: stated[end] for end in ("estimate", "lower", "upper")}
            messages.append(Message("multiverse.stated", name | interval))
            name = dict.fromkeys(name)
        low, high = estimated["estimate"].min(), estimated["estimate"].max()
        same = round(low, 2) == round(high, 2)  # type: ignore[arg-type]
        messages.append(Message("multiverse.same" if same else "multiverse.range", name | {"low": low, "high": high}))
        apart = int(estimated.select(excludes_zero().sum()).item())
        code = "multiverse.some_apart" if apart else "multiverse.none_apart"
        code = "multiverse.all_apart" if apart == estimated.height else code
        messages.append(Message(code, {"apart": apart, "combinations": estimated.height}))
        missing = self.universes.height - estimated.height
        return messages + ([Message("multiverse.missing", {"combinations": missing})] if missing else [])


def excludes_zero() -> pl.Expr:
    """Whether the interval of a universe lies on one side of 0."""
    return ((pl.col("lower") > 0) | (pl.col("upper") < 0)).fill_null(False)


def multiverse(
    judgments: Judgments,
    rules: Mapping[str, Any] | None = None,
    contrast: ContrastSettings | Mapping[str, Any] | None = None,
    study: Study | None = None,
    alternatives: Mapping[str, Sequence[Mapping[str, Any] | None]] | None = None,
    seed: int = 1,
    at_most: int = AT_MOST,
    *,
    progress: Progress | None = None,
    executor: Executor = SERIAL,
) -> Multiverse:
    """Screen with all combinations of the stated settings and their alternatives, for the stated criteria.

    Without rules, the usual alternatives of all criteria that apply are combined. `alternatives` replaces those of
    single criteria: `{"remfod": [{"genuine_at_least": 0.8}, None]}`, where None leaves the criterion out, which is the
    stated setting of criteria that are not in the rules. `contrast` is the difference to follow, `{"factor": ...,
    "levels": [a, b]}`; by default the study's first, or the first design column with two levels. `progress` is called
    with the numbers of finished and of all combinations. `executor` says where they are tried
    (`karat.executors.open_executor`).

    Parameters
    ----------
    at_most
        The largest number of combinations; with more, a random sample of them is taken.

    >>> import karat
    >>> likert = karat.datasets.load("likert")
    >>> order = {"factor": "order", "levels": ["PP>OBJ", "OBJ>PP"]}
    >>> print(multiverse(likert, {"attention": {}, "straightlining": {}}, order))
    In 6 combinations, ... of 48 participants stay (as stated: ...). The difference order PP>OBJ minus OBJ>PP ...
    """
    if rules is None and study is not None:
        rules = study.screening_rules
    exclude = "any" if rules is None else rules.get("exclude", "any")
    worlds = _Worlds(judgments, exclude)
    grid, notes = options(judgments, rules, study, alternatives, worlds.compute)
    followed = _followed(judgments, contrast, study, notes)
    chosen, total = _combinations([len(alternatives_of) for alternatives_of in grid.values()], seed, at_most)
    if len(chosen) < total:
        code = "multiverse.sample" if rules is None else "multiverse.sample_with_stated"
        notes.append(Message(code, {"sample": len(chosen), "combinations": total, "seed": seed}))
    worlds.grid, worlds.followed = grid, followed
    done = 0

    def report_rows(_: int, rows: list[list[Any]]) -> None:
        nonlocal done
        done += len(rows)
        if progress is not None:
            progress(done, len(chosen))

    # Criteria of early stages; those that look at answers take long.
    early = sum(CRITERIA[name].stage != STAGES[-1] for name in grid)
    parts = executor.map(_tried, worlds, _in_parts(chosen, early), name="multiverse", each=report_rows)
    rows = [
        [*row, rules is not None and not any(places)]
        for row, places in zip((row for part in parts for row in part), chosen, strict=True)
    ]
    schema: dict[str, Any] = dict.fromkeys(grid, pl.String) | {"kept": pl.Int64, "excluded": pl.Int64}
    schema |= dict.fromkeys(("estimate", "lower", "upper"), pl.Float64) | {"stated": pl.Boolean}
    return Multiverse(
        pl.DataFrame(rows, schema=schema, orient="row"), tuple(grid), judgments.participants.height, total,
        None if followed is None else followed.name, None if followed is None else followed.unit, tuple(notes), seed,
    )  # fmt: skip


def _followed(
    judgments: Judgments,
    contrast: ContrastSettings | Mapping[str, Any] | None,
    study: Study | None,
    notes: list[Message],
) -> ScreenedDifference | None:
    """The difference to follow. If a given one cannot be computed, it is an error; for a default one it is a note."""
    settings = contrast_of(judgments, contrast, study)
    if settings is None:
        notes.append(Message("multiverse.no_factor"))
        return None
    try:
        return difference(judgments, settings)
    except ScreenError as error:
        if contrast is not None:
            raise
        notes.append(message_of(error))
        return None


def _combinations(sizes: list[int], seed: int, at_most: int) -> tuple[list[tuple[int, ...]], int]:
    """The number of the option of each criterion in each combination, the stated one first; and their total.

    The last criterion changes fastest, so that the results of early stages are reused while they are remembered.
    """
    total = prod(sizes)
    if total <= at_most:
        numbers = list(range(total))
    else:
        sample = np.random.default_rng(seed).choice(total - 1, max(at_most - 1, 0), replace=False) + 1
        numbers = [0, *sorted(sample.tolist())]
    places = np.transpose(np.unravel_index(numbers, (1, *sizes)))[:, 1:]
    return [tuple(row) for row in places.tolist()], total


def _in_parts(chosen: list[tuple[int, ...]], early: int) -> list[list[tuple[int, ...]]]:
    """Consecutive combinations with the same early criteria, at most 20 together, on all machines."""
    alike = [list(part) for _, part in groupby(chosen, key=lambda places: places[:early])]
    return [part[start : start + TOGETHER] for part in alike for start in range(0, len(part), TOGETHER)]


class _Worlds:
    """The data of all combinations, and the evidence that a process remembers."""

    def __init__(self, judgments: Judgments, exclude: str | int) -> None:
        self.judgments, self.exclude = judgments, exclude
        self.grid: Mapping[str, Sequence[Option]] = {}
        self.followed: ScreenedDifference | None = None
        self.compute = _remembering(computing(judgments))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "compute"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.compute = _remembering(computing(self.judgments))


def _tried(worlds: _Worlds, part: list[tuple[int, ...]]) -> list[list[Any]]:
    """One row per combination: its settings in words, the numbers kept and excluded, and the difference."""
    people = worlds.judgments.participants["participant"].to_list()
    rows = []
    for places in part:
        universe = {name: settings[place] for (name, settings), place in zip(worlds.grid.items(), places, strict=True)}
        excluded = _excluded(worlds.judgments, universe, worlds.exclude, worlds.compute)
        stays = np.array([person not in excluded for person in people], dtype=bool)
        words = [words for words, _ in universe.values()]
        interval = (np.nan,) * 3 if worlds.followed is None else worlds.followed.estimate(stays)
        estimate = [None if np.isnan(value) else value for value in interval]
        rows.append([*words, int(stays.sum()), len(excluded), *estimate])
    return rows


def _excluded(
    judgments: Judgments, universe: Mapping[str, Option], exclude: str | int, compute: Compute
) -> frozenset[str]:
    """The participants that the rules of one combination exclude."""
    rules: dict[str, Any] = {name: settings for name, (_, settings) in universe.items() if settings is not None}
    rule = without_criteria(exclude, rules)
    if rule is None:
        return frozenset()
    return frozenset(run(judgments, rules | {"exclude": rule}, compute=compute).excluded)


class _Flagged(Evidence):
    """Evidence reduced to verdicts, which computes the flagged participants only once."""

    @cached_property
    def flagged(self) -> list[str]:
        return self.participants.filter(pl.col("flagged"))["participant"].to_list()


def _remembering(compute: Compute) -> Compute:
    """The same computation with a cache of verdicts by criterion, settings and excluded participants."""
    cache: dict[tuple[str, frozenset[str], str], Evidence | Message] = {}

    def remembered(name: str, excluded: tuple[str, ...], settings: Mapping[str, Any]) -> Evidence:
        key = name, frozenset(excluded), repr(sorted(settings.items()))
        if key not in cache:
            try:
                evidence = compute(name, excluded, settings)
                cache[key] = _Flagged(evidence.participants.select("participant", "flagged"), name, dict(settings))
            except ScreenError as error:
                cache[key] = message_of(error)
        verdict = cache[key]
        if isinstance(verdict, Message):
            raise ScreenError(verdict)
        return verdict

    return remembered


Option = tuple[str, dict[str, Any] | None]
"""A setting in words, and all its values; None if the criterion is left out."""


def options(
    judgments: Judgments,
    rules: Mapping[str, Any] | None,
    study: Study | None,
    given: Mapping[str, Sequence[Mapping[str, Any] | None]] | None,
    compute: Compute,
) -> tuple[dict[str, list[Option]], list[Message]]:
    """The settings to combine by criterion, in the order of the stages and with the stated one first; and notes.

    `given` replaces the alternatives of criteria. An alternative that cannot run on these judgments is left out with a
    note.
    """
    given = given or {}
    for name in given:
        try:
            criterion_named(name)
        except ValueError as error:
            raise ScreenError(Message("alternatives.unknown", {"why": str(error)})) from None
    stated_settings = settings_of({} if rules is None else rules, study)
    usual = settings_of(None, study)
    names = [name for name in CRITERIA if name in stated_settings or name in given or rules is None]
    names.sort(key=lambda name: STAGES.index(CRITERIA[name].stage))
    ratings = all(isinstance(scale, Ordinal) for scale in judgments.scales.values())
    grid: dict[str, list[Option]] = {}
    notes: list[Message] = []
    for name in names:
        wanted = given[name] if name in given else [
            settings.settings for settings in CRITERIA[name].alternatives
            if (rules is not None or settings.usual) and (ratings or not settings.ratings)
            and (settings.where is None or stated_settings.get(name, {}).get(settings.where))
        ]  # fmt: skip
        first = [] if rules is None else [stated_settings.get(name)]
        complete = [_complete(name, settings, stated_settings.get(name, usual[name])) for settings in wanted]
        distinct = _distinct(name, first + complete)
        grid[name] = distinct[: len(first)]
        idle = None if name not in stated_settings else _cannot_run(name, stated_settings[name], compute)
        if idle is not None:
            notes.append(Message("alternatives.stated", {"criterion": name, "why": idle}))
        for words, settings in distinct[len(first) :]:
            if settings is None and idle is not None and rules is not None and rules.get("exclude", "any") == "any":
                continue  # a criterion that cannot run excludes nobody anyway
            why = None if settings is None else _cannot_run(name, settings, compute)
            if why is None:
                grid[name].append((words, settings))
            elif rules is not None or name in given:
                notes.append(Message("alternatives.not_tried", {"criterion": name, "setting": words, "why": why}))
    return {
        name: choices for name, choices in grid.items() if any(settings is not None for _, settings in choices)
    }, notes


def _complete(
    name: str, settings: Mapping[str, Any] | None, stated_settings: Mapping[str, Any]
) -> dict[str, Any] | None:
    """All settings of an alternative: its own, those of the study, and the usual ones."""
    if settings is None:
        return None
    of_study = {
        key: stated_settings[key] for key in CRITERIA[name].of_the_study if stated_settings.get(key) is not None
    }
    return settings_of({name: {**of_study, **settings}}, None)[name]


def _distinct(name: str, settings: Sequence[dict[str, Any] | None]) -> list[Option]:
    """Each different setting once, with unique words."""
    options: list[Option] = []
    used: list[str] = []
    for setting in settings:
        if all(_spelled(name, setting) != _spelled(name, other) for _, other in options):
            words = in_words(name, setting)
            used.append(words)
            options.append((f"{words} ({used.count(words)})" if used.count(words) > 1 else words, setting))
    return options


def _cannot_run(name: str, settings: dict[str, Any], compute: Compute) -> Message | None:
    try:
        compute(name, (), settings)
    except ScreenError as error:
        return message_of(error)
    return None


def in_words(name: str, settings: Mapping[str, Any] | None) -> str:
    """A setting in the words of the alternatives, or its unusual values."""
    if settings is None:
        return left_out().words
    of_the_study = CRITERIA[name].of_the_study

    def decided(some: Mapping[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in (_spelled(name, some) or {}).items() if key not in of_the_study}

    values, usual = decided(settings), decided({})
    for alternative in CRITERIA[name].alternatives:
        if alternative.settings is not None and decided(alternative.settings) == values:
            return alternative.words
    return ", ".join(f"{key} {_value_words(value)}" for key, value in values.items() if value != usual[key]) or "usual"


def _spelled(name: str, settings: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """All settings, with derived values for those that are not stated."""
    if settings is None:
        return None
    model = CRITERIA[name].settings
    return model.resolved(model().model_dump() | dict(settings))


def _value_words(value: Any) -> str:
    if value is None:
        return "none"
    return language_of("en").probability(value) if isinstance(value, float) and value else str(value)


def without_criteria(exclude: str | int, kept: Collection[str]) -> str | int | None:
    """The rule with only some of its criteria; None if none is left.

    Missing criteria are removed from `and` and `or`, and a number of criteria is reduced to how many there are.
    """
    if not kept:
        return None
    if isinstance(exclude, int):
        return min(exclude, len(kept))
    if exclude in ("any", "all"):
        return exclude
    left = _pruned(ast.parse(exclude, mode="eval").body, kept)
    return None if left is None else ast.unparse(left)


def _pruned(node: ast.expr, names: Collection[str]) -> ast.expr | None:
    if isinstance(node, ast.Name):
        return node if node.id in names else None
    if isinstance(node, ast.UnaryOp):
        inner = _pruned(node.operand, names)
        return None if inner is None else ast.UnaryOp(node.op, inner)
    if isinstance(node, ast.BoolOp):
        parts = [part for value in node.values if (part := _pruned(value, names)) is not None]
        return ast.BoolOp(node.op, parts) if len(parts) > 1 else parts[0] if parts else None
    raise ScreenError(Message("rules.syntax"))
