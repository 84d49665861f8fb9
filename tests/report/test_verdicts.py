"""A page has one verdict per question: sentences, titles of figures and tables never disagree."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest

import karat
from benchmarks.wild import ANSWERS, REFUSED, WILD, cases
from karat.languages import language_of
from karat.measure.effects.contrasts import Contrasts
from karat.measure.effects.order_effects import OrderEffects
from karat.measure.effects.planned import PlannedContrasts
from karat.measure.measured import Measure
from karat.measure.measures import Measures
from karat.measure.reliability.agreement import Agreement
from karat.measure.result import is_shown
from karat.messages import Message
from karat.report import build
from karat.report.build import NOT_COMPUTED, ReportData
from karat.report.comparisons import model_of
from karat.report.outcomes import CHOSEN, Outcomes, outcomes
from karat.report.page import html
from karat.report.sections import people, quality, results, sample, sections
from karat.report.sections.brief import leads
from karat.section import Figure, Section
from karat.simulate import answer_study
from karat.study import load
from karat.study.init import write_study
from report.small import gathered


def drawn(
    effect: float, drift: float, fast: int, seed: int, people: int = 16, items: int = 16
) -> karat.Judgments:  # fmt: skip
    """Ratings with an effect of length, a drift along the questionnaire, and some who answer fast throughout."""
    random = np.random.default_rng(seed)
    rows = []
    for person in range(people):
        for trial, number in enumerate(random.permutation(items), start=1):
            long = (number + person) % 2 == 0
            value = 3.0 - effect * long + drift * trial / items + 0.2 * (number % 4) + random.normal(0, 0.8)
            time = (0.3 if person < fast else 2.5) * float(np.exp(random.normal(0, 0.3)))
            rows.append((f"p{person:02}", f"i{number:02}", "long" if long else "short", trial, time,
                         str(int(np.clip(round(value), 1, 5)))))  # fmt: skip
    names = ["participant", "item", "length", "trial", "rt", "response"]
    return karat.Judgments(pl.DataFrame(rows, schema=names, orient="row"), karat.Ordinal(5))


RULES = {"completion": {}, "remfod": {}, "speed": {}, "exclude": "any"}
DRAWN = {"nothing": (0.0, 0.0, 0, 1), "an effect": (1.2, 0.0, 3, 2), "a drift": (0.1, 2.0, 2, 3)}


def contradictions(found: ReportData) -> Iterator[str]:
    """Where a page says two things of one question."""
    parts = found.measures.parts if isinstance(found.measures, Measures) else ()
    figures = [one for part in sections(found) for own in part.walk() for one in own.figures]
    for part in parts:
        if isinstance(part.result, OrderEffects):
            key = re.sub(r"[^a-z0-9]+", "-", part.heading.lower())
            yield from _order(part.result, [one for one in figures if one.key.startswith(key)])
    if isinstance(found.outcomes, Outcomes):
        yield from _brief(found, found.outcomes)
    lines = [claim for claim, _ in leads(found)]
    excluded, everyone = len(found.screening.excluded), found.judgments.participants.height
    if found.screening.exclude is not None and f"{everyone - excluded:,} of {everyone:,}" not in lines[0]:
        yield f"{lines[0]}: {excluded} are excluded"
    page = html(found)
    counts = quality.look_counts(found)
    if quality.looked_at(found) and f"{counts['flagged']:,} of {counts['participants']:,} participant" not in page:
        yield f"{counts['flagged']} are flagged, and the summary says another number"


def _order(found: OrderEffects, figures: list[Figure]) -> Iterator[str]:
    """Titles and sentences on the change along the questionnaire go by the same p."""
    for measure, code, word in (("response", "order.change", "Answers"), ("rt", "order.time_change", "Response times")):
        said = [message.values["p"] for message in found.summary if message.code == code]
        titles = [one.title for one in figures if one.title.startswith(f"{word} ")]
        shown = any(is_shown(p) for p in said)
        for title in titles:
            if shown == ("no clear change" in title):
                yield f"{measure}: {title}, p = {said}"


def _brief(found: ReportData, outcomes: Outcomes) -> Iterator[str]:
    """The claim on the first screen goes by the p of the table, which is that of the measure."""
    claims = " ".join(claim for claim, _ in leads(found))
    several = any(len({cell[place] for cell in outcomes.cells}) > 2 for place in range(len(outcomes.factors)))
    if several and outcomes.tests and not any(one.planned for one in outcomes.comparisons):
        # Factors with more than two levels: the model's tests of whole factors decide.
        crossed = [one for one in outcomes.tests if len(one.factors) > 1 and one.shown]
        changed = sorted(crossed, key=lambda one: -len(one.factors))[:1]
        said = changed or [one for one in outcomes.tests if one.shown]
        words = ["depends on" if changed else "differ by", *(name for one in said for name in one.factors)]
        if not all(word in claims for word in (words if said else ["No effect"])):
            yield f"{claims} {outcomes.tests}"
    else:
        for one in outcomes.comparisons[:1]:
            if one.shown is not None and one.shown == ("No difference" in claims):
                yield f"{claims} p = {one.p}"
    planned = [part.result for part in found.measures.parts if isinstance(part.result, PlannedContrasts)] if isinstance(
        found.measures, Measures) else []  # fmt: skip
    for own in planned:
        p = dict(own.frame.select("contrast", "p").iter_rows())
        for one in outcomes.comparisons:
            if one.planned and one.p != p.get(one.name):
                yield f"{one.name}: p = {one.p} and {p.get(one.name)}"
    table = next((own for part in sections(found) if part.key == "results" for own in part.tables), None)
    if table is not None and outcomes.comparisons:
        first = table.frame.row(0, named=True)
        if first["estimate"] != pytest.approx(outcomes.analysed.comparisons[0][0]):
            yield f"{first['estimate']} in the table, {outcomes.analysed.comparisons[0][0]} in the figure"


@pytest.mark.parametrize("case", DRAWN)
def test_simulated_sets_do_not_contradict_themselves(case: str) -> None:
    found = build(drawn(*DRAWN[case]), rules=RULES, quick=True)
    assert list(contradictions(found)) == []


def test_a_report_with_everything_does_not_contradict_itself() -> None:
    assert list(contradictions(gathered())) == []


def test_fast_participants_below_relative_rules_are_counted() -> None:
    found = build(drawn(*DRAWN["an effect"]), rules=RULES, quick=True)
    counts = quality.look_counts(found)
    assert counts["fast"] == 3
    assert counts["fastest"] < 0.5 * counts["median"]
    slow = drawn(*DRAWN["an effect"])
    slow = karat.Judgments(slow.frame.with_columns(pl.col("rt") * 30), karat.Ordinal(5))
    assert quality.look_counts(build(slow, rules=RULES, quick=True))["fast"] == 0


@pytest.mark.slow
def test_file_is_the_title_without_a_study() -> None:
    found = build(drawn(*DRAWN["nothing"]), quick=True, file="results.csv")
    page = html(found)
    assert "<h1>results.csv</h1>" in page
    assert not re.search(r">as stated|stated rule excludes", page[: page.index("<main")])


@pytest.mark.slow
def test_playback_is_needed_for_answers_on_the_page() -> None:
    found = build(drawn(*DRAWN["nothing"]), quick=True, playback=False)
    assert "playback-data" not in html(found).replace('read("playback-data")', "")


def test_labels_with_a_key_lead_with_right_answers() -> None:
    random = np.random.default_rng(1)
    rows = {"participant": [f"p{n // 20}" for n in range(200)], "item": [f"i{n % 20}" for n in range(200)]}
    rows["expected"] = ["yes" if n % 2 else "no" for n in range(200)]
    rows["response"] = [key if random.random() < 0.8 else "no" for key in rows["expected"]]
    found = build(karat.Judgments(rows, karat.Binary(("no", "yes"))), quick=True).outcomes
    assert isinstance(found, Outcomes)
    assert (found.kind, found.factors) == ("right", ("expected",))
    right = [100 * float(np.mean([a == e for a, e in zip(rows["response"], rows["expected"], strict=True) if e == key]))
             for key in ("no", "yes")]  # fmt: skip
    assert [cell[0] for cell in found.analysed.cells] == pytest.approx(right)
    same = [answer == key for answer, key in zip(rows["response"], rows["expected"], strict=True)]
    own = np.array(same).reshape(10, 20).mean(axis=1) * 100
    assert found.right == pytest.approx((100 * float(np.mean(same)), own.min(), own.max()))


def test_ratings_with_a_key_lead_with_right_answers() -> None:
    rows = {"participant": [f"p{n // 10}" for n in range(60)], "item": [f"i{n % 10}" for n in range(60)]}
    rows["expected"] = [str(1 + n % 5) for n in range(60)]
    rows["response"] = [key if n % 3 else "1" for n, key in enumerate(rows["expected"])]
    found = build(karat.Judgments(rows, karat.Ordinal(5)), quick=True).outcomes
    assert isinstance(found, Outcomes)
    assert found.kind == "right"


@pytest.mark.slow
def test_factors_in_contrast_coding_are_factors() -> None:
    judgments = drawn(*DRAWN["an effect"])
    coded = pl.when(pl.col("length") == "long").then(0.5).otherwise(-0.5).alias("length")
    found = build(karat.Judgments(judgments.frame.with_columns(coded), karat.Ordinal(5)), quick=True).outcomes
    plain = build(judgments, quick=True).outcomes
    assert isinstance(found, Outcomes)
    assert isinstance(plain, Outcomes)
    assert found.factors == ("length",)
    assert np.sort(found.analysed.cells, axis=0) == pytest.approx(np.sort(plain.analysed.cells, axis=0))


def test_unconnected_pairs_lead_with_preferences() -> None:
    rows = {"participant": [f"p{n // 6}" for n in range(60)], "item": [f"i{n % 6}" for n in range(60)]}
    rows |= {"left": [f"{item}.a" for item in rows["item"]], "right": [f"{item}.b" for item in rows["item"]]}
    rows["response"] = ["right" if n % 5 else "left" for n in range(60)]
    found = build(karat.Judgments(rows, karat.Choice()), quick=True).outcomes
    assert isinstance(found, Outcomes)
    assert (found.kind, len(found.cells)) == ("preference", 6)
    assert all(cell[0] >= 50 for cell in found.analysed.cells)


def test_labels_lead_with_the_agreement_of_participants() -> None:
    rows = {"participant": [f"p{n // 12}" for n in range(120)], "item": [f"i{n % 12}" for n in range(120)]}
    rows["response"] = ["bca"[n % 3] if n % 7 else "a" for n in range(120)]
    report = build(karat.Judgments(rows, karat.Nominal(("a", "b", "c"))), quick=True)
    assert isinstance(report.measures, Measures)
    (found,) = (part.result for part in report.measures.parts if isinstance(part.result, Agreement))
    assert leads(report)[1][0] == str(found.summary[0])
    assert list(contradictions(report)) == []


@pytest.mark.parametrize("keyed", [False, True])
def test_without_participants_there_is_no_main_result(keyed: bool) -> None:
    rows = {"participant": [f"p{n // 8}" for n in range(80)], "item": [f"i{n % 8}" for n in range(80)]}
    rows |= {"genre": ["old" if n % 8 < 4 else "new" for n in range(80)], "response": [str(n % 2) for n in range(80)]}
    rows |= {"expected": [str(n % 8 % 2) for n in range(80)]} if keyed else {}
    rules = {"completion": {"at_least": 1.0, "trials": 500}, "exclude": "any"}
    report = build(karat.Judgments(rows, karat.Binary()), rules=rules, quick=True)
    assert len(report.screening.excluded) == 10
    assert isinstance(report.outcomes, Outcomes)
    assert report.outcomes.comparisons
    assert not any("nan" in text for lead in leads(report) for text in lead)
    assert list(contradictions(report)) == []


@pytest.mark.parametrize("ties", [0, 3])
def test_choices_say_whether_no_difference_is_left_out(ties: int) -> None:
    rows: dict[str, list[str]] = {"participant": [f"p{n}" for n in range(20)], "item": ["t1"] * 20}
    rows |= {"left": ["t1a"] * 20, "right": ["t1b"] * 20, "response": ["none"] * ties + ["left"] * (20 - ties)}
    report = build(karat.Judgments(rows, karat.Choice(none=True)), quick=True)
    assert isinstance(report.outcomes, Outcomes)
    assert report.outcomes.unit == CHOSEN[ties > 0]
    assert report.outcomes.analysed.answering == 20 - ties
    assert ("no difference" in leads(report)[1][1]) == (ties > 0)


@pytest.mark.parametrize(("people", "clear"), [(2, 0), (10, 6)])
def test_agreement_of_two_participants_shows_no_preference(people: int, clear: int) -> None:
    rows = {"participant": [f"p{n // 6}" for n in range(6 * people)], "item": [f"i{n % 6}" for n in range(6 * people)]}
    rows |= {"left": [f"{item}.a" for item in rows["item"]], "right": [f"{item}.b" for item in rows["item"]]}
    rows["response"] = ["left"] * (6 * people)
    report = build(karat.Judgments(rows, karat.Choice()), quick=True)
    found = report.outcomes
    assert isinstance(found, Outcomes)
    assert found.clear() == clear
    # Pairs of which none shows a preference have no clearest one.
    assert ("100 %" in leads(report)[1][1]) == bool(clear)
    assert all(low < mean == high == 100 for mean, low, high in found.analysed.cells)


def test_preferences_of_few_participants_are_exact() -> None:
    """Of 13 independent choices each, 3 to 10 of one side are no preference, and 2 or 11 are."""
    rows = [
        {"participant": f"p{person}", "item": f"i{first}", "left": f"i{first}.a", "right": f"i{first}.b",
         "response": "left" if person < first else "right"}
        for first in range(14) for person in range(13)
    ]  # fmt: skip
    found = build(karat.Judgments(pl.DataFrame(rows), karat.Choice()), quick=True).outcomes
    assert isinstance(found, Outcomes)
    for cell, (mean, low, high) in zip(found.cells, found.analysed.cells, strict=True):
        chosen = round(mean * 13 / 100)
        assert (low, high) == pytest.approx([100 * end for end in binomtest(chosen, 13).proportion_ci(0.95, "exact")])
        assert (low > 50) == (chosen > 10), cell
    assert found.clear() == 6


def test_shares_of_participants_who_differ_have_wider_intervals() -> None:
    def interval(shares: list[float]) -> tuple[float, float, float]:
        rows = [
            {"participant": f"p{person}", "item": f"i{n}", "response": "yes" if n < round(20 * share) else "no"}
            for person, share in enumerate(shares) for n in range(20)
        ]  # fmt: skip
        found = build(karat.Judgments(pl.DataFrame(rows), karat.Binary(("no", "yes"))), quick=True).outcomes
        assert isinstance(found, Outcomes)
        return found.analysed.cells[0]

    alike, apart, near_end = interval([0.45, 0.55] * 5), interval([0.1, 0.9] * 5), interval([0.95, 1.0] * 5)
    exact = [100 * end for end in binomtest(100, 200).proportion_ci(0.95, "exact")]
    # Participants who differ no more than chance would have it are as many independent answers as they gave, at most.
    assert alike[2] - alike[1] >= exact[1] - exact[0]
    assert apart[2] - apart[1] > 2 * (alike[2] - alike[1])
    assert near_end[2] < 100


@pytest.mark.skipif(not WILD.is_dir(), reason="the reference data are not on this machine")
def test_many_unconnected_pairs_lead_with_decisions() -> None:
    pairs = pl.read_csv(WILD.parent / "pairs" / "sprouse_me.csv").head(40)
    random = np.random.default_rng(1)
    apart = (pairs["me_z_acceptable"] - pairs["me_z_less"]).to_numpy()
    first = random.random((12, pairs.height)) < 1 / (1 + np.exp(-2 * apart))
    item = pairs["pair_id"].cast(pl.String).to_list()
    rows = {"participant": np.repeat([f"p{n}" for n in range(12)], pairs.height), "item": item * 12}
    rows |= {"left": [f"{one}.good" for one in rows["item"]], "right": [f"{one}.less" for one in rows["item"]]}
    rows["response"] = np.where(first.ravel(), "left", "right")
    found = build(karat.Judgments(rows, karat.Choice()), quick=True)
    assert isinstance(found.outcomes, Outcomes)
    assert found.outcomes.kind == "preference"
    assert len(found.outcomes.cells) + found.outcomes.left_out == pairs.height
    share = first.mean(axis=0)
    error = np.sqrt(share * (1 - share) / 11)
    decided = np.abs(share - 0.5) > 2.2 * error
    assert found.outcomes.clear() == pytest.approx(decided.sum(), abs=1)
    assert found.outcomes.clear_left_out > 0
    means = [cell[0] for cell in found.outcomes.analysed.cells]
    assert min(means) == pytest.approx(100 * np.maximum(share, 1 - share).min())
    claim, rest = leads(found)[1]
    assert f" {found.outcomes.clear()} of {pairs.height} pairs" in claim
    assert "not adjusted" in rest


def test_levels_keep_the_order_of_the_study() -> None:
    judgments = drawn(*DRAWN["an effect"])
    formula = "response ~ length + (1 | participant) + (1 | item)"
    found = karat.measure.contrasts(judgments, formula, levels={"length": ["short", "long"]})
    turned = karat.measure.contrasts(judgments, formula)
    assert found.differences.row(0)[1:3] == ("short", "long")
    assert turned.differences.row(0)[1:3] == ("long", "short")
    assert found.differences["estimate"].item() == pytest.approx(-turned.differences["estimate"].item(), abs=1e-4)


def test_a_page_grows_slowly_with_participants() -> None:
    sizes = [len(html(build(drawn(*DRAWN["an effect"], people, 12), rules=RULES, quick=True))) for people in (12, 36)]
    assert (sizes[1] - sizes[0]) / 24 < 5_000_000 / 500


@pytest.mark.slow
def test_a_page_on_500_participants_stays_under_5_mb() -> None:
    page = html(build(drawn(*DRAWN["an effect"], 500, 75), rules=RULES, quick=True))
    assert len(page.encode()) < 5_000_000


SETS = {
    "ajt/forced_choice": ("preference", ("_pair",)),
    "ajt/likert": ("means", ("word_order",)),
    "ba/binary_sim": ("right", ("expected",)),
    "ba/mturk": ("right", ("condition",)),
    "ba/nominal_sim": ("right", ("expected",)),
    "ba/ordinal_sim": ("right", ("expected",)),
    "crowds/aspects": ("answers", ("answer",)),
    "crowds/duck": ("right", ("expected",)),
    "crowds/music": ("right", ("item_part_1",)),
    "crowds/product": ("right", ("expected",)),
    "crowds/relations": ("answers", ("answer",)),
    "machines/preferences": ("answers", ("answer",)),
    "machines/prompts": ("answers", ("answer",)),
    "machines/relations": ("answers", ("answer",)),
    "machines/stars": ("answers", ("answer",)),
    "machines/summaries": ("answers", ("answer",)),
    "mixed/binary_sim": ("share", ("a", "b")),
    "mixed/likert_sim": ("means", ("a", "b")),
    "mixed/verbagg_120": ("answers", ("answer",)),
    "pairs/disagreements": ("answers", ("answer",)),
    "sd/bfi": ("answers", ("answer",)),
    "sd/sd_sim": ("answers", ("answer",)),
}
"""The other reference sets that are answers of participants, and what their first figure is about."""


@pytest.mark.slow
@pytest.mark.skipif(not WILD.is_dir(), reason="the reference data are not on this machine")
@pytest.mark.parametrize("name", SETS)
def test_reports_on_reference_sets_are_about_their_factors(name: str, tmp_path: Path) -> None:
    from karat.cli.main import app

    file = tmp_path / "judgments.parquet"
    app(["convert", str(WILD.parent / f"{name}.csv"), "--yes", "-o", str(file), "--quiet"], standalone_mode=False)
    found = build(karat.read(file), quick=True, file=f"{name}.csv")
    assert list(contradictions(found)) == []
    assert isinstance(found.outcomes, Outcomes)
    assert (found.outcomes.kind, found.outcomes.factors) == SETS[name]


@pytest.mark.slow
def test_the_report_of_the_demo_study_does_not_contradict_itself(tmp_path: Path) -> None:
    from karat.demo import simulated

    _, answered = simulated(tmp_path)
    found = build(answered.judgments, answered.study)
    assert list(contradictions(found)) == []
    assert isinstance(found.outcomes, Outcomes)
    assert found.outcomes.factors == ("position", "adverb")


@pytest.mark.slow
@pytest.mark.skipif(not WILD.is_dir(), reason="the reference data are not on this machine")
@pytest.mark.parametrize("name", [name for name in (cases() if WILD.is_dir() else {}) if name not in REFUSED])
def test_reports_on_real_files_do_not_contradict_themselves(name: str, tmp_path: Path) -> None:
    from karat.cli.main import app

    file = tmp_path / "judgments.parquet"
    options = list(dict.fromkeys([*shlex.split(ANSWERS.get(name, "")), "--yes"]))
    files = [str(WILD / one) for one in cases()[name]["files"]]
    app(["convert", *files, *options, "-o", str(file), "--quiet"], standalone_mode=False)
    found = build(karat.read(file), quick=True, file=file.name)
    assert list(contradictions(found)) == []
    assert isinstance(found.outcomes, Outcomes)


def keyed(hard: float, seed: int = 1, levels: int = 2) -> karat.Judgments:
    """Labels of two kinds with a key; of each level of difficulty, a smaller share is right."""
    random = np.random.default_rng(seed)
    rows = []
    for person in range(16):
        for number in range(12 * levels):
            key = "yes" if number % 2 else "no"
            level = number // 2 % levels
            given = key if random.random() < 0.92 - hard * level else {"yes": "no", "no": "yes"}[key]
            rows.append((f"p{person:02}", f"i{number:02}", f"level {level}", key, given))
    names = ["participant", "item", "difficulty", "expected", "response"]
    return karat.Judgments(pl.DataFrame(rows, schema=names, orient="row"), karat.Binary(("no", "yes")))


def test_every_factor_of_three_is_tested_on_the_first_screen() -> None:
    random, rows = np.random.default_rng(1), []
    for person, item in product(range(16), range(24)):
        code = (person + item) % 8
        a, b, c = code & 1, code >> 1 & 1, code >> 2
        rows.append((f"p{person}", f"i{item}", "de"[a], "fg"[b], "hi"[c], 3 * b + 4 * b * c + random.normal()))
    names = ["participant", "item", "mood", "tense", "voice", "response"]
    found = build(karat.Judgments(pl.DataFrame(rows, schema=names, orient="row"), karat.Continuous()), quick=True)
    assert isinstance(found.outcomes, Outcomes)
    assert {one.factors for one in found.outcomes.tests if one.shown} == {("tense",), ("voice",), ("tense", "voice")}
    assert list(contradictions(found)) == []


@pytest.mark.parametrize("levels", [2, 3])
def test_a_model_of_right_answers_decides_on_right_answers(levels: int) -> None:
    """Half of the answers are “yes” at every level, so that a model of the answers finds nothing."""
    found = build(keyed(0.2, levels=levels), quick=True)
    assert isinstance(found.outcomes, Outcomes)
    assert isinstance(found.measures, Measures)
    (test,) = found.outcomes.tests
    assert test.factors == ("difficulty",)
    assert test.shown
    assert not is_shown(found.measures.of("contrasts").frame["p"].item())
    assert all(one.shown for one in found.outcomes.comparisons)
    right = next(part for part in sections(found) if part.key == "results").sections[0]
    assert right.title == "Contrasts (right answers)"
    assert right.tables[0].frame["p"].item() == test.p
    assert list(contradictions(found)) == []


@pytest.mark.slow
def test_a_factor_with_three_levels_leads_with_its_test() -> None:
    for effect, shown in ((0.8, True), (0.0, False)):
        judgments = drawn(0.0, 0.0, 0, 5, items=18)
        random = np.random.default_rng(3)
        level = (judgments.frame["item"].str.slice(1).cast(pl.Int64) + random.integers(0, 3, len(judgments))) % 3
        moved = judgments.frame["response"].cast(pl.Int64) - (effect * level).round(0).cast(pl.Int64)
        frame = judgments.frame.drop("length").with_columns(
            size=pl.Series([f"size {one}" for one in level]), response=moved.clip(1, 5).cast(pl.String)
        )
        found = build(karat.Judgments(frame, karat.Ordinal(5)), quick=True)
        assert isinstance(found.outcomes, Outcomes)
        assert found.outcomes.factors == ("size",)
        assert [one.shown for one in found.outcomes.tests] == [shown]
        claim, rest = leads(found)[1]
        assert ("No effect" in claim) == (not shown)
        means = [cell[0] for cell in found.outcomes.analysed.cells]
        assert f"{min(means):.2f}" in rest
        assert f"{max(means):.2f}" in rest
        assert list(contradictions(found)) == []


def test_an_interaction_that_is_shown_leads() -> None:
    found = build(karat.datasets.load("likert"), quick=True)
    assert isinstance(found.outcomes, Outcomes)
    first = found.outcomes.comparisons[0]
    assert not first.simple
    assert first.shown
    gap = [found.outcomes.analysed.cells[place][0] for place in range(4)]
    assert found.outcomes.analysed.comparisons[0][0] == pytest.approx(gap[0] - gap[1] - gap[2] + gap[3])
    assert f"{gap[0] - gap[2]:.2f} for “no”" in leads(found)[1][1]


def test_a_planned_difference_turned_round_says_so(tmp_path: Path) -> None:
    write_study(tmp_path, "likert", language="de")
    study = load(tmp_path)
    found = build(answer_study(study, 30, shares={}, seed=1), study=study, quick=True)
    assert isinstance(found.outcomes, Outcomes)
    first = found.outcomes.comparisons[0]
    assert first.planned
    assert first.simple
    means = {cell: own[0] for cell, own in zip(found.outcomes.cells, found.outcomes.analysed.cells, strict=True)}
    gaps = {level: means[first.first, level] - means[first.second, level] for level in ("definite", "indefinite")}
    assert gaps["definite"] * gaps["indefinite"] < 0
    claim, rest = leads(found)[1]
    assert claim.startswith("On average, ")
    assert all(f"{abs(gap):.2f} for “{level}”" in rest for level, gap in gaps.items())


def test_factors_with_equal_levels_have_their_own_p() -> None:
    judgments = drawn(1.5, 0.0, 0, 2)
    random = np.random.default_rng(1)
    frame = judgments.frame.with_columns(
        long=pl.when(pl.col("length") == "long").then(pl.lit("yes")).otherwise(pl.lit("no")),
        bright=pl.Series(random.permuted(np.resize(["yes", "no"], len(judgments)))),
    ).drop("length")
    found = build(karat.Judgments(frame.select("participant", "item", "response", "bright", "long"), karat.Ordinal(5)),
                  quick=True).outcomes  # fmt: skip
    assert isinstance(found, Outcomes)
    p = {one.name: one.shown for one in found.comparisons if one.simple}
    assert p == {"bright": False, "long": True}


@pytest.mark.slow
def test_planned_comparisons_of_keys_are_under_results(tmp_path: Path) -> None:
    write_study(tmp_path, "yes-no")
    study = load(tmp_path)
    answered = answer_study(study, 30, shares={}, effects=1.5, seed=1)
    # Half of the right answers are "no", so that a model of the answers has another p.
    key = pl.when(pl.col("item").str.tail(1).is_in(list("02468"))).then(pl.lit("yes")).otherwise(pl.lit("no"))
    frame = answered.frame.with_columns(expected=pl.when(pl.col("function") == "test").then(key).otherwise("expected"))
    found = build(karat.Judgments(frame, answered.scales, answered.participants), study=study, quick=True)
    assert isinstance(found.outcomes, Outcomes)
    (own,) = (one for one in results.section(found).sections if one.title == "Planned comparisons (right answers)")
    (answers,) = (one for one in results.section(found).sections if one.title == "Planned comparisons")
    p = [one.p for one in found.outcomes.comparisons]
    assert own.tables[0].frame["p"].to_list() == p
    assert answers.tables[0].frame["p"].to_list() != p


def asked(questions: dict[str, tuple[int, int]], genres: bool = True) -> ReportData:
    """Ratings by four participants on several questions, and what each question adds for items of genres a and b."""
    rows = [
        {"participant": f"p{who}", "item": f"i{item}", "question": question, "genre": "ab"[item % 2],
         "response": 1 + (who + item // 2) % 2 + added[item % 2]}
        for who in range(4) for item in range(6) for question, added in questions.items()
    ]  # fmt: skip
    frame = pl.DataFrame(rows) if genres else pl.DataFrame(rows).drop("genre")
    found = karat.screen.run(karat.Judgments(frame, dict.fromkeys(questions, karat.Ordinal(5))), {"completion": {}})
    return ReportData(found, None, NOT_COMPUTED, NOT_COMPUTED, outcomes=outcomes(found, None, NOT_COMPUTED))


@pytest.mark.parametrize("genres", [True, False])
def test_of_two_questions_the_first_leads_and_both_are_named(genres: bool) -> None:
    found = asked({"natural": (2, 0), "clear": (0, 2)}, genres)
    claim, rest = leads(found)[1]
    assert claim.startswith("Question “natural”: ")
    assert "“clear”" in rest
    assert isinstance(found.outcomes, Outcomes)
    assert found.outcomes.to_dict()["question"] == "natural"
    page = html(found)
    assert "on the question “natural”" in page


def test_different_questions_are_not_averaged() -> None:
    # Each genre has the same mean over all three questions, which would hide that the questions differ.
    found = asked({"natural": (2, 0), "clear": (0, 2), "short": (1, 1)}).outcomes
    assert isinstance(found, Outcomes)
    assert found.factors == ("genre", "question")
    means = {cell: ends[0] for cell, ends in zip(found.cells, found.analysed.cells, strict=True)}
    assert means["a", "natural"] == means["b", "clear"] == means["a", "clear"] + 2
    assert not found.comparisons


def test_more_questions_than_lines_are_rows() -> None:
    found = asked({f"q{number}": (number % 3, 0) for number in range(7)}).outcomes
    assert isinstance(found, Outcomes)
    assert found.factors == ("question",)


def test_comparisons_by_rule_say_what_is_subtracted_from_what() -> None:
    found = gathered()
    (table,) = results.section(found).tables
    assert table.caption.startswith("order: OBJ>PP minus PP>OBJ.")


def test_degrees_of_freedom_are_written_as_in_sentences() -> None:
    parts = [part for part in results.section(gathered()).walk() if part.title == "Contrasts"]
    (tests,) = [table for part in parts for table in part.tables if "denominator" in table.frame.columns]
    assert tests.heading("denominator") == "denominator df"
    for value, text in ((1.0, "1"), (1025.0, "1025"), (125211.39, "125211.4")):
        assert tests.cell("denominator", value) == language_of("en").value(value, "df") == text


def test_notes_of_several_results_are_shown_once() -> None:
    for section in sections(gathered()):
        notes = [note for part in section.walk() for note in part.notes]
        assert len(notes) == len(set(notes))


def test_trials_without_an_answer_are_not_counted_as_answers() -> None:
    rows = {"participant": [*"aabb"], "item": [*"xyxy"], "response": [1, None, 2, 3]}
    found = karat.screen.run(karat.Judgments(rows, karat.Ordinal(5)), {"completion": {}})
    (table,) = sample.asked_section(ReportData(found, None, NOT_COMPUTED, NOT_COMPUTED)).tables
    assert table.frame["answers"].to_list() == [3]


@pytest.mark.parametrize("modulus", [None, 50])
def test_differences_of_magnitudes_are_not_points(modulus: float | None) -> None:
    rows = [
        {"participant": f"p{who}", "item": f"i{item}", "genre": "ab"[item % 2], "response": 10 * (1 + item % 2) + who}
        for who in range(4) for item in range(6)
    ]  # fmt: skip
    found = karat.screen.run(karat.Judgments(pl.DataFrame(rows), karat.Magnitude(modulus)), {"completion": {}})
    report = ReportData(found, None, NOT_COMPUTED, NOT_COMPUTED, outcomes=outcomes(found, None, NOT_COMPUTED))
    # The first screen and the table of contrasts have the same means, of ratios to the modulus.
    means = karat.measure.contrasts(found.judgments, "response ~ genre + (1 | participant)").means
    assert isinstance(report.outcomes, Outcomes)
    assert [cell[0] for cell in report.outcomes.analysed.cells] == pytest.approx(means["raw"].to_list())
    (claim, rest), *_ = leads(report)[1:]
    assert "log units" in rest
    assert "points" not in claim + rest


def test_a_cutoff_below_nothing_is_no_cutoff() -> None:
    # Times that vary as much as these have a lower cutoff below 0 s.
    times = [*range(1, 11)] * 4
    rows = {"participant": [who for who in "abcd" for _ in range(10)], "item": [f"i{n}" for n in range(10)] * 4,
            "response": [1, 2] * 20, "rt": times, "trial": [*range(1, 11)] * 4}  # fmt: skip
    judgments = karat.Judgments(rows, karat.Ordinal(5))
    evidence = karat.screen.remfod(judgments)
    assert (evidence.cutoffs["lower"] < 0).all()
    part = quality.times_section(evidence)
    assert isinstance(part, Section)
    assert part.tables[0].frame["lower"].to_list() == [None]


def test_each_of_three_questions_has_its_model_and_section() -> None:
    added, random = {"natural": 1, "clear": 0, "short": 0}, np.random.default_rng(1)
    rows = [
        {"participant": f"p{who}", "item": f"i{item}", "genre": "ab"[item % 2], "question": question,
         "response": int(random.integers(3)) + more * (item % 2)}
        for who in range(12) for item in range(8) for question, more in added.items()
    ]  # fmt: skip
    found = build(karat.Judgments(pl.DataFrame(rows), dict.fromkeys(added, karat.Ordinal(range(5)))), quick=True)
    assert isinstance(found.outcomes, Outcomes)
    assert isinstance(found.measures, Measures)
    shown = {question: any(one.shown for one in tests) for question, tests in found.outcomes.by_question}
    assert shown == {"natural": True, "clear": False, "short": False}
    titles = [one.title for one in results.section(found).sections]
    assert [title for title in titles if title.startswith("Question")] == [f"Question “{name}”" for name in added]
    (agreement,) = [one for one in results.section(found).sections if one.title == "Agreement"]
    assert [table.frame["question"].to_list() for table in agreement.tables] == [list(added)]
    # The scale begins with 0 in the figure and in the tables of the model alike.
    means = {cell: ends[0] for cell, ends in zip(found.outcomes.cells, found.outcomes.analysed.cells, strict=True)}
    for part in found.measures.parts:
        if isinstance(part.result, Contrasts):
            for genre, mean in part.result.means.select("genre", "raw").iter_rows():
                assert means[genre, part.question] == pytest.approx(mean)


def test_stimuli_that_do_not_differ_have_no_ranks() -> None:
    rows = [
        {"participant": f"p{who:02}", "item": f"i{item}", "response": 1 + (who % 5 + (who + item) % 2) % 5}
        for who in range(20) for item in range(6)
    ]  # fmt: skip
    found = build(karat.Judgments(pl.DataFrame(rows), karat.Ordinal(5)), quick=True)
    assert isinstance(found.measures, Measures)
    (part,) = [one for one in found.measures.parts if one.name == "strengths"]
    (note,) = [one for one in part.result.notes if one.code == "strengths.no_stimulus_variance"]
    first = results.section(found).sections[0]
    assert (first.tables, first.figures) == ((), ())
    assert str(note) in first.paragraphs[0]


def test_flags_are_counted_beside_exclusions_and_not_added_up() -> None:
    found = build(drawn(*DRAWN["an effect"]), rules=RULES, quick=True)
    text, gone = quality.look_sentence(found), len(found.screening.excluded)
    assert f"of {len(quality.looked_at(found))} criteria" in text
    assert f"excludes {gone:,}." in text
    assert "flags" not in people.section(found).tables[0].frame.columns


def test_a_model_that_did_not_converge_decides_nothing() -> None:
    likert = karat.datasets.load("likert")
    fitted = karat.measure.contrasts(likert, "response ~ order + (1 | participant) + (1 | item)")
    warning = Message("contrasts.not_converged", {"convergence": "The search ended too early."})
    doubtful = replace(fitted, notes=(*fitted.notes, warning))
    assert model_of(Measures(likert, (Measure("contrasts", fitted),), {}), "") is fitted
    measures = Measures(likert, (Measure("contrasts", doubtful),), {})
    assert model_of(measures, "") is None
    screening = karat.screen.run(likert, {"completion": {}})
    (part,) = results.section(ReportData(screening, None, NOT_COMPUTED, measures)).sections
    assert str(warning) in part.paragraphs[0]
    assert str(warning) not in part.notes
