"""Composition: the excluded participants by background, and whether a criterion affects one group more than others.

Exclusions can change a sample: attention checks may exclude some groups of participants more than others (Vannette
2016, in Pieper, Börner and Kiss, section 3.3), and older workers were over-represented among those taken for spammers
(Ba, Mancenido, Chiou and Pan, figures 12 and 13). For every group of a background variable, and for the verdict and
each criterion, this gives the share that is flagged, and the group's share of all and of the flagged participants, with
Wilson's 95 % intervals.

A group is compared with all other participants by Fisher's exact test. Holm's adjustment is over all comparisons of one
variable, its groups and the criteria together, because each variable is a separate question. Two groups are one
comparison, and if nobody or everybody is flagged there is none. A criterion counts the participants that it assesses:
those excluded at an earlier stage do not count as passing. Participants without a value of a variable are a group, too.

A number with many values is cut at its quartiles, or at its tertiles if fewer than 40 values are known. The cuts are
rounded to three digits before use, so a label such as "27 to under 35" is exact.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.errors import KaratError
from karat.judgments import Judgments
from karat.judgments.columns import meant
from karat.judgments.stimuli import natural_order
from karat.jupyter import Result
from karat.messages import Message
from karat.models.proportions import fisher, holm, least_fisher, wilson
from karat.screen.evidence import Evidence
from karat.study.criteria import ABOUT_PEOPLE, CRITERIA, is_built_in

if TYPE_CHECKING:
    from matplotlib.figure import Figure


ALPHA = 0.05
VERDICT = "verdict"
PLANTED = "behaviour"
"""The behaviour of simulated participants, which screening should detect and which is no background."""
SCHEMA = {
    "variable": pl.String, "group": pl.String, "criterion": pl.String, "participants": pl.Int64, "flagged": pl.Int64,
    "share": pl.Float64, "lower": pl.Float64, "upper": pl.Float64, "share_of_all": pl.Float64,
    "share_of_flagged": pl.Float64, "lower_of_flagged": pl.Float64, "upper_of_flagged": pl.Float64,
    "p": pl.Float64, "p_adjusted": pl.Float64, "warning": pl.Boolean,
}  # fmt: skip

Flags = dict[str, tuple[NDArray[np.bool_], NDArray[np.bool_]]]


class ScreenedParticipants(Protocol):
    """The parts of a screening that its composition depends on."""

    @property
    def judgments(self) -> Judgments: ...
    @property
    def evidence(self) -> Mapping[str, Evidence]: ...
    @property
    def settings(self) -> Mapping[str, Mapping[str, Any]]: ...
    @property
    def exclude(self) -> str | int | None: ...
    @property
    def excluded(self) -> Sequence[str]: ...


@dataclass(frozen=True)
class Composition(Result):
    """The flagged participants in each group of each background variable, and the groups that differ."""

    groups: pl.DataFrame
    """One row per variable, group and criterion; the criterion `verdict` is the rule of the study."""
    variables: tuple[str, ...]
    warnings: tuple[Message, ...] = ()
    """Criteria that affect one group more, or less, than the others."""
    notes: tuple[Message, ...] = ()
    """Columns that were left out, and why; variables that exclude by intention; groups that are too small to test."""
    participants: int = 0
    alpha: float = ALPHA

    def table(self) -> pl.DataFrame:
        """The groups, those with a warning first."""
        return self.groups.sort("warning", descending=True, maintain_order=True)

    @property
    def criterion(self) -> str | None:
        """The criterion of sentences and figure: the verdict, or without one the criterion that flags most."""
        if not self.groups.height:
            return None
        first = self.groups.filter(pl.col("variable") == self.variables[0])
        counts = dict(first.group_by("criterion", maintain_order=True).agg(pl.col("flagged").sum()).iter_rows())
        # A criterion that flags most participants does not distinguish them.
        few = {name: number for name, number in counts.items() if 2 * number <= self.participants} or counts
        return VERDICT if VERDICT in counts else max(few, key=lambda name: few[name])

    def plot(self, criterion: str | None = None, width_cm: float = 16) -> Figure:
        """Each group's share of all participants and of the excluded, or of those that a criterion flags."""
        from karat.plots.shares import shares_plot

        if not self.groups.height:
            raise KaratError(f"There is nothing to draw. {self}")
        criteria = self.groups["criterion"].unique(maintain_order=True).to_list()
        chosen = criterion or self.criterion or criteria[0]
        if chosen not in criteria:
            raise KaratError(f"There is no evidence of {chosen} here. {meant(chosen, criteria)}")
        rows = self.groups.filter(pl.col("criterion") == chosen)
        word = "excluded" if chosen == VERDICT else "flagged"
        return shares_plot(rows, word, _finding(rows, word if chosen == VERDICT else f"flagged by {chosen}"), width_cm)

    def to_svg(self, criterion: str | None = None) -> str:
        """The figure as SVG."""
        from karat.plots.style import titled_svg

        return titled_svg(self.plot(criterion), str(self))

    @property
    def summary(self) -> tuple[Message, ...]:
        """The number of excluded or flagged participants, and the number of groups that differ."""
        if not self.variables:
            return (Message("composition.no_background"),)
        if not self.groups.height:
            return (Message("composition.no_evidence"),)
        about = self.groups.filter(pl.col("variable") == self.variables[0], pl.col("criterion") == self.criterion)
        flagged, everyone = int(about["flagged"].sum()), int(about["participants"].sum())
        values = {"flagged": flagged, "participants": everyone, "criterion": self.criterion}
        verdict = self.criterion == VERDICT
        first = Message("composition.excluded" if verdict else "composition.flagged", values)
        differing = int(self.groups["warning"].sum())
        if not flagged and not differing:
            return (Message("composition.nobody_excluded" if verdict else "composition.nobody_flagged"),)
        code = "composition.groups_differ" if differing else "composition.no_group_differs"
        return (first, Message(code, {"variables": list(self.variables), "comparisons": differing}))

    def __str__(self) -> str:
        return " ".join(map(str, (*self.summary, *self.warnings[:1])))


