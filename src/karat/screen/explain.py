"""One paragraph on a participant: what each criterion found, what follows, and what does not follow from it.

It is meant for co-authors and reviewers. It says what was observed and never why somebody may have done so, and that
payment is another decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from karat.errors import KaratError
from karat.judgments.columns import nearest
from karat.languages import language_of
from karat.messages import Message, render
from karat.screen.evidence import with_messages
from karat.study.criteria import title_of

if TYPE_CHECKING:
    from karat.screen.screening import Screening

PAYMENT = Message("explain.payment")
Found = tuple[bool, bool, Message | None]
"""What a criterion found about a participant: whether flagged, whether there is a score, and the reason."""


def explain(screening: Screening, participant: str, language: str = "en") -> str:
    """The verdict on a participant and its reasons.

    >>> import karat
    >>> screening = karat.screen.run(karat.datasets.load("likert"), {"completion": {}, "remfod": {}})
    >>> print(explain(screening, "p31"))
    Participant p31 was excluded from the analysis by the stated rule (any of completion, remfod). ...
    """
    refuse_unknown(participant, screening.judgments.participants["participant"].to_list())
    return explanations(screening, [participant], language)[0]


def refuse_unknown(participant: str, people: Sequence[str]) -> None:
    """KaratError where nobody is called so, with the name that may be meant."""
    if participant not in people:
        close = nearest(participant, people)
        raise KaratError(f"There is no participant {participant}." + (f" Did you mean {close}?" if close else ""))


def explanations(screening: Screening, participants: Sequence[str], language: str = "en") -> list[str]:
    """The paragraphs on several participants."""
    return [
        " ".join(render(message, language) for message in messages)
        for messages in explanation_messages(screening, participants, language)
    ]


def explanation_messages(
    screening: Screening, participants: Sequence[str], language: str = "en"
) -> list[tuple[Message, ...]]:
    """What there is to say of several participants; criteria have their titles in this language."""
    wanted = pl.col("participant").is_in(list(participants))
    found: dict[str, dict[str, Found]] = {}
    for name, evidence in screening.evidence.items():
        rows = with_messages(evidence.participants.filter(wanted))
        for participant, flagged, score, code, values in rows.select(
            "participant", "flagged", "score", "message", "values"
        ).iter_rows():
            reason = None if code is None else Message(code, values or {})
            found.setdefault(participant, {})[name] = (flagged, score is not None, reason)
    excluded = set(screening.excluded)
    return [tuple(_messages(screening, name, name in excluded, found.get(name, {}), language)) for name in participants]


def _messages(
    screening: Screening, participant: str, excluded: bool, found: dict[str, Found], language: str
) -> list[Message]:
    titles = {name: _title(name, language) for name in (*screening.evidence, *screening.skipped)}
    reasons = {name: reason for name, (_, _, reason) in found.items()}
    flagged = [name for name, (out, _, _) in found.items() if out]
    passed = {titles[name]: reasons[name] for name, (out, scored, _) in found.items() if not out and scored}
    silent = {titles[name]: reasons[name] for name, (out, scored, _) in found.items() if not out and not scored}
    messages = [_verdict(screening, participant, excluded, len(flagged))]
    messages += [Message("explain.flagged", {"found": {titles[name]: reasons[name]}}) for name in flagged]
    if "credence" in flagged:
        messages.append(Message("explain.no_proof"))
    if passed:
        messages.append(Message("explain.passed", {"found": passed}))
    if silent:
        messages.append(Message("explain.silent", {"found": silent}))
    not_reached = [titles[name] for name in screening.evidence if name not in found]
    if not_reached:
        code = "explain.not_reached" if excluded else "explain.no_answers"
        messages.append(Message(code, {"criteria": not_reached}))
    if screening.skipped:
        messages.append(Message("explain.not_computed", {"criteria": [titles[name] for name in screening.skipped]}))
    return [*messages, PAYMENT]


def _title(name: str, language: str) -> str:
    """What a criterion is called."""
    return language_of(language).texts.get(f"name.{name}") or title_of(name)


def _verdict(screening: Screening, participant: str, excluded: bool, flags: int) -> Message:
    values = {"participant": participant, "flags": flags, "criteria": len(screening.evidence)}
    if screening.exclude is None:
        return Message("explain.no_rule_flagged" if flags else "explain.no_rule", values)
    values |= {"rule": rule_in_words(screening)}
    if excluded:
        return Message("explain.excluded", values)
    return Message("explain.kept_flagged" if flags else "explain.kept", values)


def rule_in_words(screening: Screening) -> Message:
    """The rule that joins the criteria, as a part of a sentence."""
    values = {"rule": screening.exclude, "criteria": list(screening.settings)}
    if isinstance(screening.exclude, int):
        return Message("rules.number", values)
    if screening.exclude == "any":
        return Message("rules.any", values)
    if screening.exclude == "all":
        return Message("rules.all", values)
    return Message("rules.expression", values)
