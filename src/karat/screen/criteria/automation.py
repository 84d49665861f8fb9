"""Automation: the probability that a script or a driven browser gave the answers, from the traces of input.

The trial page summarises how each answer is given (see `docs/howto/data-protection.md`). For each participant, a
likelihood ratio compares two explanations of these numbers, a script and a person, and gives a probability:

    odds: float = prior / (1 - prior) * (imitators + (1 - imitators) * ratio)

`imitators` is the share of scripts that cannot be distinguished from people, such as drivers with human-like paths and
hidden marks. This much remains possible whatever the traces look like. The ratio combines

- marks of an automated browser, which no person's browser has;
- answers that no trial page reported, although pages report traces for others in this study;
- input made by a script on the page. Some assistive extensions do that too, so it counts little;
- movements, presses and typing: how far the medians of presses, key holds, speed profiles (peak over mean speed),
  bends, places of presses and movement times relative to Fitts' law are from people's.

People who only use a keyboard, a screen reader, a switch, voice control, or a head or eye mouse differ from others in
the last of these, and drivers may look exactly like their software. All signals together therefore weigh at most
`MOST`, which flags nobody. Only fast, straight lines at a constant speed to the exact centre, which no device produces,
weigh more.

The model of people uses published parameters (`karat.simulate.hands`), because recordings of real input were not
available. `refit` estimates it from the traces of a pilot.
"""

import json
from collections.abc import Mapping
from math import exp, log, log10, pi, sqrt
from typing import Any

import numpy as np
import polars as pl
from pydantic import Field

from karat.judgments import Judgments
from karat.judgments.times import instants
from karat.messages import Message, check_word
from karat.models.robust import MAD_CONSTANT
from karat.screen.evidence import Evidence, ScreenError, check_settings, everybody, message_columns
from karat.study.criterion import Alternative, Criterion, CriterionSettings, left_out

ABOVE, PRIOR, IMITATORS = 0.9, 0.05, 0.25
PEOPLE: dict[str, tuple[float, float]] = {
    "press": (-2.35, 0.45), "hold": (-2.25, 0.45), "profile": (0.9, 0.3), "bend": (-2.9, 0.9), "off": (-0.75, 0.45),
    "fitts": (0.0, 0.4),
}  # fmt: skip
"""Mean and deviation of the logarithms of people's medians; wider than simulated, because models are not people."""
SIGNALS = tuple(PEOPLE)
LEAST_TRIALS = 5
"""Medians of fewer trials are ignored."""
LEAST_PILOT = 20
RANGE = 8.0
"""The range of scripts, in units of the logarithm."""
FLAGGED, ABSENT, UNTRUSTED, UNFIT, LINES, MOST = 5.0, 4.0, 1.0, 0.5, 2.5, 1.0
"""Weights as powers of ten."""
UNLIKE = 0.5
"""Signals of at least this weight are reported as reasons."""
VALUES: dict[str, Any] = {
    "p": pl.Float64, "flags": pl.Int64, "absent": pl.Int64, "pages": pl.Int64, "untrusted": pl.Int64,
    "pace": pl.Float64, **dict.fromkeys(SIGNALS, pl.Float64),
}  # fmt: skip
"""The values of reasons; signals are included if they are unlike most people's."""
TRACE = pl.Struct(
    dict.fromkeys(
        ("path", "straight", "active", "peak", "off", "press", "hold", "untrusted", "flags", "fits"), pl.Float64
    )
)


class AutomationSettings(CriterionSettings):
    """Settings for flagging scripts and driven browsers."""

    above: float = Field(ABOVE, gt=0.5, lt=1, description="Probabilities above this are flagged.")
    prior: float = Field(PRIOR, gt=0, lt=0.5, description="The share of automation that is expected in such a study.")
    imitators: float = Field(IMITATORS, ge=0, lt=1, description="The share of scripts that look like people.")
    people: dict[str, tuple[float, float]] | None = Field(
        None, description="Mean and deviation of the logarithm of people's medians, by signal, as `refit` gives them."
    )


