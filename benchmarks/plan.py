"""What an order costs, beside shuffle-and-retry: python benchmarks/plan.py [PARTICIPANTS]

A questionnaire of 120 trials is ordered anew for each of 10,000 participants, on one core, with all rules at once: 36
test trials among 78 others, none adjacent to another; six calibration trials first; 12 controls and 6 attention trials
spread over the whole; limits on equal status, acceptability and polarity in a row; related items apart; the ratio of
test trials and others kept in each quarter. Shuffle-and-retry (calibration first, the rest shuffled until all rules
hold) gets as many seconds as all of karat's orders took, which says how many shuffles an order costs. Every tenth order
is checked again after the clock stopped. Seconds are those of the processor: other work on the machine does not count.
`--write` puts the rate into docs/performance.md; `--smallest` makes 20 orders.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl

from karat.study.orders import Arranger, OrderRules, violations

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.marked import parse_options, write_rows

SHUFFLES, SMALLEST = 100.0, 20
"""An order may take as long as so many bare shuffles."""
ROW = "orders for a 120-trial questionnaire with all rules at once"
RULES = OrderRules(
    apart=("test",),
    in_a_row={"status": 3, "acceptability": 2, "polarity": 3, "function": 4},
    spread=("control", "attention"),
    distance={"pair": 5},
    keep_ratio=True,
)


def questionnaire() -> pl.DataFrame:
    """120 trials: 36 test, 60 fillers, 12 controls, 6 attention, 6 calibration."""
    functions = ["test"] * 36 + ["filler"] * 60 + ["control"] * 12 + ["attention"] * 6 + ["calibration"] * 6
    rows = range(len(functions))
    return pl.DataFrame({
        "function": functions,
        "status": ["ungrammatical" if row % 2 else "grammatical" for row in rows],
        "acceptability": [("low", "mid", "high")[row % 3] for row in rows],
        "polarity": ["negative" if row // 2 % 2 else "positive" for row in rows],
        "pair": [f"pair{row // 3}" if row < 96 else None for row in rows],
    })  # fmt: skip


def ours(trials: pl.DataFrame, participants: int) -> tuple[float, list[np.ndarray]]:
    """Seconds for one order per participant, the compilation of the rules included, and the orders."""
    start = time.process_time()
    arranger = Arranger(trials, RULES)
    orders = [arranger.order(np.random.default_rng([1, participant])) for participant in range(participants)]
    return time.process_time() - start, orders


def shuffled(trials: pl.DataFrame, seconds: float) -> tuple[int, int]:
    """Orders found by shuffling within so many seconds, and shuffles. The commonest breach is looked for first."""
    random = np.random.default_rng(1)
    is_test = (trials["function"] == "test").to_numpy()
    opening = np.flatnonzero((trials["function"] == "calibration").to_numpy())
    rest = np.flatnonzero((trials["function"] != "calibration").to_numpy())
    found = tries = 0
    end = time.process_time() + seconds
    while time.process_time() < end:
        tries += 1
        order = np.concatenate([random.permutation(opening), random.permutation(rest)])
        tests = is_test[order]
        if not (tests[1:] & tests[:-1]).any():
            found += not violations(trials, order.tolist(), RULES)
    return found, tries


def main() -> int:
    """Print both; fail where the limit is not held or an order breaks a rule."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("participants", type=int, nargs="?", default=10_000, help="orders to be made")
    parser.add_argument("--write", action="store_true", help="write the rate to docs/performance.md")
    asked = parse_options(parser)
    participants = SMALLEST if asked.smallest else asked.participants
    trials = questionnaire()
    seconds, orders = ours(trials, participants)
    broken = sum(bool(violations(trials, order.tolist(), RULES)) for order in orders[::10])
    different = len({order.tobytes() for order in orders})
    found, tries = shuffled(trials, seconds)
    rate, cost = participants / seconds, tries / participants
    print(f"{participants:,} orders of {len(trials)} trials, all rules at once, one core")
    print(f"karat            {seconds:.1f} s, {rate:,.0f} orders per second")
    print(f"                 {different:,} different orders; {broken} of {len(orders[::10]):,} checked break a rule")
    print(f"shuffle, retry   {seconds:.1f} s, {tries:,} shuffles, {found or 'none'} within the rules")
    print(f"an order takes   as long as {cost:.0f} shuffles (at most {SHUFFLES:.0f})")
    if asked.write:
        theirs = f"shuffling finds {found or 'none'} in {tries:,} tries"
        write_rows({ROW: f"an order costs {cost:.0f} shuffles; {theirs}"})
    return int((cost > SHUFFLES and not asked.smallest) or broken > 0)


if __name__ == "__main__":
    sys.exit(main())
