"""Wide tables as survey tools and spreadsheets write them, with made-up data: nothing is lost, and nothing is added."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl
import pytest

from intake.test_published_shapes import Crowd, accepted, proposals, saved
from karat.errors import KaratError
from karat.intake import Options, read_files
from karat.intake.reading import ProposalError
from messages import codes


@pytest.fixture
def crowd() -> Crowd:
    return Crowd()


def export(path: Path, columns: Sequence[tuple[str, str, str]], rows: Iterable[Sequence[object]]) -> Path:
    """An export of Qualtrics: tag, text and import id of each column."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerows([[tag for tag, _, _ in columns], [text for _, text, _ in columns]])
        writer.writerow(json.dumps({"ImportId": name}) for _, _, name in columns)
        writer.writerows(rows)
    return path


def looped(path: Path, words: int = 3, rounds: int = 10, length: int = 8) -> Path:
    """Everybody sees one round of each loop; a timed page before the loop announces it."""
    chance = random.Random(3)
    columns = [("Finished", "Finished", "finished"), ("ResponseId", "Response ID", "_recordId")]
    for word in range(words):
        columns.append((f"Q{word}_Page Submit", "Timing - Page Submit", f"QID{50 + word}_PAGE_SUBMIT"))
        text = " ".join(["How alike are these two?"] * length)
        columns += [
            (f"{n}_Q{word}_big", f"{('Tweet', 'Train')[n % 2]} {text}", f"{n}_QID{80 + word}")
            for n in range(1, rounds + 1)
        ]
    rows = []
    for person in range(40):
        row: list[object] = ["True", f"R_{person}"]
        for _ in range(words):
            cells: list[object] = [""] * rounds
            cells[chance.randrange(rounds)] = chance.randint(1, 7)
            row += [0.8, *cells]
        rows.append(row)
    return export(path, columns, rows)


def test_header_rows_longer_than_a_sample_are_those_of_qualtrics(tmp_path: Path) -> None:
    path = looped(tmp_path / "r.csv", rounds=60, length=40)
    assert path.stat().st_size > 100_000
    assert read_files([path]).judgments.answers == 120


def test_a_page_timed_before_a_loop_shows_no_round_of_it(tmp_path: Path) -> None:
    judgments = read_files([looped(tmp_path / "r.csv")]).judgments
    assert (judgments.frame.height, judgments.answers) == (120, 120)
    assert "rt" not in judgments.frame.columns
    assert set(judgments.frame["function"]) == {"test"}


def test_loops_with_one_question_are_one(tmp_path: Path) -> None:
    chance = random.Random(9)
    columns = [("Finished", "Finished", "finished"), ("ResponseId", "Response ID", "_recordId")]
    for at, word in enumerate(("big", "cheap", "some"), 1):
        asked = {"alike": f"How alike is '{word}, but not so' to '{word}'?", "clear": "How clear is this tweet?"}
        for nth, (name, text) in enumerate(asked.items()):
            tags = [(f"{n}_Q{at}_{word}_{name}", f"Tweet {n} - {text}", f"{n}_QID{10 * at + nth}") for n in range(1, 5)]
            columns += tags
    rows = [["True", f"R_{p}", *(chance.randint(1, 7) for _ in columns[2:])] for p in range(20)]
    judgments = read_files([export(tmp_path / "r.csv", columns, rows)]).judgments
    assert len(judgments.scales) == 2
    assert (judgments.frame["item"].n_unique(), judgments.answers) == (24, 480)


def test_qualtrics_without_ids_has_one_participant_per_row(tmp_path: Path, crowd: Crowd) -> None:
    columns = [("Duration (in seconds)", "Duration (in seconds)", "duration")]
    columns += [(f"nat_{n}", f"How natural? {crowd.text()}", f"QID{n}") for n in range(8)]
    rows = [[300 + p, *(crowd.rate(p, n) for n in range(8))] for p in range(12)]
    intake = read_files([export(tmp_path / "r.csv", columns, rows)])
    assert intake.judgments.frame["participant"].n_unique() == 12
    assert "qualtrics.rows" in codes(intake.notes)


