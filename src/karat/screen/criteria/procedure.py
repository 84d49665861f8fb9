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
from typing import TYPE_CHECKING, Any, Literal

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
    walk = ProcedureSteps(people, names, verdict)
    walk.begin(index, least_index)
    for name in names:
        walk.step(name, judges[name], candidates_only)
    settings = {
        "order": order, "criteria": list(criteria), "candidates_only": candidates_only,
        "auxiliary": auxiliary.criterion if isinstance(auxiliary, Evidence) else auxiliary or "none",
        "cutoffs": cutoffs,
        "alpha": alpha, "rule": rule, "strategy": strategy, "verdict": verdict, "least_index": least_index,
        "doubtful": doubtful, "time_limit": time_limit, "simulations": simulations,
        "deletion_simulations": deletion_simulations, "seed": seed,
    }  # fmt: skip
    notes = tuple(walk.notes(index, least_index))
    table = walk.verdict()
    # Steps that judged all participants can be compared with the index.
    whole = {name: evidence for name, evidence in walk.steps.items() if evidence.participants.height == len(people)}
    index = index.beside({name: len(evidence.flagged) for name, evidence in whole.items()})
    return Procedure(
        table, "procedure", settings, notes, None, walk.path(table), walk.flow(), index, walk.steps, checked
    )


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


