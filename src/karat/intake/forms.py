"""The forms of tables of results: lists in cells, one row per participant or item, two rows per choice.

Each form is converted to one row per answer before the search for the roles of the columns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any
from zlib import crc32

import polars as pl

from karat.errors import IntakeError
from karat.intake.content import (
    AVERAGES,
    CRITERIA,
    LAYOUT,
    PERSON_CODE,
    PLACES,
    ROW_NUMBERS,
    SPARSE,
    SPREADS,
    TOTALS,
    Content,
    Contents,
    words_of,
)
from karat.intake.guess import NAMES, guess_columns, missing_codes, plain
from karat.intake.nested import (
    FEWEST_GROUPS,
    FEWEST_JUDGED,
    GROUP_ANSWERS,
    MOST_ANSWERS,
    NEEDED,
    PAIR,
    Shaped,
    unquoted,
    with_lists,
    with_parts,
    with_records,
)
from karat.intake.personal import OF_ITEMS_TOO, asks_for_a_person, describes_a_person, names_a_person
from karat.intake.reading import Proposal, Question
from karat.intake.roles import (
    CHECK_WORDS,
    ITEM_WORDS,
    MOST_NUMBERED,
    NO_ANSWERS,
    PERSON_WORDS,
    SIDES,
    TIES,
    cut,
    names_one_of,
    shown_sides,
)
from karat.intake.words import word_list
from karat.judgments.message_tables import listed
from karat.judgments.scales import as_number
from karat.messages import Message

FEWEST_JUDGES = 2
SUMS = {*AVERAGES, *SPREADS, *TOTALS, *word_list("summaries")}
SECOND_HEADER = re.compile(r"(?i)response|open-ended response|other \(please specify\)")


def shape(frame: pl.DataFrame, wide: str | None, file: str, mapping: dict[str, str]) -> Shaped:
    """The table with one row per answer."""
    if wide is None:
        _refuse_headless(frame, file)
        frame = unquoted(frame)
        refuse_best_worst(frame, file)
        _refuse_counts(frame, file)
        _refuse_means(frame, file)
        long = with_records(frame, file) or with_lists(frame, file) or _with_annotators(frame) or _with_groups(frame)
        if long is not None:
            return _with_questions(long, mapping)
    if {"name", "value"} <= {*frame.columns} and "variable" not in frame.columns and "name" not in mapping.values():
        # R calls the former column heads name; names of people have no digits.
        coded = frame["name"].cast(pl.String).str.contains(r"[\d_]").all()
        frame = frame.rename({"name": "variable"}) if coded else frame
    worse = worse_of_two(frame)
    frame, won = _with_winner(frame if worse is None or worse in mapping.values() else frame.drop(worse), mapping)
    frame, sides, more = _with_named_sides(frame, mapping) if wide is None else (frame, {}, [])
    frame, notes = with_parts(frame)
    frame, labels = _without_end_labels(frame)
    notes += [*won, *more, *labels]
    shaped = _wide(frame, wide, mapping, file)
    if shaped is None or sides:
        return Shaped(frame, notes=notes, mapping=sides)
    shaped.notes = [*notes, *shaped.notes]
    return shaped


def _with_questions(long: Shaped, mapping: Mapping[str, str]) -> Shaped:
    """One row per answer if the rows of a table made from lists hold answers to several questions."""
    contents = Contents(long.frame)
    questions = _asked_columns(contents, {**long.mapping, **mapping})
    if len(questions) < FEWEST_GROUPS or _holds_choices(contents, questions):
        return long
    shaped = _one_hot(contents, questions) or _by_trial(contents, questions)
    if long.rows is not None:
        shaped.rows = long.rows if shaped.rows is None else [long.rows[row] for row in shaped.rows]
    shaped.notes, shaped.mapping = [*long.notes, *shaped.notes], {**long.mapping, **shaped.mapping}
    shaped.set_aside = {**long.set_aside, **shaped.set_aside}
    return shaped


WON_AND_LOST = (("winner", "loser"), ("chosen", "rejected"), ("preferred", "dispreferred"), ("better", "worse"))


def _with_named_sides(
    frame: pl.DataFrame, mapping: Mapping[str, str]
) -> tuple[pl.DataFrame, dict[str, str], list[Message]]:
    """Choices whose table names winner and loser, or the winner and one of two options; the other option is constant.

    No column gives the sides, so they are assigned at random, but the same way in every run: no participant then seems
    to prefer one side.

    >>> rows = {"who": ["a", "b"], "text": ["x", "y"], "winner": ["s", "t"], "loser": ["t", "s"]}
    >>> _with_named_sides(pl.DataFrame(rows), {})[1]
    {'left': 'left', 'right': 'right', 'response': 'response'}
    """
    if {"left", "right", "response"} & {*frame.columns, *mapping} or frame.height < FEWEST_JUDGES:
        return frame, {}, []
    spelled = {plain(name): name for name in frame.columns}
    pairs = [(spelled[one], spelled[other]) for one, other in WON_AND_LOST if {one, other} <= set(spelled)]
    if pairs:
        winners, losers = (frame[name].cast(pl.String) for name in pairs[0])
        values = dict(zip(("winner", "other"), pairs[0], strict=True))
        if not (winners == losers).any() and set(winners) & set(losers):
            won = pl.repeat(True, frame.height, eager=True)
            return _at_random_sides(frame.drop(pairs[0]), winners, losers, won, values)
    for name in frame.columns:
        if not {"winner", "winning", "preferred", "preference", "choice"} & set(words_of(name)):
            continue
        options = _rival(Contents(frame), name)
        if options is not None:
            constant, rival = options
            values = {"winner": name, "other": rival}
            chosen = frame[name].cast(pl.String)
            first = pl.DataFrame({"c": chosen, "r": frame[rival]}).select(
                pl.when(pl.col("c") == constant).then(True).when(pl.col("c") == pl.col("r")).then(False)
            ).to_series()  # fmt: skip
            fixed = pl.repeat(constant, frame.height, eager=True)
            tied = pl.select(pl.when(chosen.is_not_null()).then(pl.lit("none"))).to_series()
            return _at_random_sides(frame.drop(name), fixed, frame[rival], first, values, tied)
    return frame, {}, []


def _rival(contents: Contents, name: str) -> tuple[str, str] | None:
    """The option in every pair, and the column with the option it was compared with, which names all other winners."""
    winners = contents[name]
    if winners.is_number or not PAIR < winners.distinct <= MOST_ANSWERS:
        return None
    for rival in contents.columns:
        if rival.name == name or rival.is_number or not 1 <= rival.distinct <= MOST_ANSWERS or rival.filled < 1:
            continue
        rest = [value for value in winners.values if value not in rival.values and not TIES.fullmatch(value.lower())]
        rows = pl.DataFrame({"c": winners.cells, "r": rival.cells}).drop_nulls()
        others = rows.filter(pl.col("c").is_in(rival.values))
        columns = [column for column in contents.names if len(rest) == 1 and rest[0].lower() in words_of(column)]
        if columns and others.height and (others["c"] == others["r"]).all():
            return rest[0], rival.name
    return None


def _at_random_sides(
    frame: pl.DataFrame,
    one: pl.Series,
    other: pl.Series,
    won: pl.Series,
    values: dict[str, str],
    tied: pl.Series | None = None,
) -> tuple[pl.DataFrame, dict[str, str], list[Message]]:
    """Choices between two options on sides that depend on everything in a row except the choice."""
    rows = [
        (*row, *sorted(map(str, pair)))
        for row, pair in zip(frame.iter_rows(), zip(one, other, strict=True), strict=True)
    ]
    swap = pl.Series([bool(crc32(repr(row).encode()) & 1) for row in rows], dtype=pl.Boolean)
    first = [str(pair[0]) <= str(pair[1]) for pair in zip(one, other, strict=True)]
    turned = swap ^ pl.Series(first, dtype=pl.Boolean)
    sides = pl.DataFrame({"one": one, "other": other, "won": won, "turned": turned})
    left = pl.when("turned").then("other").otherwise("one").alias("left")
    right = pl.when("turned").then("one").otherwise("other").alias("right")
    side = pl.when(pl.col("won") != pl.col("turned")).then(pl.lit("left")).when(pl.col("won").is_not_null())
    response = sides.select(left, right, side.then(pl.lit("right")).alias("response"))
    if tied is not None:
        response = response.with_columns(pl.col("response").fill_null(tied))
    settled = {column: column for column in ("left", "right", "response")}
    return pl.concat([frame, response], how="horizontal"), settled, [Message("form.named_sides", values)]


WON = re.compile(r"(?i)(winner|winning|preferred|chosen)[\W_]+(\w+)")


def _with_winner(frame: pl.DataFrame, mapping: Mapping[str, str]) -> tuple[pl.DataFrame, list[Message]]:
    """A table with a single column of winners instead of one column per possible winner, with a 1 for the winner.

    >>> rows = {"winner_a": ["1", "0"], "winner_b": ["0", "0"], "winner_tie": ["0", "1"]}
    >>> _with_winner(pl.DataFrame(rows), {})[0]["winner"].to_list()
    ['a', 'tie']
    """
    matches = [match for name in frame.columns if (match := WON.fullmatch(name))]
    stems = {match[1] for match in matches}
    if {"response", *stems} & {*frame.columns, *mapping}:
        return frame, []
    several = len(stems) == 1 and len(matches) > 1
    shaped = _one_hot(Contents(frame), [match[0] for match in matches]) if several else None
    (stem,) = stems if shaped else ("",)
    if shaped is None:
        return frame, []
    winners = pl.col("response").replace({match[0]: match[2] for match in matches}).alias(stem)
    return shaped.frame.with_columns(winners).drop("response"), shaped.notes


FEWEST_VALUES, MOST_VALUES = 2, 2 / 3
LONG_NUMBER = re.compile(r"\d{6,}")
"""A number that is an id, never the name of a column."""


def _refuse_headless(frame: pl.DataFrame, file: str) -> None:
    """Raise IntakeError if the first line of a file holds values like the others, so that no line names the columns.

    Columns may well be called 1, 2, 3, ..., and a name that comes twice ends in `_2`.
    """
    named = [name for name in frame.columns if not re.fullmatch(r"unnamed_\d+", name)]
    texts = {name: re.sub(r"(?<=.)_\d+$", "", name) if name[-1:].isdigit() else name for name in named}
    values = [
        name for name in named
        if (frame[name].dtype == pl.String and frame[name].is_in([name, texts[name]]).any())
        or (LONG_NUMBER.fullmatch(name) and frame[name].cast(pl.String).str.contains(f"^{LONG_NUMBER.pattern}$").all())
    ]  # fmt: skip
    masks = {name: [word.isdigit() for word in name.split()] for name in named}
    if all(len(mask) > PAIR and any(mask) for mask in masks.values()) and all(
        [word.isdigit() for word in str(cell).split()] == mask
        for name, mask in masks.items() for cell in frame[name].drop_nulls().head(FEWEST_JUDGED)
    ):  # fmt: skip
        values = [*named, *named]  # The cells are separated by blanks.
    numbers = [as_number(texts[name]) for name in named]
    answers = [name for name, number in zip(named, numbers, strict=True) if number is not None]
    words = [name for name in named if name not in answers]
    listed_once = all(frame[name].dtype == pl.String and frame[name].n_unique() == frame.height for name in words)
    if len(answers) == 1 and words and listed_once:
        # Words, each with its answer; the first answer heads the column of the others.
        given = frame[answers[0]].cast(pl.Float64, strict=False)
        values = [*values, *named] if given.is_in([as_number(answers[0])]).any() else values
    heads = [number for number in numbers if number is not None]
    counting = len({*heads}) == len(heads) > FEWEST_VALUES and (
        len(heads) == len(named) or heads in ([*range(len(heads))], [*range(1, len(heads) + 1)])
    )
    if (
        guess_columns(frame.columns, {}) or len(values) < FEWEST_VALUES or counting
        or len(values) < MOST_VALUES * len(named)
    ):  # fmt: skip
        return
    header = (texts[name] if texts.get(name) in frame.columns else name for name in frame.columns[:4])
    first = ", ".join(cut(text) for text in header)
    raise IntakeError(
        f"{file} has no header: its first line holds values ({first}, ...). "
        "Add a first line with the names of the columns, among them participant, item and response."
    )


REGIONS = re.compile(
    r"(word|region|segment|chunk|roi|zone|token)(no|nr|num|number|pos|position|index|id)?|roi|regionnumber"
)


def without_words(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[int]] | None:
    """A table with one row per word as one with one row per trial, and the rows that remain; None for other tables.

    Reading times have a row per word or region; the answer to the question after the sentence is in one or all rows.

    >>> rows = {"subj": ["a"] * 6, "item": [1, 1, 1, 2, 2, 2], "region": [1, 2, 3] * 2, "rating": [4, 4, 4, 2, 2, 2]}
    >>> without_words(pl.DataFrame(rows))[0]["rating"].to_list()
    [4, 2]
    >>> without_words(pl.DataFrame({**rows, "rating": [None, None, 4, None, None, 2]}))[0]["rating"].to_list()
    [4, 2]
    """
    regions = [name for name in frame.columns if REGIONS.fullmatch(plain(name))]
    if not regions:
        return None
    contents = Contents(frame.with_columns(pl.col(pl.Int64).cast(pl.String)))
    counting = [name for name in regions if contents[name].is_whole and contents[name].distinct >= FEWEST_REGIONS]
    if not counting:
        return None
    trial = (frame[counting[0]].cast(pl.Float64, strict=False).diff() <= 0).fill_null(False).cum_sum()
    filled = frame.group_by(trial).agg(pl.all().count())
    alone = {n: int((filled[n] == 1).sum()) for n in frame.columns if frame[n].null_count()}
    once = [n for n, trials in alone.items() if trials >= NEARLY_ALL * filled.height]
    frame = frame.with_columns(pl.col(once).drop_nulls().first().over(trial))
    rest = [n for n in contents.names if n not in regions and not ROW_NUMBERS.fullmatch(plain(n))]
    key = [name for name in rest if not (contents[name].is_number and contents[name].is_other)]
    trials = frame.group_by(key, maintain_order=True).agg(
        pl.len().alias(" n"), pl.col(counting[0]).n_unique().alias(" regions")
    ) if key else frame.clear()  # fmt: skip
    if not trials.height or FEWEST_REGIONS * trials.height > frame.height:
        return None
    if (trials[" n"] != trials[" regions"]).any():
        return None
    first = frame.with_row_index(" row").unique(key, keep="first", maintain_order=True)
    return first.select(key), first[" row"].cast(pl.Int64).to_list()


FEWEST_REGIONS = 3
NUMBERED = re.compile(r"(?P<stem>.*?[^\W\d])[\W_]?(?P<at>\d{1,3})(?:[\W_](?P<rest>[^\W\d]\w*))?")


def _with_groups(frame: pl.DataFrame) -> Shaped | None:
    """A row per trial for tables in which a participant's row has numbered columns per trial: item1, rating1, item2."""
    contents = Contents(frame)
    persons = [c for c in contents.columns if c.plain in NAMES["participant"]]
    columns = _numbered_columns(contents.names)
    by_numbers: dict[tuple[int, ...], list[str]] = {}
    for stem, numbered in columns.items():
        by_numbers.setdefault(tuple(sorted(numbered)), []).append(stem)
    numbers, stems = max(by_numbers.items(), key=lambda one: len(one[1]), default=((), []))
    if len(numbers) < FEWEST_GROUPS or not persons:
        return None
    groups = {stem: list(columns[stem].values()) for stem in stems}
    answer_stems = [s for s in stems if any(word in GROUP_ANSWERS for word in words_of(s.removeprefix("Answer.")))]
    stimuli = _shown_stimuli(contents, groups, answer_stems)
    # Participants with several rows see something new in each.
    who = max(persons, key=lambda one: one.distinct)
    if not stimuli or contents.combinations([who.name, *stimuli]) < NEARLY_ALL * frame.height:
        return None
    once = who.distinct >= NEARLY_ALL * frame.height
    free = [stem for stem, names in groups.items() if _are_answers(contents, names, stimuli)]
    answers = answer_stems if once and answer_stems else [stem for stem in answer_stems or free if stem in free]
    if not answers or (not answer_stems and len(answers) > 1):
        return None
    mapping = {} if answer_stems else {"response": answers[0]}
    place = "trial" if "trial" not in (*stems, *frame.columns) else "trial_"
    long = _stacked_groups(frame, {stem: columns[stem] for stem in stems}, numbers, place)
    note = Message("form.groups", {"columns": [columns[stem][numbers[0]] for stem in stems[:3]], "n": len(numbers)})
    lines = long[" row"].cast(pl.Int64).to_list()
    return Shaped(
        long.drop(" row"), lines, notes=[note], mapping=mapping, units_in=long.height, unit="answers and rows"
    )