def composition(screening: ScreenedParticipants, columns: Sequence[str] | None = None) -> Composition:
    """Compare the groups of each background variable, or of the named `columns` of `judgments.participants`.

    Columns of text or booleans with 2 to 12 different values are compared, and numbers, which are cut at their
    quartiles if they have many (tertiles under 40 participants). Left out, with a note, are ids, times, working time,
    free text, columns that a criterion uses (such as how participation ended, or an eligibility question), columns in
    which all participants differ, and the behaviour of simulated participants.

    Parameters
    ----------
    screening
        The screening, from `karat.screen.run`.
    columns
        The background columns to compare; by default all that are suitable.

    >>> import karat
    >>> screening = karat.screen.run(karat.datasets.load("likert"), {"completion": {}, "remfod": {}})
    >>> print(screening.composition(["source"]))
    6 of 48 participants were excluded. No difference in this share is shown between groups of participants (source).
    """
    people = screening.judgments.participants
    planted = [PLANTED] if columns is None and PLANTED in people.columns else []
    # The column that names the person behind an id, if the rules state one.
    person = screening.settings.get("completion", {}).get("person")
    variables, notes = background(people.drop(planted), columns, [person] if person else [], _used_columns(screening))
    simulated = Message("background.simulated")
    notes += [Message("background.left_out", {"column": name, "why": simulated}) for name in planted]
    flags = _flags(screening, people["participant"].to_list())
    eligible = screening.settings.get("eligibility", {})
    intended = {*eligible.get("answers", {}), *eligible.get("same", {})}
    rows, warnings, too_small = [], [], []
    for variable in variables:
        compared = _compared(variable, flags, intended)
        rows += compared
        warnings += [_warning(row, compared) for row in compared if row["warning"]]
        too_small += _too_small(variable.name, compared, people.height)
    named = [variable.name for variable in variables if variable.name in intended]
    notes += [Message("composition.intended", {"variable": name}) for name in named]
    return Composition(
        pl.DataFrame(rows, schema=SCHEMA), tuple(variable.name for variable in variables), tuple(warnings),
        tuple(notes + too_small), people.height,
    )  # fmt: skip


