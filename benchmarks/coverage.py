"""Whether the planned test of a small study holds its level: studies without an effect, measured as karat does.

    python benchmarks/coverage.py [--smallest] [--runs 2000] [--processes 2] [--anew] [--write]

Two factors of two levels in a Latin square, 16 x 12, 24 x 16 and 48 x 24 participants x items, ratings of five and
seven points and yes-or-no answers. Participants and items each have an intercept and, in each of the four conditions, a
deviation of their own, so that both the main effect and the interaction vary from one to the other. The second factor
has an effect; the first one and the interaction have none. Each study is measured by `karat.measure.contrasts` with
nothing but the defaults, and `planned` tests the first factor and the interaction.

Counts are saved to `benchmarks/coverage.json` after every few studies, and a later call goes on from there. Study n of
a cell is always the same. With all studies counted, `--write` only writes docs/explanation/coverage.md; `--anew`
simulates all of them again, which takes hours.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr
from scipy.stats import beta

import karat

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.marked import parse_options
from karat.measure import contrasts
from karat.measure.effects.planned import planned_contrasts
from karat.measure.result import MeasureError
from karat.study.settings import ContrastSettings

SAVED = Path(__file__).with_name("coverage.json")
PAGE = Path(__file__).resolve().parents[1] / "docs" / "explanation" / "coverage.md"
HEADING = "## Planned comparisons in small studies"
WANTED = (0.04, 0.06)
INTERCEPTS, DEVIATIONS, EFFECT = 0.8, 0.5, 0.5
"""Standard deviations of intercepts and of deviations in a condition, the effect of the second factor; in logits."""
THRESHOLDS = {
    "yes or no": [0.0],
    "5 points": [-2.0, -0.7, 0.7, 2.0],
    "7 points": [-2.6, -1.5, -0.5, 0.5, 1.5, 2.6],
}
SCALES = {"yes or no": karat.Binary(), "5 points": karat.Ordinal(5), "7 points": karat.Ordinal(7)}
PLAN = [
    ContrastSettings(name="main effect", factor="a", levels=["x", "y"]),
    ContrastSettings(name="interaction", factors={"a": ["x", "y"], "b": ["u", "v"]}),
]
NAMES = [one.name for one in PLAN]
ENOUGH = 2000
"""Studies of a kind that a verdict needs."""
EVERY = 10
"""Studies after which the counts are saved."""


class Cell(NamedTuple):
    """A kind of study."""

    participants: int
    items: int
    answers: str
    models: str = "default"
    """Or "not simplified", or "intercepts" alone: how much that matters."""

    def __str__(self) -> str:
        return f"{self.participants} x {self.items}, {self.answers}, {self.models}"


SIZES = ((16, 12), (24, 16), (48, 24))
CELLS = [Cell(*size, answers) for size in SIZES for answers in THRESHOLDS]
BESIDE = [Cell(24, 16, "5 points", models) for models in ("not simplified", "intercepts")]


def study(cell: Cell, number: int) -> karat.Judgments:
    """The answers of a study in which the first factor and the interaction do nothing."""
    places = list(THRESHOLDS).index(cell.answers)
    random = np.random.default_rng([20260401, cell.participants, cell.items, places, number])
    who, what = np.divmod(np.arange(cell.participants * cell.items), cell.items)
    condition = (who + what) % 4
    eta = EFFECT * np.where(condition % 2, 0.5, -0.5)
    for code, size in ((who, cell.participants), (what, cell.items)):
        eta = eta + INTERCEPTS * random.normal(size=size)[code]
        eta = eta + DEVIATIONS * random.normal(size=(size, 4))[code, condition]
    answer = np.digitize(eta + random.logistic(size=len(eta)), THRESHOLDS[cell.answers])
    rows = {
        "participant": [f"p{n}" for n in who],
        "item": [f"i{n}" for n in what],
        "a": np.where(condition // 2, "x", "y").tolist(),
        "b": np.where(condition % 2, "u", "v").tolist(),
        "response": [str(n if cell.answers == "yes or no" else n + 1) for n in answer],
    }
    return karat.Judgments(rows, SCALES[cell.answers])


def counted(cell: Cell, number: int) -> dict[str, int]:
    """What one study adds to the counts: rejections by the default test and by z, simplified fits, studies without."""
    formula = "response ~ a * b + (1 | participant) + (1 | item)" if cell.models == "intercepts" else None
    conditions = None if formula else ["a", "b"]
    try:
        found = contrasts(study(cell, number), formula, conditions=conditions, simplify=cell.models != "not simplified")
        table = planned_contrasts(PLAN, found).frame.to_dicts()
    except MeasureError:
        return {"runs": 1, "none": 1}
    counts = {"runs": 1, "simplified": int(bool(found.simplified)), "none": int(len(table) < len(PLAN))}
    for row in table:
        counts[row["contrast"]] = int(row["p"] is not None and row["p"] < 0.05)
        counts[f"{row['contrast']} by z"] = int(2 * ndtr(-abs(row["estimate"]) / row["se"]) < 0.05)
    return counts


def read() -> dict[str, dict[str, int]]:
    """The counts so far."""
    known: dict[str, dict[str, int]] = json.loads(SAVED.read_text(encoding="utf-8")) if SAVED.exists() else {}
    return known


def batch(given: tuple[Cell, range]) -> Counter[str]:
    """What some studies of a cell add to its counts."""
    cell, numbers = given
    counts: Counter[str] = Counter()
    for number in numbers:
        counts.update(counted(cell, number))
    return counts


def run(cells: list[Cell], runs: int, processes: int = 1, *, save: bool = True) -> dict[str, dict[str, int]]:
    """The counts once every cell has so many studies, all cells at the same pace."""
    known = read() if save else {}
    done = {cell: known.get(str(cell), {}).get("runs", 0) for cell in cells}
    left = [(cell, range(n, min(n + EVERY, runs))) for cell in cells for n in range(done[cell], runs, EVERY)]
    left.sort(key=lambda one: one[1].start)
    start, studies = time.perf_counter(), 0
    with contextlib.ExitStack() as stack:
        spread: Callable[..., Iterable[Counter[str]]] = map
        if processes > 1:
            spread = stack.enter_context(ProcessPoolExecutor(processes, get_context("spawn"))).map
        for (cell, numbers), counts in zip(left, spread(batch, left), strict=True):
            own = known.setdefault(str(cell), {})
            for key, value in counts.items():
                own[key] = own.get(key, 0) + value
            studies += len(numbers)
            if save:
                SAVED.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
            print(f"{cell}: {own['runs']} studies; {(time.perf_counter() - start) / studies:.2f} s each", flush=True)
    return known


def monte_carlo(hits: int, runs: int, level: float = 0.99) -> tuple[float, float]:
    """Clopper and Pearson's interval of a share.

    >>> [round(end, 3) for end in monte_carlo(100, 2000)]
    [0.038, 0.064]
    """
    rest = (1 - level) / 2
    lower = float(beta.ppf(rest, hits, runs - hits + 1)) if hits else 0.0
    return lower, float(beta.ppf(1 - rest, hits + 1, runs - hits)) if hits < runs else 1.0


def rates(known: dict[str, dict[str, int]], cells: list[Cell]) -> list[dict[str, Any]]:
    """A row for each test of each cell: the share of rejections, its interval, and what z would have done."""
    found = [(cell, known[str(cell)], name) for cell in cells if str(cell) in known for name in NAMES]
    rows = []
    for cell, own, name in found:
        tested = own["runs"] - own["none"]
        rate, z, simplified = (own[key] / tested for key in (name, f"{name} by z", "simplified"))
        row = {"cell": cell, "test": name, "runs": own["runs"], "rate": rate, "z": z, "simplified": simplified}
        rows.append(row | {"interval": monte_carlo(own[name], tested)})
    return rows


def missed(rows: list[dict[str, Any]]) -> list[str]:
    """What is not as it should be: cells whose interval lies outside of the wanted range, or the mean of all."""
    low, high = WANTED
    found = [
        f"{row['cell']}, {row['test']}: {row['rate']:.3f}"
        for row in rows
        if row["interval"][0] > high or row["interval"][1] < low
    ]
    mean = float(np.mean([row["rate"] for row in rows]))
    return found if low <= mean <= high else [*found, f"the mean: {mean:.3f}"]


def _p(value: float) -> str:
    return f"{value:.3f}".replace("0.", ".", 1)


def _line(row: dict[str, Any], first: str) -> str:
    low, high = row["interval"]
    return (
        f"| {first} | {row['test']} | {row['runs']:,} | {_p(row['rate'])} | {_p(low)} to {_p(high)} | {_p(row['z'])} "
        f"| {100 * row['simplified']:.0f} % |\n"
    )


def section() -> str:
    """The part of the page that shows the rates."""
    known = read()
    rows, beside = rates(known, CELLS), rates(known, BESIDE)
    if not rows:
        return ""
    first = "".join(
        _line(row, f"{row['cell'].participants} × {row['cell'].items}, {row['cell'].answers}") for row in rows
    )
    second = "".join(_line(row, row["cell"].models) for row in beside)
    mean, by_z = (float(np.mean([row[key] for row in rows])) for key in ("rate", "z"))
    wrong = missed(rows)
    fewest = min(row["runs"] for row in rows)
    if wrong:
        verdict = f"Outside of .04 to .06: {'; '.join(wrong)}."
    elif fewest < ENOUGH:
        verdict = (
            f"With {fewest} studies of a kind the intervals are too wide for a verdict, which needs {ENOUGH:,}: this "
            "shows only that nothing is far off. Another call goes on from here."
        )
    else:
        verdict = "The 99 % interval of every cell overlaps .04 to .06, and the mean lies within."
    parts = [
        f"The mean is {_p(mean)}; z, which takes the variances as known, would have {_p(by_z)}.",
        verdict,
        '"By z" is the share that the same fits would have rejected without degrees of freedom; "simplified" is the',
        "share of studies whose random effects were simplified because the fit was singular.",
    ]
    about = textwrap.fill(" ".join(parts), 120)
    models = f"""