def _are_answers(contents: Contents, names: Sequence[str], stimuli: Sequence[str]) -> bool:
    """Whether numbered columns hold answers on one scale: numbers that do not follow from what was shown."""
    alike = {_alphabet(contents[name]) for name in names if contents[name].is_number}
    return all(contents[n].is_number and not contents.follows(n, stimuli) for n in names) and len(alike) == 1


def _numbered_columns(names: Sequence[str]) -> dict[str, dict[int, str]]:
    """Columns whose names differ in a number, by the rest of their names.

    >>> _numbered_columns(["id", "TurkId1", "TurkId2", "worker1_label"])
    {'TurkId': {1: 'TurkId1', 2: 'TurkId2'}, 'worker_label': {1: 'worker1_label'}}
    """
    columns: dict[str, dict[int, str]] = {}
    for name in names:
        match = NUMBERED.fullmatch(name)
        if match:
            stem = match["stem"] + (f"_{match['rest']}" if match["rest"] else "")
            columns.setdefault(stem, {})[int(match["at"])] = name
    return columns


def _stacked_groups(
    frame: pl.DataFrame, groups: Mapping[str, Mapping[int, str]], numbers: Sequence[int], place: str
) -> pl.DataFrame:
    """A row per number, with the numbered columns under their common names and the row of the table."""
    used = {columns[at] for columns in groups.values() for at in numbers}
    rest = [name for name in frame.columns if name not in used]
    blocks = [
        frame.select(
            *(pl.col(name).alias(f"{name}_" if name in groups else name) for name in rest), pl.lit(nth).alias(place),
            *(pl.col(columns[at]).cast(pl.String).alias(stem) for stem, columns in groups.items()),
        ).with_row_index(" row")
        for nth, at in enumerate(numbers, 1)
    ]  # fmt: skip
    return pl.concat(blocks).sort(" row", place)


def _with_annotators(frame: pl.DataFrame) -> Shaped | None:
    """A row per answer for tables with a row per item and numbered columns of people and answers, such as TurkId1."""
    columns = _numbered_columns(frame.columns)
    for stem, numbered in columns.items():
        if len(numbered) < FEWEST_JUDGES or not set(words_of(stem)) & {*PERSON_WORDS, *RATERS, "turk", "turker"}:
            continue
        groups = {name: group for name, group in columns.items() if set(group) >= set(numbered)}
        who = frame.select(pl.col(list(numbered.values())).cast(pl.String))
        ids = who.unpivot()["value"].drop_nulls()
        # Several people judge each item, nobody judges one twice, and each person judges several.
        apart = who.select(pl.concat_list(pl.all()).list.drop_nulls().alias("who")).to_series()
        once = (apart.list.n_unique() == apart.list.len()).mean()
        if len(groups) < 2 or 2 * ids.n_unique() > ids.len() or once < NEARLY_ALL:  # type: ignore[operator]
            continue
        long = _stacked_groups(frame, groups, sorted(numbered), " nth")
        answered = long.filter(pl.col(stem).is_not_null())
        answers = [name for name in groups if name != stem]
        shaped = Shaped(
            answered.drop(" row", " nth"), answered[" row"].cast(pl.Int64).to_list(),
            notes=[Message("form.annotators", {"columns": [numbered[min(numbered)], columns[answers[0]][min(numbered)]],
                                               "n": len(numbered)})],
            mapping={"participant": stem} | ({"response": answers[0]} if len(answers) == 1 else {}),
            units_in=long.height, unit="answers and rows",
        )  # fmt: skip
        if long.height > answered.height:
            shaped.set_aside[Message("aside.empty_cells")] = long.height - answered.height
        return shaped
    return None


