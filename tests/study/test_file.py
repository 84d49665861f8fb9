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


def complaint(text: str, tmp_path: Path) -> str:
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
    assert settings.screening.criteria["remfod"].model_dump()["rule"] == "remfod"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("language", "langauge", "line 2, langauge: is not a key of this table. Did you mean language?"),
        ("points = 5", "pionts = 5", "line 7, block.scale.pionts: is not a key of this table. Did you mean points?"),
        ('title = "Word order"\n', "", "title: is missing. Add title = ..."),
        ('"likert"', '"lickert"', 'line 5, block.task: "lickert" is not one of yes-no, likert'),
        ('"likert"', '"lickert"', "differential, label. Did you mean likert?"),
        ("points = 5", "points = 1", 'line 7, block.scale.points: "1" is too small. Write 2 or more.'),
        ("points = 5", 'points = "five"', 'line 7, block.scale.points: "five" is not a whole number.'),
        (
            "points = 5",
            'points = 7, labels = ["a", "b", "c"]',
            "line 7, block.scale.labels: has 3 labels for 7 points.",
        ),
        ("points = 5", "no_difference = true", 'line 7, block.scale.no_difference: has no say in task = "likert".'),
        ("scale = {", "per_page = 4\nscale = {", 'line 7, block.per_page: has no say in task = "likert"'),
        ("scale = {", 'modulus_sentence = "x"\nscale = {', "line 7, block.modulus_sentence: has no say in"),
        (
            '"likert"\n',
            '"yes-no"\nprompt = "?"\n',
            'line 8, block.scale.points: has no say in task = "yes-no". Its scale has levels, labels.',
        ),
        (
            "[order]",
            "[field]\nsend_ahead = 30\n[order]",
            'line 11, field.send_ahead: "30" is too large. Write 20 or less.',
        ),
        (
            "[order]",
            '[field]\nresume = "retry"\n[order]',
            'line 11, field.resume: "retry" is not one of continue, restart',
        ),
        ("[order]", "[field]\ndevices = []\n[order]", "line 11, field.devices: has too few entries. Write 1 or more."),
        ("points = 5", "neutral = 6", 'line 7, block.scale.neutral: "6" is not a point of the scale. Write 1 to 5'),
        ("points = 5", "modulus = 5", 'line 7, block.scale.modulus: has no say in task = "likert".'),
        ("scale = {", "repeated_questions = 2\nscale = {", "line 7, block.repeated_questions: has no say in"),
        ("scale = {", 'compared = "order"\nscale = {', 'line 7, block.compared: has no say in task = "likert"'),
        ("scale = {", "subset = { per_participant = 2, ratings = 2 }\nscale = {", "line 7, block.subset: shows each"),
        ('["a", "b"]', '"a"', 'line 8, block.factors.order: "a" is not a list of levels. Write ["a", ...].'),
        ("[order]", 'spread = ["x"]\n[order]', "line 10, block.spread: is not a key of this table"),
        (
            "in_a_row",
            'spread = ["contrl"]\nin_a_row',
            'line 11, order.spread: "contrl" is not an item function. Did you mean con',
        ),
        ("status = 3", "status = 0", 'line 11, order.in_a_row.status: "0" is too small. Write 1 or more.'),
        (
            "remfod",
            "remofd",
            "line 15, screening.remofd: there is no screening criterion 'remofd'. Did you mean remfod?",
        ),
        ("at_least = 0.9", "atleast = 0.9", "line 14, screening.completion: the criterion completion has no setting "),
        ("at_least = 0.9", "at_least = 90", 'line 14, screening.completion.at_least: "90" is too large. Write 1 or le'),
        ('exclude = "any"', 'exclude = "remfod and quiz"', "line 16, screening.exclude: exclude names 'quiz', which"),
        ('exclude = "any"', "exclude = 3", "exclude = 3, but 2 criteria are stated. Write 1 to 2, "),
        (
            'exclude = "any"',
            "exclude = 0",
            "line 16, screening.exclude: exclude = 0, but 2 criteria are stated. Write",
        ),
        (
            'exclude = "any"',
            'exclude = ["x"]',
            "screening.exclude: is neither a rule nor a number of criteria. Write a",
        ),
        (
            'exclude = "any"',
            "exclude = true",
            '"True" is neither a rule nor a number of criteria. Write a number',
        ),
        ('exclude = "any"', 'exclude = "__import__()"', "only names of criteria"),
        ('items = "items.csv"\n', "", "a block needs items = ..."),
        ('["a", "b"]', '["a", "a"]', "a level occurs twice"),
        ("[[block]]", "[[block", "is not TOML"),
    ],
)
def test_flaws_name_line_key_and_fix(old: str, new: str, sentence: str, tmp_path: Path) -> None:
    assert sentence in complaint(SOUND.replace(old, new, 1), tmp_path)


OTHER_SCALES = """title = "Other scales"
[[block]]
task = "TASK"
items = "items.csv"
BLOCK
"""


