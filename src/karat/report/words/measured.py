"""Sentences on measures: the model of each with its formula and literature, and the software."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from karat import __version__
from karat.judgments.scales import Binary, Choice, Continuous, Nominal, Ordinal, Scale
from karat.languages.language import Language
from karat.measure.effects.contrasts import Contrasts
from karat.measure.effects.data import design_formula, family_of
from karat.measure.effects.planned import PREFERENCE, PlannedContrasts
from karat.measure.measured import Measure
from karat.measure.measures import Measures
from karat.measure.reliability.agreement import ALPHA, LEVEL, Agreement
from karat.measure.reliability.noise_ceiling import MEANS
from karat.measure.result import MeasureError
from karat.measure.scaling.strengths import MODELS
from karat.messages import NotComputed, render, with_code
from karat.report.comparisons import RIGHT
from karat.report.words.exclusions import citation

if TYPE_CHECKING:
    from karat.study.plan import Block
    from karat.study.study import Study

AGREEMENT = {"Krippendorff": "krippendorff2004", "ICC": "mcgraw1996"}
"""The literature of coefficients, by the beginning of their names."""
CHOSEN = ("ordinal", "interval", "nominal")
"""The kinds of Krippendorff's alpha, the preferred one first."""
SLOPES_LEFT_OUT = "contrasts.too_many_slopes"
MOST_CELLS = 12
"""The most conditions whose means are in a sentence."""


def measured(
    language: Language, measures: Measures | NotComputed, study: Study | None, versions: dict[str, str],
    right: Contrasts | None = None,
) -> list[str]:  # fmt: skip
    """The measures and the software; if answers have a key, `right` is the model of right ones."""
    others = ", ".join(f"{name} {version}" for name, version in versions.items() if name != "karat")
    software = language.say("software", karat=versions.get("karat", __version__), others=others)
    if isinstance(measures, NotComputed):
        return [language.say("unmeasured", why=render(measures, language.code)), software]
    functions = measures.settings["functions"]
    every = set(measures.judgments.frame["function"]) <= set(functions)
    sentences = [_analysed(language, () if every else functions, measures.settings["level"])]
    if right is not None:
        sentences += [*_contrasts(language, right, "right"), *_means(language, right, Binary(RIGHT))]
    scales = measures.judgments.scales
    questions: dict[str, list[str]] = {}
    for part in measures.parts:
        for text in _part(language, part, study, scales.get(part.question) or next(iter(scales.values()))):
            questions.setdefault(text, []).append(part.question)
    # A sentence that is the same for all questions appears once.
    for text, names in questions.items():
        every = "" in names or set(names) == set(scales)
        sentences.append(text if every else language.say("question", text=text, question=language.several(names)))
    sentences += _means_of_questions(language, measures)
    return [*sentences, software]


def to_be_measured(language: Language, study: Study) -> list[str]:
    """The default measures for the design of the study."""
    sentences = [_analysed(language, ("test",), 0.95)]
    formulas = False
    for block in study.blocks:
        texts = _block(language, block, study)
        formulas = formulas or any("~" in text for text in texts)
        sentences += texts
    sentences += [language.say("simplify")] if formulas else []
    compared = any(block.settings.compared for block in study.blocks) and study.settings.contrast
    sentences += [language.say("contrasts.choice", formula=f"`{PREFERENCE}`")] if compared else []
    sentences += _planned(language, study)
    sentences += [_bayes(language, study.settings.bayes.priors)] if study.settings.bayes is not None else []
    return [*dict.fromkeys(sentences), language.say("software.planned", karat=__version__)]


def _analysed(language: Language, functions: Sequence[str], level: float) -> str:
    """The analysed trials, if not all, and the level of intervals."""
    names = [language.texts.get(f"function.{name}", name) for name in functions]
    trials = language.say("trials", functions=language.several(names))
    return language.say("analysed", functions=trials if names else None, level=level)


