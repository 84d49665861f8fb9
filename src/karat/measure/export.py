"""Measures on disk: tables, figures, JSON, and an index of the files.

In CSV files, text that a spreadsheet would run as a formula is marked as text. With several questions, a table
has all of them, with the column question; with several models, each model after the first has a file with its name.
"""

from __future__ import annotations

import json
import math
import re
import textwrap
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from karat.errors import KaratError
from karat.judgments.files import replacing, write_table, write_text
from karat.measure.effects.contrasts import Contrasts
from karat.measure.result import MeasureError
from karat.measure.scaling.result import thresholds_figure
from karat.messages import Message
from karat.models.glrm.formulas.frame import FactorVariable
from karat.models.glrm.mixed.terms import INTERCEPT
from karat.plots.style import to_svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from karat.measure.dimensions.profiles import Profiles
    from karat.measure.measured import Measure, Measured


def write(measures: Measured, folder: Path) -> list[Path]:
    """Write everything to a folder, which is created if it is missing; returns the files."""
    if folder.exists() and not folder.is_dir():
        raise KaratError(f"{folder} is a file; give a folder to write to.")
    paths, undrawn = [], {}
    for name, table in tables(measures).items():
        paths.append(folder / f"{name}.csv")
        write_table(paths[-1], table.with_columns(pl.col(pl.Float64).fill_nan(None)))
    for name, part, draw in _figures(measures):
        try:
            svg = to_svg(draw(), part.heading, str(part.result))
        except MeasureError as error:
            undrawn[f"{name}.svg"] = str(error)
            continue
        paths.append(folder / f"{name}.svg")
        write_text(paths[-1], svg)
    texts = {"measures.json": json.dumps(as_data(measures), ensure_ascii=False, indent=2) + "\n"}
    paths += write_r(measures, folder)
    texts["README.txt"] = _index(measures, [*(path.name for path in paths), *texts], undrawn)
    for name, text in texts.items():
        paths.append(folder / name)
        write_text(paths[-1], text)
    return paths


def write_r(measures: Measured, folder: Path) -> list[Path]:
    """Write the models of all contrasts as R scripts, each with the rows that it reads; returns the files."""
    results = [part.result for part in measures.parts if isinstance(part.result, Contrasts)]
    paths = []
    for number, result in enumerate((result for result in results if result.model is not None), start=1):
        name = "analysis" if number == 1 else f"analysis-{number}"
        text, data = r_script(result)
        paths += [folder / f"{name}.R", folder / f"{name}-data.csv"]
        write_text(paths[-2], text.replace("analysis-", f"{name}-"))
        with replacing(paths[-1]) as temporary:
            data.write_csv(temporary)
    return paths


def tables(measures: Measured) -> dict[str, pl.DataFrame]:
    """Every table by the name of its file without the ending."""
    by_name: dict[str, list[pl.DataFrame]] = {}
    for part, suffix in _suffixed(measures):
        for name, table in part.result.exported().items():
            if table.width and table.height:
                part_table = table.select(pl.lit(part.question).alias("question"), pl.all()) if part.question else table
                by_name.setdefault(name + suffix, []).append(part_table)
    return {name: pl.concat(parts_of, how="diagonal_relaxed") for name, parts_of in by_name.items()}


def _suffixed(measures: Measured) -> Iterator[tuple[Measure, str]]:
    """The parts, and the suffix of their files: the model, except for the first one of each question."""
    used: set[tuple[str, str]] = set()
    for part in measures.parts:
        key = (part.name, part.question)
        yield part, f"-{part.label}" if key in used else ""
        used.add(key)


def _figures(measures: Measured) -> Iterator[tuple[str, Measure, Callable[[], Figure]]]:
    """The name of each figure, its part, and the function that draws it."""
    used: dict[str, int] = {}
    for part, suffix in _suffixed(measures):
        for name, draw in figures_of(part.result).items():
            plain = re.sub(r"[^\w]+", "-", part.question).strip("-").lower()[:40]
            whole = name + suffix + (f"-{plain}" if plain else "")
            used[whole] = used.get(whole, 0) + 1
            whole += f"-{used[whole]}" if used[whole] > 1 else ""
            yield whole, part, partial(draw, measures)


