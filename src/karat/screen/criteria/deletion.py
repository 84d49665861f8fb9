"""Deletion: how much the model of a crowd's answers changes when one worker is left out.

    D_i = -2 (log-likelihood of all answers - log-likelihood without worker i), each at its own maximum

(Ba, Mancenido, Chiou and Pan, equation 7). The published rule compares D_i with the chi-squared distribution with as
many degrees of freedom as worker i has answers. That is no likelihood-ratio test, because the two likelihoods are of
different data and have the same number of parameters. D_i is rather -2 log of the probability of worker i's answers
given everybody else's. What is usual for it depends on the items, and on ordered answers the published rule may flag
everybody. It is available for replication as `by="published"`.

By default, a simulated null decides. Worker i's answers are redrawn from the model of everybody else (a new worker;
item effects from their posterior given the others), and

    p = (1 + redrawn answers that are at least as improbable) / (1 + simulations),

where improbable refers to -2 log of the probability of the answers given everybody else's, with the parameters of the
full fit. With `refit`, the model is fitted again to each redrawn set of answers and D itself is compared, which takes
many times longer. Drawing then stops early if p cannot become small: after 10 such exceedances, with p = 10 / draws
(Besag and Clifford 1991). `p_adjusted` has the p values of all workers, adjusted after Benjamini and Hochberg.

Workers are flagged if p < alpha, not adjusted. Alpha then means the same as in every other criterion, the probability
of flagging a credible participant, and does not depend on who else is tested. An adjusted p would also need many more
simulations than workers to flag anybody. Of N credible workers, about alpha N are unusual, and more if the model is
not quite right, as for labels read as ratings. The simulated null therefore flags nobody

- whose agreement with the others is above chance in a test without a model (p < .05: being cleared should be no harder
  than being accused), or not clearly (99 %) less than usual;
- who agrees (p < .01) with others who do not agree with the crowd, as people of one taste do;
- who has fewer than 20 answers, too few to show agreement;
- if most participants do not agree above chance, as with very hard items.

Deletion should not exclude anybody alone. Look at p_adjusted.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field

from karat.errors import KaratError
from karat.executors import SERIAL, Executor, as_map
from karat.judgments import Judgments
from karat.judgments.trial_order import check_order
from karat.messages import Message
from karat.screen.crowd.answers import Crowd, crowd, fit, labels_take, refuse_large
from karat.screen.evidence import Evidence, ScreenError, check_settings, everybody, round_beside, verdicts
from karat.study.criterion import Alternative, Criterion, CriterionSettings, left_out
from karat.types import Progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from karat.models.credence import CredenceTrials
    from karat.models.glrm import Fit, NominalFit


ALPHA = 0.05
AT_MOST = 2000
"""With more participants, refitting the model without each takes too long by default."""
By = Literal["published", "simulated"]


class DeletionSettings(CriterionSettings):
    """Participants without which the model of all answers changes most."""

    alpha: float = Field(ALPHA, gt=0, lt=1, description="How improbable a distance must be, by the rule that decides.")
    simulations: int = Field(
        0, ge=0, description="How many draws the simulated null has; 0 for 999 (199 for labels) where it decides."
    )
    seed: int = Field(1, ge=0, description="The seed of the simulation.")
    at_most: int = Field(AT_MOST, ge=2, description="With more participants than this it is not computed.")
    by: By = Field("simulated", description="Whether the simulated null decides, or the published chi-squared rule.")
    refit: bool = Field(False, description="Whether every simulated draw fits the model anew, which takes long.")


MANY = 0.5
"""If at least this share is flagged, a note says that the published rule fails."""
SIMULATIONS, OF_LABELS = 999, 199
"""Default draws of the simulated null, and fewer for labels, which take longer."""
LONG = 10.0
"""The most seconds that the refits of labels may take by default."""
REFITS = 35
"""The Spammer Index of labels with its interval takes as long as this many refits."""
SMALLEST_P = 0.001
"""Smaller simulated p values are shown as below this."""
ABOVE_CHANCE, FEWEST = 1.645, 20
"""Standard errors above chance from which agreement protects a worker (p < .05), and the answers needed to show it."""
USUAL = 0.5
"""The share of workers who must agree above chance before disagreement counts against anybody."""
NOT_COMPARED = (
    pl.lit(None, pl.Float64).alias("distance"), pl.lit(None, pl.Int64).alias("df"),
    pl.lit(None, pl.Float64).alias("p_value"), pl.lit(False).alias("flagged"),
)  # fmt: skip
"""The values for participants in a window whose answers cannot be compared."""


@dataclass(frozen=True)
class Deletion(Evidence):
    """Evidence with the distance of each worker.

    `participants` also has distance, df, p_value (published rule), p_simulated and p_adjusted (null unless simulated).
    Score and threshold are the distance and its limit by the published rule, or the simulated p and alpha.
    """

    log_likelihood: float = float("nan")
    """Of all answers."""

    def plot(self, width_cm: float = 16) -> Figure:
        """The distance of each participant, those flagged as diamonds; with the published rule, its cutoff.

        >>> import karat
        >>> deletion(karat.simulate.crowd(20, 24), by="published").plot().axes[0].get_ylabel()
        'deviance distance'
        """
        from scipy.special import chdtri

        from karat.plots.crowd import distances_plot

        if self.settings["by"] == "simulated":
            decided = self.participants.with_columns(threshold=pl.lit(None, pl.Float64))
            return distances_plot(_with_distances(decided), self.settings["alpha"], width_cm)
        # The dashed line and the diamonds are those of the published rule; rings show the simulated null.
        limits = chdtri(self.participants["df"].cast(pl.Float64).to_numpy(), self.settings["alpha"])
        published = self.participants.with_columns(
            threshold=pl.Series(limits, nan_to_null=True),
            flagged=(pl.col("p_value") < self.settings["alpha"]).fill_null(False),
        )
        return distances_plot(_with_distances(published), self.settings["alpha"], width_cm)

    def plot_chance(self, width_cm: float = 12) -> Figure:
        """The distribution of the distances, with the chi-squared curve of the published rule (figure 5a).

        >>> import karat
        >>> deletion(karat.simulate.crowd(20, 24), by="published").plot_chance().axes[0].get_xlabel()
        'deviance distance'
        """
        from karat.plots.crowd import chance_plot

        compared = _with_distances(self.participants)
        distance, df, flagged = (compared[name].to_numpy() for name in ("distance", "df", "flagged"))
        return chance_plot(distance, df, flagged, width_cm)


def deletion(
    judgments: Judgments,
    alpha: float = ALPHA,
    simulations: int = 0,
    seed: int = 1,
    at_most: int = AT_MOST,
    by: By = "simulated",
    refit: bool = False,
    *,
    only: Collection[str] | None = None,
    progress: Progress | None = None,
    executor: Executor = SERIAL,
) -> Deletion:
    """The deviance distance of each worker, and the probability of such answers given everybody else's.

    The simulated null decides, p < alpha, with `simulations` draws (by default 999, or 199 for labels); `refit` fits
    the model again for each of them. `by="published"` uses the published rule instead: chi-squared with one degree of
    freedom per answer; `simulations` then adds the simulated null for information. More than `at_most` participants are
    refused, because the model is fitted without each of them, and so are labels with refits of more than ten seconds,
    unless `at_most` is set. `only` limits the analysis to some participants. `executor` runs the fits
    (`karat.executors.open_executor`) and does not change the numbers.

    >>> import karat
    >>> evidence = deletion(karat.simulate.crowd(30, 40, {"random guessing": 3}), by="published")
    >>> print(evidence)
    deletion: 4 of 30 participants flagged.
    """
    from scipy.special import chdtrc, chdtri

    from karat.models.credence import beyond_chance, hardly_agree
    from karat.models.glrm import exceedances, predictive_p
    from karat.models.proportions import benjamini_hochberg
    from karat.screen.credence_model import who_agree

    check_settings(DeletionSettings, alpha=alpha, by=by, simulations=simulations)
    answers = crowd(judgments, "deletion")
    simulations = _draws(by, simulations, alpha, OF_LABELS if answers.family == "nominal" else SIMULATIONS)
    names = answers.workers
    places = [place for place, name in enumerate(names) if only is None or name in only]
    _refuse_many(len(places), at_most)
    refuse_large(answers, "deletion")
    if at_most == AT_MOST:
        _refuse_long(answers, len(places))
    model = fit(answers)
    distance, failed = _distances(model, places, executor, progress if not simulations else None)
    df = np.bincount(answers.worker)
    p = np.where(np.isnan(distance), np.nan, chdtrc(df, np.maximum(distance, 0.0)))
    simulated = np.full(len(p), np.nan)
    if simulations:
        redrawing = as_map(executor, name="redrawn answers", progress=progress)
        if refit:
            simulated = exceedances(model, distance, simulations, seed, redrawing)
        else:
            with_distance = [place for place in places if distance[place] == distance[place]]
            simulated = predictive_p(model, with_distance, simulations, seed, redrawing)
    table = pl.DataFrame(
        {
            "participant": names, "distance": distance, "df": df.astype(np.int64), "threshold": chdtri(df, alpha),
            "p_value": p, "p_simulated": simulated, "p_adjusted": benjamini_hochberg(simulated),
        },
        nan_to_null=True,
    )  # fmt: skip
    trials = _as_trials(answers)
    agrees, unclear = pl.Series(beyond_chance(trials) >= ABOVE_CHANCE), ~pl.Series(hardly_agree(trials))
    alike = who_agree(judgments, table.filter(~agrees)["participant"].to_list()) if simulations else []
    table = table.with_columns(
        _spared=pl.when(agrees | table["participant"].is_in(alike)).then(pl.lit("deletion.agrees"))
        .when(agrees.sum() < USUAL * len(agrees)).then(pl.lit("deletion.hard"))
        .when(unclear | (pl.col("df") < FEWEST)).then(pl.lit("deletion.few"))
    )  # fmt: skip
    notes = _notes(answers, model.notes, failed, table, alpha, by)
    settings = {"alpha": alpha, "simulations": simulations, "seed": seed, "at_most": at_most, "by": by, "refit": refit}
    participants = _evidence(judgments, table, alpha, by)
    return Deletion(participants, "deletion", settings, notes, log_likelihood=model.log_likelihood)


def _with_distances(participants: pl.DataFrame) -> pl.DataFrame:
    compared = participants.filter(pl.col("distance").is_not_null())
    if not compared.height:
        raise KaratError("There are no distances to draw: nobody gave answers that could be compared.")
    return compared


def _refuse_many(people: int, at_most: int) -> None:
    """Raise ScreenError if there are more participants than allowed."""
    if people > at_most:
        raise ScreenError(Message("deletion.too_many", {"participants": people, "at_most": str(people)}))


def _refuse_long(answers: Crowd, people: int) -> None:
    """Raise ScreenError if refitting the model of labels would take minutes, unless `at_most` allows it."""
    seconds = labels_take(answers) * people / REFITS
    if seconds > LONG:
        labels = answers.rows["_code"].n_unique()
        values = {"labels": labels, "minutes": max(round(seconds / 60), 1), "at_most": str(people)}
        raise ScreenError(Message("deletion.takes_long", values))


def _draws(by: str, simulations: int, alpha: float, usual: int) -> int:
    """The draws of the simulated null; raises ScreenError if they are too few to decide."""
    if by == "published":
        return simulations
    draws = simulations or max(usual, int(np.floor(1 / alpha)))
    if alpha * (1 + draws) <= 1:
        least = int(np.floor(1 / alpha))
        raise ScreenError(Message("deletion.too_few", {"simulations": draws, "alpha": alpha, "least": least}))
    return draws


def _distances(
    model: Fit | NominalFit, places: list[int], executor: Executor, progress: Progress | None
) -> tuple[NDArray[np.float64], int]:
    """The distances of some workers, NaN for the others, and how many refits did not converge."""
    from karat.models.glrm.deletion import without

    distance, failed = np.full(len(model.workers), np.nan), 0
    refits = as_map(executor, name="deletion", progress=progress)(partial(without, model, "worker"), places)
    for place, refit in zip(places, refits, strict=True):
        distance[place] = 2 * (refit.log_likelihood - model.log_likelihood)
        failed += not refit.converged
    return distance, failed


def _as_trials(answers: Crowd) -> CredenceTrials:
    """The answers in the form that the tests of agreement take."""
    from karat.models.credence import CredenceTrials, ScaleTrials

    place = answers.rows.select(pl.int_range(pl.len()).over("_worker")).to_series().to_numpy()
    at = (answers.worker, place)
    task, code = (np.full((at[0].max() + 1, place.max() + 1), nothing, dtype=np.int64) for nothing in (0, -1))
    task[at], code[at] = answers.task, answers.response
    part = ScaleTrials(
        task, code, code, int(task.max()) + 1, len(answers.categories), ordered=answers.family != "nominal"
    )
    return CredenceTrials((part,), in_sequence=False)


def _evidence(judgments: Judgments, table: pl.DataFrame, alpha: float, by: By) -> pl.DataFrame:
    """The table of participants with their verdicts and reasons."""
    table = everybody(judgments).join(table, on="participant", how="left", maintain_order="left")
    distance, limit, p = pl.col("distance"), pl.col("threshold"), pl.col("p_simulated")
    score, threshold, flagged = distance, limit, pl.col("p_value") < alpha
    if by == "simulated":
        score, threshold = p, pl.when(p.is_not_null()).then(alpha)
        flagged = (p < alpha) & pl.col("_spared").is_null()
    message = (
        pl.when(distance.is_null()).then(pl.lit("deletion.not_compared"))
        .when(p.is_null() | (by == "published")).then(pl.lit("deletion.published"))
        .when(p >= alpha).then(pl.lit("deletion.usual")).otherwise(pl.coalesce("_spared", pl.lit("deletion.unusual")))
    )  # fmt: skip
    values = {
        "answers": pl.col("df"), "distance": round_beside(distance, limit, 1), "limit": limit,
        "p": pl.when(p >= SMALLEST_P).then(round_beside(p, pl.lit(alpha), 3)),
        "p_below": pl.when(p < SMALLEST_P).then(pl.lit(SMALLEST_P)), "alpha": pl.lit(alpha),
    }  # fmt: skip
    compared = {name: pl.when(distance.is_not_null()).then(value) for name, value in values.items()}
    further = ("distance", "df", "p_value", "p_simulated", "p_adjusted")
    return verdicts(table, score, threshold, flagged, message, compared, *further)


def _notes(
    answers: Crowd,
    of_model: tuple[Message, ...],
    failed: int,
    table: pl.DataFrame,
    alpha: float,
    by: By,
) -> tuple[Message, ...]:
    notes = [*answers.notes, *of_model]
    if by == "published" and (table["p_value"] < alpha).sum() > MANY * table.height:
        notes.append(Message("deletion.flags_most"))
    if failed:
        notes.append(Message("deletion.not_converged", {"participants": failed}))
    if table["p_simulated"].null_count() == table.height:
        notes.append(Message("deletion.no_test"))
    return tuple(notes)


def deletion_windows(
    judgments: Judgments,
    width: int,
    step: int | None = None,
    alpha: float = ALPHA,
    at_most: int = AT_MOST,
    *,
    progress: Progress | None = None,
    executor: Executor = SERIAL,
) -> pl.DataFrame:
    """The deletion analysis within sliding windows of trials, which shows changes half-way (appendix C).

    A window has `width` consecutive answers of each participant, in their order of presentation; windows begin `step`
    answers apart (by default half the width). Windows are compared by the published rule. One row per participant and
    window: first, last, distance, df, p_value, flagged. A participant without answers in a window has no row for it. If
    the answers of a window cannot be compared, such as those of a single participant, distance, df and p_value are
    missing. `at_most` is that of `deletion`.

    Parameters
    ----------
    width
        The number of answers in a window.
    step
        How many answers windows begin apart; by default half the width.

    >>> import karat
    >>> windows = deletion_windows(karat.simulate.crowd(20, 24), width=12, step=12)
    >>> windows.columns
    ['participant', 'first', 'last', 'distance', 'df', 'p_value', 'flagged']
    """
    stride = max(width // 2, 1) if step is None else step
    if width < 2 or stride < 1:
        raise ScreenError(Message("deletion.windows"))
    check_order(judgments.frame.columns, ScreenError, "deletion_windows")
    answers = crowd(judgments, "deletion_windows")
    _refuse_many(len(answers.workers), at_most)
    number_of = pl.int_range(1, pl.len() + 1).over("participant")
    frame = answers.rows.drop("_worker", "_stimulus", "_code").with_columns(_place=number_of)
    longest = int(frame.select(pl.col("_place").max()).item())
    starts = list(range(1, max(longest - width, 0) + 2, stride))
    if starts[-1] + width <= longest:
        starts.append(longest - width + 1)
    tables, refused = [], []
    for number, first in enumerate(starts):
        part = Judgments(
            frame.filter(pl.col("_place").is_between(first, first + width - 1)).drop("_place"), judgments.scales
        )
        try:
            results = deletion(part, alpha, at_most=at_most, by="published", executor=executor).participants
        except ScreenError as error:
            refused.append(error)
            results = everybody(part).with_columns(NOT_COMPARED)
        place = (pl.lit(first).alias("first"), pl.lit(first + width - 1).alias("last"))
        tables.append(results.select("participant", *place, "distance", "df", "p_value", "flagged"))
        if progress is not None:
            progress(number + 1, len(starts))
    if len(refused) == len(starts):
        raise refused[0]
    people = pl.DataFrame({"participant": answers.workers}).with_row_index("_order")
    together = pl.concat(tables).join(people, on="participant", how="left")
    return together.sort("_order", "first").drop("_order")


CRITERION = Criterion(
    name="deletion",
    title="Change of the model",
    asks="who changes the model of all answers most",
    settings=DeletionSettings,
    computed_by=deletion,
    in_tasks=True,
    of_the_study=("seed", "simulations", "at_most", "refit"),
    cites=("ba2024",),
    alternatives=(
        Alternative("simulated, .05", {"alpha": 0.05}, "what is usual for these items"),
        Alternative("simulated, .01", {"alpha": 0.01}, "strict"),
        Alternative("published, .05", {"by": "published"}, "Ba, Mancenido, Chiou and Pan"),
        left_out(),
    ),
)
