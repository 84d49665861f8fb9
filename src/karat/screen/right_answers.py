"""Right and wrong answers: how many of a participant's answers are right, compared with guessing.

On the positional account (Pieper, Börner and Kiss, section 5.2) an answer is right if it is in the expected set of its
trial, and enough must be right that a guesser seldom passes. With N trials, each guessed with probability p, the fewest
right answers that keep guessing at or under alpha are

    k = min { j : P(X >= j) <= alpha },   X ~ Binomial(N, p)

(tables 2 and 3). Ratings of grammatical and ungrammatical sentences are two groups with a number each, and their two
probabilities are multiplied (table 4). Where slips are stated, k follows from them and guessing from k.

Rights minus wrongs are reported as evidence. Where a wrong answer can only be a wrong guess, and a guess is right with
probability p and wrong with probability q,

    solved = rights - wrongs p / q

estimates how many trials somebody did not guess: rights - wrongs with two answers (equation 3, after Frederick and
Speed), rights - wrongs / (K - 1) with one right answer of K, as in formula scoring of tests. It can be negative. A
trial without an answer, or answered "no difference", is neither right nor wrong here.

Neutral answers to controls may be tolerated up to a share. The neutral point is the one that the scale names, else the
middle of an odd number of points; "no difference" in choices. An even number of points has none. It decides nothing
about a clear case, so the paper allows a largest share of controls that are answered with it (section 5.2.2).

Sensitivity and bias of yes/no answers to controls (`karat.models.proportions`) are evidence only. Hits and false alarms
are the answers yes - the second level of the scale - where yes is right and where it is not. A count of right answers
does not separate participants who do not know from those who always say yes; these two do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import polars as pl

from karat.errors import ScaleError
from karat.judgments import Judgments
from karat.judgments.scales import Binary, Choice, Expected, Ordinal, Scale
from karat.judgments.trial_order import with_positions
from karat.messages import Message, message_of
from karat.screen.evidence import Evidence, ScreenError, everybody, values_of
from karat.screen.one_part import AnyEvidence, AnyParts, OnePart
from karat.study import chance
from karat.study.guessing import as_fraction, guessing_tails

GROUPS = ("grammatical", "ungrammatical")
COLUMNS = ["participant", "score", "threshold", "flagged", "message", "values", "guess_probability"]
COUNTED = ("right", "trials", "needed")
NEUTRAL_VALUES = {"neutral": pl.Int64, "answers": pl.Int64, "neutral_at_most": pl.Float64}
VALUES = {
    **dict.fromkeys((*COUNTED, *(f"{group}_{what}" for group in GROUPS for what in COUNTED)), pl.Int64),
    "unanswered": pl.Int64, "p": pl.Float64, "n": pl.Int64, "slips": pl.Int64, **NEUTRAL_VALUES,
}  # fmt: skip
"""The values of reasons: right answers, or why there is no rule, and neutral answers if these count."""
TRIAL_COLUMNS = ("participant", "trial", "session", "question", "item", "response", "expected", "right")
NUMBERS = ("magnitude", "continuous")
LEFT_OUT, STATUS_FILLED, OTHER_STATUS = "answers.left_out", "answers.status_filled", "answers.other_status"
CHANCES_DIFFER = "answers.chances_differ"


@dataclass(frozen=True)
class PartNotes:
    """What the notes on all participants need of a part."""

    counts: Counter[str]
    """Numbers of trials or participants, by the code of the note that has them."""
    rules: Sequence[PassingRule] = ()
    trials: pl.DataFrame | None = None
    """The judged trials; None in parts."""


def trials_of(judgments: Judgments, function: str) -> pl.DataFrame:
    """The trials of one function with the columns used here, empty if the table lacks them."""
    frame = with_positions(judgments.frame).filter(pl.col("function") == function)
    names = ("question", "status", "expected", "pair")
    absent = [pl.lit(None, dtype=pl.String).alias(name) for name in names if name not in frame.columns]
    where = [name for name in ("trial", "session") if name in frame.columns]
    # Columns of the design are dropped, because choice trials have a column `right` of their own.
    return (
        frame.with_columns(absent)
        .select("participant", *where, "item", "response", *names)
        .with_columns(pl.col("question").fill_null(""))
    )


def kinds_of_trials(parts: AnyParts[Any], function: str, criterion: str) -> pl.DataFrame:
    """The kinds of trials of one function over all parts: question, status, expected, and whether one has an answer.

    Raises ScreenError if there are no such trials.
    """
    kinds = pl.concat(parts.map(_kinds, function, name=criterion)).unique(maintain_order=True)
    if not kinds.height:
        raise ScreenError(Message("answers.no_trials", {"function": function}))
    return kinds


def _kinds(judgments: Judgments, function: str, number: int) -> pl.DataFrame:
    kind = ("question", "status", "expected", pl.col("response").is_not_null().alias("answered"))
    return trials_of(judgments, function).select(kind).unique(maintain_order=True)


def agreed_statuses(kinds: pl.DataFrame) -> pl.DataFrame:
    """The status of the trials with each right answer, where those that have one agree.

    >>> kinds = pl.DataFrame({"question": [""] * 2, "expected": ["1-2"] * 2, "status": ["ungrammatical", None]})
    >>> with_status(kinds, agreed_statuses(kinds))[0]["status"].to_list()
    ['ungrammatical', 'ungrammatical']
    """
    by_answer = kinds.drop_nulls(["status", "expected"]).group_by("question", "expected")
    statuses = by_answer.agg(pl.col("status").n_unique().alias("kinds"), pl.col("status").first().alias("agreed"))
    return statuses.filter(pl.col("kinds") == 1).drop("kinds")


def with_status(trials: pl.DataFrame, agreed: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """The trials with the agreed statuses where they have none, and the number of these."""
    filled = trials.join(agreed, on=["question", "expected"], how="left", maintain_order="left")
    filled = filled.with_columns(pl.coalesce("status", "agreed").alias("status")).drop("agreed")
    return filled, trials["status"].null_count() - filled["status"].null_count()


def scored(trials: pl.DataFrame, scales: Mapping[str, Scale]) -> tuple[pl.DataFrame, list[Message]]:
    """The trials with a right answer, as `with_scores` returns them, and notes on the others."""
    because = flaws_of_key(trials, scales)
    with_rule = with_scores(trials, scales)
    return with_rule, left_out_notes({LEFT_OUT: trials.height - with_rule.height}, because)


def flaws_of_key(kinds: pl.DataFrame, scales: Mapping[str, Scale]) -> dict[str, Any]:
    """Why some trials have no chance level: the first reason, and the number of others.

    Raises ScreenError if no trial has one.
    """
    answers = kinds.select("question", "expected").drop_nulls("expected").unique(maintain_order=True).iter_rows()
    read = [_chance_and_answers(scales[question], expected) for question, expected in answers]
    why = list(dict.fromkeys(flaw for flaw in read if isinstance(flaw, Message)))
    because = {"why": why[0] if why else None, "more": len(why) - 1 if len(why) > 1 else None}
    if all(isinstance(flaw, Message) for flaw in read):
        raise ScreenError(Message("answers.chance_unknown", because) if why else Message("answers.no_key"))
    return because


def _chance_and_answers(scale: Scale, expected: str) -> tuple[Fraction, Expected] | Message:
    """The probability that a guess is right, and the right answers; or why they are unknown."""
    try:
        return scale.chance(expected), scale.expected(expected)
    except ScaleError as error:
        code = "answers.use_pairs" if scale.kind in NUMBERS else "answers.fix_expected"
        return Message(code, {"error": message_of(error)})


def with_scores(trials: pl.DataFrame, scales: Mapping[str, Scale]) -> pl.DataFrame:
    """The trials whose chance level is known, with the columns `right`, `wrong`, `chance` (as text) and `penalty`.

    The penalty is what a wrong answer takes from the estimated number of trials solved. A missing answer is neither
    right nor wrong.
    """
    rows = []
    keys = ["question", "expected", "response"]
    for question, expected, response in trials.select(keys).unique(maintain_order=True).iter_rows():
        scale = scales[question]
        key = None if expected is None else _chance_and_answers(scale, expected)
        if key is None or isinstance(key, Message):
            continue
        probability, answers = key
        right = response is not None and response in answers
        undecided = isinstance(scale, Choice) and response == "none"
        wrong = response is not None and not right and not undecided
        deduction = penalty(scale, expected) if wrong else 0.0
        rows.append((question, expected, response, right, wrong, str(probability), deduction))
    schema = {"question": pl.String, "expected": pl.String, "response": pl.String, "right": pl.Boolean}
    more = {"wrong": pl.Boolean, "chance": pl.String, "penalty": pl.Float64}
    table = pl.DataFrame(rows, schema=schema | more, orient="row")
    return trials.join(table, on=keys, how="inner", nulls_equal=True, maintain_order="left")


def penalty(scale: Scale, expected: str) -> float:
    """The penalty of a wrong answer in trials solved: the odds that a guess is right and not wrong."""
    right = scale.chance(expected)
    undecided = isinstance(scale, Choice) and scale.none and "none" not in scale.expected(expected)
    wrong = 1 - right - (Fraction(1, 3) if undecided else 0)
    return float(right / wrong) if wrong else 0.0


@dataclass(frozen=True)
class _PositionalRule:
    """How the trials of one function are counted, the same in all parts."""

    function: str
    groups: tuple[str, ...]
    statuses: pl.DataFrame
    """The agreed statuses."""
    settings: dict[str, Any]
    neutral: bool
    """Whether the share of neutral answers is computed."""
    yes_no: bool
    """Whether there are yes-no answers, which have sensitivity and bias."""
    in_memory: bool

    def grouped(self, trials: pl.DataFrame) -> tuple[pl.DataFrame, Counter[str]]:
        """The trials by group, and the numbers of those that got a status or have no group."""
        if len(self.groups) == 1:
            return trials.with_columns(group=pl.lit("all")), Counter()
        trials, filled = with_status(trials, self.statuses)
        in_groups = trials.filter(pl.col("status").is_in(GROUPS)).with_columns(group=pl.col("status"))
        mixed = in_groups.group_by("participant", "group").agg(pl.col("chance").n_unique() > 1)["chance"].any()
        other = trials.height - in_groups.height
        return in_groups, Counter({STATUS_FILLED: filled, OTHER_STATUS: other, CHANCES_DIFFER: int(mixed)})


def positional(
    parts: AnyParts[AnyEvidence], function: str, criterion: str, settings: dict[str, Any], neutral: bool = False
) -> AnyEvidence:
    """The evidence of right and wrong answers to the trials of one function, in memory with these trials.

    `score` is the share of right answers, `threshold` the required share. With two groups, both are those of the group
    in which the participant is farthest behind or least ahead. Controls also have the sensitivity and bias of yes-no
    answers and, if `neutral`, the share of neutral answers.
    """
    kinds, scales = kinds_of_trials(parts, function, criterion), parts.scales
    because = flaws_of_key(kinds, scales)
    # Whether a kind of trial has a chance level does not depend on the answer.
    answer = pl.when("answered").then(pl.lit(""))
    kinds = with_scores(kinds.with_columns(participant=pl.lit(""), response=answer), scales)
    two, notes = _are_groups(kinds, scales)
    rule = _PositionalRule(
        function, GROUPS if two else ("all",), agreed_statuses(kinds), settings, neutral,
        function == "control" and yes_no_counts(kinds, scales).height > 0, isinstance(parts, OnePart),
    )  # fmt: skip
    evidence, facts = parts.judge(criterion, _judge_positional, rule, settings)
    counts = sum((part.counts for part in facts), Counter[str]())
    notes = [*left_out_notes(counts, because), *notes, *counted_notes(counts, STATUS_FILLED, OTHER_STATUS)]
    notes += [Message(CHANCES_DIFFER)] * bool(counts[CHANCES_DIFFER])
    notes += [Message("answers.not_published")] * (settings.get("published", False) and not two)
    notes += rule_notes([passing for part in facts for passing in part.rules], settings["alpha"])
    if undefined := counts["sensitivity.undefined"]:
        values = {"undefined": undefined, "participants": counts["participants"]}
        notes.append(Message("sensitivity.undefined", values))
    if settings.get("neutral_at_most") is not None:
        questions = rule.grouped(kinds)[0]["question"].unique()
        notes += _neutral_notes([scales[question] for question in questions])
    if isinstance(evidence, Evidence):
        return replace(evidence, notes=tuple(notes), trials=facts[0].trials)
    return replace(evidence, notes=tuple(notes))


def _judge_positional(
    judgments: Judgments, rule: _PositionalRule, number: int
) -> tuple[pl.DataFrame | None, PartNotes]:  # fmt: skip
    """The table of the participants of a part."""
    if not judgments.frame.height:
        return None, PartNotes(Counter())
    whole = trials_of(judgments, rule.function)
    with_chance = with_scores(whole, judgments.scales)
    trials, numbers = rule.grouped(with_chance)
    numbers[LEFT_OUT] = whole.height - with_chance.height
    counts, groups = everybody(judgments), rule.groups
    for group in groups:
        rows = trials.filter(pl.col("group") == group).group_by("participant").agg(
            pl.col("right").sum().cast(pl.Int64).alias(f"{group}_right"),
            pl.col("wrong").sum().cast(pl.Int64).alias(f"{group}_wrong"),
            pl.len().cast(pl.Int64).alias(f"{group}_trials"),
            pl.col("response").null_count().cast(pl.Int64).alias(f"{group}_unanswered"),
            pl.col("penalty").sum().alias(f"{group}_penalty"),
            pl.col("chance").sort().str.join(" ").alias(f"{group}_chances"),
        )  # fmt: skip
        counts = counts.join(rows, on="participant", how="left", maintain_order="left")
    counted = ("right", "wrong", "trials", "unanswered", "penalty")
    counts = counts.with_columns(pl.col(f"{group}_{what}").fill_null(0) for group in groups for what in counted)
    keys = [f"{group}_chances" for group in groups]
    designs = counts.select(keys).unique(maintain_order=True)
    alpha, slips, published = rule.settings["alpha"], rule.settings["slips"], rule.settings.get("published", False)
    rules = [_rule(design, alpha, slips, published) for design in designs.iter_rows()]
    rule_words = designs.with_columns(
        *(
            pl.Series(f"{group}_needed", [needed[i] for needed, _ in rules], dtype=pl.Int64)
            for i, group in enumerate(groups)
        ),
        *rule_columns([passing for _, passing in rules]),
    )
    counts = counts.join(rule_words, on=keys, how="left", nulls_equal=True, maintain_order="left")
    table = _verdicts(counts, groups)
    if rule.yes_no:
        table, measured = _with_sensitivity(table, trials, judgments.scales)
        numbers += measured
    if rule.neutral:
        table = _with_neutral_share(table, trials, judgments.scales, rule.settings["neutral_at_most"])
    answers = None
    if rule.in_memory:
        answers = trials.select(name for name in TRIAL_COLUMNS if name in trials.columns)
        answers = answers.with_columns(pl.col("question").replace("", None))
    return table, PartNotes(numbers, [passing for _, passing in rules], answers)


def left_out_notes(counts: Mapping[str, int], because: Mapping[str, Any]) -> list[Message]:
    """The note on trials without a chance level, if there are any, and why."""
    return [Message(LEFT_OUT, {"n": counts[LEFT_OUT], **because})] if counts[LEFT_OUT] else []


def counted_notes(counts: Mapping[str, int], *codes: str) -> list[Message]:
    """The notes with these codes that have a number of trials or pairs."""
    return [Message(code, {"n": counts[code]}) for code in codes if counts[code]]


def rule_columns(rules: Sequence[PassingRule]) -> list[pl.Series]:
    """Rules as columns: the probability that guessing passes, or the code and values of why there is no rule."""
    why = [rule.why_not for rule in rules]
    values = [{} if reason is None else reason.values for reason in why]
    return [
        pl.Series("guess_probability", [rule.probability for rule in rules], dtype=pl.Float64),
        pl.Series("_why", [None if reason is None else reason.code for reason in why], dtype=pl.String),
        pl.Series("_n", [fields.get("n") for fields in values], dtype=pl.Int64),
        pl.Series("_slips", [fields.get("slips") for fields in values], dtype=pl.Int64),
        pl.Series("_p", [fields.get("p") for fields in values], dtype=pl.Float64),
    ]


def rule_values(unanswered: pl.Expr, **counts: pl.Expr) -> pl.Expr:
    """The values of reasons: counts and unanswered trials if there is a rule, else why there is none."""
    missed = pl.when(pl.col("guess_probability").is_not_null() & (unanswered > 0)).then(unanswered)
    p, n, slips = pl.coalesce("guess_probability", "_p"), pl.col("_n"), pl.col("_slips")
    return values_of(VALUES, **counts, unanswered=missed, p=p, n=n, slips=slips)


def rule_notes(rules: Sequence[PassingRule], alpha: float) -> list[Message]:
    """The warning that guessing passes too often, or that nobody is judged, with the reason of the first rule."""
    passing = max((rule.probability for rule in rules if rule.probability is not None), default=None)
    if passing is None:
        return [Message("passing.nobody_judged", {"why": rules[0].why_not})]
    return [guess_note(passing, alpha)] if passing > alpha else []


def _are_groups(kinds: pl.DataFrame, scales: Mapping[str, Scale]) -> tuple[bool, list[Message]]:
    """Whether there are two groups, as in ratings of both kinds of sentences, and a note if these are unknown."""
    ratings = all(isinstance(scales[question], Ordinal) or scales[question].kind == "continuous"
                  for question in kinds["question"].unique())  # fmt: skip
    statuses = set(kinds["status"].drop_nulls().unique()) & set(GROUPS)
    if ratings and len(statuses) == 2:
        return True, []
    ungrouped = ratings and kinds["expected"].n_unique() > 1 and (not statuses or kinds["status"].null_count() > 0)
    return False, [Message("answers.counted_together")] if ungrouped else []


def _rule(
    design: Sequence[str | None], alpha: float, slips: int | None, published: bool
) -> tuple[list[int | None], PassingRule]:
    """The rule for one participant's trials, with the number required in each group with trials."""
    chances = [[Fraction(text) for text in (group or "").split()] for group in design]
    present = [i for i, group in enumerate(chances) if group]
    if not present:
        return [None] * len(design), PassingRule((), None, Message("passing.no_trials"))
    if len(present) == 2:
        rule = joint_rule(chances[0], chances[1], alpha, slips, published)
    else:
        rule = count_rule(chances[present[0]], alpha, slips)
    needed: list[int | None] = [None] * len(design)
    for i, k in zip(present, rule.needed, strict=False):
        needed[i] = k
    return needed, rule


