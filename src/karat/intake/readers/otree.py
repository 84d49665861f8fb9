"""oTree: the wide export of all apps, the export of one app, and their page times.

Each app is first converted to one row per participant and round; then every answer of a round becomes a judgment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from karat.errors import IntakeError
from karat.intake.cells import (
    ORDER,
    ROW,
    chained,
    column_named,
    is_free_text,
    is_true,
    one_row_each,
    own_name,
    refuse_cells,
    stacked,
    texts,
    unit_of_times,
)
from karat.intake.content import ITEM_IDS, RESPONSE_TIMES
from karat.intake.guess import plain
from karat.intake.personal import PROLIFIC_ID, are_codes, names_a_person
from karat.intake.reading import Options, Reader, Reading
from karat.judgments.columns import COLUMNS
from karat.judgments.message_tables import listed
from karat.judgments.source import SourceFile
from karat.judgments.tables import FileTable, header_of, read_table
from karat.judgments.times import instants
from karat.messages import Message

EPOCH = ("epoch_time_completed", "epoch_time")
NEEDED = ("participant_code", "page_index", "app_name", "page_name", "round_number")
NO_TIMES = {"_time": pl.Float64, "_rt": pl.Float64}
PAGE_TIME = "seconds on "


def recognises_times(header: Sequence[str]) -> bool:
    """Whether a header belongs to page times."""
    return set(NEEDED) <= set(header) and any(name in header for name in EPOCH)


def page_times(tables: Sequence[FileTable], reading: Reading) -> pl.DataFrame:
    """The time on each page, from the end of the previous page."""
    parts = []
    for table in tables:
        reading.add_table(table)
        parts.append(_moments(table, reading))
    pages = pl.concat(parts).sort("_code", "_time", "_index", maintain_order=True)
    reading.set_apart(Message("aside.page_times"), pages.height)
    return pages.with_columns(_rt=(pl.col("_time") - pl.col("_time").shift(1)).over("_code"))


def _moments(table: FileTable, reading: Reading) -> pl.DataFrame:
    frame = table.frame
    epoch = next(name for name in EPOCH if name in frame.columns)
    numbers = {"_time": epoch, "_index": "page_index", "_round": "round_number"}
    moments = frame.select(
        pl.col("participant_code").alias("_code"),
        pl.col("app_name").alias("_app"),
        pl.col("page_name").alias("_page"),
        *(pl.col(old).str.strip_chars().cast(pl.Float64, strict=False).alias(new) for new, old in numbers.items()),
        is_true(frame["is_wait_page"]).alias("_wait")
        if "is_wait_page" in frame.columns
        else pl.lit(False).alias("_wait"),
    )
    wrong = moments["_time"].is_null() | moments["_time"].is_infinite() | moments["_time"].is_nan()
    what, fix = "is not a moment in seconds since 1970", "Fix the row, or leave it out with --skip-bad."
    refuse_cells(reading.problems, table, frame[epoch].fill_null(""), wrong, what, fix)
    reading.bad_units += int(wrong.sum())
    return moments.filter(~wrong)


def join_times(rounds: pl.DataFrame, app: str, pages: pl.DataFrame | None, reading: Reading) -> pl.DataFrame:
    """The rounds of an app with the moment and the duration of the page with the question.

    This is the page that most rounds have: an introduction belongs to the first round, results to the last. If several
    pages occur in equally many rounds, nothing shows which one has the question, and each becomes a column.
    """
    empty = rounds.with_columns(pl.lit(None, dtype=dtype).alias(name) for name, dtype in NO_TIMES.items())
    if pages is None:
        return empty
    of_app = pages.filter((pl.col("_app") == app) & ~pl.col("_wait")).with_columns(
        pl.col("_round").cast(pl.Int64, strict=False), pl.col("_page").fill_null("unnamed")
    )
    of_app = of_app.filter(pl.col("_round").is_not_null())
    if not of_app.height:
        reading.notes.append(Message("otree.no_page_times", {"app": app}))
        return empty
    of_app = of_app.unique(["_code", "_round", "_page"], keep="last", maintain_order=True)
    uses = of_app.group_by("_page", maintain_order=True).len()
    with_question = uses.filter(pl.col("len") == pl.col("len").max())["_page"].to_list()
    rounds = rounds.with_columns(pl.col("_round").cast(pl.Int64))
    for page in with_question:
        column = pl.col("_rt").alias(f"{PAGE_TIME}{page}")
        rounds = _joined(rounds, of_app.filter(pl.col("_page") == page).select("_code", "_round", "_time", column))
    if len(with_question) == 1:
        others = [page for page in uses["_page"].to_list() if page not in with_question]
        values = {"app": app, "page": with_question[0], "others": listed(others) if others else None}
        reading.notes.append(Message("otree.page_times", values))
        return rounds.rename({f"{PAGE_TIME}{with_question[0]}": "_rt"})
    values = {"app": app, "pages": listed(with_question), "column": f"{PAGE_TIME}{with_question[0]}"}
    reading.notes.append(Message("otree.several_pages", values))
    return rounds.with_columns(pl.lit(None, dtype=pl.Float64).alias("_rt"))


def _joined(rounds: pl.DataFrame, times: pl.DataFrame) -> pl.DataFrame:
    """The rounds with the time on one more page; the end of the last page is the time of the answer."""
    joined = rounds.join(times, on=["_code", "_round"], how="left", maintain_order="left", suffix="_more")
    if "_time_more" not in joined.columns:
        return joined
    return joined.with_columns(pl.max_horizontal("_time", "_time_more").alias("_time")).drop("_time_more")


WIDE_COLUMN = re.compile(r"([A-Za-z_]\w*)\.(\d{1,6})\.player\.(\w+)")
APP_COLUMN = re.compile(r"player\.(\w+)")
EXPORT_DATE = re.compile(r"[ _-]*(\(accessed.*\)|\d{4}-\d\d-\d\d.*)$")
BUILT_IN = ("id_in_group", "role", "payoff")
ITEM_NAMES = (*ITEM_IDS, "stimulus", "sentence", "satz")
DESCRIPTIONS = (
    *ITEM_NAMES, "condition", "list", "listid", "block", "function", "itemfunction", "subgroup", "status", "trial",
    "trialid", "trialnumber", "position", "order", "presentationorder", "expected", "correct", "correctanswer",
    "iscorrect", "pair", "left", "right", "treatment", "text", "context", "solution", "round",
    "roundnumber", "bedingung", "liste",
)  # fmt: skip


@dataclass
class App:
    """One app: one row per participant and round, and the kinds of its fields."""

    name: str
    rounds: pl.DataFrame
    fields: list[str]
    answers: list[str] = field(default_factory=list)
    item: str | None = None
    rt: str | None = None
    free_text: list[str] = field(default_factory=list)
    personal: list[str] = field(default_factory=list)
    background: list[str] = field(default_factory=list)
    """Fields that only one of many rounds asks for, such as age."""

    @property
    def is_background(self) -> bool:
        """Whether the app may be a questionnaire about the participant, because it has one round and no item."""
        return self.item is None and self.rounds["_round"].n_unique() <= 1

    @property
    def described(self) -> list[str]:
        """The fields that describe a round rather than answer it."""
        others = {*BUILT_IN, *self.answers, *self.free_text, *self.personal, *self.background}
        return [name for name in self.fields if name not in others]


def apps_of(exports: Sequence[FileTable], reading: Reading) -> list[App]:
    """The apps of all files; a round in two files counts once."""
    parts: dict[str, list[pl.DataFrame]] = {}
    offset = 0
    for number, table in enumerate(exports):
        reading.notes += table.notes
        reading.problems.extend(table.problems)
        rounds = _rounds_of(table, offset, reading)
        bad_rows = table.rows_in - table.frame.height
        unreadable = bad_rows * sum(is_player(name) for name in table.frame.columns)
        reading.units_in += unreadable
        reading.bad_units += unreadable
        offset += table.frame.height
        for app, frame in rounds.items():
            parts.setdefault(app, []).append(frame.with_columns(_file=pl.lit(number)))
    apps = []
    for name, frames in parts.items():
        long = pl.concat(frames, how="diagonal_relaxed")
        fields = [column for column in long.columns if not column.startswith(("_", " "))]
        reading.units_in += long.height * len(fields)
        first = pl.col("_file").min().over("_code", "_round")
        repeated = long.filter(pl.col("_file") > first).height
        reading.set_apart(Message("aside.repeated_round_cells"), repeated * len(fields))
        apps.append(App(name, long.filter(pl.col("_file") == first).drop("_file"), fields))
    return apps


def is_player(name: str) -> bool:
    """Whether a column is a field of players, in the wide export or in that of one app."""
    return bool(WIDE_COLUMN.fullmatch(name) or APP_COLUMN.fullmatch(name))


def _rounds_of(table: FileTable, offset: int, reading: Reading) -> dict[str, pl.DataFrame]:
    frame = table.frame
    if "participant.code" not in frame.columns:
        raise IntakeError(f"{table.file.name} has no column participant.code; it is not an oTree export.")
    keyed = frame.with_row_index(ROW, offset).with_columns(pl.col(ROW).cast(pl.Int64))
    code = pl.col("participant.code").alias("_code")
    groups: dict[tuple[str, int], dict[str, str]] = {}
    for name in frame.columns:
        if match := WIDE_COLUMN.fullmatch(name):
            groups.setdefault((match[1], int(match[2])), {})[_clear(match[3])] = name
    rounds: dict[str, list[pl.DataFrame]] = {}
    for (app, number), fields in groups.items():
        renamed = [pl.col(column).alias(name) for name, column in fields.items()]
        rounds.setdefault(app, []).append(keyed.select(ROW, code, pl.lit(number).alias("_round"), *renamed))
    rounds_by_app = {app: pl.concat(frames, how="diagonal_relaxed") for app, frames in rounds.items()}
    of_app = {_clear(match[1]): name for name in frame.columns if (match := APP_COLUMN.fullmatch(name))}
    if of_app:
        app = EXPORT_DATE.sub("", table.file.path.stem) or table.file.path.stem
        rounds_by_app[app] = _rounds_of_app(table, keyed, of_app, reading)
    if not rounds_by_app:
        raise IntakeError(f"{table.file.name} has no fields of players, such as survey.1.player.rating.")
    return rounds_by_app


def _clear(name: str) -> str:
    """The name of a field, changed if it could clash with the reader's own columns."""
    return f"field{name}" if name.startswith("_") else name


