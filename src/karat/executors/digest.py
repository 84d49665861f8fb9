"""A fingerprint of anything that can be pickled, the same in every process.

It is that of the pickle, but for sets: their order is another in every process, so that they are taken in the order of
their elements' fingerprints.
"""

from __future__ import annotations

import copyreg
import hashlib
import pickle
from types import BuiltinFunctionType, FunctionType
from typing import Any

BY_NAME = (type, FunctionType, BuiltinFunctionType)


def digest(what: Any) -> str:
    """The first 40 digits of SHA-256 over a pickle, which is never in memory as a whole.

    >>> digest((1, "a")) == digest((1, "a")), digest((1, "a")) == digest((2, "a"))
    (True, False)
    """
    into = _Hashing()
    _Pickler(into, protocol=5).dump(_ordered(what))
    return into.hash.hexdigest()[:40]


class _Hashing:
    """A file that is not kept, only its fingerprint."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()

    def write(self, part: Any) -> int:
        self.hash.update(part)
        return memoryview(part).nbytes


class _Pickler(pickle.Pickler):
    """Pickles objects as ever, but with the sets among their parts in order."""

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, BY_NAME) or type(thing) in copyreg.dispatch_table:
            return NotImplemented
        made = thing.__reduce_ex__(5)
        return made if isinstance(made, str) else (made[0], *(_ordered(part) for part in made[1:3]), *made[3:])


def _ordered(what: Any) -> Any:
    """The same with lists of fingerprints in place of sets."""
    if type(what) in (set, frozenset):
        return ["set", *sorted(digest(one) for one in what)]
    if type(what) is dict:
        return {key: _ordered(value) for key, value in what.items()}
    if type(what) in (list, tuple):
        return type(what)(_ordered(one) for one in what)
    return what