def test_two_questions_among_many_others_are_asked_about(tmp_path: Path) -> None:
    chance = random.Random(4)
    words = ["Never", "Rarely", "Sometimes", "Often", "Always"]
    columns = [("ResponseId", "Response ID", "_recordId")]
    columns += [(f"Q{n}", f"Question {n}", f"QID{n}") for n in range(8)]
    rows = [
        [f"R_{p}", *(chance.choice(words) for _ in range(2)), *(f"{chance.choice('xyz')}{n}" for n in range(6))]
        for p in range(12)
    ]
    assert set(proposals(export(tmp_path / "r.csv", columns, rows))) == {"response"}


def test_questions_numbered_by_block_are_not_one_question(tmp_path: Path) -> None:
    chance = random.Random(5)
    columns = [("ResponseId", "Response ID", "_recordId")]
    for n in range(1, 15):
        columns.append((f"{n}_Q2.3_1", "How sure are you? - 1", f"{n}_QID3_1"))
        columns.append((f"{n}_Q2.5", "Is it true?", f"{n}_QID5"))
    rows = [
        [f"R_{p}", *(cell for _ in range(14) for cell in (chance.randint(0, 100), chance.choice(["Yes", "No"])))]
        for p in range(10)
    ]
    path = export(tmp_path / "r.csv", columns, rows)
    assert proposals(path) == {"response": {"response": "Q2.3"}}
    assert accepted(path).scale.kind == "continuous"


def test_columns_with_one_name_are_all_items(tmp_path: Path, crowd: Crowd) -> None:
    rows = [[f"2024/03/0{p} 10:11", 20 + p, *(crowd.rate(p, n, 5) for n in range(9))] for p in range(1, 10)]
    path = saved(tmp_path / "r.csv", ",".join(["Timestamp", "Age", *["How natural is it?"] * 9]), rows)
    judgments = accepted(path)
    assert judgments.frame["item"].n_unique() == 9
    assert judgments.answers == 81


def test_a_form_of_redcap_that_is_complete_is_no_item(tmp_path: Path, crowd: Crowd) -> None:
    rows = [[f"r{p}", 20 + p, *(crowd.rate(p, n) for n in range(8)), 2] for p in range(10)]
    header = ",".join(["record_id", "age", *(f"acc_{n}" for n in range(8)), "judgments_complete"])
    judgments = accepted(saved(tmp_path / "r.csv", header, rows))
    assert judgments.frame["item"].n_unique() == 8
    assert judgments.frame["participant"][0] == "r0"


def test_a_header_that_begins_with_a_number_sign_is_a_header(tmp_path: Path, crowd: Crowd) -> None:
    rows = [[f"x{p}y", *(crowd.rate(p, n, 5) for n in range(8)), f"2024-03-0{p} 10:11:12"] for p in range(1, 10)]
    header = ",".join(["#", *(f"Rate: the dog sees {n} cats" for n in range(8)), "Submit Date (UTC)"])
    judgments = accepted(saved(tmp_path / "r.csv", header, rows))
    assert judgments.answers == 72
    assert judgments.frame["item"][0] == "Rate: the dog sees 0 cats"


@pytest.mark.parametrize(
    "header",
    [",".join(["Area", *(f"Q{n // 2 + 1}_{n % 2 + 1}" for n in range(12))]),
     ",".join(["Age", *(f"{'ABC'[n % 3]}{n // 3}" for n in range(12))])],
)  # fmt: skip
def test_rows_are_participants_by_the_questions_or_their_age(tmp_path: Path, crowd: Crowd, header: str) -> None:
    codes = [f"{'abcdefgh'[p]}x_1" if header.startswith("Area") else 20 + p for p in range(8)]
    rows = [[codes[p], *(crowd.rate(p, n) for n in range(12))] for p in range(8)]
    path = saved(tmp_path / "r.csv", header, rows)
    assert "wide" in proposals(path)
    assert (accepted(path).frame["participant"].n_unique(), accepted(path).frame["item"].n_unique()) == (8, 12)


def test_votes_of_several_people_on_one_pair(tmp_path: Path, crowd: Crowd) -> None:
    rows = [
        [n, *crowd.draw.sample(["owl", "fox", "hen"], 2), *(crowd.draw.choice(["one", "two", "tie"]) for _ in range(3))]
        for n in range(30)
    ]
    sides = {"one": "model_1", "two": "model_2"}
    rows = [[*row[:3], *(sides.get(str(cell), cell) for cell in row[3:])] for row in rows]
    judgments = accepted(saved(tmp_path / "r.csv", "question_id,model_1,model_2,winner1,winner2,winner3", rows))
    assert judgments.scale.kind == "choice"
    assert judgments.answers == 90
    assert set(judgments.frame["left"]) | set(judgments.frame["right"]) == {"owl", "fox", "hen"}


