"""karat screen as a user types it."""

from __future__ import annotations

import json
import tomllib
from functools import partial
from pathlib import Path
from string import ascii_lowercase

import numpy as np
import polars as pl
import pytest

import karat
from karat.cli.main import main
from karat.cli.progress import ShownSteps, stepping
from karat.messages import Message, NotComputed
from karat.screen.criteria.automation import refit
from karat.screen.crowd import answers as crowd_answers
from karat.screen.crowd.gold import gold
from karat.screen.run import run
from karat.simulate.hands import with_hands
from study.studies import RATING, rating_items, write_study

LIKERT = karat.datasets.path("likert")
SCREENING = """[screening]
completion = {}
remfod = { genuine_at_least = 0.9 }
attention = { alpha = 0.05 }
exclude = "any"
"""


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    with pytest.raises(SystemExit) as done:
        main(["screen", *map(str, arguments)])
    assert done.value.code == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    with pytest.raises(SystemExit) as done:
        main(["screen", *map(str, arguments)])
    assert done.value.code == 2
    return capsys.readouterr().err


def answered(folder: Path) -> tuple[Path, Path]:
    """A study and results that say nothing but who answered what to which item, when and how fast."""
    study = karat.study.load(write_study(folder, RATING + SCREENING, items=rating_items()))
    parts = []
    for number in range(8):
        frame = study.questionnaire(number % 4 + 1, f"p{number}").frame
        right = pl.col("expected").replace_strict({"4-5": "5", "1-2": "1"}, default="3")
        parts.append(
            frame.select("trial", "item", "order", "integration", response=right if number else pl.lit("5"))
            .with_columns(participant=pl.lit(f"p{number}"), rt=4.0 + (pl.col("trial") * 7 % 10) / 10)
        )  # fmt: skip
    results = folder / "results.csv"
    pl.concat(parts).write_csv(results)
    return study.path, results


def test_the_stated_rules_are_applied_and_everything_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study, results = answered(tmp_path)
    out = tmp_path / "screened"
    text = printed(capsys, results, "--study", study, "--out", out, "--explain", "p0")
    assert "complete   completion: 0 of 8 participants flagged." in text
    assert "note       function was taken from the item table" in text
    assert "attention: 1 of 8 participants flagged." in text
    assert "verdict    8 -> 7 participants (rule: any)" in text
    assert "0 of 6 trials" in text
    names = {path.name for path in out.iterdir()}
    assert names == {"participants.csv", "trials.csv", "screening.json", "judgments.parquet", "flow.svg"}
    data = json.loads((out / "screening.json").read_text(encoding="utf-8"))
    assert [name for name, one in data["participants"].items() if one["excluded"]] == ["p0"]
    assert data["settings"]["completion"]["trials"] == 72
    assert karat.read(out / "judgments.parquet").participants.height == 7


@pytest.mark.slow
def test_without_a_study_there_is_evidence_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole, few = karat.read(LIKERT), tmp_path / "few.parquet"
    whole.without(whole.participants["participant"][16:]).to_parquet(few)
    text = printed(capsys, few)
    assert "--study" in next(line for line in text.splitlines() if line.startswith("verdict"))
    assert "not run    inconsistency: " in text
    assert "crowd      Spammer Index ." in text
    assert "Nothing was written" in text
    data = json.loads(printed(capsys, few, "--json"))
    assert set(data) == {"participants", "skipped", "summary", "settings", "spammer_index"}
    assert 0 < data["spammer_index"]["value"] < 1
    assert data["summary"]["excluded"] == 0
    assert printed(capsys, few, "--quiet", "--criteria", "completion") == ""


@pytest.mark.slow
def test_the_multiverse_has_a_picture_and_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study, results = answered(tmp_path)
    out = tmp_path / "out"
    text = printed(capsys, results, "--study", study, "--multiverse", "--contrast", "order=PO,OP", "--out", out)
    assert "multiverse In " in text
    assert (out / "multiverse.svg").read_text(encoding="utf-8").lstrip().startswith("<")
    assert pl.read_csv(out / "multiverse.csv").height > 10


@pytest.mark.slow
def test_flags_of_convert_are_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, results = answered(tmp_path)
    frame = pl.read_csv(results).rename({"participant": "who", "rt": "ms"}).with_columns(pl.col("ms") * 1000)
    frame.write_csv(results, separator=";")
    text = printed(capsys, results, "--map", "participant=who", "--map", "rt=ms", "--rt-unit", "ms", "--delimiter", ";",
                "--scale", "ordinal:1-5:3")  # fmt: skip
    assert "found      8 participants" in text


