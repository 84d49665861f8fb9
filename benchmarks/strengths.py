"""Strengths of choices, and factors, beside other programs: python benchmarks/strengths.py [PART ...]

    bt          Bradley and Terry's model of 1,000,000 comparisons of 2,000 items, beside choix (ilsr_pairwise, its
                fastest) in an environment of its own. Both turn about and the best of each counts. karat also has the
                covariance of all strengths in its time. Fails below 5 times, or where strengths differ by over 1e-5.
    thurstone   Point estimates of the reference choices, 300 items and 150 participants. Fails above 60 seconds.
    nuts        The posterior of the same, with the extra `bayes` in an environment of its own: the smallest effective
                sample size over standardised strengths and sigmas, per second, compilation and first fit included.
                Fails below 20 times JAGS and below the reference's Gibbs sampler (about 2 per second). JAGS is not run:
                its figures are those of the reference, from a busy machine.
    factors     Factor analysis of 25 items and 2,800 people beside R's psych, where that is installed.

The last three need ../shared/reference and are left out where it is missing. `--write` puts the ratios into
docs/performance.md; `--smallest` draws a few choices and ratings for all parts, and asks only those other programs
that are there.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

import karat
from karat.models.choices import Pairs, fit_pairs
from karat.models.choices.thurstone import fit_thurstone

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.marked import parse_options, write_rows
from benchmarks.peers.environment import environment

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT.parent / "shared" / "reference"
PINNED = ROOT / "constraints.txt"
CHOIX, BAYES = ["choix==0.4.1"], ["jax", "numpyro", "scipy"]
ITEMS, COMPARISONS, TURNS, FASTER, SAME = 2_000, 1_000_000, 3, 5.0, 1e-5
REFERENCE_ITEMS, FEW_ITEMS, FEW_PEOPLE = 300, 10, 8
SECONDS_AT_MOST, AHEAD_OF_JAGS, GIBBS = 60.0, 20.0, 2.0
PEER_SECONDS = 600
CHOICES_ROW = "Bradley and Terry's model of 1,000,000 comparisons of 2,000 items, with all covariances"
POSTERIOR_ROW = "the posterior of Thurstone's model, 300 items x 150 participants"
CHOIX_SCRIPT = """
import json, sys, time
import choix, numpy as np
made = np.load(sys.argv[1] + "/choices.npz")
data = list(zip(made["better"].tolist(), made["worse"].tolist()))
start = time.perf_counter()
found = choix.ilsr_pairwise(int(sys.argv[2]), data)
took = time.perf_counter() - start
np.save(sys.argv[1] + "/strengths.npy", found - found.mean())
print(json.dumps(took))
"""
NUTS_SCRIPT = """
import json, sys, time
start = time.perf_counter()
import numpy as np
from karat.models.choices import Pairs
from karat.models.choices.posterior import draw_posterior
made = np.load(sys.argv[1] + "/choices.npz")
pairs = Pairs.of(made["left"], made["right"], made["answer"], int(sys.argv[3]))
found = draw_posterior(pairs, made["who"], draws=int(sys.argv[2]))
took = time.perf_counter() - start
ess = min(found.ess.min(), found.variability_ess.min())
rhat = max(found.rhat.max(), found.variability_rhat.max())
print(json.dumps([took, float(ess), float(rhat), found.divergences, len(found.draws)]))
"""
PSYCH_SCRIPT = """
suppressMessages(library(psych))
table <- read.csv(commandArgs(TRUE)[1])
start <- proc.time()[["elapsed"]]
found <- fa(table, 5, fm = "ml", rotate = "promax")
cat(proc.time()[["elapsed"]] - start)
"""


def seconds(call: Callable[[], object]) -> tuple[float, object]:
    """How long a call takes, and what it gives."""
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


def bradley_terry(rows: dict[str, str], smallest: bool) -> bool:
    """Beside choix; whether a limit is missed."""
    random = np.random.default_rng(1)
    items, comparisons, turns = (20, 2_000, 1) if smallest else (ITEMS, COMPARISONS, TURNS)
    strengths = random.normal(size=items)
    left = random.integers(items, size=comparisons)
    right = (left + random.integers(1, items, size=comparisons)) % items
    won = random.random(comparisons) < 1 / (1 + np.exp(strengths[right] - strengths[left]))
    python = environment("choix", CHOIX, "choix", PINNED, install=not smallest)
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        np.savez(f"{folder}/choices.npz", better=np.where(won, left, right), worse=np.where(won, right, left))
        for _ in range(turns):
            took, found = seconds(lambda: fit_pairs(Pairs.of(left, right, np.where(won, 1, -1), items)))
            ours.append(took)
            if python is not None:
                command = [python, "-c", CHOIX_SCRIPT, folder, str(items)]
                done = subprocess.run(command, capture_output=True, text=True, timeout=PEER_SECONDS, check=True)
                theirs.append(float(json.loads(done.stdout)))
        print(f"karat, {comparisons:,} comparisons of {items:,} items    {min(ours):.2f} s")
        if python is None:
            print(f"{CHOIX[0]} is not here: no comparison")
            return False
        difference = float(np.abs(found.strengths - np.load(f"{folder}/strengths.npy")).max())  # type: ignore[attr-defined]
    ratio = min(theirs) / min(ours)
    text = f"{ratio:.1f} times as long (at least {FASTER:g})"
    print(f"{CHOIX[0]}, the same                       {min(theirs):.2f} s: {text}")
    print(f"greatest difference of strengths              {difference:.1e}")
    rows[CHOICES_ROW] = f"{ratio:.1f} times faster at the same optimum (strengths differ by at most {difference:.0e})"
    return (ratio < FASTER and not smallest) or difference > SAME


def drawn_choices() -> dict[str, np.ndarray]:
    """A few choices, everybody's of every pair."""
    random = np.random.default_rng(2)
    left, right = np.triu_indices(FEW_ITEMS, 1)
    who, left, right = (
        np.repeat(np.arange(FEW_PEOPLE), len(left)),
        np.tile(left, FEW_PEOPLE),
        np.tile(right, FEW_PEOPLE),
    )
    ahead = random.normal(size=FEW_ITEMS)
    felt = ahead[left] - ahead[right] + random.normal(size=len(left))
    return {"left": left, "right": right, "answer": np.where(felt > 0, 1, -1), "who": who}


