"""An oTree project of the same content as a rating study: one page a sentence, five points, and bots that answer it.

oTree is installed into an environment of its own, under a temporary folder, unless KARAT_OTREE names an installed
program; its server runs as its manual says for production, on SQLite as it comes or on PostgreSQL. Its bots use the
client of karat's bots, and each of them answers page after page.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
import venv
from pathlib import Path

from karat.field.bots.client import Client, Reply
from karat.field.bots.process import answers, free_port, started

VERSION = ("otree>=6,<7", "psycopg2-binary")
KEY = "benchmark"
SETTINGS = """
SESSION_CONFIGS = [dict(name="likert", app_sequence=["likert"], num_demo_participants=1)]
SESSION_CONFIG_DEFAULTS = dict(real_world_currency_per_point=1, participation_fee=0)
LANGUAGE_CODE, REAL_WORLD_CURRENCY_CODE, USE_POINTS = "en", "EUR", False
ADMIN_USERNAME, ADMIN_PASSWORD, SECRET_KEY, DEBUG = "admin", "benchmark", "benchmark", False
"""
APP = """
import json
from pathlib import Path
from otree.api import *

SENTENCES = json.loads((Path(__file__).parent / "sentences.json").read_text())

class C(BaseConstants):
    NAME_IN_URL = "likert"
    PLAYERS_PER_GROUP = None
    NUM_ROUNDS = len(SENTENCES)

class Subsession(BaseSubsession):
    pass

class Group(BaseGroup):
    pass

class Player(BasePlayer):
    rating = models.IntegerField(label={prompt!r}, choices=[1, 2, 3, 4, 5], widget=widgets.RadioSelectHorizontal)

class Judge(Page):
    form_model = "player"
    form_fields = ["rating"]

    @staticmethod
    def vars_for_template(player):
        return dict(sentence=SENTENCES[player.round_number - 1])

page_sequence = [Judge]
"""
PAGE = "{{ block content }}\n<p>{{ sentence }}</p>\n{{ formfields }}\n{{ next_button }}\n{{ endblock }}\n"
EVERY_PAGE = '{{ extends "otree/Page.html" }}\n{{ load otree }}\n'


def installed(folder: Path) -> Path:
    """The program `otree` in an environment of its own, made when it is not there."""
    known = os.environ.get("KARAT_OTREE")
    program = Path(known) if known else folder / "environment" / "bin" / "otree"
    if not program.exists():
        venv.create(folder / "environment", with_pip=True)
        python = program.with_name("python")
        subprocess.run([python, "-m", "pip", "-q", "--disable-pip-version-check", "install", *VERSION],
                       check=True, capture_output=True)  # fmt: skip
    return program


def project(folder: Path, sentences: list[str], prompt: str) -> Path:
    """The project, as files."""
    files = {
        "settings.py": SETTINGS, "requirements.txt": "", "likert/__init__.py": APP.format(prompt=prompt),
        "likert/sentences.json": json.dumps(sentences), "likert/Judge.html": PAGE,
        "_templates/global/Page.html": EVERY_PAGE, "_static/empty.txt": "",
    }  # fmt: skip
    for name, text in files.items():
        path = folder / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "project" / "db.sqlite3").unlink(missing_ok=True)
    return folder / "project"


class OTree:
    """A running oTree server with a session for so many participants."""

    def __init__(self, folder: Path, sentences: list[str], prompt: str, database: str = "") -> None:
        program = installed(folder)
        self.port = free_port()
        environment = os.environ | {
            "OTREE_PRODUCTION": "1", "OTREE_REST_KEY": KEY, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
        }  # fmt: skip
        environment.pop("DATABASE_URL", None)
        if database:
            environment["DATABASE_URL"] = database
        where = project(folder, sentences, prompt)
        command = [sys.executable, "-c", f"import os; os.chdir({str(where)!r}); "
                   f"os.execv({str(program)!r}, ['otree', 'prodserver1of2', '{self.port}'])"]  # fmt: skip
        with (folder / "otree.log").open("ab") as log:
            self.process = started(command, environment, log)
        until = time.monotonic() + 60
        while not answers(self.port, "/login"):
            if self.process.poll() is not None or time.monotonic() > until:
                self.stop()
                raise RuntimeError(f"oTree did not start: {(folder / 'otree.log').read_text()[-2000:]}")
            time.sleep(0.1)

    async def participants(self, count: int) -> tuple[list[str], float]:
        """Codes of so many new participants, and how many seconds it took to make them."""
        client = Client(f"http://127.0.0.1:{self.port}", seconds=300, headers={"otree-rest-key": KEY})
        began = time.perf_counter()
        body = {"session_config_name": "likert", "num_participants": count}
        made = (await client.post_json("/api/sessions", body)).json()
        took = time.perf_counter() - began
        listed = (await client.get(f"/api/sessions/{made['code']}")).json()
        await client.close()
        return [one["code"] for one in listed["participants"]], took

    async def first_page(self, code: str) -> tuple[Client, Reply]:
        """A participant who has come."""
        client = Client(f"http://127.0.0.1:{self.port}", seconds=300)
        return client, await client.get(f"/InitializeParticipant/{code}")

    def run(self, people: int, seconds: float, interval: float = 0.0) -> tuple[list[float], float, float]:
        """Latencies of all answers, for how long they were given, and how long making the participants took.

        With an interval, everybody answers on a schedule, and latencies are counted from when an answer was due.
        """

        async def whole() -> tuple[list[float], float, float]:
            codes, making = await self.participants(people)
            come = await asyncio.gather(*map(self.first_page, codes))
            taken: list[float] = []
            began = time.perf_counter()
            await asyncio.gather(*(
                _answer(client, page, began + seconds, taken, interval, began + interval * place / people)
                for place, (client, page) in enumerate(come)
            ))  # fmt: skip
            return taken, time.perf_counter() - began, making

        return asyncio.run(whole())

    def stop(self) -> None:
        """End it and the process that it started itself; both are in a session of their own."""
        os.killpg(self.process.pid, 15)
        self.process.wait(20)


async def _answer(client: Client, page: Reply, until: float, seconds: list[float], interval: float, due: float) -> None:
    """Answer page after page until the time is over; an answer counts when the next page is there."""
    while time.perf_counter() < until and "/Judge/" in page.path:
        if interval:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
        began = due if interval else time.perf_counter()
        due += interval
        try:
            page = await client.post_form(page.path, {"rating": "3"})
        except ConnectionError:
            # The server closes connections that were silent for some seconds; a browser would open another, too.
            page = await client.post_form(page.path, {"rating": "3"})
        if page.status != 200:
            raise RuntimeError(f"oTree answered {page.status} at {page.path}")
        seconds.append(time.perf_counter() - began)
    await client.close()
