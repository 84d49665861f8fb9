"""All results on one study with methods to write them.

In a terminal each result has a few sentences and a short table; after them come missing results with the reason.
"""

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from karat.measure.export import as_data, write
from karat.measure.measured import Measure, Measured
from karat.measure.result import coefficient
from karat.plots import Figure


@dataclass(frozen=True)
class Measures(Measured):
    """All results on one set of judgments."""

    def lines(self) -> list[str]:
        """All results for a terminal: sentences and short tables."""
        return lines(self)

    def write(self, folder: str | Path) -> list[Path]:
        """Write all tables, figures, measures.json and an index to a folder."""
        return write(self, Path(folder))

    def to_dict(self) -> dict[str, Any]:
        """All results as plain data, as in `measures.json`."""
        return as_data(self)

    def plot(self) -> Figure:
        """The figure of the first result, as a rule the strengths."""
        figure: Figure = self.parts[0].result.plot()
        return figure

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return "\n".join(self.lines())


WIDTH = 118
INDENT = " " * 11
ENDS = 3
"""The number of the strongest and of the weakest stimuli that are shown."""
MOST = 8
"""The most rows of a table."""
LONGEST = 34
"""The most letters of a cell."""
WORDS = {
    "order effects": "order", "decisions compared": "compared", "noise ceiling": "ceiling", "decision study": "needed",
    "number of factors": "number", "annotator test": "machines",
}  # fmt: skip
MANY = ("agreement", "noise ceiling", "decision study", "stability")
"""Results on all questions; if there are many, only the main numbers are shown."""
MANY_QUESTIONS = 2
MAIN = (
    "Krippendorff's alpha (ordinal)", "Krippendorff's alpha (interval)", "Krippendorff's alpha (nominal)",
    "predictions with means", "answers equal to the majority of the others", "stimuli", "Pearson",
)  # fmt: skip
SHARES = ("p", "adjusted", "kmo", "probability", "winning_rate", "advantage")


def lines(measures: Measured) -> list[str]:
    """The lines of the summary.

    >>> import karat
    >>> answers = {"participant": list("aaabbbccc"), "item": list("xyz" * 3), "response": [5, 1, 3, 4, 2, 2, 5, 3, 4]}
    >>> lines(karat.measure.run(karat.Judgments(answers, karat.Ordinal(5))))[0]
    'found      3 participants, 3 items, 9 answers'
    """
    entries = _entry("found", measures.judgments.summary().splitlines()[0])
    entries += _entry("excluded", str(measures.excluded.description))
    for part in measures.parts:
        about = f"{part.question}: " if part.question else ""
        many = main_numbers(part)
        text = f"By question; {part.name.replace(' ', '-')}.csv has all of it."
        text = text if many is not None else " ".join(map(str, (*part.result.summary, *part.result.warnings)))
        entries += _entry(WORDS.get(part.name, part.name), about + " ".join(text.split()))
        table = SHOWN[part.name](part.result) if part.name in SHOWN else many
        if table is not None and table.height:
            entries += [f"{INDENT}  {line}" for line in aligned(table)]
    entries += _notes(measures)
    reasons: dict[str, list[str]] = {}
    for name, reason in measures.skipped.items():
        reasons.setdefault(str(reason), []).append(name)
    for text, names in reasons.items():
        entries += _entry("not run", f"{', '.join(names)}: {text}")
    return entries


def _notes(measures: Measured) -> list[str]:
    """The notes of results that are not shown with their summary, each once."""
    printed = {str(note) for part in measures.parts for note in part.result.warnings}
    lines_of_notes = []
    for part in measures.parts:
        for note in map(str, getattr(part.result, "notes", ())):
            if note not in printed:
                lines_of_notes += _entry("note", f"{part.name}: {note}")
            printed.add(note)
    return lines_of_notes


