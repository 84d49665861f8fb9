"""Credence in parts: learned from participants drawn at random, and everybody judged by what was learned.

With at most 20,000 participants all of them are drawn, and the result is that of `karat.screen.credence`. With more,
the model is learned from 20,000, and every part is then judged with the learned strengths, spreads, shares and paces.
Those who were drawn are judged without themselves, as ever; the others had no say in what they are judged by. Answers
to stimuli that nobody who was drawn has judged are left out, and a note says how many they are.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.judgments import Judgments
from karat.judgments.answer_codes import answered, by_scale
from karat.judgments.checks import Checked
from karat.judgments.stimuli import PAIR, Stimuli, candidates, numbered, with_choices
from karat.messages import Message
from karat.models.credence import CredenceTrials, Fitted, Mixture, fit_credence
from karat.screen.credence import (
    BELOW,
    LITTLE,
    Credence,
    check_settings,
    everybody_in,
    learned_shares,
    notes_on,
    people_table,
    summary_of,
)
from karat.screen.credence_trials import Looked, in_order, looked_at
from karat.screen.evidence import ScreenError, everybody
from karat.screen.parted.crowd import InParts
from karat.screen.parted.evidence import PartedEvidence
from karat.screen.parted.part_files import part_file, write_part
from karat.screen.parted.stimuli import stimuli_in_parts
from karat.types import Floats

DRAWN = 20_000
"""From so many participants the model is learned."""
STAND_INS = 5
"""So many of those who were drawn are laid beside every part, which so has trials and scales as all have."""
DIGITS = 10
"""Of the number of a stimulus, where it stands for its name."""
MARK = "\0"
"""How the names of stand-ins begin."""


@dataclass(frozen=True)
class PartedCredence(PartedEvidence):
    """The evidence of credence in parts, whose summary has the probability below which it flags."""

    @property
    def summary(self) -> tuple[Message, ...]:
        """How many participants are flagged, and below which probability."""
        return summary_of(self.flagged, self.participants, self.settings["below"])

    def __str__(self) -> str:
        return f"{self.criterion}: {' '.join(map(str, self.summary))}"


@dataclass(frozen=True)
class _Learned:
    """What is needed to judge somebody who was not drawn."""

    mixture: Mixture
    stimuli: tuple[pl.DataFrame, ...]
    """The stimuli of each scale by the columns that tell them apart, with their number."""
    keys: tuple[Floats | None, ...]
    tested: tuple[NDArray[np.bool_] | None, ...]
    usual: tuple[Floats, ...]
    """The usual logarithm of the time of each stimulus; NaN where none is known."""
    stand_ins: pl.DataFrame
    below: float


def credence_in_parts(crowd: InParts, below: float = BELOW, seed: int = 1, drawn: int = DRAWN) -> PartedEvidence:
    """How probable it is that each participant answered attentively; flagged where that is below `below`."""
    check_settings(below)
    folder = crowd.scratch / "credence"
    sizes = crowd.map(_sizes, None, name="credence")
    people = sum(size for size, _ in sizes)
    chosen = _draw(sizes, seed, drawn)
    crowd.map(_fetch, (folder, chosen), name="credence")
    files = [part_file(folder, number) for number in range(len(crowd))]
    frame = pl.concat([pl.read_parquet(file) for file in files])
    together = Judgments.from_checked(Checked(frame), crowd.scales).with_stimuli(stimuli_in_parts(crowd))
    looked = looked_at(together)
    sampled = any(own is not None for own in chosen)
    if sampled and not _in_classes(together):
        raise ScreenError(Message("credence.numbers_in_parts", {"most": drawn}))
    fitted = fit_credence(looked.trials, seed)
    table = people_table(looked, fitted, below)
    write_part(table, folder / "drawn", 0)
    learned = _learned(together, looked, fitted, below) if sampled else None
    shared = (part_file(folder / "drawn", 0), learned)
    evidence, facts = crowd.judge("credence", _judge, shared, {"below": below, "seed": seed}, Credence.written)
    shares = learned_shares(fitted)
    few, lost = (sum(own) for own in zip(*facts, strict=True))
    notes = [*looked.notes, *notes_on(looked, fitted, shares, few)]
    if learned is not None:
        notes.append(_on_drawing(len(looked.people), people, shares["earnest"], seed))
        notes += [Message("credence.left_out", {"answers": lost})] if lost else []
    return PartedCredence(
        evidence.criterion, evidence.settings, evidence.participants, evidence.flagged, evidence.files, tuple(notes),
        evidence.written,
    )  # fmt: skip


def _sizes(judgments: Judgments, _: None, number: int) -> tuple[int, int]:
    """How many participants a part has, and the most answers that one of them gave."""
    most = answered(judgments).group_by("participant").len()["len"].max()
    return everybody(judgments).height, int(most or 0)  # type: ignore[arg-type]


def _draw(seen: list[tuple[int, int]], seed: int, drawn: int) -> list[list[int] | None]:
    """Which participants of each part are drawn, by their place; None for all of them."""
    sizes = [size for size, _ in seen]
    people = sum(sizes)
    if people <= drawn:
        return [None] * len(sizes)
    places = np.sort(np.random.default_rng(seed).choice(people, drawn, replace=False))
    longest = int(np.argmax([most for _, most in seen]))
    found: list[list[int] | None] = []
    for number, (end, size) in enumerate(zip(np.cumsum(sizes).tolist(), sizes, strict=True)):
        own = places[(places >= end - size) & (places < end)] - (end - size)
        # -1 stands for the longest record: no other may have more trials than those that were learned from.
        found.append([*own.tolist(), *([-1] if number == longest else [])])
    return found


def _fetch(judgments: Judgments, shared: tuple[Path, list[list[int] | None]], number: int) -> None:
    """Write the rows of those of a part who were drawn."""
    folder, chosen = shared
    own, frame = chosen[number], judgments.frame
    if own is not None and frame.height:
        names = everybody(judgments)["participant"]
        kept = names.gather([place for place in own if place >= 0]).to_list()
        if -1 in own:
            lengths = answered(judgments).group_by("participant", maintain_order=True).len()
            kept += lengths.sort("len", descending=True, maintain_order=True)["participant"].head(1).to_list()
        frame = frame.filter(pl.col("participant").is_in(kept))
    write_part(frame, folder, number)


def _in_classes(judgments: Judgments) -> bool:
    return all(getattr(scale, "levels", ()) for scale, _ in by_scale(judgments, answered(judgments)))


def _learned(judgments: Judgments, looked: Looked, fitted: Fitted, below: float) -> _Learned:
    """What the participants who were drawn taught, without their own answers."""
    rows = in_order(judgments)
    lengths = rows.group_by("participant", maintain_order=True).len()
    names = {*looked.people[: STAND_INS - 1], *lengths.sort("len", descending=True)["participant"].head(1).to_list()}
    stimuli = []
    for scale, own in by_scale(judgments, rows):
        names.add(own["participant"][0])
        stimuli.append(_stimuli(own, judgments.stimuli(scale)))
    frame = judgments.frame.filter(pl.col("participant").is_in(sorted(names)))
    parts = looked.trials.parts
    return _Learned(
        _slim(fitted.mixture), tuple(stimuli), tuple(part.key for part in parts),
        tuple(part.tested for part in parts), _usual(rows, looked),
        frame.with_columns(participant=pl.lit(MARK) + pl.col("participant")), below,
    )  # fmt: skip


def _stimuli(rows: pl.DataFrame, stimuli: Stimuli) -> pl.DataFrame:
    """The stimuli in the order in which they come, by the columns that tell them apart."""
    rows = stimuli.with_pairs(rows)
    return rows.select(*stimuli.keys, _stimulus=stimuli.number(rows)).unique(maintain_order=True)


def _usual(rows: pl.DataFrame, looked: Looked) -> tuple[Floats, ...]:
    """The usual logarithm of the time of each stimulus: what was taken from the times of those who were drawn."""
    residual, parts = looked.trials.residual, looked.trials.parts
    usual = tuple(np.full(part.items, np.nan) for part in parts)
    if residual is None:
        return usual
    owner = numbered(rows, ["participant"]).to_numpy()
    place = rows.select(pl.int_range(pl.len()).over("participant")).to_series().to_numpy()
    seconds = np.full(residual.shape, np.nan)
    seconds[owner, place] = rows["rt"].cast(pl.Float64).fill_null(np.nan).to_numpy()
    known = np.isfinite(residual)
    for part, own in zip(parts, usual, strict=True):
        here = known & part.there
        own[part.item[here]] = np.log(seconds[here]) - residual[here]
    return usual


def _slim(mixture: Mixture) -> Mixture:
    """The mixture without matrices of participants, to be sent to those who judge."""
    bare = copy(mixture)
    bare.trials = bare.blind = bare.allowed = bare.period = None  # type: ignore[assignment]
    bare.earnest = [copy(one) for one in mixture.earnest]
    for one in bare.earnest:
        one.part = one.at = one.earlier = one.slopes = None  # type: ignore[assignment]
        nothing = np.empty((0, 0))
        one.groups = [replace(group, own_weight=nothing, own_place=nothing) for group in one.groups]
    return bare


def _judge(
    judgments: Judgments, shared: tuple[Path, _Learned | None], number: int
) -> tuple[pl.DataFrame | None, tuple[int, int]]:
    """The evidence of a part; how many gave few answers, and how many answers were left out."""
    path, learned = shared
    people = everybody(judgments)
    if not people.height:
        return None, (0, 0)
    drawn = pl.scan_parquet(path).filter(pl.col("participant").is_in(people["participant"].implode())).collect()
    table, lost = drawn, 0
    others = judgments.without(drawn["participant"].to_list())
    if learned is not None and answered(others).height:
        judged, lost = _judged(others, learned)
        table = pl.concat([drawn, judged])
    few = table.filter(pl.col("trials") < LITTLE).height
    return everybody_in(people, table), (few, lost)


def _judged(judgments: Judgments, learned: _Learned) -> tuple[pl.DataFrame, int]:
    """Those who were not drawn, by what was learned; and how many answers were to other stimuli."""
    frame, lost = _known(pl.concat([judgments.frame, learned.stand_ins]), judgments, learned)
    beside = Judgments.from_checked(Checked(frame), judgments.scales)
    looked = looked_at(beside)
    rows = in_order(beside)
    parts, usual = [], np.full(looked.keyed.shape, np.nan)
    scales = by_scale(beside, rows)
    for place, (part, (_, own)) in enumerate(zip(looked.trials.parts, scales, strict=True)):
        numbers = own["item"].unique(maintain_order=True).str.head(DIGITS).cast(pl.Int64).to_numpy()
        item = np.where(part.there, numbers[part.item], 0)
        usual = np.where(part.there, learned.usual[place][item], usual)
        parts.append(
            replace(
                part, item=item, items=learned.stimuli[place].height, key=learned.keys[place],
                tested=learned.tested[place],
            )
        )  # fmt: skip
    residual = None
    if len(learned.mixture.regimes) > 1:
        residual = _log_seconds(rows, looked.keyed.shape) - usual
    trials = CredenceTrials(tuple(parts), residual, looked.trials.in_sequence)
    mixture = Mixture(trials, np.ones(len(looked.people)))
    mixture.adopt(learned.mixture, all_of_it=True)
    fitted = Fitted(mixture, mixture.step(learn=False))
    table = people_table(replace(looked, trials=trials), fitted, learned.below)
    return table.filter(~pl.col("participant").str.starts_with(MARK)), lost


def _known(frame: pl.DataFrame, judgments: Judgments, learned: _Learned) -> tuple[pl.DataFrame, int]:
    """The answers to stimuli that were learned, with the number of the stimulus as the only thing that tells it."""
    given = answered(Judgments.from_checked(Checked(frame), judgments.scales)).with_row_index("_row")
    scales = by_scale(Judgments.from_checked(Checked(learned.stand_ins), judgments.scales), given)
    kept = []
    for (_, own), stimuli in zip(scales, learned.stimuli, strict=True):
        keys = [name for name in stimuli.columns if name != "_stimulus"]
        rows = with_choices(own) if PAIR[0] in keys else own
        found = rows.join(stimuli, on=keys, how="inner", nulls_equal=True, maintain_order="left")
        number = pl.col("_stimulus").cast(pl.String).str.zfill(DIGITS)
        found = found.with_columns(item=number).drop(candidates(own.schema), "_stimulus", *PAIR, strict=False)
        if {"left", "right"} <= set(own.columns):
            turned = (pl.col("left") > pl.col("right")).fill_null(False)
            # The names are others, but the same one stands first.
            found = found.with_columns(
                left=_side("b", "a", turned), right=_side("a", "b", turned)
            )  # fmt: skip
        kept.append(found)
    together = pl.concat(kept).sort("_row").drop("_row")
    return together, given.height - together.height


def _side(first: str, second: str, turned: pl.Expr) -> pl.Expr:
    """A side of a choice, named by the stimulus and by which of its two items comes first in the alphabet."""
    return pl.col("item") + pl.when(turned).then(pl.lit(first)).otherwise(pl.lit(second))


def _log_seconds(rows: pl.DataFrame, shape: tuple[int, ...]) -> Floats:
    owner = numbered(rows, ["participant"]).to_numpy()
    place = rows.select(pl.int_range(pl.len()).over("participant")).to_series().to_numpy()
    found = np.full(shape, np.nan)
    if "rt" in rows.columns:
        with np.errstate(divide="ignore", invalid="ignore"):
            found[owner, place] = np.log(rows["rt"].cast(pl.Float64).fill_null(np.nan).to_numpy())
    found[~np.isfinite(found)] = np.nan
    return found


def _on_drawing(drawn: int, people: int, earnest: float, seed: int) -> Message:
    """What the drawing of participants costs: the standard error of the share that is learned from them."""
    error = 100 * (earnest * (1 - earnest) / drawn * (1 - drawn / people)) ** 0.5
    values = {"drawn": drawn, "participants": people, "seed": seed, "error": float(f"{error:.2g}")}
    return Message("credence.drawn", values)
