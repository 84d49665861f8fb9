"""A study: its file, its items, its lists, and the questionnaire of each participant."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import lcm
from pathlib import Path
from typing import Any

import polars as pl

from karat.errors import KaratError, Problems, counted
from karat.judgments.columns import meant
from karat.study.file import StudyError, find_study, line_of, read_settings, toml_lines
from karat.study.items import Items, filled_templates, read_items, read_questions, together
from karat.study.orders import Arranger
from karat.study.plan import Block, BlockPlan, placed_plan
from karat.study.questionnaire import ListBlock, Questionnaire, arranger_for, assemble
from karat.study.settings import BlockSettings, OrderSettings, StudySettings
from karat.study.tasks import AROUND_MINUTES


@dataclass(frozen=True)
class Study:
    """A study as read from its file, ready to be checked, planned and run."""

    path: Path
    settings: StudySettings = field(repr=False)
    blocks: tuple[Block, ...] = field(repr=False)
    fingerprint: str
    """Changes when the study file or a table that it names changes."""
    _cache: dict[object, Any] = field(default_factory=dict, compare=False, repr=False)
    """The plan and the arrangers, which are computed once for all participants."""

    @property
    def public_title(self) -> str:
        """The title that participants see."""
        return self.settings.public_title or self.title

    @property
    def title(self) -> str:
        """The title of the study."""
        return self.settings.title

    @property
    def screening_rules(self) -> dict[str, Any] | None:
        """The rules of `[screening]` as written; None if there are none."""
        screening = self.settings.screening
        return None if screening is None else screening.rules

    def plan(self) -> tuple[BlockPlan, ...]:
        """The lists of every block."""
        if "plan" not in self._cache:
            people = self.settings.recruitment.participants
            self._cache["plan"] = tuple(placed_plan(block, self.settings.seed, people) for block in self.blocks)
        plans: tuple[BlockPlan, ...] = self._cache["plan"]
        return plans

    @property
    def lists(self) -> int:
        """The number of lists: the least common multiple of those of all blocks."""
        return lcm(*(len(plan.lists) for plan in self.plan()))

    def trials(self, block: int, list: int) -> pl.DataFrame:
        """The trials of a block in a list, before they are put in order; blocks count from 0, lists from 1."""
        lists = self.plan()[block].lists
        return lists[(list - 1) % len(lists)]

    def showings(self, list: int, judged_only: bool = False) -> int:
        """The number of trials of a list in a session, with repetitions; all, or those that ask for acceptability."""
        return sum(
            block.settings.showings(self.trials(index, list).height)
            for index, block in enumerate(self.blocks)
            if block.task.acceptability or not judged_only
        )

    def arranger(self, block: int, list: int) -> Arranger:
        """The arranger for the trials of a block in a list, made once for all participants."""
        key = ("arranger", block, (list - 1) % len(self.plan()[block].lists))
        if key not in self._cache:
            self._cache[key] = arranger_for(self.settings.order, self.trials(block, list))
        arranger: Arranger = self._cache[key]
        return arranger

    def minutes(self, list: int = 1) -> float:
        """The approximate minutes of a session of a list, from the usual time of each task's trials."""
        seconds = 0.0
        for index, block in enumerate(self.blocks):
            questions = 1 if block.questions is None else block.questions.height + block.settings.repeated_questions
            seconds += block.settings.showings(self.trials(index, list).height) * questions * block.task.seconds
        return seconds / 60 + AROUND_MINUTES

    def outline(self, numbers: Sequence[int]) -> str:
        """The number, length and duration of these lists in words: `2 lists of 36 trials, about 9 minutes each`."""
        showings = sorted({self.showings(number) for number in numbers})
        span = f"{showings[0]:,}" if len(showings) == 1 else f"{showings[0]:,} to {showings[-1]:,}"
        each = "" if self.lists == 1 else " each"
        if self.settings.questionnaire.sessions == 2:
            each = " in each of 2 sessions"
        minutes = max(self.minutes(number) for number in numbers)
        return f"{counted(self.lists, 'list')} of {span} trials, about {minutes:.0f} minutes{each}"

    def questionnaire(self, list: int = 1, participant: str | int = 1, seed: int | None = None) -> Questionnaire:
        """The trials of a participant in order, always the same for the same study, list, participant and seed."""
        if not 1 <= list <= self.lists:
            raise KaratError(f"There is no list {list}; {self.path.name} has the lists 1 to {self.lists}.")
        blocks = [
            ListBlock(block, self.trials(index, list), partial(self.arranger, index, list))
            for index, block in enumerate(self.blocks)
        ]
        return assemble(self.settings, blocks, list, str(participant), self.settings.seed if seed is None else seed)


