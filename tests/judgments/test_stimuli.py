"""What a stimulus is: an item in one condition, and nothing that describes participants, answers or sides."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import karat
from karat.judgments.parts import open_parts, repartition
from karat.judgments.scales import Choice
from karat.judgments.stimuli import Stimuli
from karat.measure import agreement, decisions, stability, strengths
from karat.screen.parted.in_parts import InParts
from karat.simulate import answer_study
from karat.study import load
from karat.study.init import study_from_pairs, write_study
from messages import codes

PAIRS = [(f"t{pair:03}", f"t{pair:03}a", f"t{pair:03}b") for pair in range(1, 151)]


def separated(people: int = 24, items: int = 16, seed: int = 1) -> pl.DataFrame:
    """A Latin square in which everybody rates grammatical versions 5 to 7 and ungrammatical ones 1 to 3."""
    rng = np.random.default_rng(seed)
    rows = []
    for person in range(people):
        for item in range(items):
            good = (person + item) % 2 == 0
            rating = int(rng.integers(5, 8) if good else rng.integers(1, 4))
            version = "grammatical" if good else "ungrammatical"
            rows.append((f"p{person:02}", f"i{item:02}", str(rating), item + 1, "BA"[good], version))
    columns = ["participant", "item", "response", "trial", "set", "version"]
    frame = pl.DataFrame(rows, schema=columns, orient="row").drop("set")
    return frame.with_columns(list=pl.when(pl.col("participant").str.slice(1).cast(pl.Int64) % 2 == 0)
                              .then(pl.lit("A")).otherwise(pl.lit("B")))  # fmt: skip


def of_crowd(judgments: karat.Judgments, folder: Path, parts: int = 3) -> Stimuli:
    """The decision on the same answers in parts."""
    repartition([judgments], folder / "in", parts)
    crowd = InParts(open_parts(folder / "in"), folder / "out")
    return crowd.stimuli()[isinstance(judgments.scale, Choice)]


@pytest.mark.few(1)
@pytest.mark.parametrize("without", [(), ("list",)])
def test_a_factor_that_predicts_all_answers_is_a_condition(without: tuple[str, ...], tmp_path: Path) -> None:
    judgments = karat.Judgments(separated().drop(without), karat.Ordinal(7))
    assert judgments.stimuli().factors == ("version",)
    assert of_crowd(judgments, tmp_path) == judgments.stimuli()
    found = agreement(judgments)
    # Without conditions, alpha is -.03 and the split-half reliability is negative.
    plain = agreement(judgments, conditions=[])
    assert plain.of("Krippendorff's alpha (ordinal)")["estimate"] == pytest.approx(-0.03, abs=0.005)
    assert plain.of("split-half")["estimate"] < -0.5
    assert found.of("Krippendorff's alpha (ordinal)")["estimate"] == pytest.approx(0.777, abs=0.001)
    assert found.of("split-half")["estimate"] == pytest.approx(0.986, abs=0.002)
    assert karat.screen.person_total(judgments).flagged == []
    shown = strengths(judgments)
    assert shown.frame.height == 32
    assert shown.frame["estimate"].max() - shown.frame["estimate"].min() > 5  # type: ignore[operator]


def test_missing_answers_and_uneven_lists_do_not_hide_a_factor() -> None:
    frame = separated().filter(pl.col("participant").is_in(["p01", "p03", "p05", "p07", "p09", "p11"]).not_())
    frame = frame.sample(fraction=0.8, seed=2)
    assert karat.Judgments(frame, karat.Ordinal(7)).stimuli().factors == ("version",)
    assert karat.Judgments(frame.drop("list"), karat.Ordinal(7)).stimuli().factors == ("version",)


def test_what_follows_from_the_answer_is_no_condition(tmp_path: Path) -> None:
    crowd = karat.datasets.load("crowd")
    right = (pl.col("response") == pl.col("expected")).cast(pl.Int64)
    for column in (right, right.cast(pl.String), right == 1):
        judgments = karat.Judgments(crowd.frame.with_columns(correct=column), crowd.scales)
        assert judgments.stimuli().conditions == ()
        assert judgments.stimuli().derived + judgments.stimuli().numbers == ("correct",)
    assert of_crowd(judgments, tmp_path) == judgments.stimuli()
    assert codes(judgments.stimuli().messages) == ["stimuli.derived"]


def test_derived_verdict_depends_on_the_condition_anywhere() -> None:
    # One in ten answers goes against the version, so that right and wrong is not the version itself.
    rng = np.random.default_rng(3)
    frame = separated().with_columns(_slip=pl.Series(rng.random(24 * 16) < 0.1))
    response = pl.col("response").cast(pl.Int64)
    frame = frame.with_columns(response=pl.when("_slip").then(8 - response).otherwise(response).cast(pl.String))
    liked = pl.col("response").cast(pl.Int64) > 4
    correct = liked == (pl.col("version") == "grammatical")
    for table in (frame.with_columns(correct=correct), frame.select(correct.alias("correct"), pl.all())):
        found = karat.Judgments(table.drop("_slip"), karat.Ordinal(7)).stimuli()
        assert (found.factors, found.derived) == (("version",), ("correct",))


def test_a_summary_of_the_answer_is_derived_where_items_differ() -> None:
    rng = np.random.default_rng(4)
    frame = separated().drop("version", "list").with_columns(
        response=pl.Series([str(one) for one in np.where(rng.random(24 * 16) < 0.05, 6, 2)])
    )  # fmt: skip
    frame = frame.with_columns(label=pl.when(pl.col("response") == "6").then(pl.lit("good")).otherwise(pl.lit("bad")))
    assert karat.Judgments(frame, karat.Ordinal(7)).stimuli().derived == ("label",)


def test_columns_on_people_and_measurements() -> None:
    frame = pl.DataFrame({
        "participant": [f"p{n % 8}" for n in range(32)], "item": [f"i{n // 8 % 2}" for n in range(32)],
        "response": [str(n % 2) for n in range(32)], "correct": [n % 2 == 0 for n in range(32)],
        "gender": ["f" if n % 8 < 4 else "m" for n in range(32)], "click": [str(n) for n in range(32)],
        "voice": ["high" if n < 16 else "low" for n in range(32)],
    })  # fmt: skip
    found = karat.Judgments(frame, karat.Binary()).stimuli()
    assert (found.factors, found.people, found.measurements) == (("voice",), ("correct", "gender"), ("click",))
    assert codes(found.messages) == ["stimuli.people", "stimuli.measurements"]


def test_whole_numbers_are_conditions_only_by_design(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    frame = separated().with_columns(
        code=pl.when(pl.col("version") == "grammatical").then(1).otherwise(2),
        replays=pl.Series(rng.integers(0, 3, 24 * 16)),
    )
    # Everybody has an order of their own, so that blocks vary within items.
    orders = np.concatenate([rng.permutation(16) + 1 for _ in range(24)])
    frame = frame.with_columns(trial=pl.Series(orders)).with_columns(block_number=(pl.col("trial") - 1) // 4)
    judgments = karat.Judgments(frame.drop("version"), karat.Ordinal(7))
    found = judgments.stimuli()
    assert (found.factors, found.numbers) == (("code",), ("replays", "block_number"))
    assert codes(found.messages) == ["stimuli.numbers"]
    assert of_crowd(judgments, tmp_path) == found


def test_properties_of_items_and_identifiers_of_stimuli() -> None:
    frame = separated().with_columns(
        construction=pl.when(pl.col("item") < "i08").then(pl.lit("a")).otherwise(pl.lit("b")),
        sentence=pl.col("item") + pl.col("version"),
    )
    found = karat.Judgments(frame, karat.Ordinal(7)).stimuli()
    assert (found.factors, found.identifiers, found.properties) == (("version",), (), ("construction",))
    named = karat.Judgments(frame.drop("version"), karat.Ordinal(7)).stimuli()
    assert (named.factors, named.identifiers) == ((), ("sentence",))


def test_the_decision_stays_with_some_of_the_answers() -> None:
    likert = karat.datasets.load("likert")
    few = likert.without(likert.participants["participant"].to_list()[3:])
    assert few.stimuli() is likert.stimuli()
    fresh = karat.Judgments(few.frame, few.scales)
    assert fresh.stimuli().conditions == few.stimuli().conditions == ("order", "integration")
    again = pickle.loads(pickle.dumps(few))
    assert again.stimuli() == few.stimuli()
    assert again == few


def test_different_pairs_of_an_item_are_different_stimuli() -> None:
    table = {
        "participant": ["p1", "p1", "p2", "p2"], "item": ["i"] * 4, "response": ["left", "right", "right", "right"],
        "left": ["a", "a", "b", "a"], "right": ["b", "c", "a", "c"], "trial": [1, 2, 1, 2],
    }  # fmt: skip
    choices = karat.Judgments(table, karat.Choice())
    assert choices.stimuli().base == ("item", "_first", "_second")
    assert choices.stimuli().number(choices.frame).to_list() == [0, 1, 0, 1]
    assert agreement(choices, samples=0).table()["stimuli"].max() == 2


@pytest.mark.slow
def test_what_depends_on_the_side_is_no_condition(reference: Path, tmp_path: Path) -> None:
    """150 pairs in two sessions; the columns sentence and sentence_2 hold what was shown left and right."""
    folder = tmp_path / "study"
    study_from_pairs(reference / "pairs" / "sentences.csv", folder)
    items = folder / "items.csv"
    # Without the experts' preference, the simulated participants differ from pair to pair.
    pl.read_csv(items, infer_schema=False).drop("status").write_csv(items)
    toml = folder / "study.toml"
    toml.write_text(toml.read_text(encoding="utf-8").replace("[questionnaire]", "[questionnaire]\nsessions = 2"))
    answers = answer_study(load(folder), participants=40, seed=3)
    found = answers.stimuli()
    assert found.shown == ("sentence", "sentence_2")
    assert found.conditions == ()
    # With the sentence as a condition, this was 12, 17 and 121, and test-retest was of 299 stimuli.
    decided = decisions(answers, PAIRS)
    assert decided.counts == decisions(answers, PAIRS, conditions=[]).counts
    assert sum(decided.counts.values()) == 150
    assert "stimuli.shown" in codes(decided.notes)
    again = stability(answers, samples=10).comparisons
    assert again.equals(stability(answers, conditions=[], samples=10).comparisons)
    assert again["n"].to_list() == [150, 150]
    assert again.filter(pl.col("measure") == "Pearson")["estimate"].item() > 0.8


def test_what_depends_on_the_side_and_a_factor_is_no_condition(tmp_path: Path) -> None:
    """Each pair is shown with one of two articles, so that the sentence on the left varies with both."""
    write_study(tmp_path / "study", "choice", "en")
    answers = answer_study(load(tmp_path / "study"), participants=16, seed=1)
    found = answers.stimuli()
    assert (found.factors, found.identifiers, found.shown) == (("article",), (), ("sentence", "sentence_2"))
    pairs = answers.frame.filter(pl.col("function") == "test").select("item", "article").n_unique()
    assert strengths(answers, prior_sd=1).table().height == 2 * pairs


def rated_once(columns: dict[str, list[str]]) -> karat.Judgments:
    """Items that are named with all their conditions, so that every column is a property of items."""
    rows = pl.DataFrame(columns).unique(maintain_order=True).with_row_index("n")
    items = rows.with_columns(pl.format("i{}", "n").alias("item")).drop("n")
    people = pl.DataFrame({"participant": ["p1", "p2", "p3"], "rest": [1, 2, 3]})
    both = people.join(items, how="cross").with_columns(response=(pl.int_range(pl.len()) * 7 % 5 + 1).cast(pl.String))
    return karat.Judgments(both.drop("rest"), karat.Ordinal(5))


def test_the_factors_are_the_crossed_columns_with_few_levels() -> None:
    n = 24
    columns = {
        "variable": [f"v{k % 2}" for k in range(n)],
        "Unnamed: 0": [str(k) for k in range(n)],
        "zscores": [str(k / 7) for k in range(n)],
        "stim_id": [str(k % 6) for k in range(n)],
        "sentence": [f"The cat number {k} sat on the mat" for k in range(n)],
        "structure": ["island" if k % 2 else "non" for k in range(n)],
        "verb": [f"verb{k % 12}" for k in range(n)],
        "distance": ["long" if k // 2 % 2 else "short" for k in range(n)],
    }
    assert rated_once(columns).factors() == ["structure", "distance"]


def test_condition_column_is_the_design_or_its_parts() -> None:
    case = ["nom", "gen"] * 8
    number = ["sg", "sg", "pl", "pl"] * 4
    other = ["a", "a", "a", "a", "b", "b", "b", "b"] * 2
    text = [f"w{k}" for k in range(16)]
    whole = [f"{c}-{n}" for c, n in zip(case, number, strict=True)]
    both = {"text": text, "other": other, "condition": whole, "case": case, "number": number}
    assert rated_once(both).factors() == ["case", "number"]
    coarse = {"text": text, "case": case, "sent_type": whole}
    assert rated_once(coarse).factors() == ["sent_type"]


def test_gaps_in_a_factor_and_words_for_nothing() -> None:
    distance = ["long", "short"] * 8 + ["N/A"] * 8
    structure = ["island", "island", "non", "non"] * 4 + ["all"] * 8
    design = [f"d{k % 5}" for k in range(16)] + ["ce"] * 8
    text = [f"w{k}" for k in range(24)]
    assert rated_once({"text": text, "subdesign": design, "structure": structure, "distance": distance}).factors() == [
        "structure", "distance",
    ]  # fmt: skip


def test_null_is_a_level_beside_another_one() -> None:
    rows = pl.DataFrame([(f"i{n % 8}", ("that", "null")[n // 8 % 2]) for n in range(32)], ["item", "complementizer"],
                        orient="row")  # fmt: skip
    assert Stimuli(factors=("complementizer",)).effects(rows) == ["complementizer"]
    rare = rows.with_columns(pl.Series("complementizer", ["null", *["that"] * 31]))
    assert Stimuli(factors=("complementizer",)).effects(rare) == []


def test_numbered_blocks_are_no_factor() -> None:
    blocks = ["trial_1", "trial_2"]
    rows = [(f"p{p}", f"i{n}", (p + n) % 2, blocks[n % 2], "ab"[(p + n) % 2]) for p in range(6) for n in range(8)]
    columns = dict(
        zip(("participant", "item", "response", "slide_type", "version"), zip(*rows, strict=True), strict=True)
    )
    assert "slide_type" not in karat.Judgments(columns, karat.Binary()).factors()