MOST_SPREAD, MOST_ALIKE = 0.1, 0.5


def _refuse_counts(frame: pl.DataFrame, file: str) -> None:
    """Raise IntakeError if neighbouring columns count the people per answer, so that all rows have the same sum.

    Nothing then shows who gave which answer.
    """
    contents = Contents(frame)
    if any(contents[name].plain in NAMES["participant"] for name in contents.names):
        return
    run: list[str] = []
    for name in contents.names:
        content = contents[name]
        low = content.numbers.min() if content.is_whole and content.filled == 1 and not content.is_other else None
        run = [*run, name] if isinstance(low, float) and low >= 0 else []
        for first in range(max(0, len(run) - MOST_ANSWERS), len(run) - FEWEST_GROUPS + 1):
            if _are_counts(frame.select(pl.col(run[first:]).cast(pl.Float64, strict=False))):
                examples = ", ".join(cut(name) for name in run[first : first + 3])
                what = f"holds counts: {examples}, ... say how many people gave each answer"
                raise IntakeError(f"{file} {what}, and nothing says who gave which. {NEEDED}")


def _refuse_means(frame: pl.DataFrame, file: str) -> None:
    """Raise IntakeError if there are no participants and numbers are called means, with their variation beside them.

    >>> _refuse_means(pl.DataFrame({"r1": [1, 5], "r2": [2, 5], "mean": [1.5, 5.0], "sd": [0.7, 0.0]}), "f")
    """
    contents = Contents(frame)
    words = {name: words_of(name) for name in contents.names}
    if any(contents[name].plain in NAMES["participant"] or set(words[name]) & {*PERSON_WORDS} for name in words):
        return
    numbers = [name for name in words if contents[name].is_number]
    means = [name for name in numbers if {"m", *AVERAGES} & set(words[name])]
    spread = [name for name in numbers if {*SPREADS, "se", "sem", "stderr", "ci", "var"} & set(words[name])]
    raters = [name for name in numbers if is_rater(name) and name not in (*means, *spread)]
    if not means or not spread or len(raters) >= FEWEST_JUDGES:
        return
    described = (name for name in words if name not in numbers or contents[name].is_whole)
    if not any(_belong_to(frame, name, means[0], spread[0]) for name in described):
        raise IntakeError(
            f"{file} holds means: {means[0]} and {spread[0]} sum up what several people answered, and nothing says who "
            f"gave which answer. {NEEDED}"
        )


def _belong_to(frame: pl.DataFrame, name: str, *numbers: str) -> bool:
    """Whether numbers belong to the values of a column, which come in several rows, rather than to the rows."""
    values = frame[name].n_unique()
    return 2 * values <= frame.height and frame.select(name, *numbers).n_unique() == values


def _are_counts(numbers: pl.DataFrame) -> bool:
    """Whether rows have nearly the same sum, and some answers were given by nobody and others by most people."""
    import numpy as np

    cells = numbers.to_numpy()
    sums = cells.sum(axis=1)
    usual = float(np.median(sums))
    even = float((abs(sums - usual) <= MOST_SPREAD * usual).mean())
    varied = cells.max() > max(1.0, MOST_ALIKE * usual) and cells.min() == 0
    # A number that dominates every sum is an id or a year.
    dominant = cells.min(axis=0).max() > MOST_ALIKE * usual
    return bool(varied and not dominant and usual >= numbers.width and even >= NEARLY_ALL)


BEST_WORST = (("best", "worst"), ("most", "least"))


def refuse_best_worst(frame: pl.DataFrame, file: str) -> None:
    """Raise IntakeError if people chose the best and the worst of several options: several comparisons per trial.

    The choices are options or their numbers.

    >>> options = {f"item{n}": [f"a{n}", f"b{n}"] for n in (1, 2, 3, 4)}
    >>> refuse_best_worst(pl.DataFrame({**options, "best": ["a2", "b1"], "worst": ["a4", "b3"]}), "f")
    Traceback (most recent call last):
    ...
    karat.errors.IntakeError: f holds best-worst choices: best and worst of 4 options in each row...
    """
    for high, low in BEST_WORST:
        columns = [[n for n in frame.columns if word in words_of(n)] for word in (high, low)]
        if not all(len(names) == 1 for names in columns):
            continue
        (best,), (worst,) = columns
        options = next((o for o in _numbered_columns(frame.columns).values() if len(o) > PAIR), {})
        texts = frame.select(pl.col([best, worst, *options.values()]).cast(pl.String)).drop_nulls()
        if not options or not texts.height or not (texts[best] != texts[worst]).all():
            continue
        coding = (pl.concat_list(list(options.values())), [str(number) for number in range(len(options) + 1)])
        chosen = (texts.select((pl.col(best).is_in(o) & pl.col(worst).is_in(o)).mean()).item() for o in coding)
        if max(chosen) <= NEARLY_ALL:
            continue
        raise several_at_once(file, f"best-worst choices: {best} and {worst} of {len(options)} options in each row")


def worse_of_two(frame: pl.DataFrame) -> str | None:
    """The column with the worse of two options, which repeats that with the better one; None without such a column.

    >>> worse_of_two(pl.DataFrame({"best": ["A", "B"], "worst": ["B", "A"]}))
    'worst'
    """
    for words in BEST_WORST:
        columns = [[name for name in frame.columns if word in words_of(name)] for word in words]
        if [len(names) for names in columns] == [1, 1]:
            pairs = frame.select(pl.col([columns[0][0], columns[1][0]]).cast(pl.String)).drop_nulls().unique().rows()
            if len({word for pair in pairs for word in pair}) == PAIR and all(one != other for one, other in pairs):
                return columns[1][0]
    return None


def several_at_once(file: str, what: str) -> IntakeError:
    """The error for trials that hold several comparisons at once."""
    return IntakeError(
        f"{file} holds {what}. karat reads ratings and choices between two. Several comparisons made of one trial are "
        "not independent, and estimates from them would look more certain than they are. Make a table with one "
        "choice per trial: participant, left, right, response."
    )


NEARLY_ALL = 0.9


def _shown_stimuli(contents: Contents, groups: Mapping[str, Sequence[str]], answers: Sequence[str]) -> list[str]:
    """The numbered columns beside the answers that show the stimuli: several values that are not numbers."""
    for stem, names in groups.items():
        every = {value for name in names for value in contents[name].values}
        if stem not in answers and len(every) >= FEWEST_JUDGED and any(as_number(value) is None for value in every):
            return list(names)
    return []


LABELLED = r"^\s*(-?\d{1,2})\s*(?:\([^)]*\)|[-–:=]\s*\D.*)?\s*$"


def _without_end_labels(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[Message]]:
    """Scale points as numbers in columns that label only some points: 1 (bad), 2, 3 (good)."""
    points: dict[str, list[str]] = {}
    for name in (name for name, dtype in frame.schema.items() if dtype == pl.String):
        values = [value.strip() for value in frame[name].drop_nulls().unique().head(MOST_ANSWERS + 1).to_list()]
        partly = len(values) <= MOST_ANSWERS and any(as_number(value) is None for value in values)
        if partly and all(re.match(LABELLED, value) for value in values):
            points[name] = values
    every = {value for values in points.values() for value in values}
    labels = sorted(value for value in every if as_number(value) is None)
    numbers = {re.sub(LABELLED, r"\1", value) for value in every}
    if len(points) < FEWEST_JUDGED or len(labels) == len(every) or len(numbers) < len(every):
        return frame, []
    bare = [pl.col(name).str.extract(LABELLED, 1).alias(name) for name in points]
    return frame.with_columns(bare), [Message("form.end_labels", {"labels": [cut(label) for label in labels[:3]]})]


def _wide(frame: pl.DataFrame, wide: str | None, mapping: dict[str, str], file: str) -> Shaped | None:
    """A table with one column per item or per participant as one with one row per answer."""
    contents = Contents(frame)
    judged = _judged_columns(contents, wide, mapping)
    _refuse_own_answers(contents, judged, file)
    questions = _asked_columns(contents, mapping) if wide in (None, "trial") else []
    if questions and (wide or not _holds_choices(contents, questions)):
        _refuse_rankings(contents, questions, file)
        return _one_hot(contents, questions) or _by_trial(contents, questions)
    summed = len(judged) >= FEWEST_JUDGES and (_agreed_on(contents, judged) or _mean_of(contents, judged))
    few = wide or _are_raters(judged) or summed
    if len(judged) < (FEWEST_JUDGES if few else FEWEST_JUDGED):
        return None
    kind = wide or _what_a_row_is(contents, judged, mapping)
    if kind is None or (wide is None and any(contents[name].plain in LONG_ANSWERS for name in judged)):
        return None
    if kind == "trial":
        return _by_trial(contents, judged)
    return _by_participant(contents, judged, mapping) if kind == "participant" else _by_item(contents, judged, mapping)


def _holds_choices(contents: Contents, questions: Sequence[str]) -> bool:
    """Whether one of a few columns repeats one of two others in each row, like the preferred system."""
    columns = [contents[name] for name in questions] if len(questions) <= FEWEST_JUDGED else []
    return any(
        names_one_of(first, *pair) for first in columns for pair in combinations(columns, PAIR) if first not in pair
    )


def _refuse_rankings(contents: Contents, questions: Sequence[str], file: str) -> None:
    """Raise IntakeError if each row holds all ranks from 1 on, one per column."""
    ranks = contents.frame.select(pl.concat_list(pl.col(questions).cast(pl.Float64, strict=False)).list.sort())
    if (ranks.to_series() == [float(n) for n in range(1, len(questions) + 1)]).mean() < NEARLY_ALL:  # type: ignore[operator]
        return
    raise several_at_once(file, f"rankings: each row orders {len(questions)} options ({', '.join(questions[:2])}, ...)")


