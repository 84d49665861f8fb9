"""Controls: who did not tell clearly grammatical from clearly ungrammatical sentences.

Choices are right or wrong. Ratings are judged on one of these accounts (Pieper, Börner and Kiss, section 5.2.2), where
g and u are the mean ratings of grammatical and ungrammatical controls on a scale from low to high:

    positional   at least k_g grammatical and k_u ungrammatical controls on the right side of the scale
    relational   g > u                                     (Häussler and Juzek)
    extended     (g - u) / (high - low) >= 1/2             (equation 4)
    strict       none on the wrong side, u <= low + (high - low) / 4 and g >= high - (high - low) / 4;
                 2 and 4 on five points                    (Zanuttini et al.)
    pairwise     the worse sentence of no pair above the better one   (Langsford et al.)

Means treat ratings as numbers, for which at least eight trials in each condition are asked (Carifio and Perla).

The positional account can also tolerate only a share of neutral answers, which tell nothing apart (section 5.2.2, end).
Rights minus wrongs (`karat.screen.answers`) and, for yes/no controls, sensitivity and bias (`karat.screen.sensitivity`)
are further evidence that flags nobody.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

import polars as pl

from karat.errors import counted
from karat.judgments import Judgments
from karat.scales import Ordinal
from karat.screen.answers import COLUMNS, GROUPS, positional, trials_of, with_status
from karat.screen.attention import pairwise
from karat.screen.evidence import Evidence, ScreenError, everybody
from karat.screen.neutral import check_share, with_neutral_share
from karat.screen.passing import check_settings, guess_note
from karat.screen.sensitivity import with_sensitivity
from karat.study.guessing import counts_of_sums, p_sentence

ALPHA = 0.05
ACCOUNTS = ("positional", "relational", "extended", "strict", "pairwise")
RIGHT_OR_WRONG = {"choice", "binary", "nominal"}
ENOUGH_FOR_MEANS = 8
NOT_BOTH = "not both kinds of control sentences were shown"


def controls(
    judgments: Judgments,
    account: str = "positional",
    alpha: float = ALPHA,
    slips: int | None = None,
    published: bool = False,
    neutral_at_most: float | None = None,
) -> Evidence:
    """How well each participant answered the control trials.

    On the positional account `slips` wrong answers are tolerated, in each group where there are two; by default as
    many as alpha allows; on the pairwise account, failed pairs, by default none. `published` takes the numbers that
    the paper's notebook computed for ratings instead of those that its text asks for (6 and 8 of 12 instead of 9 and
    7). With `neutral_at_most`, a larger share of neutral answers is flagged too. A trial that was shown and not
    answered is not right; for a mean it counts as the middle of the scale, which tells nothing apart. On the positional
    account `trials` of the evidence has every judged answer.

    >>> import karat
    >>> evidence = controls(karat.datasets.load("likert"))
    >>> print(evidence)
    controls: 7 of 48 participants flagged.
    """
    if account not in ACCOUNTS:
        raise ScreenError(f"controls: account must be one of {', '.join(ACCOUNTS)}, got {account!r}.")
    check_settings("controls", alpha, slips)
    if published and (account != "positional" or slips is not None):
        raise ScreenError("controls: published is a rule of the positional account, without slips of your own.")
    if neutral_at_most is not None:
        check_share(neutral_at_most)
        if account != "positional":
            raise ScreenError("controls: neutral_at_most is a rule of the positional account.")
    settings = {
        "account": account, "alpha": alpha, "slips": slips, "published": published, "neutral_at_most": neutral_at_most,
    }  # fmt: skip
    if account == "positional":
        evidence = with_neutral_share(_right_or_wrong(judgments, alpha, slips, published), judgments, neutral_at_most)
    elif account == "pairwise":
        evidence = pairwise(judgments, "control", "controls", alpha, slips)
    else:
        evidence = _compared(judgments, account, alpha, slips)
    return Evidence(evidence.participants, "controls", settings, evidence.notes, evidence.trials)


def _right_or_wrong(judgments: Judgments, alpha: float, slips: int | None, published: bool = False) -> Evidence:
    """The positional account, with sensitivity and bias where the answers are yes and no."""
    evidence = positional(judgments, "control", "controls", alpha, slips, published)
    return with_sensitivity(evidence, judgments.scales)


def _compared(judgments: Judgments, account: str, alpha: float, slips: int | None) -> Evidence:
    """The accounts that compare grammatical with ungrammatical controls."""
    trials = trials_of(judgments, "control", "controls")
    questions = trials["question"].unique().to_list()
    kinds = {judgments.scales[question].kind for question in questions}
    if kinds <= RIGHT_OR_WRONG:
        evidence = _right_or_wrong(judgments, alpha, slips)
        notes = (not_ratings(account), *evidence.notes)
        return Evidence(evidence.participants, "controls", notes=notes, trials=evidence.trials)
    if slips:
        raise ScreenError(f"controls: the {account} account has no slips; state them with the positional account.")
    scales = {judgments.scales[question] for question in questions}
    scale = scales.pop()
    if scales or not isinstance(scale, Ordinal):
        raise ScreenError(
            f"controls: the {account} account needs ratings on one scale with points; these controls have "
            f"{'several scales' if scales else f'a {scale.kind} scale'}."
        )
    trials, notes_on_status = with_status(trials)
    other = trials.filter(~pl.col("status").is_in(GROUPS).fill_null(False)).height
    if other:
        notes_on_status.append(f"{counted(other, 'trial')} neither grammatical nor ungrammatical left out.")
    evidence = _by_means(trials, everybody(judgments), scale, account, alpha)
    return Evidence(evidence.participants, "controls", notes=(*notes_on_status, *evidence.notes))


def not_ratings(account: str) -> str:
    """Why an account of ratings cannot judge other answers.

    >>> not_ratings("strict")
    'The answers are right or wrong, not ratings: the strict account does not apply to them.'
    """
    return f"The answers are right or wrong, not ratings: the {account} account does not apply to them."


def _by_means(trials: pl.DataFrame, people: pl.DataFrame, scale: Ordinal, account: str, alpha: float) -> Evidence:
    """The accounts that compare means. Sums stay whole or half numbers, so that no tie is lost to rounding."""
    points = len(scale.levels)
    middle, span = (points + 1) / 2, points - 1
    if not set(GROUPS) <= set(trials["status"].drop_nulls().unique()):
        raise ScreenError(
            f"controls: the {account} account compares grammatical with ungrammatical controls, and the column status "
            "does not name both."
        )
    places = {level: float(place) for place, level in enumerate(scale.levels, start=1)}
    place = pl.col("response").replace_strict(places, return_dtype=pl.Float64, default=None)
    rated = trials.with_columns(place=place)
    wrong = {"grammatical": pl.col("place") < middle, "ungrammatical": pl.col("place") > middle}
    table = people
    for group in GROUPS:
        rows = rated.filter(pl.col("status") == group).group_by("participant").agg(
            pl.col("place").fill_null(middle).sum().alias(f"sum_{group}"),
            pl.len().cast(pl.Int64).alias(f"{group}_trials"),
            wrong[group].fill_null(True).sum().cast(pl.Int64).alias(f"slips_{group}"),
        )  # fmt: skip
        table = table.join(rows, on="participant", how="left", maintain_order="left")
    table = table.with_columns(
        (pl.col(f"sum_{group}") / pl.col(f"{group}_trials")).alias(f"mean_{group}") for group in GROUPS
    )
    table = table.with_columns(slips=pl.col("slips_grammatical") + pl.col("slips_ungrammatical"))
    n_g, n_u = (pl.col(f"{group}_trials") for group in GROUPS)
    sum_g, sum_u = (pl.col(f"sum_{group}") for group in GROUPS)
    apart = sum_g * n_u - sum_u * n_g
    difference = apart / (n_g * n_u * span)
    if account == "strict":
        nearest = pl.min_horizontal(
            (pl.col("mean_grammatical") - 1) / span, (points - pl.col("mean_ungrammatical")) / span
        )
        near = (4 * (sum_g - n_g) >= 3 * span * n_g) & (4 * (points * n_u - sum_u) >= 3 * span * n_u)
        score, threshold, passed = nearest, 0.75, near & (pl.col("slips") == 0)
    elif account == "extended":
        score, threshold, passed = difference, 0.5, 2 * apart >= span * n_g * n_u
    else:
        score, threshold, passed = difference, 0.0, apart > 0
    both = pl.col("grammatical_trials").is_not_null() & pl.col("ungrammatical_trials").is_not_null()
    table, notes = _with_guessing(table, points, account, alpha)
    asked = {
        "relational": "the first must be higher",
        "extended": f"they must lie {span / 2:g} apart",
        "strict": f"at least {1 + 0.75 * span:g} and at most {1 + 0.25 * span:g} asked, without slips",
    }[account]
    reason = pl.format(
        "mean {} for grammatical and {} for ungrammatical controls{}: " + asked + "; a guesser passes with {}",
        pl.col("mean_grammatical").round(2), pl.col("mean_ungrammatical").round(2),
        pl.format(", {} on the wrong side or unanswered", "slips") if account == "strict" else pl.lit(""),
        "chance_text",
    )  # fmt: skip
    table = table.with_columns(
        score=pl.when(both).then(score),
        threshold=pl.when(both).then(pl.lit(threshold)),
        flagged=(both & ~passed).fill_null(False),
        reason=pl.when(both).then(reason).otherwise(pl.lit(NOT_BOTH)),
    )
    more = ["mean_grammatical", "mean_ungrammatical", "grammatical_trials", "ungrammatical_trials", "slips"]
    return Evidence(table.select(*COLUMNS, *more), "controls", notes=notes)


def _with_guessing(
    table: pl.DataFrame, points: int, account: str, alpha: float
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The probability that a guesser passes, for each number of trials, and where the account's assumptions fail."""
    keys = [f"{group}_trials" for group in GROUPS]
    designs = table.select(keys).drop_nulls().unique(maintain_order=True)
    passing = [guess_probability(n_g, n_u, points, account) for n_g, n_u in designs.iter_rows()]
    rules = designs.with_columns(
        pl.Series("guess_probability", passing, dtype=pl.Float64),
        pl.Series("chance_text", [p_sentence(p) for p in passing], dtype=pl.String),
    )
    notes = means_note(min(min(row) for row in designs.iter_rows())) if designs.height else []
    if not designs.height:
        notes.append(f"controls: nobody could be judged; {NOT_BOTH}.")
    if passing and max(passing) > alpha:
        notes.append(guess_note("controls", max(passing), alpha))
    return table.join(rules, on=keys, how="left", maintain_order="left"), tuple(notes)