def _rounds_of_app(table: FileTable, keyed: pl.DataFrame, fields: dict[str, str], reading: Reading) -> pl.DataFrame:
    """The rounds in the export of one app, which already has one row per participant and round."""
    name = "subsession.round_number"
    number = pl.int_range(1, pl.len() + 1).over("participant.code")
    if name in keyed.columns:
        number = pl.col(name).str.strip_chars().cast(pl.Int64, strict=False)
    else:
        reading.notes.append(Message("otree.rounds_counted", {"file": table.file.name, "column": name}))
    renamed = [pl.col(column).alias(field) for field, column in fields.items()]
    rounds = keyed.select(ROW, pl.col("participant.code").alias("_code"), number.alias("_round"), *renamed)
    wrong = rounds["_round"].is_null()
    if wrong.any():
        what, fix = "is not the number of a round", "Write a whole number."
        refuse_cells(reading.problems, table, keyed[name].fill_null(""), wrong, what, fix)
    reading.units_in += int(wrong.sum()) * len(fields)
    reading.bad_units += int(wrong.sum()) * len(fields)
    return rounds.filter(~wrong)


def classify_fields(app: App, mapping: Mapping[str, str]) -> None:
    """Set the kinds of an app's fields: answers are not filled by oTree, and their names do not describe a round.

    A field that the user maps to a column of karat describes the round, unless it is the response.
    """
    mapped = {column: name for column, name in mapping.items() if name in app.fields}
    app.item = mapped.get("item") or column_named(app.fields, ITEM_NAMES)
    app.rt = mapped.get("rt") or column_named(app.fields, RESPONSE_TIMES)
    app.personal = [name for name in app.fields if names_a_person(name)]
    if "response" in mapped:
        app.answers = [mapped["response"]]
        return
    for name in app.fields:
        is_description = name in mapped.values() or plain(name) in DESCRIPTIONS or not texts(app.rounds[name])
        if name not in (*BUILT_IN, *app.personal, app.rt) and not is_description:
            (app.free_text if _is_remark(name, texts(app.rounds[name])) else app.answers).append(name)
    rounds = app.rounds.group_by("_code").agg(pl.col(app.answers).is_not_null().sum())
    asked_once = [name for name in app.answers if rounds[name].max() == 1]
    app.background = asked_once if len(asked_once) < len(app.answers) else []
    app.answers = [name for name in app.answers if name not in app.background]
    shown_fields = [name for name in app.answers if app.item is None and _is_shown(app.rounds, name)]
    if shown_fields and len(app.answers) > 1:
        app.item = shown_fields[0]
        app.answers.remove(shown_fields[0])


