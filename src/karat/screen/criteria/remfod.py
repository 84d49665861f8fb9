"""ReMFOD: recursive multi-factorial outlier detection of response times (Pieper, Börner and Kiss, section 5.1).

A time is an intermission if it is above both

    median + 2.5 MAD of the participant's times,   median + 2.5 MAD of the times of its item function,

and a rush if it is below both medians minus 1.5 MAD, with MAD = 1.4826 median |x - median|. All outliers of a round are
removed together, and the cutoffs are computed again on the rest until there are no more outliers, so long outliers
cannot hide others. Practice trials are left out. Participants with fewer than 90 % genuine answers are flagged, unless
that is due to a single answer, as it may be in questionnaires with fewer than ten trials.

The published code counts a time that equals a cutoff as an outlier; the text of the paper does not, and both agree on
its data. karat follows the text, so equal times flag nobody.

`karat.screen.time_rules` has other rules for comparison, `karat.screen.time_search` the search over one or many parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field

from karat.errors import counted
from karat.judgments import Judgments
from karat.judgments.trial_order import order_messages, with_positions
from karat.messages import Message
from karat.models.robust import MAD_CONSTANT
from karat.screen.evidence import Evidence, PartedEvidence, ScreenError, check_settings, everybody, verdicts
from karat.screen.one_part import Beside, Shelf, parts_of
from karat.screen.time_rules import INTERMISSION, RUSH, TIME_RULES, adjusted_for_length, time_rule
from karat.screen.time_search import (
    LEAST,
    OutlierSearch,
    PartBatch,
    TimedPart,
    find_outliers,
    lay_out,
    part_batches,
    search,
)
from karat.study.criterion import Alternative, Criterion, CriterionSettings, Given, left_out
from karat.types import Bools, Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MANY = 1 / 3
"""Above this share of flagged participants, a note says so."""


class RemfodSettings(CriterionSettings):
    """Settings for flagging rushes and pauses."""

    rule: Literal[
        "remfod", "participant", "function", "global", "miller-3", "miller-2.5", "miller-2", "mean-sd", "single"
    ] = Field("remfod", description="By which rule times are outlying; all but remfod are for comparison.")
    upper: float | None = Field(
        None,
        gt=0,
        description="MADs above the median beyond which a time is an intermission; by default 2.5, or the rule's.",
    )
    lower: float | None = Field(
        None, gt=0, description="MADs below the median beyond which a time is a rush; by default 1.5, or the rule's."
    )
    genuine_at_least: float | None = Field(
        None, ge=0, le=1, description="The share of trials that must be neither; by default 0.9, or the rule's."
    )
    mad_constant: float = Field(
        MAD_CONSTANT, gt=0, description="What makes a MAD comparable with a standard deviation."
    )
    length: str | None = Field(
        None, description="A column with the length of the sentence or its text: times are adjusted for it first."
    )
    inclusive: bool = Field(False, description="Whether a time that equals a cutoff is outlying, as in published code.")

    @classmethod
    def resolved(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """The settings, completed by the factors of the rule.

        >>> RemfodSettings.resolved({"rule": "remfod", "upper": 3.0, "lower": None})
        {'rule': 'remfod', 'upper': 3.0, 'lower': 1.5, 'genuine_at_least': 0.9}
        """
        usual = TIME_RULES[given.get("rule", "remfod")]
        factors = {key: getattr(usual, key) for key in ("upper", "lower", "genuine_at_least")}
        return {**given, **{key: value for key, value in factors.items() if given.get(key) is None}}


@dataclass(frozen=True)
class Remfod(Evidence):
    """Evidence with the outlying trials and the cutoffs of every round.

    `participants` also has trials, intermissions, rushes and genuine_share.
    """

    trials: pl.DataFrame = None  # type: ignore[assignment]
    """participant, trial, kind (intermission, rush), degree (round), lower, upper: the cutoffs it crossed."""
    cutoffs: pl.DataFrame = None  # type: ignore[assignment]
    """round, group (participant, function or all), name, trials, median, mad, lower, upper (or mean and sd)."""
    timed: pl.DataFrame = field(default=None, repr=False, compare=False)  # type: ignore[assignment]
    """All timed trials: participant, trial, function, rt (adjusted for length if requested), kind, degree."""

    @property
    def rounds(self) -> int:
        """The number of rounds with outliers."""
        return int(self.trials.select(pl.col("degree").max()).item() or 0)

    def plot(self, participant: str | None = None, width_cm: float = 16, rows: int = 24) -> Figure:
        """One row of times per participant, the least genuine first; or one participant's trials with the cutoffs.

        With many participants, the `rows` with the smallest share of genuine trials are drawn.

        >>> import karat
        >>> figure = remfod(karat.datasets.load("likert")).plot()
        >>> figure.get_suptitle()
        '5 of 48 participants flagged for under 90 % genuine response times'
        """
        from karat.plots.times import rows_plot

        if participant is not None:
            return self._plot_participant(participant, width_cm)
        people, title, key = self.least_genuine(rows)
        return rows_plot(people, self.timed, self.settings["genuine_at_least"], self.label, title, key, width_cm)

    def least_genuine(self, rows: int = 24) -> tuple[pl.DataFrame, str, str]:
        """The participants with the smallest share of genuine trials, the title of their figure, and its key.

        >>> import karat
        >>> remfod(karat.datasets.load("likert")).least_genuine(3)[0]["participant"].to_list()
        ['p13', 'p11', 'p27']
        """
        people = self.participants.filter(pl.col("trials") > 0).sort("genuine_share", maintain_order=True)
        least = people.head(max(rows, 1))
        needed = self.settings["genuine_at_least"]
        everyone = counted(self.participants.height, "participant")
        title = f"{len(self.flagged)} of {everyone} flagged for under {100 * needed:g} % genuine response times"
        return least, title, self._key(people.height - least.height)

    def _plot_participant(self, participant: str, width_cm: float) -> Figure:
        """The trials of one participant in their order, with the cutoffs of the last round."""
        from karat.plots.style import short_name
        from karat.plots.times import percent, trials_plot

        row = self.row_of(participant)
        trials = self.timed.filter(pl.col("participant") == participant).sort("trial", maintain_order=True)
        if not trials.height:
            raise ScreenError(Message("remfod.nothing_to_draw", {"participant": participant}))
        counts = f"{counted(row['intermissions'], 'intermission')}, {_rushes(row['rushes'])}"
        title = f"{short_name(participant)}: {counts} in {counted(row['trials'], 'timed trial')}, "
        title += f"{percent(row['genuine_share'])} genuine, {'flagged' if row['flagged'] else 'not flagged'}"
        by_half = by_function = None
        if self.settings["rule"] == "remfod":
            by_function = self._last_cutoffs(trials, ("function",))
            by_half = {name: self._alone(name, participant) for name in ("participant", "function")}
        return trials_plot(
            trials, self._last_cutoffs(trials), self._lines(participant), self.label, title, alone=by_half,
            by_function=by_function, width_cm=width_cm,
        )  # fmt: skip

    def _last_cutoffs(self, trials: pl.DataFrame, groups: tuple[str, ...] = ()) -> tuple[Floats, Floats]:
        """The lower and upper cutoff of each trial in the last round that has them; 0 means no lower cutoff."""
        low, high = np.full(trials.height, np.inf), np.full(trials.height, -np.inf)
        cutoffs = self.cutoffs.drop_nulls("upper").sort("round").unique(["group", "name"], keep="last")
        for group in groups or cutoffs["group"].unique():
            key = pl.lit("all").alias("name") if group == "all" else pl.col(group).alias("name")
            of_group = cutoffs.filter(pl.col("group") == group)
            table = trials.select(key).join(of_group, on="name", how="left", maintain_order="left")
            low = np.minimum(low, table["lower"].fill_null(0.0).to_numpy())
            high = np.maximum(high, table["upper"].to_numpy())
        return low, high

    def _alone(self, name: str, participant: str) -> Bools:
        """Whether one half of ReMFOD alone flags each trial of a participant."""
        rule = time_rule(name, self.settings["upper"], self.settings["lower"])
        kinds = find_outliers(self.timed, rule, self.settings["mad_constant"]).kind
        marked = self.timed.with_columns(alone=pl.Series(kinds > 0)).filter(pl.col("participant") == participant)
        return marked.sort("trial", maintain_order=True)["alone"].to_numpy()

    def _lines(self, participant: str) -> list[tuple[float, str, str]]:
        """The participant's own cutoffs, and those over all times, which the paper warns of."""
        of_participant = self.cutoffs.drop_nulls("upper").filter(group="participant", name=participant)
        single = self.cutoffs.filter(pl.col("group") == "all")
        if not single.height and "median" in self.cutoffs.columns:
            rule = time_rule("global", self.settings["upper"], self.settings["lower"])
            single = find_outliers(self.timed, rule, self.settings["mad_constant"]).cutoffs
        return [
            (row[side], f"{word} {row[side]:.1f} s", style)
            for word, style, table in (("own", "--", of_participant), ("all", ":", single))
            for row in table.tail(1).to_dicts()
            for side in ("lower", "upper")
            if row[side] is not None
        ]

    @property
    def label(self) -> str:
        """The label of an axis of times."""
        return "response time (s)" if self.settings["length"] is None else "response time adjusted for length (s)"

    def _key(self, more: int) -> str:
        """The key to the rows."""
        pauses, rushes = (int(self.participants[name].sum()) for name in ("intermissions", "rushes"))
        text = f"◀ {_rushes(rushes)}   ▶ {counted(pauses, 'intermission')}"
        text += "   (hollow: after round 1)" if self.rounds > 1 else ""
        text += "   ┃\N{NO-BREAK SPACE}median"
        rest = f"\n{counted(more, 'participant')} with the same share or a larger one not shown"
        return text + rest if more else text

    def plot_density(self, width_cm: float = 16) -> Figure:
        """Densities of the times of item functions and of participants, with their medians (the paper's figure 1).

        >>> import karat
        >>> len(remfod(karat.datasets.load("likert")).plot_density().axes)
        2
        """
        from karat.plots.times import densities_plot

        return densities_plot(self.timed, self.flagged, self.label, width_cm)

    @property
    def summary(self) -> tuple[Message, ...]:
        """The result, without the notes."""
        pauses, rushes = (int(self.participants[name].sum()) for name in ("intermissions", "rushes"))
        people = self.participants.height
        return (result_message(pauses, rushes, self.rounds, len(self.flagged), people, self.settings),)


