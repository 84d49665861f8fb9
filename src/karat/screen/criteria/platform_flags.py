"""Platform flags: what the recruitment platform or survey tool itself reports against a participant.

Qualtrics exports the results of its fraud detection with the answers, and Prolific those of its authenticity checks.
karat's readers keep both as columns about participants. The cutoffs are those of the platforms' own pages:

| column | flagged | source |
| --- | --- | --- |
| Q_RecaptchaScore | below .5 (0 is most likely a bot, 1 a person) | Qualtrics support, Fraud Detection |
| Q_RelevantIDFraudScore | 30 or more (0 to 130) | the same |
| Q_RelevantIDDuplicateScore | 75 or more (0 to 100) | the same |
| Q_RelevantIDDuplicate, Q_DuplicateRespondent, Q_BallotBoxStuffing | true | the same |
| a column of Prolific with "authenticity" in its name | low; mixed is only reported | Prolific's help pages |

Names are compared regardless of case, blanks and underscores. The score is the number of flags. A missing field is no
flag: Qualtrics leaves fields empty if they are switched off, and browsers that block scripts have no reCAPTCHA score.

*Limits.* How platforms compute these scores is not public. reCAPTCHA gives low scores to people who use privacy tools,
VPNs or assistive technology. Duplicates are detected by device, so members of a household count as one. Authenticity
checks only see free-text answers. Look for a second sign before you exclude anybody.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl
from pydantic import Field

from karat.intake.guess import plain
from karat.intake.personal import AUTHENTICITY, FRAUD_FIELDS, is_platform_flag
from karat.judgments import Judgments
from karat.judgments.scales import as_number
from karat.messages import Message
from karat.screen.evidence import Evidence, Fields, ScreenError, check_settings, message_columns
from karat.study.criterion import Criterion, CriterionSettings

RECAPTCHA, FRAUD, DUPLICATE = 0.5, 30.0, 75.0
SCORES = {
    "qrecaptchascore": ("recaptcha_below", -1),
    "qrelevantidfraudscore": ("fraud_from", 1),
    "qrelevantidduplicatescore": ("duplicate_from", 1),
}
"""Numeric columns, the setting with their cutoff, and the side of it that is flagged."""
TRUE = ("true", "1", "yes")
LOW, MIXED = "low", "mixed"
FLAG: Fields = {"column": pl.String, "value": pl.String}
VALUES: Fields = {
    "flags": pl.List(pl.Struct({"message": pl.String, "values": pl.Struct(FLAG)})),
    "mixed": pl.List(pl.String),
    "n": pl.Int64,
}


class PlatformFlagsSettings(CriterionSettings):
    """Settings for flagging participants with warnings of the platform or survey tool."""

    recaptcha_below: float = Field(RECAPTCHA, ge=0, le=1, description="Q_RecaptchaScore that counts as a flag.")
    fraud_from: float = Field(FRAUD, ge=0, le=130, description="Q_RelevantIDFraudScore that counts as a flag.")
    duplicate_from: float = Field(DUPLICATE, ge=0, le=100, description="Q_RelevantIDDuplicateScore that counts as one.")
    at_least: int = Field(1, ge=1, description="How many of the platform's flags it takes to flag a participant.")


def platform_flags(
    judgments: Judgments, recaptcha_below: float = RECAPTCHA, fraud_from: float = FRAUD,
    duplicate_from: float = DUPLICATE, at_least: int = 1,
) -> Evidence:  # fmt: skip
    """Participants flagged by the fraud fields of Qualtrics or the authenticity checks of Prolific.

    The score is the number of flags.

    >>> import karat
    >>> people = {"participant": ["p1", "p2"], "Q_RecaptchaScore": ["0.2", "0.9"]}
    >>> j = karat.Judgments({"participant": ["p1"], "item": ["a"], "response": [5]}, karat.Ordinal(5), people)
    >>> platform_flags(j).flagged
    ['p1']
    """
    settings = check_settings(
        PlatformFlagsSettings, recaptcha_below=recaptcha_below, fraud_from=fraud_from, duplicate_from=duplicate_from,
        at_least=at_least,
    )  # fmt: skip
    people = judgments.participants
    columns = [name for name in people.columns if name != "participant" and is_platform_flag(name)]
    if not columns:
        raise ScreenError(Message("platform_flags.none"))
    rows = list(people.select("participant", *columns).iter_rows(named=True))
    flags = [list(_flags(row, columns, settings)) for row in rows]
    filled = [sum(_text(row[name]) != "" for name in columns) for row in rows]
    messages = [_reason(*result, columns) for result in zip(rows, flags, filled, strict=True)]
    scores = [float(len(raised)) if number else None for raised, number in zip(flags, filled, strict=True)]
    table = people.select(
        "participant",
        pl.Series("score", scores, pl.Float64),
        pl.lit(float(at_least)).alias("threshold"),
        pl.Series("flagged", [len(raised) >= at_least for raised in flags], pl.Boolean),
        *message_columns(messages, VALUES),
    )
    return Evidence(table, "platform_flags", settings)


def _flags(row: Mapping[str, Any], columns: list[str], settings: Mapping[str, float]) -> Iterator[Message]:
    """The flags of a participant."""
    for column in columns:
        name, text = plain(column), _text(row[column])
        if name in SCORES:
            setting, side = SCORES[name]
            number = as_number(text)
            flagged = number is not None and (number < settings[setting] if side < 0 else number >= settings[setting])
        else:
            flagged = text.lower().startswith(LOW) if AUTHENTICITY in name else text.lower() in TRUE
        if flagged:
            yield Message("platform_flags.flag", {"column": column, "value": text})


def _reason(row: Mapping[str, Any], flags: list[Message], filled: int, columns: list[str]) -> Message:
    if not filled:
        return Message("platform_flags.empty")
    checks = [name for name in columns if AUTHENTICITY in plain(name)]
    mixed = [name for name in checks if _text(row[name]).lower().startswith(MIXED)] or None
    if flags:
        return Message("platform_flags.flagged", {"flags": flags, "mixed": mixed})
    return Message("platform_flags.clear", {"n": filled, "mixed": mixed})


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()


CRITERION = Criterion(
    name="platform_flags",
    title="Platform flags",
    asks="who is flagged by the platform's own fraud detection",
    settings=PlatformFlagsSettings,
    computed_by=platform_flags,
    stage="completion",
    shown_blind=True,
    careless=False,
    looks_at=lambda _: FRAUD_FIELDS,
)
