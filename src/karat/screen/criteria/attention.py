"""Attention: participants who missed trials that only attentive people answer correctly.

Two rules are published. On the positional account (Pieper, Börner and Kiss, section 5.2), at least k of N answers must
be right, where k limits the probability that guessing passes to alpha. On the pairwise account (Langsford, Perfors,
Hendrickson, Kennedy and Navarro, appendix), participants must not choose the worse sentence of an attention pair, or
rate it above its partner. The partners may be anywhere, even in different halves or sessions, and equal ratings are no
failure. With few pairs, guessing passes too often, and a note says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING, Any, Literal

import polars as pl
from pydantic import Field

from karat.judgments import Judgments
from karat.judgments.answer_codes import width
from karat.judgments.scales import Choice, Continuous, Magnitude, Ordinal, Scale
from karat.messages import Message
from karat.screen.evidence import Evidence, ScreenError, check_settings, everybody
from karat.screen.one_part import AnyEvidence, AnyParts, parts_of
from karat.screen.right_answers import (
    COLUMNS,
    COUNTED,
    LEFT_OUT,
    PartNotes,
    count_rule,
    counted_notes,
    flaws_of_key,
    kinds_of_trials,
    left_out_notes,
    positional,
    rule_columns,
    rule_notes,
    rule_values,
    trials_of,
    with_scores,
)
from karat.study.criterion import Alternative, Criterion, PassSettings, left_out

if TYPE_CHECKING:
    from karat.study.check.draft import Draft

ALPHA = 0.05


class AttentionSettings(PassSettings):
    """Settings for flagging missed attention trials."""

    account: Literal["positional", "pairwise"] = Field("positional", description="How ratings are judged.")


def attention(
    judgments: Judgments, account: str = "positional", alpha: float = ALPHA, slips: int | None = None
) -> Evidence:
    """The number of attention trials or pairs that each participant answered correctly.

    `slips` wrong answers are tolerated; by default as many as alpha allows, and no failed pair. A trial that was shown
    and not answered is not right. On the positional account `trials` of the evidence has every answer that was judged.

    >>> import karat
    >>> evidence = attention(karat.datasets.load("likert"))
    >>> print(evidence)
    attention: 9 of 48 participants flagged.
    >>> evidence.table()["reason"][0]
    '4 of 6 trials right (5 required); guessing passes with p = .041'
    """
    settings = {"account": account, "alpha": alpha, "slips": slips}
    check_settings(AttentionSettings, **settings)
    judge = pairwise if account == "pairwise" else positional
    return judge(parts_of(judgments), "attention", "attention", settings)


def pairwise(
    parts: AnyParts[AnyEvidence], function: str, criterion: str, settings: dict[str, Any]
) -> AnyEvidence:  # fmt: skip
    """The number of pairs in which each participant put the worse sentence above the better one, or did not answer.

    A choice trial is a pair by itself. Rated sentences are partners by the column pair; the better one is the
    grammatical one. If a pair was rated more than once, no rating of the worse sentence may be above one of the
    better. A guesser passes a pair with probability (m + 1) / 2m on m points, 1/2 if ties do not occur, as with
    magnitudes or choices, and 2/3 in a choice that offers "no difference".
    """
    kinds, scales = kinds_of_trials(parts, function, criterion), parts.scales
    chosen = [question for question, scale in scales.items() if isinstance(scale, Choice)]
    choices = kinds.filter(pl.col("question").is_in(chosen))
    because = flaws_of_key(choices, scales) if choices.height else {}
    rated = kinds.filter(~pl.col("question").is_in(chosen))
    rule = _PairRule(
        function, chosen, _height(rated, scales), _better(rated, scales), settings["alpha"], settings["slips"] or 0
    )
    evidence, facts = parts.judge(criterion, _judge_pairs, rule, settings)
    counts = sum((part.counts for part in facts), Counter[str]())
    if not counts["pairs"]:
        raise ScreenError(Message("pairs.nobody_saw_one"))
    on_pairs = counted_notes(counts, "pairs.no_partner", "pairs.half_seen", "pairs.rated_equally")
    on_rules = rule_notes([passing for part in facts for passing in part.rules], rule.alpha)
    return replace(evidence, notes=(*left_out_notes(counts, because), *on_pairs, *on_rules))


@dataclass(frozen=True)
class _PairRule:
    """How the pairs of one function are judged, the same in all parts."""

    function: str
    chosen: list[str]
    """The questions of choices."""
    height: pl.Expr
    better: pl.Expr
    alpha: float
    slips: int


def _judge_pairs(judgments: Judgments, rule: _PairRule, number: int) -> tuple[pl.DataFrame, PartNotes]:
    """The verdict on the pairs of each participant of a part."""
    trials = trials_of(judgments, rule.function)
    is_choice = pl.col("question").is_in(rule.chosen)
    choices = trials.filter(is_choice)
    answers = with_scores(choices, judgments.scales)
    rated, numbers = _rated_pairs(trials.filter(~is_choice), judgments.scales, rule)
    pairs = pl.concat([_chosen_pairs(answers, judgments.scales), rated])
    numbers |= {LEFT_OUT: choices.height - answers.height, "pairs": pairs.height}
    counts = pairs.group_by("participant").agg(
        pl.col("passed").sum().cast(pl.Int64).alias("right"),
        pl.len().cast(pl.Int64).alias("trials"),
        pl.col("unanswered").sum().cast(pl.Int64).alias("unanswered"),
        pl.col("chance").sort().str.join(" ").alias("chances"),
    )
    table = everybody(judgments).join(counts, on="participant", how="left", maintain_order="left")
    texts = table["chances"].drop_nulls().unique(maintain_order=True).to_list()
    rules = [count_rule([Fraction(chance) for chance in text.split()], rule.alpha, rule.slips) for text in texts]
    applied_rules = pl.DataFrame([
        pl.Series("chances", texts, pl.String),
        pl.Series("needed", [rule.needed[0] if rule.needed else None for rule in rules], pl.Int64),
        *rule_columns(rules),
    ])  # fmt: skip
    table = table.join(applied_rules, on="chances", how="left", maintain_order="left")
    ruled = pl.col("guess_probability").is_not_null()
    values = rule_values(pl.col("unanswered"), **{what: pl.when(ruled).then(what) for what in COUNTED})
    why_not = pl.col("_why").fill_null(pl.lit("pairs.none"))
    table = table.with_columns(
        score=pl.when(ruled).then(pl.col("right") / pl.col("trials")),
        threshold=pl.when(ruled).then(pl.col("needed") / pl.col("trials")),
        flagged=(pl.col("right") < pl.col("needed")).fill_null(False),
        message=pl.when(ruled).then(pl.lit("pairs.right")).otherwise(why_not),
        values=values,
    )
    return table.select(*COLUMNS, *COUNTED), PartNotes(numbers, rules)


def _chosen_pairs(trials: pl.DataFrame, scales: dict[str, Scale]) -> pl.DataFrame:
    """Choice trials: passed unless the worse sentence was chosen; "no difference" is not a failure."""
    undecided = pl.col("response") == "none"
    # A guess is the worse sentence with one of two or three answers.
    sizes = {question: len(scale.levels) for question, scale in scales.items() if isinstance(scale, Choice)}
    chances = {question: str(1 - Fraction(1, size)) for question, size in sizes.items()}
    return trials.select(
        "participant",
        passed=pl.col("right") | undecided.fill_null(False),
        unanswered=pl.col("response").is_null(),
        chance=pl.col("question").replace_strict(chances, return_dtype=pl.String, default=None),
    )


def _rated_pairs(
    trials: pl.DataFrame, scales: dict[str, Scale], rule: _PairRule
) -> tuple[pl.DataFrame, Counter[str]]:  # fmt: skip
    """Rated partners: one row per participant, question and pair of which both sentences were shown."""
    ratings = trials.with_columns(height=rule.height, better=rule.better)
    partnered = ratings.filter(pl.col("pair").is_not_null(), pl.col("better").is_not_null())
    better, worse = pl.col("better"), ~pl.col("better")
    pairs = partnered.group_by("participant", "question", "pair", maintain_order=True).agg(
        pl.col("height").filter(better).min().alias("lowest"),
        pl.col("height").filter(worse).max().alias("highest"),
        better.sum().cast(pl.Int64).alias("goods"),
        worse.sum().cast(pl.Int64).alias("bads"),
        pl.col("response").is_null().any().alias("unanswered"),
    )
    whole = pairs.filter(pl.col("goods") > 0, pl.col("bads") > 0)
    kinds = whole.select("question", "goods", "bads").unique(maintain_order=True)
    texts = [str(pair_chance(scales[q], goods, bads)) for q, goods, bads in kinds.iter_rows()]
    whole = whole.join(
        kinds.with_columns(pl.Series("chance", texts, dtype=pl.String)), on=["question", "goods", "bads"]
    )
    # Numbers are rarely equal.
    numbers = [question for question, scale in scales.items() if not scale.levels]
    even = whole.filter(pl.col("highest") == pl.col("lowest"), pl.col("question").is_in(numbers)).height
    passed = ~pl.col("unanswered") & (pl.col("highest") <= pl.col("lowest"))
    left_out = {"pairs.no_partner": trials.height - partnered.height, "pairs.half_seen": pairs.height - whole.height}
    table = whole.select("participant", passed.fill_null(False).alias("passed"), "unanswered", "chance")
    return table, Counter({**left_out, "pairs.rated_equally": even})


def pair_chance(scale: Scale, goods: int = 1, bads: int = 1) -> Fraction:
    """The probability that no guessed rating of the worse sentence is above one of the better."""
    points = len(scale.levels)
    if not points:
        return Fraction(1, comb(goods + bads, goods))
    # The highest of the worse ratings is at point t, and all better ones are at t or above it.
    ways = sum((t**bads - (t - 1) ** bads) * (points - t + 1) ** goods for t in range(1, points + 1))
    return Fraction(ways, points ** (goods + bads))


def _height(trials: pl.DataFrame, scales: Mapping[str, Scale]) -> pl.Expr:
    """The height of an answer: its place among the levels, or the number itself."""
    height = pl.col("response").cast(pl.Float64, strict=False)
    for question in trials["question"].unique().to_list():
        scale = scales[question]
        if scale.kind == "nominal":
            raise ScreenError(Message("pairs.categories"))
        if scale.levels:
            places = {level: float(place) for place, level in enumerate(scale.levels, start=1)}
            placed = pl.col("response").replace_strict(places, return_dtype=pl.Float64, default=None)
            height = pl.when(pl.col("question") == question).then(placed).otherwise(height)
    return height


def _better(trials: pl.DataFrame, scales: Mapping[str, Scale]) -> pl.Expr:
    """Whether a sentence is the better one of its pair: by its status, else by its right answers."""
    by_status = pl.col("status").replace_strict(
        {"grammatical": True, "ungrammatical": False}, return_dtype=pl.Boolean, default=None
    )
    by_expected = pl.lit(None, dtype=pl.Boolean)
    expected = trials.select("question", "expected").drop_nulls().unique(maintain_order=True)
    for question, text in expected.iter_rows():
        levels = scales[question].levels
        places = [place for place, level in enumerate(levels) if level in scales[question].expected(text)]
        twice = 2 * sum(places) - len(places) * (len(levels) - 1)
        if levels and twice:
            trial_kind = (pl.col("question") == question) & (pl.col("expected") == text)
            by_expected = pl.when(trial_kind).then(pl.lit(twice > 0)).otherwise(by_expected)
    return pl.coalesce(by_status, by_expected)


def without_pairs(draft: Draft, settings: PassSettings, name: str, function: str) -> Iterator[tuple[str, str]]:
    """The problem of the pairwise account without pairs, or of the positional one on scales without two ends."""
    scales = [block.scale for block in draft.study.blocks]
    trials = [[row for row in rows if row.function == function] for rows in draft.rows]
    rated = any(isinstance(scale, Ordinal | Continuous | Magnitude) for scale in scales)
    if settings.account == "pairwise" and rated and not any(row["pair"] for rows in trials for row in rows):
        yield f"{name} compares pairs, and no {function} trial has one.", "Fill the column pair."
    endless = {scale.kind for scale, rows in zip(scales, trials, strict=True) if rows and width(scale) is None}
    if settings.account == "positional" and endless:
        yield (
            f"{name} counts right answers, and on a scale without two ends ({', '.join(sorted(endless))}) nobody knows "
            "how often guesses are right.",
            f'Pair the {function} trials in the column pair, and state account = "pairwise".',
        )


CRITERION = Criterion(
    name="attention",
    title="Attention trials",
    asks="who missed the attention trials",
    settings=AttentionSettings,
    computed_by=attention,
    needs_functions=("attention",),
    by_the_key=True,
    in_parts=True,
    shown_blind=True,
    impossible=lambda draft, settings: without_pairs(draft, settings, "attention", "attention"),
    wording=lambda settings: ["" if settings.get("slips") is None else "slips"],
    cites=lambda settings: ("langsford2018",) if settings.get("account") == "pairwise" else ("pieper", "meade2012"),
    alternatives=(
        Alternative("positional, .05", {}, "Pieper, Börner and Kiss", usual=True),
        Alternative("no slips", {"slips": 0}, "strict"),
        left_out(usual=True),
    ),
)
