"""The procedure: figure 10 of Ba, Mancenido, Chiou and Pan from end to end, with everybody's path through it.

1. Spammer Index: at .10 and above, about SI x N workers deserve a look. Below it nobody is looked at further, unless
   `least_index=0`.
2. Criterion 1, the Markov criterion: do the answers follow a pattern?
3. An auxiliary factor: time below the cutoff of `rule`, accuracy below it, completeness, or any evidence of yours.
4. Criterion 2, deletion analysis: does the model of everybody's answers change when the worker is left out?

Flagged is who meets the auxiliary factor and both criteria, as the paper has it. The criteria look for different
things, and hardly anybody may meet both: of the 29 and 6 workers whom they flag in the authors' MTurk data, nobody
does. `verdict="any criterion"` (with `candidates_only=False`) flags who meets one of them and the auxiliary factor.

The paper leaves freedom, and so does this function: deletion may come first, one criterion may stand alone, the
auxiliary factor may be another or none, and the steps after the first may look at candidates only (those whom all steps
before have left) or at all workers. The last changes what is known of everybody, not who meets every step. Where
accuracy is used, the key is checked first (`karat.screen.gold`); items on which it disagrees with a near-unanimous
crowd do not count, unless `doubtful="counted"`. Where no right answers are recorded, accuracy is agreement with the
majority, as in `karat.screen.risk`, and a note says so.

Deletion follows the published rule (chi-squared with as many degrees of freedom as answers) unless
`deletion_simulations` asks for the simulated null, which is then what decides. The published settings are
`cutoffs="published", rule="mean"`.

Who cannot be judged by a step does not go on; their path says so, and a note counts them. The procedure sums up signs
in the answers. It does not say what somebody did or why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import polars as pl

from karat.columns import nearest
from karat.errors import counted
from karat.judgments import Judgments
from karat.models.markov import Strategy
from karat.screen.answer_table import exact, without_zero
from karat.screen.completion import completion
from karat.screen.deletion import ALPHA, By, Progress, deletion
from karat.screen.evidence import Evidence, ScreenError, everybody
from karat.screen.gold import Doubtful, Gold, check_doubtful, gold, has_key
from karat.screen.markov import SIMULATIONS, markov
from karat.screen.positions import answered
from karat.screen.risk import accuracy_of
from karat.screen.spammer_index import SUSPICIOUS, SpammerIndex, spammer_index
from karat.screen.time_filter import evened, time_filter
from karat.work import HERE, Work

Criterion = Literal["markov", "deletion"]
Auxiliary = Literal["time", "accuracy", "completeness", "none"]
Rule = Literal["mean", "mean-sd"]
Verdict = Literal["every step", "any criterion"]
Judge = Callable[[list[str]], Evidence]


@dataclass(frozen=True)
class Procedure(Evidence):
    """The verdict of the procedure. The score is how many steps somebody met, the threshold how many there are."""

    path: pl.DataFrame = field(default_factory=pl.DataFrame)
    """One row a participant and step: participant, step, outcome, why.

    Outcomes are goes on, cleared and not judged; noted, of those who were no candidates any more; and flagged."""
    flow: pl.DataFrame = field(default_factory=pl.DataFrame)
    """One row a step: step, entered, met."""
    index: SpammerIndex | None = None
    steps: dict[str, Evidence] = field(default_factory=dict)
    """The evidence of each step, by its name; that of deletion of those it was computed for."""
    gold: Gold | None = None
    """The check of the key, where accuracy is used and right answers are recorded."""

    def path_of(self, participant: str) -> str:
        """One participant's path in words.

        >>> import karat
        >>> found = procedure(karat.datasets.load("crowd"), cutoffs="published", rule="mean")
        >>> print(found.path_of("w002"))
        w002: index, goes on (.105 of the variance lies between participants, at or above .100);
          markov, cleared (no pattern: ...);
          verdict, cleared (met 0 of 3 steps)
        """
        rows = self.path.filter(pl.col("participant") == participant)
        if not rows.height:
            close = nearest(participant, self.participants["participant"].to_list())
            mend = f"; is {close} meant?" if close else "."
            raise ScreenError(f"procedure: there is no participant {participant}{mend}")
        told = [f"{step}, {outcome} ({why})" for _, step, outcome, why in rows.iter_rows()]
        return f"{participant}: " + ";\n  ".join(told)

    def __str__(self) -> str:
        lines = [super().__str__(), str(self.index)]
        lines += [f"{step}: {met:,} of {entered:,} go on." for step, entered, met in self.flow.iter_rows()]
        return "\n".join(lines)


def procedure(
    judgments: Judgments,
    order: Literal["markov first", "deletion first"] = "markov first",
    criteria: Sequence[Criterion] | None = None,
    candidates_only: bool = True,
    auxiliary: Auxiliary | Evidence | None = "time",
    cutoffs: Literal["simulated", "published"] = "simulated",
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
    work: Work = HERE,
) -> Procedure:
    """Spammer Index, first criterion, auxiliary factor, second criterion and verdict, for every worker.

    `criteria` names the criteria where it is not both, as a list. An auxiliary factor of None is none, which study
    files write "none". `cutoffs`, `strategy` and `simulations` are those of `markov`; `rule` is that of time and
    accuracy, below the mean or one standard deviation below it; `progress` is told how many deletions are done.

    >>> import karat
    >>> print(procedure(karat.datasets.load("crowd"), cutoffs="published", rule="mean"))
    procedure: 4 of 120 participants flagged.
    Spammer Index .105 [.068, .156]: about 13 of 120 participants may have answered without regard to the task.
    markov: 15 of 120 go on.
    time: 11 of 15 go on.
    deletion: 4 of 11 go on.
    """
    criteria = ("markov", "deletion") if criteria is None else criteria
    auxiliary = None if auxiliary == "none" else auxiliary
    _check(order, criteria, auxiliary, alpha, rule, least_index)
    check_doubtful(doubtful, "procedure")
    if verdict not in ("every step", "any criterion") or (verdict == "any criterion" and candidates_only):
        raise ScreenError(
            "procedure: the verdict is every step or any criterion; the second needs candidates_only=False, so that "
            "every criterion looks at everybody."
        )
    checked = gold(judgments) if auxiliary == "accuracy" and has_key(answered(judgments)) else None
    judges: dict[str, Judge] = {
        "markov": lambda _: markov(judgments, cutoffs, alpha, strategy, seed, simulations, work=work),
        "deletion": lambda who: _deletion(judgments, who, alpha, deletion_simulations, seed, progress, work),
    }
    first_to_last = ["markov", "deletion"] if order == "markov first" else ["deletion", "markov"]
    names: list[str] = [name for name in first_to_last if name in criteria]
    if auxiliary is not None:
        name = auxiliary.criterion if isinstance(auxiliary, Evidence) else auxiliary
        names.insert(1, name)
        judges[name] = lambda _: _auxiliary(judgments, auxiliary, rule, doubtful, time_limit)
    index = _index(judgments, seed)
    people = everybody(judgments)["participant"].to_list()
    walk = _Walk(people, names, verdict)
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
    return Procedure(
        walk.verdict(), "procedure", settings, notes, None, walk.path(), walk.flow(), index, walk.steps, checked
    )


def _index(judgments: Judgments, seed: int) -> SpammerIndex:
    """The index of the first step; what the model of the answers refuses is a sentence like any other."""
    try:
        return spammer_index(judgments, seed=seed)
    except ScreenError as error:
        raise ScreenError(f"procedure begins with the Spammer Index. {_upper(error)}") from None
    except ValueError as error:
        raise ScreenError(
            f"procedure begins with the Spammer Index, which has no model of these answers: {error}"
        ) from None


def _upper(error: ScreenError) -> str:
    told = str(error).removeprefix("spammer_index: ")
    return told[:1].upper() + told[1:]


def _check(order: str, criteria: Sequence[str], auxiliary: object, alpha: float, rule: str, least_index: float) -> None:
    if order not in ("markov first", "deletion first"):
        raise ScreenError("procedure: order is markov first or deletion first.")
    if isinstance(criteria, str) or not criteria or not set(criteria) <= {"markov", "deletion"}:
        raise ScreenError("procedure: criteria are markov, deletion or both, as a list.")
    if not isinstance(auxiliary, Evidence) and auxiliary not in ("time", "accuracy", "completeness", None):
        raise ScreenError("procedure: auxiliary is time, accuracy, completeness, some evidence, or None.")
    if isinstance(auxiliary, Evidence) and auxiliary.criterion in ("markov", "deletion"):
        raise ScreenError("procedure: the auxiliary factor must be something else than the criteria.")
    if not 0 < alpha < 1 or rule not in ("mean", "mean-sd") or not 0 <= least_index <= 1:
        raise ScreenError(
            "procedure: alpha is between 0 and 1, rule is mean or mean-sd, and least_index a share from 0 to 1."
        )


class _Walk:
    """Who is still a candidate, and what has been noted of everybody on the way."""

    def __init__(self, people: list[str], names: list[str], rule: Verdict) -> None:
        self.people, self.names, self.rule = people, names, rule
        self.candidates, self.stopped = list(people), False
        self.steps: dict[str, Evidence] = {}
        self._rows: dict[str, list[tuple[str, str, str, str]]] = {name: [] for name in people}
        self._met: dict[str, set[str]] = {name: set() for name in people}
        self._flow: list[tuple[str, int, int]] = []
        self._silent: dict[str, int] = {}

    def begin(self, index: SpammerIndex, least: float) -> None:
        enough = index.value >= least
        side = "at or above" if enough else "below"
        told = [without_zero(exact(index.value, least, 3)), without_zero(f"{least:.3f}")]
        for name in self.people:
            why = f"{told[0]} of the variance lies between participants, {side} {told[1]}"
            self._rows[name].append((name, "index", "goes on" if enough else "cleared", why))
        self.candidates, self.stopped = list(self.people) if enough else [], not enough

    def step(self, name: str, judge: Judge, candidates_only: bool) -> None:
        """Judge the candidates, or everybody; those who meet the step stay candidates."""
        looked_at = self.candidates if candidates_only else self.people
        if self.stopped or not looked_at:
            # The index stopped the procedure, or nobody is left: nothing is computed.
            self._flow.append((name, 0, 0))
            return
        evidence = judge(looked_at)
        self.steps[name] = evidence
        rows = {row["participant"]: row for row in evidence.participants.iter_rows(named=True)}
        still, met = set(self.candidates), []
        for who in looked_at:
            row: dict[str, Any] = rows.get(who, {"flagged": False, "score": None, "reason": "not in this evidence"})
            self._met[who] |= {name} if row["flagged"] else set()
            silent = row["score"] is None and not row["flagged"]
            if who in still:
                self._silent[name] = self._silent.get(name, 0) + silent
                outcome = "not judged" if silent else "goes on" if row["flagged"] else "cleared"
                met += [who] if row["flagged"] else []
            else:
                outcome = "noted"
            self._rows[who].append((who, name, outcome, str(row["reason"])))
        self._flow.append((name, len(self.candidates), len(met)))
        self.candidates = met

    def verdict(self) -> pl.DataFrame:
        flagged = set(self.candidates)
        if self.rule == "any criterion":
            others = set(self.names) - {"markov", "deletion"}
            flagged = {who for who, met in self._met.items() if others <= met and met - others}
        rows = []
        for who in self.people:
            told = f"met {len(self._met[who])} of {counted(len(self.names), 'step')}"
            self._rows[who].append((who, "verdict", "flagged" if who in flagged else "cleared", told))
            steps = self._rows[who][1:-1]
            reason = "; ".join(f"{step}: {why}" for _, step, _, why in steps) or self._rows[who][0][3]
            ended = next((step for _, step, outcome, _ in self._rows[who] if outcome != "goes on"), "verdict")
            rows.append((who, float(len(self._met[who])), self._needed(), who in flagged, reason, ended))
        schema = {"participant": pl.String, "score": pl.Float64, "threshold": pl.Float64, "flagged": pl.Boolean,
                  "reason": pl.String, "ended": pl.String}  # fmt: skip
        return pl.DataFrame(rows, schema=schema, orient="row")

    def _needed(self) -> float:
        criteria = [name for name in self.names if name in ("markov", "deletion")]
        spared = len(criteria) - 1 if self.rule == "any criterion" else 0
        return float(len(self.names) - spared)

    def path(self) -> pl.DataFrame:
        rows = [row for who in self.people for row in self._rows[who]]
        return pl.DataFrame(rows, schema=["participant", "step", "outcome", "why"], orient="row")

    def flow(self) -> pl.DataFrame:
        schema = {"step": pl.String, "entered": pl.Int64, "met": pl.Int64}
        return pl.DataFrame(self._flow, schema=schema, orient="row")

    def notes(self, index: SpammerIndex, least: float) -> list[str]:
        notes = []
        if index.value < least:
            notes.append(
                f"The Spammer Index is below {without_zero(f'{least:.2f}')}, so that nobody was looked at further; "
                "least_index=0 looks at everybody."
            )
        for name, evidence in self.steps.items():
            notes += [f"{name}: {note}" for note in evidence.notes]
        for name, number in self._silent.items():
            if number:
                notes.append(f"{name}: {counted(number, 'participant')} could not be judged; the path says why.")
        return notes


def _auxiliary(
    judgments: Judgments, auxiliary: Auxiliary | Evidence, rule: Rule, doubtful: Doubtful, time_limit: float | None
) -> Evidence:
    if isinstance(auxiliary, Evidence):
        return auxiliary
    if auxiliary == "time":
        return time_filter(judgments, rule, time_limit=time_limit)
    return completion(judgments) if auxiliary == "completeness" else _accuracy(judgments, rule, doubtful)


def _accuracy(judgments: Judgments, rule: Rule, doubtful: Doubtful) -> Evidence:
    """The share of right answers of each participant; flagged below the mean, or one standard deviation below it."""
    shares, what, notes = accuracy_of(judgments, "procedure", doubtful)
    shares = shares.select("participant", score=evened(pl.col("share_right")))
    table = everybody(judgments).join(shares, on="participant", how="left", maintain_order="left")
    middle = pl.col("score").mean() - (pl.col("score").std().fill_null(0.0) if rule == "mean-sd" else 0.0)
    table = table.with_columns(threshold=evened(middle))
    below = (pl.col("score") < pl.col("threshold")).fill_null(False)
    of = "the mean" if rule == "mean" else "one standard deviation below the mean"
    right = "right" if what == "accuracy" else "with the majority"
    told = [
        "no answers whose right answer is known" if score is None else
        f"{100 * score:.1f} % {right}, {'below' if score < limit else 'not below'} {100 * limit:.1f} %, {of}"
        for score, limit in table.select("score", "threshold").iter_rows()
    ]  # fmt: skip
    table = table.with_columns(below.alias("flagged"), pl.Series("reason", told, pl.String))
    return Evidence(table, "accuracy", {"rule": rule, "doubtful": doubtful}, tuple(notes))


def _deletion(
    judgments: Judgments,
    who: list[str],
    alpha: float,
    simulations: int,
    seed: int,
    progress: Progress | None,
    work: Work,
) -> Evidence:
    """Deletion analysis of some workers; the simulated null decides where there is one."""
    by: By = "simulated" if simulations else "published"
    found = deletion(judgments, alpha, simulations, seed, len(who), by, only=set(who), progress=progress, work=work)
    rows = found.participants.filter(pl.col("participant").is_in(who))
    return replace(found, participants=rows)