def means_note(fewest: int) -> list[str]:
    """The warning that somebody has too few trials for means of ratings, where it is so.

    >>> means_note(8)
    []
    """
    told = f"means take ratings for numbers, which asks for at least {ENOUGH_FOR_MEANS} trials in each condition"
    return [f"controls: {told}; the fewest that somebody has are {fewest}."] if fewest < ENOUGH_FOR_MEANS else []


def guess_probability(grammatical: int, ungrammatical: int, points: int, account: str) -> float:
    """The probability that even guessing passes an account of means, for any numbers of trials, exactly.

    >>> round(guess_probability(4, 4, 5, "extended"), 4), round(guess_probability(8, 8, 5, "relational"), 4)
    (0.0296, 0.4651)
    >>> guess_probability(2, 2, 5, "strict")
    0.0576
    """
    span = points - 1
    if account == "strict":
        # By symmetry both groups ask the same: no point beyond the middle, and a sum of at most a quarter.
        near = tuple(int(2 * place <= span) for place in range(points))
        passing = Fraction(1)
        for n in (grammatical, ungrammatical):
            ways = sum(counts_of_sums(near, n)[: n * span // 4 + 1])
            passing *= Fraction(ways, points**n)
        return float(passing)
    good, bad = (counts_of_sums((1,) * points, n) for n in (grammatical, ungrammatical))
    up_to = list(accumulate(bad))
    ways = 0
    for total, ways_here in enumerate(good):
        # The highest ungrammatical sum that lies far enough below this grammatical one.
        if account == "extended":
            most = (2 * total * ungrammatical - span * grammatical * ungrammatical) // (2 * grammatical)
        else:
            most = -(-total * ungrammatical // grammatical) - 1
        ways += ways_here * (up_to[min(most, len(up_to) - 1)] if most >= 0 else 0)
    return float(Fraction(ways, points ** (grammatical + ungrammatical)))
