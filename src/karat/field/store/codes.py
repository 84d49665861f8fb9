"""Random names and codes: short, without letters that are taken for one another (0 and o, 1, i and l)."""

from __future__ import annotations

import secrets

LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"


def participant_name() -> str:
    """The public name of a participant, which says nothing of who it is.

    >>> participant_name()[:2], len(participant_name())
    ('p-', 8)
    """
    return f"p-{_drawn(6)}"


def withdrawal_code() -> str:
    """What a participant keeps to have the answers erased: 59 random bits in three groups.

    >>> [len(group) for group in withdrawal_code().split("-")]
    [4, 4, 4]
    """
    return "-".join(_drawn(4) for _ in range(3))


def completion_code() -> str:
    """What a participant shows the platform at the end.

    >>> completion_code().isupper(), len(completion_code())
    (True, 10)
    """
    return "K" + _drawn(9).upper()


def _drawn(length: int) -> str:
    return "".join(secrets.choice(LETTERS) for _ in range(length))
