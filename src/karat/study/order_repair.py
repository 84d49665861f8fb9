"""Mending an order by exchanging trials until no rule is broken.

The places of a group are the bits of one whole number: shifted copies of it show at once where too many stand in a row
or two stand too close. An exchange of two trials flips two bits in each group that has one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from karat.study.order_problem import Group, OrderProblem

Cost = Callable[[int], int]
Find = Callable[[int, Callable[[], float]], int]
WORSE = 0.01
"""How often an exchange is made although it breaks one rule more: enough to leave a dead end."""


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
        """How often each group was still in breach when mending was given up."""

    def mend(
        self, order: list[int], partners: Sequence[Sequence[int]], steps: int, random: Callable[[], float]
    ) -> bool:
        """Change an order in place until all rules hold; False where so many tries do not suffice.

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
        """Make random exchanges that keep all rules, so that an order forgets how it was found."""
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
        """The places of each group, how badly it breaks its rules, and the groups that do."""
        masks = [0] * len(self._groups)
        groups_of = self._groups_of
        for trial, bit in zip(order, self._bits, strict=True):
            for group in groups_of[trial]:
                masks[group] |= bit
        costs = [cost(mask) for cost, mask in zip(self._costs, masks, strict=True)]
        return masks, costs, [group for group, cost in enumerate(costs) if cost]


def _cost(group: Group) -> Cost:
    """The function that counts how often a group at given places breaks its rules."""
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
    # One function for each usual number, because these few operations are most of the work of an order.
    if most == 1:
        return lambda mask: (mask & mask >> 1).bit_count()
    if most == 2:
        return lambda mask: (mask & mask >> 1 & mask >> 2).bit_count()
    if most == 3:
        return lambda mask: ((two := mask & mask >> 1) & two >> 2).bit_count()
    return lambda mask: _row_starts(mask, most).bit_count()


def _row_starts(mask: int, most: int) -> int:
    """The first places of rows that are longer than allowed."""
    found = mask
    for shift in range(1, most + 1):
        found &= mask >> shift
    return found


def _close(gap: int) -> Cost:
    """How many places have another within the gap after them; the shifts 1, 2, ..., gap - 1 are joined by doubling."""
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
    """The function that finds a random place at which the group breaks a rule."""
    row, gap, windows = group.row, group.gap, _windows(group)

    def find(mask: int, random: Callable[[], float]) -> int:
        found: list[tuple[int, int]] = []  # places, and how far the row or the pair reaches from there
        if row and (starts := _row_starts(mask, row)):
            found.append((starts, row))
        found += [(pairs, -shift) for shift in range(1, gap) if (pairs := mask & mask >> shift)]
        for window, low, high in windows:
            count = (mask & window).bit_count()
            if count > high:
                found.append((mask & window, 0))
            elif count < low:
                found.append((window & ~mask, 0))
        places, reach = found[int(random() * len(found))]
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
