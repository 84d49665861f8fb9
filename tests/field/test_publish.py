"""The folder for a server, and what is seen of a server from outside."""

from __future__ import annotations

import html
import http.client
import json
import os
import re
import shlex
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import yaml

from karat import __version__
from karat.field.bots.process import ServerProcess, free_port
from karat.field.publish import TEMPLATES, build_server_folder, check_address, public_address
from karat.field.server.config import ServerError
from karat.study.init import write_study
from karat.study.study import Study, load


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """A study with more in its folder than a server needs."""
    write_study(tmp_path / "my-study", "yes-no")
    (tmp_path / "my-study" / "karat-data").mkdir()
    (tmp_path / "my-study" / "karat-data" / "karat.db").write_bytes(b"answers")
    (tmp_path / "my-study" / "notes.txt").write_text("mine", encoding="utf-8")
    return load(tmp_path / "my-study")


def test_the_folder_has_the_study_karat_and_one_password(study: Study, tmp_path: Path) -> None:
    out = tmp_path / "out"
    written = build_server_folder(study, out, "study.example.org")
    assert {name for name in written if name.startswith("my-study/")} == {"my-study/study.toml", "my-study/items.csv"}
    password = (out / "password.env").read_text(encoding="ascii")
    assert build_server_folder(study, out, "https://other.example.org") == written
    assert (out / "password.env").read_text(encoding="ascii") == password
    assert '"https://other.example.org"' in (out / "compose.yaml").read_text(encoding="utf-8")
    wheel = out / f"karat-{__version__}-py3-none-any.whl"
    code = f"import sys; sys.path.insert(0, {str(wheel)!r}); import karat.field.publish as one; print(one.__file__)"
    found = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert Path(found.stdout.strip()).is_relative_to(wheel), found.stderr
    assert f"polars=={__import__('polars').__version__}" in (out / "constraints.txt").read_text(encoding="utf-8")


def test_the_examples_in_deploy_are_those_that_are_built(root: Path) -> None:
    fields = {"host": "study.example.org", "slug": "my-study", "upstream": "127.0.0.1"}
    for name in ("karat.service", "Caddyfile"):
        built = (TEMPLATES / name).read_text(encoding="utf-8").format(**fields)
        assert built == (root / "deploy" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text", ["http://example.org", "localhost", "https://a b.org", "https://x.org/path", "x.org:y"]
)
def test_what_is_no_public_address_is_refused(text: str) -> None:
    with pytest.raises(ServerError):
        public_address(text)


