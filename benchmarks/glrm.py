"""Crossed random effects beside lme4 and clmm, up to a million answers, one core: python benchmarks/glrm.py

In one run: a binary and an ordinal model of 120 workers x 80 tasks and of 160 x 77, one fit and the leave-one-out over
all workers, by karat and, where R has them, by lme4 (glmer, Laplace, bobyqa) and ordinal (clmm). The leave-one-out of R
is timed on five workers drawn at random and extrapolated to all, which the output says. Then a nominal model of five
categories beside the ordinal one, binary models of 2,000 x 500, 5 % filled and full, and a linear model of lme4's
InstEval (ratings of the same shape without R) beside lmer. Times are processor seconds of one thread, the best of
several runs for karat. Fails where a ratio is not reached. The ordinal answers are drawn with small deviations, since
clmm stops with an error at larger ones. `--write` puts the ratios of 160 x 77 into docs/performance.md; `--smallest`
fits models of 20 workers x 12 tasks, without R.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from karat.models.glrm import fit, fit_crossed, fit_nominal, leave_one_out

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.marked import parse_options, write_rows

ROUNDS, DELETIONS = 5, 5
SIZES, SMALLEST = [(120, 80), (160, 77)], (20, 12)
LARGE = (2000, 500)
ROWS = {
    "binary": "a model with crossed random effects, 160 x 77 yes-or-no answers",
    "ordinal": "the same for ordered answers",
    "million": "1,000,000 answers of 2,000 workers to 500 tasks",
    "sparse": "73,421 ratings of InstEval, maximum likelihood",
}
FIT, LEAVE_ONE_OUT, MILLION, NOMINAL = 15.0, {"binary": 100.0, "ordinal": 500.0}, 10.0, 5.0
"""To be reached: times faster than lme4; than lme4 and clmm; at most so many lme4 fits; so many ordinal fits."""
SPARSE = 3.0
"""To be reached: times faster than lmer with ratings of which most pairs of levels are missing."""
RATINGS, STUDENTS, LECTURERS = 73_421, 2_972, 1_128
"""The size of InstEval."""

PEER = """
suppressMessages(library({library}))
d <- read.csv("answers.csv"); d$worker <- factor(d$worker); d$task <- factor(d$task)
fit <- function(d) {call}
seconds <- function(d) {{
  t <- system.time(m <- fit(d))
  list(seconds = t[["user.self"]], loglik = as.numeric(logLik(m)))
}}
left_out <- as.integer(strsplit("{left_out}", ",")[[1]])
full <- seconds(d)
rest <- lapply(left_out, function(w) seconds(droplevels(d[d$worker != w, ])))
number <- function(x) format(x, digits = 14)
cat(sprintf('{{"seconds": %s, "loglik": %s, "deletions": [%s], "logliks": [%s]}}', number(full$seconds),
  number(full$loglik), paste(sapply(rest, function(r) number(r$seconds)), collapse = ","),
  paste(sapply(rest, function(r) number(r$loglik)), collapse = ",")))
"""
CALLS = {
    "binary": (
        "lme4",
        "glmer(response ~ 1 + (1 | worker) + (1 | task), d, family = binomial, "
        'control = glmerControl(optimizer = "bobyqa"))',
    ),
    "gaussian": ("lme4", "lmer(response ~ factor(service) + (1 | worker) + (1 | task), d, REML = FALSE)"),
    "ordinal": ("ordinal", "clmm(factor(response) ~ 1 + (1 | worker) + (1 | task), data = d)"),
}


def answers(
    workers: int,
    tasks: int,
    categories: int,
    deviations: tuple[float, float],
    share: float = 1.0,
    nominal: bool = False,
) -> tuple[Any, Any, Any]:
    """Answers drawn from the model itself, with given deviations of workers and tasks."""
    random = np.random.default_rng(workers)
    worker, task = np.divmod(np.arange(workers * tasks), tasks)
    if share < 1:
        kept = random.random(len(worker)) < share
        worker, task = worker[kept], task[kept]
    columns = categories if nominal else 1
    eta = random.normal(0, deviations[0], (workers, columns))[worker]
    eta += random.normal(0, deviations[1], (tasks, columns))[task]
    if nominal:
        return np.argmax(eta + random.gumbel(size=eta.shape), axis=1), worker, task
    latent = eta[:, 0] + random.logistic(size=len(eta))
    cuts = np.quantile(latent, np.arange(1, categories) / categories)
    return np.digitize(latent, cuts), worker, task


def seconds(call: Callable[[], Any], rounds: int = ROUNDS) -> tuple[float, Any]:
    """The shortest processor time of a call, and what it returned."""
    best, result = np.inf, None
    for _ in range(rounds):
        start = time.process_time()
        result = call()
        best = min(best, time.process_time() - start)
    return float(best), result


def ratings() -> dict[str, Any]:
    """Ratings from 1 to 5 as in InstEval: each student rated some 25 lecturers, and few lecturers got many ratings."""
    random = np.random.default_rng(RATINGS)
    chance = random.gamma(1.0, 1.0, LECTURERS) + 0.1
    student = np.sort(np.append(np.arange(STUDENTS), random.integers(0, STUDENTS, RATINGS - STUDENTS)))
    rated = [
        random.choice(LECTURERS, count, replace=False, p=chance / chance.sum())
        for count in np.bincount(student, minlength=STUDENTS)
    ]
    lecturer, service = np.concatenate(rated), random.integers(0, 2, RATINGS)
    value = random.normal(3.2, 1.18, RATINGS) - 0.08 * service
    value += random.normal(0, 0.32, STUDENTS)[student] + random.normal(0, 0.51, LECTURERS)[lecturer]
    return {"y": np.clip(np.round(value), 1, 5), "service": service, "s": student, "d": lecturer}


def inst_eval() -> dict[str, Any] | None:
    """The ratings of lme4's InstEval; None where R has no lme4."""
    program = shutil.which("Rscript")
    if program is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        code = """
        data(InstEval, package = "lme4")
        write.csv(data.frame(lapply(InstEval[, c("y", "service", "s", "d")], as.integer)), "i.csv", row.names = FALSE)
        """
        if subprocess.run([program, "-e", code], cwd=folder, capture_output=True).returncode:
            return None
        table = np.loadtxt(Path(folder, "i.csv"), delimiter=",", skiprows=1, dtype=np.int64)
    return dict(zip(("y", "service", "s", "d"), table.T, strict=True))


