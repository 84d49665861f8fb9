"""The item files of other tools.

Files of Linger and Turktools have a line `# experiment item condition` before each sentence; the lists that Turktools
uploads have `item_1_section`, ..., `field_1_1`; and an Ibex script (`data_includes`) has its `items`.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path

import polars as pl

from karat.judgments.columns import meant
from karat.study.item_sheets.sets import ItemSets, SetsError, with_rows
from karat.study.items import function_meant

HEADER = re.compile(r"^#\s+(\S+)\s+(\S+)\s+(\S.*?)\s*$")
"""The line before a sentence: experiment, item, condition."""
LISTED = re.compile(r"item_(\d+)_(section|number|condition)|field_(\d+)_(\d+)")


@dataclass
class SetSentence:
    """A sentence from a file of another tool."""

    experiment: str
    item: str
    condition: str
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The sentence, without the questions after it in Linger and Ibex."""
        return " ".join(line for line in self.lines if not line.startswith("?"))


def sentences_in(path: Path, text: str) -> list[SetSentence] | None:
    """The sentences of a file of Linger, Turktools or Ibex; None for other files."""
    lines = text.splitlines()
    if any(HEADER.match(line) for line in lines):
        return list(_marked(lines))
    return list(_scripted(path, text)) if path.suffix.lower() == ".js" or SCRIPT.search(text) else None


def _marked(lines: Iterable[str]) -> Iterable[SetSentence]:
    """The sentences of a file with a line `# experiment item condition` before each."""
    current = None
    for line in lines:
        header = HEADER.match(line)
        if header:
            if current is not None:
                yield current
            current = SetSentence(header[1], header[2], header[3])
        elif line.strip() and current is not None:
            current.lines.append(line.strip())
    if current is not None:
        yield current


SCRIPT = re.compile(r"^\s*(?:(?:var|let|const)\s+)?items\s*=\s*(?=\[)", re.MULTILINE)
"""The beginning of the items of an Ibex script."""
TOKEN = re.compile(
    r"""\s+ | //[^\n]* | /\*.*?\*/ | (?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*') | (?P<sign>[\[\]{}(),:])
    | (?<=[(,=:])/(?:\\.|[^/\n\\])+/\w* | (?P<bare>[^\s\[\]{}(),:"'/]+|.)""",
    re.DOTALL | re.VERBOSE,
)
NUMBERED = re.compile(r"(.*?)[-_. ]*(\d+)[-_. ]*(\D.*)")
"""A label with the number of a set before the condition: rc1-long."""


def _scripted(path: Path, text: str) -> Iterator[SetSentence]:
    """The sentences in the items of an Ibex script: `[["island-long", 1], "AcceptabilityJudgment", {s: "..."}]`.

    The group is the item, and the common part of the labels of a group is the experiment. An item without a group is a
    filler, unless its label has the number of a set.
    """
    start = SCRIPT.search(text)
    if start is None:
        raise SetsError(f"{path.name} is a script without items. Give the one that has a line: var items = [")
    sets: dict[str, list[tuple[list[str], str]]] = {}
    alone: list[tuple[str, str]] = []
    for label, group, sentence in _script_items(text[start.end() :]):
        numbered = NUMBERED.fullmatch(label) if group is None and is_test(re.split(r"[-_. ]", label)[0]) else None
        item, name = (numbered[2], f"{numbered[1]}-{numbered[3]}") if numbered else (group, label)
        if item is None:
            alone.append((label, sentence))
        else:
            parts = [part for part in re.split(r"[-_. ]+", name) if part and part != item]
            sets.setdefault(item, []).append((parts, sentence))
    for item, rows in sets.items():
        places_alike = [len(set(parts)) == 1 for parts in zip(*(parts for parts, _ in rows), strict=False)]
        common = next((place for place, alike in enumerate(places_alike) if not alike), len(places_alike))
        for number, (parts, sentence) in enumerate(rows, start=1):
            yield SetSentence("-".join(parts[:common]), item, "-".join(parts[common:]) or str(number), [sentence])
    for number, (label, sentence) in enumerate(alone, start=1):
        yield SetSentence(re.split(r"[-_. ]", label)[0], str(number), "-", [sentence])


def _script_items(script: str) -> Iterator[tuple[str, str | None, str]]:
    """Label, group and sentence of each item with a sentence."""
    tokens = (match for match in TOKEN.finditer(script) if match.lastgroup)
    whole = _literal(next(tokens, None), tokens)
    for item in whole if isinstance(whole, list) else []:
        if not isinstance(item, list) or not item:
            continue
        label, group = (item[0], None) if not isinstance(item[0], list) else (*item[0], None)[:2]
        content = next((part["s"] for part in item if isinstance(part, dict) and "s" in part), None)
        content = content.get("html") if isinstance(content, dict) else content
        if isinstance(label, str) and isinstance(content, str):
            number = group[0] if isinstance(group, list) and group else group
            yield label, None if number in (None, "null") else str(number), unescape(re.sub(r"<[^>]+>", "", content))


Literal = str | list["Literal"] | dict[str, "Literal"]


