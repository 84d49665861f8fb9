"""Where the rules of screening come from: a study file, or a file with rules alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from karat.errors import KaratError

if TYPE_CHECKING:
    from karat.study.study import Study

StudyPath = Annotated[
    Path | None, typer.Option("--study", help="The study file that states the rules, or its folder.", metavar="FILE")
]
RulesPath = Annotated[
    Path | None,
    typer.Option("--rules", help="A file with [screening] alone, where there is no study file.", metavar="FILE"),
]


def load_rules(study: Path | None, rules: Path | None) -> tuple[Study | None, dict[str, Any] | None]:
    """The study of a file, and the rules of another that has nothing else."""
    from karat.study.file import read_rules
    from karat.study.study import load

    if study is not None and rules is not None:
        raise KaratError("A study file states the rules itself: say --study or --rules, not both.")
    return None if study is None else load(study), None if rules is None else read_rules(rules)
