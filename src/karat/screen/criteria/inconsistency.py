"""Inconsistency: participants who answered a repeated question differently.

Repetitions are answers of one participant to the same item in the same condition and, if there are several, the same
question: repeated adjective pairs of a semantic differential, or items that recur in any task or session. Answers
are aligned first: a question with polarity -1 is reversed, and a choice counts as the chosen item, not its side. With x
and y running over all M pairs of answers to the same question, the score is

    sqrt(1/M sum (x - y)^2)   in scale steps.

On nominal scales and in choices a pair differs by 0 or 1; magnitudes are compared as logarithms.

Scores are compared with those of 9,999 simulated guessers who answered the same questions as often, every answer of the
scale being equally likely. A score is flagged if it is above both

    the largest score that at most `alpha` of the guessers stay at or below, and
    1.25 sqrt(median score^2 chi2(d, .99) / chi2(d, 1/2)),

with d the answers minus the questions of the participant. By the first, guessing passes with probability alpha, as in
`controls`; by the second, a participant up to a quarter noisier than the median one is flagged with probability .01 at
most, if differences are normal. Where answers can only be equal or not, as labels can, the second is the square root of
the .99 quantile of a binomial share of d, with the odds of all differing pairs together times 1.25^2.

The second is the larger if few questions are repeated or most participants are noisy. Guessing then passes more often,
and a note says how often. Participants with too few repeated questions to rule out guessing even by equal answers are
not judged, nor are answers on scales without ends.

If `upper` is stated, scores above median + `upper` MAD of all scores are flagged instead, MAD = 1.4826 median |score -
median|. In a differential with two repeated pairs this finds nobody.

Macketanz et al. use an inconsistency score on repeated adjective pairs and cite Naderi (2018) for it, without a formula
or a cutoff: the formula and the rules here are karat's reading of it.
"""

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from itertools import combinations

import numpy as np
import polars as pl
from pydantic import Field

from karat.judgments import Judgments
from karat.judgments.answer_codes import answered, by_scale, is_ordered, position, width
from karat.judgments.scales import Choice, Scale
from karat.judgments.stimuli import Stimuli
from karat.messages import Message
from karat.models.robust import MAD_CONSTANT
from karat.screen.evidence import Evidence, ScreenError, check_settings, everybody, verdicts
from karat.screen.one_part import parts_of
from karat.study.criterion import Alternative, Criterion, CriterionSettings, left_out
from karat.types import Floats, Ints

ALPHA = 0.05
GUESSERS = 9999
NOISIER, BY_CHANCE = 1.25, 0.01
"""Participants this many times noisier than usual are flagged with at most this probability."""
AT_ONCE = 20_000_000
"""The most answers to simulate at once; with long designs there are fewer guessers."""
REPEATED = {
    "participant": pl.String, "comparisons": pl.Int64, "equal": pl.Int64, "squares": pl.Float64, "answers": pl.Int64,
    "_scale": pl.Int64,
}  # fmt: skip
Design = tuple[tuple[int, int, int], ...]
"""A participant's repeated questions: scale, answers per question, number of questions."""


class InconsistencySettings(CriterionSettings):
    """Settings for flagging different answers to repeated questions."""

    alpha: float = Field(ALPHA, gt=0, lt=1, description="The highest probability that a guesser passes.")
    upper: float | None = Field(
        None, gt=0, description="MADs above the median from which a score is flagged, instead of a test for guessing."
    )


