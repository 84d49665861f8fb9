"""PCIbex and Ibex: columns named by comments, trials between markers, answers among many other lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from intake.cases import aside, noted
from karat.errors import IntakeError
from karat.intake import Intake, Options, read_files
from karat.intake.readers.ibex.log import decoded, is_log
from karat.judgments.scales import Choice, Nominal, Ordinal
from messages import codes, refuses

FIXTURES = Path(__file__).parent / "fixtures"
HEADER = """# Columns below this comment are as follows:
# 1. Results reception time.
# 2. MD5 hash of participant's IP address.
# 3. Controller name.
# 4. Order number of item.
# 5. Inner element number.
# 6. Label.
# 7. Latin Square Group.
# 8. PennElementType.
# 9. PennElementName.
# 10. Parameter.
# 11. Value.
# 12. EventTime.
"""
START = 1709547000000

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a results file from its lines, each given without the two cells that all begin with."""

    def write(*lines: str, columns: str = "# 13. Comments.\n", reception: int = 1709547330) -> Path:
        path = tmp_path / "results.csv"
        body = "".join(f"{reception},0cc175b9c0f1b6a8,PennController,{line}\n" for line in lines)
        path.write_text(HEADER + columns + body, encoding="utf-8")
        return path

    return write


def trial(order: int, label: str, *lines: str, start: int = START, logged: str = "") -> list[str]:
    """The lines of a trial, with its markers."""
    ahead = f"{order},0,{label},NULL,"
    marker = f"{ahead}PennController,{order},_Trial_,"
    inner = [f"{ahead}{line}" for line in lines]
    return [f"{marker}Start,{start}{logged},NULL", *inner, f"{marker}End,{start + 9000}{logged},NULL"]


def case(name: str, file: str = "results.csv") -> Intake:
    return read_files([FIXTURES / name / file])


def column(intake: Intake, name: str) -> list[object]:
    return intake.judgments.frame[name].to_list()


def test_answers_times_and_order_of_a_rating_study() -> None:
    intake = case("pcibex")
    first, second = "5f1a2b3c4d5e6f7a8b9c0d1e", "60aa2b3c4d5e6f7a8b9c0d99"
    assert intake.sources == (("results.csv", "results of PCIbex or Ibex"),)
    assert column(intake, "participant") == [first] * 4 + [second] * 3
    assert column(intake, "response") == ["6", "7", "2", "5", "5", "1", None]
    assert column(intake, "trial") == [1, 2, 3, 4, 1, 2, 3]
    assert column(intake, "rt") == [2.0, 1.83, 3.5, 2.5, 0.9, 1.0, None]
    assert column(intake, "condition") == ["good", "good", "bad", "good", "good", "bad", "good"]
    assert intake.judgments.scale == Ordinal(7)
    assert column(intake, "time")[1] == datetime(2024, 3, 4, 10, 10, 16, 870000, UTC)
    assert column(intake, "time")[6] is None


def test_what_is_no_judgment_is_counted_by_reason() -> None:
    assert aside(case("pcibex")) == {
        "aside.trial_markers": 22,
        "aside.button_clicks": 2,
        "aside.display_times": 6,
        "aside.changed_answers": 1,
        "aside.reading_times": 3,
        "aside.inputs_beside": 2,
        "aside.single_questions": 2,
    }


def test_only_commas_and_control_codes_are_unescaped() -> None:
    sentences = column(case("pcibex"), "sentence")
    assert sentences[1] == "The fox, a young one, left 100%25 early."
    assert sentences[3] == "=SUM of all fears."
    assert decoded("a%0Ab%2cc%41%") == "a\nb,c%41%"


def test_practice_is_separate_from_equally_numbered_items() -> None:
    intake = case("pcibex")
    assert column(intake, "function") == ["practice", "test", "test", "test", "practice", "test", "test"]
    assert column(intake, "item") == ["practice_trial-1", "1", "2", "3", "practice_trial-1", "2", "1"]


def test_participants_have_times_design_and_background() -> None:
    people = case("pcibex").judgments.participants
    assert people["started"].to_list()[0] == datetime(2024, 3, 4, 10, 10, tzinfo=UTC)
    assert people["finished"].to_list()[0] == datetime(2024, 3, 4, 10, 15, 30, tzinfo=UTC)
    assert people["working_time"].to_list() == [60.0, 60.0]
    assert people["design_number"].to_list() == ["2", "3"]
    assert people["gender"].to_list() == ["female", "male"]
    assert "age" not in people.columns
    assert people["user_agent"].to_list()[1].startswith("Mozilla/5.0 (iPhone")