def _verdicts(counts: pl.DataFrame, groups: tuple[str, ...]) -> pl.DataFrame:
    ruled = pl.col("guess_probability").is_not_null()
    ahead = [(pl.col(f"{g}_right") - pl.col(f"{g}_needed")) / pl.col(f"{g}_trials") for g in groups]
    failed = pl.any_horizontal((pl.col(f"{g}_right") < pl.col(f"{g}_needed")).fill_null(False) for g in groups)
    score, threshold = pl.lit(None, dtype=pl.Float64), pl.lit(None, dtype=pl.Float64)
    reasons: dict[str, pl.Expr] = {}
    for group, margin in zip(groups, ahead, strict=True):
        worst = ruled & (margin == pl.min_horizontal(*ahead))
        score = pl.when(worst).then(pl.col(f"{group}_right") / pl.col(f"{group}_trials")).otherwise(score)
        threshold = pl.when(worst).then(pl.col(f"{group}_needed") / pl.col(f"{group}_trials")).otherwise(threshold)
        needed = ruled & pl.col(f"{group}_needed").is_not_null()
        for what in COUNTED:
            reasons[what if group == "all" else f"{group}_{what}"] = pl.when(needed).then(f"{group}_{what}")
    right, wrong, trials, missing, deducted = (
        pl.sum_horizontal(f"{group}_{what}" for group in groups)
        for what in ("right", "wrong", "trials", "unanswered", "penalty")
    )
    passed = pl.lit("answers.right") if groups == ("all",) else pl.lit("answers.right_by_status")
    table = counts.with_columns(
        score=score,
        threshold=threshold,
        flagged=ruled & failed,
        message=pl.when(ruled).then(passed).otherwise("_why"),
        values=rule_values(missing, **reasons),
        rights_minus_wrongs=pl.when(trials > 0).then(right - wrong),
        rights_minus_wrongs_share=pl.when(trials > 0).then((right - wrong) / trials),
        solved=pl.when(trials > 0).then(right - deducted),
    )
    names = {f"{g}_{what}": what if g == "all" else f"{g}_{what}" for g in groups for what in COUNTED}
    further = ("rights_minus_wrongs", "rights_minus_wrongs_share", "solved")
    return table.select(*COLUMNS, *(pl.col(old).alias(new) for old, new in names.items()), *further)


