"""Every participant in a row: the verdict with its reasons, the main numbers, and the times and answers as strips."""

from __future__ import annotations

import polars as pl

from karat.errors import counted
from karat.judgments.message_tables import with_reasons
from karat.report.build import ReportData
from karat.report.figures import answer_strips, rt_strips
from karat.screen.evidence import Evidence
from karat.section import Section, Table
from karat.study.criteria import title_of

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
    told = "Reasons are those of the criteria that flag."
    if "times" in pictures:
        told += " Times are on a logarithmic axis, the same for everybody; what ReMFOD found is longer and red."
    told += " Answers are in the order of trials, as high as they stand on the scale."
    left = everybody.height - shown.height
    notes = (f"{counted(left, 'participant')} with fewer flags are not shown here.",) if left else ()
    table = Table(
        "participants", "One row a participant", shown, told,
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
    reasons = _reasons(screening.evidence)
    out = set(screening.excluded)
    frame = screening.judgments.frame.filter(pl.col("function") != "practice")
    numbers = [pl.col("response").is_not_null().sum().cast(pl.Int64).alias("answers")]
    numbers += [pl.col("rt").median().alias("median")] if "rt" in frame.columns else []
    names = table["participant"].to_list()
    table = table.with_columns(
        pl.Series("verdict", ["excluded" if name in out else "kept" for name in names], pl.String),
        pl.Series("flags", [len(reasons.get(name, [])) for name in names], pl.Int64),
        pl.Series("reasons", [_told(reasons.get(name, [])) for name in names], pl.String),
    ).join(frame.group_by("participant").agg(numbers), on="participant", how="left", maintain_order="left")
    for name, column, factor in (("remfod", "genuine", 100), ("credence", "credence", 1)):
        found = gathered.evidence(name)
        if isinstance(found, Evidence):
            own = found.participants.select("participant", (pl.col("score") * factor).alias(column))
            table = table.join(own, on="participant", how="left", maintain_order="left")
    return table.sort(pl.col("verdict") != "excluded", -pl.col("flags"), maintain_order=True)


def _reasons(evidence: dict[str, Evidence]) -> dict[str, list[tuple[str, str]]]:
    """What flags each participant: the criterion in words, and its reason."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name, one in evidence.items():
        flagged = with_reasons(one.participants.filter("flagged")).select("participant", "reason")
        for who, reason in flagged.iter_rows():
            found.setdefault(who, []).append((title_of(name), reason))
    return found


def _told(reasons: list[tuple[str, str]]) -> str:
    """The criteria in the first line, each reason in one of its own."""
    if not reasons:
        return ""
    return "\n".join([", ".join(name for name, _ in reasons), *(f"{name}: {reason}" for name, reason in reasons)])
