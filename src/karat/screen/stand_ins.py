"""Criteria that count right answers, in parts: stand-ins make each part be judged like the whole.

These criteria judge each participant alone. From the whole, they only need the right answers and statuses that any
trials have. Stand-in participants, one per combination, are added to every part and removed from the result. Counts
of trials in notes are added up without those of the stand-ins.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from karat.judgments import Judgments
from karat.judgments.checks import Checked
from karat.judgments.message_tables import message_at
from karat.judgments.scales import Scale
from karat.languages import language_of
from karat.languages.language import places
from karat.messages import Message, with_code
from karat.screen.evidence import Evidence
from karat.screen.one_part import AnyEvidence, AnyParts
from karat.screen.right_answers import NEUTRAL_VALUES, guess_note, means_note, undefined_note

STAND_IN = "\0"
"""The prefix of the names of stand-ins, which no name in a file has."""
Compute = Callable[..., Evidence]
"""A function from judgments and settings to evidence, in memory."""
COUNT = "n"
"""The value of a note that is a number of trials or pairs, added up over parts."""
OF_EVERYBODY = ("passing.guessing", "passing.nobody_judged", "sensitivity.undefined", "controls.few_for_means")
"""Notes that depend on the participants of a part, and are written again for all parts together."""
LAST = ("neutral.no_point", "neutral.guessing_at_most", "neutral.middle")
"""Notes placed after those on all participants."""


@dataclass(frozen=True)
class _PartFacts:
    """The results of a part other than its table."""

    notes: tuple[Message, ...]
    judged: int = 0
    paired: int = 0
    passing: float = 0.0
    fewest: int | None = None
    undefined: tuple[int, int] | None = None
    why_not: Message | None = None


def judged_with_stand_ins(
    parts: AnyParts[AnyEvidence], compute: Compute, criterion: str, function: str, settings: dict[str, Any]
) -> AnyEvidence:
    """The evidence of a criterion about the trials of one function, on judgments in parts."""
    pairs = settings.get("account") == "pairwise"
    gathered = parts.map(_kinds_of_trials, (function, pairs), name=criterion)
    rows = _distinct(pl.concat(gathered), pairs)
    # If the criterion cannot run on the whole, it raises its error for the stand-ins.
    stand_ins = _as_stand_ins(rows, pairs)
    of_stand_ins = compute(_as_judgments(stand_ins, parts.scales), **settings)
    evidence, facts_of_parts = parts.judge(
        criterion, _judge_answers, (compute, stand_ins, settings), of_stand_ins.settings
    )
    if pairs and not sum(facts.paired for facts in facts_of_parts):
        compute(_as_judgments(_as_stand_ins(rows, pairs=False), parts.scales), **settings)
    notes = add_up([facts.notes for facts in facts_of_parts if facts.notes or facts.judged], of_stand_ins.notes)
    plain = [note for note in notes if note.code not in LAST]
    whole = _of_everybody(facts_of_parts, float(of_stand_ins.settings["alpha"]))
    return replace(evidence, notes=(*plain, *whole, *with_code(notes, *LAST)))


def _keys(pairs: bool, columns: Sequence[str]) -> list[str]:
    names = ("question", "status", "expected", *(("pair",) if pairs else ()))
    return [name for name in names if name in columns]


def _kinds_of_trials(judgments: Judgments, shared: tuple[str, bool], number: int) -> pl.DataFrame:
    """One trial of each kind."""
    function, pairs = shared
    return _distinct(judgments.frame.filter(pl.col("function") == function), pairs)


def _distinct(rows: pl.DataFrame, pairs: bool) -> pl.DataFrame:
    """The first trial of each kind, with an answer if any trial of the kind has one."""
    keys = _keys(pairs, rows.columns)
    if not keys:
        return rows.sort(pl.col("response").is_null(), maintain_order=True).head(1)
    response = pl.col("response").sort_by(pl.col("response").is_null()).first().over(keys)
    return rows.with_columns(response=response).unique(keys, keep="first", maintain_order=True)


def _as_stand_ins(rows: pl.DataFrame, pairs: bool) -> pl.DataFrame:
    """The trials as those of stand-ins: one stand-in per trial, or per pair of sentences."""
    name = pl.int_range(pl.len()).cast(pl.String)
    if pairs and "pair" in rows.columns:
        question = pl.col("question").fill_null("") if "question" in rows.columns else pl.lit("")
        name = pl.coalesce(pl.concat_str(question, pl.lit(STAND_IN), pl.col("pair")), name)
    return rows.with_columns(participant=pl.lit(STAND_IN) + name)


def _as_judgments(frame: pl.DataFrame, scales: Mapping[str, Scale]) -> Judgments:
    return Judgments.from_checked(Checked(frame), scales)


def _judge_answers(
    judgments: Judgments, shared: tuple[Compute, pl.DataFrame, dict[str, Any]], number: int
) -> tuple[pl.DataFrame | None, _PartFacts]:
    compute, stand_ins, settings = shared
    if not judgments.frame.height:
        return None, _PartFacts(())
    extended = _as_judgments(pl.concat([judgments.frame, stand_ins]), judgments.scales)
    evidence = compute(extended, **settings)
    table = evidence.participants.filter(~pl.col("participant").str.starts_with(STAND_IN))
    return table, _facts(table, evidence.notes)


def _facts(table: pl.DataFrame, notes: tuple[Message, ...]) -> _PartFacts:
    """The values of a part's participants that the notes on all parts need."""
    judged = table.filter(pl.col("guess_probability").is_not_null())
    means = "mean_grammatical" in table.columns
    both = [f"{group}_trials" for group in ("grammatical", "ungrammatical")]
    fewest = judged.select(pl.min_horizontal(both).min()).item() if means else None
    undefined = None
    if "d_prime" in table.columns:
        answered = table.filter(pl.col("hits").is_not_null())
        undefined = (answered["d_prime"].null_count(), answered.height)
    paired = table.filter(pl.col("trials").is_not_null()) if "trials" in table.columns else table
    first = table if "solved" in table.columns else paired
    return _PartFacts(
        notes,
        judged.height,
        0 if means else paired.height,
        float(judged["guess_probability"].max() or 0.0),  # type: ignore[arg-type]
        fewest,
        undefined,
        message_at(first, 0, tuple(NEUTRAL_VALUES)) if first.height else None,
    )


