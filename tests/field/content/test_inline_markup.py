"""Marks: what they mean, that no text is lost, and that nothing in a text can become a tag."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.field.content.inline_markup import TAGS, gloss, inline_markup, markup, plain_text, prose, runs

SIGNS = st.text(st.sampled_from("ab *~^+\\-[]()<>&\"'/:\n"), max_size=60)
TEXTS = st.one_of(st.text(max_size=80), SIGNS, st.lists(st.sampled_from(
    ["**", "*", "++", "~", "^", "word", " ", "\n\n", "- ", "https://x.org/a", "[w](https://x.org)", "<script>", "\\*",
     "[x](javascript:alert(1))", '" onclick="x', "&lt;"]
), max_size=12).map("".join))  # fmt: skip


class Tags(HTMLParser):
    """The tags, attributes and text of a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, tuple[tuple[str, str | None], ...]]] = []
        self.text = ""
        # A plain text: pieces of Markup would be escaped again when they are joined.
        self.feed(str(html))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def letters(text: str) -> str:
    """What is left of a text without marks, blanks and control characters."""
    return re.sub(r"[\s*~^+\\\-\[\]()•\x00-\x1f\x7f-\x9f]", "", text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*a* b", [[{"t": "a", "i": True}, {"t": " b"}]]),
        ("**a *b* c**", [[{"t": "a ", "b": True}, {"t": "b", "b": True, "i": True}, {"t": " c", "b": True}]]),
        ("***a***", [[{"t": "a", "b": True, "i": True}]]),
        ("*a **b** c*", [[{"t": "a ", "i": True}, {"t": "b", "i": True, "b": True}, {"t": " c", "i": True}]]),
        ("x~i~ + y^2^", [[{"t": "x"}, {"t": "i", "sub": True}, {"t": " + y"}, {"t": "2", "sup": True}]]),
        ("dog-++pl++", [[{"t": "dog-"}, {"t": "pl", "sc": True}]]),
        ("*The cat sleep.", [[{"t": "*The cat sleep."}]]),
        ("*The cat and *the dog", [[{"t": "*The cat and *the dog"}]]),
        ("2 * 3 * 4", [[{"t": "2 * 3 * 4"}]]),
        ("~5 or ~6", [[{"t": "~5 or ~6"}]]),
        (r"\*a\* \\ \n", [[{"t": r"*a* \ \n"}]]),
        ("one\ntwo\n\nthree", [[{"t": "one two"}], [{"t": "three"}]]),
        ("a\u00a0b", [[{"t": "a\u00a0b"}]]),
        ("<b>&amp;", [[{"t": "<b>&amp;"}]]),
        ("", []),
    ],
)
def test_what_marks_mean(text: str, expected: list[object]) -> None:
    assert runs(text, markdown=True) == expected


def test_plain_text_is_taken_as_it_is() -> None:
    assert runs("*The cat* sleep.\nNext  line") == [[{"t": "*The cat* sleep."}], [{"t": "Next  line"}]]


def test_glosses_keep_their_lines() -> None:
    assert gloss("Katze-n  schlaf-en\ncat-++pl++ sleep-++3pl++", markdown=True) == [
        [{"t": "Katze-n schlaf-en"}],
        [{"t": "cat-"}, {"t": "pl", "sc": True}, {"t": " sleep-"}, {"t": "3pl", "sc": True}],
    ]


def test_texts_of_the_study_have_paragraphs_lists_and_links() -> None:
    html = markup("Read *this*\ncarefully:\n- one\n  more\n- two\n\nSee [the **page**](https://x.org/a?b=1&c=2).")
    assert html == (
        "<p>Read <em>this</em> carefully:</p>\n<ul><li>one more</li><li>two</li></ul>\n"
        '<p>See <a href="https://x.org/a?b=1&amp;c=2" target="_blank" rel="noopener noreferrer">'
        "the <strong>page</strong></a>.</p>"
    )
    assert inline_markup("Visit https://x.org/y.") == (
        'Visit <a href="https://x.org/y" target="_blank" rel="noopener noreferrer">https://x.org/y</a>.'
    )
    assert prose("Read:\n- *one*") == [[{"t": "Read:"}], [{"t": "• "}, {"t": "one", "i": True}]]


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "[x](javascript:alert(1))",
        "[x](http://x.org)",
        '[x](https://x.org/"onmouseover="alert(1))',
        "https://x.org/<img src=x onerror=alert(1)>",
        "*<img src=x onerror=alert(1)>*",
        "**</p><script>**",
    ],
)
def test_nothing_runs_script(text: str) -> None:
    found = Tags(markup(text))
    assert {tag for tag, _ in found.tags} <= {"p", "ul", "li", "a", "em", "strong", "sub", "sup", "span"}
    assert letters(found.text) in letters(text)


@given(TEXTS)
def test_only_our_tags_ever_stand_in_the_html(text: str) -> None:
    for html in (markup(text), inline_markup(text)):
        for tag, attributes in Tags(html).tags:
            assert tag in ("p", "ul", "li", "a", *(name.partition(" ")[0] for name in TAGS.values()))
            for name, value in attributes:
                assert (name, value) in (
                    ("class", "small-caps"), ("target", "_blank"), ("rel", "noopener noreferrer"),
                ) or (name == "href" and (value or "").startswith("https://"))  # fmt: skip
        bare = re.sub(r"</?(p|ul|li|em|strong|sub|sup|span)( class=\"small-caps\")?>|<a [^<>]*>|</a>", "", html)
        assert "<" not in bare
        assert ">" not in bare


@given(TEXTS)
def test_no_text_is_lost(text: str) -> None:
    assert letters(plain_text(runs(text))) == letters(text)
    assert letters(plain_text(runs(text, markdown=True))) == letters(text)
    assert letters(plain_text(prose(text))) == letters(text)


@given(st.text(max_size=40))
def test_escaped_signs_stand_for_themselves(text: str) -> None:
    flat = " ".join(re.split(r"[ \t\r\n]+", text)).strip(" ")
    escaped = re.sub(r"([\\*~^+])", r"\\\1", flat)
    assert plain_text(runs(escaped, markdown=True)) == flat


def test_endless_signs_do_no_harm() -> None:
    for signs in ("*" * 3000, "*a " * 1000, "**~^++" * 500, "[" * 2000, "\\" * 2001):
        assert plain_text(runs(signs, markdown=True))
        assert markup(signs)
