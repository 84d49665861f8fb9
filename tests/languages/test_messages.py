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
from karat.languages.language import places
from karat.messages import Message, NotComputed, message_of, render
from tools.make_golden import GOLDEN, golden

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


@pytest.mark.parametrize("code", language_codes())
def test_sentences_are_those_of_the_golden_file(code: str) -> None:
    """`python -m tools.make_golden` writes them again."""
    assert (GOLDEN / f"{code}.txt").read_text(encoding="utf-8") == golden(language_of(code))


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
