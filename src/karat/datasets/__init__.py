"""Example data that come with karat, simulated and seeded; `tools/make_datasets.py` made them."""

from __future__ import annotations

from pathlib import Path

from karat.errors import KaratError
from karat.intake import read
from karat.judgments import Judgments

ABOUT = {
    "likert": "48 participants rate sentences on five points: all item functions, four lists, six of them inattentive",
    "crowd": "120 participants label 80 items as same or different: twelve of them guess, repeat or keep to one answer",
}


def names() -> list[str]:
    """The names of the data sets.

    >>> names()
    ['likert', 'crowd']
    """
    return list(ABOUT)


def path(name: str) -> Path:
    """The file of a data set.

    Parameters
    ----------
    name
        The name of the data set: likert or crowd.

    >>> path("likert").name
    'likert.parquet'
    """
    if name not in ABOUT:
        raise KaratError(f"There is no data set {name}; there are {' and '.join(ABOUT)}.")
    return Path(__file__).parent / f"{name}.parquet"


def load(name: str) -> Judgments:
    """A data set as judgments. `participants` says in the column behaviour how each person was simulated.

    Parameters
    ----------
    name
        The name of the data set: likert or crowd.

    >>> crowd = load("crowd")
    >>> crowd.participants["behaviour"].value_counts(sort=True)["count"].to_list()
    [108, 4, 4, 4]
    """
    return read(path(name))
