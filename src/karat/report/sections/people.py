"""The table of participants: verdicts with reasons, main numbers, and strips of times and answers; and the playback."""

from collections import Counter
from typing import Any

import polars as pl

from karat.errors import counted
from karat.judgments import Judgments
from karat.judgments.answer_codes import is_ordered, position
from karat.judgments.scales import Binary, Magnitude, Ordinal
from karat.judgments.trial_order import order_is_known, presented
from karat.report.build import ReportData
from karat.report.figures import answer_strips, rt_strips
from karat.screen.evidence import Evidence
from karat.section import Section, Table

MOST = 1000
"""The most participants in the table; of more, the excluded and those with most flags are shown."""


def section(gathered: ReportData) -> Section:
    """The table of participants, the excluded first."""
    everybody = people_table(gathered)
    # Criteria overlap, so the number of flags says less than their names.
    rows = everybody.head(MOST).drop("flags")
    names = rows["participant"].to_list()
    remfod = gathered.evidence("remfod")
    pictures = {
        "times": rt_strips(gathered.judgments, names, remfod if isinstance(remfod, Evidence) else None),
        "answers": answer_strips(gathered.judgments, names),
    }
    pictures = {name: strips for name, strips in pictures.items() if any(strips)}
    text = "Reasons come from the criteria that flagged the participant."
    if "times" in pictures:
        text += " All rows share one logarithmic time axis. Times that ReMFOD flagged have longer, red marks."
    order = "trial order" if order_is_known(gathered.judgments.frame.columns) else "the order of the file"
    text += f" Answers are in {order}, with height showing the answer."
    left = everybody.height - rows.height
    notes = (f"{counted(left, 'participant')} with fewer flags are not shown here.",) if left else ()
    table = Table(
        "participants", "One row per participant", rows, text,
        {"genuine": "genuine %", "median": "median (s)", "answers": "answered"},
        {"genuine": 1}, pictures, filtered=True,
    )  # fmt: skip
    return Section("people", "Participants", (), (table,), notes=notes)


def people_table(gathered: ReportData) -> pl.DataFrame:
    """participant, verdict, flags, reasons, answers, median time, and the scores of ReMFOD and credence."""
    screening = gathered.screening
    table = screening.judgments.participants.select("participant")
    reasons = gathered.reasons
    out = set(screening.excluded)
    frame = screening.judgments.frame.filter(pl.col("function") != "practice")
    numbers = [pl.col("response").is_not_null().sum().cast(pl.Int64).alias("answers")]
    numbers += [pl.col("rt").median().alias("median")] if "rt" in frame.columns else []
    names = table["participant"].to_list()
    table = table.with_columns(
        pl.Series("verdict", ["excluded" if name in out else "kept" for name in names], pl.String),
        pl.Series("flags", [len(reasons.get(name, [])) for name in names], pl.Int64),
        # The criteria in the first line, then one reason per line.
        pl.Series(
            "reasons",
            [
                "\n".join([", ".join(title for title, _ in titles), *map(": ".join, titles)])
                for titles in (reasons.get(name, []) for name in names)
            ],
            pl.String,
        ),
    ).join(frame.group_by("participant").agg(numbers), on="participant", how="left", maintain_order="left")
    for name, column, factor in (("remfod", "genuine", 100), ("credence", "credence", 1)):
        evidence = gathered.evidence(name)
        if isinstance(evidence, Evidence):
            scores = evidence.participants.select("participant", (pl.col("score") * factor).alias(column))
            table = table.join(scores, on="participant", how="left", maintain_order="left")
    return table.sort(pl.col("verdict") != "excluded", -pl.col("flags"), maintain_order=True)


MOST_TRIALS = 150_000
"""The most trials of the playback; flagged participants come first."""


