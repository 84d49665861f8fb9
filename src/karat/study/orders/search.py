"""Orders, found by counting all patterns of kinds, by a complete search and by exchanges; and proofs that none exists.

The exact methods build an order from its first position to its last. The remaining requirements depend only on a small
state: how many trials of each kind are left, how long ago each group had its last trial, and how many it has in the
current window. Orders that reach the same state need not be distinguished.

Exchanges repair an order until no rule is broken. The places of a group are the bits of one whole number, whose shifted
copies show at once where too many trials are in a row or two are too close. An exchange of two trials flips two bits in
each group that has one of them.

Most impossible rules fail a count: too few trials to separate others, too few positions to keep a distance, too little
room in a stretch. If only an exact search shows that rules are impossible, the error names the smallest impossible set.
"""

from __future__ import annotations

import time
from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, combinations
from typing import NamedTuple

from karat.errors import counted, shown
from karat.study.orders.rules import (
    Columns,
    Group,
    OrderError,
    OrderProblem,
    OrderRules,
    Window,
    compile_rules,
    rule_sentences,
)

State = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
"""Trials left of each kind; for each group its current row or the positions it must still wait; counts in windows."""


class Transitions:
    """The states that follow when a trial of a kind takes the next position."""

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
        partitions = [(n, windows) for n, group in enumerate(problem.groups) for windows in group.partitions]
        self._windows: list[list[tuple[int, int, Window]]] = [[] for _ in range(self.size)]
        for slot, (number, windows) in enumerate(partitions):
            for window in windows:
                for position in range(window.start, window.end):
                    self._windows[position].append((slot, number, window))

    def follow(self, position: int, state: State, kind: int) -> State | None:
        """The state after a trial of this kind at this position; None if that breaks a rule."""
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
            # A group without trials left can break no rule, and forgetting its past makes more states equal.
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
    """A state of the count: the next kinds, their cumulative probabilities, and the states to which they lead."""

    probabilities: list[float]
    kinds: list[int]
    nodes: list[Node]


