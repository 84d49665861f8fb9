"""Measured on disk: tables for people, figures, JSON for machines, and an index that says what is where.

The CSV files are made for spreadsheets: text that a spreadsheet would run as a formula is marked as text. Where several
questions were measured one by one, a table has them all, with the column question; where there are several models, each
further one has a file with its name.

Which tables, figures and single numbers each kind of result has, and what its files are called.
"""

from __future__ import annotations

import json
import math
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from karat.errors import KaratError
from karat.judgments.files import escape_formulas, replacing
from karat.measure.dimensions.adequacy import Adequacy
from karat.measure.dimensions.factors import Factors
from karat.measure.effects.contrasts import Contrasts
from karat.measure.effects.planned import PlannedContrasts
from karat.measure.result import MeasureError
from karat.measure.scaling.result import Strengths, thresholds_figure
from karat.messages import Message
from karat.plots.style import to_svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from karat.measure.dimensions.profiles import Profiles
    from karat.measure.measured import Measure, Measured


def write(measures: Measured, folder: Path) -> list[Path]:
    """Write everything to a folder, which is made where it is missing; returns the files."""
    if folder.exists() and not folder.is_dir():
        raise KaratError(f"{folder} is a file; give a folder to write to.")
    paths, undrawn = [], {}
    for name, table in tables(measures).items():
        paths.append(folder / f"{name}.csv")
        with replacing(paths[-1]) as temporary:
            escape_formulas(table.with_columns(pl.col(pl.Float64).fill_nan(None))).write_csv(temporary)
    for name, part, draw in _figures(measures):
        try:
            drawn = to_svg(draw(), part.heading, str(part.result))
        except MeasureError as error:
            undrawn[f"{name}.svg"] = str(error)
            continue
        paths.append(folder / f"{name}.svg")
        with replacing(paths[-1]) as temporary:
            temporary.write_text(drawn, encoding="utf-8")
    texts = {"measures.json": json.dumps(as_data(measures), ensure_ascii=False, indent=2) + "\n"}
    texts["README.txt"] = _index(measures, [*(path.name for path in paths), "measures.json"], undrawn)
    for name, text in texts.items():
        paths.append(folder / name)
        with replacing(paths[-1]) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return paths


def tables(measures: Measured) -> dict[str, pl.DataFrame]:
    """Every table by the name of its file, without the ending.

    >>> import karat
    >>> answers = {"participant": list("aaabbbccc"), "item": list("xyz" * 3), "response": [5, 1, 3, 4, 2, 2, 5, 3, 4]}
    >>> list(tables(karat.measure.run(karat.Judgments(answers, karat.Ordinal(5)))))[:3]
    ['strengths', 'agreement', 'noise-ceiling']
    """
    found: dict[str, list[pl.DataFrame]] = {}
    for part, suffix in _suffixed(measures):
        for name, table in TABLES[part.name](part.result).items():
            if table.width and table.height:
                own = table.select(pl.lit(part.question).alias("question"), pl.all()) if part.question else table
                found.setdefault(name + suffix, []).append(own)
    return {name: pl.concat(own, how="diagonal_relaxed") for name, own in found.items()}


def _suffixed(measures: Measured) -> Iterator[tuple[Measure, str]]:
    """The parts, and what their files are called besides: the model, from the second one of a question on."""
    seen: set[tuple[str, str]] = set()
    for part in measures.parts:
        key = (part.name, part.question)
        yield part, f"-{part.label}" if key in seen else ""
        seen.add(key)


def _figures(measures: Measured) -> Iterator[tuple[str, Measure, Callable[[], Figure]]]:
    """The name of each figure, what it shows, and what draws it."""
    used: dict[str, int] = {}
    for part, suffix in _suffixed(measures):
        for name, draw in figures_of(part.name, part.result).items():
            plain = re.sub(r"[^\w]+", "-", part.question).strip("-").lower()[:40]
            whole = name + suffix + (f"-{plain}" if plain else "")
            used[whole] = used.get(whole, 0) + 1
            whole += f"-{used[whole]}" if used[whole] > 1 else ""
            yield whole, part, lambda draw=draw, part=part: draw(part.result, measures)  # type: ignore[misc]


def as_data(measures: Measured) -> dict[str, Any]:
    """Everything as plain data.

    >>> import karat
    >>> answers = {"participant": list("aaabbbccc"), "item": list("xyz" * 3), "response": [5, 1, 3, 4, 2, 2, 5, 3, 4]}
    >>> found = as_data(karat.measure.run(karat.Judgments(answers, karat.Ordinal(5))))
    >>> list(found)
    ['data', 'study', 'participants', 'excluded', 'settings', 'parts', 'skipped']
    >>> found["parts"][0]["tables"]["strengths"][0]["rank"]
    1
    """
    parts = [
        {
            "name": part.name, "question": part.question, "label": part.label, "told": str(part.result),
            "numbers": plain(numbers(part.result)), "settings": plain(getattr(part.result, "settings", {})),
            "notes": [str(note) for note in getattr(part.result, "notes", ())],
            "tables": {name: plain(table.to_dicts()) for name, table in TABLES[part.name](part.result).items()},
        }
        for part in measures.parts
    ]  # fmt: skip
    return {
        "data": measures.judgments.fingerprint(), "study": measures.study,
        "participants": measures.judgments.participants.height, "excluded": measures.excluded.to_dict(),
        "settings": plain(measures.settings), "parts": parts,
        "skipped": {name: str(reason) for name, reason in measures.skipped.items()},
    }  # fmt: skip


