"""Parts from other installed packages, and lazy loading of karat's packages.

A package may add criteria, tasks, readers and platforms by an entry point in its `pyproject.toml`; `docs/extending/`
has the groups. Importing karat looks nothing up. The list of a group is read once, when a name is not among karat's
parts, and a package is loaded only when its part is needed. `load_when_used` does the same for karat's larger packages.
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
    """A package that loads a module when one of its names is used; a function hides the module of the same name."""

    homes: Mapping[str, str]

    def __getattr__(self, name: str) -> Any:
        if name not in self.homes:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        home = self.homes[name]
        value = import_module(f"{home}.{name}") if home == self.__name__ else getattr(import_module(home), name)
        super().__setattr__(name, value)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and name in self.homes):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted(self.__all__)


def load_when_used(package: str) -> list[str]:
    """Make a package load its imports under `if TYPE_CHECKING:` when they are first used; returns their names.

    That keeps the start of commands fast.

    >>> import karat.measure
    >>> "strengths" in dir(karat.measure)
    True
    """
    module = sys.modules[package]
    homes = module.__dict__["homes"] = _imported_for_checkers(package)
    module.__class__ = _LoadedWhenUsed
    return list(homes)


def _imported_for_checkers(package: str) -> dict[str, str]:
    """The names under `if TYPE_CHECKING:` with their modules; a star stands for those of its package."""
    homes: dict[str, str] = {}
    loader: Any = import_module(package).__loader__  # it also reads from a zipped wheel
    checked = (node for node in ast.parse(loader.get_source(package)).body if isinstance(node, ast.If))
    for node_import in (
        node_import
        for block in checked
        for node_import in block.body
        if isinstance(node_import, ast.ImportFrom) and node_import.module
    ):
        for alias in node_import.names:
            homes |= (
                _imported_for_checkers(str(node_import.module))
                if alias.name == "*"
                else {alias.name: str(node_import.module)}
            )
    return homes


class Named(Protocol):
    """A part that a package may add: anything with a name."""

    @property
    def name(self) -> str: ...


Part = TypeVar("Part", bound=Named)
Asked = ParamSpec("Asked")
Given = TypeVar("Given")


class PackageError(SettingError):
    """A part of a package that cannot be used."""


@cache
def offered(group: str) -> tuple[EntryPoint, ...]:
    """The entry points of a group, not loaded yet."""
    from importlib.metadata import entry_points

    return tuple(entry_points(group=group))


def added(group: str, name: str, kind: type[Part]) -> tuple[Part, str] | None:
    """The part with this name and its package, loaded; None if no package adds it."""
    entries = [entry for entry in offered(group) if entry.name == name]
    if not entries:
        return None
    packages = [entry.module if entry.dist is None else entry.dist.name for entry in entries]
    if len(entries) > 1:
        raise PackageError(f"{name} is added by the packages {' and '.join(packages)}", "uninstall all but one")
    entry, title = entries[0], f"{name} of the package {packages[0]}"
    try:
        part = entry.load()
    except Exception as error:  # code of another package may raise anything
        raise PackageError(f"{title} cannot be loaded ({_as_text(error)})", "fix or uninstall the package") from error
    if not isinstance(part, kind) or part.name != name:
        fix = f"fix its entry point {name} = {entry.value}"
        raise PackageError(f"{title} is not a {kind.__name__} of this name", fix)
    return part, packages[0]


def naming(package: str, what: str, function: Callable[Asked, Given]) -> Callable[Asked, Given]:
    """Wrap a function of a package, so that its unexpected errors name the package."""

    @wraps(function)
    def named(*arguments: Asked.args, **options: Asked.kwargs) -> Given:
        try:
            return function(*arguments, **options)
        except KaratError:
            raise
        except Exception as error:  # code of another package may raise anything
            text = f"{what[:1].upper()}{what[1:]} of the package {package} failed ({_as_text(error)})."
            raise KaratError(f"{text} Tell its authors, or uninstall it.") from error

    return named


def _as_text(error: Exception) -> str:
    return f"{type(error).__name__}: {cause(error)}" if error.args else type(error).__name__
