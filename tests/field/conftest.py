"""Databases for the tests of the field: SQLite always, PostgreSQL where one can be started."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, text

from field.postgres import NoPostgresError, administer, server
from karat.field.store import Store, schema

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


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of SQLite with all tables and no rows, to be copied for each test: to make the tables takes longer."""
    path = tmp_path_factory.mktemp("sqlite") / "karat.db"
    Store.open(f"sqlite:///{path}").close()
    return path


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    """The address of an empty database on SQLite."""
    (tmp_path / "data").mkdir(mode=0o700)
    shutil.copy(sqlite_template, tmp_path / "data" / "karat.db")
    return f"sqlite:///{tmp_path}/data/karat.db"


@pytest.fixture
def postgresql_copy_url(postgresql_template: str) -> Iterator[str]:
    """The address of an empty database on PostgreSQL that is used once."""
    name = f"karat_{next(NUMBERS)}"
    administer(postgresql_template, f"CREATE DATABASE {name} TEMPLATE karat_template")
    yield postgresql_template.format(name)
    administer(postgresql_template, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def postgresql_engine(postgresql_template: str) -> Iterator[Engine]:
    """A database on PostgreSQL whose rows are taken away after each test: to make another one takes longer."""
    administer(postgresql_template, "CREATE DATABASE karat_emptied TEMPLATE karat_template")
    engine = create_engine(postgresql_template.format("karat_emptied"), isolation_level="AUTOCOMMIT")
    yield engine
    engine.dispose()


@pytest.fixture
def postgresql_url(postgresql_engine: Engine) -> Iterator[str]:
    """The address of an empty database on PostgreSQL."""
    yield postgresql_engine.url.render_as_string(hide_password=False)
    with postgresql_engine.connect() as connection:
        # What a test has left open would keep its locks.
        connection.execute(text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                                "WHERE datname = current_database() AND pid <> pg_backend_pid()"))  # fmt: skip
        tables = ", ".join(table.name for table in schema.metadata.sorted_tables)
        connection.execute(text(f"TRUNCATE {tables} RESTART IDENTITY CASCADE"))


@pytest.fixture(params=["sqlite_url", "postgresql_copy_url"], ids=["sqlite", "postgresql"])
def changed_url(request: pytest.FixtureRequest) -> str:
    """The address of an empty database whose tables may be changed, on SQLite and on PostgreSQL."""
    url: str = request.getfixturevalue(request.param)
    return url


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest) -> str:
    """The address of an empty database, on SQLite and on PostgreSQL."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    """An open store."""
    opened = Store.open(store_url)
    yield opened
    opened.close()
