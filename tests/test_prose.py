"""No code reads a sentence: what a message means is its code and its values."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PROSE = {
    "error", "evidence", "finding", "message", "note", "notes", "reason", "reasons", "remark", "result", "screening",
    "sentence", "summary", "told", "warning", "why",
}  # fmt: skip
"""What holds a sentence is called so."""
RENDERERS = ("render", "str")
READERS = {
    "endswith", "find", "index", "lstrip", "partition", "removeprefix", "removesuffix", "replace", "rfind",
    "rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith",
}  # fmt: skip
PATTERNS = {"compile", "findall", "finditer", "fullmatch", "match", "search", "split", "sub"}


def name_of(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def is_prose(node: ast.expr) -> bool:
    """Whether an expression is a sentence: it is called like one, or rendered from something that is."""
    if isinstance(node, ast.Call):
        rendered = name_of(node.func) in RENDERERS and node.args
        joined = (
            isinstance(node.func, ast.Attribute) and node.func.attr in ("join", *READERS) and is_prose(node.func.value)
        )
        return bool(rendered and is_prose(node.args[0])) or joined or _joins_prose(node)
    if isinstance(node, ast.Subscript):
        key = node.slice
        return is_prose(node.value) or (isinstance(key, ast.Constant) and key.value in ("reason", "note"))
    return name_of(node) in PROSE


def _joins_prose(node: ast.Call) -> bool:
    return name_of(node.func) == "join" and any(is_prose(argument) for argument in node.args)


def readings(tree: ast.AST) -> Iterator[int]:
    """The lines on which a sentence is read."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            of_text = node.func.attr in READERS and is_prose(node.func.value)
            of_pattern = (
                node.func.attr in PATTERNS
                and name_of(node.func.value) in ("re", "PATTERN")
                and any(is_prose(argument) for argument in node.args[1:])
            )
            if of_text or of_pattern:
                yield node.lineno
        elif isinstance(node, ast.Attribute) and node.attr == "str" and is_prose(node.value):
            yield node.lineno
        elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
            inside = [operator for operator in node.ops if isinstance(operator, ast.In | ast.NotIn)]
            if inside and " " in node.left.value and is_prose(node.comparators[0]):
                yield node.lineno


def test_no_code_reads_a_sentence(root: Path) -> None:
    found = [
        f"{path.relative_to(root)}:{line}"
        for path in sorted((root / "src" / "karat").rglob("*.py"))
        for line in readings(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []


@pytest.mark.parametrize(
    "code",
    [
        "note.startswith('In earnest')",
        "str(error).removeprefix('contrasts: ')",
        "' '.join(str(part.result)).split()",
        "re.sub(pattern, spelled, str(part.result))",
        "frame['reason'].str.split(':')",
        "'left out' in note",
        "message[1:].replace('a', 'b')",
    ],
)
def test_the_test_can_fail(code: str) -> None:
    assert list(readings(ast.parse(code)))


@pytest.mark.parametrize("code", ["path.name.startswith('x')", "re.sub(p, q, cell)", "note.code == 'x'", "str(note)"])
def test_other_code_is_let_through(code: str) -> None:
    assert not list(readings(ast.parse(code)))