def reference_choices() -> dict[str, np.ndarray] | None:
    """The simulated choices of the reference, as numbers."""
    path = REFERENCE / "pairs" / "thurstone_sim.csv"
    if not path.exists():
        return None
    table = pl.read_csv(path)
    number = {name: table[name].str.slice(1).cast(pl.Int64).to_numpy() - 1 for name in ("item_a", "item_b")}
    who = table["participant"].rank("dense").cast(pl.Int64).to_numpy() - 1
    return {"left": number["item_a"], "right": number["item_b"], "answer": table["response"].to_numpy(), "who": who}


def thurstone(_: dict[str, str], smallest: bool) -> bool:
    """Point estimates; whether they take too long."""
    made = drawn_choices() if smallest else reference_choices()
    if made is None:
        print("thurstone: no reference data, left out")
        return False
    items, people = (FEW_ITEMS if smallest else REFERENCE_ITEMS), int(made["who"].max()) + 1
    pairs = Pairs.of(made["left"], made["right"], made["answer"], items)
    took, found = min((seconds(lambda: fit_thurstone(pairs, made["who"])) for _ in range(2)), key=lambda run: run[0])
    print(f"Thurstone's model, {items} items x {people} people     {took:.1f} s (at most {SECONDS_AT_MOST:g})")
    return took > SECONDS_AT_MOST or not found.converged  # type: ignore[attr-defined]


