"""Export judgments, participants and events as tables, with a codebook.

An answer comes with all columns of its trial in the questionnaire. The last attempt of a changed answer counts.
Previews are never exported; pilots and platform ids are exported on request. The codebook lists every column of the
tables with its meaning and its values.
"""

import json
from collections.abc import Iterable
from typing import Any

import polars as pl
from sqlalchemy import Connection, Row, select

from karat.field.store.engine import StoreError
from karat.field.store.schema import answer, event, identity, session, trial
from karat.field.store.studies import frozen_of
from karat.judgments import Judgments
from karat.judgments.columns import COLUMNS
from karat.study.results import (
    MEANINGS_OF_ANSWERS,
    MEANINGS_OF_PEOPLE,
    OF_ANSWERS,
    OF_PEOPLE,
    Types,
    on_scales,
)
from karat.study.study import Study

DETAILS = ("blurs", "away", "pointer", "trace", "isolated", "frame_rate")
"""The details that are exported with each answer."""


def judgments(connection: Connection, study_id: int, study: Study, *, pilots: bool = False) -> Judgments:
    """The answers of a study as judgments, with all participants who got trials."""
    query = (
        select(session.c.participant, trial.c.rows, answer)
        .join_from(answer, trial, (trial.c.session_id == answer.c.session_id) & (trial.c.position == answer.c.position))
        .join(session, session.c.id == answer.c.session_id)
        .where(*_of(study_id, pilots), answer.c.response.is_not(None))
        .order_by(answer.c.session_id, answer.c.position, answer.c.question, answer.c.attempt)
    )
    last: dict[tuple[int, int, str], dict[str, Any]] = {}
    for row in connection.execute(query):
        last[row.session_id, row.position, row.question] = _judgment(row)
    if not last:
        raise StoreError("There are no answers yet.")
    # The questions are in the order of the page, so q10 comes after q9.
    ordered = sorted(last, key=lambda key: (key[0], key[1], _place(key[2])))
    frame, scales = on_scales(study, _table([last[key] for key in ordered], OF_ANSWERS, "time", "received"))
    people = participants(connection, study_id, pilots=pilots)
    answered = Judgments(frame, scales, people.filter(pl.col("planned")).drop("planned"))
    return answered.with_frozen(frozen_of(connection, study_id))


def _judgment(row: Row[Any]) -> dict[str, Any]:
    planned: dict[str, Any] = row.rows[_place(row.question)]
    details = {name: row.details[name] for name in DETAILS if name in row.details}
    if "trace" in details:
        details["trace"] = json.dumps(details["trace"])
    answered = {
        "participant": row.participant, "response": row.response, "rt": row.rt, "time": row.time,
        "received": row.received, "first_response": row.first_response, "first_rt": row.first_rt,
        "changes": row.changes,
    }  # fmt: skip
    return {**details, **planned, **answered}


def _place(question: str) -> int:
    """The index of a question's row: 0 for q1, and for the unnamed question of a page with only one."""
    return int(question.removeprefix("q")) - 1 if question else 0


def participants(
    connection: Connection, study_id: int, *, with_ids: bool = False, pilots: bool = False
) -> pl.DataFrame:
    """One row per participant: list, state, source, times, background answers, quiz and device.

    `working_time` is the time from beginning to end in seconds, summed over sessions; `planned` is true for
    participants who got trials; `person` is the same for all records of one person if the platform has ids. With
    `with_ids`, the table also has the platform's ids.
    """
    query = select(session, identity).outerjoin(identity).where(*_of(study_id, pilots))
    rows = connection.execute(query.order_by(session.c.id)).all()
    persons = {name: number for number, name in enumerate(_distinct(row.person_hash for row in rows), start=1)}
    people: dict[str, dict[str, Any]] = {}
    for row in rows:
        described = _person(row, persons, with_ids)
        people[row.participant] = (
            _joined(people[row.participant], described) if row.participant in people else described
        )
    if not people:
        return pl.DataFrame(schema={name: OF_PEOPLE[name] for name in ("participant", "planned")})
    agreed = ["consent_time"] if any("consent_time" in person for person in people.values()) else []
    return _table(list(people.values()), OF_PEOPLE, "started", "finished", *agreed)


def _person(row: Row[Any], persons: dict[str, int], with_ids: bool) -> dict[str, Any]:
    described: dict[str, Any] = {
        "participant": row.participant, "list": str(row.list), "state": row.state, "source": row.platform,
        "started": row.started, "finished": row.finished, "planned": row.planned,
        "working_time": round((row.finished or row.last_seen) - row.started, 1),
    }  # fmt: skip
    optional = {
        "consent_time": row.consented, "consent_text": row.consent, "version": row.version,
        "person": None if row.person_hash is None else str(persons[row.person_hash]),
        "quiz_attempts": row.quiz_attempts or None, "quiz_passed": row.quiz_passed, "device": row.device.get("class"),
        "pilot": row.pilot or None, "comment": row.comment,
    }  # fmt: skip
    described |= {name: value for name, value in optional.items() if value is not None}
    if with_ids:
        described |= {name: row._mapping[name] for name in ("platform_id", "platform_session", "platform_study")}
    return {**row.background, **described}


