"""Credence on real crowds whose right answers are known: python benchmarks/real_crowds.py [--without-peer]

For each set of `../shared/reference/crowds`, everybody is scored by credence, by leave-one-out agreement with others
beyond chance, by the information in Dawid and Skene's table of classes and answers, and by MACE (crowd-kit, installed
into an environment of its own under the temporary folder). A participant is good who agrees with the right answers
(kappa of at least .4), and uninformative whose agreement may be chance (p > .05). Printed are the area under the ROC
curve, how many uninformative participants a score finds where no good one is flagged, which needs the right answers to
know, and who is flagged by credence as it comes, which does not.

Then the MTurk data of Ba et al., in which a tenth of the participants become spammers of one kind: in the way of
`karat.simulate`, and by plainly replacing their answers. Real participants whose correlation with the others is not
significant count neither as attentive nor as spammers. The run fails where credence flags somebody good or a trained
annotator, finds too few uninformative ones, or misses a target on the MTurk data. --smallest leaves out the largest
set, MACE and all but one draw; --write puts the tables into docs/credence.md.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.credence_parts import crowd_kit
from benchmarks.credence_parts.injected import REFERENCE, Injected, draw_injected, real
from benchmarks.credence_parts.peers import answers_as_numbers
from benchmarks.credence_parts.powers import calibration_error, power_at, reliability
from benchmarks.credence_parts.scenes import Scene, generator
from benchmarks.marked import parse_options, write_page
from karat import Judgments, Nominal
from karat.models.dawid_skene import dawid_skene
from karat.screen import credence
from karat.screen.criteria.credence import BELOW
from karat.types import Floats, Ints

CROWDS = Path(__file__).resolve().parents[2] / "shared" / "reference" / "crowds"
WITH_GOLD, TRAINED = ("product", "music", "duck"), ("aspects", "relations")
GOOD, CHANCE = 0.4, 0.05
MTURK = "MTurk, 160 x 77"
SPAMMERS = ("random guessing", "primary choice", "repeated pattern")
WAYS = ("simulated", "replaced")
TENTH, DRAWS, POWER, ECE, ENOUGH = 0.1, 3, 0.97, 0.05, 0.9
FAVOURITE = 0.9
"""How often a primary choice is given, where answers are plainly replaced."""
INJECTED_HEAD = (
    "| spammers | injected by | flagged | power at 5 % | calibration error |\n| --- | --- | ---: | ---: | ---: |"
)
PAGE = Path(__file__).resolve().parents[1] / "docs" / "credence.md"
HEAD = (
    "| set | answers per item | good flagged | uninformative flagged | area under the ROC curve | best peer |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: |"
)


@dataclass(frozen=True)
class RealCrowd:
    """The answers of a crowd, and who of them is good and who uninformative."""

    name: str
    judgments: Judgments
    people: list[str]
    good: list[str]
    uninformative: list[str]


def real_crowd(name: str) -> RealCrowd:
    """A set of the reference; trained annotators count as good, all of them."""
    table = pl.read_csv(CROWDS / f"{name}.csv", infer_schema=False).select("participant", "item", "response")
    judgments = Judgments(table, Nominal(sorted(table["response"].unique())))
    people = sorted(table["participant"].unique())
    if not (CROWDS / f"{name}.workers.csv").is_file():
        return RealCrowd(name, judgments, people, people, [])
    known = pl.read_csv(CROWDS / f"{name}.workers.csv")
    good = known.filter(pl.col("kappa") >= GOOD)["participant"].to_list()
    uninformative = known.filter(pl.col("p") > CHANCE, pl.col("kappa") < GOOD)["participant"].to_list()
    return RealCrowd(name, judgments, people, good, uninformative)


def codes(crowd: RealCrowd) -> tuple[Ints, Ints, Ints, int]:
    """Participants (in the order of their names), items and answers as numbers, and how many levels there are."""
    frame = crowd.judgments.frame
    columns = (frame[name].cast(pl.String).to_numpy() for name in ("participant", "item", "response"))
    people, items, answers = (np.unique(values, return_inverse=True)[1].astype(np.int64) for values in columns)
    return people, items, answers, int(answers.max()) + 1


def agreement(crowd: RealCrowd) -> Floats:
    """Agreement of each participant with the majority of the others, beyond chance (kappa); ties count in part."""
    people, items, answers, levels = codes(crowd)
    votes = np.zeros((items.max() + 1, levels))
    np.add.at(votes, (items, answers), 1.0)
    others = votes[items] - np.eye(levels)[answers]
    majority = (others == others.max(axis=1, keepdims=True)) & (others.sum(axis=1, keepdims=True) > 0)
    share = majority / np.maximum(majority.sum(axis=1, keepdims=True), 1)
    judged = share.sum(axis=1) > 0
    found = np.zeros(people.max() + 1)
    for person in range(len(found)):
        own = judged & (people == person)
        if not own.any():
            continue
        observed = float(share[own, answers[own]].mean())
        given = np.bincount(answers[own], minlength=levels) / own.sum()
        expected = float(given @ share[own].mean(axis=0))
        found[person] = (observed - expected) / max(1 - expected, 1e-9)
    return found


def information(crowd: RealCrowd) -> Floats:
    """The mutual information of class and answer in each participant's table by Dawid and Skene, in nats."""
    people, items, answers, levels = codes(crowd)
    fitted = dawid_skene(items, people, answers, levels)
    # Participants by answers by classes.
    joint = fitted.errors * fitted.priors
    apart = joint.sum(axis=2, keepdims=True) * joint.sum(axis=1, keepdims=True)
    summed: Floats = (joint * np.log(np.maximum(joint, 1e-12) / np.maximum(apart, 1e-12))).sum(axis=(1, 2))
    return summed