def remfod(
    judgments: Judgments,
    rule: str = "remfod",
    upper: float | None = None,
    lower: float | None = None,
    genuine_at_least: float | None = None,
    mad_constant: float = MAD_CONSTANT,
    length: str | None = None,
    inclusive: bool = False,
    *,
    batch: int = LEAST,
) -> Remfod:
    """Intermissions and rushes, and the participants with too few genuine trials.

    Parameters
    ----------
    rule
        remfod, or another rule to compare with: participant, function, global, miller-3, miller-2.5, miller-2, mean-sd
        or single.
    upper
        How many MADs above the median a time is an intermission. By default that of the rule; for remfod 2.5.
    lower
        How many MADs below the median a time is a rush. By default that of the rule; for remfod 1.5.
    genuine_at_least
        The share of genuine times below which participants are flagged. By default that of the rule; for remfod 0.9.
    mad_constant
        The factor that makes a MAD comparable with a standard deviation; not used by mean-sd.
    length
        A column with the sentence or its length. Times are adjusted to a sentence of median length first. Not for
        judgments in parts, because the effect of length is a weighted median over pairs of everybody's trials.
    inclusive
        Whether a time equal to a cutoff is an outlier, as in the published code.
    batch
        About how many trials parts are joined to; only the speed depends on it.

    >>> import karat
    >>> evidence = remfod(karat.datasets.load("likert"))
    >>> evidence.flagged
    ['p08', 'p11', 'p13', 'p18', 'p27']
    >>> evidence.trials.columns
    ['participant', 'trial', 'kind', 'degree', 'lower', 'upper']
    >>> print(remfod(karat.datasets.load("likert"), rule="mean-sd"))
    remfod: 32 intermissions, 45 rushes in 1 round; 1 of 48 participants flagged (under 90 % genuine), rule mean-sd.
    """
    check_settings(
        RemfodSettings, upper=upper, lower=lower, genuine_at_least=genuine_at_least, mad_constant=mad_constant
    )
    applied = time_rule(rule, upper, lower, genuine_at_least)
    if length is not None and not isinstance(judgments, Judgments):
        raise ScreenError(Message("remfod.no_length_in_parts"))
    settings = RemfodSettings.resolved({
        "rule": rule, "upper": upper, "lower": lower, "genuine_at_least": genuine_at_least,
        "mad_constant": mad_constant, "length": length, "inclusive": inclusive,
    })  # fmt: skip
    parts = parts_of(judgments)
    shelf = parts.shelf("remfod", settings)
    laid_out = parts.map(_lay_out_times, (shelf, length), name="remfod")
    times = [facts.times for facts in laid_out]
    if not any(facts.timed for facts in laid_out):
        raise ScreenError(Message("times.none"))
    if not any(part.trials for part in times):
        raise ScreenError(Message("times.only_practice"))
    outliers = OutlierSearch.over(times, applied, mad_constant, inclusive, shelf)
    batches = part_batches(times, parts.executor.processes, batch)
    rounds = search(outliers, batches, parts.executor, parts.progress)
    shared = (outliers, rounds.computed, batches, parts.beside)
    evidence, judged = parts.judge("remfod", _judge, shared, settings, stored=True)
    untimed, flat = sum(facts.untimed for facts in laid_out), sum(facts.without_spread for facts in judged)
    notes = [Message("remfod.untimed", {"n": untimed})] if untimed else []
    notes += [*laid_out[0].order, *(note for facts in laid_out for note in facts.length)]
    if "function" in applied.by and len(outliers.names) == 1:
        notes.append(Message("remfod.one_function", {"function": outliers.names[0]}))
    if min(part.least for part in times) == max(part.most for part in times) and sum(part.trials for part in times) > 1:
        notes.append(Message("remfod.all_times_equal"))
    # These are outliers only because most times of their groups are equal.
    notes += [Message("remfod.no_spread", {"n": flat})] if flat else []
    notes += _many(evidence, settings["genuine_at_least"])
    if isinstance(evidence, PartedEvidence):
        pauses, rushes = sum(facts.intermissions for facts in judged), sum(facts.rushes for facts in judged)
        says = result_message(pauses, rushes, rounds.with_outliers, *evidence.counts, settings)
        return PartedRemfod(
            **vars(replace(evidence, notes=tuple(notes), says=(says,))), rounds=rounds.with_outliers,
            trial_files=tuple(facts.trials for facts in judged),
            cutoff_files=tuple(facts.cutoffs for facts in judged if facts.cutoffs is not None),
            spanning=rounds.spanning,
        )  # fmt: skip
    return Remfod(
        evidence.participants, "remfod", settings, tuple(notes), trials=judged[0].trials,
        cutoffs=rounds.cutoffs(judged[0].cutoffs), timed=judged[0].timed,
    )  # fmt: skip


