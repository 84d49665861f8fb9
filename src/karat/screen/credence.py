"""Credence: the probability that a participant answered attentively, with when they stopped and what counted.

All evidence is joined in one generative model (`karat.models.credence`): every participant is attentive, or guesses, or
has a favourite answer or a pattern, at the usual pace, hurried or rushing, from the first trial on or from some later
one, or lapses now and then. Attentive answers agree with those of the others to the same stimuli, without counting the
participant's own, as far as the participant's own use of the scale and power of discrimination go. A second group of
speakers who agree among themselves is learned where there is one; where a study has fillers and controls beside what
is under test, so is who has a grammar of their own. The share of each behaviour is learned from the crowd, with a prior
that is worth five participants, four of them attentive, and so is when people stop looking. Then

    earnest = P(attentive throughout | answers, sequence, times of everybody).

The reason names what counted, in natural logarithms of odds: agreement with the others, controls and attention, the
sequence of buttons, times, and what is usual in this crowd. Where there is little evidence the probability stays near
that. It is evidence and no verdict: which participants to exclude is a rule of the study, and without fillers and
controls somebody with a rare grammar of their own that nobody shares may look like somebody who guesses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from karat.errors import counted
from karat.judgments import Judgments
from karat.judgments.columns import nearest
from karat.languages import language_of
from karat.messages import Message
from karat.models.credence import EARNEST, LAPSES, Fitted, fit_credence
from karat.screen.credence_reasons import reasons
from karat.screen.credence_trials import Looked, looked_at
from karat.screen.evidence import Evidence, ScreenError, everybody
from karat.types import Bools, Floats, Ints

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BELOW = 0.05
INTERVAL = 0.9
RUSHING = 2
"""The regime of times in which somebody rushes."""
LITTLE = 20
"""With fewer trials, a note says that probabilities rest on little evidence."""
PARTS = ("usual", "agreement", "controls", "sequence", "times")
"""What the log odds are made of, in the order in which they are written."""


@dataclass(frozen=True)
class Credence(Evidence):
    """The probabilities, with the contribution of each kind of evidence and the learned shares of behaviours."""

    written: ClassVar[tuple[str, ...]] = (
        *Evidence.written, "behaviour", "switch_trial", "switch_from", "switch_to", "log_odds", *PARTS,
    )  # fmt: skip
    shares: dict[str, float] = field(default_factory=dict)
    """How many of the crowd behave in which way, as learned."""
    groups: int = 1
    """Groups of speakers that were found."""
    answers: pl.DataFrame = field(default=None, repr=False, compare=False)  # type: ignore[assignment]
    """All answers that were looked at: participant, trial, button (from 1), buttons (how many there were), pace (the
    time over what is usual of the stimulus; none without times) and earnest (the probability at that trial)."""

    def plot(self, participant: str | None = None, width_cm: float = 16) -> Figure:
        """Everybody's probability with the cutoff; or what counted for one participant, with their answers and times.

        >>> import karat
        >>> figure = credence(karat.datasets.load("likert")).plot()
        >>> figure.get_suptitle()
        '5 of 48 participants answered attentively with a probability below .05'
        >>> credence(karat.datasets.load("likert")).plot("p06").get_suptitle()
        'p06: attentive with probability below .001; closest behaviour: rushing'
        """
        from karat.plots import credence as plots
        from karat.plots.style import short_name

        if participant is not None:
            row, own = self._of(participant)
            values = row["values"] | {"against": None, "in_favour": None, "speakers": None}
            title = f"{short_name(participant)}: {Message('credence.probability', values)}"
            return plots.participant_plot(row, own, title, width_cm)
        known = self.participants.drop_nulls("score")
        number, everyone = len(self.flagged), counted(self.participants.height, "participant")
        limit = language_of("en").value(self.settings["below"], ".2r+")
        title = f"{number} of {everyone} answered attentively with a probability below {limit}"
        scores, flagged = known["score"].to_numpy(), known["flagged"].to_numpy()
        return plots.probabilities_plot(scores, flagged, float(self.settings["below"]), title, width_cm)

    def _of(self, participant: str) -> tuple[dict[str, Any], pl.DataFrame]:
        """The row and the answers of a participant."""
        own = self.answers.filter(pl.col("participant") == participant)
        if own.height:
            return self.participants.row(by_predicate=pl.col("participant") == participant, named=True), own
        people = self.participants["participant"].to_list()
        if participant in people:
            raise ScreenError(Message("credence.nothing_to_draw", {"participant": participant}))
        close = nearest(participant, people)
        raise ScreenError(Message("credence.unknown_participant", {"participant": participant, "close": close}))

    def to_svg(self) -> str:
        """The figure of everybody as SVG."""
        from karat.plots.style import to_svg

        drawn = self.plot()
        return to_svg(drawn, drawn.get_suptitle().replace("\n", " "), str(self))

    @property
    def summary(self) -> tuple[Message, ...]:
        """How many participants are flagged, and below which probability."""
        return summary_of(len(self.flagged), self.participants.height, self.settings["below"])

    def __str__(self) -> str:
        return f"{self.criterion}: {' '.join(map(str, self.summary))}"


def summary_of(flagged: int, participants: int, below: float) -> tuple[Message, ...]:
    """How many participants are flagged, and below which probability."""
    return (Message("credence.summary", {"flagged": flagged, "participants": participants, "below": below}),)


def credence(judgments: Judgments, below: float = BELOW, seed: int = 1) -> Credence:
    """How probable it is that each participant answered attentively; flagged where that is below `below`.

    Columns: earnest (the score), behaviour, switch_trial with switch_from and switch_to (nine of ten probable changes
    lie between), log_odds and its parts usual, agreement, controls, sequence and times; speakers numbers the group.

    >>> import karat
    >>> found = karat.screen.credence(karat.datasets.load("likert"))
    >>> found.participants.filter("flagged").select("participant", "behaviour").rows()[:2]
    [('p06', 'rushing'), ('p11', 'random guessing')]
    """
    check_settings(below)
    looked = looked_at(judgments)
    fitted = fit_credence(looked.trials, seed)
    table = people_table(looked, fitted, below)
    shares = learned_shares(fitted)
    return Credence(
        everybody_in(everybody(judgments), table),
        "credence",
        {"below": below, "seed": seed},
        (*looked.notes, *notes_on(looked, fitted, shares)),
        shares=shares,
        groups=fitted.mixture.groups,
        answers=_answers(looked, fitted),
    )


def everybody_in(people: pl.DataFrame, table: pl.DataFrame) -> pl.DataFrame:
    """The table with a row for everybody, also for those who gave no answer that counts; they have no verdict."""
    return people.join(table, on="participant", how="left", maintain_order="left").with_columns(
        pl.col("flagged").fill_null(False), pl.col("message").fill_null(pl.lit("credence.no_answers"))
    )


def check_settings(below: float) -> None:
    """Raise ScreenError if the setting cannot be used."""
    if not 0 < below < 1:
        raise ScreenError(Message("credence.below", {"below": below}))


def people_table(looked: Looked, fitted: Fitted, below: float) -> pl.DataFrame:
    """One row for each participant who was looked at."""
    step = fitted.step
    earnest = step.posterior[:, EARNEST]
    behaviours, changes = _behaviours(fitted)
    switch = _switches(looked, fitted, changes)
    parts = _parts(looked, fitted)
    table = pl.DataFrame({
        "participant": looked.people, "score": earnest, "threshold": below, "flagged": earnest < below,
        "earnest": earnest, "behaviour": behaviours, **switch, "log_odds": fitted.log_odds, **parts,
        "speakers": step.group.argmax(axis=1) + 1, "trials": looked.trials.answered,
    })  # fmt: skip
    message, values = reasons(fitted.mixture.groups)
    first = ("participant", "score", "threshold", "flagged")
    return table.select(*first, message.alias("message"), values.alias("values"), pl.exclude(first))


def _behaviours(fitted: Fitted) -> tuple[list[str], Bools]:
    """The most probable behaviour of each participant, and whether it rather began later than with the first trial."""
    mixture, posterior = fitted.mixture, fitted.step.posterior
    shape = (-1, len(mixture.blind), len(mixture.regimes), 2)
    parts = posterior[:, 2:].reshape(shape)
    rushing = parts[:, :, RUSHING:].sum(axis=(1, 2, 3))
    calm = parts[:, :, :RUSHING].sum(axis=(2, 3))
    names = ["earnest", "intermittent lapses", "random guessing", "primary choice", "repeated pattern", "rushing"]
    together = np.column_stack([
        posterior[:, EARNEST], posterior[:, LAPSES], calm[:, 0], calm[:, 1], calm[:, 2:].sum(axis=1), rushing
    ])  # fmt: skip
    found = [names[place] for place in together.argmax(axis=1)]
    later = parts[..., 1].sum(axis=(1, 2)) > parts[..., 0].sum(axis=(1, 2))
    return found, later & ~np.isin(found, names[:2])


def _switches(looked: Looked, fitted: Fitted, changes: Bools) -> dict[str, pl.Series]:
    """The trial of the change with its interval, where there is one."""
    change = fitted.step.change
    total = np.maximum(change.sum(axis=1, keepdims=True), 1e-300)
    cumulative = np.cumsum(change / total, axis=1)
    tail = (1 - INTERVAL) / 2
    places = {
        "switch_trial": change.argmax(axis=1),
        "switch_from": (cumulative >= tail).argmax(axis=1),
        "switch_to": (cumulative >= 1 - tail).argmax(axis=1),
    }
    last = looked.numbers.shape[1] - 1

    def trial(place: Ints) -> pl.Series:
        numbers = looked.numbers[np.arange(len(place)), np.minimum(place, last)]
        return pl.Series(
            [int(number) if there else None for number, there in zip(numbers, changes, strict=True)], dtype=pl.Int64
        )

    return {name: trial(place) for name, place in places.items()}


def _parts(looked: Looked, fitted: Fitted) -> dict[str, Floats]:
    """What the log odds are made of; the parts add up to them.

    An answer counts as agreement as far as it would have been given without looking, were the participant not
    attentive: what somebody did before a change counts neither for nor against the rest.
    """
    mixture, step = fitted.mixture, fitted.step
    share = mixture.shares[EARNEST]
    usual = np.full(len(looked.people), np.log(share / (1 - share)))
    chance = np.zeros(looked.keyed.shape)
    for part in looked.trials.parts:
        chance = np.where(part.there, -np.log(part.levels), chance)
    agreement = (1 - step.otherwise) * (step.looked - chance)
    controls = np.where(looked.keyed, agreement, 0.0).sum(axis=1)
    times = fitted.log_odds - step.without_times
    sequence = step.without_times - usual - agreement.sum(axis=1)
    values = (usual, agreement.sum(axis=1) - controls, controls, sequence, times)
    return dict(zip(PARTS, values, strict=True))


def _answers(looked: Looked, fitted: Fitted) -> pl.DataFrame:
    """One row an answer, in the order in which each participant gave them."""
    button, buttons = np.zeros(looked.keyed.shape, dtype=np.int64), np.zeros(looked.keyed.shape, dtype=np.int64)
    for part in looked.trials.parts:
        button[part.there], buttons[part.there] = part.button[part.there] + 1, part.levels
    at = np.nonzero(buttons)
    residual = looked.trials.residual
    pace = np.full(len(at[0]), np.nan) if residual is None else np.exp(residual[at])
    return pl.DataFrame({
        "participant": pl.Series(looked.people, dtype=pl.String).gather(at[0]), "trial": looked.numbers[at],
        "button": button[at], "buttons": buttons[at], "pace": pl.Series(pace).fill_nan(None),
        "earnest": fitted.step.weight[at],
    })  # fmt: skip


def learned_shares(fitted: Fitted) -> dict[str, float]:
    """How many of the crowd behave in which way."""
    mixture = fitted.mixture
    parts = mixture.shares[2:].reshape(len(mixture.blind), len(mixture.regimes), 2)
    calm = parts[:, :RUSHING].sum(axis=(1, 2))
    found = {
        "earnest": mixture.shares[EARNEST], "intermittent lapses": mixture.shares[LAPSES], "random guessing": calm[0],
        "primary choice": calm[1], "repeated pattern": calm[2:].sum(), "rushing": parts[:, RUSHING:].sum(),
    }  # fmt: skip
    return {name: float(share) for name, share in found.items()}


def notes_on(looked: Looked, fitted: Fitted, shares: dict[str, float], few: int | None = None) -> list[Message]:
    """Notes on the crowd as a whole; `few` is how many gave few answers, unless it is to be counted here."""
    notes = [Message("credence.share", {"share": round(shares["earnest"], 2)})]
    few = int((looked.trials.answered < LITTLE).sum()) if few is None else few
    if few:
        notes.append(Message("credence.little_evidence", {"participants": few, "fewest": LITTLE}))
    if looked.trials.residual is None:
        notes.append(Message("credence.no_times"))
    if fitted.sparse:
        notes.append(Message("credence.sparse"))
    if fitted.mixture.groups > 1:
        notes.append(Message("credence.two_groups", {"share": round(float(fitted.mixture.group_shares[1]), 2)}))
    return notes
