"""The posterior of strengths from choices: sampled with the extra `bayes`, checked, and given out draw by draw."""

from __future__ import annotations

import polars as pl

from karat.measure.errors import MeasureError
from karat.measure.strengths import Strengths
from karat.messages import Message
from karat.models.choices import Pairs
from karat.models.choices.posterior import Posterior, draw_posterior
from karat.types import Ints


def posterior_of(pairs: Pairs, person: Ints, shared: bool, seed: int) -> Posterior:
    """The posterior, or the command that installs what is missing for it."""
    try:
        return draw_posterior(pairs, person, shared, seed)
    except ImportError:
        raise MeasureError(Message("posterior.not_installed", {"command": "pip install 'karat[bayes]'"})) from None


def posterior_notes(found: Posterior) -> list[Message]:
    """How far the draws can be trusted."""
    rhat = max(float(found.rhat.max()), float(found.variability_rhat.max()))
    ess = min(float(found.ess.min()), float(found.variability_ess.min()))
    values = {
        "draws": len(found.draws), "chains": found.chains, "rhat": rhat, "ess": round(ess),
        "divergences": found.divergences,
    }  # fmt: skip
    notes = [Message("posterior.draws", values)]
    return notes if found.trusted else [*notes, Message("posterior.not_trusted")]


def strength_draws(strengths: Strengths) -> pl.DataFrame:
    """The draws of the posterior, one column per stimulus (by its label, strongest first), one row per draw.

    >>> import karat
    >>> strength_draws(karat.measure.strengths(karat.datasets.load("likert"), "mean"))
    Traceback (most recent call last):
    ...
    karat.measure.errors.MeasureError: These estimates have no posterior draws. Use posterior=True.
    """
    if not isinstance(strengths.fit, Posterior):
        raise MeasureError(Message("posterior.no_draws"))
    return pl.DataFrame(strengths.fit.draws, schema=strengths.labels, orient="row")
