"""The corrections on the page, as options of the command line.

Only differences from karat's guesses become options, so that notes about other guesses stay and the equivalent command
is short.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from karat.errors import KaratError

if TYPE_CHECKING:
    from karat.intake import Options
    from karat.judgments.scales import Scale

Name = Annotated[str, StringConstraints(max_length=1000)]
Text = Annotated[str, StringConstraints(max_length=20_000)]


class Corrections(BaseModel, frozen=True, extra="forbid"):
    """How to read the files; karat detects what is empty."""

    source: Name = "auto"
    mapping: dict[Name, Name] = Field(default_factory=dict, max_length=100)
    """karat's column -> the file's column."""
    answered: dict[Name, Name] = Field(default_factory=dict, max_length=20)
    """The mapping from the answers to karat's questions, even if they equal karat's guess."""
    wide: Literal["", "participant", "item", "trial"] = ""
    scales: dict[Name, Text] = Field(default_factory=dict, max_length=1000)
    """Question -> scale, as text for `--scale`; an empty name means all questions."""
    answers: Text = ""
    rt_unit: Literal["", "s", "ms"] = ""
    decimal: Literal["", ".", ","] = ""
    delimiter: Literal["", ",", ";", "tab", "|"] = ""
    encoding: Name = ""
    sheet: Name = ""
    skip_bad: bool = False
    language: Literal["en", "de"] = "en"
    """The language of the paragraphs for a paper."""
    new_study: bool = False
    """Whether to make a study from the items of the results."""
    sentence: Name = ""
    """The column with the sentences of a new study."""

    def options(self, *, mapped: bool = True) -> Options:
        """The options for reading files, with or without the mapping."""
        from karat.intake.reading import Options, answers_of

        return Options(
            mapping={**self.answered, **self.mapping} if mapped else {},
            scale=self._scale(),
            answers=answers_of(self.answers),
            rt_unit=self.rt_unit or None,
            decimal=self.decimal or None,
            delimiter="\t" if self.delimiter == "tab" else self.delimiter or None,
            sheet=self.sheet or None,
            wide=self.wide or None,
        )

    def _scale(self) -> Scale | dict[str, Scale] | None:
        from karat.judgments.scales import parse_scale

        if not self.scales:
            return None
        scales = {question: parse_scale(text) for question, text in self.scales.items()}
        return scales[""] if list(scales) == [""] else scales

    def reads_like(self, other: Corrections) -> bool:
        """Whether the same cells are read; otherwise corrections of columns no longer apply."""
        return all(getattr(self, name) == getattr(other, name) for name in ("source", "delimiter", "encoding", "sheet"))

    def flags(self) -> list[str]:
        """The options for the command line."""
        flags = [] if self.source == "auto" else ["--from", self.source]
        for column, name in {**self.answered, **self.mapping}.items():
            flags += ["--map", f"{column}={name}"]
        for question, scale in self.scales.items():
            flags += ["--scale", f"{question}={scale}" if question else scale]
        for name in ("wide", "answers", "rt_unit", "decimal", "delimiter", "encoding", "sheet"):
            if getattr(self, name):
                flags += [f"--{name.replace('_', '-')}", getattr(self, name)]
        return flags + (["--skip-bad"] if self.skip_bad else [])

    def command(self, results: Sequence[str], study: str | None) -> str:
        """The equivalent command."""
        if self.new_study:
            more = ["--sentence", self.sentence] if self.sentence else []
            return shlex.join(["karat", "init", "--from-results", results[0], *more, *self.flags()])
        words = ["karat", "report", *results, *(["--study", study] if study else []), *self.flags()]
        return shlex.join(words + ([] if self.language == "en" else ["--language", self.language]))


def corrected(
    columns: Sequence[str], guessed: Mapping[str, str], wanted: Mapping[str, str], maps: bool
) -> dict[str, str]:
    """The corrections that produce the wanted mapping; a reader that `maps` may guess again after a correction."""
    from karat.intake.guess import guess_columns

    changed = {column: name for column, name in wanted.items() if name != guessed.get(column, "")}
    if maps and changed:
        again = guess_columns(columns, dict(changed))
        # If the column called time had response times before the correction, it still does.
        if "time" not in changed and "rt" not in again and again.get("time") == guessed.get("rt") is not None:
            again["rt"] = again.pop("time")
        changed |= {column: name for column, name in wanted.items() if name != again.get(column, "")}
    return changed


def scale_text(scale: Scale) -> str:
    """A scale as text for `parse_scale`; empty if there is no short text."""
    from karat.judgments.scales import parse_scale

    text = f"{scale.kind}:{_settings(scale)}".removesuffix(":")
    try:
        return text if parse_scale(text) == scale else ""
    except KaratError:
        return ""


def _settings(scale: Scale) -> str:
    from karat.judgments.scales import Choice, Continuous, Magnitude, Ordinal

    if isinstance(scale, Choice):
        return "none" if scale.none else ""
    if isinstance(scale, Magnitude):
        return "" if scale.modulus is None else f"{scale.modulus:g}"
    if isinstance(scale, Continuous):
        ends = (scale.low, scale.high)
        return "-".join(f"{end:g}" for end in ends if end is not None and abs(end) != float("inf"))
    levels = scale.levels
    if not isinstance(scale, Ordinal):
        return ",".join(levels)
    return _points(levels) + (f":{scale.neutral}" if scale.neutral is not None else "")


def _points(levels: Sequence[str]) -> str:
    """Levels as a range if they are consecutive whole numbers."""
    if len(levels) > 1 and all(level.lstrip("-").isdigit() for level in levels):
        numbers = [int(level) for level in levels]
        if numbers == [*range(numbers[0], numbers[-1] + 1)]:
            return f"{numbers[0]}-{numbers[-1]}"
    return ",".join(levels)
