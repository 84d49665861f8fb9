"""Mahalanobis distance in complete and incomplete designs."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.judgments.message_tables import with_reasons
from karat.messages import Message
from karat.screen.criteria.mahalanobis import distances, mahalanobis
from karat.screen.evidence import ScreenError
from messages import codes, raises
from screen.judged import message


def crowd(people: int, items: int, versions: int, guessers: int, seed: int, spread: float = 1.0) -> karat.Judgments:
    """Five-point ratings in a Latin square: people differ in their level, the first ones guess."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(0, 1.3, (items, versions))
    level = rng.normal(0, 0.4, people)
    rows = []
    for p in range(people):
        for trial, item in enumerate(rng.permutation(items).tolist(), start=1):
            version = (p + item) % versions
            answer = 3 + quality[item, version] + level[p] + rng.normal(0, spread)
            value = rng.integers(1, 6) if p < guessers else np.clip(round(answer), 1, 5)
            rows.append((f"p{p}", f"i{item}", str(int(value)), trial, f"v{version}"))
    frame = pl.DataFrame(rows, schema=["participant", "item", "response", "trial", "version"], orient="row")
    return karat.Judgments(frame, karat.Ordinal(5))


def by_matrices(answers: list[dict[int, float]]) -> list[float]:
    """The same distances with a covariance matrix written out and inverted for each participant."""
    stimuli = sorted({s for own in answers for s in own})
    columns = {s: [own[s] for own in answers if s in own] for s in stimuli}
    means = {s: sum(c) / len(c) for s, c in columns.items()}
    raw = {s: sum((y - means[s]) ** 2 for y in c) / (len(c) - 1) for s, c in columns.items()}
    freedom = sum(len(c) - 1 for c in columns.values())
    pooled = sum(raw[s] * (len(columns[s]) - 1) for s in stimuli) / freedom
    uncertain = 0.0
    for s, c in columns.items():
        n = len(c)
        w = [(y - means[s]) ** 2 for y in c]
        uncertain += n / (n - 1) ** 3 * sum((x - sum(w) / n) ** 2 for x in w)
    apart = sum((v - pooled) ** 2 for v in raw.values())
    share = min(1.0, uncertain / apart) if apart > 0 else 1.0
    variance = {s: share * pooled + (1 - share) * raw[s] for s in stimuli}
    own_part = {s: (len(columns[s]) - 1) / len(columns[s]) for s in stimuli}
    z = [{s: (y - means[s]) / (variance[s] * own_part[s]) ** 0.5 for s, y in own.items()} for own in answers]
    products = [a * b for own in z for s, a in own.items() for t, b in own.items() if s != t]
    rho = min(max(sum(products) / len(products), 0.0), 0.99) if products else 0.0
    found = []
    for own in answers:
        seen = sorted(own)
        matrix = np.array([
            [(1.0 if s == t else rho) * (variance[s] * own_part[s] * variance[t] * own_part[t]) ** 0.5 for t in seen]
            for s in seen
        ])  # fmt: skip
        apart_from = np.array([own[s] - means[s] for s in seen])
        found.append(float(apart_from @ np.linalg.inv(matrix) @ apart_from) if seen else 0.0)
    return found