class Patterns:
    """All patterns of kinds that satisfy the rules, counted, so that one can be drawn with equal probability.

    `complete` is False if there are more states than the limit; then the count is unknown.
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
        """The kind at each position, with the same probability for every valid pattern."""
        node = self._first
        pattern = []
        while node.kinds:
            choice = bisect(node.probabilities, random()) if node.probabilities else 0
            pattern.append(node.kinds[choice])
            node = node.nodes[choice]
        return pattern


@lru_cache(maxsize=8)
def patterns_of(problem: OrderProblem, limit: int) -> Patterns:
    """The patterns, counted once for all lists of a study with the same kinds of trials."""
    return Patterns(problem, limit)


class Search:
    """A depth-first search that remembers dead ends for later runs."""

    def __init__(self, problem: OrderProblem) -> None:
        self._steps = Transitions(problem)
        self._dead: set[tuple[int, State]] = set()
        self.exhausted = False

    def run(self, random: Callable[[], float], limit: int) -> list[int] | None:
        """The kind at each position; None if none was found in this many steps, or none exists (`exhausted`)."""
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
        """The remaining kinds in random order; those with many trials tend to be at the end, which is tried first."""
        if position == self._steps.size:
            return []
        kinds = [kind for kind in self._steps.kinds_at[position] if state[0][kind]]
        return sorted(kinds, key=lambda kind: float(random() ** (1 / state[0][kind])))


def possible(problem: OrderProblem, limit: int) -> bool | None:
    """Whether some order satisfies the rules; None if this many steps do not decide it."""
    search = Search(problem)
    # A fixed sequence in place of chance, so that the same trials and rules get the same answer.
    if search.run(lambda: 0.5, limit) is not None:
        return True
    return False if search.exhausted else None


Cost = Callable[[int], int]
Find = Callable[[int, Callable[[], float]], int]
WORSE = 0.01
"""The probability of an exchange that breaks one more rule, which helps to leave a dead end."""


class Repair:
    """Exchanges of trials, for the rules of one problem."""

    def __init__(self, problem: OrderProblem) -> None:
        self._groups = problem.groups
        self._costs = [_cost(group) for group in problem.groups]
        self._culprits = [_culprit(group) for group in problem.groups]
        self._kind_of = problem.kind_of
        self._groups_of = [sorted(problem.kinds[kind].groups) for kind in problem.kind_of]
        self._bits = [1 << position for position in range(problem.size)]
        self._differing = [
            [[(number, self._costs[number]) for number in sorted(a.groups ^ b.groups)] for b in problem.kinds]
            for a in problem.kinds
        ]
        self.blame = [0] * len(problem.groups)
        """How often each group still broke a rule when a repair failed."""

    def fix(self, order: list[int], partners: Sequence[Sequence[int]], steps: int, random: Callable[[], float]) -> bool:
        """Change an order in place until all rules hold; False if this many tries are not enough.

        `partners` are, for each position, the positions with which it may be exchanged.
        """
        masks, costs, broken = self._read(order)
        kind_of, differing, bits, culprits = self._kind_of, self._differing, self._bits, self._culprits
        for _ in range(steps):
            if not broken:
                return True
            group = broken[int(random() * len(broken))]
            inside = masks[group]
            here = culprits[group](inside, random)
            others = partners[here]
            is_member = inside >> here & 1
            # An exchange of two members, or of two others, would leave this group as it is.
            for _ in range(4):
                there = others[int(random() * len(others))]
                if inside >> there & 1 != is_member:
                    break
            affected = differing[kind_of[order[here]]][kind_of[order[there]]]
            if not affected:
                continue
            flip = bits[here] | bits[there]
            change = 0
            after = []
            for number, cost_of in affected:
                mask = masks[number] ^ flip
                cost = cost_of(mask)
                change += cost - costs[number]
                after.append((number, mask, cost))
            if change <= 0 or (change == 1 and random() < WORSE):
                order[here], order[there] = order[there], order[here]
                for number, mask, cost in after:
                    masks[number] = mask
                    if cost and not costs[number]:
                        broken.append(number)
                    elif costs[number] and not cost:
                        broken.remove(number)
                    costs[number] = cost
        for group in broken:
            self.blame[group] += 1
        return not broken

    def wander(self, order: list[int], positions: Sequence[int], steps: int, random: Callable[[], float]) -> None:
        """Make random exchanges that keep all rules, so that an order does not depend on the search."""
        masks, _, _ = self._read(order)
        for _ in range(steps):
            here, there = (positions[int(random() * len(positions))] for _ in range(2))
            flip = self._bits[here] | self._bits[there]
            affected = self._differing[self._kind_of[order[here]]][self._kind_of[order[there]]]
            if not any(cost_of(masks[number] ^ flip) for number, cost_of in affected):
                order[here], order[there] = order[there], order[here]
                for number, _ in affected:
                    masks[number] ^= flip

    def _read(self, order: Sequence[int]) -> tuple[list[int], list[int], list[int]]:
        """The places of each group, how badly each breaks its rules, and the groups that do."""
        masks = [0] * len(self._groups)
        groups_of = self._groups_of
        for trial, bit in zip(order, self._bits, strict=True):
            for group in groups_of[trial]:
                masks[group] |= bit
        costs = [cost(mask) for cost, mask in zip(self._costs, masks, strict=True)]
        return masks, costs, [group for group, cost in enumerate(costs) if cost]


def _cost(group: Group) -> Cost:
    """A function from the places of a group to the number of times that it breaks its rules."""
    parts: list[Cost] = []
    if group.row:
        parts.append(_rows(group.row))
    if group.gap:
        parts.append(_close(group.gap))
    if group.partitions:
        parts.append(_shares(group))
    if len(parts) == 1:
        return parts[0]
    return lambda mask: sum(part(mask) for part in parts)


def _rows(most: int) -> Cost:
    # One function per usual number, because these few operations are most of the work of an order.
    if most == 1:
        return lambda mask: (mask & mask >> 1).bit_count()
    if most == 2:
        return lambda mask: (mask & mask >> 1 & mask >> 2).bit_count()
    if most == 3:
        return lambda mask: ((two := mask & mask >> 1) & two >> 2).bit_count()
    return lambda mask: _row_starts(mask, most).bit_count()


def _row_starts(mask: int, most: int) -> int:
    """The first places of rows that are longer than allowed."""
    starts = mask
    for shift in range(1, most + 1):
        starts &= mask >> shift
    return starts


def _close(gap: int) -> Cost:
    """A function that counts places with another one within the gap; shifts 1, ..., gap - 1 are joined by doubling."""
    doublings = []
    covered = 1
    while covered < gap - 1:
        doublings.append(min(covered, gap - 1 - covered))
        covered += doublings[-1]

    def cost(mask: int) -> int:
        before = mask >> 1
        for shift in doublings:
            before |= before >> shift
        return (mask & before).bit_count()

    return cost


def _shares(group: Group) -> Cost:
    windows = _windows(group)

    def cost(mask: int) -> int:
        wrong = 0
        for window, low, high in windows:
            count = (mask & window).bit_count()
            if count > high:
                wrong += count - high
            elif count < low:
                wrong += low - count
        return wrong

    return cost


def _windows(group: Group) -> list[tuple[int, int, int]]:
    return [((1 << w.end) - (1 << w.start), w.low, w.high) for windows in group.partitions for w in windows]


def _culprit(group: Group) -> Find:
    """A function that finds a random place at which the group breaks a rule."""
    row, gap, windows = group.row, group.gap, _windows(group)

    def find(mask: int, random: Callable[[], float]) -> int:
        candidates: list[tuple[int, int]] = []  # places, and how far the row or the pair reaches from there
        if row and (starts := _row_starts(mask, row)):
            candidates.append((starts, row))
        candidates += [(pairs, -shift) for shift in range(1, gap) if (pairs := mask & mask >> shift)]
        for window, low, high in windows:
            count = (mask & window).bit_count()
            if count > high:
                candidates.append((mask & window, 0))
            elif count < low:
                candidates.append((window & ~mask, 0))
        places, reach = candidates[int(random() * len(candidates))]
        place = _one_of(places, random)
        if reach >= 0:
            return place + int(random() * (reach + 1))
        return place - reach if random() < 0.5 else place

    def find_in_rows(mask: int, random: Callable[[], float]) -> int:
        return _one_of(_row_starts(mask, row), random) + int(random() * (row + 1))

    return find if gap or windows else find_in_rows


def _one_of(places: int, random: Callable[[], float]) -> int:
    """One of the bits that are set."""
    if more := places.bit_count() - 1:
        for _ in range(int(random() * (more + 1))):
            places &= places - 1
    return (places & -places).bit_length() - 1


NOUNS = ("filler", "control")
"""Functions that are nouns by themselves."""
PROOF_STEPS = 20_000


def counting_proofs(columns: Columns, rules: OrderRules, problem: OrderProblem) -> Iterator[OrderError]:
    """The proofs by counting that the rules are impossible."""
    functions = columns["function"]
    for function in rules.spread:
        if function in rules.first and function in functions:
            yield OrderError(f"{function} trials stand first, so they cannot be spread over the questionnaire.",
                             f"Take {function} out of spread or of first.")  # fmt: skip
    for function in rules.apart:
        if function in rules.first and (count := functions.count(function)) > 1:
            yield OrderError(f"The {count} {function} trials stand first, together, so they cannot be apart.",
                             f"Remove {function} from apart or from first.")  # fmt: skip
    for number, group in enumerate(problem.groups):
        yield from _row_proofs(columns, problem, number, group)
        if group.gap and (needed := (group.size - 1) * group.gap + 1) > problem.size:
            yield OrderError(f"{_trials(group, group.size)} at least {group.gap} positions apart need "
                             f"{needed} positions; there are {problem.size}.",
                             _fix(group, "Lower the distance"))  # fmt: skip
        for windows in group.partitions:
            yield from _room_proofs(problem, number, group, windows)


def _row_proofs(columns: Columns, problem: OrderProblem, number: int, group: Group) -> Iterator[OrderError]:
    """Too few separators, in the body or in one opening function."""
    if not group.row:
        return
    functions = columns["function"]
    for segment in range(len(problem.segments)):
        rows = [row for row in range(problem.size) if problem.kinds[problem.kind_of[row]].segment == segment]
        inside = [number in problem.kinds[problem.kind_of[row]].groups for row in rows]
        others = [functions[row] for row, is_member in zip(rows, inside, strict=True) if not is_member]
        needed = -(-sum(inside) // group.row) - 1
        if needed <= len(others):
            continue
        in_a_row = "" if group.row == 1 else f", at most {group.row} in a row,"
        is_body = segment == len(problem.segments) - 1
        where = "" if is_body else f" among the {functions[rows[0]]} trials, which come first"
        yield OrderError(f"{_trials(group, sum(inside))}{in_a_row} need {counted(needed, 'separator')}; "
                         f"there {_there_are(others)}{where}.", _fix(group, "Allow more in a row"),
                         str(group.value) if group.column == "function" else "")  # fmt: skip


def _room_proofs(problem: OrderProblem, number: int, group: Group, windows: Sequence[Window]) -> Iterator[OrderError]:
    """Too little room in windows under the rules about rows and distances."""
    in_body = sum(
        number in problem.kinds[kind].groups and problem.kinds[kind].segment == len(problem.segments) - 1
        for kind in problem.kind_of
    )
    total = 0
    for window in windows:
        length = window.end - window.start
        room = length
        if group.row:
            room = length - length // (group.row + 1)
        if group.gap:
            room = -(-length // group.gap)
        if room < window.low:
            yield OrderError(f"Positions {window.start + 1} to {window.end} must have {window.low} of the "
                             f"{_trials(group, in_body)}; with the rules about neighbours there is room for {room}.",
                             _fix(group, "Loosen one of these rules"))  # fmt: skip
        total += min(room, window.high)
    if total < in_body:
        yield OrderError(f"{_trials(group, in_body)} must be shared out over {len(windows)} stretches, which have "
                         f"room for {total} under the rules about neighbours.",
                         _fix(group, "Loosen one of these rules"))  # fmt: skip


def _trials(group: Group, count: int) -> str:
    if group.column == "function":
        return _counted_trials(str(group.value), count)
    return f"{counted(count, 'trial')} with {group.column} {shown(str(group.value))}"


def _counted_trials(function: str, count: int) -> str:
    return counted(count, function if function in NOUNS else f"{function} trial")


def _there_are(functions: Sequence[object]) -> str:
    """`are 8 fillers`, or `are 8 (5 fillers, 3 controls)`."""
    names = [str(name) if name is not None else "other" for name in dict.fromkeys(functions)]
    verb = "is" if len(functions) == 1 else "are"
    if not functions:
        return "are none"
    if len(names) == 1:
        return f"{verb} {_counted_trials(names[0], len(functions))}"
    parts = ", ".join(_counted_trials(name, sum(str(f or "other") == name for f in functions)) for name in names)
    return f"{verb} {len(functions)} ({parts})"


def _fix(group: Group, otherwise: str) -> str:
    if group.column == "function":
        return f"Add other trials, or use fewer {group.value} trials."
    return f"{otherwise}, or use fewer such trials."


def searched_proof(columns: Columns, rules: OrderRules, problem: OrderProblem, end: float) -> OrderError | None:
    """A proof from rules about one or two columns alone, if there is time for an exact search of these."""
    names = list(dict.fromkeys(group.column for group in problem.groups))
    for together in [*combinations(names, 1), *combinations(names, 2)]:
        if time.thread_time() > end:
            return None
        if possible(problem.projected(together), PROOF_STEPS) is False:
            return joint_proof(columns, rules, together)
    return None


def joint_proof(columns: Columns, rules: OrderRules, names: Sequence[str] | None = None) -> OrderError:
    """The error for rules (about these columns, by default all) that an exact search has proved impossible.

    Rules are removed one by one while the rest is still impossible; the remaining ones cannot hold together.
    """

    def impossible(others: OrderRules) -> bool:
        problem = compile_rules(columns, others)
        problem = problem if names is None else problem.projected(names)
        return possible(problem, PROOF_STEPS) is False

    remaining = rules
    sentences: list[str] = []
    while untried := [rule for rule in rule_sentences(remaining) if rule[0] not in sentences]:
        sentence, fewer = untried[0]
        # A rule that concerns no trial can be removed without a search.
        if compile_rules(columns, fewer) == compile_rules(columns, remaining) or impossible(fewer):
            remaining = fewer
        else:
            sentences.append(sentence)
    which, fix = ("this rule", "it") if len(sentences) == 1 else ("these rules together", "one of them")
    return OrderError(
        f"No order of the {len(columns['function'])} trials satisfies {which} (every arrangement was searched): "
        f"{'; '.join(sentences)}.",
        f"Loosen {fix}, or leave {fix} out.",
    )