def _used_columns(screening: ScreenedParticipants) -> set[str]:
    """The columns about participants that a criterion uses, in the rules or not, and which are no background."""
    names = [name for name in CRITERIA if not is_built_in(name) or name in ABOUT_PEOPLE]
    return {column for name in names for column in CRITERIA[name].looks_at(screening.settings.get(name, {}))}


def _flags(screening: ScreenedParticipants, people: list[str]) -> Flags:
    """For the verdict and each criterion, masks of the participants it assesses and of those it flags."""
    flags: Flags = {}
    if screening.exclude is not None:
        excluded = set(screening.excluded)
        flags[VERDICT] = (np.ones(len(people), dtype=bool), np.array([who in excluded for who in people], dtype=bool))
    for name, evidence in screening.evidence.items():
        verdicts = dict(evidence.participants.select("participant", "flagged").iter_rows())
        assessed = np.array([who in verdicts for who in people], dtype=bool)
        flags[name] = (assessed, np.array([verdicts.get(who, False) for who in people], dtype=bool))
    return flags


def _compared(variable: BackgroundVariable, flags: Flags, intended: set[str]) -> list[dict[str, Any]]:
    """The rows of one variable, with p adjusted over all its comparisons."""
    rows: list[dict[str, Any]] = []
    tested: list[list[int]] = []
    for criterion, (assessed, flagged) in flags.items():
        start, everyone, marked = len(rows), int(assessed.sum()), int(flagged.sum())
        for group, members in variable.groups.items():
            counts = int((assessed & members).sum()), int((flagged & members).sum())
            rows.append(_row(variable.name, group, criterion, *counts, everyone, marked))
        filled = [i for i in range(start, len(rows)) if 0 < rows[i]["participants"] < everyone]
        if 0 < marked < everyone:
            tested += [filled] if len(filled) == 2 else [[i] for i in filled]
    if not tested:
        return rows
    adjusted = holm([rows[places[0]]["p"] for places in tested])
    totals = {criterion: (int(assessed.sum()), int(flagged.sum())) for criterion, (assessed, flagged) in flags.items()}
    for test, p in zip(tested, adjusted, strict=True):
        for i in test:
            row = rows[i]
            by_intention = variable.name in intended and row["criterion"] in (VERDICT, "eligibility")
            everyone, marked = totals[row["criterion"]]
            above = row["flagged"] * everyone > marked * row["participants"]
            # Two groups are one test, and must not differ by rounding.
            row["p"], row["p_adjusted"] = rows[test[0]]["p"], float(p)
            row["warning"] = bool(p <= ALPHA) and not by_intention and (above or len(test) == 1)
    return rows


def _row(
    variable: str, group: str, criterion: str, participants: int, flagged: int, everyone: int, marked: int
) -> dict[str, Any]:
    lower, upper = wilson([flagged, flagged], [participants, marked])
    return {
        "variable": variable, "group": group, "criterion": criterion, "participants": participants, "flagged": flagged,
        "share": flagged / participants if participants else None,
        "lower": float(lower[0]) if participants else None, "upper": float(upper[0]) if participants else None,
        "share_of_all": participants / everyone if everyone else None,
        "share_of_flagged": flagged / marked if marked else None,
        "lower_of_flagged": float(lower[1]) if marked else None,
        "upper_of_flagged": float(upper[1]) if marked else None,
        "p": fisher(flagged, participants, marked, everyone) if everyone else 1.0, "p_adjusted": 1.0, "warning": False,
    }  # fmt: skip


