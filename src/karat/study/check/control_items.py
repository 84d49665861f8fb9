"""Rules about what control and attention trials are: there, verified, inconspicuous."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from karat.errors import counted
from karat.study.check.draft import Draft, Row, has_factors, lines_of
from karat.study.check.rules import Flaw, rule

YES = ("yes", "true", "1", "y", "ja", "oui", "sí", "si")
CONTROLS = "Pieper et al., section 3.2"


@rule(
    "no-controls",
    "warning",
    "there are no control trials, or no attention trials",
    source="Pieper et al., sections 3.2 and 3.3",
    mend="Add control and attention trials with expected answers.",
)
def no_controls(draft: Draft) -> Iterator[Flaw]:
    """Without trials that have a right answer nobody can be told from a guesser."""
    settings = draft.study.settings
    stated = settings.screening.criteria if settings.screening is not None else {}
    rows = [row for own in draft.rows for row in own]
    if not any(row.function == "test" and row.block.task.acceptability for row in rows):
        return
    for function, criterion, purpose in (
        ("control", "controls", "people who guess cannot be told from people who judge"),
        ("attention", "attention", "people who read carelessly cannot be noticed"),
    ):
        if criterion not in stated and not any(row.function == function for row in rows):
            yield Flaw(f"there are no {function} trials: {purpose}.", f"Add items with the function {function}.")


def _scored_rows(draft: Draft, functions: Sequence[str]) -> list[Row]:
    return [row for own in draft.rows for row in own if row.function in functions]


@rule(
    "verified",
    "warning",
    "the status of control stimuli has not been verified",
    source=CONTROLS,
    mend="Verify controls in a scale study of their own (karat init DIR --task norming), then write verified = yes.",
)
def verified(draft: Draft) -> Iterator[Flaw]:
    """Controls whose status rests on the intuition of the author."""
    rows = [row for row in _scored_rows(draft, ("control",)) if row.block.task.acceptability]
    # In a choice the two sentences of a control may stand in two rows, of which one says it for both.
    said = {row.item for row in rows if (row["verified"] or "").lower() in YES}
    denied = {row.item for row in rows if row["verified"] and row["verified"].lower() not in YES}
    open_ones = [row for row in rows if row.item not in said or row.item in denied]
    if open_ones:
        items = list(dict.fromkeys(row.item for row in open_ones))
        all_items = {row.item for row in rows}
        where = f" ({lines_of(open_ones)})" if len(open_ones) > 1 else ""
        told = f"all {len(items)} controls have" if len(items) == len(all_items) > 1 else f"{_some(items)}"
        yield Flaw(f"{told} no verified status{where}.", spot=open_ones[0].spot)


def _some(items: Sequence[str]) -> str:
    return f"the control {items[0]} has" if len(items) == 1 else f"{len(items)} controls have"


@rule(
    "related-controls",
    "hint",
    "no control resembles the test items",
    source=CONTROLS,
    mend="Add controls that deviate only slightly from test items, with the subgroup related.",
)
def related_controls(draft: Draft) -> Iterator[Flaw]:
    """Related controls are less salient and help to conceal test trials."""
    for rows in draft.rows:
        own = [row for row in rows if row.function == "control"]
        if own and has_factors(own[0].block.settings) and not any(_is_related(row["subgroup"]) for row in own):
            told = counted(len({row.item for row in own}), "control")
            yield Flaw(f"none of the {told} has the subgroup related; unrelated controls are easily recognised.")


def _is_related(subgroup: str | None) -> bool:
    text = (subgroup or "").lower()
    return "related" in text.replace("unrelated", "")


@rule(
    "pseudo-fillers",
    "hint",
    "no filler picks up what is conspicuous in the test items",
    source="Pieper et al., section 3.1",
    mend="Add fillers that share a conspicuous trait of the test items, with the subgroup pseudo.",
)
def pseudo_fillers(draft: Draft) -> Iterator[Flaw]:
    """Pseudo-fillers conceal what is studied."""
    for rows in draft.rows:
        own = [row for row in rows if row.function == "filler"]
        marked = any("pseudo" in (row["subgroup"] or "").lower() for row in own)
        if own and has_factors(own[0].block.settings) and not marked:
            told = counted(len({row.item for row in own}), "filler")
            yield Flaw(f"none of the {told} has the subgroup pseudo; what the test items have in common stands out.")


@rule(
    "attention-grammatical",
    "error",
    "an attention item of a rating task is grammatical",
    source="Pieper et al., section 3.3",
    mend="Hide a small violation late in the sentence, and state status = ungrammatical with its expected answer.",
)
def attention_grammatical(draft: Draft) -> Iterator[Flaw]:
    """Whoever overlooks everything accepts a grammatical sentence, and so is right."""
    rows = [row for row in _scored_rows(draft, ("attention",)) if row.block.task.rated]
    # Members of attention pairs are compared with each other; one of the two is grammatical by design.
    flawed = [row for row in rows if row["status"] == "grammatical" and not row["pair"]]
    if flawed:
        told = f"{flawed[0].item} is" if len(flawed) == 1 else f"{len(flawed)} attention items ({lines_of(flawed)}) are"
        yield Flaw(f"{told} grammatical: who reads carelessly gives the right answer.", spot=flawed[0].spot)
