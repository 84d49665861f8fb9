"""oTree's exports become judgments, with the page times as response times."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from intake.cases import aside, noted
from karat.errors import IntakeError
from karat.intake import Options, read_files
from karat.intake.readers.otree import READER, recognises
from karat.judgments.source import SourceFile
from messages import codes, refuses

FIXTURES = Path(__file__).parent / "fixtures"
WIDE = FIXTURES / "otree_wide" / "all_apps_wide_2026-03-02.csv"
TIMES = FIXTURES / "otree_wide" / "PageTimes-2026-03-02.csv"
APP = FIXTURES / "otree_app" / "naturalness_2026-03-02.csv"
PROLIFIC = FIXTURES / "otree_prolific" / "all_apps_wide.csv"


@pytest.fixture
def wide():
    return read_files([WIDE, TIMES])


def answers(intake, participant, question):
    rows = intake.judgments.frame.filter(participant=participant, question=question)
    return rows.select("trial", "item", "response", "rt").rows()


def test_round_answers_are_judgments_with_page_times(wide):
    assert wide.sources[0] == (WIDE.name, READER.title)
    assert answers(wide, "k3x9a1bq", "rating") == [(1, "s07", "6", 6.0), (2, "s02", "2", 4.0), (3, "s11", "7", 7.0)]
    assert answers(wide, "k3x9a1bq", "confidence") == [(1, "s07", "3", 6.0), (2, "s02", "3", 4.0), (3, "s11", "1", 7.0)]
    assert wide.judgments.frame["time"][0] == datetime(2026, 3, 2, 10, 0, 26, tzinfo=UTC)
    assert noted(wide.notes, "otree.page_times")["page"] == "Judge"


def test_round_left_unanswered_is_kept(wide):
    assert answers(wide, "p0w2m7zd", "rating") == [(1, "s02", "5", 9.0), (2, "s11", None, 60.0)]


def test_a_wait_page_ends_where_the_answer_begins(wide):
    third = wide.judgments.frame.filter(participant="k3x9a1bq", trial=3)
    assert third["rt"].to_list() == [7.0, 7.0]


def test_nothing_is_dropped_in_silence(wide):
    assert wide.units_in == 4 * 29 + 10
    assert aside(wide) == {
        "aside.otree_cells": 48,
        "aside.background_cells": 8,
        "aside.free_text_cells": 12,
        "aside.round_cells": 24,
        "aside.page_times": 10,
        "aside.unreached_round_cells": 8,
    }


def test_unanswered_untimed_round_is_not_reached():
    intake = read_files([WIDE])
    assert "rt" not in intake.judgments.frame.columns
    assert answers_without_rt(intake, "p0w2m7zd") == [(1, "5")]
    assert aside(intake)["aside.unreached_round_cells"] == 10


def answers_without_rt(intake, participant):
    rows = intake.judgments.frame.filter(participant=participant, question="rating")
    return rows.select("trial", "response").rows()


def test_bots_and_demo_sessions_stay_visible(wide):
    people = wide.judgments.participants
    assert people.filter(people["is_bot"])["participant"].to_list() == ["bot00001"]
    assert people.filter(people["is_demo"])["participant"].to_list() == ["zz81demo"]
    assert noted(wide.notes, "otree.bots") == {"n": 1}
    assert noted(wide.notes, "otree.demo") == {"n": 1}


def test_one_round_without_items_is_about_the_participant(wide):
    people = wide.judgments.participants
    assert people["intro.age"].to_list() == ["27", "41", "0", None]
    assert people["intro.first_language"][1] == "Low German, Danish"
    assert people["started"][1] == datetime(2026, 3, 2, 10, 1, 40, 1, tzinfo=UTC)


def test_conditions_of_a_round_stay_with_its_answers(wide):
    rows = wide.judgments.frame.filter(participant="k3x9a1bq", question="rating")
    assert rows["condition"].to_list() == ["a", "b", "a"]
    assert rows["app"].unique().to_list() == ["judge"]


def test_the_export_of_one_app_is_read_row_by_row():
    intake = read_files([APP])
    frame = intake.judgments.frame
    assert frame["item"].to_list() == [f"naturalness.{n}" for n in (1, 2, 3, 1, 2, 1)]
    assert frame["response"].to_list() == ["1", "0", "1", "0", "0", "1"]
    assert frame["trial"].to_list() == [1, 2, 3, 1, 2, 1]
    assert intake.units_in == 36
    assert aside(intake) == {"aside.otree_cells": 27, "aside.unreached_round_cells": 3}
    assert "otree.item_by_round" in codes(intake.notes)


def test_the_wide_export_and_that_of_an_app_count_a_round_once(tmp_path):
    first = tmp_path / "naturalness.csv"
    wide = tmp_path / "all_apps_wide.csv"
    first.write_text("participant.code,player.payoff,player.ok,subsession.round_number\na,0,1,1\na,0,0,2\n")
    wide.write_text(
        "participant.code,naturalness.1.player.payoff,naturalness.1.player.ok,"
        "naturalness.2.player.payoff,naturalness.2.player.ok\na,0,1,0,0\n"
    )
    intake = read_files([first, wide])
    assert intake.judgments.frame["response"].to_list() == ["1", "0"]
    assert aside(intake)["aside.repeated_round_cells"] == 4


def test_prolific_ids_and_times_of_the_app_itself():
    intake = read_files([PROLIFIC])
    frame = intake.judgments.frame
    assert frame["participant"].unique().sort().to_list() == ["5f3c0a9b7d2e4c6a8b1d3f50", "5f3c0a9b7d2e4c6a8b1d3f51"]
    assert frame["item"].to_list() == ["glorp", "bread", "bread", "glorp"]
    assert frame["rt"].to_list() == [0.812, 0.455, 0.64, None]
    assert "question" not in frame.columns
    other = read_files([PROLIFIC], options=Options(mapping={"participant": "code"}))
    assert other.judgments.frame["participant"].unique().sort().to_list() == ["q1q1q1q1", "w2w2w2w2"]


def test_labels_that_are_addresses_are_left_out(tmp_path):
    file = tmp_path / "all_apps_wide.csv"
    file.write_text("participant.code,participant.label,a.1.player.ok,a.2.player.ok\nx,me@example.org,1,0\n")
    intake = read_files([file])
    assert "label" not in intake.judgments.participants.columns
    assert "otree.label_left_out" in codes(intake.notes)


def test_page_times_alone_say_what_to_add():
    with refuses(IntakeError, TIMES.name, "all_apps_wide"):
        read_files([TIMES])


def test_a_broken_page_time_is_named_with_its_line(tmp_path):
    times = tmp_path / "PageTimes.csv"
    times.write_text(TIMES.read_text().replace("1772445626", "soon"))
    with refuses(IntakeError, "PageTimes.csv, line 5, epoch_time_completed", "soon"):
        read_files([WIDE, times])
    intake = read_files([WIDE, times], skip_bad=True)
    assert intake.skipped_units == 1
    assert answers(intake, "k3x9a1bq", "rating")[0] == (1, "s07", "6", None)


def test_a_broken_round_number_is_named_with_its_line(tmp_path):
    file = tmp_path / "naturalness.csv"
    file.write_text(APP.read_text().replace("1,1,1,sess8xyz,0\n", "1,1,one,sess8xyz,0\n", 1))
    with refuses(IntakeError, "naturalness.csv", "line 2, subsession.round_number", "one"):
        read_files([file])
    intake = read_files([file], skip_bad=True)
    assert (intake.skipped_units, intake.judgments.frame.height) == (4, 5)


def test_a_cut_line_is_named(tmp_path):
    file = tmp_path / "naturalness.csv"
    file.write_text(APP.read_text() + "4,gg77")
    with refuses(IntakeError, "naturalness.csv", "line 11", "2 cells"):
        read_files([file])


def test_fields_named_like_karats_are_not_karats(tmp_path):
    file = tmp_path / "all_apps_wide.csv"
    fields = ("item", "trial", "status", "list", "round", "rating")
    header = [f"a.{n}.player.{name}" for n in (1, 2) for name in fields]
    file.write_text(",".join(["participant.code", *header]) + "\nx,s1,9,odd,L1,r,3,s2,8,even,L1,q,4\n")
    frame = read_files([file]).judgments.frame
    assert frame["trial"].to_list() == [1, 2]
    assert frame["trial_"].to_list() == ["9", "8"]
    assert frame["status_"].to_list() == ["odd", "even"]
    assert frame["list"].to_list() == ["L1", "L1"]
    assert frame["round_"].to_list() == ["r", "q"]


@pytest.mark.parametrize("text", ["participant,item,response\n1,2,3\n", "participant.code,x\na,1\n", "", "\0\0\0"])
def test_other_tables_are_not_taken(tmp_path, text):
    file = tmp_path / "results.csv"
    file.write_text(text)
    assert not recognises(SourceFile(file))


def test_a_file_that_is_none_of_otree_is_refused_when_forced(tmp_path):
    file = tmp_path / "results.csv"
    file.write_text("participant,item,response\n1,2,3\n")
    with refuses(IntakeError, "results.csv", "participant.code"):
        read_files([file], "otree")


def test_names_and_addresses_are_left_out(tmp_path):
    file = tmp_path / "all_apps_wide.csv"
    file.write_text(
        "participant.code,participant.label,judge.1.player.item,judge.1.player.rating,judge.2.player.item,"
        "judge.2.player.rating,survey.1.player.age,survey.1.player.e_mail,survey.1.player.name\n"
        "k1,Jörg Müller,s1,4,s2,2,33,j@example.org,Jörg\nk2,Anna,s2,3,s1,5,41,a@example.org,Anna\n",
        encoding="utf-8",
    )
    intake = read_files([file])
    people = intake.judgments.participants
    assert people.columns == ["participant", "survey.age"]
    assert aside(intake) == {
        "aside.personal_cells": 4,
        "aside.background_cells": 2,
        "aside.round_cells": 4,
    }
    assert "otree.label_left_out" in codes(intake.notes)


def test_round_with_background_and_a_field_shown(tmp_path):
    """A choice experiment: sets of options in two blocks, and the age in the first round."""
    names = [f"dce.{n}.player.{name}" for n in range(1, 5) for name in ("age", "selected", "set")]
    rows = [
        [f"k{p}", *(cell for n in range(4) for cell in ("" if n else 20 + p, 1 + p * n % 2, 2 * n + p % 2))]
        for p in range(12)
    ]
    file = tmp_path / "all_apps_wide.csv"
    lines = [["participant.code", *names], *rows]
    file.write_text("\n".join(",".join(map(str, line)) for line in lines))
    intake = read_files([file])
    frame = intake.judgments.frame
    assert (frame.height, frame["item"].n_unique(), set(frame["response"])) == (48, 8, {"1", "2"})
    assert intake.judgments.participants["dce.age"].to_list() == [str(20 + p) for p in range(12)]
    assert noted(intake.notes, "otree.asked_once")["n"] == 1
    assert intake.judgments.answers == 48


def test_the_answer_the_item_and_the_time_can_be_reported(tmp_path):
    file = tmp_path / "urteile.csv"
    file.write_text(
        "participant.code,player.vorlage,player.gruppe,player.note,player.dauer,subsession.round_number\n"
        "k1,v1,a,4,1500,1\nk1,v2,b,2,2500,2\n"
    )
    guessed = read_files([file])
    assert guessed.judgments.frame["question"].unique(maintain_order=True).to_list() == [
        "vorlage", "gruppe", "note", "dauer",
    ]  # fmt: skip
    assert "otree.several_answers" in codes(guessed.notes)
    result = read_files([file], options=Options(mapping={"response": "note", "item": "vorlage", "rt": "dauer"}))
    frame = result.judgments.frame
    assert frame.select("item", "response", "rt", "gruppe").rows() == [("v1", "4", 1.5, "a"), ("v2", "2", 2.5, "b")]
    assert "question" not in frame.columns


def test_two_units_of_time_are_refused_unless_one_is_reported(tmp_path):
    file = tmp_path / "naturalness.csv"
    rows = "".join(f"k{who},s{n},4,{rt},{n}\n" for who, rt in ((1, 1.5), (2, 1500)) for n in (1, 2))
    file.write_text("participant.code,player.item,player.rating,player.rt,subsession.round_number\n" + rows)
    with refuses(IntakeError, "rt", "1,500", 1.5, "--rt-unit s"):
        read_files([file])
    result = read_files([file], options=Options(rt_unit="s")).judgments.frame
    assert result["rt"].to_list() == [1.5, 1.5, 1500.0, 1500.0]


HEADER = "session_code,participant_id_in_session,participant_code,page_index,app_name,page_name,epoch_time,round_number"


def paged(tmp_path, *pages):
    """An app of two rounds with its page times: name of the page, round, moment when it was left."""
    app, times = tmp_path / "judge.csv", tmp_path / "PageTimes.csv"
    app.write_text(
        "participant.code,player.item,player.rating,subsession.round_number\nk1,s1,4,1\nk1,s2,2,2\nk2,s2,3,1\nk2,s1,1,2\n"
    )
    rows = [
        f"x,1,{code},{index},judge,{page},{1772445600 + moment},{number}"
        for code in ("k1", "k2")
        for index, (page, number, moment) in enumerate(pages)
    ]
    times.write_text("\n".join([HEADER, *rows]) + "\n")
    return read_files([app, times])


def test_introductions_and_results_are_not_the_page_that_asks(tmp_path):
    intake = paged(tmp_path, ("Intro", 1, 0), ("Rate", 1, 7), ("Rate", 2, 12), ("Results", 2, 60))
    assert intake.judgments.frame["rt"].to_list() == [7.0, 5.0, 7.0, 5.0]
    values = noted(intake.notes, "otree.page_times")
    assert (values["page"], values["others"].values["names"]) == ("Rate", ["Intro", "Results"])


def test_of_several_pages_a_round_none_is_chosen_in_silence(tmp_path):
    intake = paged(tmp_path, ("Read", 1, 0), ("Rate", 1, 7), ("Read", 2, 10), ("Rate", 2, 14))
    frame = intake.judgments.frame
    assert "rt" not in frame.columns
    assert frame["seconds on Rate"].to_list() == [7.0, 4.0, 7.0, 4.0]
    assert frame["seconds on Read"].to_list() == [None, 3.0, None, 3.0]
    assert noted(intake.notes, "otree.several_pages")["column"] == "seconds on Read"
