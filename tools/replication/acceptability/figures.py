"""Figures 1 and 2 of the paper, drawn by karat from the paper's data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karat.screen import remfod
from tools.replication.acceptability.data import Experiment
from tools.replication.drawn import keep

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS = 10
"""How many participants the figure of everybody has: those with the smallest share of genuine trials."""


def figures(both: list[Experiment]) -> tuple[dict[str, str], str]:
    """The figures by their paths, and the part of the page that shows them."""
    drawn: dict[str, str] = {}
    densities = [_show(drawn, one, "density", "densities of response times", one.times.plot_density()) for one in both]
    everybody = [_show(drawn, one, "times", "intermissions and rushes", one.times.plot(rows=ROWS)) for one in both]
    single = []
    for one in both:
        person = str(one.times.participants.sort("score", maintain_order=True)["participant"][0])
        single.append(_show(drawn, one, person, f"the trials of {person}", one.times.plot(participant=person)))
    text = f"""## Figures 1 and 2

Figure 1 of the paper shows that times differ between participants and between item functions. That is why ReMFOD asks
for both cutoffs. The densities of both data sets, drawn by `remfod(...).plot_density()`:

{chr(10).join(densities)}
Figure 2 shows trials with the cutoffs by participant, by item function and over all times. `remfod(...).plot()` draws
everybody's times; here the {ROWS} participants with the smallest shares of genuine trials:

{chr(10).join(everybody)}
`plot(participant="...")` draws one participant with the cutoffs, in the manner of figure 2. Here the participant with
most outliers in each data set:

{chr(10).join(single)}
A plus or a cross inside the grey band is no mistake. The band is ReMFOD's; the marks are what one criterion finds when
it runs alone to its end, and its cutoffs then close in round by round. {_alone(both[-1], person)}
"""
    return drawn, text


def _alone(one: Experiment, person: str) -> str:
    """How much more the participant's criterion finds alone, as a sentence."""
    everybody = remfod(one.complete, rule="participant").participants
    (row,) = everybody.filter(pl.col("participant") == person).to_dicts()
    found = row["intermissions"] + row["rushes"]
    return f"For {person} the participant's criterion alone finds {found} of {row['trials']} trials."


def _show(drawn: dict[str, str], one: Experiment, name: str, what: str, figure: Figure) -> str:
    """Keep the figure under its path, and embed it."""
    path = f"figures/{name}-{one.name.replace('_', '-')}.svg"
    return keep(drawn, path, f"{one.title}: {what}", figure, one.title)