def _part(language: Language, part: Measure, study: Study | None, scale: Scale) -> list[str]:
    """The sentences on one result; empty for results without their own."""
    if part.name == "strengths":
        judged = _judged(language, language.counted(part.result.frame.height, "stimulus"), study)
        return [language.say(f"strengths.{part.result.model}", judged=judged)]
    if part.name == "contrasts":
        # The means of several questions come together, after the sentences on all of them.
        means = [] if part.question else _means(language, part.result, scale)
        return [*_contrasts(language, part.result), *means]
    if part.name == "planned":
        planned = [] if study is None else _planned(language, study)
        return [*_choices(language, part.result), *planned] if isinstance(scale, Choice) else planned
    if part.name == "bayes":
        return [_bayes(language, part.result.settings["priors"])]
    if part.name == "agreement":
        return _agreement(language, part.result)
    if part.name == "order effects":
        measures = [language.say(f"order.{name}") for name in part.result.frame["measure"].unique(maintain_order=True)]
        conditions = language.say("order.conditions") if part.result.by else None
        return [language.say("part.order effects", measures=measures, conditions=conditions)]
    if part.name == "noise ceiling" and MEANS not in part.result.ceilings["ceiling"].to_list():
        return [language.say("part.noise ceiling.labels")]
    return [language.say(f"part.{part.name}")] if language.knows(f"part.{part.name}") else []


def _judged(language: Language, stimuli: str, study: Study | None) -> str:
    """The stimuli, with acceptability if the study asks for it."""
    has_acceptability = study is not None and any(block.task.acceptability for block in study.blocks)
    return language.say("judged.acceptability" if has_acceptability else "judged", stimuli=stimuli)


def _bayes(language: Language, priors: Mapping[str, float]) -> str:
    return language.say("bayes", **priors)


def _agreement(language: Language, agreement: Agreement) -> list[str]:
    """The coefficient of each question that fits its scale best; the report has the others."""
    several = agreement.coefficients["question"].n_unique() > 1
    estimates: dict[str, list[str]] = {}
    cites = {}
    for (question,), rows in agreement.coefficients.group_by("question", maintain_order=True):
        coefficients = {str(row["coefficient"]): row for row in rows.to_dicts() if row["estimate"] is not None}
        alphas = {f"{ALPHA} ({kind})": language.say(f"alpha.{kind}") for kind in CHOSEN}
        name = next((name for name in (*alphas, *coefficients) if name in coefficients), None)
        if name is None:
            continue
        row, called = coefficients[name], alphas.get(name, name)
        keys = tuple(key for start, key in AGREEMENT.items() if name.startswith(start))
        text = language.say(
            "agreement.estimate", level=agreement.settings.get("level", LEVEL),
            question=str(question) if several else None, **{name: row[name] for name in ("estimate", "lower", "upper")},
        )  # fmt: skip
        estimates.setdefault(called, []).append(text)
        cites[called] = citation(keys)
    return [
        language.say("part.agreement", coefficient=called, cites=cites[called], estimates=texts)
        for called, texts in estimates.items()
    ]


def _means_of_questions(language: Language, measures: Measures) -> list[str]:
    """The means of each question; empty if all questions together have too many."""
    parts = [part for part in measures.parts if part.name == "contrasts" and part.question]
    scales = measures.judgments.scales
    most = MOST_CELLS // max(len(parts), 1)
    sentences = (_means(language, part.result, scales[part.question], part.question, most) for part in parts)
    return [text for texts in sentences for text in texts]


def _means(
    language: Language, contrasts: Contrasts, scale: Scale, question: str = "", most: int = MOST_CELLS
) -> list[str]:
    """The plain mean and standard deviation of each condition, on the scale of the answers."""
    about = question or None
    if not {"raw", "sd"} <= set(contrasts.means.columns) or not isinstance(scale, Binary | Ordinal | Continuous):
        return []
    terms = contrasts.means["term"].unique(maintain_order=True).to_list()
    rows = contrasts.means.filter(pl.col("term") == terms[-1], pl.col("raw").is_not_null(), pl.col("raw").is_not_nan())
    if not 1 < rows.height <= most:
        return []
    binary, cells = isinstance(scale, Binary), []
    for row in rows.iter_rows(named=True):
        levels = ", ".join(str(row[name]) for name in contrasts.factors if row[name] is not None)
        if binary:
            cells.append(language.say("mean.binary", mean=row["raw"], levels=levels))
        else:
            sd = "–" if row["sd"] is None else language.number(row["sd"], 2)
            cells.append(language.say("mean", mean=row["raw"], sd=sd, levels=levels))
    if isinstance(scale, Binary):
        if scale.levels == RIGHT:
            return [language.say("means.right", cells=cells)]
        return [language.say("means.binary", answer=str(scale.levels[1]), cells=cells, question=about)]
    return [language.say("means", cells=cells, question=about)]


