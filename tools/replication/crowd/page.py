"""The page on Ba, Mancenido, Chiou and Pan: what is printed, what R gives, what karat gives.

Whatever the page says in words about the numbers is asserted where it is said.
"""

from __future__ import annotations

from pathlib import Path

from karat.screen import markov
from tools.replication.crowd import consistency, cutoffs, effects, influence, patterns
from tools.replication.crowd.data import Crowds, load
from tools.replication.markdown import table, wrapped


def page(reference: Path) -> dict[str, str]:
    """The page and its figures, by their paths in docs/replication."""
    crowds = load(reference)
    drawn: dict[str, str] = {}
    simulated = markov(crowds.mturk)
    deleted, found = influence.section(crowds, drawn)
    levels, risk = effects.levels(crowds, found)
    text = "\n".join((
        introduction(crowds), consistency.key(crowds), consistency.index(crowds), consistency.added(crowds, drawn),
        cutoffs.section(crowds, simulated, drawn), patterns.section(crowds, simulated), deleted, levels,
        effects.tables(crowds, risk, drawn), differences(),
    ))  # fmt: skip
    return {"crowd.md": wrapped(text)} | drawn


def introduction(crowds: Crowds) -> str:
    """What is replicated, with what, and how to do it again."""
    names = {
        "MTurk": (crowds.mturk, "public: face verification, yes or no"),
        "binary simulation": (crowds.binary, "by the published procedure: 12 of 120 do not answer attentively"),
        "ordinal simulation": (crowds.ordinal, "the same with five ordered answers"),
        "nominal simulation": (crowds.nominal, "the same with five labels"),
    }
    sizes: list[tuple[object, ...]] = [
        (name, what, one.frame["participant"].n_unique(), one.frame["item"].n_unique(), f"{len(one):,}")
        for name, (one, what) in names.items()
    ]
    pool = crowds.pool
    sizes.append((
        "authors' pool", "public: their simulated workers", pool["participant"].n_unique(), pool["item"].n_unique(),
        f"{pool.height:,}",
    ))  # fmt: skip
    return f"""<!-- Made by tools/make_replication.py; do not edit. -->

# Crowd workers

This page repeats Ba, Mancenido, Chiou and Pan ("Data quality in crowdsourcing and spamming behavior detection") on the
data that are public (repository `YangBa78/Data-Reliabilty`). They are not part of karat.

{table(("data", "what", "workers", "tasks", "answers"), sizes, left=2)}
The Prolific data are public, in the same repository, and are not used here; the airport data are not public. Their rows
of tables 1 to 6, figures 8b and 8c, table 7 (appendix E) and the demographics (figures 12 and 13) are not repeated.
Figures 1, 7, 10 and 14 are drawings.

In short:

- The MTurk rows of tables 1 to 4 are found again, worker by worker. So are the verdicts of table 5, the coefficients of
  table 6 and the points of figure 2.
- Three things are computed otherwise than the paper says: the time filter of table 2, the target behind "repeated
  pattern", and the coefficient that table 4 calls ICC(C,1).
- Three things are not found again: the cutoffs of primary choice and repeated pattern, the Spammer Index of the
  simulation, and its twelfth spammer.
- The cutoffs depend on the tasks, and the chi-squared rule of deletion analysis is not a test. karat repeats both as
  published, and simulates beside them what is usual in the study at hand.

Tables have up to three sources:

- **printed**: in the paper; **published** where it is in the authors' files only;
- **R**: the same computed again with R 4.2.2 (lme4, ordinal, car, irr);
- **karat**: computed when this page was made.

"Spammer" is the paper's word. A worker who is flagged gave unusual answers; why is not known. Workers have new names in
each data set. With the reference data beside the checkout, in `../shared/reference`, the page is made by

```sh
make replication
```

The MTurk data are read like this. The column `correct` is left out, so that karat scores the answers itself and
checks the key first.

```text
mturk = karat.read("mturk.csv", mapping={{
    "participant": "worker", "item": "task", "trial": "order",
    "rt": "time", "expected": "truth",
}})
mturk = karat.Judgments(mturk.frame.drop("correct"), mturk.scales)
```
"""


def differences() -> str:
    """What karat does differently by default."""
    return """## What karat does differently by default

- The Spammer Index has an interval. For labels it is pooled over all baselines.
- Cutoffs of the Markov criterion are simulated for the study at hand, 5 % over all targets together, and spare workers
  who agree with the others. `markov(judgments, cutoffs="published")` gives the published ones.
- Deletion flags by the published rule, and says that it is not a likelihood-ratio test. `simulations=999` puts a
  simulated p beside it.
- The time filter is the stricter one of the text. `time_filter(judgments, "mean")` is that of table 2.
- Items whose key disagrees with nearly everybody do not count as accuracy. `doubtful="counted"` counts them.
"""
