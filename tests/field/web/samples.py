"""Sample trials of every task, as the server sends them."""

from __future__ import annotations

from typing import Any

NATURAL = ["entirely unnatural", "entirely natural"]


def runs(text: str) -> list[list[dict[str, Any]]]:
    return [[{"t": text}]]


def scale(kind: str, points: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {"kind": kind, "points": points, "ends": None, "slider": False, "colours": False, "neutral": None, **more}


def numbered(count: int) -> list[dict[str, Any]]:
    return [{"value": str(value), "label": ""} for value in range(1, count + 1)]


def options(*pairs: tuple[str, str]) -> list[dict[str, Any]]:
    return [{"value": value, "label": label, "key": str(place)} for place, (value, label) in enumerate(pairs, 1)]


FIVE = ["entirely unnatural", "rather unnatural", "no tendency", "rather natural", "entirely natural"]
SCALES = {
    "likert": scale("points", numbered(7), ends=NATURAL),
    "labelled": scale("points", [{"value": str(place), "label": label} for place, label in enumerate(FIVE, 1)]),
    "coloured": scale("points", numbered(7), ends=NATURAL, colours=True),
    "slider": scale("points", numbered(7), ends=NATURAL, slider=True),
    "yes-no": scale("options", options(("no", "No"), ("yes", "Yes"))),
    "choice": scale("options", options(("left", "Left"), ("right", "Right"), ("none", "No difference"))),
    "label": scale("options", options(("noun", "Noun"), ("verb", "Verb"), ("adverb", "Adverb"), ("other", "Other"))),
    "magnitude": scale("number", []),
    "differential": scale("points", numbered(7)),
}
SENTENCE = "The committee that the members of the board elected have resigned yesterday."
PAIRS = [("cold", "warm"), ("formal", "informal"), ("clear", "unclear")]
TASKS = ["likert", "labelled", "coloured", "slider", "yes-no", "choice", "label", "magnitude", "differential"]


def trial(identity: str, kind: str = "likert", **more: Any) -> dict[str, Any]:
    """A trial; `kind` is the name of its scale above, which is also the task except for the kinds of Likert scales."""
    task = kind if kind in ("yes-no", "choice", "label", "magnitude", "differential") else "likert"
    stimulus = {"text": runs(SENTENCE), "gloss": None, "image": None}
    shown: dict[str, Any] = {
        "id": identity, "kind": "trial", "task": task, "practice": False,
        "prompt": runs("How natural is this sentence?"), "context": None, "stimuli": [stimulus],
        "modulus": None, "scale": kind, "questions": None,
        "text": None, "feedback": None, "done": 0.25, "number": None, "of": None,
    }  # fmt: skip
    if task == "choice":
        shown["prompt"] = runs("Which sentence is more natural?")
        shown["stimuli"] = [stimulus, {**stimulus, "text": runs("Yesterday the committee has resigned.")}]
    if task == "magnitude":
        shown["modulus"] = {"text": runs("The man the woman saw left."), "value": "100"}
    if task == "differential":
        poles = enumerate(PAIRS, 1)
        shown["questions"] = [{"id": f"q{n}", "left": runs(left), "right": runs(right)} for n, (left, right) in poles]
    return {**shown, **more}


def text(identity: str, kind: str = "text") -> dict[str, Any]:
    """A page to read."""
    return trial(identity, kind=kind) | {
        "kind": kind, "task": None, "stimuli": [], "scale": None, "prompt": None, "text": runs("Take your time.")
    }  # fmt: skip


def settle(page: Any) -> None:
    """Wait until input counts on a page: the first 150 ms after an onset are ignored.

    The onset is the frame after the one in which a trial is put into the page, which a busy machine may paint late.
    """
    page.locator(".trial").wait_for()
    page.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 200))))"
    )
