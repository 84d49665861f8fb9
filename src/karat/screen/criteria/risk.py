"""Risk levels: pattern of answers, time and accuracy together, for participants flagged by a criterion.

Table 4 of Ba, Mancenido, Chiou and Pan. Each of three dimensions scores 0, 0.5 or 1:

- pattern: 0.5 if a criterion of answers (the Markov criterion, deletion analysis) flagged the participant, and 0.5 more
  if the answers are typical, which the paper does not define. Here, they are typical if a run of equal answers is four
  standard deviations longer than expected of independent and equally frequent answers (Schilling 1990, as the paper
  uses it): at least log_K(n (1 - 1 / K)) + 4 sqrt(pi^2 / (6 log(K)^2) + 1 / 12), rounded up, which is 13 of 77 binary
  answers. This reproduces the counts of the paper's table;
- time: 0.5 if the mean response time is below the mean, 1 if it is more than one standard deviation below;
- accuracy: the same for the share of right answers or, if no right answers are known, the share of answers with the
  majority.

A sum of 2.5 or more is high risk, of 1.5 or more moderate, and below that undetermined. The mean and standard
deviation of times and accuracies are those of all participants; the mean of the times is that of all trials, as in
the paper's time filter. Only participants flagged by a criterion of answers have a level: by the Markov criterion or,
if `criteria` names it, by deletion analysis. The published table has both, with the published rules of both:
`criteria=["markov", "deletion"], cutoffs="published", deletion_by="published", doubtful="counted"`. Items whose
recorded right answer disagrees with a near-unanimous crowd (`karat.screen.gold`) do not count as accuracy, unless
`doubtful="counted"`. Only high risk is flagged. A level summarises signs; it does not say what a participant did or
why.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import polars as pl
from pydantic import Field

from karat.executors import SERIAL, Executor
from karat.judgments import Judgments
from karat.judgments.answer_codes import answered, by_scale
from karat.judgments.stimuli import SHOWN
from karat.judgments.trial_order import check_order, presented
from karat.messages import Message
from karat.models.markov import Strategy
from karat.screen.criteria.deletion import By, deletion
from karat.screen.criteria.markov import ALPHA, SIMULATIONS, MarkovSettings, markov
from karat.screen.criteria.time_filter import evened, refuse_time_limit
from karat.screen.crowd.gold import Doubtful, check_doubtful, columns_of, has_key
from karat.screen.evidence import Evidence, ScreenError, check_settings, everybody, timed, verdicts, with_stimuli
from karat.study.criterion import Alternative, Criterion, left_out

AnswerCriterion = Literal["markov", "deletion"]
HIGH, MODERATE = 2.5, 1.5
STANDARD_DEVIATIONS = 4
Accuracy = Literal["accuracy", "agreement"]
"""The share of right answers or, if these are unknown, of answers with the majority."""


class RiskSettings(MarkovSettings):
    """Who has a high risk level by pattern, time and accuracy together."""

    criteria: list[AnswerCriterion] | None = Field(
        None, min_length=1, description="The criteria whose flagged participants have a level; by default markov."
    )
    deletion_by: By = Field(
        "simulated", description="Whether the simulated null decides in deletion, or the published chi-squared rule."
    )
    doubtful: Literal["left out", "counted"] = Field(
        "left out", description="Whether items whose right answer disagrees with nearly everybody count as accuracy."
    )
    time_limit: float | None = Field(
        None, ge=0, description="The time limit of a trial in seconds, which rules this out; 0 if there was none."
    )


def risk(
    judgments: Judgments,
    cutoffs: Literal["simulated", "published"] = "simulated",
    alpha: float = ALPHA,
    strategy: Strategy = "rows",
    seed: int = 1,
    simulations: int = SIMULATIONS,
    doubtful: Doubtful = "left out",
    time_limit: float | None = None,
    criteria: Sequence[AnswerCriterion] | None = None,
    deletion_by: By = "simulated",
    *,
    executor: Executor = SERIAL,
) -> Evidence:
    """The risk level of everybody flagged by the Markov criterion, by deletion analysis, or by either (`criteria`).

    >>> import karat
    >>> evidence = risk(karat.datasets.load("crowd"), simulations=2000)
    >>> evidence.participants["level"].drop_nulls().unique().sort().to_list()
    ['high', 'moderate']
    """
    criteria = ["markov"] if criteria is None else list(criteria)
    settings = {
        "cutoffs": cutoffs, "alpha": alpha, "strategy": strategy, "seed": seed, "simulations": simulations,
        "doubtful": doubtful, "time_limit": time_limit, "criteria": criteria, "deletion_by": deletion_by,
    }  # fmt: skip
    check_settings(RiskSettings, criteria=criteria, doubtful=doubtful)
    flagged: set[str] = set()
    if "markov" in criteria:
        flagged |= set(markov(judgments, cutoffs, alpha, strategy, seed, simulations, executor=executor).flagged)
    if "deletion" in criteria:
        flagged |= set(deletion(judgments, alpha, seed=seed, by=deletion_by, executor=executor).flagged)
    return replace(risk_levels(judgments, flagged, doubtful, time_limit), settings=settings)


def risk_levels(
    judgments: Judgments, flagged: Collection[str], doubtful: Doubtful = "left out", time_limit: float | None = None
) -> Evidence:
    """The risk levels of participants flagged by any criteria of answers.

    Further columns: level, pattern, time, accuracy (their scores), mean_time, share_right, longest_run.

    Parameters
    ----------
    flagged
        The names of the flagged participants.
    time_limit
        The time limit of a trial in seconds, with which there are no levels; 0 if there was none.

    >>> import karat
    >>> crowd = karat.datasets.load("crowd")
    >>> risk_levels(crowd, ["w017"]).participants["level"].drop_nulls().to_list()
    ['high']
    """
    check_doubtful(doubtful)
    check_order(judgments.frame.columns, ScreenError, "risk")
    times = timed(judgments)
    refuse_time_limit(times["rt"], time_limit)
    means = times.group_by("participant").agg(pl.col("rt").mean().alias("mean_time"))
    right, what, notes = accuracy_of(judgments, "risk", doubtful)
    table = everybody(judgments)
    for part in (means, right, _runs(judgments)):
        table = table.join(part, on="participant", how="left", maintain_order="left")
    overall = times["rt"].mean()
    candidate = pl.col("participant").is_in(list(flagged))
    table = table.with_columns(
        pattern=0.5 + 0.5 * pl.col("typical").fill_null(False).cast(pl.Float64),
        time=_below(pl.col("mean_time"), pl.lit(overall)),
        accuracy=_below(pl.col("share_right"), pl.col("share_right").mean()),
    ).with_columns(score=pl.col("pattern") + pl.col("time") + pl.col("accuracy"))
    level = (
        pl.when(pl.col("score") >= HIGH).then(pl.lit("high"))
        .when(pl.col("score") >= MODERATE).then(pl.lit("moderate")).otherwise(pl.lit("undetermined"))
    )  # fmt: skip
    scores = ("score", "pattern", "time", "accuracy")
    table = table.with_columns(
        level=pl.when(candidate).then(level), **{name: pl.when(candidate).then(pl.col(name)) for name in scores}
    )
    message, values = _reasons(what)
    further = ("level", "pattern", "time", "accuracy", "mean_time", "share_right", "longest_run")
    participants = verdicts(table, "score", HIGH, pl.col("score") >= HIGH, message, values, *further)
    return Evidence(participants, "risk", {"doubtful": doubtful, "time_limit": time_limit}, tuple(notes))


def typical_run(answers: int, categories: int) -> int:
    """The least length of a run of equal answers that is typical of inattentive participants."""
    base = np.log(categories)
    expected = np.log(max(answers * (1 - 1 / categories), 1.0)) / base
    return int(np.ceil(expected + STANDARD_DEVIATIONS * np.sqrt(np.pi**2 / (6 * base**2) + 1 / 12)))


def _below(value: pl.Expr, middle: pl.Expr) -> pl.Expr:
    """0 from the middle on, 0.5 below it, 1 more than one standard deviation below it; 0 if there is no value."""
    rounded = evened(value)
    low = rounded < evened(middle - value.std().fill_null(0.0))
    return pl.when(low).then(1.0).when(rounded < evened(middle)).then(0.5).otherwise(0.0)


def _runs(judgments: Judgments) -> pl.DataFrame:
    """Each participant's longest run on any scale, and whether it is typical of inattentive participants."""
    tables = []
    for scale, rows in by_scale(judgments, presented(answered(judgments))):
        kinds = len(scale.levels) or max(2, rows["response"].n_unique())
        runs = rows.select("participant", pl.struct("participant", "response").rle_id().alias("run"))
        lengths = runs.group_by("participant", "run").len().group_by("participant").agg(
            pl.col("len").max().cast(pl.Int64).alias("longest_run"), pl.col("len").sum().cast(pl.Int64).alias("answers")
        )  # fmt: skip
        limits = {n: typical_run(n, kinds) for n in lengths["answers"].unique().to_list()}
        limit = pl.col("answers").replace_strict(limits, return_dtype=pl.Int64)
        tables.append(lengths.with_columns(typical=pl.col("longest_run") >= limit))
    together = pl.concat(tables).group_by("participant")
    return together.agg(pl.col("longest_run").max(), pl.col("typical").any())