def peer(family: str, data: tuple[Any, ...], left_out: list[int]) -> dict[str, Any] | None:
    """Times and log-likelihoods of R; None where R or its package is not installed."""
    program, (library, call) = shutil.which("Rscript"), CALLS[family]
    if program is None or subprocess.run([program, "-e", f"library({library})"], capture_output=True).returncode:
        return None
    with tempfile.TemporaryDirectory() as folder:
        table = np.column_stack(data)
        header = ",".join(["response", "worker", "task", "service"][: table.shape[1]])
        np.savetxt(Path(folder, "answers.csv"), table, "%d", ",", header=header, comments="")
        script = PEER.format(library=library, call=call, left_out=",".join(map(str, left_out)))
        Path(folder, "peer.R").write_text(script)
        done = subprocess.run([program, "peer.R"], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        print(f"  {library} failed: {done.stderr.strip().splitlines()[-1:]}")
        return None
    found: dict[str, Any] = json.loads(done.stdout)
    return found


class Verdict:
    """What was promised and not reached."""

    def __init__(self) -> None:
        self.missed: list[str] = []
        self.rows: dict[str, str] = {}
        """What docs/performance.md is to say."""

    def at_least(self, what: str, ratio: float, limit: float) -> None:
        """A ratio that must not be lower."""
        print(f"  {what}: {ratio:.0f} times faster (at least {limit:.0f})")
        if ratio < limit:
            self.missed.append(what)

    def at_most(self, what: str, ratio: float, limit: float) -> None:
        """A ratio that must not be higher."""
        print(f"  {what}: {ratio:.1f} times (at most {limit:.0f})")
        if ratio > limit:
            self.missed.append(what)


def beside_r(
    family: Any, workers: int, tasks: int, verdict: Verdict, with_r: bool = True
) -> tuple[float, float | None]:
    """One fit and the leave-one-out; the seconds of a fit by karat and by R."""
    data = answers(workers, tasks, 2, (1.0, 2.0)) if family == "binary" else answers(workers, tasks, 5, (0.7, 1.0))
    one, fit = seconds(lambda: fit_crossed(*data, family=family))
    all_, deletions = seconds(lambda: leave_one_out(fit), rounds=2)
    print(f"{family}, {workers} x {tasks}: fit {one:.3f} s, {workers} deletions {all_:.2f} s")
    print(f"  {fit}\n  {deletions}")
    left_out = sorted(np.random.default_rng(1).choice(workers, DELETIONS, replace=False).tolist())
    other = peer(family, data, left_out) if with_r else None
    if other is None:
        print("  R was not asked for, is not installed with its package, or failed: no comparison")
        return one, None
    whole = float(np.mean(other["deletions"])) * workers
    gap = np.abs(
        np.array([*other["logliks"], other["loglik"]]) - [*deletions.log_likelihood[left_out], fit.log_likelihood]
    )
    name = CALLS[family][0]
    print(f"  {name}: fit {other['seconds']:.2f} s, {workers} deletions {whole:.0f} s (extrapolated from {DELETIONS});")
    print(f"  its log-likelihoods differ by at most {gap.max():.1e}")
    if family == "binary":
        verdict.at_least(f"one fit than {name}", other["seconds"] / one, FIT)
    else:
        print(f"  one fit than {name}: {other['seconds'] / one:.0f} times faster")
    verdict.at_least(f"leave-one-out than {name} (extrapolated)", whole / all_, LEAVE_ONE_OUT[family])
    refits = f"all refits without one worker {whole / all_:.0f} times ({name} extrapolated from {DELETIONS})"
    verdict.rows[ROWS[family]] = f"one fit {other['seconds'] / one:.0f} times faster, {refits}"
    return one, float(other["seconds"])


def beside_ordinal(verdict: Verdict, workers: int, tasks: int, rounds: int) -> None:
    """A nominal fit beside an ordinal one, whose ratio depends on the answers; the limit is for the first of three.

    Effects as strong as in the paper's simulated answers, weak ones, and the same ordered answers fitted both ways,
    which are the easiest for the ordinal model.
    """
    ordered = answers(workers, tasks, 5, (1.0, 2.0))
    cases = {
        "strong effects": (
            answers(workers, tasks, 5, (1.5, 4.7)),
            answers(workers, tasks, 5, (1.0, 3.0), nominal=True),
        ),
        "weak effects": (answers(workers, tasks, 5, (0.7, 1.0)), answers(workers, tasks, 5, (0.7, 1.0), nominal=True)),
        "the same ordered answers": (ordered, ordered),
    }
    for name, (of_ordinal, of_nominal) in cases.items():
        runs = []
        for _ in range(rounds):  # side by side, so that a busy machine slows both
            ordinal, _ = seconds(partial(fit_crossed, *of_ordinal, family="ordinal"), 1)
            nominal, fit = seconds(partial(fit_nominal, *of_nominal), 1)
            runs.append((nominal, ordinal))
        nominal, ordinal = np.min(runs, axis=0)
        print(f"nominal, 5 categories, {workers} x {tasks}, {name}: {nominal:.2f} s; ordinal {ordinal:.2f} s\n  {fit}")
        if name == "strong effects":
            verdict.at_most("a nominal fit as an ordinal one", nominal / ordinal, NOMINAL)
        else:
            print(f"  a nominal fit as an ordinal one: {nominal / ordinal:.1f} times")


def beside_lmer(verdict: Verdict, with_r: bool) -> None:
    """A linear model of sparse ratings, by maximum likelihood."""
    real = inst_eval() if with_r else None
    data = ratings() if real is None else real
    formula = "y ~ factor(service) + (1 | s) + (1 | d)"
    one, model = seconds(lambda: fit(formula, data, family="gaussian", reml=False))
    print(
        f"gaussian, {len(data['y']):,} ratings {'like those of' if real is None else 'of'} InstEval: {one:.2f} s\n"
        f"  {model.fit}"
    )
    other = peer("gaussian", (data["y"], data["s"], data["d"], data["service"]), []) if with_r else None
    if other is None:
        print("  R or its package is not installed, or failed: no comparison")
        return
    gap = abs(other["loglik"] - model.fit.log_likelihood)
    print(f"  lme4 (lmer): {other['seconds']:.2f} s; its log-likelihood differs by {gap:.1e}")
    verdict.at_least("one fit of sparse ratings than lmer", other["seconds"] / one, SPARSE)
    if real is not None:
        verdict.rows[ROWS["sparse"]] = f"{other['seconds'] / one:.1f} times faster; log-likelihoods differ by {gap:.0e}"


def main() -> int:
    """Print times and ratios; fail where a limit is not held."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the ratios to docs/performance.md")
    asked = parse_options(parser)
    verdict = Verdict()
    by_r = None
    sizes, large = ([SMALLEST], SMALLEST) if asked.smallest else (SIZES, LARGE)
    for workers, tasks in sizes:
        _, by_r = beside_r("binary", workers, tasks, verdict, not asked.smallest)
    for workers, tasks in sizes:
        beside_r("ordinal", workers, tasks, verdict, not asked.smallest)
    beside_ordinal(verdict, *sizes[0], 1 if asked.smallest else 2 * ROUNDS)
    for share in (0.5, 1.0) if asked.smallest else (0.05, 1.0):
        data = answers(*large, 2, (1.0, 2.0), share)
        one, fit = seconds(partial(fit_crossed, *data), 2)
        print(f"binary, {large[0]} x {large[1]}, {share:.0%} filled: {one:.2f} s\n  {fit}")
        if by_r is not None:
            verdict.at_most(f"{fit.answers:,} answers as one lme4 fit of 160 x 77", one / by_r, MILLION)
            verdict.rows[ROWS["million"]] = f"{one / by_r:.1f} times its time"
    beside_lmer(verdict, not asked.smallest)
    for what in verdict.missed:
        print(f"NOT reached: {what}")
    if asked.write:
        write_rows(verdict.rows)
    return int(bool(verdict.missed) and not asked.smallest)


if __name__ == "__main__":
    if os.environ.get("OMP_NUM_THREADS") != "1":  # read when numpy is loaded, so that it takes a new start
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "OMP_NUM_THREADS": "1"})
    sys.exit(main())
