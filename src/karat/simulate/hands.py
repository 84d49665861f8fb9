"""Summaries of input as in the trial page: of people with a mouse, a finger, keys or assistive technology, and scripts.

There are no recordings of real input, so people are modelled with published parameters:

- A movement to a target takes a + b log2(D / W + 1) seconds (Fitts' law in Shannon's form), with a of about .15 s and b
  of about .2 s per bit, which is the throughput of about 4.5 bits per second that Soukoreff and MacKenzie (2004) report
  for mice, and log-normal residuals.
- Its speed is that of minimum jerk (Flash and Hogan 1985), whose peak is 1.875 times its mean, on a slightly bowed
  line, with a correction at the end and noise that grows with the speed.
- The place of the press is normal around the centre of the target, so that 96 % fall within it (MacKenzie 1992).
- Presses and key holds are log-normal with medians of about .1 s, as in the typing of 168,000 people (Dhakal et al.
  2018). People differ from each other about as much as the presses of one of them.

Scripts are of three tiers: `http` posts answers without a page, `clicks` is a driver that jumps to the centre of its
target, `lines` moves there along straight lines at a constant speed, and `paths` is a driver with paths, presses and
latencies from the model of people above, which hides its marks.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import polars as pl

from karat.judgments import Judgments
from karat.judgments.columns import unknown_name
from karat.simulate.behaviours import SimulateError
from karat.types import Floats

PEOPLE = {
    "mouse": "a person with a mouse",
    "touch": "a person with a touch screen",
    "keys": "a person who answers by keys alone",
    "switch": "a person with a switch, whose software sends keys or clicks without a pointer",
    "screen reader": "a person with a screen reader, which clicks without a pointer",
    "voice": "a person who speaks commands: software jumps to the centre and presses for no time",
    "gaze": "a person with a head or eye mouse: trembling paths, and clicks by dwelling",
    "glide": "a person with a switch that stops a gliding pointer: slow and straight lines",
}
SCRIPTS = {
    "http": "posts answers without a page (tier 1)",
    "clicks": "a driver that jumps and clicks (tier 2)",
    "lines": "a driver that moves in straight lines and hides its marks (between 2 and 3)",
    "paths": "a driver with human-like paths and log-normal latencies that hides its marks (tier 3)",
}
KINDS = PEOPLE | SCRIPTS
"""The people and scripts that can answer, with their descriptions."""
ASSISTED = ("keys", "switch", "screen reader", "voice", "gaze", "glide")
FRAME = 1 / 60
"""Seconds between two movements that a browser reports."""
Trace = dict[str, float]


@dataclass(frozen=True)
class Hand:
    """The parameters of a person's movements and presses; the defaults are the means of all people."""

    base: float = 0.15
    per_bit: float = 0.20
    press: float = 0.095
    hold: float = 0.105
    dwell: float = 0.18
    bow: float = 0.05
    spread: float = 0.42
    wander: float = 0.35
    """The probability that the pointer also moves while the participant reads."""


def draw_hand(rng: np.random.Generator) -> Hand:
    """The hand of a random person."""
    usual = Hand()
    return Hand(
        _log_normal(rng, usual.base, 0.3), _log_normal(rng, usual.per_bit, 0.2), _log_normal(rng, usual.press, 0.3),
        _log_normal(rng, usual.hold, 0.28), _log_normal(rng, usual.dwell, 0.45), _log_normal(rng, usual.bow, 0.4),
        _log_normal(rng, usual.spread, 0.2), float(rng.beta(2, 3.7)),
    )  # fmt: skip


def mouse_path(
    rng: np.random.Generator,
    start: tuple[float, float],
    end: tuple[float, float],
    width: float,
    hand: Hand | None = None,
) -> Floats:
    """A movement from one place to another as rows of seconds, x and y, one per frame of the screen."""
    hand = hand or Hand()
    (x, y), (to_x, to_y) = start, end
    distance = max(1.0, float(np.hypot(to_x - x, to_y - y)))
    seconds = (hand.base + hand.per_bit * np.log2(distance / width + 1)) * np.exp(rng.normal(0, 0.22))
    first = seconds * rng.uniform(0.65, 0.85)
    reached = np.clip(rng.normal(0.95, 0.05), 0.75, 1.12)
    times = np.arange(0, seconds + FRAME, FRAME)
    along = reached * _minimum_jerk(times / first) + (1 - reached) * _minimum_jerk((times - first) / (seconds - first))
    bowed = rng.normal(0, hand.bow) * np.sin(np.pi * np.clip(along, 0, 1))
    speed = np.gradient(along) if times.size > 1 else np.zeros_like(along)
    shake = rng.normal(0, 1, (2, times.size)) * (0.02 * distance * np.abs(speed) + 0.3) * (along < 0.999)
    unit = np.array([to_x - x, to_y - y]) / distance
    across = np.array([-unit[1], unit[0]])
    places = np.array([[x], [y]]) + distance * (unit[:, None] * along + across[:, None] * bowed) + shake
    places[:, -1] = end
    return np.column_stack([times, places.T])


