"""The report as one HTML file, which contains figures, data, style and script and requests nothing from the network.

Figures are in the page as SVG with their texts as texts. Their ids are made unique, and coordinates are cut to
hundredths of a point, which halves the file. The data of a figure or a table are a link that contains the CSV; the SVG
of a figure is taken from the page. A policy in the page allows only its own script and style.
"""

import base64
import hashlib
import math
import re
from functools import cache
from importlib.resources import files
from typing import Any

import polars as pl
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from karat.errors import counted
from karat.judgments.files import escape_formulas
from karat.languages import language_of
from karat.languages.language import typeset
from karat.report.build import ReportData
from karat.report.counts import step_counts
from karat.report.first_figure import as_json, svg
from karat.report.first_figure import data as figure_data
from karat.report.outcomes import Outcomes
from karat.report.sections import sections
from karat.report.sections.brief import leads
from karat.report.sections.people import playback
from karat.report.sections.quality import looked_at
from karat.report.words.sample import simulated_notice
from karat.screen.crowd.spammer_index import SpammerIndex
from karat.screen.screening import stage_words
from karat.section import Section, Table
from karat.simulate.behaviours import simulated

COORDINATES = re.compile(r'(?<= )(d|x|y|transform|points)="([^"]*)"')
DECIMALS = re.compile(r"(-?\d+\.\d{2})\d+")
UNSHOWN = re.compile(r"<style[^>]*>.*?</style>|<metadata>.*?</metadata>|<!--.*?-->", re.DOTALL)
CODE = re.compile(r"`([^`]+)`")
LETTERS = 1.4
"""Pixels per point of figures."""
SMALLEST = 0.7
"""The share of its width to which a figure may shrink: letters of 14 pixels are then 10."""
PHONE = 340
"""The width of a figure on a narrow phone, in pixels."""
LONG = 25
"""The rows above which a table scrolls within the page."""


def html(gathered: ReportData, language: str = "en") -> str:
    """The whole page."""
    parts = [section for section in sections(gathered, language) if section.key != "brief"]
    script = _text("page.js")
    # The browser runs only the script with this fingerprint.
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    played = playback(gathered)
    page = _environment().get_template("page.html").render(
        title=gathered.title, made=gathered.made, facts=facts(gathered)[:FACTS], sections=parts,
        style=_text("page.css"), script=script, allowed=allowed, leads=leads(gathered), flow=_flow(gathered),
        banner=simulated_notice(language_of(language), gathered.judgments), language=language, first=_first(gathered),
        playback=None if played is None else as_json(played), printed=PRINTED, copied=COPIED,
        gists={section.key: _gist(section, gathered) for section in parts},
    )  # fmt: skip
    return page.strip() + "\n"


UNNAMED = {"answer", "all", "_pair", "expected"}
"""The factors of the first figure that are not factors of the design."""
FACTS = 4
"""The most numbers below the title."""
MOST_TITLES = 6
"""The most parts that the heading of a section names."""
PRINTED = ("results", "words", "methods")
"""The sections that are printed without the appendix."""
COPIED = ("methods", "preregistration")
"""The sections whose paragraphs have a copy button."""


def _first(gathered: ReportData) -> dict[str, Any] | None:
    """The figure of the first screen with its caption, its data and the rules to choose from."""
    outcomes = gathered.outcomes
    if not isinstance(outcomes, Outcomes) or not outcomes.cells:
        return None
    by = "" if UNNAMED & set(outcomes.factors) else f" by {language_of('en').several(outcomes.factors)}"
    question = f" on the question “{outcomes.question}”" if outcomes.question else ""
    over = "from" if outcomes.analysed.answering < 2 else "with 95 % intervals over"
    unit = f"Answers {outcomes.unit}" if outcomes.kind == "share" else outcomes.unit[:1].upper() + outcomes.unit[1:]
    caption = f"{unit}{question}{by}, {over} "
    about = ""
    if outcomes.people:
        about += " Each small dot is a participant"
        about += "; hollow ones are excluded." if len(outcomes.rules) > 1 else "."
    if outcomes.left_out:
        what = {"preference": "pairs", "answers": "answers"}.get(outcomes.kind, "conditions")
        about += f" Of {len(outcomes.cells) + outcomes.left_out:,} {what}, {_which_cells(outcomes)} are shown."
    return {
        "svg": svg(outcomes, gathered.playback), "caption": caption,
        "kept": counted(outcomes.analysed.answering, "participant"), "about": about,
        "data": as_json(figure_data(outcomes)),
        "rules": outcomes.rules, "table": outcomes.table(),
    }  # fmt: skip