def accuracy_of(
    judgments: Judgments, criterion: str, doubtful: Doubtful
) -> tuple[pl.DataFrame, Accuracy, list[Message]]:
    """Each participant's share of right answers, or of answers with the majority; what it is; and notes.

    >>> import karat
    >>> table, what, notes = accuracy_of(karat.datasets.load("crowd"), "risk", "left out")
    >>> table.columns, what
    (['participant', 'share_right'], 'accuracy')
    """
    rows = answered(judgments)
    if "correct" not in rows.columns and not has_key(rows):
        table, on_stimuli = _with_majority(judgments, rows)
        return table, "agreement", [Message("risk.no_right_answers"), *on_stimuli]
    rows, notes = columns_of(judgments, criterion, True, doubtful)
    with_key = rows.filter(pl.col("correct").is_not_null())
    share = pl.col("correct").cast(pl.Float64).mean().alias("share_right")
    return with_key.group_by("participant").agg(share), "accuracy", notes


def _with_majority(judgments: Judgments, rows: pl.DataFrame) -> tuple[pl.DataFrame, list[Message]]:
    sides = tuple(name for name in SHOWN if name in rows.columns)
    parts = [with_stimuli(judgments, part, sides, scale) for scale, part in by_scale(judgments, rows)]
    notes = list(dict.fromkeys(note for _, messages in parts for note in messages))
    tables, first = [], 0
    for part, _ in parts:
        tables.append(part.with_columns(pl.col("_stimulus") + first))
        first += part["_stimulus"].n_unique()
    rows = pl.concat(tables)
    counts = rows.group_by("_stimulus", "response").len()
    most = counts.with_columns(_most=pl.col("len").max().over("_stimulus")).filter(pl.col("len") == pl.col("_most"))
    # A tie has no majority, and an item with one answer has nobody to agree with.
    single = most.filter(pl.len().over("_stimulus") == 1, pl.col("_most") > 1).select("_stimulus", majority="response")
    compared = rows.join(single, on="_stimulus", how="inner")
    if not compared.height:
        raise ScreenError(Message("risk.no_majority"))
    agrees = (pl.col("response") == pl.col("majority")).mean().alias("share_right")
    return compared.group_by("participant").agg(agrees), notes


