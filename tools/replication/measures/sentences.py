"""Appendix A: the list of sentences, and what the attention checks can tell."""

from __future__ import annotations

import polars as pl

from karat.study import chance
from tools.replication.markdown import decimals, table
from tools.replication.measures.data import Pairs

POINTS = 7
CHOICES = "2/3"
"""Of three answers one fails a check: the wrong sentence."""


def sentence_list(pairs: Pairs) -> str:
    """What is to be known about the 150 pairs before they are used."""
    sentences = pairs.sentences
    assert sentences.height == 150
    texts = pl.concat([sentences["acceptable"], sentences["less_acceptable"]])
    same = sentences.filter(pl.col("acceptable") == pl.col("less_acceptable"))["pair_id"].to_list()
    quoted = sentences.filter(pl.any_horizontal(pl.col("acceptable", "less_acceptable").str.contains('"')))
    open_ended = sentences.filter(~pl.all_horizontal(pl.col("acceptable", "less_acceptable").str.contains(r'[.?!"]$')))[
        "pair_id"
    ].to_list()
    assert (same, open_ended, quoted["pair_id"].to_list(), texts.n_unique()) == ([97], [118], [12], 299)
    rows = [
        (97, "the same sentence twice", "kept: in the source the second one ends in another word"),
        (118, "the first sentence has no full stop", "kept as printed"),
        (12, "quotation marks and commas", "the file must be read as CSV, not split at commas"),
        ("82, 104", 'misprints of the original ("they children", "Brain")', "kept as printed"),
        (67, '"handout" here, "hand-out" in the table of disagreements', "pairs are matched by number"),
    ]
    return f"""## Appendix A: the sentences

The list has {sentences.height} pairs and {texts.n_unique()} different sentences: one is there twice. What a check of
the
list finds:

{table(("pair", "what", "here"), rows, left=3)}
Sentences must be identified by number and side, not by their text. A table of pairs in which both sides have the same
name is refused by `decisions`, with the number of the pair.
"""


def attention(pairs: Pairs) -> str:
    """How often guessing passes the attention checks."""
    assert pairs.sentences.height
    rows = []
    for task, trials, share in (
        ("choice, two sessions", 4, CHOICES), ("choice, one session", 2, CHOICES),
        ("choice without \"no difference\", two sessions", 4, "1/2"),
        (f"rating on {POINTS} points, two sentence pairs", 2, f"{POINTS + 1}/{2 * POINTS}"),
    ):  # fmt: skip
        needed = chance.smallest(share)[0]
        passed = chance.pass_probability(trials, trials, share)
        assert passed > 0.05
        rows.append((task, trials, share, decimals(passed), needed))
    header = ("task", "checks", "chance of passing one", "of passing all", "checks that would be needed")
    return f"""## Attention checks

Two pairs of sentences with a clear answer were shown. Who chose the wrong sentence over the right one, or rated it
higher, failed. "No difference", and equal ratings, pass. So somebody who guesses passes one choice in two of three
cases, and all of them often enough:

{table(header, rows)}
The last column is the smallest number of checks that guessing passes with a probability of at most 5 %
(`karat.study.chance.smallest`). The appendix does not say how many points the Likert scale had; {POINTS} are assumed.
Taken literally, the single session of the rating tasks showed one sentence of each pair only, so that nothing could be
ranked there. The checks find people who answer against the obvious, not people who guess. How many participants
failed is not in the
appendix.
"""
