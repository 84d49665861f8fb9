"""The answers of bots and their response times.

Judging bots have an opinion about every stimulus. The model of `karat.simulate` draws the opinions for all bots of a
study together, so that they agree on the items and differ as people do. A bot looks its opinion up by the words on the
screen, because it sees only what a participant sees. Other bots choose among the offered answers without looking. Times
follow `karat.simulate.behaviours`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from karat.field.content.inline_markup import plain_text, runs
from karat.judgments.scales import Ordinal
from karat.messages import Message
from karat.simulate import SimulatedPeople, SimulateError, Spread, draw_people, respond
from karat.simulate.behaviours import ATTENTIVE, JUDGES, MINORITY, seconds
from karat.simulate.layout import side_of, stated_effects
from karat.simulate.respond import as_planned
from karat.simulate.scale_answers import levels_of, written
from karat.study.plan import Block
from karat.study.study import Study
from karat.study.tasks import task_named

PLAYED = (ATTENTIVE, MINORITY, "dawdler", "drop-out", "guesser", "straight-liner", "rusher")
"""The behaviours of `karat.simulate` that bots can show, because they need no knowledge of later trials."""
STAY = (0.3, 0.8)
"""The range of the share of the trials after which drop-outs leave."""
SWAPPED = {"left": "right", "right": "left"}

Words = tuple[str, ...]
Opinions = Mapping[Words, str]


@dataclass
class Behaviour:
    """The behaviour of a bot, its opinion of each stimulus, and its pace."""

    name: str = ATTENTIVE
    opinions: Opinions = field(default_factory=dict)
    pace: float = 0.0
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(1))
    stay: float = field(init=False)
    """The share of the trials that is answered."""

    def __post_init__(self) -> None:
        if self.name not in PLAYED:
            raise SimulateError(Message("simulate.no_bot", {"name": self.name, "known": list(PLAYED)}))
        self.stay = float(self.random.uniform(*STAY)) if self.name == "drop-out" else 1.0
        self._favourite = float(self.random.random())

    def answer(self, trial: Mapping[str, Any], scale: Mapping[str, Any]) -> dict[str, Any]:
        """Responses and times, under the names that the server expects."""
        stimuli = tuple(plain_text(stimulus["text"] or []) for stimulus in trial["stimuli"])
        if not trial.get("questions"):
            response = self._response(stimuli, scale)
            taken = self._seconds(trial)
            return {"response": response, "rt": taken, "first_response": response, "first_rt": taken}
        responses, times, clock = {}, {}, 0.0
        for question in trial["questions"]:
            words = (*stimuli, plain_text(question["left"]), plain_text(question["right"]))
            clock += self._seconds(trial)
            responses[question["id"]], times[question["id"]] = self._response(words, scale), round(clock, 3)
        return {"responses": responses, "rts": times, "rt": round(clock, 3)}

    def _response(self, words: Words, scale: Mapping[str, Any]) -> str:
        if self.name in JUDGES and words in self.opinions:
            return self.opinions[words]
        place = self._favourite if self.name == "straight-liner" else float(self.random.random())
        if scale["kind"] == "number":
            return str(round(50 + 100 * place))
        if scale["kind"] == "line":
            low, high = scale["low"], scale["high"]
            return written(low + np.round([place], 2) * (high - low))[0]
        offered = scale["points"]
        value: str = offered[int(place * len(offered))]["value"]
        return value

    def _seconds(self, trial: Mapping[str, Any]) -> float:
        function = "practice" if trial.get("practice") else "filler"
        usual = task_named(trial["task"]).seconds
        taken = seconds([function], np.zeros(1, np.int64), [self.name], np.array([self.pace]), usual, self.random)
        return float(taken[0])


def crowd(study: Study, behaviours: Sequence[str], seed: int = 1) -> list[Behaviour]:
    """Bots with these behaviours for a study, each with its own opinions and pace."""
    random = np.random.default_rng(seed)
    people = draw_people(behaviours, Spread(), random)
    minds = opinions(study, people, random)
    return [
        Behaviour(name, mind, float(pace), np.random.default_rng(generator))
        for name, mind, pace, generator in zip(behaviours, minds, people.pace, random.spawn(len(minds)), strict=True)
    ]


def opinions(study: Study, people: SimulatedPeople, random: np.random.Generator) -> list[Opinions]:
    """The answers of each participant to each stimulus of a study, by the words on the screen."""
    minds: list[dict[Words, str]] = [{} for _ in people.behaviours]
    for index, block in enumerate(study.blocks):
        trials = _stimuli(study, index)
        whole = pl.concat([trials] * len(minds))
        person = np.repeat(np.arange(len(minds)), trials.height)
        sides = [(side_of(whole, contrast, block.settings), effect) for contrast, effect in stated_effects(study, None)]
        whole, used = as_planned(whole, block.scale, sides, stated=False)
        responses = respond(
            whole, person, people, block.scale, used,
            compared=block.settings.compared is not None, seed=random,
        )  # fmt: skip
        read = [_words(row, block) for row in trials.iter_rows(named=True)]
        for number, mind in enumerate(minds):
            answers = responses[number * trials.height : (number + 1) * trials.height]
            for words, response in zip(read, answers, strict=True):
                mind.update(_spelt(words, response, block))
    return list(minds)


def _stimuli(study: Study, index: int) -> pl.DataFrame:
    """Every stimulus of a block once, with every adjective pair if there are any."""
    lists = [study.trials(index, number) for number in range(1, len(study.plan()[index].lists) + 1)]
    trials = pl.concat(lists, how="diagonal_relaxed")
    columns = [name for name in ("sentence", "sentence_2", "image", "image_2") if name in trials.columns]
    trials = trials.unique(columns, keep="first", maintain_order=True)
    questions = study.blocks[index].questions
    if questions is None:
        return trials
    poles = questions.select("question", _left="left", _right="right")
    return trials.join(poles, how="cross", maintain_order="left_right")


def _words(row: Mapping[str, Any], block: Block) -> Words:
    texts = [row.get("sentence")]
    if block.task.compares:
        texts.append(row.get("sentence_2"))
    visible = [plain_text(runs(text or "", block.settings.markdown)) for text in texts]
    poles = [row["_left"], row["_right"]] if "_left" in row else []
    return (*visible, *poles)


def _spelt(words: Words, response: str, block: Block) -> Iterator[tuple[Words, str]]:
    """An answer as it appears on the screen, for both orders of sides or poles."""
    if block.task.compares:
        left, right = words
        yield (left, right), response
        yield (right, left), SWAPPED.get(response, response)
    elif block.questions is not None and isinstance(block.scale, Ordinal):
        levels = levels_of(block.scale)
        sentence, left, right = words
        place = levels.index(response) + 1
        yield (sentence, left, right), str(place)
        yield (sentence, right, left), str(len(levels) + 1 - place)
    else:
        yield words, response
