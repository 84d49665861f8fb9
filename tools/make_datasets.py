"""Make the example data of `karat.datasets`: python tools/make_datasets.py [FOLDER]

Both are simulated with a fixed seed, so that every number in the documentation can be found again. The behaviours that
were planted are in the participants' column `behaviour`.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl

import karat

CONDITIONS = [("PP>OBJ", "yes"), ("PP>OBJ", "no"), ("OBJ>PP", "yes"), ("OBJ>PP", "no")]
CONDITION_EFFECT = {("PP>OBJ", "yes"): 0.9, ("PP>OBJ", "no"): 0.2, ("OBJ>PP", "yes"): -0.5, ("OBJ>PP", "no"): 0.4}
STATUS_EFFECT = {"grammatical": 2.2, "ungrammatical": -2.4, "marked": -0.3}
FUNCTION_LOG_SECONDS = {
    "practice": 1.9, "calibration": 1.6, "test": 1.55, "filler": 1.4, "control": 1.35, "attention": 1.3,
}  # fmt: skip
THRESHOLDS = np.array([-1.8, -0.6, 0.5, 1.7])


def likert_items() -> list[dict[str, str | None]]:
    """One row per item and condition: 24 test items in four conditions, and 51 others."""
    items: list[dict[str, str | None]] = []
    for number in range(1, 25):
        for order, integration in CONDITIONS:
            items.append({"item": f"t{number:02d}", "function": "test", "order": order, "integration": integration})
    statuses = ["grammatical", "ungrammatical", "marked"]
    groups = [
        ("practice", "x", 3), ("calibration", "c", 6), ("filler", "f", 24), ("control", "k", 12), ("attention", "a", 6),
    ]  # fmt: skip
    for function, letter, count in groups:
        for number in range(1, count + 1):
            status = statuses[number % 2] if function == "control" else statuses[number % 3]
            status = "ungrammatical" if function == "attention" else status
            expected = {"grammatical": "4-5", "ungrammatical": "1-2"}.get(status)
            subgroup = {"control": ["related", "unrelated"], "filler": ["pseudo", "unrelated"]}.get(function)
            items.append({
                "item": f"{letter}{number:02d}", "function": function, "status": status,
                "expected": expected if function in ("control", "attention") else None,
                "subgroup": subgroup[number % 2] if subgroup else None,
            })  # fmt: skip
    return items


def likert(seed: int = 20260101) -> karat.Judgments:
    """A questionnaire of 75 trials with all item functions, answered by 42 attentive and six careless people."""
    random = np.random.default_rng(seed)
    items = likert_items()
    strength = {name: random.normal(0, 0.5) for name in sorted({str(row["item"]) for row in items})}
    behaviours = ["cooperative"] * 42 + ["rusher", "rusher", "straight-liner", "guesser", "guesser", "drop-out"]
    random.shuffle(behaviours)
    rows, people = [], []
    for number, behaviour in enumerate(behaviours):
        name, which_list = f"p{number + 1:02d}", number % 4
        trials = questionnaire(items, which_list, random)
        trials = trials[:41] if behaviour == "drop-out" else trials
        bias, speed, noise = random.normal(0, 0.5), random.normal(0, 0.25), random.uniform(0.8, 1.3)
        started = datetime(2026, 3, 2, 9, tzinfo=UTC) + timedelta(minutes=7 * number)
        clock = started
        for position, trial in enumerate(trials, start=1):
            seconds = float(np.exp(FUNCTION_LOG_SECONDS[str(trial["function"])] + speed + random.normal(0, 0.35)))
            seconds *= 8 if behaviour != "rusher" and random.random() < 0.01 else 1
            seconds = random.uniform(0.35, 0.9) if behaviour == "rusher" else seconds
            response = rating(trial, behaviour, strength, bias, noise, random)
            clock += timedelta(seconds=round(seconds, 3) + 0.4)
            rows.append({
                "participant": name, "trial": position, "response": response, "rt": round(seconds, 3),
                "list": "ABCD"[which_list], "time": clock, **trial,
            })  # fmt: skip
        finished = behaviour != "drop-out"
        people.append({
            "participant": name, "list": "ABCD"[which_list], "source": "prolific",
            "status": "approved" if finished else "returned", "started": started,
            "finished": clock if finished else None, "working_time": (clock - started).total_seconds(),
            "behaviour": behaviour,
        })  # fmt: skip
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return karat.Judgments(frame, karat.Ordinal(5, neutral=3), pl.DataFrame(people, infer_schema_length=None))


def questionnaire(
    items: list[dict[str, str | None]], which_list: int, random: np.random.Generator
) -> list[dict[str, str | None]]:
    """The trials of one person: test items in the condition of the list; practice first, then calibration."""
    tests = [row for index, row in enumerate(items[:96]) if (index // 4 + which_list) % 4 == index % 4]
    others = [row for row in items if row["function"] not in ("test", "practice", "calibration")]
    main = [*tests, *others]
    start = [[row for row in items if row["function"] == function] for function in ("practice", "calibration")]
    for part in (*start, main):
        random.shuffle(part)
    return [*start[0], *start[1], *main]


def rating(
    trial: dict[str, str | None], behaviour: str, strength: dict[str, float], bias: float, noise: float,
    random: np.random.Generator,
) -> int:  # fmt: skip
    """An answer on five points, by an ordered model for attentive participants."""
    if behaviour == "straight-liner":
        return 4
    if behaviour in ("guesser", "rusher"):
        return int(random.integers(1, 6))
    order = (str(trial.get("order")), str(trial.get("integration")))
    effect = CONDITION_EFFECT[order] if trial["function"] == "test" else STATUS_EFFECT[str(trial["status"])]
    latent = effect + strength[str(trial["item"])] + bias + random.normal(0, noise)
    return int(1 + (latent > THRESHOLDS).sum())


def crowd(seed: int = 20260102) -> karat.Judgments:
    """A binary task with a right answer, done by 108 attentive workers and twelve careless ones."""
    random = np.random.default_rng(seed)
    workers, tasks = 120, 80
    ease = random.normal(0, 1, tasks)
    truth = random.integers(0, 2, tasks)
    behaviours = ["attentive"] * 108 + ["guesser"] * 4 + ["one answer"] * 4 + ["repeated pattern"] * 4
    random.shuffle(behaviours)
    rows = []
    for worker, behaviour in enumerate(behaviours):
        ability, speed = random.normal(1.8, 0.6), random.normal(0, 0.3)
        favourite = int(random.integers(0, 2))
        for position, task in enumerate(random.permutation(tasks), start=1):
            right = random.random() < 1 / (1 + np.exp(-(ability + ease[task])))
            answers = {
                "attentive": int(truth[task]) if right else 1 - int(truth[task]),
                "guesser": int(random.integers(0, 2)),
                "one answer": favourite if random.random() < 0.94 else 1 - favourite,
                "repeated pattern": (position + favourite) % 2,
            }
            pace = 1.2 if behaviour == "attentive" else 0.5
            rows.append({
                "participant": f"w{worker + 1:03d}", "item": f"task{task + 1:02d}", "trial": position,
                "response": answers[behaviour], "rt": round(float(np.exp(random.normal(pace + speed, 0.4))), 3),
                "expected": int(truth[task]), "difficulty": "easy" if ease[task] > 0 else "hard",
            })  # fmt: skip
    people = pl.DataFrame({"participant": [f"w{w + 1:03d}" for w in range(workers)], "behaviour": behaviours})
    return karat.Judgments(pl.DataFrame(rows), karat.Binary(), people)


def main() -> None:
    """Write both data sets into the package, or into the folder that is named."""
    default = Path(__file__).parent.parent / "src" / "karat" / "datasets"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    for name, make in (("likert", likert), ("crowd", crowd)):
        path = folder / f"{name}.parquet"
        make().to_parquet(path)
        print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
