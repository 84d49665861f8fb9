"""Assumptions of choices: nothing seen where the model holds, two orders seen where there are two."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import karat
from karat.measure import MeasureError, choice_assumptions
from karat.messages import Message
from measure.chosen import choices
from messages import code_or_text, codes, raises

WORTH = [-1.2, -0.8, -0.3, 0.0, 0.4, 0.9, 1.3, 0.1]


@pytest.mark.slow
def test_two_orders_are_seen() -> None:
    found = choice_assumptions(choices(WORTH, 16, 28, seed=1, turned=5, shape=2.5), by="group", samples=39)
    p = dict(found.tests.select("test", "p").iter_rows())
    assert p["second dimension"] == pytest.approx(1 / 40)
    assert p["groups"] == pytest.approx(1 / 40)
    assert p["circular triads within participants"] > 0.05
    assert set(codes(found.summary)) == {"assumptions.against"}
    assert "assumptions.against_dimension" in {one.values["finding"].code for one in found.summary}
    direction = found.people["direction"].to_numpy()
    first, second = direction[:11], direction[11:]
    assert max(first.min(), second.min()) > min(first.max(), second.max())


@pytest.mark.slow
def test_one_order_is_not_refused() -> None:
    said: list[str] = []
    found = choice_assumptions(choices(WORTH, 16, 28, seed=2, shape=2.5), samples=39, progress=said.append)
    assert found.tests["p"].min() > 0.05  # type: ignore[operator]
    assert found.summary == (Message("assumptions.nothing", {"p": found.tests["p"].min()}),)
    assert found.table().columns == ["test", "statistic", "expected", "p", "finding"]
    assert set(codes(found.findings)) == {"assumptions.not_against"}
    assert found.people["outfit"].mean() == pytest.approx(1, abs=0.25)
    assert said[0] == "10 of 39 simulated studies"


def complete(seed: int) -> karat.Judgments:
    """Three people who compare five items completely: the first two in order, the last by chance."""
    random = np.random.default_rng(seed)
    rows = [
        (f"p{who}", f"{one}:{two}", str(one), str(two), "left" if who < 2 or random.random() < 0.5 else "right")
        for who in range(3)
        for one, two in combinations(range(5), 2)
    ]
    return karat.Judgments(
        dict(zip(("participant", "item", "left", "right", "response"), zip(*rows, strict=True), strict=True)),
        karat.Choice(),
    )


def test_zeta_of_those_who_compared_everything() -> None:
    found = choice_assumptions(complete(3), samples=19).people
    assert found["triads"].to_list() == [10, 10, 10]
    assert found["zeta"].to_list()[:2] == [1.0, 1.0]
    assert found["zeta"][2] == pytest.approx(1 - found["circular"][2] / 5)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"samples": 5}, "setting.refused"),
        ({"by": "gruop"}, "unknown.column"),
        ({"by": "response"}, "assumptions.several_groups"),
        ({"question": "other"}, "assumptions.no_choices"),
    ],
)
def test_what_is_refused(change: dict[str, object], words: str) -> None:
    with pytest.raises(MeasureError) as error:
        choice_assumptions(choices(WORTH, 6, 20, seed=4, turned=2), **change)  # type: ignore[arg-type]
    assert words in code_or_text(error.value)


def test_ratings_are_no_choices() -> None:
    with raises(MeasureError, "assumptions.no_choices"):
        choice_assumptions(karat.datasets.load("likert"))


def test_without_triads_a_note_says_so() -> None:
    chain = [(f"p{who}", f"i{n}:i{n + 1}", f"i{n}", f"i{n + 1}", "left") for who in range(4) for n in range(4)]
    chain += [(f"q{who}", *row[1:4], "right") for who, row in enumerate(chain)]
    frame = dict(zip(("participant", "item", "left", "right", "response"), zip(*chain, strict=True), strict=True))
    found = choice_assumptions(karat.Judgments(frame, karat.Choice()), samples=19)
    assert "assumptions.no_triads" in codes(found.notes)
    assert "weak transitivity" not in found.tests["test"].to_list()


@pytest.mark.slow
def test_p_is_uniform_where_the_model_holds() -> None:
    """Under the model a p of at most .05, .2 or .5 is no more frequent than that; and not much rarer."""
    values: dict[str, list[float]] = {}
    for seed in range(150):
        found = choice_assumptions(choices(WORTH, 16, 28, seed=1000 + seed, shape=2.5), samples=39, seed=seed)
        for name, p in found.tests.select("test", "p").iter_rows():
            values.setdefault(name, []).append(p)
    for name, found_p in values.items():
        p = np.array(found_p)
        for limit in (0.05, 0.2, 0.5):
            allowed = 3 * np.sqrt(limit * (1 - limit) / len(p))
            assert (p <= limit).mean() < limit + allowed, name
        if name in ("second dimension", "participants' fit", "circular triads within participants"):
            assert 0.4 < p.mean() < 0.65, name
