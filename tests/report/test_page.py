"""The page: one file that asks for nothing, says what the results say, and lets no name break out."""

from __future__ import annotations

import base64
import hashlib
import html
import io
import re
from dataclasses import replace
from html.parser import HTMLParser

import polars as pl
import pytest

import karat
from karat.languages import language_of
from karat.measure.measures import Measures
from karat.measure.result import MeasureError
from karat.report.page import body, coded, csv_link, inlined
from karat.report.sections import quality, results, sections
from karat.report.sections.brief import leads
from karat.report.words.exclusions import needed_answers
from karat.section import Section, Table
from report.small import HOSTILE, PEOPLE, gathered, light, page

ENGLISH = language_of("en")


class Words(HTMLParser):
    """The text of a page by the section that it stands in, and the ids and links of all elements."""

    def __init__(self) -> None:
        super().__init__()
        self.inside: list[str] = []
        self.paragraphs: dict[str, list[str]] = {}
        self.reading = False
        self.ids: list[str] = []
        self.links: list[str] = []
        self.sources: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        result = dict(attributes)
        self.ids += [result["id"] or ""] if "id" in result else []
        self.links += [result["href"] or ""] if tag == "a" else []
        self.sources += [result["src"] or ""] if "src" in result else []
        if tag == "details" or (tag == "div" and result.get("id") == "brief"):
            self.inside.append(result.get("id") or (self.inside[-1] if self.inside else ""))
        if tag == "p" and self.inside:
            self.reading = True
            self.paragraphs.setdefault(self.inside[-1], []).append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "details":
            self.inside.pop()
        if tag == "p":
            self.reading = False

    def handle_data(self, data: str) -> None:
        if self.reading:
            self.paragraphs[self.inside[-1]][-1] += data


@pytest.fixture(scope="module")
def words() -> Words:
    reader = Words()
    reader.feed(page())
    return reader


@pytest.mark.slow
def test_the_first_sentences_have_the_counts_of_the_screening(words: Words) -> None:
    summary = gathered().screening.to_dict()["summary"]
    first = words.paragraphs["brief"][0]
    assert first.startswith(f"{summary['kept']} of {summary['participants']} participants stay.")
    assert summary["kept"] < summary["participants"] == PEOPLE
    remaining = summary["remaining"]
    flow = words.paragraphs["sample"][1]
    assert [int(number) for number in re.findall(r"(\d+) of", flow)] == list(remaining.values())
    assert [" ".join(text.split()) for text in words.paragraphs["brief"][: len(leads(gathered()))]] == [
        " ".join(f"{claim} {rest}".split()) for claim, rest in leads(gathered())
    ]


