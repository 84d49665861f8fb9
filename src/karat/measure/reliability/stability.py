"""Stability: do stimuli get the same scores, and pairs the same decisions, when they are judged again?

Answers are divided by session (within participants) or by a group of participants, such as their source (between
participants), as in the test-retest comparisons of Langsford, Perfors, Hendrickson, Kennedy and Navarro (2018). For
every two groups

- Pearson's and Spearman's correlation of the scores of stimuli: means, standardised means, or strengths by a function;
- the share of pairs with the same decision, if decisions are given;
- and for each participant in both groups, the correlation of their answers and the share of equal ones.

Intervals are bootstraps over participants, who are drawn from those in the same groups, so that groups keep their sizes
and participants of two sessions are drawn with both; stimuli and pairs are fixed. They are centred at the estimate by
Fisher's z, because scores of bootstrap samples have the noise of the study twice (`karat.models.resampling`). If
decisions are given as tables, so that no participants can be drawn, the interval of their share is Wilson's over pairs.

A correlation of scores depends on how much the stimuli differ: it is a statement about this set of stimuli.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from karat.judgments import Judgments
from karat.judgments.stimuli import natural_order
from karat.measure.rated import Rated, known_column, rated
from karat.measure.reliability.agreement import LEVEL, check_bootstrap
from karat.measure.result import BriefResult, MeasureError, PlotColumns, rounded, schema_of, table_of
from karat.measure.scaling.ratings import Score, as_mapping, bootstrap_sample, function_scores, weighted_means
from karat.messages import Message
from karat.models.proportions import wilson
from karat.models.resampling import centred_interval, stratified_resamples
from karat.models.split_half import column_correlations, within_raters
from karat.types import Floats

SCHEMA = schema_of("question:s first:s second:s kind:s measure:s estimate lower upper n:i participants:i")
OWN_SCHEMA = schema_of("question:s first:s second:s participant:s stimuli:i correlation equal")
MANY_PAIRS, FEWER = 15, 200
"""With more pairs of groups than the first number, the second is the default number of samples."""
PEARSON, SPEARMAN, DECISIONS = "Pearson", "Spearman", "same decision"


@dataclass(frozen=True)
class Stability(BriefResult):
    """The agreement of scores and decisions between two sessions or groups."""

    comparisons: pl.DataFrame
    """question, first, second, kind (within, between, mixed), measure, estimate, lower, upper, n (stimuli or pairs),
    participants."""
    participants: pl.DataFrame
    """Participants in both groups: question, first, second, participant, stimuli, correlation, equal (a share)."""
    scores: pl.DataFrame
    """The scores of stimuli, by group."""
    disagreements: pl.DataFrame
    """first, second, pair, and the two decisions that differ."""
    points: ClassVar = PlotColumns(
        ("question", "first", "second", "measure"), axis="correlation, or share of equal decisions"
    )
    files: ClassVar = {
        "stability": "comparisons", "stability-participants": "participants", "stability-scores": "scores",
        "stability-disagreements": "disagreements",
    }  # fmt: skip
    between: ClassVar = "\n"

    @property
    def summary(self) -> tuple[Message, ...]:
        """The correlation of scores between every two groups, and the share of equal decisions."""
        return tuple(map(self._message, self.comparisons.filter(pl.col("measure") != SPEARMAN).to_dicts()))

    def _message(self, row: dict[str, Any]) -> Message:
        about = {"question": row["question"] or None} | {name: row[name] for name in ("first", "second", "kind")}
        if row["estimate"] is None:
            return Message("stability.undefined", about)
        numbers = {name: row[name] for name in ("estimate", "lower", "upper", "n")}
        values = about | numbers | {"level": self.settings.get("level", LEVEL)}
        if row["measure"] == PEARSON:
            return Message("stability.scores", values)
        shares = {name: rounded(row[name]) for name in ("estimate", "lower", "upper")}
        return Message("stability.decisions", values | shares)


def stability(
    judgments: Judgments,
    by: str = "session",
    scores: Literal["mean", "zscore"] | Score = "mean",
    decisions: Score | Mapping[str, Any] | None = None,
    functions: Sequence[str] = ("test",),
    conditions: Sequence[str] | None = None,
    samples: int | None = None,
    level: float = 0.95,
    seed: int = 1,
) -> Stability:
    """Test-retest comparisons of all groups of `by`, a column of the judgments or of their participants.

    `decisions` is a function from judgments to a table with pair and decision, or a mapping from group to such a table.
    `samples` is 1000 by default, 200 with more than 15 pairs of groups, and 100 if a function is called for each.

    Parameters
    ----------
    by
        The column that makes the groups.
    scores
        The score of a stimulus: its mean, its mean z-score, or a function from judgments to scores.

    >>> import karat
    >>> print(stability(karat.datasets.load("likert"), by="list", conditions=[], samples=100))  # doctest: +ELLIPSIS
    The scores of stimuli in A and B (different participants) correlate ...
    """
    called = callable(scores) or callable(decisions)
    number = (100 if called else 1000) if samples is None else samples
    check_bootstrap(number, level)
    if not callable(scores) and scores not in ("mean", "zscore"):
        raise MeasureError(Message("stability.unknown_scores", {"scores": str(scores)}))
    whole, groups, notes = grouped(judgments, by)
    pairs = len(groups) * (len(groups) - 1) // 2
    if samples is None and not called and pairs > MANY_PAIRS:
        number = FEWER
        notes.append(Message("stability.fewer_samples", {"pairs": pairs, "samples": number}))
    parts = rated(whole, "stability", functions, conditions, once=("_group",))
    rows: list[tuple[Any, ...]] = []
    retests: list[tuple[Any, ...]] = []
    tables: list[pl.DataFrame] = []
    different: list[tuple[Any, ...]] = []
    for part in parts:
        notes += list(part.notes)
        if part.has_numbers and not callable(scores):
            compared, table = _of_means(part, groups, scores == "zscore", number, level, seed)
            rows += compared
            tables.append(table)
        for first, second in combinations(groups, 2):
            retests += _twice(part, first, second)
    tested = only(whole, functions)
    if callable(scores):
        compared, table = _of_function(tested, groups, scores, number, level, seed)
        rows += compared
        tables.append(table)
    if decisions is not None:
        compared, different = _of_decisions(tested, groups, decisions, number, level, seed)
        rows += compared
    if not rows:
        raise MeasureError(Message("stability.labels"))
    if not any(row[list(SCHEMA).index("n")] for row in rows):
        raise MeasureError(Message("stability.no_shared_stimulus", {"by": by}))
    return Stability(
        table_of(rows, SCHEMA),
        table_of(retests, OWN_SCHEMA),
        pl.concat(tables, how="diagonal") if tables else pl.DataFrame(),
        pl.DataFrame(different, schema=["first", "second", "pair", "decision", "other"], orient="row"),
        settings={
            "by": by, "scores": scores if isinstance(scores, str) else "function", "samples": number, "level": level,
            "seed": seed,
        },
        notes=tuple(dict.fromkeys(notes)),
    )  # fmt: skip


def _of_means(
    answers: Rated, groups: list[str], standardised: bool, samples: int, level: float, seed: int
) -> tuple[list[tuple[Any, ...]], pl.DataFrame]:
    """Correlations of means of stimuli for every two groups, and the means."""
    members, strata = memberships(answers.rows, answers.people)
    everybody = np.ones((len(answers.people), 1))
    weights = np.hstack([everybody, stratified_resamples(strata, samples, seed)])
    of_group = answers.rows["_group"].to_numpy()
    means = {group: weighted_means(answers, of_group == group, weights, standardised) for group in groups}
    about = answers.stimuli.with_columns(question=pl.lit(answers.question)) if answers.question else answers.stimuli
    return list(_correlated(answers.question, means, members, level)), about.hstack(_first_columns(means))


def _first_columns(scores: Mapping[str, Floats]) -> pl.DataFrame:
    """The scores of the groups, without those of bootstrap samples."""
    return pl.DataFrame({group: table[:, 0] for group, table in scores.items()}).with_columns(pl.all().fill_nan(None))


def _correlated(
    question: str, scores: Mapping[str, Floats], members: Mapping[str, set[str]], level: float
) -> Iterator[tuple[Any, ...]]:
    """Pearson's and Spearman's correlation of every two groups' first columns, with intervals from the others."""
    for first, second in combinations(scores, 2):
        x, y = scores[first], scores[second]
        kind, people = kind_of(members[first], members[second]), len(members[first] | members[second])
        both = int((np.isfinite(x[:, 0]) & np.isfinite(y[:, 0])).sum())
        for name, (a, b) in ((PEARSON, (x, y)), (SPEARMAN, _ranked(x, y))):
            many = column_correlations(a, b)
            ends = centred_interval(float(many[0]), many[1:], level) if len(many) > 1 else (np.nan, np.nan)
            yield question, first, second, kind, name, float(many[0]), *ends, both, people


