"""Effects before and after exclusion: how excluding participants changes the effects of a study.

The same mixed model is fitted to the answers of all participants and to those of the kept ones. The result has, beside
each other, the Type III Wald tests of its terms,

    X^2 = b' V^-1 b   for the coefficients b of a term with covariance V,

and its coefficients (tables 5 and 6 of Ba, Mancenido, Chiou and Pan); `plot` draws the marginal means of two factors
(their figure 9). The formula may name any column of the judgments or of their participants. `correct` is computed from
the recorded right answers if the table has no such column; the key is checked first (`karat.screen.gold`), and items on
which it disagrees with a near-unanimous crowd are left out unless `doubtful="counted"`.

With the paper's treatment coding, the test of a factor that is part of an interaction is of its effect at the first
level of the other. `coding="sum"` tests averages over the other's levels.

A smaller p after exclusion does not show that the exclusion was right, and a larger one does not show that it was
wrong: fewer answers give larger errors, and a rule chosen for its effect on p makes p meaningless. State the rule
before, and compare the change of coefficients with their standard errors.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import polars as pl

from karat.errors import counted
from karat.judgments import Judgments
from karat.judgments.answer_codes import is_ordered, position
from karat.judgments.columns import unknown_name
from karat.jupyter import Result
from karat.messages import Message, message_of
from karat.models import glrm
from karat.models.glrm.formulas.formula import names_in, read_formula
from karat.models.glrm.formulas.frame import FactorVariable
from karat.models.glrm.formulas.model import Model, two_sided
from karat.models.glrm.formulas.syntax import FormulaError
from karat.screen.crowd.gold import Doubtful, columns_of
from karat.screen.evidence import Evidence, ScreenError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Family = Literal["binary", "ordinal", "gaussian"]
Coding = Literal["treatment", "sum"]
INTERCEPT = "(Intercept)"


@dataclass(frozen=True)
class EffectsBeforeAfter(Result):
    """The tests and coefficients of one model, with all participants and without the excluded ones."""

    between: ClassVar[str] = "\n  "
    tests: pl.DataFrame
    """term, df, chisq_before, p_before, chisq_after, p_after; the intercept first."""
    coefficients: pl.DataFrame
    """term, before, se_before, after, se_after, change."""
    before: Model
    after: Model
    excluded: tuple[str, ...]
    notes: tuple[Message, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)

    def means(self, *factors: str) -> pl.DataFrame:
        """The marginal means of factors, before and after, with intervals; probabilities where answers are binary.

        Without names, those of the first two factors that interact, else of the first factor.
        """
        names = factors or plotted_factors(self.before)
        scale: Literal["link", "response"] = "link" if self.before.family == "ordinal" else "response"
        tables = []
        for when, model in (("before", self.before), ("after", self.after)):
            table = glrm.marginal_means(model, *names, scale=scale).table()
            columns = {name: pl.Series(name, table[name].tolist(), pl.String) for name in names}
            numbers = {name: table[name] for name in ("estimate", "se", "lower", "upper")}
            tables.append(pl.DataFrame({**columns, **numbers}).select(pl.lit(when).alias("when"), pl.all()))
        return pl.concat(tables)

    def plot(self, *factors: str, width_cm: float = 16) -> Figure:
        """The marginal means of one or two factors before and after, with their intervals.

        >>> import karat
        >>> crowd = karat.datasets.load("crowd")
        >>> found = karat.screen.effects_before_after(crowd, ["w017"], "correct ~ difficulty + (1 | participant)")
        >>> [axes.get_title(loc="left") for axes in found.plot().axes]
        ['before (120 participants)', 'after (119 participants)']
        """
        from karat.plots.lines import means_plot

        names = factors or plotted_factors(self.before)
        if len(names) > 2:
            raise ScreenError(Message("effects.factors"))
        panels, means = {}, self.means(*names)
        for when, model in (("before", self.before), ("after", self.after)):
            people = model.frame.groups.get(("participant",))
            heading = when + (f" ({counted(len(people.levels), 'participant')})" if people is not None else "")
            panels[heading] = means.filter(pl.col("when") == when)
        label, answers = self.before.formula.response.label, self.before.answers
        unit = {"binary": f"probability of {label} = {answers[-1]}" if answers else label,
                "ordinal": f"{label} (latent scale)", "gaussian": label}[self.before.family]  # fmt: skip
        return means_plot(panels, names[::-1], unit, self._finding(names), width_cm=width_cm)

    def _finding(self, names: tuple[str, ...]) -> str:
        """The tests of the term that is drawn."""
        row = self.tests.filter(pl.col("term").is_in([":".join(names), ":".join(reversed(names))]))
        without = f"without {counted(len(self.excluded), 'participant')}"
        if not row.height or row["chisq_after"][0] is None:
            return f"Means before and {without}"
        df, before, after = row["df"][0], row["chisq_before"][0], row["chisq_after"][0]
        return f"{' by '.join(names)}: χ²({df}) = {before:.1f} with everybody, {after:.1f} {without}"

    @property
    def summary(self) -> tuple[Message, ...]:
        """A message on the comparison, and one per test."""
        first = Message("effects.compared", {"formula": str(self.before.formula), "excluded": len(self.excluded)})
        lacking = self.tests["chisq_after"].is_null()
        tests = (
            Message("effects.not_estimated" if lacks else "effects.test", row)
            for lacks, row in zip(lacking, self.tests.iter_rows(named=True), strict=True)
        )
        return (first, *tests)


def effects_before_after(
    judgments: Judgments,
    excluded: Collection[str] | Evidence,
    formula: str,
    family: Family | None = None,
    coding: Coding = "treatment",
    doubtful: Doubtful = "left out",
    levels: Mapping[str, Sequence[Any]] | None = None,
) -> EffectsBeforeAfter:
    """The effects of a formula with all participants, and without the excluded ones (names, or flagged by evidence).

    `levels` gives the order of the levels of factors.

    Parameters
    ----------
    excluded
        The names of the excluded participants, or evidence that flags them.
    family
        The family of the model; by default that of the answers.
    coding
        The coding of factors.

    >>> import karat
    >>> crowd = karat.datasets.load("crowd")
    >>> odd = crowd.participants.filter(pl.col("behaviour") != "attentive")["participant"].to_list()
    >>> found = effects_before_after(crowd, odd, "correct ~ difficulty + (1 | participant) + (1 | item)")
    >>> found.coefficients["term"].to_list(), len(found.excluded)
    (['(Intercept)', 'difficultyhard'], 12)
    """
    names = _excluded(judgments, excluded)
    try:
        answer = [name.text for name in names_in(read_formula(formula).response.tree)]
        rows, notes = columns_of(judgments, "effects_before_after", "correct" in answer, doubtful)
        rows, kind = _with_family(judgments, rows, answer[0], family)
        models = []
        for part in (rows, rows.filter(~pl.col("participant").is_in(names))):
            data = {name: part[name].to_list() for name in part.columns if not name.startswith("_")}
            models.append(glrm.fit(formula, data, kind, coding, levels=levels))
    except FormulaError as error:
        raise ScreenError(message_of(error)) from error
    before, after = models
    for code, model in (("effects.not_converged_before", before), ("effects.not_converged_after", after)):
        if not model.fit.converged:
            notes.append(Message(code, {"reason": model.fit.convergence.message}))
    if coding == "treatment":
        notes += [note for note in glrm.type_three(before, "chisq").notes if note not in notes]
    settings = {"formula": formula, "family": kind, "coding": coding, "doubtful": doubtful}
    tables = _tests(before, after), _coefficients(before, after)
    return EffectsBeforeAfter(*tables, before, after, tuple(names), (*notes, *before.notes), settings)


def _excluded(judgments: Judgments, excluded: Collection[str] | Evidence) -> list[str]:
    if isinstance(excluded, str):
        raise ScreenError(Message("effects.one_name"))
    names = list(dict.fromkeys(excluded.flagged if isinstance(excluded, Evidence) else excluded))
    # Completion also flags participants who are listed and gave no answer.
    people = set(judgments.participants["participant"].to_list())
    unknown = [name for name in names if name not in people]
    if unknown:
        raise ScreenError(unknown_name("unknown.participant", unknown[0], sorted(people)))
    if set(judgments.frame["participant"].unique().to_list()) <= set(names):
        raise ScreenError(Message("effects.nobody_left"))
    return names


def _with_family(
    judgments: Judgments, rows: pl.DataFrame, name: str, family: Family | None
) -> tuple[pl.DataFrame, Family]:
    """The rows with answers as numbers, and the family of the model."""
    if name not in rows.columns:
        raise ScreenError(unknown_name("unknown.column", name, rows.columns))
    if name == "response":
        scale = judgments.scale
        levels = len(scale.levels)
        if not is_ordered(scale) and levels > 2:
            raise ScreenError(Message("effects.labels"))
        rows = rows.with_columns(response=position(scale, aligned="polarity" in rows.columns))
        usual: Family = "gaussian" if not levels else "binary" if levels == 2 else "ordinal"
        return rows, family or usual
    values = rows[name].drop_nulls()
    if family is not None or values.n_unique() == 2:
        return rows, family or "binary"
    if not values.dtype.is_float():
        raise ScreenError(Message("effects.family", {"column": name, "values": values.n_unique()}))
    return rows, "gaussian"


def _tests(before: Model, after: Model) -> pl.DataFrame:
    """The Wald tests of both models by term; null if the second model lacks the term."""
    first, second = _wald(before), _wald(after)
    rows = [(term, df, chisq, p, *second.get(term, (None, None, None))[1:]) for term, (df, chisq, p) in first.items()]
    schema = {"term": pl.String, "df": pl.Int64, "chisq_before": pl.Float64, "p_before": pl.Float64,
              "chisq_after": pl.Float64, "p_after": pl.Float64}  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")


def _wald(model: Model) -> dict[str, tuple[int, float, float]]:
    """The degrees of freedom, chi-squared and p of the intercept and of each term."""
    rows = {}
    table = model.table()
    for name, estimate, se in zip(table["term"], table["estimate"], table["se"], strict=True):
        if name == INTERCEPT:
            squared = float((estimate / se) ** 2)
            rows[name] = (1, squared, float(two_sided(np.array([squared**0.5]), np.array([np.inf]))[0]))
    tests = glrm.type_three(model, "chisq")
    for term, df, chisq, p in zip(tests.terms, tests.df, tests.statistic, tests.p, strict=True):
        rows[term] = (int(df), float(chisq), float(p))
    return rows


def _coefficients(before: Model, after: Model) -> pl.DataFrame:
    tables = [pl.DataFrame({name: model.table()[name].tolist() for name in ("term", "estimate", "se")})
              for model in (before, after)]  # fmt: skip
    first = tables[0].rename({"estimate": "before", "se": "se_before"})
    second = tables[1].rename({"estimate": "after", "se": "se_after"})
    joined = first.join(second, on="term", how="left", maintain_order="left")
    return joined.with_columns(change=pl.col("after") - pl.col("before"))


def plotted_factors(model: Model) -> tuple[str, ...]:
    """The first two factors that interact, else the first factor."""
    factors = {name for name, column in model.frame.raw.items() if isinstance(column, FactorVariable)}
    terms = [tuple(label for label in term if label in factors) for term in model.design.expansion.terms]
    crossed = next((term[:2] for term in terms if len(term) > 1), None)
    single = next((term for term in terms if term), None)
    if single is None:
        raise ScreenError(Message("effects.no_factor", {"formula": str(model.formula)}))
    return crossed or single
