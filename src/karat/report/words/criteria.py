"""A criterion in half a sentence: what a participant must meet, with every setting that is not the usual one.

A setting that the sentence has no place for is appended by its name, so that nothing that was stated is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from karat.languages.language import Language
from karat.screen.evidence import Evidence
from karat.study.criteria import CRITERIA, title_of

BELOW_ONE = ("alpha", "below", "least_index", "at_least")
"""Settings that are written without a leading zero."""


def clause(language: Language, name: str, settings: Mapping[str, Any], needed: str = "") -> str:
    """What a participant must meet; `needed` says how many answers must be right, where that is known.

    >>> from karat.languages.en import LANGUAGE as ENGLISH
    >>> clause(ENGLISH, "completion", {"at_least": 0.9, "trials": 72, "person": "worker"})
    'answers to at least 90 % of 72 trials, and no second participation; person = worker'
    """
    whole = CRITERIA[name].settings.resolved(settings)
    keys = [key for key in CRITERIA[name].texts(whole) if language.knows(key)]
    values = {key: _setting_words(language, name, key, value) for key, value in whole.items()}
    clauses = [language.say(key, **values) for key in keys]
    used = {place for key in keys for place in language.places(key)}
    usual = {key: field.default for key, field in CRITERIA[name].settings.model_fields.items()}
    if not any(key.startswith(f"needs.{name}") for key in language.texts):
        # Nobody knows what is usual in a criterion from elsewhere, so all its settings are listed.
        clauses, usual = [language.say("needs", asks=CRITERIA[name].asks)], {}
    for key, value in whole.items():
        needed_too = CRITERIA[name].idle_without.get(key)
        idle = needed_too is not None and whole.get(needed_too) is None
        if key not in used and value is not None and value != usual.get(key) and value != {} and not idle:
            clauses.append(language.say("further", name=key, value=values[key]))
    return "; ".join([*clauses, *([needed] if needed else [])])


def name_of(language: Language, name: str) -> str:
    """What a criterion is called.

    >>> from karat.languages.de import LANGUAGE as GERMAN
    >>> name_of(GERMAN, "completion")
    'Vollständigkeit'
    """
    return language.texts.get(f"name.{name}") or title_of(name)


def cites(name: str, settings: Mapping[str, Any]) -> str:
    """The literature of a criterion, as a citation with a blank before it.

    >>> cites("attention", {"account": "pairwise"}), cites("scale_use", {})
    (' [@langsford2018]', '')
    """
    return citation(CRITERIA[name].literature(settings) if name in CRITERIA else ())


def citation(keys: tuple[str, ...]) -> str:
    """Keys as pandoc reads them, with a blank before.

    >>> citation(("barr2013", "bates2015"))
    ' [@barr2013; @bates2015]'
    """
    return f" [{'; '.join(f'@{key}' for key in keys)}]" if keys else ""


def needed_answers(language: Language, evidence: Evidence) -> str:
    """How many answers must be right, where everybody needs the same number of the same trials."""
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
        clauses.append(language.say(key, needed=language.number(needed), trials=language.number(trials), group=kind))
    chances = table["guess_probability"].drop_nulls().unique() if "guess_probability" in table.columns else pl.Series()
    if clauses and len(chances) == 1:
        clauses.append(language.say("needed.guess", p=language.p_value(chances.item())))
    return "; ".join(clauses)


def _setting_words(language: Language, name: str, key: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        account = key == "account" and language.knows(f"account.{value}")
        return language.texts[f"account.{value}"] if account else language.value(value)
    if key in CRITERIA[name].shares:
        return language.share(value)
    if key in BELOW_ONE:
        return language.probability(value)
    # What a criterion found out by itself is not a setting, and three decimals say enough.
    found = isinstance(value, float) and key not in CRITERIA[name].settings.model_fields
    return language.number(value, 3) if found else language.number(value)