def _reasons(what: Accuracy) -> tuple[pl.Expr, dict[str, pl.Expr | str]]:
    """The message about each participant, and its values."""
    code = pl.lit("risk.accuracy") if what == "accuracy" else pl.lit("risk.agreement")
    has_level = pl.col("level").is_not_null()
    message = pl.when(has_level).then(code).otherwise(pl.lit("risk.not_flagged"))
    words = {0.0: "not below the mean", 0.5: "below the mean", 1.0: "far below the mean"}

    def place(score: str, value: str) -> pl.Expr:
        word = pl.col(score).replace_strict(words, return_dtype=pl.String)
        return pl.when(has_level).then(pl.when(pl.col(value).is_null()).then(pl.lit("not known")).otherwise(word))

    return message, {
        "level": pl.when(has_level).then(pl.concat_str(pl.lit("risk "), "level")), "score": "score",
        "run": pl.when(pl.col("pattern") == 1.0).then("longest_run"),
        "time": place("time", "mean_time"), "accuracy": place("accuracy", "share_right"),
    }  # fmt: skip


CRITERION = Criterion(
    name="risk",
    title="Risk level",
    asks="who stands out by pattern, time and accuracy together",
    settings=RiskSettings,
    computed_by=risk,
    by_the_key=True,
    in_tasks=True,
    of_the_study=("seed", "simulations", "time_limit"),
    cites=("ba2024",),
    alternatives=(
        Alternative("high risk", {}, "Ba, Mancenido, Chiou and Pan, table 4"),
        Alternative("high risk, .01", {"alpha": 0.01}, "strict"),
        left_out(),
    ),
)
