"""The worker:task effect: what the answers say about its variance.

With one answer a cell, nothing but the form of the likelihood tells a cell's own effect from chance, and the Laplace
approximation puts its variance at zero. `interaction_profile` shows that: the log-likelihood, maximised over
everything else, for several deviations of the effect. With repeated answers the effect is identified, and the profile
has its top where the fit is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from karat.messages import Message
from karat.models.glrm.fit import Fit
from karat.models.glrm.objective import Objective
from karat.models.glrm.optimise import TOLERANCE, minimise
from karat.models.glrm.profile import Held
from karat.models.numerics import one_thread
from karat.types import Floats


@dataclass(frozen=True)
class Profile:
    """The highest log-likelihood for each deviation of the worker:task effect."""

    deviations: Floats
    log_likelihood: Floats
    converged: bool
    identified: bool
    """Whether any cell has several answers."""

    @property
    def summary(self) -> tuple[Message, ...]:
        """Which deviation fits best, and how far the others are behind."""
        best = self.deviations[int(np.argmax(self.log_likelihood))]
        drops = [
            Message("profile.drop", {"drop": float(drop), "deviation": float(deviation)})
            for deviation, drop in zip(self.deviations, self.log_likelihood.max() - self.log_likelihood, strict=True)
        ]
        summary = [Message("profile.best", {"best": float(best), "drops": drops})]
        if not self.identified:
            summary.append(Message("profile.not_identified"))
        if not self.converged:
            summary.append(Message("profile.not_converged"))
        return tuple(summary)

    def __str__(self) -> str:
        return " ".join(map(str, self.summary))


def interaction_profile(fit: Fit, deviations: Sequence[float] = (0, 0.3, 0.6, 1, 2)) -> Profile:
    """The profile of the worker:task deviation, for a binary or ordinal fit with or without the effect.

    >>> from karat.models.glrm import fit_crossed
    >>> random = np.random.default_rng(1)
    >>> worker, task = np.repeat(np.arange(30), 20), np.tile(np.arange(20), 30)
    >>> eta = random.normal(0, 1, 30)[worker] + random.normal(0, 2, 20)[task]
    >>> fit = fit_crossed(eta + random.logistic(size=600) > 0, worker, task)
    >>> print(interaction_profile(fit, [0, 1]))
    Of the standard deviations tried for participant–item pairs, 0 has the highest log-likelihood. ...
    """
    if not isinstance(fit.objective, Objective):
        raise ValueError("A profile of the worker:task effect is for binary and ordinal fits.")
    objective = replace(fit.objective, cell_effect=True)
    parameters = fit.parameters[:-1] if fit.objective.cell_effect else fit.parameters
    modes = replace(fit.modes, cell=objective.zero_modes().cell)
    reached = np.empty(len(deviations))
    converged = True
    with one_thread(len(fit.workers) * len(fit.tasks)):
        for place in np.argsort(deviations):
            function = Held(objective, len(parameters), float(deviations[place]))
            at = function(parameters, modes)
            if at is None:
                raise ValueError("The parameters of the fit are not allowed here.")
            best = minimise(function, parameters, at, None, TOLERANCE)
            parameters, modes, reached[place] = best.parameters, best.at.modes, -best.at.value
            converged = converged and best.decrement <= TOLERANCE
    return Profile(np.asarray(deviations, dtype=np.float64), reached, converged, not objective.layout.single)