def _warning(row: dict[str, Any], rows: list[dict[str, Any]]) -> Message:
    """The warning on a group that differs from all others."""
    others = [other for other in rows if other["criterion"] == row["criterion"] and other["group"] != row["group"]]
    flagged, participants = sum(other["flagged"] for other in others), sum(other["participants"] for other in others)
    more = row["share"] > flagged / participants
    values = {name: row[name] for name in ("criterion", "variable", "group", "flagged", "participants", "p")}
    values |= {"p_adjusted": row["p_adjusted"], "others_flagged": flagged, "others": participants}
    if row["criterion"] == VERDICT:
        return Message("composition.excluded_more" if more else "composition.excluded_less", values)
    return Message("composition.flagged_more" if more else "composition.flagged_less", values)


def _too_small(variable: str, rows: list[dict[str, Any]], everybody: int) -> list[Message]:
    """A note on groups in which even the most uneven verdict would not differ from chance."""
    about = [row for row in rows if row["criterion"] == VERDICT]
    marked = sum(row["flagged"] for row in about)
    if not 0 < marked < everybody or sum(row["participants"] > 0 for row in about) < 2:
        return []
    small = [
        row for row in about if row["participants"] and least_fisher(row["participants"], marked, everybody) > ALPHA
    ]
    if not small:
        return []
    if sum(row["participants"] > 0 for row in about) == 2:
        small = [min(small, key=lambda row: int(row["participants"]))]
    groups = [
        Message("composition.group", {"group": row["group"], "participants": row["participants"]}) for row in small
    ]
    values = {"variable": variable, "groups": groups, "excluded": marked, "participants": everybody}
    return [Message("composition.too_small", values)]


def _finding(rows: pl.DataFrame, word: str) -> str:
    """The title of a figure of the groups."""
    first = rows.filter(pl.col("variable") == rows["variable"][0])
    flagged, everyone = int(first["flagged"].sum()), int(first["participants"].sum())
    if not flagged:
        return f"Nobody of {everyone:,} is {word}"
    warned = rows.filter(pl.col("warning"))
    if not warned.height:
        return f"{flagged:,} of {everyone:,} are {word}, and no group differs"
    row = warned.row(0, named=True)
    about = rows.filter(pl.col("variable") == row["variable"])
    rest = (int(about["flagged"].sum()) - row["flagged"], int(about["participants"].sum()) - row["participants"])
    group = f"{row['variable']} = {row['group']}"
    return f"{row['flagged']} of {row['participants']} with {group} are {word}, {rest[0]} of {rest[1]} others"


MOST_GROUPS = 12
LONGEST_NAME = 80
"""The most letters in the name of a group."""
MOST_NUMBERS = 5
"""The most different numbers that are not cut."""
ENOUGH_FOR_QUARTILES = 40
NOT_KNOWN = "not known"
TIMES = ("started", "finished", "working_time", "time", "duration")


@dataclass(frozen=True)
class BackgroundVariable:
    """A background variable and masks of its groups, which together are all participants."""

    name: str
    groups: dict[str, NDArray[np.bool_]]


def background(
    people: pl.DataFrame,
    columns: Sequence[str] | None = None,
    ids: Collection[str] = (),
    used: Collection[str] = (),
) -> tuple[list[BackgroundVariable], list[Message]]:
    """The variables that can be compared, or the named ones, and notes on the columns left out."""
    names = [name for name in people.columns if name != "participant"]
    if columns is not None:
        for name in columns:
            if name not in names:
                raise KaratError(f"Nothing called {name} is known of participants. {meant(name, names or ['nothing'])}")
        return [_named(people[name]) for name in columns], []
    variables: list[BackgroundVariable] = []
    notes: list[Message] = []
    for name in names:
        if name in ids or name in used:
            why: Message | None = Message("background.names" if name in ids else "background.criterion")
        else:
            why = _unfit(people[name])
        if why is not None:
            notes.append(Message("background.left_out", {"column": name, "why": why}))
        else:
            variables.append(BackgroundVariable(name, _groups(people[name])))
    return variables, notes


