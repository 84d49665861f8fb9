"""A study as the server holds it: what is the same for all participants is made once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markupsafe import Markup

from karat.errors import KaratError
from karat.field.content import answers, flow, images, inline_markup, scales, texts
from karat.field.content.platforms import Platform, person_hash, platform
from karat.field.content.texts import Words
from karat.field.registration import registration
from karat.field.store import Store, studies
from karat.field.store.trials import StoredTrial
from karat.study.study import Study
from karat.study.tasks.task import Task


@dataclass(frozen=True)
class ServedStudy:
    """A study that is asked."""

    slug: str
    study: Study
    id: int
    """Its number in the store."""
    words: Words
    platform: Platform
    scales: dict[str, dict[str, Any]]
    offers: Mapping[str, answers.Offer]
    images: Mapping[str, Path]
    scripts: Mapping[str, Path]
    """The browser files of tasks that are not karat's own, by file name."""
    after_trials: str
    """The step that follows the trials of the last session."""
    privacy: Markup
    instructions: Markup
    _person_key: bytes = field(repr=False)

    @property
    def language(self) -> str:
        """The language of the study."""
        return self.study.settings.language

    @property
    def lease_seconds(self) -> float:
        """How long somebody's place is kept without a sign of life."""
        return self.study.settings.field.lease_minutes * 60

    def hash_of(self, kind: str, identifier: str) -> str | None:
        """The keyed hash of a platform's identifier; None where there is none."""
        return person_hash(self._person_key, kind, identifier) if identifier else None

    @property
    def task_scripts(self) -> dict[str, str]:
        """Where the browser finds the script of each task: karat's among the static files, others by the study."""
        tasks = {block.task.name: block.task for block in self.study.blocks}
        return {
            name: f"/s/{self.slug}/task/{script_name(task)}" if task.script else f"/static/js/tasks/{script_name(task)}"
            for name, task in tasks.items()
        }

    def check(self, trial: StoredTrial, answer: answers.PostedAnswer) -> answers.AnswerVerdict:
        """What an answer to a stored page becomes."""
        return answers.check(trial.shown, self.offers.get(trial.block), answer)


def script_name(task: Task) -> str:
    """The file name under which the browser asks for the script of a task.

    >>> from karat.study.tasks import task_named
    >>> script_name(task_named("yes-no"))
    'yes-no.js'
    """
    return f"{task.name}.js"


def served_study(slug: str, study: Study, store: Store) -> ServedStudy:
    """Make a study known to the store, and everything ready that participants share."""
    settings = study.settings
    words = texts.words(settings.language, settings.texts.words)
    study.plan()  # once, before several people come at the same time
    return ServedStudy(
        slug=slug,
        study=study,
        id=store.call(studies.register, registration(slug, study)).id,
        words=words,
        platform=platform(settings.recruitment),
        scales=scales.scales(study, words),
        offers=answers.offers(study),
        images=images.images(study),
        scripts=_scripts(study),
        after_trials=flow.next_step(study, flow.TRIALS, settings.questionnaire.sessions),
        privacy=inline_markup.markup(settings.texts.privacy or words["privacy.standard"]),
        instructions=inline_markup.markup(settings.texts.instructions or _usual_instructions(study, words)),
        _person_key=store.secret("person"),
    )


def _scripts(study: Study) -> dict[str, Path]:
    """The browser files of tasks that are not karat's own."""
    found = {}
    for task in (block.task for block in study.blocks):
        if task.script is None:
            continue
        if not task.script.is_file():
            raise KaratError(f"The browser file of the task {task.name} is not there: {task.script}. Add it.")
        found[script_name(task)] = task.script
    return found


def _usual_instructions(study: Study, words: Words) -> str:
    """What to do in each task of the study, and the advice that holds for all."""
    tasks = dict.fromkeys(block.settings.task for block in study.blocks)
    back = "instructions.going_back" if study.settings.field.going_back else "instructions.no_going_back"
    parts = [*(words[f"instructions.{task}"] for task in tasks), words["instructions.advice"], words[back],
             words["instructions.keyboard"]]  # fmt: skip
    return "\n\n".join(parts)
