"""Rules about the design: complete cells, even lists, and conditions that are not confounded."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from karat.errors import counted, shown
from karat.judgments.columns import meant
from karat.judgments.scales import Nominal
from karat.messages import Message
from karat.study.check.draft import Draft, Row, Spot, grouped
from karat.study.check.findings import Flaw, rule
from karat.study.designs.balance import split_advice
from karat.study.designs.factorial import spelled
from karat.study.settings import BlockSettings


@rule("error", fix="Write one of the levels that the study file names.", must=True)
def levels(draft: Draft) -> Iterator[Flaw]:
    """A test item has a level that the study file does not name, or none."""
    for rows in draft.rows:
        groups = grouped(((name, row[name]), row) for row in rows for name in row.unknown_levels)
        for (name, value), members in groups.items():
            factor = members[0].block.settings.factors[name]
            unnamed = "" if value is None else ", which the study file does not name"
            text = f"{'no level' if value is None else f'the level {shown(value)}'} of {name}{unnamed}."
            more = f" Rows like it: {len(members) - 1} more." if len(members) > 1 else ""
            fix = f"{meant(value or '', factor.levels, '')} There are {', '.join(factor.levels)}.".strip()
            yield Flaw(f"{members[0].item} has {text}{more}", fix, members[0].spot)


@rule("error", fix="Fix the item table or the factors of the study file.", must=True)
def design(draft: Draft) -> Iterator[Flaw]:
    """No lists can be made from the item table. The compiler has a reason that no other rule reports."""
    incomplete = any(levels(draft)) or any(missing_cells(draft))
    if draft.design_error is not None and not incomplete:
        yield _of_design(draft.design_error, draft.at("block", 0))


def _of_design(message: Message, spot: Spot) -> Flaw:
    """A message of the compiler as a flaw, with its advice as the fix."""
    what, advice = split_advice(message)
    return Flaw(str(what), "" if advice is None else str(advice), spot)


@rule("error", "section 3.1", "Write the missing sentence, or leave the item out.")
def missing_cells(draft: Draft) -> Iterator[Flaw]:
    """An item lacks a condition that others have."""
    for index, rows in enumerate(draft.rows):
        if any(_confounded_factors(draft, index)):
            continue
        for flaw in _missing_in(rows):
            yield replace(flaw, must=draft.design_error is not None)


def _missing_in(rows: tuple[Row, ...]) -> Iterator[Flaw]:
    factors = rows[0].block.settings.factors if rows else {}
    names = [name for name, factor in factors.items() if factor.between is None]
    by_item = _conditions_of_items(rows, names)
    if not by_item:
        return
    wanted = list(product(*(factors[name].levels for name in names)))
    used = set.union(*by_item.values())
    nowhere = [cell for cell in wanted if cell not in used]
    if nowhere:
        yield Flaw(
            f"no test item has {spelled(names, nowhere[0])}{_and_more(len(nowhere) - 1)}: the factors cannot be "
            "separated.",
            "Write these sentences, or drop a level.",
        )
    lacking = {item: [cell for cell in wanted if cell in used - cells] for item, cells in by_item.items()}
    flawed = {item: cells for item, cells in lacking.items() if cells}
    if flawed:
        item, cells = next(iter(flawed.items()))
        spot = next(row.spot for row in rows if row.item == item)
        text = f"item {item} lacks {spelled(names, cells[0])}{_and_more(len(cells) - 1)}"
        others = f", and {counted(len(flawed) - 1, 'item')} more lack a condition" if len(flawed) > 1 else ""
        yield Flaw(f"{text}{others}.", spot=spot)


def _and_more(number: int) -> str:
    return f" and {counted(number, 'condition')} more" if number else ""


def _conditions_of_items(rows: Sequence[Row], names: Sequence[str]) -> dict[str, set[tuple[str, ...]]]:
    """The levels of these factors for each test item; empty if the block has no factors or levels are unknown."""
    conditions: dict[str, set[tuple[str, ...]]] = {}
    for row in rows:
        if row.function == "test" and row.block.settings.factors:
            if row.unknown_levels:
                return {}
            conditions.setdefault(row.item, set()).add(tuple(row[name] or "" for name in names))
    return conditions


@rule("error", "section 3.1", "Use as many lists as an item has conditions.")
def confounded_with_item(draft: Draft) -> Iterator[Flaw]:
    """Each item is seen in one condition only, so items and conditions cannot be separated."""
    for index, block in enumerate(draft.study.blocks):
        for name in _confounded_factors(draft, index):
            yield Flaw(
                f"{name} is a factor within items, but every item has one of its levels only: a difference may come "
                "from the items.",
                f'Write every item in all levels, or state {name} = {{ levels = [...], between = "items" }}.',
                draft.at("block", index, "factors"),
            )
        if draft.plans:
            yield from _too_few_lists(draft, index, block.settings)


def _confounded_factors(draft: Draft, index: int) -> Iterator[str]:
    for name, factor in draft.study.blocks[index].settings.factors.items():
        if factor.between is None and len(factor.levels) > 1:
            by_item = _conditions_of_items(draft.rows[index], [name])
            if len(by_item) > 1 and all(len(cells) == 1 for cells in by_item.values()):
                yield name


def _too_few_lists(draft: Draft, index: int, settings: BlockSettings) -> Iterator[Flaw]:
    """Lists that show no item in more than one of its conditions."""
    names = [name for name in settings.condition_factors if settings.factors[name].between is None]
    most = max(map(len, _conditions_of_items(draft.rows[index], names).values()), default=0)
    if not names or most < 2:
        return
    lists = draft.plans[index].lists
    seen: dict[str, set[tuple[str, ...]]] = {}
    for trials in lists:
        for row in trials.to_dicts():
            if row["function"] == "test":
                seen.setdefault(row["item"], set()).add(tuple(str(row[name]) for name in names))
    if seen and all(len(cells) == 1 for cells in seen.values()):
        yield Flaw(
            f"with {counted(len(lists), 'list')} every item is seen in one of its {most} conditions only: a difference "
            "may come from the items.",
            f"State lists = {most}, or leave lists out.",
            draft.at("block", index, "lists"),
        )


@rule(
    "error", "section 3.1 and footnote 5", "Write items in all levels, or declare the factor as between participants."
)
def confounded_with_list(draft: Draft) -> Iterator[Flaw]:
    """Each list shows one level of a factor that is not declared as between participants."""
    for index, block, lists in draft.planned():
        for name in block.settings.condition_factors:
            factor = block.settings.factors[name]
            if factor.between == "participants" or len(factor.levels) < 2:
                continue
            shown_in = [{row[name] for row in trials.to_dicts() if row["function"] == "test"} for trials in lists]
            if len(lists) > 1 and all(len(seen) == 1 for seen in shown_in) and len(set.union(*shown_in)) > 1:
                yield Flaw(
                    f"each list shows one level of {name} only: a difference may come from the participants of the "
                    "list.",
                    f'Use more items, or state {name} = {{ levels = [...], between = "participants" }}.',
                    draft.at("block", index, "factors"),
                )


@rule("error", "section 3.1", "Name the rows as different items, or make them conditions of a factor.")
def item_twice(draft: Draft) -> Iterator[Flaw]:
    """A participant sees an item twice."""
    for index, _, lists in draft.planned():
        twice: dict[str, int] = {}
        for item, times in (count for trials in lists for count in Counter(trials["item"].to_list()).items()):
            if times > 1:
                twice[item] = max(times, twice.get(item, 0))
        if twice:
            item, times = next(iter(twice.items()))
            more = f", and {counted(len(twice) - 1, 'item')} more" if len(twice) > 1 else ""
            yield Flaw(
                f"a participant sees {item} {'twice' if times == 2 else f'{times} times'}{more}.",
                spot=draft.spot_of(index, item),
            )


@rule("warning", "section 3.1", "Use equally many items for every group of participants and every condition.")
def list_sizes(draft: Draft) -> Iterator[Flaw]:
    """The lists have different numbers of trials."""
    for index, _, lists in draft.planned():
        sizes = sorted({trials.height for trials in lists})
        if len(sizes) > 1 and not _cells_reported(draft, index):
            yield Flaw(f"the lists have {sizes[0]} to {sizes[-1]} trials.", spot=draft.at("block", index, "lists"))


@rule("warning", "section 3.1", "Use a number of items and lists that the conditions divide.")
def unbalanced(draft: Draft) -> Iterator[Flaw]:
    """Conditions or items are not seen equally often. The compiler notes it, and no other rule reports it."""
    for index, plan in enumerate(draft.plans):
        uneven_lists = len({trials.height for trials in plan.lists}) > 1
        # In subsets and random pairs, small differences are unavoidable; the plan reports them.
        if not draft.study.blocks[index].settings.factors or _cells_reported(draft, index) or uneven_lists:
            continue
        if any(_too_few_lists(draft, index, draft.study.blocks[index].settings)):
            continue
        yield from (_of_design(note, draft.at("block", index)) for note in plan.notes)


def _cells_reported(draft: Draft, index: int) -> bool:
    """Whether missing cells or a confound explain imbalance, so that it is not reported twice."""
    return any(_missing_in(draft.rows[index])) or any(_confounded_factors(draft, index))


@rule("warning", fix="Leave the contrast out, or ask a question with two answers, such as yes and no.")
def contrast_untested(draft: Draft) -> Iterator[Flaw]:
    """A planned contrast compares shares of several labels, for which there is no test."""
    for number, contrast in enumerate(draft.study.settings.contrast):
        names = set(contrast.names)
        block = next((block for block in draft.study.blocks if names <= set(block.settings.factors)), None)
        if block is not None and isinstance(block.scale, Nominal):
            values = {"name": contrast.name, "n": len(block.scale.levels)}
            yield Flaw(Message("check.contrast_untested", values), spot=draft.at("contrast", number))