FEWEST_ROUNDS = 3


def _is_shown(rounds: pl.DataFrame, name: str) -> bool:
    """Whether a field was shown, because it differs between rounds but many participants have the same values."""
    people = (
        rounds.drop_nulls(name)
        .group_by("_code")
        .agg(pl.col(name).n_unique().alias("distinct"), pl.len().alias("n"), pl.col(name).unique().sort().alias("all"))
    )
    all_differ = bool((people["distinct"] == people["n"]).all()) and bool((people["n"] >= FEWEST_ROUNDS).all())
    return all_differ and "rank" not in name.lower() and 2 * people["all"].n_unique() <= people.height


def _is_remark(name: str, answers: list[str]) -> bool:
    return is_free_text(answers) or bool(re.search("comment|feedback|remark", name.lower()))


NOT_REACHED = Message("aside.unreached_round_cells")


def recognises(file: SourceFile) -> bool:
    """Whether the table has `participant.code` and fields of players, or page times."""
    header = _lower(header_of(file))
    return recognises_times(header) or ("participant.code" in header and any(map(is_player, header)))


def _lower(names: Sequence[str]) -> list[str]:
    """The column names in lower case if oTree's own names have capitals; unchanged otherwise."""
    lower = [name.lower() for name in names]
    code_names = {"participant.code", "participant_code"}
    if code_names & set(lower) and not code_names & set(names) and len(set(lower)) == len(lower):
        return lower
    return list(names)


