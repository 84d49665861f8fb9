"""The texts of the interface in the language of the study: buttons, headings, hints, errors and default texts.

Each language has a file in `texts/`, with the same keys and {slots}, and the plural forms that the language needs
(`_one`, `_two`, `_few`, `_many`). It also has the instructions for karat's tasks (`instructions.likert`); a task of
another package brings its own. The section `[translation]` of a file names the translator; a machine translation is
marked as such until a native speaker has signed it.

A study changes single texts with `[texts.words]`. If karat does not have the language of a study, the pages are in
English while the stimuli keep their language and direction, and a note says so.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from karat.errors import KaratError
from karat.judgments.columns import meant
from karat.study.tasks import tasks_met

LANGUAGES = ("en", "de", "es", "fr", "he", "it", "ja", "nl", "pl", "tr", "zh")
RIGHT_TO_LEFT = ("ar", "arc", "ckb", "dv", "fa", "he", "iw", "ks", "ps", "sd", "syr", "ug", "ur", "yi")
"""Languages that are usually written from right to left."""
RIGHT_TO_LEFT_SCRIPTS = ("arab", "hebr", "thaa", "syrc", "nkoo", "adlm")
TRANSLATION = "translation"
"""The section of a file that is about the translation itself."""
MANY = "many"
"""The plural form that every language has."""
SLOT = re.compile(r"\{(\w+)\}")
BROWSER = "browser."
NONE: Mapping[str, str] = MappingProxyType({})


class Words(dict[str, str]):
    """The texts of the pages, by `section.name`."""

    def __init__(self, texts: Mapping[str, str], language: str, direction: str, note: str = "") -> None:
        super().__init__(texts)
        self.language = language
        """The language of the words themselves."""
        self.direction = direction
        """The direction of the study's language: ltr or rtl."""
        self.note = note
        """What the researcher should know about the texts, if anything."""

    def fill(self, key: str, **values: object) -> str:
        """A text with its slots filled."""
        return SLOT.sub(lambda slot: str(values.get(slot[1], slot[0])), self[key])

    def counted(self, key: str, count: int) -> str:
        """A text in the plural form for a number."""
        form = f"{key}_{plural(self.language, count)}"
        return self.fill(form if form in self else f"{key}_{MANY}", count=count)

    @property
    def browser(self) -> dict[str, str]:
        """The texts of the trial page, without the name of their section."""
        return {key.removeprefix(BROWSER): text for key, text in self.items() if key.startswith(BROWSER)}


def words(language: str, overrides: Mapping[str, str] = NONE) -> Words:
    """The texts in a language, with the overrides of a study.

    >>> words("de-AT")["scale.yes"], words("he").direction
    ('Ja', 'rtl')
    >>> words("en", {"page.contniue": "Go on"})
    Traceback (most recent call last):
    ...
    karat.errors.KaratError: texts.words: there is no text "page.contniue". Did you mean page.continue?
    """
    main = main_part(language)
    spoken = main if main in LANGUAGES else "en"
    texts = {**_instructions(spoken), **_texts(spoken)}
    for key, text in overrides.items():
        _check_override(key, text, texts)
    note = _translation_note(spoken)
    if spoken != main:
        note = (
            f"karat has no texts in {language}: pages are in English, stimuli in {language}. "
            "Translate what participants read with [texts.words]."
        )
    return Words({**texts, **overrides}, spoken, direction(language), note)


def plural(language: str, count: int) -> str:
    """The plural form for a number: one, two, few or many."""
    if language == "pl" and count % 10 in (2, 3, 4) and count % 100 not in (12, 13, 14):
        return "few"
    if language == "he" and count == 2:
        return "two"
    if language == "fr" and count == 0:
        return "one"
    return "one" if count == 1 and language not in ("ja", "zh") else MANY


def _translation_note(language: str) -> str:
    """The note about a translation that no native speaker has signed."""
    about = _file(language).get(TRANSLATION, {})
    if about.get("made_by") != "machine" or about.get("signed_by"):
        return ""
    return (
        f"karat's texts in {language} were translated by machine, and no native speaker has signed them yet. Read "
        "every page in the preview before you start; docs/howto/translate.md says how to sign."
    )


def main_part(language: str) -> str:
    """The language itself, without country and script."""
    return re.split(r"[-_]", language.strip().lower())[0]


def direction(language: str) -> str:
    """Whether a language is written from left to right or from right to left."""
    main, *parts = re.split(r"[-_]", language.strip().lower())
    script = next((part for part in parts if len(part) == 4 and part.isalpha()), None)
    if script is not None:
        return "rtl" if script in RIGHT_TO_LEFT_SCRIPTS else "ltr"
    return "rtl" if main in RIGHT_TO_LEFT else "ltr"


@cache
def _file(language: str) -> Mapping[str, Mapping[str, str]]:
    """The file of a language."""
    file = files("karat.field.content") / "texts" / f"{language}.toml"
    return MappingProxyType(tomllib.loads(file.read_text(encoding="utf-8")))


@cache
def _texts(language: str) -> Mapping[str, str]:
    """The texts of a language's file, by section and name."""
    sections = {section: texts for section, texts in _file(language).items() if section != TRANSLATION}
    return MappingProxyType(
        {f"{section}.{name}": text.strip() for section, texts in sections.items() for name, text in texts.items()}
    )


def _instructions(language: str) -> dict[str, str]:
    """The instructions for the tasks of other packages; in English if a task has no others."""
    return {
        f"instructions.{task.name}": task.instructions.get(language, task.instructions["en"])
        for task in tasks_met()
        if task.instructions
    }


def _check_override(key: str, text: str, texts: Mapping[str, str]) -> None:
    """Refuse an override of an unknown text, or one with unknown slots."""
    if key not in texts:
        raise KaratError(f'texts.words: there is no text "{key}". {meant(key, list(texts), "")}'.strip())
    slots = SLOT.findall(texts[key])
    unknown = [slot for slot in SLOT.findall(text) if slot not in slots]
    if unknown:
        there = f"There are {', '.join(f'{{{slot}}}' for slot in slots)}." if slots else "It has none."
        raise KaratError(f'texts.words: "{key}" has no slot {{{unknown[0]}}}. {there}')
