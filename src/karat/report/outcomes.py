"""The main result under every exclusion rule: who stays, the result on the response scale, and the comparisons.

The main result is one number per condition: the mean rating, or the share of one answer, of right answers, or of
choices of the first of two. Sums and counts of each participant and condition are computed once. A rule selects rows
of this table, so all rules together take no longer than one.

Numbers are plain means of answers with intervals over participants: Student's for a mean, and for a share Clopper and
Pearson's, for the number of independent answers that would be as precise (Korn and Graubard 1998). A comparison within
participants has the interval of their own differences; one between participants takes the smaller group's degrees of
freedom. Whether a comparison is shown is decided by the model of the measures, which also has items.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from scipy.special import stdtrit

from karat.judgments import Judgments
from karat.judgments.answer_codes import ends, position
from karat.judgments.scales import Binary, Choice, Continuous, Magnitude, Nominal, Ordinal, Scale
from karat.judgments.stimuli import natural_order
from karat.measure.effects.contrasts import Contrasts
from karat.measure.effects.planned import PlannedContrasts, between_levels
from karat.measure.measures import Measures
from karat.messages import NotComputed
from karat.models.proportions import clopper_pearson
from karat.report.comparisons import (
    RuleComparison,
    TermTest,
    comparisons,
    model_of,
    planned_rows,
    right_model,
    right_plan,
    term_tests,
)
from karat.screen.screening import Screening
from karat.study.criteria import title_of
from karat.study.study import Study
from karat.types import Floats

MOST_CELLS = 24
"""The most points of the figure."""
MOST_RULES = 9
MOST_LINES = 6
"""The most lines of the figure; more would use a marker twice."""
FACTORS, MOST_FACTORS = 2, 3
"""The factors of the figure, and the most factors of a model of right answers."""
HALF = 50.0
LONG = 50.0
"""Means on a scale of at least this length have one decimal."""
ANSWERS = "answers (%)"
CHOSEN = ("chosen (%)", "chosen, “no difference” left out (%)")
LOG_UNITS = ("mean log estimate", "mean log ratio to the modulus")
STATED, NOBODY, ALL = "stated", "nobody", "all"


@dataclass(frozen=True)
class RuleOutcome:
    """Who stays under one rule, and the main result of their answers."""

    key: str
    name: str
    excluded: tuple[str, ...]
    kept: int
    answering: int
    """The number of participants who stay and have answers in the main result."""
    cells: tuple[tuple[float, float, float], ...]
    """Mean, lower and upper end of each cell."""
    comparisons: tuple[tuple[float, float, float], ...]
    """Estimate, lower and upper end of each comparison."""


@dataclass(frozen=True)
class Outcomes:
    """The main result under every rule; the analysis uses the first rule."""

    kind: str
    """means, share, right, preference or answers."""
    unit: str
    factors: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    low: float
    high: float
    rules: tuple[RuleOutcome, ...]
    comparisons: tuple[RuleComparison, ...] = ()
    left_out: int = 0
    """The number of cells that the figure leaves out because there are too many."""
    sentences: dict[int, str] = field(default_factory=dict)
    """An example sentence for each cell."""
    right: tuple[float, float, float] | None = None
    """If answers have a key, the percentage of right ones, and that of the worst and the best participant."""
    people: tuple[tuple[str, float], ...] = ()
    """If answers have a key, each participant's percentage of right answers."""
    clear_left_out: int = 0
    """The number of preferences outside the figure whose interval excludes one half."""
    by_ends: bool = True
    """Whether a figure with too many cells shows those at both ends, or else those with the most answers."""
    tests: tuple[TermTest, ...] = ()
    """The model's tests of whole factors and of their interactions."""
    accuracy: Contrasts | None = field(default=None, repr=False)
    """If answers have a key, the model of right answers by condition."""
    planned: PlannedContrasts | None = field(default=None, repr=False)
    """The planned comparisons in the model of right answers."""
    question: str = ""
    """The question of the main result, if it is about one of several."""
    questions: tuple[str, ...] = ()
    """All questions, if there are several."""
    by_question: tuple[tuple[str, tuple[TermTest, ...]], ...] = ()
    """If several questions are in one figure, the tests of the model of each."""

    @property
    def analysed(self) -> RuleOutcome:
        """The outcome of the rule that the analysis uses."""
        return self.rules[0]

    @property
    def answer(self) -> str:
        """The answer whose share is the main result, in quotes."""
        return self.unit.removesuffix(" (%)")

    @property
    def percent(self) -> bool:
        """Whether the numbers are shares."""
        return self.kind != "means" or self.factors == ("answer",)

    @property
    def digits(self) -> int:
        """The decimals of numbers in sentences: none for percentages, one for a long scale such as 0 to 100."""
        return 0 if self.percent else 1 if self.high - self.low >= LONG else 2

    def sides(self, rule: RuleOutcome, comparison: RuleComparison) -> tuple[float, float]:
        """The mean of the cells on the first side of a comparison, and on the second."""
        sides = []
        for sign in (1, -1):
            cells = [(abs(w), cell[0]) for w, cell in zip(comparison.weights, rule.cells, strict=True) if w * sign > 0]
            sides.append(sum(w * mean for w, mean in cells) / max(sum(w for w, _ in cells), 1e-9))
        return sides[0], sides[1]

    def clear(self) -> int:
        """The number of preferences whose interval excludes one half, including those outside the figure."""
        return self.clear_left_out + sum(low > HALF or high < HALF for _, low, high in self.analysed.cells)

    def to_dict(self) -> dict[str, Any]:
        """All of it as data for `karat.measure.export.plain`."""
        names = [", ".join(cell) for cell in self.cells]
        return {
            "kind": self.kind, "unit": self.unit, "question": self.question, "factors": list(self.factors),
            "left_out": self.left_out,
            "right": None if self.right is None else list(self.right),
            "people": dict(self.people),
            "comparisons": [
                {name: getattr(comparison, name) for name in ("name", "first", "second", "planned", "p", "shown")}
                for comparison in self.comparisons
            ],
            "shown": sum(bool(comparison.shown) for comparison in self.comparisons[1:]),
            "tests": [{"factors": list(test.factors), "test": str(test.test), "p": test.p, "shown": test.shown}
                      for test in self.tests],
            "clear": self.clear() if self.kind == "preference" else None,
            "number": len(self.rules), "cells": len(self.cells), "all_cells": len(self.cells) + self.left_out,
            "rules": [
                {
                    "key": rule.key, "name": rule.name, "kept": rule.kept, "excluded": len(rule.excluded),
                    "cells": [{"cell": name, "ends": ends} for name, ends in zip(names, rule.cells, strict=True)],
                    "comparisons": [
                        {"name": comparison.name, "ends": ends, "sides": self.sides(rule, comparison)}
                        for comparison, ends in zip(self.comparisons, rule.comparisons, strict=True)
                    ],
                }
                for rule in self.rules
            ],
        }  # fmt: skip

    def table(self) -> pl.DataFrame:
        """One row per rule and comparison, or per rule and cell where nothing is compared."""
        rows: list[tuple[Any, ...]] = []
        names = [comparison.name for comparison in self.comparisons] or [", ".join(cell) for cell in self.cells]
        for rule in self.rules:
            numbers = rule.comparisons if self.comparisons else rule.cells
            rows += [(rule.name, rule.kept, name, *ends) for name, ends in zip(names, numbers, strict=True)]
        columns = ["rule", "participants", "comparison", "estimate", "lower", "upper"]
        frame = pl.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None)
        return frame.with_columns(pl.col("estimate", "lower", "upper").cast(pl.Float64).fill_nan(None))


