"""How this page was made: the command, the data, the versions, the platform."""

from __future__ import annotations

import polars as pl

from karat.report.build import ReportData
from karat.section import Listing, Section, Table


def section(gathered: ReportData) -> Section:
    """What somebody needs to make the same page again.

    >>> import karat
    >>> from karat.report.build import ReportData
    >>> screening = karat.screen.run(karat.datasets.load("crowd"), {"completion": {}})
    >>> section(ReportData(screening, None, "", "", command="karat report crowd.parquet")).listings[0].text
    'karat report crowd.parquet'
    """
    names = {"made": gathered.made, "data": gathered.judgments.fingerprint()}
    names |= {"study": gathered.study.fingerprint} if gathered.study is not None else {}
    names |= gathered.versions | {"platform": gathered.platform}
    rows = {"what": list(names), "value": list(names.values())}
    table = Table("versions", "Fingerprints and versions", pl.DataFrame(rows), headings={"what": "", "value": ""})
    told = "A fingerprint changes when an answer, a scale, an item or a rule changes."
    command = (Listing("command", "Command", gathered.command),) if gathered.command else ()
    return Section("colophon", "How this page was made", (told,), (table,), listings=command)
