"""MTurk: the pages are shown in its frame, and the browser posts the end of the task back.

`turkSubmitTo` must point to a host of MTurk, so that the page cannot be used to post anywhere else.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from urllib.parse import urlsplit
from xml.sax.saxutils import escape

from karat.field.content.platforms.platform import Platform, Post, Visit, devices, places, row
from karat.study.settings import RecruitmentSettings
from karat.study.study import Study

PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
SUBMIT = "/mturk/externalSubmit"
SUBMIT_HOSTS = ("www.mturk.com", "worker.mturk.com", "workersandbox.mturk.com")
FRAMES = (
    "https://www.mturk.com", "https://worker.mturk.com", "https://workersandbox.mturk.com",
    "https://requester.mturk.com", "https://requestersandbox.mturk.com",
)  # fmt: skip
FRAME_HEIGHT = 800


class MTurk(Platform):
    """MTurk."""

    def read(self, query: Mapping[str, str]) -> Visit:
        visit = super().read(query)
        if visit.session == PREVIEW:
            return Visit(study=visit.study, preview=True)
        return replace(visit, submit_to=submit_address(query.get("turkSubmitTo", "")))

    def address(self, recruitment: RecruitmentSettings, visit: Visit, code: str, stated: bool) -> str | None:
        return None

    def post(self, visit: Visit, outcome: str, code: str) -> Post | None:
        if visit.submit_to is None:
            return None
        return Post(visit.submit_to, {"assignmentId": visit.session, "outcome": outcome, "code": code})

    def pasted(self, study: Study, address: str) -> Iterator[str]:
        yield from row("frame", "The task is an external question: the address must be https.")
        yield '  <ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd">'
        yield f"    <ExternalURL>{escape(address)}</ExternalURL>"
        yield f"    <FrameHeight>{FRAME_HEIGHT}</FrameHeight>"
        yield "  </ExternalQuestion>"
        yield from places(study)
        yield from devices(study)
        yield from row("submission", "The page posts the assignment back by itself, with the fields outcome and code.")


MTURK = MTurk(
    "mturk", "MTurk", "workerId", "assignmentId", "hitId", needs_person=True, frame_ancestors=FRAMES,
    form_targets=tuple(f"https://{host}" for host in SUBMIT_HOSTS), counts_places=True,
)  # fmt: skip


def submit_address(turk_submit_to: str) -> str | None:
    """The address of MTurk to which the browser posts, from the parameter turkSubmitTo; None for any other host."""
    try:
        parts = urlsplit(turk_submit_to.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    plain = parts.username is None and parts.password is None and not parts.query and not parts.fragment
    if parts.scheme != "https" or host not in SUBMIT_HOSTS or port not in (None, 443) or not plain:
        return None
    if parts.path.rstrip("/") not in ("", SUBMIT, "/mturk"):
        return None
    return f"https://{host}{SUBMIT}"