def _which_cells(outcomes: Outcomes) -> str:
    """Which cells are in a figure that leaves some out."""
    if not outcomes.by_ends:
        return f"the {len(outcomes.cells)} with the most answers"
    first, last = ("clearest", "closest") if outcomes.kind == "preference" else ("highest", "lowest")
    half = len(outcomes.cells) // 2
    return f"the {half} {first} and the {half} {last}"


def _flow(gathered: ReportData) -> dict[str, Any]:
    """The thin bar of who stays, and the steps below it."""
    screening = gathered.screening
    everyone, excluded = screening.judgments.participants.height, len(screening.excluded)
    begun = "simulated" if 0 < everyone == simulated(screening.judgments.participants) else "took part"
    steps = [f"{everyone:,} {begun}"]
    steps += [
        f"{step['remained']:,} after {stage_words(step['stage'], step['flagged'])}" for step in step_counts(screening)
    ]
    if screening.exclude is not None:
        steps = [*steps[:-1], f"{everyone - excluded:,} in the analysis"] if len(steps) > 1 else steps
    else:
        steps = [f"{everyone:,} {begun}", f"{everyone:,} in the analysis"]
    return {
        "kept": round(100 * (everyone - excluded) / everyone, 2) if everyone else 0.0, "text": " → ".join(steps),
        "label": f"{everyone - excluded:,} kept, {excluded:,} excluded",
    }  # fmt: skip


def _gist(section: Section, gathered: ReportData) -> str:
    """The content of a folded section in a few words."""
    people = gathered.judgments.participants.height
    if section.key == "quality" and section.tables:
        flagged = {name for evidence in looked_at(gathered).values() for name in evidence.flagged}
        excluded = len(gathered.screening.excluded)
        return f"{len(flagged):,} of {counted(people, 'participant')} flagged, {excluded or 'none'} excluded"
    if section.key == "people":
        return f"{people:,}, with playback" if gathered.playback else f"{people:,}"
    if section.key in ("results", "words"):
        titles = [part.title for part in section.sections]
        if len(titles) > MOST_TITLES:
            titles = [*titles[: MOST_TITLES - 1], f"{len(titles) - MOST_TITLES + 1} more"]
        # German nouns keep their capitals, and so does a single letter such as R.
        small = (title if title[1:2] == " " else title[:1].lower() + title[1:] for title in titles)
        return ", ".join(small if section.language == "en" else titles)
    return ""


def facts(gathered: ReportData) -> list[tuple[str, str]]:
    """The numbers on top of the page, as pairs of name and number."""
    screening = gathered.screening
    everyone, excluded = screening.judgments.participants.height, len(screening.excluded)
    made_up = simulated(screening.judgments.participants)
    numbers = [("simulated participants" if 0 < everyone == made_up else "took part", f"{everyone:,}")]
    numbers += [("of them simulated", f"{made_up:,}")] if 0 < made_up < everyone else []
    numbers.append(("in the analysis", f"{everyone - excluded:,}"))
    for noun, n in ("item", screening.judgments.frame["item"].n_unique()), ("answer", screening.judgments.answers):
        number, name = counted(n, noun).split(" ", 1)
        numbers.append((name, number))
    if isinstance(gathered.index, SpammerIndex):
        ends = f"{_share(gathered.index.lower)} to {_share(gathered.index.upper)}"
        numbers.append((f"Spammer Index ({ends})", _share(gathered.index.value)))
    return numbers


