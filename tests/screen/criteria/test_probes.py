"""Fillers that programs answer differently from people."""

import polars as pl
import pytest

import karat
from karat import Judgments
from karat.messages import NotComputed
from karat.screen import ScreenError, probes

KINDS = ("honeypot", "shibboleth", "modality")


def judged(*answers: tuple[str, str, str]) -> Judgments:
    """Answers of yes or no by participant and kind, beside one to a test item; people are expected to say yes."""
    rows = [
        (who, f"{kind} {place}", answer, "filler", kind, "yes") for place, (who, kind, answer) in enumerate(answers)
    ]
    tests = [(who, "test", "no", "test", None, None) for who in dict.fromkeys(row[0] for row in answers)]
    names = ["participant", "item", "response", "function", "subgroup", "expected"]
    return Judgments(pl.DataFrame([*rows, *tests], schema=names, orient="row"), karat.Binary(("no", "yes")))


@pytest.mark.parametrize("kind", KINDS)
def test_one_hit_never_flags(kind: str) -> None:
    found = probes(judged(("p1", kind, "no"), ("p1", "honeypot", "yes")))
    assert found.participants["score"].to_list() == [1.0]
    assert found.flagged == []
    with pytest.raises(ScreenError) as error:
        probes(judged(("p1", kind, "no")), at_least=1)
    assert NotComputed.of(error.value).code == "probes.at_least"


def test_two_hits_do() -> None:
    found = probes(judged(("p1", "honeypot", "no"), ("p1", "modality", "no"), ("p2", "honeypot", "yes")))
    assert found.flagged == ["p1"]
    assert found.participants["message"].to_list() == ["probes.hit", "probes.clear"]


def test_fillers_of_other_kinds_are_no_probes() -> None:
    with pytest.raises(ScreenError) as error:
        probes(judged(("p1", "pseudo", "no")))
    assert NotComputed.of(error.value).code == "probes.none"
