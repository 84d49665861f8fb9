"""Credence: simulated behaviours are flagged, attentive people are not, and names and row order do not matter."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat import Judgments, Nominal, Ordinal
from karat.messages import Message
from karat.screen import ScreenError, Screening, credence, run
from karat.screen.credence_model import LITTLE, NOT_CERTAIN, in_doubt
from karat.screen.criteria.credence import PARTS, Credence
from karat.study.criteria import CRITERIA
from messages import codes, raises
from screen.judged import crowd, guessers

RATED = crowd(karat.Ordinal(5), seed=2)


@cache
def of(name: str) -> Credence:
    return credence(karat.datasets.load(name))


@cache
def rated() -> Credence:
    return credence(RATED)


@cache
def stated() -> Screening:
    return run(RATED, {"credence": {}, "completion": {}, "exclude": "any"})


def with_frame(frame: pl.DataFrame, judgments: karat.Judgments = RATED) -> karat.Judgments:
    return karat.Judgments(frame, judgments.scales)


def same(result: Credence, expected: Credence) -> None:
    """Assert equal results for all participants, whatever the order of the rows."""
    one, other = (evidence.participants.sort("participant") for evidence in (result, expected))
    assert one["participant"].to_list() == other["participant"].to_list()
    assert one["behaviour"].to_list() == other["behaviour"].to_list()
    assert one["log_odds"].to_numpy() == pytest.approx(other["log_odds"].to_numpy(), abs=0.05)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("name", "behaviours"),
    [
        ("likert", {"guesser": "random guessing", "rusher": "rushing", "straight-liner": "primary choice"}),
        (
            "crowd",
            {"guesser": "random guessing", "one answer": "primary choice", "repeated pattern": "repeated pattern"},
        ),
    ],
)
def test_all_simulated_behaviours_are_flagged_and_nobody_else(name: str, behaviours: dict[str, str]) -> None:
    planted = karat.datasets.load(name).participants.select("participant", planted="behaviour")
    result = of(name).participants.join(planted, on="participant", maintain_order="left")
    assert result["flagged"].to_list() == result["planted"].is_in(list(behaviours)).to_list()
    flagged = result.filter("flagged")
    assert flagged["behaviour"].to_list() == [behaviours[kind] for kind in flagged["planted"]]
    # Participants who stop early were attentive until then, and nobody changed half way.
    assert (result.filter(~pl.col("flagged"))["attentive"] > 0.2).all()
    assert result["attentive"].median() > 0.95  # type: ignore[operator]
    assert result["switch_trial"].null_count() == result.height


@pytest.mark.parametrize(
    ("name", "attentive"), [("likert", 43 / 48), pytest.param("crowd", 108 / 120, marks=pytest.mark.slow)]
)
def test_estimated_shares_match_the_crowd(name: str, attentive: float) -> None:
    shares = of(name).shares
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["attentive"] == pytest.approx(attentive, abs=0.05)
    (note,) = (one for one in of(name).notes if isinstance(one, Message) and one.code == "credence.share")
    assert note.values == {"share": round(shares["attentive"], 2)}


@pytest.mark.parametrize("name", ["likert", pytest.param("crowd", marks=pytest.mark.slow)])
def test_parts_add_up_to_the_probability(name: str) -> None:
    result = of(name).participants
    log_odds = result["log_odds"].to_numpy()
    assert result.select(pl.sum_horizontal(PARTS)).to_series().to_numpy() == pytest.approx(log_odds, abs=1e-6)
    assert np.isfinite(log_odds).all()
    assert result["attentive"].to_numpy() == pytest.approx(in_doubt(1 / (1 + np.exp(-log_odds))), abs=1e-9)


@settings(max_examples=4, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([karat.Binary(), karat.Ordinal(3), karat.Choice(True)]), st.booleans())
def test_parts_add_up_whatever_the_answers(seed: int, scale: karat.judgments.scales.Scale, timed: bool) -> None:
    judgments = crowd(scale, people=6, items=8, spammers=3, seed=seed)
    result = credence(judgments if timed else with_frame(judgments.frame.drop("rt"), judgments)).participants
    parts = result.select(pl.sum_horizontal(PARTS)).to_series()
    assert parts.to_numpy() == pytest.approx(result["log_odds"].to_numpy(), abs=1e-6)
    assert result["attentive"].is_between(0, 1).all()
    assert timed or (result["times"].abs() < 1e-9).all()


@pytest.mark.slow
def test_names_do_not_matter() -> None:
    other = RATED.frame.with_columns(
        participant=pl.lit("x") + pl.col("participant").str.reverse(), item=pl.lit("z") + pl.col("item").str.reverse()
    )
    result = credence(with_frame(other))
    back = result.participants.with_columns(pl.col("participant").str.slice(1).str.reverse())
    same(Credence(back, "credence"), rated())


@pytest.mark.slow
def test_the_order_of_rows_does_not_matter() -> None:
    same(credence(with_frame(RATED.frame.sample(fraction=1, shuffle=True, seed=5))), rated())


def labels_as_ratings(seed: int, items: int = 60) -> karat.Judgments:
    """Unordered labels read as ratings, of a crowd without trial positions."""
    random = np.random.default_rng(seed)
    right = random.integers(1, 6, items)
    rows = [
        (f"w{worker}", f"i{item}", str(right[item] if random.random() < 0.75 else random.integers(1, 6)))
        for item in range(items)
        for worker in random.choice(20, 8, replace=False)
    ]
    table = pl.DataFrame(rows, schema=["participant", "item", "response"], orient="row")
    return karat.Judgments(table, karat.Ordinal(5))


def test_without_positions_nothing_depends_on_the_order_of_rows() -> None:
    judgments = labels_as_ratings(1)
    outcomes = set()
    for seed in (None, 1):
        frame = judgments.frame if seed is None else judgments.frame.sample(fraction=1, shuffle=True, seed=seed)
        try:
            result = credence(karat.Judgments(frame, judgments.scales)).participants.sort("participant")
            outcomes.add(str(result["score"].to_list()))
        except ScreenError as error:
            outcomes.add(str(error))
    assert len(outcomes) == 1


@pytest.mark.slow
def test_reversed_questions_are_aligned() -> None:
    plain = RATED.frame.with_columns(polarity=pl.lit(1))
    turned = plain.with_columns(polarity=pl.lit(-1), response=(6 - pl.col("response").cast(pl.Int64)).cast(pl.String))
    same(credence(with_frame(turned)), credence(with_frame(plain)))


@pytest.mark.slow
def test_swapping_the_sides_of_choices_changes_nothing() -> None:
    judgments = crowd(karat.Choice())
    swapped = judgments.frame.with_columns(
        left="right", right="left", response=pl.col("response").replace({"left": "right", "right": "left"})
    )
    same(credence(with_frame(swapped, judgments)), credence(judgments))


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "scale",
    [
        karat.Binary(),
        karat.Choice(),
        karat.Choice(none=True),
        karat.Ordinal(7),
        karat.Nominal(["a", "b", "c"]),
        karat.Magnitude(),
    ],
    ids=lambda scale: f"{scale.kind}",
)
def test_guessers_are_flagged_on_every_scale(scale: karat.judgments.scales.Scale) -> None:
    judgments = crowd(scale, items=50, seed=2)
    result = credence(judgments)
    assert result.flagged == guessers(judgments)
    assert (result.participants.filter(~pl.col("flagged"))["attentive"] > 0.5).all()
    assert codes(result.notes).count("credence.classes") == isinstance(scale, karat.Magnitude)


@pytest.mark.slow
def test_two_scales_count_together() -> None:
    rating, yes = crowd(karat.Ordinal(5), items=25), crowd(karat.Binary(), items=25, seed=2)
    frame = pl.concat([
        rating.frame.with_columns(question=pl.lit("how good")),
        yes.frame.with_columns(question=pl.lit("yes or no"), trial=pl.col("trial") + 25),
    ]).drop("rt")  # fmt: skip
    both = karat.Judgments(frame, {"how good": karat.Ordinal(5), "yes or no": karat.Binary()})
    result = credence(both)
    assert result.flagged == guessers(both)
    assert (result.participants["trials"] == 50).all()
    assert result.answers["buttons"].value_counts()["count"].to_list() == [500, 500]


def test_a_change_half_way_is_found_with_its_trial() -> None:
    random = np.random.default_rng(4)
    judgments = crowd(karat.Ordinal(5), items=60, spammers=0)
    late = (pl.col("participant") == "p03") & (pl.col("trial") > 30)
    guessed = pl.Series(random.integers(1, 6, judgments.frame.height)).cast(pl.String)
    frame = judgments.frame.with_columns(response=pl.when(late).then(guessed).otherwise(pl.col("response")))
    result = credence(with_frame(frame, judgments))
    assert result.flagged == ["p03"]
    row = result.participants.row(by_predicate=pl.col("participant") == "p03", named=True)
    assert row["behaviour"] == "random guessing"
    assert row["switch_from"] <= row["switch_trial"] <= row["switch_to"]
    assert abs(row["switch_trial"] - 31) <= 5
    changes = {"switch": row["switch_trial"], "switch_from": row["switch_from"], "switch_to": row["switch_to"]}
    assert changes.items() <= row["values"].items()
    own = result.answers.filter(pl.col("participant") == "p03")
    assert own.filter(pl.col("trial") <= 20)["attentive"].min() > 0.9  # type: ignore[operator]
    assert own.filter(pl.col("trial") >= 40)["attentive"].max() < 0.1  # type: ignore[operator]


def test_missing_answers_are_excluded_and_everyone_has_a_row() -> None:
    gaps = (pl.int_range(pl.len()) % 7 == 0) | (pl.col("participant") == "p00")
    result = credence(
        with_frame(RATED.frame.with_columns(response=pl.when(gaps).then(None).otherwise(pl.col("response"))))
    )
    assert result.flagged == guessers(RATED)
    first = result.participants.row(0, named=True)
    assert (first["participant"], first["score"], first["flagged"]) == ("p00", None, False)
    assert first["message"] == "credence.no_answers"
    assert result.participants["trials"][1:].is_between(25, 26).all()
    assert "p00" not in result.answers["participant"].to_list()


def test_without_times_only_answers_are_used_and_reported() -> None:
    result = credence(with_frame(RATED.frame.drop("rt")))
    assert result.flagged == guessers(RATED)
    assert "credence.no_times" in codes(result.notes)
    assert result.answers["pace"].null_count() == result.answers.height


def test_with_few_trials_probabilities_are_close_to_the_share() -> None:
    few = crowd(karat.Binary(), people=30, items=5, spammers=0)
    result = credence(few)
    assert result.flagged == []
    attentive = result.participants["attentive"].to_numpy()
    assert np.abs(attentive - result.shares["attentive"]).max() < 0.35
    assert np.median(np.abs(attentive - result.shares["attentive"])) < 0.1
    few = Message("credence.little_evidence", {"participants": 30, "fewest": 20})
    assert few in result.notes


def test_five_participants_are_enough_and_fewer_are_refused() -> None:
    five = crowd(karat.Ordinal(5), people=5, spammers=1)
    assert credence(five).participants.height == 5
    people = five.participants["participant"].to_list()
    with raises(ScreenError, "credence.few_participants"):
        credence(five.without(people[:1]))
    with raises(ScreenError, "credence.few_answers"):
        credence(with_frame(RATED.frame.filter(pl.col("trial") <= 4)))


def test_the_cutoff_alone_decides() -> None:
    strict = credence(RATED, below=0.999999)
    assert strict.participants["score"].to_list() == rated().participants["score"].to_list()
    assert strict.flagged == strict.participants.filter(pl.col("score") < 0.999999)["participant"].to_list()
    assert len(strict.flagged) > len(rated().flagged)
    assert rated().summary == (Message("credence.summary", {"flagged": 2, "participants": 20, "below": 0.05}),)


@pytest.mark.slow
def test_nobody_is_excluded_unless_the_rules_require_it() -> None:
    assert CRITERIA["credence"].unasked
    asked = run(RATED)
    assert asked.evidence["credence"].flagged == guessers(RATED)
    assert asked.excluded == ()
    other = run(RATED, {"completion": {}, "exclude": "any"})
    assert "credence" not in other.evidence
    assert other.excluded == ()
    assert list(stated().excluded) == guessers(RATED)


def test_written_files(tmp_path: Path) -> None:
    names = [path.name for path in stated().write(tmp_path)]
    assert names[-1] == "credence.svg"
    assert (tmp_path / "credence.svg").read_text(encoding="utf-8").startswith("<svg role=")
    person = json.loads((tmp_path / "screening.json").read_text(encoding="utf-8"))["participants"]["p19"]
    result = person["criteria"]["credence"]
    assert list(result) == [*Credence.written, "message", "values"]
    assert result["behaviour"] == "random guessing"
    assert sum(result[part] for part in PARTS) == pytest.approx(result["log_odds"])
    assert list(person["criteria"]["completion"]) == ["score", "threshold", "flagged", "reason", "message", "values"]
    table = pl.read_csv(tmp_path / "participants.csv")
    assert {"credence_behaviour", "credence_switch_trial", "credence_agreement"} <= set(table.columns)
    without = run(RATED, {"completion": {}}).write(tmp_path / "other")
    assert "credence.svg" not in [path.name for path in without]


def test_the_explanation_does_not_accuse() -> None:
    text = stated().explain("p19")
    assert "Credence: attentive with probability below .001; closest behaviour: random guessing" in text
    proof = Message("explain.no_proof")
    assert str(proof) in text
    assert str(proof) not in stated().explain("p00")
    assert not {"cheat", "spam", "dishonest", "careless", "subject"} & set(text.lower().split())


@pytest.mark.parametrize("below", [0.0, 1.0, 5])
def test_an_invalid_probability_is_refused(below: float) -> None:
    with raises(ScreenError, "setting.refused", setting="below"):
        karat.screen.credence(karat.datasets.load("likert"), below=below)


def understandings(*sizes: int, items: int = 60) -> karat.Judgments:
    """Groups of attentive people, each with a different answer key."""
    random = np.random.default_rng(1)
    keys = random.integers(0, 3, (len(sizes), items))
    own = np.repeat(keys, sizes, axis=0)
    answers = np.where(random.random(own.shape) < 0.9, own, random.integers(0, 3, own.shape))
    people = [f"p{n:02}" for n in range(sum(sizes))]
    table = pl.DataFrame({
        "participant": np.repeat(people, items), "item": [f"i{n:02}" for n in range(items)] * len(people),
        "response": ["abc"[answer] for answer in answers.ravel()],
    })  # fmt: skip
    return karat.Judgments(table, karat.Nominal(("a", "b", "c")))


def test_two_understandings_are_two_groups() -> None:
    result = credence(understandings(12, 8))
    assert result.flagged == []
    assert sorted(result.participants["speakers"].value_counts()["count"]) == [8, 12]


@pytest.mark.slow
def test_nobody_is_judged_if_flagged_people_agree() -> None:
    judgments = understandings(10, 7, 7, 6)
    with raises(ScreenError, "credence.misfit"):
        credence(judgments)
    assert karat.screen.run(judgments, {"credence": {}}).skipped["credence"].values["figure"] == "misfit.flagged"


def test_agreement_above_chance_is_reported_and_not_flagged() -> None:
    """A discrimination of .3 relative to the others, over many items."""
    random = np.random.default_rng(3)
    judgments = understandings(20, items=150)
    guessed = pl.Series([("a", "b", "c")[n] for n in random.integers(0, 3, judgments.frame.height)])
    lapsed = (pl.col("participant") == "p00") & pl.Series(random.random(judgments.frame.height) < 0.8)
    result = credence(
        with_frame(
            judgments.frame.with_columns(response=pl.when(lapsed).then(guessed).otherwise("response")), judgments
        )
    )
    row = result.participants.row(by_predicate=pl.col("participant") == "p00", named=True)
    assert row["log_odds"] < 0
    assert row["score"] == pytest.approx(0.5)
    assert row["values"]["limit"] == "limit.agrees"
    assert not result.flagged


def labelled(answers: list[tuple[str, int, int]], kinds: int) -> karat.Judgments:
    """Judgments from participants, items and labels."""
    people, items, given = zip(*answers, strict=True)
    table = {"participant": people, "item": [f"s{one}" for one in items], "response": [f"k{one}" for one in given]}
    return karat.Judgments(pl.DataFrame(table), karat.Nominal([f"k{one}" for one in range(kinds)]))


def test_disagreement_only_with_careless_people_is_not_flagged() -> None:
    """One careful participant judged all of the second hundred items; all others who did are guessing."""
    random = np.random.default_rng(2)
    truth = np.sort(random.integers(0, 6, 200))  # sorted, so that the second hundred has labels of its own
    answers = [
        (f"good{n}", item, int(truth[item]) if random.random() < 0.8 else int(random.integers(6)))
        for n in range(12)
        for item in random.permutation(100)[:40].tolist()
    ]
    answers += [("alone", item, int(truth[item])) for item in range(100, 200)]
    answers += [(f"guess{n}", item, int(random.integers(6))) for n in range(2) for item in range(130 * n, 180 + 20 * n)]
    result = credence(labelled(answers, 6))
    row = result.participants.row(by_predicate=pl.col("participant") == "alone", named=True)
    assert row["score"] >= 0.5
    assert "guess0" in result.flagged
    assert not [name for name in result.flagged if name.startswith("good")]


def test_copies_do_not_make_all_others_careless() -> None:
    random = np.random.default_rng(1)
    truth, copied = random.integers(0, 2, (2, 100))
    answers = []
    for name, number, share in (("good", 10, 0.6), ("guess", 10, 0.0), ("copy", 12, None)):
        for n in range(number):
            for item in range(100):
                looked = share is not None and random.random() < share
                given = copied[item] if share is None else truth[item] if looked else random.integers(2)
                answers.append((f"{name}{n}", item, int(given)))
    with raises(ScreenError, "credence.misfit"):
        credence(labelled(answers, 2))


def test_people_with_items_in_common_with_copies_are_not_flagged() -> None:
    """Four accounts with the same answers determine the class of items that three other people judged as well."""
    random, kinds, rows = np.random.default_rng(0), 6, []
    truth, copied = random.integers(0, kinds, 160), random.integers(0, kinds, 160)
    for person in range(19):
        own = random.choice(120, 40, replace=False) if person < 12 else np.arange(120, 160)
        known, right = (truth, 0.8) if person < 15 else (copied, 0.9)
        given = np.where(random.random(40) < right, known[own], random.integers(0, kinds, 40))
        rows += [(f"p{person:02}", f"i{item}", str(answer)) for item, answer in zip(own, given, strict=True)]
    table = pl.DataFrame(rows, schema=["participant", "item", "response"], orient="row")
    result = credence(Judgments(table, Nominal([str(kind) for kind in range(kinds)])))
    assert [name for name in result.flagged if name < "p15"] == []


def test_a_favourite_label_may_agree() -> None:
    """A participant who answers 3 if in doubt agrees, unlike six who always give the same answer."""
    random, rows = np.random.default_rng(0), []
    level = random.normal(0, 1, 80)

    def rating(item: int, noise: float) -> int:
        return int(np.clip(np.rint(3 + 1.2 * level[item] + random.normal(0, noise)), 1, 5))

    for person in range(10):
        rows += [(f"p{person}", f"i{item}", str(rating(item, 0.8))) for item in random.choice(80, 30, replace=False)]
    rows += [("often 3", f"i{item}", str(3 if random.random() < 0.75 else rating(item, 1.2))) for item in range(80)]
    for person in range(6):
        only = str(random.integers(1, 6))
        rows += [(f"z{person}", f"i{item}", only) for item in random.choice(80, 40, replace=False)]
    table = pl.DataFrame(rows, schema=["participant", "item", "response"], orient="row")
    result = credence(Judgments(table, Ordinal(5)))
    assert set(result.flagged) == {f"z{person}" for person in range(6)}


def graded(levels: int, noise: float, first: Sequence[int]) -> pl.DataFrame:
    """Four groups of 16 people, each rating 30 separate items; the first participant uses only some levels."""
    random, rows = np.random.default_rng(0), []
    for group in range(4):
        level = random.normal(0, 1.3, 30)
        for person in range(16):
            noisy = np.rint((levels + 1) / 2 + level + random.normal(0, noise, 30))
            given = np.clip(noisy, 1, levels) if group + person else random.choice(first, 30)
            rows += [(f"{group}-{person}", f"{group} i{item}", str(int(value))) for item, value in enumerate(given)]
    return pl.DataFrame(rows, schema=["participant", "item", "response"], orient="row")


def test_a_favourite_answer_is_reported_only_if_it_is_frequent() -> None:
    few = credence(Judgments(graded(9, 0.8, [3, 4, 6, 7]), Ordinal(9))).participants.row(0, named=True)
    assert (few["participant"], few["flagged"], few["behaviour"]) == ("0-0", True, "random guessing")
    always = credence(Judgments(graded(5, 0.5, [4] * 20 + [3]), Nominal(list("12345")))).participants.row(0, named=True)
    assert (always["participant"], always["flagged"], always["behaviour"]) == ("0-0", True, "primary choice")


@pytest.mark.parametrize(("answers", "flagged"), [(8, []), (24, ["p0"])])
def test_few_labels_leave_the_benefit_of_the_doubt(answers: int, flagged: list[str]) -> None:
    """The first of twenty always gives the same label, which somebody with few answers may do by chance."""
    random, rows = np.random.default_rng(3), []
    known = random.integers(0, 2, 60)
    for person in range(20):
        for item in random.choice(60, answers if person == 0 else 30, replace=False):
            given = known[item] if person and random.random() < 0.9 else 0 if person == 0 else 1 - known[item]
            rows.append((f"p{person}", f"i{item}", "ab"[given]))
    table = pl.DataFrame(rows, schema=["participant", "item", "response"], orient="row")
    found = credence(Judgments(table, Nominal(["a", "b"])))
    assert found.flagged == flagged
    first = found.participants.filter(participant="p0")
    model = 1 / (1 + np.exp(-first["log_odds"].to_numpy()))
    expected = in_doubt(model) if answers < LITTLE else model
    assert first["attentive"].to_numpy() == pytest.approx(NOT_CERTAIN * expected)


def test_labels_with_an_order_are_ratings() -> None:
    table = graded(9, 1.1, [3, 5, 7])
    labels, ratings = (credence(Judgments(table, scale)) for scale in (Nominal(list("918273645")), Ordinal(9)))
    assert labels.participants.equals(ratings.participants)


def test_labels_used_differently_are_not_guesses() -> None:
    table, own = graded(5, 0.5, [3]), pl.col("participant") == "1-0"
    letters = [pl.col("response").replace(dict(zip("12345", word, strict=True))) for word in ("BCDEA", "ABCDE")]
    table = table.with_columns(response=pl.when(own).then(letters[0]).otherwise(letters[1]))
    result = credence(Judgments(table, Nominal(list("ABCDE"))))
    assert result.flagged == ["0-0"]
    assert result.participants.filter(own)["values"].struct.field("limit").to_list() == ["limit.depends"]
