"""Rules about texts: irregularities in the item table, and the texts that participants read beforehand."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import cache

from karat.errors import counted, shown
from karat.judgments.columns import PROBES
from karat.judgments.source import SourceFile
from karat.judgments.tables import sheets_of
from karat.languages import language_of
from karat.study.check.draft import Draft, Row, lines_of
from karat.study.check.findings import Flaw, rule
from karat.study.init import LANGUAGES, language_seen
from karat.study.items import ALIKE, KNOWN, read_as, source_file
from karat.study.results import taken_names
from karat.study.setting_base import known_words

SHOWN = ("sentence", "sentence_2", "context")
SENTENCES = ("sentence", "sentence_2")
CLOSING = "\"'”“’»«)]›‹*"
FINAL = (".", "!", "?", "…", "。", "！", "？", "؟", "।", ":", ";")
INVISIBLE = {"\u00a0": "a no-break space", "\u200b": "a zero-width space", "\ufeff": "a byte-order mark",
             "\u00ad": "a soft hyphen", "\t": "a tab", "\n": "a line break", "\r": "a line break",
             "\u200e": "a direction mark", "\u200f": "a direction mark", "\u2028": "a line break"}  # fmt: skip
BRACKETS = (("(", ")"), ("[", "]"))
SCRIPTS = ("LATIN", "CYRILLIC", "GREEK")
IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg")


def texts_of(row: Row, columns: Sequence[str] = SHOWN) -> list[str]:
    """The texts that a row shows."""
    return [text for column in columns if (text := row[column])]


def _gathered(rows: Sequence[Row], single: str, many: str) -> Flaw:
    """A flaw for all rows that have it, with the text `single` for one row and `many` for several."""
    if len(rows) == 1:
        return Flaw(f"{rows[0].item}: {single}", spot=rows[0].spot)
    return Flaw(f"{len(rows)} rows {many} ({lines_of(rows)}).", spot=rows[0].spot)


def _flawed(rows: Iterable[Row], test: Callable[[str], str | None], columns: Sequence[str]) -> tuple[list[Row], str]:
    """The rows with a text for which a test returns a complaint, and the first complaint."""
    complaints = [(row, next(filter(None, map(test, texts_of(row, columns))), "")) for row in rows]
    flawed = [(row, complaint) for row, complaint in complaints if complaint]
    return [row for row, _ in flawed], flawed[0][1] if flawed else ""


@rule("warning", fix="Rename the column.")
def columns(draft: Draft) -> Iterator[Flaw]:
    """An item column has nearly the same name as one that karat knows, and is ignored."""
    for block in draft.study.blocks:
        names = block.items.frame.columns if block.items.frame.height else []
        unknown = [name for name in names if name not in KNOWN and name not in block.settings.factors]
        missing = [name for name in KNOWN if name not in names]
        for name in unknown:
            close = get_close_matches(name.lower(), missing, 1, ALIKE)
            if close:
                yield Flaw(f"the column {shown(name)} is unknown to karat.", f"Did you mean {close[0]}? Rename it.",
                           (block.items.locate(0)[0], None))  # fmt: skip


@rule("warning", fix="Remove it; it may show that a condition was edited.")
def white_space(draft: Draft) -> Iterator[Flaw]:
    """A text has two blanks in a row, a tab, a line break or an invisible character."""
    french = draft.study.settings.language.lower().startswith("fr")
    # Whole texts have paragraphs, and Markdown gives meaning to blanks.
    plain = [row for row in draft.all_rows if not (row.block.settings.markdown or row.block.questions is not None)]
    flawed, complaint = _flawed(plain, lambda text: stray_space(text, french), SENTENCES)
    if flawed:
        yield _gathered(flawed, f"{complaint}.", "have stray white space")


def stray_space(text: str, french: bool = False) -> str | None:
    """The flaw in the white space of a text, if any."""
    for sign, name in INVISIBLE.items():
        # French sets a no-break space before some signs.
        if sign in text and not (french and sign == "\u00a0"):
            return name
    if "  " in text:
        return "two blanks in a row"
    before = re.search(r"\w ([.,])(?=\s|$)" if french else r"\w ([.,;:!?])(?=\s|$)", text)
    return f"a blank before {shown(before[1])}" if before else None


@rule("warning", fix="Add the missing one.")
def quotes(draft: Draft) -> Iterator[Flaw]:
    """A text has a quotation mark or a bracket without its partner."""
    flawed, sign = _flawed(draft.all_rows, unbalanced_sign, SHOWN)
    if flawed:
        kind = "bracket" if sign in "()[]" else "quotation mark"
        many = "have a quotation mark or bracket without its partner"
        yield _gathered(flawed, f"the {kind} {sign} has no partner.", many)


def unbalanced_sign(text: str) -> str | None:
    """A quotation mark or bracket without its partner, if any; apostrophes are ignored."""
    if text.count('"') % 2 and not ("„" in text and text.count("„") == text.count('"')):
        return '"'
    opened = text.count("„")
    if opened and opened != text.count("“") + text.count("”") + text.count('"'):
        return "„"
    if not opened and text.count("“") != text.count("”"):
        return "“" if text.count("“") > text.count("”") else "”"
    if text.count("«") != text.count("»"):
        return "«" if text.count("«") > text.count("»") else "»"
    for left, right in BRACKETS:
        if text.count(left) != text.count(right):
            return left if text.count(left) > text.count(right) else right
    return None


@rule("warning", fix="Remove the mark, and write what you expect into the column status.")
def judgment_marks(draft: Draft) -> Iterator[Flaw]:
    """A sentence to be judged begins with an asterisk or another mark of linguists, which participants would see."""
    judged = [row for row in draft.all_rows if row.block.task.acceptability and not row.block.settings.markdown]
    flawed, mark = _flawed(judged, judgment_mark, SENTENCES)
    if flawed:
        single = f"the sentence begins with {shown(mark)}, and participants would see it."
        yield _gathered(flawed, single, "begin with a mark that participants would see")


def judgment_mark(text: str) -> str | None:
    """The mark of linguists for an unacceptable sentence, if the text begins with one."""
    match = re.match(r"\s*([*?%]+|#)\s*(?=[^\W\d])", text)
    return match[1] if match else None


@rule("warning", fix="Save the table as UTF-8 in the composed form (NFC), or type the letters again.")
def unicode(draft: Draft) -> Iterator[Flaw]:
    """A text has letters with separate accents, letters of two scripts in one word, or letters such as "Ã¶" where the
    encoding of a file was mistaken. Mixed Unicode forms: the same letter in two codings looks and compares
    differently."""
    flawed, complaint = _flawed(draft.all_rows, mixed_form, SHOWN)
    if flawed:
        yield _gathered(flawed, f"{complaint}.", f"have letters in an unusual coding: {complaint}")


def mixed_form(text: str) -> str | None:
    """The flaw in the coding of a text, if any."""
    for word in text.split():
        if (intended := _decoded(word)) != word:
            return f"{shown(word)} should probably be {shown(intended)}"
    if not unicodedata.is_normalized("NFC", text):
        for match in re.finditer(r".[\u0300-\u036f]+", text):
            composed = unicodedata.normalize("NFC", match[0])
            if composed != match[0]:
                return f'"{composed}" is coded as two characters'
        return "it is not in the composed Unicode form"
    for word in re.findall(r"\w+", text):
        scripts = {_script(letter) for letter in word if letter.isalpha()} - {""}
        if len(scripts) > 1:
            names = " and ".join(script.capitalize() for script in SCRIPTS if script in scripts)
            return f"{shown(word)} mixes {names} letters"
    return None


def _decoded(word: str) -> str:
    """A word whose UTF-8 was read in a Western encoding as it was before; any other word as it is."""
    for encoding in ("cp1252", "latin-1"):
        with suppress(UnicodeError):
            return word.encode(encoding).decode("utf-8")
    return word


@cache
def _script(letter: str) -> str:
    name = unicodedata.name(letter, "")
    return next((script for script in SCRIPTS if name.startswith(script)), "") if letter not in "µªº" else ""


@rule("warning", fix="Write all items in the language of the test sentences.")
def other_language(draft: Draft) -> Iterator[Flaw]:
    """Fillers, controls and other items are in another language than the test sentences. This happens when the examples
    of a template stay beside new test sentences."""
    stated_language = draft.study.settings.language[:2].lower()
    for rows in draft.rows:
        tests, others = (
            [text for row in rows if (row.function == "test") == test for text in texts_of(row, SENTENCES)]
            for test in (True, False)
        )
        if not tests or not others:
            continue
        seen, here = language_seen(others), language_seen(tests)
        spoken = seen is not None and seen != (here or stated_language)
        if spoken or _is_latin(others) != _is_latin(tests):
            look = f"look {LANGUAGES[seen]}" if seen else "are in another script"
            first = next(row for row in rows if row.function != "test")
            text = f"the {len(others)} sentences that are not tested {look}, unlike the {len(tests)} test sentences."
            yield Flaw(text, spot=first.spot)


def _is_latin(texts: Sequence[str]) -> bool:
    """Whether most letters of texts are Latin ones."""
    letters = Counter(letter for text in texts for letter in text if letter.isalpha())
    latin = sum(number for letter, number in letters.items() if unicodedata.name(letter, "").startswith("LATIN"))
    return 2 * latin >= letters.total()


@rule("warning", fix="Give each point a label of its own, or label only the ends.")
def scale_labels(draft: Draft) -> Iterator[Flaw]:
    """Two points of a scale have the same label, or one has none although its opposite does."""
    for index, block in enumerate(draft.study.blocks):
        labels = [label.strip() for label in block.settings.scale.labels]
        twice = next((label for label in labels if label and labels.count(label) > 1), None)
        bare = next(
            (n for n, pair in enumerate(zip(labels, labels[::-1], strict=True), 1) if pair[1] > pair[0] == ""), 0
        )
        if twice is not None:
            yield Flaw(
                f"two points of the scale have the label {shown(twice)}.", spot=draft.at("block", index, "scale")
            )
        elif bare:
            text = f"point {bare} of the scale has no label, but its opposite does."
            yield Flaw(text, spot=draft.at("block", index, "scale"))


@rule("warning", fix="Add it; otherwise it reveals the condition.")
def final_punctuation(draft: Draft) -> Iterator[Flaw]:
    """A sentence has no final punctuation, although most others do."""
    for rows in draft.rows:
        sentences = [(row, text) for row in rows for text in texts_of(row, SENTENCES)]
        without = {row.number: row for row, text in sentences if not text.rstrip(CLOSING).endswith(FINAL)}
        if without and len(without) < len(sentences) / 2:
            yield _gathered(list(without.values()), "the sentence has no final punctuation.",
                            "have a sentence without final punctuation")  # fmt: skip


@rule("warning", "section 3.3", "Use an attention stimulus: a sentence with a small violation near its end.")
def instruction_check(draft: Draft) -> Iterator[Flaw]:
    """A stimulus gives an instruction, as in "please tick ...", instead of something to judge. Instruction-manipulation
    checks are unfair and conspicuous in judgment tasks."""
    for rows in draft.rows:
        flawed = [row for row in rows if any(_instructs(text, row) for text in texts_of(row))]
        if flawed:
            text = next(text for text in texts_of(flawed[0]) if _instructs(text, flawed[0]))
            yield _gathered(flawed, f"{shown(text)} gives an instruction; participants cannot know whether to judge or "
                            "to follow it.", "give instructions instead of something to judge")  # fmt: skip


def _instructs(text: str, row: Row) -> bool:
    low = text.lower()
    if row.function == "practice":
        return False
    if re.search(known_words()["instructed"]["attention"], low):
        return True
    match = re.search("|".join(f"(?:{pattern})" for pattern in known_words()["instructing"].values()), low)
    if match is None:
        return False
    rest = low[match.end() :]
    scale = row.block.settings.scale
    labels = [label.lower() for label in (*scale.labels, *scale.levels) if label]
    return (
        row.function == "attention"
        or re.search(known_words()["instructed"]["objects"], rest) is not None
        or any(label in rest for label in labels)
    )


@rule("error", fix="Put a PNG, JPEG, GIF, WebP or SVG file next to the study file, or fix its name.")
def images(draft: Draft) -> Iterator[Flaw]:
    """An image file is missing, or is of a kind that browsers do not show. Image files that the item table names: the
    server of the study shows them, and no other."""
    folder = draft.study.path.parent
    flawed = [
        (row, f"there is no file {name}" if not (folder / name).is_file() else f"browsers do not show {name}")
        for row in draft.all_rows
        for column in ("image", "image_2")
        if (name := row[column]) and not ((folder / name).is_file() and name.lower().endswith(IMAGES))
    ]
    if flawed:
        row, complaint = flawed[0]
        more = f", and {counted(len(flawed) - 1, 'file')} more" if len(flawed) > 1 else ""
        yield Flaw(f"{row.item}: {complaint}{more}.", spot=row.spot)


@rule("warning", fix="Remove it, or make the item a practice item.")
def feedback(draft: Draft) -> Iterator[Flaw]:
    """An item that is not a practice item has feedback, which is never shown. Participants get feedback on answers
    only in practice."""
    rows = [row for row in draft.all_rows if row["feedback"] and row.function != "practice"]
    if rows:
        yield _gathered(rows, "has feedback, but is not a practice item.", "have feedback, but are not practice items")


@rule(
    "hint",
    fix="Say in the debriefing what they are for, keep them few and harmless, and look at the answers before you "
    "exclude anybody.",
)
def probes(draft: Draft) -> Iterator[Flaw]:
    """There are honeypots, shibboleths or modality checks. They catch careless programs only: agents that read the
    screen pass, and people may answer unexpectedly too, so one hit alone is no reason to exclude a participant."""
    rows = [row for row in draft.all_rows if row["hidden"] or row["subgroup"] in PROBES]
    wrong = [row for row in rows if row.function != "filler" or row["subgroup"] not in PROBES or not row["expected"]]
    if wrong:
        kinds = f"{', '.join(PROBES[:-1])} or {PROBES[-1]}"
        text = f"must be a filler with an expected answer and the subgroup {kinds}"
        yield _gathered(wrong, f"a probe {text}.", f"are probes; each {text}")
    elif rows:
        yield _gathered(rows, "is a probe for programs.", "are probes for programs")


@rule("hint", "section 2", "Add: rely on your own intuition, answer spontaneously; there is no right or wrong.")
def instructions(draft: Draft) -> Iterator[Flaw]:
    """The instructions do not ask for spontaneous judgments of one's own. Instructions in English or German are tested
    for the advice of section 2."""
    settings = draft.study.settings
    text = settings.texts.instructions.lower()
    pattern = known_words()["own_judgment"].get(settings.language[:2].lower())
    asks = any(block.task.acceptability for block in draft.study.blocks)
    if text and asks and pattern and not re.search(pattern, text):
        yield Flaw(
            "the instructions do not say that one's own intuition counts; people may judge by what they learned at "
            "school.",
            spot=draft.at("texts", "instructions"),
        )


@rule("warning", fix="Set public_title to something harmless, such as How sentences sound.")
def public_title(draft: Draft) -> Iterator[Flaw]:
    """The study has no `public_title`, so that participants see its title. Titles often name what is tested."""
    if not draft.study.settings.public_title:
        yield Flaw(f"participants will see the title {shown(draft.study.title)}.", spot=draft.at("title"))


@rule("warning", fix="Choose a public_title that says nothing about what is compared.")
def telling_title(draft: Draft) -> Iterator[Flaw]:
    """The title that participants see names a factor, a level or a term of the field. It gives the hypothesis away."""
    title = draft.study.settings.public_title
    words = {word.casefold() for word in re.findall(r"\w{4,}", title)}
    names = [name for block in draft.study.settings.block for factor, factor_settings in block.factors.items()
             for name in (factor, *factor_settings.levels)]  # fmt: skip
    telling = {word.casefold() for name in names for word in re.findall(r"\w{4,}", name)} | set(
        known_words()["telling"]["words"]
    )
    terms = [shown(word) for word in sorted(words & telling)]
    if terms:
        yield Flaw(
            f"the public title has {language_of('en').several(terms)}, which shows what is tested.",
            spot=draft.at("public_title"),
        )


SAVE_AS_UTF8 = "Save the table as UTF-8 (in a spreadsheet: CSV UTF-8, or .xlsx)."


@rule("error", fix="Rename the column to function.")
def function_column(draft: Draft) -> Iterator[Flaw]:
    """A table has no column function, so all its rows are test items, but another column looks like it. Without this
    rule, fillers and controls could silently become test items."""
    for block in draft.study.blocks:
        for file, column in block.items.like_functions.items():
            words = block.items.frame[column].drop_nulls().unique(maintain_order=True).to_list()
            yield Flaw(
                f"{file} has no column function, so all rows are test items. The column {column} looks like it: "
                f"{', '.join(words)}.",
                f"Is it {column}? Rename {column} to function; otherwise add a column function.",
                (file, None),
            )


@rule("hint", fix=f"If the text looks wrong, {SAVE_AS_UTF8[0].lower()}{SAVE_AS_UTF8[1:]}")
def encoding(draft: Draft) -> Iterator[Flaw]:
    """A table is not UTF-8, so its encoding had to be guessed. A wrong guess changes letters without any other
    message."""
    for file in _files(draft):
        guessed = read_as(file)
        if guessed is not None:
            how, word = guessed
            seen, fix = (f': it has the word "{word}"', "") if word else ("", SAVE_AS_UTF8)
            yield Flaw(f"{file.name} is not UTF-8; it {how}{seen}.", fix, (file.name, None))


@rule("hint", fix='If the items are on another sheet, name the sheets in the block: sheets = ["..."].')
def sheets(draft: Draft) -> Iterator[Flaw]:
    """A spreadsheet has several sheets, of which only the first is read. Items on a second sheet would never be
    shown. A block that names its `sheets` has decided."""
    chosen = {name for block in draft.study.settings.block for name in block.sheets}
    for file in _files(draft):
        names = sheets_of(file)
        if len(names) > 1 and not chosen.intersection(names):
            others = f"{', '.join(names[1:4])}{', ...' if len(names) > 4 else ''}"
            text = f"{file.name} has {len(names)} sheets: the first, {names[0]}, was read, but not {others}."
            yield Flaw(text, spot=(file.name, None))


def _files(draft: Draft) -> list[SourceFile]:
    """The distinct tables of a study."""
    blocks = draft.study.settings.block
    names = [name for b in blocks for name in (*b.items, b.templates, b.lexicon, b.questions) if name]
    return [source_file(draft.study.path.parent / name) for name in dict.fromkeys(names)]


@rule("error", fix="Give it another name.", must=True, name="taken-names")
def names_taken(draft: Draft) -> Iterator[Flaw]:
    """A background question, a factor or a column of the items has the name of a column that karat fills, so
    `karat serve` refuses the study. Answers must not be lost behind karat's own columns."""
    for name in taken_names(draft.study):
        if name.block is None:
            yield Flaw(name.what, name.fix, draft.at("background", name.question or 0))
        else:
            yield Flaw(name.what, name.fix, draft.at("block", name.block, "items"))
