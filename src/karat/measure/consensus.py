"""Consensus: one label for each item from the answers of many, with its probability.

    majority       the label that most participants gave; its share of answers is its probability
    weighted       the same, with answers weighted by the quality of the participant
    dawid-skene    labels and participants' errors together, by maximum likelihood (`karat.models.dawid_skene`)
    mace           labels, and how often each participant knows them rather than guesses by habit
    glad           labels, participants' abilities and items' easiness

The summary names the model of the last three and whether its posteriors converged. If right answers are recorded, it
also has the share of labels that equal them.

Quality. By default, the quality q of a participant is the share of their answers that equal the majority of
the others. Two answers, right by chance, are added, so that nobody with few answers is infallible. The weight is the
logarithm of the odds of q against guessing among K labels,

    weight = max(0, log(q (K - 1) / (1 - q))),

which is the best weight if errors are independent and spread evenly (Nitzan and Paroush 1982; Li and Yu 2014).
Participants who guess have no weight. `weights` takes other measures of quality, such as the share of right controls.

Ordered labels. If the scale is ordered, the label is the median of the probabilities, which is the fewest steps away on
average, instead of their mode; `mean` is the expected point of the scale. Dawid and Skene's model then has a precision
and a bias for each participant (`errors="ordered"`) instead of a free table of errors (`errors="free"`).

In a tie the label is the first in the order of the scale, and `tie` is true.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from karat.judgments import Judgments
from karat.judgments.scales import Ordinal
from karat.measure.rated import Rated, rated
from karat.measure.result import MeasureError, MeasureResult, PlotColumns, about_question, rounded
from karat.messages import Message, check_number, check_word, with_code
from karat.models.dawid_skene import DawidSkene, LabelModel, dawid_skene, glad, label_shares, mace
from karat.models.split_half import equal_to_majority, shares
from karat.types import Floats

Method = Literal["majority", "weighted", "dawid-skene", "mace", "glad"]
METHODS = ("majority", "weighted", "dawid-skene", "mace", "glad")
SURE = 0.99


@dataclass(frozen=True)
class Consensus(MeasureResult):
    """A label for each item with probabilities, and participants' errors."""

    labels: pl.DataFrame
    """question (if there are several), item and conditions, label, probability, tie, answers; for ordered labels also
    mean, and for glad easiness."""
    probabilities: pl.DataFrame
    """The same items with one column per label."""
    participants: pl.DataFrame
    """question, participant, answers, right (the expected share of right answers), weight (weighted), for ordered
    errors bias and precision, competence (mace) or ability (glad)."""
    confusion: pl.DataFrame
    """Dawid and Skene: question, participant, truth, answer, probability."""
    method: str
    points: ClassVar = PlotColumns(("question", "item", "label"), "probability", "probability of the label")
    files: ClassVar = {
        "consensus": "labels", "soft-labels": "probabilities", "labellers": "participants", "confusion": "confusion",
    }  # fmt: skip

    def soft_labels(self) -> pl.DataFrame:
        """Items with the probability of each label, for machine learning.

        >>> import karat
        >>> soft = consensus(karat.datasets.load("crowd")).soft_labels()
        >>> soft.columns, soft.height
        (['item', '0', '1'], 80)
        """
        return self.probabilities

    @property
    def summary(self) -> tuple[Message, ...]:
        """The number of labels, of sure ones and of ties, and how often participants are right."""
        labels = {
            "items": self.labels.height, "answers": int(self.labels["answers"].sum()), "method": self.method,
            "sure": int((self.labels["probability"] >= SURE).sum()), "limit": SURE,
            "ties": int(self.labels["tie"].sum()),
        }  # fmt: skip
        right = round(float(np.median(self.participants["right"].to_numpy())), 2)
        return Message("consensus.labels", labels), Message("consensus.right", {"right": right})

    def __str__(self) -> str:
        fit = with_code(self.notes, "consensus.key", "consensus.converged", "consensus.not_converged")
        return " ".join(map(str, (*self.summary, *fit)))