def _contrasts(language: Language, contrasts: Contrasts, key: str = "") -> list[str]:
    family = contrasts.settings.get("family") or (contrasts.model.family if contrasts.model else "gaussian")
    sentences = [language.say(f"contrasts.{key or family}", formula=f"`{contrasts.formula}`")]
    if contrasts.simplified and contrasts.model is not None:
        left = " + ".join(str(term) for term in contrasts.model.fit.terms)
        sentences.append(language.say("simplified", times=len(contrasts.simplified), formula=f"`{left}`"))
    groups = [render(note.values["group"], language.code) for note in with_code(contrasts.notes, SLOPES_LEFT_OUT)]
    sentences += [language.say("slopes left out", groups=groups)] if groups else []
    return sentences


def _planned(language: Language, study: Study) -> list[str]:
    """The sentence on the comparisons that the study file plans."""
    sentences = []
    for contrast in study.settings.contrast:
        levels = [f"{name} = {level}" for name, level in contrast.within.items()]
        within = language.say("contrast.within", levels=levels) if levels else ""
        first, second = contrast.sides_by(language.say("contrast.at"))
        factor = " × ".join(contrast.own)
        key = "contrast.factor" if factor == contrast.name else "contrast"
        sentences.append(
            language.say(key, name=contrast.name, factor=factor, first=first, second=second, within=within)
        )
    key = "planned contrasts" if len(sentences) > 1 else "planned contrast"
    return [language.say(key, contrasts="; ".join(sentences))] if sentences else []


def _choices(language: Language, planned: PlannedContrasts) -> list[str]:
    """The model of planned comparisons in choices, and its simplification."""
    sentences = [language.say("contrasts.choice", formula=f"`{PREFERENCE}`")]
    for note in with_code(planned.notes, "contrasts.simplified"):
        formula = f"`{note.values['terms']}`"
        sentences.append(language.say("simplified", times=note.values["steps"], formula=formula))
    return list(dict.fromkeys(sentences))


def _strengths_of_choices(language: Language, block: Block, study: Study, judged: str) -> list[str]:
    """The model of choices, if stimuli are compared outside their pair too; and tests, if pairs have a key."""
    place = study.blocks.index(block)
    trials = pl.concat([study.trials(place, number) for number in range(1, study.lists + 1)])
    tests = trials.filter(pl.col("function") == "test")
    pairs = {frozenset(sides) for sides in tests.select("left", "right").rows()}
    apart = len(pairs) > 1 and len(frozenset().union(*pairs)) == 2 * len(pairs)
    random = block.settings.pairs is not None and block.settings.pairs.random
    model = "thurstone" if isinstance(block.scale, Choice) and block.scale.none else "bradley-terry"
    texts = [language.say(f"strengths.{model}", judged=judged)] if random or not apart else []
    keyed = "expected" in tests.columns and tests["expected"].null_count() < tests.height
    return [*texts, *([language.say("part.decisions")] if keyed else [])]


def _block(language: Language, block: Block, study: Study) -> list[str]:
    """The measures that apply to a block."""
    if block.questions is not None:
        return [language.say("part.factors")]
    kind, texts = block.scale.kind, []
    judged = _judged(language, language.say("all stimuli"), study)
    if isinstance(block.scale, Choice):
        texts += _strengths_of_choices(language, block, study, judged)
    elif kind in MODELS:
        texts.append(language.say(f"strengths.{MODELS[kind][0]}", judged=judged))
    formula = _formula(block, study)
    if formula is not None:
        family = family_of(block.scale, "contrasts")
        texts.append(language.say(f"contrasts.{family}", formula=f"`{formula}`"))
    if isinstance(block.scale, Nominal):
        texts.append(language.say("part.consensus"))
    return texts


def _formula(block: Block, study: Study) -> str | None:
    """The formula for the planned trials of all participants; None if there is nothing to compare."""
    names = block.settings.condition_factors
    if not names:
        return None
    place = study.blocks.index(block)
    lists = [study.trials(place, number).filter(pl.col("function") == "test") for number in range(1, study.lists + 1)]
    people = study.settings.recruitment.participants
    rows = pl.concat(
        lists[number % len(lists)].select("item", *names).with_columns(participant=pl.lit(str(number)))
        for number in range(people)
    )
    try:
        family_of(block.scale, "contrasts")
        return design_formula(pl.concat([rows] * block.settings.rounds), names).text
    except MeasureError:
        return None
