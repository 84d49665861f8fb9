"""No code reads a sentence, since a message is its code and its values; and no sentence has a banned word."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterable, Iterator
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


BANNED = re.compile(
    r"\b(?:mend(?:s|ed|ing)?|earnest|thereupon|rightly|whoever|whom|told|tells|open door|by the clock)\b"
    r"|\b(?:one|\d+) (?!in )\w+ an? "
    r"(?:participant|item|stimulus|trial|list|row|line|page|question|condition|second|minute)\b"
    r"|\bone (?:row|column|line|file) an? \w+"
    r"|\b(?:answers|rows|ratings|judgments|labels|seconds|minutes) an? "
    r"(?:participant|item|stimulus|trial|list|question|condition|second|minute|hour)\b"
    r"|\bless (?:the|that of|its)\b",
    re.IGNORECASE,
)
"""Words and forms that karat no longer uses: other words say the same in modern English."""
NOT_YET: tuple[str, ...] = ()
"""Files that still have to be rewritten. Take one out once it is."""
HERE = "tests/test_prose.py"
MARKUP = re.compile(r"<[^>]*>|\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", re.DOTALL)
CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*`|<!--.*?-->|^    \S.*$|\]\([^)]*\)", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(r"`[^`\n]*`|^ *(?:>>>|\.\.\.) .*$", re.MULTILINE)
"""What is code in a docstring."""

SEAM = re.compile(r"""["']\s*\n\s*[a-zA-Z]*["']""")
"""Where the text of a string goes on in the next line."""


def sentences(path: Path) -> Iterator[tuple[int, str]]:
    """What people read in a file, with its line: pages without their code; docstrings, comments and texts of Python."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        code = {".md": CODE, ".html": MARKUP}.get(path.suffix)
        plain = text if code is None else code.sub(lambda found: "\n" * found[0].count("\n"), text)
        yield from enumerate(plain.splitlines(), start=1)
        return
    if not BANNED.search(SEAM.sub("", text)):
        return
    for node in ast.walk(ast.parse(text)):
        # One word alone is a name: of a column, a criterion, a key.
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
            for number, line in enumerate(EXAMPLE.sub("", node.value).splitlines()):
                yield node.lineno + number, line
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def banned(root: Path, paths: Iterable[Path]) -> list[str]:
    return [
        f"{path.relative_to(root).as_posix()}:{number}: {found[0]}"
        for path in paths
        for number, line in sentences(path)
        for found in BANNED.finditer(line)
    ]


def test_no_banned_word(root: Path) -> None:
    suffixes = (".md", ".py", ".toml", ".html")
    names = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True)
    if names.returncode:
        pytest.skip("not a git checkout")
    paths = [
        root / name
        for name in names.stdout.splitlines()
        if name.endswith(suffixes) and not name.startswith((*NOT_YET, HERE))
    ]
    assert banned(root, (path for path in paths if path.is_file())) == []


def test_every_room_to_be_done_exists(root: Path) -> None:
    assert [room for room in NOT_YET if not list(root.glob(f"{room.rstrip('/')}*"))] == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "It says what to mend.\n"),
        ("a.md", "Each has one row a participant.\n"),
        ("a.py", '"""People who answer in earnest."""\n'),
        ("a.py", 'def f():\n    """First.\n\n    All is told.\n    """\n'),
        ("a.py", "x = 1  # whoever comes\n"),
        ("a.py", "x = f'{y} of those whom it flags'\n"),
        ("a.py", "x = (\n    'each has one row '\n    f'a participant {y}'\n)\n"),
    ],
)
def test_a_banned_word_is_found(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert len(banned(tmp_path, [tmp_path / name])) == 1


@pytest.mark.parametrize(
    ("name", "text"), [("a.md", "`earnest`\n```python\ntold = 1\n```\n"), ("a.py", 'told = {"earnest": 1}\n')]
)
def test_names_in_code_are_no_words(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert banned(tmp_path, [tmp_path / name]) == []


LIMITS = {"tutorials": 1200, "explanation": 1500}
"""How many words a page may have, without its code."""
ALL_PAGES = 51_000
"""How many words all pages written by hand may show, code included, before a reader unfolds anything."""
GENERATED = "<!-- Made by "
FOLDED = re.compile(r"<details\b[^>]*>\s*(<summary>.*?</summary>)?.*?</details>", re.DOTALL)


def shown(text: str) -> str:
    """A page as it opens: what is folded is its summary."""
    return FOLDED.sub(lambda found: found[1] or "", text)


@pytest.mark.parametrize("folder", LIMITS)
def test_pages_are_short(root: Path, folder: str) -> None:
    words = {
        path.name: len(re.findall(r"\w[\w'’-]*", CODE.sub(" ", path.read_text(encoding="utf-8"))))
        for path in (root / "docs" / folder).glob("*.md")
    }
    assert words
    assert [name for name, number in words.items() if number > LIMITS[folder]] == []


def test_all_pages_together_are_short(root: Path) -> None:
    pages = [path.read_text(encoding="utf-8") for path in (root / "docs").rglob("*.md")]
    by_hand = [page for page in pages if not page.startswith(GENERATED)]
    assert len(by_hand) > 60
    assert sum(len(shown(page).split()) for page in by_hand) <= ALL_PAGES


def test_only_the_summary_of_what_is_folded_counts() -> None:
    folded = 'One\n\n<details markdown="1">\n<summary>two</summary>\n\nthree\n\n</details>\n\nfour'
    assert re.findall("one|two|three|four", shown(folded), re.IGNORECASE) == ["One", "two", "four"]
