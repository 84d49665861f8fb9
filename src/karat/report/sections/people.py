"""Every participant in a row: the verdict with its reasons, the main numbers, and the times and answers as strips."""

from __future__ import annotations

from typing import Any

import polars as pl

from karat.errors import counted
from karat.judgments.answer_codes import is_ordered, position
from karat.judgments.scales import Ordinal
from karat.judgments.trial_order import presented
from karat.report.build import ReportData
from karat.report.figures import answer_strips, rt_strips
from karat.screen.evidence import Evidence
from karat.section import Section, Table

MOST = 1000
"""Of more participants the excluded and those with most flags are shown."""


def section(gathered: ReportData) -> Section:
    """The table of participants, the excluded first.

    >>> import karat
    >>> from karat.report.build import NOT_COMPUTED, ReportData
    >>> screening = karat.screen.run(karat.datasets.load("likert"), {"completion": {}, "remfod": {}})
    >>> section(ReportData(screening, None, NOT_COMPUTED, NOT_COMPUTED)).tables[0].frame.row(0)[:3]
    ('p08', 'excluded', 1)
    """
    everybody = people_table(gathered)
    shown = everybody.head(MOST)
    names = shown["participant"].to_list()
    remfod = gathered.evidence("remfod")
    pictures = {
        "times": rt_strips(gathered.judgments, names, remfod if isinstance(remfod, Evidence) else None),
        "answers": answer_strips(gathered.judgments, names),
    }
    pictures = {name: strips for name, strips in pictures.items() if any(strips)}
    text = "Reasons come from the criteria that flagged the participant."
    if "times" in pictures:
        text += " All rows share one logarithmic time axis. Times that ReMFOD flagged have longer, red marks."
    text += " Answers are in trial order, with height showing the point on the scale."
    left = everybody.height - shown.height
    notes = (f"{counted(left, 'participant')} with fewer flags are not shown here.",) if left else ()
    table = Table(
        "participants", "One row per participant", shown, text,
        {"genuine": "genuine %", "median": "median (s)", "answers": "answered"},
        {"genuine": 0}, pictures, filtered=True,
    )  # fmt: skip
    return Section("people", "Participants", (), (table,), notes=notes)


def people_table(gathered: ReportData) -> pl.DataFrame:
    """participant, verdict, flags, reasons, answers, median time, and the scores that describe best.

    >>> import karat
    >>> from karat.report.build import NOT_COMPUTED, ReportData
    >>> screening = karat.screen.run(karat.datasets.load("crowd"), {"completion": {}})
    >>> people_table(ReportData(screening, None, NOT_COMPUTED, NOT_COMPUTED)).columns[:4]
    ['participant', 'verdict', 'flags', 'reasons']
    """
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
        pl.Series("reasons", [_reasons_text(reasons.get(name, [])) for name in names], pl.String),
    ).join(frame.group_by("participant").agg(numbers), on="participant", how="left", maintain_order="left")
    for name, column, factor in (("remfod", "genuine", 100), ("credence", "credence", 1)):
        found = gathered.evidence(name)
        if isinstance(found, Evidence):
            own = found.participants.select("participant", (pl.col("score") * factor).alias(column))
            table = table.join(own, on="participant", how="left", maintain_order="left")
    return table.sort(pl.col("verdict") != "excluded", -pl.col("flags"), maintain_order=True)


MOST_TRIALS = 150_000
"""This many trials are kept for playback; with more, those of flagged participants come first."""


def playback(gathered: ReportData) -> dict[str, Any] | None:
    """Every trial of every participant in its order, for the script of the page: numbers that stand for texts.

    It holds what was shown, answered and how fast, what the others said, and flags; nothing of the background and no
    free text. None where the report goes without.

    >>> import karat
    >>> from karat.report.build import NOT_COMPUTED, ReportData
    >>> screening = karat.screen.run(karat.datasets.load("likert"), {"completion": {}, "remfod": {}})
    >>> found = playback(ReportData(screening, None, NOT_COMPUTED, NOT_COMPUTED))
    >>> len(found["participants"]), found["participants"]["p08"]["verdict"]
    (48, 'excluded')
    """
    if not gathered.playback:
        return None
    judgments = gathered.judgments
    frame = presented(judgments.frame.filter(pl.col("function") != "practice")).with_row_index("_row")
    reasons, out = gathered.reasons, set(gathered.screening.excluded)
    # As in the table: the excluded first, then those with most flags.
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
    shown = [name for name in ("item", "left", "right", "question", "sentence", *judgments.stimuli().conditions)
             if name in frame.columns]  # fmt: skip
    frame = frame.with_columns(_stimulus=pl.struct(list(dict.fromkeys(shown))).rank("dense").cast(pl.Int64) - 1)
    answers = frame["response"].drop_nulls().unique().sort().to_list()
    codes = {answer: number for number, answer in enumerate(answers)}
    frame = frame.with_columns(
        _answer=pl.col("response").replace_strict(codes, default=None, return_dtype=pl.Int64).fill_null(-1)
    )
    flags = _flagged_trials(gathered, frame)
    changes = _changes(gathered)
    timed = "rt" in frame.columns
    people: dict[str, Any] = {}
    own = {str(key[0]): part for key, part in frame.filter(pl.col("participant").is_in(chosen)).group_by("participant")}
    for name in chosen:
        part = own.get(name)
        if part is None:
            continue
        part = part.sort("_row")
        marked = {place: flags[row] for place, row in enumerate(part["_row"].to_list()) if row in flags}
        people[name] = {
            "verdict": "excluded" if name in out else "kept", "shown": part["_stimulus"].to_list(),
            "answers": part["_answer"].to_list(),
            "times": (part["rt"] * 100).round(0).cast(pl.Int64, strict=False).to_list() if timed else [],
            "flags": marked, "switch": changes.get(name),
            "reasons": [f"{title}: {reason}" for title, reason in reasons.get(name, [])],
        }  # fmt: skip
    return {
        "participants": people, "stimuli": _stimuli(gathered, frame), "answers": answers,
        "flags": ["response time", "wrong answer"],
    }  # fmt: skip


