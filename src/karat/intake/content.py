"""The content of columns: the words in their names, and the numbers, positions, words, ids or lists in their cells.

Names suggest a role; content decides it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property

import polars as pl

from karat.intake.guess import bare_name, plain
from karat.intake.personal import describes_a_person, names_a_person
from karat.intake.words import word_list, word_lists

ITEM_IDS = word_list("item_ids")
RESPONSE_TIMES = word_list("response_times")
MISSPELT_FROM = 6
_WORDS = word_lists("functions")
_MORE_WORDS = word_lists("more_functions")
_OF_SYSTEMS = {"badref": "control", "bad": "control", "repeat": "control", "chk": "control", "ref": "control"}
"""Codes for damaged, repeated and human translations among those of systems in direct assessment."""


def function_named_in(label: str) -> str:
    """The item function in a label: `practice_1`, `filler`, `attention-check`; else `test`.

    >>> function_named_in("PracticeTrial"), function_named_in("experiment-filler"), function_named_in("trainF")
    ('practice', 'filler', 'practice')
    """
    return _function_among(_words_in(label), _WORDS) or "test"


def _function_among(words: Set[str], lists: Mapping[str, Iterable[str]]) -> str | None:
    """The item function that one of some words names; practice and filler may be part of a word, as in eFiller."""
    for part, function in (("practice", "practice"), ("practise", "practice"), ("filler", "filler")):
        if any(part in word for word in words):
            return function
    return next((function for function, names in lists.items() if not words.isdisjoint(names)), None)


def _words_in(label: str) -> set[str]:
    """The words of a label in lower case; warm-up is a single word, different from warm."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", label).lower()
    return {word for word in re.split(r"[\W\d_]+", re.sub(r"warm[\W_]+up", "warmup", apart)) if word}


_INSTRUCTED_ANSWER = re.compile(
    r"(?i)\W*(?:for this (?:item|question|sentence|one),?\s+)?(?:please,?\s+)?(?:just\s+)?"
    r"(?:press|click|choose|select|pick|mark|rate|tick|drücken sie|wählen sie)\b(?:\W+\w+){0,7}?\W+[\"'“]?\d{1,3}\W*"
)


def tells_the_answer(text: str) -> bool:
    """Whether a text asks for a certain number instead of a judgment, as attention checks do.

    >>> tells_the_answer("Please press 4"), tells_the_answer("Please select the option number '2'.")
    (True, True)
    >>> tells_the_answer("Choose the winner of 1998 and tell him"), tells_the_answer("Mark read 2 books about it.")
    (False, False)
    """
    return _INSTRUCTED_ANSWER.fullmatch(text) is not None


def function_word(value: str) -> str | None:
    """The item function that a value names, also misspelt or within a longer word; None without one.

    >>> function_word("controlGood"), function_word("attenetion"), function_word("warm-up 2"), function_word("warm")
    ('control', 'attention', 'practice', None)
    """
    words = _words_in(value)
    function = _function_among(words, {**_WORDS, **_MORE_WORDS})
    if function is not None:
        return function
    word = words.pop() if len(words) == 1 else ""
    if len(word) >= MISSPELT_FROM:
        by_name = {name: function for function, names in _WORDS.items() for name in names if len(name) >= MISSPELT_FROM}
        close = get_close_matches(word, list(by_name), n=1, cutoff=0.85)
        return by_name[close[0]] if close else None
    return None


MOST_FUNCTIONS = 12
BESIDE_TEST = ("filler", "practice", "attention")


def functions_in(columns: Iterable[Sequence[str | None]], labels: Sequence[str]) -> list[str]:
    """The functions of trials by the first column that names them, or else by their labels.

    If a column marks only some trials, its fillers count as fillers even if an earlier column names functions.

    >>> functions_in([["a", "b", "filler"]], ["test", "practice", "test"])
    ['test', 'practice', 'filler']
    >>> functions_in([["trial", "practice", "trial"], ["a", "a", "filler"]], ["test"] * 3)
    ['test', 'practice', 'filler']
    >>> functions_in([[f"critical {n}" for n in range(20)] + ["filler 1"]], ["test"] * 21)[19:]
    ['test', 'filler']
    """
    functions: list[str] = []
    for cells in columns:
        values = {value for value in cells if value is not None}
        few = len({re.sub(r"[\W\d_]+", "", value) for value in values}) <= MOST_FUNCTIONS
        by_value = {value: function_word(value) for value in values} if few else {}
        marked = {value: word for value, word in by_value.items() if word in BESIDE_TEST}
        if (len(set(by_value.values())) > 1 and all(by_value.values())) or (marked and len(values) > len(marked)):
            words = by_value if all(by_value.values()) else marked
            by_row = [words.get(cell or "") or label for cell, label in zip(cells, labels, strict=True)]
            pairs = zip(functions or by_row, by_row, strict=True)
            functions = ["filler" if (function, other) == ("test", "filler") else function for function, other in pairs]
    return functions or list(labels)


