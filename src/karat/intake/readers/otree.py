"""oTree: the wide export of all apps, the export of one app, and the page times that belong to them.

Each app is first brought into one row per participant and round; then every answer of a round becomes a judgment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from karat.errors import IntakeError
from karat.intake.cells import ORDER, ROW, chained, is_free_text, is_true, one_row_each, own_name, stacked, texts
from karat.intake.content import ITEM_IDS, RESPONSE_TIMES
from karat.intake.guess import guess_rt_unit, plain
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
    """Whether a header is that of page times."""
    return set(NEEDED) <= set(header) and any(name in header for name in EPOCH)


def page_times(tables: Sequence[FileTable], reading: Reading) -> pl.DataFrame:
    """The time that each page took: from the moment the page before was left."""
    parts = []
    for table in tables:
        reading.notes += table.notes
        reading.problems.extend(table.problems)
        reading.units_in += table.rows_in
        reading.bad_units += table.rows_in - table.frame.height
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
    for row in wrong.arg_true().to_list():
        what, fix = "is not a moment in seconds since 1970", "Fix the row, or leave it out with --skip-bad."
        reading.problems.at(table.locate(row), what, fix, epoch, frame[epoch][row] or "")
    reading.bad_units += int(wrong.sum())
    return moments.filter(~wrong)


def join_times(rounds: pl.DataFrame, app: str, pages: pl.DataFrame | None, reading: Reading) -> pl.DataFrame:
    """The rounds of an app with the moment and the duration of the page that asks.

    That is the page that most rounds have: an introduction belongs to the first round, results to the last. Where
    several pages are in as many rounds, nothing shows which of them asks, and each gives a column of its own.
    """
    empty = rounds.with_columns(pl.lit(None, dtype=dtype).alias(name) for name, dtype in NO_TIMES.items())
    if pages is None:
        return empty
    mine = pages.filter((pl.col("_app") == app) & ~pl.col("_wait")).with_columns(
        pl.col("_round").cast(pl.Int64, strict=False), pl.col("_page").fill_null("unnamed")
    )
    mine = mine.filter(pl.col("_round").is_not_null())
    if not mine.height:
        reading.notes.append(Message("otree.no_page_times", {"app": app}))
        return empty
    mine = mine.unique(["_code", "_round", "_page"], keep="last", maintain_order=True)
    uses = mine.group_by("_page", maintain_order=True).len()
    asking = uses.filter(pl.col("len") == pl.col("len").max())["_page"].to_list()
    rounds = rounds.with_columns(pl.col("_round").cast(pl.Int64))
    for page in asking:
        column = pl.col("_rt").alias(f"{PAGE_TIME}{page}")
        rounds = _joined(rounds, mine.filter(pl.col("_page") == page).select("_code", "_round", "_time", column))
    if len(asking) == 1:
        others = [page for page in uses["_page"].to_list() if page not in asking]
        values = {"app": app, "page": asking[0], "others": listed(others) if others else None}
        reading.notes.append(Message("otree.page_times", values))
        return rounds.rename({f"{PAGE_TIME}{asking[0]}": "_rt"})
    values = {"app": app, "pages": listed(asking), "column": f"{PAGE_TIME}{asking[0]}"}
    reading.notes.append(Message("otree.several_pages", values))
    return rounds.with_columns(pl.lit(None, dtype=pl.Float64).alias("_rt"))


def _joined(rounds: pl.DataFrame, times: pl.DataFrame) -> pl.DataFrame:
    """The rounds with the time on one more page; an answer was given when the last of the pages was left."""
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
    """One app: a row a participant and round, and what its fields are."""

    name: str
    rounds: pl.DataFrame
    fields: list[str]
    answers: list[str] = field(default_factory=list)
    item: str | None = None
    rt: str | None = None
    free_text: list[str] = field(default_factory=list)
    personal: list[str] = field(default_factory=list)
    background: list[str] = field(default_factory=list)
    """Fields that one round of many asks, such as the age of the participant."""

    @property
    def is_background(self) -> bool:
        """Asked once and about no item: a questionnaire about the participant, where other apps ask for judgments."""
        return self.item is None and self.rounds["_round"].n_unique() <= 1

    @property
    def described(self) -> list[str]:
        """The fields that describe a round rather than answer it."""
        known = {*BUILT_IN, *self.answers, *self.free_text, *self.personal, *self.background}
        return [name for name in self.fields if name not in known]


def apps_of(exports: Sequence[FileTable], reading: Reading) -> list[App]:
    """The apps of all files; a round that two files hold counts once."""
    parts: dict[str, list[pl.DataFrame]] = {}
    offset = 0
    for number, table in enumerate(exports):
        reading.notes += table.notes
        reading.problems.extend(table.problems)
        rounds = _rounds_of(table, offset, reading)
        broken = table.rows_in - table.frame.height
        lost = broken * sum(is_player(name) for name in table.frame.columns)
        reading.units_in += lost
        reading.bad_units += lost
        offset += table.frame.height
        for app, frame in rounds.items():
            parts.setdefault(app, []).append(frame.with_columns(_file=pl.lit(number)))
    apps = []
    for name, frames in parts.items():
        long = pl.concat(frames, how="diagonal_relaxed")
        fields = [column for column in long.columns if not column.startswith(("_", " "))]
        reading.units_in += long.height * len(fields)
        first = pl.col("_file").min().over("_code", "_round")
        again = long.filter(pl.col("_file") > first).height
        reading.set_apart(Message("aside.repeated_round_cells"), again * len(fields))
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
        chosen = [pl.col(column).alias(name) for name, column in fields.items()]
        rounds.setdefault(app, []).append(keyed.select(ROW, code, pl.lit(number).alias("_round"), *chosen))
    found = {app: pl.concat(frames, how="diagonal_relaxed") for app, frames in rounds.items()}
    own = {_clear(match[1]): name for name in frame.columns if (match := APP_COLUMN.fullmatch(name))}
    if own:
        app = EXPORT_DATE.sub("", table.file.path.stem) or table.file.path.stem
        found[app] = _rounds_of_app(table, keyed, own, reading)
    if not found:
        raise IntakeError(f"{table.file.name} has no fields of players, such as survey.1.player.rating.")
    return found


def _clear(name: str) -> str:
    """A field's name that does not clash with the columns that are kept beside the fields."""
    return f"field{name}" if name.startswith("_") else name


