"""The registry of screening criteria: those that karat brings, those of a script, and those of other packages.

karat's own are files of `karat.screen.criteria`, found by name and loaded when a study states them, so that a study
file can be checked before there are any data, without loading what computes the others. A criterion of another package
is looked for when a study names one that karat does not know.
"""

import ast
import keyword
from collections.abc import Iterator, Mapping, MutableMapping
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
"""The package of karat's own criteria: the only one above this that is known here, and only by its name."""
ABOUT_PEOPLE = ("eligibility", "quiz", "completion", "platform_flags")
"""Karat's own that look at columns about participants; the others need not be loaded to find such columns."""


class _Criteria(MutableMapping[str, Criterion]):
    """All criteria by their names: karat's own in the order in which they run, then those that were registered."""

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
        return iter(dict.fromkeys([*_own_names(), *self._loaded]))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def clear(self) -> None:
        """Forget the criteria that were registered; karat's own are always there."""
        self._loaded.clear()


CRITERIA = _Criteria()


def _own_names() -> tuple[str, ...]:
    names: tuple[str, ...] = import_module(BUILT_IN).BUILT_IN
    return names


def is_built_in(name: object) -> bool:
    """Whether a criterion is one of karat's own."""
    return name in _own_names()


def register(criterion: Criterion) -> Criterion:
    """Add a criterion to those that a study may state; ValueError says why it cannot be added.

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
    """The criterion of this name, of karat or of another package; ValueError where there is none.

    One of another package runs only where it is stated: what is found does not depend on what happens to be installed.
    """
    if name in CRITERIA:
        return CRITERIA[name]
    found = added(GROUP, name, Criterion)
    if found is None:
        known = list(dict.fromkeys([*CRITERIA, *(entry.name for entry in offered(GROUP))]))
        close = nearest(name, known)
        hint = f"did you mean {close}?" if close else f"there are {', '.join(known)}"
        raise SettingError(f"there is no screening criterion {name!r}", hint)
    criterion, package = found
    compute = naming(package, f"the criterion {name}", criterion.compute)
    return register(replace(criterion, computed_by=compute, unasked=False))


def title_of(name: str) -> str:
    """How a criterion is called in sentences, diagrams and reports."""
    return CRITERIA[name].title if name in CRITERIA else name


def criterion_settings(name: str, given: Any) -> CriterionSettings:
    """The settings of a criterion as a study file states them, checked; ValueError says what is wrong."""
    model = criterion_named(name).settings
    if not isinstance(given, Mapping):
        raise SettingError(f"write {name} = {{ ... }} with its settings, or {name} = {{}} for the defaults")
    unknown = [key for key in given if key not in model.model_fields]
    if unknown:
        known = ", ".join(model.model_fields) or "no settings"
        close = nearest(unknown[0], list(model.model_fields))
        hint = f"did you mean {close}?" if close else f"it has {known}"
        raise SettingError(f"the criterion {name} has no setting {unknown[0]!r}", hint)
    return model.model_validate(given)


def check_exclude_rule(rule: str | int, stated: list[str]) -> None:
    """Whether the rule that joins the criteria can be followed; ValueError says why not."""
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
                f"exclude names {node.id!r}, which is not stated", f"there are {', '.join(stated) or 'none'}"
            )
        if not isinstance(node, ast.Name | ast.BoolOp | ast.UnaryOp | ast.And | ast.Or | ast.Not | ast.Load):
            raise SettingError(f"exclude = {rule!r}: only names of criteria, and, or, not and brackets can be used")
