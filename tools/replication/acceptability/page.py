"""The page on section 5 of Pieper, Börner and Kiss: what is published, what the authors' code gives, what karat gives.

Whatever the page says in words about the numbers is asserted where it is said.
"""

from __future__ import annotations

from pathlib import Path

from karat.screen import completion, speed
from tools.replication.acceptability import answers, chance, figures, times
from tools.replication.acceptability.data import Experiment, load
from tools.replication.markdown import names, table, wrapped


def page(reference: Path) -> dict[str, str]:
    """The page and its figures, by their paths in docs/replication."""
    both, tables = load(reference)
    drawn, shown = figures.figures(both)
    flows, runs = answers.runs(both)
    text = "\n".join((
        introduction(both), complete(both), spammers(both), times.section(both), shown, times.rules(both),
        answers.section(both), chance.guessing(tables), runs, differences(),
    ))  # fmt: skip
    return {"acceptability.md": wrapped(text)} | drawn | flows


def introduction(both: list[Experiment]) -> str:
    """What is replicated, with what, and how to do it again."""
    sizes = [
        (one.title, one.golden["design"]["participants"], one.golden["design"]["trials_per_questionnaire"],
         f"{len(one.everybody):,}")
        for one in both
    ]  # fmt: skip
    kept = [one.golden["final"]["n_eligible"] for one in both]
    kept.append(both[1].golden["final_with_intended_control_criterion"]["n_eligible"])
    return f"""<!-- Made by tools/make_replication.py; do not edit. -->

# Acceptability judgments

This page repeats section 5 of Pieper, Börner and Kiss on their own data, step by step. The data are public (repository
`Linguistic-Data-Science-Lab/AJTs-eligibility-screening`) and not part of karat.

{table(("data set", "participants", "trials of the questionnaire", "judgments"), sizes)}
In short:

- karat finds the same outlying trials, right answers and eligible participants as the authors' code: {kept[0]} are
  eligible in forced choice and {kept[1]} in the Likert study.
- One rule for controls was computed otherwise than it was meant. With the rule that was meant, which is karat's
  default, {kept[2]} participants of the Likert study are eligible.
- Of the printed tables, four cells of table 5 are wrong. One of them matters.

Tables have up to three sources:

- **published**: printed in the paper, or in the notebooks that the authors rendered;
- **authors' code**: their R functions, run again (R 4.2.2);
- **karat**: computed when this page was made.

Participants have new names, p001 and so on, in each data set. p001 of one is not p001 of the other. Times are in
seconds. With the reference data beside the checkout, in `../shared/reference`, the page is made by

```sh
make replication
```

The data are read like this:

```text
choices = karat.read("forced_choice.csv", mapping={{
    "left": "option_above_condition", "right": "option_below_condition",
    "response": "response_condition", "expected": "expected_condition",
}})
ratings = karat.read("likert.csv", mapping={{
    "expected": "expected_min..expected_max",
}})
```
"""


def complete(both: list[Experiment]) -> str:
    """Who answered at least 90 % of the questionnaire."""
    lines = []
    for one in both:
        ours = completion(one.everybody)
        lines.append(
            (one.title, names(one.golden["incomplete"]), names(ours.flagged), one.complete.participants.height)
        )
        assert ours.flagged == list(one.golden["incomplete"])
    likert = both[1]
    text = " and ".join(f"{name} answered {count} trials" for name, count in likert.golden["incomplete"].items())
    return f"""## Completion

Participants who answered under 90 % of the trials leave before anything else is computed.

{table(("data set", "under 90 %: authors' code", "karat", "remain"), lines, left=3)}
In the Likert study {text}, of {likert.golden["design"]["trials_per_questionnaire"]}.
"""


def spammers(both: list[Experiment]) -> str:
    """Simple and clever spammers: mean and median times."""
    lines = []
    for one in both:
        ours, golden = speed(one.complete), one.golden["spammers"]
        flagged = [*golden["mean_below"], *golden["median_below"]]
        assert not ours.flagged
        assert not flagged
        for word in ("mean", "median"):
            theirs = min(golden[f"{word}_rt"].values()) / 1000
            mine = float(ours.participants[word].min())  # type: ignore[arg-type]
            lines.append(
                (one.title, f"smallest {word}", f"{theirs:.3f}", f"{mine:.3f}", len(flagged), len(ours.flagged))
            )
    header = ("data set", "time", "authors' code", "karat", "under 3 s: authors' code", "karat")
    return f"""## Simple and clever spammers

A simple spammer is fast throughout and has a short mean time. A clever one pauses now and then; the mean looks usual,
the median does not. The paper names no threshold; the code takes 3 s for both.

{table(header, lines, left=2)}
Nobody is that fast. The paper expects so of participants from a good platform.
"""


def differences() -> str:
    """What karat does differently by default."""
    return """## What karat does differently by default

- A time must lie beyond its cutoff, not on it. The published code counts equality. On these data it changes nothing; on
  times that are all equal it would flag everybody.
- Controls with ratings follow the rule that the notebook states, not the one that it computed.
  `controls = { published = true }` gives the published one.
- Participants excluded at one stage are not judged at the next. The authors judge everybody who completed the
  questionnaire on everything. Those who stay are the same.
"""
