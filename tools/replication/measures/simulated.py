"""Decisions on the 150 pairs by four measures, on simulated judgments whose truth is known.

Sentences have the strengths that the magnitude estimates of Sprouse and others give them. Each participant of a measure
gives about a hundred answers.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl

import karat
from karat.judgments import Judgments
from karat.measure import Decisions, compare_decisions, decisions
from karat.measure.result import coefficient
from karat.types import Floats
from tools.replication.drawn import keep
from tools.replication.markdown import table
from tools.replication.measures.data import Pairs

PEOPLE, TRIALS, NOISE, SEED = 150, 100, 0.9, 20180719
CRITERION = 0.4
ALPHA = 0.05
MODULUS = 100.0


def four_measures(pairs: Pairs, drawn: dict[str, str]) -> str:
    """What each measure decides, how often that is right, and how measures agree."""
    truth = pairs.magnitudes["difference"].to_numpy()
    found = _decided(pairs.magnitudes.select("better", "worse").to_numpy())
    names = [str(pair) for pair in pairs.magnitudes["pair_id"]]
    rows = []
    for name, one in found.items():
        signs = dict(zip(names, truth > 0, strict=True))
        decided = one.frame.filter(pl.col("decision") != "none")
        wrong = sum((row["decision"] == "expert") != signs[row["pair"]] for row in decided.iter_rows(named=True))
        left = one.frame.filter(pl.col("decision") == "none")
        equal = left.filter(pl.col("equivalence") == "equivalent").height
        median = float(np.median(one.frame["n"].to_numpy()))
        counts = one.counts
        rows.append((name, one.settings["model"], f"{median:.0f}", counts["expert"], counts["reverse"], counts["none"],
                     wrong, equal))  # fmt: skip
    decided_pairs = {name: one.counts["expert"] + one.counts["reverse"] for name, one in found.items()}
    assert max(decided_pairs, key=lambda name: decided_pairs[name]) == "target pairs"
    assert min(decided_pairs, key=lambda name: decided_pairs[name]) == "random pairs"
    assert all(row[-1] == 0 for row in rows)
    compared = compare_decisions(found)
    assert compared.agreement["opposite"].sum() == 0
    against = int((found["target pairs"].frame.filter(pl.col("estimate") < 0.5)["p"] < ALPHA).sum())
    crosses = {
        name: set(pairs.disagreements.filter(pl.col(name) == "reverse")["pair_id"])
        for name in ("target_pairs_initial", "target_pairs_between")
    }
    first, again = crosses["target_pairs_initial"], set.intersection(*crosses.values())
    agreement = [
        (f"{row['first']} and {row['second']}", f"{100 * row['same']:.0f} %", coefficient(row["kappa"]),
         f"{coefficient(row['kappa_lower'])} to {coefficient(row['kappa_upper'])}", row["opposite"])
        for row in compared.agreement.to_dicts()
    ]  # fmt: skip
    assert len(agreement) == len(list(combinations(found, 2)))
    shown = keep(drawn, "figures/measures-simulated.svg", "Simulated decisions that differ", compared.plot(), "pairs")
    header = ("measure", "contrast", "answers a pair", "✓", "×", "~", "wrong", "~ and equivalent")
    return f"""## Four measures of the same pairs, simulated

The judgments are ours: {PEOPLE} participants for each measure, about {TRIALS} answers each. Sentences have the means of
the magnitude estimates above as their strengths, and each look at a sentence has normal noise with a standard deviation
of {NOISE}. So the truth is known: {int((truth > 0).sum())} pairs go the experts' way and {int((truth < 0).sum())} the
other. All p values are adjusted by Holm's method over 150 pairs.

