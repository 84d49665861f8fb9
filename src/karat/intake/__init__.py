"""Result files of other tools become one table of judgments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from karat.intake.intake import Intake, read_files
from karat.intake.readers import READERS
from karat.intake.reading import Options, Reader
from karat.judgments import Judgments
from karat.judgments.scales import Scale, parse_scale

__all__ = ["READERS", "Intake", "Options", "read", "read_files"]


def read(
    path: str | Path | Sequence[str | Path],
    source: str | Reader = "auto",
    mapping: Mapping[str, str | Sequence[str]] | None = None,
    scale: Scale | str | Mapping[str, Scale | str] | None = None,
    *,
    answers: Mapping[str, str] | None = None,
    rt_unit: Literal["s", "ms"] | None = None,
    decimal: Literal[".", ","] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    skip_bad: bool = False,
    wide: Literal["participant", "item", "trial"] | None = None,
    accept: bool = False,
    set_apart: Sequence[str] = (),
) -> Judgments:
    """Read result files of any tool that karat knows as judgments.

    `path` is a file, a folder, or several of them: parts of one study, or results and the platform's list of
    participants. `source` names the tool, if karat should not find out itself, or is a reader of your own. `mapping`
    says which of the file's columns are karat's: `{"participant": "workerId"}`, or several joined as `{"item": ["verb",
    "content"]}`. `wide` says what one row of a wide table is. `accept` takes karat's first proposals where the file
    leaves something open; otherwise a `ProposalError` names them. `scale` says which answers were possible: a scale, or
    a text such as `ordinal:1-5`. `answers` says how the file spells them: `{"1": "left"}`. `skip_bad` leaves out rows
    that cannot be read. `set_apart` leaves out the answers of some participants, such as language models: their names,
    patterns such as `gpt*`, or `kind=machine` for a column and its value. What was assumed, and what was left out, is
    in the result's `notes`.

    >>> import karat
    >>> judgments = karat.read(karat.datasets.path("likert"))
    >>> judgments.scale.known()
    '1, 2, 3, 4, 5'
    """
    paths = [path] if isinstance(path, str | Path) else list(path)
    options = Options(
        mapping={
            name: source if isinstance(source, str) else "+".join(source) for name, source in (mapping or {}).items()
        },
        scale=_as_scales(scale),
        answers={str(old): str(new) for old, new in (answers or {}).items()},
        rt_unit=rt_unit,
        decimal=decimal,
        delimiter=delimiter,
        sheet=sheet,
        wide=wide,
        accept=accept,
        apart=tuple(set_apart),
    )
    return read_files(paths, source, options, encoding=encoding, skip_bad=skip_bad).judgments


def _as_scales(scale: Scale | str | Mapping[str, Scale | str] | None) -> Scale | dict[str, Scale] | None:
    if isinstance(scale, str):
        return parse_scale(scale)
    if scale is None or isinstance(scale, Scale):
        return scale
    return {question: parse_scale(s) if isinstance(s, str) else s for question, s in scale.items()}
