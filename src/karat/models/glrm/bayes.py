"""Posteriors of mixed models by NUTS (Hoffman and Gelman 2014), with the extra `bayes` (NumPyro, JAX).

The linear predictor of an answer is eta = x'beta + the sum of z'b over the grouping factors, with b ~ N(0, Sigma) for
each participant or item. The answer follows

    ordered     P(y <= k) = F((c_k - eta) / exp(w'gamma))     F logistic or normal
    yes or no   P(yes) = F(eta)
    measured    y ~ N(eta, (sigma exp(w'gamma))^2)

where gamma, the unequal variances, is there only where terms are named for it. Priors are weakly informative:

    beta        normal(0, 2), in difference coding, so that this is the prior of every difference of two levels and of
                every difference of differences; of a covariate, for one unit of it
    deviations  half Student t with 3 degrees of freedom and scale 2.5, for each of the random effects
    correlation LKJ(2) for the effects of a term (Lewandowski, Kurowicka and Joe 2009)
    c, intercept Student t with 3 degrees of freedom and scale 2.5, where covariates are at their means, as in brms
    gamma       normal(0, 1)

For measured answers the scales are multiplied by the standard deviation of the answers, the intercept is about their
mean, and sigma has the prior of deviations. b is sampled as the Cholesky factor of Sigma times standard normal
variables, which keeps NUTS out of funnels. Chains start at random places. R-hat and effective sample sizes are those of
ranks (Vehtari et al. 2021). Draws in which the sampler lost its way (divergences) make it start again with smaller
steps, once.

A Bayes factor is the ratio of posterior to prior density at zero (Savage and Dickey; Wagenmakers et al. 2010), by a
kernel over the draws, or by the normal distribution where hardly any draw lies beyond zero.
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
ACCEPTED, CAREFUL = 0.9, 0.99
"""The wanted share of accepted steps, and that after divergences."""
RHAT, ENOUGH = 1.01, 400
"""Chains agree below this R-hat; this many effective draws are enough (Vehtari et al. 2021)."""
BATCHES = 20
BEYOND = 40
"""With fewer draws on the other side of zero, a Bayes factor is known by its order of magnitude only."""


@dataclass(frozen=True)
class Priors:
    """The scales of the priors; see the module."""

    coefficient: float = 2.0
    threshold: float = 2.5
    deviation: float = 2.5
    correlation: float = 2.0
    spread: float = 1.0

    def __post_init__(self) -> None:
        """All of them are positive."""
        for name, value in vars(self).items():
            if not value > 0:
                raise ValueError(f"The prior of {name} needs a positive number, not {value:g}.")


class Diagnostics(NamedTuple):
    """How far draws of some quantities can be trusted."""

    rhat: Floats
    bulk: Floats
    """The effective number of draws for the centre of the distribution."""
    tail: Floats
    """That for the ends of 90 % intervals."""


@dataclass(frozen=True)
class MixedPosterior:
    """Draws of a mixed model; arrays are chains x draws x quantities."""

    laid: Laid
    family: FamilyName
    link: Link
    priors: Priors
    unit: float
    """What the scales of the priors are multiplied by: 1, or the standard deviation of measured answers."""
    coefficients: Floats
    """Of the columns of the design, the intercept included."""
    thresholds: Floats
    deviations: tuple[Floats, ...]
    """For each random term."""
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
    """Steps of the sampler a draw, on average."""

    @property
    def chains(self) -> int:
        """How many there are."""
        return len(self.coefficients)

    @property
    def draws(self) -> int:
        """Of all chains."""
        return int(np.prod(self.coefficients.shape[:2]))

    @cached_property
    def parameters(self) -> dict[tuple[str, str], Floats]:
        """The draws (chains x draws) of each parameter, by its kind and its name."""
        found = {("coefficient", name): self.coefficients[..., k] for k, name in enumerate(self.laid.design.names)}
        between = zip(self.laid.answers, self.laid.answers[1:], strict=False)
        if self.family == "ordinal":
            found |= {("threshold", f"{low}|{high}"): self.thresholds[..., k] for k, (low, high) in enumerate(between)}
        for term, own, matrix in zip(self.laid.terms, self.deviations, self.correlations, strict=True):
            found |= {("deviation", f"{term.group}: {name}"): own[..., k] for k, name in enumerate(term.names)}
            if matrix is not None:
                found |= {
                    ("correlation", f"{term.group}: {term.names[i]}, {term.names[j]}"): matrix[..., i, j]
                    for j in range(len(term.names))
                    for i in range(j)
                }
        if self.family == "gaussian":
            found["residual", "residual"] = self.residual
        names = [self.laid.design.names[column] for column in self.spread_columns]
        return found | {("spread", name): self.spread[..., k] for k, name in enumerate(names)}

    @cached_property
    def diagnostics(self) -> Diagnostics:
        """Of all parameters."""
        return diagnose(np.stack(list(self.parameters.values()), axis=-1))

    @property
    def trusted(self) -> bool:
        """Whether chains agree, draws are enough and none went astray."""
        own = self.diagnostics
        fewest = min(own.bulk.min(), own.tail.min())
        return bool(own.rhat.max() < RHAT and fewest >= ENOUGH and self.divergences == 0)

    @property
    def scores(self) -> Floats:
        """What each ordered answer counts for: its number where all are numbers, else its place from 1."""
        try:
            return np.array([float(answer) for answer in self.laid.answers])
        except ValueError:
            return np.arange(1.0, 1 + len(self.laid.answers))

    def linear(self, row: Floats) -> Floats:
        """Draws (chains x draws) of a weighted sum of the coefficients."""
        return np.asarray(self.coefficients @ row)

    def expected(self, rows: Floats) -> Floats:
        """Draws of the expected answer (probability of yes, mean rating, mean) for rows of the design.

        Random effects are at zero: it is that of a typical participant and item.
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
        """The standard deviation of the prior of a weighted sum of the coefficients, the intercept not among them."""
        inner = [name != INTERCEPT for name in self.laid.design.names]
        return self.priors.coefficient * self.unit * float(np.linalg.norm(row[inner]))

    def replicated(self, number: int, seed: int) -> Floats:
        """Answers (numbers of categories, or measured) that the model draws anew for the same participants and items.

        Rows are draws of the posterior, spread over all chains.
        """
        random = np.random.default_rng(seed)
        chosen = np.linspace(0, self.draws - 1, min(number, self.draws)).astype(np.int64)

        def flat(values: Floats) -> Floats:
            return np.asarray(values.reshape(self.draws, *values.shape[2:])[chosen], dtype=np.float64)

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
    """How much more probable the data are without a difference than with one, and how sure that number is."""

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
    # Too few draws near zero for a kernel: that of a normal posterior.
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
    # Slow to import, and only who samples needs it.
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
    """The posterior of a model that is laid out by its formula; ImportError where NumPyro is not installed.

    `unequal` names terms of the formula by which the spread of the answers differs.
    """
    # Chains run side by side only if JAX is configured before it starts so that there are several devices.
    os.environ.setdefault("XLA_FLAGS", f"--xla_force_host_platform_device_count={chains}")
    import jax
    from numpyro.infer import MCMC, NUTS

    if link == "cloglog":
        raise ValueError("The posterior has the links logit and probit.")
    jax.config.update("jax_enable_x64", True)
    described = _Description(laid, family, link, priors or Priors(), _spread_columns(laid, family, unequal))
    for accepted in (ACCEPTED, CAREFUL):
        sampler = MCMC(
            NUTS(described.model, target_accept_prob=accepted),
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
    found = {name: np.asarray(values) for name, values in sampler.get_samples(group_by_chain=True).items()}
    return described.posterior(found, int(extra["diverging"].sum()), float(extra["num_steps"].mean()))


def _spread_columns(laid: Laid, family: FamilyName, unequal: Sequence[str]) -> tuple[int, ...]:
    if unequal and family == "binary":
        raise ValueError("Yes-or-no answers have no variance of their own that could be unequal.")
    unknown = [name for name in unequal if name not in laid.design.labels]
    if unknown:
        raise ValueError(f"The formula has no term {unknown[0]}.")
    wanted = {laid.design.labels.index(name) for name in unequal}
    return tuple(k for k, term in enumerate(laid.design.terms.tolist()) if term in wanted)


@dataclass(frozen=True)
class _Description:
    """The model as NumPyro takes it."""

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
        """The means of the columns, where an intercept or thresholds take up what they add."""
        columns = self.laid.design.matrix[:, int(self.intercept) :]
        free = self.intercept or self.family == "ordinal"
        return np.asarray(columns.mean(axis=0)) if free else np.zeros(columns.shape[1])

    def model(self) -> None:
        """Priors and likelihood."""
        import jax.numpy as jnp
        import numpyro
        from numpyro import distributions as dist

        priors, unit = self.priors, self.unit
        columns = self.laid.design.matrix[:, int(self.intercept) :] - self.centre
        wide = columns.shape[1]
        beta = numpyro.sample("beta", dist.Normal(0.0, priors.coefficient * unit).expand([wide]).to_event(1))
        eta = jnp.asarray(columns) @ beta
        if self.intercept:
            about = float(self.laid.response.mean()) if self.family == "gaussian" else 0.0
            eta = eta + numpyro.sample("alpha", dist.StudentT(3.0, about, priors.threshold * unit))
        half_t = dist.FoldedDistribution(dist.StudentT(3.0, 0.0, priors.deviation * unit))
        for number, term in enumerate(self.laid.terms):
            size = len(term.names)
            deviation = numpyro.sample(f"deviation{number}", half_t.expand([size]).to_event(1))
            standard = numpyro.sample(f"z{number}", dist.Normal().expand([len(term.levels), size]).to_event(2))
            factor = jnp.diag(deviation)
            if term.covariance == "full" and size > 1:
                chosen = dist.LKJCholesky(size, concentration=priors.correlation)
                factor = deviation[:, None] * numpyro.sample(f"factor{number}", chosen)
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

    def posterior(self, found: dict[str, Floats], divergences: int, steps: float) -> MixedPosterior:
        """The draws, turned back to what the formula speaks of."""
        beta = found["beta"]
        shape = beta.shape[:2]
        moved = beta @ self.centre
        if self.intercept:
            beta = np.concatenate([(found["alpha"] - moved)[..., None], beta], axis=-1)
        numbers = range(len(self.laid.terms))
        factors = [found.get(f"factor{number}") for number in numbers]
        correlations = tuple(None if one is None else one @ np.swapaxes(one, -1, -2) for one in factors)
        return MixedPosterior(
            self.laid, self.family, self.link, self.priors, self.unit, beta,
            found["cuts"] + moved[..., None] if self.family == "ordinal" else np.empty((*shape, 0)),
            tuple(found[f"deviation{number}"] for number in numbers), correlations,
            tuple(found[f"effects{number}"] for number in numbers), found.get("sigma", np.ones(shape)),
            found.get("gamma", np.empty((*shape, 0))), self.spread_columns, divergences, steps,
        )  # fmt: skip


def _by_row(codes: Ints, levels: int) -> Any:
    """What takes the effects of levels to the rows of the data.

    Its slope is a sum over the rows of each level, which are listed here; that of plain indexing is much slower.
    """
    import jax
    import jax.numpy as jnp

    order, count = np.argsort(codes, kind="stable"), np.bincount(codes, minlength=levels)
    listed = np.full((levels, int(count.max())), len(codes))
    listed[np.arange(listed.shape[1]) < count[:, None]] = order

    @jax.custom_vjp  # type: ignore[untyped-decorator]
    def taken(effects: Any) -> Any:
        return effects[codes]

    def back(_: None, slope: Any) -> tuple[Any]:
        padded = jnp.concatenate([slope, jnp.zeros((1, slope.shape[1]), slope.dtype)])
        return (padded[listed].sum(axis=1),)

    taken.defvjp(lambda effects: (effects[codes], None), back)
    return taken


def _between(cuts: Any, answer: Any, eta: Any, shrink: Any, cumulative: Any, link: Link) -> Any:
    """The sum of log P(y = k), computed on the side of the smaller tail so that nothing is lost."""
    import jax.numpy as jnp

    from karat.models.choices.posterior_density import log_between

    last = len(cuts)
    inner = (answer > 0) & (answer < last)
    # The lowest and the highest answer have one bound; the other is not used there.
    chosen = np.eye(last)
    upper = (chosen[np.minimum(answer, last - 1)] @ cuts - eta) * shrink
    lower = (chosen[np.maximum(answer, 1) - 1] @ cuts - eta) * shrink
    first, other = jnp.where(inner, upper, 1.0), jnp.where(inner, lower, 0.0)
    if link == "logit":
        middle = cumulative(first) + cumulative(-other) + jnp.log(-jnp.expm1(other - first))
    else:
        middle = log_between(first, other)
    return jnp.where(inner, middle, jnp.where(answer > 0, cumulative(-lower), cumulative(upper))).sum()
