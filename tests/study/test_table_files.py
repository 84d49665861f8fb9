"""How the text of a table is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.judgments.source import SourceFile
from karat.study.items import read_as

WORDS = ["Bäuerin", "schön", "Tür", "Straße", "garçon", "café", "mère", "forêt", "niño", "façade", "København", "naïve"]
ONLY_MAC = ["Bäuerin", "Tür", "Straße", "garçon", "mère", "forêt"]
"""Words whose bytes in Mac Roman give no word in Windows-1252."""


def read_as_mac(content: bytes) -> bool:
    return SourceFile(Path("items.csv"), content=content).encoding == "mac_roman"


@given(
    st.lists(
        st.sampled_from([*WORDS, "“No”", "it’s", "a – b", "Šárka", "Œuvre", "cœur", "œil", "don´t", "§ 5", "20 €"])
    )
)
def test_windows_text_is_never_taken_for_that_of_a_mac(words: list[str]) -> None:
    assert not read_as_mac(" ".join(words).encode("cp1252", "ignore"))


@given(st.sampled_from(ONLY_MAC), st.lists(st.sampled_from([*WORDS, "“No”", "it’s", "a – b"])))
def test_text_of_a_mac_is_known_by_one_word(word: str, words: list[str]) -> None:
    text = " ".join([word, *words])
    assert read_as_mac(text.encode("mac_roman"))


@pytest.mark.parametrize("encoding", ["cp850", "cp437"])
@pytest.mark.parametrize("text", ["Die Bäuerin füllt", "Türen öffnen", "Über Straßen"])
def test_text_of_dos_is_not_that_of_a_mac(text: str, encoding: str) -> None:
    assert not read_as_mac(text.encode(encoding))


def test_the_separator_is_reported_where_it_is_no_comma(tmp_path: Path) -> None:
    path = tmp_path / "items.csv"
    path.write_bytes("item;sentence\n1;Die Bäuerin.\n".encode("mac_roman"))
    assert read_as(SourceFile(path)) == ("was read as Mac Roman, with semicolons between its cells", "Bäuerin")
    path.write_bytes("item\tsentence\n1\tIt rains.\n".encode("utf-16-le"))
    assert read_as(SourceFile(path)) == ("was read as UTF-16, with tabs between its cells", None)
    for certain in (b"item;sentence\n1;It rains.\n", "item\tsentence\n1\tIt rains.\n".encode("utf-16")):
        path.write_bytes(certain)
        assert read_as(SourceFile(path)) is None