def _of_everybody(facts: Sequence[_PartFacts], alpha: float) -> list[Message]:
    """The notes that depend on all participants: how often guessing passes, and for how many a measure is undefined."""
    notes: list[Message] = []
    fewest = [part.fewest for part in facts if part.fewest is not None]
    notes += means_note(min(fewest)) if fewest else []
    passing = max((part.passing for part in facts), default=0.0)
    notes += [guess_note(passing, alpha)] if passing > alpha else []
    why_not = next((part.why_not for part in facts if part.why_not is not None), None)
    if why_not is not None and not sum(part.judged for part in facts):
        # A row has the values of all reasons of the criterion; the note needs only its own.
        needed = places(language_of("en").messages[why_not.code])
        values = {name: value for name, value in why_not.values.items() if name in needed and value is not None}
        notes.append(Message("passing.nobody_judged", {"why": Message(why_not.code, values)}))
    defined = [part.undefined for part in facts if part.undefined is not None]
    return notes + undefined_note(sum(part for part, _ in defined), sum(part for _, part in defined))


def add_up(notes: Sequence[Sequence[Message]], apart: Sequence[Message] = ()) -> list[Message]:
    """The notes of all parts as one list: numbers of trials and pairs are added up, minus those of `apart`."""
    order: list[tuple[str, dict[str, Any]]] = []
    total: list[int] = []
    counts_apart = [(_without_count(note), note.values.get(COUNT, 0)) for note in apart]
    for of_part in notes:
        place = 0
        for note in of_part:
            if note.code in OF_EVERYBODY:
                continue
            kind = _without_count(note)
            if kind not in order:
                order.insert(place, kind)
                total.insert(place, 0)
            place = order.index(kind) + 1
            total[place - 1] += note.values.get(COUNT, 0) - sum(n for other, n in counts_apart if other == kind)
    counting = [_without_count(note) for of_part in notes for note in of_part if COUNT in note.values]
    return [
        Message(code, {COUNT: number, **others} if (code, others) in counting else others)
        for (code, others), number in zip(order, total, strict=True)
        if number or (code, others) not in counting
    ]


def _without_count(note: Message) -> tuple[str, dict[str, Any]]:
    """The identity of a note: its code, and its values without the number that is added up."""
    return note.code, {name: value for name, value in note.values.items() if name != COUNT}