def _many(evidence: Evidence | PartedEvidence, needed: float) -> list[Message]:
    """The message that more than a third are flagged, and how many of them would not be without their pauses."""
    flagged, participants = evidence.counts
    if flagged <= MANY * participants:
        return []
    table = evidence.scan() if isinstance(evidence, PartedEvidence) else evidence.participants.lazy()
    enough = pl.col("rushes") <= (1 - needed) * pl.col("trials")
    paused = table.filter("flagged", enough).select(pl.len()).collect().item()
    return [Message("remfod.many", {"flagged": flagged, "participants": participants, "paused": paused})]


@dataclass(frozen=True)
class PartedRemfod(PartedEvidence):
    """The evidence of ReMFOD on judgments in parts, with the outlying trials and the cutoffs of every round."""

    rounds: int = 0
    """The number of rounds with outliers."""
    trial_files: tuple[Path, ...] = field(default=(), repr=False)
    cutoff_files: tuple[Path, ...] = field(default=(), repr=False)
    spanning: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False)
    """The cutoffs of the groups that span parts."""

    def trials(self) -> pl.LazyFrame:
        """The outlying trials, with the columns that `Remfod.trials` has, in the order of parts."""
        return pl.scan_parquet(list(self.trial_files))

    def cutoffs(self) -> pl.LazyFrame:
        """The cutoffs of every round, with the columns that `Remfod.cutoffs` has, round by round."""
        of_participants = [pl.scan_parquet(list(self.cutoff_files))] if self.cutoff_files else []
        every = pl.concat([*of_participants, *([self.spanning.lazy()] if self.spanning.height else [])])
        return every.sort("round", maintain_order=True)


