"""Register a study in the store: its short name, its settings, and the rules that are frozen when it starts.

The store has the rules as the study file states them. Their fingerprint includes every setting of every criterion, also
the defaults, so that a later version of karat with other defaults cannot change them silently.

The store also has the settings with which a study started and a fingerprint of its items, to say what has changed and
what follows for participants. It has the files of every version, because a session ends with the version it began with.
The short name, in addresses and in the store, is the folder of `study.toml`, or the name of another file.
"""

import base64
import hashlib
import re
import tempfile
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from karat.errors import KaratError
from karat.field.store.studies import Register
from karat.study.frozen import full_rules, item_fingerprints, rules_fingerprint
from karat.study.results import taken_names
from karat.study.setting_base import NAME
from karat.study.study import Study, load


def registration(slug: str, study: Study) -> Register:
    """The entry of a study for the store; a study with columns named like karat's own is refused."""
    for problem in taken_names(study):
        raise KaratError(f"{study.path.name}: {problem.what} {problem.fix}")
    settings = study.settings.model_dump(mode="json")
    return Register(slug, study.title, study.fingerprint, settings, study.screening_rules,
                    rules_fingerprint(full_rules(study.screening_rules)), items_fingerprint(study),
                    item_fingerprints(study), study_files(study))  # fmt: skip


def study_files(study: Study) -> dict[str, str]:
    """The study file and its tables in base64, by paths relative to its folder; empty if one is missing."""
    try:
        return {name: base64.b64encode((study.path.parent / name).read_bytes()).decode() for name in file_names(study)}
    except OSError:
        return {}


def file_names(study: Study) -> list[str]:
    """The study file and its tables, as paths relative to its folder."""
    blocks = study.settings.block
    tables = ((*(block.items or ()), block.questions, block.templates, block.lexicon) for block in blocks)
    return [study.path.name, *(str(name) for names in tables for name in names if name)]


DEEP = "/".join("abcdefgh")
"""The depth at which a study is restored, so that tables in folders above it stay in the temporary folder."""


def restored(files: Mapping[str, str], version: str, path: Path) -> Study | None:
    """A version of a study from the store, with the path of the current one; None if it cannot be read."""
    with tempfile.TemporaryDirectory(prefix="karat-version-") as folder:
        root = Path(folder).resolve()
        for name, text in files.items():
            file = (root / DEEP / name).resolve()
            if not file.is_relative_to(root):
                return None
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(base64.b64decode(text))
        try:
            study = load(root / DEEP / path.name)
        except KaratError:
            return None
    return replace(study, path=path) if study.fingerprint == version else None


TRIAL_PARTS = ("seed", "block", "order", "questionnaire")
"""The parts of a study file that determine the trials."""
SCREENING = "screening"
"""The rules have their own fingerprint, and changed rules are refused."""
EMPTY: tuple[Any, ...] = (None, "", [], {})


@dataclass(frozen=True)
class Changes:
    """The changes of a study since it started."""

    keys: tuple[str, ...]
    """The changed keys, as in the study file."""
    items: bool | None
    """Whether the items changed; None if the earlier ones are unknown."""
    asked: bool
    """Whether new participants get other trials."""
    which: tuple[str, ...] = ()
    """The changed items, as far as they are known."""

    def __str__(self) -> str:
        which = f"the items {', '.join(self.which)}" if self.which else "the items"
        parts = [*self.keys, *([which] if self.items else [])]
        if self.items is None:
            parts.append("perhaps the items" if self.keys else "the items, or only comments of the study file")
        if not parts:
            return "Only comments or the layout of the study file have changed since the study started."
        return f"The study has changed since it started: {', '.join(parts)}. {self._consequence()}"

    def _consequence(self) -> str:
        if not self.asked:
            return (
                "This applies to all participants from now on, including active ones. Earlier answers are kept. If you "
                "did not intend this, undo the change and restart the server."
            )
        return (
            "New participants get the new version. Participants who have started keep the old one, and earlier answers "
            "are kept. Both versions will be in one table, with the column `version`. Undo the change, or run the new "
            "version as a new study in a folder with another name."
        )


def items_fingerprint(study: Study) -> str:
    """A short text that changes with the items or the questions of a study."""
    digest = hashlib.sha256()
    for block in study.blocks:
        digest.update(block.items.frame.write_csv().encode())
        digest.update(b"" if block.questions is None else block.questions.write_csv().encode())
    return digest.hexdigest()[:16]


MOST_NAMED = 12


def changed_items(then: Study, now: Study) -> tuple[str, ...]:
    """The changed, added and removed items between two versions of a study; of many, the first."""
    before, after = _by_item(then), _by_item(now)
    differing = [
        *(f"{item} (changed)" for item in after if item in before and before[item] != after[item]),
        *(f"{item} (added)" for item in after if item not in before),
        *(f"{item} (removed)" for item in before if item not in after),
    ]
    more = len(differing) - MOST_NAMED
    return tuple(differing) if more <= 0 else (*differing[:MOST_NAMED], f"{more} more")


def _by_item(study: Study) -> dict[str, list[tuple[str, ...]]]:
    rows: dict[str, list[tuple[str, ...]]] = {}
    for block in study.blocks:
        for row in block.items.frame.iter_rows(named=True):
            cells = tuple(f"{name}={value}" for name, value in sorted(row.items()) if value is not None)
            rows.setdefault(str(row.get("item")), []).append(cells)
    return rows


def changes(study: Study, settings: Mapping[str, Any], items: str | None, before: Study | None = None) -> Changes:
    """The changes from the settings and the items' fingerprint with which a study started.

    `before` is the study as it was then; with it, the changed items are named.
    """
    now = study.settings.model_dump(mode="json")
    parts = [name for name in now if name != SCREENING and not _alike(settings.get(name), now[name])]
    keys = tuple(key for name in parts for key in _keys(name, settings.get(name), now[name]))
    items_differ = None if items is None else items != items_fingerprint(study)
    which = changed_items(before, study) if items_differ and before is not None else ()
    return Changes(keys, items_differ, items_differ is not False or any(name in TRIAL_PARTS for name in parts), which)


def _keys(part: str, then: Any, now: Any) -> Iterator[str]:
    """The changed keys of a part of the study file; of several [[block]], those of any of them."""
    if isinstance(now, dict):
        before = then or {}
        yield from (f"[{part}] {key}" for key in {**now, **before} if not _alike(before.get(key), now.get(key)))
    elif isinstance(now, list) and len(now) == len(then or []) and all(isinstance(table, dict) for table in now):
        pairs = zip(then, now, strict=True)
        keys = [key for old, new in pairs for key in {**new, **old} if not _alike(old.get(key), new.get(key))]
        yield from (f"[[{part}]] {key}" for key in dict.fromkeys(keys))
    else:
        yield f"[[{part}]]" if isinstance(now, list) else part


def _alike(then: Any, now: Any) -> bool:
    """Whether two values are equivalent; a key that an earlier karat did not have equals an empty one."""
    return bool(then == now) or (then in EMPTY and now in EMPTY)


LONGEST = 60
TAKEN = ("login", "logout")
"""Pages of the dashboard, whose names no study may have."""


def slug(text: str) -> str:
    """A text as lower-case letters, digits and hyphens."""
    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss")).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:LONGEST].strip("-")


def slug_of(study: Study) -> str:
    """The short name of a study, which depends on the place of the study file."""
    path = study.path.resolve()
    name = slug(path.parent.name if path.name == NAME else path.stem)
    if not name:
        raise KaratError(f"{path}: no short name can be made of it. Name the folder or the file with letters.")
    return f"{name}-study" if name in TAKEN else name