@contextmanager
def answering(status: int, content: bytes, date: float | None = None, certificate: Path | None = None) -> Iterator[str]:
    """A server that answers everything in the same way, over HTTPS where it has a certificate."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response_only(status)
            self.send_header("Date", formatdate(date, usegmt=True))
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, certificate.with_name("key.pem"))
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"{'http' if certificate is None else 'https'}://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for this machine that is valid for 30 days and signed by itself."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("There is no openssl command to make a certificate with.")
    path = tmp_path_factory.mktemp("certificate") / "certificate.pem"
    command = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-days", "30", "-subj", "/CN=study.example.org", "-addext", "subjectAltName=IP:127.0.0.1"]
    command += ["-keyout", str(path.with_name("key.pem")), "-out", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    return path


def codes(address: str, slug: str = "", now: float | None = None) -> dict[str, bool]:
    return {one.message.code.removeprefix("publish."): one.good for one in check_address(address, slug, now)}


def test_https_is_seen_with_its_certificate_and_its_end(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(200, b'{"status": "ok", "server": 1}', certificate=certificate) as address:
        assert codes(address) == {"certificate": False}, "nobody trusts who signed it"
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert codes(address, "my-study") == {"https": True, "healthy": True, "clock": True, "study": True}
        (ends, *_) = check_address(address, now=time.time() + 20 * 86400)
        assert (ends.message.code, ends.good) == ("publish.certificate_ends", False)
        assert ends.message.values["days"] in (9, 10)
        assert codes(address.replace("127.0.0.1", "localhost")) == {"certificate": False}, "it is for another name"
    with answering(200, b"") as plain:
        assert codes(plain.replace("http:", "https:")) == {"no_answer": False}


@pytest.mark.slow
def test_karat_is_seen_with_its_study_and_without_https(study: Study, tmp_path: Path) -> None:
    server = ServerProcess(study.path.parent, tmp_path / "data").start()
    try:
        seen = codes(server.address, "my-study")
        assert seen == {"no_https": False, "healthy": True, "clock": True, "study": True}
        assert codes(server.address, "another")["no_study"] is False
    finally:
        server.stop()


def test_other_servers_and_none_are_told_apart() -> None:
    with answering(200, b"<h1>Welcome to nginx</h1>") as address:
        assert codes(address) == {"no_https": False, "not_karat": False}
    with answering(503, b'{"status": "failing"}') as address:
        assert codes(address) == {"no_https": False, "not_saving": False, "clock": True}
    with answering(200, b'{"status": "ok", "server": 1}', date=1e9) as address:
        assert codes(address)["clock_off"] is False
    assert codes(address) == {"no_https": False, "no_answer": False}
    assert codes("https://nothing.invalid") == {"no_name": False}


def test_the_compose_file_says_what_it_should(study: Study, tmp_path: Path) -> None:
    """No container can be made here: what the file says is compared with what lies beside it."""
    written = build_server_folder(study, tmp_path / "out", "study.example.org")
    compose = yaml.safe_load((tmp_path / "out" / "compose.yaml").read_text(encoding="utf-8"))
    services = compose["services"]
    assert set(services) == {"karat", "caddy"}
    for service in services.values():
        sources = [one.split(":")[0] for one in service["volumes"]]
        mounted = {one.removeprefix("./") for one in sources if one.startswith("./")}
        assert all(any(name == one or name.startswith(f"{one}/") for name in written) for one in mounted)
        assert {one for one in sources if not one.startswith("./")} <= set(compose["volumes"])
    assert "ports" not in services["karat"], "only Caddy is reached from outside"
    assert services["caddy"]["ports"] == ["80:80", "443:443", "443:443/udp"], "HTTP/3, which Caddy offers, is UDP"
    assert services["karat"]["env_file"] in written
    image = (tmp_path / "out" / "Dockerfile").read_text(encoding="utf-8")
    (entry,) = re.findall(r"^ENTRYPOINT (.*)$", image, re.MULTILINE)
    command = [*json.loads(entry), *services["karat"]["command"]]
    assert command[:3] == ["karat", "serve", "/my-study"]
    assert "./my-study:/my-study:ro" in services["karat"]["volumes"]
    port = command[command.index("--port") + 1]
    assert f"reverse_proxy karat:{port}" in (tmp_path / "out" / "Caddyfile").read_text(encoding="utf-8")
    copied = [name for line in re.findall(r"^COPY (.*)$", image, re.MULTILINE) for name in line.split()[:-1]]
    assert set(copied) <= set(written)


@pytest.mark.slow
def test_compose_reads_its_file(study: Study, tmp_path: Path) -> None:
    command = next((one for one in (["docker", "compose"], ["docker-compose"]) if _runs([*one, "version"])), None)
    if command is None:
        pytest.skip("There is no docker compose command to read the file with.")
    build_server_folder(study, tmp_path / "out", "study.example.org")
    done = subprocess.run([*command, "config", "--quiet"], cwd=tmp_path / "out", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", ["karat.service", "karat@.service"])
def test_systemd_finds_nothing_wrong_with_the_units(name: str, root: Path, tmp_path: Path) -> None:
    if not _runs(["systemd-analyze", "--version"]):
        pytest.skip("There is no systemd-analyze command to verify units with.")
    text = (root / "deploy" / name).read_text(encoding="utf-8")
    # It looks for the command of the unit, which is on the server alone.
    (tmp_path / name).write_text(text.replace("/srv/karat/env/bin/karat", sys.executable), encoding="utf-8")
    done = subprocess.run(["systemd-analyze", "verify", str(tmp_path / name)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def _runs(command: list[str]) -> bool:
    return shutil.which(command[0]) is not None and subprocess.run(command, capture_output=True).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Caddyfile", "Caddyfile-several"])
def test_caddy_reads_the_examples(name: str, root: Path) -> None:
    if not _runs(["caddy", "version"]):
        pytest.skip("There is no caddy command.")
    command = ["caddy", "adapt", "--adapter", "caddyfile", "--config", str(root / "deploy" / name)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "study.example.org" in done.stdout


WRAPPED = """{{
	admin off
	local_certs
	skip_install_trust
	http_port {plain}
	https_port {secure}
}}
import {file}
"""
"""Around the Caddyfile that is built: certificates of Caddy's own, and ports that anybody may open."""


@contextmanager
def proxied(study: Study, folder: Path) -> Iterator[Visitor]:
    """The study served as the unit does it, with Caddy before it as its Caddyfile says."""
    build_server_folder(study, folder / "out", "study.example.org")
    plain, secure, inner = free_port(), free_port(), free_port()
    text = (folder / "out" / "Caddyfile-without-containers").read_text(encoding="utf-8").replace(":8000", f":{inner}")
    (folder / "Caddyfile").write_text(text, encoding="utf-8")
    wrapped = WRAPPED.format(plain=plain, secure=secure, file=folder / "Caddyfile")
    (folder / "wrapped").write_text(wrapped, encoding="utf-8")
    unit = (folder / "out" / "karat.service").read_text(encoding="utf-8").replace("\\\n", " ")
    (line,) = re.findall(r"^ExecStart=(.*)$", unit, re.MULTILINE)
    line = line.replace("/srv/karat/env/bin/karat", f"{sys.executable} -m karat").replace("8000", str(inner))
    line = line.replace("/srv/karat/data", str(folder / "data")).replace("/srv/karat", str(folder / "out"))
    password = {"KARAT_ADMIN_PASSWORD": "only for this test"}
    homes = {"XDG_DATA_HOME": str(folder / "caddy"), "XDG_CONFIG_HOME": str(folder / "caddy")}
    caddy = ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "wrapped")]
    with (folder / "log").open("wb") as log:
        processes = [
            subprocess.Popen(command, env={**os.environ, **password, **homes}, stdout=log, stderr=log)
            for command in (shlex.split(line), caddy)
        ]
        try:
            authority = folder / "caddy" / "caddy" / "pki" / "authorities" / "local" / "root.crt"
            visitor = Visitor(authority, plain, secure)
            until = time.monotonic() + 60
            while not (authority.is_file() and visitor.status("/healthz") == 200):
                assert time.monotonic() < until, (folder / "log").read_text(encoding="utf-8")
                time.sleep(0.1)
            yield visitor
        finally:
            for process in processes:
                process.terminate()
                process.wait(20)


