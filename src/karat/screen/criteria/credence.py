"""Credence: the probability that a participant answered attentively, the trial where this ended, and the evidence.

One generative model (`karat.models.credence`) combines all evidence. Participants are attentive, guess, or have a
favourite answer or a pattern, at the usual pace, hurried or rushing, from the first trial or a later one, or they lapse
now and then. Attentive answers agree with those of the others to the same stimuli (never the participant's own),
depending on how the participant uses the scale and discriminates. The model also learns a second group of speakers who
agree among themselves and, if a study has fillers and controls, participants with a grammar of their own. It learns
from the crowd how common each behaviour is, with a prior worth five participants, four of them attentive, and when
participants stop being attentive. Then

    attentive = P(attentive throughout | answers, sequence, times of everybody).

The reason gives the parts of the log odds (natural logarithms): agreement with the others, controls and attention, the
sequence of buttons, times, and what is usual in this crowd, near which the probability stays with little evidence. It
is evidence only: exclusion is a rule of the study, and without fillers and controls a rare grammar that nobody shares
may look like guessing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from karat.errors import counted
from karat.judgments import Judgments
from karat.judgments.answer_codes import answered
from karat.judgments.checks import Checked
from karat.languages import language_of
from karat.messages import Message
from karat.screen.evidence import Evidence, PartedEvidence, ScreenError, check_settings, everybody
from karat.screen.one_part import parts_of
from karat.study.criterion import Alternative, Criterion, CriterionSettings, left_out

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from karat.models.credence import Fitted
    from karat.screen.credence_model import CrowdTrials, Learned


BELOW = 0.05


class CredenceSettings(CriterionSettings):
    """Settings for flagging low probabilities of having answered attentively."""

    below: float = Field(
        BELOW,
        gt=0,
        lt=1,
        description="Participants with a lower probability of having answered attentively are flagged.",
    )
    seed: int = Field(1, ge=0, description="The seed of the search for a second group.")


SAMPLE = 20_000
"""The model is learned from at most this many participants of judgments in parts."""
MANY = 1 / 3
"""Above this share of flagged participants, a note comes first."""
PARTS = ("usual", "agreement", "controls", "sequence", "times")
"""The parts of the log odds, in the order of the columns."""


@dataclass(frozen=True)
class Credence(Evidence):
    """The probabilities, with the contribution of each kind of evidence and the learned shares of behaviours."""

    written: ClassVar[tuple[str, ...]] = (
        *Evidence.written, "behaviour", "switch_trial", "switch_from", "switch_to", "log_odds", *PARTS,
    )  # fmt: skip
    shares: dict[str, float] = field(default_factory=dict)
    """The learned share of each behaviour."""
    groups: int = 1
    """The number of groups of speakers."""
    answers: pl.DataFrame = field(default=None, repr=False, compare=False)  # type: ignore[assignment]
    """All answers used: participant, trial, button (from 1), buttons (their number), pace (the time relative to the
    usual one for the stimulus; null without times) and attentive (the probability at that trial)."""

    def plot(self, participant: str | None = None, width_cm: float = 16) -> Figure:
        """All probabilities with the cutoff, or the evidence on one participant with their answers and times.

        >>> import karat
        >>> evidence = credence(karat.simulate.crowd(20, 60, {"random guessing": 1, "repeated pattern": 1}))
        >>> evidence.plot().get_suptitle()
        '2 of 20 participants are attentive with a probability below .05'
        >>> print(evidence.plot("w002").get_suptitle())
        w002: attentive with probability below .001; closest behaviour:
        repeated pattern
        """
        from karat.plots import credence as plots
        from karat.plots.style import short_name

        if participant is not None:
            row, answers = self.row_of(participant), self.answers.filter(pl.col("participant") == participant)
            if not answers.height:
                raise ScreenError(Message("credence.nothing_to_draw", {"participant": participant}))
            values = row["values"] | {"against": None, "in_favour": None, "speakers": None}
            title = f"{short_name(participant)}: {Message('credence.probability', values)}"
            return plots.participant_plot(row, answers, title, width_cm)
        scored = self.participants.drop_nulls("score")
        number, everyone = len(self.flagged), counted(self.participants.height, "participant")
        limit = language_of("en").value(self.settings["below"], ".2r+")
        title = f"{number} of {everyone} {'is' if number == 1 else 'are'} attentive with a probability below {limit}"
        scores, flagged = scored["score"].to_numpy(), scored["flagged"].to_numpy()
        return plots.probabilities_plot(scores, flagged, float(self.settings["below"]), title, width_cm)

    def to_svg(self) -> str:
        """The figure of everybody as SVG."""
        from karat.plots.style import titled_svg

        return titled_svg(self.plot(), str(self))

    @property
    def summary(self) -> tuple[Message, ...]:
        """The number of flagged participants, and the cutoff."""
        return _summary(len(self.flagged), self.participants.height, self.settings["below"])


def _summary(flagged: int, participants: int, below: float) -> tuple[Message, ...]:
    """The number of flagged participants, and the cutoff."""
    return (Message("credence.summary", {"flagged": flagged, "participants": participants, "below": below}),)


def credence(judgments: Judgments, below: float = BELOW, seed: int = 1, *, drawn: int = SAMPLE) -> Credence:
    """The probability that each participant answered attentively; flagged if it is below `below`.

    Columns: attentive (the score), behaviour, switch_trial with switch_from and switch_to (its 90 % interval), log_odds
    and its parts usual, agreement, controls, sequence and times; speakers numbers the group.

    `drawn` is the largest number of participants in the random sample from which the model of judgments in parts is
    learned. Everybody is then judged with the learned strengths, spreads, shares and paces, and participants of the
    sample without their own answers, as always. Answers to stimuli that nobody in the sample judged are left out; a
    note counts them.

    >>> import karat
    >>> evidence = credence(karat.simulate.crowd(20, 60, {"random guessing": 1, "repeated pattern": 1}))
    >>> evidence.participants.filter("flagged").select("participant", "behaviour").rows()
    [('w001', 'random guessing'), ('w002', 'repeated pattern')]
    """
    from karat.models.credence import compare, fit_credence
    from karat.screen import credence_model as model

    check_settings(CredenceSettings, below=below)
    parts = parts_of(judgments)
    sizes = parts.map(_sizes, None, name="credence")
    people = sum(size for size, _ in sizes)
    chosen = _draw(sizes, seed, people if isinstance(judgments, Judgments) else drawn)
    tables, _ = parts.keep("credence", _fetch, chosen)
    frame = pl.concat([tables.read(number) for number in range(len(sizes))])
    together = Judgments.from_checked(Checked(frame), parts.scales).with_stimuli(parts.stimuli())
    crowd = model.crowd_trials(together)
    sampled = any(sample is not None for sample in chosen)
    if sampled and not model.in_classes(together):
        raise ScreenError(Message("credence.numbers_in_parts", {"most": drawn}))
    fitted = fit_credence(crowd.trials, seed, sampled=sampled)
    learned = model.learned_model(together, crowd, fitted, below) if sampled else None
    table = model.people_table(crowd, fitted, below)
    many = float(table["flagged"].mean()) > MANY  # type: ignore[arg-type]
    for comparison in compare(fitted, table["flagged"].to_numpy(), seed):
        if comparison.fails(strictly=many):
            figures = {"observed": round(comparison.observed, 2), "expected": round(comparison.expected, 2)}
            raise ScreenError(Message("credence.misfit", {"figure": f"misfit.{comparison.figure}", **figures}))
    evidence, facts = parts.judge("credence", _judge, (table, learned), {"below": below, "seed": seed})
    shares = model.learned_shares(fitted)
    few, lost = (sum(counts) for counts in zip(*facts, strict=True))
    notes = [*crowd.notes, *_crowd_notes(crowd, fitted, shares, few)]
    flagged = evidence.counts[0]
    if flagged > MANY * people:
        notes.insert(0, Message("credence.many", {"flagged": flagged, "participants": people}))
    if sampled:
        notes.append(_sampling_note(len(crowd.people), people, shares["attentive"], seed))
        notes += [Message("credence.left_out", {"answers": lost})] if lost else []
    if isinstance(evidence, PartedEvidence):
        says = _summary(*evidence.counts, below)
        return replace(evidence, notes=tuple(notes), says=says, written=Credence.written)
    return Credence(
        evidence.participants, "credence", evidence.settings, tuple(notes), shares=shares,
        groups=fitted.mixture.groups, answers=model.answers_table(crowd, fitted),
    )  # fmt: skip


def _crowd_notes(crowd: CrowdTrials, fitted: Fitted, shares: dict[str, float], few: int) -> list[Message]:
    """Notes on the crowd as a whole; `few` participants gave few answers."""
    from karat.screen.credence_model import LITTLE

    notes = [Message("credence.share", {"share": round(shares["attentive"], 2)})]
    if few:
        notes.append(Message("credence.little_evidence", {"participants": few, "fewest": LITTLE}))
    if crowd.trials.residual is None:
        notes.append(Message("credence.no_times"))
    if fitted.mixture.by_classes:
        notes.append(Message("credence.by_classes"))
    elif fitted.sparse:
        notes.append(Message("credence.sparse"))
    if fitted.mixture.groups > 1:
        notes.append(Message("credence.two_groups", {"share": round(float(fitted.mixture.group_shares[1]), 2)}))
    return notes


def _sizes(judgments: Judgments, _: None, number: int) -> tuple[int, int]:
    """The number of participants of a part, and the most answers of any of them."""
    most = answered(judgments).group_by("participant").len()["len"].max()
    return everybody(judgments).height, int(most or 0)  # type: ignore[arg-type]


def _draw(parts: list[tuple[int, int]], seed: int, limit: int) -> list[list[int] | None]:
    """The places of the sampled participants of each part; None for all participants."""
    sizes = [size for size, _ in parts]
    people = sum(sizes)
    if people <= limit:
        return [None] * len(sizes)
    places = np.sort(np.random.default_rng(seed).choice(people, limit, replace=False))
    longest = int(np.argmax([most for _, most in parts]))
    chosen: list[list[int] | None] = []
    for number, (end, size) in enumerate(zip(np.cumsum(sizes).tolist(), sizes, strict=True)):
        of_part = places[(places >= end - size) & (places < end)] - (end - size)
        # -1 is the longest record, so that nobody has more trials than the sample.
        chosen.append([*of_part.tolist(), *([-1] if number == longest else [])])
    return chosen


def _fetch(judgments: Judgments, chosen: list[list[int] | None], number: int) -> tuple[pl.DataFrame, None]:
    """The rows of the sampled participants of a part."""
    sample, frame = chosen[number], judgments.frame
    if sample is not None and frame.height:
        names = everybody(judgments)["participant"]
        wanted = names.gather([place for place in sample if place >= 0]).to_list()
        if -1 in sample:
            lengths = answered(judgments).group_by("participant", maintain_order=True).len()
            wanted += lengths.sort("len", descending=True, maintain_order=True)["participant"].head(1).to_list()
        frame = frame.filter(pl.col("participant").is_in(wanted))
    return frame, None


def _judge(
    judgments: Judgments, shared: tuple[pl.DataFrame, Learned | None], number: int
) -> tuple[pl.DataFrame | None, tuple[int, int]]:
    """The evidence of a part, and the numbers of participants with few answers and of answers left out."""
    from karat.screen.credence_model import LITTLE, judge_with

    everyone, learned = shared
    people = everybody(judgments)
    if not people.height:
        return None, (0, 0)
    sampled = everyone.filter(pl.col("participant").is_in(people["participant"].implode()))
    table, lost = sampled, 0
    others = judgments.without(sampled["participant"].to_list())
    if learned is not None and answered(others).height:
        judged, lost = judge_with(others, learned)
        table = pl.concat([sampled, judged])
    few = table.filter(pl.col("trials") < LITTLE).height
    # Participants without usable answers have no verdict.
    table = people.join(table, on="participant", how="left", maintain_order="left").with_columns(
        pl.col("flagged").fill_null(False), pl.col("message").fill_null(pl.lit("credence.no_answers"))
    )
    return table, (few, lost)


def _sampling_note(sample: int, people: int, attentive: float, seed: int) -> Message:
    """The price of sampling: the standard error of the learned share."""
    error = 100 * (attentive * (1 - attentive) / sample * (1 - sample / people)) ** 0.5
    values = {"drawn": sample, "participants": people, "seed": seed, "error": float(f"{error:.2g}")}
    return Message("credence.drawn", values)


CRITERION = Criterion(
    name="credence",
    title="Credence",
    asks="how probable it is that a participant answered attentively",
    settings=CredenceSettings,
    computed_by=credence,
    in_parts=True,
    of_the_study=("seed",),
    alternatives=(
        Alternative("p < .05", {"below": 0.05}, "usual"),
        Alternative("p < .01", {"below": 0.01}, "lenient"),
        Alternative("p < .5", {"below": 0.5}, "strict: more likely inattentive than attentive"),
        left_out(),
    ),
)
