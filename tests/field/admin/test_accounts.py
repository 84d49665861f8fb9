"""Passwords: hashed, checked in the same way for everyone, and set on the first start."""

from __future__ import annotations

import pytest
from argon2 import PasswordHasher

from karat.field.admin.login import PasswordError, first_password, hashed, matches
from messages import refuses


def test_a_password_matches_its_own_hash_only() -> None:
    stored = hashed("a long password")
    assert stored.startswith("$argon2id$")
    assert "a long password" not in stored
    assert matches(stored, "a long password")
    assert not matches(stored, "a long passwort")
    assert not matches(stored, "")


def test_an_unknown_name_costs_the_same_work(monkeypatch: pytest.MonkeyPatch) -> None:
    checked = []
    real = PasswordHasher.verify

    def verify(self: PasswordHasher, stored: str, password: str) -> bool:
        checked.append(stored.split("$")[1:4])
        return real(self, stored, password)

    stored = hashed("a long password")
    monkeypatch.setattr(PasswordHasher, "verify", verify)
    assert not matches(None, "a long password")
    assert not matches(stored, "another password")
    assert checked[0] == checked[1]


def test_a_hash_of_another_kind_never_matches() -> None:
    assert not matches("plain text", "plain text")


@pytest.mark.parametrize(("password", "number"), [("", 0), ("short", 5), ("x" * 1001, "1,000")])
def test_passwords_of_a_wrong_length_are_refused(password: str, number: object) -> None:
    with refuses(PasswordError, number):
        hashed(password)


def test_the_first_password_comes_from_the_environment() -> None:
    first = first_password(lambda prompt: pytest.fail(prompt), {"KARAT_ADMIN_PASSWORD": "from the environment"})
    assert (first.password, first.made) == ("from the environment", False)


def test_the_first_password_is_typed_twice() -> None:
    typed = iter(["short", "long enough one", "another one here", "long enough two", "long enough two"])
    assert first_password(lambda prompt: next(typed), {}).password == "long enough two"


def test_three_failures_end_the_asking() -> None:
    with refuses(PasswordError):
        first_password(lambda prompt: "short", {})


def test_without_a_terminal_passwords_are_made_new() -> None:
    one, other = first_password(None, {}), first_password(None, {})
    assert one.made
    assert one.password != other.password
    assert len(one.password) >= 20