def as_data(measures: Measured) -> dict[str, Any]:
    """Everything as plain data."""
    parts = [
        {
            "name": part.name, "question": part.question, "label": part.label, "told": str(part.result),
            "numbers": plain(numbers(part.result)), "settings": plain(getattr(part.result, "settings", {})),
            "notes": [str(note) for note in getattr(part.result, "notes", ())],
            "tables": {name: plain(table.to_dicts()) for name, table in part.result.exported().items()},
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
    """A value as plain JSON data; numbers that are not finite are null."""
    if isinstance(value, Message):
        return plain(value.to_dict())
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple | set):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int | bool) else str(value)


R_FITS: dict[str, tuple[str, str]] = {
    "ordinal": ("ordinal", "clmm({formula}, data = d)"),
    "binary": ("glmmTMB", "glmmTMB({formula}, data = d, family = binomial)"),
    "gaussian": ("lmerTest", "lmer({formula}, data = d, REML = {reml})"),
}
R_TABLES = {
    "ordinal": "coef(summary(m))",
    "binary": "coef(summary(m))$cond",
    "gaussian": 'coef(summary(m, ddf = "{ddf}"))',
}


def r_script(fitted: Contrasts) -> tuple[str, pl.DataFrame]:
    """The model of the contrasts for R, and the rows it was fitted to.

    The fixed effects are a formula with sum-to-zero contrasts. The columns of random slopes that remain after the model
    was simplified are numbers in the table, because R has no uncorrelated slopes of factors.
    """
    model = fitted.model
    if model is None:
        raise MeasureError(Message("contrasts.no_terms"))
    columns: dict[str, Any] = {"response": model.response}
    sentence = []
    for name, column in model.frame.raw.items():
        if isinstance(column, FactorVariable):
            columns[name] = [column.levels[code] for code in column.codes]
            levels = ", ".join(json.dumps(level, ensure_ascii=False) for level in column.levels)
            sentence += [f"d${_r(name)} <- factor(d${_r(name)}, levels = c({levels}))",
                     f"contrasts(d${_r(name)}) <- contr.sum({len(column.levels)})"]  # fmt: skip
        else:
            columns[name] = column.values
    random = []
    for term in model.fit.terms:
        group = term.group.replace(":", "_")
        columns[group] = [str(level) for level in term.levels[term.codes]]
        slopes = {}
        for place, effect in enumerate(term.names):
            if effect != INTERCEPT:
                slopes[effect] = "slope_" + re.sub(r"\W+", "_", effect)
                columns[slopes[effect]] = term.columns[:, place]
        parts = [slopes.get(effect, "1") for effect in term.names]
        together = [parts] if term.covariance == "full" else [[part] for part in parts]
        random += [f"({'' if '1' in part else '0 + '}{' + '.join(part)} | {_r(group)})" for part in together]
    fixed = [":".join(_quoted(part, model.frame.raw) for part in term) for term in model.design.expansion.terms]
    if not fixed or not model.design.expansion.intercept:
        fixed = ["1" if model.design.expansion.intercept else "0", *fixed]
    formula = " + ".join([f"response ~ {' + '.join(fixed)}", *random])
    package, call = R_FITS[model.family]
    if model.family == "ordinal":
        sentence.append("d$response <- factor(d$response, ordered = TRUE)")
    ddf = "Kenward-Roger" if model.method == "kenward-roger" else "Satterthwaite"
    estimates = zip(model.fit.names, model.fit.coefficients, model.standard_errors, strict=True)
    classes = [f'"{name}" = "character"' for name, values in columns.items() if isinstance(values, list)]
    lines = [
        f"# The model of the contrasts, fitted by {package}. Run it in this folder: Rscript analysis.R",
        f"# Asked for: {fitted.formula}",
        f"library({package})",
        'd <- read.csv("analysis-data.csv", check.names = FALSE, na.strings = character(),',
        f"              colClasses = c({', '.join(classes)}))",
        *sentence,
        f"m <- {call.format(formula=formula, reml=str(model.fit.reml).upper())}",
        "print(summary(m))",
        'cat("log-likelihood:", format(as.numeric(logLik(m)), digits = 10), "\\n")',
        f"found <- {R_TABLES[model.family].format(ddf=ddf)}",
        'found <- data.frame(term = gsub("`", "", rownames(found)), found, check.names = FALSE)',
        'write.csv(found, "analysis-r.csv", row.names = FALSE)',
        "# What karat found: term, estimate, standard error",
        *(f"# {name}\t{estimate:.6g}\t{error:.6g}" for name, estimate, error in estimates),
        f"# log-likelihood\t{model.fit.log_likelihood:.6f}",
    ]
    if model.family != "gaussian" and model.method == "satterthwaite":
        lines.append("# R tests these coefficients by z; karat's contrasts have Satterthwaite's degrees of freedom.")
    return "\n".join(lines) + "\n", pl.DataFrame(columns)


