"""The database and the store around it: files, secrets, reading while writing, migrations."""

from __future__ import annotations

import asyncio
import stat
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, create_engine, insert, select, text
from sqlalchemy.exc import OperationalError

from field.store.first_release import make_tables
from field.store.stand_ins import start
from karat.field.store import Store, StoreError, schema, studies
from karat.field.store.engine import database_url
from karat.field.store.migrations import migrate
from messages import refuses


def test_the_file_and_its_folder_are_private(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path}/new/folder/karat.db")
    start(store)
    for name in tmp_path.glob("new/folder/*"):
        assert stat.S_IMODE(name.stat().st_mode) == 0o600, name
    assert stat.S_IMODE((tmp_path / "new/folder").stat().st_mode) == 0o700
    store.close()


def test_sqlite_commits_are_durable_and_rows_belong_together(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path}/karat.db")

    def pragmas(connection: Connection) -> list[object]:
        names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        return [connection.execute(text(f"PRAGMA {name}")).scalar() for name in names]

    assert store.call(pragmas) == ["wal", 2, 1, 30_000]
    with store.read() as connection, refuses(OperationalError, "readonly"):
        connection.execute(insert(schema.server).values(key="a", value="b"))
    store.close()


def test_a_secret_is_made_once(store_url: str) -> None:
    one, other = Store.open(store_url), Store.open(store_url)
    assert one.secret("person") == other.secret("person") != one.secret("session")
    assert len(one.secret("person")) == 32
    one.close()
    other.close()


def test_what_is_written_can_be_read_at_once(store: Store) -> None:
    async def write_and_read() -> studies.StudyRow | None:
        await store.do(studies.register, studies.Register("a-study", "A study", "f", {"x": [1, "ä"]}))
        return await store.look(studies.find, "a-study")

    found = asyncio.run(write_and_read())
    assert found is not None
    assert found.settings == {"x": [1, "ä"]}


@pytest.mark.parametrize(
    ("address", "names"),
    [
        ("", ["sqlite:///karat.db"]),
        ("karat.db", ["'karat.db'", "sqlite:///karat.db"]),
        ("mysql://localhost/karat", ["mysql", "sqlite:///FILE", "postgresql+psycopg://USER@HOST/NAME"]),
        ("sqlite://", ["sqlite:///karat.db"]),
        ("sqlite:///:memory:", ["sqlite:///karat.db"]),
    ],
)
def test_other_databases_are_refused(address: str, names: list[str]) -> None:
    with refuses(StoreError, *names):
        database_url(address)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "karat.db").write_text("title = 'not a database'" * 100)
    with refuses(StoreError, tmp_path / "karat.db"):
        Store.open(f"sqlite:///{tmp_path}/karat.db")


def test_missing_server_is_named_without_password() -> None:
    with pytest.raises(StoreError) as caught:
        Store.open("postgresql://karat:geheim@127.0.0.1:1/karat?connect_timeout=2")
    assert "127.0.0.1:1/karat" in str(caught.value)
    assert "geheim" not in str(caught.value)


def test_new_tables_are_those_of_the_schema(store_url: str) -> None:
    Store.open(store_url).close()
    engine = create_engine(database_url(store_url))
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, schema.metadata) == []
        assert migrate(connection) == [], "nothing is left to be done"
    engine.dispose()


def test_a_database_of_a_newer_release_is_refused(changed_url: str) -> None:
    store = Store.open(changed_url)
    change = text("UPDATE alembic_version SET version_num = 'of next year'")
    store.call(lambda connection: connection.execute(change).rowcount)
    store.close()
    with refuses(StoreError, "of next year"):
        Store.open(changed_url)


def test_data_of_the_first_schema_survive(changed_url: str) -> None:
    """Rows written by the first release, in its own words, are there after all later changes."""
    engine = create_engine(database_url(changed_url))
    with engine.begin() as connection:
        schema.metadata.drop_all(connection)
        connection.execute(text("DROP TABLE alembic_version"))
    rows = {
        "study": "(1, 'likert', 'Ratings', 'f1', '{\"title\": \"Ratings\"}', NULL, NULL, 'running', 1.5, 1.0)",
        "session": "(1, 1, 'p-7f3k9m', 'token', 2, 1, 'running', NULL, 'trials', FALSE, FALSE, 'prolific', 'person', "
        "'resume', 'code', 'K1', TRUE, 1, 1, 2, 1, TRUE, 9.5, 2.5, NULL, 3.5, '{}', '{\"age\": \"30\"}', NULL)",
        "identity": "(1, '5f0', '6a1', '7b2')",
        "quota_seat": "(1, 'age', '30')",
        "trial": "(1, 1, 'Jx3', 'ratings', '[{\"item\": \"t01\"}]', '{\"kind\": \"trial\"}')",
        "answer": "(1, 1, '', 1, 'key', '4', 2.25, NULL, NULL, 0, 3.0, 3.25, '{}')",
        "event": "(1, 1, 1, 'blur', 3.0, '{}')",
        "invitation": "(1, 'hash', 1, 2.0)",
        "naivety": "('person', 'likert', 'prolific', TRUE, 2.0)",
        "admin": "('ada', 'argon2', 1.0)",
        "login_failure": "(1, 'ada', 1.0)",
        "server": "('secret:person', 'c2VjcmV0')",
    }
    with engine.begin() as connection:
        make_tables(connection)
        for table, values in rows.items():
            connection.execute(text(f"INSERT INTO {table} VALUES {values}".replace(": ", "\\: ")))
    engine.dispose()
    store = Store.open(changed_url)
    with store.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, schema.metadata) == []
        for name in rows:
            assert len(connection.execute(select(schema.metadata.tables[name])).all()) == 1, name
        answered = connection.execute(select(schema.answer)).one()
        planned = connection.execute(select(schema.trial)).one()
        came = connection.execute(select(schema.session)).one()
    assert (answered.response, answered.rt, answered.details) == ("4", 2.25, {})
    assert planned.rows == [{"item": "t01"}]
    assert (came.events, came.consented, came.version) == (0, None, None)
    assert (came.background, came.quiz_passed, came.preview) == ({"age": "30"}, True, False)
    store.close()
