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

from karat.errors import ScaleError, counted
from karat.judgments import Judgments
from karat.scales import Choice, Ordinal, Scale
from karat.screen.evidence import Evidence, ScreenError, everybody
from karat.screen.passing import Rule, check_settings, count_rule, guess_note, joint_rule
from karat.screen.presentation import with_positions
from karat.study.guessing import p_sentence

GROUPS = ("grammatical", "ungrammatical")
COLUMNS = ["participant", "score", "threshold", "flagged", "reason", "guess_probability"]
TRIAL_COLUMNS = ("participant", "trial", "session", "question", "item", "response", "expected", "right")
NUMBERS = ("magnitude", "continuous")


def trials_of(judgments: Judgments, function: str, criterion: str) -> pl.DataFrame:
    """The trials of one function, with the columns that are looked at here, empty where the table lacks them."""
    frame = with_positions(judgments.frame).filter(pl.col("function") == function)
    if not frame.height:
        raise ScreenError(
            f"{criterion} needs {function} trials, and these judgments have none: name them in the column function."
        )
    names = ("question", "status", "expected", "pair")
    absent = [pl.lit(None, dtype=pl.String).alias(name) for name in names if name not in frame.columns]
    where = [name for name in ("trial", "session") if name in frame.columns]
    # Columns of the design are left behind: a choice trial has a column right of its own.
    return (
        frame.with_columns(absent)
        .select("participant", *where, "item", "response", *names)
        .with_columns(pl.col("question").fill_null(""))
    )


