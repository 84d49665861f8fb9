"""How often one address may begin a session or try to log in.

A token bucket an address: it holds so many tokens, each try takes one, and they come back at a steady rate. The address
itself is not kept: the key is a hash with a salt that lives as long as the process. Addresses of IPv6 count by their
network (/64), since one machine has as many of them as it likes.
"""

from __future__ import annotations

import hashlib
import ipaddress
import secrets
import time
from collections.abc import Callable

from starlette.requests import Request

from karat.field.server.config import ServerConfig

MOST_BUCKETS = 50_000


class Buckets:
    """Token buckets by address.

    >>> doors = Buckets(per_minute=60, at_once=2, clock=lambda: 0.0)
    >>> [doors.wait("192.0.2.7") for _ in range(3)]
    [0.0, 0.0, 1.0]
    """

    def __init__(self, per_minute: float, at_once: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = per_minute / 60
        self.at_once = at_once
        self._clock = clock
        self._salt = secrets.token_bytes(16)
        self._buckets: dict[bytes, tuple[float, float]] = {}

    def wait(self, address: str) -> float:
        """Take a token; how many seconds to wait where there is none, 0 where there was one."""
        if self.rate <= 0:
            return 0.0
        now = self._clock()
        key = self._key(address)
        tokens, since = self._buckets.get(key, (float(self.at_once), now))
        tokens = min(self.at_once, tokens + (now - since) * self.rate)
        if tokens < 1:
            self._buckets[key] = (tokens, now)
            return (1 - tokens) / self.rate
        if key not in self._buckets and len(self._buckets) >= MOST_BUCKETS:
            self._forget_full(now)
        self._buckets[key] = (tokens - 1, now)
        return 0.0

    def _key(self, address: str) -> bytes:
        return hashlib.blake2b(_network(address).encode("utf-8", "replace"), key=self._salt, digest_size=16).digest()

    def _forget_full(self, now: float) -> None:
        """Forget the buckets that are full again; where none is, the older half, so that memory stays bounded."""
        kept = {
            key: (tokens, since)
            for key, (tokens, since) in self._buckets.items()
            if tokens + (now - since) * self.rate < self.at_once
        }
        if len(kept) >= MOST_BUCKETS:
            latest = sorted(kept.items(), key=lambda entry: entry[1][1])
            kept = dict(latest[len(latest) // 2 :])
        self._buckets = kept


class Limits:
    """The limits of a server: `arrival` (a session begins), `login` (a password or a withdrawal code is tried)."""

    def __init__(self, config: ServerConfig, clock: Callable[[], float] = time.monotonic) -> None:
        self._buckets = {
            "arrival": Buckets(config.arrivals_per_minute, config.arrivals_at_once, clock),
            "login": Buckets(6, 10, clock),
        }

    def wait(self, kind: str, request: Request) -> float:
        """Take a token of the client; how many seconds to wait where there is none, 0 where there was one."""
        return self._buckets[kind].wait(request.client.host if request.client else "")

    def allow(self, kind: str, request: Request) -> bool:
        """Whether the client may do this now."""
        return self.wait(kind, request) == 0


def _network(address: str) -> str:
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(known, ipaddress.IPv4Address):
        return address
    if known.ipv4_mapped is not None:
        return str(known.ipv4_mapped)
    return str(ipaddress.ip_network((known, 64), strict=False))