def consensus(
    judgments: Judgments,
    method: Method = "dawid-skene",
    weights: Mapping[str, float] | None = None,
    errors: Literal["free", "ordered"] | None = None,
    functions: Sequence[str] = ("test",),
    conditions: Sequence[str] = (),
    iterations: int = 1000,
    tolerance: float = 1e-8,
) -> Consensus:
    """A label for each item with its probability: by majority, by weighted majority or by a model of labels.

    `weights` has a number for each participant, for `weighted`. `errors` is for `dawid-skene`; by default, ordered
    scales have ordered errors. `conditions` names columns that, besides item and question, distinguish stimuli.

    Parameters
    ----------
    method
        How labels are estimated.
    iterations
        The largest number of rounds of a model.
    tolerance
        The relative change of the log-likelihood at which a model stops.

    >>> import karat
    >>> print(consensus(karat.datasets.load("crowd")))  # doctest: +ELLIPSIS
    Dawid and Skene's model labelled 80 stimuli from 9,600 answers. ...
    """
    _check(method, weights, errors, iterations, tolerance)
    parts = rated(judgments, "consensus", functions, conditions)
    labelled = [answers for answers in parts if answers.levels]
    if not labelled:
        raise MeasureError(Message("consensus.no_categories", {"kind": parts[0].scale.kind}))
    numbers = Message("consensus.numbers")
    notes = [note for answers in parts if not answers.levels for note in about_question(answers.question, [numbers])]
    results = [_of_question(answers, method, weights, errors, iterations, tolerance) for answers in labelled]
    notes += [note for answers, part in zip(labelled, results, strict=True) for note in (*answers.notes, *part.notes)]
    several = len(labelled) > 1
    tables = []
    for name in ("labels", "probabilities", "participants", "confusion"):
        pieces = [getattr(part, name) for part in results]
        if several:
            pieces = [pl.select(question=pl.lit(answers.question)).join(piece, how="cross")
                      for answers, piece in zip(labelled, pieces, strict=True)]  # fmt: skip
        tables.append(pl.concat(pieces, how="diagonal"))
    settings = {"errors": errors, "functions": tuple(functions), "iterations": iterations, "tolerance": tolerance}
    labels, probabilities, participants, confusion = tables
    return Consensus(
        labels, probabilities, participants, confusion, method, settings=settings, notes=tuple(dict.fromkeys(notes))
    )


def _check(
    method: str, weights: Mapping[str, float] | None, errors: str | None, iterations: int, tolerance: float
) -> None:
    check_word(MeasureError, "method", method, METHODS)
    if weights is not None and method != "weighted":
        raise MeasureError(Message("consensus.weights_without_method", {"method": method}))
    if errors is not None and (method != "dawid-skene" or errors not in ("free", "ordered")):
        raise MeasureError(Message("consensus.errors"))
    check_number(MeasureError, "iterations", iterations, at_least=1)
    check_number(MeasureError, "tolerance", tolerance, at_least=0)


def _of_question(
    rated_items: Rated,
    method: str,
    weights: Mapping[str, float] | None,
    errors: str | None,
    iterations: int,
    tolerance: float,
) -> Consensus:
    """The consensus on one question."""
    stimulus, rater, category = rated_items.stimulus, rated_items.rater, rated_items.category
    kinds, people = len(rated_items.levels), len(rated_items.people)
    is_ordered = isinstance(rated_items.scale, Ordinal) and kinds > 2
    answers = np.bincount(rater, minlength=people)
    further: dict[str, Any] = {}
    of_items: dict[str, Any] = {}
    fitted, notes = None, []
    if method == "dawid-skene":
        if errors == "ordered" and not is_ordered:
            raise MeasureError(Message("consensus.unordered", {"kind": rated_items.scale.kind}))
        ordered = errors == "ordered" or (errors is None and is_ordered)
        fitted = dawid_skene(stimulus, rater, category, kinds, ordered, iterations, tolerance)
        posteriors = fitted.posteriors
        notes = [_convergence(method, fitted), Message("consensus.independent")]
        if fitted.ordered is not None:
            further = {"bias": fitted.ordered[:, 0], "precision": fitted.ordered[:, 1]}
    elif method in ("mace", "glad"):
        model = (mace if method == "mace" else glad)(stimulus, rater, category, kinds, iterations)
        posteriors, notes = model.posteriors, [_convergence(method, model), Message("consensus.independent")]
        further = {"competence" if method == "mace" else "ability": model.ability}
        of_items = {} if model.easiness is None else {"easiness": model.easiness}
    else:
        weight = np.ones(people)
        if method == "weighted":
            weight = _quality(rated_items) if weights is None else _weights(rated_items, weights)
            further = {"weight": weight}
        posteriors = label_shares(stimulus, category, weight[rater], rated_items.stimuli.height, kinds)
    right = np.bincount(rater, posteriors[stimulus, category], people) / answers
    table = pl.DataFrame({"participant": rated_items.people, "answers": answers, "right": right, **further})
    labels, probabilities = _labels(rated_items, posteriors, is_ordered)
    labels = labels.with_columns(**{name: pl.Series(values) for name, values in of_items.items()})
    notes = [*_by_the_key(rated_items, labels), *notes]
    return Consensus(labels, probabilities, table, _confusion(rated_items, fitted), method, notes=tuple(notes))


