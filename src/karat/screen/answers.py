"""Right and wrong answers: how many of a participant's answers are right, and how many a guesser would have right.

On the positional account an answer is right if it is in the expected set of its trial, and so many must be right that
guessing passes with at most alpha (Pieper, Börner and Kiss, section 5.2; `karat.screen.passing`). Ratings of
grammatical and ungrammatical sentences are two groups with a number each.

Rights minus wrongs are told as evidence. Where a wrong answer can only be a wrong guess, and a guess is right with
probability p and wrong with probability q,

    solved = rights - wrongs p / q

estimates how many trials somebody did not guess: rights - wrongs with two answers (equation 3, after Frederick and
Speed), rights - wrongs / (K - 1) with one right answer of K, as in formula scoring of tests. It can be negative. A
trial without an answer, or answered "no difference", is neither right nor wrong here.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import polars as pl

from karat.errors import ScaleError
from karat.judgments import Judgments
from karat.judgments.scales import Choice, Ordinal, Scale
from karat.judgments.trial_order import with_positions
from karat.messages import Message, message_of
from karat.screen.evidence import Evidence, ScreenError, everybody, values_of
from karat.screen.passing import PassingRule, check_settings, count_rule, guess_note, joint_rule

GROUPS = ("grammatical", "ungrammatical")
COLUMNS = ["participant", "score", "threshold", "flagged", "message", "values", "guess_probability"]
COUNTED = ("right", "trials", "needed")
NEUTRAL_VALUES = {"neutral": pl.Int64, "answers": pl.Int64, "neutral_at_most": pl.Float64}
VALUES = {
    **dict.fromkeys((*COUNTED, *(f"{group}_{what}" for group in GROUPS for what in COUNTED)), pl.Int64),
    "unanswered": pl.Int64, "p": pl.Float64, "n": pl.Int64, "slips": pl.Int64, **NEUTRAL_VALUES,
}  # fmt: skip
"""The values of reasons: right answers, or why there is no rule, and neutral answers where they are looked at."""
TRIAL_COLUMNS = ("participant", "trial", "session", "question", "item", "response", "expected", "right")
NUMBERS = ("magnitude", "continuous")


def trials_of(judgments: Judgments, function: str) -> pl.DataFrame:
    """The trials of one function, with the columns that are looked at here, empty where the table lacks them."""
    frame = with_positions(judgments.frame).filter(pl.col("function") == function)
    if not frame.height:
        raise ScreenError(Message("answers.no_trials", {"function": function}))
    names = ("question", "status", "expected", "pair")
    absent = [pl.lit(None, dtype=pl.String).alias(name) for name in names if name not in frame.columns]
    where = [name for name in ("trial", "session") if name in frame.columns]
    # Columns of the design are left behind: a choice trial has a column right of its own.
    return (
        frame.with_columns(absent)
        .select("participant", *where, "item", "response", *names)
        .with_columns(pl.col("question").fill_null(""))
    )


def with_status(trials: pl.DataFrame) -> tuple[pl.DataFrame, list[Message]]:
    """The trials with a status also where its cell is empty, if other trials with the same right answers agree on one.

    >>> trials = pl.DataFrame({"question": [""] * 2, "expected": ["1-2"] * 2, "status": ["ungrammatical", None]})
    >>> with_status(trials)[0]["status"].to_list()
    ['ungrammatical', 'ungrammatical']
    """
    empty = trials["status"].null_count()
    if empty in (0, trials.height):
        return trials, []
    keys = ["question", "expected"]
    known = trials.filter(pl.col("status").is_not_null(), pl.col("expected").is_not_null()).group_by(keys).agg(
        pl.col("status").n_unique().alias("kinds"), pl.col("status").first().alias("found")
    )  # fmt: skip
    agreed = known.filter(pl.col("kinds") == 1).drop("kinds")
    filled = trials.join(agreed, on=keys, how="left", maintain_order="left")
    filled = filled.with_columns(pl.coalesce("status", "found").alias("status")).drop("found")
    found = empty - filled["status"].null_count()
    return filled, [Message("answers.status_filled", {"n": found})] if found else []


def scored(trials: pl.DataFrame, scales: dict[str, Scale]) -> tuple[pl.DataFrame, list[Message]]:
    """The trials that have a right answer, and notes on the others.

    They get `right`, `wrong`, `chance` (a fraction as text) and `penalty`, what a wrong answer takes from the estimated
    number of trials solved. A missing answer is neither right nor wrong.
    """
    rows = []
    why: list[Message] = []
    keys = ["question", "expected", "response"]
    for question, expected, response in trials.select(keys).unique(maintain_order=True).iter_rows():
        if expected is None:
            continue
        scale = scales[question]
        try:
            probability, answers = scale.chance(expected), scale.expected(expected)
        except ScaleError as error:
            code = "answers.use_pairs" if scale.kind in NUMBERS else "answers.fix_expected"
            unknown = Message(code, {"error": message_of(error)})
            why += [] if unknown in why else [unknown]
            continue
        right = response is not None and response in answers
        undecided = isinstance(scale, Choice) and response == "none"
        wrong = response is not None and not right and not undecided
        taken = penalty(scale, expected) if wrong else 0.0
        rows.append((question, expected, response, right, wrong, str(probability), taken))
    because = {"why": why[0] if why else None, "more": len(why) - 1 if len(why) > 1 else None}
    if not rows:
        raise ScreenError(Message("answers.chance_unknown", because) if why else Message("answers.no_key"))
    schema = {"question": pl.String, "expected": pl.String, "response": pl.String, "right": pl.Boolean}
    more = {"wrong": pl.Boolean, "chance": pl.String, "penalty": pl.Float64}
    table = pl.DataFrame(rows, schema=schema | more, orient="row")
    found = trials.join(table, on=keys, how="inner", nulls_equal=True, maintain_order="left")
    left_out = trials.height - found.height
    return found, [Message("answers.left_out", {"n": left_out, **because})] if left_out else []


def penalty(scale: Scale, expected: str) -> float:
    """What a wrong answer takes from the number of trials solved: the odds that a guess is right and not wrong.

    >>> penalty(Ordinal(5), "1-2"), penalty(Choice(), "left"), penalty(Choice(none=True), "left")
    (0.6666666666666666, 1.0, 1.0)
    """
    right = scale.chance(expected)
    undecided = isinstance(scale, Choice) and scale.none and "none" not in scale.expected(expected)
    wrong = 1 - right - (Fraction(1, 3) if undecided else 0)
    return float(right / wrong) if wrong else 0.0


def positional(
    judgments: Judgments, function: str, criterion: str, alpha: float, slips: int | None, published: bool = False
) -> Evidence:
    """The evidence of right and wrong answers to the trials of one function, with these trials.

    `score` is the share of right answers, `threshold` the share that is needed; with two groups, those of the group
    in which somebody is farthest behind or least ahead.
    """
    check_settings(alpha, slips)
    trials, notes = scored(trials_of(judgments, function), judgments.scales)
    groups, trials, told = _grouped(trials, judgments.scales)
    notes += told
    if published and len(groups) < 2:
        notes.append(Message("answers.not_published"))
    counts = everybody(judgments)
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
    counted_things = ("right", "wrong", "trials", "unanswered", "penalty")
    counts = counts.with_columns(pl.col(f"{group}_{what}").fill_null(0) for group in groups for what in counted_things)
    keys = [f"{group}_chances" for group in groups]
    designs = counts.select(keys).unique(maintain_order=True)
    rules = [_rule(design, alpha, slips, published) for design in designs.iter_rows()]
    notes += _rule_notes([rule for _, rule in rules], alpha)
    told_rules = designs.with_columns(
        *(
            pl.Series(f"{group}_needed", [rule[0][i] for rule in rules], dtype=pl.Int64)
            for i, group in enumerate(groups)
        ),
        *rule_columns([rule for _, rule in rules]),
    )
    counts = counts.join(told_rules, on=keys, how="left", nulls_equal=True, maintain_order="left")
    shown = trials.select(name for name in TRIAL_COLUMNS if name in trials.columns)
    shown = shown.with_columns(pl.col("question").replace("", None))
    return Evidence(_verdicts(counts, groups), criterion, notes=tuple(notes), trials=shown)


def rule_columns(rules: Sequence[PassingRule]) -> list[pl.Series]:
    """Rules as columns: the probability that guessing passes, and where there is no rule the code and values of why."""
    why = [rule.why_not for rule in rules]
    values = [{} if one is None else one.values for one in why]
    return [
        pl.Series("guess_probability", [rule.probability for rule in rules], dtype=pl.Float64),
        pl.Series("_why", [None if one is None else one.code for one in why], dtype=pl.String),
        pl.Series("_n", [own.get("n") for own in values], dtype=pl.Int64),
        pl.Series("_slips", [own.get("slips") for own in values], dtype=pl.Int64),
        pl.Series("_p", [own.get("p") for own in values], dtype=pl.Float64),
    ]


def _grouped(trials: pl.DataFrame, scales: dict[str, Scale]) -> tuple[tuple[str, ...], pl.DataFrame, list[Message]]:
    """Ratings of both kinds of sentences are two groups; choices, and ratings of one kind, are counted together."""
    ratings = all(isinstance(scales[question], Ordinal) or scales[question].kind == "continuous"
                  for question in trials["question"].unique())  # fmt: skip
    kinds = set(trials["status"].drop_nulls().unique()) & set(GROUPS)
    if not ratings or len(kinds) < 2:
        alone = ratings and trials["expected"].n_unique() > 1 and (not kinds or trials["status"].null_count() > 0)
        notes = [Message("answers.counted_together")] if alone else []
        return ("all",), trials.with_columns(group=pl.lit("all")), notes
    trials, notes = with_status(trials)
    kept = trials.filter(pl.col("status").is_in(GROUPS)).with_columns(group=pl.col("status"))
    other = trials.height - kept.height
    notes += [Message("answers.other_status", {"n": other})] if other else []
    mixed = kept.group_by("participant", "group").agg(pl.col("chance").n_unique() > 1)["chance"].any()
    notes += [Message("answers.chances_differ")] if mixed else []
    return GROUPS, kept, notes


def _rule(
    design: Sequence[str | None], alpha: float, slips: int | None, published: bool
) -> tuple[list[int | None], PassingRule]:
    """The rule for one participant's trials, with the number needed in each group that has any."""
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