def _literal(token: re.Match[str] | None, tokens: Iterator[re.Match[str]]) -> Literal:
    """A value of a script: text, a list or an object; for other values the first word."""
    if token is None:
        return ""
    if token[0] == "[":
        return [value for _, value in _members(tokens)]
    if token[0] == "{":
        return {name: value for name, value in _members(tokens) if isinstance(name, str)}
    return _script_text(token[0]) if token.lastgroup == "text" else token[0]


def _members(tokens: Iterator[re.Match[str]]) -> Iterator[tuple[Literal | None, Literal]]:
    """The members of a list or an object up to its end, each with its name, if any."""
    name: Literal | None = None
    value: Literal | None = None
    for token in tokens:
        if token[0] in ("]", "}", ","):
            if value is not None:
                yield name, value
            name = value = None
            if token[0] != ",":
                return
        elif token[0] == ":":
            name, value = value, None
        elif token[0] == "(":
            _skip_arguments(tokens)
        else:
            further = _literal(token, tokens)
            joined = isinstance(value, str) and isinstance(further, str) and token.lastgroup == "text"
            value = f"{value}{further}" if joined else further if value is None else value


def _skip_arguments(tokens: Iterator[re.Match[str]]) -> None:
    """Skip the tokens up to the bracket that closes the arguments of a function."""
    depth = 1
    for token in tokens:
        depth += (token[0] == "(") - (token[0] == ")")
        if not depth:
            return


def _script_text(token: str) -> str:
    """The text of a string in a script.

    >>> _script_text(r"'It \\'rained\\' \\u201cthen\\u201d.'")
    "It 'rained' “then”."
    """
    signs = {"n": " ", "t": " ", "\n": ""}
    return re.sub(r"\\(u[0-9a-fA-F]{4}|.)", lambda found: chr(int(found[1][1:], 16)) if len(found[1]) > 1
                  else signs.get(found[1], found[1]), token[1:-1], flags=re.DOTALL)  # fmt: skip


def is_test(kind: str) -> bool:
    """Whether the name of a part of an experiment means test items."""
    return function_of(kind) in (None, "test")


def listed(frame: pl.DataFrame) -> Iterable[SetSentence]:
    """The sentences of lists for upload by Turktools: one row per list, its trials side by side."""
    numbers = sorted({int(match[1]) for name in frame.columns if (match := re.fullmatch(r"item_(\d+)_number", name))})
    seen = set()
    for row in frame.to_dicts():
        for number in numbers:
            key = tuple(row.get(f"item_{number}_{part}") or "" for part in ("section", "number", "condition"))
            if key not in seen and row.get(f"field_{number}_1"):
                seen.add(key)
                yield SetSentence(key[0], key[1], key[2], [row[f"field_{number}_1"]])


def sections(path: Path, sentences: list[SetSentence], experiment: str | None) -> ItemSets:
    """Sentences sorted into the sets of one experiment and its fillers."""
    sets: dict[str, dict[str, dict[str, str]]] = {}
    for each in sentences:
        sets.setdefault(each.experiment, {}).setdefault(each.item, {}).setdefault(each.condition, each.text)
    crossed = [
        name for name, items in sets.items()
        if max(map(len, items.values())) > 1 and function_of(name) in (None, "test")
    ]  # fmt: skip
    if experiment is not None and experiment not in sets:
        raise SetsError(f"{path.name} has no experiment {experiment}. {meant(experiment, list(sets))}")
    if experiment is None and len(crossed) != 1:
        if not crossed:
            raise SetsError(f"{path.name} has no item with several conditions, so there are no sets to counterbalance.")
        raise SetsError(f"{path.name} has several experiments: {', '.join(crossed)}. Choose one: --experiment NAME.")
    chosen = experiment or crossed[0]
    notes, fillers = [], []
    for name, items in sets.items():
        if name == chosen:
            continue
        if max(map(len, items.values())) > 1:
            notes.append(f"{name}: left out, since its items have conditions of their own.")
            continue
        function = function_of(name) or "filler"
        rows = [filler_row(each, function) for each in sentences if each.experiment == name]
        fillers += list({tuple(row.items()): row for row in rows}.values())  # a table with lists has each of them often
    if any(line.startswith("?") for each in sentences for line in each.lines):
        notes.append("Questions after sentences (lines that begin with ?) were left out.")
    if any(sum(not line.startswith("?") for line in each.lines) > 1 for each in sentences):
        notes.append("Several lines below a line with # were joined to one sentence.")
    conditions = tuple(dict.fromkeys(name for items in sets[chosen].values() for name in items))
    return with_rows(ItemSets(path, sets[chosen], conditions, notes=tuple(notes)), fillers)


def function_of(experiment: str) -> str | None:
    """The function that the name of a part of an experiment means."""
    word = re.sub(r"[\W\d_]+$", "", experiment)
    return function_meant(word) if word else None


def filler_row(sentence: SetSentence, function: str) -> dict[str, str]:
    """A sentence beside the sets as a row of an item table."""
    return {"item": sentence.item, "function": function_of(sentence.experiment) or function, "sentence": sentence.text}