def _by_the_key(answers: Rated, labels: pl.DataFrame) -> list[Message]:
    """How many labels are among the recorded right answers, if there are any."""
    if "expected" not in answers.rows.columns:
        return []
    keys = answers.rows.group_by("_stimulus").agg(pl.col("expected").drop_nulls().unique())
    named = [(place, texts[0]) for place, texts in keys.iter_rows() if len(texts) == 1]
    if not named:
        return []
    right = np.array([labels["label"][place] in answers.scale.expected(text) for place, text in named])
    is_sure = labels["probability"].to_numpy()[[place for place, _ in named]] >= SURE
    sure = rounded(float(right[is_sure].mean())) if is_sure.any() else None
    values = {"n": len(named), "right": rounded(float(right.mean())), "limit": SURE, "sure": sure}
    return [Message("consensus.key", values)]


def _labels(answers: Rated, posteriors: Floats, is_ordered: bool) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The label of each item with its probability, and the probabilities of all."""
    highest = posteriors.max(axis=1)
    tie = (posteriors >= highest[:, None] - 1e-12).sum(axis=1) > 1
    chosen = posteriors.argmax(axis=1)
    if is_ordered:
        # The median is the lowest level with half of the probability up to it.
        below = np.cumsum(posteriors, axis=1)
        chosen = (below < 0.5 - 1e-12).sum(axis=1)
        tie = np.isclose(below[np.arange(len(chosen)), chosen], 0.5, atol=1e-12)
    names = np.array(answers.levels, dtype=object)
    columns: dict[str, Any] = {
        "label": pl.Series(names[chosen].tolist(), dtype=pl.String),
        "probability": posteriors[np.arange(len(chosen)), chosen], "tie": tie,
        "answers": np.bincount(answers.stimulus, minlength=answers.stimuli.height),
    }  # fmt: skip
    if is_ordered:
        columns["mean"] = posteriors @ np.arange(1.0, len(answers.levels) + 1)
    columns_of_labels = [f"p({name})" if name in answers.stimuli.columns else name for name in answers.levels]
    soft = pl.DataFrame(dict(zip(columns_of_labels, posteriors.T, strict=True)))
    return answers.stimuli.hstack(pl.DataFrame(columns)), answers.stimuli.hstack(soft)


def _quality(answers: Rated) -> Floats:
    """Weights of participants by how often their answers equal the majority of the others."""
    kinds = len(answers.levels)
    hit = equal_to_majority(answers.stimulus, answers.category, kinds, np.ones(answers.rows.height))
    has_others = np.isfinite(hit)
    number = np.bincount(answers.rater[has_others], minlength=len(answers.people))
    share = np.nan_to_num(shares(answers.rater, hit, len(answers.people)))
    quality = (share * number + 2 / kinds) / (number + 2)
    weight = np.maximum(np.log(quality * (kinds - 1) / (1 - quality)), 0.0)
    return weight if weight.any() else np.ones(len(answers.people))


def _weights(answers: Rated, weights: Mapping[str, float]) -> Floats:
    missing = [name for name in answers.people if name not in weights]
    if missing:
        raise MeasureError(
            Message("consensus.no_weight", {"participant": missing[0], "more": len(missing) - 1 or None})
        )
    values = np.array([float(weights[name]) for name in answers.people])
    if not np.isfinite(values).all() or (values < 0).any() or not values.any():
        raise MeasureError(Message("consensus.weights"))
    return values


def _convergence(method: str, fitted: DawidSkene | LabelModel) -> Message:
    code = "consensus.converged" if fitted.converged else "consensus.not_converged"
    return Message(code, {"method": method, "n": fitted.iterations})


def _confusion(answers: Rated, fitted: DawidSkene | None) -> pl.DataFrame:
    """One row for each participant, true label and answer."""
    schema = {"participant": pl.String, "truth": pl.String, "answer": pl.String, "probability": pl.Float64}
    if fitted is None:
        return pl.DataFrame(schema=schema)
    kinds, people = len(answers.levels), len(answers.people)
    names = pl.Series(list(answers.levels), dtype=pl.String)
    by_truth = np.swapaxes(fitted.errors, 1, 2)
    return pl.DataFrame({
        "participant": pl.Series(answers.people, dtype=pl.String).gather(np.repeat(np.arange(people), kinds * kinds)),
        "truth": names.gather(np.tile(np.repeat(np.arange(kinds), kinds), people)),
        "answer": names.gather(np.tile(np.arange(kinds), kinds * people)),
        "probability": by_truth.reshape(-1),
    }, schema=schema)  # fmt: skip
