"""Straightlining: participants who gave the same answer or a pattern throughout.

Answers are taken in the order in which the participant saw the trials, never in the order of columns or items, and as
given on the screen (polarity is not undone). There are five patterns, each with its probability if answers do not
depend on what is asked:

- the same answer in all n trials (Macketanz et al., section 4.1): K^(1 - n) by even guessing among K answers; in a
  choice task, the probability of that side if it is higher;
- a long run of one answer: P(longest run >= m), exact for independent answers with the participant's own shares of
  answers, so that nobody is flagged for finding most sentences good;
- a period d of 2, 3 or 4 (zig-zag): the number of answers equal to the one d trials earlier, compared with the binomial
  distribution with q = sum over a of n_a (n_a - 1) / (n (n - 1)), the share of equal pairs among all of the
  participant's answers;
- one side in a choice task: two-sided binomial tests with 1/2 and with the share of that side among the choices of all
  others, (k + 1) / (n + 2). The more probable one counts, because sides may be unrecorded or unbalanced: if the better
  sentence is mostly on one side, attentive participants mostly choose that side. "No difference" is left out.

The score is the smallest of these probabilities, not corrected for their number. Blocked or alternating trials make
attentive answers look patterned: if every third trial is an experimental one, answers have a period of 3. A period
therefore flags nobody whose answers agree with those of the others to the same stimuli above chance (p < .05, by the
correlation with their means), or if fewer than half of the answers are equal. The variability (standard deviation of
the answers in scale steps, Dunn et al. 2018) is for information only.

Longest runs. Answers are independent and have fixed probabilities, the shares. The first run of m answers a begins at
trial i with probability N_a(i) p_a^(m-1), where N_a(i) is the probability that no run of m is complete before and a new
run of a begins at i. With E_a(i), the probability that no run of m is complete by trial i and the answer to i is a,

    N_a(i) = p_a (sum over b of E_b(i-1) - E_a(i-1)),   N_a(1) = p_a,
    E_a(i) = p_a E_a(i-1) + N_a(i) - p_a^(m-1) N_a(i-m+1),
    P(longest run >= m) = sum over a and i <= n-m+1 of p_a^(m-1) N_a(i).

The sum contains no differences of large numbers, so small tails keep their digits. For runs of a single answer this is
the recursion of Schilling (1990, The longest run of heads), here for any share.
"""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from karat.judgments import Judgments
from karat.judgments.answer_codes import answered, by_scale, is_ordered, position, width
from karat.judgments.scales import Choice, Scale
from karat.judgments.stimuli import Stimuli
from karat.judgments.trial_order import check_order, order_messages, presented
from karat.messages import Message
from karat.screen.evidence import Evidence, ScreenError, check_settings, correlations, everybody, verdicts
from karat.screen.one_part import AnyEvidence, AnyParts, parts_of
from karat.study.criterion import Alternative, Criterion, CriterionSettings, left_out
from karat.types import Floats, Ints

PERIODS = (2, 3, 4)
ALPHA, REPEATED = 0.001, 0.5
"""Answers follow no pattern if fewer than this share equal those a period earlier."""
AGREES, STEPS = 1.645, 1000
"""Standard errors above chance from which agreement protects (p < .05), and the steps of a scale that are compared:
sums of whole numbers do not depend on the order of parts."""
SIGN = "\x1f"
"""The separator of the parts of a key of stimuli."""
FURTHER: dict[str, Any] = {
    "trials": pl.Int64, "longest_run": pl.Int64, "longest_run_p": pl.Float64, "same_answer_p": pl.Float64,
    "period": pl.Int64, "period_share": pl.Float64, "period_p": pl.Float64, "left_share": pl.Float64,
    "side_p": pl.Float64, "variability": pl.Float64,
}  # fmt: skip
SCHEMA: dict[str, Any] = {
    "participant": pl.String, "score": pl.Float64, "pattern": pl.String, "scale": pl.String, "answer": pl.String,
    "equal": pl.Int64, "comparisons": pl.Int64, "chosen": pl.Int64, "choices": pl.Int64,
} | FURTHER  # fmt: skip
SAME, RUN, PERIOD = "straightlining.same", "straightlining.run", "straightlining.period"
AGREEING = "straightlining.agreeing"
LEFT, RIGHT, NO_PATTERN = "straightlining.left", "straightlining.right", "straightlining.no_pattern"


