"""Table 2: the workers that the Markov criterion flags, before and after the time filter, and how accurate they are."""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

from karat.screen import Markov, markov, risk_levels, time_filter
from tools.replication.crowd import printed
from tools.replication.crowd.data import Crowds
from tools.replication.markdown import decimals, names, same, table

KINDS = ("primary choice", "repeated pattern", "random guessing")


def accuracies(crowds: Crowds) -> pl.DataFrame:
    """The share of right answers of each worker by the recorded key, and whether it is low: below, far_below."""
    found = risk_levels(crowds.mturk, [], doubtful="counted").participants.select("participant", "share_right")
    mean, spread = pl.col("share_right").mean(), pl.col("share_right").std()
    return found.with_columns(below=pl.col("share_right") < mean, far_below=pl.col("share_right") < mean - spread)


def within(evidence: Markov) -> pl.DataFrame:
    """Those within a cutoff, with the kind of their pattern, whether or not they agree with the others."""
    target = pl.col("target")
    kind = (
        pl.when(target.str.starts_with("always")).then(pl.lit(KINDS[0]))
        .when(target == "evenly at random").then(pl.lit(KINDS[2])).otherwise(pl.lit(KINDS[1]))
    )  # fmt: skip
    near = pl.col("flagged") | (pl.col("message") == "markov.agrees")
    return evidence.participants.filter(near).with_columns(kind=kind)


def counts(crowds: Crowds, evidence: Markov, among: Collection[str] | None = None) -> dict[str, int]:
    """The cells of table 2, of everybody within a cutoff or of those among some workers."""
    flagged = within(evidence)
    if among is not None:
        flagged = flagged.filter(pl.col("participant").is_in(list(among)))
    low = accuracies(crowds).filter(pl.col("participant").is_in(flagged["participant"].to_list()))
    found = {"all": flagged.height} | {kind: flagged.filter(pl.col("kind") == kind).height for kind in KINDS}
    return found | {
        "accuracy below the mean": int(low["below"].sum()),
        "accuracy below the mean - SD": int(low["far_below"].sum()),
    }


def section(crowds: Crowds, simulated: Markov) -> str:
    """Table 2 with the published cutoffs, with both readings of the time filter, and with karat's cutoffs."""
    evidence = markov(crowds.mturk, cutoffs="published")
    mean, less = time_filter(crowds.mturk, "mean"), time_filter(crowds.mturk, "mean-sd")
    before, after = counts(crowds, evidence), counts(crowds, evidence, mean.flagged)
    by_text, ours = counts(crowds, evidence, less.flagged), counts(crowds, simulated)
    golden = crowds.golden["mturk"]["akld"]
    theirs = dict(zip(printed.TABLE_2, list(golden["counts_all_and_timefiltered"].values())[:6], strict=True))
    lines = []
    for name, text in printed.TABLE_2.items():
        assert text == (before[name], after[name]) == tuple(theirs[name]), name
        cell = "{} ({})".format
        lines.append((name, cell(*text), cell(*theirs[name]), cell(before[name], after[name]),
                      f"({by_text[name]})", ours[name]))  # fmt: skip
    people = [worker for workers in golden["flagged"].values() for worker in workers]
    agrees = same(evidence.flagged, people)
    assert agrees == "yes"
    stay = evidence.participants.filter(pl.col("flagged"), pl.col("target") == "staying").height
    assert stay == before["repeated pattern"]
    share = 100 * before["accuracy below the mean"] / before["all"]
    as_text = printed.TEXT_2["accuracy below the mean"][0]
    ours_too = within(simulated)
    kept = set(evidence.flagged) & set(ours_too["participant"])
    assert set(ours_too["message"]) == {"markov.agrees"}
    return f"""## Table 2: the Markov criterion and time

Cutoffs of the authors' program. The number in brackets is after the time filter: those flagged whose mean time is below
that of all answers ({golden["overall_mean_time"]:.3f} s), as the note of the table says.

{table(("MTurk", "printed", "R", "karat", "filter of the text", "karat's cutoffs"), lines)}
Every cell is found again, and R and karat flag the same workers. What differs, or is not said:

- The text describes another filter, one standard deviation below the mean of the workers. It would leave the numbers in
  the column "filter of the text". The table uses its note.
- All {before["repeated pattern"]} workers under "repeated pattern" come from a target that the paper does not define:
  staying with each answer (the identity matrix), which the program counts too. Nobody alternates.
- The text says that {as_text} % of those flagged are less accurate than the mean.
  {before["accuracy below the mean"]} of {before["all"]} are {share:.2f} %.
- For guessing the program's cutoff, a divergence of {0.02810061**2:.5f}, is not the one that the paper prints. With
  {printed.CUTOFFS["random guessing"]:.4f} there would be {_guessers(evidence)} and not {before["random guessing"]}.

The last column has cutoffs simulated for this study: a credible worker is within one with 5 % over all targets; a task
in another condition counts as another task. {ours["all"]} are within one, {len(kept)} of them within a published one
too ({names(kept)}). All agree with the others, so karat's default flags nobody. The published cutoffs were made for one
draw of tasks, are quantiles of the average but applied to each row, and are used five times per worker. Those simulated
here miss {_missed(simulated)}.
"""


def _guessers(evidence: Markov) -> int:
    """How many have both rows within the printed cutoff of guessing."""
    rows = evidence.rows.filter(pl.col("target") == "evenly at random").group_by("participant").agg(pl.col("kld").max())
    return rows.filter(pl.col("kld") <= printed.CUTOFFS["random guessing"]).height


def _missed(simulated: Markov) -> str:
    lines = [
        f"{decimals(missed)} of {kind}" for kind, missed in simulated.errors.select("kind", "type_two").iter_rows()
    ]
    return f"{', '.join(lines[:-1])} and {lines[-1]}"