def _rule_notes(rules: Sequence[PassingRule], alpha: float) -> list[Message]:
    loose = [rule.probability for rule in rules if rule.probability is not None and rule.probability > alpha]
    notes = [guess_note(max(loose), alpha)] if loose else []
    if all(rule.probability is None for rule in rules):
        notes.append(Message("passing.nobody_judged", {"why": rules[0].why_not}))
    return notes


def _verdicts(counts: pl.DataFrame, groups: tuple[str, ...]) -> pl.DataFrame:
    ruled = pl.col("guess_probability").is_not_null()
    ahead = [(pl.col(f"{g}_right") - pl.col(f"{g}_needed")) / pl.col(f"{g}_trials") for g in groups]
    failed = pl.any_horizontal((pl.col(f"{g}_right") < pl.col(f"{g}_needed")).fill_null(False) for g in groups)
    score, threshold = pl.lit(None, dtype=pl.Float64), pl.lit(None, dtype=pl.Float64)
    told: dict[str, pl.Expr] = {}
    for group, margin in zip(groups, ahead, strict=True):
        worst = ruled & (margin == pl.min_horizontal(*ahead))
        score = pl.when(worst).then(pl.col(f"{group}_right") / pl.col(f"{group}_trials")).otherwise(score)
        threshold = pl.when(worst).then(pl.col(f"{group}_needed") / pl.col(f"{group}_trials")).otherwise(threshold)
        needed = ruled & pl.col(f"{group}_needed").is_not_null()
        for what in COUNTED:
            told[what if group == "all" else f"{group}_{what}"] = pl.when(needed).then(f"{group}_{what}")
    right, wrong, trials, missing, taken = (
        pl.sum_horizontal(f"{group}_{what}" for group in groups)
        for what in ("right", "wrong", "trials", "unanswered", "penalty")
    )
    values = values_of(
        VALUES,
        **told,
        unanswered=pl.when(ruled & (missing > 0)).then(missing),
        p=pl.coalesce("guess_probability", "_p"),
        n=pl.col("_n"),
        slips=pl.col("_slips"),
    )
    passed = pl.lit("answers.right") if groups == ("all",) else pl.lit("answers.right_by_status")
    table = counts.with_columns(
        score=score,
        threshold=threshold,
        flagged=ruled & failed,
        message=pl.when(ruled).then(passed).otherwise("_why"),
        values=values,
        rights_minus_wrongs=pl.when(trials > 0).then(right - wrong),
        rights_minus_wrongs_share=pl.when(trials > 0).then((right - wrong) / trials),
        solved=pl.when(trials > 0).then(right - taken),
    )
    names = {f"{g}_{what}": what if g == "all" else f"{g}_{what}" for g in groups for what in COUNTED}
    further = ("rights_minus_wrongs", "rights_minus_wrongs_share", "solved")
    return table.select(*COLUMNS, *(pl.col(old).alias(new) for old, new in names.items()), *further)
