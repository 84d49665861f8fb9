"""Whether a column has one of many values, in a query whose text is the same for any number of them.

SQLAlchemy's own `in_` writes one placeholder a value, and the text has to be made and read again for each number of
them. Here all values are one parameter: an array for PostgreSQL, a JSON document for SQLite.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, Boolean, Column, Integer, Text, bindparam
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


class InArray(FunctionElement[bool]):
    """A column and the parameter that lists its values."""

    name = "among"
    type = Boolean()
    inherit_cache = True

    def self_group(self, against: Any = None) -> Any:
        """As it is: SQLAlchemy would compare it with 1 for SQLite, which then could use no index."""
        return self


def in_array(column: Column[Any], name: str) -> InArray:
    """Whether a column has one of the values of a parameter.

    >>> from karat.field.store.schema import session
    >>> from sqlalchemy.dialects import sqlite
    >>> print(in_array(session.c.id, "ids").compile(dialect=sqlite.dialect()))
    (session.id IN (SELECT value FROM json_each(?)))
    """
    member: Any = Integer() if isinstance(column.type, Integer) else Text()
    return InArray(column, bindparam(name, type_=JSON().with_variant(ARRAY(member), "postgresql")))


@compiles(InArray, "sqlite")
def _in_json(element: InArray, compiler: SQLCompiler, **settings: Any) -> str:
    column, values = (compiler.process(part, **settings) for part in element.clauses)
    return f"({column} IN (SELECT value FROM json_each({values})))"  # noqa: S608 (a column and a placeholder)


@compiles(InArray, "postgresql")
def _in_postgres(element: InArray, compiler: SQLCompiler, **settings: Any) -> str:
    column, values = (compiler.process(part, **settings) for part in element.clauses)
    return f"({column} = ANY ({values}))"
