"""Person-total correlation: whose answers do not go along with those of the others.

For participant i and stimulus s (an item in one condition and, where there are several, one question), m_is is the
mean answer of all others who saw the same stimulus. The score is

    r_i = correlation of y_is and m_is over the stimuli s that i answered

(the personal point-biserial correlation of test theory, Donlon and Fischer 1968; as an index of careless answers
Curran 2016). The participant's own answers never enter m_is; otherwise everybody would go along with themselves. In a
Latin square each participant is compared with those who saw the same version of each item. A participant's several
answers to one stimulus count as their mean. At least five stimuli with two others each are needed.

Somebody who guesses has a score about 0, somebody who uses the scale the other way round a negative one; whoever gives
one answer throughout has none, and straightlining finds them. It supposes that people agree on the whole: a minority
with another grammar has a low score in earnest. Where guessers are many, everybody's scores go down. The usual cutoff
of 0 is cautious: of those who guess every second is below it.

Answers without an order are compared in the same way. Nominal answers count as one number for each category, 1 where
it was given and 0 where not, m_is is the share of the others who gave it, and r_i runs over all stimuli and categories
(each category centred; with two categories this is the correlation above). Choices count as 1 for the one item, -1 for
the other and 0 for no difference, whatever side they stood on; as it is arbitrary which of them is called the one, the
numbers are not centred: r_i = sum y m / sqrt(sum y^2 sum m^2).
"""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.errors import counted
from karat.judgments import Judgments
from karat.scales import Scale
from karat.screen.answer_table import (
    Floats,
    Ints,
    correlation_text,
    correlations,
    evidence_table,
    numbered,
    ordered_answers,
    owners,
    stimuli_text,
    with_stimuli,
    without_score,
)
from karat.screen.evidence import Evidence, ScreenError, everybody
from karat.screen.positions import answered, by_scale, is_ordered, position

AT_LEAST = 0.0
FEWEST_STIMULI = 5
FEWEST_OTHERS = 2


def person_total(judgments: Judgments, at_least: float = AT_LEAST) -> Evidence:
    """How well each participant's answers go along with the others'; flagged where the score is below `at_least`.

    Further columns: stimuli (how many were compared) and others (how many others answered each, on average). Where
    there are ratings and choices, the kind with the most answers is compared.

    >>> import karat
    >>> person_total(karat.datasets.load("likert"), at_least=0.3).flagged
    ['p06', 'p11', 'p20', 'p35']
    """
    if not -1 <= at_least <= 1:
        raise ScreenError(f"person_total: at_least must be a correlation from -1 to 1, got {at_least}.")
    rows, notes, centred = _comparable(judgments)
    people = everybody(judgments)
    cells = rows.group_by("participant", "_stimulus", "_part", maintain_order=True).agg(pl.col("_value").mean())
    means, others = _others(numbered(cells, ["_stimulus", "_part"]).to_numpy(), cells["_value"].to_numpy())
    cells = cells.with_columns(_mean=means, _others=others).filter(pl.col("_others") >= FEWEST_OTHERS)
    stimuli = cells.unique(["participant", "_stimulus"])
    counts = np.bincount(owners(people, stimuli), minlength=people.height)
    if counts.max() < FEWEST_STIMULI:
        raise ScreenError(
            f"person_total needs {FEWEST_STIMULI} stimuli that {FEWEST_OTHERS} others answered too, and nobody has "
            f"more than {counts.max()}."
        )
    company = np.bincount(owners(people, stimuli), stimuli["_others"].to_numpy(), people.height) / np.maximum(counts, 1)
    scores = _scores(people, cells, centred)
    same = _same_throughout(cells)
    told: list[tuple[object, ...]] = []
    for place, name in enumerate(people["participant"].to_list()):
        count, score, beside = int(counts[place]), float(scores[place]), float(company[place])
        if count < FEWEST_STIMULI or score != score:
            told.append((name, None, at_least, False, _why_not(count, name in same), count, beside if count else None))
            continue
        shown = correlation_text(score, at_least)
        reason = f"answers correlate by {shown} with the others' ({count} stimuli, {beside:.1f} others each)"
        told.append((name, score, at_least, score < at_least, reason, count, beside))
    table = evidence_table(told, {"stimuli": pl.Int64, "others": pl.Float64})
    return Evidence(table, "person_total", {"at_least": at_least}, (*notes, *without_score(table)))