def read_otree(files: Sequence[SourceFile], options: Options) -> Reading:
    """Read the exports of one study together."""
    tables = [read_table(file, options.delimiter, options.sheet) for file in files]
    for table in tables:
        table.frame.columns = _lower(table.frame.columns)
    times = [table for table in tables if recognises_times(table.frame.columns)]
    exports = [table for table in tables if table not in times]
    if not exports:
        raise IntakeError(
            f"{files[0].name} holds page times only, and no answers. Give the data with it: "
            "the file all_apps_wide or the file of the app."
        )
    reading = Reading(
        pl.DataFrame(), chained([(table.frame.height, table.locate) for table in exports]), units_in=0, unit="cells"
    )
    apps = apps_of(exports, reading)
    people = _people(exports, reading.notes)
    for app in apps:
        classify_fields(app, options.mapping)
    judged = [app for app in apps if app.answers and not app.is_background]
    judged = judged or [app for app in apps if app.answers]
    for app in apps:
        people = _account(app, app in judged, people, reading)
    if judged:
        _judge(judged, times, people, options, reading)
    reading.participants = one_row_each(people.drop("_code"))
    for name, code in (("is_bot", "otree.bots"), ("is_demo", "otree.demo")):
        count = int(reading.participants[name].sum()) if name in reading.participants.columns else 0
        if count:
            reading.notes.append(Message(code, {"n": count}))
    return reading