def automation(
    judgments: Judgments,
    above: float = ABOVE,
    prior: float = PRIOR,
    imitators: float = IMITATORS,
    people: Mapping[str, tuple[float, float]] | None = None,
) -> Evidence:
    """The probability that each participant was automated, with reasons; see the module.

    >>> import karat
    >>> from karat.simulate.hands import with_hands
    >>> kinds = {"w001": "http", "w002": "clicks", "w003": "paths"}
    >>> automation(with_hands(karat.simulate.crowd(6, 20), kinds)).flagged
    ['w001', 'w002']
    """
    own_model = dict(people or {})
    settings = check_settings(
        AutomationSettings, above=above, prior=prior, imitators=imitators, people=own_model or None
    )
    for signal in own_model:
        check_word(ScreenError, "people", signal, SIGNALS)
    model = PEOPLE | own_model
    rows, messages = [], []
    table = _summaries(judgments)
    for summary in table.iter_rows(named=True):
        weight, message = _weighed(summary, model)
        p = None if message is None else _posterior(weight, prior, imitators)
        rows.append((summary["participant"], p, above, p is not None and p > above))
        messages.append(
            Message("automation.unknown")
            if message is None or p is None
            else Message("automation.found", {**message, "p": round(p, 3)})
        )
    schema = {"participant": pl.String, "score": pl.Float64, "threshold": pl.Float64, "flagged": pl.Boolean}
    participants = pl.DataFrame(rows, schema=schema, orient="row").with_columns(message_columns(messages, VALUES))
    unknown = sum(score is None for _, score, _, _ in rows)
    notes = [Message("automation.not_seen", {"n": unknown})] if unknown else []
    return Evidence(participants, "automation", settings, (*notes, Message("automation.limits", {"share": imitators})))


def refit(pilot: Judgments) -> dict[str, tuple[float, float]]:
    """The model of people from the traces of a pilot with known people, for the setting `people`.

    Signals that fewer than 20 participants have are not changed.
    """
    table = _summaries(pilot)
    model = {}
    for name in SIGNALS:
        values = np.log(table[name].drop_nulls().to_numpy())
        if values.size >= LEAST_PILOT:
            # Robust, because a script may be among them; widened for people unlike those in the pilot.
            spread = MAD_CONSTANT * float(np.median(np.abs(values - np.median(values))))
            model[name] = (round(float(np.median(values)), 3), round(max(0.1, 1.25 * spread), 3))
    if not model:
        raise ScreenError(Message("automation.small_pilot", {"n": LEAST_PILOT}))
    return model


def _summaries(judgments: Judgments) -> pl.DataFrame:
    """One row per participant: counts, and medians of the signals with enough trials."""
    frame = judgments.frame
    if "trace" not in frame.columns or frame["trace"].null_count() == frame.height:
        raise ScreenError(Message("automation.no_traces"))
    # Missing numbers were not recorded; zeros were.
    rows = frame.select(
        "participant",
        _trial=pl.col("trial") if "trial" in frame.columns else pl.int_range(pl.len()),
        _session=pl.col("session").cast(pl.String) if "session" in frame.columns else pl.lit(""),
        seen=pl.col("trace").is_not_null(),
        _trace=pl.Series([_read(trace) for trace in frame["trace"].to_list()], dtype=TRACE),
        received=instants(frame["received"]) if "received" in frame.columns else pl.lit(None, pl.Datetime("us", "UTC")),
    ).unnest("_trace")
    rows = rows.unique(["participant", "_session", "_trial"], keep="first", maintain_order=True)
    moved = pl.when((pl.col("path") > 50) & (pl.col("active") > 0))
    pace = pl.col("path") / pl.col("active")
    fitts = 0.15 + 0.2 * (pl.col("path") / 60 + 1).log(2)
    rows = rows.with_columns(
        profile=moved.then(pl.col("peak") / pace), bend=moved.then(1 - pl.col("straight")), pace=moved.then(pace),
        fitts=moved.then(pl.col("active") / fitts),
    )  # fmt: skip
    # A press of zero length counts as a tenth of a millisecond, the resolution of the clock.
    least = {"press": 1e-4, "hold": 1e-4, "profile": 0.1, "bend": 1e-3, "off": 1e-2, "fitts": 1e-2}
    medians = [
        pl.when(pl.col(name).count() >= LEAST_TRIALS).then(pl.col(name).median().clip(least.get(name))).alias(name)
        for name in (*SIGNALS, "pace")
    ]
    begins = rows.filter("seen").select(pl.col("received").min()).item()
    table = rows.group_by("participant", maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("pages"), (~pl.col("seen")).sum().cast(pl.Int64).alias("absent"),
        pl.col("flags").max(), pl.col("fits").min(), (pl.col("untrusted") > 0).sum().cast(pl.Int64).alias("untrusted"),
        pl.col("received").max().alias("_last"), *medians,
    )  # fmt: skip
    # Participants who finished before any page reported traces had an earlier version of the page.
    early = (pl.col("_last") < pl.lit(begins)).fill_null(False)
    return everybody(judgments).join(
        table.with_columns(early.alias("early")).drop("_last"), on="participant", how="left", maintain_order="left"
    )