TO_GO_ON = ("next", "continue", "start", "begin", "proceed", "go on", "weiter", "starten", "suivant", "siguiente")
"""The labels of buttons that show the next screen."""
_SPEAKER = re.compile(r"(?<![\w'’])([A-ZÀ-Þ][\w'’-]{1,20}):(?=\s|$)")
FEWEST_DIALOGUES = 0.8
"""Speakers' names are removed only if at least this share of texts has speakers."""


def without_speakers(texts: Sequence[str]) -> list[str] | None:
    """Dialogues without the names of their speakers, if the same words come with different names; None otherwise.

    >>> without_speakers(["Ann: Is it big? Bo: Yes. Is Bo right?", "Cy: Is it big? Di: Yes. Is Di right?"])
    ['A: Is it big? B: Yes. Is B right?', 'A: Is it big? B: Yes. Is B right?']
    """
    if sum(_SPEAKER.search(text) is not None for text in texts) < FEWEST_DIALOGUES * max(len(texts), 1):
        return None
    labelled = {text: _anonymous(text, labels_only=True) for text in set(texts)}
    speakers: dict[str, set[tuple[str, ...]]] = {}
    for text, only in labelled.items():
        speakers.setdefault(only, set()).add(tuple(_SPEAKER.findall(text)))
    # A name that stays when the speakers change belongs to the dialogue itself.
    bare = [only if len(speakers[only := labelled[text]]) > 1 else _anonymous(text) for text in texts]
    return bare if len(set(bare)) < 0.9 * len(set(texts)) else None


def _anonymous(text: str, *, labels_only: bool = False) -> str:
    end = r"(?=:(?:\s|$))" if labels_only else r"(?!\w)"
    for place, name in enumerate(dict.fromkeys(_SPEAKER.findall(text))):
        text = re.sub(rf"(?<![\w'’]){re.escape(name)}{end}", chr(ord("A") + place % 26), text)
    return text


_BESIDE = ("is", "trial", "trials", "item", "check", "question", "block", "phase")


def flagged_function(words: Sequence[str]) -> str | None:
    """The item function of trials that a column marks, by the words of its name; None without one.

    >>> flagged_function(["is", "filler"]), flagged_function(["attention", "check"]), flagged_function(["practice"])
    ('filler', 'attention', 'practice')
    >>> flagged_function(["training", "correct"]), flagged_function(["critical"])
    (None, None)
    """
    distinctive = [word for word in words if word not in _BESIDE]
    if len(distinctive) != 1:
        return None
    if distinctive[0] in ("comprehension", "instructional") and "check" in words:
        return "attention"
    function = function_word(distinctive[0])
    return function if function not in (None, "test") else None


