"""Controls: participants who did not distinguish clearly grammatical from clearly ungrammatical sentences.

Choices are right or wrong. Ratings are judged by one of these accounts (Pieper, Börner and Kiss, section 5.2.2), where
g and u are the mean ratings of grammatical and ungrammatical controls on a scale from low to high:

    positional   at least k_g grammatical and k_u ungrammatical controls on the right side of the scale
    relational   g > u                                     (Häussler and Juzek)
    extended     (g - u) / (high - low) >= 1/2             (equation 4)
    strict       none on the wrong side, u <= low + (high - low) / 4 and g >= high - (high - low) / 4;
                 2 and 4 on five points                    (Zanuttini et al.)
    pairwise     the worse sentence of no pair above the better one   (Langsford et al.)

Means treat ratings as numbers, which requires at least eight trials in each condition (Carifio and Perla).

The positional account can also limit the share of neutral answers, which distinguish nothing (section 5.2.2, end).
Rights minus wrongs and, for yes/no controls, sensitivity and bias (`karat.screen.right_answers`) are additional
evidence that flags nobody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal

import polars as pl
from pydantic import Field

from karat.judgments import Judgments
from karat.judgments.scales import Ordinal
from karat.messages import ENGLISH, Message, NotComputed, render, render_all
from karat.screen.criteria.attention import pairwise, without_pairs
from karat.screen.evidence import Evidence, ScreenError, check_settings, everybody, verdicts
from karat.screen.one_part import AnyEvidence, AnyParts, parts_of
from karat.screen.right_answers import (
    GROUPS,
    OTHER_STATUS,
    STATUS_FILLED,
    agreed_statuses,
    counted_notes,
    guess_note,
    kinds_of_trials,
    positional,
    trials_of,
    with_status,
)
from karat.study.criterion import Alternative, Criterion, Given, PassSettings, left_out
from karat.study.guessing import counts_of_sums

if TYPE_CHECKING:
    from karat.study.check.draft import Draft


ALPHA = 0.05
ENOUGH_FOR_MEANS = 8
RIGHT_OR_WRONG = {"choice", "binary", "nominal"}
MEANS_REASONS = {"relational": "controls.relational", "extended": "controls.extended", "strict": "controls.strict"}


class ControlSettings(PassSettings):
    """Settings for flagging answers that do not distinguish clear cases."""

    account: Literal["positional", "relational", "extended", "strict", "pairwise"] = Field(
        "positional", description="How ratings of controls are judged; choices are right or wrong."
    )
    published: bool = Field(
        False, description="Judge rating controls as the published code does, and not as the paper says."
    )
    neutral_at_most: float | None = Field(
        None, ge=0, le=1, description="The share of neutral answers to controls that is tolerated."
    )


def controls(
    judgments: Judgments,
    account: str = "positional",
    alpha: float = ALPHA,
    slips: int | None = None,
    published: bool = False,
    neutral_at_most: float | None = None,
) -> Evidence:
    """How well each participant answered the control trials.

    The positional account tolerates `slips` wrong answers, in each group if there are two, and by default as many as
    alpha allows. The pairwise account tolerates failed pairs, by default none. `published` takes the numbers that the
    paper's notebook computed for ratings instead of those that its text requires (6 and 8 of 12 instead of 9 and 7).
    With `neutral_at_most`, a larger share of neutral answers is flagged too. A trial that was shown but not answered is
    not right; for a mean it counts as the middle of the scale, which separates nothing. On the positional account,
    `trials` of the evidence has every judged answer.

    >>> import karat
    >>> evidence = controls(karat.datasets.load("likert"))
    >>> print(evidence)
    controls: 7 of 48 participants flagged.
    """
    settings = {
        "account": account, "alpha": alpha, "slips": slips, "published": published, "neutral_at_most": neutral_at_most,
    }  # fmt: skip
    check_settings(ControlSettings, **settings)
    if published and (account != "positional" or slips is not None):
        raise ScreenError(Message("controls.published_only_positional"))
    if neutral_at_most is not None and account != "positional":
        raise ScreenError(Message("controls.neutral_only_positional"))
    parts = parts_of(judgments)
    if account == "positional":
        return positional(parts, "control", "controls", settings, neutral=True)
    judge = pairwise if account == "pairwise" else _compared
    return judge(parts, "control", "controls", settings)


def _compared(
    parts: AnyParts[AnyEvidence], function: str, criterion: str, settings: dict[str, Any]
) -> AnyEvidence:  # fmt: skip
    """The accounts that compare the means of grammatical and ungrammatical controls."""
    account, alpha = settings["account"], settings["alpha"]
    kinds = kinds_of_trials(parts, function, criterion)
    used = [parts.scales[question] for question in kinds["question"].unique()]
    if {scale.kind for scale in used} <= RIGHT_OR_WRONG:
        evidence = positional(parts, function, criterion, settings)
        return replace(evidence, notes=(not_ratings(account), *evidence.notes))
    if settings["slips"]:
        raise ScreenError(Message("controls.no_slips", {"account": account}))
    scale, *others = dict.fromkeys(used)
    if others:
        raise ScreenError(Message("controls.several_scales", {"account": account}))
    if not isinstance(scale, Ordinal):
        raise ScreenError(Message("controls.other_scale", {"account": account, "scale": scale.kind}))
    if not set(GROUPS) <= set(kinds["status"].drop_nulls().unique()):
        raise ScreenError(Message("controls.status_missing", {"account": account}))
    evidence, facts = parts.judge(criterion, _by_means, (function, agreed_statuses(kinds), scale, account), settings)
    counts = sum((part for part, _ in facts), Counter[str]())
    designs = pl.concat([part for _, part in facts])
    fewest, passing = designs["fewest"].min(), designs["guess_probability"].max()
    notes = counted_notes(counts, STATUS_FILLED, OTHER_STATUS)
    if isinstance(fewest, int) and isinstance(passing, float):
        few = Message("controls.few_for_means", {"enough": ENOUGH_FOR_MEANS, "fewest": fewest})
        notes += [few] * (fewest < ENOUGH_FOR_MEANS) + [guess_note(passing, alpha)] * (passing > alpha)
    else:
        notes.append(Message("passing.nobody_judged", {"why": Message("controls.not_both")}))
    return replace(evidence, notes=tuple(notes))


def not_ratings(account: str) -> NotComputed:
    """The reason why an account of ratings cannot judge other answers."""
    return NotComputed("controls.not_ratings", {"account": account})


def _by_means(
    judgments: Judgments, shared: tuple[str, pl.DataFrame, Ordinal, str], number: int
) -> tuple[pl.DataFrame, tuple[Counter[str], pl.DataFrame]]:
    """The verdicts of accounts that compare means, and the probability that guessing passes for each design.

    Sums stay whole or half numbers, so that no tie is lost to rounding.
    """
    function, agreed, scale, account = shared
    trials, filled = with_status(trials_of(judgments, function), agreed)
    other = trials.filter(~pl.col("status").is_in(GROUPS).fill_null(False)).height
    points = len(scale.levels)
    middle, span = (points + 1) / 2, points - 1
    places = {level: float(place) for place, level in enumerate(scale.levels, start=1)}
    place = pl.col("response").replace_strict(places, return_dtype=pl.Float64, default=None)
    rated = trials.with_columns(place=place)
    wrong = {"grammatical": pl.col("place") < middle, "ungrammatical": pl.col("place") > middle}
    table = everybody(judgments)
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
    keys = [f"{group}_trials" for group in GROUPS]
    designs = table.select(keys).drop_nulls().unique(maintain_order=True)
    passing = [guess_probability(n_g, n_u, points, account) for n_g, n_u in designs.iter_rows()]
    designs = designs.with_columns(pl.Series("guess_probability", passing, dtype=pl.Float64))
    table = table.join(designs, on=keys, how="left", maintain_order="left")
    values = {
        "grammatical": pl.when(both).then(pl.col("mean_grammatical").round(2)),
        "ungrammatical": pl.when(both).then(pl.col("mean_ungrammatical").round(2)), "apart": pl.lit(span / 2),
        "least": pl.lit(1 + 0.75 * span), "most": pl.lit(1 + 0.25 * span), "slips": pl.when(both).then("slips"),
        "p": pl.col("guess_probability"),
    }  # fmt: skip
    message = pl.when(both).then(pl.lit(MEANS_REASONS[account])).otherwise(pl.lit("controls.not_both"))
    table = verdicts(
        table, pl.when(both).then(score), pl.when(both).then(pl.lit(threshold)), both & ~passed, message, values,
        "guess_probability", "mean_grammatical", "mean_ungrammatical", "grammatical_trials", "ungrammatical_trials",
        "slips",
    )  # fmt: skip
    facts = Counter({STATUS_FILLED: filled, OTHER_STATUS: other})
    return table, (facts, designs.with_columns(fewest=pl.min_horizontal(keys)))


def guess_probability(grammatical: int, ungrammatical: int, points: int, account: str) -> float:
    """The exact probability that even guessing passes an account of means, for any numbers of trials."""
    span = points - 1
    if account == "strict":
        # By symmetry both groups have the same rule: no point beyond the middle, and a sum of at most a quarter.
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
        # The highest ungrammatical sum that is far enough below this grammatical one.
        if account == "extended":
            most = (2 * total * ungrammatical - span * grammatical * ungrammatical) // (2 * grammatical)
        else:
            most = -(-total * ungrammatical // grammatical) - 1
        ways += ways_here * (up_to[min(most, len(up_to) - 1)] if most >= 0 else 0)
    return float(Fraction(ways, points ** (grammatical + ungrammatical)))


def _impossible(draft: Draft, settings: ControlSettings) -> Iterator[tuple[str, str]]:
    """The problem of accounts that need something the controls do not have."""
    if settings.account in ("relational", "extended", "strict") and any(
        isinstance(block.scale, Ordinal) for block in draft.study.blocks
    ):
        rows = [row for rows in draft.rows for row in rows if row.function == "control"]
        for kind in ("grammatical", "ungrammatical"):
            if not any(row["status"] == kind for row in rows):
                yield (
                    f"the {settings.account} account compares two kinds of controls, and none is {kind}.",
                    "Fill the column status of the controls, or add such controls.",
                )
    yield from without_pairs(draft, settings, "controls", "control")


def _wording(settings: Given) -> list[str]:
    neutral = settings.get("neutral_at_most") is not None
    return ["" if settings.get("slips") is None else "slips"] + ["neutral"] * neutral


CRITERION = Criterion(
    name="controls",
    title="Control sentences",
    asks="who did not tell clear cases apart",
    settings=ControlSettings,
    computed_by=controls,
    needs_functions=("control",),
    by_the_key=True,
    in_parts=True,
    shown_blind=True,
    impossible=_impossible,
    wording=_wording,
    shares=("neutral_at_most",),
    cites=("pieper",),
    alternatives=(
        Alternative("positional, .05", {}, "Pieper, Börner and Kiss", usual=True),
        Alternative("positional, .01", {"alpha": 0.01}, "strict"),
        Alternative(
            "extended", {"account": "extended"}, "Pieper, Börner and Kiss, equation 4", usual=True, ratings=True
        ),
        Alternative("strict", {"account": "strict"}, "Zanuttini et al.", ratings=True),
        left_out(usual=True),
    ),
)


COMPARED: dict[str, dict[str, Any]] = {
    "positional": {},
    "positional published": {"published": True},
    "relational": {"account": "relational"},
    "extended": {"account": "extended"},
    "strict": {"account": "strict"},
    "pairwise": {"account": "pairwise"},
}
ACCOUNTS_SCHEMA = {
    "account": pl.String, "flagged": pl.Int64, "guess_probability": pl.Float64, "only_here": pl.String,
    "only_positional": pl.String, "notes": pl.String, "why_not": pl.String,
}  # fmt: skip


def compare_accounts(judgments: Judgments, alpha: float = 0.05, language: str = ENGLISH) -> pl.DataFrame:
    """One row per account of controls: the participants that it flags and the positional account does not, and so on.

    `flagged` is how many are flagged, `guess_probability` the largest probability among these participants that
    guessing passes. `only_here` and `only_positional` name those flagged by one of the two accounts only, with blanks
    between. An account that cannot run has a sentence in `why_not`, and nothing else. Sentences are in `language`.

    >>> import karat
    >>> table = compare_accounts(karat.datasets.load("likert"))
    >>> table.select("account", "flagged", "only_here", "only_positional").row(1)
    ('positional published', 9, 'p05 p21 p22', 'p09')
    """
    trials = kinds_of_trials(parts_of(judgments), "control", "controls")
    kinds = {judgments.scales[question].kind for question in trials["question"].unique()}
    results: dict[str, Evidence | NotComputed] = {}
    for name, settings in COMPARED.items():
        if kinds <= RIGHT_OR_WRONG and name not in ("positional", "pairwise"):
            results[name] = not_ratings(name)
            continue
        try:
            results[name] = controls(judgments, alpha=alpha, **settings)
        except ScreenError as error:
            results[name] = NotComputed.of(error)
    usual = results["positional"]
    rows = [_account_row(name, result, usual, language) for name, result in results.items()]
    return pl.DataFrame(rows, schema=ACCOUNTS_SCHEMA, orient="row")


def _account_row(
    account: str, result: Evidence | NotComputed, usual: Evidence | NotComputed, language: str
) -> tuple[object, ...]:
    if isinstance(result, NotComputed):
        return account, None, None, None, None, None, render(result, language)
    only_here = only_usual = None
    if isinstance(usual, Evidence):
        only_here = " ".join(name for name in result.flagged if name not in set(usual.flagged))
        only_usual = " ".join(name for name in usual.flagged if name not in set(result.flagged))
    guesser = result.participants["guess_probability"].max()
    notes = " ".join(render_all(result.notes, language))
    return account, len(result.flagged), guesser, only_here, only_usual, notes, None
