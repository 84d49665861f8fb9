"""The servers of the studio: the preview of a study, the study on this machine, its rehearsal, and dashboards.

The preview is karat's server on a separate loopback port, with a database that is deleted at the end, so it shows what
will be served. Only the pages of the studio may show it in a frame, and only a browser that the studio sent there gets
an answer. All servers end with the studio.
"""

import asyncio
import json
import os
import secrets
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs

import uvicorn
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from karat.field.admin.login import NAME as ADMIN
from karat.field.bots import Client, visit
from karat.field.bots.behaviour import Behaviour
from karat.field.bots.process import SECONDS_TO_END, ServerProcess, end, free_port
from karat.field.bots.walk import VisitError, Way, known_answers
from karat.field.content.links import invitation, links
from karat.field.publish import ADDRESS, build_server_folder, check_address, public_address
from karat.field.registration import registration, slug_of
from karat.field.server.app import create_app
from karat.field.server.config import ServerConfig, prepare, write_private
from karat.field.server.headers import POLICY
from karat.field.server.run import quiet_settings
from karat.field.server.security import same
from karat.field.server.visits import preview_path
from karat.field.store import Store, export, studies
from karat.studio.dashboard import DashboardProxy, RemoteServer
from karat.studio.folder import StudioError
from karat.studio.worker import Background
from karat.studio.workspace import PUBLISHED, REHEARSAL, Project, database_of, stored_row
from karat.study.setting_base import NAME
from karat.study.study import Study, load

HOST = "127.0.0.1"
COOKIE = "karat-preview"
PASSWORD = "dashboard-password"  # noqa: S105 - the name of a file
ONE_PASSWORD = threading.Lock()
"""Two requests that ask for the password of a study for the first time get the same one."""


class PreviewGuard:
    """Answers only the browser that the studio sent, and lets the studio show the pages in a frame."""

    def __init__(self, app: ASGIApp, studio: str) -> None:
        self.app = app
        self.key = secrets.token_urlsafe(24)
        self._studio = studio
        self._visits: dict[str, tuple[str, dict[str, str]]] = {}

    def hand_over(self, path: str, cookies: dict[str, str]) -> str:
        """An address that gives the browser the cookies of a visit that was begun for it, and leads to its page."""
        name = secrets.token_urlsafe(16)
        self._visits = {name: (path, cookies)}  # earlier frames are gone
        return f"/visit/{name}?studio={self.key}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        came = parse_qs(scope["query_string"].decode("latin-1")).get("studio", [""])[0]
        has_cookie = same(HTTPConnection(scope).cookies.get(COOKIE, ""), self.key)
        if not has_cookie and not same(came, self.key):
            await PlainTextResponse("Open the preview from karat.", 403)(scope, receive, send)
            return
        visit = self._visits.get(str(scope["path"]).removeprefix("/visit/"))
        if visit is not None and same(came, self.key):
            path, cookies = visit
            response = RedirectResponse(path, 303)
            for name, value in {**cookies, COOKIE: self.key}.items():
                response.set_cookie(name, value, httponly=True, samesite="strict")
            await response(scope, receive, send)
            return

        async def framed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                policy = headers.get(POLICY, "")
                headers[POLICY] = policy.replace("frame-ancestors 'none'", f"frame-ancestors {self._studio}")
                if not has_cookie:
                    headers.append("set-cookie", f"{COOKIE}={self.key}; Path=/; HttpOnly; SameSite=Strict")
            await send(message)

        await self.app(scope, receive, framed)


class _Guide(Behaviour):
    """A bot that stops before a trial, counted from 1."""

    def __init__(self, trial: int) -> None:
        super().__init__()
        self._before = trial - 1

    def answer(self, trial: Mapping[str, Any], scale: Mapping[str, Any]) -> dict[str, Any]:
        self._before -= 1
        self.stay = 1.0 if self._before > 0 else 0.0
        return super().answer(trial, scale)


