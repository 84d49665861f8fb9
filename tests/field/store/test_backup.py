"""A copy of the database while it is written to."""

from __future__ import annotations

import shutil
import stat
import subprocess
import threading
from pathlib import Path

import pytest
from sqlalchemy import func, select

from field.store.stand_ins import begin, send, start
from karat.field.store import Store, StoreError, engine, schema
from messages import refuses


def test_a_copy_made_while_people_answer_is_whole(store_url: str, tmp_path: Path) -> None:
    if store_url.startswith("postgresql") and shutil.which("pg_dump") is None:
        pytest.skip("pg_dump is not installed")
    store = Store.open(store_url)
    study_id = start(store)
    enough, stop = threading.Event(), threading.Event()

    def answer() -> None:
        while not stop.is_set():
            arrived, planned = begin(store, study_id, 3)
            send(store, arrived, *((page.public_id, f"key-{page.position}", "2") for page in planned))
            enough.set()

    answering = threading.Thread(target=answer)
    answering.start()
    enough.wait(20)
    target = engine.backup(store_url, tmp_path / "copy")
    stop.set()
    answering.join()
    store.close()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    with refuses(StoreError, target):
        engine.backup(store_url, target)
    if store_url.startswith("postgresql"):
        listed = subprocess.run(["pg_restore", "--list", target], capture_output=True, text=True, check=True).stdout
        assert all(f"TABLE DATA public {table.name} " in listed for table in schema.metadata.sorted_tables)
        return
    copy = Store.open(f"sqlite:///{target}")
    with copy.read() as connection:
        answers = connection.execute(select(func.count()).select_from(schema.answer)).scalar_one()
        counted = connection.execute(select(func.sum(schema.session.c.answered))).scalar_one()
    assert answers == counted >= 3
    copy.close()


def test_what_cannot_be_copied_is_said_and_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with refuses(StoreError, tmp_path / "nothing.db"):
        engine.backup(f"sqlite:///{tmp_path}/nothing.db", tmp_path / "copy.db")
    with refuses(StoreError, tmp_path / "nowhere/copy.db"):
        engine.backup(f"sqlite:///{tmp_path}/nothing.db", tmp_path / "nowhere/copy.db")
    monkeypatch.setenv("PATH", "")
    with refuses(StoreError, "pg_dump"):
        engine.backup("postgresql://127.0.0.1:1/karat", tmp_path / "copy.db")
    monkeypatch.undo()
    if shutil.which("pg_dump"):
        with refuses(StoreError, "pg_dump", "127.0.0.1", "port 1"):
            engine.backup("postgresql://karat:geheim@127.0.0.1:1/karat", tmp_path / "copy.db")
    assert list(tmp_path.iterdir()) == []


def test_folder_names_may_need_escaping_in_addresses(tmp_path: Path) -> None:
    folder = tmp_path / "50%20 #2"
    Store.open(f"sqlite:///{folder}/karat.db").close()
    copy = Store.open(f"sqlite:///{engine.backup(f'sqlite:///{folder}/karat.db', tmp_path / 'copy.db')}")
    copy.close()