@pytest.mark.parametrize(
    ("task", "block", "sentence"),
    [
        ("choice", 'scale = { labels = ["a", "b", "c"] }', "line 5, block.scale.labels: has 3 labels for 2 answers."),
        ("choice", 'scale = { labels = ["a", "b"], no_difference = true }', "has 2 labels for 3 answers."),
        ("yes-no", 'scale = { labels = ["a"] }', "has 1 label for 2 answers. Write one for each answer."),
        ("label", 'scale = { levels = ["a", "b", "c"], labels = ["x", "y"] }', "has 2 labels for 3 answers."),
        ("magnitude", 'scale = { labels = ["a", "b"] }', 'block.scale.labels: has no say in task = "magnitude".'),
        ("magnitude", 'modulus_sentence = "A measure."', "a modulus_sentence needs its number"),
    ],
)
def test_flaws_of_other_scales(task: str, block: str, sentence: str, tmp_path: Path) -> None:
    assert sentence in complaint(OTHER_SCALES.replace("TASK", task).replace("BLOCK", block), tmp_path)


def test_what_the_field_does_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(SOUND)
    field = read_settings(path)[0].field
    assert (field.resume, field.going_back, field.progress, field.completion) == ("continue", False, "line", "both")
    assert field.devices == ["phone", "tablet", "desktop"]


CONTRAST = SOUND + '\n[[contrast]]\nname = "order"\nfactor = "order"\nlevels = ["a", "b"]\n'


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            'levels = ["a", "b"]',
            'levels = ["a", "c"]',
            'contrast.levels: "c" is not a level of order. Use one of',
        ),
        (
            'factor = "order"',
            'factor = "oder"',
            'line 20, contrast.factor: "oder" is not a factor. Did you mean order?',
        ),
        ("levels =", 'within = { cas = "x" }\nlevels =', 'line 21, contrast.within: "cas" is not a factor.'),
        ("levels =", 'within = { order = "x" }\nlevels =', 'line 21, contrast.within: "x" is not a level of order.'),
    ],
)
def test_flaws_of_contrasts_name_their_line(old: str, new: str, sentence: str, tmp_path: Path) -> None:
    assert sentence in complaint(CONTRAST.replace(old, new, 1), tmp_path)


CROSSED = SOUND.replace('order = ["a", "b"]', 'order = ["a", "b"], case = ["x", "y", "z"], age = ["old", "new"]')


@pytest.mark.parametrize(
    ("contrast", "sentence"),
    [
        ('factors = ["order", "case"]', "case has 3 levels. Name two: case = [...]"),
        ('factors = { order = ["a", "b"], case = ["x", "q"] }', '"q" is not a level of case'),
        ('factors = ["order"]', "names one factor, but an interaction has two or more. Write factor = ..."),
        ('factors = ["order", "cas"]', '"cas" is not a factor. Did you mean case?'),
        ('factors = ["order", "case"]\nlevels = ["a", "b"]', "belongs to `factor`."),
        ('factors = ["order", "case"]\nweights = { "a, x" = 1, "b, q" = -1 }', '"b, q" is not a cell of order, case.'),
        ('factor = "case"\nweights = { x = 1, y = -0.5 }', "must sum to zero, and not all be zero"),
        ('factor = "case"\nweights = { x = 1, y = -1 }\nlevels = ["x", "y"]', "take the place of levels"),
        ('factor = "case"\nfactors = ["order", "case"]', "needs `factor`, or `factors` for an interaction"),
        ('factor = "case"\nwithin = { case = "x" }\nweights = { x = 1, y = -1 }', "names case, which is compared"),
    ],
)
def test_flaws_of_interactions_say_what_is_possible(contrast: str, sentence: str, tmp_path: Path) -> None:
    assert sentence in complaint(f'{CROSSED}\n[[contrast]]\nname = "both"\n{contrast}\n', tmp_path)


def test_an_interaction_takes_the_levels_of_the_block(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(f'{CROSSED}\n[[contrast]]\nname = "both"\nfactors = ["order", "age"]\nwithin = {{ case = "y" }}\n')
    (found,) = read_settings(path)[0].contrast
    signs = {("a", "old", "y"): 1, ("a", "new", "y"): -1, ("b", "old", "y"): -1, ("b", "new", "y"): 1}
    assert (found.names, found.cells) == (("order", "age", "case"), signs)


def test_all_flaws_are_reported_together(tmp_path: Path) -> None:
    text = complaint(SOUND.replace("language", "langauge").replace("points", "pionts"), tmp_path)
    assert "langauge" in text
    assert "pionts" in text


def test_columns_that_the_order_names_and_the_items_lack(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(SOUND, encoding="utf-8")
    (tmp_path / "items.csv").write_text("item,order,sentence\nt1,a,It rains.\nt1,b,Rains it.\n", encoding="utf-8")
    with pytest.raises(StudyError) as caught:
        load(tmp_path)
    assert str(caught.value) == (
        "study.toml and its items do not fit together:\n"
        '  line 11, order.in_a_row: "status" is not a column of the items. Take status out of in_a_row, or add the '
        "column. Use one of: item, order, sentence, function."
    )


def test_not_there_and_not_text(tmp_path: Path) -> None:
    with pytest.raises(karat.KaratError, match="There is no study file"):
        find_study(tmp_path)
    (tmp_path / "study.toml").write_bytes(b"seed = 1\ntitle = \xff")
    with pytest.raises(karat.KaratError, match="not UTF-8 text: see line 2"):
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
    assert "karat screen, report or archive as --rules" in complaint("[screening]\ncompletion = {}\n", tmp_path)