def test_assumptions_are_reported_with_their_way_out() -> None:
    notes = case("pcibex").notes
    assert noted(notes, "pcibex.participant_column") == {"column": "PROLIFIC_PID"}
    assert noted(notes, "item.column") == {"column": "item"}
    assert noted(notes, "pcibex.rt_from_display") == {"n": 5}
    assert noted(notes, "pcibex.rt_from_start") == {"n": 1}


def test_two_alternatives_have_sides_by_label_and_group() -> None:
    intake = case("pcibex_choice", "results")
    assert intake.judgments.scale == Choice()
    assert column(intake, "response") == ["left", "right", None, "right", "left"]
    assert column(intake, "left") == ["plain", "marked", None, "plain", "marked"]
    assert column(intake, "item") == ["fc-12", "fc-13", "fc-14", "fc-13", "fc-12"]
    assert column(intake, "rt") == [1.5, 2.25, None, 1.0, 1.75]
    assert column(intake, "participant") == ["1603390913-4a8a08"] * 3 + ["1603394000-8277e0"] * 2
    assert aside(intake) == {"aside.trial_markers": 10, "aside.continue_keys": 5}
    assert "pcibex.participants_by_hash" in codes(intake.notes)


def test_without_sides_the_names_are_the_answers() -> None:
    options = Options(mapping={"left": "", "right": ""})
    intake = read_files([FIXTURES / "pcibex_choice" / "results"], options=options)
    assert intake.judgments.scale == Nominal(["marked", "plain"])
    assert column(intake, "response") == ["plain", "plain", None, "marked", "marked"]


def test_keys_are_answers_and_repeated_lines_count_once() -> None:
    intake = case("pcibex_keys")
    assert column(intake, "participant") == ["s1", "s1", "s1", "s2", "s2"]
    assert column(intake, "response") == ["F", "J", None, "J", "J"]
    assert column(intake, "trial") == [1, 2, 3, 1, 2]
    assert column(intake, "rt") == [1.234, 0.8, None, 0.65, 0.7]
    assert column(intake, "group") == ["A", "A", "A", "B", "B"]
    assert aside(intake)["aside.sent_twice"] == 8
    assert intake.judgments.participants.height == 2


def test_classic_ibex_reads_questions_and_their_sentences() -> None:
    intake = case("pcibex_classic", "results")
    assert column(intake, "response") == ["4", "5", "2", None, "5", "4", "1"]
    assert column(intake, "rt") == [3.1, 2.21, 4.005, None, 1.5, 1.99, 2.6]
    assert column(intake, "item")[:4] == ["practice-1", "gap-7", "island-8", "filler-21"]
    assert column(intake, "function")[:4] == ["practice", "test", "test", "filler"]
    assert column(intake, "sentence")[3] == "The soup sings, loudly."
    assert aside(intake) == {"aside.form_fields": 3, "aside.sentences_shown": 7}


def test_yes_and_no_are_answers_and_no_sides(write: Write) -> None:
    lines = [
        line
        for order, answer in ((1, "yes"), (2, "no"))
        for line in trial(order, "exp", f"Selector,pick,Selection,{answer},{START + 700},yes;no")
    ]
    intake = read_files([write(*lines)])
    assert column(intake, "response") == ["yes", "no"]
    assert "left" not in intake.judgments.frame.columns


def test_sides_show_what_the_logged_columns_say(write: Write) -> None:
    lines = []
    for order, side in ((1, "left"), (2, "right")):
        shown = f",{order}a,{order}b"
        answer = f"Selector,pick,Selection,{side}_canvas,{START + 700}{shown},left_canvas;right_canvas"
        lines += trial(order, "exp", answer, logged=shown)
    intake = read_files([write(*lines, columns="# 13. left.\n# 14. right.\n# 15. Comments.\n")])
    assert column(intake, "response") == ["left", "right"]
    assert column(intake, "left") == ["1a", "2a"]


def picks(write: Write, orders: list[str], logged: str = "", columns: str = "# 13. Comments.\n") -> Intake:
    """Six trials of one participant with a selector whose options come in these orders."""
    lines: list[str] = []
    for at in range(6):
        answer = f"Selector,pick,Selection,good,{START + 700}{logged},{orders[at % len(orders)]}"
        lines += trial(at, "exp", answer, logged=logged)
    return read_files([write(*lines, columns=columns)])


def test_options_in_one_order_are_answers_and_no_sides(write: Write) -> None:
    fixed = picks(write, ["good;bad"])
    assert set(column(fixed, "response")) == {"good"}
    assert "left" not in fixed.judgments.frame.columns
    assert set(column(picks(write, ["good;bad", "bad;good"]), "left")) == {"good", "bad"}


def test_sides_show_columns_named_like_the_options(write: Write) -> None:
    columns = "# 13. good.\n# 14. bad.\n# 15. Comments.\n"
    intake = picks(write, ["good;bad", "bad;good"], ",He left.,He leaved.", columns)
    assert column(intake, "response") == ["left", "right"] * 3
    assert column(intake, "left") == ["He left.", "He leaved."] * 3


