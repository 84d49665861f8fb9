"""The alternative annotator test."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

import karat
from karat.measure import MeasureError, annotator_test
from messages import codes, raises


def answered(seed: int, people: int = 5, items: int = 80, levels: int = 4, missing: float = 0.3) -> pl.DataFrame:
    """Answers of people and of a good and a bad machine, some of them missing."""
    random = np.random.default_rng(seed)
    truth = random.integers(levels, size=items)
    rows = []
    for name, right in [*((f"p{n}", 0.7) for n in range(people)), ("good", 0.95), ("bad", 0.0)]:
        given = np.where(random.random(items) < right, truth, random.integers(levels, size=items))
        kind = "human" if name.startswith("p") else "machine"
        rows += [
            {"participant": name, "item": f"i{at}", "response": str(one + 1), "kind": kind}
            for at, one in enumerate(given.tolist())
            if random.random() > missing
        ]
    return pl.DataFrame(rows)


def plainly(
    table: pl.DataFrame, machine: str, labels: bool, margin: float
) -> list[tuple[str, int, float, float, float]]:
    """Person, stimuli, how often the machine and the person agree at least as well, and p: one answer at a time."""
    cells = {(row["participant"], row["item"]): int(row["response"]) for row in table.to_dicts()}
    people = [name for name in dict.fromkeys(table["participant"]) if name.startswith("p")]
    found = []
    for person in people:
        machine_wins, person_wins = [], []
        for item in dict.fromkeys(table["item"]):
            others = [cells[other, item] for other in people if other != person and (other, item) in cells]
            if not others or (person, item) not in cells or (machine, item) not in cells:
                continue
            scores = []
            for given in (cells[machine, item], cells[person, item]):
                off = [float(given != other) if labels else float((given - other) ** 2) for other in others]
                scores.append(sum(off))
            machine_wins.append(scores[0] <= scores[1])
            person_wins.append(scores[1] <= scores[0])
        differences = np.array(person_wins, float) - np.array(machine_wins, float)
        p = float(stats.ttest_1samp(differences, margin, alternative="less").pvalue)
        found.append((person, len(differences), np.mean(machine_wins), np.mean(person_wins), p))
    return found


@pytest.mark.parametrize("labels", [True, False], ids=["labels", "ratings"])
@pytest.mark.parametrize("machine", ["good", "bad"])
def test_the_same_as_one_answer_at_a_time(machine: str, labels: bool) -> None:
    table = answered(3)
    scale = karat.Nominal("1234") if labels else karat.Ordinal(4)
    found = annotator_test(karat.Judgments(table, scale), ["good", "bad"], margin=0.15)
    own = found.participants.filter(pl.col("machine") == machine)
    columns = ("participant", "stimuli", "machine_wins", "participant_wins", "p")
    for row, expected in zip(own.select(columns).iter_rows(), plainly(table, machine, labels, 0.15), strict=True):
        assert row[:2] == expected[:2]
        assert row[2:] == pytest.approx(expected[2:], abs=1e-12)
    adjusted = stats.false_discovery_control(own["p"].to_numpy(), method="by")
    assert own["adjusted"].to_numpy() == pytest.approx(adjusted)
    rates = dict(found.machines.select("machine", "passes").iter_rows())
    assert rates == {"good": True, "bad": False}


def test_machines_are_named_by_patterns_and_columns() -> None:
    judgments = karat.Judgments(answered(1), karat.Ordinal(4))
    by_column, by_pattern = (annotator_test(judgments, names) for names in (["kind=machine"], ["goo*", "bad"]))
    assert by_column.machines.equals(by_pattern.machines)
    with raises(MeasureError, "annotator_test.unknown", name="godo", close="good"):
        annotator_test(judgments, ["godo"])
    with raises(MeasureError, "unknown.column", name="kin", close="kind"):
        annotator_test(judgments, ["kin=machine"])
    with raises(MeasureError, "annotator_test.everybody", names=["*"]):
        annotator_test(judgments, ["*"])
    with raises(MeasureError, "setting.refused", setting="margin"):
        annotator_test(judgments, ["good"], margin=1)


def test_too_little_to_compare() -> None:
    few = answered(1, people=2, items=200)
    found = annotator_test(karat.Judgments(few, karat.Ordinal(4)), ["kind=machine"])
    assert "annotator_test.few_people" in codes(found.warnings)
    short = answered(1, items=29, missing=0)
    with raises(MeasureError, "annotator_test.nobody"):
        annotator_test(karat.Judgments(short, karat.Ordinal(4)), ["good"])


def test_equal_answers_are_a_tie_and_beat_the_margin() -> None:
    table = answered(2, missing=0)
    copy = table.filter(pl.col("participant") == "p0").with_columns(participant=pl.lit("copy"))
    judgments = karat.Judgments(pl.concat([table, copy]), karat.Ordinal(4))
    own = annotator_test(judgments, ["good", "bad", "copy"]).participants
    tied = own.filter((pl.col("machine") == "copy") & (pl.col("participant") == "p0")).row(0, named=True)
    assert (tied["machine_wins"], tied["participant_wins"], tied["p"], tied["beaten"]) == (1.0, 1.0, 0.0, True)


def test_machines_are_left_out_of_all_else() -> None:
    table = answered(5)
    judgments = karat.Judgments(table, karat.Nominal("1234"))
    found = karat.measure.run(judgments, machines=["kind=machine"], samples=0)
    assert found.of("annotator test").machines["machine"].to_list() == ["good", "bad"]
    people = karat.Judgments(table.filter(pl.col("kind") == "human"), karat.Nominal("1234"))
    alone = karat.measure.run(people, samples=0)
    assert found.of("agreement").table().equals(alone.of("agreement").table())
    assert [part.name for part in found.parts if part.name != "annotator test"] == [part.name for part in alone.parts]