def _ranked(x: Floats, y: Floats) -> list[Floats]:
    """Ranks within each column among the rows of both tables; equal values share the mean of their ranks."""
    from scipy.stats import rankdata

    both = np.isfinite(x) & np.isfinite(y)
    # Means that differ only by rounding are tied.
    return [rankdata(np.where(both, np.round(table, 9), np.nan), axis=0, nan_policy="omit") for table in (x, y)]


def _twice(answers: Rated, first: str, second: str) -> Iterator[tuple[Any, ...]]:
    """For participants with stimuli in both groups, the correlation of their answers and the share of equal ones.

    Answers are compared by meaning, regardless of the direction of the scale or the sides of a choice.
    """
    keys = ["_rater", "_stimulus"]
    answer = pl.col("_category" if answers.levels else "_value").alias("said")
    a, b = (answers.rows.filter(pl.col("_group") == g).select(*keys, "_value", answer) for g in (first, second))
    both = a.join(b, on=keys, suffix="_again")
    if not both.height:
        return
    rater = both["_rater"].to_numpy()
    r = within_raters(rater, both["_value"].to_numpy(), both["_value_again"].to_numpy(), len(answers.people))
    equal = both.group_by("_rater").agg(n=pl.len(), same=(pl.col("said") == pl.col("said_again")).mean())
    for number, n, same in equal.sort("_rater").iter_rows():
        yield answers.question, first, second, answers.people[number], n, float(r[number]), same