def load(path: str | Path) -> Study:
    """Read a study file and its tables; all problems are reported together, with file, line and fix.

    Parameters
    ----------
    path
        The study file, or its folder.

    >>> load("nowhere.toml")
    Traceback (most recent call last):
    ...
    karat.study.file.StudyError: There is no study file nowhere.toml. `karat init` writes one to start from.
    """
    file = find_study(path)
    settings, text = read_settings(file)
    digest = hashlib.sha256(text.encode())
    blocks = []
    problems = Problems()
    for name, block in zip(settings.block_names, settings.block, strict=True):
        items = _items(file.parent, block)
        problems.extend(items.problems)
        digest.update(items.frame.write_csv().encode())
        questions = read_questions(file.parent / block.questions, problems) if block.questions else None
        digest.update(b"" if questions is None else questions.write_csv().encode())
        blocks.append(Block(name, block, items, questions))
    if problems:
        raise StudyError(f"The items of {file.name} cannot be read:", problems, True)
    unknown = _unknown_columns(settings.order, blocks, text)
    if unknown:
        raise StudyError(f"{file.name} and its items do not fit together:", unknown)
    return Study(file, settings, tuple(blocks), digest.hexdigest()[:16])


def _unknown_columns(order: OrderSettings, blocks: Sequence[Block], text: str) -> Problems:
    """Columns in the rules of the order that no item table has."""
    columns = list(dict.fromkeys(name for block in blocks for name in block.items.frame.columns))
    lines = toml_lines(text)
    problems = Problems()
    halves = [] if order.halves is None else [order.halves]
    for rule, names in (("in_a_row", order.in_a_row), ("distance", order.distance), ("halves", halves)):
        for name in names:
            if name not in columns:
                line = line_of(lines, ("order", rule, name) if rule != "halves" else ("order", rule))
                fix = f"Take {name} out of {rule}, or add the column. {meant(name, columns)}"
                problems.add("is not a column of the items", fix, column=f"order.{rule}", value=name, number=line)
    return problems


def with_lists(study: Study, lists: int | None) -> Study:
    """The same study with another number of lists in every block that makes lists."""
    if lists is None:
        return study
    blocks = tuple(
        replace(block, settings=block.settings.model_copy(update={"lists": lists})) for block in study.blocks
    )
    return replace(study, blocks=blocks, _cache={})


def with_participants(study: Study, participants: int | None) -> Study:
    """The same study for another number of participants, each with random pairs."""
    if participants is None:
        return study
    recruitment = study.settings.recruitment.model_copy(update={"participants": participants})
    return replace(study, settings=study.settings.model_copy(update={"recruitment": recruitment}), _cache={})


def _items(folder: Path, block: BlockSettings) -> Items:
    factors = list(block.factors)
    parts = []
    if block.items:
        # Fillers in a separate table need not have the columns of the factors.
        needed = factors if block.templates is None or block.wide else []
        paths = [folder / name for name in block.items]
        parts.append(read_items(paths, needed, block.task, block.wide, block.sheets))
    if block.templates is not None and block.lexicon is not None:
        parts.append(filled_templates(folder / block.templates, folder / block.lexicon, factors, block.task))
    return parts[0] if len(parts) == 1 else together(*parts)
