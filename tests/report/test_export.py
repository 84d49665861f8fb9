"""Reports on disk: which format, which files, and that Markdown and JSON say what the page says."""

from __future__ import annotations

import json
import re
from pathlib import Path

from karat.errors import KaratError
from karat.report import write
from karat.report.export import as_data, escaped, markdown
from karat.report.sections import sections
from messages import refuses
from report.small import light


def test_the_ending_decides_unless_a_format_is_named(tmp_path: Path) -> None:
    assert write(light(), tmp_path / "a.json")[0].read_text(encoding="utf-8").startswith("{")
    assert write(light(), tmp_path / "a.md", format="html")[0].read_text(encoding="utf-8").startswith("<!doctype")
    with refuses(KaratError, "a.pdf", ".html, .json", ".md"):
        write(light(), tmp_path / "a.pdf")
    with refuses(KaratError, tmp_path, tmp_path / "report.html"):
        write(light(), tmp_path)
    with refuses(KaratError, "fr", "en or de"):
        write(light(), tmp_path / "a.html", language="fr")
    with refuses(KaratError, "pdf", "html, json, md"):
        write(light(), tmp_path / "a.html", format="pdf")
    assert not (tmp_path / "a.html").exists()


def test_markdown_has_its_figures_beside_it(tmp_path: Path) -> None:
    text, *figures = write(light(), tmp_path / "report.md")
    linked = re.findall(r"!\[.*?\]\((report-figures/[\w-]+\.svg)\)", text.read_text(encoding="utf-8"))
    assert [str(path.relative_to(tmp_path)) for path in figures] == linked
    assert linked == ["report-figures/attention.svg", "report-figures/flow.svg"]
    assert all(path.read_text(encoding="utf-8").startswith("<svg") for path in figures)


def test_markdown_has_every_sentence_and_tables_of_equal_width() -> None:
    text, _ = markdown(light())
    for part in sections(light()):
        for own in part.walk():
            assert all(escaped(sentence) in text for sentence in own.paragraphs)
    for block in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(widths) == 1, block


def test_json_has_the_screening_and_every_section() -> None:
    data = json.loads(json.dumps(as_data(light()), allow_nan=False))
    assert data["screening"] == json.loads(json.dumps(light().screening.to_dict()))
    assert data["spammer_index"]["code"] == "report.not_computed"
    assert [one["key"] for one in data["sections"]] == [one.key for one in sections(light())]
    people = next(one for one in data["sections"] if one["key"] == "people")["tables"][0]["rows"]
    assert len(people) == light().judgments.participants.height


def test_methods_are_german_on_request() -> None:
    english, german = (
        next(part for part in sections(light(), language) if part.key == "words") for language in ("en", "de")
    )
    assert [one.language for one in english.walk()] == ["en"] * len(list(english.walk()))
    assert {one.language for one in german.walk()} == {"de"}
    assert english.sections[0].paragraphs != german.sections[0].paragraphs
