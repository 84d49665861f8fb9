"""Publish a study: build the folder that a server needs, and check the server from outside.

The folder has the study, this version of karat as a wheel, a compose file with Caddy for servers with containers, and a
systemd unit for those without. The server fetches nothing from this machine later.
"""

import base64
import hashlib
import http.client
import json
import re
import secrets
import shutil
import socket
import ssl
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from importlib.metadata import PackageNotFoundError, distribution
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit
from zipfile import ZIP_DEFLATED, ZipFile

from karat import __version__
from karat.errors import KaratError
from karat.field.registration import file_names, slug_of
from karat.field.server.config import ServerError, site_address, write_private
from karat.messages import Message
from karat.study.study import Study

ADDRESS = "address.txt"
PASSWORD = "password.env"  # noqa: S105 - the name of a file
HOST = re.compile(r"(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+")
MOST_SECONDS_APART = 60.0
FEW_DAYS = 14
TIMEOUT = 10.0
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif")
TEMPLATES = files("karat.field") / "server_folder"
"""The files of a server, with {slots} for its name and that of the study."""


@dataclass(frozen=True)
class ServerFinding:
    """A finding about a server: whether it is good, and a sentence."""

    good: bool
    message: Message


def public_address(text: str) -> str:
    """The address of a server on the web from what somebody typed: https and a host name."""
    address = site_address(text)
    parts = urlsplit(address)
    if parts.scheme != "https" or not HOST.fullmatch(parts.hostname or ""):
        raise ServerError(Message("server.address", {"text": text.strip()}))
    return address


def build_server_folder(study: Study, out: Path, address: str) -> list[str]:
    """Write the folder that a server needs; returns the names of its files.

    The password of the dashboard stays the same when the folder is built again.
    """
    address = public_address(address)
    host, slug = urlsplit(address).netloc, slug_of(study)
    out.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(out / slug, ignore_errors=True)
    for old in out.glob("karat-*.whl"):
        old.unlink()
    _copy_study(study, out / slug)
    wheel = write_wheel(out)
    python = f"{sys.version_info[0]}.{sys.version_info[1]}"
    values = {"host": host, "slug": slug, "upstream": "karat", "python": python, "wheel": wheel.name}
    templates = {file.name: file.read_text(encoding="utf-8") for file in TEMPLATES.iterdir()}
    texts = {name: text.format(**values) for name, text in templates.items()} | {
        ADDRESS: f"{address}\n",
        "constraints.txt": "".join(f"{line}\n" for line in installed_versions()),
        "Caddyfile-without-containers": templates["Caddyfile"].format(**values | {"upstream": "127.0.0.1"}),
    }
    for name, text in texts.items():
        (out / name).write_text(text, encoding="utf-8", newline="\n")
    if not (out / PASSWORD).is_file():
        write_private(out / PASSWORD, f"KARAT_ADMIN_PASSWORD={secrets.token_urlsafe(12)}\n")
    return sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())


def _copy_study(study: Study, out: Path) -> None:
    """Copy the study file with its tables and pictures, but nothing else beside them."""
    home = study.path.parent.resolve()
    skipped = {"history", "results", "rehearsal", out.parent.name}
    pictures = [path.relative_to(home) for path in pictures_in(home)]
    names = [*file_names(study), *(path.as_posix() for path in pictures if path.parts[0] not in skipped)]
    for name in dict.fromkeys(names):
        if (home / name).resolve().is_relative_to(home) and (home / name).is_file():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(home / name, out / name)


def pictures_in(folder: Path) -> list[Path]:
    """The pictures in a folder and its subfolders."""
    paths = (*folder.glob("*"), *folder.glob("*/*"))
    return [path for path in paths if path.suffix.lower() in PICTURES]