FIRST_ROWS = 30_000
"""The number of rows, of whole participants if their rows are contiguous, that show which columns depend on which."""
FEW_LEVELS = 60
SPARSE = 0.8
"""A column with a larger share of empty cells is not part of the design."""
MISSING = ("NA", "NaN", "nan", "null", "NULL", "None", "undefined", ".", "")
PERSON_CODE = re.compile(
    r"(?i)[0-9a-f]{24}|A[0-9A-Z]{9,20}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|\d{1,3}(\.\d{1,3}){3}|"
    r"(participant|subject|subj|worker|person|speaker|rater|judge|vp|pp|sub|user|anon|student)[\W_]?\d+|[psv]\d{1,4}|"
    r"(annotator|coder|evaluator|ann|anno)[\W_]{0,2}\d+"
)
"""Codes for people: Prolific and MTurk ids, uuids, hashes, IP addresses, participant_12."""
ROW_NUMBERS = re.compile(r"x|unnamed.*|index|rowid|row|rownames?|rownumber|row(no|nr)|v1|")
CRITERIA = re.compile(rf"(?i)({'|'.join(word_list('criteria'))})\w*")
"""Beginnings of words for what people rate."""
AVERAGES = word_list("averages")
SPREADS = word_list("spreads")
TOTALS = word_list("totals")
DERIVED = re.compile(
    r"z|zscores?|scaled|centered|centred|se|log|logrt|norm|normali[sz]ed|residuals?|"
    rf"stats?|ci|lower|upper|predicted|fitted|prob(?=mean)|{'|'.join((*AVERAGES, *SPREADS))}"
)
TIMES = re.compile(
    r"rts?|time|timestamp|tstamp|datetime|date|duration|latency|elapsed|timeelapsed|starttime|endtime|timeinminutes|minutes|"
    r"seconds|ctime|created|submitted|submitdate|startdate|enddate|eventtime"
)
PLATFORM = re.compile("|".join(word_list("platform")))
EPRIME = re.compile(
    r".+\.(OnsetDelay|OnsetTime|OffsetDelay|OffsetTime|RTTime|DurationError|Cycle|Sample)(\[\w+\])?|"
    r"(Procedure|Running)\[.*\]|"
    r"RandomSeed|Display\.RefreshRate|Clock\.Information|ExperimentName"
)
"""What E-Prime logs beside the answer (.RESP) and its time (.RT)."""
OF_ALL = re.compile(r"title|description|annotation|system|version")
"""Names that HITs and browsers share with stimuli: they describe the platform if they do not vary."""
PLACES = re.compile(
    r"(trial|slide|page|screen|question|event|item)?(order|position|index|idx|sequence|seq|pos)|slidenumber.*|"
    r"trial(no|nr|num|number|index|order|sequence.*|count|id)?|presentationorder|order(number.*|ofitem)?|"
    r".*this(trial|rep|total)?(n|index)|.*(trial|slide|page)(nr|num|number|index|counter)|"
    r".*(number|no|nr)?in(the)?(experiment|block|sequence|list)|.*order|.*sequence.*|.*position|count.*trials?"
)
"""Names of columns that count trials."""
LOOPS = re.compile(r".*this(trial|rep|total)?(n|index)")
"""Names of columns in which PsychoPy counts the rounds of a loop."""
LAYOUT = re.compile(
    r"blocks?|block(n|seq|order|id|index).*|list|listn.*|listid|group|session|version|side|sides|.*side|left|right|speaker.*|.*gender|font|colou?r|(subject|person)?name|(answer)?person[a-d1-4]s?|voiceover|run|round|rep|repetition|(is)?replicate|is(repeat(ed)?|duplicate)|error"
)
"""Names of columns on how or when something was shown, not on what was judged."""


def words_of(name: str) -> list[str]:
    """The words in a column's name.

    >>> words_of("sliderResponse"), words_of("raw.judgment"), words_of("Answer.time_in_minutes")
    (['slider', 'response'], ['raw', 'judgment'], ['answer', 'time', 'in', 'minutes'])
    """
    apart = re.sub(r"(?<=[a-zà-ÿ0-9])(?=[A-Z])", "_", bare_name(name))
    return [word for word in re.split(r"[\W\d_]+", apart.lower()) if word]


