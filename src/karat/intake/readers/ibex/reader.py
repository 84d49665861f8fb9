"""Results files of PCIbex Farm, of its older versions and of classic Ibex."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from karat.errors import IntakeError
from karat.intake.cells import own_name
from karat.intake.content import ITEM_IDS, RESPONSE_TIMES, Contents, function_named_in, functions_in, tells_the_answer
from karat.intake.guess import plain
from karat.intake.personal import are_codes, left_out_note, names_a_person
from karat.intake.readers.generic import typed_column
from karat.intake.readers.ibex.answers import (
    ANSWERS,
    OR_NONE,
    TIMES,
    IbexAnswer,
    answers_of,
    asked_in_forms,
    go_on_keys,
    key_factors,
    logged,
    milliseconds,
    own_answer,
    without_own_questions,
)
from karat.intake.readers.ibex.log import LogLine, is_bare, is_log, is_raw, is_table, read_log, runs
from karat.intake.readers.ibex.people import (
    ID_NAMES,
    IbexSubmission,
    identify,
    number_sessions,
    participants_of,
    set_single_questions_apart,
    submissions_of,
)
from karat.intake.reading import Options, Proposal, Question, Reader, Reading
from karat.judgments.checks import places
from karat.judgments.columns import COLUMNS
from karat.judgments.source import SourceFile
from karat.judgments.tables import SPREADSHEETS
from karat.messages import Message

FEWEST_SIGNS = 2
SENT_TWICE = Message("aside.sent_twice")
OWNER = Message("aside.owner")
OF_THE_TOOL = re.compile(
    r"PennElementType|PennElementName|Parameter|Value|EventTime|Comments|Reading time|Newline\?|Sentence.*|Question .*|"
    r"Answer|Question|Whether or not answer was correct.*|Time taken to answer|Field name|Field value|column_\d+"
)


def read_pcibex(files: Sequence[SourceFile], options: Options) -> Reading:
    """Read one results file: an answer is a Selector, Scale or Key line, or the answer of an Ibex question."""
    (file,) = files
    log = read_log(file, options.sheet)
    bare = [Message("pcibex.no_comments")] if is_bare(file.sample) else []
    reading = Reading(
        pl.DataFrame(), places(file.name, []), log.rows, bad_units=len(log.problems), problems=log.problems,
        notes=[] if file.suffix in SPREADSHEETS else [*file.encoding_note, *bare],
    )  # fmt: skip
    lines = _without_copies(_without_owner(log.lines, options, reading), reading)
    submissions = submissions_of(lines)
    go_on, factors = go_on_keys(lines), key_factors(lines)
    forms = asked_in_forms(lines)
    for submission in submissions.values():
        for number, trial in enumerate(runs(submission.lines)):
            answers = answers_of(trial, go_on, factors, reading, file.name, forms)
            submission.answers += [(number, answer) for answer in answers]
    kept = {id(answer) for _, answer in without_own_questions(
        [one for submission in submissions.values() for one in submission.answers], reading)}  # fmt: skip
    for submission in submissions.values():
        submission.answers = [one for one in submission.answers if id(one[1]) in kept]
    answering = [submission for submission in submissions.values() if submission.answers]
    set_single_questions_apart(answering, reading)
    identify(submissions, reading)
    number_sessions(list(submissions.values()), reading)
    given = [(submission, trial, answer) for submission in answering for trial, answer in submission.answers]
    if given:
        reading.frame = _frame(given, {*options.mapping.values(), *factors}, reading, file.name)
        reading.frame = _with_parts(reading.frame, [answer for _, _, answer in given], reading)
        reading.open = [question for question in reading.open if question.role not in options.mapping]
        reading.locate = places(file.name, [answer.line.number for _, _, answer in given])
        reading.participants = participants_of(submissions.values())
    elif reading.problems:
        raise IntakeError(f"{file.name} is not readable as results of PCIbex:", reading.problems)
    return reading


def _without_owner(lines: Sequence[LogLine], options: Options, reading: Reading) -> list[LogLine]:
    """Leaves out the runs in which the experimenter was logged in, unless all are."""
    own = [line for line in lines if line.of_owner]
    if not own or len(own) == len(lines) or options.keep_all:
        return list(lines)
    reading.set_apart(OWNER, len(own))
    return [line for line in lines if not line.of_owner]


def _without_copies(lines: Sequence[LogLine], reading: Reading) -> list[LogLine]:
    """Leaves out lines that came again with a later submission: an experiment may send its results more than once."""
    first: dict[tuple[object, ...], str] = {}
    copied: dict[str, bool] = {}
    kept = []
    for line in lines:
        event = (line.hash, line.order, line.label, *line.cells.values())
        if milliseconds(line) is not None:
            copied[line.reception] = first.setdefault(event, line.reception) != line.reception
        # A line without a time goes with the one before it.
        if copied.get(line.reception) and "EventTime" in line.cells:
            reading.set_apart(SENT_TWICE)
        else:
            kept.append(line)
    return _without_sent_again(kept, reading)


FEWEST_ALIKE = 5
"""From this many lines on, two submissions with the same answers and times are one that was sent again."""


def _without_sent_again(lines: Sequence[LogLine], reading: Reading) -> list[LogLine]:
    """Leaves out whole submissions that repeat an earlier one of the same address line by line, times included."""
    events: dict[tuple[str, str], list[tuple[object, ...]]] = {}
    for line in lines:
        events.setdefault((line.hash, line.reception), []).append((line.order, line.label, *line.cells.values()))
    seen: set[tuple[object, ...]] = set()
    again: set[tuple[str, str]] = set()
    for key, sent in events.items():
        whole = (key[0], *sent)
        if len(sent) >= FEWEST_ALIKE and whole in seen:
            again.add(key)
        seen.add(whole)
    kept = [line for line in lines if (line.hash, line.reception) not in again]
    reading.set_apart(SENT_TWICE, len(lines) - len(kept))
    return kept


def _frame(
    given: Sequence[tuple[IbexSubmission, int, IbexAnswer]], wanted: set[str], reading: Reading, file: str
) -> pl.DataFrame:  # fmt: skip
    """The answers as a table; `wanted` are the columns that the user names."""
    answers = [answer for _, _, answer in given]
    people = [submission for submission, _, _ in given]
    functions = _functions(answers)
    columns: dict[str, Sequence[object]] = {
        "participant": [submission.participant for submission in people],
        "item": _items(answers, functions, reading),
        "response": [answer.response for answer in answers],
        "trial": _trials(given),
        "rt": [answer.rt for answer in answers],
    }
    if any(answer.time is not None for answer in answers):
        columns["time"] = [answer.time for answer in answers]
    if any(submission.session > 1 for submission in people):
        columns["session"] = [str(submission.session) for submission in people]
    if set(functions) != {"test"}:
        columns["function"] = functions
        reading.notes.append(Message("pcibex.function"))
    several = len({(id(submission), trial) for submission, trial, _ in given}) < len(given)
    if several or len({answer.kind == "typed" for answer in answers}) > 1:
        columns["question"] = [answer.element for answer in answers]
        reading.notes.append(Message("pcibex.questions"))
    # A comprehension question with two answers beside a scale makes no choices of the ratings.
    chosen = [answer.left is not None for answer, function in zip(answers, functions, strict=True)
              if answer.response is not None and function == "test"]  # fmt: skip
    if any(chosen) and all(chosen):
        columns |= _sides(answers, reading)
    columns |= _own_columns(answers, people, columns, wanted, reading, file)
    _note_onsets(answers, reading)
    numbers = {"trial": pl.Int64, "rt": pl.Float64, "time": pl.Float64}
    frame = pl.DataFrame(columns, schema={name: numbers.get(name, pl.String) for name in columns})
    return frame.with_columns(typed_column(frame[name]) for name in frame.columns if name not in COLUMNS)


def _sides(answers: Sequence[IbexAnswer], reading: Reading) -> Mapping[str, Sequence[object]]:
    """What was on either side: the elements of a selector, or what the logged columns left and right say they show."""
    elements = {answer.left for answer in answers} | {answer.right for answer in answers}
    logged = {plain(name): name for answer in answers for name in answer.line.cells if plain(name) in ("left", "right")}
    if len(elements - {None}) > len(SIDES) or set(logged) != set(SIDES):
        reading.notes.append(Message("pcibex.sides"))
        return {"left": [answer.left for answer in answers], "right": [answer.right for answer in answers]}
    reading.notes.append(Message("form.shown", dict(logged)))
    sides = [{answer.left: "left", answer.right: "right"} for answer in answers]
    named = [known.get(answer.response, answer.response) for known, answer in zip(sides, answers, strict=True)]
    return {"response": named} | {side: [answer.line.get(logged[side]) for answer in answers] for side in SIDES}


SIDES = ("left", "right")


def _functions(answers: Sequence[IbexAnswer]) -> list[str]:
    """What trials are for: by a logged column that holds nothing else, or by their labels."""
    names = dict.fromkeys(name for answer in answers for name in answer.line.cells)
    columns = ([answer.line.get(name) for answer in answers] for name in names)
    return functions_in(columns, _functions_by_label(answers))


def _functions_by_label(answers: Sequence[IbexAnswer]) -> list[str]:
    """Functions by the label, by a text that asks for an answer, and by Ibex's example: `f` or `f1` without a group."""
    labels = {answer.line.label.lower() for answer in answers}
    groups = {answer.line.label.lower() for answer in answers if answer.line.group is not None}
    fillers = {label for label in labels - groups if groups and re.fullmatch(r"f([\W_]*\d.*)?", label)}
    functions = [
        "filler" if answer.line.label.lower() in fillers
        else "attention" if tells_the_answer(answer.sentence or "")
        else function_named_in(f"{answer.line.label} {answer.line.controller}")
        for answer in answers
    ]  # fmt: skip
    # Of tests more is logged than of practice: what is logged like practice under another label is practice, too.
    # A column that is there and empty is logged: control items have no condition.
    logged = [frozenset(answer.line.cells) for answer in answers]
    known = {function: {names for names, one in zip(logged, functions, strict=True) if one == function}
             for function in ("practice", "test")}  # fmt: skip
    tested = known["test"] - known["practice"]
    if tested and all(names > practised for names in tested for practised in known["practice"]):
        return ["practice" if function == "test" and names in known["practice"] else function
                for names, function in zip(logged, functions, strict=True)]  # fmt: skip
    return functions


