"""The literature: every key that a text cites has an entry, and entries are BibTeX."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import KaratError
from karat.languages import language_of
from karat.report.literature import SOURCES, bibtex, cited, readable, references, source
from karat.study.criteria import CRITERIA
from messages import refuses

ENGLISH, GERMAN = language_of("en"), language_of("de")

DOI = re.compile(r"10\.\d{4,9}/\S+")


def entries(text: str) -> dict[str, dict[str, str]]:
    """BibTeX read back in the plainest way: one field per line, in braces."""
    found = {}
    for entry in re.findall(r"@(\w+)\{(\w+),\n(.*?)\n\}\n", text, re.DOTALL):
        found[entry[1]] = dict(re.findall(r"^  (\w+) = \{(.*)\},$", entry[2], re.MULTILINE)) | {"kind": entry[0]}
    return found


def test_all_entries_can_be_read_back() -> None:
    found = entries(bibtex())
    assert list(found) == sorted(SOURCES)
    for key, one in SOURCES.items():
        result = found[key]
        assert result["kind"] == one.kind
        assert result["title"] == one.title
        assert result["author"].split(" and ") == list(one.authors)
        assert result["title"].count("{") == result["title"].count("}")


def test_every_entry_has_what_its_kind_needs() -> None:
    needed = {
        "article": {"journal", "volume", "pages"}, "book": {"publisher"}, "inproceedings": {"booktitle"},
        "misc": {"eprint", "archiveprefix"}, "unpublished": {"note"},
    }  # fmt: skip
    for one in SOURCES.values():
        assert needed[one.kind] <= set(one.fields), one.key
        assert all("," in author for author in one.authors), one.key
        assert one.kind == "unpublished" or re.fullmatch(r"1[89]\d\d|20\d\d", one.year), one.key
        assert one.key.endswith(one.year), one.key
        assert DOI.fullmatch(one.fields.get("doi", "10.1000/none")), one.key


def test_no_doi_is_there_twice() -> None:
    dois = [one.fields["doi"] for one in SOURCES.values() if "doi" in one.fields]
    assert len(set(dois)) == len(dois)


@pytest.mark.parametrize("language", [ENGLISH, GERMAN], ids=lambda one: one.code)
def test_texts_cite_only_what_is_known(language: object) -> None:
    text = " ".join(language.texts.values())  # type: ignore[attr-defined]
    assert set(cited(text)) <= set(SOURCES)
    assert text.count("@") == sum(len(found.split(";")) for found in re.findall(r"\[@[^\]]*\]", text))
    given = {}, {"account": "pairwise"}, {"rule": "miller"}, {"share_of_expected": 0.3}, {"mean_below": 3.0}
    keys = {key for one in CRITERIA.values() for settings in given for key in one.literature(settings)}
    assert {"pieper", "ba2024", "langsford2018", "macketanz2022", "miller1991"} <= keys <= set(SOURCES)


def test_keys_become_names_and_years() -> None:
    text = "Ties [@davidson1970; @pieper], and more [@bradley1952]."
    assert readable(text) == "Ties (Davidson, 1970; Pieper et al., manuscript), and more (Bradley and Terry, 1952)."
    assert readable(text, "de").endswith("(Bradley und Terry, 1952).")
    assert references(cited(text))[0].startswith("Bradley, Ralph Allan and Terry, Milton E. (1952). Rank analysis")


def test_an_unknown_key_is_an_error_that_names_the_nearest() -> None:
    with refuses(KaratError, "bates2014", "bates2015"):
        source("bates2014")
    with refuses(KaratError, "zzz"):
        bibtex(["zzz"])


@given(st.lists(st.sampled_from(sorted(SOURCES)), min_size=1, unique=True))
def test_what_is_cited_is_found_in_its_order(keys: list[str]) -> None:
    text = f"Before [@{keys[0]}] and [{'; '.join(f'@{key}' for key in keys)}] after."
    assert cited(text) == tuple(keys)
    assert cited(readable(text)) == ()
    assert list(entries(bibtex(keys))) == sorted(keys)
