"""Response times: by item function, by participant with the cutoffs, and those who stand out trial by trial."""

from __future__ import annotations

import polars as pl

from karat.judgments.message_tables import with_reasons
from karat.messages import NotComputed
from karat.report.build import NOT_COMPUTED, ReportData
from karat.report.figures import report_figure, retitled, sentences
from karat.screen.criteria.remfod import Remfod
from karat.section import Figure, Section, Table

MOST_ALONE = 2
"""So many of the flagged participants have a figure of their own."""
LEAST_ALONE = 12
"""So many timed trials make a figure of one participant worth its place."""
MOST_ROWS = 20_000
"""Times above which the table behind a figure has medians only, to keep the page small."""


def section(gathered: ReportData) -> Section | NotComputed:
    """The distributions, with ReMFOD's cutoffs.

    >>> import karat
    >>> from karat.report.build import NOT_COMPUTED, ReportData
    >>> screening = karat.screen.run(karat.datasets.load("crowd"), {"remfod": {}})
    >>> found = section(ReportData(screening, None, NOT_COMPUTED, NOT_COMPUTED, dict(screening.evidence)))
    >>> [figure.key for figure in found.figures][:2]
    ['densities', 'everybody']
    """
    found = gathered.evidence("remfod")
    if not isinstance(found, Remfod):
        return found if isinstance(found, NotComputed) else NOT_COMPUTED
    text = sentences(found.summary)
    everybody = found.participants.select(
        "participant", "trials", "intermissions", "rushes", "genuine_share", "flagged"
    )
    figures = [
        report_figure(
            "densities", found.plot_density(), _medians_told(found), "Kernel densities of log times.", _times(found)
        ),
        report_figure("everybody", found.plot(), text, "Those with the smallest share of genuine trials.", everybody),
        *_alone(found),
    ]
    return Section(
        "times", "Response times", (text,), (_functions(found),), tuple(figures), tuple(map(str, found.notes))
    )


def _alone(found: Remfod) -> list[Figure]:
    """The trials of the flagged participants with the smallest share of genuine ones; drop-outs have too few to see."""
    flagged = found.participants.filter("flagged", pl.col("trials") >= LEAST_ALONE)
    worst = with_reasons(flagged).sort("genuine_share", maintain_order=True).head(MOST_ALONE)
    return [
        report_figure(
            f"times-{number}", retitled(found.plot(name), f"{name}: {reason}"), f"Response times of {name}: {reason}.",
            "", found.timed.filter(pl.col("participant") == name),
        )
        for number, (name, reason) in enumerate(worst.select("participant", "reason").iter_rows(), start=1)
    ]  # fmt: skip


def _functions(found: Remfod) -> Table:
    """Times by item function with the cutoffs of the last round."""
    known = found.cutoffs.filter(pl.col("group") == "function").sort("round").unique("name", keep="last")
    known = known.select(pl.col("name").alias("function"), "lower", "upper")
    rows = found.timed.group_by("function").agg(
        pl.len().cast(pl.Int64).alias("trials"),
        pl.col("rt").median().alias("median"),
        pl.col("rt").quantile(0.05).alias("from"),
        pl.col("rt").quantile(0.95).alias("to"),
    )
    rows = rows.join(known, on="function", how="left").sort("median")
    headings = {"median": "median (s)", "from": "5 % (s)", "to": "95 % (s)", "lower": "rush under (s)",
                "upper": "intermission over (s)"}  # fmt: skip
    return Table(
        "times", "Times by item function", rows,
        "A trial counts as outlying only where it also crosses the participant's own cutoff.", headings,
    )  # fmt: skip


def _medians_told(found: Remfod) -> str:
    medians = found.timed.group_by("function").agg(pl.col("rt").median()).sort("rt")
    return "Median response times: " + ", ".join(f"{name} {median:.1f} s" for name, median in medians.iter_rows()) + "."


def _times(found: Remfod) -> pl.DataFrame:
    if found.timed.height <= MOST_ROWS:
        return found.timed.select("participant", "function", pl.col("rt").round(3))
    return found.timed.group_by("participant", "function", maintain_order=True).agg(
        pl.col("rt").median().alias("median")
    )
