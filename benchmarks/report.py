"""How long a report takes: python benchmarks/report.py [CASE ...]

Every report is written by the command line in a process of its own, and what counts is processor time, start-up and
figures included. Measured are the demo study (60 participants x 75 trials) as it is and with `--quick`, and the real
files of `../shared/reference/wild`, each converted as `benchmarks/wild.py` converts it. Targets: 8 s for the demo
study, 3 s for it with `--quick`, 30 s for every real file. Processor time grows two- to threefold on a crowded machine,
so that the imports of the packages that a report stands on are measured beside it. The case `demo` is the demo study
alone, the others are the real files. `--smallest` writes the quick report only, and `--write` puts the times into
docs/performance.md.
"""

from __future__ import annotations

import argparse
import resource
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.marked import Target, parse_options, write_rows
from benchmarks.wild import ANSWERS, REFUSED, WILD, cases

DEMO, QUICK, REAL = 8.0, 3.0, 30.0
PACKAGES = "import matplotlib.pyplot, polars, scipy.stats"
ROW = "`karat report` on 60 participants x 75 trials, start-up and figures included"
REAL_ROW = "`karat report` on real result files of published studies"


def processor_seconds(arguments: Sequence[str]) -> float:
    """What `karat` with these arguments costs in a process of its own."""
    return _spent([sys.executable, "-c", "from karat.cli.main import main; main()", *arguments])


def _spent(command: Sequence[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{shlex.join(command)}\n{done.stderr[-2000:]}")
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


def rows(taken: Mapping[str, float], imports: float) -> dict[str, str]:
    """What docs/performance.md says, of what was measured."""
    found = {}
    if {"demo", "demo, --quick"} <= taken.keys():
        whole, quick = taken["demo"], taken["demo, --quick"]
        found[ROW] = (
            f"{whole / imports:.1f} times the time, {quick / imports:.1f} times with `--quick` "
            f"({whole:.1f} s and {quick:.1f} s of processor time here)"
        )
    real_files = sorted(seconds for name, seconds in taken.items() if not name.startswith("demo"))
    if real_files:
        middle, longest = real_files[len(real_files) // 2], real_files[-1]
        found[REAL_ROW] = (
            f"{longest / imports:.1f} times the time at most, {middle / imports:.1f} times for half of the "
            f"{len(real_files)} files ({longest:.1f} s and {middle:.1f} s of processor time here)"
        )
    return found


def main() -> None:
    """Print the times and whether the targets are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--write", action="store_true", help="Put the times into docs/performance.md.")
    given = parse_options(parser)
    targets = []
    taken: dict[str, float] = {}
    imports = _spent([sys.executable, "-c", PACKAGES])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        page = ["-o", str(folder / "report.html")]
        if not given.cases or "demo" in given.cases:
            arguments = demo(folder)
            for label, more, limit in (("demo, --quick", ["--quick"], QUICK), ("demo", [], DEMO)):
                if given.smallest and label == "demo":
                    continue
                seconds = taken[label] = processor_seconds([*arguments, *more, *page])
                targets.append(Target(label, f"{seconds:.1f} s", given.smallest or seconds <= limit))
                print(targets[-1], flush=True)
        if WILD.is_dir() and not given.smallest and given.cases != ["demo"]:
            for label, arguments in real(folder, given.cases):
                seconds = taken[label] = processor_seconds([*arguments, *page])
                targets.append(Target(label, f"{seconds:.1f} s", seconds <= REAL))
                print(targets[-1], flush=True)
    imports = (imports + _spent([sys.executable, "-c", PACKAGES])) / 2
    print(f"{PACKAGES}: {imports:.1f} s")
    if given.write:
        write_rows(rows(taken, imports))
    print(f"{sum(one.holds for one in targets)} of {len(targets)} within their limits")


if __name__ == "__main__":
    main()