class StraightliningSettings(CriterionSettings):
    """Settings for flagging equal answers and patterns."""

    alpha: float = Field(ALPHA, gt=0, lt=1, description="How improbable a run must be by chance to be flagged.")
    shares: Literal["own", "even"] = Field(
        "own", description="By which shares of answers chance is judged: each participant's own, or even guessing."
    )


def straightlining(judgments: Judgments, alpha: float = ALPHA, shares: Literal["own", "even"] = "own") -> Evidence:
    """The least probable pattern in each participant's answers; flagged if its probability is below `alpha`.

    `shares="even"` judges runs by even guessing among all answers of the scale instead of by the participant's own
    shares. It then also flags participants who nearly always give the same answer.

    >>> import karat
    >>> evidence = straightlining(karat.datasets.load("likert"))
    >>> evidence.flagged, evidence.participants.filter("flagged")["message"].to_list()
    (['p23'], ['straightlining.same'])
    """
    settings = check_settings(StraightliningSettings, alpha=alpha, shares=shares)
    parts = parts_of(judgments)
    columns = parts.read(0).frame.columns
    scales = list(dict.fromkeys(parts.scales.values()))
    # If there is one scale and it lists its answers, no pass is needed to count them.
    fixed = len(scales) == 1 and scales[0].levels
    kinds = {scales[0]: _kinds(scales[0], 0)} if fixed else _kinds_given(parts, scales)
    if kinds:
        check_order(columns, ScreenError, "straightlining")
        tables, answers = parts.keep("straightlining", _worst, (kinds, _sides_chosen(parts, scales), shares))
        if any(answers):
            periodic = tables.scan().filter(pl.col("score") < alpha, pl.col("pattern") == PERIOD)
            agree = _who_agree(parts, scales, periodic.select("participant").collect()["participant"].to_list())
            unit = "answers" if "question" in columns else "trials"
            return tables.judge(_judge, (alpha, agree, unit), settings, order_messages(columns))
    raise ScreenError(Message("answering.nobody"))


def _kinds(scale: Scale, different: int) -> int:
    """The number of possible answers: the levels of the scale, else the different answers given."""
    return len(scale.levels) or max(2, different)


def _kinds_given(parts: AnyParts[AnyEvidence], scales: list[Scale]) -> dict[Scale, int]:
    """The number of possible answers on each scale that has answers."""
    tables, _ = parts.keep("straightlining", _different, scales)
    counts = tables.scan().group_by("_scale").agg(pl.col("response").n_unique()).collect()
    different = dict(counts.iter_rows())
    return {scale: _kinds(scale, different[place]) for place, scale in enumerate(scales) if place in different}


def _different(judgments: Judgments, scales: list[Scale], number: int) -> tuple[pl.DataFrame, None]:
    """The different answers on each scale; one is enough if the scale lists its answers."""
    tables = [pl.DataFrame(schema={"_scale": pl.Int64, "response": pl.String})]
    for scale, rows in by_scale(judgments, answered(judgments)):
        some = rows.select("response")[:1] if scale.levels else rows.select("response").unique()
        tables.append(some.select(pl.lit(scales.index(scale), pl.Int64).alias("_scale"), "response"))
    return pl.concat(tables), None


def _sides_chosen(parts: AnyParts[AnyEvidence], scales: list[Scale]) -> dict[Scale, Ints]:
    """The number of choices of the left side and of either side, by all participants, on each scale of choices."""
    choices: list[Scale] = [scale for scale in scales if isinstance(scale, Choice)]
    if not choices:
        return {}
    return dict(zip(choices, np.sum(parts.map(_sides_in, choices, name="straightlining"), axis=0), strict=True))


