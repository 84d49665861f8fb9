"""The list of readers, in the order in which they are tried. New readers are added here.

Readers of other packages are tried after those of karat but before the last one, which accepts any table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from itertools import islice
from typing import overload

from karat.errors import IntakeError
from karat.intake.reading import Reader
from karat.judgments.columns import nearest
from karat.judgments.source import SourceFile
from karat.packages import PackageError, added, naming, offered


class _Readers(Sequence[Reader]):
    """The readers in these modules, each loaded on first use: a table that karat wrote needs only the first."""

    def __init__(self, *modules: str) -> None:
        self._modules = modules

    @overload
    def __getitem__(self, place: int) -> Reader: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Reader, ...]: ...
    def __getitem__(self, place: int | slice) -> Reader | tuple[Reader, ...]:
        modules = self._modules[place]
        return _reader_in(modules) if isinstance(modules, str) else tuple(map(_reader_in, modules))

    def __len__(self) -> int:
        return len(self._modules)


@cache
def _reader_in(module: str) -> Reader:
    reader: Reader = import_module(f"{__name__}.{module}").READER
    return reader


READERS = _Readers(
    "own", "otree", "qualtrics", "mturk", "jatos", "jspsych.reader", "prolific", "label_studio", "potato", "crowdkit",
    "eligibility_screening", "gorilla", "lrex", "ibex.reader", "generic",
)  # fmt: skip
"""The tools whose results karat reads, in the order in which it tries them."""
GROUP = "karat.readers"
"""The entry points by which packages add readers."""


def reader_titles() -> dict[str, str]:
    """The titles of the readers of karat and of other packages by name, in the order in which they are tried.

    >>> list(reader_titles())[:2], list(reader_titles())[-1]
    (['karat', 'otree'], 'table')
    """
    titles = {reader.name: reader.title for reader in READERS[:-1]}
    for name in _from_packages():
        try:
            titles[name] = _of_package(name).title
        except IntakeError as error:
            titles[name] = f"{name}, which cannot be used: {error}"
    return titles | {READERS[-1].name: READERS[-1].title}


def reader_named(name: str) -> Reader:
    """The reader with the name that `--from` or `source=` gives.

    >>> reader_named("table").title
    'a table with one judgment per row'
    """
    readers = {reader.name: reader for reader in READERS}
    names = [*readers, *_from_packages()]
    if name not in names:
        close = nearest(name, names)
        raise IntakeError(
            f"There is no source {name}.{f' Did you mean {close}?' if close else ''} There are {', '.join(names)}."
        )
    return readers[name] if name in readers else _of_package(name)


def reader_for(file: SourceFile) -> Reader:
    """The first reader that recognises a file; the last one accepts any table.

    Packages are loaded only for files that karat's own readers, except the last, do not recognise.
    """
    match = next((reader for reader in islice(READERS, len(READERS) - 1) if reader.recognises(file)), None)
    if match is not None:
        return match
    return next((reader for reader in map(_of_package, _from_packages()) if reader.recognises(file)), READERS[-1])


def _from_packages() -> list[str]:
    """The names of readers from other packages, without those that karat uses itself."""
    used = {reader.name for reader in READERS}
    return [name for name in dict.fromkeys(entry.name for entry in offered(GROUP)) if name not in used]


@cache
def _of_package(name: str) -> Reader:
    """A reader of another package; unexpected errors in it name the package."""
    try:
        addition = added(GROUP, name, Reader)
    except PackageError as error:
        raise IntakeError(f"The reader {error}, or use --from table.") from error
    if addition is None:
        raise IntakeError(f"There is no source {name}.")
    reader, package = addition
    title = f"the reader {name}"
    return replace(
        reader, recognises=naming(package, title, reader.recognises), read=naming(package, title, reader.read)
    )
