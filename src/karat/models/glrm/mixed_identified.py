"""Whether a design can tell the covariances of a term: a question of the design alone, whatever the answers.

Two slopes that are confounded within every item cannot be told apart by it, nor can an effect for every measured answer
from the residual. The information about theta in a linear model is then singular wherever Lambda is not; it is looked
at where Lambda is the identity. The curvature at the end of a search does not always show it, since a singular
covariance has flat directions of its own.
"""

from __future__ import annotations

import numpy as np

from karat.models.glrm.mixed_laplace import linear_information
from karat.models.glrm.mixed_sides import Side
from karat.types import Floats

NOTHING = 1e-9
"""Information, relative to that of each element of theta alone, that counts as none."""


def undetermined(side: Side, residual: bool) -> list[str]:
    """The factors whose covariances the design does not determine; with `residual` it must tell them from that, too.

    >>> from karat.models.glrm.mixed_sides import sides
    >>> from karat.models.glrm.terms import random_term
    >>> every, _ = sides([random_term("trial", np.arange(6))])
    >>> undetermined(every, residual=True), undetermined(every, residual=False)
    (['trial'], [])
    """
    based = side.based()
    if not side.size:
        return []
    curvature = based.curvature(np.ones(len(side.codes)))
    information, beside, _ = linear_information(based, np.eye(based.effects), curvature)
    if residual:
        border = beside[:, None]
        information = np.block([[information, border], [border.T, np.array([[len(side.codes) / 2]])]])
        # Theta is in units of the residual's deviation, so that all of it moves where the residual does. In units of
        # its own only those covariances move that cannot be told from the residual, and only they are to be named.
        still = np.eye(len(information))
        still[:-1, -1] = np.concatenate([np.equal(*block.entries) for block in side.blocks]) * -0.5
        information = still.T @ information @ still
    return _lacking(side, information)


def _lacking(side: Side, information: Floats) -> list[str]:
    """The factors of the elements that a direction without information is made of."""
    size = np.sqrt(np.diag(information))
    alone = np.where(size > 0, size, 1.0)
    values, vectors = np.linalg.eigh(information / np.outer(alone, alone))
    weight = np.abs(vectors[:, values < NOTHING]).max(axis=1, initial=0.0)
    found, before = [], 0
    for block in side.blocks:
        if np.any(weight[before : before + block.size] > 0.1) and block.group not in found:
            found.append(block.group)
        before += block.size
    return found