def _people(exports: Sequence[FileTable], notes: list[Message]) -> pl.DataFrame:
    """One row per participant, and a note on their ids."""
    names = {
        "participant.label": "label", "participant._is_bot": "is_bot", "session.is_demo": "is_demo",
        "participant.time_started_utc": "started", "participant.time_started": "started",
        "participant._current_page_name": "last_page", "participant.mturk_worker_id": "mturk_worker_id",
        "session.code": "session_code", "session.config.name": "config",
    }  # fmt: skip
    parts = []
    for table in exports:
        existing = {old: new for old, new in names.items() if old in table.frame.columns}
        if "participant.time_started_utc" in existing:
            existing.pop("participant.time_started", None)
        columns = [pl.col(old).alias(new) for old, new in existing.items()]
        parts.append(table.frame.select(pl.col("participant.code").alias("_code"), *columns))
    people = pl.concat(parts, how="diagonal_relaxed").unique("_code", keep="first", maintain_order=True)
    people = people.with_columns(is_true(people[name]) for name in ("is_bot", "is_demo") if name in people.columns)
    if "label" in people.columns and not are_codes(people["label"].drop_nulls().to_list()):
        people = people.drop("label")
        notes.append(Message("otree.label_left_out"))
    if "started" in people.columns:
        people = people.with_columns(instants(people["started"]).alias("started"))
    ids_of = (("label", Message("otree.prolific_ids")), ("mturk_worker_id", Message("otree.worker_ids")))
    for name, note in ids_of:
        ids = people[name].drop_nulls() if name in people.columns else pl.Series([], dtype=pl.String)
        is_id = name != "label" or all(PROLIFIC_ID.fullmatch(label) for label in ids.to_list())
        if ids.len() and is_id and ids.n_unique() == ids.len():
            who = pl.coalesce(name, "_code").alias("participant")
            people = people.select(who, pl.col("_code").alias("code"), pl.exclude(name))
            notes.append(note)
            return people
    notes.append(Message("otree.codes"))
    return people.select(pl.col("_code").alias("participant"), pl.all())


