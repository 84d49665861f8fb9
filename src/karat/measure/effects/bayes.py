"""Planned comparisons by Bayesian mixed models: posteriors instead of tests, with the extra `bayes`.

The model is that of `contrasts`, with all random effects of the design: it has priors instead of a simplification
(`karat.models.glrm.bayes` describes the model and the priors). A comparison is a weighted sum of the means of cells, as
in `planned`, computed in each draw: on the scale of the link, and on the scale of the answers (a difference of shares,
or of mean ratings) for a typical participant and item, whose random effects are zero. Besides its mean and interval,
there are

    positive    the posterior probability that it is above zero
    rope        the share of the posterior within the region of practical equivalence, from -bound to bound: the bound
                of equivalence in the study file, by default a tenth of the standard deviation of the latent residual
                (Kruschke 2018), 0.18 logits, or of measured answers
    bf01        the Bayes factor for no difference against the model with its prior (Savage and Dickey)

The posterior predictive check compares the answers with replicated answers from the model: the share of each answer,
and the spread of the means of participants and items.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from karat.judgments import Judgments
from karat.measure.effects.data import ModelInput, model_input, with_levels
from karat.measure.effects.interactions import LATENT, factor_terms
from karat.measure.effects.planned import unplannable
from karat.measure.result import MeasureError, MeasureResult, PlotColumns, check_level, interval, schema_of, sentences
from karat.messages import Message, message_of, with_code
from karat.models.glrm.bayes import (
    CHAINS,
    DRAWS,
    ENOUGH,
    RHAT,
    WARMUP,
    MixedPosterior,
    Priors,
    diagnose,
    sample_posterior,
    savage_dickey,
)
from karat.models.glrm.families import Link
from karat.models.glrm.formulas.frame import FactorVariable
from karat.models.glrm.formulas.marginal import cell_grid
from karat.models.glrm.formulas.model import Laid, lay_out
from karat.types import Floats

if TYPE_CHECKING:
    from karat.study.settings import ContrastSettings

SMALL = 0.1
"""The default bound of practical equivalence, in standard deviations."""
REPLICATES = 200
SCHEMA = schema_of(
    "contrast:s first:s second:s estimate sd lower upper response response_lower response_upper positive bound rope "
    "bf01 bf01_error rhat ess"
)


@dataclass(frozen=True)
class BayesContrasts(MeasureResult):
    """The posteriors of comparisons, with checks of the sampling and of the model."""

    frame: pl.DataFrame
    """contrast, first, second, estimate (posterior mean of the first minus the second), sd, lower, upper, response with
    its interval (on the scale of the answers; not for measured ones), positive, bound, rope, bf01 with its relative
    Monte-Carlo error, rhat, ess."""
    parameters: pl.DataFrame
    """kind, parameter, estimate, sd, lower, upper, rhat, ess_bulk, ess_tail."""
    predictive: pl.DataFrame
    """statistic, observed, expected (mean of replicated answers), lower, upper, p (the share of replications at least
    as large)."""
    formula: str
    unit: Message
    posterior: MixedPosterior | None = field(default=None, repr=False)
    points: ClassVar = PlotColumns(("contrast",))
    files: ClassVar = {"bayes": "frame", "bayes-parameters": "parameters", "bayes-check": "predictive"}
    figure_file: ClassVar = "bayes"
    numbers: ClassVar = ("formula", "unit", "converged")
    warning_codes: ClassVar = ("bayes.not_converged", "bayes.misfit")

    @property
    def converged(self) -> bool:
        """Whether the chains agree, the effective number of draws suffices and no draw diverged."""
        return not with_code(self.notes, "bayes.not_converged")

    @property
    def summary(self) -> tuple[Message, ...]:
        """Each comparison, and the unit."""
        lines = [message for row in self.frame.to_dicts() for message in _row_sentences(row)]
        answers = self.settings.get("answers")
        unit = Message("bayes.units", {"unit": self.unit, "answers": answers}) if answers else None
        return *lines, unit or Message("planned.unit", {"unit": self.unit})


def _row_sentences(row: dict[str, Any]) -> tuple[Message, ...]:
    values = {key: row[key] for key in ("first", "second", "estimate", "response")}
    values |= {"name": row["contrast"], "interval": interval(row["lower"], row["upper"])}
    values |= {"answers": interval(row["response_lower"], row["response_upper"])}
    shares = {"name": row["contrast"], **{key: row[key] for key in ("positive", "rope", "bound")}}
    null = row["bf01"] >= 1
    factor = {"name": row["contrast"], "factor": row["bf01"] if null else 1 / max(row["bf01"], 1e-300)}
    if factor["factor"] > 1000:
        factor["factor"] = 1000.0
        odds = Message("bayes.much_null", factor) if null else Message("bayes.much_alternative", factor)
    else:
        odds = Message("bayes.null", factor) if null else Message("bayes.alternative", factor)
    return Message("bayes.difference", values), Message("bayes.posterior", shares), odds


def bayes_contrasts(
    judgments: Judgments,
    formula: str | None = None,
    plan: Sequence[ContrastSettings] = (),
    *,
    conditions: Sequence[str] | None = None,
    question: str | None = None,
    functions: Sequence[str] = ("test",),
    link: Link = "logit",
    priors: Priors | None = None,
    unequal: Sequence[str] = (),
    level: float = 0.95,
    levels: Mapping[str, Sequence[str]] | None = None,
    seed: int = 1,
    chains: int = CHAINS,
    warmup: int = WARMUP,
    draws: int = DRAWS,
) -> BayesContrasts:
    """Posteriors of planned comparisons; without a plan, of all pairs of levels and of interactions of two levels each.

    This needs the extra `bayes` and takes minutes, compared with a second for `contrasts`. The example has far too few
    draws, so the result has not converged.

    Parameters
    ----------
    plan
        The comparisons, as a study file plans them.
    link
        The link of yes-no answers and ratings: "logit" or "probit".
    priors
        The priors, a `karat.models.glrm.bayes.Priors`.
    unequal
        Terms of the formula by which the spread of ratings or measured answers may differ.
    levels
        The order of the levels of conditions.
    chains
        The number of chains.
    warmup
        The number of draws per chain that are discarded first.
    draws
        The number of draws per chain.

    >>> import pytest
    >>> _ = pytest.importorskip("numpyro", reason="NumPyro is not installed")
    >>> import karat
    >>> formula = "response ~ order + (1 | participant) + (1 | item)"
    >>> posteriors = bayes_contrasts(karat.datasets.load("likert"), formula, warmup=100, draws=50, chains=1)
    >>> posteriors.table().row(0)[:3], posteriors.converged
    (('order', 'OBJ>PP', 'PP>OBJ'), False)
    """
    check_level(level)
    inputs = with_levels(model_input(judgments, formula, conditions, question, functions), levels)
    try:
        laid = lay_out(inputs.formula, inputs.data, inputs.family, "difference", inputs.levels)
        if len(np.unique(laid.response)) < 2:
            raise ValueError(Message("models.same_answers"))
        posterior = sample_posterior(
            laid, inputs.family, link, priors, unequal=unequal, seed=seed, chains=chains, warmup=warmup, draws=draws
        )
    except ImportError:
        raise MeasureError(Message("bayes.not_installed", {"command": "pip install 'karat[bayes]'"})) from None
    except ValueError as error:
        raise MeasureError(message_of(error)) from error
    rows, notes = [], []
    for contrast in plan or _all_comparisons(laid):
        row = _comparison(contrast, posterior, level)
        if isinstance(row, Message):
            notes.append(Message("planned.failed", {"name": contrast.name, "reason": row}))
        else:
            rows.append(row)
    if not rows:
        raise MeasureError(sentences(notes) if notes else Message("contrasts.no_factors"))
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    predictive = _predictive(posterior, level, seed)
    rough = frame.filter(pl.col("bf01_error").is_null())["contrast"].to_list()
    rough_factor = [Message("bayes.rough_factor", {"names": rough})] if rough else []
    notes += [*_convergence(posterior, frame), *rough_factor, *_misfit(predictive), *inputs.notes]
    settings = {
        "conditions": list(inputs.conditions), "question": inputs.question, "functions": list(functions),
        "level": level, "family": inputs.family, "link": link, "priors": vars(posterior.priors),
        "prior_unit": posterior.unit, "unequal": list(unequal), "seed": seed, "chains": chains, "warmup": warmup,
        "draws": draws, "answers": _answer_unit(posterior),
    }  # fmt: skip
    return BayesContrasts(
        frame, _parameters(posterior, level), predictive, str(laid.formula), _unit(inputs, link), settings=settings,
        notes=tuple(notes), posterior=posterior,
    )  # fmt: skip


def _unit(inputs: ModelInput, link: Link) -> Message:
    is_probit = inputs.family != "gaussian" and link == "probit"
    return Message("unit.latent_deviations") if is_probit else inputs.unit


def _answer_unit(posterior: MixedPosterior) -> Message | None:
    answers = posterior.laid.answers
    if posterior.family == "gaussian":
        return None
    if posterior.family == "binary":
        return Message("unit.shares", {"answer": answers[1]})
    return Message("unit.points", {"low": answers[0], "high": answers[-1]})


def _all_comparisons(laid: Laid) -> list[ContrastSettings]:
    """Every pair of levels of each factor, and every interaction of factors with two levels each."""
    from karat.study.settings import ContrastSettings

    comparisons = []
    for label, names in factor_terms(laid).items():
        columns = {name: laid.frame.raw[name] for name in names}
        levels = {name: list(column.levels) for name, column in columns.items() if isinstance(column, FactorVariable)}
        if len(names) == 1:
            pairs = list(combinations(levels[names[0]], 2))
            comparisons += [
                ContrastSettings(
                    name=label if len(pairs) == 1 else f"{label} ({first}, {second})", factor=names[0],
                    levels=[first, second],
                )
                for first, second in pairs
            ]  # fmt: skip
        elif all(len(pair) == 2 for pair in levels.values()):
            comparisons.append(ContrastSettings(name=label, factors=levels))
    return comparisons


def _comparison(contrast: ContrastSettings, posterior: MixedPosterior, level: float) -> tuple[Any, ...] | Message:
    """The posterior of one comparison, or the reason why there is none."""
    reason = unplannable(contrast, posterior.laid)
    if reason is not None:
        return reason
    grid = cell_grid(posterior.laid, *contrast.names)
    first, second = (", ".join((side, *contrast.within.values())) for side in contrast.sides)
    known = dict(zip(grid.cells, grid.estimable.tolist(), strict=True))
    if not all(known.get(cell, False) for cell in contrast.cells):
        return Message("planned.no_answers", {"first": first, "second": second})
    weights = np.array([contrast.cells.get(cell, 0.0) for cell in grid.cells]) @ grid.weights
    row = weights @ grid.rows
    draws = posterior.linear(row)
    measured = posterior.family == "gaussian"
    answers = [None, None, None] if measured else _mean_and_ends(posterior.expected(grid.rows) @ weights, level)
    latent = posterior.unit if measured else LATENT if posterior.link == "logit" else 1.0
    bound = SMALL * latent if contrast.equivalence is None else contrast.equivalence
    factor = savage_dickey(draws, posterior.prior_deviation(row))
    diagnostics = diagnose(draws[..., None])
    estimate, lower, upper = _mean_and_ends(draws, level)
    return (
        contrast.name, first, second, estimate, float(draws.std(ddof=1)), lower, upper, *answers,
        float((draws > 0).mean()), bound, float((np.abs(draws) < bound).mean()), factor.null,
        factor.error if factor.sure else None, float(diagnostics.rhat[0]),
        float(min(diagnostics.bulk[0], diagnostics.tail[0])),
    )  # fmt: skip


def _mean_and_ends(draws: Floats, level: float) -> list[Any]:
    """The mean and the ends of the interval."""
    return [float(draws.mean()), *map(float, np.quantile(draws, [(1 - level) / 2, (1 + level) / 2]))]


def _parameters(posterior: MixedPosterior, level: float) -> pl.DataFrame:
    rows = []
    for place, ((kind, name), draws) in enumerate(posterior.parameters.items()):
        mean, lower, upper = _mean_and_ends(draws, level)
        diagnostics = (float(values[place]) for values in posterior.diagnostics)
        rows.append((kind, name, mean, float(draws.std(ddof=1)), lower, upper, *diagnostics))
    numbers = ("estimate", "sd", "lower", "upper", "rhat", "ess_bulk", "ess_tail")
    schema: dict[str, Any] = {"kind": pl.String, "parameter": pl.String, **dict.fromkeys(numbers, pl.Float64)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _convergence(posterior: MixedPosterior, frame: pl.DataFrame) -> list[Message]:
    """Notes on the draws, and on chains that have not converged."""
    diagnostics = posterior.diagnostics
    rhat = np.append(diagnostics.rhat, frame["rhat"])
    ess = np.concatenate([diagnostics.bulk, diagnostics.tail, frame["ess"]])
    values = {
        "draws": posterior.draws, "chains": posterior.chains, "rhat": float(rhat.max()), "ess": int(ess.min()),
        "divergences": posterior.divergences,
    }  # fmt: skip
    notes = [Message("bayes.draws", values)]
    if posterior.trusted and rhat.max() < RHAT and ess.min() >= ENOUGH:
        return notes
    return [*notes, Message("bayes.not_converged", {"rhat": RHAT, "ess": ENOUGH})]


def _predictive(posterior: MixedPosterior, level: float, seed: int) -> pl.DataFrame:
    """Statistics of the answers, beside those of replicated answers from the model."""
    names, observed = _statistics(posterior, posterior.laid.response[None].astype(np.float64))
    _, replicated = _statistics(posterior, posterior.replicated(REPLICATES, seed))
    lower, upper = np.quantile(replicated, [(1 - level) / 2, (1 + level) / 2], axis=0)
    columns = {
        "statistic": names, "observed": observed[0], "expected": replicated.mean(axis=0), "lower": lower,
        "upper": upper, "p": (replicated >= observed).mean(axis=0),
    }  # fmt: skip
    return pl.DataFrame(columns, schema_overrides={"statistic": pl.String})


def _statistics(posterior: MixedPosterior, answers: Floats) -> tuple[list[str], Floats]:
    """The names of the statistics, and their values with one row per set of answers."""
    labels = posterior.laid.answers
    if posterior.family == "gaussian":
        statistics = {
            "mean": answers.mean(axis=1), "standard deviation": answers.std(axis=1), "smallest": answers.min(axis=1),
            "largest": answers.max(axis=1),
        }  # fmt: skip
    else:
        categories = range(1, 2) if posterior.family == "binary" else range(len(labels))
        statistics = {f"share of {labels[k]}": (answers == k).mean(axis=1) for k in categories}
    for term in {term.group: term for term in posterior.laid.terms}.values():
        count = np.maximum(np.bincount(term.codes, minlength=len(term.levels)), 1)
        means = np.stack([np.bincount(term.codes, values, len(term.levels)) / count for values in answers])
        statistics[f"standard deviation of the means of {term.group}"] = means.std(axis=1)
    return list(statistics), np.stack(list(statistics.values()), axis=1)


def _misfit(predictive: pl.DataFrame) -> list[Message]:
    """A note on the statistics that the model does not reproduce, or that it reproduces all."""
    off = predictive.filter((pl.col("observed") < pl.col("lower")) | (pl.col("observed") > pl.col("upper")))
    values = {"n": off.height, "statistics": predictive.height, "names": off["statistic"].to_list()}
    return [Message("bayes.misfit", values) if off.height else Message("bayes.fits", values)]
