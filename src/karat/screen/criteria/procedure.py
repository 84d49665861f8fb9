"""The procedure: figure 10 of Ba, Mancenido, Chiou and Pan from end to end, with each participant's path through it.

1. Spammer Index: if it is .10 or more, about SI x N workers deserve a look. Below that, the procedure ends, unless
   `least_index=0`.
2. CrowdCriterion 1, the Markov criterion: do the answers follow a pattern?
3. An auxiliary factor: time below the cutoff of `rule`, accuracy below it, completeness, or any evidence of yours.
4. CrowdCriterion 2, deletion analysis: does the model of everybody's answers change when the worker is left out?

As in the paper, participants are flagged if they meet the auxiliary factor and both criteria. The criteria look for
different behaviour, and hardly anybody may meet both: of the 29 and 6 workers that they flag in the authors' MTurk
data, nobody does. `verdict="any criterion"` (with `candidates_only=False`) flags participants who meet one of them
and the auxiliary factor.

The paper leaves some choices open. Deletion may come first, one criterion may be used alone, the auxiliary factor may
be another or none, and the steps after the first may look at candidates only (participants who met all earlier steps)
or at all workers. The last choice changes what is known of participants, but not who meets every step. Accuracy needs
a key, which is checked first (`karat.screen.gold`); items where it disagrees with a near-unanimous crowd do not
count, unless `doubtful="counted"`. If no right answers are recorded, accuracy is agreement with the majority, as in
`karat.screen.criteria.risk`, and a note says so.

Deletion follows the published rule (chi-squared with as many degrees of freedom as answers) unless
`deletion_simulations` asks for the simulated null, which then decides. The published settings are `cutoffs="published",
rule="mean"`.

A participant who cannot be judged by a step does not go on; the path says so, and a note counts such cases. The
procedure summarises signs in the answers. It does not say what a participant did or why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal

import polars as pl
from pydantic import Field

from karat.executors import SERIAL, Executor
from karat.judgments import Judgments
from karat.judgments.answer_codes import answered
from karat.judgments.message_tables import with_reasons
from karat.messages import Message, message_of, render
from karat.models.markov import Strategy
from karat.screen.criteria.completion import completion
from karat.screen.criteria.deletion import ALPHA, By, deletion
from karat.screen.criteria.markov import SIMULATIONS, Cutoffs, markov
from karat.screen.criteria.risk import accuracy_of
from karat.screen.criteria.time_filter import evened, time_filter
from karat.screen.crowd import SUSPICIOUS
from karat.screen.crowd.gold import Doubtful, Gold, gold, has_key
from karat.screen.evidence import Evidence, ScreenError, check_settings, everybody, round_beside, with_messages
from karat.study.criterion import Alternative, Criterion, CriterionSettings, left_out
from karat.types import Progress

if TYPE_CHECKING:
    from karat.screen.crowd.spammer_index import SpammerIndex


CrowdCriterion = Literal["markov", "deletion"]
Auxiliary = Literal["time", "accuracy", "completeness", "none"]
Rule = Literal["mean", "mean-sd"]
Verdict = Literal["every step", "any criterion"]
Judge = Callable[[list[str]], Evidence]
Order = Literal["markov first", "deletion first"]


class ProcedureSettings(CriterionSettings):
    """Settings for flagging participants by the crowd index, criteria of answers and an auxiliary factor in turn."""

    order: Order = Field(
        "markov first", description="Which criterion comes first; the auxiliary factor comes between them."
    )
    criteria: list[CrowdCriterion] | None = Field(
        None, min_length=1, description="One of the two criteria alone, in a list; by default both."
    )
    candidates_only: bool = Field(
        True, description="Whether later steps look at those who met all steps before, or at everybody."
    )
    auxiliary: Auxiliary = Field("time", description="The auxiliary factor, or none.")
    cutoffs: Cutoffs = Field(
        "simulated", description="Cutoffs of markov: simulated for this design, or those of the paper for two answers."
    )
    alpha: float = Field(ALPHA, gt=0, lt=1, description="Alpha of both criteria.")
    rule: Rule = Field(
        "mean-sd", description="Time or accuracy is low below the mean, or one standard deviation below."
    )
    strategy: Strategy = Field("rows", description="The strategy of markov.")
    verdict: Verdict = Field(
        "every step",
        description="Flagged is who meets every step, or any criterion and the auxiliary factor "
        "(with candidates_only = false).",
    )
    least_index: float = Field(
        SUSPICIOUS, ge=0, le=1, description="The Spammer Index below which nobody is looked at; 0 looks at everybody."
    )
    doubtful: Doubtful = Field(
        "left out", description="Whether items whose right answer disagrees with nearly everybody count as accuracy."
    )
    time_limit: float | None = Field(
        None, ge=0, description="The time limit of a trial in seconds, which rules out time; 0 if there was none."
    )
    simulations: int = Field(SIMULATIONS, ge=1, description="How many credible participants are simulated for markov.")
    deletion_simulations: int = Field(
        0, ge=0, description="How many draws the simulated null of deletion has; it decides where there is one."
    )
    seed: int = Field(1, ge=0, description="The seed of the simulations.")


PLACES = ("first", "second", "third")
"""The steps after the index, in the values of a message."""
GOES_ON, INDEX = "goes on", {True: "procedure.index_reached", False: "procedure.index_below"}
"""The outcome of candidates, and the message about the index: whether it is high enough."""
NO_MESSAGE = pl.Struct({"message": pl.String, "values": pl.Struct({"text": pl.String})})


@dataclass(frozen=True)
class Procedure(Evidence):
    """The verdict of the procedure. The score is the number of steps met, the threshold the number of steps."""

    path: pl.DataFrame = field(default_factory=pl.DataFrame)
    """One row per participant and step: participant, step, outcome, message, values.

    Outcomes are goes on, cleared, not judged, noted (no longer a candidate) and flagged."""
    flow: pl.DataFrame = field(default_factory=pl.DataFrame)
    """One row per step: step, entered, met."""
    index: SpammerIndex | None = None
    steps: dict[str, Evidence] = field(default_factory=dict)
    """The evidence of each step by name; deletion covers the participants it was computed for."""
    gold: Gold | None = None
    """The check of the key, if accuracy is used and right answers are recorded."""

    def path_table(self, language: str = "en") -> pl.DataFrame:
        """The path with its messages as sentences: participant, step, outcome, reason."""
        return with_reasons(self.path, language)

    def path_of(self, participant: str, language: str = "en") -> str:
        """One participant's path in words.

        >>> import karat
        >>> evidence = procedure(karat.datasets.load("crowd"), cutoffs="published", rule="mean")
        >>> print(evidence.path_of("w002"))
        w002: index, goes on (.105 of the variance lies between participants, at or above .100);
          markov, cleared (no pattern...);
          verdict, cleared (met 0 of 3 steps)
        """
        self.row_of(participant)
        steps = []
        for _, step, outcome, code, values in self.path.filter(pl.col("participant") == participant).iter_rows():
            step_values = {"step": step, "outcome": outcome, "why": Message(code, values or {})}
            steps.append(render(Message("procedure.outcome", step_values), language))
        return f"{participant}: " + ";\n  ".join(steps)

    @property
    def summary(self) -> tuple[Message, ...]:
        """The number flagged, the Spammer Index, and the number who go on from each step."""
        flagged = {"criterion": self.criterion, "flagged": len(self.flagged), "participants": self.participants.height}
        return (
            Message("screening.flagged", flagged),
            *(() if self.index is None else self.index.summary),
            *(Message("procedure.go_on", row) for row in self.flow.iter_rows(named=True)),
        )

    def __str__(self) -> str:
        return "\n".join(map(str, self.summary))


def procedure(
    judgments: Judgments,
    order: Order = "markov first",
    criteria: Sequence[CrowdCriterion] | None = None,
    candidates_only: bool = True,
    auxiliary: Auxiliary | Evidence | None = "time",
    cutoffs: Cutoffs = "simulated",
    alpha: float = ALPHA,
    rule: Rule = "mean-sd",
    strategy: Strategy = "rows",
    verdict: Verdict = "every step",
    least_index: float = SUSPICIOUS,
    doubtful: Doubtful = "left out",
    time_limit: float | None = None,
    simulations: int = SIMULATIONS,
    deletion_simulations: int = 0,
    seed: int = 1,
    *,
    progress: Progress | None = None,
    executor: Executor = SERIAL,
) -> Procedure:
    """Spammer Index, first criterion, auxiliary factor, second criterion and verdict, for every worker.

    Parameters
    ----------
    criteria
        One of the two criteria alone, in a list; by default both.
    auxiliary
        The auxiliary factor, or evidence of your own; None, or "none" in a study file, leaves it out.
    cutoffs
        As in `markov`.
    rule
        Whether times and accuracies are flagged below the mean, or below it by one standard deviation.
    strategy
        As in `markov`.
    verdict
        Whether every step must be met, or any criterion and the auxiliary factor (with candidates_only = false).
    simulations
        As in `markov`.
    progress
        A function that gets the number of deletions done.

    >>> import karat
    >>> print(procedure(karat.datasets.load("crowd"), cutoffs="published", rule="mean"))
    procedure: 4 of 120 participants flagged.
    Spammer Index .105 [.068, .156]: about 13 of 120 participants may have answered without regard to the items.
    markov: 15 of 120 go on.
    time: 11 of 15 go on.
    deletion: 4 of 11 go on.
    """
    criteria = ("markov", "deletion") if criteria is None else criteria
    auxiliary = None if auxiliary == "none" else auxiliary
    check_settings(
        ProcedureSettings, order=order, criteria=criteria, alpha=alpha, rule=rule, verdict=verdict,
        least_index=least_index, doubtful=doubtful,
    )  # fmt: skip
    if verdict == "any criterion" and candidates_only:
        raise ScreenError(Message("procedure.verdict"))
    if isinstance(auxiliary, Evidence):
        if auxiliary.criterion in ("markov", "deletion"):
            raise ScreenError(Message("procedure.same_criterion"))
    else:
        check_settings(ProcedureSettings, auxiliary=auxiliary or "none")
    checked = gold(judgments) if auxiliary == "accuracy" and has_key(answered(judgments)) else None
    judges: dict[str, Judge] = {
        "markov": lambda _: markov(judgments, cutoffs, alpha, strategy, seed, simulations, executor=executor),
        "deletion": lambda chosen: _deletion(judgments, chosen, alpha, deletion_simulations, seed, progress, executor),
    }
    first_to_last = ["markov", "deletion"] if order == "markov first" else ["deletion", "markov"]
    names: list[str] = [name for name in first_to_last if name in criteria]
    if auxiliary is not None:
        name = auxiliary.criterion if isinstance(auxiliary, Evidence) else auxiliary
        names.insert(1, name)
        judges[name] = lambda _: _auxiliary(judgments, auxiliary, rule, doubtful, time_limit)
    index = _index(judgments, seed)
    people = everybody(judgments)["participant"].to_list()
    enough = index.value >= least_index
    candidates, evidence, outcomes, flow = people if enough else [], {}, {}, []
    for name in names:
        judged = candidates if candidates_only or not enough else people
        entered, candidates = len(candidates), candidates if judged else []
        # Nothing is computed if the index stopped the procedure or no candidates remain.
        if judged:
            evidence[name] = judges[name](judged)
            outcomes[name] = _outcomes(evidence[name], judged, candidates)
            candidates = outcomes[name].filter(outcome=GOES_ON)["participant"].to_list()
        flow.append((name, entered, len(candidates)))
    value = round_beside(pl.lit(index.value), pl.lit(least_index), 3)
    of_index = [value.alias("index"), pl.lit(least_index).alias("least")]
    walk = _Walk(names, outcomes, verdict, enough, of_index)
    together = walk.together(people)
    settings = {
        "order": order, "criteria": list(criteria), "candidates_only": candidates_only,
        "auxiliary": auxiliary.criterion if isinstance(auxiliary, Evidence) else auxiliary or "none",
        "cutoffs": cutoffs,
        "alpha": alpha, "rule": rule, "strategy": strategy, "verdict": verdict, "least_index": least_index,
        "doubtful": doubtful, "time_limit": time_limit, "simulations": simulations,
        "deletion_simulations": deletion_simulations, "seed": seed,
    }  # fmt: skip
    notes = [Message("procedure.stopped", {"least": least_index})] * (not enough)
    notes += [
        Message("procedure.note", {"step": name, "note": note})
        for name, of_step in evidence.items() for note in of_step.notes
    ]  # fmt: skip
    silent = {name: rows.filter(outcome="not judged").height for name, rows in outcomes.items()}
    notes += [Message("procedure.not_judged", {"step": name, "participants": n}) for name, n in silent.items() if n]
    # Steps that judged all participants can be compared with the index.
    whole = {name: of_step for name, of_step in evidence.items() if of_step.participants.height == len(people)}
    index = index.beside({name: len(of_step.flagged) for name, of_step in whole.items()})
    schema = {"step": pl.String, "entered": pl.Int64, "met": pl.Int64}
    return Procedure(
        walk.verdicts(together), "procedure", settings, tuple(notes), None, walk.path(together),
        pl.DataFrame(flow, schema=schema, orient="row"), index, evidence, checked,
    )  # fmt: skip


def _index(judgments: Judgments, seed: int) -> SpammerIndex:
    """The index of the first step; if the model refuses the answers, its message is shown like any other."""
    from karat.screen.crowd.spammer_index import spammer_index

    try:
        return spammer_index(judgments, seed=seed)
    except ScreenError as error:
        raise ScreenError(Message("procedure.no_index", {"why": message_of(error)})) from None
    except ValueError as error:
        raise ScreenError(Message("procedure.no_model", {"why": str(error)})) from None


def _auxiliary(
    judgments: Judgments, auxiliary: Auxiliary | Evidence, rule: Rule, doubtful: Doubtful, time_limit: float | None
) -> Evidence:
    if isinstance(auxiliary, Evidence):
        return auxiliary
    if auxiliary == "time":
        return time_filter(judgments, rule, time_limit=time_limit)
    return completion(judgments) if auxiliary == "completeness" else accuracy_step(judgments, rule, doubtful)


def accuracy_step(judgments: Judgments, rule: Rule, doubtful: Doubtful) -> Evidence:
    """The share of right answers of each participant; flagged below the mean, or one standard deviation below it."""
    rows = answered(judgments)
    keyed = "correct" in rows.columns or has_key(rows)
    shares, _, notes = accuracy_of(judgments, "procedure", doubtful)
    shares = shares.select("participant", score=evened(pl.col("share_right")))
    table = everybody(judgments).join(shares, on="participant", how="left", maintain_order="left")
    middle = pl.col("score").mean() - (pl.col("score").std().fill_null(0.0) if rule == "mean-sd" else 0.0)
    table = table.with_columns(threshold=evened(middle))
    below = (pl.col("score") < pl.col("threshold")).fill_null(False)
    code = pl.when(below).then(pl.lit("accuracy.right_below")).otherwise(pl.lit("accuracy.right"))
    if not keyed:
        code = pl.when(below).then(pl.lit("accuracy.majority_below")).otherwise(pl.lit("accuracy.majority"))
    limit = 100 * pl.col("threshold")
    table = table.with_columns(
        below.alias("flagged"),
        pl.when(pl.col("score").is_null()).then(pl.lit("accuracy.no_key")).otherwise(code).alias("message"),
        pl.struct(
            (100 * pl.col("score")).alias("per_cent"),
            (limit if rule == "mean" else pl.lit(None, pl.Float64)).alias("mean"),
            (limit if rule == "mean-sd" else pl.lit(None, pl.Float64)).alias("mean_sd"),
        ).alias("values"),
    )
    return Evidence(table, "accuracy", {"rule": rule, "doubtful": doubtful}, tuple(notes))


def _deletion(
    judgments: Judgments,
    people: list[str],
    alpha: float,
    simulations: int,
    seed: int,
    progress: Progress | None,
    executor: Executor,
) -> Evidence:
    """Deletion analysis of some workers; the simulated null decides if there is one."""
    by: By = "simulated" if simulations else "published"
    evidence = deletion(
        judgments, alpha, simulations, seed, len(people), by, only=set(people), progress=progress, executor=executor
    )
    rows = evidence.participants.filter(pl.col("participant").is_in(people))
    return replace(evidence, participants=rows)


def _outcomes(evidence: Evidence, judged: list[str], candidates: list[str]) -> pl.DataFrame:
    """The participants that a step judges: participant, outcome, met, and why, the message of the evidence."""
    table = with_messages(evidence.participants)
    fields = table.schema["values"].to_schema()  # type: ignore[attr-defined]
    nothing = pl.struct(pl.lit(None, kind).alias(name) for name, kind in fields.items())
    lacking = pl.struct(pl.lit("procedure.not_in_evidence").alias("message"), nothing.alias("values"))
    why = pl.when(pl.col("message").is_not_null()).then(pl.struct("message", "values"))
    results = table.select("participant", "score", "flagged", _why=why, _known=True)
    met = pl.col("flagged").fill_null(False)
    outcome = (
        pl.when(~pl.col("participant").is_in(candidates)).then(pl.lit("noted")).when(met).then(pl.lit(GOES_ON))
        .when(pl.col("score").is_null()).then(pl.lit("not judged")).otherwise(pl.lit("cleared"))
    )  # fmt: skip
    people = pl.DataFrame({"participant": judged}, schema={"participant": pl.String})
    return people.join(results, on="participant", how="left", maintain_order="left").select(
        "participant", outcome=outcome, met=met, why=pl.when("_known").then("_why").otherwise(lacking)
    )


@dataclass(frozen=True)
class _Walk:
    """The outcomes of all steps."""

    names: list[str]
    outcomes: dict[str, pl.DataFrame]
    rule: Verdict
    enough: bool
    """Whether the index is high enough to begin."""
    of_index: list[pl.Expr]
    """The values of a message about the index."""

    def together(self, people: list[str]) -> pl.DataFrame:
        """One row per participant with the message, name, outcome and verdict of every step, and the whole verdict."""
        table = pl.DataFrame({"participant": people}, schema={"participant": pl.String})
        nothing = pl.DataFrame(
            schema={"participant": pl.String, "why": NO_MESSAGE, "outcome": pl.String, "met": pl.Boolean}
        )
        for place, name in zip_longest(PLACES, self.names):
            rows = self.outcomes.get(name or "", nothing)
            columns = {"why": place, "outcome": f"{place}_outcome", "met": f"{place}_met"}
            rows = rows.rename(columns).with_columns(pl.lit(name, pl.String).alias(f"{place}_step"))
            table = table.join(rows, on="participant", how="left", maintain_order="left")
        met = {name: pl.col(f"{place}_met").fill_null(False) for place, name in zip(PLACES, self.names, strict=False)}
        flagged = pl.all_horizontal((pl.col(f"{place}_outcome") == GOES_ON).fill_null(False)
                                    for place, _ in zip(PLACES, self.names, strict=False))  # fmt: skip
        if self.rule == "any criterion":
            criteria = [met[name] for name in self.names if name in ("markov", "deletion")]
            others = [met[name] for name in self.names if name not in ("markov", "deletion")]
            flagged = pl.any_horizontal(criteria) & pl.all_horizontal(pl.lit(True), *others)
        return table.with_columns(flagged=flagged, met=pl.sum_horizontal(met.values()).cast(pl.Int64))

    def verdicts(self, together: pl.DataFrame) -> pl.DataFrame:
        """The table of participants; `ended` is the first step at which a participant did not go on."""
        criteria = [name for name in self.names if name in ("markov", "deletion")]
        needed = float(len(self.names) - (len(criteria) - 1 if self.rule == "any criterion" else 0))
        steps = [f"{place}_step" for place in PLACES]
        ends = [pl.when(pl.col(f"{place}_outcome") != GOES_ON).then(f"{place}_step") for place in PLACES]
        ended = pl.coalesce(*ends, pl.lit("verdict")) if self.enough else pl.lit("index")
        judged = pl.any_horizontal(pl.col(step).is_not_null() for step in steps)
        return together.select(
            "participant", pl.col("met").cast(pl.Float64).alias("score"), pl.lit(needed).alias("threshold"), "flagged",
            pl.when(judged).then(pl.lit("procedure.steps")).otherwise(pl.lit(INDEX[self.enough])).alias("message"),
            pl.struct(*self.of_index, *PLACES, *steps).alias("values"), ended.alias("ended"),
        )  # fmt: skip

    def path(self, together: pl.DataFrame) -> pl.DataFrame:
        """One row per participant and step, with the message of the step and its values."""
        verdict = pl.when("flagged").then(pl.lit("flagged")).otherwise(pl.lit("cleared"))
        steps = [("index", pl.lit(GOES_ON if self.enough else "cleared"), INDEX[self.enough])]
        steps += [(name, pl.col(f"{place}_outcome"), "procedure.why")
                  for place, name in zip(PLACES, self.names, strict=False)]  # fmt: skip
        steps += [("verdict", verdict, "procedure.met")]
        parts = []
        for number, (step, outcome, code) in enumerate(steps):
            here = PLACES[number - 1] if 0 < number < len(steps) - 1 else None
            messages = [pl.when(pl.lit(place == here)).then(place).alias(place) for place in PLACES]
            values = pl.struct(*self.of_index, "met", pl.lit(len(self.names), pl.Int64).alias("steps"), *messages)
            rows = together.with_row_index("_row").select(
                "participant", "_row", step=pl.lit(step), outcome=outcome, message=pl.lit(code), values=values
            )
            parts.append(rows.drop_nulls("outcome"))
        return pl.concat(parts).sort("_row", maintain_order=True).drop("_row")


CRITERION = Criterion(
    name="procedure",
    title="Steps for crowds",
    asks="who meets all steps of the procedure for crowds",
    settings=ProcedureSettings,
    computed_by=procedure,
    in_tasks=True,
    unasked=False,
    careless=False,
    cites=("ba2024",),
    of_the_study=("seed", "simulations", "deletion_simulations", "time_limit", "auxiliary"),
    alternatives=(
        Alternative("every step", {}, "Ba, Mancenido, Chiou and Pan, figure 10"),
        Alternative(
            "any criterion",
            {"verdict": "any criterion", "candidates_only": False},
            "lenient towards the two criteria",
        ),
        Alternative("below the mean", {"rule": "mean"}, "Ba, Mancenido, Chiou and Pan, table 2"),
        left_out(),
    ),
)
