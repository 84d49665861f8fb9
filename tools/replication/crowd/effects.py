"""Risk levels (table 4), and the effects of the study with and without those at risk (tables 5 and 6, figure 9)."""

from __future__ import annotations

import polars as pl

from karat.screen import Deletion, Evidence, markov, risk_levels
from karat.screen.compare.effects import effects_before_after
from tools.replication.crowd import printed
from tools.replication.crowd.data import Crowds
from tools.replication.drawn import keep
from tools.replication.markdown import probability, table

FORMULA = "correct ~ difficulty * condition + (1 | participant) + (1 | item)"
LEVELS = ("high", "moderate", "undetermined")
TESTS = {"mturk_before": "before", "mturk_after_rm26": "after"}


def levels(crowds: Crowds, found: Deletion) -> tuple[str, Evidence]:
    """The counts of table 4, and the risk levels that give them."""
    flagged = {*markov(crowds.mturk, cutoffs="published").flagged, *found.flagged}
    counted, left_out = (risk_levels(crowds.mturk, flagged, doubtful=how) for how in ("counted", "left out"))
    golden = crowds.golden["mturk"]["risk_levels"]
    lines = []
    for level in LEVELS:
        ours, other = (one.participants.filter(pl.col("level") == level).height for one in (counted, left_out))
        lines.append((level, printed.RISK[level], golden[level], ours, other))
        assert printed.RISK[level] == golden[level] == ours
    both = counted.participants.select("participant", "level").join(
        left_out.participants.select("participant", other="level"), on="participant"
    )
    moved = both.filter(pl.col("level") != pl.col("other")).height
    text = f"""## Table 4: risk levels

{len(flagged)} workers are flagged by the Markov criterion, by deletion, or by both.

{table(("risk", "printed", "R", "karat", "karat, doubtful key left out"), lines)}
The paper does not say when the second half point for a pattern is given. With a run of equal answers four standard
deviations longer than expected (13 of 77) the printed counts are found; the rule was chosen because it gives them, so
that these counts confirm nothing. Without the doubtful item, {moved} of {len(flagged)} have another level.
"""
    return text, counted


def tables(crowds: Crowds, risk: Evidence, drawn: dict[str, str]) -> str:
    """Tables 5 and 6, and figure 9."""
    gone = risk.participants.filter(pl.col("level").is_in(LEVELS[:2]))["participant"].to_list()
    found = effects_before_after(crowds.mturk, gone, FORMULA, doubtful="counted")
    golden = crowds.golden["mturk"]["wald_typeIII"]
    tests, coefficients = [], []
    for row in found.tests.iter_rows(named=True):
        term = row["term"]
        for number, (key, when) in enumerate(TESTS.items()):
            other = golden[key]["wald"][term]
            result = printed.TABLE_5[term][number]
            tests.append((term, when, f"{other['chisq']:.2f}", f"{row[f'chisq_{when}']:.2f}", _p(float(result)),
                          _p(other["p"]), _p(row[f"p_{when}"])))  # fmt: skip
            assert (float(result) < 0.05) == (row[f"p_{when}"] < 0.05)
    largest = smaller = 0.0
    for row in found.coefficients.iter_rows(named=True):
        term = row["term"]
        cells: list[str] = []
        for number, (key, when) in enumerate(TESTS.items()):
            result = printed.TABLE_6[term][number]
            cells += [result, f"{golden[key]['fixef'][term]:.5f}", f"{row[when]:.5f} ({row[f'se_{when}']:.3f})"]
            smaller = max(smaller, 1 - golden[key]["se"][term] / row[f"se_{when}"])
            largest = max(largest, abs(float(result) - row[when]) / row[f"se_{when}"])
        coefficients.append((term, *cells))
    assert largest < 0.02
    loglik = [(golden[key]["loglik"], model.fit.log_likelihood)
              for key, model in zip(TESTS, (found.before, found.after), strict=True)]  # fmt: skip
    assert all(own >= other - 1e-4 for other, own in loglik)
    for key in ("mturk_after_rm9", "mturk_after_rm35"):
        assert abs(golden[key]["wald"]["(Intercept)"]["p"] - float(printed.TABLE_5["(Intercept)"][1])) > 0.01
    shown = keep(drawn, "figures/crowd-effects.svg", "Accuracy by difficulty and condition", found.plot(), "MTurk")
    higher = " and ".join(f"{own - other:.4f}" for other, own in loglik)
    return f"""## Tables 5 and 6, figure 9: what exclusion changes

`{FORMULA}`, before and after the {len(gone)} workers of high and moderate risk are left out. The paper does not say how
many were; with {len(gone)} its numbers are found, and not with the 9 of high risk or all 35.

{table(("term", "MTurk", "X²: R", "karat", "p: printed", "R", "karat"), tests, left=2)}
All verdicts at .05 are the printed ones. The smallest p values differ in their first digits, those of R from the
printed ones too. R's fits with default settings (lme4) end {higher} log-likelihood units below karat's, and their
standard errors, which come from finite differences, are up to {100 * smaller:.1f} % smaller. Far out in the tail that
is enough.

{table(("coefficient", "before: printed", "R", "karat (SE)", "after: printed", "R", "karat (SE)"), coefficients)}
Printed coefficients and karat's differ by at most {largest:.3f} standard errors.

- The tests use treatment coding, as the paper's do. The line for difficulty is therefore its effect in the first
  condition, and that for condition its effect on difficult tasks. They are not main effects.
- The excluded were chosen partly for low accuracy, and accuracy is what the model explains. That the intercept
  rises is a consequence of that choice.

{shown}"""


def _p(value: float) -> str:
    return probability(value) if value >= 0.0005 else f"{value:.2e}"
