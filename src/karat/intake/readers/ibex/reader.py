"""Results files of PCIbex Farm, of its older versions and of classic Ibex."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from karat.errors import IntakeError
from karat.intake.cells import own_name
from karat.intake.content import (
    ITEM_IDS,
    RESPONSE_TIMES,
    Contents,
    function_named_in,
    function_word,
    functions_in,
    tells_the_answer,
)
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
    FEWEST_TRIALS,
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
    remaining = {id(answer) for _, answer in without_own_questions(
        [pair for submission in submissions.values() for pair in submission.answers], reading)}  # fmt: skip
    for submission in submissions.values():
        submission.answers = [pair for pair in submission.answers if id(pair[1]) in remaining]
    answering = [submission for submission in submissions.values() if submission.answers]
    set_single_questions_apart(answering, reading)
    identify(submissions, reading)
    number_sessions(list(submissions.values()), reading)
    rows = [(submission, trial, answer) for submission in answering for trial, answer in submission.answers]
    if rows:
        reading.frame = _frame(rows, {*options.mapping.values(), *factors}, reading, file.name)
        reading.frame = _with_parts(reading.frame, [answer for _, _, answer in rows], reading)
        reading.open = [question for question in reading.open if question.role not in options.mapping]
        reading.locate = places(file.name, [answer.line.number for _, _, answer in rows])
        reading.participants = participants_of(submissions.values())
    elif reading.problems:
        raise IntakeError(f"{file.name} is not readable as results of PCIbex:", reading.problems)
    return reading


def _without_owner(lines: Sequence[LogLine], options: Options, reading: Reading) -> list[LogLine]:
    """The lines without runs in which the experimenter was logged in, unless all runs are."""
    owner_lines = [line for line in lines if line.of_owner]
    if not owner_lines or len(owner_lines) == len(lines) or options.keep_all:
        return list(lines)
    reading.set_apart(OWNER, len(owner_lines))
    return [line for line in lines if not line.of_owner]


def _without_copies(lines: Sequence[LogLine], reading: Reading) -> list[LogLine]:
    """The lines without those repeated in a later submission: experiments may send results more than once."""
    first: dict[tuple[object, ...], str] = {}
    copied: dict[str, bool] = {}
    others = []
    for line in lines:
        event = (line.hash, line.order, line.label, *line.cells.values())
        if milliseconds(line) is not None:
            copied[line.reception] = first.setdefault(event, line.reception) != line.reception
        # A line without a time belongs to the one before it.
        if copied.get(line.reception) and "EventTime" in line.cells:
            reading.set_apart(SENT_TWICE)
        else:
            others.append(line)
    return _without_sent_again(others, reading)


FEWEST_ALIKE = 5
"""Two submissions with the same answers and times and at least this many lines are one that was sent twice."""


def _without_sent_again(lines: Sequence[LogLine], reading: Reading) -> list[LogLine]:
    """The lines without submissions that repeat an earlier one from the same address, times included."""
    events: dict[tuple[str, str], list[tuple[object, ...]]] = {}
    for line in lines:
        events.setdefault((line.hash, line.reception), []).append((line.order, line.label, *line.cells.values()))
    seen: set[tuple[object, ...]] = set()
    repeated: set[tuple[str, str]] = set()
    for key, sent in events.items():
        whole = (key[0], *sent)
        if len(sent) >= FEWEST_ALIKE and whole in seen:
            repeated.add(key)
        seen.add(whole)
    others = [line for line in lines if (line.hash, line.reception) not in repeated]
    reading.set_apart(SENT_TWICE, len(lines) - len(others))
    return others


def _frame(
    answered: Sequence[tuple[IbexSubmission, int, IbexAnswer]], wanted: set[str], reading: Reading, file: str
) -> pl.DataFrame:  # fmt: skip
    """The answers as a table; `wanted` are columns that the user names."""
    answers = [answer for _, _, answer in answered]
    people = [submission for submission, _, _ in answered]
    functions = _functions(answers)
    columns: dict[str, Sequence[object]] = {
        "participant": [submission.participant for submission in people],
        "item": _items(answers, functions, reading),
        "response": [answer.response for answer in answers],
        "trial": _trials(answered),
        "rt": [answer.rt for answer in answers],
    }
    if any(answer.time is not None for answer in answers):
        columns["time"] = [answer.time for answer in answers]
    if any(submission.session > 1 for submission in people):
        columns["session"] = [str(submission.session) for submission in people]
    if set(functions) != {"test"}:
        columns["function"] = functions
        reading.notes.append(Message("pcibex.function"))
    several = len({(id(submission), trial) for submission, trial, _ in answered}) < len(answered)
    if several or len({answer.kind == "typed" for answer in answers}) > 1:
        columns["question"] = [answer.element for answer in answers]
        reading.notes.append(Message("pcibex.questions"))
    # A comprehension question with two options beside a scale does not turn ratings into choices.
    chosen = [answer.left is not None for answer, function in zip(answers, functions, strict=True)
              if answer.response is not None and function == "test"]  # fmt: skip
    if any(chosen) and all(chosen):
        columns |= _sides(answers, people, reading)
    columns |= _own_columns(answers, people, columns, wanted, reading, file)
    _note_onsets(answers, reading)
    numbers = {"trial": pl.Int64, "rt": pl.Float64, "time": pl.Float64}
    frame = pl.DataFrame(columns, schema={name: numbers.get(name, pl.String) for name in columns})
    return frame.with_columns(typed_column(frame[name]) for name in frame.columns if name not in COLUMNS)


def _sides(
    answers: Sequence[IbexAnswer], people: Sequence[IbexSubmission], reading: Reading
) -> Mapping[str, Sequence[object]]:  # fmt: skip
    """The two sides of choices: the elements of a selector, or what logged columns say that these contain.

    Such columns are called left and right, or like the elements. Elements without such columns that are always in the
    same order are not compared; their names are the answers.
    """
    elements = {answer.left for answer in answers} | {answer.right for answer in answers}
    logged = {plain(name): name for answer in answers for name in answer.line.cells}
    if len(elements - {None}) <= len(SIDES) and set(SIDES) <= set(logged):
        shown = {side: logged[side] for side in SIDES}
        reading.notes.append(Message("form.shown", shown))
        contents = [[answer.line.get(shown[side]) for side in SIDES] for answer in answers]
    elif all(plain(element or "") in logged for element in elements - {None}):
        reading.notes.append(Message("pcibex.sides"))
        contents = [[answer.line.get(logged[plain(element)]) if element else None
                     for element in (answer.left, answer.right)] for answer in answers]  # fmt: skip
    else:
        if _in_one_order(answers, people):
            return {}
        reading.notes.append(Message("pcibex.sides"))
        return {"left": [answer.left for answer in answers], "right": [answer.right for answer in answers]}
    sides = [{answer.left: "left", answer.right: "right"} for answer in answers]
    responses = [side_of.get(answer.response, answer.response) for side_of, answer in zip(sides, answers, strict=True)]
    return {"response": responses} | {side: [cell[at] for cell in contents] for at, side in enumerate(SIDES)}


def _in_one_order(answers: Sequence[IbexAnswer], people: Sequence[IbexSubmission]) -> bool:
    """Whether each participant saw the same options several times and always in one order."""
    first: dict[tuple[str, frozenset[str | None]], str | None] = {}
    pairs = [(person.participant, frozenset((answer.left, answer.right)), answer.left)
             for answer, person in zip(answers, people, strict=True) if answer.left is not None]  # fmt: skip
    fixed = all(first.setdefault((participant, options), left) == left for participant, options, left in pairs)
    return fixed and len(pairs) >= FEWEST_TRIALS * len(first)


SIDES = ("left", "right")


def _functions(answers: Sequence[IbexAnswer]) -> list[str]:
    """The functions of items, by a logged column that holds nothing else or by labels."""
    names = dict.fromkeys(name for answer in answers for name in answer.line.cells if not OF_THE_TOOL.fullmatch(name))
    columns = ([answer.line.get(name) for answer in answers] for name in names)
    return functions_in(columns, _functions_by_label(answers))


def _functions_by_label(answers: Sequence[IbexAnswer]) -> list[str]:
    """The functions of items by label, by texts that ask for an answer, and by `f` or `f1` without a group."""
    labels = {answer.line.label.lower() for answer in answers}
    groups = {answer.line.label.lower() for answer in answers if answer.line.group is not None}
    fillers = {label for label in labels - groups if groups and re.fullmatch(r"f([\W_]*\d.*)?", label)}
    by_word = _words_of_labels(answers)
    functions = [
        "filler" if answer.line.label.lower() in fillers
        else "attention" if tells_the_answer(answer.sentence or "")
        else "practice" if INSTRUCTIONS.search(answer.line.label)
        else by_word.get(answer.line.label) or function_named_in(f"{answer.line.label} {answer.line.controller}")
        for answer in answers
    ]  # fmt: skip
    # Test items have more logged columns than practice items, so a test item with those of practice is practice, too.
    # Empty columns count as logged, because control items have no condition.
    logged = [frozenset(answer.line.cells) for answer in answers]
    columns_of = {function: {names for names, its in zip(logged, functions, strict=True) if its == function}
             for function in ("practice", "test")}  # fmt: skip
    tested = columns_of["test"] - columns_of["practice"]
    if tested and all(names > practised for names in tested for practised in columns_of["practice"]):
        return ["practice" if function == "test" and names in columns_of["practice"] else function
                for names, function in zip(logged, functions, strict=True)]  # fmt: skip
    return functions


INSTRUCTIONS = re.compile(r"(?i)instru[ck]t|^intro|anleitung")
"""Labels of trials that explain the task; what is judged there is an example."""


def _words_of_labels(answers: Sequence[IbexAnswer]) -> dict[str, str | None]:
    """The functions that labels name if all do, such as test_a and control_b; conditions of the same items do not."""
    groups: dict[str, set[str | None]] = {}
    for answer in answers:
        groups.setdefault(answer.line.label, set()).add(answer.line.group)
    by_label = {label: function_word(label) for label in groups if not INSTRUCTIONS.search(label)}
    kinds: dict[str | None, set[str | None]] = {}
    for label, word in by_label.items():
        kinds[word] = kinds.get(word, set()) | groups[label] - {None}
    conditions = kinds.get("control", set()) & kinds.get("test", set())
    return {} if None in kinds or conditions else by_label


def _items(answers: Sequence[IbexAnswer], functions: Sequence[str], reading: Reading) -> list[str]:
    """Items by a logged column, or else by label and Latin Square group, by order number, or by the displayed text."""
    names = {name for answer in answers for name in answer.line.cells if plain(name) in ITEM_IDS}
    column = min(names, key=lambda name: (ITEM_IDS.index(plain(name)), name), default="")
    displayed = [answer.sentence or answer.line.get(_asked(answer.line)) for answer in answers]
    in_order = _numbers_items(answers)
    items = [answer.line.get(column) or _item_of_label(answer.line, in_order) for answer in answers]
    if not column and len({(i, s) for i, s in zip(items, displayed, strict=True) if s}) > 1.05 * len(set(items)):
        orders = [f"{answer.line.label}-{answer.line.order}" for answer in answers]
        texts_by_order = {(order, text) for order, text in zip(orders, displayed, strict=True) if text}
        texts = len({text for text in displayed if text})
        # The number of an item in the script distinguishes versions, unless rows are drawn from a table.
        items = orders if len(texts_by_order) == len(set(orders)) <= 1.2 * texts else [
            text or item for text, item in zip(displayed, items, strict=True)
        ]  # fmt: skip
    test_items = {item for item, function in zip(items, functions, strict=True) if function == "test"}
    for row, (answer, function) in enumerate(zip(answers, functions, strict=True)):
        if function != "test" and items[row] in test_items:
            # Practice items and fillers are often numbered from 1 again.
            items[row] = f"{answer.line.label}-{items[row]}"
    if column:
        reading.notes.append(Message("item.column", {"column": column}))
    if any(answer.line.get(column) is None for answer in answers):
        reading.notes.append(Message("pcibex.items_by_label"))
    return items


def _asked(line: LogLine) -> str:
    """The column with the display of controllers without a sentence: the question, its legend or its markup."""
    return logged(line, ("question", "legend", "html", plain(f"Question {OR_NONE}"))) or ""


PART_SIGNS = ("+", "|", ";", "_", "-")


def _with_parts(frame: pl.DataFrame, answers: Sequence[IbexAnswer], reading: Reading) -> pl.DataFrame:
    """The table with the parts of questions that encode the design as columns; the user is asked for the item."""
    texts = [answer.line.get(_asked(answer.line)) or "" for answer in answers]
    column = next((name for answer in answers if (name := _asked(answer.line))), "")
    main = (frame["function"] != "practice").to_list() if "function" in frame.columns else [True] * len(texts)
    tested = [text for text, is_main in zip(texts, main, strict=True) if is_main]
    for sign in PART_SIGNS:
        counts = Counter(text.count(sign) for text in tested)
        width, count = counts.most_common(1)[0] if counts else (0, 0)
        if width >= FEWEST_SIGNS and count == len(tested):
            break
    else:
        return frame
    cells = [text.split(sign) if text.count(sign) == width else [None] * (width + 1) for text in texts]
    parts = {f"{column} {at + 1}": [row[at] for row in cells] for at in range(width + 1)}
    frame = frame.with_columns(pl.Series(name, values, dtype=pl.String) for name, values in parts.items())
    before = frame["function"].to_list() if "function" in frame.columns else ["test"] * frame.height
    functions = functions_in(parts.values(), before)
    if functions != before:
        reading.notes.append(Message("pcibex.function"))
        frame = frame.with_columns(pl.Series("function", functions))
    coded = Contents(frame.filter(pl.Series(main)).select("participant", *parts))
    one_participant = coded.combinations(["participant"]) == 1
    # A part that is constant within participants is a list, not part of the item.
    varied = [name for name in parts if coded[name].distinct > 1 and not coded[name].is_text
             and (one_participant or not coded.follows(name, ["participant"]))]  # fmt: skip
    frame = frame.drop(name for name in parts if coded[name].is_text)
    needed = list(varied)
    for name in sorted(varied, key=lambda part: coded[part].distinct):
        rest = [other for other in needed if other != name]
        if rest and coded.combinations(rest) == coded.combinations(varied):
            needed = rest
    if not needed:
        return frame
    first, item = f"{column} 1", pl.concat_str(needed, separator=" + ", ignore_nulls=True)
    sample = [" + ".join(row) for row in coded.frame.select(needed).drop_nulls().head(2).iter_rows()]
    detail = {"n": coded.combinations(needed), "sample": sample, "least": None, "most": None}
    reading.open.append(Question("item", (
        Proposal({"item": "+".join(needed)}, Message("ask.item_choice", detail)),
        Proposal({"item": first}, Message("ask.item_choice", {**detail, "n": coded[first].distinct})),
    ), by_name=len(needed) > 1))  # fmt: skip
    named = pl.when(pl.col(needed[0]).is_not_null()).then(item).otherwise(pl.col("item")).alias("item")
    return frame.with_columns(named)


def _item_of_label(line: LogLine, in_order: bool) -> str:
    return f"{line.label}-{line.order if in_order else line.group or line.order}"


MOST_OF_GROUP = 1.2


def _numbers_items(answers: Sequence[IbexAnswer]) -> bool:
    """Whether groups are not lexical sets, because participants saw several items of one label and group."""
    lines = [answer.line for answer in answers if answer.line.group is not None]
    grouped = {(line.reception, line.hash, line.label, line.group) for line in lines}
    numbered = {(line.reception, line.hash, line.label, line.order) for line in lines}
    return len(numbered) > MOST_OF_GROUP * len(grouped)


def _trials(answered: Sequence[tuple[IbexSubmission, int, IbexAnswer]]) -> list[int]:
    positions: dict[tuple[int, int], int] = {}
    counts: Counter[int] = Counter()
    for submission, trial, _ in answered:
        if (id(submission), trial) not in positions:
            counts[id(submission)] += 1
            positions[id(submission), trial] = submission.first_trial + counts[id(submission)]
    return [positions[id(submission), trial] for submission, trial, _ in answered]


def _own_columns(
    answers: Sequence[IbexAnswer],
    people: Sequence[IbexSubmission],
    reserved: Iterable[str],
    wanted: set[str],
    reading: Reading,
    file: str,
) -> dict[str, Sequence[object]]:
    """The columns that the experiment logged, under their own names, and those that every line has."""
    names = dict.fromkeys(name for answer in answers for name in answer.line.cells if not OF_THE_TOOL.fullmatch(name))
    answer_columns = {name for name in names if plain(name) in (*ANSWERS, *RESPONSE_TIMES)}
    answer_columns |= {name or "" for answer in answers if answer.kind == "question"
             for name in (own_answer(answer.line), logged(answer.line, TIMES))}  # fmt: skip
    names = {name: None for name in names if name not in answer_columns or name in wanted}
    personal = [name for name in names if names_a_person(name) or _names_people(name, people)]
    personal = [name for name in personal if name not in wanted]
    reading.notes += left_out_note(personal, file)
    columns: dict[str, Sequence[object]] = {}
    for name in names:
        if name not in personal and not _is_participant(name, answers, people):
            new_name = own_name(name, list(reserved), list(names))
            if name != "item":
                columns[new_name] = [answer.line.get(name) for answer in answers]
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
    """Whether a column for ids holds names or addresses."""
    if plain(name) not in ID_NAMES:
        return False
    submissions = {id(submission): submission for submission in people}.values()
    return not are_codes(
        value for submission in submissions for line in submission.lines if (value := (line.get(name) or "").strip())
    )


def _list_of_group(
    answers: Sequence[IbexAnswer], people: Sequence[IbexSubmission], reading: Reading
) -> dict[str, Sequence[object]]:  # fmt: skip
    """The list, if each participant has one value in the column Group, by which PCIbex selects rows of a table.

    The design number is not a list, because it counts participants.
    """
    groups = [answer.line.get("Group") or answer.line.get("group") for answer in answers]
    groups_of_people = {(id(person), group) for person, group in zip(people, groups, strict=True) if group is not None}
    if not groups_of_people or len({person for person, _ in groups_of_people}) < len(groups_of_people):
        return {}
    reading.notes.append(Message("pcibex.list"))
    return {"list": groups}


def _is_participant(name: str, answers: Sequence[IbexAnswer], people: Sequence[IbexSubmission]) -> bool:
    return plain(name) in ID_NAMES and all(
        answer.line.get(name) in (None, person.participant) for answer, person in zip(answers, people, strict=True)
    )


def _note_onsets(answers: Sequence[IbexAnswer], reading: Reading) -> None:
    timed = [answer for answer in answers if answer.rt is not None and answer.kind != "question"]
    from_display = sum(answer.from_display for answer in timed)
    if from_display:
        reading.notes.append(Message("pcibex.rt_from_display", {"n": from_display}))
    if len(timed) > from_display:
        reading.notes.append(Message("pcibex.rt_from_start", {"n": len(timed) - from_display}))


def recognises(file: SourceFile) -> bool:
    """Whether a file has results of Ibex: text with or without comments, raw results, or a table of lines."""
    if file.suffix in (".zip", ".json"):
        return False
    return is_log(file.sample) or is_bare(file.sample) or is_raw(file.sample) or is_table(file)


READER = Reader("pcibex", "results of PCIbex or Ibex", recognises, read_pcibex)