def _of_function(
    judgments: Judgments, groups: list[str], score: Score, samples: int, level: float, seed: int
) -> tuple[list[tuple[Any, ...]], pl.DataFrame]:
    """Correlations of scores that a function gives."""
    samples_scores = [
        {group: function_scores(score, group_of(sample, group)) for group in groups}
        for sample in samples_of(judgments, samples, seed)
    ]
    items = sorted(set().union(*samples_scores[0].values()))
    if not items:
        raise MeasureError(Message("stability.no_scores"))
    tables = {
        g: np.array([[float(sample[g].get(item, np.nan)) for sample in samples_scores] for item in items])
        for g in groups
    }
    members, _ = memberships(judgments.frame, [])
    return list(_correlated("", tables, members, level)), _first_columns(tables).select(
        pl.Series("item", items), pl.all()
    )


def _of_decisions(
    judgments: Judgments, groups: list[str], decisions: Score | Mapping[str, Any], samples: int, level: float, seed: int
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """The share of pairs with the same decision, and the pairs where they differ."""
    if callable(decisions):
        by_sample = [
            {g: function_scores(decisions, group_of(sample, g), "pair", "decision") for g in groups}
            for sample in samples_of(judgments, samples, seed)
        ]
    else:
        missing = [group for group in groups if group not in decisions]
        if missing:
            names = [str(group) for group in decisions]
            raise MeasureError(Message("stability.no_decisions", {"group": missing[0], "known": names}))
        by_sample = [{group: as_mapping(decisions[group], "pair", "decision") for group in groups}]
    members, _ = memberships(judgments.frame, [])
    rows: list[tuple[Any, ...]] = []
    different: list[tuple[Any, ...]] = []
    for a, b in combinations(groups, 2):
        pairs = sorted(set(by_sample[0][a]) & set(by_sample[0][b]))
        if not pairs:
            raise MeasureError(Message("stability.no_shared_pair", {"first": a, "second": b}))
        shares = np.array([_same(sample[a], sample[b], pairs) for sample in by_sample])
        same = float(shares[0])
        if len(by_sample) > 1:
            # numpy's maximum keeps a missing end.
            lower, upper = (float(np.maximum(end, 0.0)) for end in centred_interval(same, shares[1:], level))
        else:
            lower, upper = (float(end) for end in wilson(round(same * len(pairs)), len(pairs), level))
        people = len(members[a] | members[b])
        rows.append(("", a, b, kind_of(members[a], members[b]), DECISIONS, same, lower, upper, len(pairs), people))
        different += [(a, b, pair, by_sample[0][a][pair], by_sample[0][b][pair]) for pair in pairs
                      if by_sample[0][a][pair] != by_sample[0][b][pair]]  # fmt: skip
    return rows, different


def _same(first: dict[str, Any], second: dict[str, Any], pairs: list[str]) -> float:
    shared = [pair for pair in pairs if pair in first and pair in second]
    return sum(first[pair] == second[pair] for pair in shared) / len(shared) if shared else float("nan")


CAME_BACK = 0.9
"""The least share of the smaller group that is also in the other in a comparison within participants."""


def grouped(judgments: Judgments, by: str) -> tuple[Judgments, list[str], list[Message]]:
    """The judgments with the group of each answer in _group, the groups, and a note on answers without one."""
    frame = judgments.frame
    if by in frame.columns:
        frame = frame.with_columns(_group=pl.col(by).cast(pl.String))
    else:
        known_column(judgments.participants, by, "stability")
        names = judgments.participants.select("participant", _group=pl.col(by).cast(pl.String))
        frame = frame.join(names, on="participant", how="left", maintain_order="left")
    missing = frame["_group"].null_count()
    notes = [Message("stability.no_group", {"n": missing, "by": by})] if missing else []
    frame = frame.filter(pl.col("_group").is_not_null())
    groups = sorted(frame["_group"].unique(), key=natural_order)
    if not groups:
        raise MeasureError(Message("stability.empty_column", {"by": by}))
    if len(groups) < 2:
        raise MeasureError(Message("stability.one_group", {"by": by, "group": groups[0]}))
    return judgments.with_frame(frame), groups, notes


def only(judgments: Judgments, functions: Sequence[str]) -> Judgments:
    """The judgments of trials with these functions."""
    rows = judgments.frame.filter(pl.col("function").is_in(list(functions)))
    return judgments.with_frame(rows)


def kind_of(first: set[str], second: set[str]) -> str:
    """Whether a comparison of two groups is within or between participants, or mixed."""
    shared = len(first & second)
    if not shared:
        return "between"
    return "within" if shared >= CAME_BACK * min(len(first), len(second)) else "mixed"


def memberships(frame: pl.DataFrame, people: list[str]) -> tuple[dict[str, set[str]], list[str]]:
    """The participants of each group, and for each participant their groups, as one text."""
    pairs = frame.select("participant", "_group").unique()
    members: dict[str, set[str]] = {}
    for name, group in pairs.iter_rows():
        members.setdefault(group, set()).add(name)
    return members, ["|".join(sorted(group for group, names in members.items() if name in names)) for name in people]


def samples_of(judgments: Judgments, samples: int, seed: int) -> Iterator[Judgments]:
    """The judgments themselves, then bootstrap samples of them."""
    yield judgments
    people = judgments.frame["participant"].unique(maintain_order=True).to_list()
    _, strata = memberships(judgments.frame, people)
    for counts in stratified_resamples(strata, samples, seed).T:
        counted = {name: int(times) for name, times in zip(people, counts, strict=True) if times}
        yield bootstrap_sample(judgments, counted)


def group_of(judgments: Judgments, group: str) -> Judgments:
    """The judgments of one group."""
    rows = judgments.frame.filter(pl.col("_group") == group).drop("_group")
    people = judgments.participants.filter(pl.col("participant").is_in(rows["participant"].unique().to_list()))
    return judgments.with_frame(rows, people)