@dataclass(frozen=True)
class _PartTimes:
    """The times of a part, with notes on its trials."""

    times: TimedPart
    timed: bool
    order: tuple[Message, ...]
    """Notes on the order of trials without positions."""
    untimed: int
    length: tuple[Message, ...]


@dataclass(frozen=True)
class _PartResults:
    """Counts of a part, and its trials and cutoffs as tables or files."""

    intermissions: int
    rushes: int
    without_spread: int
    trials: Any
    cutoffs: Any
    """None if the rule has no cutoffs by participant."""
    timed: Any
    """All timed trials; None in parts."""


def _lay_out_times(judgments: Judgments, shared: tuple[Shelf, str | None], number: int) -> _PartTimes:
    """Lay out the times of a part for the search, adjusted for length if requested."""
    shelf, length = shared
    frame = judgments.frame
    if "rt" not in frame.columns:
        frame = frame.with_columns(rt=pl.lit(None, pl.Float64))
    rows = with_positions(frame).filter(pl.col("function") != "practice")
    trials, notes = rows.filter(pl.col("rt").is_not_null()), tuple[Message, ...]()
    untimed = rows.height - trials.height
    if length is not None and trials.height:
        trials, notes = adjusted_for_length(trials, length)
    shelf.put(everybody(judgments), "everybody", number)
    timed = frame["rt"].null_count() < frame.height
    return _PartTimes(lay_out(trials, shelf, number), timed, order_messages(judgments.frame.columns), untimed, notes)


