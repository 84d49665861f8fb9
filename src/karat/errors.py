"""The errors karat raises, and the problems they carry.

Every error is a sentence that says what is wrong and how to fix it. Problems in a table or file are collected and
shown together, so that a file can be fixed in one go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

SHOWN_PROBLEMS = 8
SHOWN_ROWS = 3
"""Up to this many rows with the same problem and value are listed; of more, only the first ones."""
SHOWN_VALUE_LENGTH = 60


class KaratError(Exception):
    """The base class of all errors in karat.

    >>> try:
    ...     raise IntakeError("results.csv is empty.")
    ... except KaratError as error:
    ...     print(error)
    results.csv is empty.
    """


class SettingError(KaratError, ValueError):
    """A setting that cannot be used, and how to fix it."""

    def __init__(self, what: str, fix: str = "") -> None:
        super().__init__(f"{what}; {fix}" if fix else what)
        self.what, self.fix = what, fix

    def __reduce__(self) -> tuple[type[SettingError], tuple[str, str]]:
        return type(self), (self.what, self.fix)


class ScaleError(KaratError, ValueError):
    """An impossible scale, or an answer that is not on a scale."""


class MissingPartError(KaratError, ImportError):
    """An optional package that the call needs is not installed."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem: its place, what is wrong, and how to fix it."""

    what: str
    fix: str = ""
    column: str | None = None
    value: str | None = None
    file: str | None = None
    place: str = "line"
    number: int | None = None

    def __str__(self) -> str:
        where = [f"{self.place} {self.number}"] if self.number is not None else []
        where += [shown(self.column) if "," in self.column else self.column] if self.column else []
        value = f"{shown(self.value)} " if self.value is not None else ""
        sentence = f"{value}{self.what}.{' ' + self.fix if self.fix else ''}"
        return f"{', '.join(where)}: {sentence}" if where else sentence


def shown(value: str) -> str:
    """A value in quotes for a message, on one line and cut if it is long."""
    short = value if len(value) <= SHOWN_VALUE_LENGTH else value[: SHOWN_VALUE_LENGTH - 1] + "…"
    return '"' + "".join(c if c.isprintable() else repr(c)[1:-1] for c in short) + '"'


def cause(error: Exception) -> str:
    """The message of another program's error, on one line and without the final period."""
    text = str(error)
    return text.splitlines()[0].rstrip(".") if text else type(error).__name__


