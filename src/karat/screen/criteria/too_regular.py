"""Too regular: answers unusually close to the consensus, or response times without the traces of reading.

There are three signs, each with a p value if there are enough data:

- *answers*: the mean log probability of a participant's answers, given those of the others to the same items, minus
  its expectation for one of the others. Only the participant closest to the others can be flagged, and only if the
  second closest is significantly further away, because careful people follow the consensus too.
- *traces of reading*: people take longer over items that take others longer (length, difficulty), speed up with
  practice, and have slow and fast phases. With r_1 the correlation of log times with those of the others to the same
  item, r_2 minus that with the logarithm of the position, and r_3 that of neighbouring residuals, T is the sum of
  atanh(r) sqrt(n - 3) over sqrt(3), which is standard normal for random times. Participants without such traces (T
  below 1.64) are compared with the median and the robust spread of T in this study.
- *spread of times*: the standard deviation of log times, below that of all others, as in scripts that always wait
  equally long.

p values are multiplied by the number of signs. Participants are flagged if the false discovery rate
(Benjamini-Hochberg) is at most `rate`. Times need 30 trials per participant, answers 30 answers, and both five
participants.

*Limits.* This is no proof; rules should use it only with other evidence. None of the six language models in the
reference data follows the consensus more closely than the closest human annotator, so a single account of a good model
passes. If people's times show few traces, as with pictures and short sentences, random times pass too. Screen readers
and other assistive technology give times of another shape. Look at such participants, but do not exclude them for it.
"""

import numpy as np
import polars as pl
from pydantic import Field

from karat.judgments import Judgments
from karat.judgments.stimuli import numbered
from karat.judgments.trial_order import order_is_known, presented
from karat.messages import Message
from karat.models.robust import MAD_CONSTANT
from karat.screen.evidence import (
    Evidence,
    ScreenError,
    check_settings,
    everybody,
    means_of_others,
    owners,
    timed,
    verdicts,
)
from karat.study.criterion import Alternative, Criterion, CriterionSettings, left_out
from karat.types import Floats, Ints

RATE = 0.05
FEWEST_TIMES, FEWEST_PEOPLE = 30, 5
WITHOUT_MARKS = 1.645
SMALLEST_SPREAD = 0.15
"""The least deviation of people's spreads of log times (standard deviation of their logarithms)."""
SIGNS = ("answers", "marks", "spread")


class TooRegularSettings(CriterionSettings):
    """Answers that follow the consensus more closely than anybody's, or times without the marks of reading."""

    rate: float = Field(RATE, gt=0, lt=1, description="The false discovery rate among participants who are flagged.")


def too_regular(judgments: Judgments, rate: float = RATE) -> Evidence:
    """Participants who answer more regularly than people do; the score is the false discovery rate.

    Further columns: answers, marks and spread, the p values of the three signs (missing where not computed).

    >>> import karat
    >>> too_regular(karat.datasets.load("likert")).flagged
    []
    """
    from scipy.stats import false_discovery_control

    check_settings(TooRegularSettings, rate=rate)
    people = everybody(judgments)
    p_values = {"answers": _answers(judgments, people), **_times(judgments, people)}
    together = np.stack([p_values[name] for name in SIGNS])
    computed = np.isfinite(together)
    if not computed.any():
        raise ScreenError(Message("too_regular.little", {"fewest": FEWEST_TIMES, "participants": FEWEST_PEOPLE}))
    some = computed.any(axis=0)
    least = np.minimum(np.where(computed, together, 1.0).min(axis=0) * np.maximum(computed.sum(axis=0), 1), 1.0)
    rates = np.full(people.height, np.nan)
    rates[some] = false_discovery_control(least[some])
    flagged = np.nan_to_num(rates, nan=1.0) <= rate
    signs = [[f"sign.{name}" for name in SIGNS if p_values[name][place] == together[computed[:, place], place].min()]
             if flagged[place] else None for place in range(people.height)]  # fmt: skip
    codes = np.select([~some, flagged], ["too_regular.few", "too_regular.signs"], "too_regular.usual")
    table = people.with_columns(
        pl.Series("score", rates).fill_nan(None), pl.Series("_flagged", flagged), pl.Series("_message", codes),
        pl.Series("_signs", signs, pl.List(pl.String)),
        **{name: pl.Series(p_values[name]).fill_nan(None) for name in SIGNS},
    )  # fmt: skip
    values = {"signs": "_signs", "p": pl.col("score").round(3)}
    table = verdicts(table, "score", rate, pl.col("_flagged"), pl.col("_message"), values, *SIGNS)
    notes = () if np.isfinite(p_values["spread"]).any() else (Message("too_regular.no_times"),)
    return Evidence(table, "too_regular", {"rate": rate}, notes)


