"""Messages: every code has a sentence in every language, and every sentence has a code that is used."""

from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from karat.errors import KaratError
from karat.languages import language_codes, language_of
from karat.languages.language import DECIMALS, TENSES, Language, places
from karat.messages import Message, NotComputed, message_of, render

MAKERS = ("Message", "NotComputed")
LITERAL = re.compile(r'"([\w.-]+)"')


def literals(path: Path) -> Iterator[str]:
    """The codes that a module gives to messages, as literals."""
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text if any(f"{maker}(" in text for maker in MAKERS) else "")):
        if isinstance(node, ast.Call) and node.args and isinstance(node.func, ast.Name) and node.func.id in MAKERS:
            yield from (
                one.value
                for one in ast.walk(node.args[0])
                if isinstance(one, ast.Constant) and isinstance(one.value, str)
            )


@pytest.fixture(scope="module")
def used(root: Path) -> set[str]:
    return {code for path in (root / "src" / "karat").rglob("*.py") for code in literals(path)}


def test_every_code_has_a_sentence(used: set[str]) -> None:
    assert used <= set(language_of("en").messages)


def test_every_sentence_is_used(root: Path) -> None:
    """Codes of reasons are in columns, so that any literal counts."""
    literals = {
        literal
        for path in (root / "src" / "karat").rglob("*.py")
        if "languages" not in path.parts
        for literal in LITERAL.findall(path.read_text(encoding="utf-8"))
    }
    words = {code for code in language_of("en").messages if code.startswith("word.")}
    assert set(language_of("en").messages) - words - literals == set()


@pytest.mark.parametrize("code", language_codes())
def test_languages_are_complete(code: str) -> None:
    language, english = language_of(code), language_of("en")
    assert set(language.messages) == set(english.messages)
    assert set(language.nouns) >= set(english.nouns)
    for key, template in english.messages.items():
        assert set(places(language.messages[key])) == set(places(template)), key


SAMPLES = {"and": ["a", "b", "c"], "or": ["a", "b"], "quoted": "x y", "%": 0.25, "%-": 0.25, "p": 0.0312, "df": 1234.5}


def sample(language: Language, spec: str, number: int) -> object:
    """A value for a place that asks for a word, a number or one of the samples."""
    if spec == "word":
        return "yes"
    counted = spec.startswith("spelled") or spec in language.nouns or "|" in spec
    return number if counted else 0.4567 if DECIMALS.fullmatch(spec) else SAMPLES.get(spec, "text")


@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("code", language_codes())
def test_every_sentence_can_be_filled(code: str, number: int) -> None:
    language = language_of(code)
    for key, template in {**language.messages, **language.texts}.items():
        values = {name: sample(language, spec, number) for name, spec in places(template).items()}
        text = language.fill(template, values)
        assert not TENSES.search(text), key
        assert not re.search(r"\[\[|\]\]|\S  +\S", text), key


def test_a_message_is_its_code_and_values() -> None:
    message = Message("error", {"text": "It is empty."})
    assert message == Message("error", {"text": "It is empty."})
    assert hash(message) == hash(Message("error", {"text": "It is empty."}))
    assert pickle.loads(pickle.dumps(message)) == message
    assert pickle.loads(pickle.dumps(message)).values == {"text": "It is empty."}
    assert str(message) == "It is empty."


def test_a_message_in_a_message_is_rendered_in_the_same_language() -> None:
    outer = Message("error", {"text": Message("word.yes")})
    assert (render(outer), render(outer, "de")) == ("yes", "ja")


def test_an_error_carries_a_message() -> None:
    error = KaratError(Message("word.no"))
    assert message_of(error).code == "word.no"
    assert NotComputed.of(error).code == "word.no"
    assert NotComputed.of(KaratError("It is empty.")).values == {"text": "It is empty."}
