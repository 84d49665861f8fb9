"""Prolific: participants arrive with three parameters and return by an address with a code from Prolific."""

import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote

from karat.field.content.platforms.platform import Platform, Visit, devices, places, row
from karat.study.settings import RecruitmentSettings
from karat.study.study import Study

HOST = "https://app.prolific.com"
PROLIFIC_ID = re.compile(r"[0-9a-fA-F]{24}")
COMPLETE = f"{HOST}/submissions/complete?cc={{code}}"
PARAMETERS = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
CODES = (
    ("completed", "completion_code", "participants who finish"),
    ("screened out", "screened_out_code", "participants who are not eligible"),
    ("failed quiz", "failed_quiz_code", "participants who fail the quiz"),
    ("no consent", "no_consent_code", "participants who do not agree to take part"),
)
REJECTING = (
    "Prolific's own rules say when a submission may be rejected. They do not allow it for attention items that look "
    "like the other sentences of the study, as karat plans them."
)


class Prolific(Platform):
    """Prolific. Its ids are 24 hexadecimal digits; anything else counts as none."""

    def read(self, query: Mapping[str, str]) -> Visit:
        return super().read({name: text for name, text in query.items() if PROLIFIC_ID.fullmatch(text.strip())})

    def address(self, recruitment: RecruitmentSettings, visit: Visit, code: str, stated: bool) -> str | None:
        # Prolific accepts only its own codes.
        return COMPLETE.format(code=quote(code, safe="")) if stated else None

    def pasted(self, study: Study, address: str) -> Iterator[str]:
        parameters = "&".join(f"{name}={{{{%{name}%}}}}" for name in PARAMETERS)
        yield from row("study link", f"{address}?{parameters}")
        yield from row("", 'Choose "URL parameters" for the ids, and redirection to return participants.')
        yield from places(study)
        yield from devices(study)
        yield ""
        yield "  completion codes, one for each way to end; create them on Prolific and add them to [recruitment]"
        for name, key, who in CODES:
            code = getattr(study.settings.recruitment, key)
            missing = f'missing: add {key} = "..."' if key == "completion_code" else (
                f"none ({key}): {who} are asked to return the submission"
            )  # fmt: skip
            yield from row(name, f"{code}, for {who}" if code else missing)
        yield from row("", "Prolific does not allow you to reject a submission for a failed quiz or for wrong answers "
                       "to these attention items. Exclude the data, and pay.")  # fmt: skip


PROLIFIC = Prolific(
    "prolific", "Prolific", "PROLIFIC_PID", "SESSION_ID", "STUDY_ID", needs_person=True, form_targets=(HOST,),
    counts_places=True, rejecting=REJECTING,
)  # fmt: skip
