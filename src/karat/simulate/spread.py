"""How much participants and items differ, in logits: what every simulated judgment is made of.

A judgment of participant i on item j under a contrast x (+1/2 at its first level, -1/2 at its second) has the latent
value

    strength_j + x (effect + b_i + d_j) + e,     e standard logistic,

and is answered by participant i's own criteria: thresholds exp(c_i) t_k + a_i. The numbers here are the standard
deviations of strength_j (item), b_i (participant_effect), d_j (item_effect), c_i (stretch) and a_i (participant).
They are round numbers of the size that questionnaires with ratings have shown; a pilot knows better.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from karat.messages import Message
from karat.simulate.errors import SimulateError


@dataclass(frozen=True)
class Spread:
    """Standard deviations between participants and between items.

    >>> Spread(item=0.5).item
    0.5
    """

    participant: float = 0.8
    item: float = 0.8
    participant_effect: float = 0.4
    item_effect: float = 0.4
    stretch: float = 0.25

    def __post_init__(self) -> None:
        for field in fields(self):
            if not getattr(self, field.name) >= 0:
                raise SimulateError(Message("simulate.deviation", {"name": field.name}))