def rated(*labels: str, group: str = "NULL") -> list[str]:
    lines = [line for order, label in enumerate(labels)
             for line in trial(order, label, f"Scale,s,Choice,{order % 5 + 1},{START + 700},NULL")]  # fmt: skip
    return [line.replace(",NULL,", f",{group},", 1) for line in lines]


def test_labels_that_all_name_functions_are_functions(write: Write) -> None:
    labels = ["instructions", "practice", "control_good", "control_bad", "test_a", "test_b"]
    intake = read_files([write(*rated(*labels))])
    assert column(intake, "function") == ["practice", "practice", "control", "control", "test", "test"]


def test_a_control_condition_of_the_same_items_is_tested(write: Write) -> None:
    intake = read_files([write(*rated("practice", "control", "test", "control", "test", group="7"))])
    assert column(intake, "function") == ["practice", "test", "test", "test", "test"]


def test_several_answers_of_a_trial_are_questions(write: Write) -> None:
    lines = []
    for order in (1, 2):
        both = (f"Scale,natural,Choice,{order},{START + 500},NULL", f"Scale,likely,Choice,3,{START + 900},NULL")
        lines += trial(order, "exp", *both)
    intake = read_files([write(*lines)])
    assert column(intake, "question") == ["natural", "likely", "natural", "likely"]
    assert column(intake, "trial") == [1, 1, 2, 2]


def test_typed_numbers_are_answers_where_a_trial_has_no_other(write: Write) -> None:
    lines = [
        line
        for order, answer in ((1, "50"), (2, "120.5"))
        for line in trial(order, "magnitude", f"TextInput,estimate,Final,{answer},{START + 800},NULL")
    ]
    intake = read_files([write(*lines)])
    assert column(intake, "response") == ["50", "120.5"]
    with refuses(IntakeError, "questions asked once"):
        read_files(
            [
                write(
                    *trial(1, "intro", f"TextInput,Name,Final,Ann,{START},NULL", f"TextInput,Age,Final,26,{START},NULL")
                )
            ]
        )


def test_a_comma_in_the_comments_does_not_break_a_line(write: Write) -> None:
    lines = [
        line
        for order, answer in ((1, "a"), (2, "b"))
        for line in trial(order, "exp", f"TextInput,word,Final,{answer},{START + 800},All saved, see documentation")
    ]
    assert column(read_files([write(*lines)]), "response") == ["a", "b"]


def test_one_person_twice_makes_sessions(tmp_path: Path, write: Write) -> None:
    blocks = ""
    for reception, start in ((1709547330, START), (1709633730, START + 86_400_000)):
        lines = trial(1, "exp", f"Scale,s,Choice,{reception % 3 + 1},{start + 700},p7,NULL", start=start, logged=",p7")
        lines += trial(2, "exp", f"Scale,s,Choice,4,{start + 700},p7,NULL", start=start, logged=",p7")
        blocks += write(*lines, columns="# 13. subject.\n# 14. Comments.\n", reception=reception).read_text()
    path = tmp_path / "both"
    path.write_text(blocks)
    intake = read_files([path])
    assert column(intake, "session") == ["1", "1", "2", "2"]
    assert column(intake, "trial") == [1, 2, 1, 2]


def test_mail_addresses_do_not_become_participants(write: Write) -> None:
    lines = [
        line
        for order in (1, 2)
        for line in trial(
            order, "exp", f"Scale,s,Choice,{order},{START + 700},a@b.org,a@b.org,NULL", logged=",a@b.org,a@b.org"
        )
    ]
    intake = read_files([write(*lines, columns="# 13. id.\n# 14. email.\n# 15. Comments.\n")])
    assert column(intake, "participant") == ["1709547330-0cc175"] * 2
    assert "a@b.org" not in str(intake.judgments.frame.rows())
    assert noted(intake.notes, "personal.left_out")["columns"] == ["id", "email"]


def named_people(order: int, name: str, group: str) -> list[str]:
    logged = f",{name},{group}"
    return trial(order, "exp", f"Scale,s,Choice,{order},{START + 700}{logged},NULL", logged=logged)


def test_typed_names_are_no_participants_unless_mapped(write: Write) -> None:
    lines = [line for order in (1, 2) for line in named_people(order, "Jörg Müller", "A")]
    path = write(*lines, columns="# 13. ID.\n# 14. Group.\n# 15. Comments.\n")
    intake = read_files([path])
    assert column(intake, "participant") == ["1709547330-0cc175"] * 2
    assert "Müller" not in str(intake.judgments.frame.rows()) + str(intake.judgments.participants.rows())
    result = read_files([path], options=Options(mapping={"participant": "ID"}))
    assert column(result, "participant") == ["Jörg Müller"] * 2