class ProcedureSteps:
    """The remaining candidates, and the outcomes of all participants so far."""

    def __init__(self, people: list[str], names: list[str], rule: Verdict) -> None:
        self.people, self.names, self.rule = people, names, rule
        self.candidates, self.stopped = list(people), False
        self.steps: dict[str, Evidence] = {}
        self._outcomes: dict[str, list[tuple[str, str]]] = {name: [] for name in people}
        self._met: dict[str, set[str]] = {name: set() for name in people}
        self._flow: list[tuple[str, int, int]] = []
        self._silent: dict[str, int] = {}
        self._index: dict[str, Any] = {}

    def begin(self, index: SpammerIndex, least: float) -> None:
        enough = index.value >= least
        for name in self.people:
            self._outcomes[name].append(("index", "goes on" if enough else "cleared"))
        code = "procedure.index_reached" if enough else "procedure.index_below"
        value = pl.select(round_beside(pl.lit(index.value), pl.lit(least), 3)).item()
        self._index = {"message": code, "values": {"index": value, "least": least}}
        self.candidates, self.stopped = list(self.people) if enough else [], not enough

    def step(self, name: str, judge: Judge, candidates_only: bool) -> None:
        """Judge the candidates, or everybody; participants who meet the step remain candidates."""
        judged = self.candidates if candidates_only else self.people
        if self.stopped or not judged:
            # Nothing is computed, because the index stopped the procedure or no candidates remain.
            self._flow.append((name, 0, 0))
            return
        evidence = judge(judged)
        self.steps[name] = evidence
        rows = {row[0]: row[1:] for row in evidence.participants.select("participant", "flagged", "score").iter_rows()}
        still, met = set(self.candidates), []
        for person in judged:
            flagged, score = rows.get(person, (False, None))
            self._met[person] |= {name} if flagged else set()
            silent = score is None and not flagged
            if person in still:
                self._silent[name] = self._silent.get(name, 0) + silent
                outcome = "not judged" if silent else "goes on" if flagged else "cleared"
                met += [person] if flagged else []
            else:
                outcome = "noted"
            self._outcomes[person].append((name, outcome))
        self._flow.append((name, len(self.candidates), len(met)))
        self.candidates = met

    def verdict(self) -> pl.DataFrame:
        flagged = set(self.candidates)
        if self.rule == "any criterion":
            others = set(self.names) - {"markov", "deletion"}
            flagged = {person for person, met in self._met.items() if others <= met and met - others}
        criteria = [name for name in self.names if name in ("markov", "deletion")]
        needed = float(len(self.names) - (len(criteria) - 1 if self.rule == "any criterion" else 0))
        rows = []
        for person in self.people:
            ended = next((step for step, outcome in self._outcomes[person] if outcome != "goes on"), "verdict")
            self._outcomes[person].append(("verdict", "flagged" if person in flagged else "cleared"))
            rows.append((person, float(len(self._met[person])), needed, person in flagged, ended))
        schema = {"participant": pl.String, "score": pl.Float64, "threshold": pl.Float64, "flagged": pl.Boolean,
                  "ended": pl.String}  # fmt: skip
        table = self._with_steps(pl.DataFrame(rows, schema=schema, orient="row"))
        index = pl.lit(self._index["values"]["index"]), pl.lit(self._index["values"]["least"])
        values = pl.struct(
            index[0].alias("index"), index[1].alias("least"), *PLACES, *(f"{position}_step" for position in PLACES)
        )
        judged = pl.any_horizontal(pl.col(f"{position}_step").is_not_null() for position in PLACES)
        code = pl.when(judged).then(pl.lit("procedure.steps")).otherwise(pl.lit(self._index["message"]))
        return table.select(
            "participant", "score", "threshold", "flagged", code.alias("message"), values.alias("values"), "ended"
        )

    def _with_steps(self, table: pl.DataFrame) -> pl.DataFrame:
        """The table with the messages of the steps and their names."""
        for number, place in enumerate(PLACES):
            name = self.names[number] if number < len(self.names) else None
            if name not in self.steps:
                table = table.with_columns(
                    pl.lit(None, NO_MESSAGE).alias(place), pl.lit(None, pl.String).alias(f"{place}_step")
                )
                continue
            was_judged = [
                any(step == name for step, _ in self._outcomes[person]) for person in table["participant"].to_list()
            ]
            evidence = with_messages(self.steps[name].participants)
            message = pl.when(pl.col("message").is_not_null()).then(pl.struct("message", "values"))
            fields = evidence.schema["values"].to_schema()  # type: ignore[attr-defined]
            nothing = pl.struct(pl.lit(None, kind).alias(field) for field, kind in fields.items())
            lacking = pl.struct(pl.lit("procedure.not_in_evidence").alias("message"), nothing.alias("values"))
            table = table.join(
                evidence.select("participant", message.alias(place), pl.lit(True).alias("_judged")),
                on="participant", how="left", maintain_order="left",
            )  # fmt: skip
            judged = pl.lit(pl.Series(was_judged, dtype=pl.Boolean))
            table = table.with_columns(
                pl.when(judged & pl.col("_judged").is_null()).then(lacking).when(judged).then(place).alias(place),
                pl.when(judged).then(pl.lit(name)).alias(f"{place}_step"),
            ).drop("_judged")
        return table

    def path(self, verdict: pl.DataFrame) -> pl.DataFrame:
        """One row per participant and step, with the message of the step and its values."""
        places = dict(zip(self.names, PLACES, strict=False))
        rows = [
            (person, step, outcome,
             "procedure.met" if step == "verdict" else "procedure.why" if step in places else None,
             place, len(self._met[person]))
            for person in self.people
            for step, outcome in self._outcomes[person]
            for place in (places.get(step),)
        ]  # fmt: skip
        schema = {"participant": pl.String, "step": pl.String, "outcome": pl.String, "message": pl.String,
                  "_place": pl.String, "met": pl.Int64}  # fmt: skip
        table = pl.DataFrame(rows, schema=schema, orient="row")
        table = table.join(
            verdict.select("participant", pl.col("values").struct.unnest()), on="participant", how="left",
            maintain_order="left",
        )  # fmt: skip
        steps = pl.lit(len(self.names), pl.Int64).alias("steps")
        messages = [pl.when(pl.col("_place") == place).then(place).alias(place) for place in PLACES]
        return table.select(
            "participant", "step", "outcome", pl.col("message").fill_null(self._index["message"]),
            pl.struct("index", "least", "met", steps, *messages).alias("values"),
        )  # fmt: skip

    def flow(self) -> pl.DataFrame:
        schema = {"step": pl.String, "entered": pl.Int64, "met": pl.Int64}
        return pl.DataFrame(self._flow, schema=schema, orient="row")

    def notes(self, index: SpammerIndex, least: float) -> list[Message]:
        notes = []
        if index.value < least:
            notes.append(Message("procedure.stopped", {"least": least}))
        for name, evidence in self.steps.items():
            notes += [Message("procedure.note", {"step": name, "note": note}) for note in evidence.notes]
        for name, number in self._silent.items():
            if number:
                notes.append(Message("procedure.not_judged", {"step": name, "participants": number}))
        return notes


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
