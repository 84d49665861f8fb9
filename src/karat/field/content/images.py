"""Images of items under names that tell nothing: `ungrammatical_3.png` must not be read in an address."""

from __future__ import annotations

import base64
import hashlib
import hmac
from pathlib import Path

from karat.study.study import Study

COLUMNS = ("image", "image_2")


def image_name(study: Study, file: str) -> str:
    """The opaque name of an image file: a keyed hash, the same for everybody and in every process.

    >>> from karat.study.init import write_study
    >>> from karat.study.study import load
    >>> folder = getfixture("tmp_path") / "study"
    >>> written = write_study(folder, "likert")
    >>> len(image_name(load(folder), "dog.png"))
    22
    """
    digest = hmac.new(study.fingerprint.encode(), file.encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest[:16]).decode().rstrip("=")


def images(study: Study) -> dict[str, Path]:
    """The image files of a study by their opaque names; nothing else beside the study file can be asked for."""
    found = {}
    for block in study.blocks:
        for column in COLUMNS:
            if column in block.items.frame.columns:
                for file in block.items.frame[column].drop_nulls().unique(maintain_order=True).to_list():
                    found[image_name(study, file)] = study.path.parent / file
    return found
