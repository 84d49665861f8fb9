"""Who may see the dashboard: a name and an argon2id hash, set from the terminal, never a password by default.

A wrong name takes as long as a wrong password: where there is no such account, a hash of nobody's is checked instead.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError

from karat.errors import KaratError

NAME = "admin"
SHORTEST = 10
LONGEST = 1000
ENVIRONMENT = "KARAT_ADMIN_PASSWORD"
HASHER = PasswordHasher(time_cost=3, memory_cost=32 * 1024, parallelism=1)
"""32 MiB for each login, so that a flood of them does not fill the memory of the server."""


class PasswordError(KaratError, ValueError):
    """A password that cannot be taken."""


@dataclass(frozen=True)
class FirstPassword:
    """A password for the first start, and whether it was made here and must be shown once."""

    password: str
    made: bool


def hashed(password: str) -> str:
    """The hash of a password; too short a password is refused.

    >>> hashed("twelve words of it").startswith("$argon2id$")
    True
    """
    if len(password) < SHORTEST:
        raise PasswordError(f"The password has {len(password)} characters; take at least {SHORTEST}.")
    if len(password) > LONGEST:
        raise PasswordError(f"The password is longer than {LONGEST:,} characters.")
    return HASHER.hash(password)


def matches(password_hash: str | None, password: str) -> bool:
    """Whether a password is the right one; without an account the work is the same and the answer is no.

    >>> matches(hashed("twelve words of it"), "twelve words of it")
    True
    >>> matches(None, "twelve words of it")
    False
    """
    try:
        HASHER.verify(password_hash or _nobody(), password[:LONGEST])
    except (VerifyMismatchError, InvalidHashError):
        return False
    return password_hash is not None


@cache
def _nobody() -> str:
    return HASHER.hash(secrets.token_urlsafe(32))


def first_password(ask: Callable[[str], str] | None, environment: Mapping[str, str]) -> FirstPassword:
    """The password for the first start: from the environment, typed twice, or made and shown once.

    `ask` reads a line from the terminal without showing it; None where there is no terminal.

    >>> first_password(None, {"KARAT_ADMIN_PASSWORD": "twelve words of it"}).made
    False
    >>> len(first_password(None, {}).password)
    22
    """
    given = environment.get(ENVIRONMENT)
    if given:
        return FirstPassword(given, made=False)
    if ask is None:
        return FirstPassword(secrets.token_urlsafe(16), made=True)
    for _ in range(3):
        password = ask(f"A password for the dashboard (at least {SHORTEST} characters): ")
        if len(password) < SHORTEST:
            continue
        if ask("The same again: ") == password:
            return FirstPassword(password, made=False)
    raise PasswordError("No password was set: it was too short, or the two were not the same. Start again.")
