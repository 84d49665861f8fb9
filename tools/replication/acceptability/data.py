"""The two data sets of Pieper, Börner and Kiss, and what is known of them.

Beside the data stands `golden.json`: the numbers of the authors' rendered notebooks, and what their R functions give.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import karat
from karat.judgments import Judgments
from karat.screen import completion, remfod
from karat.screen.criteria.remfod import Remfod

MAPPINGS = {
    "forced_choice": {
        "left": "option_above_condition", "right": "option_below_condition", "response": "response_condition",
        "expected": "expected_condition",
    },
    "likert": {"expected": "expected_min..expected_max"},
}  # fmt: skip
TITLES = {"forced_choice": "Forced choice", "likert": "Likert"}


@dataclass(frozen=True)
class Experiment:
    """A data set: everybody, those who completed it, their times, and the results of the authors' code."""

    name: str
    everybody: Judgments
    complete: Judgments
    times: Remfod
    golden: dict[str, Any]

    @property
    def title(self) -> str:
        """What the data set is called on the page."""
        return TITLES[self.name]


def load(reference: Path) -> tuple[list[Experiment], dict[str, Any]]:
    """Both data sets, and the tables of guessing as another program computed them."""
    folder = reference / "ajt"
    golden = json.loads((folder / "golden.json").read_text(encoding="utf-8"))
    return [_experiment(folder, name, golden[name]) for name in MAPPINGS], golden["guessing_tables"]


def _experiment(folder: Path, name: str, golden: dict[str, Any]) -> Experiment:
    """Read a data set and leave out who did not complete the questionnaire."""
    everybody = karat.read(folder / f"{name}.csv", mapping=MAPPINGS[name])
    complete = everybody.without(completion(everybody).flagged)
    return Experiment(name, everybody, complete, remfod(complete), golden)
