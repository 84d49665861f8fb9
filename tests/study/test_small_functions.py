"""Small functions that many parts of a study use: words, names, numbers and what they mean."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from karat.judgments.columns import meant
from karat.judgments.scales import Magnitude, Nominal, Ordinal, Scale
from karat.messages import Message
from karat.study.block_keys import BlockKeys, ScaleSettings
from karat.study.check.controls import is_verified
from karat.study.check.draft import degree
from karat.study.check.texts import judgment_mark, mixed_form, stray_space
from karat.study.criteria import is_built_in, title_of
from karat.study.designs.balance import fair_draws, split_advice
from karat.study.designs.factorial import answer_family, largest_formula, spelled
from karat.study.file import with_table
from karat.study.guessing import as_whole_numbers, guessing_weights
from karat.study.init import language_for, language_seen
from karat.study.item_sheets import CrossedFactors, function_of
from karat.study.items import function_meant, like_functions, own_name, renaming
from karat.study.questionnaire import halved
from karat.study.settings import ContrastSettings, RecruitmentSettings
from karat.study.size import price_list, size, study_cost
from karat.study.tasks import instead_of


@pytest.mark.parametrize(
    ("name", "function"), [("fillers", "filler"), ("practice2", "practice"), ("island", None), ("filer", "filler")]
)
def test_names_of_parts_mean_functions(name: str, function: str | None) -> None:
    assert function_of(name) == function


def test_words_mean_functions_and_columns() -> None:
    assert [function_meant(word) for word in ("Critical", "filer", "yes")] == ["test", "filler", None]
    assert own_name("item", ["Nr", "Type", "Text"]) == "Nr"
    assert own_name("condition", ["Nr", "Text"]) is None
    assert "nr" in renaming("item", ["nr", "Text"])
    assert "itme" in renaming("item", ["itme", "x"]).partition("?")[0]
    assert like_functions(pl.DataFrame({"item": ["1", "2"], "role": ["critical", "Filler"]}), ["item"]) == "role"
    assert "likert" in meant("lickert", ["yes-no", "likert"])
    assert "yes-no" not in meant("lickert", ["yes-no", "likert"])


def test_tasks_of_other_names_are_known() -> None:
    assert "choice" in (instead_of("forced choice") or "")
    assert "likert" in (instead_of("audio") or "")
    assert instead_of("telepathy") is None


@pytest.mark.parametrize(
    ("text", "verified"),
    [("yes", True), ("2026-03, norming study", True), ("no", False), ("not in 2026", False), (None, False)],
)
def test_cells_say_whether_a_stimulus_was_verified(text: str | None, verified: bool) -> None:
    assert is_verified(text) == verified


def test_texts_with_something_odd() -> None:
    assert stray_space("The  cat sleeps.")
    assert "." in (stray_space("The cat sleeps .") or "")
    assert stray_space("The cat sleeps.") is None
    assert [judgment_mark(text) for text in ("*Sleeps the cat.", "??The cat sleep.", "#1 is here.")] == [
        "*",
        "??",
        None,
    ]
    assert "ö" in (mixed_form("scho\u0308n") or "")
    assert mixed_form("schön") is None
    assert "Cyrillic" in (mixed_form("c\u0430t") or "")


def test_degrees_of_acceptability() -> None:
    found = [degree(Ordinal(5), *said) for said in (("2", None), (None, "marked"), (None, None), ("high", None))]
    assert found == ["low", "mid", None, "high"]


@pytest.mark.parametrize(
    ("scale", "family"), [(Ordinal(5), "ordinal"), (Magnitude(), "gaussian"), (Nominal(["a", "b", "c"]), None)]
)
def test_scales_have_families_of_models(scale: Scale, family: str | None) -> None:
    assert answer_family(scale) == family


def test_the_largest_formula_of_a_crossed_factor() -> None:
    who, what = [n // 8 for n in range(48)], [n % 8 for n in range(48)]
    order = [str((one + other) % 2) for one, other in zip(who, what, strict=True)]
    rows = pl.DataFrame({"participant": who, "item": what, "order": order})
    formula = "response ~ order + (1 + order | participant) + (1 + order | item)"
    assert largest_formula(rows, ["order"]).text == formula


def test_conditions_and_contrasts_in_words() -> None:
    assert spelled(["order", "case"], ["SO", "marked"]) == "order = SO, case = marked"
    contrast = ContrastSettings(name="x", factors={"a": ["1", "2"], "b": ["u", "v"]})
    assert contrast.sides_by("bei") == ("(1 − 2) bei u", "(1 − 2) bei v")
    found = CrossedFactors({"condition": ("OS", "SO")}, {}, compared="condition")
    assert CrossedFactors({"order": ("SO", "OS")}, {}).with_compared(found).compared == "order"


def test_draws_are_fair_and_halves_share_pairs() -> None:
    drawn = fair_draws(3, 2, 3, np.random.default_rng(1))
    assert sorted(thing for own in drawn for thing in own) == [0, 0, 1, 1, 2, 2]
    trials = pl.DataFrame({"function": ["test"] * 4, "pair": ["1", "1", "2", "2"]})
    halves = halved(trials, "pair", np.random.default_rng(1))
    assert [sorted(trials[half]["pair"]) for half in halves] == [["1", "2"]] * 2


def test_advice_is_told_from_what_is_wrong() -> None:
    advice = Message("design.add_test_items")
    assert split_advice(Message("design.no_test_items", {"advice": advice})) == (
        Message("design.no_test_items", {}), advice,
    )  # fmt: skip


def test_tables_of_a_study_file_are_replaced() -> None:
    text = with_table('title = "Rain"\n\n[power]\nitems = 8\n', "power", {"items": 12})
    assert text == 'title = "Rain"\n\n[power]\nitems = 12\n'


def test_weights_of_guessing_are_whole_numbers() -> None:
    assert guessing_weights(5) == (1, 1, 1, 1, 1)
    assert guessing_weights(3, [0.25, 0.5, 0.25]) == (1, 2, 1)
    assert as_whole_numbers([Fraction(1, 2), Fraction(1, 3)]) == (3, 2)


def test_languages_are_seen_by_their_words() -> None:
    german = ["Ich weiß, dass sie nicht mit dem Zug kam."]
    assert language_seen(["Wir haben Karl mit Maria gesehen.", "Diese Bücher hatte Peter bei uns."]) == "de"
    assert (language_seen(german), language_seen(["Jeg tror at han kom."])) == ("de", None)
    assert "--language de" in language_for(german, "en")[1][0]
    assert language_for(german, "de") == ("de", [])
    assert language_for(german, None)[0] == "de"
    assert language_for(["Jeg tror at han kom."], None) == ("en", [])


def test_prices_at_a_date() -> None:
    found = [price_list("mturk", date) for date in ("", "2014-11-03", "1999")]
    assert [None if one is None else one.fee for one in found] == [0.4, 0.1, None]
    cost = study_cost(RecruitmentSettings(platform="mturk", hourly_pay=12, minutes=10), 11)
    assert cost is not None
    assert cost.values["cost"] == 100.8
    trials = [("test", 24), ("calibration", 6), ("control", 10), ("attention", 6), ("filler", 26)]
    assert size("2x2").table().select("function", "trials").rows() == trials


def test_points_showings_and_names() -> None:
    assert ScaleSettings(labels=["bad", "so-so", "good"]).points_or(5) == 3
    assert BlockKeys(task="likert", items=["items.csv"], repeated_items=4).showings(40) == 44
    assert (is_built_in("remfod"), is_built_in("alternating")) == (True, False)
    assert title_of("alternating") == "alternating" != title_of("scale_use") != "scale_use"
