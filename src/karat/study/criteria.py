"""The registry of screening criteria: those of karat, those of a script, and those of other packages.

The criteria of karat are files of `karat.screen.criteria`, loaded by name when a study uses them, so that a study file
can be checked before there are data, without loading the code of the others. A criterion of another package is searched
for when a study names one that karat does not know.
"""

import ast
import keyword
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

from karat.errors import SettingError
from karat.judgments.columns import nearest
from karat.packages import added, naming, offered
from karat.study.criterion import Alternative, Criterion, CriterionSettings, left_out

__all__ = [
    "CRITERIA", "Alternative", "Criterion", "CriterionSettings", "check_exclude_rule", "criterion_named",
    "criterion_settings", "left_out", "register", "title_of",
]  # fmt: skip

GROUP = "karat.criteria"
"""The entry points by which packages add criteria."""
RESERVED = ("any", "all", "exclude")
"""Words of `[screening]` that are not criteria."""
WORDS_OF_EXCLUDE = '"any", "all" or an expression such as "remfod and (attention or controls)"'
EXCLUDE_TAKES = f"a number of criteria, {WORDS_OF_EXCLUDE}"
BUILT_IN = "karat.screen.criteria"
"""The package of karat's criteria: the only one above this that is used here, and only by its name."""
ABOUT_PEOPLE = ("eligibility", "quiz", "completion", "platform_flags")
"""The criteria of karat that use columns about participants; the others need not be loaded to find such columns."""


class _Criteria(MutableMapping[str, Criterion]):
    """All criteria by name: those of karat in the order in which they run, then registered ones."""

    def __init__(self) -> None:
        self._loaded: dict[str, Criterion] = {}

    def __getitem__(self, name: str) -> Criterion:
        if name not in self._loaded and is_built_in(name):
            self._loaded[name] = import_module(f"{BUILT_IN}.{name}").CRITERION
        return self._loaded[name]

    def __setitem__(self, name: str, criterion: Criterion) -> None:
        self._loaded[name] = criterion

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._loaded or is_built_in(name)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*_built_in_names(), *self._loaded]))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def clear(self) -> None:
        """Remove all registered criteria; those of karat stay."""
        self._loaded.clear()


CRITERIA = _Criteria()


def _built_in_names() -> tuple[str, ...]:
    names: tuple[str, ...] = import_module(BUILT_IN).BUILT_IN
    return names


def is_built_in(name: object) -> bool:
    """Whether a criterion is one of karat."""
    return name in _built_in_names()


def register(criterion: Criterion) -> Criterion:
    """Register a criterion for study files; SettingError (a ValueError) if it cannot be added.

    >>> register(CRITERIA["remfod"]).title
    'Response times (ReMFOD)'
    """
    name = criterion.name
    if not name.isidentifier() or keyword.iskeyword(name) or name in RESERVED:
        raise SettingError(f"{name!r} cannot be the name of a criterion", "choose a word such as my_criterion")
    if is_built_in(name) and CRITERIA[name] is not criterion:
        raise SettingError(f"karat already has a criterion {name}", "choose another name")
    needed = [key for key, field in criterion.settings.model_fields.items() if field.is_required()]
    if needed:
        raise SettingError(f"the setting {needed[0]} of {name} has no default", "give it one")
    CRITERIA[name] = criterion
    return criterion


def criterion_named(name: str) -> Criterion:
    """The criterion of this name, of karat or of another package; SettingError (a ValueError) if there is none.

    A criterion of another package runs only if a study names it, so that results do not depend on installed packages.
    """
    if name in CRITERIA:
        return CRITERIA[name]
    addition = added(GROUP, name, Criterion)
    if addition is None:
        names = list(dict.fromkeys([*CRITERIA, *(entry.name for entry in offered(GROUP))]))
        hint = _hint(name, names, f"there are {', '.join(names)}")
        raise SettingError(f"there is no screening criterion {name!r}", hint)
    criterion, package = addition
    compute = naming(package, f"the criterion {name}", criterion.compute)
    return register(replace(criterion, computed_by=compute, unasked=False))


def _hint(name: str, known: Sequence[str], otherwise: str) -> str:
    close = nearest(name, known)
    return f"did you mean {close}?" if close else otherwise


def title_of(name: str) -> str:
    """The name of a criterion in sentences, diagrams and reports."""
    return CRITERIA[name].title if name in CRITERIA else name


def criterion_settings(name: str, given: Any) -> CriterionSettings:
    """The checked settings of a criterion of a study file; ValueError reports their flaws."""
    model = criterion_named(name).settings
    if not isinstance(given, Mapping):
        raise SettingError(f"write {name} = {{ ... }} with its settings, or {name} = {{}} for the defaults")
    unknown = [key for key in given if key not in model.model_fields]
    if unknown:
        keys = list(model.model_fields)
        hint = _hint(unknown[0], keys, f"it has {', '.join(keys) or 'no settings'}")
        raise SettingError(f"the criterion {name} has no setting {unknown[0]!r}", hint)
    return model.model_validate(given)


def check_exclude_rule(rule: str | int, stated: list[str]) -> None:
    """Raise SettingError (a ValueError) if the rule that combines the criteria cannot be applied."""
    if isinstance(rule, int):
        if not 1 <= rule <= max(len(stated), 1):
            number = "1 criterion is" if len(stated) == 1 else f"{len(stated)} criteria are"
            most = f"1 to {len(stated)}" if len(stated) > 1 else "1"
            raise SettingError(f"exclude = {rule}, but {number} stated", f"write {most}, {WORDS_OF_EXCLUDE}")
        return
    if rule in ("any", "all"):
        return
    try:
        tree = ast.parse(rule, mode="eval").body
    except SyntaxError:
        raise SettingError(f"exclude = {rule!r} is not understood", f"write {EXCLUDE_TAKES}") from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id not in stated:
            raise SettingError(
                f"exclude names {node.id!r}, but the rules have no such criterion",
                f"add {node.id} = {{}}, or name only criteria of the rules ({', '.join(stated) or 'none yet'})",
            )
        if not isinstance(node, ast.Name | ast.BoolOp | ast.UnaryOp | ast.And | ast.Or | ast.Not | ast.Load):
            raise SettingError(f"exclude = {rule!r}: only names of criteria, and, or, not and brackets can be used")