@dataclass(frozen=True)
class PassingRule:
    """The right answers required in each group and the probability that guessing passes, or why there is no rule."""

    needed: tuple[int, ...]
    probability: float | None
    why_not: Message | None = None


def guess_note(probability: float, alpha: float) -> Message:
    """The warning that guessing passes too often."""
    return Message("passing.guessing", {"p": probability, "alpha": alpha})


def count_rule(chances: Sequence[Fraction], alpha: float, slips: int | None = None) -> PassingRule:
    """The number of these trials that must be right."""
    passing = guessing_tails(tuple(sorted(chances)))
    n = len(chances)
    if slips is not None:
        if slips >= n:
            return PassingRule((), None, Message("passing.nothing_required", {"n": n, "slips": slips}))
        return PassingRule((n - slips,), float(passing[n - slips]))
    limit = Fraction(str(alpha))
    k = next((k for k in range(1, n + 1) if passing[k] <= limit), None)
    if k is None:
        return PassingRule((), None, Message("passing.too_few", {"n": n, "p": float(passing[n])}))
    return PassingRule((k,), float(passing[k]))


def joint_rule(
    grammatical: Sequence[Fraction],
    ungrammatical: Sequence[Fraction],
    alpha: float,
    slips: int | None = None,
    published: bool = False,
) -> PassingRule:
    """The number of trials of each group that must be right: the mildest rule under alpha, with a slip if possible.

    If the trials of a group differ in chance, the largest counts, so guessing passes with at most this probability.
    """
    if slips is not None:
        single = [count_rule(group, alpha, slips) for group in (grammatical, ungrammatical)]
        if any(rule.probability is None for rule in single):
            return next(rule for rule in single if rule.probability is None)
        good, bad = (guessing_tails(tuple(sorted(group))) for group in (grammatical, ungrammatical))
        k, m = single[0].needed[0], single[1].needed[0]
        return PassingRule((k, m), float(good[k] * bad[m]))
    above, below = max(grammatical), max(ungrammatical)
    # Three points represent any two chances: right for one group only, for the other only, and for both or neither.
    overlap = above + below > 1
    neutral = "both" if overlap else None
    weights = [1 - above, above + below - 1, 1 - below] if overlap else [below, 1 - above - below, above]
    sizes = (len(grammatical), len(ungrammatical))
    try:
        rule = chance.joint_rule(*sizes, 3, neutral, str(alpha), weights, published)
    except chance.ChanceError:
        limits = (Fraction(1, 2), 1)
        rules = [r for most in limits for r in chance.joint_rules(*sizes, 3, neutral, str(alpha), most, 0, weights)]
        if not rules:
            least = float(above ** sizes[0] * below ** sizes[1])
            return PassingRule((), None, Message("passing.too_few", {"n": sum(sizes), "p": least}))
        rule = max(rules, key=lambda r: (r.p_grammatical < 0.5 and r.p_ungrammatical < 0.5, r.probability))
    return PassingRule((rule.grammatical[1], rule.ungrammatical[1]), rule.probability)


