"""Posteriors of mixed models by NUTS (Hoffman and Gelman 2014), with the extra `bayes` (NumPyro, JAX).

The linear predictor of an answer is eta = x'beta + the sum of z'b over the grouping factors, with b ~ N(0, Sigma) for
each participant or item. The answer follows

    ordered     P(y <= k) = F((c_k - eta) / exp(w'gamma))     F logistic or normal
    yes or no   P(yes) = F(eta)
    measured    y ~ N(eta, (sigma exp(w'gamma))^2)

where gamma, for unequal variances, is included only for terms named in `unequal`. Priors are weakly informative:

    beta        normal(0, 2) in difference coding, which makes it the prior of every difference of two levels and of
                every difference of differences; for a covariate, the prior of one unit of it
    deviations  half Student t with 3 degrees of freedom and scale 2.5, for each random effect
    correlation LKJ(2) for the effects of a term (Lewandowski, Kurowicka and Joe 2009)
    c, intercept Student t with 3 degrees of freedom and scale 2.5, with covariates at their means, as in brms
    gamma       normal(0, 1)

For measured answers the scales are multiplied by the standard deviation of the answers, the prior of the intercept is
centred at their mean, and sigma has the prior of deviations. b is sampled as the Cholesky factor of Sigma times
standard normal variables, which keeps NUTS out of funnels. Chains start at random points. R-hat and effective sample
sizes are computed from ranks (Vehtari et al. 2021). If there are divergences, the sampler is run once more with smaller
steps.

A Bayes factor is the ratio of posterior to prior density at zero (Savage and Dickey; Wagenmakers et al. 2010). The
posterior density is estimated by a kernel over the draws, or by a normal distribution if few draws lie beyond zero.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from karat.models.glrm.families import FamilyName, Link, inverse_link
from karat.models.glrm.formulas.model import Laid
from karat.models.glrm.mixed.terms import INTERCEPT
from karat.types import Floats, Ints

CHAINS, WARMUP, DRAWS = 4, 1000, 1000
TARGET, CAREFUL_TARGET = 0.9, 0.99
"""The target acceptance rate, and that of a second run after divergences."""
RHAT, ENOUGH = 1.01, 400
"""The largest R-hat and smallest effective sample size of a reliable posterior (Vehtari et al. 2021)."""
BATCHES = 20
BEYOND = 40
"""With fewer draws on either side of zero, only the order of magnitude of a Bayes factor is known."""


@dataclass(frozen=True)
class Priors:
    """The scales of the priors described in the module's docstring."""

    coefficient: float = 2.0
    threshold: float = 2.5
    deviation: float = 2.5
    correlation: float = 2.0
    spread: float = 1.0

    def __post_init__(self) -> None:
        """Raise ValueError if a scale is not positive."""
        for name, value in vars(self).items():
            if not value > 0:
                raise ValueError(f"The prior of {name} needs a positive number, not {value:g}.")


class Diagnostics(NamedTuple):
    """Convergence diagnostics, per quantity."""

    rhat: Floats
    bulk: Floats
    """The effective sample size for the centre of the distribution."""
    tail: Floats
    """The effective sample size for the ends of 90 % intervals."""


