"""All measures together: what applies to these judgments is computed, and what does not says why.

    strengths           of every stimulus, by the recommended model of the scale or those that are named
    measures            rank correlations between the strengths, where there are several
    contrasts           of the conditions, and the comparisons that the study planned
    order effects       of the position in the questionnaire
    decisions           on pairs, and where models decide differently
    agreement, noise ceiling, decision study, stability (by session, or by source of participants)
    dimensions          of a semantic differential: adequacy, number of factors, factors, scores, profiles
    consensus           of labels and yes-or-no answers

Each question is measured by itself. A semantic differential has many, so that strengths, contrasts, order effects and
decisions are left out there unless one question is named. Only trials with the function `test` are looked at unless
others are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import polars as pl

from karat.executors import SERIAL, Executor
from karat.judgments import Judgments
from karat.measure.dimensions.steps import dimensions, is_differential
from karat.measure.errors import MeasureError
from karat.measure.excluded import Excluded, nobody
from karat.measure.measures import Measures
from karat.measure.rated import Rated, known_column, rated
from karat.measure.run_parts import Collected, Wanted, correlations, one_question, together
from karat.measure.scaling.strengths import MODELS
from karat.messages import Message, NotComputed
from karat.types import NamedSteps

if TYPE_CHECKING:
    from karat.study.study import Study

ASKED_ONE_BY_ONE = ("strengths", "contrasts", "order effects", "decisions")


def run(
    judgments: Judgments,
    models: Sequence[str] = (),
    *,
    formula: str | None = None,
    pairs: Any = None,
    question: str | None = None,
    conditions: Sequence[str] | None = None,
    functions: Sequence[str] = ("test",),
    by: str | None = None,
    factors: int | None = None,
    posterior: bool = False,
    study: Study | None = None,
    without: Excluded | None = None,
    level: float = 0.95,
    seed: int = 1,
    progress: NamedSteps = lambda _: nullcontext(),
    executor: Executor = SERIAL,
) -> Measures:
    """Compute everything that applies to these judgments; `skipped` says what does not, and why.

    `models` are those of `strengths`, `formula` and `conditions` those of `contrasts`, `pairs` those of `decisions`,
    `by` that of `stability`; `factors` is the number of dimensions, by default that of parallel analysis. `posterior`
    asks for the full posterior of Thurstone's model. With a `study`, its factors are the conditions, and its planned
    contrasts are told. `without` leaves out participants: see `karat.measure.excluded`. `executor` says where bootstrap
    samples are computed (`karat.executors.open_executor`).

    >>> import karat
    >>> found = run(karat.datasets.load("crowd"))
    >>> [part.name for part in found.parts]
    ['strengths', 'order effects', 'agreement', 'noise ceiling', 'decision study', 'consensus']
    >>> found.skipped["contrasts"].code
    'contrasts.no_condition'
    """
    gone = without or nobody()
    left = judgments.without(gone.participants) if gone.participants else judgments
    judged = left if question is None else _only(left, _known(left, question))
    for name in conditions or []:
        known_column(judged.frame, name, "measure")
    questions = rated(judged, "measure", functions, [], once=None)
    chosen = _conditions(judged, conditions, study, functions)
    wanted = Wanted(
        tuple(models), formula, pairs, chosen, tuple(functions), by, factors, posterior, level, seed, study, executor
    )  # fmt: skip
    _check_models(wanted, questions)
    found = Collected(progress)
    if question is None and is_differential(questions):
        dimensions(judged, wanted.functions, factors, level, seed, found.add)
        for name in ASKED_ONE_BY_ONE:
            values = {"n": len(questions), "questions": [one.question for one in questions[:3]]}
            found.skipped[name] = NotComputed("run.differential", values)
    else:
        for one in questions:
            several = len(questions) > 1
            one_question(found, _only(judged, one.question) if several else judged, one, wanted, several)
        correlations(found, wanted)
    together(found, judged, questions, wanted)
    settings = {
        "models": list(models), "formula": formula, "question": question, "conditions": chosen,
        "functions": list(functions), "by": by, "factors": factors, "posterior": posterior, "level": level,
        "seed": seed,
    }  # fmt: skip
    fingerprint = None if study is None else study.fingerprint
    return Measures(judged, tuple(found.parts), found.skipped, gone, settings, fingerprint)


def _known(judgments: Judgments, question: str) -> str:
    if question in judgments.scales:
        return question
    raise MeasureError(Message("run.no_question", {"question": question, "questions": list(judgments.scales)}))


def _only(judgments: Judgments, question: str) -> Judgments:
    """The judgments of one question."""
    frame = judgments.frame
    if "question" in frame.columns:
        frame = frame.filter(pl.col("question").fill_null("") == question)
    return judgments.with_frame(frame, scales={question: judgments.scales[question]})


def _conditions(
    judgments: Judgments,
    conditions: Sequence[str] | None,
    study: Study | None,
    functions: Sequence[str],
) -> list[str] | None:
    """The conditions that are named, else the factors of the study; without either, each measure finds them."""
    if conditions is not None:
        return list(conditions)
    if study is not None:
        rows = judgments.frame.filter(pl.col("function").is_in(list(functions)))
        names = dict.fromkeys(name for block in study.blocks for name in block.settings.factors)
        there = [name for name in names if name in rows.columns and rows[name].drop_nulls().n_unique() > 1]
        if there:
            return there
    return None


def _check_models(wanted: Wanted, questions: list[Rated]) -> None:
    fitting = {model for one in questions for model in MODELS.get(one.scale.kind, ())}
    kinds = list(dict.fromkeys(one.scale.kind for one in questions))
    for model in wanted.models:
        if model not in fitting:
            values = {"model": model, "kinds": kinds, "models": sorted(fitting)}
            raise MeasureError(Message("strengths.no_model", values) if fitting else Message("run.no_models", values))
    if wanted.posterior and "thurstone" not in fitting:
        raise MeasureError(Message("run.no_posterior", {"kinds": kinds}))
