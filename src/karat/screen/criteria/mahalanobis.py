"""Mahalanobis distance: participants whose answers are far from everybody's, all stimuli together.

For a participant with the answers y to the stimuli S (items in a condition and, if there are several, a question),

    D^2 = (y - m)' V^-1 (y - m),   V = the part of the covariance matrix for S,

where m are the means of the stimuli (Mahalanobis 1936; for careless answers Meade and Craig 2012, Curran 2016). A
distance is large if its probability, from the chi-squared distribution with |S| degrees of freedom, is below alpha.

The covariances of all pairs of stimuli cannot be estimated in studies of judgments: there are hardly more participants
than stimuli, and in a Latin square no participant sees two versions of an item. The matrix is therefore fully shrunk to
the target of Ledoit and Wolf (2004): each stimulus has its variance, and all pairs have the same correlation,

    V_st = rho sqrt(v_s v_t) for s != t,   V_ss = v_s.

- v_s is the variance of the n_s answers to s, shrunk to the pooled variance v. The shrinkage is estimated from the
  data (Opgen-Rhein and Strimmer 2007, who shrink to the median): L = sum Var(v_s) / sum (v_s - v)^2, at most 1, and
  v_s becomes L v + (1 - L) v_s. A single slip where everybody else agrees then counts less.
- With z = (y - m) / sqrt(v_s (n_s - 1) / n_s) (participants' own answers are part of m), rho is the mean product z_s
  z_t over all pairs of answers of one participant, at least 0. It represents general level: liking everything a
  little better is no sign of carelessness.
- The inverse has a closed form, so each participant needs only the k stimuli that they answered:

      D^2 = (sum z^2 - rho (sum z)^2 / (1 + (k - 1) rho)) / (1 - rho).

Where nearly everybody agrees, a few deviating answers make a large distance. Nobody is therefore flagged, however far,

- whose answers correlate with the means of the others at `AGREES` or more, or significantly (p < .01);
- whose agreement is above chance (p < .05, in a test without a model), or not clearly (99 %) less than usual, as if
  everybody answers by temperament;
- who agrees (p < .01) with others who differ from most, as people with another grammar do;
- if most participants do not agree, or with fewer than `FEWEST_AGREEING` stimuli, where agreement cannot be measured
  and two answers against a unanimous crowd make a large distance.

Limits. Answers on a scale are not normal, and people vary to different degrees. With normal answers fewer than alpha
are flagged; more are flagged if some attentive participants are much less certain than others. Careless participants
widen the variances that they are compared with, so fewer are detected if there are many. With few participants per
version of an item, the means follow each answer and hardly anybody is flagged. Several answers to one stimulus count
as their mean, which makes the distance smaller. Magnitudes are compared as logarithms, regardless of each person's
range of numbers.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from pydantic import Field

from karat.judgments import Judgments
from karat.judgments.stimuli import numbered
from karat.messages import Message
from karat.screen.evidence import (
    Evidence,
    ScreenError,
    check_settings,
    correlations,
    everybody,
    means_of_others,
    ordered_answers,
    owners,
    round_beside,
    verdicts,
    with_stimuli,
    without_score,
)
from karat.study.criterion import Alternative, Criterion, CriterionSettings, left_out
from karat.types import Floats, Ints

ALPHA = 0.001
LEAST_P = 0.001
"""Smaller probabilities are shown as below this."""
AGREES, SIGNIFICANT, FEWEST_AGREEING = 0.5, 2.33, 20
"""A correlation with the means of the others and a standard score of it (p < .01), neither of which careless answers
reach, and the fewest stimuli for a correlation."""
FAR = pl.col("score") > pl.col("threshold")
FEW_ANSWERS = 10
"""Below this many answers per stimulus on average, means follow each answer and the criterion has little power."""


class MahalanobisSettings(CriterionSettings):
    """Settings for flagging answers far from those of the others."""

    alpha: float = Field(ALPHA, gt=0, lt=1, description="How improbable a distance must be to be flagged.")


@dataclass(frozen=True)
class Distances:
    """Squared distances with the number of answers of each participant, and the parts of the covariance matrix."""

    squared: Floats
    answers: Ints
    variances: Floats
    correlation: float
    shrinkage: float


def mahalanobis(judgments: Judgments, alpha: float = ALPHA) -> Evidence:
    """The distance of each participant's answers from those of all; flagged if its p is below `alpha`.

    The score is the squared distance and the threshold its critical value. Further columns: answers (the degrees of
    freedom) and p.

    >>> import karat
    >>> mahalanobis(karat.datasets.load("likert")).flagged
    ['p06', 'p11', 'p20', 'p23', 'p35']
    """
    from scipy.special import chdtrc, chdtri

    from karat.screen.credence_model import who_agree, who_disagree

    check_settings(MahalanobisSettings, alpha=alpha)
    rows, notes = ordered_answers(judgments, "mahalanobis")
    rows, on_stimuli = with_stimuli(judgments, rows)
    cells = rows.group_by("participant", "_stimulus", maintain_order=True).agg(pl.col("_value").mean())
    shared = cells.filter(pl.len().over("_stimulus") > 1)
    people = everybody(judgments)
    if not shared.height:
        raise ScreenError(Message("mahalanobis.nothing_shared"))
    stimulus = numbered(shared, ["_stimulus"]).to_numpy()
    distance = distances(owners(people, shared), stimulus, shared["_value"].to_numpy(), people.height)
    table = people.with_columns(
        score=distance.squared, threshold=chdtri(np.maximum(distance.answers, 1), alpha), answers=distance.answers,
        p=chdtrc(distance.answers, distance.squared), agreement=_agreement(people, shared, stimulus),
    )  # fmt: skip
    apart = table.filter(FAR | (pl.col("agreement") < AGREES / 2))["participant"].to_list()
    some_far = table.filter(FAR).height > 0
    table = table.with_columns(_apart=pl.col("participant").is_in(who_disagree(judgments) if some_far else []))
    table = _verdicts(table, alpha, who_agree(judgments, apart if some_far else []))
    every = [*notes, *on_stimuli, *_limits(people.height, stimulus, distance), *without_score(table)]
    if left_out := cells.height - shared.height:
        every.append(Message("mahalanobis.single_answers", {"answers": left_out}))
    settings = {"alpha": alpha, "correlation": distance.correlation, "shrinkage": distance.shrinkage}
    return Evidence(table, "mahalanobis", settings, tuple(every))


def _agreement(people: pl.DataFrame, cells: pl.DataFrame, stimulus: Ints) -> pl.Series:
    """The correlation of each participant's answers with the means of the others; missing with few stimuli."""
    owner, values = owners(people, cells), cells["_value"].to_numpy()
    r = correlations(owner, values, means_of_others(stimulus, values)[0], people.height)
    r[np.bincount(owner, minlength=people.height) < FEWEST_AGREEING] = np.nan
    return pl.Series(r).fill_nan(None)


