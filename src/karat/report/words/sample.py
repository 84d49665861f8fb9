"""Sentences on participants: the recruitment in the study file, and the background of those who took part."""

import polars as pl

from karat.judgments import Judgments
from karat.languages.language import Language
from karat.report.counts import background_columns, commonest, days, working_time
from karat.simulate.behaviours import simulated
from karat.study.study import Study

PLATFORMS = {"prolific": "Prolific", "mturk": "MTurk", "crowdee": "Crowdee"}
"""The spelling of platforms."""
MOST_ANSWERS = 8
"""The most different answers to a background question that a sentence counts."""


def platform_name(source: str, language: Language) -> str:
    """The spelling of a platform; an unknown one is spelled as in the file."""
    return language.say("source.link") if source == "link" else PLATFORMS.get(source, source)


def simulated_notice(language: Language, judgments: Judgments, key: str = "simulated") -> list[str]:
    """The notice that all or some answers are simulated; empty if none is."""
    people = judgments.participants
    number = simulated(people)
    if not number:
        return []
    if number == people.height:
        return [language.say(key)]
    return [language.say(f"{key}.some", number=number, participants=people.height)]


def recruited(language: Language, study: Study) -> list[str]:
    """The recruitment that the study file states."""
    settings = study.settings
    recruitment = settings.recruitment
    platform = platform_name(recruitment.platform, language)
    sentences = [language.say("platform", platform=platform, number=recruitment.participants)]
    sentences += _sample_size(language, study)
    if recruitment.minutes is not None:
        whole = recruitment.minutes == int(recruitment.minutes)
        whole_minutes = language.counted(int(recruitment.minutes), "minute")
        sentences.append(
            language.say("minutes", minutes=whole_minutes if whole else f"{language.number(recruitment.minutes)} min")
        )
    if recruitment.hourly_pay is not None:
        sentences.append(language.say("pay", pay=recruitment.hourly_pay, currency=recruitment.currency))
    for one_question in settings.background:
        if one_question.eligible:
            answers = [language.quoted(answer) for answer in one_question.eligible]
            sentences.append(language.say("eligible", answers=answers, question=one_question.question))
    others = [_words(question.name) for question in settings.background if not question.eligible]
    if others:
        sentences.append(language.say("asked", columns=others))
    if settings.texts.consent:
        sentences.append(language.say("consent"))
    if settings.ethics:
        sentences.append(language.say("ethics", ethics=settings.ethics.strip().removesuffix(".")))
    return sentences


def _sample_size(language: Language, study: Study) -> list[str]:
    """The reason for the sample size, if `karat power --write` recorded a simulation."""
    power = study.settings.power
    if power is None:
        return []
    effect = language.say("effect", effect=power.effect, unit=language.say(f"unit.{power.unit}"))
    return [
        language.say(
            "sample size", contrast=power.contrast, effect=effect, power=power.power, participants=power.participants,
            items=power.items, alpha=language.probability(power.alpha), simulations=power.simulations,
            exclude=power.exclude or None,
        )
    ]  # fmt: skip


def _words(column: str) -> str:
    return column.replace("_", " ")


def took_part(language: Language, judgments: Judgments, study: Study | None) -> list[str]:
    """All participants before exclusions: number, sources, days, working times and background."""
    people = judgments.participants
    if 0 < people.height == simulated(people):
        # Days, working times and backgrounds of simulated participants are invented too.
        return [language.say("simulated.took part", participants=people.height)]
    sentences = [language.say("took part", participants=people.height)]
    sentences += _sources(language, people, study)
    sentences += _when(language, judgments)
    taken = working_time(people)
    if taken:
        ends = {"median": taken["median"], "low": taken["shortest"], "high": taken["longest"]}
        sentences.append(language.say(f"working.{taken['unit']}", **ends))
    background = []
    for name in background_columns(people, study):
        column = people[name]
        if column.dtype.is_numeric() and column.drop_nulls().len():
            low, middle, high = (float(value) for value in (column.min(), column.median(), column.max()))  # type: ignore[arg-type]
            values = {"low": low, "median": middle, "high": high}
            background.append(language.say("background.number", column=_words(name), **values))
        elif 0 < column.drop_nulls().n_unique() <= MOST_ANSWERS:
            background.append(language.say("background.counts", column=_words(name), counts=_counts(language, column)))
    if background:
        sentences.append(language.say("background", columns="; ".join(background)))
    return sentences


def _sources(language: Language, people: pl.DataFrame, study: Study | None) -> list[str]:
    """The sources of participants, unless all came from the platform of the study."""
    if "source" not in people.columns or not people["source"].drop_nulls().len():
        return []
    sources = people["source"].cast(pl.String)
    if study is not None and set(sources) == {study.settings.recruitment.platform}:
        return []
    named = sources.map_elements(lambda source: platform_name(source, language), return_dtype=pl.String)
    counts = [named[0]] if named.n_unique() == 1 else _counts(language, named)
    return [language.say("sources", counts=counts)]


def _counts(language: Language, column: pl.Series) -> list[str]:
    """The count of each answer, the commonest first."""
    sentences = [language.say("count", value=value, number=number) for value, number in commonest(column).items()]
    if column.null_count():
        sentences.append(language.say("count.missing", number=column.null_count()))
    return sentences


def _when(language: Language, judgments: Judgments) -> list[str]:
    """The first and the last day of answers, if known."""
    dates = days(judgments)
    if not dates:
        return []
    first, last = (language.date(day) for day in dates)
    return [language.say("when.day" if first == last else "when", first=first, last=last)]
