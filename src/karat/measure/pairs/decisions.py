"""Decisions on pairs: does a measure endorse the stimulus that experts prefer, the other one, or neither?

As in the table of Langsford, Perfors, Hendrickson, Kennedy and Navarro (2018), a check means that the expert's stimulus
is significantly better, a cross that the other one is, and a tilde that no difference is shown. A tilde is no evidence
of no difference. The last columns give that evidence: `equivalence` is

    equivalent    the difference is smaller than the region of practical equivalence (two one-sided tests)
    different     the difference is larger than that region
    undecided     neither is shown

so a check may be undecided (there is a difference, perhaps a negligible one). p values of the three tests are each
adjusted for the number of pairs, by Holm's method, Benjamini and Hochberg's, or not at all; intervals are not.

The comparison, and the default half-width of the region (`rope`):

    choices           "binomial": direct choices, share of the better one    .10 around one half
                      a model of `karat.measure.strengths`                   0.2 sd of noise, or 0.36 logits
    rating scale      "ordinal": the model's contrast                        0.36 logits
                      "paired": participants' differences in points          a tenth of the range of the scale
    yes or no         "binary": the model's contrast                         0.36 logits
                      "paired": participants' differences                    .10
    magnitudes, numbers   "paired": differences of standardised answers      0.2 standard deviations

0.2 standard deviations are what Cohen (1988) calls small, and 0.36 logits are the same on the logistic scale
(0.2 pi / sqrt 3). Set the region from what would matter in your study, before you see results. The first way of each
scale is the default unless `model` names another; choices that lack some pairs take the recommended model.

The pairs are given as a table, or read from the judgments. A table has the columns `pair`, `better` and `worse`, with
stimuli by their label, "item" or "item, condition". Without a table, the pairs of choices are those with a right answer
(`expected`), named by the column `pair` or else by their item. Pairs of ratings are the two stimuli that share a `pair`
and differ in status (grammatical over marked over ungrammatical) or in their expected answers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from karat.errors import cause
from karat.judgments import Judgments
from karat.judgments.columns import unknown_name
from karat.judgments.scales import Binary, Choice, Nominal, NumberRange, Ordinal, Scale
from karat.judgments.table import to_polars
from karat.measure.pairs.pair_measures import (
    Contrast,
    direct_choices,
    direct_counts,
    equivalence_verdict,
    model_contrasts,
    own_differences,
)
from karat.measure.rated import Rated, answers_to, rated, stimulus_labels
from karat.measure.result import MeasureError, MeasureResult, PlotColumns, schema_of, table_of
from karat.measure.scaling.strengths import strengths
from karat.messages import Message, check_number, check_word
from karat.models.proportions import benjamini_hochberg, holm
from karat.types import Floats

Adjust = Literal["holm", "bh", "none"]
ADJUSTED: dict[Adjust, Callable[[list[float]], Floats]] = {"holm": holm, "bh": benjamini_hochberg, "none": np.array}
Known = list[tuple[tuple[str, str, str], Contrast]]
SYMBOLS = {"expert": "✓", "reverse": "×", "none": "~"}
SCHEMA = schema_of(
    "pair:s better:s worse:s measure:s test:s estimate se lower upper p adjusted decision:s symbol:s p_equivalence "
    "equivalence:s bayes_factor ties n:i"
)


@dataclass(frozen=True)
class Decisions(MeasureResult):
    """The decisions of a measure on pairs."""

    frame: pl.DataFrame
    """pair, better, worse, measure, test, estimate, se, lower, upper, p, adjusted, decision (expert, reverse, none),
    symbol, p_equivalence (adjusted), equivalence, bayes_factor (of a difference; from a posterior), ties, n."""
    unit: Message
    """The unit of an estimate."""
    points: ClassVar = PlotColumns(("pair",))
    files: ClassVar = {"decisions": "frame"}

    @property
    def counts(self) -> dict[str, int]:
        """The number of pairs of each decision."""
        counts = dict(self.frame["decision"].value_counts().iter_rows())
        return {name: int(counts.get(name, 0)) for name in SYMBOLS}

    @property
    def summary(self) -> tuple[Message, ...]:
        """The number of pairs of each decision, and the number of equivalent pairs among those without one."""
        equal = self.frame.filter(pl.col("decision") == "none", pl.col("equivalence") == "equivalent").height
        counts = {"pairs": self.frame.height, "model": self.settings["model"]} | self.counts
        messages = [Message("decisions.counts", counts)]
        if self.counts["none"]:
            region = {"equal": equal, "rope": self.settings["rope"], "unit": self.unit}
            messages.append(Message("decisions.equivalent", region))
        return tuple(messages)


def decisions(
    judgments: Judgments,
    pairs: Any = None,
    model: str | None = None,
    *,
    alpha: float = 0.05,
    adjust: Adjust = "holm",
    rope: float | None = None,
    question: str | None = None,
    conditions: Sequence[str] | None = None,
    functions: Sequence[str] = ("test",),
    prior_sd: float | None = None,
    posterior: bool = False,
    seed: int = 1,
) -> Decisions:
    """The decision on each pair.

    Without `pairs`, they are read from the columns of the judgments: see `karat.measure.pairs.decisions`.

    Parameters
    ----------
    pairs
        The preferences of experts: a table of pair, better and worse, the path of a CSV file or a list.
    model
        How pairs are compared; by default in the usual way of the scale.
    rope
        Half the width of the region of practical equivalence.
    prior_sd
        For models of choices, as in `strengths`.
    posterior
        For models of choices, as in `strengths`; it gives Bayes factors.

    >>> import karat
    >>> answers = {"participant": [f"p{n // 2}" for n in range(12)], "item": ["good", "bad"] * 6,
    ...            "response": [7, 1, 6, 2, 7, 3, 5, 2, 7, 2, 6, 1]}
    >>> found = decisions(karat.Judgments(answers, karat.Ordinal(7)), [("1", "good", "bad")], "paired")
    >>> found.table().select("estimate", "decision", "symbol", "equivalence").row(0)
    (4.5, 'expert', '✓', 'different')
    """
    _check(alpha, adjust, rope)
    answers = answers_to(question, rated(judgments, "decisions", functions, conditions), "decisions")
    table = expert_pairs(pairs, answers)
    chosen = _model(answers, table, model)
    if chosen in ("binomial", "paired") and (posterior or prior_sd is not None):
        name = "posterior" if posterior else "prior_sd"
        raise MeasureError(Message("decisions.no_option", {"model": chosen, "option": name}))
    if chosen == "binomial":
        measure = direct_choices(answers, rope, alpha)
    elif chosen == "paired":
        measure = own_differences(answers, rope, alpha)
    else:
        estimates = strengths(
            judgments, chosen, question=answers.question, conditions=conditions, functions=functions, level=1 - alpha,
            prior_sd=prior_sd, posterior=posterior, seed=seed,
        )  # fmt: skip
        measure = model_contrasts(answers, estimates, rope, alpha)
    contrasts = [(row, measure.contrast(row[1], row[2])) for row in table.iter_rows()]
    decided: Known = [(row, contrast) for row, contrast in contrasts if contrast is not None]
    left_out = [row[0] for row, contrast in contrasts if contrast is None]
    if not decided:
        raise MeasureError(_nothing(table, answers))
    notes = [*list(answers.notes), *measure.notes]
    if left_out:
        notes.append(Message("decisions.left_out", {"n": len(left_out)} | _some(left_out)))
    settings = {"model": chosen, "alpha": alpha, "adjust": adjust, "rope": measure.rope, "question": answers.question}
    frame = _frame(decided, chosen, alpha, adjust)
    return Decisions(frame, measure.unit, settings=settings, notes=tuple(dict.fromkeys(notes)))


def _check(alpha: float, adjust: Adjust, rope: float | None) -> None:
    check_number(MeasureError, "alpha", alpha, above=0, below=0.5)
    check_word(MeasureError, "adjust", adjust, ADJUSTED)
    check_number(MeasureError, "rope", rope, above=0)


def _model(answers: Rated, pairs: pl.DataFrame, model: str | None) -> str:
    """The given way, or the usual one of the scale; `strengths` checks its models."""
    scale = answers.scale
    if isinstance(scale, Nominal):
        raise MeasureError(Message("decisions.labels"))
    usual = "binomial" if isinstance(scale, Choice) else "paired"
    other = {"binomial": "paired", "paired": "binomial"}[usual]
    if model == other:
        raise MeasureError(Message("decisions.wrong_model", {"model": model, "kind": scale.kind, "usual": usual}))
    if model is not None:
        return model
    if isinstance(scale, Ordinal | Binary):
        return scale.kind
    if not isinstance(scale, Choice):
        return usual
    counts = direct_counts(answers)
    if all(tuple(sorted(row)) in counts for row in pairs.select("better", "worse").iter_rows()):
        return usual
    return "thurstone" if scale.none else "bradley-terry"


def _frame(decided: Known, measure: str, alpha: float, adjust: Adjust) -> pl.DataFrame:
    """The table of decisions, p values adjusted."""
    contrasts = [contrast for _, contrast in decided]
    p, equivalence, beyond = (
        ADJUSTED[adjust]([getattr(contrast, name) for contrast in contrasts]) for name in ("p", "equivalence", "beyond")
    )
    middle = 0.5 if measure == "binomial" else 0.0
    rows = []
    for number, (names, size) in enumerate(decided):
        decision = "none" if not p[number] < alpha else "expert" if size.estimate > middle else "reverse"
        verdict = equivalence_verdict(equivalence[number], beyond[number], alpha)
        rows.append((
            *names, measure, size.test, size.estimate, size.se, size.lower, size.upper, size.p, p[number], decision,
            SYMBOLS[decision], equivalence[number], verdict, size.bayes_factor, size.ties, size.n,
        ))  # fmt: skip
    return table_of(rows, SCHEMA)


def _nothing(pairs: pl.DataFrame, answers: Rated) -> Message:
    """The reason why no pair can be decided."""
    labels = stimulus_labels(answers.stimuli)
    if isinstance(answers.scale, Choice):
        labels = sorted({*answers.rows["left"].drop_nulls(), *answers.rows["right"].drop_nulls()})
    wanted = pairs["better"][0]
    if wanted in labels:
        return Message("decisions.too_few_answers")
    return unknown_name("unknown.stimulus", wanted, labels)


COLUMNS = ("pair", "better", "worse")
STATUS = {"ungrammatical": 0.0, "marked": 1.0, "grammatical": 2.0}
SHOWN = 5
"""The most pairs in a message."""


def expert_pairs(pairs: Any, one: Rated) -> pl.DataFrame:
    """The pairs as a table of pair, better and worse."""
    if pairs is not None:
        table = _from_table(pairs)
    else:
        table = _from_choices(one.rows) if isinstance(one.scale, Choice) else _from_ratings(one)
    if not table.height:
        raise MeasureError(Message("decisions.no_pairs"))
    empty = table.filter(pl.any_horizontal(pl.col(COLUMNS).is_null()))
    if empty.height:
        raise MeasureError(Message("decisions.incomplete_pairs", {"n": empty.height}))
    twice = table.filter(pl.col("pair").is_duplicated())["pair"].unique(maintain_order=True).to_list()
    if twice:
        raise MeasureError(Message("decisions.repeated_pairs", _some(twice)))
    same = table.filter(pl.col("better") == pl.col("worse"))["pair"].to_list()
    if same:
        raise MeasureError(Message("decisions.same_stimulus", _some(same)))
    return table


def _from_table(pairs: Any) -> pl.DataFrame:
    if isinstance(pairs, str | Path):
        try:
            table = pl.read_csv(pairs, infer_schema=False)
        except FileNotFoundError:
            raise MeasureError(Message("decisions.no_file", {"file": str(pairs)})) from None
        except (OSError, pl.exceptions.PolarsError) as error:
            about = {"file": str(pairs), "why": cause(error)}
            raise MeasureError(Message("decisions.unreadable_file", about)) from None
    elif isinstance(pairs, Sequence):
        if any(isinstance(row, str) or len(row) != len(COLUMNS) for row in pairs):
            raise MeasureError(Message("decisions.pairs_of_list"))
        table = pl.DataFrame([tuple(str(cell) for cell in row) for row in pairs], schema=list(COLUMNS), orient="row")
    else:
        table = to_polars(pairs)
    missing = [name for name in COLUMNS if name not in table.columns]
    if missing:
        raise MeasureError(Message("decisions.missing_column", {"column": missing[0]}))
    return table.select(pl.col(COLUMNS).cast(pl.String))


def _from_choices(rows: pl.DataFrame) -> pl.DataFrame:
    if not {"left", "right", "expected"} <= set(rows.columns):
        raise MeasureError(Message("decisions.choices_without_pairs"))
    name = pl.coalesce("pair", "item") if "pair" in rows.columns else pl.col("item")
    keyed = rows.filter(pl.col("expected").is_in(["left", "right"]))
    if not keyed.height:
        raise MeasureError(Message("decisions.choices_without_pairs"))
    first = pl.col("expected") == "left"
    return keyed.select(
        name.alias("pair"),
        pl.when(first).then("left").otherwise("right").alias("better"),
        pl.when(first).then("right").otherwise("left").alias("worse"),
    ).unique(maintain_order=True)


def _from_ratings(answers: Rated) -> pl.DataFrame:
    rows = answers.rows
    if "pair" not in rows.columns or not {"status", "expected"} & set(rows.columns):
        raise MeasureError(Message("decisions.ratings_without_pairs"))
    labels = stimulus_labels(answers.stimuli)
    wanted = ["pair", "_stimulus", *(name for name in ("status", "expected") if name in rows.columns)]
    stimuli = rows.select(wanted).filter(pl.col("pair").is_not_null()).unique(maintain_order=True)
    pairs, unclear = [], []
    for (pair,), part in stimuli.group_by("pair", maintain_order=True):
        places = [_goodness(row, answers.scale) for row in part.to_dicts()]
        if len(places) != 2 or None in places or places[0] == places[1]:
            unclear.append(str(pair))
            continue
        names = [labels[number] for number in part["_stimulus"]]
        pairs.append((str(pair), *(names if (places[0] or 0) > (places[1] or 0) else names[::-1])))
    if unclear:
        raise MeasureError(Message("decisions.unclear_pairs", _some(unclear)))
    return pl.DataFrame(pairs, schema=list(COLUMNS), orient="row")


def _goodness(row: dict[str, Any], scale: Scale) -> float | None:
    """How good a stimulus should be, by its status or else by the middle of its expected answers."""
    if row.get("status") in STATUS:
        return STATUS[row["status"]]
    if not row.get("expected"):
        return None
    right = scale.expected(row["expected"])
    if isinstance(right, NumberRange):
        return (right.low + right.high) / 2
    return sum(scale.levels.index(level) for level in right) / len(right)


def _some(names: list[str]) -> dict[str, Any]:
    """The first of several pairs, and the number of others."""
    return {"pairs": names[:SHOWN], "more": max(0, len(names) - SHOWN) or None}
