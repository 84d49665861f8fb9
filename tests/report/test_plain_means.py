"""Plain means, shares and sentences: counted once more from the answers themselves."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import karat
from karat.judgments.scales import Magnitude, Nominal, Scale
from karat.measure.effects.planned import planned_choices, planned_contrasts
from karat.measure.scaling.result import Strengths
from karat.report.sections.brief import means_sentence, on_scale, p_text, planned_sentence, wording_sentence
from karat.study.settings import ContrastSettings

FORMULA = "response ~ order + (1 | participant) + (1 | item)"
PLAN = [ContrastSettings(name="which", factor="order", levels=["new", "old"])]


def answers(scale: Scale, draw: dict[str, list[float]], seed: int = 4) -> karat.Judgments:
    """Twenty participants, twelve items in one of two orders; `draw` has the probabilities of answers in each."""
    random = np.random.default_rng(seed)
    rows = [
        {"participant": f"p{person}", "item": f"t{item}", "order": order,
         "response": scale.levels[random.choice(len(draw[order]), p=draw[order])]}  # type: ignore[attr-defined]
        for person in range(20) for item in range(12)
        for order in [("old", "new")[(person + item) % 2]]
    ]  # fmt: skip
    return karat.Judgments(pl.DataFrame(rows), scale)


def test_means_of_ratings_are_those_of_the_answers() -> None:
    judgments = answers(karat.Ordinal(5), {"old": [0.1, 0.2, 0.3, 0.2, 0.2], "new": [0.4, 0.3, 0.1, 0.1, 0.1]})
    found = karat.measure.contrasts(judgments, FORMULA)
    mean = dict(judgments.frame.group_by("order").agg(pl.col("response").cast(pl.Float64).mean()).iter_rows())
    result = planned_sentence(planned_contrasts(PLAN, found), [found], judgments.scale)
    assert result.startswith(
        f"which: the mean is {mean['new']:.2f} for new and {mean['old']:.2f} for old, on a scale of 1 to 5; new minus "
    )
    assert result.endswith("Differences are in logits of the latent scale.")
    assert means_sentence(found, judgments.scale) == (
        f"Means on a scale of 1 to 5 by order: new {mean['new']:.2f}, old {mean['old']:.2f}."
    )


def test_yes_and_no_are_reported_by_shares() -> None:
    judgments = answers(karat.Binary(("no", "yes")), {"old": [0.3, 0.7], "new": [0.6, 0.4]})
    found = karat.measure.contrasts(judgments, FORMULA)
    share = dict(judgments.frame.group_by("order").agg((pl.col("response") == "yes").mean() * 100).iter_rows())
    result = planned_sentence(planned_contrasts(PLAN, found), [found], judgments.scale)
    assert (
        f"{share['new']:.0f} % of answers are “yes” for new and {share['old']:.0f} % for old; new minus old" in result
    )
    assert means_sentence(found, judgments.scale).startswith("Shares of answers “yes” by order: new ")


def test_choices_are_reported_by_how_often_the_first_was_chosen() -> None:
    random = np.random.default_rng(2)
    items = [f"t{number % 12}" for number in range(240)]
    chosen = ["left" if draw < 0.7 else "right" for draw in random.random(240)]
    judgments = karat.Judgments(
        {"participant": [f"p{number // 12}" for number in range(240)], "item": items, "response": chosen,
         "left": [f"{item}.new" for item in items], "right": [f"{item}.old" for item in items]},
        karat.Choice(),
    )  # fmt: skip
    result = planned_sentence(planned_choices(PLAN, judgments), [], judgments.scale)
    assert f"new was chosen over old in {100 * chosen.count('left') / 240:.0f} % of choices; new minus old" in result


def test_without_plain_means_the_difference_stands_alone() -> None:
    judgments = answers(karat.Ordinal(5), {"old": [0.2] * 5, "new": [0.2] * 5})
    found = karat.measure.contrasts(judgments, FORMULA)
    planned = planned_contrasts(PLAN, found)
    assert planned_sentence(planned, [], judgments.scale).startswith("which: new minus old ")
    assert on_scale(Magnitude()) is None
    assert means_sentence(found, Magnitude()) == ""
    assert on_scale(Nominal(["A", "B", "C"])) is None


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"item": ["4", "4", "5"], "order": ["DO", "PO", "PO"], "sentence": ["Give me it.", "No.", "Give it to me."]},
         "The highest reads “Give me it”, the lowest “Give it to me”."),
        ({"item": ["4", "5"], "order": ["DO", "PO"], "sentence": ["word " * 40, "“Quoted”, she said."]},
         f"The highest reads “{'word ' * 11}…”, the lowest “‘Quoted’, she said”."),
        ({"item": ["4", "4", "5"], "order": ["DO", "DO", "PO"], "sentence": ["One.", "Two.", "Three."]}, ""),
        ({"item": ["4"], "sentence": ["Without its condition."]}, ""),
        ({"item": ["4", "5"], "order": ["DO", "PO"], "sentence": ["4", "5"]}, ""),
    ],
)  # fmt: skip
def test_items_are_quoted_where_each_has_one_sentence(table: dict[str, list[str]], expected: str) -> None:
    frame = pl.DataFrame({"item": ["4", "7", "5"], "order": ["DO", "DO", "PO"], "estimate": [1.0, 0.0, -1.0]})
    strengths = Strengths(frame, "mean", "points", 0.95, np.empty((0, 0)))
    assert wording_sentence(strengths, [pl.DataFrame({"item": ["4"]}), pl.DataFrame(table)]) == expected


def test_probabilities_for_people() -> None:
    assert p_text(0.05) == "= .050"
    assert p_text(1.0) == "> .999"
    assert p_text(0.001) == "= .001"
    assert p_text(float("nan")) == "not known"
