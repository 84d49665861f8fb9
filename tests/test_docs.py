"""The documentation: its pages are those of the code, and every example in it runs."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from commands import printed as commands_printed
from conftest import ROOT
from karat.demo import HUMAN_CLOCKS
from karat.field.bots import Client, visit
from karat.field.bots.behaviour import crowd
from karat.field.bots.process import free_port
from karat.field.bots.walk import Way, known_answers
from karat.study.study import load
from tools import make_results
from tools.make_reference import MAKERS

PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FIXTURES = ROOT / "tests" / "intake" / "fixtures"
SHELL = re.compile(r"[|&;<>$`*\\]|\bdemo\b")
"""What only a shell understands; and the demo, which has processes of its own."""
STEP = re.compile(r"[a-z][\w ]*, \d+ of \d+: ")
"""A step of a command that takes a while."""
STAYING = re.compile(r"karat (serve|open)\b")
"""Commands that run until somebody stops them."""
PASSWORD = "chosen at the first start"
TO_PROLIFIC = {"PROLIFIC_PID": "a" * 24}
"""What readers add to the address of a study that is meant for Prolific, to take part themselves."""


LONG = (
    "tutorials/first-study.md", "tutorials/measuring.md", "tutorials/python.md", "tutorials/existing-results.md",
    "tutorials/screening.md",
    "tutorials/crowd-labels.md", "tutorials/item-sheet.md", "tutorials/pairs.md",
    "howto/preregister.md", "howto/teaching.md", "howto/prolific.md",
    "howto/university-server.md", "howto/data-protection.md", "explanation/power.md", "explanation/crowd.md",
    "explanation/contrasts.md", "docs/credence.md", "gallery/analyses.md", "gallery/studies.md", "field/fielding.md",
    "reference/sources.md", "reference/criteria.md", "docs/limitations.md", "explanation/spammer-index.md",
    "tutorials/browser-app.md", "explanation/choices.md", "docs/scale.md",
)  # fmt: skip
"""Pages whose examples take long; the commands on them have quick tests of their own."""


def blocks(page: Path) -> list[tuple[str, str]]:
    return [(match[1], match[2]) for match in BLOCK.finditer(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.slow] * str(page).endswith(LONG))
        for page in PAGES
        if {"python", "console"} & {language for language, _ in blocks(page)}
    ],
    ids=lambda page: str(page.relative_to(ROOT)),
)
@pytest.mark.usefixtures("criteria", "tasks")
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python and console blocks of a page run in order, in one folder that has the example files."""
    folder = tmp_path / "page"
    shutil.copytree(FIXTURES, folder)
    for name in set(re.findall(r"\(([\w-]+\.csv)\)", page.read_text(encoding="utf-8"))):  # readers download it
        shutil.copy(page.parent / name, folder)
    monkeypatch.chdir(folder)
    names: dict[str, object] = {"__name__": "__page__", "__file__": str(folder / "page.py")}
    with Running(tmp_path / "log") as running:
        for language, text in blocks(page):
            if language == "python":
                exec(compile(text, str(page), "exec"), names)
            elif language == "console":
                for command, expected in commands(text):
                    result = running.start(command, expected) if STAYING.match(command) else run(command)
                    assert_printed(command, expected, result)


