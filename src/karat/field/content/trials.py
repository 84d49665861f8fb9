"""Convert the questionnaire of a participant to pages: what the browser shows, and what the store keeps of each.

A page is a trial, a break or a text. The browser gets only what a participant may see of a trial: stimuli, prompt and
scale, under a random name. Item, condition, function and right answer stay in hidden rows, which the answer later
joins. A differential with several pages becomes several trials, so that each page is saved when it is answered.

Images of items get opaque names, because an address must not reveal `ungrammatical_3.png`. A scale goes to the browser
as it is shown: points from left to right, options with their keys, a number, or a line.
"""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from karat.errors import KaratError
from karat.field.content.inline_markup import Runs, gloss, prose, runs
from karat.field.content.texts import Words
from karat.judgments.scales import Binary, Choice, Continuous, Magnitude, Ordinal, answer_text
from karat.study.plan import Block
from karat.study.questionnaire import Questionnaire
from karat.study.study import Study

HIDDEN = ("acceptability", "verified", "violation", "feedback", "hidden")
"""Columns of the items that are not exported."""

Row = dict[str, Any]


@dataclass(frozen=True)
class PlannedTrial:
    """A page of a participant."""

    position: int
    """From 1, over all pages."""
    public_id: str
    block: str
    rows: list[Row]
    """The answered rows of the questionnaire: one, or one per question of a differential, or none on a text page."""
    shown: dict[str, Any]
    """The page as the browser gets it."""


_Page = tuple[str, list[Row], dict[str, Any]]
"""The block, the rows and the content of a page before its position is known."""


def planned(
    study: Study, questionnaire: Questionnaire, *, slug: str, words: Words, session: int = 1
) -> list[PlannedTrial]:
    """The pages of a session in order."""
    trials = list(_trials(questionnaire, session))
    if not trials:
        raise KaratError(f"{study.path.name} has no session {session}.")
    pages = list(_pages(study, trials, slug, words))
    shown_as = study.settings.field.progress
    count = sum(shown["kind"] == "trial" for _, _, shown in pages)
    planned_trials, number = [], 0
    for position, (block, rows, shown) in enumerate(pages, start=1):
        is_trial = shown["kind"] == "trial"
        number += is_trial
        public_id = secrets.token_urlsafe(12)
        place = {
            "id": public_id,
            "done": None if shown_as == "none" else round((position - 1) / len(pages), 4),
            "number": number if is_trial and shown_as == "count" else None,
            "of": count if is_trial and shown_as == "count" else None,
        }
        planned_trials.append(PlannedTrial(position, public_id, block, rows, shown | place))
    return planned_trials


def _trials(questionnaire: Questionnaire, session: int) -> Iterator[list[Row]]:
    """The rows of each trial, without empty cells."""
    rows: list[Row] = []
    for row in questionnaire.frame.iter_rows(named=True):
        if int(row.get("session") or 1) != session:
            continue
        if rows and rows[0]["trial"] != row["trial"]:
            yield rows
            rows = []
        rows.append({name: cell for name, cell in row.items() if cell is not None})
    if rows:
        yield rows


def _pages(study: Study, trials: list[list[Row]], slug: str, words: Words) -> Iterator[_Page]:
    """Trials with the pages between them: texts of blocks, of the practice, and breaks."""
    blocks = {block.name: (number, block) for number, block in enumerate(study.blocks)}
    every = study.settings.questionnaire.breaks_after
    judged = rested = 0
    previous = ("", False)
    for rows in trials:
        number, block = blocks[rows[0]["block"]]
        practice = rows[0]["function"] == "practice"
        if every and judged > rested and judged % every == 0:
            rested = judged
            yield _text_page("break", words["break.text"], block.name)
        yield from _texts_before(study, block, practice, previous, words)
        shown = _shown(study, number, rows, slug)
        yield from _parts(block, rows, shown)
        judged += not practice
        previous = (block.name, practice)


def _texts_before(
    study: Study, block: Block, practice: bool, previous: tuple[str, bool], words: Words
) -> Iterator[_Page]:
    """The text pages before a trial: instructions of a block, the beginning and the end of the practice."""
    name, practised = previous
    if name != block.name and block.settings.instructions:
        yield _text_page("text", block.settings.instructions, block.name)
    if practice and not (practised and name == block.name):
        yield _text_page("text", study.settings.texts.practice or words["practice.intro"], block.name)
    if practised and not practice:
        yield _text_page("text", words["practice.over"], block.name)


def _text_page(kind: str, text: str, block: str) -> _Page:
    return block, [], _page(kind=kind, text=prose(text))


def _page(**shown: Any) -> dict[str, Any]:
    """A page with all its keys, by default empty."""
    empty: dict[str, Any] = {
        "kind": "trial", "task": None, "practice": False, "prompt": None, "context": None, "stimuli": [],
        "modulus": None, "scale": None, "questions": None, "text": None, "feedback": None, "aside": None,
    }  # fmt: skip
    return empty | shown