def _items(answers: Sequence[IbexAnswer], functions: Sequence[str], reading: Reading) -> list[str]:
    """Items by a logged column; without one, by label and Latin Square group, by order number, or by what was shown."""
    names = {name for answer in answers for name in answer.line.cells if plain(name) in ITEM_IDS}
    column = min(names, key=lambda name: (ITEM_IDS.index(plain(name)), name), default="")
    shown = [answer.sentence or answer.line.get(_asked(answer.line)) for answer in answers]
    in_order = _numbers_items(answers)
    items = [answer.line.get(column) or _item_of_label(answer.line, in_order) for answer in answers]
    if not column and len({(i, s) for i, s in zip(items, shown, strict=True) if s}) > 1.05 * len(set(items)):
        orders = [f"{answer.line.label}-{answer.line.order}" for answer in answers]
        texts_by_order = {(order, text) for order, text in zip(orders, shown, strict=True) if text}
        texts = len({text for text in shown if text})
        # The number of an item in the script distinguishes versions, unless rows are drawn from a table.
        items = orders if len(texts_by_order) == len(set(orders)) <= 1.2 * texts else [
            text or item for text, item in zip(shown, items, strict=True)
        ]  # fmt: skip
    tested = {item for item, function in zip(items, functions, strict=True) if function == "test"}
    for row, (answer, function) in enumerate(zip(answers, functions, strict=True)):
        if function != "test" and items[row] in tested:
            # Practice items and fillers are often numbered from 1 again.
            items[row] = f"{answer.line.label}-{items[row]}"
    if column:
        reading.notes.append(Message("item.column", {"column": column}))
    if any(answer.line.get(column) is None for answer in answers):
        reading.notes.append(Message("pcibex.items_by_label"))
    return items


