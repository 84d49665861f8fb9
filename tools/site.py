"""What the documentation has besides its pages: a study to try in the browser and its report, names for what the theme
leaves without one, and which file a page is. A hook of mkdocs.

The study is the one of `karat init --task likert`. Its trial page is the product's own page, scripts and styles, made
static: `docs/demo/demo.js` answers in the place of the server, so that nothing is sent or stored.
"""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

from karat.field.content.texts import words
from karat.field.content.trials import planned, scales
from karat.field.server.headers import WEB, environment
from karat.judgments import Judgments
from karat.report import build, write
from karat.simulate import answer_study
from karat.study.init import write_study
from karat.study.study import Study, load

SHOWN = ("f10", "f19", "f12", "f17", "f18", "f16")
"""The items of the demo in their order: fillers, since every participant sees them."""
PEOPLE = 60
ATTENTIVE = "attentive"
SHARES = {"guesser": 4 / 60, "rusher": 4 / 60, "straight-liner": 4 / 60}
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'none'"
"""The page of the demo may not ask any server for anything but its own files."""
STATIC = ("css/karat.css", "icon.svg", "js/**/*.js")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Without a repository, there is nowhere to edit a page."""
    if not config.repo_url:
        config.edit_uri = None
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the demo and its report to the files of the site."""
    for name, content in made().items():
        files.append(File.generated(config, f"demo/{name}", content=content))
    return files


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Name the search dialog, which the theme leaves without a name."""
    return output.replace(
        'data-md-component="search" role="dialog"', 'data-md-component="search" role="dialog" aria-label="Search"'
    )


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Say which file a page is, where no repository is known that could open it for editing."""
    guide = files.get_file_from_path("extending/index.md")
    if page.edit_url or page.is_homepage or guide is None or page.file.src_uri.startswith("reference/"):
        return html
    link = get_relative_url(guide.url, page.url)
    name = f"docs/{page.file.src_uri}"
    said = f'To improve this page, edit <code>{name}</code> and see <a href="{link}">Contributing</a>.'
    return f'{html}\n<p class="source">{said}</p>'


@cache
def made() -> dict[str, str]:
    """The files of the demo, by their path below it."""
    with tempfile.TemporaryDirectory() as folder:
        study, results = answered(Path(folder))
        page, *_ = write(build(results, study), Path(folder) / "report.html")
        return {"index.html": demo_page(study, results), "report.html": page.read_text(encoding="utf-8"), **scripts()}


def answered(folder: Path) -> tuple[Study, Judgments]:
    """The study and what simulated participants answer; a few of them are careless."""
    write_study(folder / "study", "likert")
    study = load(folder / "study")
    return study, answer_study(study, PEOPLE, shares=SHARES, seed=6)


def scripts() -> dict[str, str]:
    """The product's own scripts and styles that the trial page needs."""
    vendor = WEB / "vendor" / "jspsych.js"
    if not vendor.is_file():
        raise PluginError("The browser assets are missing. Run make setup.")
    static = [path for pattern in STATIC for path in sorted((WEB / "static").glob(pattern)) if path.stem != "admin"]
    found = {path.relative_to(WEB / "static").as_posix(): path for path in static} | {"vendor/jspsych.js": vendor}
    return {name: path.read_text(encoding="utf-8") for name, path in found.items()}


def demo_page(study: Study, results: Judgments) -> str:
    """The trial page as the server would send it, with the trials and the simulated answers inside."""
    spoken, (block,) = words("en"), study.blocks
    page = environment().get_template("participant/trials.html").render(
        words=spoken, title=study.public_title, language="en", direction="ltr", slug="demo", banner="", leave=False,
        token="", session="demo", progress="line", traces=False, browser_words=spoken.browser,
        task_scripts={block.task.name: f"./tasks/{block.task.name}.js"},
    )  # fmt: skip
    data = json.dumps(demo_data(study, results)).replace("<", "\\u003c")
    for old, new in {
        '<meta charset="utf-8">': '<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<link rel="modulepreload" href="./tasks/likert.js">\n': "",
        '<script type="module" src="/static/js/main.js"></script>': '<script type="module" src="demo.js"></script>',
        '<link rel="stylesheet" href="/static/css/karat.css">': '<link rel="stylesheet" href="css/karat.css">\n'
        '<link rel="stylesheet" href="demo.css">',
        "/static/": "",
        'data-next="/s/demo/go"': 'data-next="#answers"',
        "</body>": f'<script type="application/json" id="karat-demo">{data}</script>\n</body>',
    }.items():
        if old not in page:
            raise PluginError(f"The trial page has changed: {old!r} is no longer in it. Adapt tools/site.py.")
        page = page.replace(old, new)
    return page


def demo_data(study: Study, results: Judgments) -> dict[str, Any]:
    """The trials, their scale, and how the simulated participants answered each."""
    spoken, scale = words("en"), scales(study, words("en"))
    pages = planned(study, study.questionnaire(), slug="demo", words=spoken)
    shown = {page.rows[0]["item"]: page.shown for page in pages if page.rows}
    trials = [
        shown[item] | {"id": item, "done": place / len(SHOWN), "number": None, "of": None}
        for place, item in enumerate(SHOWN)
    ]
    ratings = results.frame.filter(pl.col("item").is_in(SHOWN))
    points = [point["value"] for point in scale["s1"]["points"]]
    counts = {item: [ratings.filter(item=item, response=point).height for point in points] for item in SHOWN}
    return {
        "trials": trials,
        "scales": scale,
        "counts": counts,
        "participants": PEOPLE,
        "careless": results.participants.filter(pl.col("behaviour") != ATTENTIVE).height,
        "seconds": float(ratings["rt"].median() or 0),  # type: ignore[arg-type]
    }
