"""Person-total correlation: participants whose answers do not agree with those of the others.

For participant i and stimulus s (an item in one condition and, if there are several, one question), m_is is the mean
answer of all others who saw the same stimulus. The score is

    r_i = correlation of y_is and m_is over the stimuli s that i answered,

the personal point-biserial correlation of test theory (Donlon and Fischer 1968); Curran (2016) uses it as an index of
careless answers. Participants' own answers never enter m_is, or everybody would agree with themselves. In a Latin
square, participants are compared with those who saw the same version of each item. Several answers of a participant to
one stimulus count as their mean. The score needs at least five stimuli that two others each answered.

Guessing gives a score near 0, and reversing the scale a negative one. One answer throughout gives no score; that is
what straightlining looks for. The criterion assumes that people agree on the whole: a minority with another grammar has
low scores although it is attentive. Many guessers lower all scores.

The usual cutoff of 0 is cautious: half of all guessers are above it. With few stimuli, attentive participants can be
below it too. Participants are therefore flagged only if their score is also clearly lower than usual: the upper limit
of its one-sided 99 % interval (Fisher's z with n - 3) must be below half the median score, or below the cutoff if
that is higher. Participants who gave the same answer all but once or twice are not flagged, because those one or two
answers decide the score. Nor are participants who agree (p < .01) with others below the cutoff, because two groups
may prefer different things. If the median score is not above chance (p < .05), nobody is flagged.

Nominal answers count as one number per category, 1 if it was chosen and 0 if not; m_is is then the share of the others
who chose it, and r_i runs over all stimuli and categories, each category centred. With two categories this is the
correlation above. Choices count as 1 for one item, -1 for the other and 0 for no difference, whatever their sides.
Because it is arbitrary which item counts as 1, these numbers are not centred: r_i = sum y m / sqrt(sum y^2 sum m^2).
"""

import numpy as np
import polars as pl
from pydantic import Field

from karat.judgments import Judgments
from karat.judgments.answer_codes import answered, by_scale, is_ordered, position
from karat.judgments.scales import Scale
from karat.judgments.stimuli import numbered
from karat.messages import Message
from karat.screen.evidence import (
    Evidence,
    ScreenError,
    check_settings,
    correlations,
    everybody,
    means_of_others,
    ordered_answers,
    owners,
    round_beside,
    verdicts,
    with_stimuli,
    without_score,
)
from karat.study.criterion import Alternative, Criterion, CriterionSettings, left_out
from karat.types import Floats

AT_LEAST = 0.0
USUAL = 0.5
"""Flagged participants are below this share of the usual score, because attentive people agree to different degrees."""
FEWEST_STIMULI = 5
FEWEST_OTHERS = 2
FEWEST_APART = 3
"""With fewer answers apart from the most frequent one, one answer decides the score."""
ONE_SIDED = 2.33
"""The 99th percentile of the normal distribution."""
AGREEING = 1.64
"""The 95th percentile."""


class PersonTotalSettings(CriterionSettings):
    """Settings for flagging answers that disagree with those of the others."""

    at_least: float = Field(
        AT_LEAST, ge=-1, le=1, description="The correlation with the others' means that is required."
    )