def main_numbers(part: Measure) -> pl.DataFrame | None:
    """The main number of each question of a result on more than two; None for other results."""
    table: pl.DataFrame = part.result.table() if part.name in MANY else pl.DataFrame({"question": []})
    if table["question"].n_unique() <= MANY_QUESTIONS:
        return None
    kind = next(name for name in ("coefficient", "ceiling", "measured", "measure") if name in table.columns)
    best = next(name for name in MAIN if name in table[kind].to_list())
    rows = table.filter(pl.col(kind) == best).unique("question", keep="first", maintain_order=True)
    groups = [name for name in ("first", "second") if name in rows.columns]
    numbers = [name for name in ("estimate", "needed", "lower", "upper", "now", "reliability") if name in rows.columns]
    return rows.select("question", *groups, kind, *numbers)


def _entry(word: str, text: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=f"{word:<10} ", subsequent_indent=INDENT, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def aligned(table: pl.DataFrame) -> list[str]:
    """A small table as lines, with text aligned left and numbers right."""
    columns = []
    for name in table.columns:
        cells = [name, *(_cell(name, value) for value in table[name].to_list())]
        width = max(map(len, cells))
        left = table[name].dtype == pl.String
        columns.append([cell.ljust(width) if left else cell.rjust(width) for cell in cells])
    return ["  ".join(row).rstrip() for row in zip(*columns, strict=True)]


def _cell(name: str, value: Any) -> str:
    if value is None or value != value:  # NaN
        return ""
    if isinstance(value, float):
        if name in ("p", "adjusted"):
            return "<.001" if value < 0.001 else coefficient(value, 3)
        return coefficient(value) if name in SHARES else f"{round(value, 2) + 0.0:.2f}"
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def _ends(result: Any) -> pl.DataFrame:
    """The strongest and the weakest stimuli."""
    table: pl.DataFrame = result.frame.drop("se")
    if table.height <= 2 * ENDS + 1:
        return table
    gap = pl.DataFrame({"item": ["..."]}, schema={"item": pl.String})
    return pl.concat([table.head(ENDS), gap, table.tail(ENDS)], how="diagonal")


def _columns(names: Sequence[str]) -> Callable[[Any], pl.DataFrame]:
    """A function that selects the first rows of a result's table, with these columns if it has them."""

    def first_rows(result: Any) -> pl.DataFrame:
        table: pl.DataFrame = result.table()
        cut = table.select([name for name in names if name in table.columns]).head(MOST)
        more = table.height - cut.height
        if not more:
            return cut
        return pl.concat([cut, pl.DataFrame({cut.columns[0]: [f"... {more:,} more"]})], how="diagonal_relaxed")

    return first_rows


def _unsure(result: Any) -> pl.DataFrame:
    """The least certain labels."""
    from karat.measure.consensus import SURE

    unsure: pl.DataFrame = result.labels.filter(pl.col("probability") < SURE)
    return unsure.sort("probability", maintain_order=True).drop("tie").head(MOST)


def _machines(result: Any) -> pl.DataFrame:
    """All machines, by question if there are several."""
    table: pl.DataFrame = result.machines.drop("participants")
    return table if table["question"].n_unique() > 1 else table.drop("question")


def _means(result: Any) -> pl.DataFrame | None:
    """The means of the largest term, if they are few."""
    if not result.means.height:
        return None
    term = result.means["term"][-1]
    rows = result.means.filter(pl.col("term") == term)
    names = [name for name in result.factors if rows[name].null_count() < rows.height]
    table = rows.select(*names, "estimate", "lower", "upper", "raw", "n")
    return table if table.height <= MOST else None


SHOWN: dict[str, Callable[[Any], pl.DataFrame | None]] = {
    "strengths": _ends,
    "annotator test": _machines,
    "contrasts": _means,
    "decisions": _columns(
        ["pair", "better", "worse", "estimate", "lower", "upper", "adjusted", "symbol", "equivalence"]
    ),
    "factors": lambda one: one.table().drop("uniqueness").head(2 * MOST),
    "consensus": _unsure,
}
"""The tables below the sentences."""
