"""Strengths of choices, and factors, beside other programs: python benchmarks/strengths.py [PART ...] [--write]

    bt          Bradley and Terry's model of 1,000,000 comparisons of 2,000 items, beside choix (ilsr_pairwise, its
                fastest) in an environment of its own. Both turn about and the best of each counts. karat also has the
                covariance of all strengths in its time. Fails below 5 times, or where strengths differ by over 1e-5.
    thurstone   Point estimates of the reference choices, 300 items and 150 participants. Fails above 60 seconds.
    nuts        The posterior of the same, with the extra `bayes` in an environment of its own: the smallest effective
                sample size over standardised strengths and sigmas, per second, compilation and first fit included.
                Fails below 20 times JAGS and below the reference's Gibbs sampler (about 2 a second). JAGS is not run:
                its figures are those of the reference, from a busy machine.
    factors     Factor analysis of 25 items and 2,800 people beside R's psych, where that is installed.

The last three need ../shared/reference and are left out where it is missing. `--write` puts the ratios into the README.
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
from benchmarks.marked import write_rows
from benchmarks.peers.environment import environment

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT.parent / "shared" / "reference"
PINNED = ROOT / "constraints.txt"
CHOIX, BAYES = ["choix==0.4.1"], ["jax", "numpyro", "scipy"]
ITEMS, COMPARISONS, TURNS, FASTER, SAME = 2_000, 1_000_000, 3, 5.0, 1e-5
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
pairs = Pairs.of(made["left"], made["right"], made["answer"], 300)
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


def bradley_terry(rows: dict[str, str]) -> bool:
    """Beside choix; whether a limit is missed."""
    random = np.random.default_rng(1)
    strengths = random.normal(size=ITEMS)
    left = random.integers(ITEMS, size=COMPARISONS)
    right = (left + random.integers(1, ITEMS, size=COMPARISONS)) % ITEMS
    won = random.random(COMPARISONS) < 1 / (1 + np.exp(strengths[right] - strengths[left]))
    python = environment("choix", CHOIX, "choix", PINNED)
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        np.savez(f"{folder}/choices.npz", better=np.where(won, left, right), worse=np.where(won, right, left))
        for _ in range(TURNS):
            took, found = seconds(lambda: fit_pairs(Pairs.of(left, right, np.where(won, 1, -1), ITEMS)))
            ours.append(took)
            if python is not None:
                command = [python, "-c", CHOIX_SCRIPT, folder, str(ITEMS)]
                done = subprocess.run(command, capture_output=True, text=True, timeout=PEER_SECONDS, check=True)
                theirs.append(float(json.loads(done.stdout)))
        print(f"karat, {COMPARISONS:,} comparisons of {ITEMS:,} items    {min(ours):.2f} s")
        if python is None:
            print(f"{CHOIX[0]} cannot be installed here: no comparison")
            return False
        difference = float(np.abs(found.strengths - np.load(f"{folder}/strengths.npy")).max())  # type: ignore[attr-defined]
    ratio = min(theirs) / min(ours)
    told = f"{ratio:.1f} times as long (at least {FASTER:g})"
    print(f"{CHOIX[0]}, the same                       {min(theirs):.2f} s: {told}")
    print(f"greatest difference of strengths              {difference:.1e}")
    rows[CHOICES_ROW] = f"{ratio:.1f} times faster at the same optimum (strengths differ by at most {difference:.0e})"
    return ratio < FASTER or difference > SAME


def reference_choices() -> dict[str, np.ndarray] | None:
    """The simulated choices of the reference, as numbers."""
    path = REFERENCE / "pairs" / "thurstone_sim.csv"
    if not path.exists():
        return None
    table = pl.read_csv(path)
    number = {name: table[name].str.slice(1).cast(pl.Int64).to_numpy() - 1 for name in ("item_a", "item_b")}
    who = table["participant"].rank("dense").cast(pl.Int64).to_numpy() - 1
    return {"left": number["item_a"], "right": number["item_b"], "answer": table["response"].to_numpy(), "who": who}


def thurstone(_: dict[str, str]) -> bool:
    """Point estimates; whether they take too long."""
    made = reference_choices()
    if made is None:
        print("thurstone: no reference data, left out")
        return False
    pairs = Pairs.of(made["left"], made["right"], made["answer"], 300)
    took, found = min((seconds(lambda: fit_thurstone(pairs, made["who"])) for _ in range(2)), key=lambda run: run[0])
    print(f"Thurstone's model, 300 items x 150 people     {took:.1f} s (at most {SECONDS_AT_MOST:g})")
    return took > SECONDS_AT_MOST or not found.converged  # type: ignore[attr-defined]


def nuts(rows: dict[str, str], draws: int = 500) -> bool:
    """The posterior; whether its effective draws a second are too few."""
    made = reference_choices()
    python = None if made is None else environment("bayes", BAYES, "numpyro, scipy", PINNED)
    if made is None or python is None:
        print("nuts: no reference data, or NumPyro cannot be installed here; left out")
        return False
    with tempfile.TemporaryDirectory() as folder:
        np.savez(f"{folder}/choices.npz", **made)
        command = [python, "-c", NUTS_SCRIPT, folder, str(draws)]
        inside = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=inside)
    took, ess, rhat, astray, total = json.loads(done.stdout)
    golden = json.loads((REFERENCE / "pairs" / "thurstone_golden.json").read_text(encoding="utf-8"))
    jags = golden["criterion_per_participant"]["jags"]
    jags_took = float(np.sum(jags["seconds_compile_burnin_sample_per_chain"]))
    rate, jags_rate = ess / took, min(jags[name]["ess_min_over_sd_alpha"] for name in ("alpha", "sigma")) / jags_took
    told = f"R-hat at most {rhat:.3f}, {astray} divergences"
    print(f"NUTS, {total:,} draws                             {took:.0f} s, {told}")
    print(f"smallest effective size                       {ess:.0f}: {rate:.1f} a second (reference sampler {GIBBS:g})")
    told = f"{rate / jags_rate:.0f} times (at least {AHEAD_OF_JAGS:g})"
    print(f"JAGS, as recorded                             {jags_rate:.3f} a second: {told}")
    rows[POSTERIOR_ROW] = f"{rate / jags_rate:.0f} times its effective draws a second ({rate:.1f})"
    return rate < GIBBS or rate < AHEAD_OF_JAGS * jags_rate


def factors(_: dict[str, str]) -> bool:
    """Factor analysis; beside R psych where it is installed."""
    path = REFERENCE / "sd" / "bfi.csv"
    if not path.exists():
        print("factors: no reference data, left out")
        return False
    table = pl.read_csv(path, null_values=["NA", ""])
    items = [name for name in table.columns if name[0] in "ACENO" and name[1:].isdigit()]
    table = table.select(pl.col(items).cast(pl.Float64)).drop_nulls()
    took, _ = min((seconds(lambda: karat.measure.factors(table, 5)) for _ in range(TURNS)), key=lambda run: run[0])
    print(f"factors, {len(items)} items x {table.height:,} people            {took:.2f} s")
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


PARTS: dict[str, Callable[[dict[str, str]], bool]] = {
    "bt": bradley_terry, "thurstone": thurstone, "nuts": nuts, "factors": factors,
}  # fmt: skip


def main() -> int:
    """Print times; fail where a limit is not held."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", choices=[*PARTS, []], help=f"of {', '.join(PARTS)}")
    parser.add_argument("--write", action="store_true", help="put the ratios into the README")
    asked, rows = parser.parse_args(), {}
    missed = [PARTS[name](rows) for name in asked.parts or PARTS]
    if asked.write:
        write_rows(rows)
    return int(any(missed))


if __name__ == "__main__":
    sys.exit(main())
