"""What is to be reached, and whether it is.

Powers are estimates. Within a distance of the oracle is: on average over all scenarios of a sort without any allowance,
and in each of them with two Monte-Carlo errors. A peer is ahead where its power is greater by more than two errors, on
the same replications; with several hundred comparisons some are greater by chance alone, so that the errors of those
that are ahead are listed, too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.marked import Target

from .families import LOW, OWN, Family, families
from .injected import Injected
from .powers import Lead
from .questionnaire_oracle import MINORITY
from .runs import Scored
from .tables import Row, number

FULL_TIME, SWITCHING = 0.02, 0.04
MTURK, SIMULATED_ECE, INJECTED_ECE, ENOUGH = 0.97, 0.02, 0.05, 20_000
MINORITY_AT_MOST, SECONDS = 0.08, 60.0
ERRORS = 2.0
ATTENTIVE_AT_MOST, BAND, BAND_AWAY, BAND_PEOPLE = 0.10, (0.05, 0.5), 0.1, 500


def short_of_oracle(rows: Sequence[Row], late: bool) -> float:
    """The power that credence lacks beside the oracle on average, for full-time or switching spammers."""
    own = [row for row in rows if row.is_spam and row.is_late == late and "oracle" in row.beside]
    return float(np.mean([-row.beside["oracle"].gap for row in own]))


def near_oracle(rows: Sequence[Row], late: bool) -> Target:
    """Power beside the oracle, for full-time or switching spammers."""
    limit = SWITCHING if late else FULL_TIME
    own = [
        (row, row.beside["oracle"]) for row in rows if row.is_spam and row.is_late == late and "oracle" in row.beside
    ]
    short = short_of_oracle(rows, late)
    missed = [row.name for row, beside in own if -beside.gap > limit + ERRORS * beside.error]
    worst, beside = max(own, key=lambda pair: -pair[1].gap)
    name = f"power within {number(limit)} of the oracle, {'switching' if late else 'full-time'} spammers"
    found = (
        f"on average {number(short, 3)} short in {len(own)} scenarios; worst {number(-beside.gap, 3)} "
        f"(error {number(beside.error, 3)}), {worst.name}"
    )
    blind = [-row.beside["blind oracle"].gap for row, _ in own if "blind oracle" in row.beside]
    if blind:
        found += f"; {number(float(np.mean(blind)), 3)} short of the blind oracle in {len(blind)} of them"
    if missed:
        found += f"; short beyond chance: {'; '.join(missed)}"
    return Target(name, found, short <= limit and not missed)


def nobody_ahead(rows: Sequence[Row]) -> Target:
    """No peer has more power than credence."""
    compared = [
        (row, name, beside)
        for row in rows if row.is_spam for name, beside in row.beside.items() if "oracle" not in name
    ]  # fmt: skip
    ahead = [one for one in compared if -one[2].gap > ERRORS * one[2].error]
    text = "; ".join(f"{name} in {row.name} {_pair(beside)}" for row, name, beside in ahead)
    return Target(
        "no peer ahead by more than two Monte-Carlo errors",
        f"{len(ahead)} of {len(compared)} comparisons{': ' + text if text else ''}", not ahead,
    )  # fmt: skip


def _pair(beside: Lead) -> str:
    return f"({number(beside.second)} against {number(beside.first)}, error {number(beside.error, 3)})"


def on_real_data(rows: Sequence[Row]) -> Target:
    """Power on the MTurk data."""
    own = [row for row in rows if isinstance(row.scenario, Injected) and "MTurk" in row.scenario.data]
    name = f"power of at least {number(MTURK)} on the MTurk data with injected spammers"
    if not own:
        return Target(name, "not run: ../shared/reference is not on this machine", True)
    powers = {row.name.partition(": ")[2]: row.flagged["credence"] for row in own}
    text = ", ".join(f"{kind} {number(power)}" for kind, power in powers.items())
    return Target(name, text, min(powers.values()) >= MTURK)


def calibrated(name: str, error: float, people: int, planted: float, limit: float, least: int = 0) -> Target:
    """The calibration error of probabilities."""
    found = f"{number(error, 4)} over {people:,} participants, {100 * planted:.1f} % of them planted"
    return Target(
        f"ECE of at most {number(limit)} on {name}, by the model alone", found, error <= limit and people >= least
    )


def minorities(rows: Sequence[Row]) -> Target:
    """Speakers of a minority dialect who are flagged where 5 % of the cooperative are."""
    own = [row for row in rows if row.kind == MINORITY]
    text = ", ".join(
        f"{row.scenario.name} {number(row.flagged['credence'])} (oracle {number(row.flagged['oracle'])})" for row in own
    )
    name = f"at most {100 * MINORITY_AT_MOST:.0f} % of minority speakers flagged at a nominal 5 %"
    return Target(name, text, all(row.flagged["credence"] <= MINORITY_AT_MOST for row in own))


def fair_to_families(scored: Sequence[Scored]) -> list[Target]:
    """Who is flagged in the new families as credence comes, and whether middling probabilities are what they say."""
    own = [one for one in scored if isinstance(one.job.scenario, Family)]
    kinds, flagged, attentive = (
        np.concatenate([getattr(one, name) for one in own]) for name in ("kinds", "flagged", "attentive")
    )
    shares = {kind: float(flagged[kinds == kind].mean()) for kind in (LOW, OWN)}
    wrong = float(attentive[flagged].mean()) if flagged.any() else 0.0
    return [
        Target(
            f"at most {100 * MINORITY_AT_MOST:.0f} % of attentive participants with low discrimination or a grammar of "
            "their own flagged, without fillers",
            ", ".join(f"{kind} {number(share)}" for kind, share in shares.items()),
            max(shares.values()) <= MINORITY_AT_MOST,
        ),
        Target(
            f"at most {100 * ATTENTIVE_AT_MOST:.0f} % of flagged participants attentive", number(wrong),
            wrong <= ATTENTIVE_AT_MOST,
        ),
        *(_in_band(family, [one for one in own if one.job.scenario == family]) for family in families()),
    ]  # fmt: skip


def _in_band(family: Family, scored: Sequence[Scored]) -> Target:
    """Whether the middling probabilities of a family are the shares of attentive participants."""
    said, attentive = (
        np.concatenate([[], *(getattr(one, name) for one in scored)]) for name in ("reported", "attentive")
    )
    middle = (said >= BAND[0]) & (said < BAND[1])
    away = abs(float(said[middle].mean() - attentive[middle].mean())) if middle.any() else 0.0
    name = f"between {number(BAND[0])} and {number(BAND[1])} the share who are attentive within {number(BAND_AWAY)}"
    found = f"{number(away, 3)} apart, {int(middle.sum()):,} participants (asked: {BAND_PEOPLE})"
    return Target(f"{name}: {family.name}", found, away <= BAND_AWAY and bool(middle.sum() >= BAND_PEOPLE))


def in_time(seconds: float, people: int, trials: int) -> Target:
    """How long a large crowd takes."""
    name = f"{people:,} participants x {trials} trials in under {SECONDS:.0f} seconds on two cores"
    return Target(name, f"{seconds:.1f} s", seconds < SECONDS)
