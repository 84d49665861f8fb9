"""The quality of data in words: settings, the cutoff that everybody crosses, and nobody who is left."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import typer
from typer.testing import CliRunner

import karat
from karat.cli.screen import screen
from karat.judgments import Judgments
from karat.messages import with_code
from karat.report.build import NOT_COMPUTED, ReportData, build
from karat.report.sections import brief, quality, results
from karat.screen.screening import Screening
from report.small import gathered

NOBODY_STAYS = {"completion": {"trials": 72}, "attention": {"alpha": 0.05}, "exclude": "any"}


def few() -> Judgments:
    """Two who answered all trials at random, and one who began."""
    likert = karat.datasets.load("likert")
    own = pl.col("participant").is_in(["p04", "p05", "p06"])
    begun = (pl.col("participant") != "p04") | (pl.col("trial") < 6)
    frame = likert.frame.filter(own, begun).with_columns(
        response=pl.when(pl.col("function") == "attention").then(pl.lit("3")).otherwise("response")
    )
    return karat.Judgments(frame, likert.scales)


def test_settings_are_words() -> None:
    likert = karat.datasets.load("likert")
    people = likert.participants.with_columns(first_language=pl.lit("English"))
    rules = {"eligibility": {"answers": {"first_language": ["English", "Irish"]}}, "completion": {"at_least": 0.9}}
    found = karat.screen.run(karat.Judgments(likert.frame, likert.scales, people), rules)
    part = next(
        one
        for one in quality.section(ReportData(found, None, NOT_COMPUTED, NOT_COMPUTED)).sections
        if one.key == "criteria"
    )
    result = dict(part.tables[0].frame.select("criterion", "settings").iter_rows())
    assert result["Eligibility"] == "answers first_language: English, Irish"
    assert result["Completion"].startswith("at least 0.9")
    assert not any(sign in text for text in result.values() for sign in "{}[]'")


def test_a_criterion_that_advises_against_itself_is_not_shown() -> None:
    likert = karat.datasets.load("likert")
    some = likert.frame.filter(pl.col("participant") <= "p12")
    found = karat.screen.deletion(karat.Judgments(some, likert.scales), by="published")
    assert list(with_code(found.notes, "deletion.flags_most"))
    screening = karat.screen.run(karat.Judgments(some, likert.scales), {"completion": {}})
    report = ReportData(screening, None, NOT_COMPUTED, NOT_COMPUTED, {"deletion": found})
    whole = quality.section(report)
    assert "deviance" not in [one.key for one in whole.sections]
    assert "deletion" not in quality.looked_at(report)


def test_criteria_that_decide_come_first_and_are_counted_once() -> None:
    table = quality.look_table(gathered())
    roles = table["role"].to_list()
    assert roles == sorted(roles)
    assert roles[0] == "decides"
    known = quality.looked_at(gathered())
    assert table["flagged"].to_list() == [len(one.flagged) for one in known.values()]
    flags = [name for one in known.values() for name in one.flagged]
    assert table["alone"].sum() == sum(flags.count(name) == 1 for name in set(flags))


def screened(times: list[float], rules: dict[str, object]) -> Screening:
    """A participant for each median time, who answered 12 items."""
    rows = {
        "participant": [f"p{who}" for who in range(len(times)) for _ in range(12)],
        "item": [f"i{item}" for item in range(12)] * len(times),
        "response": ["1", "2"] * 6 * len(times),
        "trial": list(range(1, 13)) * len(times),
        "rt": [time for time in times for _ in range(12)],
    }
    return karat.screen.run(karat.Judgments(pl.DataFrame(rows), karat.Ordinal(5)), rules)


def test_a_criterion_that_flags_most_accuses_nobody() -> None:
    screening = screened([0.9, 1.0, 1.1, 4.9], {"speed": {}, "completion": {}, "exclude": "any"})
    assert len(screening.evidence["speed"].flagged) == 3
    deciding = ReportData(screening, None, NOT_COMPUTED, NOT_COMPUTED)
    assert len(deciding.reasons) == 3
    described = ReportData(replace(screening, exclude=None), None, NOT_COMPUTED, NOT_COMPUTED)
    assert described.reasons == {}
    settings = next(one for one in quality.section(described).sections if one.key == "criteria").tables[0].frame
    assert settings.filter(pl.col("criterion") == "Speed")["flagged"].to_list() == [None]


def test_flags_that_criteria_share_are_laid_beside_chance() -> None:
    screening = screened([0.9, 1.0, 4.1, 4.9], {"speed": {}, "completion": {}, "exclude": "any"})
    both = screening.evidence
    one = both["completion"].participants.with_columns(flagged=pl.col("participant") == "p0")
    evidence = {**both, "completion": replace(both["completion"], participants=one)}
    found = ReportData(replace(screening, evidence=evidence), None, NOT_COMPUTED, NOT_COMPUTED)
    # Two of four and one of four: by chance 1 - 1/2 * 3/4 have a flag, and 1/2 * 1/4 have both.
    assert quality.flags_table(found).rows() == [("1 or more", 2, 2.5), ("2 or more", 1, 0.5)]


def test_nobody_is_left_is_the_reason() -> None:
    found = build(few(), rules=NOBODY_STAYS)
    assert len(found.screening.excluded) == 3
    assert brief.quality_sentence(found) == "No Spammer Index. No participants are left after exclusion."
    assert results.section(found).paragraphs == (
        "Nothing could be measured. No participants are left after exclusion.",
    )


def test_the_terminal_says_that_nobody_is_left(tmp_path: Path) -> None:
    few().to_csv(tmp_path / "few.csv")
    rules = tmp_path / "rules.toml"
    rules.write_text("[screening]\ncompletion.trials = 72\nattention.alpha = 0.05\nexclude = 'any'\n", "utf-8")
    app = typer.Typer()
    app.command()(screen)
    output = CliRunner().invoke(app, [str(tmp_path / "few.csv"), "--rules", str(rules)]).output
    assert "crowd      No Spammer Index. No participants are left after exclusion." in output
    assert "needs answers in categories" not in output
