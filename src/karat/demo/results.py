"""Results that came from elsewhere: read, screened, and written down with a page to look at."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from html import escape
from pathlib import Path

import polars as pl

from karat import datasets
from karat.files import replacing
from karat.intake import read_files
from karat.judgments import Judgments
from karat.screen import Screening
from karat.screen import run as screen

RULES = {"completion": {}, "remfod": {}, "attention": {}, "controls": {}, "exclude": "any"}


@dataclass(frozen=True)
class Demo:
    """What the demo found, and the page to look at."""

    lines: list[str]
    page: Path


def run(folder: Path) -> Demo:
    """Read the example questionnaire from a CSV file as a researcher would, screen it, and write all to a folder."""
    results = folder / "results.csv"
    datasets.load("likert").to_csv(results)
    intake = read_files([results])
    intake.judgments.to_parquet(folder / "judgments.parquet")
    screening = screen(intake.judgments, RULES)
    screening.write(folder / "screened")
    page = folder / "summary.html"
    with replacing(page) as temporary:
        temporary.write_text(_page(intake.judgments, intake.lines(), screening), encoding="utf-8")
    verdict = f"screened   {str(screening).splitlines()[-1]} Reasons are in {folder / 'screened' / 'participants.csv'}."
    return Demo([*intake.lines(), verdict], page)


def has_terminal() -> bool:
    """Whether somebody reads what is printed and can press a key."""
    return sys.stdin.isatty() and sys.stdout.isatty() and not os.environ.get("CI")


def has_screen() -> bool:
    """Whether somebody sits before a screen that could show a page."""
    if not has_terminal():
        return False
    return sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def ratings_by_kind(judgments: Judgments) -> pl.DataFrame:
    """Mean rating and median time by item function and status, as a first look at a rating study.

    >>> ratings_by_kind(datasets.load("likert")).columns
    ['function', 'status', 'answers', 'mean', 'median rt']
    """
    return (
        judgments.frame.group_by("function", "status")
        .agg(
            pl.len().alias("answers"),
            pl.col("response").cast(pl.Float64).mean().round(2).alias("mean"),
            pl.col("rt").median().round(2).alias("median rt"),
        )
        .sort("function", "status")
    )


def _page(judgments: Judgments, lines: list[str], screening: Screening) -> str:
    table = ratings_by_kind(judgments)
    head = "".join(f"<th scope=col>{escape(name)}</th>" for name in table.columns)
    rows = ["".join(f"<td>{escape(_cell(cell))}</td>" for cell in row) for row in table.iter_rows()]
    body = "".join(f"<tr>{row}</tr>\n" for row in rows)
    facts = "".join(f"<dt>{escape(word)}</dt><dd>{escape(fact)}</dd>\n" for word, fact in map(_fact, lines))
    excluded = "".join(f"<li>{escape(screening.explain(name))}</li>\n" for name in screening.excluded[:3])
    flow = screening.flow().replace(' xmlns="http://www.w3.org/2000/svg"', "")
    return _TEMPLATE.format(facts=facts, head=head, body=body, flow=flow, excluded=excluded)


def _cell(value: object) -> str:
    return "" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)


def _fact(line: str) -> tuple[str, str]:
    """A line of the account as its word and what it says; the line of counts has no word of its own."""
    word, fact = line[:11].strip(), line[11:]
    return ("found", line) if line[:1].isdigit() else (word, fact)


_TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>karat demo: what was read, and who answered in earnest</title>
<style>
:root {{ color-scheme: light dark; --ink: #1a1a1a; --ground: #fff; --gold: #9a6b00; --line: #d8d8d8; --soft: #555; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --ink: #ececec; --ground: #121212; --gold: #e0b040; --line: #444; --soft: #b5b5b5; }}
}}
body {{ font: 1rem/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground); margin: 0 auto;
  max-width: 44rem; padding: 1.5rem 1rem; }}
h1 {{ font: 1.75rem/1.25 Charter, "Bitstream Charter", Georgia, serif; border-top: 3px solid var(--gold);
  padding-top: 1rem; margin: 0 0 1.5rem; }}
h2 {{ font-size: 1.125rem; margin: 2rem 0 .5rem; }}
dl {{ display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: 0; }}
dt {{ color: var(--soft); }}
dd {{ margin: 0; }}
table {{ border-collapse: collapse; width: 100%; font-size: .875rem; font-variant-numeric: tabular-nums; }}
th, td {{ text-align: left; padding: .25rem 0 .25rem .5rem; border-bottom: 1px solid var(--line); }}
th:first-child, td:first-child {{ padding-left: 0; }}
th:nth-child(n+3), td:nth-child(n+3) {{ text-align: right; }}
p, li, figcaption {{ color: var(--soft); font-size: .875rem; }}
.wide {{ overflow-x: auto; }}
@media (max-width: 30rem) {{ table {{ font-size: .75rem; }} th, td {{ padding-left: .25rem; }} }}
figure {{ margin: 0; }}
figure svg {{ max-width: 100%; height: auto; }}
</style>
</head>
<body>
<h1>48 people rated sentences: what karat read, and who answered in earnest</h1>
<dl>
{facts}</dl>
<h2>Ratings and times by kind of item</h2>
<div class="wide"><table><thead><tr>{head}</tr></thead>
<tbody>
{body}</tbody></table></div>
<p>Ratings run from 1 (unnatural) to 5 (natural); times are in seconds. The data are simulated.</p>
<h2>Who answered in earnest</h2>
<figure>{flow}<figcaption>Participants through the stages of the screening. One person may be counted under several
criteria.</figcaption></figure>
<p>Three of the verdicts, in words; all are in screened/participants.csv:</p>
<ul>
{excluded}</ul>
</body>
</html>
"""