def _verdicts(table: pl.DataFrame, alpha: float, alike: list[str]) -> pl.DataFrame:
    """The table of participants with their verdicts; participants without comparable answers have no distance."""
    p, compared = pl.col("p"), pl.col("answers") > 0
    far = FAR.fill_null(False)
    score = pl.col("agreement").clip(-0.999, 0.999).arctanh() * (pl.col("answers") - 3).clip(0).sqrt()
    few = far & (pl.col("answers") < FEWEST_AGREEING)
    agrees = far & ((pl.col("agreement") >= AGREES) | (score >= SIGNIFICANT)).fill_null(False)
    camp = far & ~agrees & pl.col("participant").is_in(alike)
    usual = far & ~few & ~agrees & ~camp & ~pl.col("_apart")
    table = table.with_columns(pl.when(compared).then(pl.col("score", "threshold", "p")))
    values = {
        "squared": round_beside(pl.col("score"), pl.col("threshold"), 1), "answers": pl.when(compared).then("answers"),
        "p": pl.when(p >= LEAST_P / 2).then(round_beside(p, pl.lit(alpha), 3)),
        "p_below": pl.when(p < LEAST_P / 2).then(pl.lit(LEAST_P)),
        "agreement": pl.when(agrees).then(pl.col("agreement").round(2)), "fewest": pl.when(few).then(FEWEST_AGREEING),
        "alike": pl.when(camp).then(pl.lit(len(alike), pl.Int64)),
    }  # fmt: skip
    message = (
        pl.when(~compared).then(pl.lit("mahalanobis.no_answers"))
        .when(usual).then(pl.lit("mahalanobis.as_usual")).otherwise(pl.lit("mahalanobis.distance"))
    )  # fmt: skip
    flagged = far & ~agrees & ~few & ~camp & ~usual
    return verdicts(table, "score", "threshold", flagged, message, values, "answers", "p")


