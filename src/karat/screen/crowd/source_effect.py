"""The effect of source or expertise on accuracy, with a stated adjustment set and participant-clustered errors.

Recruitment source and expertise are properties of the participant, so the answers of one participant are not
independent evidence about them. The outcome (by default, whether an answer is right) is regressed on the source and the
adjustment set by least squares (a linear probability model) or by logistic regression, and the errors are clustered by
participant. With X_g, e_g the rows and residuals of participant g and M = (X'X)^-1,

    V = M [sum over g of X_g' A_g e_g e_g' A_g X_g] M,    A_g = I (CR1, times G/(G-1) (n-1)/(n-k)),
                                                           A_g = (I - X_g M X_g')^(-1/2) (CR2; Bell and McCaffrey 2002)

CR2 is unbiased if answers are in fact independent, and its t has Satterthwaite's degrees of freedom (Pustejovsky
and Tipton 2018). Logistic regression takes rows divided by, and residuals over, the root of the working weights. Its
effect is reported as an average marginal effect: the mean over all answers of the predicted probability, had they come
from one source and from the reference, with its error by the delta method.

Appendix E of Ba, Mancenido, Chiou and Pan adjusts for time on task. Time is a mediator: the source affects how long
people take, and that affects their accuracy. Adjusting for it removes a part of the effect of interest and can add
bias, because what makes people slow also makes them careful. Time in the adjustment set is therefore refused unless
`effect="direct"` asks for the direct effect. The authors also choose between two models by the smaller p, and treat
answers of one participant as independent. But p is evidence that an effect is not zero, no measure of fit; the two
models are about different effects, and more answers make either p smaller.

A difference is an effect only if the adjustment set contains everything that affects both source and outcome, and
nothing that lies between them. If two properties always occur together, such as expertise and place in those data,
their effects cannot be separated, and karat says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from scipy.special import expit, stdtr, stdtrit

from karat.judgments import Judgments
from karat.judgments.columns import unknown_name
from karat.jupyter import Result
from karat.messages import Message, check_number, check_word
from karat.screen.crowd.gold import Doubtful, columns_of
from karat.screen.evidence import ScreenError
from karat.types import Floats, Ints

TIMES = ("rt", "time", "working_time", "started", "finished")
"""Columns about time, a mediator between source and accuracy."""
TOLERANCE, STEPS = 1e-10, 50
CERTAIN = 15.0
"""Log-odds beyond this tend to infinity."""


@dataclass(frozen=True)
class SourceEffect(Result):
    """The difference that each source makes to the outcome, compared with a reference."""

    between: ClassVar[str] = "\n  "
    effects: pl.DataFrame
    """source, reference, estimate, se, df, lower, upper, p."""
    groups: pl.DataFrame
    """source, participants, answers, mean: the outcome without adjustment."""
    source: str
    outcome: str
    adjust: tuple[str, ...]
    model: str
    errors: str
    notes: tuple[Message, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def summary(self) -> tuple[Message, ...]:
        """The comparison, and one message per effect."""
        about = {"source": self.source, "outcome": self.outcome, "adjust": list(self.adjust)}
        first = Message("source_effect.adjusted" if self.adjust else "source_effect.not_adjusted", about)
        return (first, *(Message("source_effect.effect", row) for row in self.effects.iter_rows(named=True)))


def source_effect(
    judgments: Judgments,
    source: str = "source",
    outcome: str = "correct",
    adjust: Sequence[str] = (),
    model: Literal["linear", "logistic"] = "linear",
    effect: Literal["total", "direct"] = "total",
    errors: Literal["CR1", "CR2"] = "CR2",
    reference: str | None = None,
    doubtful: Doubtful = "left out",
    level: float = 0.95,
) -> SourceEffect:
    """The effect of a column of the participants (or of the table) on an outcome, each value against a reference.

    `adjust` is the adjustment set: columns of the table or of the participants; text is taken as categories.
    `correct` is computed from the recorded right answers.

    Parameters
    ----------
    source
        The column whose values are compared.
    outcome
        The column of the outcome; `correct` is computed.
    model
        Least squares, or average marginal effects of a logistic model.
    effect
        The total effect, or the direct one, which does not go through time.
    errors
        The kind of standard errors, clustered by participant.
    reference
        The value that others are compared with; by default the first in alphabetical order.

    >>> import karat
    >>> print(source_effect(karat.datasets.load("crowd"), "behaviour", adjust=["difficulty"], reference="attentive"))
    Effect of behaviour on correct, adjusted for difficulty, errors clustered by participant:
      guesser minus attentive: ...
      one answer minus attentive: ...
      repeated pattern minus attentive: ...
    """
    names = [adjust] if isinstance(adjust, str) else list(adjust)
    _check(source, outcome, names, model, effect, errors, level)
    rows, notes = columns_of(judgments, "source_effect", outcome == "correct", doubtful)
    for name in (source, outcome, *names):
        if name not in rows.columns:
            raise ScreenError(unknown_name("unknown.column", name, [*rows.columns, "correct"]))
    complete = rows.drop_nulls([source, outcome, *names])
    if complete.height < rows.height:
        notes.append(Message("source_effect.left_out", {"answers": rows.height - complete.height}))
    values = _sources(complete, source, reference)
    y, design, columns = _outcome(complete, outcome, model), *_design(complete, source, values, names)
    _check_rank(design, columns, len(values) - 1, source)
    cluster = np.unique(complete["participant"].to_numpy(), return_inverse=True)[1]
    if len(np.unique(cluster)) <= design.shape[1]:
        notes.append(Message("source_effect.few_participants"))
    fitted = _least_squares(design, y) if model == "linear" else _logistic(design, y)
    weighted = Clustered(*fitted.rows(design, y), cluster, errors)
    table = [
        _effect(weighted, fitted, design, number + 1, values, level) for number in range(len(values) - 1)
    ]  # fmt: skip
    groups = complete.group_by(pl.col(source).cast(pl.String).alias("source")).agg(
        pl.col("participant").n_unique().cast(pl.Int64).alias("participants"), pl.len().cast(pl.Int64).alias("answers"),
        pl.col(outcome).cast(pl.Float64).mean().alias("mean"),
    ).sort("source")  # fmt: skip
    notes.append(Message("source_effect.adjustment_set"))
    settings = {"effect": effect, "doubtful": doubtful, "level": level, "reference": values[0]}
    return SourceEffect(
        pl.DataFrame(table), groups, source, outcome, tuple(names), model, errors, tuple(notes), settings
    )


def _check(source: str, outcome: str, adjust: list[str], model: str, effect: str, errors: str, level: float) -> None:
    check_word(ScreenError, "model", model, ("linear", "logistic"))
    check_word(ScreenError, "effect", effect, ("total", "direct"))
    check_word(ScreenError, "errors", errors, ("CR1", "CR2"))
    check_number(ScreenError, "level", level, above=0, below=1)
    if source in adjust or outcome in adjust or source == outcome:
        raise ScreenError(Message("source_effect.same_column"))
    between = [name for name in adjust if name in TIMES]
    if between and effect == "total":
        values = {"column": between[0], "source": source, "outcome": outcome}
        raise ScreenError(Message("source_effect.mediator", values))


def _sources(rows: pl.DataFrame, source: str, reference: str | None) -> list[str]:
    """The values of the source, the reference first."""
    values = sorted(rows[source].cast(pl.String).unique().to_list())
    if len(values) < 2:
        raise ScreenError(Message("source_effect.one_value", {"column": source}))
    if reference is not None and reference not in values:
        raise ScreenError(
            Message("source_effect.reference", {"reference": reference, "source": source, "values": values})
        )
    first = reference or values[0]
    return [first, *(value for value in values if value != first)]


def _outcome(rows: pl.DataFrame, outcome: str, model: str) -> Floats:
    try:
        y = rows[outcome].cast(pl.Float64).to_numpy()
    except pl.exceptions.InvalidOperationError as error:
        raise ScreenError(Message("source_effect.not_a_number", {"outcome": outcome})) from error
    if model == "logistic" and not np.isin(y, (0.0, 1.0)).all():
        raise ScreenError(Message("source_effect.not_binary", {"outcome": outcome}))
    if len(np.unique(y)) < 2:
        raise ScreenError(Message("source_effect.one_value", {"column": outcome}))
    return y


def _design(rows: pl.DataFrame, source: str, values: list[str], adjust: list[str]) -> tuple[Floats, list[str]]:
    """The columns for the intercept, each source but the reference, and the adjustment set; and their names."""
    columns, about = [np.ones(rows.height)], ["(Intercept)"]
    sources = rows[source].cast(pl.String)
    for value in values[1:]:
        columns.append((sources == value).to_numpy().astype(np.float64))
        about.append(source)
    for name in adjust:
        if rows[name].dtype.is_numeric():
            number = rows[name].cast(pl.Float64).to_numpy()
            columns.append(number - number.mean())
            about.append(name)
            continue
        text = rows[name].cast(pl.String)
        for value in sorted(text.unique().to_list())[1:]:
            columns.append((text == value).to_numpy().astype(np.float64))
            about.append(name)
    return np.column_stack(columns), about


def _check_rank(design: Floats, about: list[str], sources: int, source: str) -> None:
    """Raise ScreenError if a column follows from earlier ones, because their effects cannot be separated."""
    scaled = design / np.sqrt((design**2).sum(axis=0))
    diagonal = np.abs(np.diag(np.linalg.qr(scaled, mode="r")))
    lost = np.flatnonzero(diagonal < 1e-9)
    if not len(lost):
        return
    name = about[int(lost[0])]
    rest = np.delete(scaled, range(1, sources + 1), axis=1)
    effects = scaled[:, 1 : sources + 1]
    residual = effects - rest @ np.linalg.lstsq(rest, effects, rcond=None)[0]
    if (np.sqrt((residual**2).sum(axis=0)) < 1e-9).any():
        raise ScreenError(Message("source_effect.confounded", {"column": name, "source": source}))
    raise ScreenError(Message("source_effect.redundant", {"column": name}))


@dataclass(frozen=True)
class _Fitted:
    coefficients: Floats
    weights: Floats
    logistic: bool

    def rows(self, design: Floats, y: Floats) -> tuple[Floats, Floats]:
        """The design and residuals on the scale on which answers have one variance."""
        root = np.sqrt(self.weights)
        eta = design @ self.coefficients
        residual = y - (expit(eta) if self.logistic else eta)
        return design * root[:, None], residual / root

    def slope(self, design: Floats, number: int, sources: int) -> tuple[float, Floats]:
        """The effect of a source (its column's number), and its derivative by the coefficients."""
        if not self.logistic:
            return float(self.coefficients[number]), np.eye(len(self.coefficients))[number]
        treated, without = design.copy(), design.copy()
        treated[:, 1 : sources + 1] = without[:, 1 : sources + 1] = 0.0
        treated[:, number] = 1.0
        p, p_reference = expit(treated @ self.coefficients), expit(without @ self.coefficients)
        change = (p * (1 - p)) @ treated - (p_reference * (1 - p_reference)) @ without
        return float((p - p_reference).mean()), change / len(design)


def _least_squares(design: Floats, y: Floats) -> _Fitted:
    coefficients: Floats = np.linalg.lstsq(design, y, rcond=None)[0].astype(np.float64)
    return _Fitted(coefficients, np.ones(len(y)), False)


def _logistic(design: Floats, y: Floats) -> _Fitted:
    """Maximum likelihood by Newton's method."""
    beta = np.zeros(design.shape[1])
    for _ in range(STEPS):
        p = expit(design @ beta)
        weights = p * (1 - p)
        gradient = design.T @ (y - p)
        try:
            step = np.linalg.solve(design.T @ (design * weights[:, None]), gradient)
        except np.linalg.LinAlgError:
            break
        beta = beta + step
        eta = design @ beta
        if np.abs(eta).max() > CERTAIN:
            break
        if gradient @ step < TOLERANCE:
            p = expit(eta)
            return _Fitted(beta, p * (1 - p), True)
    raise ScreenError(Message("source_effect.no_maximum"))


class Clustered:
    """The cluster-robust covariance, and the degrees of freedom of a linear function of the coefficients."""

    def __init__(self, design: Floats, residual: Floats, cluster: Ints, errors: str) -> None:
        n, k = design.shape
        order = np.argsort(cluster, kind="stable")
        ends = np.cumsum(np.bincount(cluster))[:-1]
        self.errors = errors
        self.parts = [design[members] for members in np.split(order, ends)]
        self.inverse = np.linalg.inv(design.T @ design)
        self.adjusted = [self._adjust(part) for part in self.parts]
        residuals = [residual[members] for members in np.split(order, ends)]
        scores = np.array([rows.T @ r for rows, r in zip(self.adjusted, residuals, strict=True)])
        number = len(self.parts)
        scale = number / (number - 1) * (n - 1) / (n - k) if errors == "CR1" else 1.0
        self.covariance = scale * self.inverse @ scores.T @ scores @ self.inverse

    def _adjust(self, part: Floats) -> Floats:
        """A_g X_g, without directions in which the participant alone decides a coefficient, which have no residual."""
        if self.errors == "CR1":
            return part
        # I - X M X' differs from I only within the columns of X = Q R: there it is I - R M R'.
        q, r = np.linalg.qr(part)
        values, vectors = np.linalg.eigh(np.eye(len(r)) - r @ self.inverse @ r.T)
        roots = np.where(values > 1e-10, 1 / np.sqrt(np.maximum(values, 1e-10)), 0.0)
        return np.asarray(q @ ((vectors * roots) @ vectors.T) @ r)

    def error(self, contrast: Floats) -> float:
        return float(np.sqrt(contrast @ self.covariance @ contrast))

    def degrees(self, contrast: Floats) -> float:
        """Satterthwaite's degrees of freedom for CR2; the number of participants minus one for CR1."""
        if self.errors == "CR1":
            return float(len(self.parts) - 1)
        # The variance estimate is a quadratic form in the residuals; with independent errors its matrix has the
        # eigenvalues of diag(a_g'a_g) - B' M B, where a_g = A_g X_g M c and B has the columns X_g' a_g.
        columns = [rows @ (self.inverse @ contrast) for rows in self.adjusted]
        b = np.array([part.T @ column for part, column in zip(self.parts, columns, strict=True)])
        matrix = np.diag([float(column @ column) for column in columns]) - b @ self.inverse @ b.T
        return float(np.trace(matrix) ** 2 / (matrix**2).sum())


def _effect(
    clustered: Clustered, fitted: _Fitted, design: Floats, number: int, values: list[str], level: float
) -> dict[str, Any]:
    estimate, slope = fitted.slope(design, number, len(values) - 1)
    se, df = clustered.error(slope), clustered.degrees(slope)
    half = float(stdtrit(df, (1 + level) / 2)) * se
    p = 2 * float(stdtr(df, -abs(estimate) / se)) if se > 0 else float("nan")
    return {
        "source": values[number], "reference": values[0], "estimate": estimate, "se": se, "df": df,
        "lower": estimate - half, "upper": estimate + half, "p": p,
    }  # fmt: skip