@pytest.mark.slow
def test_only_the_chosen_criteria_run_and_nobody_is_excluded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study, results = answered(tmp_path)
    text = printed(capsys, results, "--study", study, "--criteria", "attention, speed")
    assert "attention: 1 of 8 participants flagged." in text
    assert "remfod" not in text
    assert "--criteria" in next(line for line in text.splitlines() if line.startswith("verdict"))
    data = json.loads(printed(capsys, results, "--study", study, "--criteria", "attention,remfod,speed", "--json"))
    assert data["summary"]["excluded"] == 0
    assert set(data["settings"]) == {"attention", "remfod", "speed", "exclude"}
    assert data["settings"]["exclude"] is None
    assert data["settings"]["remfod"]["genuine_at_least"] == 0.9  # as the study states it
    assert set(data["participants"]["p0"]["criteria"]) == {"attention", "remfod", "speed"}
    data = json.loads(printed(capsys, LIKERT, "--criteria", "completion", "--json"))
    assert data["summary"]["flagged"] == {"completion": 1}
    assert data["summary"]["notes"] == list(map(str, run(karat.read(LIKERT), {"completion": {}}).notes))


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["--criteria", "remofd"], ["--criteria", "remofd", "remfod?"]),
        (["--criteria", ","], ["--criteria", "remfod"]),
        (["--criteria", "remfod", "--multiverse"], ["--criteria"]),
        (["--contrast", "order=PO,OP"], ["--contrast", "--multiverse"]),
        (["--multiverse", "--contrast", "order"], ["FACTOR=LEVEL,LEVEL"]),
        (["--study", "nowhere.toml"], ["nowhere.toml"]),
        (["--explain", "p99x"], ["p99x"]),
    ],
)
def test_bad_options_are_named(arguments: list[str], names: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    text = refused(capsys, LIKERT, *arguments)
    assert [name for name in names if name not in text] == []


def test_existing_output_is_reported_before_computing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "out").write_text("x", encoding="utf-8")
    assert str(tmp_path / "out") in refused(capsys, LIKERT, "--out", tmp_path / "out").replace("\n", "")


def test_the_help_names_the_section_of_the_study_file(capsys: pytest.CaptureFixture[str]) -> None:
    text = " ".join(printed(capsys, "--help").split())
    assert "section of the study file exactly" in text


def labelled(folder: Path, people: int = 12, items: int = 10, labels: str = "abc", every: int = 1) -> Path:
    """Labels, some of them or all, with a right answer that nobody gave to the first item."""
    random = np.random.default_rng(1)
    rows = [
        (f"w{who}", f"t{item}", "a" if item == 0 else random.choice(list(labels)), "b" if item == 0 else None)
        for who in range(people)
        for item in range(items)
    ]
    frame = pl.DataFrame(rows, schema=["participant", "item", "response", "expected"], orient="row")
    path = folder / "labels.parquet"
    karat.Judgments(frame.gather_every(every), karat.Nominal(labels)).to_parquet(path)
    return path


