"""The token of a participant's session: 192 random bits, and a keyed hash that ties them to one study.

The store holds only a hash of it. A token that was not made here for this study is refused without a look into the
store.
"""

from __future__ import annotations

from functools import lru_cache

from karat.field.server.security import keyed_hash, plain_hash, same

RANDOM_LENGTH = 32
TOKEN_LENGTH = RANDOM_LENGTH + 1 + 43


def token_from(secret: bytes, slug: str, random: str) -> str:
    """The token of a study made of 32 letters that nobody can guess.

    >>> len(token_from(b"k" * 32, "word-order", "r" * 32)) == TOKEN_LENGTH
    True
    """
    return f"{random}.{keyed_hash(secret, f'token {slug}', random)}"


def token_hash(secret: bytes, slug: str, token: str) -> str | None:
    """What the store knows a token by; None where the token is not one of this study.

    >>> token = token_from(b"k" * 32, "word-order", "r" * 32)
    >>> token_hash(b"k" * 32, "word-order", token) is None
    False
    >>> token_hash(b"k" * 32, "another-study", token) is None
    True
    """
    # Looked at before anything is remembered: a form can carry a quarter of a megabyte as its token.
    return _checked(secret, slug, token) if len(token) == TOKEN_LENGTH else None


@lru_cache(maxsize=4096)
def _checked(secret: bytes, slug: str, token: str) -> str | None:
    """Remembered for the tokens in use: computing a keyed hash lets other threads run first, for every answer anew."""
    random, _, given = token.partition(".")
    return plain_hash(random) if same(keyed_hash(secret, f"token {slug}", random), given) else None