def commands(text: str) -> list[tuple[str, list[str]]]:
    """The commands of a console block, each with the lines that it should print."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line.rstrip())
    return found


def run(command: str) -> list[str]:
    """What a command prints, on either stream, blank lines left out."""
    words = shlex.split(command)
    if words[0] == "karat" and not SHELL.search(command):
        return [line.rstrip() for line in commands_printed(*words[1:]).splitlines() if line.strip()]
    program = f'"{sys.executable}" -m karat'
    done = subprocess.run(
        re.sub(r"^karat\b", lambda _: program, command),
        shell=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env=os.environ | {"COLUMNS": "120", "TERM": "dumb", "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    return [line.rstrip() for line in done.stdout.splitlines() if line.strip()]


class Running:
    """A server of a page: it runs beside the commands that follow, until the next one or the end of the page.

    Pages ask readers to take part in what they serve. A bot does so in their place.
    """

    def __init__(self, log: Path) -> None:
        self.log = log
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *error: object) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(30)

    def start(self, command: str, expected: list[str]) -> list[str]:
        """What it prints until it says the last line that the page shows, or stops because of an error."""
        self.__exit__()
        words, port = shlex.split(command)[1:], free_port()
        more = ["--no-open"] if words[0] == "open" else []
        if words[0] == "serve":
            file = Path(words[1]) / "study.toml"
            file.write_text(re.sub(HUMAN_CLOCKS, "", file.read_text(encoding="utf-8")), encoding="utf-8")
        environment = os.environ | {
            "KARAT_ADMIN_PASSWORD": PASSWORD,
            "KARAT_ARRIVALS_PER_MINUTE": "0",
            "COLUMNS": "120",
        }
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "karat", *words, "--port", str(port), *more],
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=environment,
            )  # fmt: skip
        end = time.monotonic() + 120
        while expected[-1] not in self.log.read_text().splitlines() and self.process.poll() is None:
            assert time.monotonic() < end, self.log.read_text()
            time.sleep(0.05)
        if self.process.poll() is None and words[0] == "serve" and "--draft" not in words:
            # In a thread, since a browser that an earlier test left open has an event loop in this one.
            with ThreadPoolExecutor(1) as pool:
                pool.submit(take_part, f"http://127.0.0.1:{port}", Path(words[1])).result()
        return [line.rstrip().replace(f":{port}/", ":8000/") for line in self.log.read_text().splitlines()]


def take_part(address: str, folder: Path) -> None:
    """One participant answers a study attentively, from the first page to the last."""
    study = load(folder)

    async def one() -> None:
        client = Client(address)
        try:
            way = Way(folder.name, TO_PROLIFIC, known_answers(study, 0), speed=0.0, patience=20.0)
            record = await visit(client, way, crowd(study, ["attentive"])[0])
        finally:
            await client.close()
        assert record.acknowledged, record.last_page

    asyncio.run(one())


def assert_printed(command: str, expected: list[str], output: list[str]) -> None:
    """Compare line by line; a line `...` stands for any lines, three dots inside a line for any text."""
    lines = [line for line in expected if line.strip()]
    pattern = "".join(
        r"(?:.*\n)*" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + r"\n" for line in lines
    )
    # Steps are named where they take longer than two seconds, so on slow machines only.
    text = "".join(line + "\n" for line in output if not STEP.match(line))
    assert re.fullmatch(pattern, text), f"$ {command}\nprinted:\n{text}\nthe page says:\n" + "\n".join(lines)


def test_the_comparison_can_fail() -> None:
    assert_printed("x", ["a", "...", "c 1 ... 3"], ["a", "b", "b", "c 1 2 3"])
    for wrong in (["a"], ["a", "c 1 2 4"], ["b", "c 1 2 3"]):
        with pytest.raises(AssertionError):
            assert_printed("x", ["a", "...", "c 1 ... 3"], wrong)


def test_pages_load_no_font_from_elsewhere() -> None:
    assert yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), yaml.BaseLoader)["theme"]["font"] == "false"


@pytest.mark.parametrize("name", MAKERS)
def test_generated_pages_are_those_of_the_code(name: str) -> None:
    text = (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")
    assert text == MAKERS[name](), "run python -m tools.make_reference"


def test_the_results_to_download_are_those_of_the_script() -> None:
    assert make_results.PATH.read_text(encoding="utf-8") == make_results.results(), "run python tools/make_results.py"


def test_every_source_is_documented() -> None:
    from karat.intake.readers import READERS

    text = (ROOT / "docs" / "reference" / "sources.md").read_text(encoding="utf-8")
    assert [reader.name for reader in READERS if f"`{reader.name}`" not in text] == []


def test_decisions_are_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "index.md").read_text(encoding="utf-8")
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    records = sorted(path.name for path in folder.glob("*.md") if path.name != "index.md")
    assert records
    assert [name for name in records if f"({name})" not in index or f"decisions/{name}" not in nav] == []
