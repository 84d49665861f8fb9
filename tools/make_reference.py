"""Write the generated pages of the documentation: python -m tools.make_reference

The tables of columns, commands, the study file and Python's names come from the code; a test fails where a page is not
what this script would write.
"""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import get_args

import click
import typer.main
from pydantic import BaseModel

from karat.cli.main import app
from karat.judgments.columns import COLUMNS, REQUIRED
from karat.study.criteria import CRITERIA
from karat.study.file import model_in
from karat.study.settings import StudySettings
from tools.python_pages import PACKAGES, python_page

PAGES = Path(__file__).parent.parent / "docs" / "reference"
MADE = "<!-- Made by tools/make_reference.py; do not edit. -->\n"


def columns_page() -> str:
    """The page of the table's columns."""
    rows = "".join(
        f"| `{column.name}` | {column.type} | {column.meaning} | {'always' if column.name in REQUIRED else ''} |\n"
        for column in COLUMNS.values()
    ).replace("a|b", "a\\|b")
    return f"""{MADE}
# Columns

One row is one answer. These columns have a meaning; any other column is kept as it is, as a condition or a covariate.

| column | type | meaning | needed |
| --- | --- | --- | --- |
{rows}
Participants, items, answers and expected answers are text: `1` and `"1"` are the same. An empty `response`, `rt` or
`expected` means that nothing was answered, timed or expected. In a table, `rt` is in seconds. In a file it may be in
milliseconds, and karat says which unit it used.

A file of choices may have `left` and `right` instead of `item`; the item is then the pair, whichever side
each was on. The answer may be the side or the name of the chosen item.

A participant has each trial once, or once in each `session` and `question` if there are such columns.

Data about participants are in a separate table with one row each. If its column `source` says `simulated`, nobody gave
the answers, and the report says so at the top. Its column `behaviour` is how each simulated participant answers; no
criterion uses it.

## Order of trials

The order of trials is that of `trial`, or of `time` where there is no `trial`. Rows alone do not count as an order,
because many files list answers by item. Without either column, `straightlining`, `markov`, `risk` and order effects are
not computed, and `credence` leaves out patterns and changes of behaviour. If the rows are in the order of presentation,
`judgments.with_row_order()` adds the column `trial`.

## Stimuli and conditions

A stimulus is an item in one condition. Conditions are further columns with text, truth values or whole numbers that
vary within an item. Screening and measures use the same definition, `judgments.stimuli()`. These columns are not
conditions, and a note names them:

- columns that never vary within a participant, such as gender;
- columns that depend on the side or polarity shown, such as the sentence on the left of a choice;
- columns that follow from the answer, such as right or wrong, unless the design fixes them: a factor that predicts
  every answer is still a factor;
- whole numbers that the design does not fix, such as a count of clicks;
- columns that leave hardly two participants per stimulus.
"""


def commands_page() -> str:
    """The page of the commands and their options."""
    group = typer.main.get_command(app)
    text = [MADE, "\n# Commands\n\nEvery command shows its options with `--help`. "]
    text.append("Exit status: 0 on success, 1 when a check fails, 2 on bad input.\n")
    for name, command in sorted(group.commands.items()):  # type: ignore[attr-defined]
        if command.hidden:
            continue
        text.append(f"\n## karat {name}\n\n{command.help}\n\n`{command.epilog.removeprefix('Example: ')}`\n\n")
        text.append("| argument or option | meaning |\n| --- | --- |\n")
        shown = [one for one in command.params if one.name != "help" and not getattr(one, "hidden", False)]
        text += [row(parameter) for parameter in shown]
    return "".join(text)


def row(parameter: click.Parameter) -> str:
    """A row of the table of options."""
    names = [f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts]]
    if parameter.param_type_name == "argument":
        names = [f"`{(parameter.name or '').upper()}`"]
    return f"| {', '.join(names)} | {(getattr(parameter, 'help', '') or '').replace('|', chr(92) + '|')} |\n"


def study_page() -> str:
    """The page of the study file: every key of every part."""
    text = [
        MADE,
        "\n# Study file\n\nA study is `study.toml` and the tables it names. Keys that are not needed have a default. "
        "For a misspelt key, karat suggests the right one.\n",
    ]
    parts: list[tuple[str, type[BaseModel]]] = [("", StudySettings)]
    while parts:
        name, model = parts.pop(0)
        heading = f"`{name}`" if name else "At the top"
        text.append(f"\n## {heading}\n\n{inspect.getdoc(model)}\n\n")
        text.append("| key | type | default | meaning |\n| --- | --- | --- | --- |\n")
        for key, field in model.model_fields.items():
            inner = model_in(field.annotation)
            kind = "part" if inner else kind_of(field.annotation)
            default = "needed" if field.is_required() else "" if inner else f"`{json.dumps(plain(field.default))}`"
            text.append(f"| `{key}` | {kind} | {default} | {(field.description or '').replace('|', chr(92) + '|')} |\n")
            if inner and not name.endswith(key):
                parts.append((f"{name}.{key}".lstrip("."), inner))
    text.append(criteria_section())
    return "".join(text)


def criteria_section() -> str:
    """The screening criteria and their settings."""
    text = ["\n## Criteria in `screening`\n\n| criterion | asks | settings |\n| --- | --- | --- |\n"]
    for criterion in CRITERIA.values():
        settings = [
            f"`{key}` ({json.dumps(plain(field.default))}): {field.description}"
            for key, field in criterion.settings.model_fields.items()
        ]
        text.append(f"| `{criterion.name}` | {criterion.asks} | {' '.join(settings) or 'none'} |\n")
    return "".join(text)


def plain(value: object) -> object:
    """A default as JSON can write it."""
    return value if isinstance(value, str | int | float | bool | list | dict) or value is None else str(value)


def kind_of(annotation: object) -> str:
    """A type in the words of somebody who writes a study file."""
    text = str(annotation)
    if "Literal" in text:
        options = [str(option) for part in [annotation, *get_args(annotation)] for option in get_args(part)
                   if isinstance(option, str | int)]  # fmt: skip
        return "one of " + ", ".join(f"`{option}`" for option in dict.fromkeys(options))
    for mark, word in (("dict", "table"), ("list", "list"), ("bool", "true or false"), ("int", "whole number"),
                       ("float", "number")):  # fmt: skip
        if mark in text:
            return word
    return "text"


def package_page(package: str) -> str:
    """The page of a package, with its code as ruff breaks the lines."""
    page, root = f"{MADE}\n{python_page(package)}", PAGES.parent.parent
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(PAGES / f"{package}.md"), "-"]
    return subprocess.run(command, input=page, cwd=root, capture_output=True, check=True, encoding="utf-8").stdout


MAKERS: dict[str, Callable[[], str]] = {
    "columns.md": columns_page, "commands.md": commands_page, "study-file.md": study_page,
    **{f"python/{package}.md": partial(package_page, package) for package in PACKAGES},
}  # fmt: skip
"""What makes each generated page, by file name."""


if __name__ == "__main__":
    for name, make in MAKERS.items():
        (PAGES / name).write_text(make(), encoding="utf-8")