def with_status(trials: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
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
    told = f"{counted(found, 'trial')} without a status: taken as the other trials with the same right answers are."
    return filled, [told] if found else []


def scored(trials: pl.DataFrame, scales: dict[str, Scale], criterion: str) -> tuple[pl.DataFrame, list[str]]:
    """The trials that have a right answer, and notes on the others.

    They get `right`, `wrong`, `chance` (a fraction as text) and `penalty`, what a wrong answer takes from the estimated
    number of trials solved. A missing answer is neither right nor wrong.
    """
    rows = []
    why: dict[str, None] = {}
    keys = ["question", "expected", "response"]
    for question, expected, response in trials.select(keys).unique(maintain_order=True).iter_rows():
        if expected is None:
            continue
        scale = scales[question]
        try:
            probability, answers = scale.chance(expected), scale.expected(expected)
        except ScaleError as error:
            mend = 'judge them by pairs, account = "pairwise"' if scale.kind in NUMBERS else "mend the column expected"
            why[f"{str(error).rstrip('.')} ({mend})"] = None
            continue
        right = response is not None and response in answers
        undecided = isinstance(scale, Choice) and response == "none"
        wrong = response is not None and not right and not undecided
        taken = penalty(scale, expected) if wrong else 0.0
        rows.append((question, expected, response, right, wrong, str(probability), taken))
    if not rows:
        reason = "; ".join(why) or "no trial says which answer is right (column expected)"
        raise ScreenError(f"{criterion}: the share that a guesser has right is not known: {reason}.")
    schema = {"question": pl.String, "expected": pl.String, "response": pl.String, "right": pl.Boolean}
    more = {"wrong": pl.Boolean, "chance": pl.String, "penalty": pl.Float64}
    table = pl.DataFrame(rows, schema=schema | more, orient="row")
    found = trials.join(table, on=keys, how="inner", nulls_equal=True, maintain_order="left")
    left_out = trials.height - found.height
    because = f": {'; '.join(why)}" if why else ""
    notes = [f"{counted(left_out, 'trial')} without a known right answer left out{because}."] if left_out else []
    return found, notes


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
    check_settings(criterion, alpha, slips)
    trials, notes = scored(trials_of(judgments, function, criterion), judgments.scales, criterion)
    groups, trials, told = _grouped(trials, judgments.scales)
    notes += told
    if published and len(groups) < 2:
        notes.append("The published rule is about ratings of both kinds of sentences; these answers are counted.")
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
    rules = [_rule(design, function, alpha, slips, published) for design in designs.iter_rows()]
    notes += _rule_notes(rules, alpha, criterion)
    told_rules = designs.with_columns(
        *(
            pl.Series(f"{group}_needed", [rule[0][i] for rule in rules], dtype=pl.Int64)
            for i, group in enumerate(groups)
        ),
        pl.Series("guess_probability", [rule[1].probability for rule in rules], dtype=pl.Float64),
        pl.Series("chance_text", [p_sentence(rule[1].probability or 0.0) for rule in rules], dtype=pl.String),
        pl.Series("why_not", [rule[1].why_not for rule in rules], dtype=pl.String),
    )
    counts = counts.join(told_rules, on=keys, how="left", nulls_equal=True, maintain_order="left")
    shown = trials.select(name for name in TRIAL_COLUMNS if name in trials.columns)
    shown = shown.with_columns(pl.col("question").replace("", None))
    return Evidence(_verdicts(counts, groups, function), criterion, notes=tuple(notes), trials=shown)


def _grouped(trials: pl.DataFrame, scales: dict[str, Scale]) -> tuple[tuple[str, ...], pl.DataFrame, list[str]]:
    """Ratings of both kinds of sentences are two groups; choices, and ratings of one kind, are counted together."""
    ratings = all(isinstance(scales[question], Ordinal) or scales[question].kind == "continuous"
                  for question in trials["question"].unique())  # fmt: skip
    kinds = set(trials["status"].drop_nulls().unique()) & set(GROUPS)
    if not ratings or len(kinds) < 2:
        alone = ratings and trials["expected"].n_unique() > 1 and (not kinds or trials["status"].null_count() > 0)
        told = "The column status does not name both kinds of sentences: ratings of all are counted together."
        return ("all",), trials.with_columns(group=pl.lit("all")), [told] if alone else []
    trials, notes = with_status(trials)
    kept = trials.filter(pl.col("status").is_in(GROUPS)).with_columns(group=pl.col("status"))
    other = trials.height - kept.height
    notes += [f"{counted(other, 'trial')} neither grammatical nor ungrammatical left out."] if other else []
    mixed = kept.group_by("participant", "group").agg(pl.col("chance").n_unique() > 1)["chance"].any()
    notes += ["Trials of a group differ in chance: the probability to pass by guessing is at most that told."] * mixed
    return GROUPS, kept, notes


def _rule(
    design: Sequence[str | None], function: str, alpha: float, slips: int | None, published: bool
) -> tuple[list[int | None], Rule]:
    """The rule for one participant's trials, with the number needed in each group that has any."""
    chances = [[Fraction(text) for text in (group or "").split()] for group in design]
    present = [i for i, group in enumerate(chances) if group]
    if not present:
        return [None] * len(design), Rule((), None, f"no {function} trial that can be judged was shown")
    if len(present) == 2:
        rule = joint_rule(chances[0], chances[1], alpha, slips, published)
    else:
        rule = count_rule(chances[present[0]], alpha, slips)
    needed: list[int | None] = [None] * len(design)
    for i, k in zip(present, rule.needed, strict=False):
        needed[i] = k
    return needed, rule


def _rule_notes(rules: list[tuple[list[int | None], Rule]], alpha: float, criterion: str) -> list[str]:
    loose = [rule.probability for _, rule in rules if rule.probability is not None and rule.probability > alpha]
    notes = [guess_note(criterion, max(loose), alpha)] if loose else []
    if all(rule.probability is None for _, rule in rules):
        notes.append(f"{criterion}: nobody could be judged; {rules[0][1].why_not}.")
    return notes


def _verdicts(counts: pl.DataFrame, groups: tuple[str, ...], function: str) -> pl.DataFrame:
    ruled = pl.col("guess_probability").is_not_null()
    ahead = [(pl.col(f"{g}_right") - pl.col(f"{g}_needed")) / pl.col(f"{g}_trials") for g in groups]
    failed = pl.any_horizontal((pl.col(f"{g}_right") < pl.col(f"{g}_needed")).fill_null(False) for g in groups)
    told, score, threshold = [], pl.lit(None, dtype=pl.Float64), pl.lit(None, dtype=pl.Float64)
    for group, margin in zip(groups, ahead, strict=True):
        worst = ruled & (margin == pl.min_horizontal(*ahead))
        score = pl.when(worst).then(pl.col(f"{group}_right") / pl.col(f"{group}_trials")).otherwise(score)
        threshold = pl.when(worst).then(pl.col(f"{group}_needed") / pl.col(f"{group}_trials")).otherwise(threshold)
        name = "" if group == "all" else f"{group} "
        words = pl.format(
            f"{{}} of {{}} {name}{function} trials right ({{}} needed)",
            f"{group}_right", f"{group}_trials", f"{group}_needed",
        )  # fmt: skip
        told.append(pl.when(pl.col(f"{group}_needed").is_not_null()).then(words))
    right, wrong, trials, missing, taken = (
        pl.sum_horizontal(f"{group}_{what}" for group in groups)
        for what in ("right", "wrong", "trials", "unanswered", "penalty")
    )
    unanswered = pl.when(missing > 0).then(pl.format(", {} unanswered", missing)).otherwise(pl.lit(""))
    passed = pl.format("{}{}; a guesser passes with {}", pl.concat_list(told).list.drop_nulls().list.join(" and "),
                       unanswered, "chance_text")  # fmt: skip
    table = counts.with_columns(
        score=score,
        threshold=threshold,
        flagged=ruled & failed,
        reason=pl.when(ruled).then(passed).otherwise("why_not"),
        rights_minus_wrongs=pl.when(trials > 0).then(right - wrong),
        rights_minus_wrongs_share=pl.when(trials > 0).then((right - wrong) / trials),
        solved=pl.when(trials > 0).then(right - taken),
    )
    names = {
        f"{g}_{what}": what if g == "all" else f"{g}_{what}" for g in groups for what in ("right", "trials", "needed")
    }
    further = ("rights_minus_wrongs", "rights_minus_wrongs_share", "solved")
    return table.select(*COLUMNS, *(pl.col(old).alias(new) for old, new in names.items()), *further)
