"""Small functions of the server: names, times, cookies, policies, and what the store knows at once."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from sqlalchemy.dialects import sqlite
from starlette.responses import Response

from karat.cli.serve import answering
from karat.field.admin.page import ago, day
from karat.field.bots.client import keep_cookies
from karat.field.bots.process import end
from karat.field.content.platforms.platform import identifier
from karat.field.content.platforms.prolific import PROLIFIC
from karat.field.content.texts import main_part, words
from karat.field.registration import slug
from karat.field.server.api import schemas
from karat.field.server.config import ServerConfig
from karat.field.server.headers import Holds, environment, page_policy
from karat.field.server.security import cookie_name, form_body, keyed_hash, page_responses, set_cookie
from karat.field.server.visits import VisitLink, opened, preview_path, sealed
from karat.field.store import schema
from karat.field.store.answers import in_array
from karat.field.store.engine import database_url, file_check
from karat.signals import signals_held

KEY = b"k" * 32


def test_times_as_the_dashboard_shows_them() -> None:
    assert [ago(seconds) for seconds in (5, 200, 3 * 3600, 50 * 3600)] == [
        "just now",
        "3 min ago",
        "3 h ago",
        "2 days ago",
    ]
    assert day(0) == "1 January 1970, 00:00 UTC"


def test_names_of_studies_languages_and_people() -> None:
    assert slug("Wortstellung (Mittelfeld) – Prüfung 2") == "wortstellung-mittelfeld-prufung-2"
    assert main_part("pt-BR") == "pt"
    assert (identifier(" 5f0a "), identifier("<script>")) == ("5f0a", "")
    visit = PROLIFIC.read({"PROLIFIC_PID": "5f0a" * 6, "SESSION_ID": "made-up"})
    assert (visit.person, visit.session) == ("5f0a" * 6, "")


def test_words_are_filled_and_counted() -> None:
    assert words("en").fill("browser.count", number=3, of=78) == "3 of 78"
    assert words("pl").counted("quiz.attempts", 3) == words("pl")["quiz.attempts_few"].replace("{count}", "3")


def test_cookies_are_kept_set_and_dropped() -> None:
    known = {"a": "1"}
    keep_cookies(known, ["a=2; Max-Age=0", "b=3; Path=/"])
    assert known == {"b": "3"}
    secure = ServerConfig(Path("data"), KEY, base_url="https://study.example.org")
    assert cookie_name(secure, "karat") == "__Host-karat"
    response = Response()
    set_cookie(response, ServerConfig(Path("data"), KEY), "karat", "token", 60)
    parts = ["karat=token", "HttpOnly", "Max-Age=60", "Path=/", "SameSite=lax"]
    assert response.headers["set-cookie"].split("; ") == parts


def test_what_a_page_allows_and_answers() -> None:
    assert page_policy(framed_by=["https://www.mturk.com"]).split("; ")[-2] == "frame-ancestors https://www.mturk.com"
    assert sorted(page_responses(404)) == [200, 400, 404, 405, 413]
    assert list(form_body(token="The token.")["requestBody"]["content"]) == ["application/x-www-form-urlencoded"]
    assert sorted(schemas()) == ["AnswersSent", "PageEvent", "PostedAnswer"]
    assert environment().from_string("<p>{{ one }}</p>").render(one="<script>") == "<p>&lt;script&gt;</p>"


def test_hashes_and_links_belong_to_one_purpose() -> None:
    assert keyed_hash(KEY, "csrf", "a") != keyed_hash(KEY, "preview", "a")
    assert preview_path(KEY, "word-order", 1).startswith("/s/word-order/?preview=")
    link = opened(KEY, sealed(KEY, VisitLink("word-order", "n", person="5f0a")))
    assert link is not None
    assert link.person == "5f0a"


def test_one_address_never_holds_all_free_places() -> None:
    holds = Holds(clock=lambda: 0.0)
    ranks = [holds.add("192.0.2.7", f"token {number}") for number in range(6)]
    assert [holds.within(rank, room=6) for rank in ranks] == [True] * 5 + [False]
    assert holds.tokens("token 5") == [f"token {number}" for number in range(6)]


def test_lists_of_values_are_one_parameter() -> None:
    text = str(in_array(schema.session.c.id, "ids").compile(dialect=sqlite.dialect()))
    assert text == "(session.id IN (SELECT value FROM json_each(?)))"


def test_a_server_elsewhere_has_no_file_to_look_after() -> None:
    file_check(database_url("postgresql://localhost/karat"))()
    assert not answering("http://127.0.0.1:1")


def test_a_process_that_is_asked_to_end_ends() -> None:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    end(process)
    assert process.returncode == -signal.SIGTERM


def test_signals_wait_while_a_process_is_started() -> None:
    came: list[str] = []
    before = signal.signal(signal.SIGTERM, lambda *_: came.append("ended"))
    try:
        with signals_held():
            signal.raise_signal(signal.SIGTERM)
            came.append("started")
    finally:
        signal.signal(signal.SIGTERM, before)
    assert came == ["started", "ended"]