def test_choices_between_changing_texts_are_refused(tmp_path: Path, crowd: Crowd) -> None:
    pairs = [(f"{crowd.text()} {n}", f"{crowd.text()} {n}") for n in range(10)]
    rows = [[f"3/{p}/2024", *(crowd.draw.choice(pair) for pair in pairs)] for p in range(1, 15)]
    header = ",".join(["Timestamp", *(f"Which one is better? ({n})" for n in range(10))])
    with pytest.raises(KaratError) as error:
        read_files([saved(tmp_path / "r.csv", header, rows)])
    assert "10 columns with choices" in str(error.value)


@pytest.mark.parametrize("texts", [True, False])
def test_an_export_of_qualtrics_without_its_import_ids_is_wide(tmp_path: Path, crowd: Crowd, texts: bool) -> None:
    tags = [
        "StartDate",
        "Progress",
        "RecordedDate",
        "ResponseId",
        "UserLanguage",
        "Age",
        *(f"s{n}_a" for n in range(9)),
    ]
    about = ["2023-01-01 10:00:00", 100, "2023-01-01 10:10:01"]
    rows = [[*about, f"R_{p}", "EN", 20 + p, *(crowd.rate(p, n) for n in range(9))] for p in range(10)]
    labels = ["Start Date", "Progress", "Recorded Date", "Response ID", "User Language", "How old are you?"]
    second = [[*labels, *(f"How natural? {n}" for n in range(9))]] if texts else []
    judgments = accepted(saved(tmp_path / "r.csv", ",".join(tags), [*second, *rows]))
    assert judgments.frame["participant"].unique(maintain_order=True).to_list() == [f"R_{p}" for p in range(10)]
    assert judgments.answers == 90


def test_an_item_with_decimal_commas_of_its_own_stays(tmp_path: Path) -> None:
    chance = random.Random(6)
    rows = [[f"vp{p}", *(f"{chance.randint(10, 19)},5" for _ in range(6)), f"9{p},5"] for p in range(8)]
    path = tmp_path / "r.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=";").writerows([["VP", *(f"item{n}_k" for n in range(7))], *rows])
    assert accepted(path).answers == 56


def test_end_labels_are_no_answers(tmp_path: Path, crowd: Crowd) -> None:
    points = ["1 (very bad)", "2", "3", "4", "5 (very good)"]
    rows = [[f"2024/03/0{p} 10:11", *(points[crowd.rate(p, n, 5) - 1] for n in range(12))] for p in range(1, 10)]
    rows += [["2024/03/11 10:11", *[points[0]] * 6, *[points[4]] * 6]]
    header = ",".join(["Timestamp", *(f"Rate them [The dog sees {n} cats.]" for n in range(12))])
    judgments = accepted(saved(tmp_path / "r.csv", header, rows))
    assert judgments.frame["item"].n_unique() == 12
    assert judgments.scale.known() == "1, 2, 3, 4, 5"


@pytest.mark.parametrize("numbered", [False, True])
def test_what_is_asked_in_one_round_of_a_loop_is_about_one_item(tmp_path: Path, crowd: Crowd, numbered: bool) -> None:
    words = "Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree"
    columns = [("ResponseId", "Response ID", "_recordId")]
    columns += [
        (f"{n}_{tag}", f"Sentence {n} - {asked}", f"{n}_{identity}")
        for n in range(1, 7)
        for tag, asked, identity in (("Q5", "It sounds natural.", "QID5"), ("Q6", "It makes sense.", "QID6"))
    ]
    rows = [
        [
            f"R_{p}",
            *(point if numbered else words[point - 1] for point in (crowd.draw.randint(1, 5) for _ in range(12))),
        ]
        for p in range(10)
    ]
    judgments = read_files([export(tmp_path / "r.csv", columns, rows)]).judgments
    assert judgments.frame["item"].unique().sort().to_list() == [f"{n}_Q5" for n in range(1, 7)]
    assert set(judgments.scales) == {"Q5", "Q6"}


