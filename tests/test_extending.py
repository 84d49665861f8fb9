"""What packages of others add: the files and entry points of docs/extending/, installed in a folder and used."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import karat
from commands import run
from conftest import ROOT
from karat.intake import readers
from karat.intake.readers import READERS, reader_named, reader_titles
from karat.languages import language_of
from karat.messages import Message
from karat.packages import PackageError, added, naming, offered
from karat.report.build import NOT_COMPUTED, ReportData
from karat.report.page import html
from karat.report.words import methods
from karat.report.words.exclusions import clause, name_of
from karat.screen import Evidence, ScreenError
from karat.study.criteria import CRITERIA, Criterion, CriterionSettings, criterion_named, criterion_settings, register
from messages import refuses
from study.studies import RATING, write_study

ENGLISH, GERMAN = language_of("en"), language_of("de")

PAGES = ROOT / "docs" / "extending"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PATH = re.compile(r"`((?:src|tests|tools|docs)/[\w./-]+)`")
LOG = "who,nr,sentence_no,verdict,msec,kind\na1,,,,5210,screen\na1,1,s1,bad,2410,exp\nb2,1,s1,ok,1990,exp\n"
Install = Callable[..., Path]


def on_page(name: str) -> tuple[str, dict[str, dict[str, str]]]:
    """The file of a page and the entry points that it says to write."""
    found = BLOCK.findall((PAGES / name).read_text(encoding="utf-8"))
    module = next(text for language, text in found if language == "python")
    project = next(tomllib.loads(text)["project"] for language, text in found if language == "toml")
    return module, project["entry-points"]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, criteria: None) -> Iterator[Install]:
    """Packages in a folder that Python looks into, as an installer would have left them."""
    folder, modules = tmp_path / "site", []
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))

    def forget() -> None:
        offered.cache_clear()
        readers._of_package.cache_clear()

    def installed(package: str, module: str, text: str, entries: dict[str, dict[str, str]]) -> Path:
        (folder / f"{module}.py").write_text(text, encoding="utf-8")
        info = folder / f"{package.replace('-', '_')}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in own.items()) for group, own in entries.items()]
        (info / "entry_points.txt").write_text("\n".join(lines))
        modules.append(module)
        forget()
        return folder

    yield installed
    forget()
    for module in modules:
        sys.modules.pop(module, None)


@pytest.fixture
def alternating(install: Install) -> None:
    install("karat-alternating", "alternating", *on_page("criterion.md"))


@pytest.fixture
def lablog(install: Install, tmp_path: Path) -> Path:
    install("karat-lablog", "lablog", *on_page("reader.md"))
    (tmp_path / "monday.csv").write_text(LOG)
    return tmp_path / "monday.csv"


def by_turns(people: int) -> karat.Judgments:
    """Answers of participants, of which the first two go back and forth."""
    rows = [
        {"participant": f"p{who}", "item": f"i{place}", "trial": place, "response": 1 + 4 * (place % 2) if who < 2 else
         1 + (place * (who + 1)) % 5}
        for who in range(people)
        for place in range(1, 21)
    ]  # fmt: skip
    return karat.Judgments(pl.DataFrame(rows), karat.Ordinal(5))


# Pages.


def test_every_path_that_the_pages_name_is_there() -> None:
    named = {path for page in PAGES.glob("*.md") for path in PATH.findall(page.read_text(encoding="utf-8"))}
    assert len(named) > 40
    examples = {"src/karat/screen/criteria/alternating.py"}
    assert [path for path in sorted(named - examples) if not (ROOT / path).exists()] == []


def test_the_map_has_every_package() -> None:
    text = (PAGES / "index.md").read_text(encoding="utf-8")
    packages = [path.parent.name for path in (ROOT / "src" / "karat").glob("*/__init__.py")]
    assert [name for name in packages if f"src/karat/{name}/" not in text and name not in ("demo", "datasets")] == []


# A criterion of a package.


@pytest.mark.usefixtures("alternating")
def test_a_command_finds_a_criterion_of_a_package(tmp_path: Path) -> None:
    assert "alternating" not in CRITERIA
    by_turns(6).to_csv(tmp_path / "answers.csv")
    out, _ = run("screen", tmp_path / "answers.csv", "--criteria", "alternating", "--explain", "p0")
    assert "answers    alternating: 2 of 6 participants flagged." in out
    assert "Alternating answers: 18 of 18 answers go back to the last but one." in out


@pytest.mark.usefixtures("alternating")
def test_a_study_may_state_it_and_its_settings_are_checked(tmp_path: Path) -> None:
    consent = "[texts]\nconsent = 'I agree.'\n"
    rules = "[screening]\ncompletion = {}\nalternating = {at_most = 0.7}\nexclude = 'alternating'\n"
    stated = RATING + consent + rules
    study = karat.study.load(write_study(tmp_path, stated))
    assert study.settings.screening is not None
    assert study.settings.screening.criteria["alternating"].at_most == 0.7  # type: ignore[attr-defined]
    screening = karat.screen.run(by_turns(6), study=study)
    assert screening.excluded == ("p0", "p1")
    found, _ = run("check", tmp_path, "--json")
    assert [one["rule"] for one in json.loads(found)["findings"]] == [
        "public-title",
        "participants",
        "filler-frames",
        "verified-where",
    ]
    with refuses(ValueError, "alternating", "'at_mots'", "at_most"):
        criterion_settings("alternating", {"at_mots": 1})
    with refuses(ValueError, "'alternatin'", "alternating"):
        criterion_settings("alternatin", {})


@pytest.mark.usefixtures("alternating")
def test_one_of_a_package_never_runs_unasked() -> None:
    assert criterion_named("alternating").title == "Alternating answers"
    assert "alternating" not in karat.screen.run(by_turns(4)).settings


@pytest.mark.usefixtures("alternating")
def test_the_report_tells_it_without_words_of_its_own() -> None:
    settings = criterion_settings("alternating", {}).model_dump()
    assert name_of(GERMAN, "alternating") == "Alternating answers"
    text = "it flagged anyone who goes back and forth between two answers; at_most = 0.8"
    assert clause(ENGLISH, "alternating", settings) == text
    assert "who goes back and forth" in clause(GERMAN, "alternating", settings)
    screening = karat.screen.run(by_turns(6), {"alternating": {}})
    gathered = ReportData(screening, None, NOT_COMPUTED, NOT_COMPUTED)
    page = html(gathered)
    assert "Alternating answers: 2" in page, "in the flow of participants"
    assert "18 of 18 answers go back to the last but one" in page, "among the reasons"
    assert f"Alternating answers: {text}; 2 of 6 participants flagged." in methods(gathered)


@pytest.mark.usefixtures("alternating")
def test_other_rules_are_tried_with_it_and_without_it() -> None:
    worlds = karat.screen.multiverse(by_turns(8), {"completion": {}, "alternating": {}})
    assert set(worlds.universes["alternating"].to_list()) == {"usual", "out"}


@pytest.mark.usefixtures("alternating")
def test_in_parts_it_is_listed_as_not_run(tmp_path: Path) -> None:
    from karat.judgments.parts import open_parts, repartition

    repartition([by_turns(6)], tmp_path / "in", 2)
    rules = {"completion": {}, "alternating": {}}
    found = karat.screen.run_in_parts(open_parts(tmp_path / "in"), rules, out=tmp_path / "out")
    assert found.skipped["alternating"].code == "screening.not_in_parts"


def test_a_package_that_cannot_be_used_is_named(install: Install) -> None:
    module, entries = on_page("criterion.md")
    install("karat-broken", "broken", "import nothing_of_this_name\n", {"karat.criteria": {"broken": "broken:X"}})
    with refuses(ValueError, "broken", "karat-broken", "ModuleNotFoundError"):
        criterion_settings("broken", {})
    install("karat-other", "other", "X = 1\n", {"karat.criteria": {"other": "other:X"}})
    with refuses(PackageError, "karat-other", "Criterion", "other = other:X"):
        criterion_named("other")
    install("karat-one", "alternating", module, entries)
    install("karat-two", "alternating", module, entries)
    with refuses(PackageError, "alternating", "karat-one", "karat-two"):
        criterion_named("alternating")


def test_a_criterion_that_fails_or_cannot_run_says_why(install: Install) -> None:
    module, entries = on_page("criterion.md")
    install("karat-alternating", "alternating", module.replace('"could"', '"coud"'), entries)
    with refuses(karat.KaratError, "alternating", "karat-alternating", "ColumnNotFoundError"):
        karat.screen.run(by_turns(3), {"alternating": {}})
    unordered = karat.Judgments(by_turns(3).frame.drop("trial"), karat.Ordinal(5))
    screening = karat.screen.run(unordered, {"alternating": {}})
    assert list(screening.skipped) == ["alternating"]


# A criterion of a script.


class NoSettings(CriterionSettings):
    """Nothing to state."""


def flags(table: pl.DataFrame) -> Criterion:
    return Criterion("some", "Some", "who is some", NoSettings, lambda judgments: Evidence(table, "some"))


SOME = pl.DataFrame(
    {"participant": ["p0"], "score": [1.0], "threshold": [0.5], "flagged": [True], "reason": ["found to be so"]}
)


@pytest.mark.usefixtures("criteria")
def test_evidence_of_a_registered_criterion_is_checked() -> None:
    register(flags(SOME))
    assert karat.screen.run(by_turns(3), {"some": {}}).excluded == ("p0",)
    assert "some" in karat.screen.run(by_turns(3)).settings, "registered by this process, so that it runs unasked"
    register(flags(SOME.drop("reason")))
    with refuses(karat.KaratError, "some", "column reason"):
        karat.screen.run(by_turns(3), {"some": {}})
    register(flags(SOME.with_columns(flagged=pl.lit(None, dtype=pl.Boolean))))
    with refuses(karat.KaratError, "some", "column flagged"):
        karat.screen.run(by_turns(3), {"some": {}})
    register(replace(flags(SOME), computed_by=lambda judgments: SOME))
    with refuses(karat.KaratError, "some", "DataFrame", "karat.screen.Evidence"):
        karat.screen.run(by_turns(3), {"some": {}})


@pytest.mark.usefixtures("criteria")
def test_what_cannot_be_registered_says_why() -> None:
    class Needing(CriterionSettings):
        """A setting without a usual value."""

        cutoff: float

    for name in ("any", "exclude", "not", "two words"):
        with refuses(ValueError, f"'{name}'", "my_criterion"):
            register(replace(flags(SOME), name=name))
    with refuses(ValueError, "remfod"):
        register(replace(flags(SOME), name="remfod"))
    with refuses(ValueError, "some", "cutoff"):
        register(replace(flags(SOME), settings=Needing))
    assert "some" not in CRITERIA


@pytest.mark.usefixtures("criteria")
def test_a_note_on_the_key_goes_to_a_criterion_that_uses_it() -> None:
    from karat.screen.run import with_doubts

    register(replace(flags(SOME), by_the_key=True))
    evidence = {name: Evidence(SOME, name) for name in ("completion", "some", "markov")}
    assert [
        name for name, one in with_doubts(evidence, [Message("error", {"text": "Doubtful."})]).items() if one.notes
    ] == ["some"]
    del evidence["some"]
    assert [
        name for name, one in with_doubts(evidence, [Message("error", {"text": "Doubtful."})]).items() if one.notes
    ] == ["markov"]


# A reader of a package.


def test_a_command_finds_a_reader_of_a_package(lablog: Path) -> None:
    out, _ = run("convert", lablog)
    assert "read       monday.csv as a log of the lab's program" in out
    assert "set aside  1 of 3 rows: screens without a sentence (1)" in out
    assert karat.read(lablog, "lablog").frame["rt"].to_list() == [2.41, 1.99]
    assert list(reader_titles())[-2:] == ["lablog", "table"]


def test_a_bad_cell_is_reported_with_its_line(lablog: Path) -> None:
    lablog.write_text(LOG.replace("1990", "soon"))
    _, output = run("convert", lablog, status=2)
    assert 'line 4, rt: "soon" is not a number' in output


def test_own_readers_come_first_and_load_no_package(install: Install, tmp_path: Path) -> None:
    install("karat-greedy", "greedy", "raise RuntimeError('loaded')\n", {"karat.readers": {"greedy": "greedy:READER"}})
    assert len(karat.read(karat.datasets.path("likert"))) > 0
    table = tmp_path / "table.csv"
    table.write_text("participant,item,response\np1,a,1\np1,b,0\n")
    with refuses(karat.IntakeError, "greedy", "karat-greedy", "--from table"):
        karat.read(table)
    assert len(karat.read(table, "table")) == 2
    assert "karat-greedy" in reader_titles()["greedy"]
    with refuses(karat.IntakeError, "greeedy", "greedy"):
        reader_named("greeedy")


def test_a_reader_that_fails_or_loses_rows_is_named(install: Install, tmp_path: Path) -> None:
    module, entries = on_page("reader.md")
    install("karat-lablog", "lablog", module.replace('ne_missing("screen")', 'missing("screen")'), entries)
    (tmp_path / "monday.csv").write_text(LOG)
    with refuses(karat.KaratError, "lablog", "karat-lablog", "AttributeError"):
        karat.read(tmp_path / "monday.csv")
    names: dict[str, object] = {}
    exec(compile(module.replace("    reading.set_apart(", "    reading.set_apart and ("), "lablog", "exec"), names)
    with refuses(karat.IntakeError, "lablog", "2 of 3 rows"):
        karat.read(tmp_path / "monday.csv", names["READER"])  # type: ignore[arg-type]


def test_no_package_takes_the_name_of_a_reader_of_karat(install: Install) -> None:
    module, _ = on_page("reader.md")
    install("karat-lablog", "lablog", module, {"karat.readers": {"prolific": "lablog:READER"}})
    assert reader_named("prolific") in READERS
    assert list(reader_titles()) == [reader.name for reader in READERS]


# What both share.


def test_meant_errors_pass_and_others_name_the_package() -> None:
    def refuse(error: Exception) -> None:
        raise error

    named = naming("karat-x", "the reader x", refuse)
    with refuses(ScreenError, "no answers"):
        named(ScreenError("no answers"))
    with refuses(karat.KaratError, "x", "karat-x", "KeyError: 'a'"):
        named(KeyError("a"))
    assert added("karat.criteria", "remfod", Criterion) is None