def _minimum_jerk(part: Floats) -> Floats:
    """The share of the path after this share of the time."""
    s = np.clip(part, 0, 1)
    return np.asarray(s**3 * (10 - 15 * s + 6 * s**2))


def summary(path: Floats, *, dwell: float, press: float, off: float, more: Floats | None = None) -> Trace:
    """The summary of a movement and the press at its end, as in the trial page (`watch.js`).

    `more` is a movement before it, while the participant was reading.
    """
    whole = path if more is None else np.vstack([more, path + np.array([more[-1, 0] + 0.4, 0, 0])])
    places = np.round(whole[:, 1:])
    moved = np.r_[True, (np.diff(places, axis=0) != 0).any(axis=1)]
    places, times = places[moved], whole[moved, 0]
    steps, waits = np.hypot(*np.diff(places, axis=0).T), np.diff(times)
    length = float(steps.sum())
    direct = float(np.hypot(*(places[-1] - places[0])))
    fast = float((steps / np.maximum(waits, 0.004)).max()) if steps.size else 0.0
    return {
        "moves": len(steps), "path": round(length), "straight": round(direct / length, 4) if length else 1.0,
        "moving": round(float(times[-1] - times[0]), 3), "active": round(float(waits[waits <= 0.1].sum()), 3),
        "peak": round(fast), "dwell": round(dwell, 3), "off": round(off, 3), "press": round(press, 4),
    }  # fmt: skip


def _log_normal(rng: np.random.Generator, middle: float, spread: float) -> float:
    return float(middle * np.exp(rng.normal(0, spread)))


def _mouse(rng: np.random.Generator, hand: Hand) -> Trace:
    """A trial of a person with a mouse: perhaps a movement while reading, then one to an answer."""
    width, distance = rng.uniform(40, 90), rng.uniform(20, 500)
    angle = rng.uniform(-0.5, 0.5)
    off = _miss(rng, hand)
    end = (distance * np.cos(angle), distance * np.sin(angle))
    more = None
    start = (0.0, 0.0)
    if rng.random() < hand.wander:
        start = (float(rng.normal(0, 120)), float(rng.normal(0, 90)))
        more = mouse_path(rng, (0.0, 0.0), start, 120.0, hand)
    path = mouse_path(rng, start, end, width, hand)
    dwell = _log_normal(rng, hand.dwell, 0.5)
    return summary(path, dwell=dwell, press=_log_normal(rng, hand.press, 0.25), off=off, more=more)


def _miss(rng: np.random.Generator, hand: Hand) -> float:
    """The distance of a press from the centre of its target, as a share of the largest."""
    return min(1.0, float(hand.spread * np.sqrt(-2 * np.log(rng.uniform(0.02, 1)))))


def _touch(rng: np.random.Generator, hand: Hand) -> Trace:
    off = _miss(rng, hand)
    return {"moves": int(rng.poisson(0.4)), "off": round(off, 3), "press": round(_log_normal(rng, hand.press, 0.3), 4),
            "sizes": int(1 + rng.poisson(1.2)), "scrolls": int(rng.random() < 0.1)}  # fmt: skip


def _keys(rng: np.random.Generator, hand: Hand) -> Trace:
    return {"keys": int(1 + rng.poisson(0.3)), "hold": round(_log_normal(rng, hand.hold, 0.22), 4)}


def _gaze(rng: np.random.Generator, hand: Hand) -> Trace:
    path = mouse_path(rng, (0.0, 0.0), (float(rng.uniform(50, 500)), float(rng.normal(0, 60))), 60.0, hand)
    path[:, 1:] += rng.normal(0, 6, (len(path), 2))
    return summary(path, dwell=float(rng.normal(1.0, 0.02)), press=float(rng.uniform(0, 0.004)), off=rng.uniform(0, 1))


def _line(rng: np.random.Generator, pace: float, *, press: float, off: float) -> Trace:
    """A straight line at a constant speed, in pixels per second."""
    end = np.array([float(rng.uniform(20, 500)), float(rng.normal(0, 60))])
    seconds = max(0.05, float(np.hypot(*end)) / pace)
    times = np.arange(0, seconds + FRAME, FRAME)
    path = np.column_stack([times, np.outer(np.minimum(times / seconds, 1), end)])
    return summary(path, dwell=float(rng.uniform(0.001, 0.02)), press=press, off=off)


