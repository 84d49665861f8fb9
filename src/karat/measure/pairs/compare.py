"""The pairs on which measures decide differently, and how often they do.

For every two measures: the share of pairs with the same decision (expert, reverse, none) and Cohen's kappa, which
corrects for the agreement that their shares of decisions give by chance (Cohen 1960),

    kappa = (same - chance) / (1 - chance),    chance = sum over decisions of share_first share_second

Intervals are percentiles of bootstrap samples of pairs: they are about other pairs of this kind, not about other
participants (see `karat.measure.stability` for those). Pairs without a decision are left out of comparisons with that
measure.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import polars as pl

from karat.judgments.columns import unknown_name
from karat.judgments.table import to_polars
from karat.measure.pairs.decisions import SYMBOLS, Decisions
from karat.measure.reliability.agreement import check_bootstrap
from karat.measure.result import MeasureError, MeasureResult, schema_of, table_of
from karat.messages import Message
from karat.models.resampling import interval_around, quotient
from karat.plots import Figure
from karat.plots.ranked import SHOWN, symbols_plot
from karat.types import Floats

WORDS = {word: word for word in SYMBOLS} | {symbol: word for word, symbol in SYMBOLS.items()}
SCHEMA = schema_of("first:s second:s n:i same lower upper kappa kappa_lower kappa_upper opposite:i")
KEY = "✓ the stimulus that experts prefer   × the other one   ~ no difference found"


@dataclass(frozen=True)
class DecisionComparison(MeasureResult):
    """The pairs on which measures differ, and the agreement of measures."""

    disagreements: pl.DataFrame
    """One row per pair on which they differ: pair, and for each measure a check, a cross or a tilde."""
    agreement: pl.DataFrame
    """first, second, n (pairs), same (share), lower, upper, kappa, kappa_lower, kappa_upper, opposite (pairs where one
    endorses the expert's stimulus and one the other)."""
    counts: pl.DataFrame
    """measure, n, expert, reverse, none."""
    everything: pl.DataFrame
    """All pairs, with the decision of each measure."""
    files: ClassVar = {"decisions-compared": "everything", "decisions-agreement": "agreement"}
    figure_file: ClassVar = "decisions-compared"

    @property
    def measures(self) -> list[str]:
        """The names of the measures."""
        return self.counts["measure"].to_list()

    def plot(self, width_cm: float = 16) -> Figure:
        """The decisions on pairs on which measures differ, up to sixty, as checks, crosses and tildes.

        >>> found = compare_decisions({"likert": {"1": "✓", "2": "~"}, "choice": {"1": "×", "2": "~"}})
        >>> found.plot().get_suptitle()
        'Measures differ on 1 of 2 pairs'
        """
        total = self.disagreements.height
        limit = f" (the first {SHOWN} are shown)" if total > SHOWN else ""
        title = f"Measures differ on {total} of {self.everything.height} pairs{limit}"
        return symbols_plot(self.disagreements.head(SHOWN), self.measures, KEY, title, width_cm)

    @property
    def summary(self) -> tuple[Message, ...]:
        """The number of pairs on which measures differ, and the two measures that agree least and most."""
        number = {"different": self.disagreements.height, "pairs": self.everything.height}
        messages = [Message("compare_decisions.different", {"measures": len(self.measures)} | number)]
        comparable = self.agreement.filter(pl.col("same").is_not_null()).sort("same", maintain_order=True)
        rows = [
            {"first": row["first"], "second": row["second"], "same": round(row["same"], 2), "kappa": row["kappa"]}
            for row in comparable.to_dicts()
        ]
        if len(rows) == 1:
            messages.append(Message("compare_decisions.agree", rows[0]))
        elif rows:
            messages.append(Message("compare_decisions.agree_least", rows[0]))
            messages.append(Message("compare_decisions.agree_most", rows[-1]))
        return tuple(messages)


def compare_decisions(
    decisions: Mapping[str, Any], reference: str | None = None, samples: int = 2000, level: float = 0.95, seed: int = 1
) -> DecisionComparison:
    """Compare the decisions of several measures: `Decisions`, or tables of pair and decision, by name.

    With a `reference`, only differences from that measure are shown.

    Parameters
    ----------
    decisions
        The decisions of each measure, by its name.
    reference
        The measure that others are compared with; by default all are compared.

    >>> likert = {"1": "expert", "2": "expert", "3": "none"}
    >>> choice = {"1": "expert", "2": "reverse", "3": "none"}
    >>> found = compare_decisions({"likert": likert, "choice": choice})
    >>> found.table().row(0)
    ('2', '✓', '×')
    >>> print(found)
    2 measures decide differently on 1 of 3 pairs. likert and choice agree on 67 % of pairs (kappa .50).
    """
    if len(decisions) < 2:
        raise MeasureError(Message("compare_decisions.one_measure"))
    if reference is not None and reference not in decisions:
        raise MeasureError(unknown_name("compare_decisions.unknown_reference", reference, list(decisions)))
    check_bootstrap(samples, level)
    everything = _joined({name: _mapping(name, decided) for name, decided in decisions.items()})
    names = list(decisions)
    paired = list(combinations(names, 2))
    if reference is not None:
        paired = [(reference, name) for name in names if name != reference]
    rows = [_compared(everything, *two, samples, level, seed) for two in paired]
    differs = [pl.col(a) != pl.col(b) for a, b in paired]
    different = everything.filter(pl.any_horizontal(differs).fill_null(False))
    missing = everything.filter(pl.any_horizontal(pl.col(names).is_null())).height
    notes = [Message("compare_decisions.undecided", {"n": missing})] if missing else []
    return DecisionComparison(
        different.with_columns(pl.col(names).replace_strict(SYMBOLS, default="", return_dtype=pl.String)),
        table_of(rows, SCHEMA),
        _counts(everything, names), everything,
        settings={"reference": reference, "samples": samples, "level": level, "seed": seed}, notes=tuple(notes),
    )  # fmt: skip


def _mapping(name: str, decisions: Any) -> dict[str, str]:
    """The decision of a measure on each pair, in words."""
    if isinstance(decisions, Decisions):
        decisions = decisions.table()
    elif not isinstance(decisions, Mapping):
        decisions = to_polars(decisions)
    if isinstance(decisions, pl.DataFrame):
        if not {"pair", "decision"} <= set(decisions.columns):
            raise MeasureError(Message("compare_decisions.columns", {"measure": name}))
        twice = decisions.filter(pl.col("pair").is_duplicated())
        if twice.height:
            raise MeasureError(
                Message("compare_decisions.repeated_pair", {"measure": name, "pair": str(twice["pair"][0])})
            )
        decisions = dict(decisions.select("pair", "decision").drop_nulls().iter_rows())
    unknown = [text for text in decisions.values() if text not in WORDS]
    if unknown:
        about = {"decision": str(unknown[0]), "measure": name}
        spellings = {"words": list(SYMBOLS), "symbols": list(SYMBOLS.values())}
        raise MeasureError(Message("compare_decisions.unknown_decision", about | spellings))
    return {str(pair): WORDS[text] for pair, text in decisions.items()}


def _joined(decisions: Mapping[str, Mapping[str, str]]) -> pl.DataFrame:
    """All pairs in the order of the data, with a column for each measure."""
    pairs = list(dict.fromkeys(pair for by_pair in decisions.values() for pair in by_pair))
    columns = {
        name: pl.Series([by_pair.get(pair) for pair in pairs], dtype=pl.String) for name, by_pair in decisions.items()
    }
    if "pair" in columns:
        raise MeasureError(Message("compare_decisions.reserved_name"))
    return pl.DataFrame({"pair": pl.Series(pairs, dtype=pl.String), **columns})


def _compared(
    everything: pl.DataFrame, first: str, second: str, samples: int, level: float, seed: int
) -> tuple[Any, ...]:
    """One row of the agreement of two measures."""
    both = everything.select(first, second).drop_nulls()
    n = both.height
    if not n:
        raise MeasureError(Message("compare_decisions.no_shared_pair", {"first": first, "second": second}))
    words = list(SYMBOLS)
    cell = [len(words) * words.index(a) + words.index(b) for a, b in both.iter_rows()]
    counts = np.bincount(cell, minlength=len(words) ** 2)
    # A bootstrap sample of pairs is a draw of the nine counts.
    draws = np.random.default_rng(seed).multinomial(n, counts / n, size=samples)
    same, kappa = _agreement(np.vstack([counts, draws]) / n)
    ends = [interval_around(values[0], values[1:], level) if samples else (np.nan, np.nan) for values in (same, kappa)]
    opposite = both.filter(pl.col(first) != pl.col(second), pl.all_horizontal(pl.all() != "none")).height
    return first, second, n, float(same[0]), *ends[0], float(kappa[0]), *ends[1], opposite


def _agreement(shares: Floats) -> tuple[Floats, Floats]:
    """The share of equal decisions and kappa for each row of nine shares; kappa is NaN if chance agreement is 1."""
    tables = shares.reshape(-1, 3, 3)
    same = np.trace(tables, axis1=1, axis2=2)
    chance = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1)
    return same, quotient(same - chance, np.where(chance < 1 - 1e-12, 1 - chance, 0.0))


def _counts(everything: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    rows = []
    for name in names:
        column = everything[name].drop_nulls()
        rows.append((name, len(column), *(int((column == word).sum()) for word in SYMBOLS)))
    return pl.DataFrame(rows, schema=["measure", "n", *SYMBOLS], orient="row")
