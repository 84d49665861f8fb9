"""What other installed packages add to karat, and what karat's own packages load when it is used.

A package may add criteria, tasks, readers and platforms. It says what it adds by an entry point in its
`pyproject.toml`; `docs/extending/` has the groups. Nothing is looked up when karat is imported. The list of a group is
read once, when something is asked for that karat does not have itself, and a package is loaded only when its part is
needed. The same holds for the larger packages of karat: `load_when_used`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping
from functools import cache, wraps
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

from karat.errors import KaratError, SettingError, cause

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class _LoadedWhenUsed(ModuleType):
    """A package that loads a file when one of its names is used; a function hides the file of the same name."""

    homes: Mapping[str, str]

    def __getattr__(self, name: str) -> Any:
        if name not in self.homes:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        home = self.homes[name]
        found = import_module(f"{home}.{name}") if home == self.__name__ else getattr(import_module(home), name)
        super().__setattr__(name, found)
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and name in self.homes):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted(self.__all__)


def load_when_used(package: str) -> list[str]:
    """Let a package load what it imports for type checkers alone when it is first used, and give the names.

    That keeps commands quick to start; what is imported under `if TYPE_CHECKING:` is the one list of the names.

    >>> import karat.measure
    >>> "strengths" in dir(karat.measure)
    True
    """
    module = sys.modules[package]
    homes = module.__dict__["homes"] = _imported_for_checkers(package)
    module.__class__ = _LoadedWhenUsed
    return list(homes)


def _imported_for_checkers(package: str) -> dict[str, str]:
    """The names under `if TYPE_CHECKING:`, each with its module; of a star those that its package has there."""
    homes: dict[str, str] = {}
    loader: Any = import_module(package).__loader__  # which reads from a zipped wheel too
    checked = (node for node in ast.parse(loader.get_source(package)).body if isinstance(node, ast.If))
    for one in (one for block in checked for one in block.body if isinstance(one, ast.ImportFrom) and one.module):
        for alias in one.names:
            homes |= _imported_for_checkers(str(one.module)) if alias.name == "*" else {alias.name: str(one.module)}
    return homes


class Named(Protocol):
    """What a package may add: anything that has a name."""

    @property
    def name(self) -> str: ...


Part = TypeVar("Part", bound=Named)
Asked = ParamSpec("Asked")
Given = TypeVar("Given")


class PackageError(SettingError):
    """Something that a package adds and that cannot be used."""


@cache
def offered(group: str) -> tuple[EntryPoint, ...]:
    """What the installed packages add to a group, not loaded yet."""
    from importlib.metadata import entry_points

    return tuple(entry_points(group=group))


def added(group: str, name: str, kind: type[Part]) -> tuple[Part, str] | None:
    """What a package adds under this name, loaded, and the package; None where none does."""
    found = [entry for entry in offered(group) if entry.name == name]
    if not found:
        return None
    packages = [entry.module if entry.dist is None else entry.dist.name for entry in found]
    if len(found) > 1:
        raise PackageError(f"{name} is added by the packages {' and '.join(packages)}", "uninstall all but one")
    entry, title = found[0], f"{name} of the package {packages[0]}"
    try:
        part = entry.load()
    except Exception as error:  # somebody else's module, which may raise anything
        raise PackageError(f"{title} cannot be loaded ({_said(error)})", "fix or uninstall the package") from error
    if not isinstance(part, kind) or part.name != name:
        fix = f"fix its entry point {name} = {entry.value}"
        raise PackageError(f"{title} is not a {kind.__name__} of this name", fix)
    return part, packages[0]


def naming(package: str, what: str, function: Callable[Asked, Given]) -> Callable[Asked, Given]:
    """The function of a package; an error that it did not mean to raise names the package."""

    @wraps(function)
    def named(*arguments: Asked.args, **options: Asked.kwargs) -> Given:
        try:
            return function(*arguments, **options)
        except KaratError:
            raise
        except Exception as error:  # somebody else's function, which may raise anything
            text = f"{what[:1].upper()}{what[1:]} of the package {package} failed ({_said(error)})."
            raise KaratError(f"{text} Tell its authors, or uninstall it.") from error

    return named


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {cause(error)}" if error.args else type(error).__name__