def _judge(
    shared: tuple[OutlierSearch, int, list[PartBatch], Beside], number: int
) -> tuple[pl.DataFrame, _PartResults]:
    """The evidence on the participants of a part, its outlying trials and its cutoffs."""
    setup, rounds, batches, store = shared
    batch = next(candidate for candidate in batches if number < candidate.first + len(candidate.parts))
    part = setup.trials(batch, rounds).part(batch, number)
    outliers, shelf = part.outliers, setup.shelf
    everyone, people = shelf.table("everybody", number), shelf.table("people", number)
    kinds = [outliers["kind"] == kind for kind in (INTERMISSION, RUSH)]
    numbers = [np.bincount(part.people[outliers["place"][kind]], minlength=len(part.counts)) for kind in kinds]
    counts = people.with_columns(pl.Series("intermissions", numbers[0]), pl.Series("rushes", numbers[1]))
    rows = shelf.table("trials", number, ["row"])["row"].to_numpy()[outliers["place"]]
    named = shelf.table("named", number)
    trials = _outlying(outliers, people["participant"].gather(part.people[outliers["place"]]), rows, named)
    cutoffs = None
    if "participant" in setup.rule.by:
        cutoffs = store(part.cutoffs_by_round(rounds, people["participant"]), "remfod-cutoffs", number, empty=True)
    timed = None
    if "participant" in named.columns:
        kind, degree = np.zeros(named.height, np.int8), np.zeros(named.height, np.int64)
        kind[rows], degree[rows] = outliers["kind"], outliers["degree"]
        timed = named.select("participant", "trial", "function", "rt").with_columns(
            kinds_in_words(kind).alias("kind"), pl.Series("degree", degree)
        )
    table = participants_table(everyone, counts, setup.rule.genuine_at_least)
    flat = int((outliers["lower"] == outliers["upper"]).sum())
    written = store(trials, "remfod-trials", number, empty=True)
    return table, _PartResults(int(kinds[0].sum()), int(kinds[1].sum()), flat, written, cutoffs, timed)


def _outlying(outliers: NDArray[Any], participants: pl.Series, rows: NDArray[Any], named: pl.DataFrame) -> pl.DataFrame:
    """The outlying trials of a part in the order of its rows, with the columns that `Remfod.trials` has."""
    order = np.argsort(rows)
    outliers, in_order = outliers[order], named[rows[order]]
    lower = np.where(np.isinf(outliers["lower"]), np.nan, outliers["lower"])
    return pl.DataFrame([
        participants.gather(order).alias("participant"),
        in_order["trial"],
        kinds_in_words(outliers["kind"]).alias("kind"),
        pl.Series("degree", outliers["degree"].astype(np.int64)),
        pl.Series("lower", lower, nan_to_null=True),
        pl.Series("upper", np.ascontiguousarray(outliers["upper"]), nan_to_null=True),
        *(in_order[name] for name in ("session", "question") if name in named.columns),
    ])  # fmt: skip


def _rushes(number: int) -> str:
    return f"{number:,} {'rush' if number == 1 else 'rushes'}"


def kinds_in_words(kinds: NDArray[np.int8]) -> pl.Series:
    """The kinds of trials in words; null if genuine."""
    words = pl.Series([None, "intermission", "rush"], dtype=pl.String)
    return words.gather(kinds.astype(np.int64))


def result_message(
    pauses: int, rushes: int, rounds: int, flagged: int, people: int, settings: dict[str, Any]
) -> Message:
    """The message with the numbers of outliers and of flagged participants."""
    return Message(
        "remfod.found",
        {
            "intermissions": pauses, "rushes": rushes, "rounds": rounds, "flagged": flagged, "participants": people,
            "needed": settings["genuine_at_least"], "rule": None if settings["rule"] == "remfod" else settings["rule"],
        },
    )  # fmt: skip