def _account(app: App, is_judged: bool, people: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Count the cells of an app that are not judgments, and add answers about participants to their table."""
    height = app.rounds.height
    reading.set_apart(Message("aside.otree_cells"), height * sum(name in BUILT_IN for name in app.fields))
    reading.set_apart(Message("aside.free_text_cells"), height * len(app.free_text))
    reading.set_apart(Message("aside.personal_cells"), height * len(app.personal))
    reading.set_apart(Message("aside.round_cells"), height * len(app.described))
    background = [*app.background, *([] if is_judged else app.answers)]
    if not background:
        return people
    reading.set_apart(Message("aside.background_cells"), height * len(background))
    code = "otree.asked_once" if is_judged else "otree.background"
    reading.notes.append(Message(code, {"app": app.name, "answers": listed(background), "n": len(background)}))
    answers = app.rounds.group_by("_code").agg(
        pl.col(name).drop_nulls().first().alias(f"{app.name}.{name}") for name in background
    )
    return people.join(answers, on="_code", how="left", maintain_order="left")


def _judge(
    apps: Sequence[App], times: Sequence[FileTable], people: pl.DataFrame, options: Options, reading: Reading
) -> None:
    """Make a judgment of each answer of each round that a participant reached."""
    pages = page_times(times, reading) if times else None
    questions = list(dict.fromkeys(name for app in apps for name in app.answers))
    reached = []
    for index, app in enumerate(apps):
        rounds = join_times(app.rounds, app.name, pages, reading)
        is_reached = pl.any_horizontal(pl.col(app.answers).is_not_null()) | pl.col("_time").is_not_null()
        rounds_reached = rounds.filter(is_reached)
        reading.set_apart(NOT_REACHED, (rounds.height - rounds_reached.height) * len(app.answers))
        reached.append(rounds_reached.with_columns(_app=pl.lit(index)))
    order = pl.concat([rounds.select(ROW, "_code", "_app", "_round") for rounds in reached])
    position = pl.struct("_app", "_round").rank("dense").over("_code").cast(pl.Int64).alias("_trial")
    order = order.unique(["_code", "_app", "_round"]).with_columns(position).drop(ROW)
    blocks = []
    for app, rounds in zip(apps, reached, strict=True):
        ordered = rounds.join(order, on=["_code", "_app", "_round"], how="left", nulls_equal=True)
        blocks += _blocks(app, ordered, people, options, reading, questions)
    reading.frame, reading.locate = stacked(blocks, reading.locate)
    for app in apps:
        reading.notes.append(Message("otree.answers", {"app": app.name, "answers": listed(app.answers)}))
    if len(questions) > 1:
        reading.notes.append(Message("otree.several_answers"))


def _blocks(
    app: App, rounds: pl.DataFrame, people: pl.DataFrame, options: Options, reading: Reading, questions: Sequence[str]
) -> list[pl.DataFrame]:
    item = pl.col(app.item) if app.item else pl.format("{}.{}", pl.lit(app.name), "_round")
    if app.item:
        reading.notes.append(Message("otree.item", {"app": app.name, "field": app.item}))
    else:
        reading.notes.append(Message("otree.item_by_round", {"app": app.name}))
    times = _times(app, rounds, options, reading)
    columns = [item.alias("item"), pl.col("_trial").alias("trial"), *times]
    others = [name for name in app.described if name not in (app.item, app.rt)]
    columns += [pl.lit(app.name).alias("app"), pl.col("_round").alias("round")]
    columns += _mapped(app, times, options)
    columns += [pl.col(name).alias(own_name(name, ("app", "round", "code"), app.fields)) for name in others]
    ids = people.select("_code", *(name for name in ("participant", "code") if name in people.columns))
    joined = rounds.join(ids, on="_code", how="left", nulls_equal=True, suffix="_field", maintain_order="left")
    names = [pl.col(name if name not in rounds.columns else f"{name}_field").alias(name) for name in ids.columns[1:]]
    blocks = []
    for position, name in enumerate(app.answers):
        question = [pl.lit(name).alias("question")] if len(questions) > 1 else []
        order = pl.col("_round") * len(app.answers) + position
        answer = pl.col(name).alias("response")
        blocks.append(
            joined.select(ROW, order.alias(ORDER), names[0], *columns[:1], answer, *question, *columns[1:], *names[1:])
        )
    return blocks


def _mapped(app: App, times: Sequence[pl.Expr], options: Options) -> list[pl.Expr]:
    """Fields that the user maps to item, rt or response, under their own names, so that mappings can use them."""
    fields = {app.item: [pl.col(app.item or "")], app.rt: times[:1], app.answers[0]: [pl.col(app.answers[0])]}
    mapped_names = {
        name for column, name in options.mapping.items() if column in ("item", "rt", "response")
    } - COLUMNS.keys()
    return [column.alias(name) for name, parts in fields.items() if name and name in mapped_names for column in parts]


def _times(app: App, rounds: pl.DataFrame, options: Options, reading: Reading) -> list[pl.Expr]:
    """The response time: from a field of the app, or else the time on the page."""
    when = [pl.col("_time").alias("time")] if rounds["_time"].null_count() < rounds.height else []
    when += [pl.col(name) for name in rounds.columns if name.startswith(PAGE_TIME)]
    if app.rt is None:
        return [*([pl.col("_rt").alias("rt")] if rounds["_rt"].null_count() < rounds.height else []), *when]
    numbers = rounds[app.rt].str.strip_chars().cast(pl.Float64, strict=False)
    unit = unit_of_times(numbers, rounds["_code"], app.rt, app.name, options, reading)
    whole = numbers.null_count() == rounds[app.rt].null_count()
    seconds = pl.col(app.rt).str.strip_chars().cast(pl.Float64, strict=False) / (1000 if unit == "ms" else 1)
    return [(seconds if whole else pl.col(app.rt)).alias("rt"), *when]


READER = Reader("otree", "results of oTree", recognises, read_otree, together=True)
