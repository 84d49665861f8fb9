"""Why no order can satisfy the rules, in words.

Most rules that cannot hold fail a count: too few trials to stand between others, too few positions to keep a distance,
too little room in a stretch. Where counting finds nothing but an exact search does, the smallest set of rules that
cannot hold together is named.
"""

import time
from collections.abc import Iterator, Sequence
from itertools import combinations

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
from karat.study.orders.search import possible

NOUNS = {"filler": "filler", "control": "control"}
PROOF_STEPS = 20_000


def counting_proofs(columns: Columns, rules: OrderRules, problem: OrderProblem) -> Iterator[OrderError]:
    """The counts that show that the rules cannot hold."""
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
        yield from _row_proofs(columns, rules, problem, number, group)
        if group.gap and (needed := (group.size - 1) * group.gap + 1) > problem.size:
            yield OrderError(f"{_trials(group, group.size)} at least {group.gap} positions apart need "
                             f"{needed} positions; there are {problem.size}.",
                             _fix(group, "Lower the distance"))  # fmt: skip
        for windows in group.partitions:
            yield from _room_proofs(problem, number, group, windows)


def _row_proofs(
    columns: Columns, rules: OrderRules, problem: OrderProblem, number: int, group: Group
) -> Iterator[OrderError]:
    """Too few separators, in the body or in one opening function."""
    if not group.row:
        return
    functions = columns["function"]
    for segment in range(len(problem.segments)):
        rows = [row for row in range(problem.size) if problem.kinds[problem.kind_of[row]].segment == segment]
        inside = [row for row in rows if number in problem.kinds[problem.kind_of[row]].groups]
        others = [functions[row] for row in rows if row not in set(inside)]
        needed = -(-len(inside) // group.row) - 1
        if needed <= len(others):
            continue
        in_a_row = "" if group.row == 1 else f", at most {group.row} in a row,"
        where = (
            "" if segment == len(problem.segments) - 1 else f" among the {functions[rows[0]]} trials, which come first"
        )
        yield OrderError(f"{_trials(group, len(inside))}{in_a_row} need {counted(needed, 'separator')}; "
                         f"there {_there_are(others)}{where}.", _fix(group, "Allow more in a row"),
                         str(group.value) if group.column == "function" else "")  # fmt: skip


def _room_proofs(problem: OrderProblem, number: int, group: Group, windows: Sequence[Window]) -> Iterator[OrderError]:
    """Too little room in windows for what a row or a distance allows there."""
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
        return _named(str(group.value), count)
    return f"{counted(count, 'trial')} with {group.column} {shown(str(group.value))}"


def _named(function: str, count: int) -> str:
    return counted(count, NOUNS.get(function, f"{function} trial"))


def _there_are(functions: Sequence[object]) -> str:
    """`are 8 fillers`, or `are 8 (5 fillers, 3 controls)`."""
    names = [str(name) if name is not None else "other" for name in dict.fromkeys(functions)]
    verb = "is" if len(functions) == 1 else "are"
    if not functions:
        return "are none"
    if len(names) == 1:
        return f"{verb} {_named(names[0], len(functions))}"
    parts = ", ".join(_named(name, sum(str(f or "other") == name for f in functions)) for name in names)
    return f"{verb} {len(functions)} ({parts})"


def _fix(group: Group, otherwise: str) -> str:
    if group.column == "function":
        return f"Add other trials, or use fewer {group.value} trials."
    return f"{otherwise}, or use fewer such trials."


def searched_proof(columns: Columns, rules: OrderRules, problem: OrderProblem, end: float) -> OrderError | None:
    """A proof from rules about one or two columns alone, where an exact search of these is short and there is time."""
    names = list(dict.fromkeys(group.column for group in problem.groups))
    for together in [*combinations(names, 1), *combinations(names, 2)]:
        if time.thread_time() > end:
            return None
        if possible(problem.projected(together), PROOF_STEPS) is False:
            return joint_proof(columns, rules, together)
    return None


def joint_proof(columns: Columns, rules: OrderRules, names: Sequence[str] | None = None) -> OrderError:
    """The error for rules (about these columns, else all) that an exact search has shown to be impossible.

    Rules are left out one by one while the rest is still impossible; those that stay cannot hold together.
    """

    def impossible(others: OrderRules) -> bool:
        problem = compile_rules(columns, others)
        problem = problem if names is None else problem.projected(names)
        return possible(problem, PROOF_STEPS) is False

    kept = rules
    sentences: list[str] = []
    while untried := [rule for rule in rule_sentences(kept) if rule[0] not in sentences]:
        sentence, fewer = untried[0]
        # A rule that concerns no trial changes nothing; no search is needed to leave it out.
        if compile_rules(columns, fewer) == compile_rules(columns, kept) or impossible(fewer):
            kept = fewer
        else:
            sentences.append(sentence)
    which, fix = ("this rule", "it") if len(sentences) == 1 else ("these rules together", "one of them")
    return OrderError(
        f"No order of the {len(columns['function'])} trials satisfies {which} (every arrangement was searched): "
        f"{'; '.join(sentences)}.",
        f"Loosen {fix}, or leave {fix} out.",
    )