@settings(max_examples=50)
@given(
    st.integers(3, 7), st.integers(1, 6), st.randoms(use_true_random=False), st.floats(0, 0.6), st.integers(0, 2**31)
)
def test_distances_by_matrices(people: int, stimuli: int, random: Any, gaps: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    answers = [
        {s: float(rng.normal(s, 1 + s)) for s in range(stimuli) if random.random() >= gaps} for _ in range(people)
    ]
    counts = [sum(s in own for own in answers) for s in range(stimuli)]
    kept = [{s: y for s, y in own.items() if counts[s] > 1} for own in answers]
    long = [(p, s, y) for p, own in enumerate(kept) for s, y in own.items()]
    if not long:
        return
    numbers = {s: n for n, s in enumerate(sorted({s for _, s, _ in long}))}
    owner = np.array([p for p, _, _ in long])
    stimulus = np.array([numbers[s] for _, s, _ in long])
    found = distances(owner, stimulus, np.array([y for _, _, y in long]), people)
    assert found.answers.tolist() == [len(own) for own in kept]
    assert found.squared.tolist() == pytest.approx(by_matrices(kept), rel=1e-6, abs=1e-9)
    assert 0 <= found.shrinkage <= 1
    assert 0 <= found.correlation < 1


@settings(max_examples=25)
@given(st.integers(-50, 50), st.floats(0.1, 20), st.booleans())
def test_the_unit_of_the_answers_does_not_matter(shift: int, factor: float, turned: bool) -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(0, 1, 60)
    owner, stimulus = np.repeat(np.arange(10), 6), np.tile(np.arange(6), 10)
    plain = distances(owner, stimulus, values, 10)
    again = distances(owner, stimulus, (-factor if turned else factor) * values + shift, 10)
    assert again.squared.tolist() == pytest.approx(plain.squared.tolist(), rel=1e-6)


def test_a_distance_by_hand() -> None:
    """One stimulus: D^2 = (y - m)^2 / (v (n - 1) / n) with m = 3 and v = 7."""
    found = distances(np.array([0, 1, 2]), np.array([0, 0, 0]), np.array([1.0, 2.0, 6.0]), 3)
    assert found.squared.tolist() == pytest.approx([4 / (14 / 3), 1 / (14 / 3), 9 / (14 / 3)])


def test_guessers_in_latin_squares_are_found_others_not() -> None:
    evidence = mahalanobis(crowd(60, 40, 2, 4, seed=2, spread=0.7))
    assert evidence.flagged == ["p0", "p1", "p2", "p3"]
    rows = evidence.participants.to_dicts()
    assert all(row["answers"] == 40 for row in rows)
    assert all(row["p"] < 1e-6 for row in rows[:4])
    assert all(row["flagged"] == (row["p"] < 0.001) for row in rows)
    assert rows[0]["threshold"] == pytest.approx(73.402, abs=1e-3)
    far = {"squared": round(rows[0]["score"], 1), "answers": 40, "p_below": 0.001}
    assert message(rows[0]) == ("mahalanobis.distance", far)
    assert evidence.settings["alpha"] == 0.001
    assert codes(evidence.notes)[0] == "mahalanobis.few_participants"
    assert [evidence.notes[0].values[name] for name in ("participants", "stimuli")] == [60, 80]


def test_with_normal_answers_hardly_more_than_alpha_are_flagged() -> None:
    rng = np.random.default_rng(6)
    shares = []
    for _ in range(30):
        level, spread = rng.normal(0, 0.5, (80, 1)), rng.uniform(0.5, 1.5, 50)
        values = level + rng.normal(0, 1, (80, 50)) * spread
        found = distances(np.repeat(np.arange(80), 50), np.tile(np.arange(50), 80), values.ravel(), 80)
        shares.append(np.mean(found.squared > 67.505))  # the 5 % point of chi-squared with 50 degrees of freedom
    assert 0.01 < np.mean(shares) < 0.06


def test_a_general_level_is_no_distance_but_a_pattern_is() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(0, 0.5, (40, 20)) + rng.normal(0, 1, (40, 1))
    shifted, mixed = values.copy(), values.copy()
    shifted[0] += 1.5
    mixed[0] += np.where(np.arange(20) % 2, 1.5, -1.5)
    owner, stimulus = np.repeat(np.arange(40), 20), np.tile(np.arange(20), 40)
    level = distances(owner, stimulus, shifted.ravel(), 40)
    pattern = distances(owner, stimulus, mixed.ravel(), 40)
    assert level.correlation > 0.6
    assert pattern.squared[0] > 4 * level.squared[0]


def test_few_participants_are_said_to_be_few() -> None:
    evidence = mahalanobis(crowd(8, 12, 4, 1, seed=3))
    assert "mahalanobis.few_answers" in codes(evidence.notes)
    assert evidence.participants.height == 8


def test_odd_tables_are_harmless_or_refused_in_a_sentence() -> None:
    alike = {"participant": ["p1", "p2", "p3"] * 2, "item": ["a"] * 3 + ["b"] * 3, "response": ["3"] * 6}
    evidence = mahalanobis(karat.Judgments(alike, karat.Ordinal(5)))
    assert evidence.participants["score"].to_list() == [0.0] * 3
    assert evidence.flagged == []
    assert codes(evidence.notes)[-1] == "mahalanobis.no_variance"
    with raises(ScreenError, "mahalanobis.nothing_shared"):
        mahalanobis(karat.Judgments({"participant": ["p1"], "item": ["a"], "response": [3]}, karat.Ordinal(5)))
    with raises(karat.KaratError, "answers.not_ordered"):
        mahalanobis(karat.Judgments(alike, karat.Nominal(["3", "4"])))
    with raises(ScreenError, "setting.refused", setting="alpha"):
        mahalanobis(karat.Judgments(alike, karat.Ordinal(5)), alpha=0)
    alone = {"participant": ["p1", "p2", "p3"], "item": ["a", "a", "z"], "response": [1, 5, 3]}
    rows = mahalanobis(karat.Judgments(alone, karat.Ordinal(5)))
    assert message(rows.participants.row(2, named=True)) == ("mahalanobis.no_answers", {})
    assert rows.participants["score"].is_null().to_list() == [False, False, True]
    assert codes(rows.notes)[-1] == "mahalanobis.single_answers"


def test_repeated_answers_count_as_their_mean() -> None:
    frame = pl.DataFrame({
        "participant": ["p1", "p1", "p2", "p3"], "item": ["a"] * 4, "response": ["1", "3", "1", "5"],
        "trial": [1, 2, 1, 1],
    })  # fmt: skip
    once = frame.filter(pl.col("trial") == 1).with_columns(response=pl.Series(["2", "1", "5"]))
    twice = mahalanobis(karat.Judgments(frame, karat.Ordinal(5))).participants
    assert (
        twice["score"].to_list() == mahalanobis(karat.Judgments(once, karat.Ordinal(5))).participants["score"].to_list()
    )
    assert twice["answers"].to_list() == [1, 1, 1]


def test_probabilities_are_rounded_on_the_right_side_of_alpha() -> None:
    evidence = mahalanobis(karat.datasets.load("crowd"))
    values = dict(evidence.participants.select("participant", "values").iter_rows())
    assert (values["w108"]["p"], values["w108"]["p_below"]) == (0.0008, None)
    reasons = dict(with_reasons(evidence.participants).select("participant", "reason").iter_rows())
    assert "p = .0008;" in reasons["w108"]
    kinds = dict(karat.datasets.load("crowd").participants.select("participant", "behaviour").iter_rows())
    guessing = {name for name, kind in kinds.items() if kind in ("guesser", "repeated pattern")}
    assert guessing <= set(evidence.flagged)


def test_notes_have_no_double_blanks() -> None:
    notes = mahalanobis(crowd(8, 20, 2, 1, seed=2)).notes
    assert "mahalanobis.few_participants" in codes(notes)
    assert not any("  " in str(note) for note in notes)


def test_columns_about_people_do_not_tell_stimuli_apart() -> None:
    plain = crowd(40, 20, 2, 3, seed=5)
    gender = pl.col("participant").str.slice(1).cast(pl.Int64) % 2
    result = karat.Judgments(plain.frame.with_columns(gender=gender), plain.scales)
    assert mahalanobis(result).participants.equals(mahalanobis(plain).participants)
    assert Message("stimuli.people", {"names": ("gender",)}) in mahalanobis(result).notes


def test_accurate_participant_is_not_flagged_where_most_agree() -> None:
    """One of thirty errs in every sixth item, the others never; another one guesses."""
    rng = np.random.default_rng(2)
    truth = rng.choice([1, 3], 80, p=[0.7, 0.3])
    rows = []
    for p in range(30):
        for item, right in enumerate(truth.tolist()):
            answer = int(rng.integers(1, 4)) if p == 0 else 4 - right if p == 1 and item % 6 == 0 else right
            rows.append((f"p{p:02d}", f"i{item}", str(answer)))
    frame = pl.DataFrame(rows, schema=["participant", "item", "response"], orient="row")
    evidence = mahalanobis(karat.Judgments(frame, karat.Ordinal(3)))
    row = evidence.participants.row(1, named=True)
    assert row["score"] > row["threshold"]
    assert message(row)[1]["agreement"] > 0.5
    assert evidence.flagged == ["p00"]


def test_two_answers_against_everybody_flag_nobody() -> None:
    """One of two answers to clear items is a slip, or an opinion; neither is a reason to flag anybody."""
    random = np.random.default_rng(2)
    clear = random.random((40, 30)) < 0.97
    rows = [(f"p{who:02}", f"i{item:02}", str(int(clear[who, item]))) for who in range(40) for item in range(30)]
    rows += [("brief", "i00", "0"), ("brief", "i01", "0")]
    table = pl.DataFrame(rows, schema=["participant", "item", "response"], orient="row")
    found = mahalanobis(karat.Judgments(table, karat.Binary(("0", "1")))).participants
    brief = found.filter(participant="brief").row(0, named=True)
    assert brief["p"] < 0.001
    assert (brief["flagged"], brief["values"]["fewest"]) == (False, 20)


def uneven(seed: int) -> karat.Judgments:
    """Items differ a little, and people differ in how certain they are."""
    random = np.random.default_rng(seed)
    noise = random.normal(0, 1, (150, 24)) * random.lognormal(0, 0.5, (150, 1))
    answers = np.digitize(random.normal(0, 0.6, 24) + noise, [-2.5, 2.5]) + 1
    rows = [(f"p{who:03}", f"i{item:02}", str(value)) for (who, item), value in np.ndenumerate(answers)]
    table = pl.DataFrame(rows, schema=["participant", "item", "response"], orient="row")
    return karat.Judgments(table, karat.Ordinal(3))


@pytest.mark.parametrize("seed", [1, 2])
def test_uncertain_people_are_not_careless(seed: int) -> None:
    found = mahalanobis(uneven(seed))
    assert (found.participants["p"] < 0.001).sum() > 15
    assert found.flagged == []
    assert "mahalanobis.as_usual" in found.participants["message"].to_list()
