"""Study files: what they may say, and how flaws are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.study.file import StudyError, find_study, read_settings
from karat.study.toml_lines import line_of, toml_lines

SOUND = """title = "Word order"
language = "de"

[[block]]
task = "likert"
items = "items.csv"
scale = { points = 5 }
factors = { order = ["a", "b"] }

[order]
in_a_row = { status = 3 }

[screening]
completion = { at_least = 0.9 }
remfod = {}
exclude = "any"
"""


def told(text: str, tmp_path: Path) -> str:
    path = tmp_path / "study.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(StudyError) as caught:
        read_settings(path)
    return str(caught.value)


def test_a_sound_file(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(SOUND)
    settings, _ = read_settings(path)
    assert settings.block[0].items == ["items.csv"]
    assert settings.block[0].factors["order"].levels == ["a", "b"]
    assert settings.order.test_adjacent is False
    assert settings.screening is not None
    assert list(settings.screening.criteria) == ["completion", "remfod"]
    assert settings.screening.criteria["remfod"].model_dump()["upper"] == 2.5


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("language", "langauge", "line 2, langauge: is no key here. Is language meant?"),
        ("points = 5", "pionts = 5", "line 7, block.scale.pionts: is no key here. Is points meant?"),
        ('title = "Word order"\n', "", "title: is missing. Add title = ..."),
        ('"likert"', '"lickert"', 'line 5, block.task: "lickert"'),
        ("points = 5", "points = 1", 'line 7, block.scale.points: "1" Input should be greater than or equal to 2'),
        ("remfod", "remofd", "there is no screening criterion 'remofd'; is remfod meant?"),
        ("at_least = 0.9", "atleast = 0.9", "the criterion completion has no setting 'atleast'; is at_least meant?"),
        ("at_least = 0.9", "at_least = 90", "line 13"),
        ('exclude = "any"', 'exclude = "remfod and quiz"', "exclude names 'quiz', which is not stated"),
        ('exclude = "any"', "exclude = 3", "exclude = 3, but 2 criteria are stated"),
        ('exclude = "any"', 'exclude = "__import__()"', "only names of criteria"),
        ('items = "items.csv"\n', "", "a block needs items = ..."),
        ('["a", "b"]', '["a", "a"]', "a level is there twice"),
        ("[[block]]", "[[block", "is not TOML"),
    ],
)
def test_flaws_name_line_key_and_mend(old: str, new: str, sentence: str, tmp_path: Path) -> None:
    assert sentence in told(SOUND.replace(old, new, 1), tmp_path)


def test_all_flaws_are_told_together(tmp_path: Path) -> None:
    text = told(SOUND.replace("language", "langauge").replace("points", "pionts"), tmp_path)
    assert "langauge" in text
    assert "pionts" in text


def test_not_there_and_not_text(tmp_path: Path) -> None:
    with pytest.raises(karat.KaratError, match="There is no study file"):
        find_study(tmp_path)
    (tmp_path / "study.toml").write_bytes(b"title = \xff")
    with pytest.raises(karat.KaratError, match="not UTF-8"):
        read_settings(find_study(tmp_path))


def test_lines_of_keys() -> None:
    text = 'a = """\nb = 1\n"""\n[t]\n"x y" = 2\n[[l]]\nc.d = 1\n[[l]]\nc = 2\n[l.m]\ne = 3\n'
    lines = toml_lines(text)
    assert ("b",) not in lines
    assert lines[("t", "x y")] == 5
    assert lines[("l", 0, "c", "d")] == 7
    assert lines[("l", 1, "c")] == 9
    assert lines[("l", 1, "m", "e")] == 11
    assert line_of(lines, ("l", 1, "m", "z")) == 10
    assert line_of(lines, ("nothing",)) is None


@given(st.text(max_size=80))
def test_any_text_gives_a_sentence_or_settings(text: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.toml"
        path.write_text(text, encoding="utf-8", newline="")
        with pytest.raises(StudyError):
            read_settings(path)


@given(st.integers(0, len(SOUND)), st.integers(0, len(SOUND)), st.sampled_from(["", "=", '"', "[", "1", "x", "\n"]))
def test_damaged_files_give_a_sentence_or_settings(start: int, end: int, new: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.toml"
        low, high = sorted((start, end))
        path.write_text(SOUND[:low] + new + SOUND[high:], encoding="utf-8", newline="")
        try:
            title = read_settings(path)[0].title
        except StudyError as error:
            title = str(error)
        assert title