def _judged_columns(contents: Contents, wide: str | None, mapping: dict[str, str]) -> list[str]:
    """The largest group of columns with the same answers."""
    groups: dict[object, list[str]] = {}
    taken = set(mapping.values())
    for content in contents.columns:
        if content.name not in taken and _may_be_judged(content):
            groups.setdefault(_alphabet(content), []).append(content.name)
    merged: list[tuple[object, set[str], list[str]]] = []
    for key, names in sorted(groups.items(), key=lambda one: -len(one[1])):
        values = {value.lower() for name in names for value in contents[name].values}
        # Points of a scale are not positions of a slider, although a slider includes these numbers.
        like = (group for group in merged if (key == "slider") == (group[0] == "slider"))
        home = next((group for group in like if _are_alike(values, group[1])), None)
        if home is not None:
            home[1].update(values)
            home[2].extend(names)
        else:
            merged.append((key, values, list(names)))
    # Most logged settings of an experiment are the same for everyone.
    for *_, names in merged if contents.frame.height >= FEWEST_CLEAR else ():
        varying = [name for name in names if contents[name].distinct > 1]
        names[:] = varying if 2 * len(varying) < len(names) else names
    best = max((names for *_, names in merged), key=len, default=[])
    best = best if all(map(PERSON_CODE.fullmatch, best)) else _of_one_stem(best)
    best += _of_the_same_array(contents, best)
    agreed = (_agreed(contents, best), _average(contents, best, best))
    best = [name for name in best if name not in agreed]
    raters = [name for name in best if is_rater(name)]
    if len(raters) >= FEWEST_JUDGES and all(_is_summary(name) for name in best if name not in raters):
        best = raters
    stems = {re.sub(r"\d+$", "", name) for name in best}
    if len(stems) == 1 and _are_raters(best):
        # The last of several raters often has few answers.
        (first,) = stems
        best = [
            n for n in contents.names
            if n in best or (re.fullmatch(rf"{re.escape(first)}\d+", n) and contents[n].is_number)
        ]  # fmt: skip
    varied_answers = len({value for name in best for value in contents[name].values}) > 1
    checks = [name for name in best if CHECK_WORDS & set(words_of(name))]
    best = [name for name in best if name not in checks] if 2 * len(checks) <= len(best) else best
    columns = [name for name in contents.names if name in best] if varied_answers else []
    # Settings of participants come before the answers; judged words may have such names as well.
    first_answer = next((at for at, name in enumerate(columns) if contents[name].plain not in SETTINGS), 0)
    first_numbered = next((at for at, name in enumerate(columns) if name[-1:].isdigit()), 0)
    numbered = all(name[-1:].isdigit() and not name.startswith(columns[0]) for name in columns[first_numbered:])
    if numbered and ANSWERS_PER_SETTING * first_numbered <= len(columns):
        first_answer = max(first_answer, first_numbered)
    return columns[first_answer:]


def _may_be_judged(content: Content) -> bool:
    """Whether a column may be an item or a participant of a wide table, with answers in its cells."""
    few = content.distinct <= (120 if content.is_number else MOST_ANSWERS)
    if not content.distinct or not few or content.filled < 0.1 or content.is_about_people or _is_of_tool(content):
        return False
    if asks_for_a_person(content.name) or (content.is_number and _sums_up(content.name)) or _are_computed(content):
        return False
    return content.plain not in NAMES["item"] or content.distinct < len(content.cells)


ANSWERS_PER_SETTING = 5
"""One setting may precede at least this many numbered answers."""
SETTINGS = ("list", "group", "block", "session", "version", "wave", "condition", "number", "order", "counterbalance")
"""Names of columns with the list or group of each participant."""


def _agreed(contents: Contents, names: Sequence[str]) -> str | None:
    """The column that always has the majority value of a few others that differ: the raters' consensus."""
    if not FEWEST_GROUPS < len(names) <= MOST_RATERS:
        return None
    for name in names:
        rest = [other for other in names if other != name]
        others = contents.frame.select(pl.concat_list(pl.col(rest).cast(pl.String)))
        rows = zip(others.to_series().to_list(), contents[name].cells.cast(pl.String).to_list(), strict=True)
        most = [(Counter(cell for cell in cells if cell).most_common(2), value) for cells, value in rows]
        clear = [(c, value) for c, value in most if c and (len(c) == 1 or c[0][1] > c[1][1])]
        differ = sum(len(counts) > 1 for counts, _ in clear)
        if differ >= FEWEST_CLEAR and all(counts[0][0] == value for counts, value in clear):
            return name
    return None


MOST_RATERS, FEWEST_CLEAR = 8, 10


def _average(contents: Contents, names: Sequence[str], candidates: Sequence[str]) -> str | None:
    """The only candidate column with the rounded mean of all others, which often differ by two points."""
    full = [name for name in candidates if contents[name].filled == 1]
    if len(names) <= FEWEST_GROUPS or not full or not all(contents[name].is_whole for name in (*full, *names)):
        return None
    numbers = pl.DataFrame({name: contents[name].numbers for name in {*names, *full}})
    total, count = numbers.sum_horizontal(), numbers.select(pl.sum_horizontal(pl.all().is_not_null())).to_series()
    means = []
    for name in full:
        if ((total - numbers[name]) / (count - 1) - numbers[name]).abs().max() > ROUNDING:  # type: ignore[operator]
            continue
        others = numbers.drop(name)
        if (others.max_horizontal() - others.min_horizontal() >= PAIR).sum() >= FEWEST_CLEAR:
            means.append(name)
    return means[0] if len(means) == 1 else None


ROUNDING = 0.5 + 1e-9


def _agreed_on(contents: Contents, judged: Sequence[str]) -> list[str]:
    """The columns with what most raters of each item said."""
    rest = [name for name in contents.names if name not in judged]
    return [n for n in rest if n in (_agreed(contents, [*judged, n]), _average(contents, judged, [n]))]


def _mean_of(contents: Contents, judged: Sequence[str]) -> str | None:
    """The column called a mean that is the mean of the judged columns in every row, up to rounding."""
    if not all(contents[name].is_number and contents[name].filled == 1 for name in judged):
        return None
    mean = pl.DataFrame([contents[name].numbers.alias(name) for name in judged]).mean_horizontal()
    means = [c for c in contents.columns if {*AVERAGES} & set(words_of(c.name))]
    exact = (c.name for c in means if c.is_number and ((c.numbers - mean).abs() <= DECIMALS).all())
    return next(exact, None) if mean.n_unique() > PAIR else None


DECIMALS = 0.0501
"""Means have at least one decimal."""
MOST_DECIMALS = 4


def _are_computed(content: Content) -> bool:
    """Whether nearly all numbers of a column have more decimals than people answer with, as means do."""
    long = content.cells.drop_nulls().cast(pl.String).str.contains(rf"[.,]\d{{{MOST_DECIMALS + 1}}}")
    return content.is_number and bool(long.mean() > SPARSE)  # type: ignore[operator]


def _refuse_own_answers(contents: Contents, judged: Sequence[str], file: str) -> None:
    """Raise IntakeError if most columns are choices between texts of their own, so that no scale is common to them."""
    rows = contents.frame.height
    choices = [
        c for c in contents.columns
        if 1 <= c.distinct <= MOST_OPTIONS and c.filled > NEARLY_ALL and not c.is_number and not c.is_about_people
    ]  # fmt: skip
    often = Counter(value for content in choices for value in content.values)
    separate = [c.name for c in choices if all(often[value] == 1 for value in c.values)]
    most = 2 * len(separate) > len(contents.names)
    differ = sum(contents[name].distinct for name in separate) > MOST_ANSWERS
    if len(judged) >= FEWEST_JUDGED or not (most and differ) or rows < 2 * MOST_OPTIONS:
        return
    first = contents[separate[0]]
    texts = f"{cut(first.name)}: {' and '.join(map(cut, first.values[:2]))}"
    raise IntakeError(
        f"{file} has {len(separate)} columns with choices, each between answers of its own ({texts}). "
        "karat needs the same answers in all of them: replace each by what it stands for, such as its condition."
    )


MOST_OPTIONS = 3


def _are_alike(answers: set[str], others: set[str]) -> bool:
    """Whether answers are among others; words may be new if few people answered and most words are known."""
    if answers <= others:
        return True
    worded = not any(as_number(answer) is not None for answer in answers | others)
    return worded and len(answers | others) <= MOST_ANSWERS and len(answers & others) > len(answers) / 2


def _of_the_same_array(contents: Contents, names: Sequence[str]) -> list[str]:
    """Further columns of the single question of which all of these are parts, with few answers from few people.

    LimeSurvey calls the parts of a question natural[SQ001], Google Forms How natural? [The cat sat.].
    """
    parts = {name: match[1] for name in contents.names if (match := PART.fullmatch(name))}
    stems = {parts.get(name) for name in names}
    if len(stems) != 1 or None in stems:
        return []
    numbers = {contents[name].is_number for name in names}
    return [
        name for name in parts
        if name not in names and parts[name] in stems and 0 < contents[name].distinct <= MOST_ANSWERS
        and numbers == {contents[name].is_number}
    ]  # fmt: skip


PART = re.compile(r"(.+?)\s*\[(?!other\]|comment\]).+\]", re.DOTALL)