@dataclass(frozen=True)
class MixedPosterior:
    """Draws of a mixed model; arrays are chains x draws x quantities."""

    laid: Laid
    family: FamilyName
    link: Link
    priors: Priors
    unit: float
    """The factor of the scales of the priors: 1, or the standard deviation of measured answers."""
    coefficients: Floats
    """A column for each column of the design, including the intercept."""
    thresholds: Floats
    deviations: tuple[Floats, ...]
    """For each random term, chains x draws x effects."""
    correlations: tuple[Floats | None, ...]
    """For each random term, chains x draws x effects x effects."""
    effects: tuple[Floats, ...]
    """For each random term, chains x draws x levels x effects."""
    residual: Floats
    spread: Floats
    """gamma, for the columns `spread_columns` of the design."""
    spread_columns: tuple[int, ...]
    divergences: int
    steps: float
    """The mean number of steps of the sampler per draw."""

    @property
    def chains(self) -> int:
        """The number of chains."""
        return len(self.coefficients)

    @property
    def draws(self) -> int:
        """The number of draws of all chains."""
        return int(np.prod(self.coefficients.shape[:2]))

    @cached_property
    def parameters(self) -> dict[tuple[str, str], Floats]:
        """The draws (chains x draws) of each parameter, by kind and name."""
        draws = {("coefficient", name): self.coefficients[..., k] for k, name in enumerate(self.laid.design.names)}
        thresholds = zip(self.laid.answers, self.laid.answers[1:], strict=False)
        if self.family == "ordinal":
            draws |= {
                ("threshold", f"{low}|{high}"): self.thresholds[..., k] for k, (low, high) in enumerate(thresholds)
            }
        for term, deviations, matrix in zip(self.laid.terms, self.deviations, self.correlations, strict=True):
            draws |= {("deviation", f"{term.group}: {name}"): deviations[..., k] for k, name in enumerate(term.names)}
            if matrix is not None:
                draws |= {
                    ("correlation", f"{term.group}: {term.names[i]}, {term.names[j]}"): matrix[..., i, j]
                    for j in range(len(term.names))
                    for i in range(j)
                }
        if self.family == "gaussian":
            draws["residual", "residual"] = self.residual
        names = [self.laid.design.names[column] for column in self.spread_columns]
        return draws | {("spread", name): self.spread[..., k] for k, name in enumerate(names)}

    @cached_property
    def diagnostics(self) -> Diagnostics:
        """The diagnostics of all parameters."""
        return diagnose(np.stack(list(self.parameters.values()), axis=-1))

    @property
    def trusted(self) -> bool:
        """Whether chains agree, there are enough draws and no divergences."""
        diagnostics = self.diagnostics
        fewest = min(diagnostics.bulk.min(), diagnostics.tail.min())
        return bool(diagnostics.rhat.max() < RHAT and fewest >= ENOUGH and self.divergences == 0)

    @property
    def scores(self) -> Floats:
        """The score of each ordered answer: its value if all answers are numbers, otherwise its position from 1."""
        try:
            return np.array([float(answer) for answer in self.laid.answers])
        except ValueError:
            return np.arange(1.0, 1 + len(self.laid.answers))

    def linear(self, row: Floats) -> Floats:
        """Draws (chains x draws) of a weighted sum of the coefficients."""
        return np.asarray(self.coefficients @ row)

    def expected(self, rows: Floats) -> Floats:
        """Draws of the expected answer (probability of yes, mean rating, mean) for rows of the design.

        Random effects are zero, as for a typical participant and item.
        """
        eta = self.coefficients @ rows.T
        if self.family == "gaussian":
            return eta
        if self.family == "binary":
            return inverse_link(self.link, eta)
        spread = np.exp(self.spread @ rows[:, list(self.spread_columns)].T)
        return self._shares(eta, spread) @ self.scores

    def _shares(self, eta: Floats, spread: Floats) -> Floats:
        """The probability of each ordered answer, on the last axis."""
        below = inverse_link(self.link, (self.thresholds[..., None, :] - eta[..., None]) / spread[..., None])
        return np.diff(below, prepend=0.0, append=1.0)

    def prior_deviation(self, row: Floats) -> float:
        """The prior standard deviation of a weighted sum of the coefficients, without the intercept."""
        inner = [name != INTERCEPT for name in self.laid.design.names]
        return self.priors.coefficient * self.unit * float(np.linalg.norm(row[inner]))

    def replicated(self, number: int, seed: int) -> Floats:
        """Answers (category codes, or measured values) simulated for the same participants and items.

        Each row is from one draw of the posterior; the draws are spread over all chains.
        """
        random = np.random.default_rng(seed)
        numbers = np.linspace(0, self.draws - 1, min(number, self.draws)).astype(np.int64)

        def flat(values: Floats) -> Floats:
            return np.asarray(values.reshape(self.draws, *values.shape[2:])[numbers], dtype=np.float64)

        matrix = self.laid.design.matrix
        eta = flat(self.coefficients) @ matrix.T
        for term, effects in zip(self.laid.terms, self.effects, strict=True):
            eta = eta + np.einsum("nq,snq->sn", term.columns, flat(effects)[:, term.codes])
        spread = np.exp(flat(self.spread) @ matrix[:, list(self.spread_columns)].T)
        if self.family == "gaussian":
            return eta + flat(self.residual)[:, None] * spread * random.standard_normal(eta.shape)
        if self.family == "binary":
            return (random.random(eta.shape) < inverse_link(self.link, eta)).astype(np.float64)
        below = inverse_link(self.link, (flat(self.thresholds)[:, None, :] - eta[..., None]) / spread[..., None])
        return np.asarray((random.random((*eta.shape, 1)) > below).sum(axis=-1), dtype=np.float64)