@dataclass(frozen=True)
class Content:
    """A column and its content."""

    name: str
    cells: pl.Series
    """The cells as text, without codes for missing values."""

    @cached_property
    def plain(self) -> str:
        """The name without case and signs."""
        return plain(self.name)

    @cached_property
    def values(self) -> list[str]:
        """The distinct values, at most a few thousand of them."""
        return [str(value) for value in self.cells.drop_nulls().unique(maintain_order=True).head(5000).to_list()]

    @cached_property
    def distinct(self) -> int:
        """The number of distinct values."""
        return self.cells.drop_nulls().n_unique()

    @cached_property
    def filled(self) -> float:
        """The share of rows with a value."""
        return 1 - self.cells.null_count() / max(len(self.cells), 1)

    @cached_property
    def numbers(self) -> pl.Series:
        """The cells as numbers; null for other cells."""
        if self.cells.dtype == pl.String and self.cells.drop_nulls().head(200).str.contains(r"^-?\d+,\d+$").any():
            return self.cells.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
        return self.cells.cast(pl.Float64, strict=False)

    @cached_property
    def is_number(self) -> bool:
        """Whether every value is a number."""
        return self.distinct > 0 and self.numbers.null_count() == self.cells.null_count()

    @cached_property
    def is_whole(self) -> bool:
        """Whether every value is a whole number."""
        numbers = self.numbers.drop_nulls()
        return self.is_number and bool((numbers == numbers.round()).all())

    @cached_property
    def is_text(self) -> bool:
        """Whether the values are running text: several words each, or markup."""
        sample = self.values[:200]
        long = [value for value in sample if len(value.split()) >= 3 or "<" in value]
        return bool(sample) and len(long) > 0.6 * len(sample)

    @cached_property
    def are_person_codes(self) -> bool:
        """Whether the values look like codes for people."""
        sample = self.values[:200]
        return len(sample) > 1 and all(PERSON_CODE.fullmatch(value) for value in sample)

    @cached_property
    def functions(self) -> dict[str, str]:
        """The item function of each value that names one."""
        if self.distinct > FEW_LEVELS:
            return {}
        bare = {value: re.sub(r"[\W_]", "", value.lower()) for value in self.values}
        if {"bad", "badref"} & {*bare.values()} and {*bare.values()} <= {*_OF_SYSTEMS, "system", "tgt"}:
            return {value: _OF_SYSTEMS.get(word, "test") for value, word in bare.items()}
        words = {value: word for value in self.values if (word := function_word(value)) is not None}
        # Beside critical trials, a test checks whether participants understood.
        checks = [value for value in words if bare[value] == "test" and "critical" in bare.values()]
        return words | dict.fromkeys(checks, "control")

    @cached_property
    def are_means(self) -> bool:
        """Whether numbers are thirds, quarters, sevenths and so on: averages of different numbers of answers.

        A scale rescaled to 0 to 1 has fractions of a single number.
        """
        long = [float(value) for value in self.values if re.fullmatch(r"-?\d+\.\d{6,}", value)]
        if not long or not self.is_number:
            return False
        parts = [value for value in long if any(_is_part(value, n) for n in range(2, MOST_AVERAGED))]
        every = [float(value) for value in self.values]
        one = any(all(_is_part(value, n) for value in every) for n in range(2, MOST_POINTS))
        return not one and len(parts) >= MOSTLY * len(long)

    @property
    def is_about_people(self) -> bool:
        """Whether the name describes or identifies a participant."""
        bare = plain(re.sub(r"^Answer\.", "", self.name))
        return names_a_person(self.name) or describes_a_person(bare)

    @property
    def is_other(self) -> bool:
        """Whether the column holds platform data, times, derived numbers or positions rather than the design."""
        words = words_of(self.name)
        # PsychoPy puts the name of a component before its data: answer_RT.keys are keys.
        field_words = words_of(self.name.rpartition(".")[2]) or words
        return bool(
            PLATFORM.fullmatch(self.plain)
            or EPRIME.fullmatch(self.name)
            or (OF_ALL.fullmatch(self.plain) and self.distinct < 2)
            or TIMES.fullmatch(self.plain)
            or any(TIMES.fullmatch(word) for word in field_words)
            or (self.is_number and any(DERIVED.fullmatch(word) for word in words))
            or self.are_means
        )


MOST_AVERAGED, MOST_POINTS, MOSTLY = 30, 12, 0.9


def _is_part(value: float, n: int) -> bool:
    """Whether a number is a multiple of 1/n to six decimal places."""
    return abs(value * n - round(value * n)) < n * 1e-6


@dataclass
class Contents:
    """The columns of a table by name."""

    frame: pl.DataFrame

    def __post_init__(self) -> None:
        frame = self.frame
        self.frame = frame.with_columns(
            pl.when(~pl.col(name).is_in(MISSING)).then(pl.col(name)).alias(name)
            for name, dtype in frame.schema.items() if dtype == pl.String
        ).with_columns(pl.col(pl.Boolean).cast(pl.String))  # fmt: skip
        self._columns = {name: Content(name, self.frame[name]) for name in frame.columns}

    def __getitem__(self, name: str) -> Content:
        return self._columns[name]

    def __iter__(self) -> Iterator[Content]:
        return iter(self._columns.values())

    @property
    def columns(self) -> list[Content]:
        """The columns in the order of the table."""
        return list(self._columns.values())

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    @cached_property
    def codes(self) -> pl.DataFrame:
        """The first rows, with every value as a whole number: fast to compare."""
        head = self.frame.head(FIRST_ROWS)
        return head.select(
            pl.col(name).cast(pl.String).fill_null("\0").cast(pl.Categorical).to_physical().alias(name)
            for name in head.columns
        )

    def combinations(self, names: Sequence[str]) -> int:
        """The number of distinct combinations of values in some columns."""
        names = list(dict.fromkeys(names))
        if not names:
            return 1
        return self.codes[names[0]].n_unique() if len(names) == 1 else self.codes.select(names).n_unique()

    def follows(self, name: str, keys: Sequence[str]) -> bool:
        """Whether a column is constant within each combination of values of some others."""
        return self.combinations([*keys, name]) == self.combinations(keys)

    def varies_within(self, name: str, key: str) -> bool:
        """Whether a column has different values within most values of another."""
        both, one = self.combinations([key, name]), self.combinations([key])
        return both > 1.2 * one