def plain(value: Any) -> Any:
    """A value as JSON knows it; what is no number is null.

    >>> plain({"a": np.float64(0.5), "b": (float("nan"), np.int64(2)), "c": np.eye(1)})
    {'a': 0.5, 'b': [None, 2], 'c': [[1.0]]}
    """
    if isinstance(value, Message):
        return plain(value.to_dict())
    if isinstance(value, Mapping):
        return {str(key): plain(own) for key, own in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple | set):
        return [plain(own) for own in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int | bool) else str(value)


def _index(measures: Measured, names: list[str], undrawn: Mapping[str, str]) -> str:
    """What is in the folder, and what is not."""
    people = measures.judgments.participants.height
    lines = [f"What {people:,} participants said, measured by karat. Excluded: {measures.excluded.told}", ""]
    lines += [_entry(name, _meaning(name)) for name in names]
    lines += ["", "Not measured:"] if measures.skipped else []
    lines += [_entry(name, str(reason)) for name, reason in measures.skipped.items()]
    lines += ["", "Not drawn:"] if undrawn else []
    lines += [_entry(name, why) for name, why in undrawn.items()]
    notes = dict.fromkeys(
        f"{part.heading}: {note}" for part in measures.parts for note in getattr(part.result, "notes", ())
    )
    lines += ["", "Notes:"] if notes else []
    lines += [textwrap.fill(note, 110, subsequent_indent="  ") for note in notes]
    return "\n".join(lines) + "\n"


def _entry(name: str, text: str) -> str:
    return textwrap.fill(text, 110, initial_indent=f"{name:<26} ", subsequent_indent=" " * 27)


def _meaning(name: str) -> str:
    """What a file has, by the longest beginning of its name that is known."""
    if name == "measures.json":
        return "All of it for machines, with all settings and a fingerprint of the data."
    stem = name.rpartition(".")[0]
    known = [key for key in TOLD if stem == key or stem.startswith(f"{key}-")]
    told = TOLD[max(known, key=len)] if known else ""
    return f"{told} (figure)" if name.endswith(".svg") else told