def outcomes(screening: Screening, study: Study | None, measures: Measures | NotComputed) -> Outcomes | NotComputed:
    """The main result and how other rules would change it, or why there is none."""
    judgments = screening.judgments
    answered = judgments.frame.filter(pl.col("response").is_not_null(), pl.col("function") != "practice")
    rows = answered.filter(pl.col("function") == "test")
    rows = rows if rows.height else answered
    if not rows.height:
        return NotComputed("report.no_answers")
    rows, scale, question = _main_question(judgments, rows)
    kind, unit, rows = _valued(rows, scale, study)
    named = [] if kind == "answers" else _factors(judgments, rows, scale, kind, study, measures)
    rows, factors = _crossed(rows, scale, kind, named)
    if factors == ["answer"]:
        kind, unit = "answers", ANSWERS
    order = _level_order(rows, factors, study)
    there = set(rows.select(factors).iter_rows())
    every = [cell for cell in product(*(order[name] for name in factors)) if cell in there]
    cells, left_out, by_ends = _most_telling(rows, factors, every, kind)
    place = {cell: number for number, cell in enumerate(cells)}
    people = judgments.participants["participant"].to_list()
    sums, counts = _sums(rows, factors, place, people)
    applied = _rules(screening)
    compared: list[RuleComparison] = []
    model = accuracy = planned = None
    if kind not in ("preference", "answers") and factors != ["all"] and "question" not in factors:
        levels = {name: order[name] for name in named if name in order}
        if kind == "right" and 0 < len(named) <= MOST_FACTORS and not left_out:
            accuracy = right_model(rows, named, levels, applied[0][2])
        model = accuracy if kind == "right" else model_of(measures, question)
        plan = [] if study is None else study.settings.contrast
        planned = right_plan(plan, accuracy) if kind == "right" else None
        decided = planned_rows(measures, question) if kind != "right" else None if planned is None else planned.frame
        compared = comparisons(plan, model, decided, factors, order, cells)
    low, high = _ends(scale, kind, rows)
    bounds = ends(scale) if kind == "means" and "answer" not in rows.columns else (-math.inf, math.inf)
    rules = tuple(
        _outcome(key, name, excluded, people, sums, counts, compared, kind, bounds) for key, name, excluded in applied
    )
    examples = _examples(rows, factors, place)
    shares: tuple[tuple[str, float], ...] = ()
    if kind == "right":
        shares = tuple(rows.group_by("participant", maintain_order=True).agg(pl.col("_value").mean()).iter_rows())
    clear = 0
    if kind == "preference" and left_out:
        rest = {cell: number for number, cell in enumerate(sorted(set(every) - set(cells)))}
        undrawn = _outcome("", "", rules[0].excluded, people, *_sums(rows, factors, rest, people), [], kind, bounds)
        clear = sum(low > HALF or high < HALF for _, low, high in undrawn.cells)
    return Outcomes(
        kind, unit, tuple(factors), tuple(cells), low, high, rules, tuple(compared), left_out, examples,
        _right(rows, shares, rules[0].excluded), shares, clear, by_ends, term_tests(model, named), accuracy, planned,
        question or "", questions=tuple(judgments.scales) if len(judgments.scales) > 1 else (),
        by_question=tuple(_tests_by_question(rows, measures)) if "question" in factors else (),
    )  # fmt: skip


