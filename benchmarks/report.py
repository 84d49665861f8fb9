"""How long a report takes: python benchmarks/report.py [CASE ...]

Every report is written by the command line in a process of its own, and what counts is processor time, start-up and
figures included. Measured are the demo study (60 participants x 75 trials) as it is and with `--quick`, and the real
files of `../shared/reference/wild`, each converted as `benchmarks/wild.py` converts it. Targets: 8 s for the demo
study, 3 s for it with `--quick`, 30 s for every real file. `--smallest` writes the quick report only.
`--write` is accepted for `make benchmarks` and writes nothing.
"""

from __future__ import annotations

import argparse
import resource
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.marked import Target, parse_options
from benchmarks.wild import ANSWERS, REFUSED, WILD, cases

DEMO, QUICK, REAL = 8.0, 3.0, 30.0


def processor_seconds(arguments: Sequence[str]) -> float:
    """What `karat` with these arguments costs in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", "from karat.cli.main import main; main()", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{shlex.join(arguments)}\n{done.stderr[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def demo(folder: Path) -> list[str]:
    """The arguments of a report on the demo study, whose answers are simulated into a folder."""
    from karat.demo import simulated

    _, answered = simulated(folder)
    file = folder / "judgments.parquet"
    answered.judgments.to_parquet(file)
    return ["report", str(file), "--study", str(answered.study.path), "--quiet"]


def real(folder: Path, names: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """The cases and the arguments of their reports."""
    for name, case in cases().items():
        if name in REFUSED or (names and name not in names):
            continue
        options = list(dict.fromkeys([*shlex.split(ANSWERS.get(name, "")), "--yes"]))
        file = folder / f"{name}.parquet"
        processor_seconds(
            ["convert", *(str(WILD / one) for one in case["files"]), *options, "-o", str(file), "--quiet"]
        )
        yield name, ["report", str(file), "--quiet"]


def main() -> None:
    """Print the times and whether the targets are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--write", action="store_true", help="Accepted for `make benchmarks`; nothing is written.")
    given = parse_options(parser)
    targets = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        page = ["-o", str(folder / "report.html")]
        if not given.cases:
            arguments = demo(folder)
            for label, more, limit in (("demo, --quick", ["--quick"], QUICK), ("demo", [], DEMO)):
                if given.smallest and label == "demo":
                    continue
                seconds = processor_seconds([*arguments, *more, *page])
                targets.append(Target(label, f"{seconds:.1f} s", given.smallest or seconds <= limit))
                print(targets[-1], flush=True)
        if WILD.is_dir() and not given.smallest:
            for label, arguments in real(folder, given.cases):
                seconds = processor_seconds([*arguments, *page])
                targets.append(Target(label, f"{seconds:.1f} s", seconds <= REAL))
                print(targets[-1], flush=True)
    print(f"{sum(one.holds for one in targets)} of {len(targets)} within their limits")


if __name__ == "__main__":
    main()
