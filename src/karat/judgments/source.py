"""A file on disk: its encoding, lines, JSON documents and zip members, within safe bounds."""

from __future__ import annotations

import codecs
import io
import json
import re
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

from karat.errors import IntakeError, Problem, cause
from karat.messages import Message

if TYPE_CHECKING:
    from fastexcel import ExcelReader

SAMPLE_BYTES = 64 * 1024
SHORTEST_UTF16 = 8
LONGEST_RECORD = 16 * 1024 * 1024
LONGEST_CELL = 1024 * 1024
LARGEST_UNZIPPED = 4 * 1024**3
LARGEST_MEMBER = 512 * 1024**2
LARGEST_ZIP_RATIO = 200
SMALL_MEMBER = 10 * 1024**2

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_NOT_WINDOWS = re.compile(r"(?<=[A-Za-z])[ŠŽŒŸ†‡‰ˆ˜™§\ufffd](?=[a-z])")
"""Signs within words that Windows-1252 reads in place of letters of Mac Roman."""
_AT_AN_EDGE = re.compile(r"(?<![^\W_])[‘’“”•–—]|[‘’“”•–—](?![^\W_])")
"""Quotation marks and dashes at the edge of a word, where they belong; Mac Roman would read them as letters."""
_WITHIN_WORDS = re.compile(r"(?<=[A-Za-z])[^\x00-\x7f](?=[a-z])")
ENCODING_NAMES = {
    "mac_roman": "Mac Roman",
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8",
    "cp1252": "Latin-1 (Windows-1252)",
    "latin-1": "Latin-1",
    "cp932": "Shift JIS (Windows-932)",
    "euc_jp": "EUC-JP",
    "gb18030": "GB 18030",
    "big5": "Big5",
    "euc_kr": "EUC-KR",
    "cp1251": "Windows-1251",
}
_SCRIPTS = {
    "cp1251": r"[А-яЁё]",
    "cp932": r"[ぁ-ヿ一-鿿々]",
    "euc_jp": r"[ぁ-ヿ一-鿿々]",
    "euc_kr": r"[가-힣]",
    "big5": r"[一-鿿]",
    "gb18030": r"[一-鿿]",
}
"""The letters of encodings for other scripts than Latin; those in which fewer bytes are text come first."""
_OFTEN = re.compile("[的一是不了在有人我你他她这這个個们們说說去来來谁誰书書句条條件编編号號评評性别別男女]")
"""Signs of every Chinese text or table; a text in the wrong encoding consists of rare signs."""
_OFTEN_KOREAN = re.compile("[이가은는을를의에다고자지기하사어로]")
JSON_ENDINGS = (".json", ".jsonl", ".ndjson")
_JSON_OBJECT = re.compile(r'\s*\[?\s*\{\s*"[^"]*"\s*:')
_BETWEEN_DOCUMENTS = re.compile("[ \t\r\n\ufeff,]*")
FEWEST_LETTERS = 0.8
MOST_CAPITALS = 0.1


