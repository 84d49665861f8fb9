"""Change one thing at a time in a module, and see whether a test fails: make mutation MODULES="screen/criteria/remfod"

mutmut makes the changes (mutants): an operator, a number, a word, an argument or a branch. All happens in a copy, so
that the checkout stays as it is. A mutant is killed where a test of its module fails with it. Those that survive are
printed with their change: each asks for a test, or is the same as the original in all that matters.

    python -m tools.mutation study/chance models/glrm/schur [--sample 40] [--seed 1] [--folder FOLDER]

`--sample` draws this many mutants of each module, for modules with thousands. Functions with a decorator and whatever
stands outside functions (constants, defaults of dataclasses) are not changed. It needs processes that fork, and so
Linux or macOS.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tools.mutants import KILLED, NO_TEST, SURVIVED, TIMEOUT, UNCLEAR, Trials

ROOT = Path(__file__).parent.parent
GLRM = "tests/models/glrm"
TESTS = {
    "models/glrm/objective": [f"{GLRM}/test_fit.py", f"{GLRM}/test_mode.py"],
    "models/glrm/crossed": [f"{GLRM}/test_objective.py"],
    "models/glrm/fit": [f"{GLRM}/test_gaussian.py"],
    "models/glrm/formulas/wald": [f"{GLRM}/test_satterthwaite.py", f"{GLRM}/test_mixed.py"],
    "models/glrm/formulas/intervals": [f"{GLRM}/test_profile.py"],
    "models/glrm/blocks": [f"{GLRM}/test_schur.py", f"{GLRM}/test_mixed_laplace.py", f"{GLRM}/test_mixed_sides.py"],
    "models/glrm/mixed/laplace": [f"{GLRM}/test_mixed_laplace.py", f"{GLRM}/test_mixed_sparse.py"],
    "models/glrm/mixed/result": [f"{GLRM}/test_mixed.py", f"{GLRM}/test_mixed_problem.py"],
    "models/glrm/nominal": [f"{GLRM}/test_deletion.py"],
    "models/glrm/mixed/gaussian": [f"{GLRM}/test_gaussian.py", f"{GLRM}/test_deletion.py"],
    **{
        f"models/glrm/parts/{part}": [f"{GLRM}/test_parted.py", f"{GLRM}/test_parted_objective.py"]
        for part in ("answers", "fit", "objective")
    },
}
"""Tests of a module beside those that bear its name and its examples.

None may use polars while it is imported: its threads would be lost in the processes that are forked afterwards.
"""
WRITTEN = "outcomes.jsonl"
RUN = "from pathlib import Path; from tools.mutation import try_all; try_all(Path.cwd())"


class Mutant(NamedTuple):
    """One change of one module, and what the tests said of it."""

    module: str
    name: str
    outcome: str


def main() -> int:
    """Try the mutants of the modules, print the counts and the survivors."""
    parser = argparse.ArgumentParser(description="Mutation tests of modules of karat.")
    parser.add_argument(
        "modules", nargs="+", help="such as screen/criteria/remfod, study/chance or models/glrm (all in it)"
    )
    parser.add_argument("--sample", type=int, help="this many mutants of each module, drawn at random; else all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--examples", type=int, default=5, help="of each property that hypothesis tests")
    parser.add_argument("--folder", type=Path, help="where to work; a temporary folder unless given")
    stated = parser.parse_args()
    folder = stated.folder or Path(tempfile.mkdtemp(prefix="karat-mutation-"))
    modules = modules_in(stated.modules)
    names = prepare(folder, modules, stated.sample, stated.seed)
    plan = {"mutants": names, "tests": tests_of(modules), "workers": stated.workers}
    (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    single = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    paths = os.pathsep.join([str(folder / "src"), str(folder), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | single | {"HYPOTHESIS_EXAMPLES": str(stated.examples), "PYTHONPATH": paths}
    said = folder / "pytest.txt"
    with said.open("w", encoding="utf-8") as file:
        command = [sys.executable, "-c", RUN]
        done = subprocess.run(command, cwd=folder, env=environment, stdout=file, stderr=file, check=False)
    if done.returncode:
        print(f"The mutants could not be tried; pytest says why in {said}.", file=sys.stderr)
        return 1
    print(printed_score(folder, modules))
    return 0


def modules_in(stated: Sequence[str]) -> list[str]:
    """The modules by their paths below src/karat without .py; those of a folder where one is stated.

    >>> modules_in(["study/chance", "screen/criteria/remfod.py"])
    ['study/chance', 'screen/criteria/remfod']
    """
    source = ROOT / "src" / "karat"
    found = []
    for name in stated:
        path = source / name.removesuffix(".py")
        below = sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]
        found += [each.relative_to(source).with_suffix("").as_posix() for each in below]
    missing = [name for name in found if not (source / f"{name}.py").is_file()]
    if missing:
        raise SystemExit(f"No module {', '.join(missing)} in src/karat. Give it as in screen/criteria/remfod.")
    return found


def tests_of(modules: Sequence[str]) -> list[str]:
    """The tests that speak of the modules: those with their names, those in TESTS, and the examples of docstrings.

    >>> tests_of(["study/chance"])
    ['tests/study/test_chance.py', 'src/karat/study/chance.py']
    """
    found = {test for module in modules for test in TESTS.get(module, [])}
    for module in modules:
        test = Path("tests") / Path(module).parent / f"test_{Path(module).name}.py"
        found |= {test.as_posix()} if (ROOT / test).is_file() else set()
    return [*sorted(found), *(f"src/karat/{module}.py" for module in modules)]


def prepare(folder: Path, modules: Sequence[str], sample: int | None, seed: int) -> list[str]:
    """Copy what the tests need, with the mutants in place of the modules; the mutants' names, or a sample of them."""
    from mutmut.mutation.file_mutation import mutate_file_contents

    for name in ("src", "tests", "tools", "examples"):
        left = shutil.ignore_patterns("__pycache__", "node_modules")
        shutil.copytree(ROOT / name, folder / name, ignore=left, dirs_exist_ok=True)
    shutil.copy(ROOT / "pyproject.toml", folder)
    # Tests look for the reference data beside the checkout.
    beside = folder.parent / "shared"
    if (ROOT.parent / "shared").is_dir() and not beside.exists():
        beside.symlink_to(ROOT.parent / "shared")
    names = []
    for module in modules:
        path = folder / "src" / "karat" / f"{module}.py"
        mutated = mutate_file_contents(str(path), path.read_text(encoding="utf-8"))
        path.write_text(mutated.code, encoding="utf-8")
        own = sorted(mutated.mutant_names)
        own = own if sample is None else random.Random(seed).sample(own, min(sample, len(own)))
        names += [f"{imported(module)}.{name}" for name in own]
    return names


