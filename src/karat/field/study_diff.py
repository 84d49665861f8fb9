"""What of a study is not as it was when it started, and what follows for its participants.

The store keeps the settings with which a study started, and a fingerprint of its items. The pages of a participant's
trials are made when they come to them and then stay; everything else is as the study file says now, for everybody.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from karat.study.study import Study

ASKED = ("seed", "block", "order", "questionnaire")
"""The parts of a study file from which the trials are made."""
SCREENING = "screening"
"""The rules have a fingerprint of their own; other rules are refused."""
NOTHING: tuple[Any, ...] = (None, "", [], {})


@dataclass(frozen=True)
class Changes:
    """What differs from the start of a study.

    >>> print(Changes(("[recruitment] completion_code",), items=False, asked=False))
    The study is not as it was when it started: [recruitment] completion_code. This holds for everybody from now on...
    """

    keys: tuple[str, ...]
    """Keys of the study file, as it writes them."""
    items: bool | None
    """Whether the items differ; None where it is not known what they were."""
    asked: bool
    """Whether the trials of newcomers are made otherwise."""

    def __str__(self) -> str:
        named = [*self.keys, *(["the items"] if self.items else [])]
        if self.items is None:
            named.append("perhaps the items" if self.keys else "the items, or only comments of the study file")
        if not named:
            return "Only comments or the layout of the study file are not as they were when the study started."
        return f"The study is not as it was when it started: {', '.join(named)}. {self._follows()}"

    def _follows(self) -> str:
        if not self.asked:
            return (
                "This holds for everybody from now on, also for those who are at work. The answers so far stay. If it "
                "is not meant, put it back and start the server again."
            )
        return (
            "Who comes to the trials from now on gets the new version. Who has begun them keeps the old sentences in "
            "their order, and the answers so far stay: both versions will be in one table. Put it back and start the "
            "server again; what must be changed is another study, in a folder of another name."
        )


def items_fingerprint(study: Study) -> str:
    """A short text that changes when the items or the questions of a study change.

    >>> from karat.study.init import write_study
    >>> from karat.study.study import load
    >>> written = write_study(getfixture("tmp_path") / "likert", "likert")
    >>> len(items_fingerprint(load(written[0])))
    16
    """
    digest = hashlib.sha256()
    for block in study.blocks:
        digest.update(block.items.frame.write_csv().encode())
        digest.update(b"" if block.questions is None else block.questions.write_csv().encode())
    return digest.hexdigest()[:16]


def changes(study: Study, settings: Mapping[str, Any], items: str | None) -> Changes:
    """What differs from the settings and the fingerprint of the items with which a study started.

    >>> from karat.study.init import write_study
    >>> from karat.study.study import load
    >>> study = load(write_study(getfixture("tmp_path") / "likert", "likert")[0])
    >>> then = study.settings.model_dump(mode="json") | {"title": "Adverbs", "seed": 2}
    >>> changes(study, then, items_fingerprint(study)).keys
    ('title', 'seed')
    """
    now = study.settings.model_dump(mode="json")
    parts = [name for name in now if name != SCREENING and not _alike(settings.get(name), now[name])]
    keys = tuple(key for name in parts for key in _keys(name, settings.get(name), now[name]))
    others = None if items is None else items != items_fingerprint(study)
    return Changes(keys, others, others is not False or any(name in ASKED for name in parts))


def _keys(part: str, then: Any, now: Any) -> Iterator[str]:
    """The keys of a part of the study file that differ; of several [[block]], those of any of them."""
    if isinstance(now, dict):
        before = then or {}
        yield from (f"[{part}] {key}" for key in {**now, **before} if not _alike(before.get(key), now.get(key)))
    elif isinstance(now, list) and len(now) == len(then or []) and all(isinstance(one, dict) for one in now):
        pairs = list(zip(then, now, strict=True))
        differing = {
            key: None for one, other in pairs for key in {**other, **one} if not _alike(one.get(key), other.get(key))
        }
        yield from (f"[[{part}]] {key}" for key in differing)
    else:
        yield f"[[{part}]]" if isinstance(now, list) else part


def _alike(then: Any, now: Any) -> bool:
    """Whether two values say the same; a key that an earlier karat did not know is like an empty one."""
    return bool(then == now) or (then in NOTHING and now in NOTHING)