@pytest.mark.parametrize(
    ("left", "right", "word"), [("owl", "fox", "owl"), ("owl_summary", "fox_summary", "owl"), ("sysX", "sysY", "")]
)
def test_the_winner_is_named_as_a_column_or_as_in_one(
    tmp_path: Path, crowd: Crowd, left: str, right: str, word: str
) -> None:
    rows = []
    for n in range(160):
        shown = [f"{crowd.text()} {n % 20}", f"{crowd.text()} {n % 20} again"] if word else crowd.draw.sample(
            ["owl", "fox", "hen"], 2
        )  # fmt: skip
        winners = [word or shown[0], "fox" if word else shown[1], "tie"]
        rows.append([f"w{n // 20}", n % 20, *shown, crowd.draw.choice(winners) if n else winners[1]])
    judgments = accepted(saved(tmp_path / "r.csv", f"annotator,example,{left},{right},winner", rows))
    assert judgments.scale.levels == ("left", "right", "none")
    assert set(judgments.frame["left"]) == ({"owl"} if word else {"owl", "fox", "hen"})
    assert judgments.frame["item"].n_unique() == 20
    if word:
        texts = judgments.frame.select("participant", pl.col("item").cast(pl.Int64), left, right).rows()
        assert texts == [tuple(row[:4]) for row in rows]


def test_tags_that_end_alike_ask_alike(tmp_path: Path) -> None:
    """Everybody sees a few of many scenarios, in words or on a slider, and says how sure the answer is."""
    chance = random.Random(4)
    columns = [("ResponseId", "Response ID", "_recordId")]
    tags = [f"{scene}_{version}_{kind}" for scene in "abcdef" for version in ("x", "y") for kind in ("MC", "VAS")]
    for n, tag in enumerate(tags):
        columns += [(f"{tag}_Resp_1", f"To what extent did it, in {tag}?", f"QID{2 * n}_1")]
        columns += [(f"{tag}_Conf_1", "How sure are you?", f"QID{2 * n + 1}_1")]
    rows = []
    for person in range(40):
        row: list[object] = [f"R_{person}x9"]
        for tag in tags:
            words = chance.choice(["caused", "did not cause", "partly caused"])
            answer = words if tag.endswith("MC") else chance.randint(0, 100)
            row += [answer, chance.randint(0, 100)] if chance.random() < 0.4 else ["", ""]
        rows.append(row)
    with pytest.raises(ProposalError) as error:
        read_files([export(tmp_path / "r.csv", columns, rows)])
    offered = [
        choice.mapping["response"].split("+") for question in error.value.questions for choice in question.choices
    ]
    assert sorted(offered[-1]) == ["MC_Resp", "VAS_Resp"]
    judgments = read_files([tmp_path / "r.csv"], options=Options(mapping={"response": "MC_Resp+VAS_Resp"})).judgments
    assert judgments.frame["item"].n_unique() == len(tags)


@pytest.mark.parametrize("headers", [1, 2, 3])
def test_two_sliders_per_story_are_two_questions(tmp_path: Path, headers: int) -> None:
    """Participants reach the ends of some sliders only; tags end or begin with the question."""
    chance = random.Random(8)
    names = ["StartDate", "EndDate", "Status", "Progress", "Finished", "ResponseId"]
    columns = [(name, name.title(), name.lower()) for name in names]
    tags = [f"cause{side}_{n}_1" for n in range(8) for side in "AB"]
    columns += [(tag, f"How much? - {tag[5]}", f"QID{20 + at}_1") for at, tag in enumerate(tags)]
    own = ["2024-05-01 10:00:00", "2024-05-01 10:20:00", "IP Address", "100", "True"]
    rows = [[*own, f"R_{who:015}", *(chance.randint(at % 2, 99 + at % 2) for at in range(16))] for who in range(30)]
    path = export(tmp_path / "r.csv", columns, rows)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:headers] + lines[3:]), encoding="utf-8")
    frame = read_files([path]).judgments.frame
    assert set(frame["question"]) == {"causeA", "causeB"}
    assert frame.height == 30 * 16