def person_total(judgments: Judgments, at_least: float = AT_LEAST) -> Evidence:
    """The agreement of each participant's answers with the others'; flagged if clearly below `at_least`.

    Further columns: stimuli (how many were compared) and others (how many others answered each, on average). Where
    there are ratings and choices, the kind with the most answers is compared.

    >>> import karat
    >>> person_total(karat.datasets.load("likert"), at_least=0.3).flagged
    ['p06', 'p11', 'p20', 'p35']
    """
    from karat.screen.credence_model import who_agree

    check_settings(PersonTotalSettings, at_least=at_least)
    rows, notes, centred = _comparable(judgments)
    people = everybody(judgments)
    cells = rows.group_by("participant", "_stimulus", "_part", maintain_order=True).agg(pl.col("_value").mean())
    means, others = means_of_others(numbered(cells, ["_stimulus", "_part"]).to_numpy(), cells["_value"].to_numpy())
    cells = cells.with_columns(_mean=means, _others=others).filter(pl.col("_others") >= FEWEST_OTHERS)
    stimuli = cells.unique(["participant", "_stimulus"])
    counts = np.bincount(owners(people, stimuli), minlength=people.height)
    if counts.max() < FEWEST_STIMULI:
        few = {"fewest": FEWEST_STIMULI, "others": FEWEST_OTHERS, "most": int(counts.max())}
        raise ScreenError(Message("person_total.few_stimuli", few))
    company = np.bincount(owners(people, stimuli), stimuli["_others"].to_numpy(), people.height) / np.maximum(counts, 1)
    table = people.with_columns(
        score=pl.Series(_scores(people, cells, centred)).fill_nan(None), stimuli=counts, others=company,
        same=pl.col("participant").is_in(_same_throughout(cells).implode()),
        lone=pl.col("participant").is_in(_few_others(rows).implode()) if centred else pl.lit(False),
    )  # fmt: skip
    low = table.filter(pl.col("score") < at_least)["participant"].to_list()
    table = _verdicts(table, at_least, who_agree(judgments, low))
    if table["flagged"].any() and not _agree(table):
        table = table.with_columns(flagged=pl.lit(False))
        notes.append(Message("person_total.no_agreement"))
    return Evidence(table, "person_total", {"at_least": at_least}, (*notes, *without_score(table)))


def _agree(table: pl.DataFrame) -> bool:
    """Whether most participants agree better than by chance: the median of their Fisher's z, in standard errors."""
    scored = table.drop_nulls("score")
    z = np.arctanh(np.clip(scored["score"].to_numpy(), -0.999, 0.999)) * np.sqrt(scored["stimuli"].to_numpy() - 3)
    # The standard error of a median is that of the mean times sqrt(pi / 2).
    return bool(np.median(z) > AGREEING * np.sqrt(np.pi / 2 / len(z)))


def _verdicts(table: pl.DataFrame, at_least: float, alike: list[str]) -> pl.DataFrame:
    """The table of participants with their verdicts; participants with too few stimuli have no score."""
    camp = pl.col("participant").is_in(alike)
    enough = pl.col("stimuli") >= FEWEST_STIMULI
    table = table.with_columns(
        score=pl.when(enough).then("score"), others=pl.when(pl.col("stimuli") > 0).then("others")
    )
    middle = table["score"].median()
    usual = max(at_least, USUAL * middle) if isinstance(middle, float) else at_least
    upper = (pl.col("score").clip(-0.999, 0.999).arctanh() + ONE_SIDED / (pl.col("stimuli") - 3).sqrt()).tanh()
    below = pl.col("score") < at_least
    unclear = below & ((upper >= usual) | pl.col("lone"))
    message = (
        pl.when(~enough).then(pl.lit("person_total.few"))
        .when(below & pl.col("lone")).then(pl.lit("person_total.lone"))
        .when(unclear).then(pl.lit("person_total.unclear"))
        .when(below & camp).then(pl.lit("person_total.alike"))
        .when(pl.col("score").is_not_null()).then(pl.lit("person_total.correlation"))
        .when("same").then(pl.lit("person_total.same")).otherwise(pl.lit("person_total.others_same"))
    )  # fmt: skip
    few = pl.when(~enough)
    values = {
        "score": round_beside(pl.col("score"), pl.lit(at_least)), "stimuli": "stimuli",
        "others": pl.when(pl.col("score").is_not_null()).then(pl.col("others").round(1)),
        "fewest_others": few.then(pl.lit(FEWEST_OTHERS, pl.Int64)),
        "fewest": few.then(pl.lit(FEWEST_STIMULI, pl.Int64)),
        "usual": pl.when(unclear & ~pl.col("lone")).then(pl.lit(round(usual, 2))),
        "alike": pl.when(below & ~unclear & camp).then(pl.lit(len(alike), pl.Int64)),
    }  # fmt: skip
    return verdicts(table, "score", at_least, below & ~unclear & ~camp, message, values, "stimuli", "others")


def _same_throughout(cells: pl.DataFrame) -> pl.Series:
    """Participants who gave one answer only."""
    kinds = cells.group_by("participant", "_part").agg(pl.col("_value").n_unique().alias("kinds"))
    most = kinds.group_by("participant").agg(pl.col("kinds").max())
    return most.filter(pl.col("kinds") == 1)["participant"]


