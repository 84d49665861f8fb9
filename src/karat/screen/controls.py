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
"""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

import polars as pl

from karat.judgments import Judgments
from karat.scales import Ordinal
from karat.screen.answers import COLUMNS, GROUPS, check_settings, guess_note, positional, trials_of
from karat.screen.attention import pairwise
from karat.screen.evidence import Evidence, ScreenError, everybody
from karat.study.guessing import counts_of_sums, p_sentence

ALPHA = 0.05
ACCOUNTS = ("positional", "relational", "extended", "strict", "pairwise")
ENOUGH_FOR_MEANS = 8


def controls(
    judgments: Judgments,
    account: str = "positional",
    alpha: float = ALPHA,
    slips: int | None = None,
    published: bool = False,
) -> Evidence:
    """How well each participant answered the control trials.

    On the positional account `slips` wrong answers are tolerated, in each group where there are two; by default as
    many as alpha allows. `published` takes the numbers that the paper's notebook computed for ratings instead of those
    that its text asks for (6 and 8 of 12 instead of 9 and 7). A trial that was shown and not answered is not right; for
    a mean it counts as the middle of the scale, which tells nothing apart.

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
    settings = {"account": account, "alpha": alpha, "slips": slips, "published": published}
    evidence = _by_account(judgments, account, alpha, slips, published)
    return Evidence(evidence.participants, "controls", settings, evidence.notes)


def _by_account(judgments: Judgments, account: str, alpha: float, slips: int | None, published: bool) -> Evidence:
    if account == "pairwise":
        return pairwise(judgments, "control", "controls", alpha, slips)
    if account == "positional":
        return positional(judgments, "control", "controls", alpha, slips, published)
    trials = trials_of(judgments, "control", "controls")
    questions = trials["question"].unique().to_list()
    kinds = {judgments.scales[question].kind for question in questions}
    if kinds <= {"choice", "binary", "nominal"}:
        evidence = positional(judgments, "control", "controls", alpha, slips)
        note = f"The answers are right or wrong, not ratings: the {account} account does not apply to them."
        return Evidence(evidence.participants, "controls", notes=(note, *evidence.notes))
    if slips:
        raise ScreenError(f"controls: the {account} account has no slips; state them with the positional account.")
    scales = {judgments.scales[question] for question in questions}
    scale = scales.pop()
    if scales or not isinstance(scale, Ordinal):
        raise ScreenError(
            f"controls: the {account} account needs ratings on one scale with points; these controls have "
            f"{'several scales' if scales else f'a {scale.kind} scale'}."
        )
    return _by_means(trials, everybody(judgments), scale, account, alpha)


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
        reason=pl.when(both).then(reason).otherwise(pl.lit("control: not both kinds of sentences were shown")),
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
    notes = []
    fewest = min((min(row) for row in designs.iter_rows()), default=0)
    if fewest < ENOUGH_FOR_MEANS:
        notes.append(
            f"controls: means take ratings for numbers, which asks for at least {ENOUGH_FOR_MEANS} trials in each "
            f"condition; the fewest that somebody has are {fewest}."
        )
    if passing and max(passing) > alpha:
        notes.append(guess_note("controls", max(passing), alpha))
    return table.join(rules, on=keys, how="left", maintain_order="left"), tuple(notes)


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
