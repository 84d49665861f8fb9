"""The table of disagreements, read again, and magnitude estimates of the same sentences beside it."""

from __future__ import annotations

import polars as pl

from karat.measure import DecisionComparison, compare_decisions
from karat.measure.result import coefficient
from karat.models.proportions import fisher
from tools.replication.drawn import keep
from tools.replication.markdown import probability, table
from tools.replication.measures.data import EXPERIMENTS, Pairs

COUNTS = {
    "target pairs, first session": (0, 14, 5), "target pairs, second session": (0, 13, 6),
    "target pairs, others": (1, 12, 6), "Likert, first session": (5, 1, 13), "Likert, second session": (5, 0, 14),
    "Likert, others": (2, 0, 17),
}  # fmt: skip
"""Checks, crosses and tildes, counted in the text of the printed table."""
MEASURED_AGAIN = (
    ("target pairs, first session", "target pairs, second session"),
    ("target pairs, first session", "target pairs, others"),
    ("Likert, first session", "Likert, second session"),
    ("Likert, first session", "Likert, others"),
    ("target pairs, first session", "Likert, first session"),
    ("target pairs, others", "Likert, others"),
)


def published(pairs: Pairs) -> DecisionComparison:
    """The printed decisions, compared."""
    names = pairs.disagreements["pair_id"].cast(pl.String)
    return compare_decisions(
        {text: dict(zip(names, pairs.disagreements[name], strict=True)) for name, text in EXPERIMENTS.items()}
    )


def disagreements(pairs: Pairs, drawn: dict[str, str]) -> str:
    """The 19 pairs, counted and compared."""
    found = published(pairs)
    assert found.table().height == 19
    counts = []
    for name, n, *ours in found.counts.iter_rows():
        assert tuple(ours) == COUNTS[name]
        counts.append((name, n, *(f"{there} / {here}" for there, here in zip(COUNTS[name], ours, strict=True))))
    agreement = {(row["first"], row["second"]): row for row in found.agreement.to_dicts()}
    rows = [
        (f"{one} and {other}", f"{100 * row['same']:.0f} %", f"{100 * row['lower']:.0f} to {100 * row['upper']:.0f} %",
         coefficient(row["kappa"]), row["opposite"])
        for one, other in MEASURED_AGAIN for row in [agreement[one, other]]
    ]  # fmt: skip
    within = [row for row in agreement.values() if row["first"].split(",")[0] == row["second"].split(",")[0]]
    turned = [(row["first"], row["second"]) for row in within if row["opposite"]]
    assert turned == [("target pairs, second session", "target pairs, others")]
    assert agreement[turned[0]]["opposite"] == 1
    crosses = found.everything.filter(pl.any_horizontal(pl.exclude("pair") == "reverse")).height
    assert crosses == 19
    shown = keep(drawn, "figures/measures-disagreements.svg", "Decisions on 19 pairs", found.plot(), "pairs")
    return f"""## Decisions: the table of disagreements

Experts prefer the first sentence of each pair. A check (✓) says that a measure endorses it, a cross (×) that it
endorses
the other one, a tilde (~) that no difference was found.

{shown}
Counted in the text of the printed table, and by `compare_decisions` in the file:

{table(("measure", "pairs", "✓", "×", "~"), counts)}
All {crosses} pairs have a cross somewhere. The table is said to list the pairs on which measures disagree; a pair
with a
check by one measure and a tilde by another would belong there too, and there is none. So it seems to list the pairs on
which some measure contradicts the experts. How the other 131 pairs were decided is not in the appendix, and no
agreement
over all pairs can be computed from it. Among the 19:

{table(("measures", "same decision", "95 % interval", "kappa", "opposite"), rows)}
Intervals are bootstraps over pairs. These pairs were selected because decisions differ, so that agreement on them is
far
below that on all pairs, and kappa says little. The last column counts pairs where one endorses the first sentence and
one the second. Within a measure that occurs once: on pair 95, target pairs gave a cross in the second session and a
check by others. The other opposite decisions are between measures.
"""


def magnitudes(pairs: Pairs) -> str:
    """Whether magnitude estimates of the same sentences go the experts' way."""
    means = pairs.magnitudes
    against = means.filter(pl.col("difference") <= 0)["pair_id"].to_list()
    listed = pairs.disagreements["pair_id"].to_list()
    both = sorted(set(against) & set(listed))
    assert against == [21, 27, 67, 83, 85, 147, 149]
    assert both == [67, 83, 85, 147, 149]
    p = fisher(len(both), len(listed), len(against), means.height)
    inside, outside = (
        means.filter(pl.col("pair_id").is_in(listed) == there)["difference"].to_numpy().mean()
        for there in (True, False)
    )
    wide = (pairs.disagreements.rename(EXPERIMENTS).join(means, on="pair_id").sort("difference"))  # fmt: skip
    symbols = {"expert": "✓", "reverse": "×", "none": "~"}
    rows = [
        (row["pair_id"], f"{row['better']:.2f}", f"{row['worse']:.2f}", f"{row['difference']:.2f}",
         *(" ".join(symbols[row[name]] for name in EXPERIMENTS.values() if name.startswith(kind))
           for kind in ("target", "Likert")))
        for row in wide.to_dicts()
    ]  # fmt: skip
    header = ("pair", "first sentence", "second sentence", "difference", "target pairs", "Likert")
    return f"""## Magnitude estimates of the same sentences

Sprouse, Schütze and Almeida (2013) collected magnitude estimates of the sentences that the list was drawn from. Their
means, standardised within participant, are public for all 150 pairs (pair 97 by its number in the source).
{means.height - len(against)} of {means.height} pairs have the direction that experts expect; the exceptions are
{", ".join(map(str, against))}. Of these {len(against)}, {len(both)} are among the {len(listed)} pairs of the table
above
(Fisher's exact test, p {probability(p)}). The mean difference is {inside:.2f} standard deviations within the
table and {outside:.2f} outside it: where measures contradict the experts, differences are small.

{table(header, rows)}
Decisions are those of the first session, the second session, and others. A mean has no standard error here, so that
nothing can be decided by these numbers alone.
"""