def nuts(rows: dict[str, str], smallest: bool) -> bool:
    """The posterior; whether its effective draws per second are too few."""
    made, draws = (drawn_choices(), 50) if smallest else (reference_choices(), 500)
    python = None if made is None else environment("bayes", BAYES, "numpyro, scipy", PINNED, install=not smallest)
    if made is None or python is None:
        print("nuts: no reference data, or NumPyro is not here; left out")
        return False
    with tempfile.TemporaryDirectory() as folder:
        np.savez(f"{folder}/choices.npz", **made)
        items = FEW_ITEMS if smallest else REFERENCE_ITEMS
        command = [python, "-c", NUTS_SCRIPT, folder, str(draws), str(items)]
        inside = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=inside)
    took, ess, rhat, astray, total = json.loads(done.stdout)
    text = f"R-hat at most {rhat:.3f}, {astray} divergences"
    print(f"NUTS, {total:,} draws                             {took:.0f} s, {text}")
    if smallest:
        return False
    golden = json.loads((REFERENCE / "pairs" / "thurstone_golden.json").read_text(encoding="utf-8"))
    jags = golden["criterion_per_participant"]["jags"]
    jags_took = float(np.sum(jags["seconds_compile_burnin_sample_per_chain"]))
    rate, jags_rate = ess / took, min(jags[name]["ess_min_over_sd_alpha"] for name in ("alpha", "sigma")) / jags_took
    print(
        f"smallest effective size                       {ess:.0f}: {rate:.1f} per second (reference sampler {GIBBS:g})"
    )
    text = f"{rate / jags_rate:.0f} times (at least {AHEAD_OF_JAGS:g})"
    print(f"JAGS, as recorded                             {jags_rate:.3f} per second: {text}")
    rows[POSTERIOR_ROW] = f"{rate / jags_rate:.0f} times its effective draws per second ({rate:.1f})"
    return rate < GIBBS or rate < AHEAD_OF_JAGS * jags_rate


def ratings(smallest: bool) -> pl.DataFrame | None:
    """The ratings of the reference; at the smallest size drawn ones of twelve items that load on two factors."""
    if smallest:
        random = np.random.default_rng(3)
        felt = np.repeat(random.normal(size=(200, 2)), 6, axis=1) + random.normal(size=(200, 12))
        return pl.DataFrame(felt, [f"A{number}" for number in range(1, 13)])
    path = REFERENCE / "sd" / "bfi.csv"
    if not path.exists():
        return None
    table = pl.read_csv(path, null_values=["NA", ""])
    items = [name for name in table.columns if name[0] in "ACENO" and name[1:].isdigit()]
    return table.select(pl.col(items).cast(pl.Float64)).drop_nulls()


def factors(_: dict[str, str], smallest: bool) -> bool:
    """Factor analysis; beside R psych where it is installed."""
    table = ratings(smallest)
    if table is None:
        print("factors: no reference data, left out")
        return False
    number, turns = (2, 1) if smallest else (5, TURNS)
    runs = [seconds(lambda: karat.measure.factors(table, number)) for _ in range(turns)]
    took, _ = min(runs, key=lambda run: run[0])
    print(f"factors, {table.width} items x {table.height:,} people            {took:.2f} s")
    if smallest:
        return False
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        table.write_csv(file.name)
        try:
            done = subprocess.run(["Rscript", "-e", PSYCH_SCRIPT, file.name], capture_output=True, text=True)
        except FileNotFoundError:
            done = None
    if done is None or done.returncode:
        print("R psych is not installed here: no comparison")
    else:
        print(f"R psych, the same                             {float(done.stdout):.2f} s")
    return False


PARTS: dict[str, Callable[[dict[str, str], bool], bool]] = {
    "bt": bradley_terry, "thurstone": thurstone, "nuts": nuts, "factors": factors,
}  # fmt: skip


def main() -> int:
    """Print times; fail where a limit is not held."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", choices=[*PARTS, []], help=f"of {', '.join(PARTS)}")
    parser.add_argument("--write", action="store_true", help="write the ratios to docs/performance.md")
    asked, rows = parse_options(parser), {}
    missed = [PARTS[name](rows, asked.smallest) for name in asked.parts or PARTS]
    if asked.write:
        write_rows(rows)
    return int(any(missed))


if __name__ == "__main__":
    sys.exit(main())
