"""The errors karat raises, and the problems they carry.

Every error is a sentence that says what is wrong and how to mend it. Problems found in a table or a file are
collected and shown together, so that a file is mended once and not twenty times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

SHOWN_PROBLEMS = 20
SHOWN_VALUE_LENGTH = 60


class KaratError(Exception):
    """What every error of karat derives from.

    >>> try:
    ...     raise IntakeError("results.csv is empty.")
    ... except KaratError as error:
    ...     print(error)
    results.csv is empty.
    """


class ScaleError(KaratError, ValueError):
    """A scale that cannot be, or an answer that a scale does not know."""


class MissingPartError(KaratError, ImportError):
    """An optional package that the call needs is not installed."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One flaw in one place: where it is, what it is and how to mend it."""

    what: str
    mend: str = ""
    column: str | None = None
    value: str | None = None
    file: str | None = None
    place: str = "line"
    number: int | None = None

    def __str__(self) -> str:
        where = [f"{self.place} {self.number}"] if self.number is not None else []
        where += [self.column] if self.column else []
        value = f"{shown(self.value)} " if self.value is not None else ""
        sentence = f"{value}{self.what}.{' ' + self.mend if self.mend else ''}"
        return f"{', '.join(where)}: {sentence}" if where else sentence


def shown(value: str) -> str:
    """A value as it is quoted in a message: on one line, cut where it is long.

    >>> shown("3,2s")
    '"3,2s"'
    """
    short = value if len(value) <= SHOWN_VALUE_LENGTH else value[: SHOWN_VALUE_LENGTH - 1] + "…"
    return '"' + "".join(c if c.isprintable() else repr(c)[1:-1] for c in short) + '"'


def counted(number: int, word: str) -> str:
    """A number with its word, in the plural where it must be.

    >>> counted(1, "answer"), counted(9600, "answer")
    ('1 answer', '9,600 answers')
    """
    return f"{number:,} {word}{'' if number == 1 else 's'}"


@dataclass
class Problems:
    """A growing collection of problems, kept by kind so that a million bad rows stay cheap.

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
        mend: str = "",
        *,
        column: str | None = None,
        value: str | None = None,
        file: str | None = None,
        place: str = "line",
        number: int | None = None,
    ) -> None:
        """Note one flaw."""
        self._kinds.setdefault((file, place, column, what, mend), []).append((number, value))

    def extend(self, problems: Iterable[Problem]) -> None:
        """Take over the problems of another collection."""
        for p in problems:
            self.add(p.what, p.mend, column=p.column, value=p.value, file=p.file, place=p.place, number=p.number)

    def __iter__(self) -> Iterator[Problem]:
        for (file, place, column, what, mend), found in self._kinds.items():
            for number, value in found:
                yield Problem(what, mend, column, value, file, place, number)

    def __len__(self) -> int:
        return sum(len(found) for found in self._kinds.values())

    def places(self) -> set[tuple[str | None, str, int]]:
        """The distinct rows that have a flaw: (file, kind of place, number)."""
        return {
            (file, place, number)
            for (file, place, *_), found in self._kinds.items()
            for number, _ in found
            if number is not None
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, name_files: bool = False, limit: int = SHOWN_PROBLEMS) -> list[str]:
        """The first problems in the order of the file, then how many more there are of each kind."""
        ordered = sorted(
            ((file or "", number or 0, kind, index) for kind, key in enumerate(self._kinds) for file in [key[0]]
             for index, (number, _) in enumerate(self._kinds[key])),
        )  # fmt: skip
        kinds = list(self._kinds.items())
        told = ordered[:limit]
        lines = []
        mended: set[int] = set()
        for file, _, kind, index in told:
            (key_file, place, column, what, mend), found = kinds[kind]
            number, value = found[index]
            # The mend is told once a kind: twenty copies of it would hide the rows.
            text = str(Problem(what, "" if kind in mended else mend, column, value, key_file, place, number))
            mended.add(kind)
            lines.append(f"{file}, {text}" if name_files and file else text)
        rest: dict[int, list[int]] = {}
        for _, number, kind, _ in ordered[limit:]:
            rest.setdefault(kind, []).append(number)
        for kind, numbers in rest.items():
            (_, place, column, what, _), _found = kinds[kind]
            lines.append(f"and {len(numbers):,} more: {column + ' ' if column else ''}{what}{_span(place, numbers)}.")
        return lines


def _span(place: str, numbers: Sequence[int]) -> str:
    """Where the problems stand, in brackets; nothing of those that concern a file as a whole."""
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
