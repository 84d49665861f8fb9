"""Rules that compare sentences with each other: identical, nearly identical, much longer."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from statistics import mean, median

from karat.errors import counted, shown
from karat.messages import Message
from karat.study.check.draft import Draft, Row, grouped, has_factors
from karat.study.check.findings import Flaw, rule
from karat.study.check.texts import SENTENCES, texts_of
from karat.study.designs.factorial import spelled

SHORTEST = 5
"""Sentences with fewer words are similar by accident."""
LONGER_BY = 4
"""This many words more than usual are a large difference within an item."""
RATIO = 1.5
MEAN_DIFFERENCE = 3.0


def words(text: str) -> tuple[str, ...]:
    """The words of a text, without case and punctuation.

    >>> words("The cats' milk, ice-cold.")
    ('the', 'cats', 'milk', 'ice', 'cold')
    """
    return tuple(re.findall(r"\w+", text.lower()))


@rule("warning", fix="Change one of the two.")
def identical_sentences(draft: Draft) -> Iterator[Flaw]:
    """The same sentence occurs in two items or conditions, twice in a pair, or on both sides of a choice."""
    for rows in draft.rows:
        yield from _in_two_items(rows)
        first: dict[tuple[str, str], Row] = {}
        twice: list[tuple[Row, str]] = []
        for row in rows:
            sentence, other = _folded_sentences(row)
            if sentence and sentence == other:
                yield Flaw(f"{_name(row)}: both sentences are {shown(row['sentence'] or '')}.", spot=row.spot)
                continue
            if not sentence and not row["image"]:
                continue
            key = (_name(row), _row_text(row))
            if key in first:
                words = shown(row["sentence"] or row["image"] or "")
                twice.append((row, f"{_name(row)}: {words} occurs twice (also in line {first[key].spot[1]})"))
            else:
                first[key] = row
        if twice:
            row, text = twice[0]
            more = f"; likewise {counted(len(twice) - 1, 'more sentence')}" if twice[1:] else ""
            yield Flaw(f"{text}{more}.", spot=row.spot)


def _in_two_items(rows: Sequence[Row]) -> Iterator[Flaw]:
    """Sentences in two items, which participants judge twice. Choices may compare one with several."""
    items: dict[str, Row] = {}
    twice = [
        (row, first) for row in rows if row["sentence"] and row.function != "practice" and not row.block.task.compares
        and (first := items.setdefault(_row_text(row), row)).item != row.item
    ]  # fmt: skip
    for row, first in twice[:1]:
        more = f"; likewise {counted(len(twice) - 1, 'more item')}" if twice[1:] else ""
        text = f"item {row.item} has the same sentence as item {first.item} (line {first.spot[1]}){more}."
        yield Flaw(text, spot=row.spot)


def _folded_sentences(row: Row) -> list[str]:
    return [" ".join((row[column] or "").split()).casefold() for column in SENTENCES]


def _row_text(row: Row) -> str:
    """All texts and images of a row, to compare it with others."""
    return "\n".join(filter(None, [*_folded_sentences(row), row["context"], row["image"], row["image_2"]]))


def _name(row: Row) -> str:
    """The pair of a row if it has one, else its item."""
    return row["pair"] or row.item


@rule("hint", "section 3.1", "Use other words: such items are not independent lexicalisations.")
def near_identical(draft: Draft) -> Iterator[Flaw]:
    """Two items share a sentence but for at most one word."""
    for rows in draft.rows:
        similar: dict[tuple[str, str], tuple[Row, Row]] = {}
        groups: dict[tuple[str, ...], dict[str, Row]] = defaultdict(dict)
        for row in rows:
            for text in dict.fromkeys(texts_of(row, SENTENCES)):
                sentence = words(text)
                if len(sentence) < SHORTEST or row.function == "practice":
                    continue
                # Two sentences differ in one word at most if they are the same after one is left out of each.
                for place in range(len(sentence)):
                    groups[(*sentence[:place], "", *sentence[place + 1 :])].setdefault(_name(row), row)
        for alike in groups.values():
            members = list(alike.values())
            for first, second in pairwise(members):
                if _row_text(first) != _row_text(second) and not _may_be_alike(first, second):
                    similar.setdefault((_name(first), _name(second)), (first, second))
        if similar:
            first, second = next(iter(similar.values()))
            what = "have the same sentence" if _share_a_sentence(first, second) else "differ in one word"
            more = f"; likewise {counted(len(similar) - 1, 'more pair')} of items" if len(similar) > 1 else ""
            both = f"items {_name(first)} (line {first.spot[1]}) and {_name(second)}"
            yield Flaw(f"{both} {what}{more}.", spot=second.spot)


def _may_be_alike(first: Row, second: Row) -> bool:
    """Fillers that differ in their status, and fillers beside test items, may resemble each other by design."""
    if (first.function == "test") != (second.function == "test"):
        return not _share_a_sentence(first, second)
    return first.function != "test" and first["status"] != second["status"]


def _share_a_sentence(first: Row, second: Row) -> bool:
    sentences, others = ({words(text) for text in texts_of(row, SENTENCES)} for row in (first, second))
    return bool(sentences & others)


@rule("hint", "section 3.1, footnote 8", "Make the sentence as long as its neighbours.")
def lengths(draft: Draft) -> Iterator[Flaw]:
    """The conditions of an item differ in length much more than those of other items."""
    for rows in draft.rows:
        unit, size = _measure(draft)
        by_item = grouped((row.item, (row, size(row["sentence"] or ""))) for row in _with_factors(rows))
        spread = {
            item: max(n for _, n in sizes) - min(n for _, n in sizes)
            for item, sizes in by_item.items()
            if len(sizes) > 1
        }
        if len(spread) < 3:
            continue
        usual = median(spread.values())
        wild = [item for item, difference in spread.items() if difference >= max(2 * usual, usual + LONGER_BY)]
        rest = [difference for item, difference in spread.items() if item not in wild]
        for item in wild[:3] if rest else ():
            row = max(by_item[item], key=lambda pair: pair[1])[0]
            span = f"{min(rest)} to {max(rest)}" if min(rest) < max(rest) else f"{min(rest)}"
            yield Flaw(
                f"{item}: its conditions differ by {counted(spread[item], unit)}; elsewhere by {span}.", spot=row.spot
            )


@rule(
    "hint", "section 3.1, footnote 8", "Make the conditions equally long, or expect that length explains a difference."
)
def condition_lengths(draft: Draft) -> Iterator[Flaw]:
    """Sentences of one condition are much longer than those of another."""
    for index, rows in enumerate(draft.rows):
        unit, size = _measure(draft)
        sizes = grouped((row.condition, size(row["sentence"] or "")) for row in _with_factors(rows))
        means = {condition: mean(numbers) for condition, numbers in sizes.items()}
        if len(means) < 2:
            continue
        low, high = min(means, key=lambda c: means[c]), max(means, key=lambda c: means[c])
        if means[high] > RATIO * means[low] and means[high] - means[low] > MEAN_DIFFERENCE:
            names = list(rows[0].block.settings.factors)
            yield Flaw(
                f"sentences with {spelled(names, high)} have {means[high]:.1f} {unit}s on average, those with "
                f"{spelled(names, low)} {means[low]:.1f}.",
                spot=draft.at("block", index, "factors"),
            )


def _measure(draft: Draft) -> tuple[str, Callable[[str], int]]:
    return ("character", len) if draft.spaceless else ("word", lambda text: len(text.split()))


def _with_factors(rows: Sequence[Row]) -> list[Row]:
    """Test rows of a block with factors that show a sentence."""
    return [row for row in rows if row.function == "test" and row.block.settings.factors and row["sentence"]]


SHARED = 0.9
"""A word is part of the frame of the test sentences if this share of them has it."""
RARE = 0.05
"""Test sentences are conspicuous if at most this share of the other sentences has the word."""
COMPARED_FROM = 6
"""Fewer sentences on either side show no pattern."""


@rule("hint", "section 3.1", "Write some fillers in the frame of the test sentences, so that these do not stand out.")
def filler_frames(draft: Draft) -> Iterator[Flaw]:
    """No filler has the frame of the test sentences: words that nearly all of them share, their length, or that
    they are questions. All trials except test and practice trials count as fillers."""
    unit, size = _measure(draft)
    for rows in draft.rows:
        if not rows or not has_factors(rows[0].block.settings):
            continue
        tests = [text for row in rows if row.function == "test" for text in texts_of(row, SENTENCES)]
        others = [text for row in rows if row.function not in ("test", "practice") for text in texts_of(row, SENTENCES)]
        if min(len(tests), len(others)) < COMPARED_FROM:
            continue
        spot = next(row.spot for row in rows if row.function == "test")
        shared = _frame_words(tests, others) if unit == "word" else []
        if shared:
            values = {"words": [shown(word) for word in shared[:3]], "n": len(tests), "fillers": len(others)}
            yield Flaw(Message("check.frame_words", values), spot=spot)
            continue
        asks, asks_there = (
            mean(text.rstrip().endswith(("?", "？", "؟")) for text in texts) for texts in (tests, others)
        )
        long, long_there = (mean(map(size, texts)) for texts in (tests, others))
        if asks >= SHARED and asks_there <= RARE:
            yield Flaw(Message("check.frame_questions", {"n": len(tests), "fillers": len(others)}), spot=spot)
        elif max(long, long_there) > RATIO * min(long, long_there) and abs(long - long_there) > MEAN_DIFFERENCE:
            values = {"tests": long, "fillers": long_there}
            code = "check.frame_length" if unit == "word" else "check.frame_length_signs"
            yield Flaw(Message(code, values), spot=spot)


def _frame_words(tests: Sequence[str], others: Sequence[str]) -> list[str]:
    """The words of nearly all test sentences and hardly any other sentence, in their order."""
    there, here = (Counter(word for text in texts for word in dict.fromkeys(words(text))) for texts in (others, tests))
    return [
        word for word, number in here.items() if number / len(tests) >= SHARED and there[word] / len(others) <= RARE
    ]