def compare_time_rules(judgments: Judgments, length: str | None = None) -> pl.DataFrame:
    """The results of each named rule on the same times, and its agreement with remfod: one row per rule.

    `flagged` is the number of flagged participants and `participants` their names; `agreement` is the share of
    participants with the same verdict as by remfod, and `common` the share of trials flagged by both rules among those
    flagged by either (1 if there are none).

    Parameters
    ----------
    length
        The column with the length of each sentence, or its text, by which times are adjusted.

    >>> import karat
    >>> compare_time_rules(karat.datasets.load("likert")).select("rule", "intermissions", "flagged").rows()[:2]
    [('remfod', 140, 5), ('participant', 317, 23)]
    """
    every = {name: remfod(judgments, name, length=length) for name in TIME_RULES}
    first = every["remfod"]
    return pl.DataFrame([
        {
            "rule": name,
            "intermissions": int(result.participants["intermissions"].sum()),
            "rushes": int(result.participants["rushes"].sum()),
            "rounds": result.rounds,
            "flagged": len(result.flagged),
            "participants": ", ".join(result.flagged),
            "agreement": float((result.participants["flagged"] == first.participants["flagged"]).mean()),  # type: ignore[arg-type]
            "common": _common(result, first),
        }
        for name, result in every.items()
    ])  # fmt: skip


def _common(first: Remfod, second: Remfod) -> float:
    """The share of trials that both rules flag as the same kind, among those that either flags."""
    kinds, other_kinds = first.timed["kind"], second.timed["kind"]
    either = int((kinds.is_not_null() | other_kinds.is_not_null()).sum())
    return int((kinds == other_kinds).sum()) / either if either else 1.0


def participants_table(people: pl.DataFrame, counts: pl.DataFrame, genuine_at_least: float) -> pl.DataFrame:
    """The table of participants, from the trials, intermissions and rushes of participants with times."""
    table = people.join(counts, on="participant", how="left", maintain_order="left")
    table = table.with_columns(pl.col("trials", "intermissions", "rushes").fill_null(0))
    # Computed this way, an exact share such as 9 of 10 is not rounded below its threshold.
    share = (pl.col("trials") - pl.col("intermissions") - pl.col("rushes")) / pl.col("trials")
    table = table.with_columns(genuine_share=pl.when(pl.col("trials") > 0).then(share))
    low = (pl.col("genuine_share") < genuine_at_least).fill_null(False)
    single = low & (pl.col("intermissions") + pl.col("rushes") == 1) & (genuine_at_least < 1)
    values = {
        "intermissions": "intermissions", "rushes": "rushes", "trials": "trials",
        "genuine": pl.col("genuine_share").round(3), "needed": pl.lit(float(genuine_at_least)),
        "single": pl.when(single).then(pl.lit(1, pl.Int64)),
    }  # fmt: skip
    message = pl.when(pl.col("trials") > 0).then(pl.lit("remfod.genuine")).otherwise(pl.lit("remfod.no_times"))
    further = ("trials", "intermissions", "rushes", "genuine_share")
    return verdicts(table, "genuine_share", genuine_at_least, low & ~single, message, values, *further)


def _cites(settings: Given) -> tuple[str, ...]:
    miller = str(settings.get("rule", "")).startswith("miller")
    return ("pieper", "miller1991" if miller else "leys2013")


CRITERION = Criterion(
    name="remfod",
    title="Response times (ReMFOD)",
    asks="who rushed or paused in too many trials",
    settings=RemfodSettings,
    computed_by=remfod,
    stage="clock",
    in_parts=True,
    shown_blind=True,
    of_the_study=("length", "mad_constant"),
    wording=lambda settings: ["" if settings.get("rule", "remfod") == "remfod" else "rule"],
    shares=("genuine_at_least",),
    cites=_cites,
    alternatives=(
        Alternative("90 % genuine", {}, "Pieper, Börner and Kiss", usual=True),
        Alternative("80 % genuine", {"genuine_at_least": 0.8}, "lenient", usual=True),
        Alternative("95 % genuine", {"genuine_at_least": 0.95}, "strict"),
        Alternative("by participant only", {"rule": "participant"}, "Pieper, Börner and Kiss, figure 2"),
        Alternative("3 MADs both ways", {"upper": 3.0, "lower": 3.0}, "the conservative choice of Leys et al."),
        left_out(usual=True),
    ),
)