def playback(gathered: ReportData) -> dict[str, Any] | None:
    """Every trial of every participant in order, for the script of the page, with texts coded as numbers.

    It has stimuli, answers, times, the answers of the others, and flags, but no background and no free text. None if
    the report has no playback.
    """
    if not gathered.playback:
        return None
    judgments = gathered.judgments
    frame = presented(judgments.frame.filter(pl.col("function") != "practice")).with_row_index("_row")
    reasons, out = gathered.reasons, set(gathered.screening.excluded)
    # The excluded come first, then those with most flags, as in the table.
    order = sorted(
        judgments.participants["participant"].to_list(), key=lambda name: (name not in out, -len(reasons.get(name, [])))
    )
    chosen, total = [], 0
    counts = dict(frame["participant"].value_counts().iter_rows())
    for name in order:
        total += counts.get(name, 0)
        if total > MOST_TRIALS:
            break
        chosen.append(name)
    columns = [name for name in ("item", "left", "right", "question", "sentence", *judgments.stimuli().conditions)
             if name in frame.columns]  # fmt: skip
    frame = frame.with_columns(_stimulus=pl.struct(list(dict.fromkeys(columns))).rank("dense").cast(pl.Int64) - 1)
    answers = frame["response"].drop_nulls().unique().sort().to_list()
    codes = {answer: number for number, answer in enumerate(answers)}
    frame = frame.with_columns(
        _answer=pl.col("response").replace_strict(codes, default=None, return_dtype=pl.Int64).fill_null(-1)
    )
    flags, changes = _flagged_trials(gathered, frame), _changes(gathered)
    timed = "rt" in frame.columns
    people: dict[str, Any] = {}
    by_person = {
        str(key[0]): part for key, part in frame.filter(pl.col("participant").is_in(chosen)).group_by("participant")
    }
    for name in chosen:
        part = by_person.get(name)
        if part is None:
            continue
        part = part.sort("_row")
        marked = {place: flags[row] for place, row in enumerate(part["_row"].to_list()) if row in flags}
        people[name] = {
            "verdict": "excluded" if name in out else "kept", "shown": part["_stimulus"].to_list(),
            "answers": part["_answer"].to_list(),
            "times": (part["rt"] * 100).round(0).cast(pl.Int64, strict=False).to_list() if timed else [],
            "flags": marked, "switch": change_place(part, changes.get(name)),
            "reasons": [f"{title}: {reason}" for title, reason in reasons.get(name, [])],
        }  # fmt: skip
    values, mean = _values(judgments, answers)
    return {
        "participants": people, "stimuli": _stimuli(gathered, frame, values), "answers": answers,
        "values": values, "mean": mean, "flags": ["response time", "wrong answer"],
    }  # fmt: skip


def _flagged_trials(gathered: ReportData, frame: pl.DataFrame) -> dict[int, list[int]]:
    """The flags of rows: a response time that ReMFOD flags (0), a wrong answer to a control or attention item (1)."""
    flags: dict[int, list[int]] = {}
    for name, number in (("remfod", 0), ("attention", 1), ("controls", 1)):
        evidence = gathered.screening.evidence.get(name) or gathered.evidence(name)
        if not isinstance(evidence, Evidence) or evidence.trials is None or "trial" not in frame.columns:
            continue
        if number and "right" not in evidence.trials.columns:
            continue
        trials = evidence.trials.filter(~pl.col("right").fill_null(False)) if number else evidence.trials
        keys = [key for key in ("participant", "session", "trial", "question")
                if key in trials.columns and key in frame.columns]  # fmt: skip
        rows = frame.select("_row", *keys).join(trials.select(keys).unique(), on=keys, how="semi", nulls_equal=True)
        for row in rows["_row"].to_list():
            flags.setdefault(row, []).append(number)
    return flags


def _changes(gathered: ReportData) -> dict[str, int]:
    """The trial from which a participant answered differently, according to credence."""
    evidence = gathered.evidence("credence")
    if not isinstance(evidence, Evidence) or "switch_trial" not in evidence.participants.columns:
        return {}
    return dict(
        evidence.participants.select("participant", pl.col("switch_trial").cast(pl.Int64)).drop_nulls().iter_rows()
    )


