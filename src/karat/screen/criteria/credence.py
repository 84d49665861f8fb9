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

import polars as pl
from pydantic import Field

from karat.errors import counted
from karat.judgments import Judgments
from karat.judgments.columns import nearest
from karat.languages import language_of
from karat.messages import Message
from karat.screen.evidence import Evidence, ScreenError, everybody
from karat.study.criterion import Alternative, Criterion, CriterionSettings, left_out

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from karat.models.credence import Fitted
    from karat.screen.credence_trials import Looked


class CredenceSettings(CriterionSettings):
    """How probable it is that a participant answered attentively."""

    below: float = Field(
        0.05,
        gt=0,
        lt=1,
        description="Participants with a lower probability of having answered attentively are flagged.",
    )
    seed: int = Field(1, ge=0, description="Where the random numbers begin, by which a second group is looked for.")


BELOW = 0.05
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
    from karat.models.credence import fit_credence
    from karat.screen.credence_trials import answers_table, learned_shares, looked_at, people_table

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
        answers=answers_table(looked, fitted),
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


CRITERION = Criterion(
    name="credence",
    title="Credence",
    asks="how probable it is that a participant answered attentively",
    settings=CredenceSettings,
    computed_by=credence,
    in_parts="karat.screen.parted.credence:credence_in_parts",
    of_the_study=("seed",),
    alternatives=(
        Alternative("p < .05", {"below": 0.05}, "usual"),
        Alternative("p < .01", {"below": 0.01}, "lenient"),
        Alternative("p < .5", {"below": 0.5}, "strict: more likely inattentive than attentive"),
        left_out(),
    ),
)