def _tests_by_question(
    rows: pl.DataFrame, measures: Measures | NotComputed
) -> Iterator[tuple[str, tuple[TermTest, ...]]]:
    """The questions that have their own model, with its tests."""
    for name in rows["question"].unique(maintain_order=True):
        model = model_of(measures, name)
        if model is not None and (tests := term_tests(model, model.factors)):
            yield name, tests


def _right(
    rows: pl.DataFrame, shares: Sequence[tuple[str, float]], excluded: Sequence[str]
) -> tuple[float, float, float] | None:
    """The percentage of right answers of those who stay, and the lowest and the highest of a participant."""
    stay = [share for name, share in shares if name not in excluded]
    if not stay:
        return None
    values = rows.filter(~pl.col("participant").is_in(list(excluded)))["_value"]
    return float(values.to_numpy().mean()), min(stay), max(stay)


def _main_question(judgments: Judgments, rows: pl.DataFrame) -> tuple[pl.DataFrame, Scale, str | None]:
    """The rows of the question with most answers; in a differential, of all questions on the same scale.

    The name of the question is None if the rows are of several questions, and empty if there is only one.
    """
    if "question" not in rows.columns or len(judgments.scales) == 1:
        several = "question" in rows.columns and rows["question"].n_unique() > 1
        return rows, next(iter(judgments.scales.values())), None if several else ""
    questions = rows.with_columns(pl.col("question").fill_null(""))
    counts = dict(questions["question"].value_counts().iter_rows())
    # Of questions with equally many answers, the first is taken.
    name = max(judgments.scales, key=lambda question: counts.get(question, 0))
    scale = judgments.scales[name]
    same = [question for question, other in judgments.scales.items() if other == scale]
    if len(same) > FACTORS:
        return questions.filter(pl.col("question").is_in(same)), scale, None
    return questions.filter(pl.col("question") == name).drop("question"), scale, name