def _read(text: str | None) -> dict[str, float] | None:
    """The numbers of a trace; none if it cannot be read."""
    try:
        content = json.loads(text) if text else {}
    except ValueError:
        return None
    if not isinstance(content, dict):
        return None
    return {name: float(number) for name, number in content.items() if isinstance(number, int | float)}


def _weighed(
    summary: Mapping[str, Any], people: Mapping[str, tuple[float, float]]
) -> tuple[float, dict[str, Any] | None]:
    """The likelihood ratio of a script that does not imitate people, as a power of ten, and the reason's values."""
    values: dict[str, Any] = {"pages": summary["pages"]}
    if summary["absent"] == summary["pages"] and summary["early"]:
        return 0.0, None
    weight = 0.0
    if summary["absent"] * 2 > summary["pages"]:
        weight += ABSENT
        values["absent"] = summary["absent"]
    if summary["flags"]:
        weight += FLAGGED
        values["flags"] = int(summary["flags"])
    if summary["untrusted"] * 2 > summary["pages"]:
        weight += UNTRUSTED
        values["untrusted"] = summary["untrusted"]
    if summary["fits"] == 0:
        weight += UNFIT
    hands = {name: _ratio(summary[name], *people[name]) for name in SIGNALS if summary[name] is not None}
    weight += float(np.clip(sum(hands.values()), -MOST, MOST))
    values |= {name: round(summary[name], 4) for name, power in hands.items() if power > UNLIKE}
    if _lines(summary):
        weight += LINES - MOST
        values["pace"] = round(summary["pace"])
    return weight, values


def _ratio(value: float, mean: float, deviation: float) -> float:
    """The likelihood ratio of a value for a script and for people, as a power of ten within MOST."""
    z = (log(value) - mean) / deviation
    density = exp(-min(z * z, 200.0) / 2) / (sqrt(2 * pi) * deviation)
    return float(np.clip(log10(1 / RANGE / density), -MOST, MOST))


def _lines(summary: Mapping[str, Any]) -> bool:
    """Whether the pointer went fast and straight to the centre at a constant speed; gliding pointers are slow."""
    values = [summary[name] for name in ("bend", "profile", "off", "pace")]
    if any(value is None for value in values):
        return False
    bend, profile, off, pace = values
    return bool(bend < 0.01 and profile < 1.4 and off < 0.1 and pace > 400)


def _posterior(weight: float, prior: float, imitators: float) -> float:
    odds = float(prior / (1 - prior) * (imitators + (1 - imitators) * 10.0**weight))
    return odds / (1 + odds)


CRITERION = Criterion(
    name="automation",
    title="Automation",
    asks="who was probably a script or a driven browser",
    settings=AutomationSettings,
    computed_by=automation,
    stage="clock",
    shown_blind=True,
    careless=False,
    of_the_study=("people",),
    shares=("above", "prior", "imitators"),
    cites=("soukoreff2004", "flash1985", "dhakal2018"),
    alternatives=(
        Alternative("p > .9", {"above": 0.9}, "a tenth of those flagged may be people"),
        Alternative("p > .99", {"above": 0.99}, "strict"),
        left_out(),
    ),
)
