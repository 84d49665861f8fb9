"""A PostgreSQL table in parts, split by a hash of the participant.

Each part is one query; its rows come one participant after the other, in the order of sessions and trials. psycopg is
loaded only here. Parts are read at different times: a table into which answers still come is not one table.
"""

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import polars as pl

from karat.errors import MissingPartError
from karat.judgments.columns import laid_over, nearest
from karat.judgments.parts.parts import WORKING_COPIES, Parts, PartsError, checked_part, refuse_large, refuse_mapping
from karat.judgments.scales import Scale
from karat.judgments.table import Judgments, scales_by_question

ROWS_A_PART = 500_000
BYTES_A_CELL = 24
SCHEMES = ("postgresql://", "postgres://", "postgresql+psycopg://")
NUMBERS: dict[str, pl.DataType] = {
    "smallint": pl.Int64(), "integer": pl.Int64(), "bigint": pl.Int64(), "real": pl.Float64(),
    "double precision": pl.Float64(), "numeric": pl.Float64(),
}  # fmt: skip
TEXTS = ("text", "character varying", "character")
ORDER = ("participant", "session", "trial")


@dataclass(frozen=True)
class DatabaseTable(Parts):
    """A table of a database as parts."""

    url: str = field(default="", repr=False)
    table: str = ""
    mapping: dict[str, str] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    """The columns of the table and what PostgreSQL calls their types."""

    def read(self, number: int) -> Judgments:
        """Those whose hash says this part, as judgments."""
        from psycopg import sql

        who = sql.Identifier(self.mapping.get("participant") or "participant")
        names = {ours: self.mapping.get(ours, ours) for ours in ORDER}
        order = sql.SQL(", ").join(
            sql.SQL('{} COLLATE "C"' if self.types[name] in TEXTS else "{}").format(sql.Identifier(name))
            for name in names.values()
            if name in self.types
        )
        query = sql.SQL(
            "COPY (SELECT {columns} FROM {table} WHERE {share} ORDER BY {order}) TO STDOUT (FORMAT csv, HEADER)"
        ).format(
            columns=sql.SQL(", ").join(
                sql.SQL("({one})::int AS {one}" if kind == "boolean" else "{one}").format(one=sql.Identifier(name))
                for name, kind in self.types.items()
            ),
            table=sql.Identifier(*self.table.split(".")),
            share=_share(who, len(self), number),
            order=order,
        )
        with _connected(self.url) as connection, connection.cursor() as cursor, cursor.copy(query) as copy:
            content = b"".join(bytes(piece) for piece in copy)
        types = {
            name: pl.Int64() if kind == "boolean" else NUMBERS.get(kind, pl.String())
            for name, kind in self.types.items()
        }
        frame = pl.read_csv(io.BytesIO(content), schema=types)
        truths = [name for name, kind in self.types.items() if kind == "boolean"]
        frame = laid_over(frame.with_columns(pl.col(truths).cast(pl.Boolean)), self.mapping)
        where = f"part {number + 1} of {self.table}"
        return checked_part(frame, self.scales, where, lambda row: (where, "row", row + 1))

    def name(self, number: int) -> str:
        """Which of all parts it is."""
        return f"part {number + 1} of {len(self)}"

    def stamp(self, number: int) -> str:
        """The table, how it is read, and how many rows each part had when it was opened."""
        return f"{self.where} {number} {self.rows} {self.mapping} {self.scales}"

    def fix(self, parts: int | None = None) -> str:
        """How smaller parts are asked for."""
        return f"--parts {parts or len(self)}"


def is_database(where: object) -> bool:
    """Whether a text is the address of a database."""
    return str(where).startswith(SCHEMES) or str(where).startswith(tuple(one.replace("//", "/") for one in SCHEMES))


