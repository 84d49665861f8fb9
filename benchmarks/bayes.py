"""Effective draws per second of Bayesian mixed models: python benchmarks/bayes.py [--smallest] [--write]

A 2 x 2 study of yes-or-no answers, 32 participants x 24 items, with all random slopes and correlations: the model and
the data of ../shared/reference/mixed/binary_sim.csv where they are, else simulated alike. One draw is sampled first,
which loads and compiles most of the program; the seconds after it are those of sampling. Beside brms where R has it,
with the same priors, chains and draws, without the time in which Stan compiles. Seconds are those of the clock, so run
it on an idle machine. The extra `bayes` is needed; without it the benchmark says so and ends.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.marked import parse_options, write_rows
from karat.models.glrm.bayes import CHAINS, DRAWS, WARMUP, MixedPosterior, sample_posterior
from karat.models.glrm.formulas.model import lay_out

SHARED = Path(__file__).resolve().parents[2] / "shared" / "reference" / "mixed" / "binary_sim.csv"
ROW = "a Bayesian mixed model of 32 x 24 yes-or-no answers with all random slopes"
FORMULA = "y ~ a * b + (1 + a * b | participant) + (1 + a * b | item)"
SMALL = "y ~ a * b + (1 | participant) + (1 | item)"
PEER = """
suppressPackageStartupMessages({{library(brms); library(posterior)}})
d <- read.csv("answers.csv")
priors <- c(prior(normal(0, 2), class = "b"), prior(student_t(3, 0, 2.5), class = "sd"), prior(lkj(2), class = "cor"))
empty <- brm({formula}, d, family = bernoulli(), prior = priors, chains = 0, silent = 2)
begin <- proc.time()[["elapsed"]]
fit <- update(empty, chains = {chains}, iter = {iterations}, warmup = {warmup}, cores = {chains}, seed = 1, refresh = 0,
              recompile = FALSE, control = list(adapt_delta = 0.9))
seconds <- proc.time()[["elapsed"]] - begin
d <- as_draws_array(fit)
ess <- sapply(grep("^(b|sd|cor)_", variables(d), value = TRUE), function(v) ess_bulk(extract_variable_matrix(d, v)))
cat(seconds, min(ess) / seconds)
"""


def answers() -> pl.DataFrame:
    """The reference answers, or some like them."""
    if SHARED.exists():
        return pl.read_csv(SHARED)
    random = np.random.default_rng(1)
    who, what = np.divmod(np.arange(32 * 24), 24)
    a, b = (who + what) % 2 - 0.5, ((who + what) // 2) % 2 - 0.5
    effects = random.normal(0, 1, (32, 4))[who] + random.normal(0, 1, (24, 4))[what] + [0.5, 1.0, 0.0, 1.5]
    eta = (effects * np.column_stack([np.ones_like(a), a, b, a * b])).sum(axis=1)
    columns = {"participant": who, "item": what, "a": a, "b": b, "y": (random.logistic(size=768) < eta).astype(int)}
    return pl.DataFrame(columns)


def sampled(table: pl.DataFrame, formula: str, chains: int, warmup: int, draws: int) -> MixedPosterior:
    """The posterior."""
    data: dict[str, Any] = {name: table[name].to_list() for name in table.columns}
    laid = lay_out(formula, data, "binary", "treatment")
    return sample_posterior(laid, "binary", chains=chains, warmup=warmup, draws=draws)


def timed(table: pl.DataFrame, formula: str, chains: int, warmup: int, draws: int) -> tuple[float, str]:
    """Print seconds and effective draws; gives those per second of the slowest parameter, and the seconds in words."""
    start = time.perf_counter()
    sampled(table, formula, chains, 1, 1)
    compiled = time.perf_counter() - start
    start, processor = time.perf_counter(), time.process_time()
    found = sampled(table, formula, chains, warmup, draws)
    seconds, processor = time.perf_counter() - start, time.process_time() - processor
    kinds = [kind for kind, _ in found.parameters]
    slowest = {
        name: min(ess for ess, kind in zip(found.diagnostics.bulk, kinds, strict=True) if kind in own)
        for name, own in {"coefficient": ("coefficient",), "parameter": tuple(kinds)}.items()
    }
    print(f"karat  {seconds:.1f} s ({processor:.1f} of processors)")
    print(f"       {compiled:.1f} s for one draw before, which loads and compiles")
    print(f"       {found.draws} draws, {found.divergences} divergences, {found.steps:.0f} steps a draw")
    for name, ess in slowest.items():
        print(f"       {ess / seconds:.1f} effective draws a second of the slowest {name}")
    return slowest["parameter"] / seconds, f"{seconds:.0f} s after a first draw ({compiled:.0f} s)"


def of_brms(table: pl.DataFrame, chains: int, warmup: int, draws: int) -> float | None:
    """Effective draws per second with the same answers, model and priors; None where brms cannot be run."""
    program = shutil.which("Rscript")
    if program is None or subprocess.run([program, "-e", "library(brms)"], capture_output=True).returncode:
        print("brms   R with brms is not installed, so karat is not compared with it")
        return None
    with tempfile.TemporaryDirectory() as folder:
        table.write_csv(Path(folder, "answers.csv"))
        text = PEER.format(formula=FORMULA, chains=chains, warmup=warmup, iterations=warmup + draws)
        Path(folder, "peer.R").write_text(text, encoding="utf-8")
        done = subprocess.run([program, "peer.R"], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        print(f"brms   failed: {done.stderr.strip().splitlines()[:3]}")
        return None
    seconds, rate = map(float, done.stdout.split())
    print(f"brms   {seconds:.1f} s, {rate:.1f} effective draws a second of the slowest parameter")
    return rate


def main() -> int:
    """Time both."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the times to docs/performance.md")
    options = parse_options(parser)
    if find_spec("numpyro") is None:
        print("karat  NumPyro is not installed, so nothing is timed: pip install 'karat[bayes]'")
        return 0
    table = answers()
    if options.smallest:
        timed(table, SMALL, 2, 20, 20)
        return 0
    rate, took = timed(table, FORMULA, CHAINS, WARMUP, DRAWS)
    peer = of_brms(table, CHAINS, WARMUP, DRAWS)
    beside = "brms was not installed" if peer is None else f"{rate / peer:.1f} times those of brms"
    if options.write:
        write_rows({ROW: f"{rate:.0f} effective draws per second of the slowest parameter, {beside}; {took}"})
    return 0


if __name__ == "__main__":
    sys.exit(main())