def imported(module: str) -> str:
    """A module as it is imported.

    >>> imported("study/chance"), imported("models/glrm/__init__")
    ('karat.study.chance', 'karat.models.glrm')
    """
    return ".".join(["karat", *module.removesuffix("/__init__").split("/")])


def try_all(folder: Path) -> None:
    """Run the tests on the mutants of the plan, in the folder that `prepare` made."""
    import pytest

    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    written = folder / WRITTEN
    written.write_text("", encoding="utf-8")
    trials = Trials(plan["mutants"], plan["workers"], written)
    # With its usual tracebacks pytest reads the mutated module at every failure, which takes seconds.
    arguments = ["--tb=native", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow", *plan["tests"]]
    raise SystemExit(pytest.main(arguments, plugins=[trials]))


def printed_score(folder: Path, modules: Sequence[str]) -> str:
    """The counts of each module, and below them the changes that no test noticed."""
    lines = (folder / WRITTEN).read_text(encoding="utf-8").splitlines()
    outcomes = {name: outcome for line in lines for name, outcome in json.loads(line).items()}
    mutants = []
    for module in modules:
        own = {name: outcome for name, outcome in outcomes.items() if name.rpartition(".")[0] == imported(module)}
        mutants += [Mutant(module, name, own[name]) for name in sorted(own)]
    left = [mutant for mutant in mutants if mutant.outcome not in (KILLED, TIMEOUT)]
    return "\n\n".join([summary(mutants), *changes(folder, left)])


def summary(mutants: Sequence[Mutant]) -> str:
    """A table with one row per module.

    >>> print(summary([Mutant("study/chance", "a", "killed"), Mutant("study/chance", "b", "survived")]))
    | module | mutants | killed | survived | timeout | no test | unclear |
    | --- | --- | --- | --- | --- | --- | --- |
    | `study/chance` | 2 | 1 | 1 | 0 | 0 | 0 |
    """
    kinds = [KILLED, SURVIVED, TIMEOUT, NO_TEST, UNCLEAR]
    lines = [f"| module | mutants | {' | '.join(kinds)} |", "| --- " * (len(kinds) + 2) + "|"]
    for module in dict.fromkeys(mutant.module for mutant in mutants):
        counts = Counter(mutant.outcome for mutant in mutants if mutant.module == module)
        cells = [str(counts.total()), *(str(counts[kind]) for kind in kinds)]
        lines.append(f"| `{module}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def changes(folder: Path, mutants: Sequence[Mutant]) -> list[str]:
    """For each mutant what became of it, its name, and the lines that it takes out and puts in."""
    found = []
    for module in dict.fromkeys(mutant.module for mutant in mutants):
        text = (folder / "src" / "karat" / f"{module}.py").read_text(encoding="utf-8")
        bodies = functions(text)
        for mutant in mutants:
            if mutant.module == module:
                name = mutant.name.rpartition(".")[2]
                original = name.rpartition("_")[0] + "_orig"
                before = [line.replace(original, name) for line in bodies[original]]
                lines = [line for line in difflib.ndiff(before, bodies[name]) if line.startswith(("-", "+"))]
                found.append("\n".join([f"{mutant.outcome}: {mutant.name}", *lines]))
    return found


def functions(text: str) -> dict[str, list[str]]:
    """The lines of every function and method.

    >>> functions("class A:\\n    def b(self):\\n        return 1\\n")
    {'b': ['    def b(self):', '        return 1']}
    """
    lines = text.splitlines()
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    return {node.name: lines[node.lineno - 1 : node.end_lineno] for node in nodes}


if __name__ == "__main__":
    sys.exit(main())
