"""The posterior of strengths from choices: drawn with the extra `bayes`, told in words, and given out draw by draw."""

from __future__ import annotations

import polars as pl

from karat.errors import counted
from karat.measure.errors import MeasureError
from karat.measure.rated import Ints
from karat.measure.strengths import Strengths
from karat.models.choices import Pairs
from karat.models.choices.posterior import Posterior, draw_posterior


def posterior_of(pairs: Pairs, person: Ints, shared: bool, seed: int) -> Posterior:
    """The posterior, or the command that installs what is missing for it."""
    try:
        return draw_posterior(pairs, person, shared, seed)
    except ImportError:
        raise MeasureError(
            "strengths: the posterior needs NumPyro: pip install 'karat[bayes]'. Without posterior=True the same model "
            "is fitted by penalised maximum likelihood."
        ) from None


def told(found: Posterior) -> list[str]:
    """How far the draws can be trusted, in sentences."""
    rhat = max(float(found.rhat.max()), float(found.variability_rhat.max()))
    ess = min(float(found.ess.min()), float(found.variability_ess.min()))
    size = f"{len(found.draws):,} draws of {counted(found.chains, 'chain')}"
    notes = [
        f"Posterior means and intervals of {size}: R-hat at most {rhat:.3f}, at least {ess:,.0f} effective draws, "
        f"{counted(found.divergences, 'divergence')} (standardised strengths and variabilities)."
    ]
    if not found.trusted:
        notes.append("The draws do not agree well enough: take another seed, or the estimate without posterior=True.")
    return notes


def strength_draws(strengths: Strengths) -> pl.DataFrame:
    """The draws of the posterior, one column a stimulus (by its label, strongest first), one row a draw.

    >>> import karat
    >>> strength_draws(karat.measure.strengths(karat.datasets.load("likert"), "mean"))
    Traceback (most recent call last):
    ...
    karat.measure.errors.MeasureError: strength_draws: these strengths have no draws; ask for posterior=True.
    """
    if not isinstance(strengths.fit, Posterior):
        raise MeasureError("strength_draws: these strengths have no draws; ask for posterior=True.")
    return pl.DataFrame(strengths.fit.draws, schema=strengths.labels, orient="row")
