"""A study with participants in a store, and a researcher's browser."""

from __future__ import annotations

import os
import random
import secrets
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from time import time

from argon2 import PasswordHasher

from field.server.visitor import Reply, Visitor
from karat.field.admin.login import NAME
from karat.field.content import answers as content
from karat.field.content.texts import words
from karat.field.content.trials import planned
from karat.field.registration import registration
from karat.field.store import Store, admins, answers, arrivals, progress, studies, trials
from karat.study.study import Study, load

PASSWORD = "correct horse battery staple"
HASH = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
"""Weak, so that a login takes no time: how costly a check is, its hash says."""
LEVELS = ("zz-order-a", "zz-order-b")
ANSWERS = ("zz-answer-no", "zz-answer-yes")
TOML = f"""
title = "Blind <study>"
language = "en"
[[block]]
task = "yes-no"
items = "items.csv"
scale = {{ levels = ["{ANSWERS[0]}", "{ANSWERS[1]}"] }}
factors = {{ order = ["{LEVELS[0]}", "{LEVELS[1]}"] }}
prompt = "Natural?"
[screening]
completion = {{ at_least = 0.9 }}
attention = {{ alpha = 0.05 }}
straightlining = {{}}
exclude = "any"
[recruitment]
platform = "link"
participants = 8
quotas = {{ region = {{ north = 4, south = 4 }} }}
[[background]]
name = "region"
question = "Where do you live?"
answers = ["north", "south"]
[texts]
consent = "You agree."
instructions = "Rely on your intuition."
[check]
allow = ["attention-grammatical", "attention", "lexicalisations"]
"""


def write_study(folder: Path) -> Path:
    """A small yes-no study whose conditions and answers have names that nothing else has."""
    folder.mkdir(parents=True)
    rows = ["item,function,status,order,sentence,expected"]
    for number in range(1, 9):
        rows += [f"zz-item-{number},test,,{level},Test {number} {level}.," for level in LEVELS]
    for number in range(1, 7):
        status = "grammatical" if number % 2 else "ungrammatical"
        rows.append(f"a{number},attention,{status},,Attention {number}.,{ANSWERS[number % 2]}")
    rows += [f"f{number},filler,,,Filler {number}.," for number in range(1, 5)]
    (folder / "items.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "study.toml").write_text(TOML, encoding="utf-8")
    return folder / "study.toml"


@dataclass
class Fielded:
    """A study in a store, with people who answer it."""

    store: Store
    study: Study
    slug: str
    id: int
    codes: dict[str, str] = field(default_factory=dict)
    """Withdrawal codes by participant."""

    @classmethod
    def start(cls, store: Store, path: Path, slug: str = "blind", state: str = "running") -> Fielded:
        study = load(path)
        row = store.call(studies.register, registration(slug, study))
        if state != "draft":
            store.call(studies.set_state, row.id, state)
        return cls(store, study, slug, row.id)

    def come(self, lease: float = 3600.0, **settings: object) -> arrivals.Arrived:
        """Somebody begins."""
        arrival = arrivals.Arrival(
            self.id, secrets.token_hex(16), self.study.lists, "consent", lease,
            wanted=self.study.settings.recruitment.participants, **settings,  # type: ignore[arg-type]
        )  # fmt: skip
        return self.store.call(arrivals.arrive, arrival)

    def answer(self, arrived: arrivals.Arrived, share: float = 1.0, attentive: bool = True, always: str = "") -> None:
        """Answer a share of the pages."""
        assert arrived.session_id is not None
        assert arrived.list is not None
        assert arrived.token_hash is not None
        questionnaire = self.study.questionnaire(arrived.list, arrived.participant or "")
        pages = planned(self.study, questionnaire, slug=self.slug, words=words("en"))
        self.store.call(progress.set_step, arrived.session_id, "trials")
        self.store.call(trials.plan_trials, trials.PlannedTrials(arrived.session_id, pages))
        offers = content.offers(self.study)
        rng = random.Random(arrived.session_id)
        sent = []
        for page in pages[: round(len(pages) * share)]:
            response = None
            if page.shown["kind"] == "trial":
                expected = page.rows[0].get("expected")
                right = expected if not expected or expected in ANSWERS else expected[0]
                response = always or (right if right and attentive else rng.choice(ANSWERS))
            given = content.PostedAnswer(
                trial=page.public_id, key=secrets.token_hex(8), response=response, rt=rng.uniform(1, 9)
            )
            sent.append(answers.SubmittedAnswer(page.public_id, given.key, given, time(), content.details(given)))
        saved = self.store.call(
            answers.save,
            answers.AnswerSubmission(
                arrived.token_hash, sent, lambda trial, given: content.check(trial.shown, offers[trial.block], given),
                "comment", 3600.0,
            ),
        )  # fmt: skip
        assert not saved.refused

    def finish(self, region: str = "north", comment: str = "", **settings: object) -> str:
        """Somebody takes part to the end; the name."""
        arrived = self.come()
        assert arrived.outcome == "new"
        assert arrived.session_id is not None
        quotas = self.study.settings.recruitment.quotas
        step = progress.SetBackground(arrived.session_id, {"region": region}, "instructions", 3600.0, quotas)
        assert self.store.call(progress.set_background, step) == "ok"
        self.answer(arrived, **settings)  # type: ignore[arg-type]
        if comment:
            self.store.call(progress.set_comment, arrived.session_id, comment, "done")
        assert self.store.call(progress.finish, arrived.session_id, "complete") == "ok"
        with self.store.read() as connection:
            (session,) = progress.find(connection, self.id, arrived.participant or "")
        self.codes[session.participant] = session.withdrawal_code or ""
        return session.participant


def set_password(store: Store) -> None:
    """The login of the tests, hashed once for all of them."""
    store.call(admins.set_password, NAME, HASH)


def log_in(visitor: Visitor, password: str = PASSWORD, follow: bool = True) -> Reply:
    """Fill in the login form."""
    page = visitor.get("/admin/login")
    (form,) = page.forms
    return visitor.send(form, {"name": NAME, "password": password}, follow=follow)


class Server:
    """A server in a process of its own."""

    def __init__(self, *arguments: str | Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "karat", "serve", *map(str, arguments), "--port", "0"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env=os.environ | {"KARAT_ADMIN_PASSWORD": PASSWORD},
        )  # fmt: skip
        self.lines: list[str] = []
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip())
            if line.startswith("Press Ctrl-C"):
                break

    def address(self) -> str:
        return next(line.split()[1] for line in self.lines if line.startswith("dashboard")).removesuffix("/admin")

    def stop(self) -> str:
        self.process.send_signal(signal.SIGINT)
        assert self.process.stdout is not None
        self.process.wait(timeout=60)
        rest = self.process.stdout.read()
        self.process.stdout.close()
        return rest