def _limits(people: int, stimulus: Ints, distance: Distances) -> list[Message]:
    """Notes on too few participants, or answers that do not differ."""
    stimuli = len(distance.variances)
    notes = []
    if people <= stimuli:
        notes.append(Message("mahalanobis.few_participants", {"participants": people, "stimuli": stimuli}))
    if len(stimulus) < FEW_ANSWERS * stimuli:
        mean = len(stimulus) / stimuli
        notes.append(Message("mahalanobis.few_answers", {"mean": mean, "fewest": FEW_ANSWERS}))
    if not distance.variances.any():
        notes.append(Message("mahalanobis.no_variance"))
    return notes


def distances(owner: Ints, stimulus: Ints, values: Floats, people: int) -> Distances:
    """The squared distances from answers in long form: participant, stimulus and value of each.

    Each stimulus must have two answers or more, and a participant at most one answer to each.
    """
    n = np.bincount(stimulus).astype(np.float64)
    deviation = values - (np.bincount(stimulus, values) / n)[stimulus]
    # Rounding errors do not count as variance of stimuli that all answer alike.
    deviation[np.abs(deviation) < 1e-12 * np.maximum(1.0, np.abs(values))] = 0.0
    variances, shrinkage = _shrunk_variances(stimulus, deviation, n)
    scale = np.sqrt(variances * (n - 1) / n)[stimulus]
    z = np.divide(deviation, scale, out=np.zeros_like(deviation), where=scale > 0)
    k = np.bincount(owner, minlength=people)
    sums, squares = np.bincount(owner, z, people), np.bincount(owner, z * z, people)
    pairs = float((k * (k - 1)).sum())
    rho = float((sums**2 - squares).sum()) / pairs if pairs else 0.0
    rho = min(max(rho, 0.0), 0.99)
    squared = (squares - rho * sums**2 / (1 + np.maximum(k - 1, 0) * rho)) / (1 - rho)
    return Distances(np.maximum(squared, 0.0), k.astype(np.int64), variances, rho, shrinkage)


def _shrunk_variances(stimulus: Ints, deviation: Floats, n: Floats) -> tuple[Floats, float]:
    """The variance of each stimulus, shrunk to the pooled one, and the shrinkage."""
    squares = deviation**2
    variances = np.bincount(stimulus, squares) / (n - 1)
    pooled = float(squares.sum() / (n - 1).sum())
    uncertain = np.bincount(stimulus, (squares - (variances * (n - 1) / n)[stimulus]) ** 2) * n / (n - 1) ** 3
    apart = float(((variances - pooled) ** 2).sum())
    share = min(1.0, float(uncertain.sum()) / apart) if apart > 0 else 1.0
    return share * pooled + (1 - share) * variances, share


CRITERION = Criterion(
    name="mahalanobis",
    title="Distance of answers",
    asks="whose answers are far from everybody's",
    settings=MahalanobisSettings,
    computed_by=mahalanobis,
    cites=("mahalanobis1936", "meade2012", "curran2016"),
    alternatives=(
        Alternative("p < .001", {"alpha": 0.001}, "usual"),
        Alternative("p < .01", {"alpha": 0.01}, "strict"),
        left_out(),
    ),
)