def _of_one_stem(names: list[str]) -> list[str]:
    """The columns of batteries if most share a stem such as AB01_; the others merely have the same answers.

    >>> _of_one_stem(["a1", "a2", "a3", "a4", "a5", "trust"])
    ['a1', 'a2', 'a3', 'a4', 'a5']
    >>> _of_one_stem(["bfi_1", *(f"acc_{n}{form}" for n in (1, 2, 3) for form in "ab")])[0]
    'acc_1a'
    >>> len(_of_one_stem(["a1", "a2", "a3", "a4", "b1", "b2", "b3", "b4"]))
    8
    >>> _of_one_stem(["group", "s1_gram", "s2_bad", "s3_gram", "s4_bad", "f1_good"])[0]
    's1_gram'
    """
    # Of columns with the same name, the first has kept it.
    spelled = [f"{name}_2" if f"{name}_2" in names else name for name in names]
    stems = [re.sub(r"[\W_]?\[?\w*?\d+\]?$", "", name) for name in spelled]
    numbered = [re.sub(r"[\W_]?\d+[a-z]?$", "", name) if re.search(r"\d[a-z]?$", name) else "" for name in spelled]
    for kinds, least in ((stems, 0.7), (numbered, 0.5)):
        sizes = Counter(filter(None, kinds))
        most = max(sizes.values(), default=0)
        if FEWEST_JUDGED <= most < len(names) and most >= least * len(names):
            # Sets such as grammatical and ungrammatical sentences may be numbered separately.
            return [
                name
                for name, stem, number_stem in zip(names, kinds, numbered, strict=True)
                if sizes[stem] == most or (number_stem and numbered.count(number_stem) >= max(FEWEST_JUDGED, most / 4))
            ]
    # Beside many numbered items, a column without a number describes the participant.
    with_number = [name for name, spelling in zip(names, spelled, strict=True) if re.search(r"\d", spelling)]
    return with_number if len(with_number) >= max(FEWEST_JUDGED, FEWEST_ANSWERED * len(names)) else names


def _alphabet(content: Content) -> object:
    """The kind of answers in a column: the points of a scale, a slider, or certain words."""
    if content.is_number:
        filled = content.numbers.drop_nulls()
        numbers = filled.filter(~filled.is_in(missing_codes(filled.unique())))
        high, low = numbers.max(), numbers.min()
        if (
            isinstance(high, float)
            and isinstance(low, float)
            and content.is_whole
            and high <= MOST_ANSWERS
            and low >= -5
        ):
            return "numbers", "01" if high <= 1 else ""
        return "slider"
    if all(POINT.match(value) for value in content.values):
        return "points in words"
    return frozenset(value.lower() for value in content.values)


POINT = re.compile(r"\(?(-?\d{1,2})\)?\s*[-–:.=)]\s*[^\W\d]")
"""An answer that begins with the number of a scale point: 5 : very fluent."""
LONG_ANSWERS = ("response", "answer", "rating", "judgment", "judgement")
"""Names of answer columns in tables with one trial per row."""
ROW_IDS = word_list("row_ids")
OF_TOOLS = re.compile("|".join(word_list("of_tools")))


def _code(name: str) -> str:
    """The code of a question before its text; LimeSurvey writes both into the header.

    >>> _code("id. ID de la réponse"), _code("R1Q2[comment]. Le rapport est-il concis ?"), _code("raw.judgment")
    ('id', 'R1Q2[comment]', 'raw.judgment')
    """
    match = re.match(r"(\w+(?:\[\w+\])*)\. \S", name)
    return match[1] if match else name


def _is_of_tool(content: Content) -> bool:
    name = plain(_code(content.name))
    if _code(content.name).endswith("[comment]"):
        return True
    if content.name.endswith("_complete") and set(content.values) <= {"0", "1", "2"}:
        return True  # REDCap adds such a column for each form.
    numbers = ROW_NUMBERS.fullmatch(name) and content.is_number and content.distinct >= NEARLY_ALL * len(content.cells)
    return bool(OF_TOOLS.fullmatch(name) or numbers or name in NAMES["participant"] or content.is_other)


def _what_a_row_is(contents: Contents, judged: Sequence[str], mapping: dict[str, str]) -> str | None:
    """Whether each row is a participant, an item or a trial; None if the table is not wide."""
    rows = contents.frame.height
    rest = [contents[name] for name in contents.names if name not in judged]
    sentences = sum(len(name.split()) >= FEWEST_IN_SENTENCE for name in judged) >= 0.8 * len(judged)
    unique = [c for c in rest if c.distinct >= 0.95 * rows and c.filled > 0.9 and rows > 1]
    persons = [
        c for c in rest
        if c.plain in NAMES["participant"]
        or (c.distinct > 1 and any(word in PERSON_WORDS for word in words_of(c.name)) and not _sums_up(c.name)
            and not any(map(describes_a_person, words_of(c.name))))
    ]  # fmt: skip
    texts = [c for c in unique if not (c.is_number or c.are_person_codes or c.is_about_people or _is_of_tool(c))]
    is_about_texts = bool(texts) and _are_questions(judged)
    if any(c.distinct < 0.7 * rows and c.filled > 0.5 for c in persons):
        return "trial" if is_about_texts else None
    rated = unique and all(any(word in RATERS for word in words_of(name)) for name in judged)
    parts = [c.name for c in rest if not c.is_number and not c.is_other and c.distinct > 1]
    rated = rated or (2 * sum(map(is_rater, judged)) > len(judged) and contents.combinations(parts) >= 0.95 * rows)
    by_people = _describe_people(rest)
    if not persons and not by_people and (rated or (texts and _raters_of(judged, contents.names))):
        return "item"
    # If rows have texts but no person, the columns are questions about the text, from unknown participants.
    if is_about_texts and not persons and not any(_is_of_tool(c) or c.is_about_people for c in rest):
        return None
    if sentences or by_people:
        return "participant"
    if _are_raters(judged) and not persons and len(_sides_shown(contents, judged)) == PAIR:
        return "item"
    if _are_raters(judged) and not persons and all(ROW_NUMBERS.fullmatch(c.plain) for c in unique if _is_of_tool(c)):
        described = [c for c in rest if not c.is_number and not c.is_other and not c.is_about_people]
        if any(c.distinct >= FEWEST_WORDED * rows for c in described):
            return "item"
    # Row numbers identify nobody if another column identifies each row.
    worded = [c for c in unique if not c.is_number and not _is_of_tool(c) and not c.are_person_codes]
    identifying = [c for c in unique if not (worded and ROW_NUMBERS.fullmatch(c.plain))]
    if any(c in unique for c in persons) or any(_is_of_tool(c) or c.are_person_codes for c in identifying):
        item_columns = [
            c for c in unique
            if (c.plain in NAMES["item"] and c.plain != "task")
            or (c in texts and set(words_of(c.name)) & {*ITEM_WORDS})
        ]  # fmt: skip
        if not item_columns or any(c in unique for c in persons):
            others = [c for c in rest if c.distinct and not c.is_text and not _is_of_tool(c)]
            return "participant" if 2 * len(judged) >= len(others) else None
    item_columns = [
        c for c in unique if any(w in (*ITEM_WORDS, "lemma", "form", "verb") for w in words_of(c.name)) or c.is_text
    ]
    if item_columns and not persons and all(contents[name].filled > 0.3 for name in judged):
        return "item"
    first = next((c for c in unique if c in worded), contents[contents.names[0]])
    if not persons and first in unique and not first.is_number and len(judged) <= 60 and rows > 2 * len(judged):
        return "item"
    is_numbered = sum(QUESTION.fullmatch(name) is not None for name in judged) > FEWEST_ANSWERED * len(judged)
    is_about_people = not worded and any(c.is_about_people and c.distinct > 1 for c in rest)
    return "participant" if not persons and (is_numbered or is_about_people) and len(judged) >= len(rest) else None


def _describe_people(columns: Iterable[Content]) -> bool:
    """Whether two columns describe people, at least one with something that only people have, such as their age."""
    names = [c.plain for c in columns if c.distinct > 1 and describes_a_person(c.name)]
    return len(names) > 1 and not set(names) <= {*OF_ITEMS_TOO}


def _are_questions(judged: Sequence[str]) -> bool:
    """Whether columns are named after questions about something, not after items or people.

    >>> _are_questions(["fluency", "accuracy", "mac"]), _are_questions(["item_1", "item_2", "item_3"])
    (True, False)
    """
    questions = [
        name for name in judged
        if len(name.split()) >= FEWEST_IN_SENTENCE or any(CRITERIA.fullmatch(word) for word in words_of(name))
    ]  # fmt: skip
    return 2 * len(questions) >= len(judged)


QUESTION = re.compile(r"(?i)(q|question|item|sentence|stim|stimulus|frage|satz|aufgabe)[\W_]?\d+\w*")
FEWEST_ANSWERED = 0.8
FEWEST_WORDED = 0.1
FEWEST_IN_SENTENCE = 3


def _are_raters(judged: Sequence[str]) -> bool:
    """Whether columns are called x1, x2, ... or rater_1, rater_2, ...: one number per rater."""
    return bool(judged) and all(map(is_rater, judged))


RATERS = word_list("raters")
SUMMED = re.compile(rf"(?i)(.*?)[\W_]?({'|'.join((*AVERAGES, *SPREADS, 'var'))})")
"""The name of a column that sums up others, after their common stem."""


def is_rater(name: str) -> bool:
    """Whether a column is named after one of several people.

    >>> [is_rater(name) for name in ("x1", "Annotator A", "label_annotator2", "label.y", "annotator", "fluency")]
    [True, True, True, True, False, False]
    """
    if re.fullmatch(r"(?i)(x|r|rater|judge|annotator|coder|rating|score|winner|vote|participant|p|s)[\W_]?\d+", name):
        return True
    if name.endswith((".x", ".y", "_x", "_y")):
        return True  # R and pandas add these endings when they join two tables.
    who = re.search(rf"(?i)(?<![a-z])({'|'.join(RATERS)})s?[\W_]*(\d+|[a-z])?(?![a-z])", name)
    return who is not None and bool(who[2])