def _asked(line: LogLine) -> str:
    """The column in which controllers without a sentence log what they show: the question, its legend, its markup."""
    return logged(line, ("question", "legend", "html", plain(f"Question {OR_NONE}"))) or ""


PART_SIGNS = ("+", "|", ";", "_", "-")


def _with_parts(frame: pl.DataFrame, answers: Sequence[IbexAnswer], reading: Reading) -> pl.DataFrame:
    """A question that holds the design, its parts set apart by one sign, as columns; the item is then asked."""
    texts = [answer.line.get(_asked(answer.line)) or "" for answer in answers]
    column = next((name for answer in answers if (name := _asked(answer.line))), "")
    main = (frame["function"] != "practice").to_list() if "function" in frame.columns else [True] * len(texts)
    tested = [text for text, is_main in zip(texts, main, strict=True) if is_main]
    for sign in PART_SIGNS:
        counts = Counter(text.count(sign) for text in tested)
        width, often = counts.most_common(1)[0] if counts else (0, 0)
        if width >= FEWEST_SIGNS and often == len(tested):
            break
    else:
        return frame
    cells = [text.split(sign) if text.count(sign) == width else [None] * (width + 1) for text in texts]
    parts = {f"{column} {at + 1}": [row[at] for row in cells] for at in range(width + 1)}
    frame = frame.with_columns(pl.Series(name, values, dtype=pl.String) for name, values in parts.items())
    coded = Contents(frame.filter(pl.Series(main)).select("participant", *parts))
    alone = coded.combinations(["participant"]) == 1
    # What is the same in all trials of a participant is a list, not a part of what was judged.
    short = [name for name in parts if coded[name].distinct > 1 and not coded[name].is_text
             and (alone or not coded.follows(name, ["participant"]))]  # fmt: skip
    frame = frame.drop(name for name in parts if coded[name].is_text)
    kept = list(short)
    for name in sorted(short, key=lambda one: coded[one].distinct):
        rest = [other for other in kept if other != name]
        if rest and coded.combinations(rest) == coded.combinations(short):
            kept = rest
    if not kept:
        return frame
    first, item = f"{column} 1", pl.concat_str(kept, separator=" + ", ignore_nulls=True)
    sample = [" + ".join(row) for row in coded.frame.select(kept).drop_nulls().head(2).iter_rows()]
    detail = {"n": coded.combinations(kept), "sample": sample, "least": None, "most": None}
    reading.open.append(Question("item", (
        Proposal({"item": "+".join(kept)}, Message("ask.item_choice", detail)),
        Proposal({"item": first}, Message("ask.item_choice", {**detail, "n": coded[first].distinct})),
    ), by_name=len(kept) > 1))  # fmt: skip
    named = pl.when(pl.col(kept[0]).is_not_null()).then(item).otherwise(pl.col("item")).alias("item")
    return frame.with_columns(named)


