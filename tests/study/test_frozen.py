"""Rules and items that changed after a study started: carried by exports, named by screening, report and archive."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.report.archive import archive
from karat.report.build import build
from karat.report.sections.brief import section
from karat.screen import run
from karat.study.frozen import changes_since, frozen_record, full_rules, item_fingerprints, rules_fingerprint
from karat.study.init import write_study
from karat.study.study import Study, load
from messages import codes

LIKERT = karat.datasets.load("likert")
RULES: dict[str, Any] = {"remfod": {"genuine_at_least": 0.9}, "completion": {}, "exclude": "any"}


def frozen(rules: dict[str, Any] | None, study: Study | None = None) -> dict[str, Any]:
    items = None if study is None else item_fingerprints(study)
    return frozen_record(rules, items, rules_fingerprint(full_rules(rules)), 1.0)


def test_exports_carry_the_record(tmp_path: Path) -> None:
    record = frozen(RULES)
    judgments = LIKERT.with_frozen(record)
    judgments.to_csv(tmp_path / "a.csv")
    judgments.to_parquet(tmp_path / "a.parquet")
    assert [karat.read(tmp_path / name).frozen for name in ("a.csv", "a.parquet")] == [record] * 2
    assert judgments.without(["p01"]).frozen == record
    LIKERT.to_parquet(tmp_path / "b.parquet")
    assert karat.read(tmp_path / "b.parquet").frozen is None


def test_a_setting_a_criterion_and_the_rule() -> None:
    now = {"remfod": {"genuine_at_least": 0.8}, "speed": {}, "exclude": "all"}
    (message,) = changes_since(frozen(RULES), None, now)
    lines = [(one.code, one.values) for one in message.values["changes"]]
    setting = {"setting": "genuine_at_least", "criterion": "remfod", "then": "0.9", "now": "0.8"}
    assert ("frozen.setting", setting) in lines
    assert ("frozen.removed", {"criterion": "completion"}) in lines
    assert ("frozen.added", {"criterion": "speed"}) in lines
    assert ("frozen.exclude", {"then": "any", "now": "all"}) in lines
    assert len(lines) == 4
    assert "genuine_at_least 0.9 -> 0.8" in str(message)


def test_what_is_left_to_a_default_is_compared_too() -> None:
    assert changes_since(frozen(RULES), None, {**RULES, "completion": {"at_least": 0.9}}) == ()
    assert changes_since(None, None, RULES) == ()
    other = {**frozen(RULES), "fingerprint": "of other defaults"}
    assert codes(changes_since(other, None, RULES)) == ["frozen.defaults"]


@pytest.fixture
def changed(tmp_path: Path) -> tuple[dict[str, Any], Study]:
    """What was frozen, and the study with another rule and another word in an item."""
    written = write_study(tmp_path / "likert", "likert")
    record = frozen(load(written[0]).screening_rules, load(written[0]))
    assert changes_since(record, load(written[0])) == ()
    text = written[0].read_text(encoding="utf-8")
    assert "genuine_at_least = 0.9" in text
    written[0].write_text(text.replace("genuine_at_least = 0.9", "genuine_at_least = 0.8"), encoding="utf-8")
    (items,) = [path for path in written if path.suffix == ".csv" and "the tailor" in path.read_text(encoding="utf-8")]
    items.write_text(re.sub("the tailor", "the cobbler", items.read_text(encoding="utf-8")), encoding="utf-8")
    return record, load(written[0])


@pytest.mark.slow
def test_screening_report_and_archive_say_it_first(changed: tuple[dict[str, Any], Study], tmp_path: Path) -> None:
    record, study = changed
    screening = run(LIKERT.with_frozen(record), None, study)
    assert codes(screening.changes) == ["frozen.rules", "frozen.items"]
    assert screening.changes[1].values == {"items": ["t03"], "more": None}
    assert str(screening).startswith(str(screening.changes[0]))
    assert screening.to_dict()["summary"]["changes"] == list(map(str, screening.changes))
    assert section(build(screening, study)).paragraphs[:2] == tuple(map(str, screening.changes))
    archive(LIKERT.with_frozen(record), tmp_path / "kept", study, report=False)
    lines = (tmp_path / "kept" / "README.md").read_text(encoding="utf-8").splitlines()
    assert lines[4] == str(screening.changes[0])
    assert karat.read(tmp_path / "kept" / "data" / "raw" / "judgments.parquet").frozen == record