def _sides_in(judgments: Judgments, scales: list[Scale], number: int) -> Ints:
    choices = np.zeros((len(scales), 2), dtype=np.int64)
    for scale, rows in by_scale(judgments, answered(judgments)):
        if scale in scales:
            left, right = (int((rows["response"] == side).to_numpy().sum()) for side in ("left", "right"))
            choices[scales.index(scale)] = left, left + right
    return choices


def _who_agree(parts: AnyParts[AnyEvidence], scales: list[Scale], names: list[str]) -> list[str]:
    """The participants whose answers correlate with those of the others to the same stimuli above chance."""
    if not names:
        return []
    of_parts = parts.map(_for_comparison, (scales, parts.stimuli(), names), name="straightlining")
    keys = ["_stimulus", "_code"]
    every = pl.concat([counts for counts, _ in of_parts]).group_by(keys).agg(pl.col("n", "sum").sum())
    rows = pl.concat([answers for _, answers in of_parts]).join(every, on=keys, how="left", maintain_order="left")
    own = pl.len().over("participant", *keys), pl.col("_value").sum().over("participant", *keys)
    rows = rows.with_columns(n=pl.col("n") - own[0], sum=pl.col("sum") - own[1]).filter(pl.col("n") > 0)
    rows = rows.with_columns(pl.col("participant").replace_strict(names, range(len(names)), return_dtype=pl.Int64))
    owner, most = rows["participant"].to_numpy(), 1 + int(rows["_code"].to_numpy().max(initial=0))
    others = (rows["sum"] / rows["n"]).to_numpy()
    r = correlations(owner, rows["_value"].to_numpy(), others, len(names), owner * most + rows["_code"].to_numpy())
    answers = np.bincount(owner, rows["_share"].to_numpy(), len(names))
    above = np.nan_to_num(r) * np.sqrt(np.maximum(answers - 1, 0))
    return [name for name, value in zip(names, above, strict=True) if value >= AGREES]