def _raters_of(names: Sequence[str], others: Sequence[str] = ()) -> dict[str, tuple[str, str]]:
    """The rater and the question of each column, if every rater has a column for each of several questions.

    A number after letters is that of a rater if another column has the mean for each of the letters.

    >>> _raters_of(["TG1", "TG2", "TF1", "TF2"], ["TGAvg", "TFMean"])["TF2"], _raters_of(["A1", "A2", "B1", "B2"])
    (('2', 'TF'), {})
    """
    summed = {match[1] for name in others if (match := SUMMED.fullmatch(name))}
    stems = {name: name.rstrip("0123456789") for name in names}
    numbered = {name: (name[len(stem) :], stem) for name, stem in stems.items()}
    if summed and summed >= {*stems.values()} and _are_crossed(numbered):
        return numbered
    for rater in (rf"(?:{'|'.join(RATERS)})s?[\W_]*(?:\d+|[a-z])", r"[a-z]?\d{1,2}"):
        for pattern in (rf"(?P<rest>.+?)[\W_]+(?P<rater>{rater})", rf"(?P<rater>{rater})[\W_]+(?P<rest>.+)"):
            matches = [match for name in names if (match := re.fullmatch(pattern, name, re.IGNORECASE))]
            pairs = {match[0]: (match["rater"], match["rest"]) for match in matches}
            rests = {rest for _, rest in pairs.values()}
            complete = len(pairs) == len(names) and _are_crossed(pairs)
            # A letter and a number may also be an item.
            are_criteria = all(any(CRITERIA.fullmatch(word) for word in words_of(rest)) for rest in rests)
            if complete and (are_criteria or not rater.endswith("}")):
                return pairs
    return {}


def _are_crossed(pairs: Mapping[str, tuple[str, str]]) -> bool:
    """Whether every rater has one column for every question, with several raters and several questions."""
    raters, questions = {rater for rater, _ in pairs.values()}, {question for _, question in pairs.values()}
    return (
        len(set(pairs.values())) == len(pairs) == len(raters) * len(questions) and min(len(raters), len(questions)) > 1
    )


def _sides_shown(contents: Contents, judged: Sequence[str]) -> list[str]:
    """The columns with the option on either side, if the answers name these columns, or A and B, or 1 and 2."""
    answers = {value.lower() for name in judged for value in contents[name].values}
    columns = [name for name in contents.names if name not in judged and name.lower() in answers]
    rest = [contents[name] for name in contents.names if name not in judged]
    pairs = (pair for sides in SIDES for pair in shown_sides(Content("", pl.Series(sorted(answers))), rest, sides))
    return [content.name for content in next(pairs, ())] if len(columns) != PAIR else columns


def _is_summary(name: str) -> bool:
    """Whether a column is named after the raters' consensus or the correct answer."""
    return plain(name) in NAMES["expected"] or _sums_up(name)


def _sums_up(name: str) -> bool:
    """Whether a column is named after a summary of others; with a number at the end, some such names are items.

    >>> [_sums_up(name) for name in ("mean_rating", "n", "N3", "score", "score_12", "mean_2", "some.N0n0s2")]
    [True, True, False, True, False, True, False]
    """
    if re.fullmatch(r"(?i)(n|score|label)[\W_]?\d+", name):
        return False
    letters = [word for word in words_of(re.sub(r"\w*\d\w*", "", name)) if len(word) == 1]
    return any(word in SUMS for word in words_of(name) if len(word) > 1 or word in letters)


def _asked_columns(contents: Contents, mapping: Mapping[str, str]) -> list[str]:
    """Columns that hold answers to several questions about the item of their row, such as fluency and coherence.

    Each row is a trial: some column identifies the participant, and its values recur. No design assigned these levels,
    as people differ in them on the same items.
    """
    if {"response", "question"} & set(mapping):
        return []
    answer_columns = [
        c for c in contents.columns if c.plain in NAMES["response"] and (c.distinct > 1 or c.filled <= NEARLY_ALL)
    ]
    # Texts with such a name were shown or written, and labels may be item functions; the ratings are beside them.
    answers = [c.name for c in answer_columns if not c.is_text and not 0 < c.distinct == len(c.functions)]
    if answers:
        return _beside_a_check(contents, answers)
    rows = contents.frame.height
    person = [
        c.name for c in contents.columns
        if c.plain in NAMES["participant"] and c.filled > NEARLY_ALL and 1 < c.distinct <= 0.5 * rows
    ][:1]  # fmt: skip
    criteria = [
        c.name for c in contents.columns
        if c.is_whole and 2 <= c.distinct <= MOST_ANSWERS and c.filled > 0.5 and not c.is_about_people
        and any(CRITERIA.fullmatch(word) for word in words_of(c.name)) and not _sums_up(c.name)
    ]  # fmt: skip
    groups: dict[object, list[str]] = {}
    for name in criteria:
        groups.setdefault(_alphabet(contents[name]), []).append(name)
    questions = max(*groups.values(), _alike_neighbours(contents, person), [], key=len)
    if not person:
        return []
    listed_columns = _listed_in_cells(contents)
    if listed_columns:
        return listed_columns
    questions = max(questions, _numbered_questions(contents, person), key=len)
    ticks: list[str] = []
    if len(questions) < FEWEST_GROUPS and sum(contents[name].distinct >= MOST_OPTIONS for name in criteria) >= PAIR:
        # Two criteria on a scale are questions, and so is a third with yes and no, unless it checks the participant.
        questions = [n for n in criteria if contents[n].distinct > PAIR or not NO_ANSWERS.fullmatch(plain(n))]
    elif len(questions) < FEWEST_GROUPS:
        others = _in_turn(contents, person) or _sliders(contents, person)
        questions = ticks = [] if others else _ticks(contents, person[0])
        if others or not ticks:
            return others
    described = [
        c.name for c in contents.columns
        if c.name not in (*questions, *criteria, *person) and 1 < c.distinct <= 0.5 * rows and not c.is_other
        and not c.is_about_people and not (c.is_number and not c.is_whole) and not contents.follows(c.name, person)
        and not any(_groups(contents, c.name, one) for one in questions)
        # A number that recurs for a participant is a slider for something else; that of an item does not recur.
        and not (c.is_whole and c.distinct > MOST_NUMBERED
                 and contents.combinations([*person, c.name]) < NEARLY_ALL * rows)
    ]  # fmt: skip
    once = contents.combinations([*person, *described]) >= NEARLY_ALL * rows
    stimuli = contents.combinations(described)
    # Each of many labels is rare, so people differ in all of them together.
    answers_of = [ticks] if ticks else [[name] for name in questions]
    differ = all(contents.combinations([*described, *names]) > DIFFERENT * stimuli for names in answers_of)
    if described and once and 2 * stimuli <= rows and differ:
        return questions
    return _in_turn(contents, person) or _sliders(contents, person)


DIFFERENT = 1.3


def _listed_in_cells(contents: Contents) -> list[str]:
    """Columns with answers that another column lists in different orders, those in which a screen showed them.

    >>> _listed_in_cells(Contents(pl.DataFrame({"order": ["a,b,c", "c,a,b"], "a": [1, 7], "b": [2, 3], "c": [3, 3]})))
    ['a', 'b', 'c']
    """
    for content in contents.columns:
        orders = [re.split(r"\s*[,;|]\s*", value) for value in content.values]
        if content.distinct < PAIR or len({tuple(sorted(order)) for order in orders}) > 1:
            continue
        names = [name for name in contents.names if name in orders[0]]
        if len(names) == len(orders[0]) >= FEWEST_GROUPS and all(contents[name].is_number for name in names):
            return names
    return []


def _alike_neighbours(contents: Contents, person: Sequence[str]) -> list[str]:
    """The longest run of columns with the same scale points, or the same three or more answers in words."""
    names: list[str | None] = []
    last: object = None
    for content in contents.columns:
        key: object = None
        if content.filled > NEARLY_ALL and MOST_OPTIONS <= content.distinct <= MOST_ANSWERS and not _describes(content):
            key = (content.numbers.min(), content.numbers.max()) if content.is_whole else _alphabet(content)
            if content.is_text or key == "slider" or any(contents.follows(content.name, [one]) for one in person):
                key = None
        if not _are_of_scale(key, last):
            names.append(None)
        names.append(None if key is None else content.name)
        last = key
    best = _longest_run(names)
    return best if len(best) >= FEWEST_GROUPS else []


def _longest_run(names: Iterable[str | None]) -> list[str]:
    """The first longest run of names without None between them.

    >>> _longest_run(["a", None, "b", "c", None])
    ['b', 'c']
    """
    runs: list[list[str]] = [[]]
    for name in names:
        if name is None:
            runs.append([])
        else:
            runs[-1].append(name)
    return max(runs, key=len)


def _are_of_scale(one: object, other: object) -> bool:
    """Whether two columns may share a scale: the lowest and highest answers may each differ by one point.

    >>> _are_of_scale((1.0, 7.0), (2.0, 7.0)), _are_of_scale((1.0, 5.0), (1.0, 7.0)), _are_of_scale("x", "x")
    (True, False, True)
    """
    if not isinstance(one, tuple) or not isinstance(other, tuple):
        return one == other
    return len(one) == len(other) and all(abs(a - b) <= 1 for a, b in zip(one, other, strict=True))


def _numbered_questions(contents: Contents, person: Sequence[str]) -> list[str]:
    """Columns called R1, R2, R3, each with its own answers in words, which some trials may lack."""
    worded = (
        c for c in contents.columns
        if MOST_OPTIONS <= c.distinct <= MOST_ANSWERS and not c.is_number and not _describes(c)
        and not any(contents.follows(c.name, [one]) for one in person)
    )  # fmt: skip
    best = max(_by_stem(worded, r"([^\W\d_]+)[\W_]?\d{1,2}[A-Za-z]?"), key=len, default=[])
    return best if len(best) >= FEWEST_GROUPS else []


def _by_stem(columns: Iterable[Content], pattern: str) -> list[list[str]]:
    """The names that match a pattern, in groups with the same first group of the match."""
    stems: dict[str, list[str]] = {}
    for content in columns:
        if match := re.fullmatch(pattern, content.name):
            stems.setdefault(match[1], []).append(content.name)
    return list(stems.values())


TICKS = ({"0", "1"}, {"0.0", "1.0"}, {"false", "true"})