def _valued(rows: pl.DataFrame, scale: Scale, study: Study | None) -> tuple[str, str, pl.DataFrame]:
    """The kind of the main result, its unit, and the rows with each answer as a number in _value."""
    if isinstance(scale, Choice):
        return _chosen(rows, study)
    if (isinstance(scale, Nominal | Binary) and _keyed(rows)) or (isinstance(scale, Ordinal) and _keyed(rows, scale)):
        keys = {text: scale.expected(text) for text in rows["expected"].unique().to_list()}
        right = [answer in keys[text] for text, answer in rows.select("expected", "response").iter_rows()]
        return "right", "right answers (%)", rows.with_columns(_value=pl.Series(right).cast(pl.Float64) * 100)
    turned = "polarity" in rows.columns
    if isinstance(scale, Ordinal):
        numbers = dict(enumerate(scale.numbers))
        value = position(scale, turned).cast(pl.Int64).replace_strict(numbers, default=None, return_dtype=pl.Float64)
        return "means", "mean rating", rows.with_columns(_value=value)
    if isinstance(scale, Continuous):
        return "means", "mean rating", rows.with_columns(_value=position(scale, turned))
    if isinstance(scale, Magnitude):
        ratios = rows.with_columns(response=pl.col("response").cast(pl.Float64) / (scale.modulus or 1.0))
        return "means", LOG_UNITS[scale.modulus is not None], ratios.with_columns(_value=position(scale, turned))
    if scale.is_binary:
        return "share", f"“{scale.levels[1]}” (%)", rows.with_columns(_value=position(scale, turned) * 100)
    return "answers", ANSWERS, rows


def _keyed(rows: pl.DataFrame, scale: Ordinal | None = None) -> bool:
    """Whether every answer has a right one; for ratings, one point of the scale."""
    if "expected" not in rows.columns or rows["expected"].null_count():
        return False
    return scale is None or set(rows["expected"].cast(pl.String).unique()) <= set(scale.levels)


def _chosen(rows: pl.DataFrame, study: Study | None) -> tuple[str, str, pl.DataFrame]:
    """Choices as shares of the first of two: of a planned comparison's first level, else of each pair by name."""
    sided = rows.filter(pl.col("response") != "none")
    unit, rows = CHOSEN[sided.height < rows.height], sided
    if not {"left", "right"} <= set(rows.columns):
        return "answers", ANSWERS, rows
    plan = [] if study is None else study.settings.contrast
    for contrast in (contrast for contrast in plan if len(contrast.levels) == 2):
        levelled = between_levels(rows, contrast)
        if levelled.height:
            label = pl.lit(" over ".join(contrast.levels))
            shares = levelled.with_columns(_value=pl.col("_first").cast(pl.Float64) * 100, _pair=label)
            return "preference", unit, shares
    rows = rows.with_columns(_low=pl.min_horizontal("left", "right"), _high=pl.max_horizontal("left", "right"))
    picked = pl.when(pl.col("response") == "left").then("left").otherwise("right")
    rows = rows.with_columns(_value=(picked == pl.col("_low")).cast(pl.Float64) * 100)
    # The item that was chosen more often comes first, so that every share is a preference.
    often = pl.when(pl.col("_value").mean().over("_low", "_high") < 50)
    shares = rows.with_columns(
        _value=often.then(100 - pl.col("_value")).otherwise(pl.col("_value")),
        _pair=often.then(pl.format("{} over {}", "_high", "_low")).otherwise(pl.format("{} over {}", "_low", "_high")),
    )
    return "preference", unit, shares