def change_place(rows: pl.DataFrame, change: int | None) -> int | None:
    """The position, from 1, of the trial of a change among a participant's trials."""
    if change is None:
        return None
    answered = rows.with_row_index("_place", offset=1).filter(pl.col("response").is_not_null())
    if "trial" in rows.columns:
        places = answered.filter(pl.col("trial") == change)["_place"]
    else:
        places = answered["_place"].slice(change - 1, 1)
    return int(places[0]) if len(places) else None


def _values(judgments: Judgments, answers: list[str]) -> tuple[list[float] | None, str]:
    """Each answer as a number, and the name of their mean; None if answers have no mean."""
    kinds = list(judgments.scales.values())
    scale = kinds[0]
    if len(kinds) > 1 or not is_ordered(scale) or isinstance(scale, Binary):
        return None, ""
    if not isinstance(scale, Ordinal):
        numbers = pl.DataFrame({"response": answers}).select(position(scale)).to_series().to_list()
        return numbers, "geometric mean" if isinstance(scale, Magnitude) else "mean"
    try:
        return [float(answer) for answer in answers], "mean"
    except ValueError:
        return [scale.levels.index(answer) + 1.0 for answer in answers], "mean point"


def _stimuli(gathered: ReportData, frame: pl.DataFrame, values: list[float] | None) -> list[list[Any]]:
    """The text, the condition and all answers of each stimulus, by its number.

    The answers are the sum of their values and their number or, without values, the count of each. The page subtracts
    those of the participant shown.
    """
    judgments = gathered.judgments
    sentences = shown_sentences(gathered)
    conditions = [name for name in judgments.stimuli().conditions if name in frame.columns]
    codes = pl.col("_answer").filter(pl.col("_answer") >= 0)
    grouped = frame.group_by("_stimulus").agg(
        pl.col("^(item|left|right|sentence|function)$").first(),
        *(pl.col(name).first().cast(pl.String).alias(f"_c{number}") for number, name in enumerate(conditions)),
        codes.alias("_given"),
    ).sort("_stimulus")  # fmt: skip
    stimuli: list[list[Any]] = []
    for row in grouped.to_dicts():
        cell = [row[f"_c{number}"] for number in range(len(conditions)) if row[f"_c{number}"]]
        text = (
            row.get("sentence") or sentences.get((row["item"], *cell)) or sentences.get((row["item"],)) or row["item"]
        )
        if row.get("left") and not row.get("sentence"):
            text = f"{row['left']} / {row['right']}"
        about = ", ".join([*([row["function"]] if row["function"] != "test" else []), *cell])
        if values is None:
            answers: list[Any] = [dict(sorted(Counter(row["_given"]).items()))]
        else:
            answers = [round(sum(values[code] for code in row["_given"]), 6), len(row["_given"])]
        stimuli.append([str(text), about, *answers])
    return stimuli


def shown_sentences(gathered: ReportData) -> dict[tuple[str, ...], str]:
    """The sentences of items by item and condition, from the table and from the study."""
    sentences: dict[tuple[str, ...], str] = {}
    frame = gathered.judgments.frame
    if "sentence" in frame.columns:
        keys = ["item", *(name for name in gathered.judgments.stimuli().conditions if name in frame.columns)]
        for sentence, *cell in frame.drop_nulls("sentence").select("sentence", *keys).unique(keys).iter_rows():
            sentences[tuple(str(level) for level in cell if level not in (None, ""))] = str(sentence)
    for block in () if gathered.study is None else gathered.study.blocks:
        items = block.items.frame
        if "sentence" not in items.columns:
            continue
        factors = [name for name in block.settings.factors if name in items.columns]
        for item, sentence, *cell in items.select("item", "sentence", *factors).iter_rows():
            if sentence:
                sentences[(item, *(str(level) for level in cell if level is not None))] = sentence
    return sentences
