"""The words of the pages: the same keys and slots in every language, overrides that cannot go astray."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from karat.errors import KaratError
from karat.field.content.texts import LANGUAGES, SLOT, direction, plural, words
from messages import refuses


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_keys_and_slots(language: str) -> None:
    english, other = words("en"), words(language)
    # Some languages have more forms of the plural than English.
    assert [key for key in other if not key.endswith(("_few", "_two"))] == list(english)
    for key, text in english.items():
        assert sorted(SLOT.findall(other[key])) == sorted(SLOT.findall(text)), key
        assert other[key].strip() == other[key] != "", key


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
def test_nothing_was_left_untranslated(language: str) -> None:
    english, other = words("en"), words(language)
    alike = {"es": {"scale.no"}, "it": {"scale.no"}, "nl": {"privacy.heading", "browser.context"}}
    same = {key for key in english if english[key] == other[key] and SLOT.sub("", other[key]).strip(" ,/")}
    assert same == alike.get(language, set())


@pytest.mark.parametrize(
    ("language", "forms"),
    [("pl", "one few few many many few"), ("he", "one two many many many many"), ("fr", "one many many many many many"),
     ("zh", "many many many many many many")],
)  # fmt: skip
def test_numbers_ask_for_their_form(language: str, forms: str) -> None:
    own = words(language)
    for count, form in zip((1, 2, 4, 5, 12, 22), forms.split(), strict=True):
        assert plural(language, count) == form
        # Chinese has one form; the file of every language has a text for 1 all the same.
        assert own.counted("quiz.attempts", count) == own.fill(f"quiz.attempts_{form}", count=count)


def test_machine_translations_say_so() -> None:
    assert {language for language in LANGUAGES if words(language).note} == set(LANGUAGES) - {"en", "de"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_texts_have_no_marks_and_no_stray_signs(language: str) -> None:
    for key, text in words(language).items():
        assert "<" not in text, key
        assert "  " not in text, key


def test_the_browser_asks_for_no_word_that_is_missing(root: Path) -> None:
    script = root / "src" / "karat" / "field" / "web" / "static" / "js" / "words.js"
    own = re.findall(r"^  (\w+): \"(.*)\",$", script.read_text(encoding="utf-8"), re.MULTILINE)
    sent = words("en").browser
    assert len(own) > 30
    for key, text in own:
        assert sorted(SLOT.findall(sent[key])) == sorted(SLOT.findall(text)), key


def test_slots_are_filled_and_unknown_ones_stay() -> None:
    assert words("de").fill("browser.count", number=3, of=78) == "3 von 78"
    assert words("en").fill("browser.count", number=3) == "3 of {of}"
    # A value is put in as it is: braces in it are not filled again.
    assert words("en").fill("browser.count", number="{of}", of=1) == "{of} of 1"


def test_a_study_changes_single_texts() -> None:
    own = words("de-CH", {"page.continue": "Los"})
    assert own["page.continue"] == "Los"
    assert own["page.optional"] == words("de")["page.optional"]
    assert own.language == "de"
    assert words("de")["page.continue"] == "Weiter"


@pytest.mark.parametrize(
    ("key", "text", "names"),
    [
        ("page.skp", "x", ("page.skp", "page.skip")),
        ("browser.count", "{nunber} of {of}", ("browser.count", "{nunber}", "{number}", "{of}")),
        ("page.skip", "{name}", ("page.skip", "{name}")),
    ],
)
def test_wrong_overrides_are_errors(key: str, text: str, names: tuple[str, ...]) -> None:
    with refuses(KaratError, *names):
        words("en", {key: text})


def test_a_language_without_texts_gets_english_and_a_note() -> None:
    own = words("ur-PK")
    assert own["page.continue"] == "Continue"
    assert (own.language, own.direction) == ("en", "rtl")
    assert "ur-PK" in own.note
    assert words("en-GB").note == ""


def test_direction_follows_the_script_where_it_is_named() -> None:
    assert [direction(tag) for tag in ("he", "ar", "fa_IR", "en", "ks-Deva-IN", "az-Arab", "pt-BR")] == [
        "rtl", "rtl", "rtl", "ltr", "ltr", "rtl", "ltr",
    ]  # fmt: skip