def inconsistency(judgments: Judgments, alpha: float = ALPHA, upper: float | None = None) -> Evidence:
    """The differences between each participant's answers to repeated questions, compared with those of guesses.

    Further columns: repeated (the number of repeated questions), comparisons (pairs of answers), identical (the share
    of pairs without a difference) and guess_probability (that guessing passes).

    >>> import karat
    >>> twice = {"participant": ["p1"] * 4, "item": ["a", "a", "b", "b"], "response": [5, 1, 2, 4],
    ...          "trial": [1, 2, 3, 4], "polarity": [1, -1, 1, 1]}
    >>> inconsistency(karat.Judgments(twice, karat.Ordinal(5))).participants["values"][0]
    {'questions': 2, 'difference': 1.41, 'comparisons': 2, 'limit': 4.56, 'p': 1.0}
    """
    check_settings(InconsistencySettings, alpha=alpha, upper=upper)
    parts = parts_of(judgments)
    scales = list(dict.fromkeys(parts.scales.values()))
    tables, widths = parts.keep("inconsistency", _gather, (parts.stimuli(), scales))
    widest: dict[Scale, float] = {}
    for of_part in widths:
        for scale, most in of_part.items():
            widest[scale] = max(most, widest.get(scale, 0.0))
    if not widest:
        raise ScreenError(Message("inconsistency.no_repeats"))
    of_parts = tables.map(_scores, (scales, widest))
    scores, comparisons, equal = (np.concatenate(values) for values in zip(*of_parts, strict=True))
    middle = float(np.median(scores))
    deviation = MAD_CONSTANT * float(np.median(np.abs(scores - middle)))
    usual = 1 - float(equal.sum() / comparisons.sum()) if all(map(_two_valued, widest)) else None
    cutoff = None if upper is None else middle + upper * deviation
    shared = (tuple(scales), widest, middle, usual, alpha, cutoff)
    notes = [Message("inconsistency.several_scales")] if len(widest) > 1 else []
    if upper is not None:
        settings = {"upper": upper, "mad_constant": MAD_CONSTANT, "median": middle, "mad": deviation}
        if deviation == 0:
            notes.append(Message("inconsistency.no_deviation", {"scores": len(scores), "median": middle}))
        return tables.judge(_judge, shared, settings, tuple(notes))
    guess_ps = [p for part in tables.map(_passing, shared) for p in part]
    passing = max((p for p in guess_ps if p is not None), default=None)
    if passing is not None and passing > alpha:
        notes.append(Message("passing.guessing", {"p": round(passing, 4), "alpha": alpha}))
    unjudged = sum(p is None for p in guess_ps)
    if unjudged:
        notes.append(Message("inconsistency.not_judged", {"participants": unjudged}))
    typical = {"median": middle} if usual is None else {"usual": usual}
    return tables.judge(_judge, shared, {"alpha": alpha, **typical}, tuple(notes))


def _gather(
    judgments: Judgments, shared: tuple[Mapping[bool, Stimuli], list[Scale]], number: int
) -> tuple[pl.DataFrame, dict[Scale, float]]:
    """Everybody's repeated questions with the number of their scale, and the greatest mean difference per scale.

    Participants without repeated questions have one row without values.
    """
    stimuli, scales = shared
    repeated_on = repeated_questions(judgments.with_stimuli(stimuli))
    tables = [rows.with_columns(_scale=pl.lit(scales.index(scale), pl.Int64)) for scale, rows in repeated_on.items()]
    repeated = pl.concat([pl.DataFrame(schema=REPEATED), *tables])
    table = everybody(judgments).join(repeated, on="participant", how="left", maintain_order="left_right")
    return table, {scale: _widest(rows) for scale, rows in repeated_on.items()}


def _per_person(table: pl.DataFrame, scales: list[Scale], widest: Mapping[Scale, float]) -> pl.DataFrame:
    """The scores of participants with repeated questions, in shares of the widths of scales if there are several.

    `widest` has every scale with a repeated question, and the greatest mean difference on it.
    """
    repeated = table.drop_nulls("_scale")
    if len(widest) > 1:
        units = {scales.index(scale): _unit(scale, most) ** 2 for scale, most in widest.items()}
        unit = pl.col("_scale").replace_strict(units, return_dtype=pl.Float64)
        repeated = repeated.with_columns(pl.col("squares") / unit)
    return repeated.group_by("participant").agg(
        pl.len().cast(pl.Int64).alias("repeated"), pl.col("comparisons").sum(), pl.col("equal").sum(),
        (pl.col("answers") - 1).sum().alias("_freedom"),
        pl.struct("_scale", "answers").alias("_design"),
        (pl.col("equal").sum() / pl.col("comparisons").sum()).alias("identical"),
        # Rounded, because rounding errors would turn a deviation of 0 into a tiny one.
        (pl.col("squares").sum() / pl.col("comparisons").sum()).sqrt().round(12).alias("score"),
    )  # fmt: skip


def _scores(table: pl.DataFrame, shared: tuple[list[Scale], Mapping[Scale, float]]) -> tuple[Floats, Ints, Ints]:
    """All scores, with the numbers of comparisons and of equal ones."""
    per_person = _per_person(table, *shared)
    return per_person["score"].to_numpy(), per_person["comparisons"].to_numpy(), per_person["equal"].to_numpy()


Shared = tuple[tuple[Scale, ...], Mapping[Scale, float], float, float | None, float, float | None]
"""The scales, the greatest difference on each, the median score, the share of differing pairs (of labels), alpha, and
the cutoff, if stated."""