def _jump(rng: np.random.Generator, press: float) -> Trace:
    """A driver's click: one movement to the centre, and a press that takes no time."""
    far = round(float(rng.uniform(20, 500)))
    return {"moves": 1, "path": far, "straight": 1.0, "moving": 0.0, "active": 0.0, "peak": 0, "dwell": 0.002,
            "off": round(float(rng.uniform(0, 0.02)), 3), "press": round(press, 4)}  # fmt: skip


_HANDS: dict[str, tuple[str, Callable[[np.random.Generator, Hand], Trace]]] = {
    "mouse": ("mouse", _mouse),
    "touch": ("touch", _touch),
    "keys": ("key", _keys),
    "switch": (
        "",
        lambda rng, _: {"keys": 1, "hold": round(_log_normal(rng, 0.25, 0.6), 4)} if rng.random() < 0.5 else {},
    ),
    "screen reader": ("", lambda rng, hand: {} if rng.random() < 0.8 else _keys(rng, hand)),
    "voice": ("mouse", lambda rng, hand: _jump(rng, rng.uniform(0, 0.012))),
    "gaze": ("mouse", _gaze),
    "glide": ("mouse", lambda rng, hand: _line(rng, rng.uniform(60, 120), press=0.001, off=rng.uniform(0, 1))),
    "clicks": ("mouse", lambda rng, hand: _jump(rng, rng.uniform(0.0005, 0.004))),
    "lines": ("mouse", lambda rng, hand: _line(rng, rng.uniform(800, 2500), press=rng.uniform(0.02, 0.12), off=0.01)),
    "paths": ("mouse", _mouse),
}
"""The pointer of each kind in the page, and the function that draws a trial."""


def traces(kind: str, trials: int, rng: np.random.Generator) -> list[Trace] | None:
    """The summaries of the trials of a participant; None without a page."""
    if kind not in KINDS:
        raise SimulateError(unknown_name("behaviours.unknown", kind, list(KINDS)))
    if kind == "http":
        return None
    hand = Hand() if kind == "paths" else draw_hand(rng)
    draw = _HANDS[kind][1]
    drawings = [draw(rng, hand) for _ in range(trials)]
    about = {"flags": int(kind == "clicks"), "fits": 1, "grain": 0.0001}
    return [{**trace, **(about if place == 0 else {})} for place, trace in enumerate(drawings)]


def with_hands(judgments: Judgments, kinds: Mapping[str, str] | str = "people", seed: int = 1) -> Judgments:
    """The judgments with the columns `pointer`, `trace` and `received`, as from karat's pages.

    `kinds` has the kind of each participant (see `KINDS`); all others are people: 70 % with a mouse, 25 % with a touch
    screen and 5 % with keys. Response times stay as they are, and missing ones are drawn.
    """
    kind_of = {} if isinstance(kinds, str) else dict(kinds)
    everyone = None if kinds == "people" or not isinstance(kinds, str) else kinds
    rng = np.random.default_rng(seed)
    frame = judgments.frame.with_row_index("_row")
    parts = []
    for part in frame.partition_by("participant", maintain_order=True):
        rows = part.sort("trial", maintain_order=True) if "trial" in part.columns else part
        usual = str(rng.choice(["mouse", "touch", "keys"], p=[0.7, 0.25, 0.05]))
        parts.append(_with_hand(rows, kind_of.get(rows["participant"][0], everyone or usual), rng))
    return judgments.with_frame(pl.concat(parts, how="vertical").sort("_row").drop("_row"))


def _with_hand(rows: pl.DataFrame, kind: str, rng: np.random.Generator) -> pl.DataFrame:
    trace_of_trials = traces(kind, rows.height, rng)
    times = rng.lognormal(1.0, 0.5, rows.height)
    if "rt" in rows.columns:
        times = rows["rt"].fill_null(pl.Series(times)).to_numpy()
    gaps = (
        rng.uniform(0.01, 0.02, rows.height) if kind == "http" else times + 0.15 + rng.lognormal(-2.5, 0.5, rows.height)
    )
    begin = datetime(2026, 1, 1, 9, tzinfo=UTC) + timedelta(seconds=float(rng.uniform(0, 36_000)))
    received = [begin + timedelta(seconds=float(element)) for element in np.cumsum(gaps)]
    texts = [None] * rows.height if trace_of_trials is None else [json.dumps(element) for element in trace_of_trials]
    pointer = "" if kind == "http" else _HANDS[kind][0]
    new: dict[str, Any] = {} if "rt" in rows.columns else {"rt": pl.Series(times)}
    return rows.with_columns(
        pointer=pl.lit(pointer),
        trace=pl.Series(texts, dtype=pl.String),
        received=pl.Series(received, dtype=pl.Datetime("us", "UTC")),
        **new,
    )
