"""Columns that identify people, which karat leaves out, and columns that describe participants."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from karat.intake.guess import plain
from karat.intake.words import word_list
from karat.messages import Message

DIRECT = frozenset(word_list("direct"))
BACKGROUND = word_list("background")
OF_ITEMS_TOO = word_list("of_items_too")
PROLIFIC_ID = re.compile(r"[0-9a-f]{24}")
_CODE = re.compile(r"(?=.*\d)[0-9A-Za-z_.-]+|[A-Za-z]{1,3}")


def names_a_person(column: str) -> bool:
    """Whether a column's name says that it holds names, addresses or the like.

    >>> names_a_person("Your e-mail"), names_a_person("email_1"), names_a_person("item name")
    (True, True, False)
    """
    bare = plain(column).rstrip("0123456789")
    return bare in DIRECT or bare.endswith("email")


FRAUD_FIELDS = (
    "Q_RecaptchaScore", "Q_RelevantIDFraudScore", "Q_RelevantIDDuplicateScore", "Q_RelevantIDDuplicate",
    "Q_DuplicateRespondent", "Q_BallotBoxStuffing",
)  # fmt: skip
"""The columns that Qualtrics adds if its fraud detection is switched on."""
AUTHENTICITY = "authenticity"
"""Part of the names of columns with Prolific's authenticity checks."""
WITHHELD = ("CONSENT_REVOKED", "DATA_EXPIRED")
"""What Prolific writes in place of an answer that it no longer releases."""
_FRAUD_FIELDS = frozenset(map(plain, FRAUD_FIELDS))


def is_platform_flag(column: str) -> bool:
    """Whether a column's name says that it holds a verdict of Qualtrics or Prolific on a participant.

    >>> is_platform_flag("Q_RecaptchaScore"), is_platform_flag("LLM authenticity check"), is_platform_flag("Age")
    (True, True, False)
    """
    return plain(column) in _FRAUD_FIELDS or AUTHENTICITY in plain(column)


SHORT_QUESTION = 5
_ADDRESSED = re.compile(r"(?i)\b(your|please|enter|provide|fill (in|out)|bitte|ihre?n?|votre|veuillez|su|por favor)\b")
_ASKED = re.compile(
    r"(?i)\b(first|last|full|your|family|given|middle)[ _-]?names?\b|\be-?mail\b|"
    r"\b(tele)?phone number\b|\bsona (id|number|code)\b|"
    r"\bstudent[ _-]?(id|number|no)\b|\bmatrikel\w*|\b(vor|nach|familien)name\b|\bname und\b|"
    r"\byour (prolific|mturk|worker)|"
    r"\b(worker|prolific|mturk) ?id\b|\b(street|home|postal) address\b|\binitials\b|\bpr[ée]nom\b|\bnom de famille\b|"
    r"\bnombre y apellidos?\b|\bapellidos?\b|\bcognome\b|\badınız\b|\bsoyadınız\b"
)


def asks_for_a_person(question: str) -> bool:
    """Whether the wording of a question asks for a name, an address or an identifying number.

    >>> asks_for_a_person("Please enter your details - First name"), asks_for_a_person("How natural is this name?")
    (True, False)
    >>> asks_for_a_person("4-digit SONA ID"), asks_for_a_person("Ann forgot his first name.")
    (True, False)
    """
    if names_a_person(question):
        return True
    short = len(question.split()) <= SHORT_QUESTION and not question.rstrip().endswith((".", "!"))
    return bool(_ASKED.search(question)) and (short or _ADDRESSED.search(question) is not None)


def describes_a_person(question: str) -> bool:
    """Whether a question's name asks for the participant's background rather than for a judgment.

    >>> describes_a_person("Age"), describes_a_person("1、您的性别"), describes_a_person("2. Your age:")
    (True, True, True)
    """
    return _YOURS.sub("", plain(question)) in BACKGROUND


_YOURS = re.compile(r"^\d*(?:your|[你您]的|[你您]|あなたの)?")
"""The number of a question and the word for "your" before its topic."""


_CONSENT = re.compile(
    r"(?i)\b(informed )?consent\b|\bagree to (take part|participate|the terms)|\beinwilligung|\beinverstanden\b|"
    r"\b(datenschutz|privacy policy)\b|\bconsentement\b|\bconsentimiento\b|\bconsenso\b|\bat least 18\b|"
    r"\b18 years\b|\bparticipated? in this study\b"
)


def asks_for_consent(question: str) -> bool:
    """Whether the wording of a question asks for consent.

    >>> asks_for_consent("Do you agree to take part?"), asks_for_consent("Do you agree with Ann?")
    (True, False)
    """
    return _CONSENT.search(question) is not None


def are_codes(ids: Iterable[str]) -> bool:
    """Whether ids look like codes rather than names or addresses: one word, with a digit or very short.

    >>> are_codes(["5f1a2b", "vp-07", "AB"]), are_codes(["vp7", "Anna Berg"]), are_codes(["ann@example.org"])
    (True, False, False)
    """
    return all(_CODE.fullmatch(code) for code in ids)


def left_out_note(columns: Sequence[str], file: str | None = None) -> list[Message]:
    """The note on the columns that were left out, if any."""
    if not columns:
        return []
    return [Message("personal.left_out", {"file": file, "n": len(columns), "columns": list(columns)})]


@dataclass
class Annotators:
    """Names for annotators with e-mail addresses, numbered in order of appearance.

    >>> annotators = Annotators()
    >>> [annotators.name(who) for who in ("7", "ann@example.org", "bo@example.org", "ann@example.org")]
    ['7', 'annotator_1', 'annotator_2', 'annotator_1']
    """

    _addresses: dict[str, str] = field(default_factory=dict)

    def name(self, annotator: str | None) -> str | None:
        """The tool's name for an annotator, or a numbered name instead of an address."""
        if annotator is None or "@" not in annotator:
            return annotator
        return self._addresses.setdefault(annotator, f"annotator_{len(self._addresses) + 1}")

    def notes(self) -> list[Message]:
        """The note on replaced addresses, if any."""
        if not self._addresses:
            return []
        return [Message("annotators.renamed", {"n": len(self._addresses)})]
