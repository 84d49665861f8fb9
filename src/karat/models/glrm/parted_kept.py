"""Steps of a fit kept on disk: a search that was broken off goes through them again without asking the parts.

Each evaluation of the likelihood depends on the parameters, on the modes from which its search starts, and on the
answers. Under the first two it is written to a file of a folder that belongs to these answers alone. The same search
meets the same evaluations in the same order, so that what it finds is the same to the last bit.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from karat.files import replacing
from karat.models.glrm.crossed import Floats


def digest(arrays: Sequence[Floats]) -> str:
    """A name for arrays of numbers, by their bits.

    >>> digest([np.zeros(2)]) == digest([np.zeros(2)]), digest([np.zeros(2)]) == digest([-np.zeros(2)])
    (True, False)
    """
    found = hashlib.sha256()
    for array in arrays:
        found.update(f"{array.shape}".encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:32]


def load(folder: Path, name: str) -> dict[str, Floats] | None:
    """The arrays that were kept under a name; None where there are none, or none that can be read."""
    try:
        with (folder / f"{name}.npz").open("rb") as file, np.load(file) as kept:
            return {key: kept[key] for key in kept.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):
        return None


def save(folder: Path, name: str, **arrays: Floats) -> None:
    """Keep arrays under a name, whole or not at all."""
    with replacing(folder / f"{name}.npz") as temporary, temporary.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)
