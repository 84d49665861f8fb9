"""The folder for a server, and what is seen of a server from outside."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from karat import __version__
from karat.field.bots.process import ServerProcess
from karat.field.publish import CADDYFILE, UNIT, PublishError, build_server_folder, check_address, public_address
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
    fields = {"host": "study.example.org", "slug": "my-study"}
    assert UNIT.format(**fields) == (root / "deploy" / "karat.service").read_text(encoding="utf-8")
    assert CADDYFILE.format(**fields, upstream="127.0.0.1") == (root / "deploy" / "Caddyfile").read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize(
    "text", ["http://example.org", "localhost", "https://a b.org", "https://x.org/path", "x.org:y"]
)
def test_what_is_no_public_address_is_refused(text: str) -> None:
    with pytest.raises(PublishError):
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