def _limited(table: pl.DataFrame, shared: Shared) -> pl.DataFrame:
    """The scores of participants with repeated questions, their limits, and how often guessing passes."""
    scales, widest, middle, usual, alpha, cutoff = shared
    per_person = _per_person(table, list(scales), widest)
    if cutoff is not None:
        none = pl.lit(None, pl.Float64)
        return per_person.drop("_design", "_freedom").with_columns(threshold=pl.lit(cutoff), guess_probability=none)
    units = tuple(_unit(scale, widest.get(scale, 1.0)) if len(widest) > 1 else 1.0 for scale in scales)
    rows = []
    for design, freedom in per_person.select("_design", "_freedom").iter_rows():
        counts = Counter((question["_scale"], question["answers"]) for question in design)
        key = tuple(sorted((scale, answers, number) for (scale, answers), number in counts.items()))
        rows.append(_limit(key, freedom, scales, units, middle, usual, alpha))
    schema = {"threshold": pl.Float64, "guess_probability": pl.Float64}
    return per_person.drop("_design", "_freedom").hstack(pl.DataFrame(rows, schema=schema, orient="row"))


@lru_cache(maxsize=1024)
def _limit(
    design: Design, freedom: int, scales: tuple[Scale, ...], units: tuple[float, ...],
    middle: float, usual: float | None, alpha: float,
) -> tuple[float | None, float | None]:  # fmt: skip
    """The score above which a participant is flagged, and how often guessing passes; None if unknown."""
    guessed = guessed_scores(design, scales, units)
    if guessed is None:
        return None, None
    values, first = np.unique(guessed, return_index=True)
    below = np.append(first[1:], len(guessed)) / len(guessed)
    if below[0] > alpha:
        return None, None
    typical = _noisy(freedom, middle) if usual is None else _noisy_labels(freedom, usual)
    limit = max(float(values[below <= alpha][-1]), typical)
    return limit, float(np.searchsorted(guessed, limit, side="right") / len(guessed))


def _noisy(freedom: int, middle: float) -> float:
    """A score that participants a little noisier than the median one hardly exceed."""
    from scipy.special import chdtri

    return float(NOISIER * middle * np.sqrt(chdtri(freedom, BY_CHANCE) / chdtri(freedom, 0.5)))


def _noisy_labels(freedom: int, usual: float) -> float:
    """The same for answers that can only be equal or not, if this share of all pairs differs."""
    from scipy.stats import binom

    share = NOISIER**2 * usual / (1 + (NOISIER**2 - 1) * usual)
    # Rounded like the scores, so that no score is above an equal limit.
    return round(float(np.sqrt(binom.ppf(1 - BY_CHANCE, freedom, share) / freedom)), 12)


