"""Credence beside an oracle and its peers: python benchmarks/credence.py [--full | --tiny | --time]

Every scenario is scored by credence, by the likelihood ratio with the generating parameters (the oracle), and by the
peers, all compared where 5 % of cooperative participants are flagged. Then calibration over all simulated participants,
real data with injected spammers, what removal does to a known effect, and the time of a large crowd. The summary says
which targets hold; the run fails where one is missed.

By default it takes hours on two cores. --time only measures the time of a large crowd. --full draws five times as many
replications, --tiny next to none, --smallest one of each sort without the slow peers (to see that everything runs).
Seeds are held out: they begin at 1,000,001 and are kept for the published tables; --develop takes those from 1 on.
--write puts the tables into docs/credence.md and rows into docs/performance.md. What is asked of the two families that
owe nothing to the model needs more crowds than that, and is decided by --families N alone. Deletion, MACE and
Dawid-Skene are run on the first replications of each scenario only, and deletion in windows on fewer of some, because
they take long; they are compared with credence on the same. crowd-kit is installed into an environment of its own under
the temporary folder.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from credence_parts import crowd_kit, runs, targets
from credence_parts.crowds import Crowd, draw_crowd
from credence_parts.effect import estimates
from credence_parts.families import families
from credence_parts.injected import Injected
from credence_parts.page import SHORT, TABLES, page_parts
from credence_parts.runs import Scored
from credence_parts.scenes import DEVELOPMENT, HELD_OUT
from credence_parts.tables import calibration_table, number, rows_of, verdict_table

from benchmarks.marked import check_page, parse_options, write_page, write_rows
from karat.screen.criteria.credence import credence

PROCESSES = 2
ROW = "power of credence on simulated crowds"
TIME_ROW = "credence of 10,000 participants with 100 answers each"
PAGES = {Path(__file__).resolve().parent.parent / "docs" / f"{name}.md": parts
         for name, parts in (("credence", SHORT), ("credence-tables", TABLES))}  # fmt: skip
LARGE, SMALL = Crowd("random guessing", workers=10_000, trials=100), Crowd("random guessing")
STUDIES = {"quick": 30, "full": 200, "tiny": 2, "smallest": 1}
SIZES = {"quick": runs.QUICK, "full": runs.FULL, "tiny": runs.TINY, "smallest": runs.TINY}
Given, Found = TypeVar("Given"), TypeVar("Found")


def together(call: Callable[[Given], Found], given: Sequence[Given], what: str) -> list[Found]:
    """What a call gives for each, in their order, in two processes, with a word on how far it is."""
    found: dict[int, Found] = {}
    start = result = time.perf_counter()
    # Fresh processes, so that their libraries read how many threads they may have: one, as each has a core.
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"), "1"))
    with ProcessPoolExecutor(PROCESSES, get_context("spawn"), initializer=runs.prepare) as pool:
        waiting = {pool.submit(call, one): place for place, one in enumerate(given)}
        for done in as_completed(waiting):
            found[waiting[done]] = done.result()
            now = time.perf_counter()
            if now - result > 15 or len(found) == len(given):
                result = now
                print(f"{what}: {len(found)} of {len(given)} in {now - start:.0f} s", file=sys.stderr, flush=True)
    return [found[place] for place in range(len(given))]


def seconds_of(crowd: Crowd) -> float:
    """The seconds from judgments to probabilities of a crowd."""
    judgments = draw_crowd(crowd, 1, oracle=False).judgments
    start = time.perf_counter()
    credence(judgments)
    return time.perf_counter() - start


def all_targets(scored: list[Scored]) -> list[targets.Target]:
    """The targets in the order of the page."""
    rows = rows_of(scored)
    simulated = [one for one in scored if not isinstance(one.job.scenario, Injected)]
    injected = [one for one in scored if isinstance(one.job.scenario, Injected)]
    found = [targets.near_oracle(rows, late=False), targets.near_oracle(rows, late=True), targets.on_real_data(rows)]
    found += [targets.nobody_ahead(rows), targets.minorities(rows)]
    _, error, people, planted = calibration_table(simulated)
    found.append(targets.calibrated("simulated data", error, people, planted, targets.SIMULATED_ECE, targets.ENOUGH))
    if injected:
        _, error, people, planted = calibration_table(injected)
        found.append(targets.calibrated("injected real data", error, people, planted, targets.INJECTED_ECE))
    return found


def fairness(found: list[targets.Target], crowds: int, first: int) -> str:
    """The table on the two families that owe nothing to the model."""
    lines = [f"Written by `python benchmarks/credence.py --families {crowds} --write`; seeds from {first:,} on.", ""]
    lines += ["| target | found | |", "| --- | --- | --- |"]
    lines += [f"| {one.name} | {one.found} | {'holds' if one.holds else 'missed'} |" for one in found]
    return "\n".join(lines)


def of_families(crowds: int, first: int, write: bool) -> int:
    """Run the two families alone."""
    jobs = [job for family in families() for job in runs.replications(family, crowds, first, 0)]
    scored = together(runs.score, jobs, "families")
    found, verdicts = targets.fair_to_families(scored), verdict_table(scored)
    print("\n".join([verdicts, *(str(one) for one in found)]))
    if write:
        for path, parts in PAGES.items():
            tables = {"fairness": fairness(found, crowds, first), "families": verdicts}
            write_page(path, {name: text for name, text in tables.items() if name in parts})
    return int(not all(one.holds for one in found))


def power_row(scored: list[Scored]) -> str:
    """What docs/performance.md says about power."""
    rows = rows_of(scored)
    full_time, switching = (number(targets.short_of_oracle(rows, late), 3) for late in (False, True))
    _, error, _, _ = calibration_table([one for one in scored if not isinstance(one.job.scenario, Injected)])
    power = f"on average {full_time} below it for full-time and {switching} for switching spammers"
    return f"{power}; calibration off by {number(error, 4)}"


def of_time(crowd: Crowd, write: bool) -> targets.Target:
    """The time of a large crowd."""
    seconds = seconds_of(crowd)
    if write:
        write_rows({TIME_ROW: f"{seconds:.0f} s"})
    return targets.in_time(seconds, crowd.workers, crowd.trials)


def main() -> int:
    """Run everything, print the tables and the summary; fail where a target is missed."""
    parser = argparse.ArgumentParser(description="Credence beside an oracle and its peers.")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--full", action="store_const", const="full", dest="size", help="five times as many replications")
    size.add_argument("--tiny", action="store_const", const="tiny", dest="size", help="next to none")
    size.add_argument("--time", action="store_true", help="only the time of a large crowd")
    parser.add_argument("--families", type=int, metavar="N", help="only the two new families, with N crowds each")
    parser.add_argument("--develop", action="store_true", help="the seeds on which the model was made")
    parser.add_argument(
        "--write", action="store_true", help="write the figures to docs/credence.md and docs/performance.md"
    )
    asked = parse_options(parser)
    chosen = "smallest" if asked.smallest else asked.size or "quick"
    first = DEVELOPMENT if asked.develop else HELD_OUT
    if asked.write:
        for path, parts in PAGES.items():
            check_page(path, parts)
    if not (asked.smallest or asked.families) and crowd_kit.python() is None:
        print(f"{crowd_kit.PEER} cannot be installed here: without MACE and Dawid-Skene", file=sys.stderr)
    start = time.perf_counter()
    crowd = SMALL if asked.smallest else LARGE
    if asked.time:
        quick = of_time(crowd, asked.write)
        print(quick)
        return int(not quick.holds and not asked.smallest)
    if asked.families:
        return of_families(asked.families, first, asked.write)
    jobs = runs.jobs(SIZES[chosen], first)
    scored = together(runs.score, runs.one_of_each(jobs) if asked.smallest else jobs, "scenarios")
    by_study = together(estimates, [first + place for place in range(STUDIES[chosen])], "effects")
    studies = [one for own in by_study for one in own]
    found = all_targets(scored)
    fair, quick = targets.fair_to_families(scored), of_time(crowd, asked.write)
    command = " ".join(["python benchmarks/credence.py", *([f"--{chosen}"] if chosen != "quick" else [])])
    result = page_parts(scored, studies, [*found, quick], command, first)
    found.append(quick)
    for text in result.values():
        print(f"{text}\n")
    print(f"{time.perf_counter() - start:.0f} s in all\n")
    print("\n".join(str(one) for one in [*found, *fair]))
    if asked.write:
        for path, parts in PAGES.items():
            # The families have more crowds where they are run alone.
            own = {name: text for name, text in result.items() if name in parts and name != "families"}
            write_page(path, own)
        write_rows({ROW: power_row(scored)})
    return int(not all(one.holds for one in found) and not asked.smallest)


if __name__ == "__main__":
    sys.exit(main())
