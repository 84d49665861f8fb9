"""The pages of a session, over the studies that `karat init` writes: what is shown, what is hidden, in which order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from karat.errors import KaratError
from karat.field.content.inline_markup import plain_text
from karat.field.content.texts import words
from karat.field.content.trials import image_name, images, scales
from karat.judgments import Judgments
from karat.study.init import LANGUAGES, TEMPLATES, write_study
from karat.study.study import Study, load
from messages import refuses
from tests.field.content.pages import ITEMS, pages_of, small, template, trials_of

SHOWN = {
    "id", "kind", "task", "practice", "prompt", "context", "stimuli", "modulus", "scale", "questions",
    "text", "feedback", "aside", "done", "number", "of",
}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("task", TEMPLATES)
def test_every_template_becomes_pages(task: str, language: str) -> None:
    study = template(task, language)
    frame = study.questionnaire(1, "p1").frame
    pages = pages_of(study)
    assert [page.position for page in pages] == list(range(1, len(pages) + 1))
    assert len({page.public_id for page in pages}) == len(pages)
    assert [row["item"] for page in pages for row in page.rows] == frame["item"].to_list()
    assert [row["trial"] for page in pages for row in page.rows] == frame["trial"].to_list()
    offered = scales(study, words(language))
    for page in pages:
        assert set(page.shown) == SHOWN
        assert page.shown["id"] == page.public_id
        assert json.loads(json.dumps(page.shown)) == page.shown
        if page.shown["kind"] == "trial":
            scale = offered[page.shown["scale"]]
            block = next(block for block in study.blocks if block.name == page.block)
            assert page.shown["task"] == block.settings.task
            assert len(page.shown["stimuli"]) == (2 if block.task.compares else 1)
            assert (scale["kind"] == "number") == (page.shown["task"] == "magnitude")
        else:
            assert page.rows == []
            assert page.shown["text"]


@pytest.mark.parametrize("task", TEMPLATES)
def test_nothing_of_the_design_is_shown(task: str) -> None:
    study = template(task)
    for page in trials_of(pages_of(study)):
        result = json.dumps(page.shown)
        row = page.rows[0]
        names = [row[name] for name in ("item", "subgroup", "status", "left", "right", "pair") if name in row]
        names += [row[name] for name in study.blocks[0].settings.factors if name in row]
        texts = " ".join(plain_text(stimulus["text"]) for stimulus in page.shown["stimuli"] if stimulus["text"])
        fixed = texts + json.dumps(page.shown["prompt"]) + json.dumps(page.shown["questions"])
        for name in [*names, row["function"], row.get("expected", "")]:
            if len(name) > 3 and name not in fixed and name != "practice":
                assert name not in result


def test_ids_are_random_and_long() -> None:
    study = template("likert")
    first, second = pages_of(study), pages_of(study)
    assert not {page.public_id for page in first} & {page.public_id for page in second}
    assert min(len(page.public_id) for page in first) >= 16


def test_pages_follow_texts_practice_and_breaks(tmp_path: Path) -> None:
    study = small(
        tmp_path,
        'instructions = "Read *closely*."',
        '[questionnaire]\nbreaks_after = 2\n[texts]\npractice = "Try it."\n[order]\ntest_adjacent = true',
    )
    lines = [
        (page.shown["kind"], plain_text(page.shown["text"]) if page.shown["text"] else page.rows[0]["function"])
        for page in pages_of(study)
    ]
    assert lines == [
        ("text", "Read closely."),
        ("text", "Try it."),
        ("trial", "practice"),
        ("text", words("en")["practice.over"]),
        ("trial", "calibration"),
        ("trial", "test"),
        ("break", words("en")["break.text"]),
        ("trial", "test"),
        ("trial", "test"),
        ("break", words("en")["break.text"]),
        ("trial", "test"),
    ]


def test_no_break_stands_at_the_end(tmp_path: Path) -> None:
    study = small(tmp_path, rest="[questionnaire]\nbreaks_after = 5\n[order]\ntest_adjacent = true")
    assert pages_of(study)[-1].shown["kind"] == "trial"
    assert "break" not in [page.shown["kind"] for page in pages_of(study)]


def test_one_break_between_blocks_before_practice(tmp_path: Path) -> None:
    other = '[[block]]\ntask = "yes-no"\nitems = "items.csv"\n[questionnaire]\nbreaks_after = 5\n'
    study = small(tmp_path, rest=other + "[order]\ntest_adjacent = true")
    pages = pages_of(study)
    kinds = [(page.shown["kind"], page.shown["practice"]) for page in pages]
    at = kinds.index(("break", False))
    assert [kind for kind, _ in kinds].count("break") == 1
    assert kinds[at + 1 : at + 3] == [("text", False), ("trial", True)]
    assert [page.shown["scale"] for page in trials_of(pages)] == ["s1"] * 6 + ["s2"] * 6


def test_feedback_is_for_practice_alone(tmp_path: Path) -> None:
    study = small(tmp_path, items=ITEMS.replace("The bird.,,,,,", "The bird.,,,,A secret.,"))
    shown = {page.rows[0]["item"]: page for page in trials_of(pages_of(study))}
    assert plain_text(shown["p1"].shown["feedback"]) == "Most people like this."
    assert "secret" not in json.dumps([page.shown for page in shown.values()])
    assert "feedback" not in shown["p1"].rows[0]
    assert shown["p1"].shown["practice"]
    assert not shown["t1"].shown["practice"]


def test_marks_context_and_gloss(tmp_path: Path) -> None:
    plain = {page.rows[0]["item"]: page.shown for page in trials_of(pages_of(small(tmp_path / "plain")))}
    marked = {
        page.rows[0]["item"]: page.shown for page in trials_of(pages_of(small(tmp_path / "marked", "markdown = true")))
    }
    assert plain["t1"]["stimuli"][0]["text"] == [[{"t": "*The* cat."}]]
    assert marked["t1"]["stimuli"][0]["text"] == [[{"t": "The", "i": True}, {"t": " cat."}]]
    assert marked["t1"]["context"] == [[{"t": "A context."}]]
    assert marked["t1"]["stimuli"][0]["gloss"] == [[{"t": "DEF cat"}]]
    assert marked["t2"]["context"] is None


def test_images_have_opaque_names(tmp_path: Path) -> None:
    study = small(tmp_path)
    shown = {page.rows[0]["item"]: page.shown for page in trials_of(pages_of(study))}
    address = shown["t2"]["stimuli"][0]["image"]
    opaque = address.rpartition("/")[2]
    assert address == f"/s/study/image/{opaque}"
    assert "dog" not in address
    assert images(study) == {opaque: study.path.parent / "dog.png"}, "no other file can be asked for"
    assert image_name(study, "dog.png") == opaque
    (tmp_path / "items.csv").write_text(ITEMS + "t9,test,More.,,,,,\n")
    assert image_name(load(tmp_path), "dog.png") != opaque


@pytest.mark.parametrize(("progress", "has_share", "has_count"), [("line", True, False), ("count", True, True),
                                                                   ("none", False, False)])  # fmt: skip
def test_progress_is_shown_as_the_study_says(tmp_path: Path, progress: str, has_share: bool, has_count: bool) -> None:
    pages = pages_of(small(tmp_path, rest=f'[field]\nprogress = "{progress}"\n'))
    trials = trials_of(pages)
    shares = [page.shown["done"] for page in pages]
    if has_share:
        assert shares == sorted(shares)
        assert shares[0] == 0
        assert shares[-1] < 1
    else:
        assert set(shares) == {None}
    counts = [(page.shown["number"], page.shown["of"]) for page in trials]
    assert counts == ([(number, 6) for number in range(1, 7)] if has_count else [(None, None)] * 6)


def differential(folder: Path, block: str = "") -> Study:
    write_study(folder, "differential")
    path = folder / "study.toml"
    path.write_text(path.read_text().replace('task      = "differential"', f'task = "differential"\n{block}'))
    return load(folder)


@pytest.mark.parametrize("per_page", [None, 4, 20])
def test_a_differential_asks_all_pairs_with_its_poles_turned(tmp_path: Path, per_page: int | None) -> None:
    study = differential(tmp_path, f"per_page = {per_page}" if per_page else "")
    questions = study.blocks[0].questions
    assert questions is not None
    poles = {row["question"]: (row["left"], row["right"]) for row in questions.to_dicts()}
    trials = trials_of(pages_of(study))
    sizes = [len(page.rows) for page in trials if page.rows[0]["trial"] == 1]
    assert sizes == ([4, 4, 3] if per_page == 4 else [11])
    turned = set()
    for page in trials:
        assert [asked["id"] for asked in page.shown["questions"]] == [f"q{i}" for i in range(1, len(page.rows) + 1)]
        for row, asked in zip(page.rows, page.shown["questions"], strict=True):
            left, right = poles[row["question"]]
            shown = (plain_text(asked["left"]), plain_text(asked["right"]))
            assert shown == ((left, right) if row["polarity"] == 1 else (right, left))
            turned.add(row["polarity"])
        assert not any(row["question"] in json.dumps(page.shown) for row in page.rows if row["question"] == "precision")
    assert turned == {1, -1}
    asked_twice = pl.DataFrame([row for page in trials for row in page.rows]).group_by("trial", "question").len()
    assert sorted(asked_twice.filter(pl.col("trial") == 1)["len"].to_list()) == [1] * 5 + [2] * 3


def test_two_sessions_have_pages_of_their_own(tmp_path: Path) -> None:
    study = small(tmp_path, rest="[questionnaire]\nsessions = 2\ndays_between = 7\n[order]\ntest_adjacent = true")
    first, second = pages_of(study, 1), pages_of(study, 2)
    assert {row["session"] for page in first for row in page.rows} == {"1"}
    assert {row["session"] for page in second for row in page.rows} == {"2"}
    assert sorted(row["item"] for page in first for row in page.rows) == sorted(
        row["item"] for page in second for row in page.rows
    )
    assert second[0].position == 1
    with refuses(KaratError, "study.toml", "session 3"):
        pages_of(study, 3)


CHOICES = """item,function,sentence,sentence_2,gloss,gloss_2,expected
t1,test,First one.,Second one.,GLOSS-1,GLOSS-2,
t2,test,First two.,Second two.,,GLOSS-2,
t3,test,First three.,Second three.,,,
t4,test,First four.,Second four.,GLOSS-1,,
"""


def test_sides_of_a_choice_go_with_their_glosses(tmp_path: Path) -> None:
    study = small(tmp_path, items=CHOICES, task="choice", block="scale = { no_difference = true }")
    swapped = set()
    for participant in range(8):
        for page in trials_of(pages_of(study, participant=str(participant))):
            left, right = page.shown["stimuli"]
            first = plain_text(left["text"]).startswith("First")
            swapped.add(first)
            assert page.rows[0]["left"].endswith(".1" if first else ".2")
            for side in (left, right):
                if side["gloss"]:
                    assert plain_text(side["gloss"]) == (
                        "GLOSS-1" if "First" in plain_text(side["text"]) else "GLOSS-2"
                    )
    assert swapped == {True, False}


def test_one_gloss_alone_goes_with_its_side(tmp_path: Path) -> None:
    items = "item,function,sentence,sentence_2,gloss\nt1,test,First.,Second.,G\nt2,test,First too.,Second too.,G\n"
    study = small(tmp_path, items=items, task="choice")
    for participant in range(6):
        for page in trials_of(pages_of(study, participant=str(participant))):
            for side in page.shown["stimuli"]:
                assert (side["gloss"] is not None) == ("First" in plain_text(side["text"]))


def shown_scale(study: Study, language: str = "en") -> dict[str, Any]:
    (scale,) = scales(study, words(language)).values()
    return scale


def test_scales_as_they_are_sent(tmp_path: Path) -> None:
    ends = small(tmp_path / "a", 'scale = { points = 7, labels = ["bad", "good"], colours = true }')
    scale = shown_scale(ends)
    assert [point["value"] for point in scale["points"]] == list("1234567")
    assert (scale["kind"], scale["ends"], scale["neutral"], scale["colours"]) == ("points", ["bad", "good"], "4", True)
    whole = shown_scale(small(tmp_path / "b", 'scale = { labels = ["a", "b", "c"], neutral = 0, slider = true }'))
    assert [point["label"] for point in whole["points"]] == ["a", "b", "c"]
    assert (whole["ends"], whole["neutral"], whole["slider"]) == (None, None, True)
    assert shown_scale(template("magnitude"))["kind"] == "number"
    pairs = shown_scale(template("differential"))
    assert [point["value"] for point in pairs["points"]] == list("1234567")
    assert pairs["neutral"] == "4"


def test_options_have_words_and_keys(tmp_path: Path) -> None:
    choice = small(tmp_path / "a", "scale = { no_difference = true }", items=CHOICES, task="choice")
    assert shown_scale(choice, "de")["points"] == [
        {"value": "left", "label": "Der erste Satz", "key": "1"},
        {"value": "right", "label": "Der zweite Satz", "key": "2"},
        {"value": "none", "label": "Kein Unterschied", "key": "3"},
    ]
    asked = small(tmp_path / "b", task="yes-no")
    assert [option["label"] for option in shown_scale(asked, "de")["points"]] == ["Nein", "Ja"]
    own = small(tmp_path / "c", 'scale = { levels = ["odd", "fine"] }', task="yes-no")
    assert [option["label"] for option in shown_scale(own, "de")["points"]] == ["odd", "fine"]
    labelled = small(tmp_path / "d", 'scale = { levels = ["0", "1"], labels = ["odd", "fine"] }', task="yes-no")
    assert [(one["value"], one["label"]) for one in shown_scale(labelled)["points"]] == [("0", "odd"), ("1", "fine")]
    levels = ", ".join(f'"c{number}"' for number in range(11))
    many = shown_scale(small(tmp_path / "e", f"scale = {{ levels = [{levels}] }}", task="label"))
    assert [option["key"] for option in many["points"]] == [*"123456789", None, None]


def test_the_modulus_is_in_view(tmp_path: Path) -> None:
    study = small(tmp_path, 'modulus_sentence = "A measure."\nscale = { modulus = 100 }', task="magnitude")
    assert trials_of(pages_of(study))[0].shown["modulus"] == {"text": [[{"t": "A measure."}]], "value": "100"}


@pytest.mark.parametrize("task", TEMPLATES)
def test_rows_with_answers_are_judgments(task: str) -> None:
    """The hidden rows are enough for the table: with an answer to each, they are judgments of the study's scale."""
    study = template(task)
    rows = [row for page in pages_of(study) for row in page.rows]
    scale = study.blocks[0].scale
    answer = "2.5" if task == "magnitude" else scale.levels[0]  # type: ignore[attr-defined]
    frame = pl.DataFrame(rows, infer_schema_length=None).with_columns(participant=pl.lit("p1"), response=pl.lit(answer))
    assert Judgments(frame, scale).frame.height == study.questionnaire(1, "p1").frame.height
