"""Further shapes of published result files, with made-up data: companions of trials, blanks, experiments."""

from __future__ import annotations

import random
from pathlib import Path

import openpyxl
import polars as pl
import pytest

from intake.test_more_public_shapes import accepted, flags
from intake.test_published_shapes import saved
from intake.test_trial_level_shapes import rated
from karat.errors import IntakeError
from karat.intake import Options, read_files
from karat.judgments.scales import Binary, Choice, Continuous
from karat.messages import Message
from messages import codes, refuses


def latin(people: int = 12, items: int = 16) -> list[list[object]]:
    """Person, item, condition and rating."""
    chance = random.Random(1)
    return [
        [f"s{person}", item, ("long", "short")[(item + person) % 2], rated(chance, 3 + 2 * ((item + person) % 2))]
        for person in range(people) for item in range(1, items + 1)
    ]  # fmt: skip


@pytest.mark.parametrize("who", ["workerid", "ppt"], ids=["read", "asked about"])
def test_what_was_asked_about_participants_in_a_file_of_its_own(tmp_path: Path, who: str) -> None:
    answer = "response" if who == "workerid" else "naturalness_score"
    saved(tmp_path / "study-trials.csv", f"{who},stim,version,{answer}", latin())
    about = [[f"s{person}", 20 + person, "English", person % 3] for person in range(12)]
    saved(tmp_path / "study-subject_information.csv", f"{who},age,language,education", about)
    read = read_files([tmp_path], options=Options(accept=True)).judgments
    assert read.frame.height == 192
    assert read.participants.filter(participant="s3").select("age", "education").row(0) == (23, 0)


@pytest.mark.parametrize("gap", [" ", "    "], ids=["one", "several"])
def test_blanks_between_cells(tmp_path: Path, gap: str) -> None:
    for person in ("s1", "s2", "s3"):
        rows = [["subj", "item", "condition", "rating"], *(row for row in latin() if row[0] == person)]
        (tmp_path / f"{person}.txt").write_text("".join(gap.join(map(str, row)) + " \n" for row in rows))
    read = read_files([tmp_path]).judgments
    assert (read.frame["participant"].n_unique(), read.frame["item"].n_unique(), read.answers) == (3, 16, 48)


@pytest.mark.parametrize("words", [("nonword", "word"), ("incongruent", "congruent"), ("unsafe", "safe")])
def test_a_syllable_may_deny_an_answer(tmp_path: Path, words: tuple[str, str]) -> None:
    rows = [[*row[:3], words[int(str(row[3])) > 4]] for row in latin()]
    path = saved(tmp_path / "r.csv", "participant,item,condition,response", rows)
    assert read_files([path]).judgments.scale == Binary(words)


@pytest.mark.parametrize("names", ["Exp,Subj,Item,Cond,Rating", "experiment,subject,item_number,length,judgment"])
def test_experiments_run_together_number_their_items_anew(tmp_path: Path, names: str) -> None:
    rows = [[part, *row] for part in ("islands", "gaps") for row in latin()]
    path = saved(tmp_path / "r.csv", names, rows)
    assert flags(path)["item"] == {"item": "+".join(names.split(",")[::2][:2])}
    assert accepted(path).frame["item"].n_unique() == 32


def test_the_worse_of_two_repeats_the_better(tmp_path: Path) -> None:
    chance, rows = random.Random(2), []
    for pair in range(24):
        for worker in chance.sample(range(12), 4):
            best, worst = chance.sample("AB", 2)
            ids = [f"h{pair}", f"a{len(rows)}", f"w{worker}", pair, *chance.sample("xyz", 2)]
            rows.append([*ids, best, worst, *("true", "false")[:: 1 - 2 * (worker % 2)]])
    header = "HITId,AssignmentId,WorkerId,Input.pair,Input.system1,Input.system2,Answer.best_text,Answer.worst_text"
    path = saved(tmp_path / "batch.csv", f"{header},Answer.english.0,Answer.english.1", rows)
    read = read_files([path])
    assert (read.judgments.answers, read.judgments.scale) == (96, Choice())
    assert read.set_aside[Message("role.other_answers")] == 96
    assert "english" in read.judgments.participants.columns


def test_a_label_says_that_a_column_describes_participants(tmp_path: Path) -> None:
    chance = random.Random(3)
    names = [f"SA01_{n:02}" for n in range(1, 11)]
    labels = ["Interview", "Fragebogen", *(f"Satz {n}" for n in range(10)), "Geschlecht"]
    rows = [[n, "base", *(rated(chance, points=5) for _ in names), 1 + n % 2] for n in range(20)]
    path = saved(tmp_path / "rdata.csv", ",".join(["CASE", "QUESTNNR", *names, "DE01"]), [labels, *rows])
    assert accepted(path).frame["item"].unique().sort().to_list() == names


def test_percentages_are_numbers(tmp_path: Path) -> None:
    chance = random.Random(4)
    rows = [[f"s{p}", item, f"{chance.randint(0, 100)} %"] for p in range(8) for item in range(12)]
    read = read_files([saved(tmp_path / "r.csv", "participant,item,response", rows)]).judgments
    assert (type(read.scale), read.answers) == (Continuous, 96)


