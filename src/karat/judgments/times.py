"""Points in time, as result files spell them."""

from datetime import UTC, datetime

import polars as pl

UNIX_2000, UNIX_2100 = 946_684_800, 4_102_444_800
EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
"""A clock time without a date becomes one of 1899 in a spreadsheet."""
ISO_FORMS = ("%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%dT%H:%M%#z")
ZONE = r"(Z|[+-]\d\d(:?\d\d)?)$"


def instants(given: pl.Series) -> pl.Series:
    """Points in time, in UTC, from Unix seconds or milliseconds or from dates as ISO 8601 writes them.

    A date without a zone is taken as UTC. Dates as a German spreadsheet writes them are known as well: 3.5.2026 12:34.
    What is not a point in time between 1970 and 2100, as a number between 2000 and 2100, becomes missing.
    """
    found = _instants(given)
    return pl.select(pl.when(found.is_between(EARLIEST, LATEST)).then(found)).to_series()


def without_zone(given: pl.Series) -> pl.Series:
    """Which times are texts that say no zone."""
    if given.dtype != pl.String:
        return pl.Series([False]).new_from_index(0, len(given))
    text = given.str.strip_chars()
    return (text.str.contains(r"\d:\d\d") & ~text.str.contains(ZONE)).fill_null(False)


def _instants(given: pl.Series) -> pl.Series:
    utc = pl.Datetime("us", "UTC")
    if isinstance(given.dtype, pl.Datetime):
        aware = given if given.dtype.time_zone else given.dt.replace_time_zone("UTC")
        return aware.dt.convert_time_zone("UTC").cast(utc)
    if given.dtype == pl.Date:
        return given.cast(pl.Datetime("us")).dt.replace_time_zone("UTC")
    text = given.str.strip_chars() if given.dtype == pl.String else given
    numbers = text.cast(pl.Float64, strict=False).fill_nan(None)
    seconds = pl.select(
        pl.when(numbers.is_between(UNIX_2000, UNIX_2100)).then(numbers)
        .when(numbers.is_between(UNIX_2000 * 1000, UNIX_2100 * 1000)).then(numbers / 1000)
    ).to_series()  # fmt: skip
    unix = (seconds * 1_000_000).round().cast(pl.Int64).cast(pl.Datetime("us")).dt.replace_time_zone("UTC")
    if given.dtype != pl.String:
        return unix
    # A blank between date and time, a zone that is missing or in hours alone (PostgreSQL), and fractions of any
    # length occur in the wild.
    iso = text.str.replace(r"^(\d{4}-\d\d-\d\d) (\d)", "${1}T$2")
    iso = iso.str.replace(r"^(\d{1,2})\.(\d{1,2})\.(\d{4}),? (\d{1,2}:\d\d)", "$3-$2-${1}T$4")
    iso = pl.select(
        pl.when(iso.str.contains(ZONE)).then(iso).otherwise(iso + "Z")
    ).to_series()  # fmt: skip
    parsed = [iso.str.to_datetime(form, time_zone="UTC", strict=False) for form in ISO_FORMS]
    return pl.select(pl.coalesce(unix, *parsed).cast(utc)).to_series()
