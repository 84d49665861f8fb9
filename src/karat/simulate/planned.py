"""Answers to a planned study: every participant gets the questionnaire of the plan and behaves according to the shares.

They also answer background questions and the quiz, and have times of start and end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.executors import SERIAL, Executor
from karat.judgments import Judgments
from karat.messages import Message
from karat.simulate.behaviours import JUDGES, SIMULATED, USUAL, SimulateError, allot, seconds
from karat.simulate.layout import side_of, stated_effects
from karat.simulate.respond import SimulatedPeople, as_planned, draw_people, respond
from karat.simulate.scale_answers import Spread
from karat.study.results import on_scales
from karat.study.settings import BackgroundQuestion, ContrastSettings
from karat.study.study import Study, with_participants
from karat.study.tasks import AROUND_MINUTES
from karat.types import Progress

BEGIN = datetime(2026, 3, 2, 9, tzinfo=UTC)
MINUTES_APART = 7
BETWEEN_TRIALS = 0.4
"""Seconds from an answer to the next stimulus."""
TOGETHER = 50
"""The number of participants whose questionnaires a process makes at a time."""
NOT_SHOWN = ("acceptability", "verified", "violation")
"""Columns for planning, which are no part of results."""


def answer_study(
    study: Study,
    participants: int | None = None,
    *,
    shares: Mapping[str, float] = USUAL,
    effects: Mapping[str, float] | float | None = None,
    spread: Spread | None = None,
    seed: int = 1,
    progress: Progress | None = None,
    executor: Executor = SERIAL,
) -> Judgments:
    """Simulated results of a planned study; `participants` is by default the number to recruit.

    `shares` has the share of participants with each behaviour (see `behaviours`), `effects` the size of planned
    contrasts in logits, by name or, as a number, of the first; by default all have an effect of 0.8, unless the column
    `acceptability` has the acceptability of test items. The behaviour is a column of the participants, whose source is
    `simulated`. `executor` makes the questionnaires (`karat.executors.open_executor`), which takes most of the time.

    Parameters
    ----------
    participants
        The number of participants; by default that of the study file.

    >>> import tempfile
    >>> from karat.study.init import write_study
    >>> from karat.study.study import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_study(folder, "likert")
    ...     results = answer_study(load(folder), 12, shares={"guesser": 0.25})
    >>> results.frame["participant"].n_unique(), results.participants["behaviour"].value_counts(sort=True)["count"][1]
    (12, 3)
    """
    people_wanted = study.settings.recruitment.participants if participants is None else participants
    if people_wanted < 1:
        raise SimulateError(Message("simulate.participants", {"n": people_wanted}))
    planned = with_participants(study, people_wanted)
    random = np.random.default_rng(seed)
    people = draw_people(allot(shares, people_wanted, random), spread or Spread(), random)
    width = max(2, len(str(people_wanted)))
    names = [f"p{number:0{width}d}" for number in range(1, people_wanted + 1)]
    some = [(start, names[start : start + TOGETHER]) for start in range(0, len(names), TOGETHER)]
    parts = executor.map(_questionnaires, planned, some, name="questionnaires", progress=progress)
    trials = pl.concat(parts, how="diagonal_relaxed")
    contrasts = stated_effects(planned, effects)
    person = trials["_person"].to_numpy()
    answered = _answered(planned, trials, person, people, (contrasts, effects is not None), spread or Spread(), random)
    answered = _timed(planned, answered, random, people)
    if planned.settings.screening is not None and "receipt_times" in planned.settings.screening.criteria:
        answered = answered.with_columns(received="time")
    table = background_table(planned, names, people.behaviours, random)
    table = table.join(_stays(answered, people, names), on="participant", how="left", maintain_order="left")
    frame, scales = on_scales(planned, answered.drop("_person", "_shown", "_worked", *NOT_SHOWN, strict=False))
    return Judgments(frame, scales, table)


def _questionnaires(study: Study, some: tuple[int, list[str]]) -> pl.DataFrame:
    """The trials of participants, from the number of the first on; `_shown` numbers the trials of each participant."""
    parts = []
    for number, name in enumerate(some[1], start=some[0]):
        frame = study.questionnaire(number % study.lists + 1, name).frame
        numbers = {"_person": pl.lit(number, dtype=pl.Int64), "_shown": pl.int_range(frame.height)}
        parts.append(frame.with_columns(participant=pl.lit(name), **numbers))
    return pl.concat(parts, how="diagonal_relaxed")


def _answered(
    study: Study, trials: pl.DataFrame, person: NDArray[np.int64], people: SimulatedPeople,
    effects: tuple[list[tuple[ContrastSettings, float]], bool], spread: Spread, random: np.random.Generator,
) -> pl.DataFrame:  # fmt: skip
    """Answers and times, block by block."""
    responses = np.empty(trials.height, dtype=object)
    times = np.empty(trials.height)
    for block in study.blocks:
        rows = np.flatnonzero((trials["block"] == block.name).to_numpy())
        part = trials[rows]
        part = part.drop([name for name in part.columns if part[name].null_count() == part.height])
        sides = [(side_of(part, contrast, block.settings), effect) for contrast, effect in effects[0]]
        trials_of_block, used = as_planned(part, block.scale, sides, effects[1])
        responses[rows] = respond(
            trials_of_block, person[rows], people, block.scale, used,
            compared=block.settings.compared is not None, spread=spread, seed=random,
        )  # fmt: skip
        functions = part["function"].to_list()
        times[rows] = seconds(functions, person[rows], people.behaviours, people.pace, block.task.seconds, random)
    return trials.with_columns(response=pl.Series(responses.tolist(), dtype=pl.String), rt=pl.Series(times))


def _timed(study: Study, trials: pl.DataFrame, random: np.random.Generator, people: SimulatedPeople) -> pl.DataFrame:
    """Trials with the times of answers, without those after a participant has dropped out."""
    wait = timedelta(days=study.settings.questionnaire.days_between)
    session = pl.col("session").cast(pl.Int64) - 1 if "session" in trials.columns else pl.lit(0)
    clock = (pl.col("rt") + BETWEEN_TRIALS).cum_sum().over("_person")
    begun = pl.lit(BEGIN) + pl.duration(minutes=MINUTES_APART * pl.col("_person"))
    stays = np.where(np.array(people.behaviours) == "drop-out", random.uniform(0.3, 0.8, len(people.behaviours)), 1.0)
    last = pl.DataFrame({"_person": np.arange(len(stays)), "_stay": stays})
    timed = trials.with_columns(
        time=begun + pl.duration(milliseconds=(clock * 1000).round().cast(pl.Int64)) + session * pl.lit(wait),
        # On a page with several questions, times count from the onset of the page.
        rt=pl.col("rt").cum_sum().over("_person", session.alias("_session"), "trial").round(3),
        _worked=pl.col("rt") + BETWEEN_TRIALS,
    )
    in_time = timed.join(last, on="_person", how="left", maintain_order="left")
    in_time = in_time.filter(pl.col("_shown") < pl.col("_stay") * pl.len().over("_person"))
    return in_time.drop("_stay")


def _stays(trials: pl.DataFrame, people: SimulatedPeople, names: list[str]) -> pl.DataFrame:
    """Start, end and working time of participants; those who dropped out returned the study and did not finish."""
    lists = trials.group_by("participant", maintain_order=True).agg(
        pl.col("list").first(), finished=pl.col("time").last(),
        working_time=pl.col("_worked").sum().round(1),
    )  # fmt: skip
    left = pl.DataFrame({
        "participant": names, "dropped": [behaviour == "drop-out" for behaviour in people.behaviours],
        "started": [BEGIN + timedelta(minutes=MINUTES_APART * number) for number in range(len(names))],
    })  # fmt: skip
    # Consent, instructions and background questions take time too, at least for participants who read them.
    around = [
        60 * AROUND_MINUTES * float(np.exp(pace)) * (1.0 if behaviour in JUDGES else 0.3)
        for behaviour, pace in zip(people.behaviours, people.pace, strict=True)
    ]
    joined = left.join(lists, on="participant", how="left", maintain_order="left")
    return joined.with_columns(
        working_time=(pl.col("working_time") + pl.Series(around)).round(1),
        status=pl.when("dropped").then(pl.lit("returned")).otherwise(pl.lit("approved")),
        finished=pl.when("dropped").then(None).otherwise(pl.col("finished")),
    ).drop("dropped")


ELIGIBLE = {True: 0.98, False: 0.85}
"""The probability of an eligible answer, for participants who judge and for others."""
FIRST_ATTEMPT = {True: 0.85, False: 0.5}
"""The probability of passing the quiz in each attempt, for participants who judge and for others."""
SILENT = 0.1
"""The probability of leaving an optional question unanswered."""
SAME = 0.98
"""The probability of the same answer here and on the platform."""


def background_table(
    study: Study, names: Sequence[str], behaviours: Sequence[str], random: np.random.Generator
) -> pl.DataFrame:
    """One row per participant: the columns of the background questions, the quiz and the screening rules."""
    judging = [behaviour in JUDGES for behaviour in behaviours]
    columns: dict[str, list[Any]] = {"participant": list(names), "behaviour": list(behaviours)}
    for question in study.settings.background:
        columns[question.name] = [_answer(question, judges, random) for judges in judging]
    if study.settings.texts.quiz:
        most = study.settings.texts.quiz_attempts
        attempts = [int(random.geometric(FIRST_ATTEMPT[judges])) for judges in judging]
        columns["quiz_attempts"] = [min(number, most) for number in attempts]
        columns["quiz_passed"] = [number <= most for number in attempts]
    columns |= _columns_of_rules(study, columns, random)
    columns["source"] = [SIMULATED] * len(names)
    return pl.DataFrame(columns)


def _answer(question: BackgroundQuestion, judges: bool, random: np.random.Generator) -> str | None:
    if not question.required and random.random() < SILENT:
        return None
    if not question.answers:
        return "a simulated answer"
    others = [answer for answer in question.answers if answer not in question.eligible]
    admitted = question.eligible and (not others or random.random() < ELIGIBLE[judges])
    return str(random.choice(question.eligible if admitted else others))


def _columns_of_rules(study: Study, columns: dict[str, list[Any]], random: np.random.Generator) -> dict[str, list[Any]]:
    """Columns of the screening rules that no background question fills."""
    criteria = {} if study.settings.screening is None else study.settings.screening.criteria
    rules = {name: settings.model_dump() for name, settings in criteria.items()}
    filled: dict[str, list[Any]] = {}
    names = columns["participant"]
    person = rules.get("completion", {}).get("person")
    if person and person not in columns:
        filled[person] = [f"person {name}" for name in names]
    if "eligibility" in rules:
        for name, admit in rules["eligibility"]["answers"].items():
            if name not in columns:
                filled[name] = [admit[0] if random.random() < SAME and admit else "another answer" for _ in names]
        for name, other in rules["eligibility"]["same"].items():
            here = columns.get(name) or filled.get(name) or ["an answer"] * len(names)
            filled.setdefault(name, here)
            filled.setdefault(other, [rule if random.random() < SAME else "another answer" for rule in here])
    return {name: values for name, values in filled.items() if name not in columns}