def _answers(judgments: Judgments, people: pl.DataFrame) -> Floats:
    """The p values of following the others most closely; missing if there are too few answers."""
    from karat.models.credence import follows_closest
    from karat.screen.credence_model import crowd_trials

    try:
        crowd = crowd_trials(judgments)
    except ScreenError:
        return np.full(people.height, np.nan)
    p_values = pl.DataFrame({"participant": crowd.people, "p": follows_closest(crowd.trials)})
    return people.join(p_values, on="participant", how="left", maintain_order="left")["p"].fill_null(np.nan).to_numpy()


def _times(judgments: Judgments, people: pl.DataFrame) -> dict[str, Floats]:
    """The p values of times without traces of reading, and of times that hardly differ."""
    nothing = {name: np.full(people.height, np.nan) for name in SIGNS[1:]}
    try:
        rows = timed(judgments).filter(pl.col("rt") > 0)
    except ScreenError:
        return nothing
    in_order = order_is_known(judgments.frame.columns)
    rows = presented(rows) if in_order else rows
    many = rows.group_by("participant").len().filter(pl.col("len") >= FEWEST_TIMES)["participant"]
    rows = rows.filter(pl.col("participant").is_in(many.implode()))
    if len(many) < FEWEST_PEOPLE:
        return nothing
    rows = rows.with_columns(_owner=owners(people, rows)).sort("_owner", maintain_order=True)
    owner, logs = rows["_owner"].to_numpy(), np.log(rows["rt"].cast(pl.Float64).to_numpy())
    size = np.bincount(owner, minlength=people.height)
    mean = np.bincount(owner, logs, people.height) / np.maximum(size, 1)
    centred = logs - mean[owner]
    there = size > 0
    deviation = np.sqrt(np.bincount(owner, centred**2, people.height)[there] / (size[there] - 1))
    nothing["spread"][there] = _low(np.log(np.maximum(deviation, 1e-6)), SMALLEST_SPREAD)
    if in_order:
        marks = _marks(owner, centred, numbered(rows, ["item"]).to_numpy(), people.height)[there]
        nothing["marks"][there] = np.where(marks < WITHOUT_MARKS, _low(marks, 1.0), 1.0)
    return nothing


def _low(values: Floats, least: float) -> Floats:
    """The probability of such a low value, from the median and the robust spread of all."""
    from scipy.special import ndtr

    middle = np.median(values)
    spread = max(MAD_CONSTANT * float(np.median(np.abs(values - middle))), least)
    return np.asarray(ndtr((values - middle) / spread))


def _marks(owner: Ints, centred: Floats, item: Ints, people: int) -> Floats:
    """T of each participant; rows are sorted by participant and position."""
    size = np.bincount(owner, minlength=people)
    first = np.concatenate([[0], np.cumsum(size)])[:-1]
    place = np.arange(len(owner)) - first[owner]
    usual = np.bincount(place, centred) / np.maximum(np.bincount(place), 1)
    rest = centred - usual[place]
    others, _ = means_of_others(item, rest)
    marks = np.full(people, np.nan)
    for person in np.flatnonzero(size):
        rows = slice(first[person], first[person] + size[person])
        n = size[person]
        late = np.log(np.arange(1, n + 1))
        base = np.column_stack([np.ones(n), others[rows], late])
        residual = centred[rows] - base @ np.linalg.lstsq(base, centred[rows], rcond=None)[0]
        r = [_r(rest[rows], others[rows]), -_r(centred[rows], late), _r(residual[1:], residual[:-1])]
        marks[person] = np.arctanh(np.clip(r, -0.999, 0.999)).sum() * np.sqrt((n - 3) / 3)
    return marks


def _r(x: Floats, y: Floats) -> float:
    x, y = x - x.mean(), y - y.mean()
    size = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / size if size > 1e-12 else 0.0


CRITERION = Criterion(
    name="too_regular",
    title="Regularity",
    asks="who answers more regularly than people do",
    settings=TooRegularSettings,
    computed_by=too_regular,
    careless=False,
    alternatives=(Alternative("FDR .05", {"rate": 0.05}, "usual"), left_out()),
)
