"""A report on disk: one HTML file, or JSON, or Markdown with its figures beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from karat.errors import KaratError
from karat.judgments import Judgments
from karat.judgments.files import replacing
from karat.languages import language_codes
from karat.report.as_json import as_data
from karat.report.build import ReportData, build
from karat.report.markdown import markdown
from karat.report.page import html
from karat.screen.screening import Screening
from karat.study.study import Study

FORMATS = {"html": ".html", "json": ".json", "md": ".md"}


def write(
    found: ReportData | Screening | Judgments,
    path: str | Path,
    study: Study | None = None,
    rules: Mapping[str, Any] | None = None,
    *,
    format: str | None = None,  # noqa: A002
    language: str = "en",
) -> list[Path]:
    """Write the report of a screening, of judgments or of what was gathered; returns the files.

    The format is that of the ending (.html, .json, .md) unless it is named. The paragraphs on methods are in the
    `language` en or de.

    >>> import karat, tempfile
    >>> rows = {"participant": ["p1", "p1", "p2", "p2"], "item": ["a", "b"] * 2, "response": [5, 1, 4, 2]}
    >>> screening = karat.screen.run(karat.Judgments(rows, karat.Ordinal(5)), {"completion": {}})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write(screening, f"{folder}/report.html")]
    ['report.html']
    """
    target = Path(path)
    kind = format_of(target, format)
    if language not in language_codes():
        raise KaratError(f"report: the language is {' or '.join(language_codes())}, got {language!r}.")
    gathered = found if isinstance(found, ReportData) else build(found, study, rules)
    figures: dict[str, str] = {}
    folder = target.parent / f"{target.stem}-figures"
    if kind == "html":
        text = html(gathered, language)
    elif kind == "json":
        text = json.dumps(as_data(gathered, language), ensure_ascii=False, indent=2) + "\n"
    else:
        text, figures = markdown(gathered, language, folder.name)
    paths = [target, *(folder / name for name in figures)]
    for place, content in zip(paths, [text, *figures.values()], strict=True):
        with replacing(place) as temporary:
            temporary.write_text(content, encoding="utf-8")
    return paths


def format_of(path: Path, stated: str | None) -> str:
    """The format that is stated, else that of the ending.

    >>> format_of(Path("report.md"), None), format_of(Path("report"), "json")
    ('md', 'json')
    """
    if path.is_dir():
        raise KaratError(f"{path} is a folder; give a file to write to, such as {path / 'report.html'}.")
    if stated is not None:
        if stated not in FORMATS:
            raise KaratError(f"report: the format is {', '.join(FORMATS)}, got {stated!r}.")
        return stated
    kinds = {ending: kind for kind, ending in FORMATS.items()}
    if path.suffix not in kinds:
        raise KaratError(f"{path}: a report is written as .html, .json or .md; or name the format.")
    return kinds[path.suffix]
