"""Columns that name a person directly: these do not enter the table."""

from __future__ import annotations

from karat.intake.guess import plain

DIRECT = {
    "name", "firstname", "lastname", "surname", "fullname", "yourname", "participantname", "username", "email", "mail",
    "emailaddress", "youremail", "participantemail", "ip", "ipaddress", "phone", "phonenumber", "address", "latitude",
    "longitude", "locationlatitude", "locationlongitude",
}  # fmt: skip


def names_a_person(column: str) -> bool:
    """Whether a column, by its name, holds a name, an address or the like.

    >>> names_a_person("E-mail"), names_a_person("item name")
    (True, False)
    """
    return plain(column) in DIRECT


def left_out_note(columns: list[str], file: str) -> list[str]:
    """The sentence that says which columns were left out, if any were."""
    if not columns:
        return []
    return [f"{file}: {', '.join(columns)} left out, because they may name people."]
