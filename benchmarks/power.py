"""Power of the measured test, beside a simulation with lme4 in R: python benchmarks/power.py [PART ...] [--write]

    time    500 simulated 2 x 2 studies of 48 participants and 24 items on a scale of seven points, each fitted by the
            ordinal mixed model of `karat measure`, in one process. Fails above 240 seconds of processor time, which is
            two minutes on two free cores; --studies simulates fewer, with a limit in proportion.
    peer    Yes-or-no studies of 24 participants and 12 items, simulated once. karat and, as simr does, lme4's glmer,
            with effects of the condition by participant and item, fit the same answers. Power and seconds per study.
            Left out where R has no lme4. glmer's test is Wald's z, which rejects more often with few participants.

`--write` puts what was measured into docs/performance.md, where both parts share a row; `--smallest` simulates two
studies.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from karat.simulate import Spread, power
from karat.simulate.analysis import by_measured_model
from karat.simulate.layout import layout_of, named_contrast
from karat.simulate.scale_answers import draw_rounds
from karat.study.init import write_study
from karat.study.study import load

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.marked import parse_options, write_rows

STUDIES, SECONDS_AT_MOST, FEWEST, PEER_STUDIES = 500, 240.0, 2, 200
ROW = "power by simulation, 24 participants x 12 items, yes or no, random slopes"
STUDY = """title = "Islands"
[[block]]
task = "likert"
items = "items.csv"
scale = { points = 7 }
factors = { structure = ["island", "none"], length = ["long", "short"] }
[recruitment]
participants = 48
[[contrast]]
name = "island effect"
factors = ["structure", "length"]
"""
PEER = """
suppressMessages(library(lme4))
answers <- read.csv("answers.csv")
begin <- sum(proc.time()[1:2])
p <- sapply(split(answers, answers$study), function(one) {
  fit <- suppressWarnings(suppressMessages(glmer(
    response ~ side + (1 + side | participant) + (1 + side | item), one, binomial)))
  summary(fit)$coefficients["side", "Pr(>|z|)"]
})
cat(sprintf('{"power": %f, "seconds": %f}', mean(p < 0.05), (sum(proc.time()[1:2]) - begin) / length(p)))
"""


def timed(studies: int) -> tuple[float, float]:
    """Seconds of processor time for so many studies, and their power."""
    cells = [(one, other) for one in ("island", "none") for other in ("long", "short")]
    rows = "".join(f"t{n},Sentence {n} {one} {other}.,{one},{other}\n" for n in range(24) for one, other in cells)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "items.csv").write_text(f"item,sentence,structure,length\n{rows}", encoding="utf-8")
        Path(folder, "study.toml").write_text(STUDY, encoding="utf-8")
        start = time.process_time()
        found = power(load(Path(folder)), effects=[0.8], simulations=studies)
        return time.process_time() - start, float(found.table()["power"][0])


def beside_lme4(studies: int) -> str:
    """The same answers, fitted by both; what is to be written, or nothing where there is no R with lme4."""
    program = shutil.which("Rscript")
    if program is None or subprocess.run([program, "-e", "library(lme4)"], capture_output=True).returncode:
        print("peer   R with lme4 is not installed, so karat is not compared with it")
        return ""
    with tempfile.TemporaryDirectory() as folder:
        write_study(Path(folder, "study"), "yes-no")
        study = load(Path(folder, "study"))
        layout, _, _ = layout_of(study, named_contrast(study, None))
        people, things = layout.participant_groups(24), layout.item_groups(12)
        sides = layout.sides[np.ix_(people, things)]
        tables, significant, took = [], [], 0.0
        for number in range(studies):
            rounds = draw_rounds(Spread(), layout, people, things, 1.0, np.random.default_rng(number))
            start = time.process_time()
            significant.append(by_measured_model(rounds, layout, people, things)[2] < 0.05)
            took += time.process_time() - start
            _, who, what = np.nonzero(np.isfinite(rounds))
            columns = {"participant": who, "item": what, "side": sides[who, what], "response": rounds[0][who, what]}
            tables.append(pl.DataFrame(columns).with_columns(study=pl.lit(number)))
        pl.concat(tables).write_csv(Path(folder, "answers.csv"))
        Path(folder, "peer.R").write_text(PEER, encoding="utf-8")
        done = subprocess.run([program, "peer.R"], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        print(f"peer   lme4 failed: {done.stderr.strip().splitlines()[-1:]}")
        return ""
    other = json.loads(done.stdout)
    print(f"peer   karat: power {np.mean(significant):.3f}, {took / studies:.2f} s of processor time per study")
    print(f"       lme4:  power {other['power']:.3f}, {other['seconds']:.2f} s of processor time per study")
    ratio = other["seconds"] * studies / took
    ours, theirs = (f"{share:.3f}".removeprefix("0") for share in (np.mean(significant), other["power"]))
    found = f"power {ours} and {theirs} in the same {studies} studies (Wald's z of glmer rejects more often)"
    return f"{ratio:.1f} times faster; {found}"


def main() -> int:
    """Run the parts that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", choices=["time", "peer", []], default=[])
    parser.add_argument("--write", action="store_true", help="write the figures to docs/performance.md")
    parser.add_argument("--studies", type=int, help=f"simulate so many ({STUDIES}, and {PEER_STUDIES} beside lme4)")
    options = parse_options(parser)
    parts, missed, written = options.parts or ["time", "peer"], False, []
    if "peer" in parts and (result := beside_lme4(FEWEST if options.smallest else options.studies or PEER_STUDIES)):
        written.append(result)
    if "time" in parts:
        studies = FEWEST if options.smallest else options.studies or STUDIES
        used, share = timed(studies)
        missed = not options.smallest and used > SECONDS_AT_MOST * studies / STUDIES
        print(f"time   {used:.0f} s of processor time, power {share:.2f}{' MISSED' if missed else ''}")
        about = f"{studies} ordinal 2 x 2 studies of 48 x 24"
        written.append(f"{about} take {used:.0f} s of processor time here")
    if options.write and set(parts) == {"time", "peer"}:
        write_rows({ROW: "; ".join(written)})
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