def write_wheel(out: Path) -> Path:
    """Write the running version of karat as a wheel."""
    import karat

    package = Path(karat.__file__).parent
    try:
        about = distribution("karat")
    except PackageNotFoundError:
        raise KaratError("karat is not installed here, so it cannot be packed. Install it, and try again.") from None
    info = f"karat-{__version__}.dist-info"
    contents: dict[str, bytes] = {
        (Path("karat") / path.relative_to(package)).as_posix(): path.read_bytes()
        for path in sorted(package.rglob("*"))
        if path.is_file() and not {"__pycache__", "node_modules"} & set(path.parts)
    }
    contents[f"{info}/METADATA"] = (about.read_text("METADATA") or "").encode()
    contents[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: karat\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    contents[f"{info}/entry_points.txt"] = b"[console_scripts]\nkarat = karat.cli.main:main\n"
    record = [f"{name},sha256={_digest(content)},{len(content)}" for name, content in contents.items()]
    contents[f"{info}/RECORD"] = "".join(f"{line}\n" for line in [*record, f"{info}/RECORD,,"]).encode()
    path = out / f"karat-{__version__}-py3-none-any.whl"
    with ZipFile(path, "w", ZIP_DEFLATED) as wheel:
        for name, content in contents.items():
            wheel.writestr(name, content)
    return path


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def installed_versions() -> list[str]:
    """The installed versions of all packages that karat needs."""
    versions: dict[str, str] = {}
    names = ["karat"]
    while names:
        name = re.sub(r"[-_.]+", "-", names.pop()).lower()
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue
        if name not in versions:
            versions[name] = package.version
            required = [line for line in package.requires or () if "extra ==" not in line]
            names += [line[: match.end()] for line in required if (match := re.match(r"[\w.-]+", line))]
    return sorted(f"{name}=={version}" for name, version in versions.items() if name != "karat")


def check_address(address: str, slug: str = "", now: float | None = None) -> list[ServerFinding]:
    """Check an address from outside: its name, certificate, server, clock, and the study."""
    return list(_findings(address.rstrip("/"), slug, time.time() if now is None else now))


def _findings(address: str, slug: str, now: float) -> Iterator[ServerFinding]:
    parts = urlsplit(address)
    host, secure = parts.hostname or "", parts.scheme == "https"
    about = {"host": host}
    try:
        socket.getaddrinfo(host, parts.port or (443 if secure else 80))
    except OSError:
        yield ServerFinding(False, Message("publish.no_name", about))
        return
    if not secure:
        yield ServerFinding(False, Message("publish.no_https", about))
    try:
        status, headers, content, days = _fetch(address, "/healthz", now)
    except ssl.SSLCertVerificationError as error:
        yield ServerFinding(False, Message("publish.certificate", {**about, "reason": error.verify_message}))
        return
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = str(error) or type(error).__name__
        yield ServerFinding(False, Message("publish.no_answer", {**about, "reason": reason}))
        return
    if days is not None:
        code = "publish.https" if days > FEW_DAYS else "publish.certificate_ends"
        yield ServerFinding(days > FEW_DAYS, Message(code, {**about, "days": days}))
    health = _data(content)
    if status == 200 and "server" in health:
        yield ServerFinding(True, Message("publish.healthy"))
    elif health.get("status") == "failing":
        yield ServerFinding(False, Message("publish.not_saving"))
    else:
        yield ServerFinding(False, Message("publish.not_karat", {**about, "status": status}))
        return
    yield from _clock(headers, now)
    if slug:
        try:
            good = _fetch(address, f"/s/{slug}/", now)[0] == 200
        except (OSError, http.client.HTTPException):
            good = False
        yield ServerFinding(good, Message("publish.study" if good else "publish.no_study", {"slug": slug}))


def _clock(headers: http.client.HTTPMessage, now: float) -> Iterator[ServerFinding]:
    try:
        apart = parsedate_to_datetime(headers.get("date", "")).timestamp() - now
    except (TypeError, ValueError):
        return
    good, minutes = abs(apart) <= MOST_SECONDS_APART, abs(round(apart / 60))
    yield ServerFinding(good, Message("publish.clock" if good else "publish.clock_off", {"minutes": minutes}))


def connection_to(address: str, seconds: float) -> http.client.HTTPConnection:
    """A connection to a server; TLS connections check the certificate."""
    parts = urlsplit(address)
    if parts.scheme == "https":
        return http.client.HTTPSConnection(parts.netloc, timeout=seconds, context=ssl.create_default_context())
    return http.client.HTTPConnection(parts.netloc, timeout=seconds)


def _fetch(address: str, path: str, now: float) -> tuple[int, http.client.HTTPMessage, bytes, int | None]:
    """The status, headers and beginning of a page, and for how many days its certificate is valid."""
    connection = connection_to(address, TIMEOUT)
    try:
        connection.request("GET", path, headers={"User-Agent": f"karat/{__version__}"})
        days = None
        if isinstance(connection.sock, ssl.SSLSocket):
            ends = (connection.sock.getpeercert() or {}).get("notAfter")
            days = None if not isinstance(ends, str) else int((ssl.cert_time_to_seconds(ends) - now) // 86400)
        reply = connection.getresponse()
        return reply.status, reply.headers, reply.read(100_000), days
    finally:
        connection.close()


def _data(content: bytes) -> dict[str, object]:
    try:
        data = json.loads(content)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}
