"""One paragraph on a participant: what each criterion found, what follows, and what does not follow from it.

It is meant for co-authors and reviewers. It says what was observed and never why somebody may have done so, and that
payment is another decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from karat.columns import nearest
from karat.errors import KaratError
from karat.study.criteria import title_of

if TYPE_CHECKING:
    from karat.screen.screening import Screening

PAYMENT = (
    "This concerns only which answers enter the analysis. It does not say why somebody answered so, and whether they "
    "are paid is a separate decision."
)
NO_PROOF = (
    "Such a probability sums up what a model expects of earnest answers. It is no proof: somebody whose language "
    "differs from that of all others can have a low one too."
)
Found = tuple[bool, bool, str]
"""What a criterion found about a participant: whether flagged, whether there is a score, and the reason."""


def explain(screening: Screening, participant: str) -> str:
    """The verdict on a participant and its reasons.

    >>> import karat
    >>> screening = karat.screen.run(karat.datasets.load("likert"), {"completion": {}, "remfod": {}})
    >>> print(explain(screening, "p31"))
    Participant p31 is not part of the analysis, by the rule that was stated (any of completion, remfod). ...
    """
    refuse_unknown(participant, screening.judgments.participants["participant"].to_list())
    return explanations(screening, [participant])[0]


def refuse_unknown(participant: str, people: Sequence[str]) -> None:
    """KaratError where nobody is called so, with the name that may be meant."""
    if participant not in people:
        close = nearest(participant, people)
        raise KaratError(f"There is no participant {participant}" + (f"; is {close} meant?" if close else "."))


def explanations(screening: Screening, participants: Sequence[str]) -> list[str]:
    """The paragraphs on several participants."""
    wanted = pl.col("participant").is_in(list(participants))
    found: dict[str, dict[str, Found]] = {}
    for name, evidence in screening.evidence.items():
        rows = evidence.participants.filter(wanted).select("participant", "flagged", "score", "reason")
        for participant, flagged, score, reason in rows.iter_rows():
            found.setdefault(participant, {})[name] = (flagged, score is not None, reason)
    excluded = set(screening.excluded)
    return [_paragraph(screening, name, name in excluded, found.get(name, {})) for name in participants]


def _paragraph(screening: Screening, participant: str, excluded: bool, found: dict[str, Found]) -> str:
    told = {name: f"{title_of(name)}: {reason}" for name, (_, _, reason) in found.items()}
    flagged = [told[name] for name, (out, _, _) in found.items() if out]
    passed = [told[name] for name, (out, scored, _) in found.items() if not out and scored]
    silent = [told[name] for name, (out, scored, _) in found.items() if not out and not scored]
    sentences = [_verdict(screening, participant, excluded, len(flagged))]
    sentences += [f"{one}." for one in flagged]
    if "credence" in found and found["credence"][0]:
        sentences.append(NO_PROOF)
    if passed:
        sentences.append(f"Nothing stood out in the following. {'; '.join(passed)}.")
    if silent:
        sentences.append(f"There is no score in the following. {'; '.join(silent)}.")
    not_reached = [title_of(name) for name in screening.evidence if name not in found]
    if not_reached:
        why = "Not looked at any more" if excluded else "Without answers to look at"
        sentences.append(f"{why}: {', '.join(not_reached)}.")
    if screening.skipped:
        skipped = ", ".join(title_of(name) for name in screening.skipped)
        sentences.append(f"Could not be computed for anybody: {skipped}.")
    return " ".join([*sentences, PAYMENT])


def _verdict(screening: Screening, participant: str, excluded: bool, flags: int) -> str:
    name = f"Participant {participant}"
    if screening.exclude is None:
        found = "nothing stood out" if not flags else f"{flags} of {len(screening.evidence)} criteria stood out"
        return f"{name}: no rule was stated, so that nobody is excluded; {found}."
    rule = rule_in_words(screening)
    if excluded:
        return f"{name} is not part of the analysis, by the rule that was stated ({rule})."
    noted = " although something stood out" if flags else ""
    return f"{name} is part of the analysis{noted}, by the rule that was stated ({rule})."


def rule_in_words(screening: Screening) -> str:
    """The rule that joins the criteria, as a part of a sentence."""
    names = ", ".join(screening.settings)
    if isinstance(screening.exclude, int):
        return f"at least {screening.exclude} of {names}"
    return {"any": f"any of {names}", "all": f"all of {names}"}.get(str(screening.exclude), str(screening.exclude))