def test_the_same_is_found_as_in_python(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = labelled(tmp_path)
    data = json.loads(printed(capsys, path, "--json"))
    screening = karat.screen.run(karat.read(path))
    assert {note.values["note"] for note in screening.notes} & set(gold(karat.read(path)).notes)
    assert {key: data[key] for key in ("summary", "skipped", "settings")} == {
        key: screening.to_dict()[key] for key in ("summary", "skipped", "settings")
    }


@pytest.mark.slow
def test_with_criteria_the_index_must_be_quick(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = labelled(tmp_path)
    assert "crowd      Spammer Index ." in printed(capsys, path, "--criteria", "completion")
    path = labelled(tmp_path, 150, 150, "abcd", every=11)
    text = printed(capsys, path, "--criteria", "completion")
    assert f"crowd      No Spammer Index. {crowd_answers.NOT_QUICK}" in text


@pytest.mark.slow
def test_an_index_that_is_refused_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = labelled(tmp_path, 320, 320, ascii_lowercase, every=31)
    text = printed(capsys, path, "--criteria", "procedure")
    why = NotComputed("crowd.too_many_labels", {"participants": 320, "items": 320, "labels": 26})
    assert f"not run    procedure: {Message('procedure.no_index', {'why': why})}" in text
    assert f"crowd      No Spammer Index. {why}" in text
    assert "karat convert FILE --answers" in text


@pytest.mark.slow
def test_off_a_terminal_there_is_a_line_for_each_criterion(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("karat.cli.screen.stepping", partial(stepping, after=0.0))
    arguments = ["screen", str(LIKERT), "--criteria", "completion,inconsistency"]
    with pytest.raises(SystemExit):
        main(arguments)
    assert capsys.readouterr().err.splitlines() == [
        "screening, 1 of 2: completion: 1 of 48 participants flagged.",
        "screening, 2 of 2: inconsistency: not run.",
    ]
    with pytest.raises(SystemExit):
        main([*arguments, "--quiet"])
    assert capsys.readouterr().err == ""


def test_lines_wait_until_the_work_has_taken_long(capsys: pytest.CaptureFixture[str]) -> None:
    with stepping("screening", 2, after=1000.0) as steps:
        steps.ends(Message("screening.written"))
    assert capsys.readouterr().err == ""
    with stepping("screening", 2, after=0.0) as steps:
        steps.ends(Message("screening.written"))
    assert capsys.readouterr().err == "screening, 1 of 2: verdicts: written.\n"


def test_on_a_terminal_the_step_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with stepping("screening", 3, after=1000.0) as steps:
        assert isinstance(steps, ShownSteps)
        steps.begins("markov")
        steps(16, 16)
        task = steps.progress.tasks[0]
        assert task.description == "screening: markov, 0 of 3 done"
        assert task.percentage == 100
        steps.ends(Message("screening.not_run", {"criterion": "markov"}))
        steps.begins("credence")
        task = steps.progress.tasks[0]
        assert task.description == "screening: credence, 1 of 3 done"
        # Nobody knows how far it is, which is not all of it.
        assert task.total is None
        assert task.percentage == 0


@pytest.mark.slow
def test_rules_alone_exclude_as_those_of_a_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, rules = labelled(tmp_path), tmp_path / "rules.toml"
    rules.write_text('[screening]\ncompletion = { trials = 20 }\nexclude = "completion"\n')
    data = json.loads(printed(capsys, path, "--rules", rules, "--json"))
    assert data["summary"]["excluded"] == 12
    assert set(data["settings"]) == {"completion", "exclude"}
    assert data["settings"]["completion"]["trials"] == 20
    chosen = json.loads(printed(capsys, path, "--rules", rules, "--criteria", "completion", "--json"))
    assert (chosen["settings"]["completion"]["trials"], chosen["summary"]["excluded"]) == (20, 0)
    folder = tmp_path / "parts"
    folder.mkdir()
    path.rename(folder / "labels.parquet")
    in_parts = json.loads(printed(capsys, folder, "--parts", "2", "--rules", rules, "--json"))
    assert in_parts["summary"]["excluded"] == 12


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("text", "told_of"),
    [
        (None, "A file of rules has a section [screening]"),
        ("completion = {}\n[screening]\nremfod = {}\n", "line 1, completion: is not a key of this table"),
        ("completion = {}\n", "rules.toml has no rules. Write criteria under [screening]"),
        ("[screening]\nexclude = 'any'\n", "rules.toml has no rules"),
        ("screening = 3\n", "rules.toml has no rules"),
        ("[screening]\ncredense = {}\n", "Did you mean credence?"),
        ("[screening]\ncompletion = {}\nexclude = 'remfod'\n", "line 3, screening.exclude"),
        ("[screening\n", "rules.toml is not TOML"),
        (
            "[screening]\nspeed = { median_below = true }\n",
            'median_below: "True" is true or false, but should be a number',
        ),
        ("[screening]\nspeed = { median_below = inf }\n", 'median_below: "inf" is not a finite number'),
        ("[screening]\nexclude = \u201cany\u201d\n", "The line has \u201c as a quotation mark: write a straight one"),
        ("title = 'A study'\n[[block]]\n", "rules.toml is a study file. Use --study"),
    ],
)
def test_broken_rules_are_reported_with_their_line(
    text: str | None, told_of: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = tmp_path / "rules.toml"
    if text is not None:
        rules.write_text(text, encoding="utf-8")
    assert told_of in refused(capsys, LIKERT, "--rules", rules)


def test_a_study_and_rules_beside_it_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    both = ("--study", "study.toml", "--rules", "rules.toml")
    text = refused(capsys, LIKERT, *both)
    assert ("--study" in text, "--rules" in text) == (True, True)


def test_a_pilot_becomes_a_line_of_the_study_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pilot = with_hands(karat.simulate.crowd(20, 12), "mouse")
    pilot.to_parquet(tmp_path / "pilot.parquet")
    settings = tomllib.loads(printed(capsys, tmp_path / "pilot.parquet", "--refit"))["screening"]["automation"]
    assert {name: tuple(ends) for name, ends in settings["people"].items()} == refit(pilot)
    assert "automation" in run(pilot, {"automation": settings}).evidence


def test_a_pilot_without_traces_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(capsys, LIKERT, "--refit")