How much do the random effects matter? This table has studies of 24 × 16 on five points, once with the largest model
without simplification, and once with random intercepts only, which assume that the effect is the same for everybody:

| model | test | studies | rejected | 99 % interval | by z | simplified |
| --- | --- | ---: | ---: | ---: | ---: | ---: |
{second}"""
    enough = bool(beside) and min(row["runs"] for row in beside) >= ENOUGH // 4
    return f"""{HEADING}

A test at the 5 % level should reject 5 % of true null hypotheses, even with few participants and items.
`python benchmarks/coverage.py` simulates studies of two factors in a Latin square, in which the first factor and the
interaction have no effect, and analyses them with the defaults of `karat measure`. Participants and items each have a
random intercept (standard deviation {INTERCEPTS}) and a random deviation per condition ({DEVIATIONS}), in logits.

| participants × items, answers | test | studies | rejected | 99 % interval | by z | simplified |
| --- | --- | ---: | ---: | ---: | ---: | ---: |
{first}
{about}

The default test is t with Satterthwaite's degrees of freedom. There are few of them if the effect differs much between
participants or items, and many if only the residual matters.
{models if enough else ""}"""


def main() -> None:
    """Simulate, and write the page where it is asked for."""
    parser = argparse.ArgumentParser(description="Whether the planned test of a small study holds its level.")
    parser.add_argument("--runs", type=int, default=ENOUGH, help="Studies a cell.")
    parser.add_argument("--processes", type=int, default=1, help="How many work at a time.")
    parser.add_argument("--anew", action="store_true", help="Forget the saved counts.")
    parser.add_argument("--write", action="store_true", help="Write the section of docs/explanation/coverage.md.")
    options = parse_options(parser)
    cells = [cell for cell in CELLS if not options.smallest or (cell.participants, cell.items) == SIZES[0]]
    if options.smallest:
        run(cells, 1, save=False)
        return
    if options.anew:
        SAVED.unlink(missing_ok=True)
    run(cells, options.runs, options.processes)
    run(BESIDE, options.runs // 4, options.processes)
    if options.write:
        page = PAGE.read_text(encoding="utf-8").split(HEADING)[0].rstrip()
        PAGE.write_text(f"{page}\n\n{section()}", encoding="utf-8")
    wrong = missed(rates(read(), cells))
    if wrong:
        raise SystemExit(f"Outside of .04 to .06: {'; '.join(wrong)}.")


if __name__ == "__main__":
    main()