def _factors(
    judgments: Judgments, rows: pl.DataFrame, scale: Scale, kind: str, study: Study | None,
    measures: Measures | NotComputed,
) -> list[str]:  # fmt: skip
    """The factors of the study, else those of the contrasts, else those by which stimuli vary."""
    if kind == "preference":
        return ["_pair"]
    named: list[str] = []
    if study is not None:
        named = [name for block in study.blocks for name in block.settings.factors]
    if not named and isinstance(measures, Measures):
        named = [name for part in measures.parts if isinstance(part.result, Contrasts) for name in part.result.factors]
    if not named:
        named = judgments.stimuli(scale).effects(rows)
    return [name for name in dict.fromkeys(named) if name in rows.columns and rows[name].drop_nulls().n_unique() > 1]


def _crossed(rows: pl.DataFrame, scale: Scale, kind: str, factors: list[str]) -> tuple[pl.DataFrame, list[str]]:
    """The rows with at most two factors as text; without factors, the answers or the labels take their place."""
    if kind in ("means", "share") and "question" in rows.columns and rows["question"].n_unique() > FACTORS:
        factors = _by_question(rows, factors)
    if kind == "answers" or (not factors and kind == "means" and isinstance(scale, Ordinal)):
        answers = rows.select("participant", "response").with_columns(pl.col("response").cast(pl.String))
        every = pl.DataFrame({"answer": scale.levels or sorted(answers["response"].unique(), key=natural_order)})
        crossed = answers.join(every, how="cross")
        same = (pl.col("response") == pl.col("answer")).cast(pl.Float64) * 100
        return crossed.with_columns(_value=same), ["answer"]
    if not factors and kind == "right":
        rows, factors = rows.with_columns(expected=pl.format("right answer {}", "expected")), ["expected"]
    if not factors:
        rows, factors = rows.with_columns(all=pl.lit("all answers")), ["all"]
    rows = rows.with_columns(pl.col(name).cast(pl.String) for name in factors).drop_nulls(factors)
    while len(factors) > FACTORS:
        *left, first, other = factors
        joined = f"{first}, {other}"
        rows = rows.with_columns(pl.concat_str([first, other], separator=", ").alias(joined))
        factors = [*left, joined]
    return rows, factors


def _by_question(rows: pl.DataFrame, factors: list[str]) -> list[str]:
    """The questions, and as many factors as fit into the figure: a mean over different questions says nothing."""
    if rows["question"].n_unique() <= MOST_LINES:
        for most in range(len(factors), 0, -1):
            names = [*factors[:most], "question"]
            if rows.select(names).drop_nulls().n_unique() <= MOST_CELLS:
                return names
    return ["question"]


def _level_order(rows: pl.DataFrame, factors: Sequence[str], study: Study | None) -> dict[str, list[str]]:
    """The levels of each factor in the order of the study file, else in natural order."""
    stated_levels: dict[str, list[str]] = {}
    for block in () if study is None else study.blocks:
        for name, factor_settings in block.settings.factors.items():
            stated_levels.setdefault(name, list(factor_settings.levels))
    levels = {}
    for factor in factors:
        there = rows[factor].unique(maintain_order=factor == "answer").to_list()
        parts = [stated_levels.get(name, []) for name in factor.split(", ")]
        planned = [", ".join(cell) for cell in product(*parts)] if all(parts) else []
        rest = there if factor == "answer" else sorted(set(there) - set(planned), key=natural_order)
        levels[factor] = [level for level in planned if level in set(there)] + [
            level for level in rest if level not in planned
        ]
    return levels