def _ticks(contents: Contents, person: str) -> list[str]:
    """The longest run of neighbouring columns of 0 and 1 without a design: labels that participants may assign."""
    names: list[str | None] = [None]
    for content in contents.columns:
        values = {value.lower() for value in content.values}
        # A label may never have been assigned.
        ticked = values in TICKS or (names[-1] is not None and values in ({"0"}, {"0.0"}, {"false"}))
        fits = ticked and content.filled > NEARLY_ALL and not _describes(content)
        fits = fits and not (len(values) > 1 and _is_designed(contents, content.name, person))
        names.append(content.name if fits else None)
    best = _longest_run(names)
    return best if len(best) >= FEWEST_JUDGED else []


def _is_designed(contents: Contents, name: str, person: str) -> bool:
    """Whether a column is constant within each participant, or all participants have it equally often."""
    ticks = contents.frame.group_by(person).agg(_ticked(name).sum().cast(pl.Int64))[name]
    even = int(ticks.max()) - int(ticks.min()) < PAIR <= int(ticks.sum()) / ticks.len()  # type: ignore[arg-type]
    return even or contents.follows(name, [person])


def _ticked(name: str) -> pl.Expr:
    return pl.col(name).cast(pl.String).str.to_lowercase().is_in(["1", "1.0", "true"]).alias(name)


def _one_hot(contents: Contents, labels: Sequence[str]) -> Shaped | None:
    """A table with one answer per row if each row has 1 in the column of a single label; None otherwise."""
    ticks = contents.frame.select(_ticked(name) for name in labels)
    if not all(
        {v.lower() for v in contents[name].values} <= {"0", "1", "0.0", "1.0", "true", "false"} for name in labels
    ):
        return None
    if not (ticks.select(pl.sum_horizontal(pl.all())).to_series() == 1).all():
        return None
    answer = pl.coalesce(pl.when(pl.col(name)).then(pl.lit(name)) for name in labels).alias("response")
    values = {"n": len(labels), "columns": [cut(name) for name in labels[:2]]}
    question = Question("wide", (Proposal({}, Message("ask.one_hot", values), {"wide": "trial"}),))
    rest = contents.frame.drop([*labels, "response"], strict=False)
    return Shaped(
        rest.with_columns(ticks.select(answer).to_series()), notes=[Message("form.one_hot", values)],
        mapping={"response": "response"}, open=[question],
    )  # fmt: skip


def _describes(content: Content) -> bool:
    """Whether a column has a name for people, items, positions or lists."""
    is_role = any(content.plain in names for role, names in NAMES.items() if role != "response")
    is_place = (
        PLACES.fullmatch(content.plain)
        or LAYOUT.fullmatch(content.plain)
        or set(words_of(content.name)) & {*ITEM_WORDS}
    )
    return bool(is_role or is_place or content.is_other or _is_of_tool(content))


def _beside_a_check(contents: Contents, answers: Sequence[str]) -> list[str]:
    """Ratings in columns called response_clarity and truth_response if response itself is a check.

    A check is answered with two words, or only in a few trials.
    """
    for check in answers:
        rare = contents[check].filled < 1 - SPARSE
        if not rare and (contents[check].distinct != PAIR or contents[check].is_number):
            continue
        rated = [
            name for name in contents.names
            if re.match(rf"{re.escape(check)}[\W_]|.*[\W_]{re.escape(check)}$", name) and not contents[name].is_other
            and contents[name].is_number and contents[name].distinct > FEWEST_GROUPS
        ]  # fmt: skip
        if len(rated) > 1 and len({_alphabet(contents[name]) for name in rated}) == 1:
            return rated
    return []


def _in_turn(contents: Contents, person: Sequence[str]) -> list[str]:
    """Numbered columns of one stem of which each row fills exactly one: questions with a row of their own."""
    numbers = (
        c for c in contents.columns if c.is_number and c.distinct > 1 and not c.is_other and c.name not in person
    )
    for names in _by_stem(numbers, r"(.*[^\W\d_])[\W_]?\d{1,2}"):
        filled = [contents[name].cells.is_not_null().to_list() for name in names]
        counts = [sum(row) for row in zip(*filled, strict=True)]
        alike = len({_alphabet(contents[name]) for name in names}) == 1
        each = all(contents[name].filled > FEWEST_IN_TURN for name in names)
        if len(names) > 1 and alike and each and max(counts) == 1 and sum(counts) >= NEARLY_ALL * len(counts):
            return names
    return []


FEWEST_IN_TURN = 0.1


def _sliders(contents: Contents, person: Sequence[str]) -> list[str]:
    """At least three columns with slider positions from 0 to 1 or 100, which all nearly reach both ends.

    They are neighbours or have similar names, such as rating1, rating2 and rating_other.
    """
    sliders = [
        c.name for c in contents.columns
        if c.is_number and c.distinct > MOST_POINTS and c.filled > NEARLY_ALL and _is_slider(c.numbers)
        and not c.is_other and not c.is_about_people and c.name not in person
    ]  # fmt: skip
    run = _longest_run(name if name in sliders else None for name in contents.names)
    words = {name: words_of(name)[:1] for name in sliders}
    alike = ([n for n in sliders if words[n] == word] for word in words.values() if {*word} & {*GROUP_ANSWERS})
    best = max([run, *alike], key=len)
    return best if len(best) >= FEWEST_GROUPS else []


MOST_POINTS = 11


def _is_slider(numbers: pl.Series) -> bool:
    """Whether numbers range from 0 to 1 or 100, reaching one end and nearly the other.

    >>> [_is_slider(pl.Series(ends)) for ends in ([0, 1], [0.02, 1], [0, 99], [0.01, 0.99], [0, 7])]
    [True, True, True, False, False]
    """
    lowest, highest = float(numbers.min()), float(numbers.max())  # type: ignore[arg-type]
    top = 1 if highest <= 1 else 100
    near = 0 <= lowest <= top * NEAR_END and top * (1 - NEAR_END) <= highest <= top
    return near and (lowest == 0 or highest == top)


NEAR_END = 0.02


def _by_trial(contents: Contents, judged: Sequence[str]) -> Shaped:
    """One row per trial: the columns are questions about the item."""
    if "response" in contents.names and "response" not in judged:
        contents = Contents(contents.frame.rename({"response": "response_"}))
    derived = [
        name for name in contents.names
        if name not in judged and contents[name].distinct > 1 and any(_groups(contents, name, one) for one in judged)
    ]  # fmt: skip
    rest = [name for name in contents.names if name not in (*judged, *derived)]
    frame, rows = _melted(contents, judged, "question", [name for name in rest if name != "question"])
    systems = _asked_of_items(judged)
    if systems and not {SYSTEM, "item"} & set(contents.names):
        frame = _in_two(frame, "question", systems, SYSTEM)
    values = {"n": len(judged), "columns": [cut(name) for name in judged[:2]]}
    question = Question("wide", (Proposal({}, Message("ask.wide_trial", values), {"wide": "trial"}),))
    return _of_cells(
        frame, rows,
        notes=[Message("form.wide_trial", {"n": len(judged), "columns": list(judged), "derived": derived or None})],
        mapping={"question": "question", "response": "response"}, open=[question],
    )  # fmt: skip


def _in_two(frame: pl.DataFrame, source: str, pairs: Mapping[str, tuple[str, str]], first: str) -> pl.DataFrame:
    """The table with the two parts of each value of a column as two columns, the second of them the question."""
    parts = ({name: pair[at] for name, pair in pairs.items()} for at in range(PAIR))
    columns = zip((first, "question"), parts, strict=True)
    return frame.with_columns(pl.col(source).replace_strict(part).alias(name) for name, part in columns)


SYSTEM = "system"
"""The column with the system in column names such as bart_fluency and bart_coherence, t5_fluency, ..."""


def _groups(contents: Contents, name: str, answer: str) -> bool:
    """Whether a column gives an answer in fewer levels, such as acceptable_b for acceptable."""
    called = words_of(name)[: len(words_of(answer))] == words_of(answer)
    return called and contents[name].distinct < contents[answer].distinct and contents.follows(name, [answer])


def _melted(
    contents: Contents,
    judged: Sequence[str],
    variable: str,
    keep: Sequence[str],
    times: Mapping[str, str] | None = None,
) -> tuple[pl.DataFrame, pl.Series]:
    blocks = [
        contents.frame.select(*keep, pl.lit(name).alias(variable), pl.col(name).cast(pl.String).alias("response"),
                              *([pl.col(times[name]).alias("rt")] if times and name in times else []))
        .with_row_index(" row").with_columns(pl.lit(at).alias(" at"))
        for at, name in enumerate(judged)
    ]  # fmt: skip
    stack = pl.concat(blocks, how="diagonal").sort(" row", " at")
    answers = stack["response"].drop_nulls().unique().to_list()
    if len(answers) > MOST_ANSWERS and all(POINT.match(answer) for answer in answers):
        # Each question words its scale points differently; the numbers are the same.
        stack = stack.with_columns(pl.col("response").str.extract(r"(-?\d{1,2})").alias("response"))
    return stack.drop(" row", " at"), stack[" row"]


def _of_cells(frame: pl.DataFrame, rows: pl.Series, **settled: Any) -> Shaped:
    """The answers of several columns without the cells that nobody filled, which are set aside."""
    filled = frame["response"].is_not_null()
    shaped = Shaped(frame.filter(filled), rows.filter(filled).to_list(), units_in=frame.height, unit="cells", **settled)
    if not filled.all():
        shaped.set_aside[Message("aside.empty_cells")] = int((~filled).sum())
    return shaped


