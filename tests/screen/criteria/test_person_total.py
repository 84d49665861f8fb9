"""Person-total correlation: with the others, never with oneself."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
import strategies
from karat.judgments.message_tables import with_reasons
from karat.messages import Message
from karat.screen.criteria.completion import completion
from karat.screen.criteria.even_odd import even_odd
from karat.screen.criteria.mahalanobis import mahalanobis
from karat.screen.criteria.person_total import person_total
from karat.screen.criteria.speed import speed
from karat.screen.evidence import ScreenError
from messages import codes, raises
from screen.judged import message


def judgments(answers: dict[str, dict[str, Any]], scale: Any, **columns: Any) -> karat.Judgments:
    """The answers of each participant by item."""
    rows = [
        {"participant": name, "item": item, "response": str(answer), "trial": n}
        for name, own in answers.items()
        for n, (item, answer) in enumerate(own.items(), start=1)
    ]
    return karat.Judgments(pl.DataFrame(rows).with_columns(**columns), scale)


def by_loops(answers: dict[str, dict[str, int]], name: str) -> tuple[float | None, int]:
    pairs = []
    for item, answer in answers[name].items():
        others = [own[item] for other, own in answers.items() if other != name and item in own]
        if len(others) >= 2:
            pairs.append((answer, sum(others) / len(others)))
    n = len(pairs)
    if n < 5:
        return None, n
    a, b = sum(x for x, _ in pairs) / n, sum(y for _, y in pairs) / n
    sxx, syy = sum((x - a) ** 2 for x, _ in pairs), sum((y - b) ** 2 for _, y in pairs)
    if sxx < 1e-12 or syy < 1e-12:
        return None, n
    return sum((x - a) * (y - b) for x, y in pairs) / sqrt(sxx * syy), n


ITEMS = [f"i{n}" for n in range(8)]
OWN = st.lists(st.one_of(st.integers(1, 5), st.integers(1, 5), st.none()), min_size=8, max_size=8).map(
    lambda answers: {item: answer for item, answer in zip(ITEMS, answers, strict=True) if answer} or {"i0": 3}
)


@pytest.mark.slow
@settings(max_examples=50)
@given(st.lists(OWN, min_size=1, max_size=7))
def test_the_score_by_loops_in_incomplete_designs(people: list[dict[str, int]]) -> None:
    answers = {f"p{n}": own for n, own in enumerate(people)}
    known = {name: by_loops(answers, name) for name in answers}
    if max(count for _, count in known.values()) < 5:
        with raises(ScreenError, "person_total.few_stimuli"):
            person_total(judgments(answers, karat.Ordinal(5)))
        return
    evidence = person_total(judgments(answers, karat.Ordinal(5)))
    for row in evidence.participants.iter_rows(named=True):
        score, count = known[row["participant"]]
        assert row["stimuli"] == count
        assert row["score"] == (None if score is None else pytest.approx(score, abs=1e-9))
        assert not row["flagged"] or row["score"] < 0


def latin_square(people: int, items: int, guessers: int) -> karat.Judgments:
    """Each participant sees one of two versions of each item; good in the one list is bad in the other."""
    rng = np.random.default_rng(3)
    rows = []
    for p in range(people):
        for n, item in enumerate(rng.permutation(items), start=1):
            version = (p + int(item)) % 2
            answer = rng.integers(1, 6) if p < guessers else np.clip(round(2 + 2 * version + rng.normal(0, 0.7)), 1, 5)
            rows.append((f"p{p}", f"i{item}", str(int(answer)), n, f"v{version}"))
    frame = pl.DataFrame(rows, schema=["participant", "item", "response", "trial", "version"], orient="row")
    return karat.Judgments(frame, karat.Ordinal(5))


def test_a_latin_square_compares_the_same_version() -> None:
    evidence = person_total(latin_square(20, 80, 4), at_least=0.4)
    assert evidence.flagged == ["p0", "p1", "p2", "p3"]
    row = evidence.participants.row(19, named=True)
    assert (row["stimuli"], row["others"]) == (80, 9.0)
    assert row["score"] > 0.7
    blurred = karat.Judgments(latin_square(20, 24, 4).frame.drop("version"), karat.Ordinal(5))
    assert person_total(blurred).participants["score"][19] < 0.4


def test_nobody_is_flagged_where_nobody_agrees() -> None:
    """Of many participants whose answers have nothing in common, some correlate clearly below 0 by chance."""
    random = np.random.default_rng(3)
    ratings = {f"p{who}": {f"s{place}": int(random.integers(1, 8)) for place in range(12)} for who in range(400)}
    evidence = person_total(judgments(ratings, karat.Ordinal(7)))
    assert (evidence.flagged, [note.code for note in evidence.notes]) == ([], ["person_total.no_agreement"])


def test_few_answers_do_not_show_that_a_score_is_low() -> None:
    """Seven labels, or all labels the same but one, in a crowd that agrees fairly well."""
    truth = {f"s{n:02d}": n % 2 for n in range(60)}
    crowd = {
        f"p{p}": {
            item: 1 - right if (n * 7 + p * 3) % 10 < 3 else right for n, (item, right) in enumerate(truth.items())
        }
        for p in range(10)
    }
    no, yes = ([item for item, right in truth.items() if right == one] for one in (0, 1))
    crowd["short"] = dict(zip(no[:3] + yes[:4], [0, 1, 1, 0, 0, 1, 1], strict=True))
    crowd["lone"] = dict.fromkeys(truth, 0) | {no[0]: 1}
    crowd["turned"] = {item: 1 - right for item, right in truth.items()}
    evidence = person_total(judgments(crowd, karat.Nominal(["0", "1"])))
    found = {row["participant"]: (row["score"] < 0, message(row)[0]) for row in evidence.participants.to_dicts()}
    assert evidence.flagged == ["turned"]
    assert found["short"] == (True, "person_total.unclear")
    assert found["lone"] == (True, "person_total.lone")


def test_a_measured_column_is_no_condition() -> None:
    read = latin_square(20, 80, 4)
    clicks = np.random.default_rng(1).integers(0, 10_000, len(read))
    frame = read.frame.with_columns(clicks=pl.Series(clicks), pace=pl.Series(clicks / 7))
    evidence = person_total(karat.Judgments(frame, karat.Ordinal(5)), at_least=0.4)
    assert evidence.flagged == ["p0", "p1", "p2", "p3"]
    assert evidence.notes[0] == Message("stimuli.numbers", {"names": ("clicks",)})


def test_the_words_for_every_case() -> None:
    answers = {f"p{n}": {item: 1 + (k + (n == 1)) % 5 for k, item in enumerate(ITEMS)} for n in range(4)}
    answers["same"] = dict.fromkeys(ITEMS, 4)
    answers["turned"] = {item: 5 - k % 5 for k, item in enumerate(ITEMS)}
    answers["few"] = {"i0": 1, "z": 2}
    evidence = person_total(judgments(answers, karat.Ordinal(5)))
    rows = {row["participant"]: row for row in evidence.participants.to_dicts()}
    assert message(rows["same"]) == ("person_total.same", {"stimuli": 8})
    assert message(rows["few"]) == ("person_total.few", {"stimuli": 1, "fewest_others": 2, "fewest": 5})
    assert evidence.flagged == ["turned"]
    turned = {"score": round(rows["turned"]["score"], 2), "stimuli": 8, "others": 5.1}
    assert message(rows["turned"]) == ("person_total.correlation", turned)
    reasons = dict(with_reasons(evidence.participants).select("participant", "reason").iter_rows())
    assert reasons["turned"].endswith("with those of the others (8 stimuli, 5.1 others each)")
    assert evidence.participants["participant"].to_list() == list(answers)
    assert evidence.notes == (Message("answers.no_score", {"n": 2}),)


def test_everybody_identical_or_alone() -> None:
    alike = {f"p{n}": dict.fromkeys(ITEMS, 3) for n in range(4)}
    evidence = person_total(judgments(alike, karat.Ordinal(5)))
    assert evidence.participants["score"].null_count() == 4
    assert evidence.flagged == []
    same = {f"p{n}": {item: 1 + k % 5 for k, item in enumerate(ITEMS)} for n in range(4)}
    assert person_total(judgments(same, karat.Ordinal(5))).participants["score"].to_list() == pytest.approx([1.0] * 4)
    flat = dict.fromkeys(ITEMS, 3)
    odd = {"p0": {item: 1 + k % 5 for k, item in enumerate(ITEMS)}, "p1": flat, "p2": flat, "p3": flat}
    first = person_total(judgments(odd, karat.Ordinal(5))).participants.row(0, named=True)
    assert message(first) == ("person_total.others_same", {"stimuli": 8})
    with raises(ScreenError, "person_total.few_stimuli"):
        person_total(judgments({"p1": dict.fromkeys(ITEMS, 3)}, karat.Ordinal(5)))
    with raises(ScreenError, "answering.nobody"):
        person_total(judgments(same, karat.Ordinal(5), function=pl.lit("practice")))
    with raises(ScreenError, "setting.refused", setting="at_least"):
        person_total(judgments(same, karat.Ordinal(5)), at_least=1.5)


def test_nominal_answers_with_two_categories_are_as_binary_ones() -> None:
    rng = np.random.default_rng(8)
    answers = {f"p{n}": {f"i{k}": int(rng.random() < (0.2 + 0.6 * (k % 2))) for k in range(20)} for n in range(9)}
    binary = person_total(judgments(answers, karat.Binary())).participants
    nominal = person_total(judgments(answers, karat.Nominal(["0", "1"]))).participants
    assert nominal["score"].to_list() == pytest.approx(binary["score"].to_list())
    assert nominal["stimuli"].to_list() == binary["stimuli"].to_list() == [20] * 9
    assert nominal["others"].to_list() == binary["others"].to_list()


def test_nominal_answers_of_three_categories_by_loops() -> None:
    rng = np.random.default_rng(9)
    answers = {f"p{n}": {f"i{k}": "ABC"[k % 3 if rng.random() < 0.6 else 0] for k in range(12)} for n in range(6)}
    found = person_total(judgments(answers, karat.Nominal(["A", "B", "C"]))).participants["score"][0]
    sxy = sxx = syy = 0.0
    for level in "ABC":
        own = [float(answers["p0"][f"i{k}"] == level) for k in range(12)]
        rest = [sum(answers[f"p{n}"][f"i{k}"] == level for n in range(1, 6)) / 5 for k in range(12)]
        dx, dy = [x - sum(own) / 12 for x in own], [y - sum(rest) / 12 for y in rest]
        sxy += sum(x * y for x, y in zip(dx, dy, strict=True))
        sxx, syy = sxx + sum(x * x for x in dx), syy + sum(y * y for y in dy)
    assert found == pytest.approx(sxy / sqrt(sxx * syy))


def choices(people: int, guessers: int, seed: int) -> pl.DataFrame:
    """The better one of each pair stands on a side of its own for each participant."""
    rng = np.random.default_rng(seed)
    rows = []
    for p in range(people):
        for n in range(30):
            good, bad = f"x{n}", f"a{n}"
            left, right = (good, bad) if rng.random() < 0.5 else (bad, good)
            chosen = good if rng.random() < (0.5 if p < guessers else 0.9) else bad
            rows.append((f"p{p}", left, right, chosen, n + 1))
    return pl.DataFrame(rows, schema=["participant", "left", "right", "response", "trial"], orient="row")


def test_choices_count_the_item_and_not_its_side() -> None:
    frame = choices(12, 2, 4)
    evidence = person_total(karat.Judgments(frame, karat.Choice()), at_least=0.5)
    assert evidence.flagged == ["p0", "p1"]
    renamed = frame.with_columns(pl.col("left", "right", "response").str.replace("^x", "0x"))
    again = person_total(karat.Judgments(renamed, karat.Choice()), at_least=0.5)
    assert again.participants["score"].to_list() == pytest.approx(evidence.participants["score"].to_list())
    own = frame.filter(pl.col("participant") == "p5").select("left", "right", "response").rows()
    products = squares = 0.0
    for left, right, chosen in own:
        first, second = sorted((left, right))
        pair = pl.col("left").is_in([first, second]) & (pl.col("participant") != "p5")
        others = frame.filter(pair)["response"].to_list()
        mean = sum(1 if other == first else -1 for other in others) / len(others)
        products += mean * (1 if chosen == first else -1)
        squares += mean * mean
    assert evidence.participants["score"][5] == pytest.approx(products / sqrt(len(own) * squares))


def test_choices_without_named_items_and_mixed_tasks() -> None:
    sides = {f"p{n}": {f"i{k}": "left" if k % 3 else "right" for k in range(6)} for n in range(4)}
    assert person_total(judgments(sides, karat.Choice())).participants["score"].to_list() == pytest.approx([1.0] * 4)
    ratings = {f"p{n}": {f"r{k}": k + 1 for k in range(5)} for n in range(4)}
    frame = pl.concat([
        judgments(sides, karat.Choice(), question=pl.lit("which")).frame,
        judgments(ratings, karat.Ordinal(5), question=pl.lit("how"), trial=pl.col("trial") + 6).frame,
    ])  # fmt: skip
    evidence = person_total(karat.Judgments(frame, {"which": karat.Choice(), "how": karat.Ordinal(5)}))
    assert evidence.participants["stimuli"].to_list() == [6] * 4
    assert codes(evidence.notes) == ["person_total.left_out"]
    assert evidence.notes[0].values["kind"] == "choice"


def test_guessers_in_the_example_data_are_last() -> None:
    for name, clear in (("likert", 0.5), ("crowd", 0.25)):
        read = karat.datasets.load(name)
        kinds = dict(read.participants.select("participant", "behaviour").iter_rows())
        for row in person_total(read).participants.iter_rows(named=True):
            if kinds[row["participant"]] in ("cooperative", "attentive"):
                assert row["score"] > clear
            elif kinds[row["participant"]] in ("guesser", "rusher"):
                assert row["score"] < clear


@pytest.mark.slow
@settings(max_examples=40)
@given(strategies.judgments())
def test_nobody_is_lost_whatever_the_table(read: karat.Judgments) -> None:
    """Every criterion over whole records has a row with a reason for everybody, or says why it cannot run."""
    people = read.frame["participant"].unique(maintain_order=True).to_list()
    for criterion in (person_total, even_odd, mahalanobis, completion, speed):
        try:
            evidence = criterion(read)
        except karat.KaratError as error:
            text = str(error)
        else:
            reasons = with_reasons(evidence.participants)["reason"]
            text = "".join(reasons)
            assert set(people) <= set(evidence.participants["participant"])
            assert evidence.participants["participant"].is_unique().all()
            assert evidence.participants["flagged"].null_count() == reasons.null_count() == 0
        assert text


def camps(seed: int) -> karat.Judgments:
    """Six of 24 people prefer what the others dislike; the first two, one of each camp, guess."""
    random = np.random.default_rng(seed)
    sign = np.where(np.arange(24) % 4 == 0, -1, 1)[:, None]
    answers = 3 + 1.2 * sign * random.normal(0, 1, 50) + random.normal(0, 0.8, (24, 50))
    answers[:2] = random.integers(1, 6, (2, 50))
    table = np.clip(np.rint(answers), 1, 5).astype(int)
    people = {f"p{place:02}": {f"i{item}": level for item, level in enumerate(own)} for place, own in enumerate(table)}
    return judgments(people, karat.Ordinal(5))


@pytest.mark.parametrize("seed", [1, 2])
def test_people_of_the_smaller_camp_are_not_inattentive(seed: int) -> None:
    crowd = camps(seed)
    found = person_total(crowd)
    camp = found.participants.filter(pl.col("participant").is_in([f"p{place:02}" for place in range(4, 24, 4)]))
    assert (camp["score"] < -0.3).all()
    assert set(camp["message"]) == {"person_total.alike"}
    assert set(found.flagged) <= {"p00", "p01"}
    far = set(mahalanobis(crowd).flagged)
    assert far
    assert far <= {"p00", "p01"}