def area(scores: dict[str, float], crowd: RealCrowd) -> float:
    """The area under the ROC curve, uninformative against good."""
    good, rest = (np.array([scores[name] for name in names]) for names in (crowd.good, crowd.uninformative))
    return float((good[:, None] > rest).mean() + (good[:, None] == rest).mean() / 2)


def found_without_error(scores: dict[str, float], crowd: RealCrowd) -> int:
    """How many uninformative participants score below everybody who is good."""
    least = min(scores[name] for name in crowd.good)
    return sum(scores[name] < least for name in crowd.uninformative)


def plainly_replaced(kind: str, seed: int) -> Scene:
    """The MTurk data with the answers of a random tenth of participants replaced, whatever the tasks are."""
    judgments = real(MTURK)
    random = generator(f"plainly {kind}", seed)
    people = judgments.frame["participant"].unique(maintain_order=True)
    chosen = random.choice(len(people), round(TENTH * len(people)), replace=False)
    kinds = np.full(len(people), "cooperative", dtype=object)
    kinds[chosen] = kind
    response = judgments.frame["response"].to_numpy().copy()
    owner = judgments.frame["participant"].to_numpy()
    for person in chosen:
        own = np.flatnonzero(owner == people[int(person)])
        first = random.integers(2)
        if kind == SPAMMERS[0]:
            given = random.integers(0, 2, len(own))
        elif kind == SPAMMERS[1]:
            given = np.where(random.random(len(own)) < FAVOURITE, first, 1 - first)
        else:
            given = (np.arange(len(own)) + first) % 2
        response[own] = given.astype(str)
    table = judgments.frame.with_columns(response=pl.Series(response, dtype=pl.String))
    return Scene(Judgments(table, judgments.scales), kinds.astype(str))


def significant(judgments: Judgments) -> NDArray[np.bool_]:
    """Whose answers correlate significantly with the mean of the others, in the order of their first rows."""
    frame = judgments.frame.with_columns(_value=pl.col("response").cast(pl.Float64))
    total, number = pl.col("_value").sum().over("item"), pl.len().over("item")
    frame = frame.with_columns(_others=(total - pl.col("_value")) / (number - 1))
    table = frame.group_by("participant", maintain_order=True).agg(pl.corr("_value", "_others").alias("r"), pl.len())
    r, size = table["r"].fill_null(0.0).fill_nan(0.0).to_numpy(), table["len"].to_numpy()
    found: NDArray[np.bool_] = r * np.sqrt((size - 2) / np.maximum(1 - r**2, 1e-9)) > stats.t.ppf(
        1 - CHANCE / 2, size - 2
    )
    return found


