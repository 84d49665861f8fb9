"""Points in time, as result files write them."""

from datetime import UTC, datetime

import polars as pl

UNIX_2000, UNIX_2100 = 946_684_800, 4_102_444_800
EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
"""Spreadsheets turn a clock time without a date into one of 1899."""
ISO_FORMS = ("%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%dT%H:%M%#z")
ZONE = r"(Z|[+-]\d\d(:?\d\d)?)$"


def instants(cells: pl.Series) -> pl.Series:
    """Points in time, in UTC, from Unix seconds or milliseconds or from dates as ISO 8601 writes them.

    A date without a zone is taken as UTC. Dates of German spreadsheets are read too: 3.5.2026 12:34. Dates outside 1970
    to 2100 and numbers outside 2000 to 2100 become missing, as does everything that is not a point in time.
    """
    moments = _instants(cells)
    return pl.select(pl.when(moments.is_between(EARLIEST, LATEST)).then(moments)).to_series()


def without_zone(cells: pl.Series) -> pl.Series:
    """A mask of the times that are texts without a zone."""
    if cells.dtype != pl.String:
        return pl.Series([False]).new_from_index(0, len(cells))
    text = cells.str.strip_chars()
    return (text.str.contains(r"\d:\d\d") & ~text.str.contains(ZONE)).fill_null(False)


def _instants(cells: pl.Series) -> pl.Series:
    utc = pl.Datetime("us", "UTC")
    if isinstance(cells.dtype, pl.Datetime):
        aware = cells if cells.dtype.time_zone else cells.dt.replace_time_zone("UTC")
        return aware.dt.convert_time_zone("UTC").cast(utc)
    if cells.dtype == pl.Date:
        return cells.cast(pl.Datetime("us")).dt.replace_time_zone("UTC")
    text = cells.str.strip_chars() if cells.dtype == pl.String else cells
    numbers = text.cast(pl.Float64, strict=False).fill_nan(None)
    seconds = pl.select(
        pl.when(numbers.is_between(UNIX_2000, UNIX_2100)).then(numbers)
        .when(numbers.is_between(UNIX_2000 * 1000, UNIX_2100 * 1000)).then(numbers / 1000)
    ).to_series()  # fmt: skip
    unix = (seconds * 1_000_000).round().cast(pl.Int64).cast(pl.Datetime("us")).dt.replace_time_zone("UTC")
    if cells.dtype != pl.String:
        return unix
    # Files have a blank between date and time, no zone or one in hours alone (PostgreSQL), and fractions of any length.
    iso = text.str.replace(r"^(\d{4}-\d\d-\d\d) (\d)", "${1}T$2")
    iso = iso.str.replace(r"^(\d{1,2})\.(\d{1,2})\.(\d{4}),? (\d{1,2}:\d\d)", "$3-$2-${1}T$4")
    iso = pl.select(pl.when(iso.str.contains(ZONE)).then(iso).otherwise(iso + "Z")).to_series()
    parsed = [iso.str.to_datetime(form, time_zone="UTC", strict=False) for form in ISO_FORMS]
    return pl.select(pl.coalesce(unix, *parsed).cast(utc)).to_series()