def _flagged_trials(gathered: ReportData, frame: pl.DataFrame) -> dict[int, list[int]]:
    """The rows whose response time ReMFOD found (0), and those with a wrong answer to a control or attention item."""
    found: dict[int, list[int]] = {}
    for number, names in enumerate((("remfod",), ("attention", "controls"))):
        for name in names:
            one = gathered.screening.evidence.get(name) or gathered.evidence(name)
            if not isinstance(one, Evidence) or one.trials is None or "trial" not in frame.columns:
                continue
            trials = (
                one.trials.filter(~pl.col("right").fill_null(False)) if "right" in one.trials.columns else one.trials
            )
            keys = [key for key in ("participant", "session", "trial", "question")
                    if key in trials.columns and key in frame.columns]  # fmt: skip
            if number and "right" not in one.trials.columns:
                continue
            rows = frame.select("_row", *keys).join(trials.select(keys).unique(), on=keys, how="semi", nulls_equal=True)
            for row in rows["_row"].to_list():
                found.setdefault(row, []).append(number)
    return found


def _changes(gathered: ReportData) -> dict[str, int]:
    """From which trial on a participant answered in another way, where credence says so."""
    found = gathered.evidence("credence")
    if not isinstance(found, Evidence) or "switch_trial" not in found.participants.columns:
        return {}
    return dict(
        found.participants.select("participant", pl.col("switch_trial").cast(pl.Int64)).drop_nulls().iter_rows()
    )


def _stimuli(gathered: ReportData, frame: pl.DataFrame) -> list[list[str]]:
    """What was shown, its condition, and what everybody said to it, by the number of the stimulus."""
    judgments = gathered.judgments
    sentences = shown_sentences(gathered)
    conditions = [name for name in judgments.stimuli().conditions if name in frame.columns]
    ordered = all(is_ordered(scale) for scale in judgments.scales.values()) and len(judgments.scales) == 1
    value = position(next(iter(judgments.scales.values()))) if ordered else pl.lit(None, dtype=pl.Float64)
    first = pl.col("response").drop_nulls()
    grouped = frame.with_columns(_value=value).group_by("_stimulus").agg(
        pl.col("^(item|left|right|sentence|function)$").first(),
        *(pl.col(name).first().cast(pl.String).alias(f"_c{number}") for number, name in enumerate(conditions)),
        pl.col("_value").mean(), first.mode().sort().first().alias("_mode"), first.len().alias("_n"),
        (first == first.mode().sort().first()).mean().alias("_share"),
    ).sort("_stimulus")  # fmt: skip
    shift = 1 if ordered and isinstance(next(iter(judgments.scales.values())), Ordinal) else 0
    found = []
    for row in grouped.to_dicts():
        cell = [row[f"_c{number}"] for number in range(len(conditions)) if row[f"_c{number}"]]
        text = (
            row.get("sentence") or sentences.get((row["item"], *cell)) or sentences.get((row["item"],)) or row["item"]
        )
        if row.get("left") and not row.get("sentence"):
            text = f"{row['left']} / {row['right']}"
        about = ", ".join([*([row["function"]] if row["function"] != "test" else []), *cell])
        if row["_value"] is not None:
            others = f"mean {row['_value'] + shift:.1f}"
        else:
            others = f"{100 * (row['_share'] or 0):.0f} % {row['_mode']}" if row["_mode"] is not None else ""
        found.append([str(text), about, others])
    return found


def shown_sentences(gathered: ReportData) -> dict[tuple[str, ...], str]:
    """The sentences of the items, by item and condition: those of the table, and those of the study."""
    found: dict[tuple[str, ...], str] = {}
    frame = gathered.judgments.frame
    if "sentence" in frame.columns:
        keys = ["item", *(name for name in gathered.judgments.stimuli().conditions if name in frame.columns)]
        for sentence, *cell in frame.drop_nulls("sentence").select("sentence", *keys).unique(keys).iter_rows():
            found[tuple(str(one) for one in cell if one not in (None, ""))] = str(sentence)
    for block in () if gathered.study is None else gathered.study.blocks:
        items = block.items.frame
        if "sentence" not in items.columns:
            continue
        factors = [name for name in block.settings.factors if name in items.columns]
        for item, sentence, *cell in items.select("item", "sentence", *factors).iter_rows():
            if sentence:
                found[(item, *(str(one) for one in cell if one is not None))] = sentence
    return found


def _reasons_text(reasons: list[tuple[str, str]]) -> str:
    """The criteria in the first line, each reason in one of its own."""
    if not reasons:
        return ""
    return "\n".join([", ".join(name for name, _ in reasons), *(f"{name}: {reason}" for name, reason in reasons)])