def on_mturk(draws: int) -> tuple[list[str], bool]:
    """The table of injected spammers, and whether all targets are met."""
    lines, met = [INJECTED_HEAD], True
    attentive = significant(real(MTURK))
    for kind in SPAMMERS:
        for way in WAYS:
            odds, probability, spam = [], [], []
            for seed in range(1, draws + 1):
                simulated = way == WAYS[0]
                scene = draw_injected(Injected(MTURK, kind), seed) if simulated else plainly_replaced(kind, seed)
                table = credence(scene.judgments).participants
                planted = scene.kinds == kind
                kept = planted | attentive
                odds.append(table["log_odds"].to_numpy()[kept])
                probability.append(table["score"].to_numpy()[kept])
                spam.append(planted[kept])
            score, said, planted = (np.concatenate(parts) for parts in (odds, probability, spam))
            power = power_at(score[~planted], score[planted])
            error = calibration_error(reliability(said, ~planted))
            met &= power >= POWER and error <= ECE
            lines.append(f"| {kind} | {way} | {np.mean(said[planted] < BELOW):.2f} | {power:.2f} | {error:.3f} |")
            print(lines[-1], flush=True)
    return lines, met


def main() -> None:
    """Print one table per set; fail where somebody good is flagged or a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--without-peer", action="store_true", help="without MACE")
    parser.add_argument("--write", action="store_true", help="put the table into docs/credence.md")
    asked = parse_options(parser)
    accused, lines, missed = 0, [HEAD], list[str]()
    for name in (*WITH_GOLD, *TRAINED):
        if asked.smallest and name == "product":
            continue
        if not (CROWDS / f"{name}.csv").is_file():
            print(f"{name}: the data (../shared/reference/crowds) are not on this machine")
            continue
        crowd = real_crowd(name)
        found = credence(crowd.judgments)
        flagged = set(found.flagged)
        wrong = len(flagged & set(crowd.good))
        accused += wrong
        print(f"{name}: credence flags {wrong} of {len(crowd.good)} good participants, "
              f"{len(flagged & set(crowd.uninformative))} of {len(crowd.uninformative)} uninformative ones, "
              f"{len(flagged)} of {len(crowd.people)} in all")  # fmt: skip
        wide = len(crowd.judgments.frame) / crowd.judgments.frame["item"].n_unique()
        begun = f"| {name} | {wide:.1f} | {wrong} of {len(crowd.good)} |"
        if not crowd.uninformative:
            lines.append(f"{begun} | | |")
            continue
        odds = dict(found.participants.select("participant", "log_odds").iter_rows())
        scores = {
            "credence": odds,
            "agreement": dict(zip(crowd.people, agreement(crowd).tolist(), strict=True)),
            "Dawid-Skene": dict(zip(crowd.people, information(crowd).tolist(), strict=True)),
        }
        if not asked.smallest and not asked.without_peer:
            mace = crowd_kit.crowd_kit_scores(answers_as_numbers(crowd.judgments))["MACE"]
            scores["MACE"] = dict(zip(crowd.people, mace.tolist(), strict=True))
        for score, values in scores.items():
            found_by = found_without_error(values, crowd)
            print(f"  {score:12} area {area(values, crowd):.3f}, finds {found_by} without error")
        areas = {score: area(values, crowd) for score, values in scores.items()}
        own, best = areas.pop("credence"), max(areas.values())
        some = f"{len(flagged & set(crowd.uninformative))} of {len(crowd.uninformative)}"
        lines.append(f"{begun} {some} | {own:.3f} | {best:.3f} |")
        most = max(found_without_error(values, crowd) for score, values in scores.items() if score != "credence")
        if len(flagged & set(crowd.uninformative)) < ENOUGH * most or own < best - 0.01:
            missed.append(name)
    pages = {"real crowds": "\n".join(lines)}
    if (REFERENCE / "ba" / "mturk.csv").is_file():
        injected, met = on_mturk(1 if asked.smallest else DRAWS)
        pages["injected on MTurk"] = "\n".join(injected)
        missed += [] if met else ["MTurk"]
    if asked.write:
        write_page(PAGE, pages)
    if accused:
        raise SystemExit(f"credence flags {accused} good participants.")
    if missed:
        raise SystemExit(f"targets are missed on {', '.join(missed)}.")


if __name__ == "__main__":
    main()