def _rounds_of_app(table: FileTable, keyed: pl.DataFrame, fields: dict[str, str], reading: Reading) -> pl.DataFrame:
    """The export of one app has a row a participant and round already."""
    name = "subsession.round_number"
    number = pl.int_range(1, pl.len() + 1).over("participant.code")
    if name in keyed.columns:
        number = pl.col(name).str.strip_chars().cast(pl.Int64, strict=False)
    else:
        reading.notes.append(Message("otree.rounds_counted", {"file": table.file.name, "column": name}))
    chosen = [pl.col(column).alias(field) for field, column in fields.items()]
    rounds = keyed.select(ROW, pl.col("participant.code").alias("_code"), number.alias("_round"), *chosen)
    wrong = rounds["_round"].is_null()
    for row in wrong.arg_true().to_list():
        what, fix = "is not the number of a round", "Write a whole number."
        reading.problems.at(table.locate(row), what, fix, name, keyed[name][row] or "")
    reading.units_in += int(wrong.sum()) * len(fields)
    reading.bad_units += int(wrong.sum()) * len(fields)
    return rounds.filter(~wrong)


def tell_fields_apart(app: App, mapping: Mapping[str, str]) -> None:
    """Which fields are answers: those that oTree does not fill itself and whose names do not describe a round.

    A field that the user maps to a column of karat describes the round, unless it is the response.
    """
    by_name = {plain(name): name for name in reversed(app.fields)}
    mapped = {column: name for column, name in mapping.items() if name in app.fields}
    app.item = mapped.get("item") or next((by_name[name] for name in ITEM_NAMES if name in by_name), None)
    app.rt = mapped.get("rt") or next((by_name[name] for name in RESPONSE_TIMES if name in by_name), None)
    app.personal = [name for name in app.fields if names_a_person(name)]
    if "response" in mapped:
        app.answers = [mapped["response"]]
        return
    for name in app.fields:
        is_description = name in mapped.values() or plain(name) in DESCRIPTIONS or not texts(app.rounds[name])
        if name not in (*BUILT_IN, *app.personal, app.rt) and not is_description:
            (app.free_text if _is_remark(name, texts(app.rounds[name])) else app.answers).append(name)
    rounds = app.rounds.group_by("_code").agg(pl.col(app.answers).is_not_null().sum())
    once = [name for name in app.answers if rounds[name].max() == 1]
    app.background = once if len(once) < len(app.answers) else []
    app.answers = [name for name in app.answers if name not in app.background]
    shown = [name for name in app.answers if app.item is None and _is_shown(app.rounds, name)]
    if shown and len(app.answers) > 1:
        app.item = shown[0]
        app.answers.remove(shown[0])


