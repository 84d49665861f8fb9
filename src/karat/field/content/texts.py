"""The interface's own words, in the language of the study: buttons, headings, hints, errors and the usual texts.

There is a file for each language in `texts/`, with the same keys and {slots} in all of them; what to do in a task is
said by the task itself (`instructions.likert`). A study changes single texts with `[texts.words]`. Where karat does not
speak the language of a study, the pages are in English while the stimuli keep their language and their direction; a
note says so.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from karat.errors import KaratError
from karat.judgments.columns import nearest
from karat.study.tasks import tasks_met

LANGUAGES = ("en", "de")
RIGHT_TO_LEFT = ("ar", "arc", "ckb", "dv", "fa", "he", "iw", "ks", "ps", "sd", "syr", "ug", "ur", "yi")
"""Languages that are usually written from right to left."""
RIGHT_TO_LEFT_SCRIPTS = ("arab", "hebr", "thaa", "syrc", "nkoo", "adlm")
SLOT = re.compile(r"\{(\w+)\}")
BROWSER = "browser."
NONE: Mapping[str, str] = MappingProxyType({})


class Words(Mapping[str, str]):
    """The texts of the pages, by `section.name`.

    >>> words("de")["page.continue"]
    'Weiter'
    """

    def __init__(self, texts: Mapping[str, str], language: str, direction: str, note: str = "") -> None:
        self._texts = dict(texts)
        self.language = language
        """The language of the words themselves."""
        self.direction = direction
        """The direction of the study's language: ltr or rtl."""
        self.note = note
        """What the researcher should know of them, if anything."""

    def __getitem__(self, key: str) -> str:
        return self._texts[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def fill(self, key: str, **values: object) -> str:
        """A text with its slots filled.

        >>> words("en").fill("browser.count", number=3, of=78)
        '3 of 78'
        """
        return SLOT.sub(lambda slot: str(values.get(slot[1], slot[0])), self[key])

    @property
    def browser(self) -> dict[str, str]:
        """The texts that the trial page needs, without the name of their section."""
        return {key.removeprefix(BROWSER): text for key, text in self.items() if key.startswith(BROWSER)}


def words(language: str, overrides: Mapping[str, str] = NONE) -> Words:
    """The texts in a language, with those that a study says otherwise.

    >>> words("de-AT")["scale.yes"], words("he").direction
    ('Ja', 'rtl')
    >>> words("en", {"page.contniue": "Go on"})
    Traceback (most recent call last):
    ...
    karat.errors.KaratError: texts.words: there is no text "page.contniue". Did you mean page.continue?
    """
    own = main_part(language)
    spoken = own if own in LANGUAGES else "en"
    texts = {**_texts(spoken), **_instructions(spoken)}
    for key, text in overrides.items():
        _check_override(key, text, texts)
    note = "" if spoken == own else (
        f"karat has no texts in {language}: pages are in English, stimuli in {language}. "
        "Translate what participants read with [texts.words]."
    )  # fmt: skip
    return Words({**texts, **overrides}, spoken, direction(language), note)


def main_part(language: str) -> str:
    """The language itself, without country and script.

    >>> main_part("pt-BR")
    'pt'
    """
    return re.split(r"[-_]", language.strip().lower())[0]


def direction(language: str) -> str:
    """Whether a language is written from left to right or from right to left.

    >>> direction("de"), direction("ar-EG"), direction("az-Arab"), direction("ks-Deva")
    ('ltr', 'rtl', 'rtl', 'ltr')
    """
    own, *parts = re.split(r"[-_]", language.strip().lower())
    script = next((part for part in parts if len(part) == 4 and part.isalpha()), None)
    if script is not None:
        return "rtl" if script in RIGHT_TO_LEFT_SCRIPTS else "ltr"
    return "rtl" if own in RIGHT_TO_LEFT else "ltr"


@cache
def _texts(language: str) -> Mapping[str, str]:
    """The texts of a language's file, by section and name."""
    file = files("karat.field.content") / "texts" / f"{language}.toml"
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    return MappingProxyType(
        {f"{section}.{name}": text.strip() for section, texts in data.items() for name, text in texts.items()}
    )


def _instructions(language: str) -> dict[str, str]:
    """What to do in each task; English where a package says it in no other language."""
    return {
        f"instructions.{task.name}": task.instructions.get(language, task.instructions["en"]) for task in tasks_met()
    }


def _check_override(key: str, text: str, texts: Mapping[str, str]) -> None:
    """A text that a study says otherwise must be there, and have no slots that are not filled."""
    if key not in texts:
        close = nearest(key, list(texts))
        mend = f" Did you mean {close}?" if close else ""
        raise KaratError(f'texts.words: there is no text "{key}".{mend}')
    known = SLOT.findall(texts[key])
    unknown = [slot for slot in SLOT.findall(text) if slot not in known]
    if unknown:
        there = f"There are {', '.join(f'{{{slot}}}' for slot in known)}." if known else "It has none."
        raise KaratError(f'texts.words: "{key}" has no slot {{{unknown[0]}}}. {there}')
