"""Databases for the tests of the field: SQLite always, PostgreSQL where one can be started."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from field.postgres import NoPostgresError, administer, server
from karat.field.store import Store

NUMBERS = count(1)


@pytest.fixture(scope="session")
def postgresql_template() -> Iterator[str]:
    """The address of a PostgreSQL server that has a database with all tables and no rows, to be copied for each test.

    The server's data are in a new folder of the system's temporary directory and go with it.
    """
    folder = Path(tempfile.mkdtemp(prefix="karat-pg-"))
    try:
        with server(folder) as url:
            administer(url, "CREATE DATABASE karat_template")
            Store.open(url.format("karat_template")).close()
            yield url
    except NoPostgresError as error:
        pytest.skip(str(error))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty database, on SQLite and on PostgreSQL."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/data/karat.db"
        return
    url = request.getfixturevalue("postgresql_template")
    name = f"karat_{next(NUMBERS)}"
    administer(url, f"CREATE DATABASE {name} TEMPLATE karat_template")
    yield url.format(name)
    administer(url, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    """An open store."""
    opened = Store.open(store_url)
    yield opened
    opened.close()