def _item_of_label(line: LogLine, in_order: bool) -> str:
    return f"{line.label}-{line.order if in_order else line.group or line.order}"


MOST_OF_GROUP = 1.2


def _numbers_items(answers: Sequence[IbexAnswer]) -> bool:
    """Whether groups are no lexical sets: participants have several items of one label and group."""
    lines = [answer.line for answer in answers if answer.line.group is not None]
    grouped = {(line.reception, line.hash, line.label, line.group) for line in lines}
    numbered = {(line.reception, line.hash, line.label, line.order) for line in lines}
    return len(numbered) > MOST_OF_GROUP * len(grouped)


def _trials(given: Sequence[tuple[IbexSubmission, int, IbexAnswer]]) -> list[int]:
    positions: dict[tuple[int, int], int] = {}
    counts: Counter[int] = Counter()
    for submission, trial, _ in given:
        if (id(submission), trial) not in positions:
            counts[id(submission)] += 1
            positions[id(submission), trial] = submission.first_trial + counts[id(submission)]
    return [positions[id(submission), trial] for submission, trial, _ in given]


def _own_columns(
    answers: Sequence[IbexAnswer],
    people: Sequence[IbexSubmission],
    taken: Iterable[str],
    wanted: set[str],
    reading: Reading,
    file: str,
) -> dict[str, Sequence[object]]:
    """What the experiment logged, under its own names, and the columns that every line has."""
    names = dict.fromkeys(name for answer in answers for name in answer.line.cells if not OF_THE_TOOL.fullmatch(name))
    used = {name for name in names if plain(name) in (*ANSWERS, *RESPONSE_TIMES)}
    used |= {name or "" for answer in answers if answer.kind == "question"
             for name in (own_answer(answer.line), logged(answer.line, TIMES))}  # fmt: skip
    names = {name: None for name in names if name not in used or name in wanted}
    personal = [name for name in names if names_a_person(name) or _names_people(name, people)]
    personal = [name for name in personal if name not in wanted]
    reading.notes += left_out_note(personal, file)
    columns: dict[str, Sequence[object]] = {}
    for name in names:
        if name not in personal and not _is_participant(name, answers, people):
            free = own_name(name, list(taken), list(names))
            if name != "item":
                columns[free] = [answer.line.get(name) for answer in answers]
    if "list" not in columns:
        columns |= _list_of_group(answers, people, reading)
    native: dict[str, list[str | None]] = {
        "Label": [answer.line.label for answer in answers],
        "Order number of item": [answer.line.order for answer in answers],
        "Latin Square Group": [answer.line.group for answer in answers],
        "PennElementName": [answer.line.get("PennElementName") for answer in answers],
        "sentence": [answer.sentence for answer in answers],
        "asked": [answer.asked for answer in answers],
    }
    for name, values in native.items():
        if any(value is not None for value in values):
            columns[f"{name}.Ibex" if name in columns else name] = values
    return columns


