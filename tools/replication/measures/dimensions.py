"""The pipeline of Macketanz and others, from the list of adjectives to what dimensions are good for."""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.measure import (
    adequacy,
    factors,
    feature_correlations,
    number_of_factors,
    overall_regression,
    reduce_pairs,
    short_form,
)
from karat.measure.result import coefficient
from karat.models.factors import matched
from tools.replication.drawn import keep
from tools.replication.markdown import decimals, probability, table
from tools.replication.measures.data import Differentials

DRAWS = 50
TRANSLATIONS = ("precision", "complexity", "transparency", "grammaticality")
SUMMARIES = ("linguistic_logic", "complexity", "unambiguity", "predictability")
PRINTED = {"chi2": 2.06, "dof": 2, "p": 0.36, "kmo": 0.901}
PRINTED_PERCENT = (53.2, 8.4, 10.5, 8.0)
CORRELATION = 0.748
"""Of precision and transparency, as printed."""


def adjectives(data: Differentials) -> str:
    """The list of the appendix, counted."""
    listed = data.adjectives.filter(pl.col("study") == "mt")
    counts = dict(listed["status"].value_counts().iter_rows())
    rows = [
        ("in the preliminary study", listed.height, 38),
        ("after it", listed.height - counts["dropped_after_prestudy"], 20),
        ("after the factor analysis", counts["final"], 8),
    ]
    return f"""## The pairs of adjectives

{table(("pairs", "appendix", "text"), rows)}
The text speaks of 38 pairs and the appendix lists {listed.height}. The ratings of the preliminary study are not
public, so
`suitability` has nothing to repeat here. "A mean of less than 3.2 and a standard deviation of more than 1.2" can be
read in two ways, and the function has both (`rule="both"`, `"either"`).
"""


def extraction(data: Differentials, drawn: dict[str, str]) -> str:
    """Adequacy, number of factors and four factors, on simulated ratings of the eight pairs."""
    ratings, golden = data.simulated, data.golden["sd_sim_4"]
    suited, number = adequacy(ratings), number_of_factors(ratings, draws=DRAWS)
    found = factors(ratings, 4, kaiser="spss")
    other = golden["factanal"]
    order, signs = matched(found.loadings, np.array(other["promax_spss_like"]["loadings"]))
    apart = np.abs(found.loadings[:, order] * signs - np.array(other["promax_spss_like"]["loadings"])).max()
    assert apart < 1e-3
    whole = factors(ratings, 4, kaiser="all")
    order, signs = matched(whole.loadings, found.loadings)
    variant = float(np.abs(whole.loadings[:, order] * signs - found.loadings).max())
    shares = " / ".join(f"{value:.1f}" for value in found.explained["unrotated_percent"])
    rows = [
        ("KMO", decimals(PRINTED["kmo"]), decimals(golden["kmo_overall"]), decimals(suited.kmo)),
        ("chi-squared of four factors", PRINTED["chi2"], f"{other['chisq']:.2f}", f"{found.chi2:.2f}"),
        ("degrees of freedom", PRINTED["dof"], other["df"], found.dof),
        ("p", decimals(PRINTED["p"], 2), decimals(other["p"], 2), decimals(found.p_value, 2)),
        ("% of variance", " / ".join(map(str, PRINTED_PERCENT)),
         " / ".join(f"{value:.1f}" for value in other["percent_variance_unrotated"]), shares),
    ]  # fmt: skip
    text = "\n".join(f"> {note}\n>" for note in found.notes).removesuffix("\n>")
    loadings = [
        (row["pair"], *(coefficient(row[name]) for name in found.names), coefficient(row["communality"]))
        for row in found.table().to_dicts()
    ]  # fmt: skip
    shown = keep(drawn, "figures/measures-scree.svg", "Number of factors", number.plot(), "simulated differential")
    rules = [(rule, count) for rule, count in number.table().iter_rows()]
    return f"""## Factors of a semantic differential

The ratings of the study are not public. The columns "R" and "karat" are of {ratings.height} simulated cases with the
same
eight pairs, loosely like table 1; they need not be the printed ones, but they must be each other's.

{table(("", "printed", "R, simulated", "karat, simulated"), rows)}
Loadings of R and karat differ by less than .001 (promax, `kaiser="spss"`). What SPSS calls promax with Kaiser
normalisation is known from descriptions only. The variants matter more than the program: those of R's psych
(`kaiser="all"`) give loadings that differ from these by up to {decimals(variant, 2)}. What the paper calls Pearson's
chi-squared test is the likelihood-ratio test of the extraction.

{table(("pair", *found.names, "communality"), loadings)}
With eight pairs, four factors leave two degrees of freedom, and a good fit says little. karat says so:

{text}

In the paper two of four factors are carried by one pair each, and one by two. Precision and transparency
correlate {decimals(CORRELATION)} and so share {100 * CORRELATION**2:.0f} % of their variance. How many factors there
are
depends on the rule:

{table(("rule", "factors"), rules)}
{shown}
{short_form(found)}
"""