def inlined(svg: str, key: str) -> str:
    """An SVG as part of a page: with unique ids and short coordinates, and without style that affects the page."""
    text = svg[svg.index("<svg") :]
    text = UNSHOWN.sub("", text)
    used = set(re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', text))
    named = {url or other for url, other in used}
    for labels in re.findall(r'aria-labelledby="([^"]+)"', text):
        named |= set(labels.split())
    text = re.sub(r' id="([^"]+)"', lambda match: f' id="{key}-{match[1]}"' if match[1] in named else "", text)
    text = re.sub(r"url\(#", f"url(#{key}-", text)
    text = re.sub(r'href="#', f'href="#{key}-', text)
    text = re.sub(
        r'(?<=aria-labelledby=")[^"]+', lambda match: " ".join(f"{key}-{label}" for label in match[0].split()), text
    )
    text = COORDINATES.sub(lambda match: f'{match[1]}="{DECIMALS.sub(_cut, match[2])}"', text)
    # In the file every element has this style; here they inherit it from the outermost one.
    text = text.replace("<svg ", '<svg stroke-linejoin="round" ', 1)
    head = text[: text.index(">")]
    if " width=" not in head and (box := re.search(r' viewBox="0 0 ([\d.]+) [\d.]+"', head)):
        return text.replace(box[0], box[0] + _sized(float(box[1])), 1)
    return re.sub(r' width="([\d.]+)pt"', lambda match: _sized(LETTERS * float(match[1])), text, count=1)


def csv_link(frame: pl.DataFrame) -> str:
    """A data URL of a table as CSV; text that a spreadsheet would run as a formula is marked as text."""
    return text_link(escape_formulas(frame).write_csv(), "csv")


def text_link(text: str, kind: str = "plain") -> str:
    """A data URL of a text."""
    return f"data:text/{kind};charset=utf-8;base64,{base64.b64encode(text.encode()).decode()}"


def coded(text: str) -> Markup:
    """A sentence with text in backticks as code, and with numbers that keep their signs in the same line."""
    parts = CODE.split(text)
    marked = [
        Markup("<code>{}</code>").format(part) if n % 2 else escape(typeset(part)) for n, part in enumerate(parts)
    ]
    return Markup("").join(marked)


def body(table: Table) -> str:
    """The rows of a table as HTML, with its small pictures after the second column.

    A template would take several times as long for thousands of cells.
    """
    written = []
    columns = [(name, dtype.is_numeric()) for name, dtype in table.frame.schema.items()]
    for place, row in enumerate(table.frame.iter_rows()):
        cells = zip(columns, row, strict=True)
        parts = [
            _cell(table.cell(name, value), value, number, "td" if at else "th")
            for at, ((name, number), value) in enumerate(cells)
        ]
        parts[2:2] = [f'<td class="picture">{strips[place]}</td>' for strips in table.pictures.values()]
        out = ' class="out"' if len(row) > 1 and row[1] == "excluded" else ""
        written.append(f"<tr{out}>{''.join(parts)}</tr>\n")
    return "".join(written)


def _cell(whole: str, value: Any, number: bool, tag: str) -> str:
    """A cell of a table; in one with several lines, the first summarises the others."""
    text, *more = map(_marked, whole.split("\n"))
    if more and tag == "td":
        lines = "".join(f"<li>{line}</li>" for line in more)
        return f"<td><details><summary>{text}</summary><ul>{lines}</ul></details></td>"
    scope = ' scope="row"' if tag == "th" else ""
    is_number = number and isinstance(value, int | float) and math.isfinite(value)
    place = ' class="number"' * number + (f' data-v="{value}"' if is_number else "")
    return f"<{tag}{scope}{place}>{text}</{tag}>"


def _marked(text: str) -> Markup:
    """The text of a cell; `coded` takes several times as long, and few cells need it."""
    return coded(text) if "`" in text else escape(text)


def _cut(match: re.Match[str]) -> str:
    return match[1].rstrip("0").rstrip(".")


def _sized(width: float) -> str:
    """The width of a figure on the page in pixels, with letters as large as those of tables.

    On a narrow screen a figure shrinks to `SMALLEST` of that, so that its letters remain legible. A figure that is
    still wider than a phone is marked, so that the page says that it can be moved sideways.
    """
    pixels = round(width)
    least = round(SMALLEST * pixels)
    mark = ' class="broad"' if least > PHONE else ""
    return f'{mark} style="max-width:{pixels}px;min-width:{least}px"'


def _share(value: float) -> str:
    return language_of("en").value(value, ".3r")


def _text(name: str) -> str:
    return files("karat.report").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("karat.report", "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.globals.update(
        body=body, csv_link=csv_link, text_link=text_link, inlined=inlined, coded=coded, long=LONG
    )
    return environment
