"""What a study file may say about the field: what participants read, where they come from, how they are asked.

These are parts of `settings`, which puts the whole file together.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from karat.study.setting_base import Settings, flaw, refuse

URL_SLOTS = ("pid", "session", "study", "code")
"""What may stand in braces in the address to which participants return."""
PLATFORMS = ("link", "prolific", "mturk")
"""Platforms that karat knows by name; any other needs `id_parameter` or `completion_url`, or a package."""
CODED_PLATFORMS = ("prolific",)
"""Platforms that take participants back only by a code of their own, which the study must state."""
Code = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{0,64}$")]
Device = Literal["phone", "tablet", "desktop"]
DEVICES: tuple[Device, ...] = ("phone", "tablet", "desktop")


class QuizQuestion(Settings):
    """A question that shows whether the instructions were understood."""

    question: str = Field(description="The question.")
    answers: list[str] = Field(min_length=2, description="The answers to choose from.")
    right: int = Field(ge=1, description="Which answer is right, from 1.")
    feedback: str = Field("", description="What is said after a wrong answer.")

    @model_validator(mode="after")
    def _right_is_an_answer(self) -> QuizQuestion:
        if self.right > len(self.answers):
            raise ValueError(f"right = {self.right}, but there are {len(self.answers)} answers")
        return self


class TextSettings(Settings):
    """What participants read; the language's own texts stand in for what is missing.

    Texts may have several lines, between three quotation marks on each side. A blank line makes a new paragraph, as in
    consent, instructions and debriefing; a single line break is read as a blank.
    """

    welcome: str = Field("", description="The first page.")
    consent: str = Field("", description="What participants agree to; without it, there is no page of consent.")
    privacy: str = Field("", description="Who processes the data, why, for how long, and which rights there are.")
    instructions: str = Field("", description="What to do, with the advice to rely on one's own intuition.")
    practice: str = Field("", description="What is said before the practice trials.")
    debriefing: str = Field("", description="What the study was about, told at the end.")
    completion: str = Field("", description="The last page, with the thanks.")
    comment: bool = Field(True, description="Whether participants may leave a comment at the end.")
    quiz: list[QuizQuestion] = Field([], description="Questions about the instructions.")
    quiz_attempts: int = Field(2, ge=1, description="How often the quiz may be tried.")
    words: dict[str, str] = Field(
        {}, description="Other words for single texts of the pages, such as a button: name of the text = words."
    )


class RecruitmentSettings(Settings):
    """Where participants come from, how many, and what they earn."""

    platform: str = Field("link", description="prolific, mturk, crowdee, link, ...")
    participants: int = Field(36, ge=1, description="How many eligible participants are wanted.")
    minutes: float | None = Field(None, gt=0, description="How long the study is said to take.")
    hourly_pay: float | None = Field(None, ge=0, description="What an hour is paid.")
    minimum_hourly_pay: float | None = Field(None, ge=0, description="The least an hour may be paid, for the check.")
    currency: str = Field("EUR", description="The currency of the pay.")
    quotas: dict[str, dict[str, int]] = Field(
        {}, description="Background question = { answer = how many participants at most }."
    )
    list_quota: int | None = Field(None, ge=1, description="How many participants a list has at most.")
    completion_code: Code = Field(
        "", description="The platform's code for those who finish; without it, everybody gets a code of their own."
    )
    screened_out_code: Code = Field("", description="The platform's code for those who are not eligible.")
    failed_quiz_code: Code = Field("", description="The platform's code for those who do not pass the quiz.")
    no_consent_code: Code = Field("", description="The platform's code for those who do not agree to take part.")
    completion_url: str = Field(
        "", description="Where participants return to on other platforms; {pid}, {session}, {study}, {code} are filled."
    )
    id_parameter: str = Field(
        "pid",
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        description="The parameter of the link that names the participant, on other platforms.",
    )
    invitations: bool = Field(False, description="Whether only one-time links admit to the study.")
    not_from: list[str] = Field([], description="Studies of this server whose participants are refused.")
    only_from: list[str] = Field([], description="Studies of this server whose participants alone are admitted.")
    waiting_days: int | None = Field(
        None, ge=1, description="For how many days the participants of `not_from` are refused; without it, for ever."
    )

    @field_validator("completion_url")
    @classmethod
    def _address_can_be_filled(cls, address: str) -> str:
        slots = re.findall(r"\{([^{}]*)\}", address)
        flaws = [
            flaw(f"has {{{slot}}}, which is not known", f"There are {', '.join(f'{{{one}}}' for one in URL_SLOTS)}.")
            for slot in dict.fromkeys(slots)
            if slot not in URL_SLOTS
        ]
        if address and not re.match(r"https://[^\s/{}]+(/|$)", address):
            flaws.append(flaw("is no address of a secure page", "Begin with https:// and the name of the server."))
        elif re.search(r"[\s\"'<>\\]", address):
            flaws.append(flaw("has a blank or a sign that no address has", "Write %20 for a blank."))
        refuse(cls, flaws)
        return address

    @model_validator(mode="after")
    def _someone_may_come(self) -> RecruitmentSettings:
        both = [name for name in self.only_from if name in self.not_from]
        if both:
            told = f"names {both[0]}, which not_from refuses"
            refuse(RecruitmentSettings, [flaw(told, "Name it in one of them.", "only_from")])
        if self.waiting_days is not None and not self.not_from:
            told = "has no say without not_from"
            refuse(RecruitmentSettings, [flaw(told, "Name the studies to wait for.", "waiting_days")])
        return self


class FieldSettings(Settings):
    """How participants are asked over the web."""

    resume: Literal["continue", "restart", "block"] = Field(
        "continue",
        description="What follows when somebody comes back: they go on, begin anew, or are not admitted again.",
    )
    going_back: bool = Field(False, description="Whether participants may go back and change the answer before.")
    lease_minutes: float = Field(
        60, gt=0, description="After so many minutes without an answer, somebody's place in a list is given away."
    )
    progress: Literal["line", "count", "none"] = Field("line", description="How participants see how far they are.")
    send_ahead: int = Field(5, ge=1, le=20, description="How many trials are sent ahead, for when the line is lost.")
    devices: list[Device] = Field(list(DEVICES), min_length=1, description="The devices that may be used.")
    completion: Literal["code", "redirect", "both"] = Field(
        "both",
        description="How participants return: with a code, by a link to the platform, or both.",
    )
