"""Write the golden files of the language tables: every sentence with sample values, one file per language.

`tests/languages/golden/<language>.txt` is what reviewers read when a sentence changes; a test fails where a file is not
what this script writes.
"""

from __future__ import annotations

from pathlib import Path

from karat.languages import language_codes, language_of
from karat.languages.language import DECIMALS, OPTIONAL, Language, places

GOLDEN = Path(__file__).parents[1] / "tests" / "languages" / "golden"
SAMPLES: dict[str, object] = {
    "and": ["a", "b", "c"],
    "or": ["a", "b", "c"],
    "quoted": "x y",
    "%": 0.25,
    "%-": 0.25,
    "p": 0.0312,
    "df": 1234.5,
}


def sample(language: Language, name: str, spec: str) -> object:
    """A value for a place: a number where a number is asked for, else the name of the place."""
    if spec in language.nouns or "|" in spec:
        return 3
    if DECIMALS.fullmatch(spec):
        return 0.4567
    return SAMPLES.get(spec, f"<{name}>")


def filled(language: Language, template: str) -> str:
    """A template with sample values in its places, and its optional parts in brackets."""
    asked = places(template)
    for name in (name for name, spec in asked.items() if spec == "word"):
        template = template.replace(f"{{{name}:word}}", f"{{{name}}}")
    marked = OPTIONAL.sub(r"[[\1⟧]]", template).replace("[[", "[[⟦")
    return language.fill(marked, {name: sample(language, name, spec) for name, spec in asked.items()})


def golden(language: Language) -> str:
    """All sentences of a language, by their codes."""
    lines = [f"{code}\n    {filled(language, text)}\n" for code, text in sorted(language.messages.items())]
    return "".join(lines)


def main() -> None:
    """Write the files."""
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for code in language_codes():
        (GOLDEN / f"{code}.txt").write_text(golden(language_of(code)), encoding="utf-8")


if __name__ == "__main__":
    main()
