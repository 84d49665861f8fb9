"""The commands about a fielded study, as a user types them."""

from __future__ import annotations

import io
import json
import re
import socket
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import closing, redirect_stderr, redirect_stdout
from pathlib import Path

import polars as pl
import pytest

import karat
from field.admin.fielding import PASSWORD, Fielded, Server, write_study
from karat.cli.main import main
from karat.cli.serve import note_address
from karat.cli.serve import set_login as account
from karat.field.admin.login import NAME, matches
from karat.field.content.texts import words
from karat.field.store import Store, admins, arrivals, export, schema, studies
from karat.study.frozen import changes_since, full_rules, item_fingerprints


def run(*arguments: str | Path, status: int = 0) -> tuple[str, str]:
    """What a command prints on both streams."""
    out, error = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(error), pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    assert (ended.value.code or 0) == status, out.getvalue() + error.getvalue()
    return out.getvalue(), error.getvalue()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def fielded(data: Path, study_path: Path) -> Iterator[Fielded]:
    store = Store.open(f"sqlite:///{data}/karat.db")
    started = Fielded.start(store, study_path)
    started.finish(comment="=1+1")
    yield started
    store.close()


def test_status_in_words_and_as_json(fielded: Fielded, study_path: Path, data: Path) -> None:
    output, _ = run("status", study_path, "--data", data)
    assert "1 of 8 eligible, 0 running, lists " in output
    about = json.loads(run("status", study_path.parent, "--data", data, "--json")[0])
    assert (about["study"], about["complete"], about["state"]) == ("blind", 1, "running")


def test_export_reads_back(fielded: Fielded, study_path: Path, data: Path, tmp_path: Path) -> None:
    out, people, book = tmp_path / "out.parquet", tmp_path / "people.csv", tmp_path / "codebook.csv"
    output, _ = run("export", study_path, "-o", out, "--data", data, "--participants", people, "--codebook", book)
    assert "exported   1 participant" in output
    assert "no longer blind" in output
    with fielded.store.read() as connection:
        assert karat.read(out) == export.judgments(connection, fielded.id, fielded.study)
        assert studies.value(connection, "unblinded:blind") is not None
    assert pl.read_csv(people)["comment"].to_list() == ["'=1+1"]
    assert pl.read_csv(book).height > 5


def test_export_carries_what_was_frozen(fielded: Fielded, study_path: Path, data: Path, tmp_path: Path) -> None:
    out, study = tmp_path / "out.csv", fielded.study
    run("export", study_path, "-o", out, "--data", data)
    frozen = karat.read(out).frozen
    assert frozen is not None
    assert (frozen["rules"], frozen["items"]) == (full_rules(study.screening_rules), item_fingerprints(study))
    with fielded.store.read() as connection:
        row = studies.find(connection, "blind")
    assert row is not None
    assert (frozen["fingerprint"], frozen["at"]) == (row.screening_fingerprint, row.frozen_at)
    assert changes_since(frozen, study) == ()


def test_export_for_spreadsheets(fielded: Fielded, study_path: Path, data: Path, tmp_path: Path) -> None:
    out, people, events = tmp_path / "out.csv", tmp_path / "people.csv", tmp_path / "events.csv"
    fielded.come(identity=arrivals.Identity("worker-1", "", ""), person_hash="h", platform="prolific")
    run("export", study_path, "-o", out, "--data", data, "--participants", people, "--events", events, "--with-ids")
    assert "'=1+1" in people.read_text()
    assert "worker-1" in people.read_text()
    with fielded.store.read() as connection:
        kept = export.judgments(connection, fielded.id, fielded.study)
    back = karat.read(out)
    assert back.frame.equals(kept.frame)
    assert back.participants["comment"].to_list() == ["=1+1"]
    assert "'=1+1" in out.with_name("out.participants.csv").read_text()
    run("export", study_path, "-o", out, "--data", data, "--raw")
    assert "'=1+1" not in out.with_name("out.participants.csv").read_text()
    assert karat.read(out).participants["comment"].to_list() == ["=1+1"]


