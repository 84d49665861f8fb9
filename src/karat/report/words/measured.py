"""How it is measured, in sentences: the model of each measure with its formula and literature, and the software."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from karat import __version__
from karat.judgments.scales import Choice, Nominal
from karat.languages.language import Language
from karat.measure.effects.contrasts import Contrasts
from karat.measure.effects.data import design_formula, family_of
from karat.measure.measured import Measure
from karat.measure.measures import Measures
from karat.measure.result import MeasureError
from karat.measure.scaling.strengths import MODELS
from karat.messages import NotComputed, render
from karat.report.words.criteria import citation

if TYPE_CHECKING:
    from karat.study.plan import Block
    from karat.study.study import Study

AGREEMENT = {"Krippendorff": "krippendorff2004", "ICC": "mcgraw1996"}
"""How names of coefficients begin, and where they come from."""


def measured(
    language: Language, measures: Measures | NotComputed, study: Study | None, versions: dict[str, str]
) -> list[str]:
    """What was measured, and with which software."""
    others = ", ".join(f"{name} {version}" for name, version in versions.items() if name != "karat")
    software = language.say("software", karat=versions.get("karat", __version__), others=others)
    if isinstance(measures, NotComputed):
        return [language.say("unmeasured", why=render(measures, language.code)), software]
    told = [_analysed(language, measures.settings["functions"], measures.settings["level"])]
    for part in measures.parts:
        text = _part(language, part, study)
        if text and part.question:
            text = language.say("question", text=text, question=part.question)
        told.append(text)
    return [*dict.fromkeys(text for text in told if text), software]


def to_be_measured(language: Language, study: Study) -> list[str]:
    """What will be measured by default in the design of the study."""
    told = [_analysed(language, ("test",), 0.95)]
    formulas = False
    for block in study.blocks:
        texts = _block(language, block, study)
        formulas = formulas or any("~" in text for text in texts)
        told += texts
    told += [language.say("simplify")] if formulas else []
    told += _planned(language, study)
    return [*dict.fromkeys(told), language.say("software.planned", karat=__version__)]


def _analysed(language: Language, functions: Any, level: float) -> str:
    return language.say("analysed", functions=language.several(list(functions)), level=language.share(level))


def _part(language: Language, part: Measure, study: Study | None) -> str:
    """The sentence on one result; empty for results that belong to another."""
    if part.name == "strengths":
        stimuli = language.counted(part.result.frame.height, "stimulus")
        return language.say(f"strengths.{part.result.model}", stimuli=stimuli)
    if part.name == "contrasts":
        return _contrasts(language, part.result)
    if part.name == "planned":
        return "" if study is None else " ".join(_planned(language, study))
    if part.name == "agreement":
        names = part.result.coefficients["coefficient"].unique(maintain_order=True).to_list()
        keys = [key for start, key in AGREEMENT.items() if any(name.startswith(start) for name in names)]
        told = language.several([str(name) for name in names])
        return language.say("part.agreement", coefficients=told, cites=citation(tuple(keys)))
    return language.say(f"part.{part.name}") if language.knows(f"part.{part.name}") else ""


def _contrasts(language: Language, found: Contrasts) -> str:
    family = found.settings.get("family") or (found.model.family if found.model else "gaussian")
    told = [language.say(f"contrasts.{family}", formula=f"`{found.formula}`")]
    if found.simplified and found.model is not None:
        left = " + ".join(str(term) for term in found.model.fit.terms)
        times = language.counted(len(found.simplified), "step")
        told.append(language.say("simplified", times=times, formula=f"`{left}`"))
    return " ".join(told)


def _planned(language: Language, study: Study) -> list[str]:
    """The comparisons that the study file plans."""
    told = []
    for one in study.settings.contrast:
        levels = language.several([f"{name} = {level}" for name, level in one.within.items()])
        within = language.say("contrast.within", levels=levels) if one.within else ""
        first, second = one.sides
        factor = " × ".join(one.own)
        told.append(language.say("contrast", name=one.name, factor=factor, first=first, second=second, within=within))
    return [language.say("planned contrasts", contrasts="; ".join(told))] if told else []


def _block(language: Language, block: Block, study: Study) -> list[str]:
    """The measures that apply to a block."""
    stimuli = language.say("all stimuli")
    if block.questions is not None:
        return [language.say("part.factors")]
    kind, told = block.scale.kind, []
    if isinstance(block.scale, Choice):
        model = "thurstone" if block.scale.none else "bradley-terry"
        told.append(language.say(f"strengths.{model}", stimuli=stimuli))
    elif kind in MODELS:
        told.append(language.say(f"strengths.{MODELS[kind][0]}", stimuli=stimuli))
    formula = _formula(block, study)
    if formula is not None:
        family = family_of(block.scale, "contrasts")
        told.append(language.say(f"contrasts.{family}", formula=f"`{formula}`"))
    if isinstance(block.scale, Nominal):
        told.append(language.say("part.consensus"))
    return told


def _formula(block: Block, study: Study) -> str | None:
    """The formula that the planned trials of all participants ask for; None where there is nothing to compare."""
    names = [name for name in block.settings.factors if name != block.settings.compared]
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
