"""The configuration of a server: its data folder, its address, and the secret with which it signs.

The first start makes the secret, in a file that only its owner can read. Copying the folder of a server to another
machine copies the secret too, so the links and sessions of participants stay valid.
"""

import ipaddress
import os
import re
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from karat.errors import KaratError
from karat.messages import Message

SECRET_BYTES = 32
ANY_ADDRESS = ("0.0.0.0", "::", "")  # noqa: S104 - compared with, not bound to
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
USUAL_PORTS = {"http": 80, "https": 443}
HOST = re.compile(r"[a-z0-9.-]+|[0-9a-f:.]+")
BODY_LIMIT = 256 * 1024


class ServerError(KaratError):
    """A configuration with which a server cannot start."""


@dataclass(frozen=True)
class ServerConfig:
    """The configuration of a server."""

    data: Path
    """The folder of the database, the secret and the backups."""
    secret: bytes = field(repr=False)
    database: str = ""
    """A database URL; by default an SQLite file in the folder."""
    base_url: str = ""
    """The public address, such as https://study.example.org; by default from host and port."""
    behind_proxy: bool = False
    """Whether a proxy in front of the server ends TLS and reports the address of the client."""
    host: str = "127.0.0.1"
    port: int = 8000
    arrivals_per_minute: float = 120.0
    """How many sessions per minute one address may begin in the long run; 0 for no limit."""
    arrivals_at_once: int = 200
    """How many sessions one address may begin at once, because a lecture hall shares an address."""

    request_seconds: float = 20.0
    """How long the headers of a request, and then its body, may take to arrive."""

    def __post_init__(self) -> None:
        if len(self.secret) < SECRET_BYTES:
            raise ServerError(f"The secret of the server is shorter than {SECRET_BYTES} bytes. Delete the file; the "
                              "next start makes a new one.")  # fmt: skip
        if self.behind_proxy and not self.base_url:
            raise ServerError("Behind a proxy, the server must know its own address. Use --base-url https://...")
        if self.base_url:
            object.__setattr__(self, "base_url", site_address(self.base_url))

    @property
    def database_url(self) -> str:
        """The URL of the database for SQLAlchemy."""
        return self.database or f"sqlite:///{self.data.resolve() / 'karat.db'}"

    @property
    def address(self) -> str:
        """The address of the server, without a slash at the end."""
        if self.base_url:
            return self.base_url
        host = "localhost" if self.host in ANY_ADDRESS else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    @property
    def secure(self) -> bool:
        """Whether participants reach the server over TLS."""
        return self.address.startswith("https://")

    @property
    def hosts(self) -> frozenset[str] | None:
        """The host names that requests may use; None for any, if the server listens everywhere without a name."""
        if self.host in ANY_ADDRESS and not self.base_url:
            return None
        return frozenset({(urlsplit(self.address).hostname or "").lower(), self.host.lower(), *LOCAL_HOSTS})


def prepare(
    data: Path,
    *,
    database: str = "",
    base_url: str = "",
    behind_proxy: bool = False,
    host: str = "127.0.0.1",
    port: int = 8000,
) -> ServerConfig:
    """The configuration of a server in a folder; the folder and its secret are made if they are missing."""
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    secret = server_secret(data / "secret")
    return ServerConfig(data, secret, database, base_url, behind_proxy, host, port, arrivals_per_minute())


def site_address(text: str) -> str:
    """The address of a server from what somebody typed, which may be that of its dashboard.

    Without a scheme it is https, or http for this machine.

    >>> site_address(" Study.example.org/admin ")
    'https://study.example.org'
    """
    refusal = ServerError(Message("server.address", {"text": text.strip()}))
    scheme, mark, rest = text.strip().rpartition("://")
    try:
        parts = urlsplit(f"//{rest}")
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        raise refusal from None
    scheme = scheme.lower() if mark else "http" if is_loopback(host) else "https"
    more = parts.path.rstrip("/") not in ("", "/admin") or parts.query or parts.fragment or "@" in parts.netloc
    if scheme not in USUAL_PORTS or not HOST.fullmatch(host) or more:
        raise refusal
    site = f"[{host}]" if ":" in host else host
    return f"{scheme}://{site}" + ("" if port in (None, USUAL_PORTS[scheme]) else f":{port}")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def arrivals_per_minute() -> float:
    """How many sessions per minute one address may begin: from KARAT_ARRIVALS_PER_MINUTE, else 120."""
    text = os.environ.get("KARAT_ARRIVALS_PER_MINUTE", "120")
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise ServerError(f"KARAT_ARRIVALS_PER_MINUTE is {text}. Use a number, or 0 for no limit.")
    return number


def write_private(path: Path, text: str) -> None:
    """Write a new file that only its owner can read."""
    with os.fdopen(
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii", newline="\n"
    ) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def server_secret(path: Path) -> bytes:
    """The secret in a file, which is made if it is missing; servers that start at once get the same one."""
    if not path.exists():
        draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
        write_private(draft, secrets.token_hex(SECRET_BYTES))
        with suppress(FileExistsError):
            os.link(draft, path)  # unlike a rename, a link does not replace the secret of another server
        draft.unlink()
    if path.stat().st_mode & 0o077 and os.name == "posix":
        raise ServerError(f"Others can read the secret of the server. Run: chmod 600 {path}")
    try:
        return bytes.fromhex(path.read_text(encoding="ascii").strip())
    except ValueError:
        raise ServerError(
            f"{path} is not a secret that karat made. Delete the file; the next start makes a new one, and the "
            "sessions that are running end."
        ) from None