@dataclass
class SourceFile:
    """A file, with everything that readers need to recognise and open it."""

    path: Path
    stated_encoding: str | None = None
    content: bytes | None = field(default=None, repr=False)
    """The content of a member of an archive; None for a file on disk."""
    label: str | None = None

    @property
    def name(self) -> str:
        """The name that messages use."""
        return self.label or self.path.name

    @property
    def suffix(self) -> str:
        """The ending of the file's name, in lower case."""
        return self.path.suffix.lower()

    def open(self) -> BinaryIO:
        """The bytes of the file as a stream."""
        return io.BytesIO(self.content) if self.content is not None else self.path.open("rb")

    @cached_property
    def size(self) -> int:
        """The size in bytes."""
        return len(self.content) if self.content is not None else self.path.stat().st_size

    @cached_property
    def head(self) -> bytes:
        """The first bytes of the file."""
        with self.open() as stream:
            return stream.read(SAMPLE_BYTES)

    @cached_property
    def sample(self) -> str:
        """The beginning of the file as text, to recognise it; bytes that are not text become `\ufffd`."""
        return self.head.decode(self.encoding, errors="replace").lstrip("\ufeff")

    @cached_property
    def encoding(self) -> str:
        """The encoding: the one set by the user, else by byte order mark, zero bytes or valid UTF-8, else a guess."""
        if self.stated_encoding:
            return _known_encoding(self.stated_encoding)
        for mark, name in _BOMS:
            if self.head.startswith(mark):
                return name
        zeros = (self.head[0::2].count(0), self.head[1::2].count(0))
        half = max(len(self.head) // 2, SHORTEST_UTF16)
        if zeros[1] > 0.4 * half and zeros[0] < 0.1 * half:
            return "utf-16-le"
        if zeros[0] > 0.4 * half and zeros[1] < 0.1 * half:
            return "utf-16-be"
        if self._is_utf8():
            return "utf-8"
        other = _other_script(self.head)
        if other is not None:
            return other
        if self._is_mac_roman():
            return "mac_roman"
        undefined = (0x81, 0x8D, 0x8F, 0x90, 0x9D)
        latin = any(byte in chunk for chunk in self._chunks(LONGEST_RECORD) for byte in undefined)
        return "latin-1" if latin else "cp1252"

    def _chunks(self, size: int) -> Iterator[bytes]:
        with self.open() as stream:
            while chunk := stream.read(size):
                yield chunk

    def _is_utf8(self) -> bool:
        decoder = codecs.getincrementaldecoder("utf-8")()
        pending = False
        try:
            for chunk in self._chunks(LONGEST_CELL):
                if pending or not chunk.isascii():
                    decoder.decode(chunk)
                    pending = bool(decoder.getstate()[0])
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
        return True

    def _is_mac_roman(self) -> bool:
        """Whether words contain signs that no word has in Windows-1252 but that are letters in Mac Roman.

        In an old table from a Mac, "Bäuerin" has the byte that is Š in Windows-1252.
        """
        foreign = edges = strange = 0
        for chunk in self._chunks(LONGEST_RECORD):
            windows = chunk.decode("cp1252", "replace")
            foreign += len(_NOT_WINDOWS.findall(windows))
            edges += len(_AT_AN_EDGE.findall(windows))
            strange += sum(not _is_ordinary(letter) for letter in _WITHIN_WORDS.findall(chunk.decode("mac_roman")))
        return foreign > edges + strange

    @cached_property
    def is_json(self) -> bool:
        """Whether the file is JSON, by its ending or, as in the text files of servers, by its beginning."""
        return self.suffix in JSON_ENDINGS or _JSON_OBJECT.match(self.sample) is not None

    @property
    def encoding_note(self) -> list[Message]:
        """A note if the encoding is a guess."""
        if self.stated_encoding or self.encoding not in ("cp1252", "latin-1", "mac_roman", *_SCRIPTS):
            return []
        return [Message("file.encoding", {"file": self.name, "encoding": ENCODING_NAMES[self.encoding]})]

    def text(self) -> str:
        """The whole file as text; IntakeError if a line is longer than 16 MB."""
        self.refuse_long_records()
        with self.open() as stream:
            return decode(stream.read(), self.encoding, self.name)

    def lines(self) -> Iterator[tuple[int, str]]:
        """The lines with their numbers, from 1, without their line ends."""
        self.refuse_long_records()
        with io.TextIOWrapper(self.open(), encoding=self.encoding, errors="strict", newline=None) as stream:
            try:
                for number, line in enumerate(stream, start=1):
                    yield number, line.rstrip("\n").lstrip("\ufeff" if number == 1 else "")
            except UnicodeError as error:
                raise _not_text(self.name, self.encoding, error) from None

    def refuse_long_records(self) -> None:
        """Refuse a file with a line longer than 16 MB, without loading it into memory."""
        for _ in self.pieces():
            pass

    def pieces(self, *, quoted: bool = False, size: int = LONGEST_CELL // 2) -> Iterator[bytes]:
        """The file in pieces that end at a line end (if `quoted`, at one outside quotation marks).

        A piece is longer than twice the size only if a record is longer than the size. A record longer than 16 MB is
        refused, so that a line of 200 MB is never loaded into memory.
        """
        start, window = 0, b""
        with self.open() as stream:
            while chunk := stream.read(size):
                window += chunk
                end = _last_record_end(window) if quoted else max(window.rfind(b"\n"), window.rfind(b"\r")) + 1
                if end:
                    yield window[:end]
                    start, window = start + end, b""
                    stream.seek(start)
                elif len(window) > LONGEST_RECORD:
                    what = f"the line is longer than {LONGEST_RECORD // 1024**2} MB"
                    fix = f"A line break is missing{', or a quotation mark is not closed' if quoted else ''}."
                    problem = Problem(what, fix, file=self.name, number=self._line_at(start))
                    raise IntakeError(f"{self.name} cannot be read:", [problem])
        if window:
            yield window

    def _line_at(self, position: int) -> int:
        line = 1
        with self.open() as stream:
            while position > 0 and (chunk := stream.read(min(position, LONGEST_CELL))):
                line += chunk.count(b"\n")
                position -= len(chunk)
        return line

    def json_documents(self) -> Iterator[tuple[int, Any]]:
        """The elements of a JSON array, or the documents of a file with several, numbered from 1.

        Elements are decoded one at a time, so that a long file needs little memory. Elements longer than 16 MB are
        refused.
        """
        with io.TextIOWrapper(self.open(), encoding=self.encoding, errors="strict") as stream:
            yield from _json_documents(stream, self.name)

    @cached_property
    def workbook(self) -> ExcelReader:
        """The spreadsheet, opened once for all its sheets."""
        if self.suffix in (".xlsx", ".xlsm", ".xlsb", ".ods"):
            _ = self.zip_sizes  # refuses archives that are unsafe to unpack
        import fastexcel

        with self.open() as stream, self.as_spreadsheet():
            return fastexcel.read_excel(stream.read())

    @contextmanager
    def as_spreadsheet(self) -> Iterator[None]:
        """Report errors of the parser of spreadsheets with the name of the file."""
        try:
            yield
        except Exception as error:  # the parser's errors share no parent with a useful name
            fix = "Open it in a spreadsheet program and save it as .xlsx."
            raise IntakeError(f"{self.name} is not a readable spreadsheet: {cause(error)}. {fix}") from None

    @cached_property
    def zip_sizes(self) -> dict[str, int]:
        """Names and sizes of the members of a zip archive; IntakeError if it is unsafe to unpack."""
        try:
            with self.open() as stream, zipfile.ZipFile(stream) as archive:
                infos = [info for info in archive.infolist() if not info.is_dir()]
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError, RuntimeError) as error:
            kind = "zip archive" if self.suffix == ".zip" else "workbook"
            fix = "It may be cut off: copy it or save it again."
            raise IntakeError(f"{self.name} is not a readable {kind}: {cause(error)}. {fix}") from None
        for info in infos:
            _refuse_unsafe_member(self.name, info)
        if sum(info.file_size for info in infos) > LARGEST_UNZIPPED:
            limit = LARGEST_UNZIPPED // 1024**3
            raise IntakeError(f"{self.name} would unpack to more than {limit} GB and was refused.")
        return {info.filename: info.file_size for info in infos}

    def zip_member(self, name: str) -> SourceFile:
        """A member of a zip archive as a file."""
        if name not in self.zip_sizes:
            raise IntakeError(f"{self.name} has no member {name}.")
        return next(iter(self.zip_files([name])))

    def zip_files(self, names: Iterable[str]) -> Iterator[SourceFile]:
        """Members of a zip archive as files; none may grow beyond the size that the archive states."""
        with self.open() as stream, zipfile.ZipFile(stream) as archive:
            for name in names:
                yield SourceFile(Path(self.name) / name, self.stated_encoding, self._unzipped(archive, name))

    def _unzipped(self, archive: zipfile.ZipFile, name: str) -> bytes:
        claimed = self.zip_sizes[name]
        try:
            with archive.open(name) as member:
                content = member.read(claimed + 1)
        except Exception as error:  # zlib.error and its kin have no common parent
            raise IntakeError(f"{self.name}: the member {name} cannot be unpacked ({error}).") from None
        if len(content) > claimed:
            raise IntakeError(f"{self.name}: the member {name} is larger than the archive says and was refused.")
        return content


def _is_ordinary(letter: str) -> bool:
    """Whether a sign occurs within ordinary words: a small Latin letter, or an apostrophe."""
    return letter == "’" or (unicodedata.name(letter, "").startswith("LATIN SMALL") and letter not in "ﬁﬂı")


def _other_script(head: bytes) -> str | None:
    """The encoding in which bytes are text in another script than Latin; None if there is none.

    >>> _other_script("参加者,太郎が来た".encode("cp932")), _other_script("größer,Übung".encode("cp1252"))
    ('cp932', None)
    """
    frequencies: dict[str, int] = {}
    for encoding, letters in _SCRIPTS.items():
        try:
            text = codecs.getincrementaldecoder(encoding)().decode(head, final=len(head) < SAMPLE_BYTES)
        except UnicodeDecodeError:
            continue
        foreign = [sign for sign in text if ord(sign) > 127 and (sign.isalpha() or not sign.isprintable())]
        # Letters of these scripts come in groups or fill a cell; accented Latin letters are between plain ones.
        alone = rf"|(?<![^\s,;]){letters}(?![^\s,;])" if encoding != "cp1251" else ""
        together = sum(map(len, re.findall(rf"{letters}{{2,}}{alone}", text)))
        kana = encoding != "euc_jp" or re.search("[ぁ-ヿ]", text)
        # Capital letters within words are signs of another script, read as letters of this one.
        within = sum(first.islower() and second.isupper() for first, second in pairwise(foreign))
        if foreign and together >= FEWEST_LETTERS * len(foreign) and kana and within <= MOST_CAPITALS * len(foreign):
            frequencies[encoding] = len((_OFTEN_KOREAN if encoding == "euc_kr" else _OFTEN).findall(text))
    chinese = {"big5", "gb18030"}
    if frequencies.keys() <= chinese or (frequencies.keys() <= {*chinese, "euc_kr"} and any(frequencies.values())):
        return max(frequencies, key=lambda encoding: frequencies[encoding], default=None)
    return next(encoding for encoding in frequencies if encoding not in chinese)


def decode(content: bytes, encoding: str, name: str) -> str:
    """Bytes as text; IntakeError names the file."""
    try:
        return content.decode(encoding).lstrip("\ufeff")
    except UnicodeError as error:
        raise _not_text(name, encoding, error) from None


def _not_text(name: str, encoding: str, error: UnicodeError) -> IntakeError:
    return IntakeError(f"{name} is not text in {encoding} ({error}). Use --encoding with the right one.")


def _known_encoding(name: str) -> str:
    try:
        encoding = codecs.lookup(name).name
        "".encode(encoding)
    except (LookupError, TypeError):
        raise IntakeError(f"{name} is not an encoding. Use --encoding utf-8, for example, or latin-1.") from None
    return "utf-8-sig" if encoding == "utf-8" else encoding


def _last_record_end(window: bytes) -> int:
    """The position after the last line end outside quotation marks, or 0."""
    end = window.rfind(b"\n")
    quotes = window.count(b'"', 0, end) if end >= 0 and b'"' in window else 0
    while end >= 0 and quotes % 2:
        # All line ends after the last quotation mark are inside quotes as well.
        mark = window.rfind(b'"', 0, end)
        end = window.rfind(b"\n", 0, mark)
        quotes -= window.count(b'"', max(end, 0), mark + 1)
    return end + 1


def _refuse_unsafe_member(archive: str, info: zipfile.ZipInfo) -> None:
    # Both kinds of slash, because an archive may be unpacked on another system than it was made on.
    path = PurePosixPath(info.orig_filename.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or (path.parts and path.parts[0].endswith(":")):
        raise IntakeError(f"{archive} was refused: its member {info.orig_filename!r} points outside the archive.")
    if info.flag_bits & 0x1:
        raise IntakeError(f"{archive} is encrypted; unpack it first.")
    swollen = info.file_size > SMALL_MEMBER and info.file_size > LARGEST_ZIP_RATIO * max(info.compress_size, 1)
    if swollen or info.file_size > LARGEST_MEMBER:
        raise IntakeError(
            f"{archive} was refused: its member {info.filename} would grow from {info.compress_size:,} "
            f"to {info.file_size:,} bytes, as in a zip bomb."
        )


def _json_documents(stream: TextIO, name: str) -> Iterator[tuple[int, Any]]:
    decoder = json.JSONDecoder()
    text, at, number, in_list, ended = "", 0, 0, False, False
    lines = columns = 0  # before the buffer: complete lines, and the characters of its first line
    while True:
        at = _BETWEEN_DOCUMENTS.match(text, at).end()  # type: ignore[union-attr]
        if at < len(text) and text[at] == ("]" if in_list else "["):
            in_list, at = not in_list, at + 1
            continue
        if at < len(text):
            try:
                value, after = decoder.raw_decode(text, at)
            except (ValueError, RecursionError) as error:
                if ended:
                    raise _not_json(name, number, _flaw(error, lines, columns)) from None
            else:
                # A number at the end of the buffer may go on in the next piece of the file.
                if after < len(text) or ended:
                    number, at = number + 1, after
                    yield number, value
                    continue
        elif ended:
            if in_list:
                raise _not_json(name, number, "the list is not closed at the end of the file")
            return
        lines += text.count("\n", 0, at)
        line_end = text.rfind("\n", 0, at)
        columns = at - line_end - 1 if line_end >= 0 else columns + at
        text, at = text[at:], 0
        if len(text) > LONGEST_RECORD:
            raise IntakeError(f"{name}: element {number + 1} is longer than {LONGEST_RECORD // 1024**2} MB.")
        try:
            more = stream.read(max(SAMPLE_BYTES, len(text)))
        except UnicodeError as error:
            raise _not_text(name, stream.encoding, error) from None
        ended = not more
        text += more


def _flaw(error: Exception, lines: int, columns: int) -> str:
    """The flaw that stopped the decoder, with its line and column."""
    if isinstance(error, json.JSONDecodeError):
        column = error.colno + (columns if error.lineno == 1 else 0)
        return f"line {lines + error.lineno}, column {column}: {error.msg}"
    return "it is nested too deeply"


def _not_json(name: str, number: int, flaw: str) -> IntakeError:
    after = f" after element {number}" if number else ""
    return IntakeError(f"{name} is not readable as JSON{after}: {flaw}. Fix that place, or export the file again.")