def _why_not(count: int, same: bool) -> str:
    if count < FEWEST_STIMULI:
        return (
            f"not computed: {stimuli_text(count)} that {FEWEST_OTHERS} others answered too, {FEWEST_STIMULI} are needed"
        )
    if same:
        return f"not computed: the same answer to all {count} stimuli"
    return f"not computed: the others' answers are on average the same for all {count} stimuli"


def _same_throughout(cells: pl.DataFrame) -> set[str]:
    """Those who gave one answer only."""
    kinds = cells.group_by("participant", "_part").agg(pl.col("_value").n_unique().alias("kinds"))
    most = kinds.group_by("participant").agg(pl.col("kinds").max())
    return set(most.filter(pl.col("kinds") == 1)["participant"].to_list())


def _scores(people: pl.DataFrame, cells: pl.DataFrame, centred: bool) -> Floats:
    """The correlation of each participant's own answers with the others' means."""
    owner, part = owners(people, cells), cells["_part"].to_numpy()
    centre = owner * (int(part.max(initial=0)) + 1) + part if centred else np.full_like(owner, -1)
    return correlations(owner, cells["_value"].to_numpy(), cells["_mean"].to_numpy(), people.height, centre)


def _others(cell: Ints, values: Floats) -> tuple[Floats, Ints]:
    """The mean of the others' values in the same cell, and how many others there are."""
    counts = np.bincount(cell)[cell] - 1
    sums = np.bincount(cell, values)[cell] - values
    return np.divide(sums, counts, out=np.zeros(len(values)), where=counts > 0), counts.astype(np.int64)


def _comparable(judgments: Judgments) -> tuple[pl.DataFrame, list[str], bool]:
    """The answers as numbers with their stimulus and, for nominal scales, category; whether they are to be centred."""
    rows = answered(judgments)
    if not rows.height:
        raise ScreenError("person_total: nobody answered anything outside practice.")
    by_kind: dict[str, list[tuple[Scale, pl.DataFrame]]] = {"ordered": [], "choice": [], "nominal": []}
    for scale, part in by_scale(judgments, rows):
        by_kind["ordered" if is_ordered(scale) else scale.kind].append((scale, part))
    answers = {kind: sum(part.height for _, part in parts) for kind, parts in by_kind.items()}
    kind = max(answers, key=lambda name: answers[name])
    if kind == "ordered":
        table, notes = ordered_answers(judgments, "person_total")
        table, more = with_stimuli(table)
        return table.with_columns(_part=pl.lit(0, pl.Int64)), notes + more, True
    left_out = [counted(number, f"{name} answer") for name, number in answers.items() if number and name != kind]
    notes = [f"Only {kind} answers are compared; {' and '.join(left_out)} left out."] if left_out else []
    if kind == "choice":
        chosen = pl.concat([_choices(scale, part) for scale, part in by_kind[kind]])
        further = tuple(name for name in ("_first", "_second") if name in chosen.columns)
        table, more = with_stimuli(chosen, further)
        return table.with_columns(_part=pl.lit(0, pl.Int64)), notes + more, False
    table, more = with_stimuli(pl.concat([part for _, part in by_kind[kind]]))
    return _categories(judgments, table), notes + more, True


def _choices(scale: Scale, rows: pl.DataFrame) -> pl.DataFrame:
    """Choices as 1, -1 or 0: for the item that comes first in the alphabet, where both are named, else for the left."""
    place = position(scale, aligned="polarity" in rows.columns)
    side = pl.when(place == 0).then(1.0).when(place == 1).then(-1.0).otherwise(0.0)
    if not {"left", "right"} <= set(rows.columns):
        return rows.with_columns(_value=side)
    shown = (
        pl.when(pl.col("response") == "left").then(1.0).when(pl.col("response") == "right").then(-1.0).otherwise(0.0)
    )
    turned = pl.when(pl.col("left") > pl.col("right")).then(-shown).otherwise(shown)
    named = pl.col("left").is_not_null() & pl.col("right").is_not_null()
    return rows.with_columns(
        _value=pl.when(named).then(turned).otherwise(side),
        _first=pl.min_horizontal("left", "right"),
        _second=pl.max_horizontal("left", "right"),
    )


def _categories(judgments: Judgments, rows: pl.DataFrame) -> pl.DataFrame:
    """Nominal answers as 1 and 0 for each category of their scale."""
    tables = []
    first = 0
    for scale, part in by_scale(judgments, rows):
        levels: tuple[str, ...] = getattr(scale, "levels", ())
        for number, level in enumerate(levels, start=first):
            given = (pl.col("response") == level).cast(pl.Float64)
            tables.append(part.with_columns(_value=given, _part=pl.lit(number, pl.Int64)))
        first += len(levels)
    return pl.concat(tables)