class LoopbackServer:
    """An application on a free loopback port, in a separate thread."""

    def __init__(self) -> None:
        self._listener = socket.create_server((HOST, 0))
        self.port: int = self._listener.getsockname()[1]

    def start(self, app: ASGIApp) -> None:
        """Serve an application."""
        self._server = uvicorn.Server(quiet_settings(app, timeout_graceful_shutdown=1))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._listener]}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join(SECONDS_TO_END)
        self._listener.close()


class PreviewServer:
    """The pages of studies on one port."""

    def __init__(self, folder: Path, studio: str) -> None:
        self._server = LoopbackServer()
        self._config: ServerConfig = prepare(folder, port=self._server.port)
        self._store = Store.open(self._config.database_url)
        self._guard = PreviewGuard(PlainTextResponse("Nothing is shown yet.", 404), studio)
        self._shown: dict[str, Study] = {}
        self._server.start(self._guard)

    @property
    def address(self) -> str:
        return self._config.address

    def show(self, name: str, study: Study, list_number: int = 1, trial: int = 1) -> str:
        """Serve the current version of a study; returns the address of a new preview visit to a list.

        For a later trial, a bot answers the pages before it.
        """
        before = self._shown.get(name)
        if before is None or before.fingerprint != study.fingerprint:
            self._shown[name] = study
            self._store.call(studies.register, registration(name, study))
            self._guard.app = create_app(list(self._shown.items()), self._store, self._config, admin=False)
        landing = preview_path(self._config.secret, name, list_number)
        if trial > 1:
            return f"{self.address}{asyncio.run(self._walk(name, study, landing, trial))}"
        return f"{self.address}{landing}&studio={self._guard.key}"

    async def _walk(self, name: str, study: Study, landing: str, trial: int) -> str:
        """Let a bot answer the pages before a trial; returns the address at which the browser continues."""
        client = Client(self.address)
        client.cookies[COOKIE] = self._guard.key
        token = parse_qs(landing.partition("?")[2])["preview"][0]
        try:
            await visit(client, Way(name, {"preview": token}, known_answers(study), speed=0.0), _Guide(trial))
        except VisitError as error:
            raise StudioError(f"Trial {trial} cannot be reached: {error}") from None
        finally:
            await client.close()
        cookies = {key: value for key, value in client.cookies.items() if key != COOKIE}
        return self._guard.hand_over(f"/s/{name}/go", cookies)

    def close(self) -> None:
        self._server.close()
        self._store.close()


@dataclass
class Rehearsal:
    """A run of `karat rehearse`. It writes to files, because it would wait for a full pipe that nobody reads."""

    command: Sequence[str]
    folder: Path
    """A folder for the output."""
    began: float = field(default_factory=monotonic)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "printed").open("wb") as printed, (self.folder / "errors").open("wb") as errors:
            self.process = subprocess.Popen(  # noqa: S603 - the only argument is a study's folder
                self.command, stdin=subprocess.DEVNULL, stdout=printed, stderr=errors,
                start_new_session=os.name == "posix", env=os.environ | {"PYTHONIOENCODING": "utf-8"},
            )  # fmt: skip

    def progress(self) -> dict[str, Any]:
        """Whether the rehearsal is running, for how many seconds, or its result."""
        code = self.process.poll()
        if code is None:
            return {"working": True, "seconds": round(monotonic() - self.began)}
        lines: list[str] = []
        texts = ((self.folder / name).read_text(encoding="utf-8", errors="replace") for name in ("printed", "errors"))
        printed, errors = map(str.strip, texts)
        if code:
            lines = (errors or printed or "It was stopped.").splitlines()
        else:
            with suppress(ValueError):
                lines = json.loads(printed)["lines"]
        return {"working": False, "failed": bool(code), "lines": lines}