def test_group_is_the_list_not_the_design_number(write: Write) -> None:
    columns = "# 13. ID.\n# 14. Group.\n# 15. Comments.\n"
    one_group = [line for order in (1, 2) for line in named_people(order, "vp7", "A")]
    assert column(read_files([write(*one_group, columns=columns)]), "list") == ["A", "A"]
    groups = [line for order, group in ((1, "A"), (2, "B")) for line in named_people(order, "vp7", group)]
    assert "list" not in read_files([write(*groups, columns=columns)]).judgments.frame.columns


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("1,0,exp,NULL,Scale,s", ["line 16", "9 cells", "13 columns"]),
        ("1,0,exp,NULL,Scale,s,Choice,4,soon,NULL", ["line 16, EventTime", "soon"]),
        ("1,0,exp,NULL,Scale,s,Choice,\0,1709547000700,NULL", ["line 16", "NUL"]),
    ],
)
def test_a_broken_line_is_named(write: Write, line: str, names: list[str]) -> None:
    good = trial(1, "exp", f"Scale,s,Choice,4,{START + 700},NULL") + trial(2, "exp", f"Scale,s,Choice,5,{START},NULL")
    path = write(*good[:1], line, *good)
    with refuses(IntakeError, "results.csv", *names):
        read_files([path], "pcibex")
    skipped = read_files([path], "pcibex", skip_bad=True)
    assert (skipped.skipped_units, skipped.judgments.frame.height) == (1, 2)


@pytest.mark.parametrize("separator", [",", ";"])
def test_a_log_that_a_spreadsheet_saved_again(tmp_path: Path, separator: str) -> None:
    columns = "# 13. item.\n# 14. sentence.\n# 15. Comments.\n"
    lines = [line for order in range(3) for line in
             trial(order, "exp", f"Scale,s,Choice,{order + 1},{START + 700},k{order},He <b>left</b>.,NULL",
                   logged=f",k{order},He <b>left</b>.")]  # fmt: skip
    lines = [f"1709547330,0cc175b9c0f1b6a8,PennController,{line}" for line in lines]
    text = "".join(f"{line},,,,\r\n" for line in [*(HEADER + columns).splitlines(), *lines])
    text = text.replace("He <b>left</b>.", '"He ""left""."').replace(",", separator)
    path = tmp_path / "results.csv"
    path.write_text(text, encoding="utf-8-sig", newline="")
    intake = read_files([path])
    assert column(intake, "item") == ["k0", "k1", "k2"]
    assert column(intake, "sentence") == ['He "left".'] * 3
    assert column(intake, "rt") == [0.7] * 3
    path.write_text(re.sub(r"17095470\d{5}", "1.70955E+12", text), encoding="utf-8", newline="")
    assert column(read_files([path]), "response") == ["1", "2", "3"]


def test_names_of_elements_are_no_functions(write: Write) -> None:
    lines = [line for order, name in enumerate(["practice_scale", "practice_scale", "scale"])
             for line in trial(order, "exp", f"Scale,{name},Choice,{order + 1},{START + 700},NULL")]  # fmt: skip
    assert set(column(read_files([write(*lines)]), "function")) == {"test"}


def test_typed_answers_may_be_logged_when_entered(write: Write) -> None:
    entered = [line for order in range(3) for line in
               trial(order, "exp", f"TextInput,number,EnterReturn,{order + 5},{START + 700},NULL")]  # fmt: skip
    assert column(read_files([write(*entered)]), "response") == ["5", "6", "7"]


@pytest.mark.parametrize(("other", "seconds"), [("450", 0.45), ("NA", 0.45), ("800", 0.7)])
def test_the_logged_time_of_the_only_answer_counts(write: Write, other: str, seconds: float) -> None:
    shown = f",450,{other}"
    lines = [line for order in range(3) for line in
             trial(order, "exp", f"Scale,s,Choice,{order + 1},{START + 700}{shown},NULL", logged=shown)]  # fmt: skip
    intake = read_files([write(*lines, columns="# 13. RT-answer.\n# 14. questionRT.\n# 15. Comments.\n")])
    assert column(intake, "rt") == [seconds] * 3


def test_lines_without_comments_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text("1709547330,0cc175b9,PennController,0,0,exp,NULL,Scale,s,Choice,4,1709547000700,NULL\n")
    with refuses(IntakeError, "results.csv", "line 1"):
        read_files([path], "pcibex")


def test_other_texts_with_number_signs_are_not_taken() -> None:
    assert not is_log("# a table\na,b\n1,2\n")
    assert not is_log("participant,item,response\n# 1. Results reception time.\n")