def reduction(data: Differentials) -> str:
    """Removing unclear pairs one by one, on a questionnaire that is public."""
    found = reduce_pairs(data.questionnaire, 5, kaiser="spss")
    rows = [
        (row["step"], row["pair"], row["reason"], f"{row['chi2']:.1f}", row["dof"], decimals(row["kmo"], 2))
        for row in found.table().to_dicts()
    ]  # fmt: skip
    everything = len(found.kept) + len(found.removed)
    assert found.notes
    return f"""## Fewer pairs

The paper removed pairs "with low communalities and/or cross-loadings differing by less than 0.2", from 20 to 8. The
same
rule on {everything} items of a personality questionnaire that has five scales by design ({data.questionnaire.height:,}
people), with .4 as the limit of communalities:

{table(("step", "item", "reason", "chi-squared before", "df", "KMO"), rows, left=3)}
{len(found.kept)} items are left: {", ".join(found.kept)}. {found.notes[0]} The rule goes on until hardly any item is
left,
and the five scales do not survive: conscientiousness (C) and openness (O) are gone. A fit that is good because few
items
are left is no evidence for dimensions.
"""


def uses(data: Differentials) -> str:
    """How an overall rating follows from dimensions, and whether length goes with them."""
    rows, notes = [], []
    for name, texts, dimensions in (
        ("translations", data.translations, TRANSLATIONS), ("summaries", data.summaries, SUMMARIES),
    ):  # fmt: skip
        found = overall_regression(texts, "overall", dimensions)
        rows += [
            (name, row["dimension"], f"{row['weight']:.2f}", f"{row['lower']:.2f} to {row['upper']:.2f}",
             f"{row['standardised']:.2f}", f"{row['inflation']:.1f}")
            for row in found.table().to_dicts()
        ]  # fmt: skip
        left_out = found.model.left_out_r2
        notes.append(f"{name}: R² {decimals(found.r2, 2)} over {found.observations} texts, "
                     f"{decimals(left_out, 2)} for texts that were left out")  # fmt: skip
    long = feature_correlations(data.translations, TRANSLATIONS, ["n_words"]).table()
    lengths = [
        (row["dimension"], coefficient(row["pearson"]), f"{coefficient(row['lower'])} to {coefficient(row['upper'])}",
         probability(row["adjusted"]))
        for row in long.to_dicts()
    ]  # fmt: skip
    first = long.row(0, named=True)
    assert (first["dimension"], first["pearson"] > 0) == ("complexity", True)
    one = factors(data.translations.select(TRANSLATIONS), 1)
    share = float(one.explained["unrotated_percent"].sum())
    return f"""## What dimensions are good for

Means of {data.translations.height} translations and {data.summaries.height} summaries on one scale for each
dimension are
public, from further studies of the same group; an overall rating only for a part of them.

{table(("texts", "dimension", "weight", "95 % interval", "standardised", "inflation"), rows, left=2)}
{"; ".join(notes)}. Dimensions of one text overlap so much that one factor explains {share:.0f} % of the variance of the
four means of translations, and that variances of weights are inflated up to ten times and more: which dimension weighs
most is not well determined.

{table(("dimension", "correlation with the number of words", "95 % interval", "adjusted p"), lengths)}
The paper says that sentences rated as complicated tend to be longer. In these means complexity rises with length. Which
end is the good one is not documented for the public file. If high means simple, as its correlation with the overall
rating suggests, the
sign is the opposite of what the paper says; if it means complex, it agrees.

Profiles of texts (`profiles`) need ratings of single participants, which are not public.
"""
