"""Files as they lie on disk: encodings, long lines, JSON, zip archives."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.judgments.source import SourceFile
from messages import refuses


def source(content: bytes, name: str = "file.txt") -> SourceFile:
    return SourceFile(Path(name), content=content)


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (b"abc", "utf-8"), ("Bär".encode(), "utf-8"), ("Bär".encode("utf-8-sig"), "utf-8-sig"),
        ("Bär, naïve".encode("cp1252"), "cp1252"), (b"\x81 \xe4", "latin-1"), ("a,b\n".encode("utf-16"), "utf-16"),
        ("participant,item\n".encode("utf-16-le"), "utf-16-le"),
        ("participant,item\n".encode("utf-16-be"), "utf-16-be"), (b"a\0b", "utf-8"), (b"", "utf-8"),
    ],
)  # fmt: skip
def test_encodings_are_found(content: bytes, encoding: str) -> None:
    assert source(content).encoding == encoding


def test_utf8_is_judged_by_the_whole_file() -> None:
    assert source(b"a" * (2 << 20) + b"\xe4").encoding == "cp1252"
    assert source(b"a" * ((1 << 20) - 1) + "ä".encode()).encoding == "utf-8"
    assert source(b"a" * (1 << 20) + b"\xc3").encoding == "cp1252"


def test_encoding_may_be_reported() -> None:
    file = SourceFile(Path("x"), "latin-1", b"\xe4")
    assert file.text() == "ä"
    assert file.encoding_note == []
    with refuses(karat.IntakeError, "klingon", "--encoding utf-8"):
        _ = SourceFile(Path("x"), "klingon", b"").encoding
    with refuses(karat.IntakeError, "base64", "--encoding utf-8"):
        _ = SourceFile(Path("x"), "base64", b"").encoding
    with refuses(karat.IntakeError, "ascii", "0xe4", "--encoding"):
        SourceFile(Path("x"), "ascii", b"\xe4").text()
    with refuses(karat.IntakeError, "ascii", "0xe4", "--encoding"):
        list(SourceFile(Path("x"), "ascii", b"\xe4").lines())


def test_lines_are_numbered_and_any_line_end_counts() -> None:
    assert list(source(b"\xef\xbb\xbfa\r\nb\rc\n\nd").lines()) == [(1, "a"), (2, "b"), (3, "c"), (4, ""), (5, "d")]


def test_long_lines_are_refused_with_their_number() -> None:
    with refuses(karat.IntakeError, "file.txt", "line 3", "16 MB"):
        source(b"a\nb\n" + b"x" * (20 << 20)).text()


def test_quotes_that_never_close_are_refused() -> None:
    long = b'a,b\n1,2\n"' + b"x,y\n" * (5 << 20)
    with refuses(karat.IntakeError, "file.txt", "line 3", "quotation mark"):
        list(source(long).pieces(quoted=True))


@given(st.lists(st.text(st.sampled_from('a"\n,'), max_size=6)), st.integers(1, 9))
def test_pieces_are_the_file(parts: list[str], size: int) -> None:
    content = "\n".join(parts).encode()
    for quoted in (True, False):
        pieces = list(source(content).pieces(quoted=quoted, size=size))
        assert b"".join(pieces) == content
        for piece in pieces[:-1]:
            assert piece.endswith(b"\n")
            assert not quoted or piece.count(b'"') % 2 == 0


@pytest.mark.few(1)
@pytest.mark.parametrize("what", ["line", "cell", "json"])
def test_huge_input_is_refused_without_filling_memory(what: str, tmp_path: Path) -> None:
    path = tmp_path / ("huge.json" if what == "json" else "huge.csv")
    with path.open("wb") as stream:
        start = {
            "line": b"participant,item,response\n",
            "cell": b'participant,item,response\np1,"',
            "json": b'[{"a":"',
        }[what]
        stream.write(start)
        for _ in range(200 if what != "cell" else 50):
            stream.write((b"x\n" if what == "cell" else b"xx") * (1 << 19))
        stream.write(b'",3\n' if what == "cell" else b"\n")
    probe = (
        "import sys, karat, polars, karat.intake\n"
        "peak = lambda: int(next(l.split()[1] for l in open('/proc/self/status') if l.startswith('VmHWM')))\n"
        "before = peak()\n"
        "try:\n    karat.read(sys.argv[1])\nexcept karat.IntakeError as error:\n    print(peak() - before, error)\n"
    )
    if not Path("/proc/self/status").exists():
        pytest.skip("peak memory is read from /proc")
    done = subprocess.run([sys.executable, "-c", probe, str(path)], capture_output=True, text=True, check=True)
    kilobytes, output = done.stdout.split(" ", 1)
    assert "16 MB" in output
    assert int(kilobytes) < 120_000


documents = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
)


@given(st.lists(st.dictionaries(st.text(max_size=3), documents, max_size=3), max_size=4), st.sampled_from([None, 2]))
def test_json_documents_of_lists_and_of_lines(objects: list[dict[str, object]], indent: int | None) -> None:
    as_list = json.dumps(objects, indent=indent).encode()
    as_lines = "\n".join(json.dumps(element) for element in objects).encode()
    for content in (as_list, as_lines):
        assert [value for _, value in source(content).json_documents()] == objects


def test_a_flaw_in_json_is_reported_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    lines = [json.dumps({"number": number, "text": "x" * 3000}) for number in range(200)]
    path.write_text("\n".join([*lines, '{"number": 1,, }', "{}"]), encoding="utf-8")
    with refuses(karat.KaratError, "long.jsonl", "element 200", "line 201", "column 14"):
        list(SourceFile(path).json_documents())


@pytest.mark.parametrize("indent", [None, 1])
def test_a_flaw_in_long_json_is_reported_with_its_column(indent: int | None) -> None:
    text = json.dumps([{"number": number, "text": "x" * 3000} for number in range(200)], indent=indent)
    at = text.index('"text"', text.index("150"))
    before = text[:at]
    place = f"line {before.count(chr(10)) + 1}", f"column {at - before.rfind(chr(10))}"
    with refuses(karat.KaratError, "long.json", *place):
        list(source(f"{before}?{text[at:]}".encode(), "long.json").json_documents())


def test_json_that_crosses_the_pieces_of_a_file() -> None:
    objects = [{"number": 10**30 + i, "text": "ä" * 3000} for i in range(200)]
    assert [value for _, value in source(json.dumps(objects).encode()).json_documents()] == objects


@pytest.mark.parametrize("content", [b'[{"a":1}', b"[{]", b"{'a':1}", b"[" * 100_000, b'{"a":\xff}'])
def test_json_that_is_none(content: bytes) -> None:
    with pytest.raises(karat.IntakeError):
        list(source(content, "x.json").json_documents())


def zipped(path: Path, members: dict[str, bytes]) -> SourceFile:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return SourceFile(path)


@pytest.mark.parametrize("name", ["../up.txt", "/etc/passwd", "a/../../b", "C:\\x.txt", "..\\x.txt"])
def test_zip_members_outside_are_refused(name: str, tmp_path: Path) -> None:
    with refuses(karat.IntakeError, "x.zip", repr(name)):
        _ = zipped(tmp_path / "x.zip", {name: b"x"}).zip_sizes


def test_zip_bombs_are_refused(tmp_path: Path) -> None:
    with refuses(karat.IntakeError, "x.zip", "a.txt", "52,428,800 bytes"):
        _ = zipped(tmp_path / "x.zip", {"a.txt": bytes(50 << 20)}).zip_sizes


def test_zip_members_that_lie_about_their_size_are_refused(tmp_path: Path) -> None:
    file = zipped(tmp_path / "x.zip", {"a.txt": b"x" * 10_000})
    content = bytearray(file.path.read_bytes())
    for position in range(len(content) - 4):
        if content[position : position + 4] == (10_000).to_bytes(4, "little"):
            content[position : position + 4] = (10).to_bytes(4, "little")
    with refuses(karat.IntakeError, "x.zip", "a.txt"):
        SourceFile(Path("x.zip"), content=bytes(content)).zip_member("a.txt")


def test_zip_members_are_files(tmp_path: Path) -> None:
    file = zipped(tmp_path / "x.zip", {"a/b.txt": b"hello", "c.txt": b""})
    assert file.zip_sizes == {"a/b.txt": 5, "c.txt": 0}
    assert file.zip_member("a/b.txt").text() == "hello"
    with refuses(karat.IntakeError, "x.zip", "member d"):
        file.zip_member("d")
    with refuses(karat.IntakeError, "x.zip"):
        _ = source(b"PK\x03\x04 no", "x.zip").zip_sizes
