"""Orders of trials: individually randomised, seeded, and always within the rules.

An order is made in two steps. First a pattern of functions (the places of test trials, controls, ...) is drawn from all
patterns that satisfy the rules about functions, each with the same probability. Then trials are shuffled into the
pattern, and trials of the same function are exchanged at random until the rules about other columns hold as well. If a
questionnaire is small enough for all rules to be counted at once, every order has the same probability. Before an order
is returned, an independent check tests it.
"""

import time
from collections.abc import Callable, Sequence
from math import prod
from random import Random
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.study.orders.rules import (
    OrderError,
    OrderRules,
    OrderUndecidedError,
    broken_rules,
    columns_of,
    compile_rules,
    rule_sentences,
    violations,
)
from karat.study.orders.search import (
    Patterns,
    Repair,
    Search,
    counting_proofs,
    joint_proof,
    patterns_of,
    searched_proof,
)

__all__ = ["Arranger", "OrderError", "OrderRules", "OrderUndecidedError", "arrange", "violations"]

SECONDS = 10.0
"""The time after which an order is called undecided."""
STATES = (3_000, 100_000)
"""The largest numbers of states for counting the patterns of all rules, and of the rules about functions."""
TRIES = 20
STEPS = 1_500


class Arranger:
    """The orders of one list. Rules are compiled once, then each order takes less than a millisecond."""

    def __init__(
        self, trials: pl.DataFrame, rules: OrderRules, *, seconds: float = SECONDS, states: tuple[int, int] = STATES
    ) -> None:
        self._columns = columns_of(trials, rules)
        self._rules = rules
        self._seconds = seconds
        self._problem = compile_rules(self._columns, rules)
        self._size = self._problem.size
        for proof in counting_proofs(self._columns, rules, self._problem):
            raise proof
        self._repair = Repair(self._problem)
        self._body = list(range(*self._problem.segments[-1]))
        # One list per segment, shared by its positions; a list for each would need quadratic memory.
        segments = [(end - start, list(range(start, end))) for start, end in self._problem.segments]
        self._everywhere = [places for size, places in segments for _ in range(size)]
        self._pattern, self._exact = self._count(states)

    @property
    def about_columns(self) -> bool:
        """Whether a rule uses other columns than the function."""
        return bool(self._rules.in_a_row or self._rules.distance)

    def _count(self, states: tuple[int, int]) -> tuple[Patterns | None, bool]:
        """The patterns of all rules and True if they are few, else those of the rules about functions, else None."""
        kinds = [self._problem.kind_of.count(kind) + 1 for kind in range(len(self._problem.kinds))]
        functions = self._problem.projected(["function"])
        for problem, limit in zip((self._problem, functions), states, strict=True):
            is_all = problem is self._problem
            if is_all and prod(kinds) > 50 * limit:
                continue
            patterns = patterns_of(problem, limit)
            if patterns.complete:
                if not patterns.number:
                    names = None if is_all else ["function"]
                    raise joint_proof(self._columns, self._rules, names)
                self._trials = _trials_by_kind(problem.kind_of)
                return patterns, is_all
        self._trials = _trials_by_kind([self._problem.kinds[kind].segment for kind in self._problem.kind_of])
        return None, False

    def order(self, rng: np.random.Generator) -> NDArray[np.intp]:
        """Row numbers of the trials in an order that satisfies all rules."""
        # Only `random()` is used, because it is the same in every version of Python.
        random = Random(int(rng.integers(2**63))).random  # noqa: S311
        order = self._quick(random)
        if order is None:
            order = self._patient(random)
        if broken := broken_rules(self._columns, order, self._rules):
            raise AssertionError(f"karat made an order that breaks its rules; please report this. {broken[0]}")
        return np.array(order, dtype=np.intp)

    def _quick(self, random: Callable[[], float]) -> list[int] | None:
        """An order from a pattern and exchanges within it; None if several patterns do not lead to one."""
        for _ in range(TRIES):
            order, places = self._start(random)
            if self._exact or self._repair.fix(order, places, STEPS, random):
                return order
        return None

    def _start(self, random: Callable[[], float]) -> tuple[list[int], Sequence[Sequence[int]]]:
        """Trials shuffled into a random pattern, and for each position those with which it may be exchanged."""
        trials = {kind: _shuffled(rows, random) for kind, rows in self._trials.items()}
        if self._pattern is None:
            return [row for kind in sorted(trials) for row in trials[kind]], self._everywhere
        pattern = self._pattern.draw(random)
        if self._exact:
            return [trials[kind].pop() for kind in pattern], ()
        places: dict[int, list[int]] = {kind: [] for kind in trials}
        for position, kind in enumerate(pattern):
            places[kind].append(position)
        return [trials[kind].pop() for kind in pattern], [places[kind] for kind in pattern]

    def _patient(self, random: Callable[[], float]) -> list[int]:
        """An order from exchanges between all functions and a complete search, in turn, until the time is up."""
        # The time of this thread, so that the result of a seed does not depend on other work of the machine.
        end = time.thread_time() + self._seconds
        if proof := searched_proof(self._columns, self._rules, self._problem, end - self._seconds / 2):
            raise proof
        search = Search(self._problem)
        steps = 5_000
        while time.thread_time() < end:
            for _ in range(4):
                order, _ = self._start(random)
                if self._repair.fix(order, self._everywhere, steps, random):
                    return order
            pattern = search.run(random, steps)
            if pattern is not None:
                by_kind = _trials_by_kind(self._problem.kind_of).items()
                trials = {kind: _shuffled(rows, random) for kind, rows in by_kind}
                order = [trials[kind].pop() for kind in pattern]
                self._repair.wander(order, self._body, 20 * self._size, random)
                return order
            if search.exhausted:
                raise joint_proof(self._columns, self._rules)
            steps = min(2 * steps, 20_000)  # few enough to notice that the time is up
        raise OrderUndecidedError(
            f"karat could not decide within {self._seconds:.0f} seconds whether the rules are compatible. The "
            f"tightest is: {self._tightest()}.",
            "Loosen it, or use more trials that it does not concern.",
        )

    def _tightest(self) -> str:
        """The rule that was broken most often, with the trials that it concerns."""
        blame = self._repair.blame
        group = self._problem.groups[max(range(len(blame)), key=blame.__getitem__)]
        sentences = [sentence for sentence, _ in rule_sentences(self._rules)]
        about = str(group.value) if group.column == "function" else f"the same {group.column}"
        sentence = next((sentence for sentence in sentences if about in sentence), sentences[0])
        return f'{sentence} ({group.size} of {self._size} trials have {group.column} "{group.value}")'


def arrange(trials: pl.DataFrame, rules: OrderRules, seed: Any) -> NDArray[np.intp]:
    """One order of the trials that satisfies all rules: the row numbers, the same for the same seed.

    >>> trials = pl.DataFrame({"function": ["test"] * 12 + ["filler"] * 8})
    >>> arrange(trials, OrderRules(apart=("test",)), seed=1)
    Traceback (most recent call last):
    karat.study.orders.rules.OrderError: 12 test trials need 11 separators; there are 8 fillers. Add other trials, ...
    """
    return Arranger(trials, rules).order(np.random.default_rng(seed))


def _trials_by_kind(kind_of: Sequence[int]) -> dict[int, list[int]]:
    trials: dict[int, list[int]] = {}
    for row, kind in enumerate(kind_of):
        trials.setdefault(kind, []).append(row)
    return trials


def _shuffled(rows: Sequence[int], random: Callable[[], float]) -> list[int]:
    mixed = list(rows)
    for last in range(len(mixed) - 1, 0, -1):
        other = int(random() * (last + 1))
        mixed[last], mixed[other] = mixed[other], mixed[last]
    return mixed
