"""A report on disk: one HTML file, JSON (the results as plain data), or Markdown with its figures beside it."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from karat.errors import KaratError
from karat.judgments import Judgments
from karat.judgments.files import replacing
from karat.languages import language_codes, language_of
from karat.measure.export import plain
from karat.measure.measures import Measures
from karat.messages import NotComputed
from karat.report.build import ReportData, build
from karat.report.counts import composition_counts, design_counts, evidence_counts, excluded_by, sample_counts
from karat.report.page import facts, html
from karat.report.sections import sections
from karat.report.sections.brief import MOST_REASONS
from karat.report.sections.quality import look_counts
from karat.report.sections.results import shown_parts
from karat.report.words.exclusions import planned_evidence
from karat.report.words.sample import simulated_notice
from karat.screen.crowd.spammer_index import SpammerIndex
from karat.screen.evidence import Evidence
from karat.screen.rules import settings_of
from karat.screen.screening import Screening
from karat.section import Section, Table
from karat.simulate.behaviours import simulated
from karat.study.criteria import CRITERIA
from karat.study.study import Study
from karat.study.summary import functions_per_list

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
    """Write the report of a screening, of judgments or of `ReportData`; returns the files.

    The format is that of the ending (.html, .json, .md) unless `format` names it. The paragraphs on methods are in the
    `language` en or de.

    Parameters
    ----------
    found
        What to report: judgments, a screening, or the result of `build`.
    path
        The file to write.
    format
        html, json or md; by default that of the file name.

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
    """The format, if it is given, else that of the ending."""
    if path.is_dir():
        raise KaratError(f"{path} is a folder; give a file to write to, such as {path / 'report.html'}.")
    if stated is not None:
        if stated not in FORMATS:
            raise KaratError(f"report: the format is {', '.join(FORMATS)}, got {stated!r}.")
        return stated
    kinds = {ending: kind for kind, ending in FORMATS.items()}
    if path.suffix not in kinds:
        raise KaratError(f"{path}: reports end in .html, .json or .md. Use {path.with_suffix('.html')}.")
    return kinds[path.suffix]


MOST_ROWS = 60
"""The most rows of a table; JSON and CSV have all."""
SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")


def markdown(gathered: ReportData, language: str = "en", folder: str = "figures") -> tuple[str, dict[str, str]]:
    """The text, and the SVG of each figure by its file name within `folder`."""
    parts = sections(gathered, language)
    lines = [f"# {escaped(gathered.title)}", ""]
    for text in simulated_notice(language_of(language), gathered.judgments):
        lines += [f"> **{escaped(text)}**", ""]
    lines += [f"- {escaped(name)}: {value}" for name, value in facts(gathered)] + [""]
    for part in parts:
        lines += _section(part, 2, folder)
    figures = {
        f"{figure.key}.svg": figure.svg for part in parts for section in part.walk() for figure in section.figures
    }
    return "\n".join(lines).rstrip() + "\n", figures


def escaped(text: str) -> str:
    r"""A text with the signs that mean something in Markdown escaped."""
    return SPECIAL.sub(r"\\\1", text)


def _section(section: Section, level: int, folder: str) -> list[str]:
    lines = [f"{'#' * level} {escaped(section.title)}", ""]
    for text in section.paragraphs:
        lines += [escaped(text), ""]
    for figure in section.figures:
        lines += [f"![{escaped(figure.alt)}]({folder}/{figure.key}.svg)", ""]
        lines += [escaped(figure.caption), ""] if figure.caption else []
    for table in section.tables:
        lines += _table(table)
    for listing in section.listings:
        lines += [f"**{escaped(listing.title)}**", "", f"~~~~{listing.suffix}", listing.text.rstrip(), "~~~~", ""]
    lines += [f"- {escaped(note)}" for note in section.notes] + ([""] if section.notes else [])
    for part in section.sections:
        lines += _section(part, level + 1, folder)
    return lines


def _table(table: Table) -> list[str]:
    columns = table.frame.columns
    numbers = [dtype.is_numeric() for dtype in table.frame.dtypes]
    lines = [f"**{escaped(table.title)}**", "", _row([table.heading(column) for column in columns])]
    lines.append("| " + " | ".join("---:" if number else "---" for number in numbers) + " |")
    for row in table.frame.head(MOST_ROWS).iter_rows():
        cells = [table.cell(column, value) for column, value in zip(columns, row, strict=True)]
        # The first line of a cell summarises the others.
        lines.append(_row(["; ".join(cell.split("\n")[1:]) or cell for cell in cells]))
    more = table.frame.height - MOST_ROWS
    lines += ["", f"{more:,} more rows are left out here."] if more > 0 else []
    lines += ["", escaped(table.caption)] if table.caption else []
    return [*lines, ""]


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(escaped(cell) for cell in cells) + " |"


