"""All measures together: what applies is computed, what does not says why, and all of it is written down."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import karat
from karat.measure import MeasureError, Measures, contrasts, run, strengths
from karat.measure.dimensions import is_differential
from karat.measure.excluded import excluded, nobody
from karat.measure.part_files import FIGURES, TABLES, TOLD
from karat.measure.planned import planned_choices, planned_contrasts
from karat.measure.rated import rated
from karat.measure.summary import aligned
from karat.measure.written import tables
from karat.study.settings import ContrastSettings
from measure.differential import differential
from measure.factorial import FORMULA, frame
from measure.factorial import rated as answered
from measure.judged_pairs import judged
from measure.rated_items import ratings
from measure.retest import rated_twice

PAIRS = [(str(number), f"a{number}", f"b{number}") for number in range(4)]


@pytest.fixture(scope="module")
def factorial() -> Measures:
    judgments = answered(frame(a=1.0), karat.Ordinal(5))
    return run(judgments, ["ordinal", "mean"], formula=FORMULA)


@pytest.fixture(scope="module")
def differentials() -> Measures:
    return run(differential(people=40, texts=8), seed=3)


def names(found: Measures) -> list[str]:
    return [part.name for part in found.parts]


def test_a_factorial_study_has_strengths_contrasts_and_order(factorial: Measures) -> None:
    assert names(factorial) == [
        "strengths", "strengths", "contrasts", "order effects", "measures", "agreement", "noise ceiling",
        "decision study",
    ]  # fmt: skip
    assert factorial.of("contrasts").formula == FORMULA
    assert factorial.of("strengths", "mean").model == "mean"
    direct = strengths(factorial.judgments, "mean").frame
    assert factorial.of("strengths", "mean").frame.equals(direct)
    assert set(factorial.skipped) == {"decisions (ordinal)", "decisions (mean)", "stability", "consensus"}
    assert factorial.skipped["decisions (mean)"].startswith("say pairs=")
    with pytest.raises(MeasureError, match="stability was not measured: there is one session"):
        factorial.of("stability")
    with pytest.raises(MeasureError, match="there are strengths, contrasts"):
        factorial.of("strength")
    assert factorial.table()["name"].to_list() == names(factorial)


def test_everything_is_written_and_told(factorial: Measures, tmp_path: Path) -> None:
    paths = factorial.write(tmp_path / "out")
    found = {path.name for path in paths}
    assert found == {path.name for path in (tmp_path / "out").iterdir()}
    assert {"strengths.csv", "strengths-mean.csv", "contrasts.csv", "means.csv", "agreement.csv", "means.svg"} <= found
    assert {"strengths.svg", "strengths-mean.svg", "thresholds.svg", "measures.svg", "order-effects.svg"} <= found
    index = (tmp_path / "out" / "README.txt").read_text(encoding="utf-8")
    assert all(name in index for name in found - {"README.txt"})
    assert "Not measured:" in index
    data = json.loads((tmp_path / "out" / "measures.json").read_text(encoding="utf-8"))
    assert data["settings"]["formula"] == FORMULA
    assert data["data"] == factorial.judgments.fingerprint()
    assert data["parts"][2]["numbers"]["unit"] == "logits of the latent scale"
    rows = pl.read_csv(tmp_path / "out" / "strengths.csv")
    kept = data["parts"][0]["tables"]["strengths"]
    assert rows["estimate"].to_list() == pytest.approx([row["estimate"] for row in kept])
    for figure in (path for path in paths if path.suffix == ".svg"):
        assert "<desc" in figure.read_text(encoding="utf-8")


def test_every_kind_of_result_has_files_that_are_told(factorial: Measures, differentials: Measures) -> None:
    for found in (factorial, differentials):
        assert set(names(found)) <= set(TABLES)
        for name in tables(found):
            assert name in TOLD or name.rpartition("-")[0] in TOLD
    assert set(FIGURES) <= set(TABLES)


def test_a_semantic_differential_has_dimensions(differentials: Measures, tmp_path: Path) -> None:
    assert names(differentials)[:6] == ["ratings", "adequacy", "number of factors", "factors", "scores", "profiles"]
    assert differentials.of("factors").names == ("F1", "F2")
    assert "6 questions. Name one by --question: clear, precise" in differentials.skipped["strengths"]
    found = {path.name for path in differentials.write(tmp_path)}
    assert {"loadings.csv", "scores.csv", "profiles.csv", "profiles.svg", "eigenvalues.svg", "stability.csv"} <= found
    text = str(differentials)
    assert "By question; agreement.csv has all of it." in text
    assert "not run    strengths, contrasts, order effects, decisions: a semantic differential" in text


def test_one_question_of_a_differential_is_measured_like_any_other() -> None:
    found = run(differential(people=16, texts=6), question="clear")
    assert names(found)[0] == "strengths"
    assert "ratings" not in names(found)
    assert set(found.of("agreement").coefficients["question"]) == {"clear"}
    with pytest.raises(MeasureError, match="there is no question 'cleer'"):
        run(differential(people=16, texts=6), question="cleer")


@pytest.mark.slow
def test_the_number_of_factors_can_be_given() -> None:
    assert run(differential(people=16, texts=6), factors=1).of("factors").names == ("F1",)
    with pytest.raises(MeasureError, match="6 pairs allow"):
        run(differential(people=16, texts=6), factors=5)


def test_few_questions_are_no_differential() -> None:
    twice = rated_twice(questions=2)
    assert not is_differential(rated(twice, "measure", once=None))
    found = run(twice)
    assert [(part.name, part.question) for part in found.parts][:2] == [("strengths", "q0"), ("strengths", "q1")]
    assert found.skipped["order effects"].startswith("there is no column trial")
    assert tables(found)["strengths"]["question"].unique(maintain_order=True).to_list() == ["q0", "q1"]


def test_pairs_are_decided_by_every_model_and_compared(tmp_path: Path) -> None:
    judgments = judged("likert", [2.0, 1.5, 0.0, -2.0])
    found = run(judgments, ["ordinal", "mean"], pairs=PAIRS)
    assert found.of("decisions", "ordinal").counts["expert"] >= 2
    assert found.of("decisions compared").measures == ["ordinal", "mean"]
    written = {path.name for path in found.write(tmp_path)}
    assert {"decisions.csv", "decisions-mean.csv", "decisions-compared.csv", "decisions-compared.svg"} <= written
    # The same pairs, read from pair and status.
    assert run(judgments).of("decisions").frame["pair"].to_list() == ["0", "1", "2", "3"]
    with pytest.raises(MeasureError, match="is a0 meant"):
        run(judgments, pairs=[("1", "a00", "b00")])


def test_choices_have_strengths_and_decisions() -> None:
    judgments = judged("choice", [1.0, 0.8, 0.5, -0.4])
    found = run(judgments)
    assert found.of("decisions").settings["model"] == "binomial"
    assert "a choice is between two stimuli" in found.skipped["contrasts"]
    assert found.skipped["consensus"].startswith("choice answers are no labels")
    assert names(found)[0] == "strengths"


@pytest.mark.slow
def test_two_sessions_have_stability_with_decisions() -> None:
    parts = []
    for session, seed in (("one", 1), ("two", 2)):
        table = judged("likert", [2.0, 1.5, 0.0], seed=seed).frame
        parts.append(table.with_columns(session=pl.lit(session)))
    judgments = karat.Judgments(pl.concat(parts), karat.Ordinal(7))
    found = run(judgments).of("stability")
    assert "same decision" in found.comparisons["measure"].to_list()
    by_group = {
        session: run(karat.Judgments(part, karat.Ordinal(7))).of("decisions").frame["decision"].to_list()
        for session, part in zip(("one", "two"), parts, strict=True)
    }
    same = sum(a == b for a, b in zip(*by_group.values(), strict=True)) / 3
    row = found.comparisons.filter(measure="same decision").row(0, named=True)
    assert row["estimate"] == pytest.approx(same)
    with pytest.raises(MeasureError, match="there is no column grup"):
        run(judgments, by="grup")


def test_labels_have_a_consensus_by_condition() -> None:
    random = [(f"p{p}", f"i{i}", ("x", "y")[(p + i) % 2]) for p in range(8) for i in range(6)]
    rows = {"participant": [r[0] for r in random], "item": [r[1] for r in random], "tense": [r[2] for r in random]}
    rows["response"] = ["red" if tense == "x" else "blue" for tense in rows["tense"]]
    found = run(karat.Judgments(rows, karat.Nominal(["red", "blue"])), conditions=["tense"])
    labels = found.of("consensus").labels
    assert labels.height == 12
    assert set(labels.select("tense", "label").rows()) == {("x", "red"), ("y", "blue")}
    assert found.skipped["strengths"].startswith("nominal answers have no order")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"models": ["thurstone"]}, "'thurstone' is no model for ordinal answers; take mean or ordinal or zscore"),
        ({"posterior": True}, "a posterior is for choices"),
        ({"conditions": ["ordr"]}, "there is no column ordr"),
        ({"functions": ["filler"]}, "there are no answers to filler trials"),
        ({"formula": "response ~ nothing"}, "nothing"),
    ],
)
def test_what_is_asked_for_by_name_and_cannot_be_done_is_an_error(options: dict[str, Any], why: str) -> None:
    with pytest.raises(MeasureError, match=why):
        run(ratings(), **options)


def test_what_would_take_long_is_left_out_unless_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karat.measure.run_parts.MOST", 100)
    judgments = answered(frame(people=12), karat.Ordinal(5))
    found = run(judgments, ["mean"])
    assert {"contrasts", "order effects", "noise ceiling"} <= set(found.skipped)
    assert "would take long for more than 100 answers" in found.skipped["contrasts"]
    assert "contrasts" in names(run(judgments, ["mean"], formula=FORMULA))


def test_formulas_of_spreadsheets_are_text(tmp_path: Path) -> None:
    table = ratings(people=6, items=4).frame.with_columns(item=pl.lit("=cmd|") + pl.col("item"))
    run(karat.Judgments(table, karat.Ordinal(5)), ["mean"]).write(tmp_path)
    with (tmp_path / "strengths.csv").open(encoding="utf-8") as opened:
        assert all(row["item"].startswith("'=cmd|") for row in csv.DictReader(opened))


@pytest.mark.slow
def test_a_table_that_cannot_be_drawn_is_said_in_the_index(tmp_path: Path) -> None:
    table = frame().with_columns(c=pl.Series([str(k % 7) for k in range(frame().height)]))
    formula = "response ~ a * c + (1 | participant) + (1 | item)"
    found = run(answered(table, karat.Binary()), ["mean"], formula=formula)
    written = {path.name for path in found.write(tmp_path)}
    assert "means.svg" not in written
    assert "Not drawn:" in (tmp_path / "README.txt").read_text(encoding="utf-8")


def test_planned_contrasts_are_differences_in_the_stated_direction(factorial: Measures) -> None:
    found = factorial.of("contrasts")
    plan = [
        ContrastSettings(name="low", factor="a", levels=["low", "high"]),
        ContrastSettings(name="high", factor="a", levels=["high", "low"]),
        ContrastSettings(name="new", factor="a", levels=["high", "low"], within={"b": "new"}),
        ContrastSettings(name="lost", factor="c", levels=["x", "y"]),
    ]
    planned = planned_contrasts(plan, found)
    low, high, new = planned.frame.to_dicts()
    means = {row["a"]: row["estimate"] for row in found.means.filter(term="a").to_dicts()}
    assert high["estimate"] == pytest.approx(means["high"] - means["low"])
    assert (low["estimate"], low["lower"]) == pytest.approx((-high["estimate"], -high["upper"]))
    cells = {(row["a"], row["b"]): row["estimate"] for row in found.means.filter(term="a:b").to_dicts()}
    assert new["estimate"] == pytest.approx(cells["high", "new"] - cells["low", "new"])
    assert planned.notes == ("lost could not be told: the model has no term of c.",)
    assert (planned.frame["adjusted"] >= planned.frame["p"]).all()
    with pytest.raises(MeasureError, match="lost could not be told"):
        planned_contrasts(plan[3:], found)


def test_a_planned_preference_is_counted_by_level_not_by_side() -> None:
    rows = [
        {"participant": f"p{p}", "item": f"t{i}", "left": f"t{i}.{('old', 'new')[(p + i) % 2]}",
         "right": f"t{i}.{('new', 'old')[(p + i) % 2]}", "better": (p * 7 + i * 3) % 10 < 7, "turned": (p + i) % 2}
        for p in range(12) for i in range(10)
    ]  # fmt: skip
    for row in rows:
        row["response"] = "left" if row.pop("better") != bool(row.pop("turned")) else "right"
    rows[0]["response"] = "none"
    judgments = karat.Judgments(pl.DataFrame(rows), karat.Choice(none=True))
    plan = [ContrastSettings(name="age", factor="age", levels=["old", "new"])]
    found = planned_choices(plan, judgments)
    row = found.frame.row(0, named=True)
    assert row["raw"] == pytest.approx((84 - 1) / 119)
    assert row["estimate"] > 0.5
    assert 'age: 1 answer "no difference" left out.' in found.notes
    turned = [ContrastSettings(name="age", factor="age", levels=["new", "old"])]
    assert planned_choices(turned, judgments).frame["estimate"].item() == pytest.approx(-row["estimate"], abs=1e-4)
    with pytest.raises(MeasureError, match="no choice is between age a and b"):
        planned_choices([ContrastSettings(name="age", factor="age", levels=["a", "b"])], judgments)


def test_exclusions_are_read_from_a_screening_or_a_list(tmp_path: Path) -> None:
    judgments = ratings(people=4)
    screening = tmp_path / "screening.json"
    people = {name: {"excluded": name == "p1"} for name in ("p0", "p1", "p2", "p3")}
    screening.write_text(json.dumps({"participants": people}), encoding="utf-8")
    assert excluded(judgments, screening).participants == ("p1",)
    assert excluded(judgments, tmp_path).told == f"1 of 4 participants, by {screening}."
    found = run(judgments, ["mean"], without=excluded(judgments, screening))
    assert found.judgments.participants["participant"].to_list() == ["p0", "p2", "p3"]
    assert found.to_dict()["excluded"]["participants"] == ["p1"]
    left = judgments.without(["p1"])
    assert excluded(left, screening).told.startswith("nobody more")
    left.to_parquet(tmp_path / "judgments.parquet")
    assert "has the 3 of 4 participants that screening left" in nobody([tmp_path / "judgments.parquet"]).told
    table = tmp_path / "participants.csv"
    table.write_text("participant,excluded\np0,false\np1,true\n", encoding="utf-8")
    assert excluded(judgments, table).participants == ("p1",)
    table.write_text("participant\np0\np2\n", encoding="utf-8")
    assert excluded(judgments, table).participants == ("p0", "p2")


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("a.json", "{}", "is no screening"),
        ("a.json", "no", "is no screening"),
        ("a.csv", "name\np0\n", "has no column participant"),
        ("a.csv", "participant\nq9\n", "Is it the screening of another study"),
        ("a.csv", "participant\np0\np1\n", "excludes every participant"),
    ],
)
def test_exclusions_that_cannot_be_meant_are_refused(tmp_path: Path, name: str, text: str, why: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(MeasureError, match=why):
        excluded(ratings(people=2), tmp_path / name)


def test_a_missing_file_of_exclusions_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(MeasureError, match=r"none\.json cannot be read: No such file"):
        excluded(ratings(people=2), tmp_path / "none.json")


def test_long_cells_and_missing_ones_are_shown() -> None:
    shown = aligned(pl.DataFrame({"item": ["x" * 50, "y"], "estimate": [None, -0.5]}))
    assert shown == ["item".ljust(34) + "  estimate", "x" * 31 + "...", "y".ljust(34) + "     -0.50"]


def test_a_planned_comparison_with_an_empty_cell_is_a_note() -> None:
    table = frame(a=0.8).filter((pl.col("a") != "low") | (pl.col("b") != "old"))
    found = contrasts(answered(table, karat.Ordinal(5)), FORMULA)
    plan = [
        ContrastSettings(name="at old", factor="a", levels=["high", "low"], within={"b": "old"}),
        ContrastSettings(name="at new", factor="a", levels=["high", "low"], within={"b": "new"}),
    ]
    told = planned_contrasts(plan, found)
    assert told.table()["contrast"].to_list() == ["at new"]
    assert "at old could not be told" in str(told)


def test_sources_of_which_one_answered_do_not_end_the_measurement() -> None:
    whole = judged("likert", [1.0, 0.5, 0.0], people=12)
    people = whole.participants.with_columns(
        source=pl.when(pl.int_range(pl.len()) < 3).then(pl.lit("web")).otherwise(pl.lit("lab"))
    )
    gone = people.filter(pl.col("source") == "web")["participant"].to_list()
    kept = whole.frame.filter(~pl.col("participant").is_in(gone))
    found = run(karat.Judgments(kept, whole.scales, participants=people))
    assert "decisions" in names(found)
    assert "stability compares groups" in found.skipped["stability of decisions by source"]
