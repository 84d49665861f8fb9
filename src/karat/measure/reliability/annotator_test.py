"""Machines as annotators: whether a language model could replace a participant.

The alternative annotator test (Calderon, Reichart and Dror 2025). Each participant in turn is compared with the machine
on the stimuli that both answered, by the agreement of their answers with those of the other participants: for labels,
yes-or-no answers and choices the share of equal answers, for numbers the root mean square difference. W_m is 1 if the
machine agrees at least as well as the participant, W_h if the participant agrees at least as well as the machine.

    The machine wins against a participant if mean(W_h - W_m) < margin, by a one-sided t test,
    corrected over participants (Benjamini and Yekutieli) at 1 - level.
    Its winning rate is the share of participants it wins against; it passes with a rate of .5 or more.
    Its advantage is the mean of W_m within participants, averaged over participants.

The margin is the advantage of a participant over the machine that is not worth their effort. The paper takes .1 for
crowds, .15 for skilled annotators and .2 for experts; with a smaller margin fewer machines pass. Participants with
fewer than 30 such stimuli are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import ClassVar

import numpy as np
import polars as pl

from karat.judgments import Judgments
from karat.judgments.columns import selector, unknown_name
from karat.judgments.scales import Binary, Choice, Nominal
from karat.measure.rated import Rated, known_column, rated
from karat.measure.result import BriefResult, MeasureError, PlotColumns, about_question, check_level
from karat.messages import Message, check_number

FEWEST = 30
"""The fewest stimuli in common with the machine and other participants."""
PASSES = 0.5
MARGIN = 0.1
FEW = 3
"""With fewer participants the winning rate says little."""
PEOPLE = ["question", "machine", "participant", "stimuli", "machine_wins", "participant_wins", "p", "adjusted",
          "beaten"]  # fmt: skip


@dataclass(frozen=True)
class AnnotatorTest(BriefResult):
    """The agreement of machines with participants, compared with that of each participant."""

    machines: pl.DataFrame
    """question, machine, participants, winning_rate, advantage, passes."""
    participants: pl.DataFrame
    """question, machine, participant, stimuli, machine_wins, participant_wins, p, adjusted, beaten."""
    points: ClassVar = PlotColumns(
        ("question", "machine"), "advantage", "share of stimuli with at least equal agreement"
    )
    files: ClassVar = {"annotator-test": "machines", "annotator-test-participants": "participants"}
    figure_file: ClassVar = "annotator-test"
    warning_codes: ClassVar = ("annotator_test.few_people",)

    @property
    def summary(self) -> tuple[Message, ...]:
        """Which machines pass, by question."""
        messages = []
        for (question,), rows in self.machines.group_by("question", maintain_order=True):
            passed, failed = (rows.filter(pl.col("passes") == passes)["machine"].to_list() for passes in (True, False))
            values = {
                "question": question or None, "margin": self.settings["margin"], "people": rows["participants"].max(),
                "names": passed or failed, "n": len(passed or failed), "others": failed or None, "failed": len(failed),
            }  # fmt: skip
            messages.append(Message("annotator_test.passed" if passed else "annotator_test.none_passed", values))
        return tuple(messages)


def machine_names(judgments: Judgments, names: Sequence[str]) -> list[str]:
    """The participants that match names, patterns such as gpt* or COLUMN=VALUE.

    >>> import karat
    >>> answers = {"participant": ["ann", "gpt-4o"], "item": ["a", "a"], "response": [1, 2], "kind": ["human", "model"]}
    >>> machine_names(karat.Judgments(answers, karat.Ordinal(5)), ["gpt*", "kind=model"])
    ['gpt-4o']
    """
    people = judgments.frame.lazy().join(judgments.participants.lazy(), on="participant", how="left").collect()
    machines: dict[str, None] = {}
    for name in names:
        column, value = selector(name)
        cells = people.select(
            "participant", cell=pl.col(known_column(people, column, "annotator_test")).cast(pl.String)
        )
        there = cells["cell"].drop_nulls().unique(maintain_order=True).to_list()
        matches = [cell for cell in there if fnmatchcase(cell, value)]
        if not matches:
            raise MeasureError(unknown_name("annotator_test.unknown", value, there, column=column))
        machines |= dict.fromkeys(cells.filter(pl.col("cell").is_in(matches))["participant"].to_list())
    if machines and len(machines) == people["participant"].n_unique():
        raise MeasureError(Message("annotator_test.everybody", {"names": list(names)}))
    return list(machines)


def annotator_test(
    judgments: Judgments,
    names: Sequence[str],
    margin: float = MARGIN,
    functions: Sequence[str] = ("test",),
    conditions: Sequence[str] | None = None,
    level: float = 0.95,
) -> AnnotatorTest:
    """Compare machines with each participant by the alternative annotator test.

    `names` are the participants who are machines: their names, patterns such as gpt* or COLUMN=VALUE.

    >>> import karat
    >>> print(annotator_test(karat.simulate.crowd(8, 60), ["w001"]))
    w001 does not pass the alternative annotator test against 7 participants, with a margin of .10.
    """
    check_level(level)
    check_number(MeasureError, "margin", margin, at_least=0, below=1)
    machines = machine_names(judgments, names)
    tables = []
    notes: list[Message] = []
    for answers in rated(judgments, "annotator_test", functions, conditions):
        compared = [
            _against_people(answers, machines, name, margin).with_columns(machine=pl.lit(name)) for name in machines
        ]
        tables += [table.with_columns(question=pl.lit(answers.question)) for table in compared if table.height]
        notes += about_question(answers.question, answers.notes)
    if not tables:
        raise MeasureError(Message("annotator_test.nobody", {"fewest": FEWEST}))
    people = pl.concat(tables).with_columns(beaten=pl.col("adjusted") <= 1 - level).select(PEOPLE)
    rates = people.group_by("question", "machine", maintain_order=True).agg(
        participants=pl.len().cast(pl.Int64), winning_rate=pl.col("beaten").mean(),
        advantage=pl.col("machine_wins").mean(),
    ).with_columns(passes=pl.col("winning_rate") >= PASSES)  # fmt: skip
    best = pl.concat(rows.sort("advantage", descending=True) for rows in rates.partition_by("question"))
    if (best["participants"] < FEW).any():
        notes.append(Message("annotator_test.few_people", {"few": FEW}))
    settings = {"machines": machines, "margin": margin, "functions": tuple(functions), "test_level": level}
    return AnnotatorTest(best, people, settings=settings, notes=tuple(dict.fromkeys(notes)))


def _against_people(rated_items: Rated, machines: Sequence[str], name: str, margin: float) -> pl.DataFrame:
    """How often a machine and each participant agree at least as well as the other with the rest, and the test."""
    from scipy.stats import false_discovery_control, t

    is_label = isinstance(rated_items.scale, Binary | Choice | Nominal)
    answers = rated_items.rows.select("participant", "_stimulus", answer=pl.col("_category" if is_label else "_value"))
    machine = answers.filter(pl.col("participant") == name).select("_stimulus", machine="answer")
    people = answers.filter(~pl.col("participant").is_in(machines))
    answer, machine_answer, others = pl.col("answer"), pl.col("machine"), pl.len().over("_stimulus").cast(pl.Int64) - 1
    people = people.with_columns(
        others=others, equal=pl.len().over("_stimulus", "answer").cast(pl.Int64) - 1,
        sum=pl.col("answer").sum().over("_stimulus") - answer,
    ).filter(pl.col("others") > 0)  # fmt: skip
    both = people.join(machine, on="_stimulus", maintain_order="left")
    if is_label:
        counts = people.select("_stimulus", machine="answer", given=pl.col("equal") + 1).unique()
        both = both.join(counts, on=["_stimulus", "machine"], how="left", maintain_order="left")
        better = pl.col("equal") - (pl.col("given").fill_null(0) - (answer == machine_answer).cast(pl.Int64))
    else:
        # Squared distances from the others' answers, without the squares of these, which both have in common.
        machine_off, own_off = (pl.col("others") * x**2 - 2 * x * pl.col("sum") for x in (machine_answer, answer))
        better = machine_off - own_off
    result = both.with_columns(better=better).group_by("participant", maintain_order=True).agg(
        stimuli=pl.len().cast(pl.Int64), machine_wins=(pl.col("better") <= 0).mean(),
        participant_wins=(pl.col("better") >= 0).mean(), deviation=pl.col("better").sign().std() / pl.len().sqrt(),
    ).filter(pl.col("stimuli") >= FEWEST)  # fmt: skip
    if not result.height:
        return result
    difference = (result["participant_wins"] - result["machine_wins"] - margin).to_numpy()
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.nan_to_num(t.cdf(difference / result["deviation"].to_numpy(), result["stimuli"].to_numpy() - 1), nan=1.0)
    return result.with_columns(p=p, adjusted=false_discovery_control(p, method="by"))
