"""The list of readers, in the order in which they are asked whether a file is theirs. A new reader is added here."""

from __future__ import annotations

from karat.columns import nearest
from karat.errors import IntakeError
from karat.intake.readers import (
    crowdkit,
    eligibility_screening,
    generic,
    gorilla,
    jatos,
    jspsych,
    label_studio,
    lrex,
    mturk,
    otree,
    own,
    pcibex,
    potato,
    prolific,
    qualtrics,
)
from karat.intake.reading import Reader
from karat.source import SourceFile

READERS: tuple[Reader, ...] = (
    own.READER,
    otree.READER,
    qualtrics.READER,
    mturk.READER,
    jatos.READER,
    jspsych.READER,
    prolific.READER,
    label_studio.READER,
    potato.READER,
    crowdkit.READER,
    eligibility_screening.READER,
    gorilla.READER,
    lrex.READER,
    pcibex.READER,
    generic.READER,
)


def reader_named(name: str) -> Reader:
    """The reader that `--from` or `source=` names.

    >>> reader_named("table").title
    'a table with one judgment a row'
    """
    names = [reader.name for reader in READERS]
    if name in names:
        return READERS[names.index(name)]
    close = nearest(name, names)
    raise IntakeError(
        f"There is no source {name}.{f' Is {close} meant?' if close else ''} There are {', '.join(names)}."
    )


def reader_for(file: SourceFile) -> Reader:
    """The first reader that recognises a file; the last one takes any table."""
    return next(reader for reader in READERS if reader.recognises(file))