def _joined(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Two sessions of a participant as one row, from the first beginning to the last end."""
    return {
        **first, **{name: value for name, value in second.items() if value is not None},
        "started": first["started"], "finished": second["finished"], "source": first["source"],
        "planned": first["planned"] or second["planned"],
        "working_time": round(first["working_time"] + second["working_time"], 1),
    }  # fmt: skip


def events(connection: Connection, study_id: int) -> pl.DataFrame:
    """One row per event in the browsers; `details` is JSON.

    Pages without an answer, such as breaks, are events too (`page`): their time is that of the receipt, and `rt` is how
    long they were shown according to the browser.
    """
    query = (
        select(session.c.participant, session.c.number, event, trial.c.rows)
        .join_from(event, session)
        .outerjoin(trial, (trial.c.session_id == event.c.session_id) & (trial.c.position == event.c.position))
        .where(*_of(study_id, pilots=False))
        .order_by(event.c.session_id, event.c.time, event.c.id)
    )
    rows = [
        (
            row.participant, str(row.number), row.rows[0].get("trial") if row.rows else None, row.kind, row.time,
            json.dumps(row.details, ensure_ascii=False) if row.details else "",
        )
        for row in connection.execute(query)
    ]  # fmt: skip
    pages = (
        select(session.c.participant, session.c.number, answer.c.received, answer.c.rt)
        .join_from(answer, session, session.c.id == answer.c.session_id)
        .where(*_of(study_id, pilots=False), answer.c.response.is_(None))
        .order_by(answer.c.session_id, answer.c.received)
    )
    rows += [
        (row.participant, str(row.number), None, "page", row.received, json.dumps({"rt": row.rt}))
        for row in connection.execute(pages)
    ]
    schema = {"participant": pl.String, "session": pl.String, "trial": pl.Int64, "kind": pl.String,
              "time": pl.Float64, "details": pl.String}  # fmt: skip
    return _with_moments(pl.DataFrame(rows, schema=schema, orient="row"), "time")


def _of(study_id: int, pilots: bool) -> tuple[Any, ...]:
    conditions = (session.c.study_id == study_id, session.c.preview.is_(False))
    return conditions if pilots else (*conditions, session.c.pilot.is_(False))


def _table(rows: list[dict[str, Any]], types: Types, *moments: str) -> pl.DataFrame:
    names = _distinct(name for row in rows for name in row)
    columns = {
        name: pl.Series(name, [row.get(name) for row in rows], dtype=types.get(name), strict=name in types)
        for name in names
    }
    return _with_moments(pl.DataFrame(columns), *moments)


def _with_moments(frame: pl.DataFrame, *names: str) -> pl.DataFrame:
    """Convert seconds since 1970 to points in time."""
    return frame.with_columns(
        pl.from_epoch((pl.col(name) * 1e6).round().cast(pl.Int64), "us").dt.replace_time_zone("UTC").alias(name)
        for name in names
    )


def _distinct(names: Iterable[str | None]) -> list[str]:
    return [name for name in dict.fromkeys(names) if name is not None]


def codebook(judgments: Judgments, study: Study) -> pl.DataFrame:
    """One row per column: its table, name, type, meaning, and possible values."""
    rows = [_judgment_column(name, dtype, judgments, study) for name, dtype in judgments.frame.schema.items()]
    questions = {question.name: question for question in study.settings.background}
    for name, dtype in judgments.participants.schema.items():
        if name in questions:
            meaning, values = f"answer to: {questions[name].question}", "; ".join(questions[name].answers)
        else:
            meaning, values = MEANINGS_OF_PEOPLE.get(name, ""), ""
        rows.append(("participants", name, str(dtype), meaning, values))
    names = ["table", "column", "type", "meaning", "values"]
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def _judgment_column(
    name: str, dtype: pl.DataType, judgments: Judgments, study: Study
) -> tuple[str, str, str, str, str]:
    values = ""
    factors = {name: factor for block in study.blocks for name, factor in block.settings.factors.items()}
    if name == "response":
        scales = [f"{question}: {scale.known()}" if question else scale.known()
                  for question, scale in judgments.scales.items()]  # fmt: skip
        labels = [f"shown as {', '.join(words)}" for block in study.blocks if (words := block.settings.scale.labels)]
        values = "; ".join(dict.fromkeys([*scales, *labels]))
    elif name in factors:
        values = "; ".join(factors[name].levels)
    if name in COLUMNS:
        meaning = COLUMNS[name].meaning
    elif name in factors:
        meaning = "a factor of the design"
    else:
        meaning = MEANINGS_OF_ANSWERS.get(name, "a column of the item table")
    return "judgments", name, str(dtype), meaning, values