class StudyServers:
    """The servers and jobs of the studies."""

    def __init__(self, scratch: Path, studio: str) -> None:
        self._scratch, self._studio = scratch, studio
        self._preview: PreviewServer | None = None
        self._running: dict[str, ServerProcess] = {}
        self._rehearsals: dict[str, Rehearsal] = {}
        self._dashboard: tuple[DashboardProxy, LoopbackServer] | None = None
        self.jobs = Background(scratch)
        self._lock = threading.Lock()

    def preview(self, project: Project, list_number: int = 1, trial: int = 1) -> SimpleNamespace:
        """A study as participants see it, from the first page of a list or from a trial.

        The result has its address, the origin that a frame must allow, and the numbers of lists and trials.
        """
        study = load(project.folder)
        list_number = min(max(list_number, 1), study.lists)
        blocks = enumerate(study.blocks)
        trials = sum(block.settings.showings(study.trials(place, list_number).height) for place, block in blocks)
        trial = min(max(trial, 1), trials)
        with self._lock:
            if self._preview is None:
                self._preview = PreviewServer(self._scratch / "preview", self._studio)
            address = self._preview.show(f"preview-{project.id}", study, list_number, trial)
            return SimpleNamespace(
                address=address, origin=self._preview.address, lists=study.lists, trials=trials,
                list_number=list_number, trial=trial,
            )  # fmt: skip

    def start(self, project: Project) -> None:
        """Serve a study on this machine and start it, which freezes its rules."""
        with self._lock:
            if self.address(project):
                return
            server = ServerProcess(
                project.folder, project.data, port=free_port(),
                environment={"KARAT_ADMIN_PASSWORD": password(project), "KARAT_ARRIVALS_PER_MINUTE": "120"},
            )  # fmt: skip
            self._running[project.id] = server.start()

    def stop(self, project: Project) -> None:
        """Stop the server of a study; all confirmed answers are saved."""
        server = self._running.pop(project.id, None)
        if server is not None:
            server.stop()

    def address(self, project: Project) -> str:
        """The address of a study's server; empty if there is none."""
        server = self._running.get(project.id)
        return server.address if server is not None else ""

    def open_dashboard(self, address: str, name: str, passphrase: str) -> None:
        """Log in to a server and show its dashboard instead of the current one."""
        server = RemoteServer(address)
        server.log_in(name, passphrase)
        self.close_dashboard()
        with self._lock:
            proxy, here = DashboardProxy(server, self._studio), LoopbackServer()
            proxy.origin = f"http://{HOST}:{here.port}"
            here.start(proxy)
            self._dashboard = proxy, here

    def open_own_dashboard(self, project: Project) -> None:
        """Show the dashboard of a study on this machine."""
        address, secret = self.address(project), password(project)
        if not address:
            raise StudioError("The study is not served on this machine. Start it first.")
        if not secret:
            raise StudioError("The password of this dashboard was set in a terminal. Log in with it under Dashboard.")
        self.open_dashboard(address, ADMIN, secret)

    def dashboard(self) -> dict[str, str] | None:
        """The server of the current dashboard, the origin that a frame must allow, and the address in the frame."""
        if self._dashboard is None:
            return None
        proxy, _ = self._dashboard
        there = f"{proxy.origin}/{proxy.secret}/admin"
        return {"server": proxy.server.address, "origin": proxy.origin, "address": there}

    def close_dashboard(self) -> None:
        """Log out of the current dashboard."""
        with self._lock:
            dashboard, self._dashboard = self._dashboard, None
        if dashboard is not None:
            proxy, here = dashboard
            proxy.server.log_out()
            here.close()

    def texts(self, project: Project) -> dict[str, Any]:
        """The texts for each platform and a mail, with the address of the server or else of this machine."""
        study = load(project.folder)
        base, slug = published_address(project) or self.address(project), slug_of(study)
        if not base:
            return {}
        platform = study.settings.recruitment.platform.strip().lower()
        named = {"prolific": "Prolific", "mturk": "MTurk", "link": "Link"}
        pasted = {
            name: {"title": named.get(name, name), "text": str(links(study, base, slug, name)), "own": name == platform}
            for name in dict.fromkeys((platform, *named))
        }
        mail = {"title": "Mail", "text": invitation(study, base, slug), "own": platform == "link"}
        return {"base": base, "own": named.get(platform, platform), "texts": {**pasted, "mail": mail}}

    def publish(self, project: Project, address: str) -> list[str]:
        """Build the folder that a server needs."""
        return build_server_folder(load(project.folder), project.folder / PUBLISHED, address)

    def look_from_outside(self, project: Project, address: str) -> list[dict[str, Any]]:
        """Check an address from outside."""
        findings = check_address(public_address(address), slug_of(load(project.folder)))
        return [{"good": entry.good, "code": entry.message.code, "text": str(entry.message)} for entry in findings]

    def own_link(self, project: Project) -> str:
        """The link for participants on this machine."""
        return f"{self.address(project)}/s/{slug_of(load(project.folder))}/"

    def set_state(self, project: Project, state: str) -> None:
        """Pause, resume or close a study."""
        row = stored_row(project.folder)
        if row is None:
            raise StudioError("This study was never served here.")
        with closing(Store.open(database_of(project.folder))) as store:
            store.call(studies.set_state, row.id, state)

    def rehearse(self, project: Project, bots: int) -> None:
        """Let bots take part in a copy of a study."""
        command = [sys.executable, "-m", "karat", "rehearse", str(project.folder), "--bots", str(bots)]
        command += ["-o", str(project.folder / REHEARSAL), "--json"]
        with self._lock:
            old = self._rehearsals.get(project.id)
            if old is not None and old.progress()["working"]:
                raise StudioError("A rehearsal of this study is running. Wait for it, or stop it.")
            self._rehearsals[project.id] = Rehearsal(command, self._scratch / "rehearsals" / project.id)

    def rehearsal(self, project: Project) -> dict[str, Any] | None:
        """The progress of a rehearsal; None if there was none."""
        rehearsal = self._rehearsals.get(project.id)
        return None if rehearsal is None else rehearsal.progress()

    def stop_rehearsal(self, project: Project) -> None:
        rehearsal = self._rehearsals.pop(project.id, None)
        if rehearsal is not None:
            end(rehearsal.process)

    def close(self) -> None:
        self.close_dashboard()
        for server in self._running.values():
            server.stop()
        self._running.clear()
        for rehearsal in self._rehearsals.values():
            end(rehearsal.process)
        self.jobs.close()
        if self._preview is not None:
            self._preview.close()