FEWEST_ROUNDS = 3


def _is_shown(rounds: pl.DataFrame, name: str) -> bool:
    """Whether a field differs in every round of a participant, and many have the same values: it was shown."""
    each = (
        rounds.drop_nulls(name)
        .group_by("_code")
        .agg(pl.col(name).n_unique().alias("own"), pl.len().alias("n"), pl.col(name).unique().sort().alias("all"))
    )
    apart = bool((each["own"] == each["n"]).all()) and bool((each["n"] >= FEWEST_ROUNDS).all())
    return apart and "rank" not in name.lower() and 2 * each["all"].n_unique() <= each.height


def _is_remark(name: str, answers: list[str]) -> bool:
    return is_free_text(answers) or bool(re.search("comment|feedback|remark", name.lower()))


NOT_REACHED = Message("aside.unreached_round_cells")


def recognises(file: SourceFile) -> bool:
    """A table with `participant.code` and fields of players, or a table of page times."""
    header = _lower(header_of(file))
    if recognises_times(header):
        return True
    has_fields = any(is_player(name) for name in header)
    return "participant.code" in header and has_fields


def _lower(names: Sequence[str]) -> list[str]:
    """The names of columns in lower case where a file has oTree's own names in capitals; else as they are."""
    lower = [name.lower() for name in names]
    own = {"participant.code", "participant_code"}
    return lower if own & set(lower) and not own & set(names) and len(set(lower)) == len(lower) else list(names)


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
        tell_fields_apart(app, options.mapping)
    judged = [app for app in apps if app.answers and not app.is_background]
    judged = judged or [app for app in apps if app.answers]
    for app in apps:
        people = _account(app, app in judged, people, reading)
    if judged:
        _judge(judged, times, people, options, reading)
    reading.participants = one_row_each(people.drop("_code"))
    _note_machines(reading.participants, reading)
    return reading


def _people(exports: Sequence[FileTable], notes: list[Message]) -> pl.DataFrame:
    """What the files say of participants; a note says what they are called by."""
    kept = {
        "participant.label": "label", "participant._is_bot": "is_bot", "session.is_demo": "is_demo",
        "participant.time_started_utc": "started", "participant.time_started": "started",
        "participant._current_page_name": "last_page", "participant.mturk_worker_id": "mturk_worker_id",
        "session.code": "session_code", "session.config.name": "config",
    }  # fmt: skip
    parts = []
    for table in exports:
        there = {old: new for old, new in kept.items() if old in table.frame.columns}
        if "participant.time_started_utc" in there:
            there.pop("participant.time_started", None)
        columns = [pl.col(old).alias(new) for old, new in there.items()]
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
    """Count the cells of an app that are not judgments; answers about the participant go to the table of people."""
    height = app.rounds.height
    reading.set_apart(Message("aside.otree_cells"), height * sum(name in BUILT_IN for name in app.fields))
    reading.set_apart(Message("aside.free_text_cells"), height * len(app.free_text))
    reading.set_apart(Message("aside.personal_cells"), height * len(app.personal))
    reading.set_apart(Message("aside.round_cells"), height * len(app.described))
    asked = [*app.background, *([] if is_judged else app.answers)]
    if not asked:
        return people
    reading.set_apart(Message("aside.background_cells"), height * len(asked))
    code = "otree.asked_once" if is_judged else "otree.background"
    reading.notes.append(Message(code, {"app": app.name, "answers": listed(asked), "n": len(asked)}))
    given = app.rounds.group_by("_code").agg(
        pl.col(name).drop_nulls().first().alias(f"{app.name}.{name}") for name in asked
    )
    return people.join(given, on="_code", how="left", maintain_order="left")