def _unfit(column: pl.Series) -> Message | None:
    """Why a column is not a background variable; None if it is one."""
    name = column.name.lower()
    if column.dtype.is_temporal() or name in TIMES:
        return Message("background.time")
    if name == "id" or name.endswith("_id"):
        return Message("background.names")
    texts = _texts(column).drop_nulls()
    different = texts.n_unique()
    if different < 2:
        same = different and len(texts) == len(column)
        return Message("background.same_value" if same else "background.too_few_values")
    # Browser names and remarks are not groups of participants.
    if not column.dtype.is_numeric() and int(texts.str.len_chars().max() or 0) > LONGEST_NAME:  # type: ignore[arg-type]
        return Message("background.long")
    # Two participants who differ are two groups; three or more who all differ are like names.
    if different == len(texts) and different > 2:
        return Message("background.all_different")
    if not column.dtype.is_numeric() and different > MOST_GROUPS:
        return Message("background.too_many_values", {"values": different})
    return None


def _named(column: pl.Series) -> BackgroundVariable:
    """A named variable."""
    if column.dtype.is_temporal():
        raise KaratError(f"{column.name} is a time, which has no groups. Add a column that says which time is meant.")
    different = _texts(column).drop_nulls().n_unique()
    if not column.dtype.is_numeric() and different > MOST_GROUPS:
        raise KaratError(
            f"{column.name} has {different} different values, too many to compare. Add a column with at most "
            f"{MOST_GROUPS} groups."
        )
    return BackgroundVariable(column.name, _groups(column))


def _texts(column: pl.Series) -> pl.Series:
    """The values as text, empty ones missing."""
    if column.dtype.is_float():
        column = column.fill_nan(None)
    texts = column.cast(pl.String).str.strip_chars()
    return texts.set(texts == "", None)


def _groups(column: pl.Series) -> dict[str, NDArray[np.bool_]]:
    numeric = column.dtype.is_numeric()
    if numeric and column.drop_nulls().n_unique() > MOST_NUMBERS:
        groups = _cut(column.cast(pl.Float64).fill_nan(None))
    else:
        texts = _texts(column)
        values = texts.drop_nulls().unique().to_list()
        ordered = sorted(values, key=float) if numeric else sorted(values, key=natural_order)
        groups = {}
        for text in ordered:
            # Numbers that differ only by rounding are one group.
            label = f"{float(text):.10g}" if numeric else text
            groups[label] = groups.get(label, np.zeros(len(column), dtype=bool)) | _mask(texts == text)
    missing = _mask(_texts(column).is_null())
    if missing.any():
        groups[NOT_KNOWN] = groups.get(NOT_KNOWN, np.zeros_like(missing)) | missing
    return groups


def _cut(numbers: pl.Series) -> dict[str, NDArray[np.bool_]]:
    """Numbers in groups between their quartiles or tertiles, without empty groups."""
    values = np.sort(numbers.drop_nulls().to_numpy())
    parts = 4 if len(values) >= ENOUGH_FOR_QUARTILES else 3
    wanted = [float(f"{values[len(values) * part // parts]:.3g}") for part in range(1, parts)]
    cuts = sorted({cut for cut in wanted if values[0] < cut <= values[-1]})
    ends = [-np.inf, *cuts, np.inf]
    groups = {}
    for low, high in pairwise(ends):
        label = f"{low:,.10g} to under {high:,.10g}"
        label = f"under {high:,.10g}" if low == -np.inf else f"{low:,.10g} and over" if high == np.inf else label
        mask = _mask(
            (numbers >= low) & (numbers < high if high < np.inf else pl.repeat(True, len(numbers), eager=True))
        )
        if mask.any():
            groups["all" if not cuts else label] = mask
    return groups


def _mask(values: pl.Series) -> NDArray[np.bool_]:
    return values.fill_null(False).to_numpy().astype(bool)