@dataclass
class Visitor:
    """Requests to study.example.org, which is this machine, from an address of this machine."""

    authority: Path
    plain: int
    secure: int

    def ask(
        self, path: str, body: bytes | None = None, source: str = "127.0.0.1", **headers: str
    ) -> tuple[int, http.client.HTTPMessage, str]:
        """Status, headers and text of a page over HTTPS."""
        context = ssl.create_default_context(cafile=str(self.authority))
        with socket.create_connection(("127.0.0.1", self.secure), timeout=20, source_address=(source, 0)) as bare:
            connection = http.client.HTTPConnection("study.example.org", timeout=20)
            connection.sock = context.wrap_socket(bare, server_hostname="study.example.org")
            sent = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request("GET" if body is None else "POST", path, body, sent)
            reply = connection.getresponse()
            text = reply.read().decode()
            connection.close()
        return reply.status, reply.headers, text

    def status(self, path: str) -> int:
        """The status of a page; 0 where nobody answers."""
        try:
            return self.ask(path)[0]
        except OSError:
            return 0

    def submit(
        self, path: str, action: str, source: str = "127.0.0.1", forwarded: str = "", **more: str
    ) -> tuple[int, http.client.HTTPMessage]:
        """Send the form of a page, with further fields."""
        forged = {"X_Forwarded_For": forwarded} if forwarded else {}
        page = self.ask(path, source=source, **forged)[2]
        fields = dict(re.findall(r'<input[^>]*name="(\w+)"[^>]*value="([^"]*)"', page))
        form = urlencode({name: html.unescape(value) for name, value in fields.items()} | more).encode()
        headers = {"Content_Type": "application/x-www-form-urlencoded", "Origin": "https://study.example.org", **forged}
        return self.ask(action, form, source, **headers)[:2]

    def withdraw(self, source: str = "127.0.0.1", forwarded: str = "") -> int:
        """The status after a withdrawal code that nobody has."""
        page = "/s/my-study/withdraw"
        return self.submit(page, page, source, forwarded, code="unknown")[0]


@pytest.mark.slow
def test_caddy_serves_the_study_as_its_file_says(study: Study, tmp_path: Path) -> None:
    if not _runs(["caddy", "version"]):
        pytest.skip("There is no caddy command.")
    with proxied(study, tmp_path) as visitor:
        status, headers, text = visitor.ask("/healthz")
        assert (status, json.loads(text)["status"]) == (200, "ok")
        assert headers["strict-transport-security"].startswith("max-age=")
        assert headers["x-content-type-options"] == "nosniff"
        with socket.create_connection(("127.0.0.1", visitor.plain), timeout=20) as bare:
            bare.sendall(b"GET /s/my-study/ HTTP/1.1\r\nHost: study.example.org\r\nConnection: close\r\n\r\n")
            plain = bare.recv(4096).decode()
        assert plain.startswith("HTTP/1.1 308")
        assert "Location: https://study.example.org/s/my-study/" in plain
        # A session of one's own: the cookie is for this host alone and goes over HTTPS only.
        status, headers = visitor.submit("/s/my-study/?PROLIFIC_PID=5f00000000000000000000aa", "/s/my-study/begin")
        assert (status, headers["location"]) == (303, "/s/my-study/go")
        cookie = headers["set-cookie"]
        assert cookie.startswith("__Host-")
        assert {"secure", "httponly"} <= {part.strip().lower() for part in cookie.split(";")}
        assert visitor.ask("/s/my-study/begin", b"x" * 300_000)[0] == 413
        # Attempts are counted by the visitor's own address, and not by one that a visitor invents.
        assert [visitor.withdraw() for _ in range(12)][::11] == [422, 429]
        assert visitor.withdraw(forwarded="192.0.2.9") == 429
        assert visitor.withdraw(source="127.0.0.2") == 422
    log = (tmp_path / "log").read_text(encoding="utf-8")
    assert "PROLIFIC_PID" not in log, "no visit is logged"