def _judge(
    apps: Sequence[App], times: Sequence[FileTable], people: pl.DataFrame, options: Options, reading: Reading
) -> None:
    """Make every answer of every round that was reached a judgment."""
    pages = page_times(times, reading) if times else None
    questions = list(dict.fromkeys(name for app in apps for name in app.answers))
    reached = []
    for index, app in enumerate(apps):
        rounds = join_times(app.rounds, app.name, pages, reading)
        given = pl.any_horizontal(pl.col(app.answers).is_not_null()) | pl.col("_time").is_not_null()
        kept = rounds.filter(given)
        reading.set_apart(NOT_REACHED, (rounds.height - kept.height) * len(app.answers))
        reached.append(kept.with_columns(_app=pl.lit(index)))
    order = pl.concat([rounds.select(ROW, "_code", "_app", "_round") for rounds in reached])
    place = pl.struct("_app", "_round").rank("dense").over("_code").cast(pl.Int64).alias("_trial")
    order = order.unique(["_code", "_app", "_round"]).with_columns(place).drop(ROW)
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
    rest = [name for name in app.described if name not in (app.item, app.rt)]
    columns += [pl.lit(app.name).alias("app"), pl.col("_round").alias("round")]
    columns += _mapped(app, times, options)
    columns += [pl.col(name).alias(own_name(name, ("app", "round", "code"), app.fields)) for name in rest]
    ids = people.select("_code", *(name for name in ("participant", "code") if name in people.columns))
    named = rounds.join(ids, on="_code", how="left", nulls_equal=True, suffix="_field", maintain_order="left")
    who = [pl.col(name if name not in rounds.columns else f"{name}_field").alias(name) for name in ids.columns[1:]]
    blocks = []
    for position, name in enumerate(app.answers):
        question = [pl.lit(name).alias("question")] if len(questions) > 1 else []
        order = pl.col("_round") * len(app.answers) + position
        answer = pl.col(name).alias("response")
        blocks.append(
            named.select(ROW, order.alias(ORDER), who[0], *columns[:1], answer, *question, *columns[1:], *who[1:])
        )
    return blocks


def _mapped(app: App, times: Sequence[pl.Expr], options: Options) -> list[pl.Expr]:
    """Fields that the user maps to item, rt or response, under their own names, because mappings look there."""
    fields = {app.item: [pl.col(app.item or "")], app.rt: times[:1], app.answers[0]: [pl.col(app.answers[0])]}
    mapped_names = {
        name for column, name in options.mapping.items() if column in ("item", "rt", "response")
    } - COLUMNS.keys()
    return [column.alias(name) for name, found in fields.items() if name and name in mapped_names for column in found]


def _times(app: App, rounds: pl.DataFrame, options: Options, reading: Reading) -> list[pl.Expr]:
    """The time of an answer: a field of the app that holds one, else the time on the page."""
    when = [pl.col("_time").alias("time")] if rounds["_time"].null_count() < rounds.height else []
    when += [pl.col(name) for name in rounds.columns if name.startswith(PAGE_TIME)]
    if app.rt is None:
        return [*([pl.col("_rt").alias("rt")] if rounds["_rt"].null_count() < rounds.height else []), *when]
    numbers = rounds[app.rt].str.strip_chars().cast(pl.Float64, strict=False)
    unit: str | None = options.rt_unit
    if unit is None:
        unit, note = guess_rt_unit(numbers, rounds["_code"], app.rt, app.name)
        reading.notes += [] if note is None else [note]
    whole = numbers.null_count() == rounds[app.rt].null_count()
    seconds = pl.col(app.rt).str.strip_chars().cast(pl.Float64, strict=False) / (1000 if unit == "ms" else 1)
    return [(seconds if whole else pl.col(app.rt)).alias("rt"), *when]


def _note_machines(people: pl.DataFrame, reading: Reading) -> None:
    if bots := int(people["is_bot"].sum()) if "is_bot" in people.columns else 0:
        reading.notes.append(Message("otree.bots", {"n": bots}))
    if demos := int(people["is_demo"].sum()) if "is_demo" in people.columns else 0:
        reading.notes.append(Message("otree.demo", {"n": demos}))


READER = Reader("otree", "results of oTree", recognises, read_otree, together=True)
