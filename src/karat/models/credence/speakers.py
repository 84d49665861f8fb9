"""A second group of speakers: people who disagree with the others consistently, and with each other not at all.

The slopes of everybody's answers in the strengths of the stimuli are what the first group leaves unexplained. If some
participants share another grammar, these slopes have a common direction. The singular values of participants x stimuli
are compared with those of the same matrix with random signs, which keeps its sizes and breaks any common direction.
Each of the first three that is greater than half of these is tried (a poor test, but only a reason to look): a second
group begins from the participants on the smaller side. The best is kept if everybody together becomes more probable by
`GAIN` (each judged without themselves), if its members agree about as much as those of the first group (people who just
guess would not) and with these on less than `ALIKE` (people of another ability would agree on more), and if there are
five of them at least.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds

from karat.models.credence.earnest import Earnest
from karat.models.credence.mixture import Mixture, MixtureStep
from karat.types import Floats

SIGNS = 9
FEWEST = 5
GAIN = 10.0
DIRECTIONS = 3
ALIKE = 0.8
"""The correlation of the strengths of both groups above which they are one."""
AGREE = 0.6
"""The spread of the second group's strengths, as a share of that of the first, from which its members agree enough."""


def directions(mixture: Mixture, seed: int) -> list[Floats]:
    """Everybody's places on the common directions of what is unexplained, as far as chance would not make them."""
    random = np.random.default_rng(seed)
    table = sparse.hstack([_unexplained(one) for one in mixture.earnest], format="csr")
    if min(table.shape) < 2 * FEWEST or not table.nnz:
        return []
    start = np.ones(min(table.shape))
    left, values, _ = svds(table, k=DIRECTIONS, v0=start)
    by_chance = []
    for _ in range(SIGNS):
        signed = table.copy()
        signed.data = signed.data * random.choice([-1.0, 1.0], len(signed.data))
        by_chance.append(float(svds(signed, k=1, v0=start, return_singular_vectors=False)[0]))
    return [left[:, place] for place in np.argsort(-values) if values[place] > np.median(by_chance)]


def _unexplained(one: Earnest) -> sparse.csr_array:
    """Slopes of everybody's answers in the strengths, participants x stimuli (and levels).

    Also of those who do not seem to be in earnest, since a second grammar looks so at first. Each participant's mean is
    taken out: people with one favourite answer have that in common, and no grammar.
    """
    part = one.part
    rows = np.nonzero(part.there)
    number = np.maximum(part.there.sum(axis=1), 1)
    mean = np.bincount(rows[0], one.slopes[rows], len(part.item)) / number
    values = np.clip(one.slopes[rows] - mean[rows[0]], -2, 2)
    columns, width = part.item[rows], part.items
    if not part.ordered:
        columns, width = columns * part.levels + part.content[rows], width * part.levels
    return sparse.csr_array((values, (rows[0], columns)), shape=(len(part.item), width))


def minority(direction: Floats) -> Floats:
    """Who is on the smaller side of the direction, by the best split into two clusters.

    >>> minority(np.array([0.1, 0.0, -0.1, 0.1, 2.0, 2.1])).tolist()
    [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]
    """
    ordered = np.sort(direction)
    number = np.arange(1, len(ordered))
    below, total = np.cumsum(ordered)[:-1], ordered.sum()
    between = (below - number / len(ordered) * total) ** 2 / (number * (len(ordered) - number))
    cut = ordered[int(np.argmax(between))]
    upper = direction > cut
    small = upper if upper.sum() <= len(upper) / 2 else ~upper
    members: Floats = small.astype(np.float64)
    return members


def with_second_group(mixture: Mixture, members: Floats) -> None:
    """Begin a second group from its probable members."""
    for one in mixture.earnest:
        places = members[:, None] * np.exp(one.log_weights)
        # Members count in full, whatever the first group made of them.
        one.add_group(places, one.part.there.astype(np.float64))
    share = float(np.clip(members.mean(), 0.02, 0.5))
    mixture.group_shares = np.array([1 - share, share])


def is_worth_it(mixture: Mixture, before: MixtureStep, after: MixtureStep) -> bool:
    """Whether the second group earns its place, by the rules above."""
    members = float((after.weight.mean(axis=1) * after.group[:, 1]).sum())
    if members < FEWEST or float((after.evidence - before.evidence).sum()) < GAIN:
        return False
    first, second = (
        np.concatenate([one.groups[group].strengths.ravel() for one in mixture.earnest]) for group in (0, 1)
    )
    alike = float(np.corrcoef(first, second)[0, 1])
    return bool(second.std() >= AGREE * first.std() and alike <= ALIKE)
