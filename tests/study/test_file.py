"""Study files: what they may say, and how flaws are reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.study.criteria import CRITERIA, criterion_settings
from karat.study.file import StudyError, find_study, line_of, read_rules, read_settings, rules_text, toml_lines
from karat.study.study import load
from messages import refuses

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


def refused(text: str, tmp_path: Path, *names: object) -> None:
    path = tmp_path / "study.toml"
    path.write_text(text, encoding="utf-8")
    with refuses(StudyError, *names):
        read_settings(path)


def test_a_sound_file(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(SOUND)
    settings, _ = read_settings(path)
    assert settings.block[0].items == ["items.csv"]
    assert settings.block[0].factors["order"].levels == ["a", "b"]
    assert settings.order.test_adjacent is False
    assert settings.screening is not None
    assert list(settings.screening.criteria) == ["completion", "remfod"]
    assert settings.screening.criteria["remfod"].model_dump()["rule"] == "remfod"


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("language", "langauge", ["line 2, langauge", "language"]),
        ('language = "de"', 'language = "german"', ["line 2, language", "german", "de"]),
        ("points = 5", "points = 5,5", ["line 7", "5.5"]),
        ("points = 5", "pionts = 5", ["line 7, block.scale.pionts", "points"]),
        ('title = "Word order"\n', "", ["title = ..."]),
        ('"likert"', '"lickert"', ["line 5, block.task", "lickert", "yes-no, likert", "likert?"]),
        ("points = 5", "points = 1", ["line 7, block.scale.points", 1, 2]),
        ("points = 5", 'points = "five"', ["line 7, block.scale.points", "five"]),
        (
            "points = 5",
            'points = 7, labels = ["a", "b", "c"]',
            ["line 7, block.scale.labels", "3 labels", "7 points"],
        ),
        ("points = 5", "no_difference = true", ["line 7, block.scale.no_difference", 'task = "likert"']),
        ("scale = {", "per_page = 4\nscale = {", ["line 7, block.per_page", 'task = "likert"']),
        ("scale = {", 'modulus_sentence = "x"\nscale = {', ["line 7, block.modulus_sentence"]),
        (
            '"likert"\n',
            '"yes-no"\nprompt = "?"\n',
            ["line 8, block.scale.points", 'task = "yes-no"', "levels, labels"],
        ),
        (
            "[order]",
            "[field]\nsend_ahead = 30\n[order]",
            ["line 11, field.send_ahead", 30, 20],
        ),
        (
            "[order]",
            '[field]\nresume = "retry"\n[order]',
            ["line 11, field.resume", "retry", "continue, restart"],
        ),
        ("[order]", "[field]\ndevices = []\n[order]", ["line 11, field.devices", 1]),
        ("points = 5", "neutral = 6", ["line 7, block.scale.neutral", 6, "1 to 5"]),
        ("points = 5", "modulus = 5", ["line 7, block.scale.modulus", 'task = "likert"']),
        ("scale = {", "repeated_questions = 2\nscale = {", ["line 7, block.repeated_questions"]),
        ("scale = {", 'compared = "order"\nscale = {', ["line 7, block.compared", 'task = "likert"']),
        ("scale = {", "subset = { per_participant = 2, ratings = 2 }\nscale = {", ["line 7, block.subset"]),
        ('["a", "b"]', '"a"', ["line 8, block.factors.order", '["a", ...]']),
        ("[order]", 'spread = ["x"]\n[order]', ["line 10, block.spread"]),
        (
            "in_a_row",
            'spread = ["contrl"]\nin_a_row',
            ["line 11, order.spread", "contrl", "control"],
        ),
        ("status = 3", "status = 0", ["line 11, order.in_a_row.status", 0, 1]),
        (
            "remfod",
            "remofd",
            ["line 15, screening.remofd", "remfod"],
        ),
        ("at_least = 0.9", "atleast = 0.9", ["line 14, screening.completion", "atleast", "at_least"]),
        ("at_least = 0.9", "at_least = 90", ["line 14, screening.completion.at_least", 90, 1]),
        ('exclude = "any"', 'exclude = "remfod and quiz"', ["line 16, screening.exclude", "quiz"]),
        ('exclude = "any"', "exclude = 3", ["line 16, screening.exclude", "exclude = 3", "1 to 2"]),
        (
            'exclude = "any"',
            "exclude = 0",
            ["line 16, screening.exclude", "exclude = 0", "1 to 2"],
        ),
        (
            'exclude = "any"',
            'exclude = ["x"]',
            ["line 16, screening.exclude"],
        ),
        (
            'exclude = "any"',
            "exclude = true",
            ["line 16, screening.exclude", "True"],
        ),
        ('exclude = "any"', 'exclude = "__import__()"', ["line 16, screening.exclude"]),
        ('items = "items.csv"\n', "", ["items = ..."]),
        ('["a", "b"]', '["a", "a"]', ["line 8, block.factors"]),
        ("[[block]]", "[[block", ["study.toml", "TOML"]),
    ],
)
def test_flaws_name_line_key_and_fix(old: str, new: str, names: list[object], tmp_path: Path) -> None:
    refused(SOUND.replace(old, new, 1), tmp_path, *names)


OTHER_SCALES = """title = "Other scales"
[[block]]
task = "TASK"
items = "items.csv"
BLOCK
"""


@pytest.mark.parametrize(
    ("task", "block", "names"),
    [
        ("choice", 'scale = { labels = ["a", "b", "c"] }', ["line 5, block.scale.labels", "3 labels", "2 answers"]),
        ("choice", 'scale = { labels = ["a", "b"], no_difference = true }', ["2 labels", "3 answers"]),
        ("yes-no", 'scale = { labels = ["a"] }', ["1 label", "2 answers"]),
        ("label", 'scale = { levels = ["a", "b", "c"], labels = ["x", "y"] }', ["2 labels", "3 answers"]),
        ("magnitude", 'scale = { labels = ["a", "b"] }', ["block.scale.labels", 'task = "magnitude"']),
        ("magnitude", 'modulus_sentence = "A measure."', ["modulus_sentence"]),
    ],
)
def test_flaws_of_other_scales(task: str, block: str, names: list[object], tmp_path: Path) -> None:
    refused(OTHER_SCALES.replace("TASK", task).replace("BLOCK", block), tmp_path, *names)


def test_what_the_field_does_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(SOUND)
    field = read_settings(path)[0].field
    assert (field.resume, field.going_back, field.progress, field.completion) == ("continue", False, "line", "both")
    assert field.devices == ["phone", "tablet", "desktop"]


CONTRAST = SOUND + '\n[[contrast]]\nname = "order"\nfactor = "order"\nlevels = ["a", "b"]\n'


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        (
            'levels = ["a", "b"]',
            'levels = ["a", "c"]',
            ["contrast.levels", "c", "order"],
        ),
        (
            'factor = "order"',
            'factor = "oder"',
            ["line 20, contrast.factor", "oder", "order"],
        ),
        ("levels =", 'within = { cas = "x" }\nlevels =', ["line 21, contrast.within", "cas"]),
        ("levels =", 'within = { order = "x" }\nlevels =', ["line 21, contrast.within", "x", "order"]),
    ],
)
def test_flaws_of_contrasts_name_their_line(old: str, new: str, names: list[object], tmp_path: Path) -> None:
    refused(CONTRAST.replace(old, new, 1), tmp_path, *names)


CROSSED = SOUND.replace('order = ["a", "b"]', 'order = ["a", "b"], case = ["x", "y", "z"], age = ["old", "new"]')


@pytest.mark.parametrize(
    ("contrast", "names"),
    [
        ('factors = ["order", "case"]', ["case", "3 levels", "case = [...]"]),
        ('factors = { order = ["a", "b"], case = ["x", "q"] }', ["q", "case"]),
        ('factors = ["order"]', ["contrast.factors", "factor = ..."]),
        ('factors = ["order", "cas"]', ["cas", "case"]),
        ('factors = ["order", "case"]\nlevels = ["a", "b"]', ["contrast.levels", "factor"]),
        ('factors = ["order", "case"]\nweights = { "a, x" = 1, "b, q" = -1 }', ["b, q", "order, case"]),
        ('factor = "case"\nweights = { x = 1, y = -0.5 }', ["contrast.weights"]),
        ('factor = "case"\nweights = { x = 1, y = -1 }\nlevels = ["x", "y"]', ["levels"]),
        ('factor = "case"\nfactors = ["order", "case"]', ["`factor`", "`factors`"]),
        ('factor = "case"\nwithin = { case = "x" }\nweights = { x = 1, y = -1 }', ["contrast.within", "case"]),
    ],
)
def test_flaws_of_interactions_say_what_is_possible(contrast: str, names: list[object], tmp_path: Path) -> None:
    refused(f'{CROSSED}\n[[contrast]]\nname = "both"\n{contrast}\n', tmp_path, *names)


def test_an_interaction_takes_the_levels_of_the_block(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(f'{CROSSED}\n[[contrast]]\nname = "both"\nfactors = ["order", "age"]\nwithin = {{ case = "y" }}\n')
    (found,) = read_settings(path)[0].contrast
    signs = {("a", "old", "y"): 1, ("a", "new", "y"): -1, ("b", "old", "y"): -1, ("b", "new", "y"): 1}
    assert (found.names, found.cells) == (("order", "age", "case"), signs)


def test_all_flaws_are_reported_together(tmp_path: Path) -> None:
    refused(SOUND.replace("language", "langauge").replace("points", "pionts"), tmp_path, "langauge", "pionts")


def test_columns_that_the_order_names_and_the_items_lack(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(SOUND, encoding="utf-8")
    (tmp_path / "items.csv").write_text("item,order,sentence\nt1,a,It rains.\nt1,b,Rains it.\n", encoding="utf-8")
    with pytest.raises(StudyError) as caught:
        load(tmp_path)
    (problem,) = caught.value.problems
    assert (problem.number, problem.column, problem.value) == (11, "order.in_a_row", "status")
    assert "item, order, sentence, function" in problem.fix


def test_not_there_and_not_text(tmp_path: Path) -> None:
    with refuses(karat.KaratError, tmp_path / "study.toml", "karat init"):
        find_study(tmp_path)
    (tmp_path / "study.toml").write_bytes(b"seed = 1\ntitle = \xff")
    with refuses(karat.KaratError, "study.toml", "line 2", "UTF-8"):
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


def test_other_line_ends_within_a_text_are_not_counted() -> None:
    assert toml_lines('title = "a\u2028b"\nseed = 1\n')[("seed",)] == 2


@pytest.mark.slow
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
            text = f"study.toml says {read_settings(path)[0].title}"
        except StudyError as error:
            text = str(error)
        assert text.startswith("study.toml ")


@pytest.mark.parametrize("name", sorted(CRITERIA))
def test_rules_that_are_written_are_read_as_they_were(name: str, tmp_path: Path) -> None:
    settings = criterion_settings(name, {}).model_dump(mode="json")
    rules = {name: {key: value for key, value in settings.items() if value is not None}, "exclude": f"not {name}"}
    path = tmp_path / "rules.toml"
    path.write_text(rules_text(rules), encoding="utf-8")
    assert read_rules(path) == rules


def test_rules_with_any_names_and_texts_are_read_as_they_were(tmp_path: Path) -> None:
    answers = {"mother tongue": ['"Deutsch"', "français, \\u00e9"], "from": ["a\tb"]}
    rules = {"eligibility": {"answers": answers, "same": {}}, "completion": {"at_least": 1e-07}, "exclude": 2}
    path = tmp_path / "rules.toml"
    path.write_text(rules_text(rules), encoding="utf-8")
    assert read_rules(path) == rules


def test_rules_alone_are_no_study(tmp_path: Path) -> None:
    refused("[screening]\ncompletion = {}\n", tmp_path, "--rules")