def _most_telling(
    rows: pl.DataFrame, factors: list[str], cells: list[tuple[str, ...]], kind: str
) -> tuple[list[tuple[str, ...]], int, bool]:
    """The cells of the figure, the number left out, and whether it shows both ends or the cells with most answers."""
    means = {tuple(row[:-2]): (row[-2], row[-1]) for row in
             rows.group_by(factors).agg(pl.col("_value").mean(), pl.len()).iter_rows()}  # fmt: skip
    if kind == "preference":
        cells = sorted(cells, key=lambda cell: (-means[cell][0], cell))
    if len(cells) <= MOST_CELLS:
        return cells, 0, True
    counts = {number for _, number in means.values()}
    if kind == "preference" and max(counts) > 2 * min(counts):
        chosen = sorted(cells, key=lambda cell: -means[cell][1])[:MOST_CELLS]
        return [cell for cell in cells if cell in set(chosen)], len(cells) - MOST_CELLS, False
    ranked = sorted(cells, key=lambda cell: (-(means[cell][0] or 0.0), cell))
    return ranked[: MOST_CELLS // 2] + ranked[-MOST_CELLS // 2 :], len(cells) - MOST_CELLS, True


def _sums(
    rows: pl.DataFrame, factors: list[str], place: dict[tuple[str, ...], int], people: list[str]
) -> tuple[Floats, Floats]:
    """The sum and the number of answers of each participant in each cell."""
    who = {name: number for number, name in enumerate(people)}
    sums, counts = np.zeros((len(people), len(place))), np.zeros((len(people), len(place)))
    grouped = rows.drop_nulls("_value").group_by("participant", *factors).agg(pl.col("_value").sum(), pl.len())
    for name, *cell, total, number in grouped.iter_rows():
        if tuple(cell) in place:
            sums[who[name], place[tuple(cell)]] = total
            counts[who[name], place[tuple(cell)]] = number
    return sums, counts


def _rules(screening: Screening) -> list[tuple[str, str, tuple[str, ...]]]:
    """The rules to compare: key, name and excluded participants; first the rule that the analysis uses."""
    rules: list[tuple[str, str, tuple[str, ...]]] = []
    if screening.exclude is not None:
        rules.append((STATED, "as stated", screening.excluded))
    rules.append((NOBODY, "nobody", ()))
    alone = [(name, tuple(result.flagged)) for name, result in screening.evidence.items() if result.flagged]
    everyone = screening.judgments.participants.height
    alone = [(name, excluded) for name, excluded in alone if len(excluded) <= everyone / 2]
    others = [(name, excluded) for name, excluded in alone if set(excluded) != set(screening.excluded)]
    rules += [(name, f"{_short(title_of(name))} only", excluded) for name, excluded in others[:MOST_RULES]]
    union = tuple(dict.fromkeys(result for _, excluded in alone for result in excluded))
    if len(alone) > 1 and set(union) != set(screening.excluded) and len(union) < everyone:
        rules.append((ALL, "any criterion", union))
    return rules


def _short(title: str) -> str:
    plain = title.split(" (")[0]
    return plain[:1].lower() + plain[1:]


def _outcome(
    key: str, name: str, excluded_names: tuple[str, ...], people: list[str], sums: Floats, counts: Floats,
    compared: Sequence[RuleComparison], kind: str, bounds: tuple[float, float],
) -> RuleOutcome:  # fmt: skip
    out = set(excluded_names)
    stays = np.array([comparison not in out for comparison in people], dtype=bool)
    s, n = sums[stays], counts[stays]
    cells = tuple(_mean_interval(s[:, k], n[:, k], kind, bounds) for k in range(s.shape[1]))
    differences = tuple(_difference(np.array(comparison.weights), s, n) for comparison in compared)
    excluded, answering = (
        tuple(comparison for comparison in people if comparison in out),
        int((n.sum(axis=1) > 0).sum()),
    )
    return RuleOutcome(key, name, excluded, int(stays.sum()), answering, cells, differences)


def _mean_interval(sums: Floats, counts: Floats, kind: str, bounds: tuple[float, float]) -> tuple[float, float, float]:
    """The mean of a cell and its interval, from the sums and counts of each participant's answers."""
    sums, counts = sums[counts > 0], counts[counts > 0]
    people, answers = len(counts), float(counts.sum())
    mean = float(sums.sum() / answers) if people else float("nan")
    if people < 2:
        return mean, float("nan"), float("nan")
    variance = people / (people - 1) * float(((sums - mean * counts) ** 2).sum()) / answers**2
    t = _t(people - 1)
    if kind == "means":
        return mean, max(mean - t * variance**0.5, bounds[0]), min(mean + t * variance**0.5, bounds[1])
    if variance == 0 or answers == people:
        # Equal shares of a few participants do not show how much others would vary.
        alike = float(people)
    else:
        alone = mean * (100 - mean) / (answers - 1)
        alike = min(answers, answers * alone / variance) * (_t(answers - 1) / t) ** 2
    low, high = clopper_pearson(mean / 100 * alike, alike)
    return mean, 100 * low, 100 * high


def _difference(weights: Floats, s: Floats, n: Floats) -> tuple[float, float, float]:
    """A weighted sum of cell means: within participants if most have all cells, else between them."""
    used = weights != 0
    with np.errstate(invalid="ignore", divide="ignore"):
        means, by_person = s.sum(axis=0) / n.sum(axis=0), s / n
    estimate = float((weights * np.where(used, means, 0.0)).sum())
    if not np.isfinite(estimate):
        return float("nan"), float("nan"), float("nan")
    complete = by_person[np.isfinite(by_person[:, used]).all(axis=1)]
    if len(complete) >= 2 and len(complete) >= 0.5 * (n[:, used].sum(axis=1) > 0).sum():
        each = (weights[used] * complete[:, used]).sum(axis=1)
        half = _t(len(each) - 1) * float(each.std(ddof=1)) / len(each) ** 0.5
        return estimate, estimate - half, estimate + half
    variance, smallest = 0.0, np.inf
    for side in (weights > 0, weights < 0):
        with np.errstate(invalid="ignore", divide="ignore"):
            each = s[:, side].sum(axis=1) / n[:, side].sum(axis=1)
        each = each[np.isfinite(each)]
        if len(each) < 2:
            return estimate, float("nan"), float("nan")
        variance, smallest = variance + float(each.var(ddof=1)) / len(each), min(smallest, len(each))
    half = _t(int(smallest) - 1) * variance**0.5
    return estimate, estimate - half, estimate + half


def _t(df: float) -> float:
    return float(stdtrit(df, 0.975))


def _ends(scale: Scale, kind: str, rows: pl.DataFrame) -> tuple[float, float]:
    """The ends of the axis: those of the response scale, else of the answers."""
    if kind != "means" or "answer" in rows.columns:
        return 0.0, 100.0
    if math.isfinite(ends(scale)[0]):
        return ends(scale)
    values = rows["_value"].drop_nulls()
    low, high = float(values.quantile(0.02) or 0.0), float(values.quantile(0.98) or 1.0)
    if high <= low:
        return low, low + 1
    step = round_step(high - low)
    return math.floor(low / step) * step, math.ceil(high / step) * step


def round_step(span: float) -> float:
    """A round distance of ticks that divides an axis of this length into about four parts."""
    power = 10.0 ** math.floor(math.log10(span / 4))
    return next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= span / 4 - 1e-9)


def _examples(rows: pl.DataFrame, factors: list[str], place: dict[tuple[str, ...], int]) -> dict[int, str]:
    """The first sentence of each cell, if sentences are known."""
    if "sentence" not in rows.columns or "sentence" in factors:
        return {}
    examples: dict[int, str] = {}
    firsts = rows.drop_nulls("sentence").sort("item").group_by(factors, maintain_order=True).agg(pl.first("sentence"))
    for *cell, text in firsts.iter_rows():
        if tuple(cell) in place:
            examples[place[tuple(cell)]] = str(text)
    return examples