class BayesFactor(NamedTuple):
    """How much more probable the data are without a difference than with one, and how precise this is."""

    null: float
    error: float
    """The relative Monte-Carlo error."""
    sure: bool
    """Whether enough draws lie on both sides of zero for more than an order of magnitude."""


def savage_dickey(draws: Floats, prior_deviation: float) -> BayesFactor:
    """The Bayes factor for zero, from draws (chains x draws) and the normal prior of the same quantity."""
    flat = draws.ravel()
    low, high = np.quantile(flat, [0.25, 0.75])
    width = 0.9 * min(float(flat.std(ddof=1)), float(high - low) / 1.34) * len(flat) ** -0.2
    kernel = np.exp(-0.5 * (draws / width) ** 2) / (width * np.sqrt(2 * np.pi))
    prior = 1 / (prior_deviation * np.sqrt(2 * np.pi))
    density = float(kernel.mean())
    pieces = [piece.mean() for chain in kernel for piece in np.array_split(chain, max(1, BATCHES // len(kernel)))]
    error = float(np.std(pieces, ddof=1) / np.sqrt(len(pieces)) / density) if density > 0 else float("inf")
    if min(int((flat > 0).sum()), int((flat < 0).sum())) >= BEYOND:
        return BayesFactor(density / prior, error, True)
    # There are too few draws near zero for a kernel: assume a normal posterior.
    mean, deviation = float(flat.mean()), float(flat.std(ddof=1))
    density = float(np.exp(-0.5 * (mean / deviation) ** 2)) / (deviation * np.sqrt(2 * np.pi))
    return BayesFactor(density / prior, error, False)


def diagnose(draws: Floats) -> Diagnostics:
    """R-hat and effective sample sizes of quantities, from chains x draws x quantities."""
    from numpyro.diagnostics import effective_sample_size, split_gelman_rubin

    half = draws.shape[1] // 2
    split = np.concatenate([draws[:, :half], draws[:, half : 2 * half]])
    ranked, folded = _normal_scores(draws), _normal_scores(np.abs(draws - np.median(draws, axis=(0, 1))))
    rhat = np.maximum(split_gelman_rubin(ranked), split_gelman_rubin(folded))
    ends = np.quantile(draws, [0.05, 0.95], axis=(0, 1))
    tail = np.min([effective_sample_size((split <= end).astype(np.float64)) for end in ends], axis=0)
    return Diagnostics(rhat, np.asarray(effective_sample_size(_normal_scores(split))), tail)


def _normal_scores(draws: Floats) -> Floats:
    """Ranks over all chains, as quantiles of the normal distribution."""
    # Imported here because it is slow and only sampling needs it.
    from scipy.stats import rankdata

    flat = draws.reshape(-1, draws.shape[-1])
    ranks = rankdata(flat, axis=0)
    return np.asarray(ndtri((ranks - 0.375) / (len(flat) + 0.25)).reshape(draws.shape))


def sample_posterior(
    laid: Laid,
    family: FamilyName,
    link: Link = "logit",
    priors: Priors | None = None,
    *,
    unequal: Sequence[str] = (),
    seed: int = 1,
    chains: int = CHAINS,
    warmup: int = WARMUP,
    draws: int = DRAWS,
) -> MixedPosterior:
    """Sample the posterior of a model laid out by its formula; raise ImportError if NumPyro is not installed.

    `unequal` names the terms of the formula with which the spread of the answers varies.
    """
    # Chains run in parallel only if JAX has several devices, which must be set before it is imported.
    os.environ.setdefault("XLA_FLAGS", f"--xla_force_host_platform_device_count={chains}")
    import jax
    from numpyro.infer import MCMC, NUTS

    if link == "cloglog":
        raise ValueError("The posterior has the links logit and probit.")
    jax.config.update("jax_enable_x64", True)
    description = _Description(laid, family, link, priors or Priors(), _spread_columns(laid, family, unequal))
    for target in (TARGET, CAREFUL_TARGET):
        sampler = MCMC(
            NUTS(description.model, target_accept_prob=target),
            num_warmup=warmup,
            num_samples=draws,
            num_chains=chains,
            chain_method="parallel" if jax.local_device_count() >= chains > 1 else "sequential",
            progress_bar=False,
        )
        sampler.run(jax.random.PRNGKey(seed), extra_fields=("diverging", "num_steps"))
        extra = {name: np.asarray(values) for name, values in sampler.get_extra_fields().items()}
        if not extra["diverging"].any():
            break
    samples = {name: np.asarray(values) for name, values in sampler.get_samples(group_by_chain=True).items()}
    return description.posterior(samples, int(extra["diverging"].sum()), float(extra["num_steps"].mean()))


def _spread_columns(laid: Laid, family: FamilyName, unequal: Sequence[str]) -> tuple[int, ...]:
    if unequal and family == "binary":
        raise ValueError("Yes-or-no answers have no variance of their own that could be unequal.")
    unknown = [name for name in unequal if name not in laid.design.labels]
    if unknown:
        raise ValueError(f"The formula has no term {unknown[0]}.")
    unequal_terms = {laid.design.labels.index(name) for name in unequal}
    return tuple(k for k, term in enumerate(laid.design.terms.tolist()) if term in unequal_terms)


@dataclass(frozen=True)
class _Description:
    """The model in NumPyro's form."""

    laid: Laid
    family: FamilyName
    link: Link
    priors: Priors
    spread_columns: tuple[int, ...]

    @cached_property
    def unit(self) -> float:
        return float(self.laid.response.std()) or 1.0 if self.family == "gaussian" else 1.0

    @cached_property
    def intercept(self) -> bool:
        return INTERCEPT in self.laid.design.names

    @cached_property
    def centre(self) -> Floats:
        """The means of the columns if an intercept or thresholds can absorb them, otherwise zero."""
        columns = self.laid.design.matrix[:, int(self.intercept) :]
        free = self.intercept or self.family == "ordinal"
        return np.asarray(columns.mean(axis=0)) if free else np.zeros(columns.shape[1])

    def model(self) -> None:
        """The priors and the likelihood."""
        import jax.numpy as jnp
        import numpyro
        from numpyro import distributions as dist

        priors, unit = self.priors, self.unit
        columns = self.laid.design.matrix[:, int(self.intercept) :] - self.centre
        width = columns.shape[1]
        beta = numpyro.sample("beta", dist.Normal(0.0, priors.coefficient * unit).expand([width]).to_event(1))
        eta = jnp.asarray(columns) @ beta
        if self.intercept:
            location = float(self.laid.response.mean()) if self.family == "gaussian" else 0.0
            eta = eta + numpyro.sample("alpha", dist.StudentT(3.0, location, priors.threshold * unit))
        half_t = dist.FoldedDistribution(dist.StudentT(3.0, 0.0, priors.deviation * unit))
        for number, term in enumerate(self.laid.terms):
            size = len(term.names)
            deviation = numpyro.sample(f"deviation{number}", half_t.expand([size]).to_event(1))
            standard = numpyro.sample(f"z{number}", dist.Normal().expand([len(term.levels), size]).to_event(2))
            factor = jnp.diag(deviation)
            if term.covariance == "full" and size > 1:
                correlation = dist.LKJCholesky(size, concentration=priors.correlation)
                factor = deviation[:, None] * numpyro.sample(f"factor{number}", correlation)
            effects = numpyro.deterministic(f"effects{number}", standard @ factor.T)
            eta = eta + jnp.sum(jnp.asarray(term.columns) * _by_row(term.codes, len(term.levels))(effects), axis=1)
        log_spread = jnp.zeros(len(eta))
        if self.spread_columns:
            prior = dist.Normal(0.0, priors.spread).expand([len(self.spread_columns)]).to_event(1)
            log_spread = self.laid.design.matrix[:, list(self.spread_columns)] @ numpyro.sample("gamma", prior)
        self._likelihood(eta, log_spread, half_t)

    def _likelihood(self, eta: Any, log_spread: Any, half_t: Any) -> None:
        import jax
        import jax.numpy as jnp
        import numpyro
        from numpyro import distributions as dist

        from karat.models.choices.posterior_density import log_normal

        cumulative = jax.nn.log_sigmoid if self.link == "logit" else log_normal
        answer = self.laid.response
        if self.family == "gaussian":
            sigma = numpyro.sample("sigma", half_t) * jnp.exp(log_spread)
            numpyro.sample("answers", dist.Normal(eta, sigma), obs=jnp.asarray(answer))
        elif self.family == "binary":
            numpyro.factor("answers", cumulative(eta * (2.0 * answer - 1)).sum())
        else:
            size = len(self.laid.answers) - 1
            ordered = dist.ImproperUniform(dist.constraints.ordered_vector, (), (size,))
            cuts = numpyro.sample("cuts", ordered)
            prior = dist.StudentT(3.0, 0.0, self.priors.threshold)
            numpyro.factor("prior of cuts", prior.log_prob(cuts).sum())
            numpyro.factor("answers", _between(cuts, answer, eta, jnp.exp(-log_spread), cumulative, self.link))

    def posterior(self, samples: dict[str, Floats], divergences: int, steps: float) -> MixedPosterior:
        """The posterior, with draws converted from centred columns to those of the formula."""
        beta = samples["beta"]
        shape = beta.shape[:2]
        shift = beta @ self.centre
        if self.intercept:
            beta = np.concatenate([(samples["alpha"] - shift)[..., None], beta], axis=-1)
        numbers = range(len(self.laid.terms))
        factors = [samples.get(f"factor{number}") for number in numbers]
        correlations = tuple(None if factor is None else factor @ np.swapaxes(factor, -1, -2) for factor in factors)
        return MixedPosterior(
            self.laid, self.family, self.link, self.priors, self.unit, beta,
            samples["cuts"] + shift[..., None] if self.family == "ordinal" else np.empty((*shape, 0)),
            tuple(samples[f"deviation{number}"] for number in numbers), correlations,
            tuple(samples[f"effects{number}"] for number in numbers), samples.get("sigma", np.ones(shape)),
            samples.get("gamma", np.empty((*shape, 0))), self.spread_columns, divergences, steps,
        )  # fmt: skip


def _by_row(codes: Ints, levels: int) -> Any:
    """A function that maps the effects of levels to the rows of the data.

    Its gradient sums over a table of the rows of each level; the gradient of plain indexing is much slower.
    """
    import jax
    import jax.numpy as jnp

    order, count = np.argsort(codes, kind="stable"), np.bincount(codes, minlength=levels)
    rows = np.full((levels, int(count.max())), len(codes))
    rows[np.arange(rows.shape[1]) < count[:, None]] = order

    @jax.custom_vjp  # type: ignore[untyped-decorator]
    def by_row(effects: Any) -> Any:
        return effects[codes]

    def gradient(_: None, slope: Any) -> tuple[Any]:
        padded = jnp.concatenate([slope, jnp.zeros((1, slope.shape[1]), slope.dtype)])
        return (padded[rows].sum(axis=1),)

    by_row.defvjp(lambda effects: (effects[codes], None), gradient)
    return by_row


def _between(cuts: Any, answer: Any, eta: Any, shrink: Any, cumulative: Any, link: Link) -> Any:
    """The sum of log P(y = k), computed in the smaller tail to avoid cancellation."""
    import jax.numpy as jnp

    from karat.models.choices.posterior_density import log_between

    last = len(cuts)
    inside = (answer > 0) & (answer < last)
    # The lowest and the highest answer have one bound; their placeholder for the other is not used.
    unit = np.eye(last)
    upper = (unit[np.minimum(answer, last - 1)] @ cuts - eta) * shrink
    lower = (unit[np.maximum(answer, 1) - 1] @ cuts - eta) * shrink
    above, below = jnp.where(inside, upper, 1.0), jnp.where(inside, lower, 0.0)
    if link == "logit":
        middle = cumulative(above) + cumulative(-below) + jnp.log(-jnp.expm1(below - above))
    else:
        middle = log_between(above, below)
    return jnp.where(inside, middle, jnp.where(answer > 0, cumulative(-lower), cumulative(upper))).sum()
