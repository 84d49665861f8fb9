"""What the store keeps of the rules of a study."""

from __future__ import annotations

from pathlib import Path

from field.server.conftest import write
from karat.study.frozen import full_rules, rules_fingerprint


def test_factors_that_are_left_to_a_rule_are_frozen_as_they_are(tmp_path: Path) -> None:
    study = write(tmp_path / "study", "[screening]\nremfod = { lower = 1.2 }\n")
    rules = full_rules(study.screening_rules)
    assert rules is not None
    fields = {key: rules["remfod"][key] for key in ("upper", "lower", "genuine_at_least")}
    assert fields == {"upper": 2.5, "lower": 1.2, "genuine_at_least": 0.9}
    later = rules | {"remfod": rules["remfod"] | {"upper": 9.0}}
    assert rules_fingerprint(later) != rules_fingerprint(rules)