def test_who_answered_nothing_is_counted_alike(fielded: Fielded, study_path: Path, data: Path, tmp_path: Path) -> None:
    fielded.answer(fielded.come(), share=0.0)
    out = tmp_path / "out.parquet"
    text = "1 participant with answers, 1 without, "
    assert text in run("export", study_path, "-o", out, "--data", data)[0]
    assert text in run("screen", out, "--study", study_path, "-o", tmp_path / "screening")[0]


def test_export_says_what_is_wrong(fielded: Fielded, study_path: Path, data: Path, tmp_path: Path) -> None:
    assert "ends in .csv or .parquet" in run("export", study_path, "-o", tmp_path / "x.txt", status=2)[1]
    assert "--with-ids needs --participants" in run("export", study_path, "-o", "x.csv", "--with-ids", status=2)[1]
    assert "--data" in run("export", study_path, "-o", tmp_path / "x.csv", "--data", tmp_path, status=2)[1]
    other = write_study(tmp_path / "another")
    assert "It has blind." in run("status", other, "--data", data, status=2)[1]


def test_backup_is_a_database_with_the_same_answers(fielded: Fielded, data: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    assert f"written    {copy}" in run("backup", "-o", copy, "--data", data)[0]
    store = Store.open(f"sqlite:///{copy}")
    with store.read() as connection, fielded.store.read() as original:
        ours, theirs = (export.judgments(one, fielded.id, fielded.study) for one in (connection, original))
    store.close()
    assert ours == theirs


def test_links_say_where_the_study_is(study_path: Path) -> None:
    output, _ = run("links", study_path, "--base-url", "https://study.example.org/")
    assert "https://study.example.org/s/blind/" in output
    assert "this machine" not in output


def test_links_say_what_participants_cannot_reach(study_path: Path, tmp_path: Path) -> None:
    output, _ = run("links", study_path, "--data", tmp_path)
    assert "http://127.0.0.1:8000/s/blind/" in output
    assert "http://127.0.0.1:8000 works only on this machine" in output
    assert "--base-url https://" in output


@pytest.mark.slow
def test_links_know_the_last_server_and_the_public_title(study_path: Path, data: Path) -> None:
    study_path.write_text('public_title = "Sentences"\n' + study_path.read_text())
    server = Server(study_path, "--data", data)
    address = server.address()
    server.stop()
    assert not address.endswith(":8000")
    output, _ = run("links", study_path, "--data", data)
    assert f"{address}/s/blind/" in output
    assert f"{address} works only on this machine" in output
    assert "  title         Sentences\n" in output
    public = Server(study_path, "--data", data, "--base-url", "https://study.example.org")
    public.address()
    public.stop()
    output, _ = run("links", study_path, "--data", data)
    assert "https://study.example.org/s/blind/" in output
    assert "this machine" not in output


@pytest.mark.parametrize("text", ["worker-1\nworker-2\nworker-1\n", "Participant id,Age\nworker-1,30\nworker-2,40\n"])
def test_people_are_noted_as_hashes(fielded: Fielded, data: Path, tmp_path: Path, text: str) -> None:
    from karat.field.content.platforms import person_hash

    file = tmp_path / "people.csv"
    file.write_text(text)
    output, _ = run("participants", "import", file, "--study", "norming", "--data", data)
    assert output == "imported   2 participants of norming, 2 of them new\n"
    # The old name of the command works for one version.
    assert "0 of them new" in run("people", "import", file, "--study", "norming", "--data", data)[0]
    with fielded.store.read() as connection:
        (found,) = arrivals.participations(
            connection, person_hash(fielded.store.secret("person"), "prolific", "worker-2")
        )
    assert found.study == "norming"
    assert b"worker-1" not in (data / "karat.db").read_bytes()


def test_people_says_what_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("age,country\n30,DE\n")
    assert "people.csv" in run("people", "import", file, "--study", "x", status=2)[1]
    assert "import, show, reconcile or vacuum" in run("people", "ban", file, "--study", "x", status=2)[1]


def test_everything_about_a_participant_is_shown(fielded: Fielded, data: Path) -> None:
    with fielded.store.read() as connection:
        (name,) = export.participants(connection, fielded.id)["participant"]
    result = json.loads(run("participants", "show", name, "--study", "blind", "--data", data)[0])
    (session,) = result["session"]
    assert set(session) == set(schema.session.c.keys())
    assert (session["comment"], session["background"]) == ("=1+1", {"region": "north"})
    assert set(result["answer"][0]) == set(schema.answer.c.keys())
    assert len(result["answer"]) == session["answered"]
    assert set(result) == {"session", "identity", "quota_seat", "trial", "answer", "event", "invitation", "naivety"}
    assert "no participant" in run("participants", "show", "p-nobody", "--study", "blind", "--data", data, status=2)[1]


def test_the_list_of_the_platform_is_compared(fielded: Fielded, data: Path, tmp_path: Path) -> None:
    for number in range(3):
        fielded.come(identity=arrivals.Identity(f"{number:024x}", f"{number + 9:024x}"))
    file = tmp_path / "submissions.csv"
    rows = [(f"{0:024x}", f"{9:024x}", "APPROVED"), (f"{1:024x}", "f" * 24, "RETURNED")]
    file.write_text("\n".join(["Participant id,Submission id,Status", *(",".join(row) for row in rows)]) + "\n")
    output, _ = run("participants", "reconcile", file, "--study", "blind", "--data", data)
    lines = output.splitlines()
    assert lines[0] == "compared   3 participants here, 2 participants listed"
    assert [line.split(":")[0] for line in lines[1:]] == [
        "differs    1 not listed by the platform, so the id was probably made up",
        "differs    1 listed with another submission",
        "differs    1 submitted or paid on the platform, but not complete here (ids of the platform)",
    ]


def get(address: str) -> tuple[int, str]:
    for _ in range(1200):
        try:
            with urllib.request.urlopen(address, timeout=60) as reply:
                return reply.status, reply.read().decode()
        except (ConnectionError, urllib.error.URLError):
            time.sleep(0.05)
    raise AssertionError(f"{address} does not answer")


def test_serve_starts_freezes_and_refuses_other_rules(study_path: Path, data: Path) -> None:
    server = Server(study_path, "--data", data)
    try:
        assert get(f"{server.address()}/healthz")[0] == 200
        assert get(f"{server.address()}/s/blind/")[0] == 200
        assert "Log in" in get(f"{server.address()}/admin")[1]
        # Another server was started on the folder and killed; links names the one that answers.
        with closing(Store.open(f"sqlite:///{data}/karat.db")) as store:
            note_address(store, "http://127.0.0.1:1")
        assert f"{server.address()}/s/blind/" in run("links", study_path, "--data", data)[0]
    finally:
        assert "All confirmed answers are saved." in server.stop()
    assert server.process.returncode == 0
    assert not any(PASSWORD in line for line in server.lines)
    assert (data / "secret").stat().st_mode & 0o077 == 0
    study_path.write_text(study_path.read_text().replace("at_least = 0.9", "at_least = 0.5"))
    # As `karat serve */` does, the next start names the data folder among the studies.
    _, error = run("serve", study_path, data, "--data", data, "--port", "0", status=2)
    assert "the screening rules have changed since blind started" in error
    items = study_path.with_name("items.csv")
    study_path.write_text(study_path.read_text().replace("at_least = 0.5", "at_least = 0.9"))
    items.write_text(items.read_text().replace("Test 1 ", "Test one "))
    _, error = run("serve", study_path, "--data", data, "--port", "0", status=2)
    assert "the items zz-item-1 (changed)" in error
    assert "--changed" in error
    for file in data.glob("karat.db*"):
        file.rename(file.with_name(f"moved-{file.name}"))
    _, error = run("serve", study_path, "--data", data, "--port", "0", status=2)
    assert "--new-database" in error
    assert not (data / "karat.db").exists()


@pytest.mark.slow
def test_a_second_server_on_the_same_data_names_the_first(study_path: Path, data: Path) -> None:
    server = Server(study_path, "--data", data)
    try:
        second = Server(study_path, "--data", data)
        second.stop()
        assert any(line.startswith("note") and server.address() in line for line in second.lines)
    finally:
        server.stop()


@pytest.mark.slow
def test_serve_gives_an_address_to_try_that_does_not_count(study_path: Path, data: Path) -> None:
    study_path.write_text(study_path.read_text().replace('platform = "link"', 'platform = "prolific"'))
    server = Server(study_path, "--data", data)
    try:
        (line,) = [line for line in server.lines if line.startswith("try it ")]
        assert line.endswith("  (list 1; does not count)")
        _, page = get(line.split()[2])
        visit = re.search(r'name="visit" value="([^"]+)"', page)
        assert visit is not None
        sent = urllib.parse.urlencode({"visit": visit[1]}).encode()
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(f"{server.address()}/s/blind/begin", sent, timeout=60) as reply:
            assert words("en")["page.preview"].format(list=1) in reply.read().decode()
    finally:
        server.stop()
    output, _ = run("status", study_path, "--data", data)
    assert "0 of 8 eligible, 0 running, lists 0/0" in output
    assert "1 preview or pilot session, not counted" in output
    run("export", study_path, "-o", "x.csv", "--data", data, status=2)


@pytest.mark.slow
def test_serve_says_what_was_changed_and_what_follows(study_path: Path, data: Path) -> None:
    Server(study_path, "--data", data).stop()
    text = study_path.read_text()
    study_path.write_text(text.replace("[recruitment]\n", '[recruitment]\ncompletion_code = "C1ABCDEF"\n'))
    server = Server(study_path, "--data", data)
    server.stop()
    sentence = " ".join(" ".join(server.lines).split())
    assert "[recruitment] completion_code" in sentence
    assert max(map(len, server.lines[:3])) <= 110
    study_path.write_text(text.replace('prompt = "Natural?"', 'prompt = "Good?"'))
    assert "--changed" in run("serve", study_path, "--data", data, "--port", "0", status=2)[1]
    server = Server(study_path, "--data", data, "--changed")
    server.stop()
    assert any(line.startswith("warning    blind: The study has changed since") for line in server.lines)


@pytest.mark.slow
def test_a_lost_password_can_be_set_anew(study_path: Path, data: Path) -> None:
    def stored() -> str | None:
        store = Store.open(f"sqlite:///{data}/karat.db")
        with store.read() as connection:
            found = admins.password_hash(connection, NAME)
        store.close()
        return found

    Server(study_path, "--data", data).stop()
    first = stored()
    Server(study_path, "--data", data).stop()
    assert stored() == first
    Server(study_path, "--data", data, "--new-password").stop()
    assert stored() != first
    assert matches(stored(), PASSWORD)


def test_of_two_first_starts_one_sets_the_password(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one, which saw no password either, says so and shows none that does not hold."""
    store = Store.open(f"sqlite:///{data}/karat.db")
    monkeypatch.delenv("KARAT_ADMIN_PASSWORD", raising=False)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    account(store, renew=False)
    shown = re.search(r"The password of admin is (\S+) ", capsys.readouterr().out)
    with store.read() as connection:
        held = admins.password_hash(connection, NAME)
    assert shown is not None
    assert matches(held, shown[1])
    asked = iter([None, held])  # it looked before the first one was ready
    monkeypatch.setattr(admins, "password_hash", lambda *_: next(asked))
    account(store, renew=False)
    output = capsys.readouterr().out
    assert "Another server process has just set the password of admin" in output
    assert "The password of admin is" not in output
    store.close()


@pytest.mark.slow
def test_a_draft_takes_over_other_rules(study_path: Path, data: Path) -> None:
    server = Server(study_path, "--data", data, "--draft")
    server.stop()
    assert "not started" in run("status", study_path, "--data", data)[0]
    study_path.write_text(study_path.read_text().replace("at_least = 0.9", "at_least = 0.5"))
    Server(study_path, "--data", data, "--draft").stop()


def test_serve_refuses_errors_of_the_check(study_path: Path, data: Path) -> None:
    study_path.write_text(study_path.read_text().replace('"lexicalisations"', '"texts"'))
    _, error = run("serve", study_path, "--data", data, "--port", "0", status=2)
    assert "1 error" in error
    assert not data.exists()


def test_a_port_in_use_is_a_sentence(study_path: Path, data: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        _, error = run("serve", study_path, "--data", data, "--port", str(port), status=2)
    assert f"127.0.0.1, port {port}" in error
    assert "Traceback" not in error


def test_two_studies_of_one_name_are_refused(study_path: Path, data: Path, tmp_path: Path) -> None:
    other = write_study(tmp_path / "elsewhere" / "blind")
    assert "blind" in run("serve", study_path, other, "--data", data, status=2)[1]
