"""Scripts, drivers and language models among participants: python benchmarks/automation.py [--write]

Four tiers take part beside people: a script that posts answers over HTTP, a driver that clicks, a driver with human-
like paths and log-normal latencies, and an agent that answers as a language model does. Input of people and of the
first three tiers is simulated (`karat.simulate.hands`). The cutoff of every signal is set where it flags 1 % of
simulated people; joint is the smallest share of people with as extreme a score, over all signals, at its own 1 %.

The fourth tier uses real answers: `../shared/reference/machines` holds those of six models beside human annotators'.
Three accounts of a model answer 80 items; each redraws a share of its answers from the model's answers to similar
items, those with neighbouring mean (or the same most frequent) human answers. Accounts of one crowd are mostly found or
missed together, so that a share is known from 144 crowds to about .02. All real annotators, of these sets, of
`../shared/reference/crowds` and of the MTurk data of Ba et al., go through `twins` and `too_regular` as well.
The run fails where an annotator is flagged, or twins finds fewer than .9 of accounts that redraw 20 %. --smallest looks
at one set, --write puts the tables into docs/explanation/automation.md.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.credence_parts.scenes import generator
from benchmarks.marked import Target, check_page, parse_options, write_page
from karat import Binary, Judgments, Nominal, Ordinal
from karat.screen import Evidence, ScreenError, credence
from karat.simulate.hands import with_hands
from karat.study.criteria import CRITERIA

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT.parent / "shared" / "reference"
PAGE = ROOT / "docs" / "explanation" / "automation.md"
SETS = ("stars", "prompts", "relations")
"""Sets with enough annotators to compare pairs of them."""
CROWDS = ("product", "music", "duck", "aspects")
MTURK = "mturk"
ACCOUNTS, SHARED, REDRAWN, NEIGHBOURS = 3, 80, (0.1, 0.2, 0.3), 5
LEVELS = ["1", "2", "3", "4", "5"]
FOUND = 0.9
COPIES_HEAD = (
    "| set | annotators | redrawn | accounts found | annotators flagged beside them |\n"
    "| --- | ---: | ---: | ---: | ---: |"
)
PEOPLE_HEAD = (
    "| set | annotators | flagged by twins | flagged by too_regular |\n| --- | ---: | ---: | ---: |"
)  # fmt: skip
SINGLE_HEAD = (
    "| set | models flagged by too_regular | highest credence of a model | models closer to the consensus than the "
    "closest annotator |\n| --- | ---: | ---: | ---: |"
)


TIERS = {
    "http": "1: HTTP script",
    "clicks": "2: driver that clicks",
    "lines": "between: straight lines, marks hidden",
    "paths": "3: human-like paths, marks hidden",
}
HANDS = ("mouse",) * 10 + ("touch",) * 6 + ("keys", "switch", "screen reader", "voice")
"""How simulated people answer: four of twenty by keys or assistive technology."""
OF_EACH, ALARMS, TIER_DRAWS = 10, 0.01, 3
LATENCY = (0.5, 0.45)
"""Mean and deviation of the logarithms of scripts' seconds."""
SIGNALS = ("receipt_times", "automation", "too_regular")
TIERS_HEAD = "\n".join(
    [
        f"| tier | {' | '.join(SIGNALS)} | joint | flagged by any at its usual setting |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
)


@dataclass(frozen=True)
class Annotated:
    """A set of answers of human annotators and models."""

    name: str
    table: pl.DataFrame
    """participant, kind, item, response."""

    @property
    def humans(self) -> pl.DataFrame:
        """The answers of people."""
        return self.table.filter(pl.col("kind") == "human").drop("kind")

    @property
    def models(self) -> list[str]:
        """The names of the models."""
        return sorted(self.table.filter(pl.col("kind") == "machine")["participant"].unique())

    def judgments(self, table: pl.DataFrame) -> Judgments:
        """Answers on the scale of this set."""
        levels = sorted(self.table["response"].unique())
        return Judgments(table, Ordinal(levels) if levels == LEVELS else Nominal(levels))

    def similar(self) -> pl.DataFrame:
        """The items that two people answered or more, those with similar answers side by side."""
        number = pl.col("response").cast(pl.Float64, strict=False).mean()
        first = pl.col("response").mode().sort().first()
        known = self.humans.group_by("item").agg(number.alias("mean"), first.alias("mode"), pl.len())
        return known.filter(pl.col("len") > 1).sort("mean", "mode", "item")


def annotated(name: str) -> Annotated:
    """A set of the reference."""
    folder = "machines" if (REFERENCE / "machines" / f"{name}.csv").is_file() else "crowds"
    table = pl.read_csv(REFERENCE / folder / f"{name}.csv", infer_schema=False)
    if "kind" not in table.columns:
        table = table.with_columns(kind=pl.lit("human"))
    return Annotated(name, table.select("participant", "kind", "item", "response"))


def copies(data: Annotated, model: str, redrawn: float, random: np.random.Generator) -> pl.DataFrame:
    """Accounts of one model that answer the same items, each with a share of answers redrawn from similar items."""
    items = data.similar()["item"].to_list()
    own = data.table.filter(pl.col("participant") == model)
    said = dict(own.select("item", "response").iter_rows())
    places = np.sort(random.choice(len(items), SHARED, replace=False))
    rows = []
    for account in range(ACCOUNTS):
        for place in places.tolist():
            near = place
            if random.random() < redrawn:
                step = int(random.integers(1, NEIGHBOURS + 1)) * int(random.choice([-1, 1]))
                near = place + step if 0 <= place + step < len(items) else place - step
            rows.append((f"account {account + 1}", items[place], said[items[near]]))
    return pl.DataFrame(rows, schema=["participant", "item", "response"], orient="row")


def flagged(evidence: Evidence | None) -> set[str]:
    """Who is flagged, nobody where the criterion cannot say anything."""
    return set() if evidence is None else set(evidence.flagged)


def computed(criterion: str, judgments: Judgments) -> Evidence | None:
    """The evidence, or None where the criterion says that it cannot judge."""
    try:
        found: Evidence = CRITERIA[criterion].compute(judgments)
        return found
    except ScreenError:
        return None


def one_crowd(task: tuple[str, str, float, int]) -> tuple[list[bool], int]:
    """Which accounts are found in one crowd with copies of a model, and how many annotators are flagged."""
    name, model, redrawn, draw = task
    data = annotated(name)
    accounts = copies(data, model, redrawn, generator(f"copies {name} {model} {redrawn}", draw))
    who = flagged(computed("twins", data.judgments(pl.concat([data.humans, accounts]))))
    hits = [account in who for account in accounts["participant"].unique(maintain_order=True).to_list()]
    return hits, len(who & set(data.humans["participant"]))


def on_copies(sets: tuple[str, ...], draws: int, pool: Executor) -> tuple[list[str], list[Target]]:
    """The table of copies, and the targets."""
    lines, at_target = [COPIES_HEAD], list[bool]()
    tasks = {
        (name, redrawn): [(name, model, redrawn, draw) for model in annotated(name).models for draw in range(draws)]
        for name in sets
        for redrawn in REDRAWN
    }
    running = {key: pool.map(one_crowd, own) for key, own in tasks.items()}
    for (name, redrawn), results in running.items():
        crowds = list(results)
        people = annotated(name).humans["participant"].n_unique()
        hits = [hit for own, _ in crowds for hit in own]
        at_target += hits if redrawn == REDRAWN[1] else []
        beside = sum(wrong for _, wrong in crowds)
        lines.append(
            f"| {name} | {people} | {redrawn:.0%} | {np.mean(hits):.2f} | {beside} of {people * len(crowds)} |"
        )
        print(lines[-1], flush=True)
    share = float(np.mean(at_target))
    target = Target("twins finds accounts that redraw 20 %, .9", f"{share:.3f}", share >= FOUND)
    return lines, [target]


def one_set(name: str) -> tuple[int, list[int | None]]:
    """How many people a set has, and how many of them each criterion flags; None where it cannot say."""
    judgments = mturk() if name == MTURK else annotated(name).judgments(annotated(name).humans)
    found = [computed(one, judgments) for one in ("twins", "too_regular")]
    return judgments.participants.height, [None if one is None else len(one.flagged) for one in found]


def on_people(names: tuple[str, ...], pool: Executor) -> tuple[list[str], list[Target]]:
    """The table of real people. No annotator should be flagged; who copied on MTurk, nobody knows."""
    lines, wrong = [PEOPLE_HEAD], 0
    for name, (people, found) in zip(names, pool.map(one_set, names), strict=True):
        wrong += sum(number or 0 for number in found) if name != MTURK else 0
        cells = ["not enough to say" if number is None else str(number) for number in found]
        lines.append(f"| {name} | {people} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return lines, [Target("no real annotator flagged", str(wrong), wrong == 0)]


def on_single_models(sets: tuple[str, ...]) -> tuple[list[str], list[Target]]:
    """One account of a model among people: by too_regular, and by credence without times."""
    from karat.models.credence import regularity
    from karat.screen.credence_model import crowd_trials

    lines, highest = [SINGLE_HEAD], 0.0
    for name in sets:
        data = annotated(name)
        caught, closer, credences = 0, 0, list[float]()
        for model in data.models:
            table = pl.concat([data.humans, data.table.filter(pl.col("participant") == model).drop("kind")])
            judgments = data.judgments(table)
            caught += model in flagged(computed("too_regular", judgments))
            looked = crowd_trials(judgments)
            own = dict(zip(looked.people, regularity(looked.trials)[0].tolist(), strict=True))
            closer += own.pop(model) > max(own.values())
            try:
                found = credence(judgments).participants
                credences.append(found.filter(pl.col("participant") == model)["score"].item())
            except ScreenError:
                pass
        most = f"{max(credences):.3f}" if credences else "not computed"
        highest = max([highest, *credences])
        lines.append(f"| {name} | {caught} of {len(data.models)} | {most} | {closer} of {len(data.models)} |")
        print(lines[-1], flush=True)
    return lines, [Target("credence of a model without times below 1.000", f"{highest:.3f}", highest < 0.9995)]


def mturk() -> Judgments:
    """Real answers and times of 160 people to 77 tasks (Ba et al.)."""
    table = pl.read_csv(REFERENCE / "ba" / "mturk.csv").rename({"worker": "participant", "task": "item"})
    table = table.select("participant", "item", pl.col("response").cast(pl.String), trial="order", rt="time")
    return Judgments(table.with_columns(pl.col("rt").clip(0.05)), Binary(("0", "1")))


def with_scripts(seed: int) -> tuple[Judgments, dict[str, str]]:
    """Real answers and times with simulated hands; some participants are scripts with plausible answers and times."""
    judgments, random = mturk(), generator("tiers", seed)
    frame = judgments.frame
    people = sorted(frame["participant"].unique())
    drawn = random.permutation(len(people))
    kinds = {person: str(random.choice(HANDS)) for person in people}
    for place, tier in enumerate(TIERS):
        kinds |= {people[one]: tier for one in drawn[place * OF_EACH : (place + 1) * OF_EACH]}
    script = frame["participant"].replace_strict(kinds).is_in(list(TIERS))
    share = frame.select((pl.col("response") == "1").mean().over("item")).to_series().to_numpy()
    answers = pl.Series((random.random(frame.height) < share).astype(int).astype(str))
    times = pl.Series(np.exp(random.normal(*LATENCY, frame.height)))
    frame = frame.with_columns(
        response=answers.zip_with(script, frame["response"]), rt=times.zip_with(script, frame["rt"])
    )
    return with_hands(Judgments(frame, judgments.scales), kinds, seed), kinds


def on_tiers(draws: int) -> tuple[list[str], list[Target]]:
    """What is found of each tier at 1 % false alarms, by each signal and by all together."""
    scores: dict[str, list[float]] = {name: [] for name in SIGNALS}
    verdicts, kinds = list[bool](), list[str]()
    for seed in range(1, draws + 1):
        judgments, own = with_scripts(seed)
        people = judgments.participants["participant"].to_list()
        kinds += [own[person] for person in people]
        caught: set[str] = set()
        for name in SIGNALS:
            evidence = CRITERIA[name].compute(judgments)
            caught |= set(evidence.flagged)
            found = dict(evidence.participants.select("participant", "score").iter_rows())
            sign = -1.0 if name == "too_regular" else 1.0
            scores[name] += [sign * found[person] if found[person] is not None else -np.inf for person in people]
        verdicts += [person in caught for person in people]
    kind = np.array(kinds)
    person = ~np.isin(kind, list(TIERS))
    extreme = []
    for name in SIGNALS:
        own = np.array(scores[name])
        ranked = np.sort(own[person])
        # The share of people whose score is as high or higher.
        extreme.append(1 - np.searchsorted(ranked, own, side="left") / len(ranked))
    joint = np.min(extreme, axis=0)
    shares = [*extreme, joint]
    lines, least = [TIERS_HEAD], dict[str, float]()
    for tier, name in TIERS.items():
        cells = []
        for share in shares:
            cutoff = np.sort(share[person])[int(ALARMS * person.sum())]
            cells.append(float((share[kind == tier] < cutoff).mean()))
        least[tier] = cells[-1]
        flat = " | ".join(f"{cell:.2f}" for cell in cells)
        lines.append(f"| {name} | {flat} | {np.mean(np.array(verdicts)[kind == tier]):.2f} |")
    alarms = float(np.mean(np.array(verdicts)[person]))
    lines.append(f"| people ({int(person.sum())}) | .01 | .01 | .01 | .01 | {alarms:.3f} |")
    print(*lines, sep="\n", flush=True)
    worst = min(least["http"], least["clicks"])
    return lines, [Target("tiers 1 and 2 found at 1 % false alarms, .99", f"{worst:.3f}", worst >= 0.99)]


def main() -> None:
    """Print all tables; fail where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/explanation/automation.md")
    parser.add_argument("--draws", type=int, default=8, help="crowds with copies per set, model and share")
    parser.add_argument("--processes", type=int, default=2, help="processes that share the work")
    asked = parse_options(parser)
    if asked.write:
        check_page(PAGE, ("tiers", "copies", "real people", "single models"))
    if not (REFERENCE / "machines").is_dir():
        print("the data (../shared/reference/machines) are not on this machine")
        return
    sets = SETS[:1] if asked.smallest else SETS
    people = SETS[:1] if asked.smallest else (*SETS, "preferences", "summaries", *CROWDS, MTURK)
    pages: dict[str, str] = {}
    targets: list[Target] = []
    # Threads of polars do not survive a fork.
    with ProcessPoolExecutor(asked.processes, get_context("spawn")) as pool:
        tiers = pool.submit(on_tiers, 1 if asked.smallest else TIER_DRAWS)
        singles = [pool.submit(on_single_models, (name,)) for name in sets]
        tables = {
            "copies": on_copies(sets, 1 if asked.smallest else asked.draws, pool),
            "real people": on_people(people, pool),
            "tiers": tiers.result(),
        }
        found = [one.result() for one in singles]
        rows = [line for lines, _ in found for line in lines[1:]]
        tables["single models"] = ([SINGLE_HEAD, *rows], [target for _, own in found for target in own])
    for name, (lines, own) in tables.items():
        pages[name] = "\n".join(lines)
        targets += own
    if asked.smallest:
        print("Targets are about all sets together, and are not looked at for one.")
        return
    print(*targets, sep="\n")
    if asked.write:
        write_page(PAGE, pages)
    if not all(target.holds for target in targets):
        raise SystemExit("targets are missed.")


if __name__ == "__main__":
    main()
