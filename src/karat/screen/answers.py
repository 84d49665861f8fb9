"""Right and wrong answers: how many of a participant's answers are right, and how many a guesser would have right.

On the positional account an answer is right if it is in the expected set of its trial. With N trials, each guessed
with probability p, the fewest right answers that keep guessing at or under alpha are

    k = min { j : P(X >= j) <= alpha },   X ~ Binomial(N, p)

(Pieper, Börner and Kiss, section 5.2, tables 2 and 3). Ratings of grammatical and ungrammatical sentences are two
groups with a number each, and the two probabilities are multiplied (table 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

import polars as pl

from karat.errors import ScaleError, counted
from karat.judgments import Judgments
from karat.scales import Ordinal, Scale
from karat.screen.evidence import Evidence, ScreenError, everybody
from karat.study import chance
from karat.study.guessing import p_sentence, tails

GROUPS = ("grammatical", "ungrammatical")
COLUMNS = ["participant", "score", "threshold", "flagged", "reason", "guess_probability"]


@dataclass(frozen=True)
class Rule:
    """How many answers of each group must be right, and the probability that a guesser passes; or why there is none."""

    needed: tuple[int, ...]
    probability: float | None
    why_not: str = ""


def check_settings(criterion: str, alpha: float, slips: int | None) -> None:
    """Whether alpha and slips can be used; ScreenError says why not."""
    if not 0 < alpha < 1:
        raise ScreenError(f"{criterion}: alpha must be a probability between 0 and 1, got {alpha}.")
    if slips is not None and (isinstance(slips, bool) or not isinstance(slips, int) or slips < 0):
        raise ScreenError(f"{criterion}: slips must be a whole number from 0, got {slips!r}.")


def trials_of(judgments: Judgments, function: str, criterion: str) -> pl.DataFrame:
    """The trials of one function, with the columns that are looked at here, empty where the table lacks them."""
    frame = judgments.frame.filter(pl.col("function") == function)
    if not frame.height:
        raise ScreenError(f"{criterion} needs {function} trials, and these judgments have none (column function).")
    names = ("question", "status", "expected", "pair")
    absent = [pl.lit(None, dtype=pl.String).alias(name) for name in names if name not in frame.columns]
    # Columns of the design are left behind: a choice trial has a column right of its own.
    return (
        frame.with_columns(absent)
        .select("participant", "response", *names)
        .with_columns(pl.col("question").fill_null(""))
    )


def scored(trials: pl.DataFrame, scales: dict[str, Scale], criterion: str) -> tuple[pl.DataFrame, list[str]]:
    """The trials that have a right answer, with `right` and `chance` (a fraction as text), and notes on the others.

    A missing answer is not right.
    """
    rows = []
    why: dict[str, None] = {}
    keys = ["question", "expected", "response"]
    for question, expected, response in trials.select(keys).unique(maintain_order=True).iter_rows():
        if expected is None:
            continue
        try:
            probability = scales[question].chance(expected)
            right = response is not None and response in scales[question].expected(expected)
        except ScaleError as error:
            why[str(error).rstrip(".")] = None
            continue
        rows.append((question, expected, response, right, str(probability)))
    if not rows:
        reason = "; ".join(why) or "no trial says which answer is right (column expected)"
        raise ScreenError(f"{criterion}: the share that a guesser has right is not known: {reason}.")
    schema = {"question": pl.String, "expected": pl.String, "response": pl.String, "right": pl.Boolean}
    table = pl.DataFrame(rows, schema=schema | {"chance": pl.String}, orient="row")
    found = trials.join(table, on=keys, how="inner", nulls_equal=True, maintain_order="left")
    left_out = trials.height - found.height
    notes = [f"{counted(left_out, 'trial')} without a known right answer left out."] if left_out else []
    return found, notes


@lru_cache(maxsize=4096)
def guessing_tails(chances: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """The probabilities that guessing gets at least 0, 1, ..., n right when each trial has a chance of its own.

    >>> guessing_tails((Fraction(1, 2), Fraction(1, 4)))
    (Fraction(1, 1), Fraction(5, 8), Fraction(1, 8))
    """
    if len(set(chances)) == 1:
        return tuple(tails(len(chances), chances[0]))
    exactly = [Fraction(1)]
    for p in chances:
        exactly = [a * (1 - p) + b * p for a, b in zip([*exactly, Fraction(0)], [Fraction(0), *exactly], strict=True)]
    return tuple(reversed(list(accumulate(reversed(exactly)))))


def count_rule(chances: Sequence[Fraction], alpha: float, slips: int | None = None) -> Rule:
    """How many of these trials must be right.

    >>> count_rule([Fraction(1, 2)] * 20, 0.05).needed, count_rule([Fraction(2, 5)] * 12, 0.05).needed
    ((15,), (9,))
    """
    passing = guessing_tails(tuple(sorted(chances)))
    n = len(chances)
    if slips is not None:
        if slips >= n:
            return Rule((), None, f"{counted(n, 'trial')} with {counted(slips, 'slip')} tolerated ask for nothing")
        return Rule((n - slips,), float(passing[n - slips]))
    limit = Fraction(str(alpha))
    k = next((k for k in range(1, n + 1) if passing[k] <= limit), None)
    if k is None:
        return Rule((), None, f"too few trials: all {n} right would be guessed with {p_sentence(float(passing[n]))}")
    return Rule((k,), float(passing[k]))


def joint_rule(
    grammatical: Sequence[Fraction],
    ungrammatical: Sequence[Fraction],
    alpha: float,
    slips: int | None = None,
    published: bool = False,
) -> Rule:
    """How many trials of each group must be right; the mildest rule under alpha that allows a slip, if there is one.

    Where the trials of a group differ in chance, the largest is taken: guessing passes with at most the probability.

    >>> twelve = [Fraction(3, 5)] * 12, [Fraction(2, 5)] * 12
    >>> joint_rule(*twelve, 0.05).needed, joint_rule(*twelve, 0.05, published=True).needed
    ((9, 7), (6, 8))
    """
    if slips is not None:
        single = [count_rule(group, alpha, slips) for group in (grammatical, ungrammatical)]
        if any(rule.probability is None for rule in single):
            return next(rule for rule in single if rule.probability is None)
        good, bad = (guessing_tails(tuple(sorted(group))) for group in (grammatical, ungrammatical))
        k, m = single[0].needed[0], single[1].needed[0]
        return Rule((k, m), float(good[k] * bad[m]))
    above, below = max(grammatical), max(ungrammatical)
    # Three points stand for any two chances: only right for one group, for the other, and for both or neither.
    overlap = above + below > 1
    neutral = "both" if overlap else None
    weights = [1 - above, above + below - 1, 1 - below] if overlap else [below, 1 - above - below, above]
    sizes = (len(grammatical), len(ungrammatical))
    try:
        rule = chance.joint_rule(*sizes, 3, neutral, str(alpha), weights, published)
    except chance.ChanceError:
        found = [
            one
            for most in (Fraction(1, 2), 1)
            for one in chance.joint_rules(*sizes, 3, neutral, str(alpha), most, 0, weights)
        ]
        if not found:
            least = float(above ** sizes[0] * below ** sizes[1])
            return Rule((), None, f"too few trials: all {sum(sizes)} right would be guessed with {p_sentence(least)}")
        rule = max(found, key=lambda one: (one.p_grammatical < 0.5 and one.p_ungrammatical < 0.5, one.probability))
    return Rule((rule.grammatical[1], rule.ungrammatical[1]), rule.probability)


def positional(
    judgments: Judgments, function: str, criterion: str, alpha: float, slips: int | None, published: bool = False
) -> Evidence:
    """The evidence of right and wrong answers to the trials of one function.

    `score` is the share of right answers, `threshold` the share that is needed; with two groups, those of the group
    in which somebody is farthest behind or least ahead.
    """
    check_settings(criterion, alpha, slips)
    trials, notes = scored(trials_of(judgments, function, criterion), judgments.scales, criterion)
    groups, trials, told = _grouped(trials, judgments.scales)
    notes += told
    counts = everybody(judgments)
    for group in groups:
        rows = trials.filter(pl.col("group") == group).group_by("participant").agg(
            pl.col("right").sum().cast(pl.Int64).alias(f"{group}_right"),
            pl.len().cast(pl.Int64).alias(f"{group}_trials"),
            pl.col("response").null_count().cast(pl.Int64).alias(f"{group}_unanswered"),
            pl.col("chance").sort().str.join(" ").alias(f"{group}_chances"),
        )  # fmt: skip
        counts = counts.join(rows, on="participant", how="left", maintain_order="left")
    counts = counts.with_columns(
        pl.col(f"{group}_{what}").fill_null(0) for group in groups for what in ("right", "trials", "unanswered")
    )
    keys = [f"{group}_chances" for group in groups]
    designs = counts.select(keys).unique(maintain_order=True)
    rules = [_rule(design, alpha, slips, published) for design in designs.iter_rows()]
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
    return Evidence(_verdicts(counts, groups, function), criterion, notes=tuple(notes))


def _grouped(trials: pl.DataFrame, scales: dict[str, Scale]) -> tuple[tuple[str, ...], pl.DataFrame, list[str]]:
    """Ratings of both kinds of sentences are two groups; choices, and ratings of one kind, are counted together."""
    ratings = all(isinstance(scales[question], Ordinal) or scales[question].kind == "continuous"
                  for question in trials["question"].unique())  # fmt: skip
    kinds = set(trials["status"].drop_nulls().unique()) & set(GROUPS)
    if not ratings or len(kinds) < 2:
        alone = ratings and not kinds and trials["expected"].n_unique() > 1
        notes = ["No column status: ratings of all sentences are counted together."] if alone else []
        return ("all",), trials.with_columns(group=pl.lit("all")), notes
    kept = trials.filter(pl.col("status").is_in(GROUPS)).with_columns(group=pl.col("status"))
    other = trials.height - kept.height
    notes = [f"{counted(other, 'trial')} neither grammatical nor ungrammatical left out."] if other else []
    mixed = kept.group_by("participant", "group").agg(pl.col("chance").n_unique() > 1)["chance"].any()
    notes += ["Trials of a group differ in chance: the probability to pass by guessing is at most that told."] * mixed
    return GROUPS, kept, notes


def _rule(
    design: Sequence[str | None], alpha: float, slips: int | None, published: bool
) -> tuple[list[int | None], Rule]:
    """The rule for one participant's trials, with the number needed in each group that has any."""
    chances = [[Fraction(text) for text in (group or "").split()] for group in design]
    present = [i for i, group in enumerate(chances) if group]
    if not present:
        return [None] * len(design), Rule((), None, "none of these trials was shown")
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


def guess_note(criterion: str, probability: float, alpha: float) -> str:
    """The warning that somebody who guesses passes too often."""
    return f"{criterion}: somebody who guesses passes with {p_sentence(probability)}, more than {alpha:g}."


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
    missing = pl.sum_horizontal(f"{group}_unanswered" for group in groups)
    unanswered = pl.when(missing > 0).then(pl.format(", {} unanswered", missing)).otherwise(pl.lit(""))
    passed = pl.format("{}{}; a guesser passes with {}", pl.concat_list(told).list.drop_nulls().list.join(" and "),
                       unanswered, "chance_text")  # fmt: skip
    table = counts.with_columns(
        score=score,
        threshold=threshold,
        flagged=ruled & failed,
        reason=pl.when(ruled).then(passed).otherwise(pl.format(f"{function}: {{}}", "why_not")),
    )
    names = {
        f"{g}_{what}": what if g == "all" else f"{g}_{what}" for g in groups for what in ("right", "trials", "needed")
    }
    return table.select(*COLUMNS, *(pl.col(old).alias(new) for old, new in names.items()))