R_WORDS = ("if", "else", "repeat", "while", "function", "for", "next", "break", "in", "TRUE", "FALSE", "NULL", "Inf",
           "NaN", "NA")  # fmt: skip
"""Words that R does not read as names."""


def _r(name: str) -> str:
    """A name as R writes it."""
    return name if re.fullmatch(r"[A-Za-z][A-Za-z0-9_.]*", name) and name not in R_WORDS else f"`{name}`"


def _quoted(variable: str, names: Iterable[str]) -> str:
    """A variable of the formula, or a function of variables, with the names as R writes them."""
    pattern = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.sub(rf"(?<![\w.])({pattern})(?![\w.(])", lambda match: _r(match[0]), variable)


def _index(measures: Measured, names: list[str], undrawn: Mapping[str, str]) -> str:
    """The README: the files, and what is missing from them."""
    people = measures.judgments.participants.height
    lines = [
        f"The answers of {people:,} participants, measured by karat. Excluded: {measures.excluded.description}",
        "",
    ]
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
    """The content of a file, by the longest known beginning of its name."""
    if name == "measures.json":
        return "All of it for machines, with all settings and a fingerprint of the data."
    if name.startswith("analysis"):
        rows = name.endswith(".csv")
        return (
            "The rows that the model was fitted to." if rows else "The same model for R; it reads the table beside it."
        )
    stem = name.rpartition(".")[0]
    keys = [key for key in MEANINGS if stem == key or stem.startswith(f"{key}-")]
    meaning = MEANINGS[max(keys, key=len)] if keys else ""
    return f"{meaning} (figure)" if name.endswith(".svg") else meaning


LINES = 4
"""The number of profiles that are drawn if there are too many to distinguish."""
MEANINGS: dict[str, str] = tomllib.loads((files("karat.measure") / "files.toml").read_text(encoding="utf-8"))
"""The content of each file."""


def figures_of(result: Any) -> dict[str, Callable[[Measured], Figure]]:
    """The functions that draw the figures of a result, by the name of their file."""
    name = result.figure_file
    figures: dict[str, Callable[[Measured], Figure]] = {name: lambda _: result.plot()} if name else {}
    if name == "profiles":
        figures[name] = lambda measures: result.plot(_profile_groups(result, measures))
    if name == "strengths" and result.model == "ordinal" and result.fit is not None:
        figures["thresholds"] = lambda _: thresholds_figure(result)
    return figures


def numbers(result: Any) -> dict[str, Any]:
    """The single numbers and words of a result that are in none of its tables, with messages as text."""

    def spelled(value: Any) -> Any:
        if hasattr(value, "_asdict"):
            return value._asdict()
        if isinstance(value, tuple):
            return [*map(str, value)]
        return str(value) if isinstance(value, Message) else value

    return {name: spelled(getattr(result, "p_value" if name == "p" else name)) for name in result.numbers}


def _profile_groups(profiles: Profiles, measures: Measured) -> list[str]:
    """The profiles that are drawn: all if they are few, else the texts at both ends of the first dimension."""
    groups = list(profiles.groups)
    if len(groups) <= LINES:
        return groups
    scores = next((part.result for part in measures.parts if part.name == "scores"), None)
    if scores is None:
        return groups[:LINES]
    ordered = scores.table().sort(scores.dimensions[0], descending=True)["item"].to_list()
    return [*ordered[: LINES // 2], *ordered[-(LINES // 2) :]]