def _by_participant(contents: Contents, judged: Sequence[str], mapping: dict[str, str]) -> Shaped:
    """One row per participant: the columns are items."""
    rest = [name for name in contents.names if name not in judged]
    id_columns = [
        name for name in rest if plain(_code(name)) in (*NAMES["participant"], *ROW_IDS) and contents[name].filled > 0.9
    ]
    id_columns.sort(key=lambda name: plain(_code(name)) not in NAMES["participant"])
    person = mapping.get("participant") or next(iter(id_columns), None)
    if person is None or contents[person].distinct < contents.frame.height:
        numbers = pl.Series("participant", [str(n) for n in range(1, contents.frame.height + 1)])
        contents = Contents(contents.frame.with_columns(numbers))
        person = "participant"
    times = _times_of(contents, judged)
    frame, rows = _melted(contents, judged, "item", [person], times)
    frame = frame.with_columns(pl.col("item").replace(_within_brackets(judged)))
    pairs = _asked_of_items(judged)
    questions = list(dict.fromkeys(question for _, question in pairs.values())) or None
    if pairs:
        frame = _in_two(frame, "item", pairs, "item")
    others = [cut(name) for name in rest if name != person and name not in times.values()]
    background = [n for n in rest if n != person and n not in times.values() and _may_describe(contents[n])]
    question = Question("wide", (
        Proposal({}, Message("ask.wide_participant", {
            "n": len(judged), "columns": [cut(n) for n in judged[:2]], "questions": questions,
        }), {"wide": "participant"}),
    ), by_name=_are_beside_ratings(contents, judged))  # fmt: skip
    settled: dict[str, str] = {name: name for name in ("item", "question", "response", "rt") if name in frame.columns}
    return _of_cells(
        frame, rows,
        people=background,
        notes=[Message("form.wide_participant", {
            "n": len(judged), "questions": questions, "times": next(iter(times.values()), None),
            "left": len(others) or None, "names": listed(others),
        })],
        mapping={"participant": person, **settled},
        open=[question],
    )  # fmt: skip


def _are_beside_ratings(contents: Contents, judged: Sequence[str]) -> bool:
    """Whether columns of 0 and 1, which may be computed, come with columns of more points; the user must decide.

    Apart from descriptions of participants, several columns in a row such as DamPre and DamPost are ratings.
    """
    if {value for name in judged for value in contents[name].values} - {"0", "1"}:
        return False
    rest = [contents[name] for name in contents.names if name not in judged]
    rated = [c for c in rest if c.is_number and c.distinct > PAIR and c.filled > SPARSE]
    return sum(not (_is_of_tool(c) or c.is_about_people or c.is_other) for c in rated) >= FEWEST_GROUPS


def _asked_of_items(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The item and the question of each column, if every item has a column for each of several questions."""
    for pattern in (r"(?P<item>.+?)[\W_]+(?P<question>[^\W\d_]+)", r"(?P<question>[^\W\d_]+)[\W_]+(?P<item>.+)"):
        matches = [match for name in names if (match := re.fullmatch(pattern, name))]
        pairs = {match[0]: (match["item"], match["question"]) for match in matches}
        questions = {question for _, question in pairs.values()}
        items = {item for item, _ in pairs.values()}
        complete = len(set(pairs.values())) == len(names) == len(items) * len(questions) and len(items) > 1
        if complete and len(questions) > 1 and all(CRITERIA.fullmatch(question) for question in questions):
            return pairs
    codes = [match for name in names if (match := CODED.fullmatch(name))]
    pairs = {match[0]: (match["item"], match["question"]) for match in codes}
    texts = {(match["question"], match["text"].strip()) for match in codes}
    is_unique = len(texts) == len(dict(texts)) == len({text for _, text in texts})
    return pairs if is_unique and len(pairs) == len(names) and _are_crossed(pairs) else {}


CODED = re.compile(r"(?P<item>[^\W\d_]+\d+)[\W_]?(?P<question>[^\W\d_]+\d+)\W+(?P<text>\S.*)", re.DOTALL)
"""A code with the numbers of an item and a question, and the question's text: R2Q1. How fluent is it?"""


TIMED = re.compile(
    r"(?i)[\W_]*(?<![a-z])(?:(?:reaction|response)[\W_]?)?(?:rts?|times?|duration|latency)(?:[\W_]?(?:ms|msec|s|sec|seconds))?"
    r"(?![a-z])[\W_]*"
)
"""What the name of a response-time column adds to that of its item."""


def _times_of(contents: Contents, judged: Sequence[str]) -> dict[str, str]:
    """The response-time column of each item, if most items have one named after them, such as item1_rt."""
    items = {name.lower(): name for name in judged}
    items |= {ANSWER_ENDING.sub("", name).lower(): name for name in judged}
    bare = {name: TIMED.sub("", name).lower() for name in contents.names if name not in judged}
    times = {items[stem]: name for name, stem in bare.items() if stem in items and contents[name].is_number}
    return times if len(times) >= NEARLY_ALL * len(judged) else {}


ANSWER_ENDING = re.compile(rf"(?i)(?<=.)[\W_]+({'|'.join(GROUP_ANSWERS)})$")


def _within_brackets(names: Sequence[str]) -> dict[str, str]:
    """The bracketed part of each column name, if all columns repeat the same question before it."""
    matches = [re.fullmatch(r"(.*\S)\s*\[(.+)\]", name, re.DOTALL) for name in names]
    if not all(matches) or len({match[1] for match in matches if match}) > 1:
        return {}
    parts = {match[0]: match[2].strip() for match in matches if match}
    return parts if len(set(parts.values())) == len(parts) else {}


def _may_describe(content: Content) -> bool:
    """Whether a column may go into the table of participants: background, but nothing that identifies a person."""
    if names_a_person(content.name) or asks_for_a_person(content.name):
        return False
    return describes_a_person(content.name) or content.is_about_people or content.distinct <= MOST_ANSWERS


def _by_item(contents: Contents, judged: Sequence[str], mapping: dict[str, str]) -> Shaped:
    """One row per item: the columns are participants."""
    rest = [name for name in contents.names if name not in judged]
    rows = contents.frame.height
    unique = [name for name in rest if contents[name].distinct >= 0.95 * rows]
    item_columns = [name for name in unique if any(word in ITEM_WORDS for word in words_of(name))]
    item = mapping.get("item") or next((n for n in item_columns or unique if not ROW_NUMBERS.fullmatch(plain(n))), None)
    worded = [n for n in rest if not contents[n].is_number and contents[n].distinct > 1]
    pair = [n for n in worded if item and SIDE.sub("", n) == SIDE.sub("", item) and "item" not in mapping]
    worded, item = (pair, None) if len(pair) == PAIR else (worded, item)
    if item is None and worded and contents.combinations(worded) >= 0.95 * rows:
        for name in sorted(worded, key=lambda one: contents[one].distinct) if worded != pair else ():
            fewer = [other for other in worded if other != name]
            if fewer and contents.combinations(fewer) == contents.combinations(worded):
                worded = fewer
        contents = Contents(contents.frame.with_columns(item=pl.concat_str(worded, separator=" + ", ignore_nulls=True)))
        item = "item"
    if item is None:
        contents = Contents(contents.frame.with_columns(item=pl.Series([str(n) for n in range(1, rows + 1)])))
        item = "item"
    means = [name for name in rest if _is_summary(name) and plain(name) not in NAMES["expected"]]
    means = list(dict.fromkeys([*means, *_agreed_on(contents, judged)]))
    times = _times_of(contents, judged)
    unused = {item, *means, *times.values()}
    keep = [item, *(name for name in rest if name not in unused and not _is_of_tool(contents[name]))]
    frame, lines = _melted(contents, judged, "participant", keep, times)
    ratings = _raters_of(judged, rest) if "question" not in keep else {}
    if ratings:
        frame = _in_two(frame, "participant", ratings, "participant")
    people = frame["participant"].n_unique()
    question = Question("wide", (Proposal({}, Message("ask.wide_item", {"n": people}), {"wide": "item"}),))
    paired = len(_sides_shown(contents, judged)) == PAIR and "item" not in mapping
    return _of_cells(
        frame, lines,
        notes=[Message("form.wide_item", {
            "n": people, "left": len(means) or None, "times": next(iter(times.values()), None),
        })],
        # The number of an item's row is not a position in a participant's sequence.
        mapping={"participant": "participant", "response": "response", "trial": mapping.get("trial", "")}
        | ({} if paired else {"item": item})
        | ({"question": "question"} if ratings else {}) | ({"rt": "rt"} if times else {}),
        open=[question],
    )  # fmt: skip


SIDE = re.compile(r"(?i)[\W_]?([12]|(?<![a-z])[ab])$")
"""What distinguishes the columns with the two words or texts of a pair: Word 1 and Word 2."""


def choices_of_pairs(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[int]] | None:
    """Trials of two rows, one of them chosen, as choices; None for other tables.

    >>> rows = pl.DataFrame({"participant": ["p", "p"], "trial": [1, 1], "item": ["a", "b"], "response": ["0", "1"]})
    >>> choices_of_pairs(rows)[0].row(0)
    ('p', 1, 'a', 'b', 'right')
    """
    if not {"participant", "trial", "item", "response"} <= set(frame.columns) or "left" in frame.columns:
        return None
    if not set(frame["response"].cast(pl.String).drop_nulls().unique()) <= {"0", "1"}:
        return None
    keys = [name for name in ("participant", "session", "trial") if name in frame.columns]
    sums = frame.group_by(keys).agg(
        pl.len().alias("n"), pl.col("response").cast(pl.Int64, strict=False).sum().alias("s")
    )
    if not sums.height or not ((sums["n"] == 2) & (sums["s"] == 1)).all():
        return None
    numbered = frame.with_row_index(" row").with_columns(pl.int_range(pl.len()).over(keys).alias(" side"))
    first, second = numbered.filter(pl.col(" side") == 0), numbered.filter(pl.col(" side") == 1)
    both = first.join(second, on=keys, suffix=" 2", nulls_equal=True, maintain_order="left")
    same = [n for n in frame.columns if n not in (*keys, "item", "response")
            and (both[n].eq_missing(both[f"{n} 2"])).all()]  # fmt: skip
    differ = [n for n in frame.columns if n not in (*keys, "item", "response", *same)]
    won = pl.when(pl.col("response").cast(pl.String) == "1").then(pl.lit("left")).otherwise(pl.lit("right"))
    choices = both.select(
        *keys, pl.col("item").alias("left"), pl.col("item 2").alias("right"), won.alias("response"), *same,
        *(pl.col(n).alias(f"left_{n}") for n in differ), *(pl.col(f"{n} 2").alias(f"right_{n}") for n in differ),
    )  # fmt: skip
    return choices, both[" row"].cast(pl.Int64).to_list()
