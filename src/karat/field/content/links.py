"""What a researcher pastes into the platform: study link, completion codes, pay and prescreeners."""

from collections.abc import Iterator

from karat.field.content.platforms import platform
from karat.field.content.platforms.platform import row
from karat.field.content.texts import main_part
from karat.languages import language_codes
from karat.messages import Message, render
from karat.study.study import Study

LANGUAGES = {
    "ar": "Arabic", "bg": "Bulgarian", "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek",
    "en": "English", "es": "Spanish", "et": "Estonian", "eu": "Basque", "fa": "Persian", "fi": "Finnish",
    "fr": "French", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "is": "Icelandic",
    "it": "Italian", "ja": "Japanese", "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian", "nl": "Dutch",
    "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sk": "Slovak",
    "sl": "Slovenian", "sr": "Serbian", "sv": "Swedish", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu",
    "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip


def links(study: Study, base_url: str, slug: str, platform_name: str = "") -> str:
    """What to paste into the platform of the study, or into another one."""
    address = f"{base_url.rstrip('/')}/s/{slug}/"
    recruitment = study.settings.recruitment
    where = platform(recruitment.model_copy(update={"platform": platform_name}) if platform_name else recruitment)
    lines = [f"{study.title}, for {where.title or 'anybody with the link'}:", ""]
    lines += [*row("title", study.public_title), *where.pasted(study, address)]
    lines += ["", "  choose these participants", *_prescreeners(study)]
    lines += [*_kept_out(study)]
    return "\n".join(lines)


def invitation(study: Study, base_url: str, slug: str) -> str:
    """A mail that invites to the study, in its language if karat has it."""
    language = main_part(study.settings.language)
    minutes = study.settings.recruitment.minutes
    values = {
        "title": study.public_title, "link": f"{base_url.rstrip('/')}/s/{slug}/",
        "minutes": round(minutes if minutes is not None else study.minutes()),
    }  # fmt: skip
    parts = [Message("invitation.subject", values), Message("invitation.text", values)]
    return "\n\n".join(render(part, language if language in language_codes() else "en") for part in parts)


def _prescreeners(study: Study) -> Iterator[str]:
    """Prescreeners: first language, monolingual childhood, residence, and no student of languages."""
    language = LANGUAGES.get(main_part(study.settings.language), study.settings.language)
    yield from row("language", f"first language: {language}")
    yield from row("childhood", f"raised monolingual: with {language} only")
    yield from row("residence", f"country of residence: one where {language} is an everyday language")
    yield from row("subject", "not a student of languages or linguistics, nor with a degree in them")
    names = [question.name for question in study.settings.background if question.eligible]
    if names:
        yield from row("", f"The study asks again, and admits participants by their answers to {', '.join(names)}.")
    else:
        yield from row(
            "", "The study itself asks nothing that decides who is eligible: add [[background]] with eligible."
        )


def _kept_out(study: Study) -> Iterator[str]:
    recruitment = study.settings.recruitment
    if recruitment.not_from:
        days = recruitment.waiting_days
        how_long = f"for {days} days" if days is not None else "for ever"
        yield from row(
            "kept out", f"participants of {', '.join(recruitment.not_from)}, {how_long}; the server knows them."
        )
    if recruitment.only_from:
        yield from row("admitted", f"participants of {', '.join(recruitment.only_from)} alone.")