def test_merged_cells_belong_to_all_of_their_rows(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Subject", "Item", "Condition", "Rating"])
    for at, (person, *rest) in enumerate(latin()):
        sheet.append([None if at % 16 else person, *rest])
    book.save(tmp_path / "r.xlsx")
    read = read_files([tmp_path / "r.xlsx"])
    assert (read.judgments.frame["participant"].n_unique(), read.judgments.answers) == (12, 192)
    assert "form.filled_down" in codes(read.notes)


def test_a_participant_missing_here_and_there_is_not_filled_in(tmp_path: Path) -> None:
    rows = [[row[0] if at in (0, 40, 41, 150) else "", *row[1:]] for at, row in enumerate(latin())]
    with refuses(IntakeError, "participant"):
        read_files([saved(tmp_path / "r.csv", "participant,item,condition,response", rows)])


@pytest.mark.parametrize("names", ["winner,loser", "chosen,rejected"])
def test_winner_and_loser_are_a_choice_on_sides_drawn_at_random(tmp_path: Path, names: str) -> None:
    chance = random.Random(5)
    pairs = [sorted(chance.sample(["ours", "theirs", "human"], 2), reverse=chance.random() < 0.9) for _ in range(600)]
    rows = [[f"w{at % 20}", f"prompt {at // 20}", *pair] for at, pair in enumerate(pairs)]
    read = accepted(saved(tmp_path / "r.csv", f"annotator,prompt,{names}", rows))
    won = pl.when(pl.col("response") == "left").then("left").otherwise("right")
    assert read.frame.select(won).to_series().to_list() == [pair[0] for pair in pairs]
    assert 0.4 < (read.frame["response"] == "left").mean() < 0.6  # type: ignore[operator]


def test_winners_are_one_system_or_the_other_of_each_row(tmp_path: Path) -> None:
    chance, rows = random.Random(6), []
    for pair in range(30):
        other = chance.choice(["simple", "split"])
        for worker in chance.sample(range(12), 4):
            for aspect in ("fluency", "meaning"):
                winner = chance.choice(["ours", other, "similar"])
                rows.append([f"w{worker}", pair, aspect, other, f"Text {pair}.", f"Text {pair} of {other}.", winner])
    header = "worker_id,sentence_id,aspect,other_dataset,ours_text,other_text,winner"
    read = accepted(saved(tmp_path / "r.csv", header, rows))
    assert set(read.scales.values()) == {Choice(none=True)}
    assert set(read.scales) == {"fluency", "meaning"}
    said = pl.when(pl.col("response") == "none").then(pl.lit("similar")).otherwise(
        pl.when(pl.col("response") == "left").then("left").otherwise("right")
    )  # fmt: skip
    assert read.frame.select(said).to_series().to_list() == [row[-1] for row in rows]


def test_aspects_of_one_pair_are_questions(tmp_path: Path) -> None:
    chance, rows = random.Random(7), []
    for pair in range(30):
        for worker in chance.sample(range(9), 4):
            texts = f"First {pair}.", f"Second {pair}."
            asked = ("fluency", "relevance", "overall")
            rows += [[pair, f"w{worker}", aspect, *texts, chance.choice("AB")] for aspect in asked]
    read = accepted(saved(tmp_path / "r.csv", "example_id,annotator_id,aspect,output_A,output_B,preference", rows))
    assert set(read.scales) == {"fluency", "relevance", "overall"}
    assert set(read.scales.values()) == {Choice()}


@pytest.mark.parametrize("documents", [True, False])
def test_scores_of_appraise_have_no_header(tmp_path: Path, documents: bool) -> None:
    chance, lines = random.Random(8), []
    for person in range(4):
        for at, (system, segment) in enumerate((s, n) for s in ("A-1", "B-2") for n in range(12)):
            start = 1728000000.5 + 60 * at
            document = [f"news.{segment // 4}", "False"] if documents else []
            row = [f"eng{person}", system, segment, "TGT", "eng", "deu", chance.randint(0, 100), *document]
            lines.append(",".join(map(str, [*row, start, start + 7.25])))
    path = tmp_path / "scores.csv"
    path.write_text("\n".join([*lines, ""]))
    assert flags(path) == {"item": {"item": "system+segment"}}
    read = accepted(path)
    assert (read.answers, read.frame["item"].n_unique(), read.frame["rt"].unique().to_list()) == (96, 24, [7.25])
    path.write_text("\n".join([*lines, lines[0].replace(",eng,deu,", ",eng,deu,x")]))
    with refuses(IntakeError, "line 97, response"):
        accepted(path)


def test_criteria_on_several_systems_per_row(tmp_path: Path) -> None:
    chance = random.Random(9)
    names = [f"{system}_{aspect}" for system in ("bart", "t5", "ours") for aspect in ("fluency", "coherence")]
    rows = [[f"a{who}", n, f"Source {n}.", *(rated(chance, points=5) for _ in names)]
            for who in range(5) for n in range(30)]  # fmt: skip
    read = accepted(saved(tmp_path / "r.csv", ",".join(["annotator", "example_id", "source", *names]), rows))
    assert set(read.scales) == {"fluency", "coherence"}
    assert (read.frame["item"].n_unique(), read.frame["system"].n_unique(), read.answers) == (90, 3, 900)


def test_neighbouring_scales_where_nobody_went_to_the_end(tmp_path: Path) -> None:
    chance = random.Random(10)
    pairs = ["warm-cold", "good-bad", "strong-weak", "active-passive"]
    rows = [[f"p{who}", f"word{n}", rated(chance), rated(chance), min(6, rated(chance)), max(2, rated(chance))]
            for who in range(16) for n in range(12)]  # fmt: skip
    path = saved(tmp_path / "r.csv", ",".join(["participant", "word", *pairs]), rows)
    assert flags(path)["wide"] == {"wide": "trial"}
    assert set(accepted(path).scales) == set(pairs)


def test_fillers_beside_the_names_of_karat(tmp_path: Path) -> None:
    rows = [[*row[:3], "filler" if int(str(row[1])) > 10 else "critical", row[3]] for row in latin()]
    read = read_files([saved(tmp_path / "r.csv", "participant,item,condition,trial_type,response", rows)]).judgments
    assert dict(read.frame["function"].value_counts().iter_rows()) == {"test": 120, "filler": 72}
