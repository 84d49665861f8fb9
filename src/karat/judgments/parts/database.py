"""A PostgreSQL table in parts, split by a hash of the participant.

Each part is one query; its rows are sorted by participant, session and trial. psycopg is loaded only here. Parts are
read at different times, so no answers may be added to the table meanwhile.
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
from karat.judgments.parts.parts import Parts, PartsError, checked_part, refuse_large, refuse_mapping
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
    """The columns of the table and PostgreSQL's names of their types."""

    def read(self, number: int) -> Judgments:
        """The participants whose hash selects this part, as judgments."""
        from psycopg import sql

        order = sql.SQL(", ").join(
            sql.SQL('{} COLLATE "C"' if self.types[name] in TEXTS else "{}").format(sql.Identifier(name))
            for name in (self.mapping.get(column, column) for column in ORDER)
            if name in self.types
        )
        query = sql.SQL(
            "COPY (SELECT {columns} FROM {table} WHERE {part} = {number} ORDER BY {order}) "
            "TO STDOUT (FORMAT csv, HEADER)"
        ).format(
            columns=sql.SQL(", ").join(
                sql.SQL("({name})::int AS {name}" if kind == "boolean" else "{name}").format(name=sql.Identifier(name))
                for name, kind in self.types.items()
            ),
            table=sql.Identifier(*self.table.split(".")),
            part=_part(self.mapping.get("participant") or "participant", len(self)),
            number=sql.Literal(number),
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
        """The number of the part among all."""
        return f"part {number + 1} of {len(self)}"

    def stamp(self, number: int) -> str:
        """The table, its mapping and scales, and the number of rows of each part when it was opened."""
        return f"{self.where} {number} {self.rows} {self.mapping} {self.scales}"

    def fix(self, parts: int | None = None) -> str:
        """The option for smaller parts."""
        return f"--parts {parts or len(self)}"


def is_database(where: object) -> bool:
    """Whether a text is the address of a database."""
    return str(where).startswith((*SCHEMES, *(scheme.replace("//", "/") for scheme in SCHEMES)))


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
        address = _without_password(url)
        raise PartsError(f"{address}: name the table, as in {address}#judgments")
    if scale is None:
        raise PartsError(
            f"The table {table} does not record the scale of its answers. Use --scale, such as --scale ordinal:1-5."
        )
    with _connected(url) as connection:
        types = _columns(connection, table)
        refuse_mapping(mapping, list(types), f"the table {table}")
        participant = mapping.get("participant") or "participant"
        if participant not in types:
            close = nearest("participant", list(types))
            raise PartsError(
                f"The table {table} has no column participant{f'; is it {close}?' if close else '.'} "
                "Use --map participant=NAME."
            )
        parts = parts or max(1, -(-int(_fetch(connection, "SELECT count(*) FROM {table}", table)[0][0]) // ROWS_A_PART))
        rows = _rows_of_parts(connection, table, participant, parts)
        size = BYTES_A_CELL * len(types) * max(rows)
        refuse_large(f"The largest of {parts} parts", size, memory, parts, "--parts {parts}")
        question = mapping.get("question", "question")
        questions = _distinct(connection, table, question) if question in types else None
    where = f"{_without_password(url)}#{table}"
    return DatabaseTable(where, scales_by_question(scale, questions), rows, url, table, mapping, types)


@contextmanager
def _connected(url: str) -> Iterator[Any]:
    try:
        import psycopg
    except ModuleNotFoundError:
        raise MissingPartError("PostgreSQL needs psycopg: pip install 'karat[postgres]'.") from None
    try:
        with psycopg.connect(url) as connection:
            # The same format of times and letters, whatever the server, the database or PGTZ has set.
            connection.execute("SET datestyle = 'ISO'; SET timezone = 'UTC'; SET client_encoding = 'UTF8'")
            yield connection
    except psycopg.Error as error:
        raise PartsError(f"{_without_password(url)}: {str(error).strip().splitlines()[0]}.") from None


def _without_password(url: str) -> str:
    """An address without its password, which may come before the host or among the settings after it.

    >>> _without_password("postgresql://me:secret@host/lab")
    'postgresql://me@host/lab'
    >>> _without_password("postgresql://me@host/lab?password=secret&port=5433")
    'postgresql://me@host/lab?port=5433'
    """
    parts = urlsplit(url)
    if parts.password is not None:
        user, _, host = parts.netloc.rpartition("@")
        parts = parts._replace(netloc=f"{user.partition(':')[0]}@{host}")
    settings = [each for each in parts.query.split("&") if each.partition("=")[0] not in ("password", "sslpassword")]
    # Not by urlunsplit, which would drop the empty host of postgresql:///lab.
    address = f"{parts.scheme}://{parts.netloc}{parts.path}"
    return f"{address}?{'&'.join(settings)}" if parts.query and settings else address


def _with_strokes(rest: str) -> str:
    """The part after the scheme with its slashes, which a path reduces to one; before a bare database there are three.

    >>> _with_strokes("/me@host/lab"), _with_strokes("/lab?host=/run/postgresql"), _with_strokes("///lab")
    ('//me@host/lab', '///lab?host=/run/postgresql', '///lab')
    """
    if rest.startswith("//"):
        return rest
    return f"//{rest[1:]}" if "/" in rest[1:].partition("?")[0] else f"//{rest}"


def _columns(connection: Any, table: str) -> dict[str, str]:
    schema, _, name = table.rpartition(".")
    columns = connection.execute(
        "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = %s AND "
        "table_schema = COALESCE(NULLIF(%s, ''), CURRENT_SCHEMA()) ORDER BY ordinal_position",
        (name, schema),
    ).fetchall()
    if not columns:
        raise PartsError(f"There is no table {table} that can be read.")
    return dict(columns)


def _fetch(connection: Any, query: str, table: str, **values: Any) -> list[tuple[Any, ...]]:
    """The rows of a query in which {table} and the names of other values are filled in."""
    from psycopg import sql

    text = sql.SQL(query).format(table=sql.Identifier(*table.split(".")), **values)
    rows: list[tuple[Any, ...]] = connection.execute(text).fetchall()
    return rows


def _part(column: str, parts: int) -> Any:
    """The part of each participant, from 0. The hash may be negative."""
    from psycopg import sql

    return sql.SQL("COALESCE((hashtext(btrim({column}::text)) & 2147483647) % {parts}, 0)").format(
        column=sql.Identifier(column), parts=sql.Literal(parts)
    )


def _rows_of_parts(connection: Any, table: str, column: str, parts: int) -> tuple[int, ...]:
    query = "SELECT {part} AS part, count(*) FROM {table} GROUP BY 1"
    counts = dict(_fetch(connection, query, table, part=_part(column, parts)))
    return tuple(int(counts.get(number, 0)) for number in range(parts))


def _distinct(connection: Any, table: str, column: str) -> pl.Series:
    from psycopg import sql

    query = 'SELECT DISTINCT {column}::text COLLATE "C" FROM {table} ORDER BY 1'
    rows = _fetch(connection, query, table, column=sql.Identifier(column))
    return pl.Series([row[0] for row in rows], dtype=pl.String)
