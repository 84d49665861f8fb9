"""The work that is shared among processes, small: each gives its numbers as text, so that the last bit counts."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import polars as pl

import karat
from karat.executors import Executor
from karat.judgments import Judgments
from karat.measure import agreement, choice_assumptions, factor_intervals, factors, noise_ceiling, ratings_matrix
from karat.screen import deletion, markov, multiverse, run, spammer_index
from karat.simulate import answer_study, crowd, power
from karat.study.init import write_study
from karat.study.study import Study, load
from measure.chosen import choices
from measure.differential import differential

WORTH = [0.0, 0.5, 1.0, 1.5, 2.0]
LIKERT = karat.datasets.load("likert")


def exact(frame: pl.DataFrame) -> str:
    """Every number with all its digits."""
    return repr(frame.to_dicts())


def small_crowd() -> Judgments:
    return crowd(10, 10, seed=3)


def of_several_lengths() -> Judgments:
    """A crowd in which people gave 20, 30, 40 and 60 answers."""
    whole = crowd(24, 60, seed=4).frame
    number = pl.int_range(pl.len()).over("participant")
    most = pl.col("participant").rank("dense").cast(pl.Int64) % 4
    kept = whole.filter(number < most.replace_strict({0: 20, 1: 30, 2: 40, 3: 60}))
    return Judgments(kept, crowd(24, 60, seed=4).scales)


def study() -> Study:
    """Always in the same folder, whose name is part of what is shared."""
    folder = Path(tempfile.gettempdir()) / f"karat-studies-{os.getuid()}" / "yes-no"
    if not folder.exists():
        with tempfile.TemporaryDirectory() as made:
            write_study(Path(made) / "yes-no", "yes-no")
            folder.parent.mkdir(exist_ok=True)
            with suppress(OSError):
                (Path(made) / "yes-no").rename(folder)
    return load(folder)


def by_deletion(executor: Executor) -> str:
    found = deletion(small_crowd(), simulations=5, by="published", executor=executor)
    return exact(found.participants) + repr(found.notes)


def by_cutoffs(executor: Executor) -> str:
    found = markov(of_several_lengths(), simulations=400, executor=executor)
    assert len(found.simulated[0]) == 4
    return exact(found.participants) + exact(found.cutoffs) + exact(found.errors)


def by_bootstrap(executor: Executor) -> str:
    found = spammer_index(small_crowd(), simulations=8, executor=executor)
    return repr((found.value, found.lower, found.upper))


def by_power(executor: Executor) -> str:
    return exact(power(study(), [12, 16], effects=[0.8], simulations=60, executor=executor).table())


def by_multiverse(executor: Executor) -> str:
    rules = {"completion": {}, "speed": {}, "remfod": {}, "attention": {}, "straightlining": {}, "exclude": "any"}
    return exact(multiverse(LIKERT, rules, at_most=60, executor=executor).universes)


def by_screening(executor: Executor) -> str:
    rules = {"markov": {"simulations": 400}, "deletion": {}, "risk": {"simulations": 400}, "exclude": "any"}
    found = run(of_several_lengths(), rules, executor=executor)
    return repr((found.excluded, found.skipped)) + "".join(exact(one.participants) for one in found.evidence.values())


def by_agreement(executor: Executor) -> str:
    return exact(agreement(LIKERT, samples=120, executor=executor).table())


def by_ceiling(executor: Executor) -> str:
    return exact(noise_ceiling(LIKERT, samples=120, executor=executor).table())


def by_assumptions(executor: Executor) -> str:
    found = choice_assumptions(choices(WORTH, 8, 28, seed=1, shape=2.5), samples=19, executor=executor)
    return exact(found.tests) + exact(found.people)


def by_factors(executor: Executor) -> str:
    found = factors(ratings_matrix(differential(people=20)), 1)
    return exact(factor_intervals(found, draws=12, executor=executor).table())


def by_answering(executor: Executor) -> str:
    return exact(answer_study(study(), 120, seed=2, executor=executor).frame)


KILLED: dict[str, Callable[[Executor], str]] = {
    "deletion": by_deletion, "cutoffs": by_cutoffs, "bootstrap": by_bootstrap, "power": by_power,
    "multiverse": by_multiverse,
}  # fmt: skip
"""In the middle of which a process is killed."""
OTHERS: dict[str, Callable[[Executor], str]] = {
    "agreement": by_agreement, "screening": by_screening, "ceiling": by_ceiling, "assumptions": by_assumptions,
    "factors": by_factors, "answering": by_answering,
}  # fmt: skip
SHARED = KILLED | OTHERS