def _for_comparison(
    judgments: Judgments, shared: tuple[list[Scale], Mapping[bool, Stimuli], list[str]], number: int
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The number and the sum of all answers to each stimulus, and the answers of some participants.

    Answers without an order count once per level, as 1 if it was given and 0 otherwise.
    """
    scales, stimuli, names = shared
    tables = []
    for scale, rows in by_scale(judgments, answered(judgments)):
        kind = stimuli[isinstance(scale, Choice)]
        rows = kind.with_pairs(rows)
        key = [pl.col(name).cast(pl.String).fill_null("") for name in kind.keys if name in rows.columns]
        place = position(scale, aligned="polarity" in rows.columns)
        if isinstance(scale, Choice) and {"left", "right"} <= set(rows.columns):
            place = (
                pl.when((pl.col("left") > pl.col("right")).fill_null(False) & (place < 2))
                .then(1 - place)
                .otherwise(place)
            )
        first, levels = scales.index(scale), range(1) if is_ordered(scale) else range(len(scale.levels) or 3)
        plain = rows.select(
            "participant", _stimulus=pl.concat_str(pl.lit(str(first)), *key, separator=SIGN), _place=place
        )
        tables += [
            plain.select("participant", "_stimulus", _code=pl.lit(level, pl.Int64), _share=pl.lit(1 / len(levels)),
                         _value=(pl.col("_place") / (width(scale) or 1.0) * STEPS).round() if is_ordered(scale)
                         else (pl.col("_place") == level).cast(pl.Float64))
            for level in levels
        ]  # fmt: skip
    kinds = {"participant": pl.String, "_stimulus": pl.String, "_code": pl.Int64, "_share": pl.Float64}
    every = pl.concat([pl.DataFrame(schema=kinds | {"_value": pl.Float64}), *tables])
    counts = every.group_by("_stimulus", "_code").agg(n=pl.len().cast(pl.Int64), sum=pl.col("_value").sum())
    return counts, every.filter(pl.col("participant").is_in(names))


def _worst(
    judgments: Judgments, shared: tuple[Mapping[Scale, int], Mapping[Scale, Ints], str], number: int
) -> tuple[pl.DataFrame, bool]:
    """The least probable pattern of everybody in a part, and whether anybody in it answered."""
    # The number of possible answers on each scale that has answers.
    kinds, sides, shares = shared
    rows = answered(judgments)
    tables = [
        _patterns(part, scale, kinds[scale], sides.get(scale), shares, scale.kind if len(kinds) > 1 else None)
        for scale, part in by_scale(judgments, presented(rows))
    ]
    worst = (
        pl.concat([pl.DataFrame(schema=SCHEMA), *tables])
        .sort("score", maintain_order=True)
        .unique("participant", keep="first", maintain_order=True)
    )
    table = everybody(judgments).join(worst, on="participant", how="left", maintain_order="left")
    return table, table["score"].null_count() < table.height


def _judge(table: pl.DataFrame, shared: tuple[float, list[str], str]) -> pl.DataFrame:
    """The table of participants, from their least probable patterns and the participants who agree with the others."""
    alpha, agree, unit = shared
    low = (pl.col("score") < alpha).fill_null(False)
    agrees = low & (pl.col("pattern") == PERIOD) & pl.col("participant").is_in(agree)
    message = (
        pl.when(pl.col("score").is_null()).then(pl.lit("answering.none")).when(agrees).then(pl.lit(AGREEING))
        .when(low).then(pl.col("pattern")).otherwise(pl.lit(NO_PATTERN))
    )  # fmt: skip
    return verdicts(
        table.with_columns(message=message), "score", alpha, low & ~agrees, message, _values(unit), *FURTHER
    )


def _values(unit: str) -> dict[str, pl.Expr]:
    """The values of each message; `unit` says whether answers or trials are counted."""

    def only(name: str, *codes: str) -> pl.Expr:
        return pl.when(pl.col("message").is_in(codes)).then(name)

    number = only("trials", SAME, RUN, NO_PATTERN)
    nothing = pl.lit(None, dtype=pl.Int64)
    return {
        "answer": only("answer", SAME, RUN), "run": only("longest_run", RUN, NO_PATTERN),
        "trials": number if unit == "trials" else nothing, "answers": number if unit == "answers" else nothing,
        "period": only("period", PERIOD, AGREEING), "equal": only("equal", PERIOD, AGREEING),
        "comparisons": only("comparisons", PERIOD, AGREEING),
        "chosen": only("chosen", LEFT, RIGHT), "choices": only("choices", LEFT, RIGHT),
        "scale": only("scale", SAME, RUN, PERIOD, AGREEING, LEFT, RIGHT),
    }  # fmt: skip


def _patterns(
    rows: pl.DataFrame, scale: Scale, kinds: int, chosen: Ints | None, shares: str, where: str | None
) -> pl.DataFrame:
    """The patterns of each participant's answers on one scale; rows are in the order of presentation."""
    rows = rows.with_columns(
        _person=pl.col("participant").rle_id().cast(pl.Int64),
        _code=pl.col("response").rank("dense").over("participant").cast(pl.Int64) - 1,
    )
    person, code = rows["_person"].to_numpy(), rows["_code"].to_numpy()
    names = rows["participant"].unique(maintain_order=True)
    n = np.bincount(person).astype(np.int64)
    answers, used = rows["response"], int(code.max()) + 1
    counts = np.bincount(person * used + code, minlength=len(n) * used).reshape(len(n), used)
    begin, longest = _longest_runs(person, code, len(n))
    probabilities = np.full((len(n), kinds), 1 / kinds) if shares == "even" else counts / n[:, None]
    run_p = longest_run_tail(probabilities, n, longest)
    same = longest == n
    same_p = np.where(same, float(kinds) ** (1.0 - n), np.nan)
    q = (counts * (counts - 1)).sum(axis=1) / np.maximum(n * (n - 1), 1)
    period, share, equal, period_p = _periods(person, code, n, q)
    left, either, side_p = _sides(chosen, person, answers, len(n))
    # In choices, the same answer throughout is one side throughout.
    same_p = np.fmax(same_p, np.where(same, side_p, np.nan))
    variability: pl.Series = pl.Series([None] * len(n), dtype=pl.Float64)
    if is_ordered(scale):
        steps = rows.group_by("_person", maintain_order=True).agg(position(scale).std().alias("sd"))
        variability = steps["sd"]
    pattern_p = np.where(share >= REPEATED, period_p, 1.0)
    every = np.column_stack([np.nan_to_num(same_p, nan=1.0), run_p, pattern_p, np.nan_to_num(side_p, nan=1.0)])
    first = every.argmin(axis=1) + ((every.argmin(axis=1) == 3) & (2 * left < either))
    left_share = np.divide(left, either, out=np.full(len(n), np.nan), where=either > 0)
    table = pl.DataFrame(
        {
            "participant": names, "score": every.min(axis=1),
            "pattern": pl.Series([SAME, RUN, PERIOD, LEFT, RIGHT]).gather(first),
            "scale": pl.repeat(where, len(n), dtype=pl.String, eager=True),
            "answer": answers.gather(pl.Series(begin)), "equal": equal, "comparisons": n - period,
            "chosen": np.maximum(left, either - left), "choices": either, "trials": n, "longest_run": longest,
            "longest_run_p": run_p, "same_answer_p": same_p, "period": period, "period_share": share,
            "period_p": period_p, "left_share": left_share, "side_p": side_p, "variability": variability,
        },
        schema=SCHEMA,
    )  # fmt: skip
    return table.with_columns(pl.col(pl.Float64).fill_nan(None))


def _longest_runs(person: Ints, code: Ints, people: int) -> tuple[Ints, Ints]:
    """The start of each participant's first longest run, and its length."""
    new = np.ones(len(code), dtype=bool)
    new[1:] = (person[1:] != person[:-1]) | (code[1:] != code[:-1])
    starts = np.flatnonzero(new)
    lengths = np.diff(np.append(starts, len(code)))
    longest = np.zeros(people, dtype=np.int64)
    np.maximum.at(longest, person[starts], lengths)
    reached = np.flatnonzero(lengths == longest[person[starts]])
    _, first = np.unique(person[starts[reached]], return_index=True)
    return starts[reached[first]], longest


def _periods(person: Ints, code: Ints, n: Ints, q: Floats) -> tuple[Ints, Floats, Ints, Floats]:
    """The period with the smallest probability: its length, share and number of equal answers, and probability."""
    period, equal, p = np.full(len(n), PERIODS[0]), np.zeros(len(n), dtype=np.int64), np.ones(len(n))
    for d in PERIODS:
        same_person = person[d:] == person[:-d]
        matches = np.bincount(person[d:][same_person & (code[d:] == code[:-d])], minlength=len(n)).astype(np.int64)
        tail = binomial_tail(matches, np.maximum(n - d, 0), q)
        better = (tail < p) | (d == PERIODS[0])
        period, equal, p = np.where(better, d, period), np.where(better, matches, equal), np.where(better, tail, p)
    places = n - period
    share = np.divide(equal, places, out=np.full(len(n), np.nan), where=places > 0)
    return period.astype(np.int64), share, equal.astype(np.int64), p


def _sides(chosen: Ints | None, person: Ints, answers: pl.Series, people: int) -> tuple[Ints, Ints, Floats]:
    """Choices of the left side and of either side, and the two-sided probability of such an uneven split."""
    if chosen is None:
        return np.zeros(people, dtype=np.int64), np.zeros(people, dtype=np.int64), np.full(people, np.nan)
    left = np.bincount(person[(answers == "left").to_numpy()], minlength=people).astype(np.int64)
    either = left + np.bincount(person[(answers == "right").to_numpy()], minlength=people).astype(np.int64)
    others = (chosen[0] - left + 1) / (chosen[1] - either + 2)
    tails = []
    for share in (np.full(people, 0.5), others):
        more = left > share * either
        successes, chance = np.where(more, left, either - left), np.where(more, share, 1 - share)
        tails.append(binomial_tail(successes, either, chance))
    return left, either, np.where(either > 0, np.minimum(2 * np.maximum(*tails), 1.0), np.nan)


CRITERION = Criterion(
    name="straightlining",
    title="Answer patterns",
    asks="who gave the same answer or a pattern throughout",
    settings=StraightliningSettings,
    computed_by=straightlining,
    in_parts=True,
    cites=("schilling1990", "macketanz2022"),
    alternatives=(Alternative("p < .001", {}, "usual", usual=True), left_out(usual=True)),
)


CELLS = 4_000_000
"""The number of probabilities in memory at once."""


def longest_run_tail(shares: ArrayLike, trials: ArrayLike, lengths: ArrayLike, cells: int = CELLS) -> Floats:
    """The probability that the longest run of any answer is at least as long as given, for many sequences at once.

    `shares` has a row for each sequence and a column for each answer; `trials` and `lengths` have one number each.
    A run of no answers always occurs, a run longer than the sequence never. At most about `cells` probabilities are
    in memory at once.
    """
    p = np.atleast_2d(np.asarray(shares, dtype=np.float64))
    n = np.asarray(trials, dtype=np.int64).reshape(-1)
    m = np.asarray(lengths, dtype=np.int64).reshape(-1)
    if p.shape[0] != len(n) or len(n) != len(m):
        raise ValueError("shares, trials and lengths must have one row for each sequence.")
    if len(n) and (np.any(p < 0) or np.any(np.abs(p.sum(axis=1) - 1) > 1e-9)):
        raise ValueError("shares must be at least 0 and sum to 1.")
    tail = np.zeros(len(n))
    tail[m <= 0] = 1.0
    tail[(m == 1) & (n >= 1)] = 1.0
    open_ = np.flatnonzero((m >= 2) & (m <= n))
    open_ = open_[np.argsort(-n[open_], kind="stable")]
    start = 0
    while start < len(open_):
        # The longest sequences come first, so the first of a part determines the memory that all need.
        size = max(1, cells // int(n[open_[start]] * p.shape[1]))
        part = open_[start : start + size]
        tail[part] = _tail(p[part], n[part], m[part])
        start += len(part)
    return tail


def _tail(p: Floats, n: NDArray[np.int64], m: NDArray[np.int64]) -> Floats:
    people, steps = np.arange(len(n)), int((n - m).max()) + 1
    full = p ** (m - 1)[:, None]
    begun = np.zeros((steps, *p.shape))
    ends = np.zeros_like(p)
    tail = np.zeros(len(n))
    for i in range(steps):
        fresh = p * (np.maximum(ends.sum(axis=1, keepdims=True) - ends, 0) if i else 1.0)
        begun[i] = fresh
        back = i - m + 1
        complete = np.where((back >= 0)[:, None], full * begun[np.maximum(back, 0), people], 0.0)
        ends = np.maximum(p * ends + fresh - complete, 0)
        tail += np.where(i <= n - m, (full * fresh).sum(axis=1), 0.0)
    return np.minimum(tail, 1.0)


def binomial_tail(successes: ArrayLike, trials: ArrayLike, chance: ArrayLike) -> Floats:
    """The probability of at least this many successes in this many trials, for many sequences at once."""
    from scipy.special import betainc

    k, n, p = np.broadcast_arrays(*(np.asarray(numbers, dtype=np.float64) for numbers in (successes, trials, chance)))
    possible = (k >= 1) & (k <= n)
    # The regularised incomplete beta function; its parameters are positive where the tail is neither 0 nor 1.
    tail = betainc(np.where(possible, k, 1), np.where(possible, n - k + 1, 1), np.clip(p, 0.0, 1.0))
    return np.where(possible, tail, np.where(k < 1, 1.0, 0.0))
