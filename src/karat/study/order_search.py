"""Exact methods for orders: counting every pattern of kinds, and a search that is complete.

Both build an order from its first position to its last. What the rules still ask for depends only on a small state:
how many trials of each kind are left, how long ago each group had its last trial, and how many it has in the window
at hand. Orders that reach the same state need not be told apart.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from karat.study.order_problem import OrderProblem, Window

State = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
"""Trials left of each kind; for each group its row so far or the positions it must still wait; counts in windows."""


class Transitions:
    """Which state follows when a trial of a kind takes the next position."""

    def __init__(self, problem: OrderProblem) -> None:
        self.problem = problem
        self.size = problem.size
        kinds = range(len(problem.kinds))
        self.start: State = (
            tuple(problem.kind_of.count(kind) for kind in kinds),
            (0,) * len(problem.groups),
            (0,) * sum(len(group.partitions) for group in problem.groups),
        )
        self.kinds_at = [
            [kind for kind in kinds if problem.kinds[kind].segment == number]
            for number, (start, end) in enumerate(problem.segments)
            for _ in range(start, end)
        ]
        self._members = [
            [kind for kind in kinds if group in problem.kinds[kind].groups] for group in range(len(problem.groups))
        ]
        self._rules = [(number, group.row, group.gap) for number, group in enumerate(problem.groups)]
        counted = [(n, windows) for n, group in enumerate(problem.groups) for windows in group.partitions]
        self._windows: list[list[tuple[int, int, Window]]] = [[] for _ in range(self.size)]
        for slot, (number, windows) in enumerate(counted):
            for window in windows:
                for position in range(window.start, window.end):
                    self._windows[position].append((slot, number, window))

    def follow(self, position: int, state: State, kind: int) -> State | None:
        """The state after a trial of this kind at this position; None where that breaks a rule."""
        left = list(state[0])
        if not left[kind]:
            return None
        left[kind] -= 1
        groups = self.problem.kinds[kind].groups
        tails = list(state[1])
        for number, row, gap in self._rules:
            if number in groups:
                if gap:
                    if tails[number]:
                        return None
                    tails[number] = gap - 1
                elif row:
                    tails[number] += 1
                    if tails[number] > row:
                        return None
            elif tails[number]:
                tails[number] = tails[number] - 1 if gap else 0
            # A group without trials left can break nothing: forgetting its past makes more states equal.
            if tails[number] and not any(left[member] for member in self._members[number]):
                tails[number] = 0
        counts = list(state[2])
        for slot, number, window in self._windows[position]:
            count = counts[slot] + (number in groups)
            if count > window.high or window.low - count > window.end - 1 - position:
                return None
            counts[slot] = 0 if position == window.end - 1 else count
        return tuple(left), tuple(tails), tuple(counts)


class Node(NamedTuple):
    """A state of the count: which kinds may come next, how probable each is, and where it leads."""

    probabilities: list[float]
    kinds: list[int]
    nodes: list[Node]


class Patterns:
    """All patterns of kinds that satisfy the rules, counted, so that one can be drawn with equal probability.

    `complete` is False where there are more states than the limit; then nothing is known.
    """

    def __init__(self, problem: OrderProblem, limit: int) -> None:
        self.complete = False
        self.number = 0
        steps = Transitions(problem)
        layers: list[dict[State, list[tuple[int, State]]]] = []
        states = [steps.start]
        total = 0
        for position in range(problem.size):
            layer = {}
            for state in states:
                layer[state] = [
                    (kind, after)
                    for kind in steps.kinds_at[position]
                    if (after := steps.follow(position, state, kind)) is not None
                ]
            layers.append(layer)
            states = list(dict.fromkeys(after for followers in layer.values() for _, after in followers))
            total += len(states)
            if total > limit:
                return
        self.complete = True
        last = Node([], [], [])
        weighed: dict[State, tuple[int, Node]] = dict.fromkeys(states, (1, last))
        for layer in reversed(layers):
            below, weighed = weighed, {}
            for state, followers in layer.items():
                alive = [(kind, *below[after]) for kind, after in followers if after in below]
                if alive:
                    sums = list(accumulate(weight for _, weight, _ in alive))
                    node = Node(
                        [part / sums[-1] for part in sums[:-1]], [kind for kind, _, _ in alive], [n for *_, n in alive]
                    )
                    weighed[state] = (sums[-1], node)
        if steps.start in weighed:
            self.number, self._first = weighed[steps.start]

    def draw(self, random: Callable[[], float]) -> list[int]:
        """The kind at each position, every pattern that holds with the same probability."""
        node = self._first
        pattern = []
        while node.kinds:
            choice = bisect(node.probabilities, random()) if node.probabilities else 0
            pattern.append(node.kinds[choice])
            node = node.nodes[choice]
        return pattern


@lru_cache(maxsize=8)
def patterns_of(problem: OrderProblem, limit: int) -> Patterns:
    """The patterns, counted once for all lists of a study: their trials differ, but seldom the kinds of them."""
    return Patterns(problem, limit)


class Search:
    """A depth-first search that remembers dead ends; it can go on where it stopped with what it has learnt."""

    def __init__(self, problem: OrderProblem) -> None:
        self._steps = Transitions(problem)
        self._dead: set[tuple[int, State]] = set()
        self.exhausted = False

    def run(self, random: Callable[[], float], limit: int) -> list[int] | None:
        """The kind at each position; None where none was found in so many steps, or `exhausted`."""
        steps = self._steps
        path: list[tuple[State, list[int]]] = [(steps.start, self._choices(0, steps.start, random))]
        pattern: list[int] = []
        for _ in range(limit):
            position = len(path) - 1
            if position == steps.size:
                return pattern
            state, choices = path[-1]
            if choices:
                kind = choices.pop()
                after = steps.follow(position, state, kind)
                if after is not None and (position + 1, after) not in self._dead:
                    pattern.append(kind)
                    path.append((after, self._choices(position + 1, after, random)))
                continue
            self._dead.add((position, state))
            path.pop()
            if not path:
                self.exhausted = True
                return None
            pattern.pop()
        return None

    def _choices(self, position: int, state: State, random: Callable[[], float]) -> list[int]:
        """The kinds that are left, in random order, those with many trials left rather early (tried from the end)."""
        if position == self._steps.size:
            return []
        kinds = [kind for kind in self._steps.kinds_at[position] if state[0][kind]]
        return sorted(kinds, key=lambda kind: float(random() ** (1 / state[0][kind])))


def possible(problem: OrderProblem, limit: int) -> bool | None:
    """Whether some order satisfies the rules; None where so many steps do not decide it."""
    search = Search(problem)
    # A fixed sequence in place of chance: the same trials and rules get the same answer.
    if search.run(lambda: 0.5, limit) is not None:
        return True
    return False if search.exhausted else None