def study_counts(study: Study) -> dict[str, Any]:
    """The settings of the study file, and what follows from them: lists, trials of each list, minutes."""
    blocks = []
    for block in study.blocks:
        rows, factors = block.items.frame, block.settings.condition_factors
        tests = rows.filter(pl.col("function") == "test")
        blocks.append(
            {
                "rows": rows.height, "test_items": tests["item"].n_unique(), "factors": len(block.settings.factors),
                "conditions": tests.select(factors).unique().height if factors else 0,
                "questions": 0 if block.questions is None else block.questions.height,
                "levels": len(block.scale.levels),
            }
        )  # fmt: skip
    rules = study.screening_rules
    settings = {} if rules is None else settings_of(rules, study)
    screening = {name: CRITERIA[name].settings.resolved(values) for name, values in settings.items()}
    needed = {name: planned_evidence(study, name, values) for name, values in settings.items()}
    return {
        "fingerprint": study.fingerprint, "lists": study.lists, "minutes": study.minutes(), "blocks": blocks,
        "screening": plain(screening),
        "needed": {name: plain(plan.participants.to_dicts()) for name, plan in needed.items() if plan is not None},
        "trials": plain(functions_per_list(study).to_dicts()), "settings": plain(study.settings.model_dump()),
    }  # fmt: skip


def as_data(gathered: ReportData, language: str = "en") -> dict[str, Any]:
    """Everything but the figures; a result that could not be computed is the message that says why.

    `simulated` is the number of simulated participants; if there are any, `banner` is the notice on top of the page.
    """
    data = results(gathered)
    simulated = simulated_notice(language_of(language), gathered.judgments)
    if simulated:
        data = {"banner": simulated[0]} | data
    return data | {"sections": [_section_json(section) for section in sections(gathered, language)]}


def results(gathered: ReportData) -> dict[str, Any]:
    """Every result that a sentence of the report may name; `screening` is the content of screening.json."""
    index, measures, compared, study = gathered.index, gathered.measures, gathered.outcomes, gathered.study
    evidence: dict[str, Evidence | NotComputed] = {**gathered.described, **gathered.screening.evidence}
    excluded = excluded_by(gathered.screening)
    return {
        "title": gathered.title,
        "made": gathered.made,
        "command": gathered.command,
        "versions": gathered.versions,
        "platform": gathered.platform,
        "screening": plain(gathered.screening.to_dict()),
        "simulated": simulated(gathered.judgments.participants),
        "design": design_counts(gathered.judgments),
        "study": None if study is None else study_counts(study),
        "sample": sample_counts(gathered),
        "composition": composition_counts(gathered.screening.composition()),
        "evidence": {
            name: result.to_dict() if isinstance(result, NotComputed) else evidence_counts(result)
            for name, result in evidence.items()
        },
        "spammer_index": plain(index.to_dict()) | (
            {"participants": index.participants, "suspicious": index.suspicious}
            if isinstance(index, SpammerIndex) else {}
        ),
        "measures": _measures(measures, gathered) if isinstance(measures, Measures) else measures.to_dict(),
        # The first sentence does not name the criteria that exclude the fewest.
        "excluded_by": {title: len(names) for title, names in excluded} | {
            "others": len(set[str]().union(*(names for _, names in excluded[MOST_REASONS:])))
        },
        "look": look_counts(gathered),
        "rules": plain(compared.to_dict()),
    }  # fmt: skip


def _measures(measured: Measures, gathered: ReportData) -> dict[str, Any]:
    """The content of measures.json, with the model of right answers, thresholds and counts of labels on the page."""
    complete = replace(measured, parts=tuple(shown_parts(measured, gathered)))
    whole = complete.to_dict()
    for data, part in zip(whole["parts"], complete.parts, strict=True):
        thresholds = getattr(getattr(part.result, "fit", None), "thresholds", None)
        data |= {} if thresholds is None else {"thresholds": plain(thresholds)}
        if part.name == "consensus":
            counts = {name: part.result.summary[0].values[name] for name in ("items", "answers", "ties", "sure")}
            data["counts"] = counts | {"median_right": plain(part.result.participants["right"].median())}
    return whole


def _section_json(section: Section) -> dict[str, Any]:
    return {
        "key": section.key,
        "title": section.title,
        "language": section.language,
        "paragraphs": list(section.paragraphs),
        "notes": list(section.notes),
        "figures": [{"key": part.key, "title": part.title, "alt": part.alt, "caption": part.caption}
                    for part in section.figures],
        "tables": [{"key": part.key, "title": part.title, "caption": part.caption, "rows": plain(part.frame.to_dicts())}
                   for part in section.tables],
        "listings": [{"key": part.key, "title": part.title, "text": part.text} for part in section.listings],
        "sections": [_section_json(part) for part in section.sections],
    }  # fmt: skip
