"""Judgments as matrices of participants x trials for the model of credence, and the table of what it finds.

Practice is left out. Each answer counts in two ways: by what it says about the stimulus (polarity aligned, the chosen
item) and as a button (the position on the screen, the side). Choices are ordered: one item, no difference, the other.
So are labels that are whole numbers or words of a scale, if participants who disagree about an item choose neighbours.
Sliders and magnitudes are cut into seven classes that are equally frequent overall. The right answers of controls and
attention trials are known from the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.errors import KaratError
from karat.intake.guess import graded, ordered_answers
from karat.judgments import Judgments
from karat.judgments.answer_codes import answered, by_scale, position
from karat.judgments.checks import Checked
from karat.judgments.scales import Binary, Choice, Nominal, Ordinal, Scale
from karat.judgments.stimuli import PAIR, Stimuli, numbered, with_choices
from karat.judgments.trial_order import order_is_known, presented
from karat.messages import Message
from karat.models.credence import (
    ATTENTIVE,
    LAPSES,
    CredenceTrials,
    Fitted,
    Mixture,
    ScaleTrials,
    beyond_chance,
    closeness,
    follows_closest,
    hardly_agree,
    residual_times,
    with_company,
    with_one_another,
)
from karat.screen.evidence import ScreenError, with_stimuli
from karat.types import Bools, Floats, Ints

INTERVAL = 0.9
RUSHING = 2
"""The regime of times of participants who rush."""
KINDS = ("agreement", "controls", "sequence", "times")
"""The kinds of evidence in reports."""
HIGH = 0.95
COUNTS = 0.5
"""Parts of the log odds are reported from this size."""
LEAST, MOST = 0.001, 0.999
"""Probabilities outside these limits are shown as limits."""
STAND_INS = 5
"""Participants of the sample who join every part, so that each part has the trials and scales of the whole."""
MARK = "\0"
"""The prefix of the names of stand-ins."""
AGREES, HALF = 1.645, 0.5
"""Standard errors above chance from which agreement protects (p < .05), because participants should be cleared more
easily than accused; and the share of participants who must agree before disagreement counts against anybody."""
AGREEMENT = {"participant": pl.String, "above": pl.Float64, "hardly": pl.Boolean}
"""The columns of the table of agreement above chance."""
CLASSES = 7
WITH_KEY = ("control", "attention", "calibration")
OTHERS = 0.25
"""The least share of fillers and controls that can distinguish another grammar from not looking."""
FEWEST_PEOPLE, FEWEST_ANSWERS = 5, 5
LIKELY, SIGNIFICANT, CERTAIN = 1.645, 2.33, 4.0
"""Standard errors above chance at which agreement with the others is likely (p < .05), significant (p < .01) and beyond
doubt."""
PLAIN = 0.4
"""A correlation with the others that shared mistakes do not reach. With few answers, it is less than `CERTAIN`."""
DOUBTFUL, UNDECIDED = 0.01, 0.5
"""The least probabilities of being attentive where agreement is above chance, regardless of the model."""
LITTLE = 20
"""Below this many answers, probabilities rest on little evidence."""
BENEFIT = 3.0
"""No model is exactly right: participants with unusual thresholds, for example, look careless to it. Odds of being
attentive below one are therefore multiplied by this factor, up to a probability of one half."""
MOST_COMPARED = 2_000
"""With more doubtful participants than this, they are not compared pair by pair."""
GUESSING = "random guessing"
PATTERNS = ("primary choice", "repeated pattern")
"""Behaviours visible in the sequence of answers; two such participants may agree by accident of the order."""
FAVOURITE, ALWAYS = 1 / 2, 8 / 9
"""Shares of one answer above which it is a favourite, and from which guessing is a favourite answer."""
TOO_CLOSE, NOT_CERTAIN, CLOSEST = 3.0, 0.99, 0.01
"""Standard errors of closeness to the others from which an account may be a machine; the highest probability without
response times, because a machine follows the others no more closely than careful people do; and the p value below which
a participant follows the others more closely than everybody else."""
CONSENSUS = "follows the consensus closely"
"""The behaviour of attentive participants who are closer to the others than anybody else."""


@dataclass(frozen=True)
class CrowdTrials:
    """The trials as matrices, with their participants and positions."""

    trials: CredenceTrials
    people: list[str]
    numbers: Ints
    """The trial number of each answer in the judgments; -1 if there is none."""
    keyed: Bools
    """Controls and attention trials."""
    notes: tuple[Message, ...]


def crowd_trials(judgments: Judgments, learned: Learned | None = None) -> CrowdTrials:
    """The judgments as matrices, or a `ScreenError` with the reason if there are too few.

    If the model was `learned` from a sample, answers to stimuli unknown to the sample are left out.
    """
    rows = in_order(judgments) if learned is None else learned.known(judgments)
    people = rows["participant"].unique(maintain_order=True)
    if len(people) < FEWEST_PEOPLE:
        raise ScreenError(Message("credence.few_participants", {"fewest": FEWEST_PEOPLE}))
    owner = rows["participant"].cast(pl.Enum(people)).to_physical().cast(pl.Int64)
    place = rows.select(pl.int_range(pl.len()).over("participant")).to_series()
    rows = rows.with_columns(_owner=owner, _place=place)
    count = int(place.to_numpy().max(initial=0)) + 1
    if count < FEWEST_ANSWERS:
        raise ScreenError(Message("credence.few_answers", {"fewest": FEWEST_ANSWERS}))
    shape = (len(people), count)
    parts, notes, stimuli, first = [], [], np.zeros(shape, dtype=np.int64), 0
    for place_of_scale, (scale, of_scale) in enumerate(by_scale(judgments, rows)):
        part, part_notes = _part(judgments, scale, of_scale, shape, learned.scales[place_of_scale] if learned else None)
        notes += part_notes
        stimuli = np.where(part.there, part.item + first, stimuli)
        first += part.items
        parts.append(part)
    in_sequence = order_is_known(rows.columns)
    notes += [] if in_sequence else [Message("order.no_sequences")]
    filled = _Filler(rows, shape)
    residual = None
    if learned is not None:
        usual = np.concatenate([part_scale.usual for part_scale in learned.scales])[stimuli]
        residual = _log_seconds(rows, shape) - usual if len(learned.mixture.regimes) > 1 else None
    elif "rt" in rows.columns and rows["rt"].null_count() < rows.height:
        residual = residual_times(stimuli, filled(rows["rt"].cast(pl.Float64).fill_null(np.nan).to_numpy(), np.nan))
    numbers = rows["trial"].fill_null(-1).to_numpy() if "trial" in rows.columns else rows["_place"].to_numpy() + 1
    keyed = rows["function"].is_in(["control", "attention"]).to_numpy()
    return CrowdTrials(
        CredenceTrials(tuple(parts), residual, in_sequence), people.to_list(), filled(numbers, -1).astype(np.int64),
        filled(keyed.astype(np.int64), 0).astype(bool), tuple(dict.fromkeys(notes)),
    )  # fmt: skip


def in_order(judgments: Judgments) -> pl.DataFrame:
    """The answers by participant, in the order of presentation or, if that is unknown, sorted by their values.

    Participants are sorted by name, so that neither the sample nor the random numbers depend on the order of rows.

    >>> import karat
    >>> in_order(karat.datasets.load("likert"))["participant"].is_sorted()
    True
    """
    rows = answered(judgments)
    if order_is_known(rows.columns):
        return presented(rows).sort("participant", maintain_order=True)
    values = sorted(name for name, kind in rows.schema.items() if name != "participant" and not kind.is_nested())
    return rows.sort("participant", *values)


class _Filler:
    """Values of rows as a matrix of participants x trials."""

    def __init__(self, rows: pl.DataFrame, shape: tuple[int, int]) -> None:
        self.at, self.shape = (rows["_owner"].to_numpy(), rows["_place"].to_numpy()), shape

    def __call__(self, values: NDArray[np.generic], nothing: float) -> NDArray[np.float64]:
        matrix = np.full(self.shape, nothing, dtype=np.float64)
        matrix[self.at] = values
        return matrix


def _part(
    judgments: Judgments, scale: Scale, rows: pl.DataFrame, shape: tuple[int, int], learned: LearnedScale | None
) -> tuple[ScaleTrials, list[Message]]:
    if isinstance(scale, Choice) and {"left", "right"} <= set(rows.columns):
        rows = rows.with_columns(_turned=(pl.col("left") > pl.col("right")).fill_null(False))
    rows, notes = (rows, []) if learned is not None else with_stimuli(judgments, rows, scale=scale)
    if isinstance(scale, Nominal) and (learned is None or learned.ordered):
        order = graded(rows, scale.levels) if learned is None else ordered_answers(scale.levels)
        scale = scale if order is None else Ordinal(order)
    content, button, levels = _codes(scale, rows)
    if not isinstance(scale, Binary | Ordinal | Choice | Nominal):
        notes = [*notes, Message("credence.classes", {"scale": scale.kind, "classes": levels})]
    filled = _Filler(rows, shape)
    stimulus = rows["_stimulus"].to_numpy()
    items = int(stimulus.max()) + 1 if learned is None else learned.stimuli.height
    part = ScaleTrials(
        filled(stimulus, 0).astype(np.int64), filled(content, -1).astype(np.int64), filled(button, -1).astype(np.int64),
        items, levels, not isinstance(scale, Nominal),
        _keys(scale, rows, items) if learned is None else learned.key,
        _stimuli_under_test(rows, items) if learned is None else learned.tested,
        None if scale.levels else filled(_rank(scale, rows), 0),
    )  # fmt: skip
    return part, notes


def _rank(scale: Scale, rows: pl.DataFrame) -> Floats:
    """The rank of each answer among all answers, from 0 to 1."""
    value = position(scale, aligned="polarity" in rows.columns)
    return rows.select(value.rank() / pl.len()).to_series().to_numpy()


def _stimuli_under_test(rows: pl.DataFrame, items: int) -> Bools | None:
    """The stimuli under test, if there are enough other stimuli."""
    test = (rows["function"] == "test").fill_null(False).to_numpy()
    if not test.any() or 1 - test.mean() < OTHERS:
        return None
    tested = np.zeros(items, dtype=bool)
    tested[rows["_stimulus"].to_numpy()[test]] = True
    return tested


def _codes(scale: Scale, rows: pl.DataFrame) -> tuple[Ints, Ints, int]:
    """The content of each answer, its button, and the number of levels."""
    aligned = "polarity" in rows.columns
    button, content = (rows.select(position(scale, aligned=turn)).to_series().to_numpy() for turn in (False, aligned))
    if isinstance(scale, Choice):
        return _choice_codes(scale, rows, button.astype(np.int64))
    if isinstance(scale, Binary | Ordinal | Nominal):
        return content.astype(np.int64), button.astype(np.int64), len(scale.levels)
    cuts = np.unique(np.quantile(content, np.linspace(0, 1, CLASSES + 1)[1:-1]))
    return np.searchsorted(cuts, content), np.searchsorted(cuts, button), len(cuts) + 1


def _choice_codes(scale: Choice, rows: pl.DataFrame, side: Ints) -> tuple[Ints, Ints, int]:
    turned = rows["_turned"].to_numpy() if "_turned" in rows.columns else np.zeros(len(side), dtype=bool)
    second = (side == 1) != turned
    if not scale.none:
        return second.astype(np.int64), side, 2
    return np.where(side == 2, 1, 2 * second), side, 3


def _keys(scale: Scale, rows: pl.DataFrame, items: int) -> Floats | None:
    """The right level of each stimulus, as far as controls and attention trials state it."""
    if "expected" not in rows.columns or not isinstance(scale, Binary | Ordinal | Nominal):
        return None
    with_key = rows.filter(pl.col("function").is_in(WITH_KEY), pl.col("expected").is_not_null())
    # Right answers are recorded as shown on the screen, so they are aligned like the answers.
    aligned = "polarity" in rows.columns and not isinstance(scale, Nominal)
    turned = (pl.col("polarity") == -1).fill_null(False) if aligned else pl.lit(False)
    levels_of: dict[int, set[float]] = {}
    kinds = with_key.select("_stimulus", "expected", turned.alias("_around")).unique()
    for stimulus, expected, around in kinds.iter_rows():
        try:
            right = [scale.levels.index(level) for level in scale.expected(expected)]
        except KaratError:
            continue
        if isinstance(scale, Nominal) and len(right) > 1:
            continue
        middle = float(np.mean(right))
        levels_of.setdefault(stimulus, set()).add(len(scale.levels) - 1 - middle if around else middle)
    keys = np.full(items, np.nan)
    for stimulus, levels in levels_of.items():
        # Trials that contradict each other have no key.
        keys[stimulus] = levels.pop() if len(levels) == 1 else np.nan
    return keys if np.isfinite(keys).any() else None


def people_table(crowd: CrowdTrials, fitted: Fitted, below: float, by_one_another: bool = True) -> pl.DataFrame:
    """One row per participant; `by_one_another` means that the model was learned from these participants alone."""
    step = fitted.step
    attentive, limit = with_limits(crowd, fitted, by_one_another)
    behaviours, changes = _behaviours(fitted)
    behaviours[(behaviours == GUESSING) & (_largest_share(fitted) >= ALWAYS)] = PATTERNS[0]
    behaviours[(behaviours == "attentive") & (follows_closest(crowd.trials) < CLOSEST)] = CONSENSUS
    switch = _switches(crowd, fitted, changes)
    parts = _log_odds_parts(crowd, fitted)
    table = pl.DataFrame({
        "participant": crowd.people, "score": attentive, "threshold": below, "flagged": attentive < below,
        "attentive": attentive, "behaviour": behaviours.astype(str), **switch, "log_odds": fitted.log_odds, **parts,
        "speakers": step.group.argmax(axis=1) + 1, "trials": crowd.trials.answered,
    })  # fmt: skip
    message, values = reasons(fitted.mixture.groups, limit, crowd.trials.in_sequence)
    first = ("participant", "score", "threshold", "flagged")
    return table.select(*first, message.alias("message"), values.alias("values"), pl.exclude(first))


def with_limits(crowd: CrowdTrials, fitted: Fitted, by_one_another: bool = True) -> tuple[Floats, pl.Series]:
    """The probabilities within limits that need no model, and the code of the limit that applied, if any.

    A participant who agrees with the others above chance (p < .05) is not flagged as guessing, nor is one who agrees
    with another doubtful participant, as people who share a grammar do. The model of classes requires p < .01 and, if
    many people answered the same stimuli, certainty or a plain correlation, because they may share mistakes; agreement
    at p < .01 then keeps the probability at `DOUBTFUL` or more. Answers to controls and before a change of behaviour do
    not count, because agreement must occur where the model says that the participant did not look. With three labels or
    more, answers that certainly depend on the stimuli are no guesses either, even if they do not agree. The model of
    strengths also gives the benefit of the doubt (`in_doubt`), and the model of classes does so below `LITTLE` answers.

    Participants whose stimuli hardly anybody else judged attentively are not flagged as guessing either. In small
    crowds all others who judged these stimuli may be careless, and disagreeing with them proves nothing.
    """
    step, trials = fitted.step, crowd.trials
    attentive = step.posterior[:, ATTENTIVE]
    counted = _without_looking(fitted) & ~crowd.keyed
    agrees = fitted.mixture.beyond_chance(counted)
    enough = np.full(len(attentive), LIKELY)
    if fitted.mixture.by_classes:
        most = SIGNIFICANT if all(part.few_answers for part in trials.parts) else CERTAIN
        enough = np.clip(PLAIN * np.sqrt(np.maximum(trials.answered - 1, 0)), SIGNIFICANT, most)
    behaviours = _behaviours(fitted)[0].astype(str)
    # Evidence from sequence and times is stronger than agreement at p < .05.
    from_behaviour = np.where(np.isin(behaviours, (*PATTERNS, "rushing")), SIGNIFICANT, 0.0)
    enough = np.maximum(enough, from_behaviour)
    least = np.select([agrees >= enough, agrees >= SIGNIFICANT], [UNDECIDED, DOUBTFUL], 0.0)
    low = np.flatnonzero((attentive < UNDECIDED) & ~np.isin(behaviours, PATTERNS))
    depends = np.zeros(len(attentive), dtype=bool)
    rest = low[least[low] < UNDECIDED]
    depends[rest] = fitted.mixture.depends(rest, counted, CERTAIN, PLAIN)
    least[depends] = UNDECIDED
    if 1 < len(low) <= MOST_COMPARED and not fitted.mixture.by_classes:
        least[low[_share_a_grammar(trials, low)]] = UNDECIDED
    without_company = np.zeros(len(attentive), dtype=bool)
    if by_one_another:
        answers = _has_answer(trials)
        comparable = answers & (crowd.keyed | with_company(trials, step.weight))
        without_company = (comparable.sum(axis=1) < answers.sum(axis=1) / 2) & (from_behaviour == 0)
        least[without_company] = UNDECIDED
    most = 1.0 if trials.residual is not None else NOT_CERTAIN
    close = (most < 1) & (attentive > NOT_CERTAIN) & (closeness(trials) >= TOO_CLOSE)
    plain = fitted.mixture.by_classes & (trials.answered >= LITTLE)
    probabilities = np.maximum(np.where(plain, attentive, in_doubt(attentive)) * most, least)
    limited = attentive < least
    limits = ["limit.alone", "limit.depends", "limit.agrees", "limit.close"]
    limit = np.select([limited & without_company, limited & depends, limited, close], limits, "")
    return probabilities, pl.Series(limit, dtype=pl.String).replace("", None)


def in_doubt(attentive: Floats) -> Floats:
    """The probabilities, with odds below one multiplied by `BENEFIT`."""
    odds = BENEFIT * attentive / (1 - np.minimum(attentive, 1 / 2))
    return np.asarray(np.maximum(attentive, np.minimum(odds / (1 + odds), UNDECIDED)))


def _has_answer(trials: CredenceTrials) -> Bools:
    """Whether there is an answer, participants x trials."""
    return np.asarray(np.any([part.there for part in trials.parts], axis=0))


def _without_looking(fitted: Fitted) -> Bools:
    """The trials at which a participant who is not attentive throughout probably did not look."""
    return np.asarray(fitted.step.otherwise < UNDECIDED + 1e-9)


def _largest_share(fitted: Fitted) -> Floats:
    """The share of each participant's most frequent answer in the trials at which they may not have looked."""
    most, counted = np.zeros(fitted.mixture.people), np.zeros(fitted.mixture.people)
    for part in fitted.mixture.trials.parts:
        people, trials = np.nonzero(part.there & _without_looking(fitted))
        # Different numbers of one class are no favourite answer.
        kinds, answer = np.unique(
            (part.button if part.rank is None else part.rank)[people, trials], return_inverse=True
        )
        code, times = np.unique(people * len(kinds) + answer, return_counts=True)
        highest = np.zeros(len(most))
        np.maximum.at(highest, code // len(kinds), times)
        most, counted = most + highest, counted + np.bincount(people, minlength=len(most))
    return np.asarray(most / np.maximum(counted, 1))


def above_chance(judgments: Judgments) -> pl.DataFrame:
    """The agreement with the others above chance, in standard errors, and whether participants hardly agree.

    "Hardly" means clearly less than usual. The table is empty if agreement cannot be computed.

    >>> import karat
    >>> above_chance(karat.datasets.load("likert")).filter("hardly")["participant"].to_list()
    ['p06', 'p11', 'p20', 'p23', 'p35']
    """
    try:
        trials, people = (crowd := crowd_trials(judgments)).trials, crowd.people
    except ScreenError:
        return pl.DataFrame(schema=AGREEMENT)
    return pl.DataFrame({"participant": people, "above": beyond_chance(trials), "hardly": hardly_agree(trials)})


def few_agree(agreement: pl.DataFrame) -> bool:
    """Whether most participants of a table of agreement do not agree above chance, as on very hard items."""
    return int((agreement["above"] >= AGREES).sum()) < HALF * agreement.height


def who_disagree(judgments: Judgments) -> list[str]:
    """Participants who agree with the others neither above chance nor nearly as usual; none if most do not agree.

    >>> import karat
    >>> who_disagree(karat.datasets.load("likert"))
    ['p06', 'p11', 'p20', 'p23', 'p35']
    """
    table = above_chance(judgments)
    apart = table.filter(pl.col("above") < AGREES, "hardly")
    return [] if few_agree(table) else apart["participant"].to_list()


def who_agree(judgments: Judgments, names: Sequence[str]) -> list[str]:
    """The participants among `names` who agree with another of them; none if agreement cannot be computed.

    They share a grammar or a preference that others lack, or copied from each other; neither is inattention.

    >>> import karat
    >>> who_agree(karat.datasets.load("likert"), ["p06", "p11", "p20", "p35"])
    []
    """
    if not 1 < len(names) <= MOST_COMPARED:
        return []
    try:
        crowd = crowd_trials(judgments)
    except ScreenError:
        return []
    low = np.array([place for place, name in enumerate(crowd.people) if name in set(names)], dtype=np.int64)
    return [crowd.people[place] for place in low[_share_a_grammar(crowd.trials, low)]]


def _share_a_grammar(trials: CredenceTrials, low: Ints) -> Bools:
    """Whether each of these participants agrees with another one of them, or with the group of all who do."""
    agree = with_one_another(trials, low) >= SIGNIFICANT
    for place in np.flatnonzero(~agree) if agree.sum() > 1 else ():
        group = trials.of(np.append(low[place], low[agree]))
        agree[place] = beyond_chance(group)[0] >= SIGNIFICANT
    return np.asarray(agree)


def _behaviours(fitted: Fitted) -> tuple[NDArray[np.object_], Bools]:
    """The most probable behaviour of each participant, and whether it probably began after the first trial."""
    mixture, posterior = fitted.mixture, fitted.step.posterior
    shape = (-1, len(mixture.blind), len(mixture.regimes), 2)
    parts = posterior[:, 2:].reshape(shape)
    rushing = parts[:, :, RUSHING:].sum(axis=(1, 2, 3))
    calm = parts[:, :, :RUSHING].sum(axis=(2, 3))
    names = np.array(["attentive", "intermittent lapses", GUESSING, *PATTERNS, "rushing"], dtype=object)
    together = np.column_stack([
        posterior[:, ATTENTIVE], posterior[:, LAPSES], calm[:, 0], calm[:, 1], calm[:, 2:].sum(axis=1), rushing
    ])  # fmt: skip
    behaviours = names[together.argmax(axis=1)]
    # Participants who use few levels of a long scale have no favourite answer.
    behaviours[(behaviours == PATTERNS[0]) & (_largest_share(fitted) < FAVOURITE)] = GUESSING
    later = parts[..., 1].sum(axis=(1, 2)) > parts[..., 0].sum(axis=(1, 2))
    return behaviours, later & (behaviours != names[0]) & (behaviours != names[1])


def _switches(crowd: CrowdTrials, fitted: Fitted, changes: Bools) -> dict[str, pl.Series]:
    """The trial at which behaviour changed, with its interval; null if it did not."""
    change = fitted.step.change
    total = np.maximum(change.sum(axis=1, keepdims=True), 1e-300)
    cumulative = np.cumsum(change / total, axis=1)
    tail = (1 - INTERVAL) / 2
    places = {
        "switch_trial": change.argmax(axis=1),
        "switch_from": (cumulative >= tail).argmax(axis=1),
        "switch_to": (cumulative >= 1 - tail).argmax(axis=1),
    }
    last = crowd.numbers.shape[1] - 1

    def trial(place: Ints) -> pl.Series:
        numbers = crowd.numbers[np.arange(len(place)), np.minimum(place, last)]
        return pl.Series(
            [int(number) if there else None for number, there in zip(numbers, changes, strict=True)], dtype=pl.Int64
        )

    return {name: trial(place) for name, place in places.items()}


def _log_odds_parts(crowd: CrowdTrials, fitted: Fitted) -> dict[str, Floats]:
    """The parts that add up to the log odds.

    An answer counts as agreement to the extent that an inattentive participant would have given it without looking, so
    answers before a change of behaviour count neither for nor against the participant.
    """
    mixture, step = fitted.mixture, fitted.step
    share = mixture.shares[ATTENTIVE]
    usual = np.full(len(crowd.people), np.log(share / (1 - share)))
    chance = np.zeros(crowd.keyed.shape)
    for part in crowd.trials.parts:
        chance = np.where(part.there, -np.log(part.levels), chance)
    agreement = (1 - step.otherwise) * (step.looked - chance)
    controls = np.where(crowd.keyed, agreement, 0.0).sum(axis=1)
    times = fitted.log_odds - step.without_times
    sequence = step.without_times - usual - agreement.sum(axis=1)
    others = agreement.sum(axis=1) - controls
    return {"usual": usual, "agreement": others, "controls": controls, "sequence": sequence, "times": times}


def answers_table(crowd: CrowdTrials, fitted: Fitted) -> pl.DataFrame:
    """One row per answer, in the order in which each participant gave them."""
    button, buttons = np.zeros(crowd.keyed.shape, dtype=np.int64), np.zeros(crowd.keyed.shape, dtype=np.int64)
    for part in crowd.trials.parts:
        button[part.there], buttons[part.there] = part.button[part.there] + 1, part.levels
    at = np.nonzero(buttons)
    residual = crowd.trials.residual
    pace = np.full(len(at[0]), np.nan) if residual is None else np.exp(residual[at])
    return pl.DataFrame({
        "participant": pl.Series(crowd.people, dtype=pl.String).gather(at[0]), "trial": crowd.numbers[at],
        "button": button[at], "buttons": buttons[at], "pace": pl.Series(pace).fill_nan(None),
        "attentive": fitted.step.weight[at],
    })  # fmt: skip


def learned_shares(fitted: Fitted) -> dict[str, float]:
    """The share of each behaviour in the crowd."""
    mixture = fitted.mixture
    parts = mixture.shares[2:].reshape(len(mixture.blind), len(mixture.regimes), 2)
    calm = parts[:, :RUSHING].sum(axis=(1, 2))
    shares = {
        "attentive": mixture.shares[ATTENTIVE], "intermittent lapses": mixture.shares[LAPSES],
        "random guessing": calm[0], "primary choice": calm[1], "repeated pattern": calm[2:].sum(),
        "rushing": parts[:, RUSHING:].sum(),
    }  # fmt: skip
    return {name: float(share) for name, share in shares.items()}


def reasons(groups: int = 1, limit: pl.Series | None = None, in_sequence: bool = True) -> tuple[pl.Expr, pl.Expr]:
    """The message about each participant, and its values; `limit` comes from `with_limits`."""
    attentive, switch = pl.col("attentive"), pl.col("switch_trial")
    other = pl.col("behaviour") != "attentive"
    between = other & switch.is_not_null() & (pl.col("switch_from") != pl.col("switch_to"))
    unsure = attentive < HIGH
    values = pl.struct(
        probability=pl.when(attentive.is_between(LEAST, MOST)).then(attentive.round(3)),
        below=pl.when(attentive < LEAST).then(pl.lit(LEAST)),
        above=pl.when(attentive > MOST).then(pl.lit(MOST)),
        behaviour=pl.when(other).then("behaviour"),
        switch=pl.when(other).then(switch),
        switch_from=pl.when(between).then("switch_from"),
        switch_to=pl.when(between).then("switch_to"),
        against=pl.when(unsure).then(_counting(-1, in_sequence)),
        in_favour=pl.when(unsure).then(_counting(1, in_sequence)),
        speakers=pl.when(groups > 1).then(pl.col("speakers").cast(pl.Int64)),
        limit=pl.lit(None, pl.String) if limit is None else limit,
    )
    return pl.lit("credence.probability"), values


def _counting(sign: int, in_sequence: bool) -> pl.Expr:
    """The kinds of evidence with this sign, strongest first; null if there are none."""
    # Without an order, sequences only show how often each answer was given.
    words = KINDS if in_sequence else [name.replace("sequence", "frequency") for name in KINDS]
    kinds = pl.concat_list(
        pl.when(sign * pl.col(kind) >= COUNTS).then(
            pl.struct(size=pl.col(kind).abs().neg(), kind=pl.lit(f"evidence.{word}"))
        )
        for kind, word in zip(KINDS, words, strict=True)
    )
    names = kinds.list.drop_nulls().list.sort().list.eval(pl.element().struct.field("kind"))
    return pl.when(names.list.len() > 0).then(names)


@dataclass(frozen=True)
class LearnedScale:
    """The stimuli of a scale, as learned from the sample."""

    stimuli: pl.DataFrame
    """The columns that distinguish them, and their number."""
    key: Floats | None
    tested: Bools | None
    ordered: bool
    usual: Floats
    """The usual log time of each stimulus; NaN if unknown."""


@dataclass(frozen=True)
class Learned:
    """A model learned from a sample, to judge other participants."""

    mixture: Mixture
    scales: tuple[LearnedScale, ...]
    stand_ins: pl.DataFrame
    below: float

    def known(self, judgments: Judgments) -> pl.DataFrame:
        """The answers to known stimuli, in order, with the numbers of the stimuli."""
        tables = []
        scales = by_scale(judgments, in_order(judgments).with_row_index("_row"))
        for (_, rows), scale in zip(scales, self.scales, strict=True):
            keys = [name for name in scale.stimuli.columns if name != "_stimulus"]
            rows = with_choices(rows) if PAIR[0] in keys else rows
            tables.append(rows.join(scale.stimuli, on=keys, how="inner", nulls_equal=True).drop(*PAIR, strict=False))
        return pl.concat(tables).sort("_row").drop("_row")


def in_classes(judgments: Judgments) -> bool:
    """Whether all answers are levels; numbers would be cut into classes that depend on the sample."""
    return all(scale.levels for scale, _ in by_scale(judgments, answered(judgments)))


def learned_model(judgments: Judgments, crowd: CrowdTrials, fitted: Fitted, below: float) -> Learned:
    """The model learned from the sample, without its answers."""
    rows = in_order(judgments)
    lengths = rows.group_by("participant", maintain_order=True).len()
    names = {*crowd.people[: STAND_INS - 1], *lengths.sort("len", descending=True)["participant"].head(1).to_list()}
    scales = []
    parts = zip(by_scale(judgments, rows), crowd.trials.parts, _usual(rows, crowd), strict=True)
    for (scale, of_scale), part, usual in parts:
        names.add(of_scale["participant"][0])
        stimuli = _stimuli(of_scale, judgments.stimuli(scale))
        scales.append(LearnedScale(stimuli, part.key, part.tested, part.ordered, usual))
    frame = judgments.frame.filter(pl.col("participant").is_in(sorted(names)))
    stand_ins = frame.with_columns(participant=pl.lit(MARK) + pl.col("participant"))
    return Learned(_without_trials(fitted.mixture), tuple(scales), stand_ins, below)


def _stimuli(rows: pl.DataFrame, stimuli: Stimuli) -> pl.DataFrame:
    """The stimuli in order of appearance, with the columns that distinguish them."""
    rows = stimuli.with_pairs(rows)
    return rows.select(*stimuli.keys, _stimulus=stimuli.number(rows)).unique(maintain_order=True)


def _usual(rows: pl.DataFrame, crowd: CrowdTrials) -> tuple[Floats, ...]:
    """The usual log time of each stimulus, as subtracted from the times of the sample."""
    residual, parts = crowd.trials.residual, crowd.trials.parts
    usual = tuple(np.full(part.items, np.nan) for part in parts)
    if residual is None:
        return usual
    seconds, timed = _log_seconds(rows, residual.shape), np.isfinite(residual)
    for part, of_part in zip(parts, usual, strict=True):
        timed_part = timed & part.there
        of_part[part.item[timed_part]] = seconds[timed_part] - residual[timed_part]
    return usual


def _without_trials(mixture: Mixture) -> Mixture:
    """The mixture without its matrices of participants, small enough to send to other processes."""
    bare = copy(mixture)
    bare.trials = bare.blind = bare.allowed = bare.period = None  # type: ignore[assignment]
    bare.attentive = [model.slim() for model in mixture.attentive]
    return bare


def judge_with(judgments: Judgments, learned: Learned) -> tuple[pl.DataFrame, int]:
    """The table of participants outside the sample, and the number of answers to stimuli unknown to the sample."""
    frame = pl.concat([judgments.frame, learned.stand_ins])
    with_stand_ins = Judgments.from_checked(Checked(frame), judgments.scales)
    crowd = crowd_trials(with_stand_ins, learned)
    mixture = Mixture(crowd.trials, np.ones(len(crowd.people)), learned.mixture.by_classes)
    mixture.adopt(learned.mixture, all_of_it=True)
    fitted = Fitted(mixture, mixture.step(learn=False))
    table = people_table(crowd, fitted, learned.below, by_one_another=False)
    lost = answered(with_stand_ins).height - int(_has_answer(crowd.trials).sum())
    return table.filter(~pl.col("participant").str.starts_with(MARK)), lost


def _log_seconds(rows: pl.DataFrame, shape: tuple[int, ...]) -> Floats:
    """The log times, participants x trials; NaN if missing."""
    owner = numbered(rows, ["participant"]).to_numpy()
    place = rows.select(pl.int_range(pl.len()).over("participant")).to_series().to_numpy()
    logs = np.full(shape, np.nan)
    if "rt" in rows.columns:
        with np.errstate(divide="ignore", invalid="ignore"):
            logs[owner, place] = np.log(rows["rt"].cast(pl.Float64).fill_null(np.nan).to_numpy())
    logs[~np.isfinite(logs)] = np.nan
    return logs
