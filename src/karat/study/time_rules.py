"""Named rules that tell outlying response times, each of them data; what they compute is in `karat.screen.time_rules`.

Sources: Pieper, Börner and Kiss, section 5.1: `remfod`; `participant` and `function`, the two criteria of their figure
2 alone; `global`, that figure's dotted lines: single cutoffs over all times, computed once. Miller (1991),
by their footnote 18: 3, 2.5 or 2, the same on both sides. Miller's own factors are of standard deviations; the paper
quotes them for medians and MADs and says why these should be preferred, so here they are of MADs, of the participant's
own times, in one pass. Häussler and Juzek (2016), same footnote: 1.5 standard deviations below and 4 above the mean.
The footnote does not say of which times, and karat takes the participant's own, in one pass. Dandurand et al. (2008)
exclude everyone with a single excessively long time. As no number of seconds fits all tasks, `single` calls a time
excessive that is 10 MADs above the median of all times, and asks for all trials to be genuine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class TimeRule:
    """A rule for response times."""

    name: str
    asks: str
    by: tuple[Literal["participant", "function"], ...]
    """The groups whose cutoffs must all be crossed; none: all times together."""
    upper: float
    """Spreads above the centre beyond which a time is an intermission."""
    lower: float | None
    """Spreads below the centre beyond which a time is a rush; None: there are no rushes."""
    centre: Literal["median", "mean"] = "median"
    recursive: bool = True
    genuine_at_least: float = 0.9
    """The share of trials that must be neither intermissions nor rushes."""


TIME_RULES: Mapping[str, TimeRule] = {
    rule.name: rule
    for rule in (
        TimeRule(
            "remfod", "outlying by participant and by item function", ("participant", "function"), upper=2.5, lower=1.5
        ),
        TimeRule("participant", "outlying among the participant's times", ("participant",), upper=2.5, lower=1.5),
        TimeRule("function", "outlying among the times of the item function", ("function",), upper=2.5, lower=1.5),
        TimeRule("global", "outlying among all times", (), upper=2.5, lower=1.5, recursive=False),
        TimeRule("miller-3", "3 MADs from the participant's median", ("participant",), 3, 3, recursive=False),
        TimeRule("miller-2.5", "2.5 MADs from the participant's median", ("participant",), 2.5, 2.5, recursive=False),
        TimeRule("miller-2", "2 MADs from the participant's median", ("participant",), 2, 2, recursive=False),
        TimeRule("mean-sd", "standard deviations from the participant's mean", ("participant",), 4, 1.5, "mean", False),
        TimeRule("single", "one excessively long time", (), 10, None, recursive=False, genuine_at_least=1.0),
    )
}