{table(header, rows, left=2)}
"Wrong" are decisions against the truth. Answers are ratings of either sentence (Likert), participants who rated both
(magnitude), choices between the two (target pairs), and choices between either of them and any other sentence (random
pairs). For the same work of participants, target pairs decide most
pairs and random pairs fewest; but this is one draw, and the differences are small. The last column
counts
the tildes where the difference is shown to be smaller than the region of practical equivalence: there is none, although
some of these differences are tiny. A tilde is no evidence of no difference.

{table(("measures", "same decision", "kappa", "95 % interval", "opposite"), agreement)}
{shown}
In this simulation all measures see the same strengths, so that they differ by chance and by power alone, and no two of
them contradict each other. The published measures do. Of the {len(first)} crosses of target pairs in the first session,
{len(again)} return with other participants, which is hardly chance; {against} crosses of target pairs are found here
where p values are not adjusted (the appendix does not say whether the authors did). The authors hold that in rare cases
direct comparison draws attention to features that are not seen otherwise, and these numbers do not speak against it.
"""


def _decided(strengths: Floats) -> dict[str, Decisions]:
    """Decisions by each measure; sentence 2k - 1 is the better one of pair k, as in the simulated choices."""
    random = np.random.default_rng(SEED)
    table = pl.DataFrame(
        [(str(pair), _name(pair, 0), _name(pair, 1)) for pair in range(1, len(strengths) + 1)],
        schema=["pair", "better", "worse"], orient="row",
    )  # fmt: skip
    return {
        "Likert": decisions(_ratings(strengths, random, karat.Ordinal(7)), table),
        "magnitude": decisions(_ratings(strengths, random, karat.Magnitude(MODULUS)), table),
        "target pairs": decisions(_choices(strengths, random, targets=True), table),
        "random pairs": decisions(_choices(strengths, random, targets=False), table),
    }


def _name(pair: int, side: int) -> str:
    return f"i{2 * pair - 1 + side:03d}"


def _ratings(strengths: Floats, random: np.random.Generator, scale: karat.Ordinal | karat.Magnitude) -> Judgments:
    """Ratings of both sentences of fifty pairs by each participant, who differ in where and how wide they answer."""
    rows = []
    for person in range(PEOPLE):
        shift, stretch = random.normal(0, 0.3), np.exp(random.normal(0, 0.2))
        for pair in random.choice(len(strengths), TRIALS // 2, replace=False):
            seen = stretch * random.normal(strengths[pair], NOISE) + shift
            for side in (0, 1):
                rated = np.clip(np.round(4 + 1.5 * seen[side]), 1, 7)
                answer = f"{rated:.0f}" if isinstance(scale, karat.Ordinal) else f"{MODULUS * np.exp(seen[side]):.4g}"
                rows.append((f"p{person:03d}", _name(pair + 1, side), answer))
    return Judgments(pl.DataFrame(rows, schema=["participant", "item", "response"], orient="row"), scale)


def _choices(strengths: Floats, random: np.random.Generator, targets: bool) -> Judgments:
    """Choices with "no difference", between the sentences of target pairs or between any two."""
    flat = strengths.ravel()
    rows = []
    for person in range(PEOPLE):
        if targets:
            shown = [(2 * pair, 2 * pair + 1) for pair in random.choice(len(strengths), TRIALS, replace=False)]
        else:
            shown = [tuple(random.choice(len(flat), 2, replace=False)) for _ in range(TRIALS)]
        for trial, (first, second) in enumerate(shown, start=1):
            left, right = (first, second) if random.random() < 0.5 else (second, first)
            ahead = random.normal(flat[left], NOISE) - random.normal(flat[right], NOISE)
            answer = "none" if abs(ahead) < CRITERION else "left" if ahead > 0 else "right"
            names = [f"i{number + 1:03d}" for number in (left, right)]
            rows.append((f"p{person:03d}", trial, ":".join(sorted(names)), *names, answer))
    columns = ["participant", "trial", "item", "left", "right", "response"]
    return Judgments(pl.DataFrame(rows, schema=columns, orient="row"), karat.Choice(none=True))
