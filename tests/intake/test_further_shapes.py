"""Further shapes of published result files, with made-up data: companions of trials, blanks, experiments."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from intake.test_published_shapes import saved
from intake.test_trial_level_shapes import rated
from karat.intake import Options, read_files
from karat.judgments.scales import Binary


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
