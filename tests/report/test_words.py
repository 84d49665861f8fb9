"""Methods and preregistrations: every number comes from a result, nothing stated is left out, both languages agree."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from string import Formatter
from typing import Any, Literal, get_args, get_origin

import polars as pl
import pytest
from typer.testing import CliRunner

import karat
from karat.cli.main import app
from karat.errors import KaratError
from karat.judgments import Judgments
from karat.languages import language_codes, language_of
from karat.languages.language import TENSES, typeset
from karat.measure.effects.data import design_formula
from karat.measure.effects.planned import planned_choices
from karat.measure.measured import Measure
from karat.measure.measures import Measures
from karat.report.build import NOT_COMPUTED, ReportData
from karat.report.literature import SOURCES, cited
from karat.report.outcomes import Outcomes
from karat.report.page import html
from karat.report.sections import sample
from karat.report.words import methods, preregistration
from karat.report.words.exclusions import clause, name_of
from karat.screen.screening import Screening
from karat.simulate import answer_study
from karat.study.criteria import CRITERIA, criterion_settings
from karat.study.init import write_study
from karat.study.study import Study, load
from messages import refuses
from report.small import labelled

ENGLISH, GERMAN = language_of("en"), language_of("de")

RULES = {
    "completion": {"at_least": 0.9}, "remfod": {}, "controls": {}, "attention": {}, "inconsistency": {},
    "exclude": "any",
}  # fmt: skip
VERSIONS = {"karat": "9.8.7", "Python": "3.99.1", "numpy": "7.7.7"}
TASKS = ("choice", "differential", "label", "likert", "magnitude", "yes-no")


@pytest.fixture(scope="module")
def likert() -> Judgments:
    return karat.datasets.load("likert")


@pytest.fixture(scope="module")
def screening(likert: Judgments) -> Screening:
    return karat.screen.run(likert, RULES)


@pytest.fixture(scope="module")
def measures(screening: Screening) -> Measures:
    kept = screening.kept
    formula = "response ~ order + (1 + order | participant) + (1 | item)"
    parts = [
        Measure("strengths", karat.measure.strengths(kept)),
        Measure("contrasts", karat.measure.contrasts(kept, formula)),
        Measure("agreement", karat.measure.agreement(kept, samples=20)),
    ]
    return Measures(kept, tuple(parts), {}, settings={"functions": ["test"], "level": 0.95})


@pytest.fixture(scope="module")
def gathered(screening: Screening, measures: Measures) -> ReportData:
    index = karat.screen.spammer_index(screening.kept)
    return ReportData(screening, None, index, measures, versions=VERSIONS)


@pytest.fixture(scope="module")
def study(root: Path) -> Study:
    return load(root / "examples" / "likert")


def numbers(text: str, decimal: str = ".") -> list[str]:
    """All numbers of a text, in English spelling; formulas, fingerprints and keys of the literature left out."""
    bare = re.sub(r"`[^`]*`|\[@[^\]]*\]|“[^”]*”|„[^“]*“", " ", text)
    found = re.findall(r"(?<![\w.,])[.,]?\d[\d.,]*(?!\w)", bare)
    if decimal == ",":
        found = [number.translate(str.maketrans(",.", ".,")) for number in found]
    return [number.rstrip(".,").replace(",", "") for number in found]


@pytest.mark.few(1)
@pytest.mark.parametrize(("code", "decimal"), [("en", "."), ("de", ",")])
def test_the_numbers_on_exclusion_are_those_of_screening_json(
    gathered: ReportData, code: str, decimal: str, tmp_path: Path
) -> None:
    paragraph = methods(gathered, code).split("\n\n")[2]
    gathered.screening.write(tmp_path)
    text = json.loads((tmp_path / "screening.json").read_text())
    summary = text["summary"]
    index = gathered.index
    assert not isinstance(index, str)
    known = {summary["participants"], summary["excluded"], summary["kept"], *summary["remaining"].values()}
    known |= set(summary["flagged"].values())
    known |= {len(step.excluded) for step in gathered.screening.steps}
    known |= {value for one in text["settings"].values() if isinstance(one, dict) for value in one.values()
              if isinstance(value, int | float) and not isinstance(value, bool)}  # fmt: skip
    known |= {100 * text["settings"][name][key] for name, key in
              (("completion", "at_least"), ("remfod", "genuine_at_least"))}  # fmt: skip
    for name in ("controls", "attention"):
        table = gathered.screening.evidence[name].participants
        for column in table.columns:
            if column.endswith(("needed", "trials")):
                known |= set(table[column].drop_nulls().to_list())
        known |= {round(p, 3) for p in table["guess_probability"].drop_nulls().to_list()}
    known |= {round(value, 3) for value in (index.value, index.lower, index.upper)} | {95}
    found = numbers(paragraph, decimal)
    assert len(found) > 25
    for number in found:
        assert any(float(number) == pytest.approx(value) for value in known), number


def test_every_criterion_is_reported_in_the_order_of_the_flow(gathered: ReportData) -> None:
    paragraph = methods(gathered).split("\n\n")[2]
    places = [
        paragraph.index(f"{name_of(ENGLISH, name)}") for name in ("completion", "remfod", "controls", "attention")
    ]
    assert places == sorted(places)
    for name, evidence in gathered.screening.evidence.items():
        sentence = f"{len(evidence.flagged)} of {evidence.participants.height} participants flagged"
        assert sentence in paragraph[paragraph.index(name_of(ENGLISH, name)) :]
    assert "Repeated questions could not be computed. Nobody answered an item more than once" in paragraph
    left = [
        f"{len(step.excluded)} of {step.entered} participants, leaving {step.remained}"
        for step in gathered.screening.steps
    ]
    assert all(text in paragraph for text in left)


def test_measures_are_reported_with_formula_and_software(gathered: ReportData, study: Study) -> None:
    paragraph = methods(gathered).split("\n\n")[3]
    assert not isinstance(gathered.measures, str)
    found = gathered.measures.of("contrasts")
    assert f"`{found.formula}`" in paragraph
    assert ("simplified" in paragraph) == bool(found.simplified)
    assert f"{gathered.measures.of('strengths').frame.height} stimuli" in paragraph
    # Only a study can say that answers are about acceptability.
    assert "acceptability" in methods(replace(gathered, study=study)).split("\n\n")[-1]
    assert "acceptability" not in paragraph
    assert all(version in paragraph for version in VERSIONS.values())
    assert {"barr2013", "holm1979", "krippendorff2004"} <= set(cited(paragraph))


def test_without_a_rule_nobody_is_said_to_be_excluded(likert: Judgments) -> None:
    screening = replace(karat.screen.run(likert, {"completion": {}}), exclude=None, excluded=(), steps=())
    text = methods(ReportData(screening, None, NOT_COMPUTED, NOT_COMPUTED))
    assert "No exclusion rule was stated, so nobody was excluded." in text
    assert "were excluded" not in text
    assert "Spammer Index" not in text
    assert "Nothing was measured. It was not computed." in text


def test_deviating_rules_are_called_so(study: Study) -> None:
    judgments = answer_study(study, 8, seed=2)
    own = karat.screen.run(judgments, study=study)
    other = karat.screen.run(judgments, {"completion": {"at_least": 0.5}, "exclude": "any"}, study)
    lines = [methods(ReportData(one, study, NOT_COMPUTED, NOT_COMPUTED)) for one in (own, other)]
    assert f"were those of the study file (fingerprint {study.fingerprint})" in lines[0]
    assert f"differed from those of the study file (fingerprint {study.fingerprint})" in lines[1]
    assert "not part of a study file" in methods(ReportData(other, None, NOT_COMPUTED, NOT_COMPUTED))


def test_the_sample_is_counted_from_the_table_of_participants(study: Study) -> None:
    answers = answer_study(study, 8, seed=2)
    judgments = karat.Judgments(
        answers.frame, answers.scales, answers.participants.with_columns(source=pl.lit("prolific"))
    )
    paragraph = methods(ReportData(karat.screen.run(judgments, study=study), study, NOT_COMPUTED, NOT_COMPUTED)).split(
        "\n\n"
    )[1]
    ages = judgments.participants["age_group"].value_counts()
    assert all(f"{age} ({count})" in paragraph for age, count in ages.iter_rows())
    assert "8 participants" in paragraph
    assert "Prolific" in paragraph
    assert ENGLISH.date(judgments.frame["time"].min().strftime("%Y-%m-%d")) in paragraph  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("seconds", "english", "german"),
    [
        ([6.0, 7.4, 8.1], "7.4 seconds (range: 6.0 to 8.1)", "7,4 Sekunden (Spannweite: 6,0 bis 8,1)"),
        ([601.0, 602.0, 603.0], "602.0 seconds (range: 601.0", "602,0 Sekunden (Spannweite: 601,0"),
        ([300.0, 600.0, 900.0], "10.0 minutes (range: 5.0 to 15.0)", "10,0 Minuten (Spannweite: 5,0 bis 15,0)"),
        ([600.0, 600.0, 600.0], "10.0 minutes (range: 10.0 to 10.0)", "10,0 Minuten (Spannweite: 10,0 bis 10,0)"),
    ],
)
def test_short_durations_are_in_seconds(seconds: list[float], english: str, german: str) -> None:
    people = {"participant": ["a", "b", "c"], "working_time": seconds}
    rows = {"participant": ["a", "b", "c"], "item": ["x"] * 3, "response": [1, 2, 3]}
    screening = karat.screen.run(Judgments(rows, karat.Ordinal(5), people), {"completion": {}})
    found = ReportData(screening, None, NOT_COMPUTED, NOT_COMPUTED)
    assert english in methods(found)
    assert german in methods(found, "de")
    page = " ".join(sample.section(found).paragraphs)
    assert f"The median working time was {english.partition(' (')[0]}; nine of ten took" in page
    low, high = (float(end) for end in re.findall(r"nine of ten took ([\d.]+) to ([\d.]+)\.", page)[0])
    assert (low < high) == (min(seconds) < max(seconds))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("code", language_codes())
def test_plans_of_every_task_are_reported_before_data(root: Path, task: str, code: str) -> None:
    study = load(root / "examples" / task)
    text = preregistration(study, code)
    assert text.count("\n\n") == 3
    assert "{" not in text
    assert "|" not in re.sub(r"`[^`]*`", "", text)
    assert study.fingerprint in text
    assert set(cited(text)) <= set(SOURCES)
    words = language_of(code, planned=True)
    assert study.settings.screening is not None
    assert all(name_of(words, name) in text for name in study.settings.screening.criteria)
    assert words.number(study.settings.recruitment.participants) in text.split("\n\n")[1]


def test_plan_says_how_many_answers_must_be_right(study: Study) -> None:
    text = preregistration(study)
    evidence = karat.screen.attention(answer_study(study, 8, seed=1))
    needed = evidence.participants["needed"].unique().item()
    assert f"at least {needed} of 6 correct" in text
    assert "Participants will rate" in text
    assert "No other exclusion criteria will be applied." in text


def test_a_plan_has_the_formula_that_the_data_will_have(study: Study) -> None:
    tests = answer_study(study, seed=1).frame.filter(pl.col("function") == "test")
    formula = design_formula(tests, ["position", "adverb"]).text
    assert f"`{formula}`" in preregistration(study)


def test_a_plan_of_choices_names_the_model_that_the_report_names(root: Path) -> None:
    study = load(root / "examples" / "choice")
    kept = answer_study(study, 12, seed=1)
    planned = planned_choices(study.settings.contrast, kept)
    part = Measures(kept, (Measure("planned", planned),), {}, settings={"functions": ["test"], "level": 0.95})
    found = ReportData(karat.screen.run(kept, {"completion": {}}), study, NOT_COMPUTED, part, versions=VERSIONS)
    assert {f"`{planned.settings['formula']}`"} <= set(re.findall("`[^`]*`", preregistration(study)))
    assert f"`{planned.settings['formula']}`" in methods(found)
    # Each sentence meets only the other one of its item: they have no common scale to estimate.
    assert "bradley1952" not in cited(preregistration(study))


@pytest.mark.parametrize("random", [0, 4])
def test_a_plan_orders_sentences_that_meet_others(root: Path, tmp_path: Path, random: int) -> None:
    write_study(tmp_path / "s", "pairs")
    file = tmp_path / "s" / "study.toml"
    file.write_text(re.sub(r"random = \d+", f"random = {random}", file.read_text("utf-8"), count=1), "utf-8")
    assert ("bradley1952" in cited(preregistration(load(file)))) == bool(random)


def test_without_a_study_there_is_nothing_to_register(screening: Screening) -> None:
    assert preregistration(ReportData(screening, None, NOT_COMPUTED, NOT_COMPUTED)).startswith("There is no study file")
    with refuses(KaratError, "fr", "en and de"):
        methods(ReportData(screening, None, NOT_COMPUTED, NOT_COMPUTED), "fr")


@pytest.mark.parametrize(("name", "computed"), [("inconsistency", "median"), ("even_odd", "split")])
def test_what_was_computed_is_no_setting(name: str, computed: str) -> None:
    settings = criterion_settings(name, {}).model_dump()
    assert clause(ENGLISH, name, settings | {computed: 2.0}) == clause(ENGLISH, name, settings)


@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.parametrize("language", [ENGLISH, GERMAN], ids=lambda one: one.code)
def test_every_setting_that_is_not_the_usual_one_is_reported(name: str, language: object) -> None:
    model = CRITERIA[name].settings
    assert name_of(language, name) != name  # type: ignore[arg-type]
    plain = clause(language, name, criterion_settings(name, {}).model_dump())  # type: ignore[arg-type]
    assert plain or name == "eligibility"
    for key, field in model.model_fields.items():
        other = unusual(key, field.default, field.annotation)
        if other is None:
            continue
        settings = criterion_settings(name, {key: other}).model_dump()
        if key == "expected_minutes":
            settings["share_of_expected"] = 0.4
        assert clause(language, name, settings) != plain, (name, key)  # type: ignore[arg-type]


def unusual(key: str, default: object, kind: Any) -> object:
    """Another value than the default that a setting may have; None where there is none that is plain."""
    if get_origin(kind) is Literal:
        return next(word for word in get_args(kind) if word != default)
    if isinstance(default, bool):
        return not default
    if isinstance(default, int):
        return default + 3
    if isinstance(default, float):
        return 0.8 if key == "above" else default / 2 + 0.01
    return {"slips": 2, "trials": 41, "person": "worker", "same": {"a": "b"}, "answers": {"a": ["b"]}, "upper": 3.5,
            "lower": 2.5, "genuine_at_least": 0.75, "neutral_at_most": 0.3, "relative_below": 0.3, "time_limit": 9.0,
            "share_of_expected": 0.4, "expected_minutes": 17.0, "length": "words"}.get(key)  # fmt: skip


def test_both_languages_have_the_same_texts_with_the_same_places() -> None:
    named = {key for key in GERMAN.texts if key.startswith("name.")}
    assert named <= {f"name.{name}" for name in CRITERIA}
    assert set(ENGLISH.texts) == set(GERMAN.texts) - named
    assert set(ENGLISH.nouns) == set(GERMAN.nouns)
    for key, text in ENGLISH.texts.items():
        for tense in (r"\1", r"\2"):
            places = [
                {place for _, place, _, _ in Formatter().parse(TENSES.sub(tense, one)) if place}
                for one in (text, GERMAN.texts[key])
            ]
            assert places[0] == places[1], key
        assert set(cited(text)) == set(cited(GERMAN.texts[key])), key


def test_numbers_are_written_as_each_language_writes_them() -> None:
    assert (ENGLISH.number(3566), GERMAN.number(3566)) == ("3,566", "3.566")
    assert (ENGLISH.number(12.5, 2), GERMAN.number(12.5, 2)) == ("12.50", "12,50")
    assert (ENGLISH.probability(0.041, 3), GERMAN.probability(0.041, 3)) == (".041", "0,041")
    assert (ENGLISH.p_value(0.041), GERMAN.p_value(0.0002)) == ("= .041", "< 0,001")
    assert (ENGLISH.share(0.9), GERMAN.share(0.925)) == ("90 %", "92,5 %")
    assert ENGLISH.several(["a", "b", "c"]) == "a, b and c"
    assert ENGLISH.several(["a"]) == "a"
    assert ENGLISH.counted(1, "list") == "1 list"
    assert GERMAN.counted(0, "list") == "0 Listen"
    assert [GERMAN.spelled(number, "step") for number in (1, 3)] == ["einem Schritt", "drei Schritten"]


@pytest.mark.parametrize("code", language_codes())
def test_one_is_a_word_where_small_numbers_are(code: str) -> None:
    language = language_of(code)
    nouns = {one for text in language.texts.values() for one in re.findall(r":spelled ([^}]+)}", text)}
    assert "list" in nouns
    assert [noun for noun in nouns if re.search(r"\d", language.spelled(1, noun))] == []


def test_what_the_data_say_is_reported_where_there_is_no_study() -> None:
    crowd = karat.datasets.load("crowd")
    text = methods(ReportData(karat.screen.run(crowd, {"completion": {}}), None, NOT_COMPUTED, NOT_COMPUTED))
    assert text.startswith(f"Participants answered “{crowd.scale.levels[0]}” or “{crowd.scale.levels[1]}”")
    assert "9,600 answers to 80 items from 120 participants" in text


def copied(root: Path, folder: Path, before: str = "", after: str = "") -> Study:
    """The example study with more keys at the beginning and the end of its file."""
    shutil.copytree(root / "examples" / "likert", folder)
    file = folder / "study.toml"
    file.write_text(f"{before}\n{file.read_text(encoding='utf-8')}\n{after}\n", encoding="utf-8")
    return load(folder)


def test_consent_ethics_and_an_example_are_in_the_plan(root: Path, tmp_path: Path) -> None:
    study = copied(root, tmp_path / "s", before='ethics = "the ethics committee of the university (no. 12-3)"')
    for code in language_codes():
        words = language_of(code, planned=True)
        text = preregistration(study, code)
        assert "the ethics committee of the university (no. 12-3)" in text
        assert words.say("consent") in text
        assert study.blocks[0].items.frame.filter(pl.col("function") == "test")["sentence"][0].rstrip(".") in text


@pytest.mark.slow
def test_a_recorded_simulation_justifies_the_sample_size(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root / "examples" / "likert", tmp_path / "s")
    file = tmp_path / "s" / "study.toml"
    arguments = ["power", str(file), "--simulations", "20", "--effect", "0.9", "--processes", "1", "--write"]
    assert CliRunner().invoke(app, [*arguments, "--participants", "24,36"]).exit_code != 0
    for number in ("24", "36"):
        written = CliRunner().invoke(app, [*arguments, "--participants", number])
        assert written.exit_code == 0, written.output
    study = load(file)
    assert study.settings.power is not None
    assert (study.settings.power.participants, study.settings.power.simulations) == (36, 20)
    assert file.read_text(encoding="utf-8").count("[power]") == 1
    power = ENGLISH.probability(study.settings.power.power, 2)
    text = preregistration(study)
    assert "with 36 participants and 24 test items, a difference of 0.9 log-odds in the contrast “position”" in text
    assert (f"power of {power}" in text, "α = .05" in text) == (True, True)


def test_conditions_have_moments_and_one_agreement(gathered: ReportData) -> None:
    paragraph = methods(gathered).split("\n\n")[3]
    kept = gathered.screening.kept.frame.filter(pl.col("function") == "test")
    answers = kept.with_columns(pl.col("response").cast(pl.Float64))
    for order, mean, sd in (
        answers.group_by("order")
        .agg(pl.col("response").mean().alias("mean"), pl.col("response").std().alias("sd"))
        .iter_rows()
    ):
        assert f"{mean:.2f} ({sd:.2f}) for “{order}”" in paragraph
    assert paragraph.count("Krippendorff's") == 1
    assert "kappa" not in paragraph


def test_no_line_ends_within_a_number_and_its_sign() -> None:
    assert typeset("p < .001, 90 % of 24") == "p\u202f<\u202f.001, 90\u202f% of 24"
    assert typeset("F(1, 20) = 3.4; α = .05") == "F(1, 20)\u202f=\u202f3.4; α\u202f=\u202f.05"


def test_where_right_answers_lead_the_methods_have_their_model() -> None:
    found = labelled()
    measured = karat.measure.run(found.judgments, samples=0)
    text = methods(replace(found, measures=measured))
    assert isinstance(found.outcomes, Outcomes)
    assert found.outcomes.accuracy is not None
    notes = {note.code for note in found.outcomes.accuracy.notes}
    assert "contrasts.right_answers" in notes
    assert not notes & {"model.probability", "contrasts.same_participants", "contrasts.same_items"}
    assert "Right answers were compared between conditions in a logit mixed model" in text
    shares = [f"{language_of('en').value(cell[0] / 100, '.2r')} for “{name[0]}”"
              for name, cell in zip(found.outcomes.cells, found.outcomes.analysed.cells, strict=True)]  # fmt: skip
    assert f"The proportions of right answers were {shares[0]} and {shares[1]}." in text


def test_what_is_alike_for_all_questions_is_said_once() -> None:
    rows = [
        {"participant": f"p{who}", "item": f"i{item}", "question": question, "response": 1 + (who * item + shift) % 5}
        for who in range(5) for item in range(6) for shift, question in enumerate(("clear", "natural"))
    ]  # fmt: skip
    judgments = karat.Judgments(pl.DataFrame(rows), dict.fromkeys(("clear", "natural"), karat.Ordinal(5)))
    screening = karat.screen.run(judgments, {"completion": {}})
    found = ReportData(screening, None, NOT_COMPUTED, karat.measure.run(judgments, samples=20))
    english, german = methods(found), methods(found, "de")
    assert english.count("cumulative logit model") == 1
    assert english.count("Agreement between participants") == 1
    assert re.search(r"\(95 % bootstrap interval: \S+ to \S+\) for “clear” and ", english)
    assert "(95-%-Bootstrap-Intervall: " in german


def asked_two(levels: int) -> ReportData:
    """Numbers on two questions, in so many conditions."""
    rows = [
        {"participant": f"p{who}", "item": f"i{item}", "kind": f"k{item % levels}", "question": question,
         "response": (7 * who + 5 * item + shift) % 11}
        for who in range(4) for item in range(2 * levels) for shift, question in enumerate(("clear", "natural"))
    ]  # fmt: skip
    judgments = karat.Judgments(pl.DataFrame(rows), dict.fromkeys(("clear", "natural"), karat.Continuous(0, 10)))
    formula = "response ~ kind + (1 | participant)"
    parts = [
        Measure("contrasts", karat.measure.contrasts(judgments, formula, question=question), question)
        for question in judgments.scales
    ]
    measures = Measures(judgments, tuple(parts), {}, settings={"functions": ["test"], "level": 0.95})
    screening = karat.screen.run(judgments, {"completion": {}})
    return ReportData(screening, None, NOT_COMPUTED, measures)


def test_means_of_several_questions_are_few_and_together() -> None:
    english = methods(asked_two(2))
    assert [question for question in ("clear", "natural") if f"response scale for “{question}” were " in english] == [
        "clear", "natural",
    ]  # fmt: skip
    assert "clear:" not in english
    # What belongs in a table is left out.
    assert "response scale" not in methods(asked_two(7))


def test_german_nouns_keep_their_capitals_in_a_summary() -> None:
    assert "Methoden, Literatur" in html(labelled(), "de")


def test_stages_are_named_only_if_there_are_several(likert: Judgments) -> None:
    english = language_of("en")
    attended, both = {"attention": {}}, {"attention": {}, "completion": {}}
    single, several = (
        methods(ReportData(karat.screen.run(likert, rules), None, NOT_COMPUTED, NOT_COMPUTED))
        for rules in (attended | {"exclude": "any"}, both | {"exclude": "any"})
    )
    sentence = english.say("stages", number=2, stages="completion, answers")
    assert sentence in several
    assert english.say("stage.nobody") not in single
    assert not any(english.texts[f"stage.{stage}"] + ", " in single for stage in ("completion", "clock"))