LINES = 4
"""So many profiles are drawn where there are too many to distinguish."""
TABLES: dict[str, Callable[[Any], dict[str, pl.DataFrame]]] = {
    "strengths": lambda one: {"strengths": one.frame},
    "measures": lambda one: {"measures": one.frame, "measures-scores": one.scores},
    "contrasts": lambda one: {
        "tests": one.frame, "contrasts": one.differences, "interactions": one.interactions, "means": one.means,
        "coefficients": one.coefficients,
    },
    "planned": lambda one: {"planned": one.frame},
    "order effects": lambda one: {"order-effects": one.frame, "order-tests": one.tests},
    "decisions": lambda one: {"decisions": one.frame},
    "decisions compared": lambda one: {
        "decisions-compared": one.everything, "decisions-agreement": one.agreement,
    },
    "agreement": lambda one: {"agreement": one.coefficients},
    "noise ceiling": lambda one: {"noise-ceiling": one.ceilings},
    "decision study": lambda one: {"decision-study": one.needed, "variances": one.variances},
    "stability": lambda one: {
        "stability": one.comparisons, "stability-participants": one.participants, "stability-scores": one.scores,
        "stability-disagreements": one.disagreements,
    },
    "ratings": lambda one: {"ratings": one.frame},
    "adequacy": lambda one: {"adequacy": one.items},
    "number of factors": lambda one: {"number-of-factors": one.rules, "eigenvalues": one.eigenvalues},
    "factors": lambda one: {
        "loadings": one.table(), "factor-correlations": _factor_correlations(one), "explained": one.explained,
    },
    "scores": lambda one: {"scores": one.frame},
    "profiles": lambda one: {"profiles": one.frame},
    "consensus": lambda one: {
        "consensus": one.labels, "soft-labels": one.probabilities, "labellers": one.participants,
        "confusion": one.confusion,
    },
}  # fmt: skip
FIGURES: dict[str, dict[str, Callable[[Any, Measured], Figure]]] = {
    "strengths": {"strengths": lambda one, _: one.plot()},
    "measures": {"measures": lambda one, _: one.plot()},
    "contrasts": {"means": lambda one, _: one.plot()},
    "order effects": {"order-effects": lambda one, _: one.plot()},
    "decisions compared": {"decisions-compared": lambda one, _: one.plot()},
    "number of factors": {"eigenvalues": lambda one, _: one.plot()},
    "profiles": {"profiles": lambda one, measures: one.plot(_shown(one, measures))},
}
TOLD = {
    "strengths": "The strength of every stimulus with its interval, the strongest first.",
    "thresholds": "The latent line of the ordinal model, cut into the points of the scale.",
    "measures": "Rank correlations between ways to measure the same stimuli.",
    "measures-scores": "The strengths that were correlated, side by side.",
    "tests": "Type III tests of conditions and their interactions.",
    "contrasts": "Differences between conditions, with Holm's adjustment and effect sizes.",
    "interactions": "Differences of differences, and whether they depend on the scale.",
    "means": "Estimated marginal means of conditions, with plain means beside.",
    "coefficients": "The coefficients of the model.",
    "planned": "The comparisons that the study file planned: the first level minus the second.",
    "order-effects": "How answers and response times change over ten trials, by condition.",
    "order-tests": "Tests of the position and of its interaction with conditions.",
    "decisions": "For each pair: as experts say, the other way round, or neither; and whether they are equivalent.",
    "decisions-compared": "All pairs with the decision of each model.",
    "decisions-agreement": "How often models decide alike.",
    "agreement": "Coefficients of agreement between participants.",
    "noise-ceiling": "How well predictions of these judgments can do at best.",
    "decision-study": "How many participants and items a reliability of .80 takes.",
    "variances": "Variances of stimuli, participants and the rest.",
    "stability": "How well scores and decisions of two sessions or groups go together.",
    "stability-participants": "Participants who judged twice: how their own answers go together.",
    "stability-scores": "The scores of stimuli in each session or group.",
    "stability-disagreements": "Pairs that are decided differently.",
    "ratings": "One row per case, one column per pair of adjectives, polarity aligned.",
    "adequacy": "The measure of Kaiser, Meyer and Olkin for each pair.",
    "number-of-factors": "How many factors there are, by each rule.",
    "eigenvalues": "Eigenvalues beside those of random data.",
    "loadings": "Loadings of pairs on factors, with communalities.",
    "factor-correlations": "How factors correlate.",
    "explained": "The variance that each factor explains.",
    "scores": "Where each text stands on each dimension.",
    "profiles": "The mean rating of each text on each pair.",
    "consensus": "The label of each item with its probability (Dawid and Skene).",
    "soft-labels": "The probability of every label of each item, to learn from.",
    "labellers": "What is known of each participant's errors.",
    "confusion": "How often each participant answers what, given the true label.",
}
"""What each file has."""


def figures_of(name: str, result: Any) -> dict[str, Callable[[Any, Measured], Figure]]:
    """The figures of a result, by the name of their file.

    >>> import karat
    >>> list(figures_of("strengths", karat.measure.strengths(karat.datasets.load("likert"))))
    ['strengths', 'thresholds']
    """
    found = dict(FIGURES.get(name, {}))
    if isinstance(result, Strengths) and result.model == "ordinal" and result.fit is not None:
        found["thresholds"] = lambda one, _: thresholds_figure(one)
    return found


def numbers(result: Any) -> dict[str, Any]:
    """The single numbers and words of a result that stand in none of its tables.

    >>> import karat
    >>> numbers(karat.measure.strengths(karat.datasets.load("crowd"), "mean"))["model"]
    'mean'
    """
    if isinstance(result, Strengths):
        return {"model": result.model, "unit": str(result.unit), "level": result.level}
    if isinstance(result, Contrasts):
        steps = [str(step) for step in result.simplified]
        return {"formula": result.formula, "unit": str(result.unit), "level": result.level, "simplified": steps}
    if isinstance(result, Adequacy):
        return {"kmo": result.kmo, "bartlett": result.bartlett._asdict(), "observations": result.observations}
    if isinstance(result, Factors):
        fit = {"chi2": result.chi2, "dof": result.dof, "p": result.p_value, "rmsea": result.rmsea}
        return fit | {"converged": result.converged}
    if isinstance(result, PlannedContrasts):
        return {"unit": str(result.unit)}
    return {}


def _factor_correlations(found: Factors) -> pl.DataFrame:
    columns = {name: found.correlations[:, place] for place, name in enumerate(found.names)}
    return pl.DataFrame({"factor": list(found.names), **columns})


def _shown(found: Profiles, measures: Measured) -> list[str]:
    """The profiles that are drawn: all where they are few, else the texts at both ends of the first dimension."""
    groups = list(found.groups)
    if len(groups) <= LINES:
        return groups
    scores = next((part.result for part in measures.parts if part.name == "scores"), None)
    if scores is None:
        return groups[:LINES]
    ordered = scores.table().sort(scores.dimensions[0], descending=True)["item"].to_list()
    return [*ordered[: LINES // 2], *ordered[-(LINES // 2) :]]
