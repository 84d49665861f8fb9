"""Sentences on exclusions: each criterion with its settings and counts, stage by stage, and the rule.

A criterion is a clause on what participants must meet, with every setting that is not the usual one. A setting that
has no place in the clause is appended by its name, so no stated setting is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from karat.errors import KaratError
from karat.judgments import Judgments
from karat.languages.language import Language
from karat.messages import NotComputed, render
from karat.screen.criteria.attention import attention
from karat.screen.criteria.controls import controls
from karat.screen.crowd.spammer_index import SpammerIndex
from karat.screen.evidence import Evidence
from karat.screen.rules import settings_of
from karat.screen.run import STAGES
from karat.screen.screening import Screening
from karat.study.criteria import CRITERIA, title_of
from karat.study.results import on_scales

if TYPE_CHECKING:
    from karat.study.study import Study

BY_TRIALS: dict[str, Callable[..., Evidence]] = {"controls": controls, "attention": attention}
"""Criteria that ask for a number of right answers."""


def excluded(
    language: Language, screening: Screening, study: Study | None, index: SpammerIndex | NotComputed
) -> list[str]:
    """The criteria with their counts in the order in which they ran, and how many participants were excluded.

    Without a rule nobody is excluded, and only the report has the flags of criteria.
    """
    sentences = [_rules_source(language, screening, study)]
    stages = _stages(language, screening.settings)
    if screening.exclude is not None:
        sentences += [_rule(language, screening.exclude), *stages, language.say("asks")]
    for step in screening.steps if screening.exclude is not None else ():
        here = [name for name in screening.settings if CRITERIA[name].stage == step.stage]
        sentences += [_criterion(language, screening, name) for name in here]
        if step.excluded and stages:
            counts = {"number": len(step.excluded), "entered": step.entered, "remained": step.remained}
            sentences.append(language.say("stage.excluded", **counts))
        elif here and stages:
            sentences.append(language.say("stage.nobody"))
    everyone, excluded_people = screening.judgments.participants.height, len(screening.excluded)
    if screening.exclude is not None:
        sentences.append(
            language.say("verdict", number=excluded_people, participants=everyone, kept=everyone - excluded_people)
        )
    if not isinstance(index, NotComputed):
        sentences.append(language.say("index", value=index.value, lower=index.lower, upper=index.upper))
    return sentences


def to_be_excluded(language: Language, study: Study) -> list[str]:
    """The criteria of the study file with all their settings, and the rule."""
    rules = study.screening_rules
    settings = {} if rules is None else settings_of(rules, study)
    if rules is None or not settings:
        return [language.say("no screening")]
    sentences = [_rule(language, rules["exclude"]), *_stages(language, settings), language.say("asks")]
    for stage in STAGES:
        for name, values in settings.items():
            if CRITERIA[name].stage == stage:
                evidence = planned_evidence(study, name, values)
                text = clause(language, name, values, "" if evidence is None else needed_answers(language, evidence))
                sentences.append(
                    language.say("planned", name=name_of(language, name), clause=text, cites=cites(name, values))
                )
    return [*sentences, language.say("nobody else")]


def _stages(language: Language, criteria: Iterable[str]) -> list[str]:
    """The sentence on the stages of the criteria; none if all are of one stage."""
    used = {CRITERIA[name].stage for name in criteria}
    names = [language.say(f"stage.{stage}") for stage in STAGES if stage in used]
    return [language.say("stages", number=len(names), stages=", ".join(names))] if len(names) > 1 else []


def _rules_source(language: Language, screening: Screening, study: Study | None) -> str:
    """Where the rules come from, or that there are none."""
    if screening.exclude is None:
        return language.say("rules.none")
    if study is None:
        return language.say("rules.given")
    rules = study.screening_rules
    same = (
        rules is not None
        and screening.study == study.fingerprint
        and screening.exclude == rules["exclude"]
        and screening.settings == settings_of(rules, study)
    )
    return language.say("rules.study" if same else "rules.other", fingerprint=study.fingerprint)


def _rule(language: Language, exclude: str | int) -> str:
    if isinstance(exclude, int):
        rule_words = language.say("rule.number", number=exclude)
    elif exclude in ("any", "all"):
        rule_words = language.say(f"rule.{exclude}")
    else:
        rule_words = language.say("rule.expression", rule=exclude)
    return language.say("rule", rule=rule_words)


def _criterion(language: Language, screening: Screening, name: str) -> str:
    """One criterion: its clause and the number it flagged, or why it could not run."""
    called = name_of(language, name)
    evidence = screening.evidence.get(name)
    if evidence is None:
        return language.say("skipped", name=called, why=render(screening.skipped[name], language.code))
    settings = {**screening.settings[name], **evidence.settings}
    needed = needed_answers(language, evidence) if name in BY_TRIALS else ""
    return language.say(
        "flagged", name=called, clause=clause(language, name, settings, needed), cites=cites(name, settings),
        number=len(evidence.flagged), participants=evidence.participants.height,
    )  # fmt: skip


def planned_evidence(study: Study, name: str, settings: Mapping[str, Any]) -> Evidence | None:
    """The evidence of a criterion that asks for right answers on the planned trials, without any answers."""
    if name not in BY_TRIALS:
        return None
    try:
        return BY_TRIALS[name](_unanswered(study), **settings)
    except (KaratError, ValueError):
        return None


def _unanswered(study: Study) -> Judgments:
    """One participant per list, without any answer."""
    parts = []
    for number in range(1, study.lists + 1):
        for place, block in enumerate(study.blocks):
            trials = study.trials(place, number)
            columns = [
                name
                for name in ("item", "function", "status", "expected", "pair", "left", "right")
                if name in trials.columns
            ]
            parts.append(
                trials.select(columns).with_columns(
                    participant=pl.lit(f"list {number}"), block=pl.lit(block.name),
                    response=pl.lit(None, dtype=pl.String),
                )
            )  # fmt: skip
    frame, scales = on_scales(study, pl.concat(parts, how="diagonal_relaxed"))
    return Judgments(frame, scales)


BELOW_ONE = ("alpha", "below", "least_index", "at_least")
"""Settings that are written without a leading zero."""


def clause(language: Language, name: str, settings: Mapping[str, Any], needed: str = "") -> str:
    """What participants must meet; `needed` is the clause on right answers, if their number is known."""
    fields = CRITERIA[name].settings.model_fields
    # Evidence also has values that it computed, such as a median, which are no settings.
    whole = {key: value for key, value in CRITERIA[name].settings.resolved(settings).items() if key in fields}
    keys = [key for key in CRITERIA[name].texts(whole) if language.knows(key)]
    values = {key: _setting_words(language, name, key, value) for key, value in whole.items()}
    clauses = [language.say(key, **values) for key in keys]
    used = {place for key in keys for place in language.places(key)}
    usual = {key: field.default for key, field in fields.items()}
    if not any(key.startswith(f"needs.{name}") for key in language.texts):
        # The usual settings of a criterion from a plugin are unknown, so all its settings are listed.
        clauses, usual = [language.say("needs", asks=CRITERIA[name].asks)], {}
    for key, value in whole.items():
        needed_too = CRITERIA[name].idle_without.get(key)
        idle = needed_too is not None and whole.get(needed_too) is None
        if key not in used and value is not None and value != usual.get(key) and value != {} and not idle:
            clauses.append(language.say("further", name=key, value=values[key]))
    return "; ".join([*clauses, *([needed] if needed else [])])


def name_of(language: Language, name: str) -> str:
    """The name of a criterion."""
    return language.texts.get(f"name.{name}") or title_of(name)


def cites(name: str, settings: Mapping[str, Any]) -> str:
    """The literature of a criterion, as a citation with a blank before it."""
    return citation(CRITERIA[name].literature(settings) if name in CRITERIA else ())


def citation(keys: tuple[str, ...]) -> str:
    """Keys as pandoc reads them, with a blank before."""
    return f" [{'; '.join(f'@{key}' for key in keys)}]" if keys else ""


def needed_answers(language: Language, evidence: Evidence) -> str:
    """The clause on right answers, if all participants need the same number of the same trials."""
    table, clauses = evidence.participants, []
    for group in ("", "grammatical_", "ungrammatical_"):
        names = [f"{group}needed", f"{group}trials"]
        if not set(names) <= set(table.columns):
            continue
        both = table.select(names).drop_nulls().unique()
        if both.height != 1:
            return ""
        key, kind = ("needed.group", language.texts[f"group.{group[:-1]}"]) if group else ("needed", "")
        needed, trials = both.row(0)
        clauses.append(language.say(key, needed=needed, trials=trials, group=kind))
    chances = table["guess_probability"].drop_nulls().unique() if "guess_probability" in table.columns else pl.Series()
    if clauses and len(chances) == 1:
        clauses.append(language.say("needed.guess", p=chances.item()))
    return "; ".join(clauses)


def _setting_words(language: Language, name: str, key: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        account = key == "account" and language.knows(f"account.{value}")
        return language.texts[f"account.{value}"] if account else language.value(value)
    if key in CRITERIA[name].shares:
        return language.share(value)
    if key in BELOW_ONE:
        return language.probability(value)
    # A value that the criterion computed has three decimals.
    computed = isinstance(value, float) and key not in CRITERIA[name].settings.model_fields
    return language.number(value, 3) if computed else language.number(value)
