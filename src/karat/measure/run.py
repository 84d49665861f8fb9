"""All measures that apply to the judgments, and the reasons why others do not.

    strengths           of each stimulus, by the recommended model of the scale or the named ones
    measures            rank correlations between strengths, if there are several
    contrasts           of the conditions, and the comparisons that the study planned; their posteriors on request
    order effects       of the position in the questionnaire
    decisions           on pairs, and where models decide differently
    agreement, noise ceiling, decision study, stability (by session, repetition or source of participants)
    dimensions          of a semantic differential: adequacy, number of factors, factors, scores, profiles
    consensus           of labels and yes-or-no answers
    annotator test      of participants who are machines, on request

Each question is measured separately. With more than `MOST_QUESTIONS`, as in most semantic differentials, strengths,
contrasts, order effects and decisions are only computed for a named question. By default, only trials with the function
`test` are used.

The dimensions of a semantic differential are computed step by step, as studies of perceived quality report them. The
number of factors is by default that of parallel analysis, reported beside other rules. Researchers decide which pairs
to leave out: see `karat.measure.reduce_pairs`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from karat.executors import SERIAL, Executor
from karat.judgments import Judgments
from karat.judgments.scales import Binary, Choice, Nominal
from karat.judgments.trial_order import order_is_known
from karat.measure.effects.contrasts import Contrasts, contrasts
from karat.measure.effects.data import family_of
from karat.measure.effects.order_effects import order_effects
from karat.measure.effects.planned import planned_choices, planned_contrasts
from karat.measure.measured import Excluded, Measure, nobody
from karat.measure.measures import Measures
from karat.measure.pairs.compare import compare_decisions
from karat.measure.pairs.decisions import decisions
from karat.measure.pairs.measure_correlations import compare_measures
from karat.measure.rated import Rated, known_column, rated
from karat.measure.reliability.agreement import agreement
from karat.measure.reliability.annotator_test import MARGIN, annotator_test, machine_names
from karat.measure.reliability.decision_study import decision_study
from karat.measure.reliability.noise_ceiling import noise_ceiling
from karat.measure.reliability.stability import group_of, grouped, stability
from karat.measure.result import MeasureError
from karat.measure.scaling.strengths import MODELS, strengths
from karat.messages import Message, NotComputed, message_of
from karat.types import NamedSteps

if TYPE_CHECKING:
    from karat.measure.dimensions.factors import Factors
    from karat.measure.dimensions.matrix import RatingsMatrix
    from karat.measure.dimensions.number_of_factors import NumberOfFactors
    from karat.study.study import Study

OF_ONE_QUESTION = ("strengths", "contrasts", "order effects", "decisions")


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
    samples: int | None = None,
    bayes: bool = False,
    machines: Sequence[str] = (),
    margin: float = MARGIN,
) -> Measures:
    """Compute everything that applies to these judgments; `skipped` has the reasons for missing results.

    `models` are those of `strengths`, `formula` and `conditions` those of `contrasts`, `pairs` those of `decisions`,
    `by` that of `stability`; `factors` is the number of dimensions, by default that of parallel analysis. `posterior`
    samples the full posterior of Thurstone's model. With a `study`, its factors are the conditions, and its planned
    contrasts are reported. `without` leaves out participants: see `karat.measure.measured`. `executor` computes
    bootstrap samples (`karat.executors.open_executor`); `samples` is their number, 0 for no intervals.
    `bayes` adds the posteriors of the planned comparisons, by `bayes_contrasts`. `machines` are participants who are
    left out of all measures and compared with the others by `annotator_test` with `margin`.

    >>> import karat
    >>> measures = run(karat.simulate.crowd(20, 24))
    >>> [part.name for part in measures.parts]
    ['strengths', 'order effects', 'agreement', 'noise ceiling', 'decision study', 'consensus']
    >>> sorted(measures.skipped)
    ['contrasts', 'decisions', 'stability']
    """
    excluded = without or nobody()
    remaining = judgments.without(excluded.participants) if excluded.participants else judgments
    if question is not None and question not in remaining.scales:
        raise MeasureError(Message("run.no_question", {"question": question, "questions": list(remaining.scales)}))
    with_machines = remaining if question is None else _only(remaining, question)
    machine_people = machine_names(with_machines, machines)
    judgments = with_machines.without(machine_people) if machine_people else with_machines
    for name in conditions or []:
        known_column(judgments.frame, name, "measure")
    questions = rated(judgments, "measure", functions, [], once=None)
    chosen = _conditions(judgments, conditions, study, functions)
    job = _Run(
        judgments, tuple(models), formula, pairs, chosen, tuple(functions), by, posterior, level, seed, study, progress,
        executor, samples, bayes, len(questions) > 1,
    )  # fmt: skip
    job.check_models(questions)
    differential = question is None and is_differential(questions)
    if differential and len(questions) > MOST_QUESTIONS:
        for name in OF_ONE_QUESTION:
            values = {"n": len(questions), "most": MOST_QUESTIONS, "question": questions[0].question}
            job.skipped[name] = NotComputed("run.differential", values)
    else:
        for answers in questions:
            job.one_question(answers)
        job.correlations()
    if differential:
        dimensions(judgments, job.functions, factors, level, seed, job.add)
    job.together(questions)
    if machine_people:
        compared = partial(annotator_test, with_machines, machines, margin, functions, chosen, level)
        job.add("annotator test", compared, must=True)
    settings = {
        "models": list(models), "formula": formula, "question": question, "conditions": chosen,
        "functions": list(functions), "by": by, "factors": factors, "posterior": posterior, "level": level,
        "seed": seed, "bayes": bayes, **({"machines": machine_people, "margin": margin} if machine_people else {}),
    }  # fmt: skip
    fingerprint = None if study is None else study.fingerprint
    return Measures(judgments, tuple(job.parts), job.skipped, excluded, settings, fingerprint)


def _only(judgments: Judgments, *questions: str) -> Judgments:
    """The judgments of some questions."""
    frame = judgments.frame
    if "question" in frame.columns:
        frame = frame.filter(pl.col("question").fill_null("").is_in(list(questions)))
    return judgments.with_frame(frame, scales={name: judgments.scales[name] for name in questions})


def _conditions(
    judgments: Judgments, conditions: Sequence[str] | None, study: Study | None, functions: Sequence[str]
) -> list[str] | None:
    """The named conditions, or the factors of the study; None if each measure determines them."""
    if conditions is not None:
        return list(conditions)
    if study is not None:
        rows = judgments.frame.filter(pl.col("function").is_in(list(functions)))
        names = dict.fromkeys(name for block in study.blocks for name in block.settings.factors)
        return [name for name in names if name in rows.columns and rows[name].drop_nulls().n_unique() > 1] or None
    return None


MOST_QUESTIONS = 6
"""The most questions about the same texts that have models by default."""
MOST_LINES = 6
"""The most conditions with separate courses along the questionnaire."""
MOST_GROUPS = 20
"""The most sessions or sources that are compared in pairs by default."""
MOST = 200_000
"""The most answers for models with slopes by default."""


@dataclass
class _Run:
    """The request, the results so far, and the reasons for missing ones."""

    judgments: Judgments
    models: tuple[str, ...]
    formula: str | None
    pairs: Any
    conditions: list[str] | None
    functions: tuple[str, ...]
    by: str | None
    posterior: bool
    level: float
    seed: int
    study: Study | None
    progress: NamedSteps
    executor: Executor
    samples: int | None
    bayes: bool
    several: bool
    """Whether there are several questions."""
    parts: list[Measure] = field(default_factory=list)
    skipped: dict[str, NotComputed] = field(default_factory=dict)

    def add(
        self, name: str, compute: Callable[[], Any], question: str = "", label: str = "", must: bool = False
    ) -> Any:
        """Compute a part and keep it, or the reason why it is missing; with `must`, the reason is an error."""
        heading = Measure(name, None, question, label).heading
        try:
            with self.progress(f"measuring {heading}"):
                result = compute()
        except MeasureError as error:
            if must:
                raise
            self.skip(heading, message_of(error))
            return None
        self.parts.append(Measure(name, result, question, label))
        return result

    def skip(self, heading: str, reason: Message) -> None:
        """Keep the reason why a part is missing."""
        self.skipped[heading] = NotComputed(reason.code, reason.values)

    def check_models(self, questions: list[Rated]) -> None:
        """Refuse models that fit no question."""
        fitting = {model for question in questions for model in MODELS.get(question.scale.kind, ())}
        kinds = list(dict.fromkeys(question.scale.kind for question in questions))
        for model in self.models:
            if model not in fitting:
                values = {"model": model, "kinds": kinds, "models": sorted(fitting)}
                code = "strengths.no_model" if fitting else "run.no_models"
                raise MeasureError(Message(code, values))
        if self.posterior and "thurstone" not in fitting:
            raise MeasureError(Message("run.no_posterior", {"kinds": kinds}))

    def one_question(self, one: Rated) -> None:
        """Strengths, contrasts, order effects and decisions of one question."""
        judgments = _only(self.judgments, one.question) if self.several else self.judgments
        question = one.question if self.several else ""
        models: list[str | None] = [model for model in self.models if model in MODELS.get(one.scale.kind, ())]
        models = models or ["thurstone" if self.posterior and isinstance(one.scale, Choice) else None]

        def options(model: str | None) -> dict[str, Any]:
            full = self.posterior and model == "thurstone"
            named = {"conditions": self.conditions, "functions": self.functions}
            return {"model": model, "posterior": full, "seed": self.seed, **named}

        compute: Callable[[], Any]
        for model in models:
            compute = partial(strengths, judgments, level=self.level, **options(model))
            self.add("strengths", compute, question, model or "", must=options(model)["posterior"])
        result = self._contrasts(judgments, one, question)
        if not order_is_known(judgments.frame.columns):
            self.skip("order effects", NotComputed("order.needed", {"name": "order_effects"}))
        elif len(judgments) > MOST:
            self.skip("order effects", NotComputed("run.order_size", {"most": MOST}))
        else:
            by = _drawn_factors(judgments, result) if self.conditions is None else self.conditions
            compute = partial(order_effects, judgments, by, functions=self.functions, level=self.level)
            self.add("order effects", compute, question)
        decided = {}
        for model in models:
            compute = partial(decisions, judgments, self.pairs, alpha=1 - self.level, **options(model))
            must = self.pairs is not None and not self.several
            result = self.add("decisions", compute, question, model or "", must)
            if result is not None:
                decided[model or "usual"] = result
        if len(decided) > 1:
            compute = partial(compare_decisions, decided, level=self.level, seed=self.seed)
            self.add("decisions compared", compute, question)

    def _contrasts(self, judgments: Judgments, answers: Rated, question: str) -> Contrasts | None:
        """The contrasts of the design, or of the formula; and the planned ones."""
        options: dict[str, Any] = {"functions": self.functions, "level": self.level}
        blocks = () if self.study is None else self.study.blocks
        levels = {name: factor.levels for block in blocks for name, factor in block.settings.factors.items()}

        def compute() -> Contrasts:
            if self.formula is not None:
                return contrasts(judgments, self.formula, **options)
            # Refuses choices and labels, whatever columns there are.
            family_of(answers.scale, "contrasts")
            if len(judgments) > MOST:
                raise MeasureError(Message("run.contrasts_size", {"most": MOST}))
            return contrasts(judgments, conditions=self.conditions, levels=levels, **options)

        fitted = self.add("contrasts", compute, question, must=self.formula is not None and not self.several)
        plan = [] if self.study is None else self.study.settings.contrast
        if plan and fitted is not None:
            self.add("planned", lambda: planned_contrasts(plan, fitted), question)
        elif plan and all(isinstance(scale, Choice) for scale in judgments.scales.values()):
            self.add("planned", lambda: planned_choices(plan, judgments, **options), question)
        elif plan:
            without, planned = (Measure(name, None, question).heading for name in ("contrasts", "planned"))
            self.skip(planned, self.skipped[without])
        if self.bayes:
            from karat.measure.effects.bayes import bayes_contrasts
            from karat.models.glrm.bayes import Priors

            bayes = None if self.study is None else self.study.settings.bayes
            if bayes is not None:
                options |= {"link": bayes.link, "unequal": bayes.unequal, "priors": Priors(**bayes.priors)}
            options |= {"conditions": self.conditions if self.formula is None else None, "seed": self.seed}
            posteriors = partial(bayes_contrasts, judgments, self.formula, plan, levels=levels, **options)
            self.add("bayes", posteriors, question, must=not self.several)
        return fitted  # type: ignore[no-any-return]

    def correlations(self) -> None:
        """How strengths by different models, or from different questions, order the same stimuli."""
        strengths_by_name = {
            ", ".join(name for name in (part.question, part.label or part.result.model) if name): part.result
            for part in self.parts
            if part.name == "strengths"
        }
        if len(strengths_by_name) > 1:
            self.add("measures", lambda: compare_measures(strengths_by_name, level=self.level, seed=self.seed))

    def together(self, questions: list[Rated]) -> None:
        """Measures on all questions: agreement, ceiling, decision study, stability and consensus."""
        options: dict[str, Any] = {
            "functions": self.functions, "conditions": self.conditions, "level": self.level, "seed": self.seed,
            **({} if self.samples is None else {"samples": self.samples}),
        }  # fmt: skip
        judgments = self.judgments
        self.add("agreement", lambda: agreement(judgments, executor=self.executor, **options))
        if len(judgments) > MOST:
            self.skip("noise ceiling", NotComputed("run.samples_size", {"most": MOST}))
        else:
            self.add("noise ceiling", lambda: noise_ceiling(judgments, executor=self.executor, **options))
        self.add("decision study", lambda: decision_study(judgments, **options))
        self._stability(options)
        labelled = [answers for answers in questions if isinstance(answers.scale, Nominal | Binary)]
        shared = (
            answers.rows.select("item", "participant").n_unique() > answers.rows["item"].n_unique()
            for answers in labelled
        )
        if labelled and not any(shared):
            self.skip("consensus", NotComputed("noise_ceiling.no_shared_stimulus", {"question": None}))
            return
        if not labelled:
            kinds = list(dict.fromkeys(answers.scale.kind for answers in questions))
            levels = questions[0].scale.levels if kinds == ["ordinal"] else ()
            scale = {"scale": f"nominal:{','.join(map(str, levels))}"} if levels and len(questions) == 1 else {}
            self.skip("consensus", NotComputed("run.no_labels", {"kinds": kinds, **scale}))
            return
        compared = {part.question for part in self.parts if part.name == "contrasts"}
        named = [(answers, answers.question if self.several else "") for answers in labelled]
        labels = [answers for answers, question in named if question not in compared or not _of_conditions(answers)]
        if not labels:
            read = f"nominal:{','.join(labelled[0].scale.levels)}"
            self.skip("consensus", NotComputed("run.compared", {"scale": read}))
            return
        labelled = labels
        from karat.measure.consensus import consensus

        labels_only = (
            judgments
            if len(labelled) == len(questions)
            else _only(judgments, *(answers.question for answers in labelled))
        )
        conditions = self.conditions
        if conditions is None:
            conditions = judgments.stimuli(labelled[0].scale).varying(labelled[0].rows)
        self.add("consensus", lambda: consensus(labels_only, functions=self.functions, conditions=conditions))

    def _stability(self, options: dict[str, Any]) -> None:
        """Test-retest comparisons by the named column, else by session, repetition or source."""
        groups = {name: _groups(self.judgments, name) for name in (self.by, "session", "repetition", "source") if name}
        by = self.by or next((name for name, number in groups.items() if number > 1), None)
        if by is None:
            self.skip("stability", NotComputed("run.one_group"))
            return
        if self.by is None and groups[by] > MOST_GROUPS:
            self.skip("stability", NotComputed("run.many_groups", {"by": by, "n": groups[by], "most": MOST_GROUPS}))
            return
        parts = [part for part in self.parts if part.name == "decisions"]
        decided = self._decisions_by_group(by, parts[0].label or None) if parts and not self.several else None
        compute = partial(stability, self.judgments, by, decisions=decided, **options)
        self.add("stability", compute, must=self.by is not None)

    def _decisions_by_group(self, by: str, model: str | None) -> dict[str, Any] | None:
        """The decisions of each group; None, and a reason, if a group has none."""
        options: dict[str, Any] = {"conditions": self.conditions, "functions": self.functions}
        try:
            whole, groups, _ = grouped(self.judgments, by)
            with self.progress(f"measuring decisions by {by}"):
                return {
                    group: decisions(
                        group_of(whole, group), self.pairs, model, alpha=1 - self.level, **options
                    ).frame
                    for group in groups
                }  # fmt: skip
        except MeasureError as error:
            self.skip(f"stability of decisions by {by}", message_of(error))
            return None


def _of_conditions(answers: Rated) -> bool:
    """Whether the right answer to an item may depend on its condition: yes or no, without a key."""
    keyed = "expected" in answers.rows.columns and answers.rows["expected"].null_count() < answers.rows.height
    return isinstance(answers.scale, Binary) and not keyed


def _drawn_factors(judgments: Judgments, contrasts: Contrasts | None) -> list[str] | None:
    """The factors of the contrasts, if a figure has room for a line for each condition; otherwise none."""
    if contrasts is None or not contrasts.factors:
        return None
    names = [name for name in contrasts.factors if name in judgments.frame.columns]
    cells = judgments.frame.filter(pl.col("function") == "test").select(names).drop_nulls().n_unique() if names else 0
    return names if cells <= MOST_LINES else []


def _groups(judgments: Judgments, name: str) -> int:
    """The number of groups of judgments by a column."""
    tables = (table for table in (judgments.frame, judgments.participants) if name in table.columns)
    return next((table[name].drop_nulls().n_unique() for table in tables), 0)


FEWEST = 3
"""The fewest questions about a text in a semantic differential."""
RULE = "parallel analysis (factors)"


def is_differential(questions: Sequence[Rated]) -> bool:
    """Whether participants rated the same texts on several pairs of adjectives."""
    pairs = [question for question in questions if not isinstance(question.scale, Choice | Nominal)]
    if len(pairs) < FEWEST:
        return False
    cases = pl.concat(pair.rows.select("participant", "item", question=pl.lit(pair.question)) for pair in pairs)
    median = cases.group_by("participant", "item").agg(pl.col("question").n_unique())["question"].median()
    return float(median or 0) >= FEWEST  # type: ignore[arg-type]


def dimensions(
    judgments: Judgments, functions: Sequence[str], number: int | None, level: float, seed: int, add: Callable[..., Any]
) -> None:
    """Compute each step by `add`, which returns None if a step could not be computed."""
    from karat.measure.dimensions.adequacy import adequacy
    from karat.measure.dimensions.matrix import ratings_matrix
    from karat.measure.dimensions.number_of_factors import number_of_factors
    from karat.measure.dimensions.profiles import dimension_scores, profiles

    matrix: RatingsMatrix | None = add("ratings", lambda: ratings_matrix(judgments, functions=functions))
    if matrix is not None:
        add("adequacy", lambda: adequacy(matrix))
        rules = add("number of factors", lambda: number_of_factors(matrix, seed=seed))
        solution = add("factors", lambda: _factors(matrix, rules, number), must=number is not None)
        if solution is not None:
            add("scores", lambda: dimension_scores(solution, level=level))
    add("profiles", lambda: profiles(judgments, functions=functions, level=level))


def _factors(matrix: RatingsMatrix, rules: NumberOfFactors | None, number: int | None) -> Factors:
    from karat.measure.dimensions.factors import factors

    if number is not None:
        return factors(matrix, number)
    if rules is None:
        raise MeasureError(Message("dimensions.unknown_number"))
    number = rules.number(RULE)
    if not number:
        raise MeasureError(Message("dimensions.no_factors"))
    return factors(matrix, number)