def test_the_page_asks_the_network_for_nothing(words: Words) -> None:
    assert not words.sources
    assert not re.search(r"<(link|img|iframe|object|embed|form)\b", page())
    assert "@import" not in page()
    assert all(link.startswith(("#", "data:")) for link in words.links)
    (script,) = re.findall(r"<script>(.*?)</script>", page(), flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page()
    assert "default-src 'none'" in page()


def test_ids_are_different_and_links_lead_somewhere(words: Words) -> None:
    assert len(words.ids) == len(set(words.ids))
    assert {link[1:] for link in words.links if link.startswith("#")} <= set(words.ids)
    used = set(re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', page()))
    assert {one or other for one, other in used} <= set(words.ids)


def test_a_name_cannot_break_out() -> None:
    assert HOSTILE not in page()
    assert page().count("<script") == 3
    assert page().count("<script>") == 1
    assert html.escape(HOSTILE, quote=True).replace("&#x27;", "&#39;").replace("&quot;", "&#34;") in page()


def test_each_participant_is_a_row_with_strips_and_reasons() -> None:
    table = page()[page().index('id="rows-participants"') :]
    table = table[: table.index("</tbody>")]
    lines = re.findall(r"<tr.*?</tr>", table, flags=re.DOTALL)
    assert len(lines) == PEOPLE
    gone = gathered().screening.excluded
    assert [("excluded" in line) for line in lines] == [True] * len(gone) + [False] * (PEOPLE - len(gone))
    assert all(line.count('<svg class="strip"') == 2 for line in lines)
    reasons = gathered().screening.evidence["remfod"].table().filter("flagged")["reason"].to_list()
    assert reasons
    assert all(html.escape(reason) in table for reason in reasons)


def test_figures_have_texts_and_their_data() -> None:
    figures = [one for part in sections(light()) for own in part.walk() for one in own.figures]
    assert [one.key for one in figures] == ["attention", "flow"]
    for one in figures:
        assert len(one.alt) > 15, one.key
        assert one.data is not None
        assert one.data.height, one.key
        assert "<text" in one.svg, one.key


def test_the_page_has_a_figure_of_everything_that_was_found(words: Words) -> None:
    keys = {"first", "flow", "credence", "densities", "everybody", "attention", "controls"}
    assert {f"figure-{key}" for key in keys} <= set(words.ids)
    assert {"strengths-0", "contrasts-1", "agreement-3"} <= set(words.ids)


def test_what_is_missing_is_said_in_a_line() -> None:
    quality = next(part for part in sections(light()) if part.key == "quality")
    assert "Spammer Index: not shown. It was not computed." in quality.notes
    assert any(note.startswith("Credence: not shown. ") for note in quality.notes)
    measured = next(part for part in sections(light()) if part.key == "results")
    assert measured.paragraphs == ("Nothing could be measured. It was not computed.",)


def test_a_figure_that_cannot_be_drawn_is_reported() -> None:
    measures = gathered().measures
    assert isinstance(measures, Measures)
    part = next(one for one in measures.parts if one.name == "order effects")
    frame = part.result.frame.head(1)
    many = replace(part.result, frame=pl.concat([frame.with_columns(condition=pl.lit(f"c{n}")) for n in range(9)]))
    found = results.section(replace(gathered(), measures=replace(measures, parts=(replace(part, result=many),))))
    assert found.sections[0].figures == ()
    with pytest.raises(MeasureError) as refused:
        many.course()
    assert str(refused.value) in found.sections[0].notes[-1]


def test_compared_controls_have_no_share_right() -> None:
    evidence = karat.screen.controls(karat.datasets.load("likert"), account="relational")
    found = quality.checked(light(), "controls", "Control sentences", evidence)
    assert isinstance(found, Section)
    assert found.figures == ()
    assert found.paragraphs[0] == f"{len(evidence.flagged)} of 48 participants flagged."


def test_rarely_passing_guess_still_has_a_chance() -> None:
    evidence = light().screening.evidence["attention"]
    people = evidence.participants.with_columns(guess_probability=pl.lit(0.0002))
    found = quality.checked(light(), "attention", "Attention trials", replace(evidence, participants=people))
    assert isinstance(found, Section)
    assert found.paragraphs[1] == "A participant who guesses passes with p < .001 at most."
    assert "guessing passes with p < .001" in needed_answers(ENGLISH, replace(evidence, participants=people.head(1)))


def test_without_a_rule_there_is_no_flow_of_exclusions() -> None:
    screening = replace(light().screening, exclude=None, excluded=())
    sample = next(part for part in sections(replace(light(), screening=screening)) if part.key == "sample")
    assert "48 participants" in sample.paragraphs[0]
    assert (sample.figures, sample.tables) == ((), ())


def test_keys_of_sections_figures_and_tables_are_different() -> None:
    parts = [own for part in sections(light()) for own in part.walk()]
    for keys in (
        [one.key for one in parts],
        [one.key for own in parts for one in own.figures],
        [one.key for own in parts for one in own.tables],
    ):
        assert len(keys) == len(set(keys))


def test_a_formula_in_a_link_to_csv_is_marked() -> None:
    link = csv_link(pl.DataFrame({"participant": ["=1+1", "a"]}))
    table = pl.read_csv(io.BytesIO(base64.b64decode(link.rpartition(",")[2])))
    assert table["participant"].to_list() == ["'=1+1", "a"]


def test_inlined_figure_keeps_texts_and_shortens_coordinates() -> None:
    drawn = '<?xml?><svg width="100.5pt"><style>*{x:y}</style><text x="1.98765">1.98765</text><g id="lonely"/></svg>'
    found = inlined(drawn, "k")
    assert found == (
        '<svg stroke-linejoin="round" style="max-width:141px;min-width:99px"><text x="1.98">1.98765</text><g/></svg>'
    )


def test_cells_with_several_lines_have_a_summary() -> None:
    frame = pl.DataFrame({"n": [None], "why": ["a, b\na: x\nb: y"]}, {"n": pl.Int64, "why": pl.String})
    summed_up = "<details><summary>a, b</summary><ul><li>a: x</li><li>b: y</li></ul></details>"
    cells = f'<th scope="row" class="number"></th><td>{summed_up}</td>'
    assert body(Table("t", "T", frame)) == f"<tr>{cells}</tr>\n"


def test_code_in_a_sentence_is_escaped_like_the_rest() -> None:
    assert str(coded("`<b>` & `c`")) == "<code>&lt;b&gt;</code> &amp; <code>c</code>"