def _names_people(name: str, people: Sequence[IbexSubmission]) -> bool:
    """Whether a column with ids holds names or addresses, of whomever."""
    if plain(name) not in ID_NAMES:
        return False
    each = {id(one): one for one in people}.values()
    return not are_codes(value for one in each for line in one.lines if (value := (line.get(name) or "").strip()))


def _list_of_group(
    answers: Sequence[IbexAnswer], people: Sequence[IbexSubmission], reading: Reading
) -> dict[str, Sequence[object]]:  # fmt: skip
    """PCIbex chooses the rows of a table by its column Group: where a person has one group, that is the list.

    The design number is not a list: it counts the participants.
    """
    groups = [answer.line.get("Group") or answer.line.get("group") for answer in answers]
    groups_of_people = {(id(one), group) for one, group in zip(people, groups, strict=True) if group is not None}
    if not groups_of_people or len({one for one, _ in groups_of_people}) < len(groups_of_people):
        return {}
    reading.notes.append(Message("pcibex.list"))
    return {"list": groups}


def _is_participant(name: str, answers: Sequence[IbexAnswer], people: Sequence[IbexSubmission]) -> bool:
    return plain(name) in ID_NAMES and all(
        answer.line.get(name) in (None, one.participant) for answer, one in zip(answers, people, strict=True)
    )


def _note_onsets(answers: Sequence[IbexAnswer], reading: Reading) -> None:
    timed = [answer for answer in answers if answer.rt is not None and answer.kind != "question"]
    shown = sum(answer.from_display for answer in timed)
    if shown:
        reading.notes.append(Message("pcibex.rt_from_display", {"n": shown}))
    if len(timed) > shown:
        reading.notes.append(Message("pcibex.rt_from_start", {"n": len(timed) - shown}))


def recognises(file: SourceFile) -> bool:
    """A text that begins as results of Ibex do, with or without comments, raw results, or a table of lines."""
    if file.suffix in (".zip", ".json"):
        return False
    return is_log(file.sample) or is_bare(file.sample) or is_raw(file.sample) or is_table(file)


READER = Reader("pcibex", "results of PCIbex or Ibex", recognises, read_pcibex)