@lru_cache(maxsize=256)
def guessed_scores(design: Design, scales: tuple[Scale, ...], units: tuple[float, ...]) -> Floats | None:
    """The sorted scores of simulated guessers; None if a scale has no ends.

    >>> from karat.judgments.scales import Ordinal
    >>> guessed = guessed_scores(((0, 2, 6),), (Ordinal(7),), (1.0,))
    >>> round(float((guessed**2).mean()), 1), len(guessed)
    (8.0, 9999)
    """
    answers = sum(times * number for _, times, number in design)
    draws = int(np.clip(AT_ONCE // max(answers, 1), 999, GUESSERS))
    random = np.random.default_rng(1)
    squares, comparisons = np.zeros(draws), 0
    for place, times, number in design:
        scale, size = scales[place], (draws, number, times)
        if scale.levels:
            guesses = random.integers(0, len(scale.levels), size).astype(np.float64)
        elif (wide := width(scale)) is not None:
            guesses = random.uniform(0.0, wide, size)
        else:
            return None
        for first, second in combinations(range(times), 2):
            apart = guesses[..., first] - guesses[..., second]
            differences = apart**2 if is_ordered(scale) else (apart != 0).astype(np.float64)
            squares += differences.sum(axis=1) / units[place] ** 2
        comparisons += number * times * (times - 1) // 2
    return np.sort(np.sqrt(squares / comparisons).round(12))


def _passing(table: pl.DataFrame, shared: Shared) -> list[float | None]:
    """The probability that guessing passes, per participant with repeated questions; None if not judged."""
    return _limited(table, shared)["guess_probability"].to_list()


def _judge(table: pl.DataFrame, shared: Shared) -> pl.DataFrame:
    """The table of participants, given the cutoffs."""
    (only, *others) = shared[1]
    labels = not others and not is_ordered(only)
    apart = pl.lit("inconsistency.widths" if others else "inconsistency.labels" if labels else "inconsistency.steps")
    # For labels, the mean of squared differences is the share of comparisons that differ.
    quantities = [pl.col(name) ** 2 if labels else pl.col(name) for name in ("score", "threshold")]
    people = table.select(pl.col("participant").unique(maintain_order=True))
    results = people.join(_limited(table, shared), on="participant", how="left", maintain_order="left")
    message = pl.when(pl.col("score").is_not_null()).then(apart).otherwise(pl.lit("inconsistency.once"))
    limit = pl.when(pl.col("guess_probability").is_not_null()).then(quantities[1].round(2))
    values = {
        "questions": "repeated", "difference": quantities[0].round(2), "comparisons": "comparisons", "limit": limit,
        "p": pl.col("guess_probability").round(4),
    }  # fmt: skip
    further = (pl.col("repeated", "comparisons").fill_null(0), "identical", "guess_probability")
    above = pl.col("score") > pl.col("threshold")
    return verdicts(results, "score", "threshold", above, message, values, *further)


def repeated_questions(judgments: Judgments) -> dict[Scale, pl.DataFrame]:
    """The repeated questions on each scale that has any."""
    scales = by_scale(judgments, answered(judgments))
    return {
        scale: repeated
        for scale, rows in scales
        if (repeated := _repeated(scale, rows, judgments.stimuli(scale))).height
    }


def _repeated(scale: Scale, rows: pl.DataFrame, stimuli: Stimuli) -> pl.DataFrame:
    """The repeated questions of each participant, with the sum of squared differences of all pairs."""
    # An item in another condition is another stimulus.
    rows = rows.with_columns(_stimulus=stimuli.number(rows))
    keys = ["participant", "_stimulus"]
    value = position(scale, aligned="polarity" in rows.columns)
    if isinstance(scale, Choice) and {"left", "right"} <= set(rows.columns):
        side, named = pl.col("response"), pl.col("left").is_not_null() & pl.col("right").is_not_null()
        chosen = pl.when(side == "left").then("left").when(side == "right").then("right").otherwise(side)
        value = pl.when(named).then(chosen).otherwise(value.cast(pl.String))
    groups = rows.select(*keys, value.alias("value")).filter(pl.len().over(keys) > 1)
    same = groups.group_by(*keys, "value").len("times").group_by(keys).agg(
        (pl.col("times").cast(pl.Int64) * (pl.col("times").cast(pl.Int64) - 1) // 2).sum().alias("equal"),
        pl.col("times").cast(pl.Int64).sum().alias("answers"),
    ).with_columns(comparisons=pl.col("answers") * (pl.col("answers") - 1) // 2)  # fmt: skip
    if is_ordered(scale):
        # The squared differences of all pairs of m answers sum to m times their squared deviations from the mean.
        spread = groups.group_by(keys).agg((pl.col("value").var(ddof=0) * pl.len() ** 2).alias("squares"))
        same = same.join(spread, on=keys, nulls_equal=True)
    else:
        same = same.with_columns(squares=(pl.col("comparisons") - pl.col("equal")).cast(pl.Float64))
    return same.select("participant", "comparisons", "equal", "squares", "answers")


def _widest(repeated: pl.DataFrame) -> float:
    """The greatest mean difference in any question."""
    widest = (repeated["squares"] / repeated["comparisons"]).sqrt().max()
    return float(widest) if isinstance(widest, float) else 0.0


def _two_valued(scale: Scale) -> bool:
    """Whether answers can only be equal or a whole width apart."""
    return not is_ordered(scale) or scale.is_binary


def _unit(scale: Scale, widest: float) -> float:
    """The width of a scale; without ends, the greatest mean difference."""
    whole = width(scale)
    return whole if whole is not None else widest if widest > 0 else 1.0


CRITERION = Criterion(
    name="inconsistency",
    title="Repeated questions",
    asks="who answered repeated questions differently",
    settings=InconsistencySettings,
    computed_by=inconsistency,
    needs_repeated_questions=True,
    in_parts=True,
    wording=lambda settings: ["" if settings.get("upper") is None else "upper"],
    cites=("macketanz2022",),
    alternatives=(
        Alternative("guessing, .05", {}, "as for controls"),
        Alternative("guessing, .10", {"alpha": 0.1}, "lenient"),
        Alternative("2.5 MADs", {"upper": 2.5}, "usual"),
        left_out(),
    ),
)