def neutral_point(scale: Scale) -> str | None:
    """The answer of a scale that means neither, or None.

    >>> neutral_point(Ordinal(5)), neutral_point(Ordinal(6)), neutral_point(Choice(none=True))
    ('3', None, 'none')
    """
    if isinstance(scale, Choice):
        return "none" if scale.none else None
    if not isinstance(scale, Ordinal):
        return None
    middle = scale.levels[len(scale.levels) // 2] if len(scale.levels) % 2 else None
    return middle if scale.neutral is None else scale.neutral


def unnamed_middle(scales: Iterable[Scale]) -> list[Message]:
    """The note that the middle of a scale is taken as its neutral point, if the scale names none.

    >>> unnamed_middle([Ordinal(5)]), unnamed_middle([Ordinal(5, neutral=3), Ordinal(6)])
    ([Message('neutral.middle', {'points': ['3']})], [])
    """
    unnamed = [scale for scale in scales if isinstance(scale, Ordinal) and scale.neutral is None]
    middles = sorted({point for scale in unnamed if (point := neutral_point(scale)) is not None})
    return [Message("neutral.middle", {"points": middles})] if middles else []


def _neutral_notes(scales: Sequence[Scale]) -> list[Message]:
    """The notes on a stated share of neutral answers."""
    if not any(neutral_point(scale) is not None for scale in scales):
        return [Message("neutral.no_point")]
    return [Message("neutral.guessing_at_most"), *unnamed_middle(scales)]


def _with_neutral_share(
    table: pl.DataFrame, trials: pl.DataFrame, scales: Mapping[str, Scale], at_most: float | None
) -> pl.DataFrame:
    """The table with the share of neutral answers among the answers that could be neutral.

    If `at_most` is stated, participants with a larger share are flagged too, and the reason says so.
    """
    points = {question: neutral_point(scale) for question, scale in scales.items()}
    neutral = {question: point for question, point in points.items() if point is not None}
    answers = trials.filter(pl.col("response").is_not_null(), pl.col("question").is_in(list(neutral)))
    point = pl.col("question").replace_strict(neutral, return_dtype=pl.String, default=None)
    counts = answers.group_by("participant").agg(
        (pl.col("response") == point).sum().cast(pl.Int64).alias("neutral"), pl.len().cast(pl.Int64).alias("answers")
    )
    table = table.join(counts, on="participant", how="left", maintain_order="left")
    table = table.with_columns(neutral_share=pl.col("neutral") / pl.col("answers"))
    if at_most is not None:
        # Whole numbers are compared, so that a share on the limit is not lost to rounding.
        limit = as_fraction(float(at_most), "neutral_at_most")
        over = pl.col("neutral") * limit.denominator > pl.col("answers") * limit.numerator
        values = {
            "neutral": pl.col("neutral"),
            "answers": pl.col("answers"),
            "neutral_at_most": pl.when(pl.col("answers").is_not_null()).then(pl.lit(float(at_most))),
        }
        table = table.with_columns(
            flagged=pl.col("flagged") | over.fill_null(False), values=pl.col("values").struct.with_fields(**values)
        )
    return table.drop("neutral", "answers")


def _with_sensitivity(
    table: pl.DataFrame, trials: pl.DataFrame, scales: Mapping[str, Scale]
) -> tuple[pl.DataFrame, Counter[str]]:
    """The table with hits, false alarms, d' and c of each participant, and for how many these are undefined."""
    from karat.models.proportions import sensitivity

    counts = yes_no_counts(trials, scales)
    d_prime, criterion = sensitivity(*(counts[name].to_numpy() for name in YES_NO_COUNTS))
    measured = counts.with_columns(
        pl.Series("d_prime", d_prime).fill_nan(None), pl.Series("criterion_c", criterion).fill_nan(None)
    )
    numbers = Counter({"sensitivity.undefined": measured["d_prime"].null_count(), "participants": measured.height})
    return table.join(measured, on="participant", how="left", maintain_order="left"), numbers


YES_NO_COUNTS = ("hits", "yes_trials", "false_alarms", "no_trials")


def yes_no_counts(trials: pl.DataFrame, scales: Mapping[str, Scale]) -> pl.DataFrame:
    """Counts per participant: answers yes where yes is right and where it is not, each with the number of answers.

    `trials` has participant, question, response and expected. Trials without an answer and questions without yes-no
    answers are left out.

    >>> trials = pl.DataFrame({"participant": ["p1"] * 4, "question": [""] * 4, "expected": ["1", "1", "0", "0"],
    ...                        "response": ["1", "1", "1", "0"]})
    >>> yes_no_counts(trials, {"": Binary()}).row(0)
    ('p1', 2, 2, 1, 2)
    """
    binary = {question: scale for question, scale in scales.items() if isinstance(scale, Binary)}
    rows = trials.with_columns(pl.col("question").fill_null("")).filter(
        pl.col("question").is_in(list(binary)), pl.col("response").is_not_null()
    )
    # A cell expected may spell the answer as 1 or true, whatever the levels are called.
    right = [
        (question, text, binary[question].levels[1], binary[question].expected(text))
        for question, text in rows.select("question", "expected").unique(maintain_order=True).iter_rows()
    ]
    spelled = [(question, text, yes, yes in answers) for question, text, yes, answers in right if len(answers) == 1]
    schema = {"question": pl.String, "expected": pl.String, "yes": pl.String, "positive": pl.Boolean}
    by_side = rows.join(pl.DataFrame(spelled, schema=schema, orient="row"), on=["question", "expected"])
    said_yes, positive = pl.col("response") == pl.col("yes"), pl.col("positive")
    return by_side.group_by("participant", maintain_order=True).agg(
        (said_yes & positive).sum().cast(pl.Int64).alias("hits"),
        positive.sum().cast(pl.Int64).alias("yes_trials"),
        (said_yes & ~positive).sum().cast(pl.Int64).alias("false_alarms"),
        (~positive).sum().cast(pl.Int64).alias("no_trials"),
    )
