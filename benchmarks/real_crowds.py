"""Credence on real crowds whose right answers are known: python benchmarks/real_crowds.py [--without-peer]

For each set of `../shared/reference/crowds`, everybody is scored by credence, by leave-one-out agreement with others
beyond chance, by the information in Dawid and Skene's table of classes and answers, and by MACE (crowd-kit, installed
into an environment of its own under the temporary folder). A participant is good who agrees with the right answers
(kappa of at least .4), and uninformative whose agreement may be chance (p > .05). Printed are the area under the ROC
curve, how many uninformative participants a score finds where no good one is flagged, which needs the right answers to
know, and whom credence flags as it comes, which does not. The run fails where credence flags somebody good or a
trained annotator. --smallest leaves out the largest set and MACE; --write puts the table into docs/credence.md.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.credence_parts import crowd_kit
from benchmarks.credence_parts.peers import answers_as_numbers
from benchmarks.marked import parse_options, write_page
from karat import Judgments, Nominal
from karat.models.dawid_skene import dawid_skene
from karat.screen import credence
from karat.types import Floats, Ints

CROWDS = Path(__file__).resolve().parents[2] / "shared" / "reference" / "crowds"
WITH_GOLD, TRAINED = ("product", "music", "duck"), ("aspects", "relations")
GOOD, CHANCE = 0.4, 0.05
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


def main() -> None:
    """Print one table a set; fail where somebody good is flagged."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--without-peer", action="store_true", help="without MACE")
    parser.add_argument("--write", action="store_true", help="put the table into docs/credence.md")
    asked = parse_options(parser)
    accused, lines = 0, [HEAD]
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
    if asked.write:
        write_page(PAGE, {"real crowds": "\n".join(lines)})
    if accused:
        raise SystemExit(f"credence flags {accused} good participants.")


if __name__ == "__main__":
    main()
