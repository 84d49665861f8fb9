"""The steps of the procedure: who is a candidate after each, and everybody's path through them.

The message of a participant holds those of the steps that looked at them, so that one table says why they went on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import polars as pl

from karat.messages import Message
from karat.screen.deletion import beside
from karat.screen.evidence import Evidence, with_messages
from karat.screen.spammer_index import SpammerIndex

Verdict = Literal["every step", "any criterion"]
Judge = Callable[[list[str]], Evidence]
PLACES = ("first", "second", "third")
"""The steps after the index, in the values of a message."""
NO_MESSAGE = pl.Struct({"message": pl.String, "values": pl.Struct({"text": pl.String})})


class ProcedureSteps:
    """Who is still a candidate, and what has been noted of everybody on the way."""

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
        self._index = {"message": code, "values": {"index": beside(index.value, least, 3), "least": least}}
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
        rows = {row[0]: row[1:] for row in evidence.participants.select("participant", "flagged", "score").iter_rows()}
        still, met = set(self.candidates), []
        for who in looked_at:
            flagged, score = rows.get(who, (False, None))
            self._met[who] |= {name} if flagged else set()
            silent = score is None and not flagged
            if who in still:
                self._silent[name] = self._silent.get(name, 0) + silent
                outcome = "not judged" if silent else "goes on" if flagged else "cleared"
                met += [who] if flagged else []
            else:
                outcome = "noted"
            self._outcomes[who].append((name, outcome))
        self._flow.append((name, len(self.candidates), len(met)))
        self.candidates = met

    def verdict(self) -> pl.DataFrame:
        flagged = set(self.candidates)
        if self.rule == "any criterion":
            others = set(self.names) - {"markov", "deletion"}
            flagged = {who for who, met in self._met.items() if others <= met and met - others}
        rows = []
        for who in self.people:
            ended = next((step for step, outcome in self._outcomes[who] if outcome != "goes on"), "verdict")
            self._outcomes[who].append(("verdict", "flagged" if who in flagged else "cleared"))
            rows.append((who, float(len(self._met[who])), self._needed(), who in flagged, ended))
        schema = {"participant": pl.String, "score": pl.Float64, "threshold": pl.Float64, "flagged": pl.Boolean,
                  "ended": pl.String}  # fmt: skip
        table = self._with_steps(pl.DataFrame(rows, schema=schema, orient="row"))
        index = pl.lit(self._index["values"]["index"]), pl.lit(self._index["values"]["least"])
        values = pl.struct(
            index[0].alias("index"), index[1].alias("least"), *PLACES, *(f"{one}_step" for one in PLACES)
        )
        looked_at = pl.any_horizontal(pl.col(f"{one}_step").is_not_null() for one in PLACES)
        code = pl.when(looked_at).then(pl.lit("procedure.steps")).otherwise(pl.lit(self._index["message"]))
        return table.select(
            "participant", "score", "threshold", "flagged", code.alias("message"), values.alias("values"), "ended"
        )

    def _with_steps(self, table: pl.DataFrame) -> pl.DataFrame:
        """The table with the message of each step that looked at somebody, and the name of the step beside it."""
        for number, place in enumerate(PLACES):
            name = self.names[number] if number < len(self.names) else None
            if name not in self.steps:
                table = table.with_columns(
                    pl.lit(None, NO_MESSAGE).alias(place), pl.lit(None, pl.String).alias(f"{place}_step")
                )
                continue
            seen = [any(step == name for step, _ in self._outcomes[who]) for who in table["participant"].to_list()]
            known = with_messages(self.steps[name].participants)
            said = pl.when(pl.col("message").is_not_null()).then(pl.struct("message", "values"))
            fields = known.schema["values"].to_schema()  # type: ignore[attr-defined]
            nothing = pl.struct(pl.lit(None, kind).alias(field) for field, kind in fields.items())
            lacking = pl.struct(
                pl.lit("procedure.not_in_evidence").alias("message"), nothing.alias("values"),
            )  # fmt: skip
            table = table.join(
                known.select("participant", said.alias(place), pl.lit(True).alias("_judged")),
                on="participant", how="left", maintain_order="left",
            )  # fmt: skip
            looked_at = pl.lit(pl.Series(seen, dtype=pl.Boolean))
            table = table.with_columns(
                pl.when(looked_at & pl.col("_judged").is_null()).then(lacking).when(looked_at).then(place).alias(place),
                pl.when(looked_at).then(pl.lit(name)).alias(f"{place}_step"),
            ).drop("_judged")
        return table

    def _needed(self) -> float:
        criteria = [name for name in self.names if name in ("markov", "deletion")]
        spared = len(criteria) - 1 if self.rule == "any criterion" else 0
        return float(len(self.names) - spared)

    def path(self, verdict: pl.DataFrame) -> pl.DataFrame:
        """One row per participant and step, with the message of the step and its values."""
        places = dict(zip(self.names, PLACES, strict=False))
        rows = [
            (who, step, outcome, "procedure.met" if step == "verdict" else "procedure.why" if step in places else None,
             place, len(self._met[who]))
            for who in self.people
            for step, outcome in self._outcomes[who]
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
        own = [pl.when(pl.col("_place") == place).then(place).alias(place) for place in PLACES]
        return table.select(
            "participant", "step", "outcome", pl.col("message").fill_null(self._index["message"]),
            pl.struct("index", "least", "met", steps, *own).alias("values"),
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
