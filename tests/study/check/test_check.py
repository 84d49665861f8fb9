"""The check: each broken study gives the finding it was made for, and nothing else."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import openpyxl
import pytest
import typer
from typer.testing import CliRunner

from karat.cli.check import check as command
from karat.errors import KaratError
from karat.messages import Message
from karat.study.chance import pass_probability, smallest
from karat.study.check import RULES, Draft, Finding, Report, check
from karat.study.check.controls import at_least
from karat.study.orders import OrderUndecidedError
from karat.study.settings import CODED_PLATFORMS, RecruitmentSettings
from karat.study.settings import PLATFORMS as KNOWN_PLATFORMS
from karat.study.size import size
from karat.study.study import load
from messages import refuses
from tests.study.check.breaks import BROKEN, STUDIES, study_folder
from tests.study.check.builder import VERIFIED, Study, choice, likert, row

ROOT = Path(__file__).parents[3]
NOT_IN_A_FIXTURE = {"order-undecided", "sheets"}
"""It takes the solver ten seconds to give up; a spreadsheet is never written twice with the same bytes."""


@pytest.mark.parametrize("name", STUDIES)
def test_a_broken_study_gives_exactly_its_finding(name: str, tmp_path: Path) -> None:
    rule = name.partition("__")[0]
    found = check(load(study_folder(name, tmp_path))).findings
    assert [finding.rule for finding in found] == ([] if rule == "sound" else [rule])
    for finding in found:
        assert finding.grade == RULES[rule].grade
        assert finding.message.endswith((".", ".)")), finding.message
        assert finding.fix
        assert finding.file in (None, "study.toml", "items.csv")


def test_there_are_enough_of_them_and_every_rule_has_one() -> None:
    assert len(BROKEN) >= 30
    assert {name.partition("__")[0] for name in BROKEN} == set(RULES) - NOT_IN_A_FIXTURE


def test_every_rule_is_documented() -> None:
    page = (ROOT / "docs" / "reference" / "checks.md").read_text(encoding="utf-8")
    for rule in RULES.values():
        listed = f"| `{rule.name}` | {rule.grade} | {rule.what} | {rule.source} | {rule.fix} |".replace("  ", " ")
        assert listed in page, f"add to checks.md: {listed}"
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert len(rows) == len(RULES)
    sentence = page.partition("Five errors cannot be allowed")[2].partition(". ")[0]
    assert set(re.findall("`(.+?)`", sentence)) == {rule.name for rule in RULES.values() if rule.must}


def written(study: Study, folder: Path) -> Report:
    study.write(folder)
    return check(load(folder))


def the(report: Report) -> Finding:
    (finding,) = report.findings
    return finding


def absent(text: str, *names: str) -> list[str]:
    """What a text does not name."""
    return [name for name in names if name not in text]


def test_the_example_of_attention_says_what_to_use(tmp_path: Path) -> None:
    finding = the(check(load(study_folder("attention__four", tmp_path))))
    assert finding.rule == "attention"
    assert absent(finding.message, "4 attention trials", "4 of 4", ".026", ".179") == []
    assert absent(finding.fix, "6 (5 right", ".041") == []
    assert finding.place == "study.toml:13"


def test_a_row_at_fault_is_named(tmp_path: Path) -> None:
    finding = the(check(load(study_folder("lengths__one-item", tmp_path))))
    assert absent(finding.message, "t07", "7 words", "0") == []
    assert finding.place == "items.csv:14"


def test_the_proof_of_the_solver_is_reported(tmp_path: Path) -> None:
    finding = the(check(load(study_folder("adjacent-tests__eighteen-beside-sixteen", tmp_path))))
    assert absent(finding.message, "18 test trials", "17 separators", "16") == []


def test_what_is_intended_is_allowed_and_counted(tmp_path: Path) -> None:
    study = likert()
    study.drop("attention", keep=4)
    study.settings["check"] = {"allow": ["attention"]}
    report = written(study, tmp_path)
    assert report.findings == ()
    assert [finding.rule for finding in report.allowed] == ["attention"]
    assert absent(report.lines()[-1], "1 finding", "[check] allow") == []


def test_no_slip_can_be_stated(tmp_path: Path) -> None:
    study = likert()
    study.drop("attention", keep=4)
    study.settings["screening"]["attention"] = {"slips": 0}
    assert written(study, tmp_path).findings == ()


def test_the_expected_minutes_may_be_those_of_the_criterion(tmp_path: Path) -> None:
    study = likert()
    study.settings.get("recruitment", {}).pop("minutes", None)
    study.settings["screening"]["speed"] = {"share_of_expected": 0.4}
    assert "share_of_expected" in the(written(study, tmp_path / "a")).message
    study.settings["screening"]["speed"] = {"share_of_expected": 0.4, "expected_minutes": 10.0}
    assert written(study, tmp_path / "b").findings == ()


def test_a_study_that_states_more_slips_needs_more_trials(tmp_path: Path) -> None:
    study = likert()
    study.settings["screening"]["attention"] = {"slips": 2}
    finding = the(written(study, tmp_path))
    n, k = smallest(0.4, slips=2)
    assert f"{n} ({k} right" in finding.fix
    assert absent(finding.message, "4 of 6", ".179") == []


@pytest.mark.parametrize("points", [5, 7, 9])
def test_attention_trials_follow_the_stated_points(points: int, tmp_path: Path) -> None:
    needed = size("2", points=points).attention
    study = likert()
    study.block["scale"] = {"points": points}
    low, high = f"1-{points // 2}", f"{points // 2 + 1}-{points}"
    for count, rules in ((needed, []), (needed - 1, ["attention"])):
        study.drop("attention")
        study.add("attention", count, "ungrammatical")
        study.drop("control")
        for status in ("grammatical", "ungrammatical"):
            study.add("control", 5, status, subgroup="related", verified=VERIFIED)
        for one in study.others:
            if one.get("expected"):
                one["expected"] = low if one["status"] == "ungrammatical" else high
        assert [finding.rule for finding in written(study, tmp_path / str(count)).findings] == rules


def typed(name: str, tmp_path: Path) -> tuple[str, dict[str, object]]:
    finding = the(check(load(study_folder(name, tmp_path))))
    assert finding.typed is not None
    assert finding.sentence("de") != finding.message == finding.sentence()
    return finding.typed.code, dict(finding.typed.values)


@pytest.mark.parametrize(
    ("name", "code", "values"),
    [
        ("attention-early__violation-column", "check.attention_early", {"place": 1, "length": 13, "n": None}),
        ("attention-early__choice", "check.attention_early", {"place": 2, "length": 12}),
        ("filler-frames__shared-words", "check.frame_words", {"words": ['"ruth"', '"thinks"', '"that"'], "n": 24}),
        ("filler-frames__questions", "check.frame_questions", {"n": 24, "fillers": 28}),
        ("filler-frames__long", "check.frame_length", {}),
        ("personal-question__no-way-out", "check.personal_question", {"name": "gender"}),
        ("verified-where__two-bare", "check.verified_where", {"n": 2}),
        ("expected-points__five-of-seven", "check.expected_points", {"points": 7, "end": "7", "n": 3}),
    ],
)
def test_typed_findings(name: str, code: str, values: dict[str, object], tmp_path: Path) -> None:
    found, own = typed(name, tmp_path)
    assert found == code
    assert own | values == own


def test_a_late_violation_and_one_in_a_short_sentence_are_fine(tmp_path: Path) -> None:
    study = likert()
    late, short, absent = study.only("attention")[:3]
    late["violation"] = "the began"
    short.update(sentence="Began the rain before noon.", violation="Began the")
    absent["violation"] = "nowhere to be found"
    finding = the(written(study, tmp_path))
    assert finding.typed == Message("check.violation_absent", {"item": absent["item"], "text": "nowhere to be found"})


@pytest.mark.parametrize("cell", ["2025, pilot in Graz", "yes (2024, osf.io/ab3c)", "norming study, March 2026"])
def test_when_and_where_controls_were_verified(cell: str, tmp_path: Path) -> None:
    study = likert()
    study.only("control")[0]["verified"] = cell
    assert written(study, tmp_path).findings == ()


@pytest.mark.parametrize("n", [4, 6, 8])
def test_trials_of_one_chance_pass_as_the_binomial_says(n: int) -> None:
    from fractions import Fraction

    assert float(at_least([Fraction(2, 5)] * n, n - 1)) == pass_probability(n, n - 1, "2/5")
    # One certain trial is a slip less, one impossible trial a slip spent.
    assert at_least([Fraction(2, 5)] * n + [Fraction(1)], n) == at_least([Fraction(2, 5)] * n, n - 1)
    assert at_least([Fraction(2, 5)] * n + [Fraction(0)], n) == at_least([Fraction(2, 5)] * n, n)


def test_an_undecided_order_is_a_warning(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    error = OrderUndecidedError("Not decided within 10 seconds.", "Loosen it.")
    monkeypatch.setattr(Draft, "order_error", error)
    finding = the(check(load(study_folder("sound__likert", tmp_path))))
    assert (finding.grade, finding.rule, finding.fix) == ("warning", "order-undecided", "Loosen it.")


def test_the_head_tells_lists_trials_and_minutes(tmp_path: Path) -> None:
    assert (
        Draft(load(study_folder("sound__likert", tmp_path))).head()
        == "study.toml: 2 lists of 40 trials, about 10 minutes each"
    )
    assert Draft(load(study_folder("levels__misspelt", tmp_path))).head() == "study.toml: its lists cannot be made"
    head = Draft(load(study_folder("list-sizes__unequal-groups", tmp_path))).head()
    assert head == "study.toml: 2 lists of 34 to 35 trials, about 9 minutes each"


def app() -> typer.Typer:
    made = typer.Typer()
    made.command()(command)
    return made


def test_the_command_prints_findings_and_fails_on_errors(tmp_path: Path) -> None:
    result = CliRunner().invoke(app(), [str(study_folder("attention__four", tmp_path))])
    assert result.exit_code == 1
    assert result.stdout.splitlines()[2].startswith("  error    attention: 4 attention trials")
    assert absent(result.stdout.splitlines()[-1], "1 error", '[check] allow = ["attention"]') == []
    assert max(map(len, result.stdout.splitlines())) <= 100


def test_warnings_do_not_fail_and_quiet_is_quiet(tmp_path: Path) -> None:
    assert CliRunner().invoke(app(), [str(study_folder("length__hundred-and-four", tmp_path))]).exit_code == 0
    quiet = CliRunner().invoke(app(), [str(study_folder("attention__four", tmp_path)), "--quiet"])
    assert (quiet.exit_code, quiet.stdout) == (1, "")


def test_json_has_every_part_of_a_finding(tmp_path: Path) -> None:
    result = CliRunner().invoke(app(), [str(study_folder("attention__four", tmp_path)), "--json"])
    data = json.loads(result.stdout)
    assert result.exit_code == 1
    assert data["counts"] == {"error": 1, "warning": 0, "hint": 0}
    parts = {"grade", "rule", "message", "source", "fix", "file", "line", "must", "code", "values"}
    assert set(data["findings"][0]) == parts


def test_what_cannot_be_read_is_an_error_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(KaratError):
        CliRunner().invoke(app(), [str(tmp_path / "nothing.toml")], catch_exceptions=False)


def test_misspelt_names_of_page_texts_do_not_wait_for_the_server(tmp_path: Path) -> None:
    study = likert()
    study.settings["texts"] = {**study.settings.get("texts", {}), "words": {"page.contniue": "Go on"}}
    study.write(tmp_path)
    with refuses(KaratError, "texts.words", "page.contniue", "page.continue"):
        CliRunner().invoke(app(), [str(tmp_path)], catch_exceptions=False)


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        ("„Das ist gut“, sagte er.", None),
        ("He said “no” and 'yes'.", None),
        ("The cats' milk isn't cold.", None),
        ("«Non», dit-il (tout bas).", None),
        ("„Das ist gut, sagte er.", "„"),
        ("He said no” to her.", "”"),
        ("One (two.", "("),
    ],
)
def test_quotation_marks_of_many_languages(text: str, flaw: str | None) -> None:
    from karat.study.check.texts import unbalanced_sign

    assert unbalanced_sign(text) == flaw


@pytest.mark.parametrize(
    ("sentence", "function", "is_flawed"),
    [
        ("Please choose the seat that you like best.", "test", False),
        ("The waiter said: please select a dish.", "filler", False),
        ("Please answer the phone in John's office.", "test", False),
        ("They always choose the right answer.", "filler", False),
        ("Please select the answer 4 here.", "filler", True),
        ("Bitte kreuzen Sie hier „sehr natürlich“ an.", "attention", True),
        ("The teacher paid attention to the survey.", "filler", False),
    ],
)
def test_instructions_are_reported_from_sentences(
    sentence: str, function: str, is_flawed: bool, tmp_path: Path
) -> None:
    study = likert()
    rows = study.tests if function == "test" else study.only(function)
    rows[0]["sentence"] = sentence
    report = written(study, tmp_path)
    assert ("instruction-check" in [finding.rule for finding in report.findings]) == is_flawed


def test_rows_with_the_same_unknown_level_are_one_finding(tmp_path: Path) -> None:
    study = likert()
    for one in study.tests:
        one["order"] = one["order"].replace("OS", "O-S")
    finding = the(written(study, tmp_path))
    assert finding.rule == "levels"
    assert absent(finding.message, "O-S", "order", f"{len(study.tests) // 2 - 1} more") == []
    assert "OS" in finding.fix


def test_a_misspelt_column_is_named(tmp_path: Path) -> None:
    finding = the(check(load(study_folder("columns__misspelt", tmp_path))))
    assert ("contxt" in finding.message, "context" in finding.fix) == (True, True)
    study = likert()
    for one in study.tests:
        one["lemma"] = "house"
    assert written(study, tmp_path).findings == ()


def two_rows_of_a_condition() -> Study:
    study = likert()
    study.tests.insert(2, row("t01", "test", "Somebody else opened a letter before the rain began.", order="SO"))
    return study


@pytest.mark.parametrize("name", ["adjacent-tests__eighteen-beside-sixteen", "design__two-rows-in-a-condition",
                                  "levels__misspelt", "levels__misspelt-side", "order__too-far-apart"])  # fmt: skip
def test_what_leaves_no_questionnaire_cannot_be_allowed(name: str, tmp_path: Path) -> None:
    rule = name.partition("__")[0]
    study = BROKEN[name]()
    study.settings["check"] = {"allow": [rule]}
    report = written(study, tmp_path)
    assert [finding.rule for finding in report.findings] == [rule, "allow"]
    assert rule in report.findings[1].message
    assert (report.allowed, report.errors) == ((), 1)
    last = "1 error, 1 warning. Fix the error: no questionnaire can be made with it."
    assert report.summary() == last


@pytest.mark.few(10)
@pytest.mark.parametrize("name", STUDIES)
def test_a_study_without_such_findings_can_be_planned(name: str, tmp_path: Path) -> None:
    study = load(study_folder(name, tmp_path))
    # A study with a name that is karat's own can be planned, and not be served.
    must = [finding.rule for finding in check(study).findings if finding.must and finding.rule != "taken-names"]
    try:
        made = all(len(study.questionnaire(list=number)) for number in range(1, study.lists + 1))
    except KaratError:
        made = False
    assert made is not bool(must)


def test_a_missing_cell_is_allowed_only_where_lists_can_be_made(tmp_path: Path) -> None:
    study = BROKEN["missing-cells__one-sentence"]()
    study.settings["check"] = {"allow": ["missing-cells"]}
    assert written(study, tmp_path / "rated").findings == ()
    one_side = choice()
    del one_side.tests[0]
    one_side.settings["check"] = {"allow": ["missing-cells"]}
    report = written(one_side, tmp_path / "choice")
    assert [finding.rule for finding in report.findings] == ["missing-cells"]
    assert report.summary().startswith("1 error.")
    assert "[check] allow" not in report.summary()


def test_only_the_rest_is_recommended_to_be_allowed(tmp_path: Path) -> None:
    study = two_rows_of_a_condition()
    study.settings["recruitment"]["quotas"] = {"region": {"north": 10}}
    assert absent(written(study, tmp_path).summary(), "2 errors", "design", '[check] allow = ["quotas"]') == []


def test_the_platform_and_its_code(tmp_path: Path) -> None:
    finding = the(check(load(study_folder("completion-code__prolific", tmp_path))))
    assert absent(finding.message, "Prolific", "completion_code") == []
    assert absent(finding.fix, "[recruitment]", 'completion_code = "..."') == []
    study = likert()
    study.settings["recruitment"].update(platform="prolific", completion_code="C1A2B3")
    assert written(study, tmp_path / "stated").findings == ()
    study.settings["recruitment"].update(platform="mturk", completion_code="")
    assert written(study, tmp_path / "mturk").findings == ()


def test_the_platforms_that_need_a_code_are_those_of_the_server() -> None:
    from karat.field.content.platforms import PLATFORMS, Visit

    stated = RecruitmentSettings()
    for name, where in PLATFORMS.items():
        own, theirs = (where.address(stated, Visit("p"), "C1", stated=ours) for ours in (False, True))
        assert (name in CODED_PLATFORMS) == (own is None and theirs is not None)
    assert set(KNOWN_PLATFORMS) == {"link", *PLATFORMS}


def in_encoding(name: str, text: str, folder: Path) -> Report:
    study = likert()
    study.encoding = name
    study.only("filler")[0]["sentence"] = text
    return written(study, folder)


@pytest.mark.parametrize(
    ("encoding", "name"),
    [("cp1252", "Latin-1 (Windows-1252)"), ("mac_roman", "Mac Roman"), ("utf-16-le", "UTF-16")],
)
def test_a_guessed_encoding_is_reported_with_a_word(encoding: str, name: str, tmp_path: Path) -> None:
    text = "Die Bäuerin schläft."
    finding = the(in_encoding(encoding, text, tmp_path))
    assert (finding.grade, finding.rule, finding.file) == ("hint", "encoding", "items.csv")
    assert absent(finding.message, "items.csv", name, '"Bäuerin"') == []
    assert "UTF-8" in finding.fix
    assert text in load(tmp_path).blocks[0].items.frame["sentence"].to_list()


def test_a_guessed_encoding_without_a_word_speaks_of_none(tmp_path: Path) -> None:
    finding = the(in_encoding("utf-16-le", "It rained all day.", tmp_path))
    assert absent(finding.message, "items.csv", "UTF-16") == []
    assert '"' not in finding.message
    assert absent(finding.fix, "CSV UTF-8", ".xlsx") == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_nothing_is_reported_of_an_encoding_that_is_no_guess(encoding: str, tmp_path: Path) -> None:
    assert in_encoding(encoding, "Die Bäuerin schläft.", tmp_path).findings == ()
    assert "Die Bäuerin schläft." in load(tmp_path).blocks[0].items.frame["sentence"].to_list()


def test_the_sheet_that_was_read_is_reported(tmp_path: Path) -> None:
    study = likert()
    study.block["items"] = "items.xlsx"
    study.write(tmp_path)
    book = openpyxl.Workbook()
    with (tmp_path / "items.csv").open(encoding="utf-8", newline="") as table:
        for cells in csv.reader(table):
            book.active.append(cells)
    book.active.title = "final"
    book.save(tmp_path / "items.xlsx")
    assert check(load(tmp_path)).findings == ()
    book.create_sheet("old")
    book.save(tmp_path / "items.xlsx")
    finding = the(check(load(tmp_path)))
    assert (finding.grade, finding.rule, finding.file) == ("hint", "sheets", "items.xlsx")
    assert absent(finding.message, "items.xlsx", "2 sheets", "final", "old") == []


def test_what_cannot_be_read_says_nothing_of_writing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from karat.cli.main import main

    study = likert()
    study.only("filler")[0]["item"] = ""
    study.write(tmp_path)
    for command_name, text in (("check", False), ("plan", True)):
        with pytest.raises(SystemExit) as stopped:
            main([command_name, str(tmp_path)])
        assert stopped.value.code == 2
        assert ("Nothing was written." in capsys.readouterr().err) is text


def test_findings_have_codes_that_do_not_depend_on_their_words(tmp_path: Path) -> None:
    few = check(load(study_folder("attention__four", tmp_path))).to_dict()["findings"]
    assert [(one["code"], one["values"]) for one in few] == [("check.attention", {})], "a rule that gives only words"
    typed = Finding("warning", "length", "...", typed=Message("check.length", {"n": 120, "most": 100}))
    assert Report("", (typed,)).to_dict()["findings"][0]["values"] == {"n": 120, "most": 100}
    assert typed.sentence("de") != typed.sentence("en") != typed.message