def test_tags_that_begin_alike_name_questions_by_their_ends(tmp_path: Path) -> None:
    chance = random.Random(9)
    columns = [("ResponseId", "Response ID", "_recordId")]
    tags = [f"V{n}_{question}" for n in range(1, 9) for question in ("cause", "blame", "norm")]
    columns += [(tag, f"Story {tag}?", f"QID{10 + at}") for at, tag in enumerate(tags)]
    rows = [[f"R_{who:015}", *(chance.randint(1, 7) for _ in tags)] for who in range(20)]
    frame = read_files([export(tmp_path / "r.csv", columns, rows)]).judgments.frame
    assert set(frame["question"]) == {"cause", "blame", "norm"}


def test_items_of_a_loop_without_texts_are_its_rounds(tmp_path: Path) -> None:
    chance = random.Random(10)
    names = ["StartDate", "EndDate", "Status", "Progress", "Finished", "ResponseId"]
    tags = [f"{n}_Q{question}" for n in range(1, 9) for question in (5, 6)]
    own = ["2024-05-01 10:00:00", "2024-05-01 10:20:00", "IP Address", "100", "True"]
    rows = [[*own, f"R_{who:015}", *(chance.randint(1, 7) for _ in tags)] for who in range(20)]
    path = tmp_path / "r.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([[*names, *tags], *rows])
    assert read_files([path]).judgments.frame["item"].n_unique() == 8


def test_sliders_with_one_row_each_and_codes_before_their_texts(tmp_path: Path) -> None:
    """Every question is a slider with one row; a form asks for the MTurk ID, and tags are Qualtrics' own numbers."""
    chance = random.Random(11)
    columns = [("ResponseId", "Response ID", "_recordId")]
    columns += [
        (f"Q64_{n}", f"Please fill in. - {what}", f"QID9_{n}") for n, what in ((1, "MTurk ID"), (2, "Language"))
    ]
    codes = [f"train-s{n}-who-true" for n in range(4)] + [f"filler-s{n}-what-true" for n in range(10)]
    codes += [f"{level}-s{n}-where-{answer}" for n, (level, answer) in enumerate(8 * [("high", "all"), ("low", "one")])]
    columns += [
        (f"Q{20 + n}_{n % 4}", f'{code} - "Floor {n}."', f"QID{20 + n}_{n % 4}") for n, code in enumerate(codes)
    ]
    rows = [
        [f"R_{who:015}", f"A{chance.randrange(10**12):012}", "English", *(chance.randint(1, 7) for _ in codes)]
        for who in range(30)
    ]
    frame = read_files([export(tmp_path / "r.csv", columns, rows)]).judgments.frame
    assert set(frame["item"]) == set(codes)
    by_function = {"practice": 120, "filler": 300, "test": 480}
    assert dict(frame["function"].value_counts().iter_rows()) == by_function


@pytest.mark.parametrize("compounds", [False, True])
def test_columns_are_items_that_begin_with_their_function(tmp_path: Path, compounds: bool) -> None:
    """Compounds may begin with such a word, too, but each begins with a word of its own."""
    chance = random.Random(12)
    kinds = [*"abcdefghij"] if compounds else [*"aaabbbccdd"]
    names = [f"{kind}_{n}_likely" for n, kind in enumerate(["Train", "train", "filler", *kinds])]
    path = tmp_path / "r.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = [[f"A{chance.randrange(10**12):012}", *(chance.randint(0, 5) for _ in names)] for _ in range(20)]
        csv.writer(file).writerows([["subject", *names], *rows])
    frame = accepted(path).frame
    expected = {"test": 260} if compounds else {"practice": 40, "filler": 20, "test": 200}
    assert dict(frame["function"].value_counts().iter_rows()) == expected
    assert "item_" not in frame.columns


def test_no_column_of_participants_is_proposed_as_the_item(tmp_path: Path) -> None:
    rows = [[f"S{who}", f"P{who}", "know", "who", answer] for who in range(20) for answer in (0, 1)]
    path = tmp_path / "r.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["submission_id", "subject", "verb", "wh", "response"], *rows])
    with pytest.raises(KaratError) as caught:
        read_files([path])
    assert "item=verb" in str(caught.value)
    assert "item=submission_id" not in str(caught.value)
    assert read_files([path], options=Options(mapping={"item": "verb"})).judgments.frame.height == 40