def _few_others(rows: pl.DataFrame) -> pl.Series:
    """Participants who gave hardly any answer but their most frequent one."""
    counts = rows.unique(["participant", "_stimulus", "response"]).group_by("participant", "response").len()
    apart = counts.group_by("participant").agg(apart=pl.col("len").sum() - pl.col("len").max())
    return apart.filter(pl.col("apart") < FEWEST_APART)["participant"]


def _scores(people: pl.DataFrame, cells: pl.DataFrame, centred: bool) -> Floats:
    """The correlation of each participant's own answers with the others' means."""
    owner, part = owners(people, cells), cells["_part"].to_numpy()
    centre = owner * (int(part.max(initial=0)) + 1) + part if centred else np.full_like(owner, -1)
    return correlations(owner, cells["_value"].to_numpy(), cells["_mean"].to_numpy(), people.height, centre)


def _comparable(judgments: Judgments) -> tuple[pl.DataFrame, list[Message], bool]:
    """The answers as numbers with their stimulus and, for nominal scales, category; and whether to centre them."""
    rows = answered(judgments)
    if not rows.height:
        raise ScreenError(Message("answering.nobody"))
    by_kind: dict[str, list[tuple[Scale, pl.DataFrame]]] = {"ordered": [], "choice": [], "nominal": []}
    for scale, part in by_scale(judgments, rows):
        by_kind["ordered" if is_ordered(scale) else scale.kind].append((scale, part))
    answers = {kind: sum(part.height for _, part in parts) for kind, parts in by_kind.items()}
    kind = max(answers, key=lambda name: answers[name])
    if kind == "ordered":
        table, notes = ordered_answers(judgments, "person_total")
        table, more = with_stimuli(judgments, table)
        return table.with_columns(_part=pl.lit(0, pl.Int64)), [*notes, *more], True
    left_out = [
        Message("person_total.answers", {"answers": number, "kind": name})
        for name, number in answers.items()
        if number and name != kind
    ]
    notes_on_kinds = [Message("person_total.left_out", {"kind": kind, "left_out": left_out})] if left_out else []
    if kind == "choice":
        chosen = pl.concat([_choices(scale, part) for scale, part in by_kind[kind]])
        table, more = with_stimuli(judgments, chosen, scale=by_kind[kind][0][0])
        return table.with_columns(_part=pl.lit(0, pl.Int64)), [*notes_on_kinds, *more], False
    table, more = with_stimuli(judgments, pl.concat([part for _, part in by_kind[kind]]), scale=by_kind[kind][0][0])
    return _categories(judgments, table), [*notes_on_kinds, *more], True


def _choices(scale: Scale, rows: pl.DataFrame) -> pl.DataFrame:
    """Choices as 1, -1 or 0: for the item that comes first in the alphabet, where both are named, else for the left."""
    places = [position(scale, aligned=turn and "polarity" in rows.columns) for turn in (True, False)]
    side, as_shown = (pl.when(place == 0).then(1.0).when(place == 1).then(-1.0).otherwise(0.0) for place in places)
    if not {"left", "right"} <= set(rows.columns):
        return rows.with_columns(_value=side)
    turned = pl.when(pl.col("left") > pl.col("right")).then(-as_shown).otherwise(as_shown)
    named = pl.col("left").is_not_null() & pl.col("right").is_not_null()
    return rows.with_columns(_value=pl.when(named).then(turned).otherwise(side))


def _categories(judgments: Judgments, rows: pl.DataFrame) -> pl.DataFrame:
    """Nominal answers as 1 and 0 for each category of their scale."""
    tables = []
    first = 0
    for scale, part in by_scale(judgments, rows):
        for number, level in enumerate(scale.levels, start=first):
            chosen = (pl.col("response") == level).cast(pl.Float64)
            tables.append(part.with_columns(_value=chosen, _part=pl.lit(number, pl.Int64)))
        first += len(scale.levels)
    return pl.concat(tables)


CRITERION = Criterion(
    name="person_total",
    title="Agreement with others",
    asks="whose answers do not go along with the others'",
    settings=PersonTotalSettings,
    computed_by=person_total,
    cites=("curran2016",),
    alternatives=(
        Alternative("r >= 0", {"at_least": 0.0}, "usual"),
        Alternative("r >= .2", {"at_least": 0.2}, "strict"),
        left_out(),
    ),
)
