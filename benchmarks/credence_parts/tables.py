"""Scores to tables: power by scenario, who else is flagged, calibration, and what removal does to an effect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .crowds import Crowd
from .effect import Estimate, planned
from .families import Family
from .injected import Injected
from .peers import PEERS
from .powers import Lead, calibration_error, lead, power_at, reliability
from .questionnaire_oracle import FAST, LATE, MINORITY
from .questionnaires import Questionnaire
from .runs import Scored
from .scenes import Floats

BLIND = "oracle: blind"
NOT_COUNTED = (MINORITY, FAST, "dawdler", "attentive", "cooperative")


@dataclass(frozen=True)
class Row:
    """One kind of participant in one scenario: the share who are flagged at 5 % of the cooperative."""

    scenario: Crowd | Questionnaire | Injected | Family
    kind: str
    people: int
    flagged: dict[str, float]
    beside: dict[str, Lead]
    """Credence and each other score on the same replications."""

    @property
    def is_spam(self) -> bool:
        return self.kind not in NOT_COUNTED

    @property
    def is_late(self) -> bool:
        late = isinstance(self.scenario, Crowd) and self.scenario.turn > 1
        return late or self.kind == LATE or (isinstance(self.scenario, Injected) and self.scenario.late)

    @property
    def name(self) -> str:
        return f"{self.scenario.name}: {self.kind}" if isinstance(self.scenario, Questionnaire) else self.scenario.name


def rows_of(scored: Sequence[Scored]) -> list[Row]:
    """All rows, scenario by scenario."""
    by_scenario: dict[str, list[Scored]] = {}
    for one in scored:
        if isinstance(one.job.scenario, Family):
            continue
        by_scenario.setdefault(one.job.scenario.name, []).append(one)
    found = []
    for own in by_scenario.values():
        kinds = list(dict.fromkeys(kind for one in own for kind in one.kinds.tolist()))
        found += [row_of(own, kind) for kind in kinds if kind not in ("cooperative", "attentive")]
    return found


def row_of(own: list[Scored], kind: str) -> Row:
    """The row of one kind of participant."""
    flagged, beside = {}, {}
    oracle = f"oracle: {kind}" if f"oracle: {kind}" in own[0].scores else "oracle: any"
    for name in ("credence", oracle, BLIND, *PEERS):
        pairs = [parts(own, shown, kind, name) for shown in ("credence", name)]
        if not len(pairs[1][1]):
            continue
        label = {oracle: "oracle", BLIND: "blind oracle"}.get(name, name)
        if name != "credence":
            beside[label] = lead(pairs[0], pairs[1])
        flagged[label] = power_at(*pairs[1])
    people = sum(int((one.kinds == kind).sum()) for one in own)
    return Row(own[0].job.scenario, kind, people, flagged, beside)


def parts(own: list[Scored], shown: str, kind: str, there: str) -> tuple[Floats, Floats]:
    """The scores `shown` of cooperative participants and of a kind, in replications that have the score `there`."""
    used = [one for one in own if there in one.scores]
    cooperative = [one.scores[shown][one.cooperative] for one in used]
    others = [one.scores[shown][one.kinds == kind] for one in used]
    return np.concatenate([*cooperative, np.empty(0)]), np.concatenate([*others, np.empty(0)])


def power_table(rows: list[Row], first: str) -> str:
    """Markdown, one line per row; the oracle and credence first."""
    names = [
        "oracle",
        "blind oracle",
        "credence",
        *(name for name in PEERS if any(name in row.flagged for row in rows)),
    ]
    names = [name for name in names if any(name in row.flagged for row in rows)]
    body = []
    for row in rows:
        cells = [number(row.flagged[name]) if name in row.flagged else "-" for name in names]
        title = row.kind if isinstance(row.scenario, Questionnaire) else row.name.partition(": ")[2] or row.name
        body.append([title, str(row.people), *cells])
    return markdown([first, "of", *names], body)


def calibration_table(scored: Sequence[Scored]) -> tuple[str, float, int, float]:
    """Markdown, the ECE, the number of participants, and the share of them who were not attentive."""
    probability = np.concatenate([one.probability for one in scored])
    attentive = np.concatenate([one.attentive for one in scored]).astype(np.float64)
    bins = reliability(probability, attentive)
    body = [
        [f"{place / 10:.1f} to {(place + 1) / 10:.1f}", f"{people:,}", number(said, 3), number(so, 3)]
        for place, people, said, so in bins.select("bin", "participants", "said", "attentive").iter_rows()
    ]
    table = markdown(["probability", "participants", "on average", "attentive"], body)
    return table, calibration_error(bins), len(probability), float(1 - attentive.mean())


def verdict_table(scored: Sequence[Scored]) -> str:
    """Who is flagged by credence as it comes (probability below .05), by kind."""
    body = []
    for task in dict.fromkeys(one.job.scenario.name for one in scored):
        own = [one for one in scored if one.job.scenario.name == task]
        kinds = np.concatenate([one.kinds for one in own])
        flagged = np.concatenate([one.flagged for one in own])
        body += [
            [
                task,
                kind.replace("attentive", "attentive"),
                str(int((kinds == kind).sum())),
                number(float(flagged[kinds == kind].mean())),
            ]
            for kind in dict.fromkeys(["attentive", FAST, "dawdler", MINORITY, *kinds.tolist()])
            if (kinds == kind).any()
        ]
    return markdown(["scenario", "behaviour", "of", "flagged"], body)


def effect_table(estimates: Sequence[Estimate]) -> str:
    """Bias, width and coverage after each removal."""
    _, true = planned()
    body = []
    for name in dict.fromkeys(one.removal for one in estimates):
        own = [one for one in estimates if one.removal == name]
        kept = [one for one in own if np.isfinite(one.effect)]
        removed = np.mean([(one.spammers_removed, one.others_removed) for one in own], axis=0)
        cells = [name, *(number(share) for share in removed.tolist())]
        if len(kept) < len(own) / 2:
            body.append([*cells, "nobody is left", "", ""])
            continue
        bias = np.array([one.effect for one in kept]) - true
        error = float(bias.std()) / np.sqrt(len(bias))
        shown = f"{number(float(bias.mean()), 3)} ± {number(error, 3)}"
        width, covered = np.mean([(one.width, one.covers) for one in kept], axis=0).tolist()
        body.append([*cells, shown, number(width, 3), number(covered)])
    return markdown(["removal by", "spammers removed", "others removed", "bias", "interval width", "covered"], body)


def number(value: float, digits: int = 2) -> str:
    """Without a leading zero, as shares are printed.

    >>> number(0.5), number(-0.25), number(1.0)
    ('.50', '-.25', '1.00')
    """
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if abs(float(text)) < 1 else text


def markdown(head: list[str], body: list[list[str]]) -> str:
    """A table; numbers are aligned to the right."""
    lines = [f"| {' | '.join(head)} |", f"| --- |{' ---: |' * (len(head) - 1)}"]
    return "\n".join([*lines, *(f"| {' | '.join(cells)} |" for cells in body)])