def open_table(
    where: str,
    scale: Scale | Mapping[str, Scale] | None,
    mapping: dict[str, str],
    parts: int | None,
    memory: int | None,
) -> DatabaseTable:
    """A table as parts: `postgresql://user@host/database#table` or `...#schema.table`."""
    url, _, table = where.partition("#")
    scheme, _, rest = url.partition(":")
    url = f"{scheme.partition('+')[0]}:{_with_strokes(rest)}"
    if not table:
        raise PartsError(f"{_shown(url)}: name the table, as in {_shown(url)}#judgments")
    if scale is None:
        raise PartsError(
            f"The table {table} does not record the scale of its answers. Use --scale, such as --scale ordinal:1-5."
        )
    with _connected(url) as connection:
        types = _columns(connection, table)
        refuse_mapping(mapping, list(types), f"the table {table}")
        who = mapping.get("participant") or "participant"
        if who not in types:
            close = nearest("participant", list(types))
            raise PartsError(
                f"The table {table} has no column participant{f'; is it {close}?' if close else '.'} "
                "Use --map participant=NAME."
            )
        parts = parts or max(1, -(-_rows(connection, table) // ROWS_A_PART))
        rows = _rows_of_parts(connection, table, who, parts)
        needed = WORKING_COPIES * BYTES_A_CELL * len(types) * max(rows)
        refuse_large(f"The largest of {parts} parts", needed, memory, parts, "--parts {parts}")
        question = mapping.get("question", "question")
        asked = _distinct(connection, table, question) if question in types else None
    return DatabaseTable(f"{_shown(url)}#{table}", scales_by_question(scale, asked), rows, url, table, mapping, types)


@contextmanager
def _connected(url: str) -> Iterator[Any]:
    try:
        import psycopg
    except ModuleNotFoundError:
        raise MissingPartError("PostgreSQL needs psycopg: pip install 'karat[postgres]'.") from None
    try:
        with psycopg.connect(url) as connection:
            # Times and letters come the same way, whatever the server, the database or PGTZ has set.
            connection.execute("SET datestyle = 'ISO'; SET timezone = 'UTC'; SET client_encoding = 'UTF8'")
            yield connection
    except psycopg.Error as error:
        raise PartsError(f"{_shown(url)}: {str(error).strip().splitlines()[0]}.") from None


def _shown(url: str) -> str:
    """The address without its password, which may stand before the host or among the settings after it.

    >>> _shown("postgresql://me:secret@host/lab"), _shown("postgresql://me@host/lab?password=secret&port=5433")
    ('postgresql://me@host/lab', 'postgresql://me@host/lab?port=5433')
    """
    parts = urlsplit(url)
    if parts.password is not None:
        who, _, host = parts.netloc.rpartition("@")
        parts = parts._replace(netloc=f"{who.partition(':')[0]}@{host}")
    settings = [one for one in parts.query.split("&") if one.partition("=")[0] not in ("password", "sslpassword")]
    # Put together by hand: urlunsplit would leave out the empty host of postgresql:///lab.
    shown = f"{parts.scheme}://{parts.netloc}{parts.path}"
    return f"{shown}?{'&'.join(settings)}" if parts.query and settings else shown


def _with_strokes(rest: str) -> str:
    """What follows the scheme, where a path has made one stroke of several: before a database alone there were three.

    >>> _with_strokes("/me@host/lab"), _with_strokes("/lab?host=/run/postgresql"), _with_strokes("///lab")
    ('//me@host/lab', '///lab?host=/run/postgresql', '///lab')
    """
    if rest.startswith("//"):
        return rest
    return f"//{rest[1:]}" if "/" in rest[1:].partition("?")[0] else f"//{rest}"


def _columns(connection: Any, table: str) -> dict[str, str]:
    schema, _, name = table.rpartition(".")
    found = connection.execute(
        "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = %s AND "
        "table_schema = COALESCE(NULLIF(%s, ''), CURRENT_SCHEMA()) ORDER BY ordinal_position",
        (name, schema),
    ).fetchall()
    if not found:
        raise PartsError(f"There is no table {table} that can be read.")
    return dict(found)


def _rows(connection: Any, table: str) -> int:
    from psycopg import sql

    query = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(*table.split(".")))
    return int(connection.execute(query).fetchone()[0])


def _share(who: Any, parts: int, number: int | None = None) -> Any:
    """Which part a participant is in, from 0; or whether it is this one. The hash may be negative."""
    from psycopg import sql

    part = sql.SQL("(hashtext(btrim({who}::text)) & 2147483647) % {parts}").format(who=who, parts=sql.Literal(parts))
    chosen = sql.SQL("COALESCE({part}, 0) = {number}").format(part=part, number=sql.Literal(number))
    return part if number is None else chosen


def _rows_of_parts(connection: Any, table: str, who: str, parts: int) -> tuple[int, ...]:
    from psycopg import sql

    query = sql.SQL("SELECT COALESCE({part}, 0) AS part, count(*) FROM {table} GROUP BY 1").format(
        part=_share(sql.Identifier(who), parts), table=sql.Identifier(*table.split("."))
    )
    found = dict(connection.execute(query).fetchall())
    return tuple(int(found.get(number, 0)) for number in range(parts))


def _distinct(connection: Any, table: str, column: str) -> pl.Series:
    from psycopg import sql

    query = sql.SQL('SELECT DISTINCT {one}::text COLLATE "C" FROM {table} ORDER BY 1').format(
        one=sql.Identifier(column), table=sql.Identifier(*table.split("."))
    )
    return pl.Series([row[0] for row in connection.execute(query).fetchall()], dtype=pl.String)
