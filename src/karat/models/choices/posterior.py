"""The full posterior of Thurstone's model by NUTS (Hoffman and Gelman 2014), with the extra `bayes` (NumPyro, JAX).

`posterior_density` defines the model that is sampled. Chains start at the penalised maximum of the likelihood and are
sampled in double precision; everything is compiled once. R-hat (split chains) and effective sample sizes are computed
for strengths and sigma divided by the standard deviation of the strengths of the same draw, which makes them
independent of the overall scale.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from karat.models.choices.pairs import Pairs
from karat.models.choices.thurstone import fit_thurstone, population_probabilities
from karat.models.choices.thurstone_people import Population
from karat.types import Floats, Ints

CHAINS, DRAWS, DEPTH = 2, 500, 8
WARMUP_OWN, WARMUP_SHARED = 300, 500
ACCEPTED_OWN, ACCEPTED_SHARED = 0.9, 0.95
"""The target acceptance rate: with a shared criterion, longer steps than these diverge."""
AVERAGED = 100
"""The approximate number of draws over which population predictions are averaged."""


@dataclass(frozen=True)
class Posterior:
    """Draws of the strengths and of the participants' parameters, with convergence diagnostics."""

    draws: Floats
    """Strengths, one row per draw (chain after chain), one column per item."""
    variability: Floats
    """sigma of each participant (draws x people)."""
    criterion: Floats
    """C of each participant, or the shared one (draws x people, or draws x 1)."""
    populations: tuple[Population, ...]
    """The population of participants, one per draw."""
    rhat: Floats
    """R-hat of the standardised strengths; 1 if the chains agree."""
    ess: Floats
    """The effective number of draws of each standardised strength."""
    variability_rhat: Floats
    variability_ess: Floats
    divergences: int
    """The number of divergent transitions; with more than a few, the posterior may be truncated."""
    chains: int

    @property
    def strengths(self) -> Floats:
        """The posterior mean of each strength."""
        return np.asarray(self.draws.mean(axis=0))

    @property
    def covariance(self) -> Floats:
        """The covariance of the draws of the strengths."""
        return np.atleast_2d(np.cov(self.draws, rowvar=False))

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """The limits of the central interval of each strength's draws."""
        lower, upper = np.quantile(self.draws, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return lower, upper

    def ordered(self, order: Ints) -> Posterior:
        """The same posterior with the items in another order."""
        return replace(self, draws=self.draws[:, order], rhat=self.rhat[order], ess=self.ess[order])

    def probabilities(self, difference: Floats) -> Floats:
        """The probabilities of left, no difference and right for differences of strengths, over the posterior."""
        sample = self.populations[:: max(1, len(self.populations) // AVERAGED)]
        return np.asarray(np.mean([population_probabilities(population, difference) for population in sample], axis=0))

    @property
    def trusted(self) -> bool:
        """Whether the chains agree, the effective sample sizes suffice, and there are hardly any divergences."""
        rhat = max(self.rhat.max(), self.variability_rhat.max())
        ess = min(self.ess.min(), self.variability_ess.min())
        return bool(rhat < 1.05 and ess >= 50 * self.chains and self.divergences <= 0.01 * len(self.draws))


def draw_posterior(
    pairs: Pairs,
    participant: Ints,
    shared_criterion: bool = False,
    seed: int = 1,
    chains: int = CHAINS,
    warmup: int | None = None,
    draws: int = DRAWS,
) -> Posterior:
    """The posterior of the model that `fit_thurstone` fits; ImportError if NumPyro is not installed."""
    # Chains run in parallel only if JAX is configured for several devices before it starts.
    os.environ.setdefault("XLA_FLAGS", f"--xla_force_host_platform_device_count={min(chains, os.cpu_count() or 1)}")
    import jax
    from numpyro.infer import MCMC, NUTS

    jax.config.update("jax_enable_x64", True)
    from karat.models.choices.posterior_density import Density

    person = np.asarray(participant, dtype=np.int64)
    density = Density(pairs, person, fit_thurstone(pairs, person, shared_criterion))
    start = {name: jax.numpy.broadcast_to(value, (chains, *value.shape)) for name, value in density.start().items()}
    acceptance = ACCEPTED_SHARED if density.shared else ACCEPTED_OWN
    default_warmup = WARMUP_SHARED if density.shared else WARMUP_OWN
    kernel = NUTS(potential_fn=density.energy, target_accept_prob=acceptance, max_tree_depth=DEPTH)
    method = "parallel" if jax.local_device_count() >= chains > 1 else "sequential"
    sampler = MCMC(
        kernel,
        num_warmup=default_warmup if warmup is None else warmup,
        num_samples=draws,
        num_chains=chains,
        chain_method=method,
        progress_bar=False,
    )
    # With a single chain, the initial values have no axis of chains.
    initial = start if chains > 1 else {name: value[0] for name, value in start.items()}
    sampler.run(jax.random.PRNGKey(seed), init_params=initial, extra_fields=("diverging",))
    samples = sampler.get_samples(group_by_chain=True)
    recorded = {name: np.asarray(value) for name, value in jax.vmap(jax.vmap(density.recorded))(samples).items()}
    return _posterior(recorded, int(np.asarray(sampler.get_extra_fields()["diverging"]).sum()), density.shared)


def _posterior(recorded: dict[str, Any], divergences: int, shared: bool) -> Posterior:
    from numpyro.diagnostics import effective_sample_size, split_gelman_rubin

    strengths, sigma = recorded["strengths"], np.exp(recorded["u"])
    scale = strengths.std(axis=-1, ddof=1, keepdims=True)
    criterion = np.exp(recorded["mu"][..., None] if shared else recorded["v"])
    shape, mu = np.exp(recorded["log_shape"]).ravel(), recorded["mu"].ravel()
    omega = [None] * len(mu) if shared else np.exp(recorded["log_omega"]).ravel().tolist()
    populations = tuple(
        Population(float(k), float(m), spread) for k, m, spread in zip(shape, mu, omega, strict=True)
    )  # fmt: skip
    draws, variability, criteria = (values.reshape(-1, values.shape[-1]) for values in (strengths, sigma, criterion))
    return Posterior(
        draws, variability, criteria, populations,
        split_gelman_rubin(strengths / scale), effective_sample_size(strengths / scale),
        split_gelman_rubin(sigma / scale), effective_sample_size(sigma / scale), divergences, len(strengths),
    )  # fmt: skip