def published_address(project: Project) -> str:
    """The address for which the folder for a server was built; empty if there is none."""
    try:
        return (project.folder / PUBLISHED / ADDRESS).read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def password(project: Project) -> str:
    """The password of the dashboard, generated at the first start and stored beside the server's secret."""
    project.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    place = project.data / PASSWORD
    with ONE_PASSWORD:
        if not place.is_file():
            if (project.data / "karat.db").is_file():
                return ""  # somebody set another one in a terminal
            write_private(place, secrets.token_urlsafe(9))
        return place.read_text(encoding="ascii").strip()


def exported(project: Project, folder: Path, answers: bool = True) -> None:
    """Write the study file, its tables and, if wanted, the answers collected here to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (NAME, *project.files.table_names()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes((project.folder / name).read_bytes())
    if answers:
        _write_answers(project, folder)


def _write_answers(project: Project, folder: Path) -> None:
    study = load(project.folder)
    row = stored_row(project.folder)
    if row is None:
        raise StudioError("No answers were collected here yet. Start the study under Run, or drop a file of results.")
    with closing(Store.open(database_of(project.folder))) as store:
        with store.read() as connection:
            judgments = export.judgments(connection, row.id, study)
        if row.state != "closed":
            store.call(studies.note_unblinded, row.slug)
    if not len(judgments):
        raise StudioError("Nobody has answered yet.")
    judgments.to_parquet(folder / f"{project.folder.name}.parquet")
