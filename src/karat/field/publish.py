"""Publishing a study: the folder that a server needs, and what can be seen of the server from outside.

The folder holds the study, this version of karat as a wheel, a compose file with Caddy for servers with containers, and
a systemd unit for those without. Nothing in it is fetched from this machine later.
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
from karat.field.server.config import write_private
from karat.messages import Message
from karat.study.study import Study

ADDRESS = "address.txt"
PASSWORD = "password.env"  # noqa: S105 - the name of a file
HOST = re.compile(r"(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+")
MOST_SECONDS_APART = 60.0
FEW_DAYS = 14
TIMEOUT = 10.0
TEMPLATES = files("karat.field") / "server_folder"
"""The files of a server, with {slots} for its name and that of the study."""


class PublishError(KaratError, ValueError):
    """An address that cannot be one of a server."""


@dataclass(frozen=True)
class ServerFinding:
    """What was seen of a server: whether it is as it should be, and a sentence."""

    good: bool
    message: Message


def public_address(text: str) -> str:
    """The address of a server as people type it: https, a host name, nothing else."""
    parts = urlsplit(text.strip() if "://" in text else f"https://{text.strip()}")
    host = (parts.hostname or "").lower()
    if parts.scheme != "https" or not HOST.fullmatch(host) or parts.path not in ("", "/") or parts.query:
        raise PublishError(Message("publish.address", {"text": text.strip()}))
    try:
        port = parts.port
    except ValueError:
        raise PublishError(Message("publish.address", {"text": text.strip()})) from None
    return f"https://{host}" + (f":{port}" if port not in (None, 443) else "")


def build_server_folder(study: Study, out: Path, address: str) -> list[str]:
    """Write the folder that a server needs; gives the names of its files.

    The password of the dashboard is made once and stays when the folder is built again.
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
    """The study file with its tables and pictures, and nothing else that lies beside them."""
    home = study.path.parent.resolve()
    names = file_names(study)
    pictures = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif")
    shown = [path for pattern in ("*", "*/*") for path in home.glob(pattern) if path.suffix.lower() in pictures]
    own = {"history", "results", "rehearsal", out.parent.name}
    names += [path.relative_to(home).as_posix() for path in shown if path.relative_to(home).parts[0] not in own]
    for name in dict.fromkeys(names):
        if (home / name).resolve().is_relative_to(home) and (home / name).is_file():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(home / name, out / name)


def write_wheel(out: Path) -> Path:
    """This version of karat as a wheel, from the package that is running."""
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
    """The versions of everything that karat needs, as they are installed here."""
    found: dict[str, str] = {}
    names = ["karat"]
    while names:
        name = re.sub(r"[-_.]+", "-", names.pop()).lower()
        try:
            one = distribution(name)
        except PackageNotFoundError:
            continue
        if name not in found:
            found[name] = one.version
            stated = [line for line in one.requires or () if "extra ==" not in line]
            names += [line[: match.end()] for line in stated if (match := re.match(r"[\w.-]+", line))]
    return sorted(f"{name}=={version}" for name, version in found.items() if name != "karat")


def check_address(address: str, slug: str = "", now: float | None = None) -> list[ServerFinding]:
    """What a visitor finds at an address: a name, a certificate, karat, its clock, and the study."""
    return list(_seen(address.rstrip("/"), slug, time.time() if now is None else now))


def _seen(address: str, slug: str, now: float) -> Iterator[ServerFinding]:
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
        yield ServerFinding(
            False, Message("publish.no_answer", {**about, "reason": str(error) or type(error).__name__})
        )
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
        there = _fetch(address, f"/s/{slug}/", now)[0] == 200
        yield ServerFinding(there, Message("publish.study" if there else "publish.no_study", {"slug": slug}))


def _clock(headers: http.client.HTTPMessage, now: float) -> Iterator[ServerFinding]:
    try:
        apart = parsedate_to_datetime(headers.get("date", "")).timestamp() - now
    except (TypeError, ValueError):
        return
    good = abs(apart) <= MOST_SECONDS_APART
    yield ServerFinding(
        good, Message("publish.clock" if good else "publish.clock_off", {"minutes": abs(round(apart / 60))})
    )


def connection_to(address: str, seconds: float) -> http.client.HTTPConnection:
    """A connection to a server; over TLS, its certificate is checked."""
    parts = urlsplit(address)
    if parts.scheme == "https":
        return http.client.HTTPSConnection(parts.netloc, timeout=seconds, context=ssl.create_default_context())
    return http.client.HTTPConnection(parts.netloc, timeout=seconds)


def _fetch(address: str, path: str, now: float) -> tuple[int, http.client.HTTPMessage, bytes, int | None]:
    """Status, headers and beginning of a page, and for how many days its certificate is valid."""
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
        found = json.loads(content)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
