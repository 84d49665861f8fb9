"""A link: open to everybody, or for any platform that sends participants by an address and takes them back by one."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from karat.field.content.platforms.platform import Platform, row
from karat.study.settings import RecruitmentSettings
from karat.study.study import Study

OPEN = "link"


class LinkPlatform(Platform):
    """A link, or a platform that needs only a link."""

    def pasted_link(self, study: Study, address: str) -> Iterator[str]:
        recruitment = study.settings.recruitment
        if recruitment.invitations:
            yield from row(
                "study link", "Only one-time links admit to this study: make them on the page of the study in /admin."
            )
        elif self.name == OPEN and not recruitment.completion_url:
            yield from row("study link", address)
            yield from row("", f"Add ?{self.person}=... to know participants again; without it anybody may come.")
        else:
            yield from super().pasted_link(study, address)


def link(recruitment: RecruitmentSettings) -> Platform:
    """A platform from the settings of a study: the parameter of the participant, and the address to return to."""
    name = recruitment.platform.strip().lower() or OPEN
    address = urlsplit(recruitment.completion_url)
    return LinkPlatform(
        name,
        "" if name == OPEN else recruitment.platform.strip().capitalize(),
        recruitment.id_parameter,
        "session",
        "study",
        # If the address to return to contains the id, every participant needs one; a plain link is open to everybody.
        needs_person="{pid}" in recruitment.completion_url,
        form_targets=(f"https://{address.netloc}",) if address.netloc else (),
    )
