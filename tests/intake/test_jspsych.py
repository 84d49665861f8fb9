"""jsPsych data of versions 6, 7 and 8: every plugin's answers, every kind of row that is no judgment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from intake.cases import aside, noted
from karat.errors import IntakeError
from karat.intake import Intake, Options, read_files
from karat.intake.readers.jspsych.reader import recognises
from karat.intake.reading import ProposalError
from karat.judgments.scales import Choice, Nominal, Ordinal, parse_scale
from karat.judgments.source import SourceFile
from messages import codes, refuses

FIXTURES = Path(__file__).parent / "fixtures"


def rows(intake: Intake, *columns: str) -> list[tuple[Any, ...]]:
    return intake.judgments.frame.select(columns).rows()


def trial(index: int, **values: Any) -> dict[str, Any]:
    given = {
        "trial_type": "html-button-response",
        "rt": 1000,
        "stimulus": f"<p>Sentence {index}</p>",
        "response": index % 2,
    }
    return {**given, "trial_index": index, "time_elapsed": 2000 * (index + 1), **values}


def from_json(tmp_path: Path, data: Any, options: Options | None = None, **settings: Any) -> Intake:
    path = tmp_path / "data.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return read_files([path], "jspsych", options, **settings)


def test_version_7_buttons_by_their_labels() -> None:
    intake = read_files([FIXTURES / "jspsych" / "study.csv"])
    assert rows(intake, "participant", "item", "response", "trial", "rt", "expected", "response_index") == [
        ("a1", "k1", "good", 1, 2.31, "good", 2),
        ("a1", "k2", "bad", 2, 1.875, "bad", 0),
        ("a1", "k3", "so-so", 3, 3.004, None, 1),
        ("b2", "k3", None, 1, None, None, None),
        ("b2", "k1", "good", 2, 1.2, "good", 2),
        ("b2", "k2", "so-so", 3, 1.7505, "bad", 1),
        ("c3", "k2", "bad", 1, 0.99, "bad", 0),
    ]
    assert intake.judgments.scale == Nominal(["bad", "so-so", "good"])
    assert intake.unit == "answers and rows"
    assert noted(intake.notes, "jspsych.categories")["levels"] == "bad,so-so,good"
    assert noted(intake.notes, "participant.column") == {"column": "subject_id"}
    assert intake.judgments.frame["condition"].to_list()[:2] == ["verb-second", "verb-last"]


def test_version_7_what_is_no_judgment() -> None:
    intake = read_files([FIXTURES / "jspsych" / "study.csv"])
    assert aside(intake) == {
        "aside.preloading": 3,
        "aside.full_screen": 3,
        "aside.instructions": 3,
        "aside.fixations": 7,
        "aside.background": 2,
        "aside.free_text": 2,
        "aside.single_button": 2,
    }
    assert intake.judgments.participants.rows(named=True) == [
        {"participant": "a1", "working_time": 16.5, "study_id": "st1", "session_id": "sea1", "age": "34"},
        {"participant": "b2", "working_time": 16.5, "study_id": "st1", "session_id": "seb2", "age": "34"},
        {"participant": "c3", "working_time": 7.5, "study_id": "st1", "session_id": "sec3", "age": None},
    ]


def test_version_6_two_files_buttons_and_key_codes() -> None:
    folder = FIXTURES / "jspsych_v6"
    intake = read_files([folder / "p01.csv", folder / "p02.csv"])
    assert rows(intake, "participant", "item", "question", "response", "trial", "rt") == [
        ("p01", "Ships sail & sink.", "button", "1", 1, 1.5),
        ("p01", "Sail ships.", "button", "0", 2, 2.25),
        ("p01", "img/cat.png", "key", "f", 3, 0.812),
        ("p01", "img/dog.png", "key", "j", 4, 0.64),
        ("p02", "Sail ships.", "button", "1", 1, 1.98),
        ("p02", "Ships sail & sink.", "button", "1", 2, 3.02),
        ("p02", "img/dog.png", "key", None, 3, None),
        ("p02", "img/cat.png", "key", "f", 4, 0.7),
    ]
    assert aside(intake) == {"aside.background": 2, "aside.fixations": 2, "aside.function_calls": 2}
    assert intake.judgments.participants["native_language"].to_list() == ["Danish", "Danish"]
    assert "jspsych.one_participant_per_file" in codes(intake.notes)
    assert "jspsych.button_positions" in codes(intake.notes)
    assert "jspsych.items_by_stimulus" in codes(intake.notes)


def test_version_8_sliders_of_participants_one_after_another() -> None:
    intake = read_files([FIXTURES / "jspsych_v8" / "data.json"])
    assert rows(intake, "participant", "item", "response", "trial", "rt") == [
        ("data-1", "Wer hat das gesagt? How good?", "81", 1, 2.5),
        ("data-1", "Das hat gesagt wer? How good?", "12.5", 2, 3.1),
        ("data-1", "Wer das gesagt hat? How good?", None, 3, None),
        ("data-2", "Wer das gesagt hat? How good?", "33", 1, 1.8),
        ("data-2", "Wer hat das gesagt? How good?", "90", 2, 1.4),
    ]
    assert intake.judgments.frame["condition"].to_list() == ["=A1"] * 5
    assert aside(intake) == {"aside.browser_checks": 2, "aside.external_pages": 2}
    assert intake.judgments.participants["browser"].to_list() == ["firefox", "firefox"]
    assert noted(intake.notes, "jspsych.participants_by_run") == {"file": "data", "n": 2}


def test_several_questions_on_a_page() -> None:
    intake = read_files([FIXTURES / "jspsych_survey" / "pages.csv"])
    assert rows(intake, "participant", "item", "question", "response", "trial", "rt", "list") == [
        ("60fd1a2b", "s1", "natural", "3", 1, 5.2, "L1"),
        ("60fd1a2b", "s1", "likely", "0", 1, 5.2, "L1"),
        ("60fd1a2b", "s2", "natural", None, 2, 5.2, "L1"),
        ("60fd1a2b", "s2", "likely", "2", 2, 5.2, "L1"),
        ("60fd1a2c", "s2", "likely", "4", 1, 5.2, "L1"),
        ("60fd1a2c", "s2", "natural", "1", 1, 5.2, "L1"),
        ("60fd1a2c", "s1", "natural", "4", 2, 5.2, "L1"),
        ("60fd1a2c", "s1", "likely", "1", 2, 5.2, "L1"),
    ]
    assert aside(intake) == {
        "aside.several_choices": 2,
        "aside.survey_without_item": 2,
        "aside.background": 2,
    }
    # Nobody chose the lowest point of natural, which is 0 all the same.
    assert intake.judgments.scales["natural"] == Ordinal(range(5))
    assert "jspsych.page_times" in codes(intake.notes)
    assert "ip" not in intake.judgments.frame.columns
    assert noted(intake.notes, "personal.left_out")["columns"] == ["ip"]


def test_a_page_of_items_without_an_item_column(tmp_path: Path) -> None:
    page = {"rt": 9000, "response": {"s7": 4, "s3": 0, "s5": ""}, "question_order": [2, 0, 1]}
    intake = from_json(tmp_path, [trial(0, trial_type="survey-likert", stimulus=None, **page)])
    assert rows(intake, "item", "response", "trial") == [("s7", "4", 1), ("s3", "0", 2), ("s5", None, 3)]
    assert "question" not in intake.judgments.frame.columns


def test_multi_choice_is_numbered_in_the_order_shown(tmp_path: Path) -> None:
    page = {"trial_type": "survey-multi-choice", "response": {"s1": "yes", "s2": "no"}, "question_order": [1, 0]}
    intake = from_json(tmp_path, [trial(0, **page)])
    assert rows(intake, "item", "response", "trial") == [("s2", "no", 1), ("s1", "yes", 2)]


def test_a_survey_with_a_matrix_and_check_boxes(tmp_path: Path) -> None:
    response = {"rating": {"clear": 2, "short": 5}, "tools": ["a", "b"], "age": 31}
    intake = from_json(tmp_path, [trial(0, trial_type="survey", stimulus=None, response=response)])
    assert rows(intake, "item", "response") == [("rating.clear", "2"), ("rating.short", "5")]
    assert aside(intake) == {"aside.several_choices": 1, "aside.background": 1}
    assert intake.judgments.participants["age"].to_list() == ["31"]


def test_trials_are_numbered_by_trial_index(tmp_path: Path) -> None:
    intake = from_json(tmp_path, [trial(5, item="c"), trial(2, item="a"), trial(3, item="b")])
    assert rows(intake, "item", "trial") == [("c", 3), ("a", 1), ("b", 2)]


def test_two_runs_of_one_participant_are_numbered_on(tmp_path: Path) -> None:
    data = [trial(i, item=f"i{i}", subject_id="p") for i in (0, 1, 0, 1)]
    intake = from_json(tmp_path, data)
    assert intake.judgments.frame["trial"].to_list() == [1, 2, 3, 4]
    assert noted(intake.notes, "jspsych.starts_again")["names"].values["names"] == ["p"]


def test_the_space_bar_and_arrow_keys_have_names(tmp_path: Path) -> None:
    keys = [
        {"response": " "},
        {"response": "arrowleft"},
        {"key_press": 39, "response": None},
        {"key_press": "32", "response": None},
    ]
    data = [trial(i, trial_type="html-keyboard-response", **key) for i, key in enumerate(keys)]
    assert [r for (r,) in rows(from_json(tmp_path, data), "response")] == ["space", "arrowleft", "arrowright", "space"]


def test_a_response_label_is_the_answer(tmp_path: Path) -> None:
    data = [trial(i, response_label=("no", "yes")[i % 2]) for i in range(4)]
    assert [r for (r,) in rows(from_json(tmp_path, data), "response")] == ["no", "yes", "no", "yes"]


def test_numbered_buttons_are_a_rating_scale(tmp_path: Path) -> None:
    data = [trial(i, response=i, choices=["1", "2", "3", "4", "5"]) for i in (0, 3)]
    intake = from_json(tmp_path, data)
    assert intake.judgments.scale == Ordinal(5)
    assert [r for (r,) in rows(intake, "response")] == ["1", "4"]


def test_two_buttons_of_each_trial_are_what_was_chosen_between(tmp_path: Path) -> None:
    data = [trial(i, response=i % 2, item_id=f"i{i}", choices=[f"he{i} go", f"he{i} goes"]) for i in range(5)]
    intake = from_json(tmp_path, data)
    assert intake.judgments.scale == Choice()
    assert rows(intake, "left", "right", "response")[1] == ("he1 go", "he1 goes", "right")


def test_respelled_answers_leave_the_scale_to_karat(tmp_path: Path) -> None:
    options = Options(answers={"0": "no", "1": "yes"})
    assert [r for (r,) in rows(from_json(tmp_path, [trial(0), trial(1)], options), "response")] == ["no", "yes"]


def test_only_items_make_screens_judgments(tmp_path: Path) -> None:
    data = [trial(0, stimulus="<h1>Welcome</h1>"), trial(1, item_id="i1"), trial(2, item_id="i2")]
    intake = from_json(tmp_path, data)
    assert rows(intake, "item", "trial") == [("i1", 1), ("i2", 2)]
    assert aside(intake) == {"aside.screen_without_item": 1}


def test_fillers_named_as_such_need_no_item_number(tmp_path: Path) -> None:
    data = [trial(n, item=f"k{n}", condition="ab"[n % 2], trial_type="html-slider-response") for n in range(4)]
    data += [trial(n, condition="filler", trial_type="html-slider-response") for n in range(4, 7)]
    data += [trial(7, trial_type="html-slider-response"), trial(8, response=0, condition="filler")]
    intake = from_json(tmp_path, data)
    assert rows(intake, "item", "function")[3:] == [("k3", "test"), *((f"Sentence {n}", "filler") for n in (4, 5, 6))]
    assert aside(intake) == {"aside.screen_without_item": 2}
    assert noted(intake.notes, "jspsych.fillers_by_stimulus") == {"n": 3, "column": "item"}
    assert noted(intake.notes, "jspsych.without_item") == {"n": 1, "column": "item"}


def test_version_5_keys_and_buttons(tmp_path: Path) -> None:
    plugin = {"trial_type": "single-stim", "response": None}
    data = [trial(0, trial_type="text", key_press=32, response=None)]
    data += [trial(n, **plugin, key_press=70 + 4 * (n % 2)) for n in range(1, 4)]
    assert rows(from_json(tmp_path, data), "response") == [("j",), ("f",), ("j",)]
    buttons = [trial(n, trial_type="button-response", button_pressed=n % 2, response=None) for n in range(4)]
    assert rows(from_json(tmp_path, buttons), "response") == [("0",), ("1",)] * 2


def shown_then_asked(*questions: str, **shown: Any) -> list[dict[str, Any]]:
    """Four sentences with an item, each followed by screens that ask about it and do not name it."""
    data: list[dict[str, Any]] = []
    for n in range(4):
        data.append(
            trial(
                len(data),
                item=f"k{n}",
                condition="ab"[n % 2],
                **{"stimulus": f"He left {n}.", "response": n % 2, **shown},
            )
        )
        for question in questions:
            asked = {"trial_type": "html-slider-response", "stimulus": question, "response": 10 * n}
            data.append(trial(len(data), **asked))
    return data


def test_a_screen_that_asks_the_same_is_about_the_one_before(tmp_path: Path) -> None:
    keys = {"trial_type": "html-keyboard-response", "response": " "}
    intake = from_json(tmp_path, shown_then_asked("How natural was that?", **keys))
    assert rows(intake, "item", "condition", "response") == [
        ("k0", "a", "0"), ("k1", "b", "10"), ("k2", "a", "20"), ("k3", "b", "30"),
    ]  # fmt: skip
    assert noted(intake.notes, "jspsych.screens_before")["question"] == "How natural was that?"
    pages = [{**row, "item": None, "stimulus": row["stimulus"] if at % 2 == 0 else ""}
             for at, row in enumerate(shown_then_asked("", **keys))]  # fmt: skip
    for row in pages[1::2]:
        row |= {"trial_type": "survey-likert", "response": {"Q0": row["response"] // 10}}
    assert rows(from_json(tmp_path, pages), "item")[1:3] == [("He left 1.",), ("He left 2.",)]


def test_a_question_after_each_judgment_is_a_second_question(tmp_path: Path) -> None:
    intake = from_json(tmp_path, shown_then_asked("How sure are you?"))
    second = [(f"k{n}", "How sure are you?", str(10 * n)) for n in range(4)]
    assert rows(intake, "item", "question", "response")[1::2] == second
    assert {question for _, question in rows(intake, "item", "question")[::2]} & {"How sure are you?"} == set()


def test_screens_that_all_show_the_same_need_a_column_for_items(tmp_path: Path) -> None:
    same = {"trial_type": "html-slider-response", "stimulus": "How natural is it?"}
    data = [trial(n, **same, subject=f"p{person}", target_text=f"They all left the house {n}.")
            for person in range(3) for n in range(6)]  # fmt: skip
    with refuses(ProposalError, "target_text"):
        from_json(tmp_path, data)
    intake = from_json(tmp_path, data, Options(accept=True))
    assert set(rows(intake, "item")) == {(f"They all left the house {n}.",) for n in range(6)}
    assert "jspsych.items_by_stimulus" not in codes(intake.notes)


def test_databases_key_participants_and_trials(tmp_path: Path) -> None:
    people = {f"-M{n}": {str(k): trial(k, item=f"k{k}") for k in range(3)} for n in range(2)}
    intake = from_json(tmp_path, {"study": {"results": people}})
    assert rows(intake, "participant", "item")[2:4] == [("data-1", "k2"), ("data-2", "k0")]


def test_a_reported_item_column_wins_and_stays_mappable(tmp_path: Path) -> None:
    data = [trial(0, item="x", text="a"), trial(1, item="y", text="b"), trial(2, item="z")]
    intake = from_json(tmp_path, data, Options(mapping={"item": "text"}))
    assert rows(intake, "item") == [("a",), ("b",)]
    assert aside(intake) == {"aside.screen_without_item": 1}


def test_the_study_says_itself_what_a_screen_is(tmp_path: Path) -> None:
    data = [trial(0, task="consent"), trial(1, task="break"), trial(2, task="response"), trial(3, task="response")]
    assert aside(from_json(tmp_path, data)) == {"aside.consent": 1, "aside.breaks": 1}


def test_unanswered_display_is_none_missed_trial_is(tmp_path: Path) -> None:
    prime = {"trial_type": "html-keyboard-response", "stimulus": "Get ready", "response": None, "rt": None}
    missed = {"response": None, "rt": None}
    data = [trial(0, **prime), trial(1), trial(2, **prime), trial(3, **missed), trial(4)]
    intake = from_json(tmp_path, data)
    assert aside(intake) == {"aside.unanswered_displays": 2}
    assert rows(intake, "item", "response") == [("Sentence 1", "1"), ("Sentence 3", None), ("Sentence 4", "0")]


def test_a_choice_between_two_items_is_their_pair(tmp_path: Path) -> None:
    shown = [trial(0, left="b", right="a"), trial(1, left="c", right="d")]
    intake = from_json(tmp_path, shown, Options(answers={"0": "left", "1": "right"}))
    assert rows(intake, "item", "left", "right") == [("a:b", "b", "a"), ("c:d", "c", "d")]


def test_right_answers_in_another_spelling_are_kept_apart(tmp_path: Path) -> None:
    intake = from_json(tmp_path, [trial(0, correct_response="good"), trial(1, correct_response="bad")])
    assert "expected" not in intake.judgments.frame.columns
    assert intake.judgments.frame["correct_response"].to_list() == ["good", "bad"]
    assert "jspsych.expected_refused" in codes(intake.notes)


def test_columns_that_karat_means_otherwise_get_an_underscore(tmp_path: Path) -> None:
    intake = from_json(tmp_path, [trial(i, question="Is it?", function="odd", time="late") for i in range(2)])
    assert {"question_", "function_", "time_"} <= set(intake.judgments.frame.columns)
    renamed = noted(intake.notes, "jspsych.renamed")
    assert (renamed["name"], renamed["column"]) == ("question", "question_")
    functions = from_json(tmp_path, [trial(0, function="test"), trial(1, function="filler")])
    assert functions.judgments.frame["function"].to_list() == ["test", "filler"]


def test_a_plugin_of_the_study_is_read_by_its_response(tmp_path: Path) -> None:
    data = [trial(0, trial_type="my-rating", response=3), trial(1, trial_type="my-rating", response=1),
            trial(2, trial_type="my-map", response={"x": 1})]  # fmt: skip
    intake = from_json(tmp_path, data)
    assert rows(intake, "response") == [("3",), ("1",)]
    assert aside(intake) == {"aside.of_type my-map": 1}


def test_lists_of_participants_and_wrapped_trials(tmp_path: Path) -> None:
    nested = [[trial(0), trial(1)], [trial(0), trial(1)]]
    assert from_json(tmp_path, nested).judgments.frame["participant"].to_list() == ["data-1"] * 2 + ["data-2"] * 2
    wrapped = [{"subject": "s1", "trials": [trial(0), trial(1)]}, {"subject": "s2", "trials": json.dumps([trial(0)])}]
    intake = from_json(tmp_path, wrapped[:1])
    assert intake.judgments.frame["participant"].to_list() == ["s1", "s1"]


def test_rt_in_seconds_where_the_user_says_so(tmp_path: Path) -> None:
    intake = from_json(tmp_path, [trial(0, rt=1.5), trial(1, rt="2.5")], Options(rt_unit="s"))
    assert intake.judgments.frame["rt"].to_list() == [1.5, 2.5]


def test_a_table_below_its_header_again(tmp_path: Path) -> None:
    text = (FIXTURES / "jspsych" / "study.csv").read_text(encoding="utf-8")
    path = tmp_path / "twice.csv"
    path.write_text(text + text.splitlines()[0] + "\n", encoding="utf-8")
    assert aside(read_files([path], "jspsych"))["aside.repeated_headers"] == 1


def test_files_of_the_same_name_are_different_people(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "data.json").write_text(json.dumps([trial(0), trial(1)]), encoding="utf-8")
    intake = read_files([tmp_path])
    assert intake.judgments.frame["participant"].unique(maintain_order=True).to_list() == ["a/data", "b/data"]


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ({"rt": "soon"}, ["element 2, rt", "soon"]),
        ({"response": {"a": 1}}, ["element 2, response"]),
        ({"response": 7, "choices": ["no", "yes"]}, ["element 2, response", 7]),
        ({"trial_type": "html-slider-response", "response": "left"}, ["element 2, response", "left"]),
        ({"trial_type": "html-keyboard-response", "response": ["f"]}, ["element 2, response", "f"]),
        ({"trial_type": "survey-likert", "response": "3"}, ["element 2, response", 3]),
        ({"stimulus": None}, ["element 2"]),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, values: dict[str, Any], names: list[object]) -> None:
    data = [trial(0), trial(1, **values), trial(2), trial(3)]
    with refuses(IntakeError, "data.json", *names):
        from_json(tmp_path, data)
    intake = from_json(tmp_path, data, skip_bad=True)
    assert (intake.judgments.frame.height, intake.skipped_units, intake.units_in) == (3, 1, 4)


def test_an_element_that_is_no_trial_is_named(tmp_path: Path) -> None:
    with refuses(IntakeError, "data.json", "element 2", "7"):
        from_json(tmp_path, [trial(0), 7, trial(1)])
    assert aside(from_json(tmp_path, [{"browser": "x"}, trial(0), trial(1)])) == {"aside.no_trial_type": 1}


def test_a_cut_row_names_its_line(tmp_path: Path) -> None:
    lines = (FIXTURES / "jspsych" / "study.csv").read_text(encoding="utf-8").splitlines()
    lines[5] = '"2310","cut"'
    path = tmp_path / "cut.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with refuses(IntakeError, "cut.csv", "line 6", "2 cells"):
        read_files([path])


def test_half_a_surrogate_pair_and_nan(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    result = json.dumps([trial(0, note="\ud800"), trial(1, rt=float("nan"))])
    path.write_text(result, encoding="utf-8")
    intake = read_files([path])
    assert rows(intake, "note", "rt") == [("?", 1.0), (None, None)]


@pytest.mark.parametrize("content", [b"", b"[", b"{", b"\xff\xfe", b"\0\0", b"trial_type", b'"a","b"\n', b"PK\x03\x04"])
def test_other_bytes_are_not_taken(content: bytes) -> None:
    assert not recognises(SourceFile(Path("x.csv"), content=content))


def test_a_table_without_trial_types_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with refuses(IntakeError, "x.csv", "trial_type", "--from table"):
        read_files([path], "jspsych")


def test_a_reported_scale_wins() -> None:
    options = Options(scale=parse_scale("ordinal:bad,so-so,good"))
    intake = read_files([FIXTURES / "jspsych" / "study.csv"], "auto", options)
    assert intake.judgments.scale == Ordinal(["bad", "so-so", "good"])


def test_a_column_that_names_fillers_and_practice_gives_function(tmp_path: Path) -> None:
    kinds = ["practice", "critical", "Füller", "catch"]
    data = [trial(index, item=f"s{index}", type=kind) for index, kind in enumerate(kinds)]
    intake = from_json(tmp_path, data)
    assert intake.judgments.frame["function"].to_list() == ["practice", "test", "filler", "attention"]
    assert noted(intake.notes, "jspsych.function") == {"column": "type"}
    undone = from_json(tmp_path, data, Options(mapping={"function": ""}))
    assert undone.judgments.frame["function"].unique().to_list() == ["test"]


def test_mail_addresses_do_not_become_participants(tmp_path: Path) -> None:
    data = [trial(index, subject=who) for who in ("ann@example.org", "vp2") for index in range(2)]
    intake = from_json(tmp_path, data)
    assert intake.judgments.frame["participant"].to_list() == ["annotator_1"] * 2 + ["vp2"] * 2
    assert "example.org" not in str(intake.judgments.frame.rows()) + str(intake.judgments.participants.rows())


def test_keys_that_only_lead_on_are_no_judgments(tmp_path: Path) -> None:
    key = {"trial_type": "html-keyboard-response", "response": " "}
    intake = from_json(tmp_path, [trial(0, **key), trial(1), trial(2), trial(3, **{**key, "response": "Enter"})])
    assert intake.judgments.frame["response"].to_list() == ["1", "0"]
    assert aside(intake) == {"aside.continue_keys": 2}
    judged = from_json(tmp_path, [trial(0, **key), trial(1, **{**key, "response": "f"})])
    assert judged.judgments.frame["response"].to_list() == ["space", "f"]


def of_six(*trials: dict[str, Any]) -> list[dict[str, Any]]:
    """The same trials of six people, each with one more point where it counts from `response`."""
    return [
        {**one, "subject_id": f"s{person}", "response": one["response"](person)} if callable(one["response"])
        else {**one, "subject_id": f"s{person}"}
        for person in range(6) for one in trials
    ]  # fmt: skip


def test_cells_that_python_printed(tmp_path: Path) -> None:
    path = tmp_path / "merged.csv"
    lines = ["workerid,trial_type,trial_index,time_elapsed,rt,stimulus,response"]
    for person in range(4):
        lines += [f"{person},html-slider-response,{n},{n}00,900,<p>Sentence {n}</p>,{7 * n + person}" for n in range(5)]
        lines.append(f"{person},survey-html-form,5,900,,,\"{{'age': '3{person}', 'comments': ''}}\"")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    intake = read_files([path])
    assert len(intake.judgments) == 20
    assert intake.judgments.participants["age"].to_list() == ["30", "31", "32", "33"]


def test_an_object_names_what_a_single_page_asked_about(tmp_path: Path) -> None:
    data = []
    for person in range(24):
        said = {"utterance": f"Cole {('knows', 'thinks', 'says')[person % 3]} that it rained.", "qud": "ai"}
        shared = {"subject_id": f"s{person}", "condition": said, "stimulus": None}
        answer = {"first": 7 * person % 100, "second": 11 * person % 100}
        data += [trial(0, trial_type="multiple-slider", response=answer, **shared),
                 trial(1, trial_type="survey", response={"age": "40", "edu": "college"}, **shared)]  # fmt: skip
    with pytest.raises(ProposalError) as error:
        from_json(tmp_path, data)
    assert error.value.questions[0].choices[0].mapping == {"item": "utterance"}
    judgments = from_json(tmp_path, data, Options(accept=True)).judgments
    assert judgments.frame["question"].unique().sort().to_list() == ["first", "second"]
    assert (judgments.frame["item"].n_unique(), len(judgments)) == (3, 48)


def test_a_level_that_is_called_filler_is_no_test_item(tmp_path: Path) -> None:
    kinds = ("subject", "object", "filler")
    data = of_six(*(
        trial(n, trial_type="html-slider-response", structure=kinds[n % 3], item_id=n, response=lambda at, n=n: at + n)
        for n in range(6)
    ))  # fmt: skip
    intake = from_json(tmp_path, data)
    assert dict(intake.judgments.frame["function"].value_counts().iter_rows()) == {"test": 24, "filler": 12}
    assert noted(intake.notes, "jspsych.function") == {"column": "structure"}


def test_clicks_without_a_stimulus_lead_on(tmp_path: Path) -> None:
    page = {f"Who did you see {n}?": n for n in range(4)}
    data = of_six(trial(0, stimulus=None, response=0), trial(1, trial_type="survey-likert", response=page))
    intake = from_json(tmp_path, data)
    assert len(intake.judgments) == 24
    assert aside(intake)["aside.continue_buttons"] == 6


def test_clicks_alone_are_no_judgments(tmp_path: Path) -> None:
    data = of_six(trial(0, response=0), trial(1, trial_type="cloze", response=["is"]))
    with refuses(IntakeError, "data.json", "buttons to continue (6)"):
        from_json(tmp_path, data)