def counted(number: int, word: str) -> str:
    """A number with its word, in the plural unless the number is 1."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


@dataclass
class Problems:
    """A collection of problems, grouped by kind so that a million bad rows stay cheap.

    >>> problems = Problems()
    >>> problems.add("is not a number", column="rt", value="3,2s", number=17)
    >>> print(problems)
    line 17, rt: "3,2s" is not a number.
    """

    _kinds: dict[tuple[str | None, str, str | None, str, str], list[tuple[int | None, str | None]]] = field(
        default_factory=dict
    )

    def add(
        self,
        what: str,
        fix: str = "",
        *,
        column: str | None = None,
        value: str | None = None,
        file: str | None = None,
        place: str = "line",
        number: int | None = None,
    ) -> None:
        """Add a problem."""
        self._kinds.setdefault((file, place, column, what, fix), []).append((number, value))

    def at(
        self,
        where: tuple[str | None, str, int],
        what: str,
        fix: str,
        column: str | None = None,
        value: str | None = None,
    ) -> None:
        """Add a problem of a row, given by its file, kind of place and number."""
        file, place, number = where
        self.add(what, fix, column=column, value=value, file=file, place=place, number=number)

    def extend(self, problems: Iterable[Problem]) -> None:
        """Add the problems of another collection."""
        for p in problems:
            self.add(p.what, p.fix, column=p.column, value=p.value, file=p.file, place=p.place, number=p.number)

    def __iter__(self) -> Iterator[Problem]:
        for (file, place, column, what, fix), places in self._kinds.items():
            for number, value in places:
                yield Problem(what, fix, column, value, file, place, number)

    def __len__(self) -> int:
        return sum(len(places) for places in self._kinds.values())

    def places(self) -> set[tuple[str | None, str, int]]:
        """The distinct rows with problems: (file, kind of place, number)."""
        return {
            (file, place, number)
            for (file, place, *_), places in self._kinds.items()
            for number, _ in places
            if number is not None
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, name_files: bool = False, limit: int = SHOWN_PROBLEMS) -> list[str]:
        """The first problems in the order of the file, then how many more there are of each kind.

        A problem that many rows share, such as one misspelt answer, is listed once, with its first rows.

        >>> problems = Problems()
        >>> for line in range(2, 400):
        ...     problems.add("is not an answer on this scale", column="response", value="nuetral", number=line)
        >>> print(problems)
        lines 2, 3, 4 and 395 more, response: "nuetral" is not an answer on this scale.
        """
        kinds = list(self._kinds)
        ordered = sorted(
            (key[0] or "", numbers[0], kind, value is not None, value or "", numbers)
            for kind, key in enumerate(kinds) for value, numbers in _by_value(self._kinds[key])
        )  # fmt: skip
        lines = []
        fixed: set[int] = set()
        for file, _, kind, has_value, value, numbers in ordered[:limit]:
            _, place, column, what, fix = kinds[kind]
            # The fix is given once per kind: twenty copies of it would hide the rows.
            fix = "" if kind in fixed else fix
            fixed.add(kind)
            first = numbers[0] if len(numbers) == 1 and numbers[0] else None
            text = str(Problem(what, fix, column, value if has_value else None, None, place, first))
            text = f"{_rows(place, numbers)}{', ' if column else ': '}{text}" if len(numbers) > 1 else text
            lines.append(f"{file}, {text}" if name_files and file else text)
        rest: dict[int, list[int]] = {}
        for _, _, kind, _, _, numbers in ordered[limit:]:
            rest.setdefault(kind, []).extend(numbers)
        for kind, numbers_left in rest.items():
            _, place, column, what, _ = kinds[kind]
            lines.append(
                f"and {len(numbers_left):,} more: {column + ' ' if column else ''}{what}{_span(place, numbers_left)}."
            )
        return lines


def _by_value(places: Iterable[tuple[int | None, str | None]]) -> Iterator[tuple[str | None, list[int]]]:
    """The rows of one kind of problem, grouped if many share their value."""
    rows: dict[str | None, list[int]] = {}
    for number, value in places:
        rows.setdefault(value, []).append(number or 0)
    for value, numbers in rows.items():
        if len(numbers) > SHOWN_ROWS and min(numbers) > 0:
            yield value, sorted(numbers)
        else:
            yield from ((value, [number]) for number in numbers)


def _rows(place: str, numbers: Sequence[int]) -> str:
    return f"{place}s {', '.join(map(str, numbers[:SHOWN_ROWS]))} and {len(numbers) - SHOWN_ROWS:,} more"


def _span(place: str, numbers: Sequence[int]) -> str:
    """The range of the problems in brackets; empty for problems of a whole file."""
    low, high = min(numbers), max(numbers)
    if high == 0:
        return ""
    return f" ({place} {low})" if low == high else f" ({place}s {low} to {high})"


class ProblemsError(KaratError, ValueError):
    """An error that carries the problems which caused it."""

    def __init__(self, headline: str, problems: Iterable[Problem] = (), name_files: bool = False) -> None:
        self.headline = headline
        self.problems = Problems()
        self.problems.extend(problems)
        listed = "".join(f"\n  {line}" for line in self.problems.lines(name_files))
        super().__init__(headline + listed)


class JudgmentsError(ProblemsError):
    """A table that is not a table of judgments."""


class IntakeError(ProblemsError):
    """A file that cannot be read as judgments."""
