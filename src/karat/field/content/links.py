"""What a researcher pastes where: the address of the study, completion codes, pay and prescreeners for the platform."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from xml.sax.saxutils import escape

from karat.field.content.platforms import platform
from karat.study.study import Study

WIDTH = 110
FRAME_HEIGHT = 800
LANGUAGES = {
    "ar": "Arabic", "bg": "Bulgarian", "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek",
    "en": "English", "es": "Spanish", "et": "Estonian", "eu": "Basque", "fa": "Persian", "fi": "Finnish",
    "fr": "French", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "is": "Icelandic",
    "it": "Italian", "ja": "Japanese", "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian", "nl": "Dutch",
    "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sk": "Slovak",
    "sl": "Slovenian", "sr": "Serbian", "sv": "Swedish", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu",
    "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip
CODES = (
    ("completed", "completion_code", "everybody who finishes"),
    ("screened out", "screened_out_code", "who is not eligible by their answers"),
    ("failed quiz", "failed_quiz_code", "who does not understand the instructions"),
    ("no consent", "no_consent_code", "who does not agree to take part"),
)


def links(study: Study, base_url: str, slug: str) -> str:
    """What to paste where, for the platform that the study names.

    >>> from karat.study.init import write_study
    >>> from karat.study.study import load
    >>> folder = getfixture("tmp_path") / "study"
    >>> written = write_study(folder, "likert")
    >>> print(links(load(folder), "https://example.org", "word-order").splitlines()[2])
      study link    https://example.org/s/word-order/?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}
    """
    address = f"{base_url.rstrip('/')}/s/{slug}/"
    where = platform(study.settings.recruitment)
    parts = {"prolific": _prolific, "mturk": _mturk}.get(where.name, _other)
    lines = [f"{study.title}, for {where.title or 'anybody with the link'}:", "", *parts(study, address)]
    lines += ["", "  choose these participants (the study asks them again)", *_prescreeners(study)]
    lines += [*_kept_out(study)]
    return "\n".join(lines)


def _row(name: str, text: str) -> Iterator[str]:
    """A line of the list; texts go on in the same column, addresses stay whole."""
    first, *rest = [text] if "://" in text else wrap(text, WIDTH - 16)
    yield f"  {name:<13} {first}"
    for line in rest:
        yield f"  {'':<13} {line}"


def _prolific(study: Study, address: str) -> Iterator[str]:
    parameters = "&".join(f"{name}={{{{%{name}%}}}}" for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"))
    yield from _row("study link", f"{address}?{parameters}")
    yield from _row("", 'Ids come by "URL parameters"; participants return by redirection.')
    yield from _places(study)
    yield from _devices(study)
    yield ""
    yield "  completion codes, one a path, to be made on Prolific and stated under [recruitment]"
    for name, key, who in CODES:
        code = getattr(study.settings.recruitment, key)
        missing = f'missing: state {key} = "..."' if key == "completion_code" else (
            f"none ({key}): {who} is asked to return the submission"
        )  # fmt: skip
        yield from _row(name, f"{code}, for {who}" if code else missing)
    yield from _row("", "A failed quiz or wrong answers to attention items are no ground for rejecting on Prolific: "
                    "exclude the data, and pay.")  # fmt: skip


def _mturk(study: Study, address: str) -> Iterator[str]:
    yield from _row("frame", "The task is an external question: the address must be https.")
    yield '  <ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd">'
    yield f"    <ExternalURL>{escape(address)}</ExternalURL>"
    yield f"    <FrameHeight>{FRAME_HEIGHT}</FrameHeight>"
    yield "  </ExternalQuestion>"
    yield from _places(study)
    yield from _devices(study)
    yield from _row("submission", "The page posts the assignment back by itself, with the fields outcome and code.")


def _other(study: Study, address: str) -> Iterator[str]:
    recruitment = study.settings.recruitment
    if recruitment.invitations:
        yield from _row(
            "study link", "Only one-time links admit to this study: make them on the page of the study in /admin."
        )
    elif recruitment.platform.strip().lower() in ("", "link") and not recruitment.completion_url:
        yield from _row("study link", address)
        yield from _row(
            "", f"Add ?{recruitment.id_parameter}=... to know participants again; without it anybody may come."
        )
    else:
        yield from _row("study link", f"{address}?{recruitment.id_parameter}=...")
        yield from _row("", "Put the platform's own placeholder for the participant in the place of the dots.")
    yield from _places(study)
    yield from _devices(study)
    if recruitment.completion_url:
        yield from _row("return", recruitment.completion_url)
    code = recruitment.completion_code
    yield from _row("code", f"{code}, the same for all" if code else "everybody gets a code of their own at the end")


def _places(study: Study) -> Iterator[str]:
    recruitment = study.settings.recruitment
    minutes = recruitment.minutes if recruitment.minutes is not None else study.minutes()
    pay = ""
    if recruitment.hourly_pay is not None:
        each = recruitment.hourly_pay * minutes / 60
        pay = f", {each:.2f} {recruitment.currency} each ({recruitment.hourly_pay:.2f} an hour)"
    yield from _row("places", f"{recruitment.participants} eligible participants, {minutes:.0f} minutes{pay}")


def _devices(study: Study) -> Iterator[str]:
    devices = study.settings.field.devices
    yield from _row("devices", ", ".join(devices))


def _prescreeners(study: Study) -> Iterator[str]:
    """First language, raised with that language alone, residence, and no student of languages."""
    code = study.settings.language.lower().replace("_", "-").partition("-")[0]
    language = LANGUAGES.get(code, study.settings.language)
    yield from _row("language", f"first language: {language}")
    yield from _row("childhood", f"raised monolingual: with {language} only")
    yield from _row("residence", f"country of residence: one where {language} is an everyday language")
    yield from _row("subject", "not a student of languages or linguistics, nor with a degree in them")
    asked = [question.name for question in study.settings.background if question.eligible]
    if asked:
        yield from _row("", f"The study admits by its own questions too: {', '.join(asked)}.")
    else:
        yield from _row(
            "", "The study itself asks nothing that decides who is eligible: add [[background]] with eligible."
        )


def _kept_out(study: Study) -> Iterator[str]:
    recruitment = study.settings.recruitment
    if recruitment.not_from:
        days = recruitment.waiting_days
        how_long = f"for {days} days" if days is not None else "for ever"
        yield from _row(
            "kept out", f"participants of {', '.join(recruitment.not_from)}, {how_long}; the server knows them."
        )
    if recruitment.only_from:
        yield from _row("admitted", f"participants of {', '.join(recruitment.only_from)} alone.")
