"""All measures together: what applies is computed, what does not says why, and all of it is written down."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from scipy.stats import t

import karat
from karat.measure import MeasureError, Measures, contrasts, run, strengths
from karat.measure.effects.planned import planned_choices, planned_contrasts
from karat.measure.export import MEANINGS, tables
from karat.measure.measured import excluded, nobody
from karat.measure.measures import aligned
from karat.measure.rated import rated
from karat.measure.run import MOST_QUESTIONS, is_differential
from karat.messages import Message, NotComputed, message_of
from karat.simulate import answer_study
from karat.study.settings import ContrastSettings
from karat.study.study import load
from measure.differential import PAIRS as ADJECTIVES
from measure.differential import differential
from measure.factorial import FORMULA, frame
from measure.factorial import rated as answered
from measure.judged_pairs import judged
from measure.rated_items import ratings
from measure.retest import rated_twice
from messages import code_or_text, raises

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


@pytest.mark.slow
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
    assert isinstance(factorial.skipped["decisions (mean)"], NotComputed)
    with raises(MeasureError, "measures.not_measured", name="stability", reason=NotComputed("run.one_group")):
        factorial.of("stability")
    with raises(MeasureError, "measures.unknown") as error:
        factorial.of("strength")
    assert message_of(error.value).values["known"][:2] == ["strengths", "contrasts"]
    assert factorial.table()["name"].to_list() == names(factorial)


def test_everything_is_written_and_reported(factorial: Measures, tmp_path: Path) -> None:
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


@pytest.mark.slow
def test_every_kind_of_result_has_files_that_are_reported(factorial: Measures, differentials: Measures) -> None:
    for found in (factorial, differentials):
        assert all(part.result.exported() for part in found.parts)
        for name in tables(found):
            assert name in MEANINGS or name.rpartition("-")[0] in MEANINGS


@pytest.mark.slow
def test_a_semantic_differential_has_dimensions(differentials: Measures, tmp_path: Path) -> None:
    steps = ["ratings", "adequacy", "number of factors", "factors", "scores", "profiles"]
    assert [name for name in names(differentials) if name in steps] == steps
    assert differentials.of("factors").names == ("F1", "F2")
    assert [part.question for part in differentials.parts if part.name == "strengths"] == list(ADJECTIVES)
    found = {path.name for path in differentials.write(tmp_path)}
    assert {"loadings.csv", "scores.csv", "profiles.csv", "profiles.svg", "eigenvalues.svg", "stability.csv"} <= found
    text = str(differentials)
    assert "By question; agreement.csv has all of it." in text


def test_many_questions_are_modelled_one_by_one_on_request() -> None:
    found = run(rated_twice(people=8, items=6, questions=MOST_QUESTIONS + 1), samples=0)
    for name in ("strengths", "contrasts", "order effects", "decisions"):
        skipped = found.skipped[name]
        assert (skipped.code, skipped.values["n"], skipped.values["question"]) == ("run.differential", 7, "q0")


@pytest.mark.slow
def test_one_differential_question_is_measured_as_usual() -> None:
    found = run(differential(people=16, texts=6), question="clear")
    assert names(found)[0] == "strengths"
    assert "ratings" not in names(found)
    assert set(found.of("agreement").coefficients["question"]) == {"clear"}
    with raises(MeasureError, "run.no_question"):
        run(differential(people=16, texts=6), question="cleer")


@pytest.mark.slow
def test_the_number_of_factors_can_be_given() -> None:
    assert run(differential(people=16, texts=6), factors=1).of("factors").names == ("F1",)
    with raises(MeasureError, "factors.number"):
        run(differential(people=16, texts=6), factors=5)


@pytest.mark.slow
def test_few_questions_are_no_differential() -> None:
    twice = rated_twice(questions=2)
    assert not is_differential(rated(twice, "measure", once=None))
    found = run(twice)
    assert [(part.name, part.question) for part in found.parts][:2] == [("strengths", "q0"), ("strengths", "q1")]
    assert found.skipped["order effects"] == NotComputed("order.needed", {"name": "order_effects"})
    assert tables(found)["strengths"]["question"].unique(maintain_order=True).to_list() == ["q0", "q1"]


@pytest.mark.slow
def test_pairs_are_decided_by_every_model_and_compared(tmp_path: Path) -> None:
    judgments = judged("likert", [2.0, 1.5, 0.0, -2.0])
    found = run(judgments, ["ordinal", "mean"], pairs=PAIRS)
    assert found.of("decisions", "ordinal").counts["expert"] >= 2
    assert found.of("decisions compared").measures == ["ordinal", "mean"]
    written = {path.name for path in found.write(tmp_path)}
    assert {"decisions.csv", "decisions-mean.csv", "decisions-compared.csv", "decisions-compared.svg"} <= written
    # The same pairs, read from pair and status.
    assert run(judgments).of("decisions").frame["pair"].to_list() == ["0", "1", "2", "3"]
    with raises(MeasureError, "unknown.stimulus"):
        run(judgments, pairs=[("1", "a00", "b00")])


@pytest.mark.slow
def test_choices_have_strengths_and_decisions() -> None:
    judgments = judged("choice", [1.0, 0.8, 0.5, -0.4])
    found = run(judgments)
    assert found.of("decisions").settings["model"] == "binomial"
    assert found.skipped["contrasts"].code == "contrasts.choices"
    assert found.skipped["consensus"] == NotComputed("run.no_labels", {"kinds": ["choice"]})
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
    with raises(MeasureError, "unknown.column"):
        run(judgments, by="grup")


def test_labels_say_that_a_planned_comparison_is_missing(root: Path, tmp_path: Path) -> None:
    contrast = '[[contrast]]\nname = "tense"\nfactor = "tense"\nlevels = ["past", "present"]\n'
    shutil.copytree(root / "examples" / "label", tmp_path / "label")
    with (tmp_path / "label" / "study.toml").open("a", encoding="utf-8") as file:
        file.write(f"\n{contrast}")
    study = load(tmp_path / "label")
    found = run(answer_study(study, participants=4, seed=1), study=study, samples=0)
    assert found.skipped["planned"] == found.skipped["contrasts"]
    assert found.skipped["planned"].code == "contrasts.labels"


def test_labels_have_a_consensus_by_condition() -> None:
    random = [(f"p{p}", f"i{i}", ("x", "y")[(p + i) % 2]) for p in range(8) for i in range(6)]
    rows = {"participant": [r[0] for r in random], "item": [r[1] for r in random], "tense": [r[2] for r in random]}
    rows["response"] = ["red" if tense == "x" else "blue" for tense in rows["tense"]]
    found = run(karat.Judgments(rows, karat.Nominal(["red", "blue"])), conditions=["tense"])
    labels = found.of("consensus").labels
    assert labels.height == 12
    assert set(labels.select("tense", "label").rows()) == {("x", "red"), ("y", "blue")}
    assert found.skipped["strengths"] == NotComputed("strengths.no_order", {"kind": "nominal"})
    compared = run(karat.Judgments(rows, karat.Binary(("red", "blue"))), conditions=["tense"])
    assert compared.skipped["consensus"] == NotComputed("run.compared", {"scale": "nominal:red,blue"})
    apart = run(karat.Judgments(rows, karat.Binary(("red", "blue"))), conditions=[])
    assert "contrasts" in apart.skipped
    assert apart.of("consensus").labels.height == 6


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"models": ["thurstone"]}, "strengths.no_model"),
        ({"posterior": True}, "run.no_posterior"),
        ({"conditions": ["ordr"]}, "unknown.column"),
        ({"functions": ["filler"]}, "rated.no_answers"),
        ({"formula": "response ~ nothing"}, "model.no_random"),
    ],
)
def test_impossible_requests_by_name_are_errors(options: dict[str, Any], why: str) -> None:
    with pytest.raises(MeasureError) as error:
        run(ratings(), **options)
    assert why in code_or_text(error.value)


@pytest.mark.slow
def test_what_takes_long_is_left_out_unless_asked_for() -> None:
    judgments = answered(frame(people=5_001, items=40), karat.Ordinal(5))
    found = run(judgments, ["mean"], samples=0)
    assert {"contrasts", "order effects", "noise ceiling"} <= set(found.skipped)
    assert found.skipped["contrasts"] == NotComputed("run.contrasts_size", {"most": 200_000})
    asked = run(judgments, ["mean"], samples=0, formula="response ~ a + (1 | participant)")
    assert "contrasts" in names(asked)


@pytest.mark.slow
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


def test_planned_contrasts_have_the_stated_direction(factorial: Measures) -> None:
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
    reason = Message("planned.no_term", {"factors": ["c"]})
    assert planned.notes == (Message("planned.failed", {"name": "lost", "reason": reason}),)
    assert (planned.frame["adjusted"] >= planned.frame["p"]).all()
    with raises(MeasureError, "planned.failed"):
        planned_contrasts(plan[3:], found)


def test_a_planned_interaction_is_the_difference_of_differences(factorial: Measures) -> None:
    found = factorial.of("contrasts")
    cells = {(row["a"], row["b"]): (row["estimate"], row["raw"]) for row in found.means.filter(term="a:b").to_dicts()}
    levels = {"a": ["high", "low"], "b": ["old", "new"]}
    weights = {"high, old": 1, "high, new": -1, "low, old": -1, "low, new": 1}
    plan = [
        ContrastSettings(name="both", factors=levels),
        ContrastSettings(name="weights", factors=["a", "b"], weights=weights),
        ContrastSettings(name="one", factor="a", weights={"high": 2, "low": -2}),
        ContrastSettings(name="lost", factors={"a": ["high", "low"], "c": ["x", "y"]}),
    ]
    planned = planned_contrasts(plan, found)
    both, same, one = planned.frame.to_dicts()
    signs = {("high", "old"): 1, ("low", "old"): -1, ("high", "new"): -1, ("low", "new"): 1}
    expected = [sum(sign * cells[cell][k] for cell, sign in signs.items()) for k in (0, 1)]
    assert [both["estimate"], both["raw"]] == pytest.approx(expected)
    assert (both["first"], both["second"]) == ("(high − low) at old", "(high − low) at new")
    row = found.interactions.row(0, named=True)
    assert (abs(both["estimate"]), both["se"], both["p"]) == pytest.approx((abs(row["estimate"]), row["se"], row["p"]))
    assert {key: same[key] for key in ("estimate", "se", "p")} == pytest.approx(
        {key: both[key] for key in ("estimate", "se", "p")}
    )
    difference = planned_contrasts([ContrastSettings(name="a", factor="a", levels=["high", "low"])], found).frame
    assert (one["estimate"], one["p"]) == pytest.approx((2 * difference["estimate"].item(), difference["p"].item()))
    reason = Message("planned.no_factor", {"names": ["c"]})
    assert planned.notes == (Message("planned.failed", {"name": "lost", "reason": reason}),)


def test_planned_equivalence_is_two_one_sided_t_tests(factorial: Measures) -> None:
    found = factorial.of("contrasts")
    bounds = {"wide": 50.0, "narrow": 1e-6, "none": None}
    plan = [
        ContrastSettings(name=name, factor="a", levels=["high", "low"], equivalence=bound)
        for name, bound in bounds.items()
    ]
    wide, narrow, none = planned_contrasts(plan, found).frame.to_dicts()
    assert (wide["equivalence"], narrow["equivalence"], none["equivalence"]) == ("equivalent", "different", None)
    lower, upper = ((narrow["estimate"] + sign * 1e-6) / narrow["se"] for sign in (1, -1))
    assert narrow["p_equivalence"] == pytest.approx(max(t.sf(lower, narrow["df"]), t.cdf(upper, narrow["df"])))
    assert narrow["p"] == pytest.approx(2 * t.sf(abs(narrow["estimate"]) / narrow["se"], narrow["df"]))


def test_an_interaction_needs_its_term_and_a_choice_has_none() -> None:
    judgments = answered(frame(a=0.8), karat.Ordinal(5))
    plan = [ContrastSettings(name="both", factors={"a": ["high", "low"], "b": ["old", "new"]})]
    found = contrasts(judgments, "response ~ a + b + (1 | participant) + (1 | item)")
    with raises(MeasureError, "planned.failed", reason=Message("planned.no_term", {"factors": ["a", "b"]})):
        planned_contrasts(plan, found)
    rows = {"participant": ["p"], "item": ["t"], "left": ["t.old"], "right": ["t.new"], "response": ["left"]}
    with raises(MeasureError, "planned.failed") as error:
        planned_choices(plan, karat.Judgments(rows, karat.Choice()))
    assert message_of(error.value).values["reason"].code == "planned.choice"


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
    assert Message("planned.ties", {"name": "age", "n": 1}) in found.notes
    turned = [ContrastSettings(name="age", factor="age", levels=["new", "old"])]
    assert planned_choices(turned, judgments).frame["estimate"].item() == pytest.approx(-row["estimate"], abs=1e-4)
    with raises(MeasureError, "planned.failed") as error:
        planned_choices([ContrastSettings(name="age", factor="age", levels=["a", "b"])], judgments)
    expected = Message("planned.no_choice", {"factor": "age", "levels": ["a", "b"]})
    assert message_of(error.value).values["reason"] == expected


@pytest.mark.slow
def test_exclusions_are_read_from_a_screening_or_a_list(tmp_path: Path) -> None:
    judgments = ratings(people=4)
    screening = tmp_path / "screening.json"
    people = {name: {"excluded": name == "p1"} for name in ("p0", "p1", "p2", "p3")}
    screening.write_text(json.dumps({"participants": people}), encoding="utf-8")
    assert excluded(judgments, screening).participants == ("p1",)
    some = {"n": 1, "participants": 4, "file": str(screening), "unknown": None, "example": None}
    assert excluded(judgments, tmp_path).description == Message("excluded.some", some)
    found = run(judgments, ["mean"], without=excluded(judgments, screening))
    assert found.judgments.participants["participant"].to_list() == ["p0", "p2", "p3"]
    assert found.to_dict()["excluded"]["participants"] == ["p1"]
    left = judgments.without(["p1"])
    assert excluded(left, screening).description == Message("excluded.nobody_left", {"file": str(screening)})
    left.to_parquet(tmp_path / "judgments.parquet")
    screened = nobody([tmp_path / "judgments.parquet"]).description
    assert (screened.code, screened.values["kept"], screened.values["participants"]) == ("excluded.screened", 3, 4)
    table = tmp_path / "participants.csv"
    table.write_text("participant,excluded\np0,false\np1,true\n", encoding="utf-8")
    assert excluded(judgments, table).participants == ("p1",)
    table.write_text("participant\np0\np2\n", encoding="utf-8")
    assert excluded(judgments, table).participants == ("p0", "p2")


def test_exclusions_are_read_as_a_german_spreadsheet_saves_them(tmp_path: Path) -> None:
    table = tmp_path / "participants.csv"
    table.write_text("participant;excluded;score\np0;FALSCH;0,9\np1;WAHR;0,2\n", encoding="utf-8")
    assert excluded(ratings(people=4), table).participants == ("p1",)


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.json", b"{}", "not_screening"),
        ("a.json", b"no", "not_screening"),
        ("a.csv", b"name\np0\n", "no_column"),
        ("a.csv", b"participant,excluded\np0,perhaps\np1,false\n", "no_flag"),
        ("a.csv", b"participant\nq9\n", "other_study"),
        ("a.csv", b"participant\np0\np1\n", "everybody"),
        ("a.csv", b"participant\n\xff\n", "not_text"),
    ],
)
def test_exclusions_that_cannot_be_meant_are_refused(tmp_path: Path, name: str, content: bytes, code: str) -> None:
    (tmp_path / name).write_bytes(content)
    with raises(MeasureError, f"excluded.{code}"):
        excluded(ratings(people=2), tmp_path / name)


def test_a_missing_file_of_exclusions_is_refused(tmp_path: Path) -> None:
    with raises(MeasureError, "excluded.unreadable", why="No such file or directory"):
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
    planned = planned_contrasts(plan, found)
    assert planned.table()["contrast"].to_list() == ["at new"]
    assert [(note.code, note.values["name"]) for note in planned.notes] == [("planned.failed", "at old")]
    assert str(planned) == " ".join(map(str, (*planned.summary, *planned.notes)))


@pytest.mark.slow
def test_sources_without_answers_do_not_end_measuring() -> None:
    whole = judged("likert", [1.0, 0.5, 0.0], people=12)
    people = whole.participants.with_columns(
        source=pl.when(pl.int_range(pl.len()) < 3).then(pl.lit("web")).otherwise(pl.lit("lab"))
    )
    gone = people.filter(pl.col("source") == "web")["participant"].to_list()
    kept = whole.frame.filter(~pl.col("participant").is_in(gone))
    found = run(karat.Judgments(kept, whole.scales, participants=people))
    assert "decisions" in names(found)
    assert isinstance(found.skipped["stability of decisions by source"], NotComputed)


def test_levels_are_in_natural_order() -> None:
    rows = [(f"p{who}", f"i{what}", f"{(what % 3) ** 3 + 2}", str(1 + (who + what) % 5)) for who in range(8)
            for what in range(12)]  # fmt: skip
    table = pl.DataFrame(rows, schema=["participant", "item", "length", "response"], orient="row")
    found = contrasts(karat.Judgments(table, karat.Ordinal(5)), conditions=["length"])
    assert found.means["length"].to_list() == ["2", "3", "10"]
    assert found.differences.select("first", "second").rows() == [("2", "3"), ("2", "10"), ("3", "10")]


def test_labels_by_one_participant_have_no_consensus() -> None:
    labels = {"participant": ["p"] * 6, "item": list("abcdef"), "response": list("xyzxyz")}
    found = run(karat.Judgments(labels, karat.Nominal(["x", "y", "z"])), samples=0)
    assert found.skipped["consensus"].code == "noise_ceiling.no_shared_stimulus"