def _shown(study: Study, number: int, rows: list[Row], slug: str) -> dict[str, Any]:
    """The content of a trial for the browser, without its purpose."""
    block, row = study.blocks[number], rows[0]
    settings, practice = block.settings, row["function"] == "practice"
    sides = ("", "_2") if block.task.compares else ("",)
    modulus = settings.scale.modulus
    return _page(
        task=settings.task,
        practice=practice,
        prompt=_runs(settings.prompt, settings.markdown),
        context=_runs(row.get("context"), settings.markdown),
        stimuli=[_stimulus(study, row, side, slug, settings.markdown) for side in sides],
        modulus={"text": runs(settings.modulus_sentence, settings.markdown), "value": answer_text(modulus)}
        if settings.modulus_sentence and modulus is not None
        else None,
        scale=f"s{number + 1}",
        feedback=_runs(row.get("feedback"), settings.markdown) if practice else None,
        aside=row.get("hidden"),
    )


def _stimulus(study: Study, row: Mapping[str, Any], side: str, slug: str, markdown: bool) -> dict[str, Any]:
    image, lines = row.get(f"image{side}"), row.get(f"gloss{side}")
    return {
        "text": _runs(row.get(f"sentence{side}"), markdown),
        "gloss": gloss(lines, markdown) if lines else None,
        "image": f"/s/{slug}/image/{image_name(study, image)}" if image else None,
    }


def _runs(text: str | None, markdown: bool) -> Runs | None:
    return runs(text, markdown) if text else None


def _parts(block: Block, rows: list[Row], shown: dict[str, Any]) -> Iterator[_Page]:
    """A trial as one page, or a differential as several; the polarity decides the order of the poles."""
    visible = [{name: cell for name, cell in row.items() if name not in HIDDEN} for row in rows]
    if block.questions is None:
        yield block.name, visible, shown
        return
    poles = {row["question"]: (row["left"], row["right"]) for row in block.questions.to_dicts()}
    size = block.settings.per_page or len(visible)
    for start in range(0, len(visible), size):
        part = visible[start : start + size]
        questions = []
        for place, row in enumerate(part, start=1):
            left, right = poles[row["question"]][:: -1 if row["polarity"] == -1 else 1]
            questions.append({"id": f"q{place}", "left": runs(left), "right": runs(right)})
        yield block.name, part, shown | {"questions": questions}


COLUMNS = ("image", "image_2")


def image_name(study: Study, file: str) -> str:
    """The opaque name of an image file: a keyed hash, the same for everybody and in every process."""
    digest = hmac.new(study.fingerprint.encode(), file.encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest[:16]).decode().rstrip("=")


def images(study: Study) -> dict[str, Path]:
    """The image files of a study by their opaque names; no other file beside the study file is served."""
    frames = [block.items.frame for block in study.blocks]
    columns = [frame[name].drop_nulls() for frame in frames for name in COLUMNS if name in frame.columns]
    return {image_name(study, file): study.path.parent / file for column in columns for file in column}


KEYS = "123456789"


def scales(study: Study, words: Words) -> dict[str, dict[str, Any]]:
    """The scales of all blocks, by the keys that trials use."""
    return {f"s{number}": shown_scale(block, words) for number, block in enumerate(study.blocks, start=1)}


def shown_scale(block: Block, words: Words) -> dict[str, Any]:
    """The scale of a block, with the words of the study or of the language."""
    scale = block.scale
    if isinstance(scale, Magnitude):
        return _scale("number", [])
    if isinstance(scale, Continuous):
        ends = list(block.settings.scale.labels) or None
        return _scale("line", [], ends=ends, low=scale.low, high=scale.high)
    if isinstance(scale, Ordinal):
        return _rating(block, scale)
    return _scale("options", _options(block, words))


def _scale(kind: str, points: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {"kind": kind, "points": points, "ends": None, "slider": False, "colours": False, "neutral": None, **more}


def _rating(block: Block, scale: Ordinal) -> dict[str, Any]:
    """Points with a label each or labels at the ends; in a differential, the values are places on the screen."""
    settings, levels, neutral = block.settings.scale, scale.levels, scale.neutral
    placed = block.questions is not None
    values = [str(place) if placed else level for place, level in enumerate(levels, start=1)]
    whole = len(settings.labels) == len(levels)
    labels = settings.labels if whole else [""] * len(levels)
    return _scale(
        "points",
        [{"value": value, "label": label} for value, label in zip(values, labels, strict=True)],
        ends=list(settings.labels) if settings.labels and not whole else None,
        slider=settings.slider,
        colours=settings.colours,
        neutral=None if neutral is None else values[levels.index(neutral)],
    )


def _options(block: Block, words: Words) -> list[dict[str, Any]]:
    """Answers to choose from; the first nine have digits as keys."""
    levels = block.scale.levels
    labels = list(block.settings.scale.labels)
    if not labels:
        # Without labels from the study, common answers are labelled in its language.
        common = isinstance(block.scale, Choice) or (isinstance(block.scale, Binary) and levels == ("no", "yes"))
        labels = [words[f"scale.{level}"] if common else level for level in levels]
    return [
        {"value": level, "label": label, "key": KEYS[place] if place < len(KEYS) else None}
        for place, (level, label) in enumerate(zip(levels, labels, strict=True))
    ]
