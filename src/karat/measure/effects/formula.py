"""The formula of a factorial design: all conditions with their interactions, and the slopes that the design allows.

The random effects are the largest that the design supports (Barr, Levy, Scheepers and Tily 2013): participants and
items have an intercept, and a slope for every condition that varies within them. A slope needs more than one answer in
most cells of a participant (or item), since with one the slope cannot be told from chance. With more than four effects
per participant or item, their correlations are left out from the start: a study hardly ever supports them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import polars as pl

from karat.judgments.scales import Binary, Continuous, Magnitude, Nominal, Ordinal, Scale
from karat.measure.errors import MeasureError
from karat.messages import Message
from karat.models.glrm.families import FamilyName

GROUPS = ("participant", "item")
MOST = 0.5
"""More than this share of participants (or items) must see several levels for a condition to vary within them."""
CORRELATED = 4
"""So many effects per participant or item may correlate."""
PLAIN = re.compile(r"[A-Za-z.][\w.]*")


@dataclass(frozen=True)
class DesignFormula:
    """A formula, the one with intercepts alone to fall back on, and the notes on it."""

    text: str
    simple: str
    notes: tuple[Message, ...]


def family_of(scale: Scale, measure: str) -> FamilyName:
    """The family of models that a scale's answers have.

    >>> import karat
    >>> family_of(karat.Ordinal(5), "contrasts"), family_of(karat.Magnitude(), "contrasts")
    ('ordinal', 'gaussian')
    """
    if isinstance(scale, Ordinal):
        return "ordinal" if len(scale.levels) > 2 else "binary"
    if isinstance(scale, Binary) or (isinstance(scale, Nominal) and scale.is_binary):
        return "binary"
    if isinstance(scale, Magnitude | Continuous):
        return "gaussian"
    if isinstance(scale, Nominal):
        raise MeasureError(Message("contrasts.labels", {"measure": measure}))
    raise MeasureError(Message("contrasts.choices", {"measure": measure}))


def quoted(name: str) -> str:
    """A column as a formula names it: in backticks where it is not a plain word.

    >>> quoted("order"), quoted("word order")
    ('order', '`word order`')
    """
    return name if PLAIN.fullmatch(name) else f"`{name}`"


def design_formula(rows: pl.DataFrame, conditions: Sequence[str]) -> DesignFormula:
    """The maximal formula for these conditions.

    >>> import karat
    >>> tests = karat.datasets.load("likert").frame.filter(function="test")
    >>> design_formula(tests, ["order"]).text
    'response ~ order + (1 + order | participant) + (1 + order | item)'
    """
    fixed = " * ".join(map(quoted, conditions))
    rows = rows.drop_nulls(list(conditions))
    if not rows.height:
        raise MeasureError(Message("contrasts.no_values", {"conditions": list(conditions)}))
    parts: list[str] = []
    notes: list[Message] = []
    for group in GROUPS:
        slopes, said = _slopes(rows, conditions, group)
        bar = "|" if _effects(rows, slopes) <= CORRELATED else "||"
        if bar == "||":
            said.append(Message("contrasts.many_slopes", {"group": _group(group)}))
        terms = _terms(slopes)
        parts.append(f"(1{' + ' + terms if terms else ''} {bar if terms else '|'} {group})")
        notes += said
    simple = " + ".join(f"(1 | {group})" for group in GROUPS)
    return DesignFormula(f"response ~ {fixed} + {' + '.join(parts)}", f"response ~ {fixed} + {simple}", tuple(notes))


def _slopes(rows: pl.DataFrame, conditions: Sequence[str], group: str) -> tuple[list[tuple[str, ...]], list[Message]]:
    """The terms that get a slope for each level of a group, and why others do not."""
    varying = [name for name in conditions if _varies(rows, group, name)]
    notes = [
        Message("contrasts.not_within", {"condition": name, "group": _group(group)})
        for name in conditions
        if name not in varying
    ]
    terms = [term for size in range(1, len(varying) + 1) for term in combinations(varying, size)]
    single = [term for term in terms if not _repeated(rows, group, term)]
    if single:
        values = {"terms": [":".join(term) for term in single], "group": _group(group)}
        notes.append(Message("contrasts.one_answer_per_cell", values))
    return [term for term in terms if not any(set(one) <= set(term) for one in single)], notes


def _group(group: str) -> Message:
    return Message("contrasts.participants") if group == "participant" else Message("contrasts.items")


def _varies(rows: pl.DataFrame, group: str, name: str) -> bool:
    several = rows.group_by(group).agg(pl.col(name).n_unique())[name].to_numpy() > 1
    return bool(several.mean() > MOST)


def _repeated(rows: pl.DataFrame, group: str, term: tuple[str, ...]) -> bool:
    """Whether most cells of a participant or item have more than one answer."""
    cells = rows.group_by(group, *term).len()["len"].to_numpy()
    return bool((cells > 1).mean() > MOST)


def _effects(rows: pl.DataFrame, slopes: Sequence[tuple[str, ...]]) -> int:
    """How many columns the random effects have, with the intercept."""
    total = 1
    for term in slopes:
        size = 1
        for name in term:
            size *= 1 if rows[name].dtype.is_numeric() else rows[name].n_unique() - 1
        total += size
    return total


def _terms(slopes: Sequence[tuple[str, ...]]) -> str:
    """The terms as they are written: crossed where all are there."""
    names = list(dict.fromkeys(name for term in slopes for name in term))
    if len(slopes) == 2 ** len(names) - 1:
        return " * ".join(map(quoted, names))
    return " + ".join(":".join(map(quoted, term)) for term in slopes)
