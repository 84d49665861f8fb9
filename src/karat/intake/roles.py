"""The roles of the columns of a table: participants, items, answers. Names suggest, content decides, the user confirms.

A role is certain if karat knows the column's name for it and its content fits. Everything else is a proposal, and the
reading waits until the user confirms it (see `karat.intake.reading`).

The item is the smallest set of columns that distinguishes all stimuli: a single column if one is enough, or else
several together (`verb+content`). Columns that describe participants, positions, times, platforms and answers are not
part of the design. Answers are recognised by their distribution: a design gives every participant each level equally
often, while answers vary.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import polars as pl

from karat.intake.content import (
    FEW_LEVELS,
    LAYOUT,
    LOOPS,
    MISSING,
    PLACES,
    ROW_NUMBERS,
    SPARSE,
    Content,
    Contents,
    flagged_function,
    function_word,
    words_of,
)
from karat.intake.guess import NAMES, are_rankings, are_verdicts, guess_columns, joined, plain, without_unit
from karat.intake.personal import OF_ITEMS_TOO, describes_a_person
from karat.intake.reading import Proposal, Question
from karat.intake.words import word_list
from karat.judgments.columns import FUNCTIONS
from karat.judgments.times import UNIX_2000, instants
from karat.messages import Message

PERSON_WORDS = word_list("person_words")
PERSON_IDS = word_list("person_ids")
FEWEST_PEOPLE = 5
"""A column with fewer values is taken as the participant only if there is no other candidate."""
VERSION = re.compile(r"(?i)[psv]\d{1,2}")
"""A code of one of a few versions or people, such as v1."""
ITEM_WORDS = word_list("item_words")
ITEM = ("item", "položka", "项目", "項目", "항목")
"""The word for an item to which several sentences belong; a single sentence has another name."""
NUMBERED_ITEMS = ("itemid", "itemnumber", "itemno", "itemnr", "itemnum")
NUMBERED_STIMULI = ("stim", "stimulus", "sentence", "sent", "satz", "pair", "vignette", "story", "scenario")
"""Names of columns whose numbers are those of stimuli, even in a file sorted by them."""
EXPERIMENTS = ("exp", "expt", "experiment", "subexperiment", "subexp", "study", "substudy", "expname", "experimentname")
"""Names of columns that distinguish experiments run together, each of which numbers its items from 1."""
ANSWER_WORDS = word_list("answer_words")
ANSWER_STEMS = re.compile(
    r"judge?m?e?n?t?|rating|accept\w*|natural\w*|grammatical\w*|likert\w*|bewert\w*|urteil\w*|estimat\w*|"
    r"offensive\w*|toxicity|politeness|fluency|coherence|funniness|similarity|relatedness|typicality|appropriateness"
)
"""Words in the names of answer columns, also if other words follow."""
CHOSEN = re.compile(
    r"(chosen|selected|picked|winner|winning|preferred|response|answer)[_. ]?\w*"
    r"(cond\w*|type|version|item|structure|variant)"
)
"""Names of columns that interpret an answer, such as the condition that was chosen."""
CHOICE_MADE = "chosen|selected|picked|preferred"
"""The last word in the names of columns that mark the option chosen among several rows."""
NO_ANSWERS = re.compile(
    r".*(correct|accuracy|expected|gold|truth|confidence|comments?|feedback|enjoyment|asses|language|time|condition|"
    r"type|options?|labels?list)"
)
NO_ANSWER_WORDS = (
    "acc", "corr", "rt", "rts", "order", "rule", "key", "time", "condition", "type", "start", "end", "onset", "offset",
)  # fmt: skip
"""Last words of columns beside the answers: accuracy, response time, options, time of day."""
QUESTION_NAMES = word_list("question_names")
DIMENSIONS = word_list("dimensions")
WEAK_ANSWERS = ("label", "value", "score", "annotation", "selected", "choice")
VAGUE_ANSWERS = ("value", "score", "annotation", "selected")
"""Names that many kinds of columns have: they are proposed, never certain."""
CERTAIN_ANSWERS = ("response", "answer", "rating", "judgment", "judgement")
CHECK_WORDS = {"attention", "attn", "attncheck", "catch", "check", "comprehension", "comp", "bot", "manipulation"}
"""Words in the names of columns with answers to comprehension questions and attention checks."""
WEAK_ITEMS = ("task", "taskid", "question", "questionid", "example", "tid")
WORKERS = ("worker", "workerid")
"""Names for crowd workers: beside them, a task is an item."""
SHEET = "sheet"
"""The column with the name of the sheet of each row, if several sheets are read together."""
OWN_FILE = "results_file"
"""The column with the name of the file of each row, if a study comes in several files."""
FUNCTION_NAMES = word_list("function_names")
LIST_NAMES = ("list", "group")
BESIDE_LISTS = {"filler", "practice", "attention"}
"""Functions of trials that all lists share; control may be a list or a group of its own."""
ACCURACY = ("accuracy", "acc", "correct", "iscorrect", "responseaccuracy", "answeraccuracy")
ACCURACY_ENDINGS = (["acc"], ["accuracy"], ["corr"])
SCALE_NAMES = ("answertype", "responsetype", "scaletype", "answerformat", "responseformat", "answerscale")
"""Names of columns that hold the scale of each answer."""
SESSION_NAMES = ("session", "survey", "visit", "run", "list", "part", "phase", "block", "wave", "day", "assignmentid")
FEWEST_IN_LIST = 0.5
FEWEST_FILLED = 0.05
DESIGNED = 0.4
"""Below this dispersion, a design gives every participant each level equally often."""
FREE = 0.7
"""Above this dispersion, nothing fixes how often a participant has each level."""
FEWEST_SHARED = 0.2
"""The share of participants two groups must have in common if each group is numbered on its own."""
PAIR = 2
FEW_WORDS = 7
PHRASE = 2
OVERDISPERSED = 1.5
"""Above this dispersion, participants differ so much in how often they have each level that it is an answer."""
MOST_LEVELS = 11
MOST_TEXTS = 6
MOST_NUMBERED = 20
"""A number with more values is a slider or identifies items."""
MOST_FACTOR_LEVELS = 4
"""A column with more levels may be part of the item even if it is crossed with the rest."""
MOST_QUESTIONS = 8
MORE_ANSWERS = 1.5
FEWEST_ANSWERS = 5
"""A column with fewer points may be a factor of the design."""
MOST_PARTS = 5
FEWEST_ROWS = 20
DETAILS = {
    "participant": "ask.participant_choice",
    "item": "ask.item_choice",
    "response": "ask.response_choice",
}
"""The message of each proposal. Values of participants are never shown."""
NEARLY = 0.97
UNMISTAKABLE = re.compile(r"(?i)practi[cs]e|filler|attention")
"""Words that name a function even among a few items, which may be called train or catch."""
LONGEST_CODE = 4
"""Shorter words in a file's name are codes, such as exp1; longer ones mean something."""
MOST_FUNCTIONS = 40
NUMBERED = re.compile(r"[^\W\d_]+[\W_]*\d+")
"""A word with a number, such as example1 or control_2."""
PREFIX = re.compile(r"^([^\W\d_]+)(?=\d*[_\-.]\w)")
"""The first of several words that signs join, as in filler_dog and train-12-a; blanks separate the words of a text."""
PLACE = re.compile(r"(?i)(trial|slide|page|screen|position)[\W_]*\d+")
"""A numbered place in the questionnaire, such as Trial7."""
FLAGS = (("no", "yes"), ("false", "true"), ("0", "1"), ("n", "y"), ("nein", "ja"), ("non", "oui"), ("0.0", "1.0"))
"""The values of a column that marks some trials: first for the other trials, then for the marked ones."""
MARKED = r"</?[a-z]{1,6}>"
"""Marks around parts of a text, such as <v> and </v> around an error."""
CHECKS, MOST_CHECKS = ("attention", "control", "calibration"), 1 / 3
"""Functions that only a few trials have, and the largest share of trials that a column may mark as such."""
ONE_PERSON = 0.9
UNIQUE = 0.98
"""A column whose distinct values exceed this share of the rows has one value per row."""
FEWEST_TIMED = 2
MOSTLY = 0.8
FEWEST_PER_TRIAL = 3
"""With this many rows per position, a trial has several answers."""
MOST_TICKED = 4
ANSWERED = 0.9
FEWEST_ITEMS = 8
FEWEST_MET = 0.1
"""Participants meet at least this share of the items on average."""
FEWEST_SEEN = 3
"""A level follows from a text only if there are this many texts per level and rows per text."""


@dataclass
class Roles:
    """The source column of each of karat's columns, the open questions, and the assumptions."""

    mapping: dict[str, str] = field(default_factory=dict)
    open: list[Question] = field(default_factory=list)
    functions: dict[str, str] = field(default_factory=dict)
    """The item function that each value stands for."""
    notes: list[Message] = field(default_factory=list)
    contents: Contents | None = None


def find_roles(frame: pl.DataFrame, mapping: Mapping[str, str], file: str = "") -> Roles:
    """The roles of the columns of a table; the given mapping is taken as it is.

    A file is often named after its answers.
    """
    return _RoleSearch(frame, mapping, file).result()


def shown_items(shown: pl.DataFrame, answers: Mapping[str, Sequence[str | None]]) -> tuple[list[str], list[Question]]:
    """The columns that distinguish stimuli if a tool's file names no item, and the questions to ask about them.

    Parameters
    ----------
    shown
        The study's own columns, one row per answer.
    answers
        What the reader knows about each answer: participant, response and perhaps question.
    """
    columns = {role: pl.Series(f" {role}", values, dtype=pl.String) for role, values in answers.items()}
    roles = find_roles(shown.with_columns(columns.values()), {role: cells.name for role, cells in columns.items()})
    parts = joined(roles.mapping.get("item", ""), shown.columns)
    questions = [question for question in roles.open if question.role == "item"]
    return [part for part in parts if part in shown.columns], questions


def is_native(frame: pl.DataFrame, mapping: Mapping[str, str]) -> bool:
    """Whether a table needs no search: it has karat's own names, the user mapped its columns, or it is tiny.

    A few rows do not show what a column is; their names decide, as far as karat knows them.
    """
    by_name = guess_columns(frame.columns, dict(mapping))
    choice = {"left", "right"} <= set(by_name)
    needed = [role for role in ("participant", "item", "response") if not (role == "item" and choice)]
    if all(mapping.get(role, role) == role and role in frame.columns for role in needed):
        # Numbers and words answer different questions, which another column may distinguish.
        counts = frame.group_by(pl.col("response").cast(pl.String), maintain_order=True).len()
        counts = counts.filter(~pl.col("response").is_in(MISSING))
        number = Content("response", counts["response"]).numbers.is_not_null()
        numbers, words = (int(part["len"].sum()) for part in (counts.filter(number), counts.filter(~number)))
        mixed = FEW_NUMBERS < numbers / max(numbers + words, 1) < 1 - FEW_NUMBERS and "question" not in frame.columns
        chosen = not choice and _shows_sides(frame, [name for name in frame.columns if name not in needed])
        functions = "function" not in by_name and _mark_functions(frame)
        return frame.height < FEWEST_ROWS or not (mixed or functions or chosen)
    return frame.height < FEWEST_ROWS and all(role in by_name for role in needed)


def _shows_sides(frame: pl.DataFrame, names: Sequence[str]) -> bool:
    """Whether the answers name a side, such as A and B, and two of the columns show what was on either side."""
    answers = Content("response", frame["response"])
    if answers.distinct > MOST_LEVELS or not sides_of(answers.values):
        return False
    columns = [Content(name, frame[name]) for name in names]
    return any(shown_sides(answers, columns, sides) for sides in SIDES)


def _mark_functions(frame: pl.DataFrame) -> bool:
    """Whether a column under another name marks some trials as fillers, practice or checks."""
    candidates = [n for n in frame.columns if plain(n) in FUNCTION_NAMES or "type" in words_of(n)]
    return any(BESIDE_LISTS & set(Content(name, frame[name]).functions.values()) for name in candidates)


FEW_NUMBERS = 0.1
RECEIVED = re.compile(r"reception|timeresultswerereceived|^time$")


class _RoleSearch:
    def __init__(self, frame: pl.DataFrame, mapping: Mapping[str, str], file: str = "") -> None:
        self.contents = Contents(frame)
        self.file_words = words_of(file)
        self.mapping = dict(mapping)
        self.roles = Roles(dict(mapping), contents=self.contents)
        self.taken = {name for source in mapping.values() for name in joined(source, frame.columns)}
        self.by_name = guess_columns(frame.columns, dict(mapping))
        self.rows = frame.height
        self.levels: dict[str, float] = {}

    def result(self) -> Roles:
        """All roles, one after the other: each leaves fewer columns for the next."""
        self._participant()
        self._functions()
        self._times()
        self._response()
        self._time_of_answer()
        self._answered_only()
        self._with_items_only()
        self._positions()
        self._sides()
        self._item()
        self._named()
        self._others()
        mapping = self.roles.mapping
        self.roles.mapping = {role: mapping[role] for role in NAMES if role in mapping} | mapping
        return self.roles

    # -- helpers

    def _free(self) -> list[Content]:
        return [self.contents[name] for name in self.contents.names if name not in self.taken]

    def _take(self, role: str, source: str) -> None:
        self.roles.mapping[role] = source
        self.taken |= set(joined(source, self.contents.names))

    def _take_question(self, source: str, code: str = "role.question") -> None:
        self._take("question", source)
        self._note(code, column=source)

    def _note(self, code: str, **values: object) -> None:
        self.roles.notes.append(Message(code, values))

    def _ask(self, role: str, options: Sequence[Sequence[str]]) -> None:
        """Ask which of the first three options is the role; each option is one column or several."""
        self.roles.open.append(Question(role, tuple(self._choice(role, list(parts)) for parts in options[:3])))

    def _propose(self, role: str, columns: Sequence[Content]) -> None:
        self._take(role, columns[0].name)
        self._ask(role, [[content.name] for content in columns])

    def _columns_of(self, role: str) -> list[str]:
        source = self.roles.mapping.get(role, "")
        return joined(source, self.contents.names) if source else []

    @property
    def person(self) -> list[str]:
        """The columns of the participant, if they are known."""
        return self._columns_of("participant")

    @property
    def question(self) -> list[str]:
        """The columns of the question, if the form of the table or the user names them."""
        return self._columns_of("question")

    @property
    def answers(self) -> Content | None:
        """The column of the answers, if it is known."""
        source = self.roles.mapping.get("response")
        return None if source is None or source not in self.contents.names else self.contents[source]

    def _of_person(self, content: Content) -> bool:
        """Whether a column is the same in all rows of each participant; with one row each, this shows nothing."""
        if not self.person or self.contents.combinations(self.person) >= NEARLY * self.contents.codes.height:
            return False
        return self.contents.follows(content.name, self.person)

    def _dispersion(self, content: Content) -> float:
        """How much participants differ in how often they have each value, relative to chance."""
        if content.name not in self.levels:
            self.levels[content.name] = self._computed_dispersion(content)
        return self.levels[content.name]

    def _computed_dispersion(self, content: Content) -> float:
        codes = self.contents.codes
        if not self.person or content.distinct < 2:
            return 0.0
        value = pl.col(content.name)
        if content.is_number and content.distinct > MOST_LEVELS:
            ranks = self.contents.frame.head(codes.height)[content.name].cast(pl.Float64, strict=False).rank()
            codes = codes.with_columns((ranks * 5 / max(codes.height, 1)).floor().fill_null(-1).alias(content.name))
        for name in self.question:
            # A stimulus recurs with each question about it, so it would seem to vary more than by chance.
            codes = codes.filter(pl.col(name) == pl.col(name).mode().min())
        who = codes.select(pl.struct(self.person).rank("dense").alias("who"), value.alias("v"))
        counts = who.group_by("who", "v").len()
        total = who.group_by("who").len().rename({"len": "n"})
        share = who.group_by("v").agg((pl.len() / who.height).alias("q"))
        full = (
            total.join(share, how="cross")
            .join(counts, on=["who", "v"], how="left")
            .with_columns(pl.col("len").fill_null(0))
        )
        squares = full.select(((pl.col("len") - pl.col("n") * pl.col("q")) ** 2).sum()).item()
        expected = full.select((pl.col("n") * pl.col("q") * (1 - pl.col("q"))).sum()).item()
        return float(squares / expected) if expected else 0.0

    # -- roles

    def _participant(self) -> None:
        if "participant" in self.mapping:
            return
        ranks: dict[str, tuple[float, ...]] = {}
        for content in self._free():
            name = content.plain
            exact = name in NAMES["participant"]
            word = any(part in PERSON_WORDS for part in words_of(content.name)) and not content.is_text
            loose = name in PERSON_IDS or content.are_person_codes or content.name == OWN_FILE
            if not (exact or word or loose) or content.filled < FEWEST_IN_LIST or content.distinct < 1:
                continue
            if not (exact or word) and content.distinct < FEWEST_PEOPLE and all(map(VERSION.fullmatch, content.values)):
                continue
            if are_verdicts(content.cells) or (
                not exact and content.name != OWN_FILE and self._is_once_per_file(content)
            ):
                continue
            if name in PERSON_IDS and not content.are_person_codes and self._numbers_texts(content):
                continue
            repeats = content.filled * self.rows / content.distinct
            alone = repeats < 1.5 or content.distinct == self.rows
            if alone and not (exact and content.filled > ANSWERED and self._has_one_answer()):
                continue
            people = sum(
                other.is_about_people and other.distinct > 1 and self.contents.follows(other.name, [content.name])
                for other in self._free()
            )
            rest = [name for name in self.contents.names if name != content.name]
            varied = alone or any(self.contents.varies_within(other, content.name) for other in rest)
            if not varied or (content.distinct == 1 and not exact):
                continue
            rank = NAMES["participant"].index(name) if exact else 99
            # With few values, the column may be a type, such as that of a sentence's subject.
            few = not exact and content.distinct < FEWEST_PEOPLE
            doubts = (content.filled < 0.9, not exact, alone)
            ranks[content.name] = (*doubts, few, -people, not word, content.distinct == 1, rank)
        possible = [self.contents[name] for name in ranks]
        candidates = [content for content in possible if not self._holds_verdicts(content, possible)]
        candidates.sort(key=lambda content: ranks[content.name])
        if not candidates or (ranks[candidates[0].name][1] and self._shares_hashes(candidates[0])):
            self._participant_of_ibex()
            self._participant_by_trials()
            return
        best, *others = candidates
        group = SHEET if self._counts_anew(best) else self._group_of_people(best)
        if group:
            self._take("participant", f"{group}+{best.name}")
            self._ask("participant", [[group, best.name], [best.name]])
            return
        self._take("participant", best.name)
        twins = [content.name for content in others if self._same(content.name, best.name)]
        if any(ranks[best.name][:3]):
            self._ask("participant", [[c.name] for c in candidates if c.name not in twins])
        self.taken |= set(twins)
        self._skip_empty_participants(best.name)

    def _skip_empty_participants(self, used: str) -> None:
        empty = [c for c in self._free() if c.plain in NAMES["participant"] and c.filled < FEWEST_IN_LIST]
        for content in empty:
            self.taken.add(content.name)
            share = round(100 * (1 - content.filled))
            self._note("role.empty_participant", column=content.name, share=share, used=used)

    verdicts: str = ""
    """A column that is called judge but holds verdicts."""

    def _holds_verdicts(self, content: Content, rivals: Sequence[Content]) -> bool:
        """Whether a column called judge holds verdicts: few values, which recur on every item.

        A judge judges each item once. This shows if other columns may be the participants, or if no other column is
        called like an answer.
        """
        if "judge" not in words_of(content.name) or content.distinct > MOST_LEVELS:
            return False
        others = [c for c in self._free() if c is not content]
        answered = any(_says_answer(c) and c.distinct > 1 for c in others)
        within = [c for c in rivals if c is not content and self.contents.varies_within(content.name, c.name)]
        once = ANSWERED * self.contents.codes.height
        shared = [c.name for c in others if 2 * c.distinct <= self.rows]
        if (answered and not within) or any(self.contents.combinations([content.name, n]) >= once for n in shared):
            return False
        self.verdicts = content.name
        return True

    def _counts_anew(self, content: Content) -> bool:
        """Whether participants are numbered from 1 on each sheet of a workbook, so that 1 is several people."""
        if SHEET not in self.contents.names or not content.is_whole:
            return False
        sheets = pl.DataFrame({"sheet": self.contents[SHEET].cells, "n": content.numbers}).drop_nulls()
        numbers = sheets.group_by("sheet").agg(
            pl.col("n").min().alias("low"), pl.col("n").max().alias("high"), pl.col("n").n_unique().alias("people")
        )
        complete = (numbers["low"] == 1) & (numbers["high"] == numbers["people"]) & (numbers["people"] > 1)
        return numbers.height > 1 and bool(complete.all())

    def _group_of_people(self, content: Content) -> str | None:
        """A column of a fixed trait, such as age (adult, child), if many participants have several of its levels."""
        for other in self._free():
            is_trait = describes_a_person(other.name) and other.plain not in OF_ITEMS_TOO
            if is_trait and not other.is_number and 1 < other.distinct <= MOST_FACTOR_LEVELS and other.filled > NEARLY:
                both = self.contents.combinations([other.name, content.name]) - content.distinct
                if both >= FEWEST_SHARED * content.distinct:
                    return other.name
        return None

    def _is_once_per_file(self, content: Content) -> bool:
        """Whether a column differs in every row of a file: it numbers items, not participants."""
        if OWN_FILE not in self.contents.names:
            return False
        return self.contents.combinations([content.name, OWN_FILE]) >= NEARLY * self.contents.codes.height

    def _numbers_texts(self, content: Content) -> bool:
        """Whether recurring texts always have the same id: it is theirs, as several people judge a text."""
        texts = [c.name for c in self._free() if c is not content and c.is_text and 2 * c.distinct <= self.rows]
        return any(self.contents.follows(content.name, [name]) for name in texts)

    def _has_one_answer(self) -> bool:
        """Whether exactly one column has the name of an answer: a row with its own participant is then a trial."""
        candidates = [c for c in self._free() if c.plain in NAMES["response"] and c.distinct > 1]
        return len(candidates) == 1

    def _shares_hashes(self, content: Content) -> bool:
        """Whether several people share the hash of an address: results under it came at several times."""
        times = [c.name for c in self._free() if RECEIVED.search(c.plain) and c.is_whole]
        if not times or not all(re.fullmatch(r"[0-9a-f]{32}", value) for value in content.values[:20]):
            return False
        both = self.contents.combinations([times[0], content.name])
        return content.distinct < both <= self.rows / 3

    def _participant_of_ibex(self) -> None:
        """Take the time of reception and the hash of the address, by which Ibex identifies people."""
        plainly = {content.plain: content.name for content in self._free()}
        hashes = [name for key, name in plainly.items() if "md5" in key or key == "hash"]
        times = [name for key, name in plainly.items() if RECEIVED.search(key)]
        if hashes and times:
            self._take("participant", f"{times[0]}+{hashes[0]}")
            self._ask("participant", [[times[0], hashes[0]]])

    def _participant_by_trials(self) -> None:
        """Take codes without a telling name of which each has several items, and each item at most once."""
        if "participant" in {*self.roles.mapping, *self.by_name}:
            return
        items = [c for c in self._free() if (c.is_text or self._names_items(c)) and c.distinct >= FEWEST_ITEMS]
        items = [c for c in items if c.distinct <= self.rows / PAIR]
        for content in self._free():
            are_codes = all(re.search(r"\d", value) for value in content.values) and not content.is_text
            if not are_codes or content in items or not FEWEST_PEOPLE <= content.distinct <= self.rows / FEWEST_ITEMS:
                continue
            if content.is_other or PLACES.fullmatch(content.plain) or LAYOUT.fullmatch(content.plain):
                continue
            varying = [item for item in items if self.contents.varies_within(item.name, content.name)]
            least = NEARLY * self.contents.codes.height
            if any(self.contents.combinations([content.name, item.name]) >= least for item in varying):
                self._propose("participant", [content])
                return

    def _same(self, one: str, other: str) -> bool:
        return self.contents.follows(one, [other]) and self.contents.follows(other, [one])

    def _functions(self) -> None:
        """Take a column whose values all name item functions, or one with a level called filler or practice."""
        if "function" in self.mapping:
            return
        whole, part = [], []
        several = joined(self.mapping.get("item", ""), self.contents.names)
        joint = [self.contents[name] for name in several if len(several) > 1]
        for content in [*self._free(), *joint]:
            named = content.plain in FUNCTION_NAMES or "type" in words_of(content.name)
            exact = content.plain in NAMES["function"]
            words = self._known_functions(content, is_named=named or exact)
            of_person = self._of_person(content) and not (exact and content.distinct == 1)
            if not words or content.distinct > MOST_FUNCTIONS or of_person or content.is_text:
                if exact and content.distinct and not of_person:
                    values = content.values[:4]
                    self._note("role.no_function", column=content.name, values=values, n=content.distinct)
                continue
            every = len(words) == content.distinct and (len(set(words.values())) > 1 or exact)
            marked = {word for word in words.values() if word != "test"}
            if every and (named or exact or len(marked) > 0):
                whole.append((not exact, not named, words, content))
            elif marked and (content.plain not in LIST_NAMES or marked <= BESIDE_LISTS):
                part.append((not exact, not named, -len(words), words, content))
        chosen = min(whole, key=lambda one: one[:-2], default=None) or min(part, key=lambda one: one[:-2], default=None)
        if chosen is None:
            if not self._functions_by_flag():
                self._functions_of_items()
            return
        words, content = chosen[-2:]
        if not chosen[0] and set(map(str.lower, content.values)) <= set(FUNCTIONS):
            self._take("function", content.name)
            return
        functions = {value: words.get(value, "test") for value in content.values} | self._functions_by_cells(content)
        self._take_functions(*self._with_functions_of_rest(content, functions))
        if chosen in whole or not chosen[1] or content.plain in LIST_NAMES:
            self.taken.add(content.name)

    def _known_functions(self, content: Content, *, is_named: bool) -> dict[str, str]:
        """The levels of a column that name functions; only a column named after them may do so in phrases."""
        # A phrase with such a word, such as "with training", is a level of something else.
        words = {
            v: f for v, f in content.functions.items()
            if is_named or len(v.split()) < PHRASE or flagged_function(words_of(v))
        }  # fmt: skip
        if "control" in words.values() and self._is_baseline(content, words):
            words = {value: function for value, function in words.items() if function != "control"}
        return words if is_named else self._without_judged(content, words)

    def _without_judged(self, content: Content, functions: Mapping[str, str]) -> dict[str, str]:
        """The functions without words such as train or anchor that are judged like many others, and no more often.

        Among a few items, practice and filler mean what they say.
        """
        bare = [value for value in content.values if re.fullmatch(r"[^\W\d]+", value)]
        few = content.distinct <= MOST_LEVELS
        if not bare or (few and not self._names_items(content)) or len(bare) < MOSTLY * content.distinct:
            return dict(functions)
        rows = dict(content.cells.value_counts().iter_rows())
        usual = content.cells.count() / content.distinct
        judged = [v for v in bare if ONE_PERSON * rows.get(v, 0) <= usual and not (few and UNMISTAKABLE.search(v))]
        return {v: f for v, f in functions.items() if v not in judged}

    def _is_baseline(self, content: Content, functions: Mapping[str, str]) -> bool:
        """Whether control is a condition: the same named items appear in it and in the other levels.

        Numbers of items may restart for control items, so they show nothing.
        """
        levels = [value for value, function in functions.items() if function == "control"]
        rows = content.cells.is_in(levels).fill_null(False)
        for other in self._free():
            if other is content or not self._names_items(other) or other.is_number or other.distinct < FEWEST_SEEN:
                continue
            control = set(other.cells.filter(rows).drop_nulls().unique())
            rest = set(other.cells.filter(~rows).drop_nulls().unique())
            if len(control) >= FEWEST_SEEN and len(control & rest) >= NEARLY * len(control):
                return True
        return False

    def _take_functions(self, column: str, functions: dict[str, str]) -> None:
        """Map the column of item functions, and note the values that stand for a function other than test."""
        self.roles.functions, self.roles.mapping["function"] = functions, column
        spelled = [f"{v}={function}" for v, function in functions.items() if function != "test" and " + " not in v]
        self._note("role.functions", column=column, functions=spelled)

    def _with_functions_of_rest(self, content: Content, functions: dict[str, str]) -> tuple[str, dict[str, str]]:
        """The column of functions and its values, joined with another that names functions in the other rows.

        The first must say test or nothing there, and one of the two must be empty where the other names functions: a
        condition called control fills all its rows.
        """
        marked = content.cells.replace_strict(functions, default="test", return_dtype=pl.String) != "test"
        marked = marked.fill_null(False)
        for other in self._free():
            if other is content or other.is_text or self._of_person(other):
                continue
            words = self._without_judged(other, other.functions)
            if not set(words.values()) - {"test"}:
                continue
            named = other.cells.replace_strict(words, default="test", return_dtype=pl.String) != "test"
            named = named.fill_null(False)
            apart = not content.cells.filter(named).count() or not other.cells.filter(marked).count()
            if not apart or not (named & ~marked).any():
                continue
            more = {value: words.get(value, "test") for value in other.values}
            pairs = ((one, word, two) for one, word in functions.items() for two in more)
            both = {f"{one} + {two}": word if word != "test" else more[two] for one, word, two in pairs}
            return f"{content.name}+{other.name}", {**more, **functions, **both}
        return content.name, functions

    def _functions_by_flag(self) -> bool:
        """Take a column such as practice or is_filler that says yes in trials of that function; False without one."""
        marks: dict[str, pl.Series] = {}
        by_column: dict[str, tuple[str, dict[str, str]]] = {}
        for content in self._free():
            function = flagged_function(words_of(content.name))
            values = {value.strip().lower(): value for value in content.values}
            no = next((low for low, high in FLAGS if {low, high} == set(values)), None)
            if function is None or no is None or self._of_person(content):
                continue
            marks[content.name] = (content.cells != values[no]).fill_null(False)
            functions = {value: "test" if low == no else function for low, value in values.items()}
            by_column[content.name] = function, functions
        for name, (function, functions) in by_column.items():
            others = [other for other, (another, _) in by_column.items() if another != function]
            both = any((marks[name] & marks[other]).any() for other in others)
            share = marks[name].sum() / self.contents[name].cells.drop_nulls().len()
            if function in CHECKS and (both or share > MOST_CHECKS):
                continue  # The column may be a question, such as how much attention an event draws.
            self._take_functions(name, functions)
            self.taken.add(name)
            return True
        return False

    def _functions_of_items(self) -> None:
        """Take items that are named after their function: example1 and control2 among many others, or filler_dog_a."""
        names = self._columns_of("item")[:1]
        for content in [*(self.contents[name] for name in names), *self._free()]:
            if content.is_text or content.is_number or self._of_person(content):
                continue
            functions: dict[str, str] = {}
            if content.distinct > MOST_FUNCTIONS:
                words = {value: function_word(re.sub(r"[\W\d_]+", "", value)) for value in content.values}
                functions = {v: word for v, word in words.items() if word is not None and NUMBERED.fullmatch(v)}
            prefixes = {value: part.lower() for value in content.values for part in PREFIX.findall(value)}
            # Compounds such as train_station begin with many words; codes of items begin with a few.
            coded = len(prefixes) >= FEWEST_ITEMS and PAIR * len(set(prefixes.values())) <= len(prefixes)
            if not functions and coded and (content.name in names or self._names_items(content)):
                words = {value: function_word(part) for value, part in prefixes.items()}
                functions = {v: word for v, word in words.items() if word is not None and word in BESIDE_LISTS}
            if functions and 2 * len(functions) <= content.distinct and set(functions.values()) - {"test"}:
                self._take_functions(content.name, {value: functions.get(value, "test") for value in content.values})
                return

    def _functions_by_cells(self, content: Content) -> dict[str, str]:
        """Levels that name no function, but leave the same cells empty as practice or attention trials.

        This shows only if the test items have a word of their own: main, test or critical.
        """
        words = content.functions
        if "test" not in words.values() or len(words) == content.distinct:
            return {}
        others = [name for name in self.contents.names if name != content.name]
        counts = self.contents.frame.group_by(content.name).agg(pl.col(others).null_count() == pl.len())
        empty = {str(level): cells for level, *cells in counts.iter_rows() if level is not None}
        tested = [empty[level] for level, word in words.items() if word == "test" and level in empty]
        functions = {}
        for level, cells in empty.items():
            alike = [words[other] for other in words if words[other] != "test" and empty.get(other) == cells]
            if level not in words and alike and cells not in tested:
                functions[level] = "attention" if "attention" in alike else alike[0]
        return functions

    def _times(self) -> None:
        for role in ("rt", "time"):
            source = self.by_name.get(role)
            if role in self.mapping or source is None or source in self.taken:
                continue
            content = self.contents[source]
            numbers = content.numbers.drop_nulls()
            if role == "time" and len(numbers) and (numbers < UNIX_2000).all():
                # Numbers too small for points in time are response times, or times since the start.
                if "rt" not in self.roles.mapping and not self._rises(content):
                    self._take("rt", source)
                continue
            clock = content.values and all(re.fullmatch(r"\d{1,2}:\d\d(:\d\d([.,]\d+)?)?", v) for v in content.values)
            few = not clock and numbers.len() < 0.9 * content.cells.drop_nulls().len()
            if role == "rt" and (few or self._is_of_session(content)):
                continue
            if role == "time" and self.person and self._of_person(content):
                continue
            if role == "time" and content.distinct and not are_instants(content.values):
                self._note("role.other_content", column=source, values=[cut(value) for value in content.values[:3]])
                continue
            if content.filled > 0:
                self._take(role, source)
        timed = [
            c for c in self._free() if words_of(c.name)[-1:] in (["rt"], ["rts"]) and c.is_number and c.filled > 0.3
        ]
        # Beside the times of words and blocks, the response time is called response_rt or choice_rt.
        answered = [c for c in timed if set(words_of(c.name)[:-1]) & set(ANSWER_WORDS)]
        timed = answered if len(answered) == 1 else timed or [
            c for c in self._free()
            if without_unit(c.name)[1] and c.is_other and c.is_number and c.filled > ANSWERED
            and not self._is_of_session(c) and not self._rises(c)
        ]  # fmt: skip
        if "rt" not in self.roles.mapping and len(timed) == 1:
            self._take("rt", timed[0].name)

    def _is_of_session(self, content: Content) -> bool:
        """Whether a time is the same in all rows of a participant or session, so that it times the whole.

        The working time of a crowd worker with a single row times the whole, too.
        """
        if content.plain.startswith("worktime") and self.contents.combinations(self.person) >= NEARLY * self.rows:
            return True
        keys = [[*self.person, *more] for more in ([], *([c.name] for c in self._free() if c.plain in SESSION_NAMES))]
        rows = self.contents.codes.height
        several = [key for key in keys if key and FEWEST_TIMED * self.contents.combinations(key) <= rows]
        return any(self.contents.follows(content.name, key) for key in several)

    def _is_answer_like(self, content: Content) -> bool:
        if content.is_other or content.is_about_people or self._of_person(content) or content.distinct < 2:
            return False
        beside = _is_beside(content) or bool({*words_of(content.name)[-1:]} & {*NO_ANSWER_WORDS})
        # The pressed key may be a point on a scale.
        beside = beside and not (content.plain == "key" and self._are_points(content))
        if (
            beside
            or PLACES.fullmatch(content.plain)
            or content.filled < 1 - SPARSE
            or words_of(content.name)[-1:] == ["id"]
        ):
            return False
        named = bool({*words_of(content.name)[-1:]} & {*CERTAIN_ANSWERS}) and not content.is_text
        return content.is_number or content.distinct <= FEW_LEVELS or _is_list(content) or named

    def _may_be_response(self, content: Content) -> bool:
        """Whether a column may hold the answers, by its name or by the distribution of its values."""
        exact = content.plain in NAMES["response"]
        if (
            (content.functions and len(content.functions) == content.distinct)
            or (content.is_whole and self._is_position(content))
            or (content.plain in NAMES["expected"] and not self._differs_on_stimuli(content))
        ):
            return False
        if exact:
            is_shown = content.is_text and self._is_of_item(content)
            return content.distinct > 1 and content.filled > FEWEST_FILLED and not is_shown
        worded = content.is_text and not sides_of(content.values[: MOST_LEVELS + 1])
        if not self._is_answer_like(content) or content.plain in (*NAMES["item"], *LIST_NAMES) or worded:
            return False
        if self.person and not self.contents.varies_within(content.name, self.person[0]):
            return False
        spread = self._dispersion(content)
        if (_says_answer(content) or self._are_points(content)) and self._differs_on_stimuli(content):
            return not self._between_lists(content)
        if spread < (DESIGNED if _says_answer(content) else 1) or self._between_lists(content):
            return False
        if _says_answer(content):
            return not self._is_of_item(content)
        return (
            spread >= OVERDISPERSED and (content.is_number or content.distinct <= FEW_WORDS)
            and not self._follows_from_text(content)
        )  # fmt: skip

    def _follows_from_text(self, content: Content) -> bool:
        """Whether a text seen by several participants always has the same value: it was then shown, too."""
        texts = [
            c.name for c in self._free()
            if c is not content and c.is_text and FEWEST_ITEMS <= c.distinct <= self.rows / FEWEST_SEEN
            and c.distinct >= FEWEST_SEEN * content.distinct and c.filled > NEARLY
        ]  # fmt: skip
        return any(self.contents.follows(content.name, [text]) for text in texts)

    def _are_points(self, content: Content) -> bool:
        """Whether a column holds points of a scale that no design assigned: answers, whatever its name is."""
        if not self.person or not content.is_whole or not FEWEST_ANSWERS <= content.distinct <= MOST_LEVELS:
            return False
        low, high = float(str(content.numbers.min())), float(str(content.numbers.max()))
        if low not in (0.0, 1.0) or high > MOST_LEVELS or content.distinct < high - low:
            return False
        if self._names_items(content) or PLACES.fullmatch(content.plain) or LAYOUT.fullmatch(content.plain):
            return False
        is_excluded = content.plain in SESSION_NAMES or content.is_other or content.is_about_people
        return not is_excluded and not self._of_person(content) and self._dispersion(content) >= FREE

    def _differs_on_stimuli(self, content: Content) -> bool:
        """Whether participants have different values although everything that may describe a stimulus is the same."""
        keys = [
            c.name for c in self._free()
            if c is not content and 1 < c.distinct <= 0.5 * self.rows and not c.is_other and not c.is_about_people
            and not (c.is_number and (not c.is_whole or c.distinct > MOST_LEVELS) and not self._names_items(c))
            and not PLACES.fullmatch(c.plain) and c.name != self.by_name.get("trial")
            and not _says_answer(c) and not _is_beside_the_answer(c)
            and not CHOSEN.fullmatch(c.name.lower()) and not LAYOUT.fullmatch(c.plain) and not self._of_person(c)
            and not self._are_points(c)
        ]  # fmt: skip
        codes = self.contents.codes
        codes = codes.filter(content.cells.head(codes.height).is_not_null()) if content.filled < 1 else codes
        cells = codes.select(keys).n_unique() if keys else 0
        if not keys or 2 * cells > codes.height:
            return False
        return codes.select(*keys, content.name).n_unique() > 1.5 * cells

    def _is_of_item(self, content: Content) -> bool:
        """Whether everyone has the same value on the same item: it was shown or is correct, as answers would differ."""
        items = [
            c.name for c in self._free()
            if c is not content and not _says_answer(c)
            and (self._names_items(c) or c.is_text or words_of(c.name)[-1:] == ["id"])
            and not {"chosen", "selected", "preferred"} & set(words_of(c.name))
            and FEWEST_ITEMS <= c.distinct <= self.rows / PAIR - (0 if content.is_text else FEWEST_ROWS)
        ]  # fmt: skip
        return bool(self.person) and any(self.contents.follows(content.name, [name]) for name in items)

    def _is_key(self, content: Content) -> bool:
        """Whether a column called label or score holds the correct answer of each item."""
        return content.plain in WEAK_ANSWERS and self._is_of_item(content)

    def _response(self) -> None:
        if "response" in self.mapping or self._keyed():
            return
        candidates = [content for content in self._free() if self._may_be_response(content)]
        candidates.sort(key=self._rank_of_response)
        unnamed = not any(map(_says_answer, candidates))
        if not candidates or self._is_key(candidates[0]) or (unnamed and self._given_as_right()):
            self._propose_response()
            if not candidates or "response" in self.roles.mapping:
                return
        best = candidates[0]
        sure = not self._rank_of_response(best)[0]
        full = [content for content in candidates if content.filled > 0.6]
        if best.filled < 0.5 and full:
            best = full[0]
        ratings = [one for one in full if one.name.startswith((f"{best.name}_", f"{best.name}.")) and one.is_number]
        if best.distinct == PAIR and not best.is_number and ratings and ratings[0].distinct > PAIR:
            best = ratings[0]  # The two words answer a check beside the rating.
        sure = sure and best.plain in NAMES["response"] and best.plain not in VAGUE_ANSWERS and not _is_list(best)
        others = [content for content in candidates if content is not best]
        rivals = [
            c for c in others
            if c.plain in NAMES["response"] and c.filled >= 0.3
            and not self._same(c.name, best.name) and self._dispersion(c) >= 1
        ]  # fmt: skip
        self._take("response", best.name)
        if not sure or rivals or best.filled < 0.5:
            rest = [content for content in others if content not in rivals]
            self._ask("response", [[content.name] for content in [best, *rivals, *rest]])
        self.second = [c.name for c in others if self._dispersion(c) >= 1 or (_says_answer(c) and c.is_number)]

    def _rank_of_response(self, content: Content) -> tuple[float, ...]:
        """The sort key of a column that may hold the answers: the first element is 0 unless the column is doubtful."""
        exact = content.plain in NAMES["response"]
        return (
            not self._is_answer_like(content) or self._is_key(content), not exact, content.plain in WEAK_ANSWERS,
            _is_of_check(content), not _says_answer(content), not self._names_file(content),
            NAMES["response"].index(content.plain) if exact else 99, not _says_rating(content), not content.is_number,
        )  # fmt: skip

    def _keyed(self) -> bool:
        """Take answers beside columns with their keys, as Figure Eight (CrowdFlower) and Toloka name them."""
        keys = {
            c.name: key for c in self._free() if c.distinct > 1 and "expected" not in self.mapping
            for key in (f"{c.name}_gold", c.name.replace("OUTPUT:", "GOLDEN:"))
            if key != c.name and key in self.contents.names
        }  # fmt: skip
        # A follow-up question has fewer answers than the question it follows.
        answers = sorted(keys, key=lambda name: -self.contents[name].filled)
        for name in answers[:1]:
            self._take("response", name)
            self._take("expected", keys[name])
        if len(answers) > 1:
            self._ask("response", [[name] for name in answers])
        return bool(answers)

    second: Sequence[str] = ()

    def _time_of_answer(self) -> None:
        """Take the one of several response times that is named after the answers: judge.rt beside judge.keys."""
        source = self.roles.mapping.get("response", "")
        names = {plain(f"{source.rpartition('.')[0]}.rt"), plain(f"{source}_rt"), plain(f"rt_{source}")}
        timed = next((c.name for c in self._free() if c.plain in names and c.is_number), None)
        if "rt" not in self.roles.mapping and timed is not None:
            self._take("rt", timed)

    def _answered_only(self) -> None:
        """Search the items in answered rows only, if not all rows have an answer: the others are not trials."""
        if self.answers is not None and self.answers.filled < ANSWERED:
            self._search_only(self.answers.cells.is_not_null())

    def _search_only(self, rows: pl.Series) -> None:
        if rows.any():
            self.contents, self.rows, self.levels = Contents(self.contents.frame.filter(rows)), int(rows.sum()), {}

    def _with_items_only(self) -> None:
        """Drop the rows of other tasks, which show no item and which a column of few levels separates."""
        few = [c for c in self._free() if 1 < c.distinct <= MOST_LEVELS and c.filled == 1]
        for content in self._free() if "item" not in self.mapping else ():
            empty = content.cells.is_null()
            recurs = FEWEST_ITEMS <= content.distinct <= content.cells.count() / PAIR
            if not recurs or not self._names_items(content) or not 0 < empty.mean() <= FEWEST_SHARED:  # type: ignore[operator]
                continue
            for other in few:
                kinds = (
                    pl.DataFrame({"level": other.cells, "empty": empty}).group_by("level").agg(pl.col("empty").mean())
                )
                if set(kinds["empty"]) == {0.0, 1.0}:
                    self._search_only(~empty)
                    return

    def _names_file(self, content: Content) -> bool:
        """Whether the file is named after a column: mega-veridicality.csv holds judgments of veridicality."""
        return any(len(word) > LONGEST_CODE and word in self.file_words for word in words_of(content.name))

    def _propose_response(self) -> None:
        """Propose what differs between participants on the same stimuli if no name or distribution decides.

        With a single participant, or if each item was judged once, only names show what the answers are.
        """
        once = any(self._names_items(c) and c.distinct >= NEARLY * self.rows for c in self._free())
        alone = bool(self.person) and (once or self.contents.combinations(self.person) == 1)
        # If people are mostly right, they have the levels of a key almost equally often.
        keys = [set(c.values) for c in self._free() if self._is_key(c)]
        candidates = [
            content for content in self._free()
            if self._is_answer_like(content) and content.plain not in NAMES["item"] and not content.is_text
            and (content.is_number or content.distinct <= FEW_WORDS) and not CHOSEN.fullmatch(content.name.lower())
            and not self._is_position(content) and not ROW_NUMBERS.fullmatch(content.plain)
            and not (content.functions and len(content.functions) == content.distinct)
            and (_says_answer(content) or self._dispersion(content) >= DESIGNED or set(content.values) in keys)
            and (self._differs_on_stimuli(content) or (alone and _says_answer(content)) or self._often_fits(content))
        ]  # fmt: skip
        candidates.sort(key=lambda c: (not _says_answer(c), not c.is_whole, -self._dispersion(c)))
        candidates = self._shown_on_a_side() or candidates
        if not any(_says_answer(c) for c in candidates):
            # A table without answers may say whether they were right.
            accuracies = [c for c in self._free() if c.plain in ACCURACY or words_of(c.name)[-1:] in ACCURACY_ENDINGS]
            correct = [c for c in accuracies if set(c.values) == {"0", "1"}]
            correct += self._given_as_right()
            candidates = [*correct, *(c for c in candidates if c not in correct)]
        if candidates:
            self._propose("response", candidates)

    def _often_fits(self, content: Content) -> bool:
        """Whether a column has only values of a column of correct answers, and repeats most of these, but not all."""
        for key in self._free():
            if key.plain not in NAMES["expected"] or content is key or not {*content.values} <= {*key.values}:
                continue
            known = key.cells.is_in(content.values).fill_null(False) & content.cells.is_not_null()
            right = known & (content.cells == key.cells)
            if known.sum() >= FEWEST_ITEMS and known.sum() / PAIR <= right.sum() < known.sum():
                return True
        return False

    def _given_as_right(self) -> list[Content]:
        """Columns called correct_response in which people differ: the correct answer is the same for everyone."""
        return [c for c in self._free() if c.plain in NAMES["expected"] and self._differs_on_stimuli(c)]

    def _shown_on_a_side(self) -> list[Content]:
        """A column that repeats, in every row, one of two other columns: the one of two stimuli that was chosen."""
        free = self._free()
        texts = [c for c in free if c.is_text and not _says_answer(c)][:MOST_TEXTS]
        # A column called chosen may come with texts named after their conditions, such as good and bad.
        chosen = [c for c in free if c.is_text and _says_answer(c)]
        return [
            *(content for first, second in SIDES for pair in _pairs_of(free, first, second)
              for content in free if content not in pair and names_one_of(content, *pair)),
            *(c for pair in combinations(texts, PAIR) for c in chosen if names_one_of(c, *pair)),
        ][:1]  # fmt: skip

    def _is_position(self, content: Content) -> bool:
        """Whether a whole number is a mere count of trials: distinct within people, and rising as they go on."""
        if not content.is_whole or not self.person or content.distinct < 3:
            return False
        keys = [*self.person, *self.question]
        pairs = self.contents.combinations([*keys, content.name])
        return pairs >= 0.9 * self.contents.codes.height and self._rises(content)

    def _rises(self, content: Content) -> bool:
        """Whether a number rises as participants go on."""
        head = self.contents.frame.head(self.contents.codes.height)
        keys = [*self.person, *self.question]
        rising = pl.col(content.name).cast(pl.Float64, strict=False).diff() > 0
        rises = head.select((rising.over(keys) if keys else rising).mean()).item()
        return bool(rises is not None and rises > 0.95)

    def _positions(self) -> None:
        if "trial" in self.mapping:
            return
        names = [self.by_name["trial"]] if "trial" in self.by_name else []
        names += [c.name for c in self._free() if PLACES.fullmatch(c.plain) and c.name not in names]
        for name in names:
            if name in self.taken:
                continue
            content = self.contents[name]
            if not content.is_whole or content.filled < 0.5:
                if content.plain in NAMES["trial"] and content.distinct > 1:
                    self._note("role.no_position", column=name, values=content.values[:3])
                continue
            keys = [*self.person, *self.question, name]
            if self.person and self.contents.combinations(keys) < 0.3 * self.contents.codes.height:
                continue
            if self._numbers_items(content):
                continue
            self._take("trial", name)
            return

    def _numbers_items(self, content: Content) -> bool:
        """Whether a number belongs to the item: everyone has it on the same item, and skips the numbers of other items.

        In a fixed order, a position follows from the item, too, but nobody skips one.
        """
        others = [c for c in self._free() if c is not content and FEWEST_ITEMS <= c.distinct <= self.rows / PAIR]
        if not self.person or not any(self._same(content.name, other.name) for other in others):
            return False
        numbers = self.contents.frame.select(*self.person, pl.col(content.name).cast(pl.Float64, strict=False))
        spans = numbers.group_by(self.person).agg(
            (pl.col(content.name).max() - pl.col(content.name).min() + 1).alias("span"), pl.len().alias("n")
        )
        return bool((spans["span"] > spans["n"]).mean() > MOSTLY)  # type: ignore[operator]

    def _design(self) -> list[Content]:
        """The columns that may identify the items."""
        parts, uneven = [], []
        for content in self._free():
            if (
                content.distinct < 2 or content.filled < 1 - SPARSE or content.distinct >= UNIQUE * self.rows
                or content.is_other or content.is_about_people or self._is_second_answer(content)
                or (ROW_NUMBERS.fullmatch(content.plain) and not self._is_judged_by_several(content))
                or CHOSEN.fullmatch(content.name.lower())
                or (LAYOUT.fullmatch(content.plain) and not self._is_heard(content))
                or _is_beside_the_answer(content) or _is_list(content)
                or (PLACES.fullmatch(content.plain) and not content.is_number and are_rankings(content.cells))
                or (content.is_number and not content.is_whole and content.distinct > MOST_LEVELS)
                or self._is_written_by_one(content) or LOOPS.fullmatch(content.plain) or _names_sides(content)
                or self._holds_the_answer(content) or self._is_part_of_answer(content) or self._is_marked(content)
                or ("trial" in self.roles.mapping and all(map(PLACE.fullmatch, content.values)))
            ):  # fmt: skip
                continue
            is_item = content.plain in NAMES["item"] and not PLACES.fullmatch(content.plain)
            is_item = is_item or self._is_judged_by_several(content) or self._is_id(content)
            is_item = is_item or self._numbers_stimuli(content) or content.plain in NUMBERED_STIMULI
            if self._of_person(content) or (not is_item and self._is_position(content)):
                continue
            measured = content.distinct <= MOST_LEVELS or (content.is_number and content.distinct > 20)
            measured = measured and not self._names_items(content) and not self._between_lists(content)
            if (measured and self._dispersion(content) > OVERDISPERSED) or self._is_ticked(content):
                uneven.append(content)
                continue
            parts.append(content)
        # Positions that restart in each block say nothing about the item if something else does.
        parts = [content for content in parts if not (PLACES.fullmatch(content.plain) and content.is_whole)] or parts
        return [*parts, *(content for content in uneven if self._is_crossed_between(content, parts))]

    def _holds_the_answer(self, content: Content) -> bool:
        """Whether everyone with the same text gave the same one of several answers: the text contains the answer."""
        if self.answers is None or not content.is_text or self.answers.distinct <= PAIR:
            return False
        again = self.contents.codes.height - self.contents.combinations([content.name])
        return again >= FEWEST_ROWS and self.contents.follows(self.answers.name, [content.name])

    def _is_marked(self, content: Content) -> bool:
        """Whether participants marked parts of a text: without the marks, it repeats."""
        if not content.is_text or not content.cells.str.contains(MARKED).mean() >= FEWEST_FILLED:  # type: ignore[operator]
            return False
        bare = Contents(self.contents.frame.with_columns(content.cells.str.replace_all(MARKED, "").alias(content.name)))
        return bare[content.name].distinct < NEARLY * content.distinct

    def _is_part_of_answer(self, content: Content) -> bool:
        """Whether a column codes the answers or comes from the same cells, like response[2] and response[1]."""
        source, part = self.roles.mapping.get("response", ""), r"\[\d+\]$"
        if re.search(part, source) and re.sub(part, "", source) == re.sub(part, "", content.name):
            return True
        shared = source in self.contents.names and FEWEST_ITEMS <= content.distinct <= self.rows / PAIR
        return shared and self._same(source, content.name)

    def _is_heard(self, content: Content) -> bool:
        """Whether a column identifies the speakers that listeners judge."""
        return "speaker" in words_of(content.name) and any("listener" in words_of(name) for name in self.person)

    def _is_judged_by_several(self, content: Content) -> bool:
        """Whether a column called row numbers the materials: most participants have each row, once."""
        if not self.person or content.plain != "row" or 2 * content.distinct > self.rows:
            return False
        in_order = content.numbers.is_sorted() or content.numbers.is_sorted(descending=True)
        return self._is_judged_once(content.name, []) and (in_order or not self._is_position(content))

    def _numbers_stimuli(self, content: Content) -> bool:
        """Whether another column follows from a number, and not in blocks: from positions in a random order, none does.

        In a file sorted by participant and item, the number of the item looks like a position.
        """
        if not content.is_whole or PLACES.fullmatch(content.plain) or content.distinct < FEWEST_ITEMS:
            return False
        head = self.contents.frame.head(self.contents.codes.height)
        for other in self._free() if FEWEST_SEEN * content.distinct <= self.rows else ():
            if 1 < other.distinct <= MOST_LEVELS and self.contents.follows(other.name, [content.name]):
                levels = head.select(content.numbers.head(head.height).alias(" n"), other.name).unique().sort(" n")
                blocks = (levels[other.name] != levels[other.name].shift()).sum() + 1
                if blocks > other.distinct and not self._of_person(other):
                    return True
        return False

    def _is_id(self, content: Content) -> bool:
        """Whether a column is an id with more values than anyone has answers.

        In a file sorted by it, an id looks like a position.
        """
        if words_of(content.name)[-1:] != ["id"] or not self.person:
            return False
        answers = self.contents.codes.group_by([*self.person, *self.question]).len()["len"]
        return content.distinct > int(answers.max())  # type: ignore[arg-type]

    def _is_crossed_between(self, content: Content, design: Sequence[Content]) -> bool:
        """Whether a column is a factor with one level for most participants, and all stimuli come in every level."""
        if not design or not self.person or content.distinct > MOST_LEVELS:
            return False
        levels = self.contents.codes.group_by(self.person).agg(pl.col(content.name).n_unique().alias("n"))["n"]
        if (levels == 1).mean() < MOSTLY:  # type: ignore[operator]
            return False
        names = [part.name for part in design]
        crossed = self.contents.combinations(names) * content.distinct
        return self.contents.combinations([*names, content.name]) >= NEARLY * crossed

    def _is_written_by_one(self, content: Content) -> bool:
        """Whether nearly every value belongs to a single participant, like comments and reasons; stimuli are shared."""
        if not self.person or content.distinct < FEWEST_ITEMS or self._names_items(content) or not content.is_text:
            return False
        several = self.contents.codes.group_by(content.name).agg(pl.struct(self.person).n_unique().alias("n"))["n"]
        people = self.contents.combinations(self.person) if self.person else 0
        return people >= FEWEST_ITEMS and bool((several == 1).mean() >= ONE_PERSON)  # type: ignore[operator]

    def _is_ticked(self, content: Content) -> bool:
        """Whether a column is a box that participants tick or leave empty: true and false, without a design."""
        values = {re.sub(r'[\s"]', "", value).lower() for value in content.values} - {""}
        if not {"true", "false"} <= values or len(values) > MOST_TICKED or self._between_lists(content):
            return False
        return self._dispersion(content) >= FREE and self._differs_on_stimuli(content)

    def _is_second_answer(self, content: Content) -> bool:
        """Whether a column holds the answers to another question about the same stimuli."""
        if (
            content.name in self.second or self._are_points(content) or self._has_the_same_answers(content)
            or self._shares_a_level(content) or re.search(rf"(?:^|[\W_])(?:{CHOICE_MADE})$", content.name.lower())
            or (content.plain in CERTAIN_ANSWERS and content.distinct <= MOST_LEVELS
                and self._differs_on_stimuli(content))
            or self._is_slider(content)
        ):  # fmt: skip
            return True
        if not _says_answer(content) or not self._is_answer_like(content):
            return False
        once = not self.person or self.contents.combinations(self.person) >= NEARLY * self.contents.codes.height
        once = once and content.is_number and self.answers is not None and self.answers.is_number
        return (once or self._dispersion(content) >= FREE) and self._differs_on_stimuli(content)

    def _is_slider(self, content: Content) -> bool:
        """Whether a number with many values recurs for participants without a design; that of an item does not."""
        if not self.person or not content.is_whole or content.distinct <= MOST_NUMBERED:
            return False
        if self._names_items(content) or words_of(content.name)[-1:] == ["id"] or self._dispersion(content) < FREE:
            return False
        again = self.contents.combinations([*self.person, *self.question, content.name])
        return again < NEARLY * self.contents.codes.height and self._differs_on_stimuli(content)

    def _shares_a_level(self, content: Content) -> bool:
        """Whether a column shares a single word with the answers, always in the same rows, such as no-error."""
        answers = self.answers
        if answers is None or content.is_number or content.distinct > FEW_LEVELS:
            return False
        common = set(content.values) & set(answers.values)
        if len(common) != 1 or min(content.distinct, answers.distinct) <= PAIR:
            return False
        (level,) = common
        if (content.cells == level).mean() < 1 - ANSWERED:  # type: ignore[operator]
            return False
        return bool(((content.cells == level).fill_null(False) == (answers.cells == level).fill_null(False)).all())

    def _has_the_same_answers(self, content: Content) -> bool:
        """Whether a column has the levels of the answers, and people differ in it on the same stimuli."""
        answers = self.answers
        if answers is None or not 2 <= content.distinct <= MOST_LEVELS:
            return False
        levels, answered = ({value.strip().lower() for value in column.values} for column in (content, answers))
        if not levels <= answered or self._between_lists(content):
            return False
        is_numbered = re.sub(r"\d", "", content.plain) == re.sub(r"\d", "", answers.plain)  # label1, label2
        return (is_numbered or self._dispersion(content) >= DESIGNED) and self._differs_on_stimuli(content)

    def _between_lists(self, content: Content) -> bool:
        """Whether a column is constant within each list of a participant: lists differ in it, as answers would not.

        So is what was shown in a trial with a row for each of several answers.
        """
        rows = self.contents.codes.height
        lists = [
            c.name for c in self.contents.columns
            if c.plain in SESSION_NAMES
            or (self.person and PLACES.fullmatch(c.plain)
                and FEWEST_PER_TRIAL * self.contents.combinations([*self.person, c.name]) <= rows)
        ]  # fmt: skip
        return any(self.contents.follows(content.name, [*self.person, one]) for one in lists if one != content.name)

    def _names_items(self, content: Content) -> bool:
        return content.plain in NAMES["item"] or any(word in ITEM_WORDS for word in words_of(content.name))

    def _sides(self) -> None:
        """Take two columns whose names differ in a side, if the answers name these sides or repeat the columns."""
        answers = self.answers
        if answers is None or {"item", "left", "right"} & set(self.roles.mapping) or "left" in self.by_name:
            return
        matching = next(filter(None, (shown_sides(answers, self._free(), sides) for sides in (*SIDES, None))), [])
        # Systems recur and can be compared; their texts appear once.
        pairs = sorted(matching, key=lambda pair: pair[0].distinct)
        for side, content in zip(("left", "right"), pairs[0] if pairs else (), strict=False):
            self._take(side, content.name)
        if pairs:
            choices = (
                Proposal({"left": one.name, "right": other.name}, self._choice("item", [one.name, other.name]).detail)
                for one, other in pairs[:3]
            )
            self.roles.open.append(Question("item", tuple(choices)))

    def _item(self) -> None:
        is_numbered = plain(self.by_name.get("item", "")) in ("item", "itemid") or self._names_systems()
        if {"left", "right"} <= set(self.roles.mapping) and not is_numbered:
            self._prompt_of_choices()
            question = self._question()
            stimuli = [name for role in ("left", "right", "item") for name in self._columns_of(role)]
            if question and self._asks_again(stimuli, question):
                self._take_question(question)
            return
        self._scale_of_answers()
        self._dimension_of_people()
        question = self._question()
        if "item" in self.mapping or ({"left", "right"} <= set(self.by_name) and "item" not in self.by_name):
            if question and self._parts_answers(self.contents[question]):
                self._take_question(question)
            return
        design = self._without_numbers_of_trials([content for content in self._design() if content.name != question])
        item_columns = [c for c in self._free() if c.plain in NAMES["item"] and c in design]
        native = min(item_columns, key=self._is_weak, default=None)
        native = next((c for c in design if c.plain in (*ITEM, "itemid")), native)
        if not design and question and question not in self.taken and self._asks_again([], question):
            self._take_question(question)
            question, self.levels = None, {}
            design = self._without_numbers_of_trials(self._design())
        if not design:
            self._constant_item()
            return
        sure, parts = self._parts(design, native, question)
        again = question and (self._asks_again(parts, question) or self._parts_answers(self.contents[question]))
        if question and again and "question" not in self.roles.mapping:
            self._take_question(question)
        elif question and question not in self.taken and "question" not in self.mapping:
            sure, parts = self._parts([*design, self.contents[question]], native, None)
        unique = [c for c in self._free() if c.distinct >= UNIQUE * self.rows and self._names_items(c)]
        people = self.contents.combinations(self.person) if self.person else 0
        once = people == 1 or self.contents.combinations(parts) >= UNIQUE * self.rows
        if unique and not sure and len(parts) > 1 and once:
            # Nothing was judged twice, so the column with a value per row names it best.
            design, parts = [*design, *(self.contents[name] for name in parts)], [unique[0].name]
        same = [c for c in self._free() if self._names_items(c) and c.distinct == 1 and c.filled > ANSWERED]
        same.sort(key=lambda c: c.plain not in NAMES["item"])
        if same and not sure and people == self.rows:
            # Everyone answered once: conditions may differ on the same item.
            design, parts = [*design, *(self.contents[name] for name in parts)], [same[0].name]
        self._take("item", "+".join(parts))
        if not sure:
            options = [parts, *([native.name] for native in [native] if native is not None)]
            # Random numbers per trial look like answers.
            numbers = [c.name for c in self._free() if self._are_points(c) and not _says_answer(c)]
            options += [[*parts, *numbers]] if numbers else []
            options += [[c.name] for c in sorted(design, key=lambda c: -c.distinct) if c.distinct > 2]
            distinct = list(dict.fromkeys(tuple(option) for option in options))
            self._ask("item", distinct)

    def _names_systems(self) -> bool:
        """Whether the answers are the names of the two columns of texts, which are then two systems throughout."""
        sources = [self.roles.mapping.get(role, "") for role in ("response", "left", "right")]
        columns = [self.contents[name] for name in sources if name in self.contents.names]
        return len(columns) == len(sources) and are_systems(columns[0], columns[1:])

    def _prompt_of_choices(self) -> None:
        """Take the prompt as the item if the same two systems are compared again and again."""
        candidates = (c.name for c in self._free() if self._names_items(c) and not _says_answer(c))
        source = self.by_name.get("item") or next(candidates, None)
        if "item" in self.mapping or source is None or source in self.taken:
            return
        sides = [*self._columns_of("left"), *self._columns_of("right")]
        pairs = self.contents.combinations(sides)
        if self.contents[source].filled > ANSWERED and self.contents.combinations([*sides, source]) > 2 * pairs:
            self._take("item", source)

    def _constant_item(self) -> None:
        """Propose a column named like an item if everyone judged the same item, or each participant a different one."""
        candidates = [c for c in self._free() if self._names_items(c) and c.distinct and not PLACES.fullmatch(c.plain)
                 and not c.is_other and c.filled > SPARSE and (c.is_whole or not c.is_number)]  # fmt: skip
        candidates.sort(key=lambda c: (c.distinct < 2, c.is_number))
        if candidates and self.rows >= FEWEST_ROWS:
            self._propose("item", candidates)

    def _parts(self, design: list[Content], native: Content | None, question: str | None) -> tuple[bool, list[str]]:
        """The columns that distinguish stimuli, and whether that is certain."""
        names = [content.name for content in design]
        full = self.contents.combinations(names)
        questions = [question] if question else self.question
        if native is not None and native.plain in ITEM and self._is_judged_once(native.name, questions):
            return True, [native.name]
        single = [c for c in design if self.contents.combinations([c.name]) >= NEARLY * full and not c.is_about_people]
        single.sort(key=lambda c: (c.plain not in NAMES["item"], not self._names_items(c), "id" not in words_of(c.name),
                                   c.is_text))  # fmt: skip
        if single:
            best = single[0]
            codes = [c for c in single if "id" in words_of(c.name) and not c.is_text and not c.is_other]
            if best.is_text and codes:
                best = codes[0]
            is_item = best.plain in NAMES["item"] and not self._is_weak(best)
            texts = [c for c in design if c.is_text and c is not best]
            has_id = "id" in words_of(best.name) and any(self._same(best.name, c.name) for c in texts)
            # An id that each participant has once, and that determines the rest of the design, identifies the item.
            has_id = has_id or (best.plain == "id" and len(design) > 1 and self._is_judged_once(best.name, questions))
            return is_item or has_id, [best.name]
        if native is not None and self._is_judged_once(native.name, questions) and not self._is_weak(native):
            return True, [self._code_of(native, design)]
        if native is not None and native.plain in (*ITEM, *NUMBERED_ITEMS):
            experiments = [c.name for c in design if c.plain in EXPERIMENTS]
            if experiments and self._is_judged_once(native.name, [*questions, *experiments[:1]]):
                return False, [*experiments[:1], native.name]
        numbered = [c for c in design if words_of(c.name)[-1:] == ["id"] and c.distinct >= FEWEST_ITEMS
                    and self._is_judged_once(c.name, questions)]  # fmt: skip
        if numbered:
            best = max(numbered, key=lambda c: c.distinct)
            shows_design = any(
                c is not best and c.distinct > PAIR and self.contents.follows(c.name, [best.name]) for c in design
            )
            return best.plain == "id" and shows_design, [best.name]
        texts = [c for c in design if c.is_text and FEWEST_ITEMS <= c.distinct <= self.rows / PAIR
                 and self._is_judged_once(c.name, questions)]  # fmt: skip
        # A question may come twice, with a number: once about the participant and once about someone else.
        alike = [name for name in names if texts and self._same(name, texts[0].name)]
        rest = [name for name in names if name not in alike]
        rows = self.contents.codes
        again = rows.select([*self.person, *questions, *rest]).n_unique() < ANSWERED * rows.height
        if texts and {c.name for c in texts} <= {*alike} and again:
            return False, [texts[0].name]
        shared = self._shared(names)
        full = self.contents.combinations(shared)
        ordered = sorted(
            (c for c in design if c.name in shared),
            key=lambda c: (self._names_items(c), not c.is_text, not c.is_number, c.distinct, -names.index(c.name)),
        )
        parts = [c.name for c in ordered]
        for content in ordered:
            rest = [name for name in parts if name != content.name]
            if rest and self.contents.combinations(rest) >= full:
                parts = rest
        parts = self._without_factors(parts)
        if len(parts) > MOST_PARTS:
            parts = sorted(parts, key=lambda name: -self.contents[name].distinct)[:MOST_PARTS]
        return False, [name for name in self.contents.names if name in parts]

    def _without_factors(self, parts: list[str]) -> list[str]:
        """The parts of an item without factors: columns with few levels, in each of which people judged all the rest.

        A factor stays if people saw each item in only one of its levels, since they then judged the parts together.
        One of two parts stays as well, because it may be the system that made each text.
        """
        for name in sorted(parts, key=lambda name: self.contents[name].distinct):
            content, rest = self.contents[name], [other for other in parts if other != name]
            if len(rest) < PAIR or content.distinct > MOST_FACTOR_LEVELS or content.plain in NAMES["item"]:
                continue
            once = self.contents.combinations([*self.person, *rest])
            again = self.contents.combinations([*self.person, *parts]) >= NEARLY * content.distinct * once
            if again and self.contents.combinations(rest) >= FEWEST_ITEMS:
                parts = rest
        return parts

    def _code_of(self, text: Content, design: Sequence[Content]) -> str:
        """The id that is more complete than a text: it has a value for practice items without a text."""
        codes = [
            c.name for c in design
            if text.is_text and not c.is_text and "id" in words_of(c.name)
            and self.contents.follows(text.name, [c.name])
            and (c.filled > text.filled or self._same(c.name, text.name))
        ]  # fmt: skip
        return codes[0] if codes else text.name

    def _without_numbers_of_trials(self, design: list[Content]) -> list[Content]:
        """The design without ids that are unique to each trial, if another column says what each trial showed.

        Random numbers per trial are no ids either.
        """
        questions = max(self.contents.combinations(self.question), 1)
        design = [c for c in design if not self._is_drawn(c, design)]
        unique = [c for c in design if questions * c.distinct >= NEARLY * self.rows]
        rest = [c for c in design if c not in unique]
        stimuli = [c for c in rest if c.distinct >= FEWEST_ITEMS and self._is_judged_once(c.name, self.question)]
        return rest if stimuli else design

    def _is_drawn(self, content: Content, design: Sequence[Content]) -> bool:
        """Whether a number was drawn or measured in each trial: with it, stimuli hardly recur; without it, most do.

        Some participants then have a number twice by chance, or the rest already distinguishes all their trials.
        """
        if not content.is_number or content.distinct <= MOST_LEVELS or self._names_items(content) or not self.person:
            return False
        people = self.contents.combinations(self.person)
        rest = [
            c.name for c in design
            if not (c.is_number and c.distinct > MOST_LEVELS)
            or (c is not content
                and self.contents.combinations([*self.person, c.name]) >= FEWEST_MET * people * c.distinct)
        ]  # fmt: skip
        rows, stimuli = self.contents.codes.height, self.contents.combinations(rest) if rest else 0
        return (
            stimuli >= FEWEST_ITEMS and 2 * stimuli <= rows
            and self.contents.combinations([*rest, content.name]) >= ANSWERED * rows
            and (self.contents.combinations([*self.person, *self.question, content.name]) < rows
                 or self.contents.combinations([*self.person, *self.question, *rest]) >= NEARLY * rows)
        )  # fmt: skip

    def _shared(self, names: list[str]) -> list[str]:
        """The columns that identify what several participants judged, without texts that are new in every trial.

        Random names for the people in a story, for example, make nearly every text unique.
        """
        rows = self.contents.codes.height
        people = self.contents.combinations(self.person) if self.person else 0
        if people < FEWEST_ITEMS or 2 * self.contents.combinations(names) <= rows:
            return names
        shared = list(names)
        while 2 * self.contents.combinations(shared) > rows:
            rest = {
                n: self.contents.combinations([o for o in shared if o != n]) for n in shared if self.contents[n].is_text
            }
            if not rest or len(shared) == 1:
                return names
            shared.remove(min(rest, key=lambda name: rest[name]))
        return shared if self.contents.combinations(shared) >= FEWEST_ITEMS else names

    def _is_weak(self, content: Content) -> bool:
        """Whether the name of a column alone does not make it the item."""
        if content.plain in ("task", "taskid") and any(self.contents[name].plain in WORKERS for name in self.person):
            return False
        return content.plain in WEAK_ITEMS

    def _is_judged_once(self, name: str, questions: Sequence[str]) -> bool:
        """Whether participants see each item once, or again only as a repetition."""
        if not self.person:
            return True
        sessions = [c.name for c in self.contents.columns if c.plain in ("session", "repetition")]
        keys = [*self.person, name, *questions, *sessions]
        return self.contents.combinations(keys) >= ANSWERED * self.contents.codes.height

    def _scale_of_answers(self) -> None:
        """Take a column that names the scale of each answer as the question: its levels have fewer or more points."""
        answers = self.answers
        if answers is None or "question" in self.mapping:
            return
        for content in self._free():
            if content.plain not in SCALE_NAMES or content.distinct < 2 or content.filled < NEARLY:
                continue
            both = pl.DataFrame({"level": content.cells, "answer": answers.cells}).drop_nulls()
            each = both.group_by("level").agg(pl.col("answer").n_unique().alias("n"), pl.len().alias("rows"))
            few, most = each["n"].to_list(), each["rows"].to_list()
            if min(most) >= FEWEST_ROWS and min(few) > 1 and max(few) >= MORE_ANSWERS * min(few):
                self._take_question(content.name, "role.scales")
                return

    def _dimension_of_people(self) -> None:
        """Take a column that names what each participant rated, such as valence for some and arousal for others."""
        for content in self._free() if not {"question", "item"} & set(self.roles.mapping) else []:
            if content.plain in DIMENSIONS and 2 <= content.distinct <= MOST_QUESTIONS and self._of_person(content):
                self._take_question(content.name, "role.dimension")
                return

    def _question(self) -> str | None:
        if "question" in self.roles.mapping:
            return None
        for name in QUESTION_NAMES:
            for content in self._free():
                if content.plain == name and 2 <= content.distinct <= MOST_QUESTIONS and not self._of_person(content):
                    return content.name
        return next((c.name for c in self._free() if self._parts_answers(c)), None)

    def _parts_answers(self, content: Content) -> bool:
        """Whether some levels of a column are answered in numbers and others in words: they ask different questions.

        This shows only if the same participants have both.
        """
        answers = self.answers
        if answers is None or not 2 <= content.distinct <= MOST_QUESTIONS or content.filled < NEARLY:
            return False
        if not self.person or self._of_person(content):
            return False
        if content.plain in NAMES["item"] and content.plain not in QUESTION_NAMES:
            return False
        kinds = pl.DataFrame({"level": content.cells, "answer": answers.cells, "number": answers.numbers.is_not_null()})
        shares = kinds.drop_nulls().group_by("level").agg(pl.col("number").mean(), pl.len().alias("n"))
        rows = {"numbers": 0, "words": 0, "both": 0}
        for share, n in shares.select("number", "n").iter_rows():
            rows["numbers" if share >= NEARLY else "words" if share <= 1 - NEARLY else "both"] += n
        return not rows["both"] and MOST_QUESTIONS * min(rows["numbers"], rows["words"]) >= self.rows

    def _asks_again(self, parts: Sequence[str], question: str) -> bool:
        """Whether the same participants answer several levels of a column on the same stimuli."""
        keys = [*self.person, *(part for part in parts if part != question)]
        return self.contents.combinations(keys) < 0.75 * self.contents.combinations([*keys, question])

    def _named(self) -> None:
        """Propose columns that only their names suggest for roles that content did not settle."""
        for role in ("participant", "response", "item"):
            source = self.by_name.get(role)
            settled = role in self.roles.mapping or source is None or source in self.taken
            sides = {*self.by_name, *self.roles.mapping}
            if settled or source is None or (role == "item" and {"left", "right"} <= sides):
                continue
            if not self.contents[source].distinct or (role == "response" and self._is_key(self.contents[source])):
                continue
            verdicts = role == "participant" and (source == self.verdicts or are_verdicts(self.contents[source].cells))
            if not verdicts and (self.contents[source].distinct > 1 or role == "participant"):
                self._propose(role, [self.contents[source]])

    def _others(self) -> None:
        """Take the columns that karat knows by name and whose content fits; the others stay as they are."""
        fits: dict[str, Callable[[Content], bool]] = {
            "polarity": lambda c: c.is_whole and set(c.numbers.drop_nulls().unique()) <= {1.0, -1.0},
            "repetition": lambda c: c.is_whole and c.distinct <= 50 and bool((c.numbers.drop_nulls() >= 1).all()),
            "session": lambda c: c.distinct <= 0.5 * self.rows,
            "expected": self._fits_answers,
            "left": lambda c: "right" in self.by_name,
            "right": lambda c: "left" in self.by_name,
            "pair": lambda c: True,
            "list": lambda c: c.distinct <= 500,
            "block": lambda c: c.distinct <= 500,
            "subgroup": lambda c: True,
            "status": lambda c: not re.search(r"(?i)approved|submitted|rejected|complete", " ".join(c.values[:20])),
            "question": lambda c: c.distinct <= 40 and c.filled > FEWEST_IN_LIST and not self._is_asked_of_item(c),
        }
        for role, fit in fits.items():
            source = self.by_name.get(role)
            if role in self.roles.mapping or source is None or source in self.taken:
                continue
            content = self.contents[source]
            if content.distinct and fit(content):
                self._take(role, source)
            elif content.distinct and content.plain == role:
                self._note("role.other_content", column=source, values=content.values[:3])

    def _is_asked_of_item(self, content: Content) -> bool:
        """Whether each of many items has its own question: the question is then part of the item."""
        items = self._columns_of("item")
        return content.distinct > MOST_QUESTIONS and bool(items) and self.contents.follows(content.name, items)

    def _fits_answers(self, content: Content) -> bool:
        """Whether a column of correct answers belongs to these answers: at least half of its values are among them."""
        if self.answers is None or self.mapping.get("expected"):
            return True
        levels = {value.strip().lower() for value in self.answers.values}
        if all(re.fullmatch(r"-?[\d.]+", value) for value in levels):
            right = [bool(re.fullmatch(r"[-\d.| ]+", value)) for value in content.values]
        else:
            right = [bool(levels & {one.strip().lower() for one in value.split("|")}) for value in content.values]
        return 2 * sum(right) >= len(right)

    def _choice(self, role: str, parts: list[str]) -> Proposal:
        combinations = self.contents.combinations(parts) if len(parts) > 1 else self.contents[parts[0]].distinct
        sample = [str(value) for value in self.contents[parts[0]].values[:3]]
        if len(parts) > 1:
            head = self.contents.frame.select(parts).drop_nulls().unique(maintain_order=True).head(2)
            sample = [" + ".join(str(cell) for cell in row) for row in head.iter_rows()]
        values: dict[str, object] = {"n": combinations, "sample": [cut(value) for value in sample]}
        if role == "item" and self.person:
            per = self.contents.codes.group_by(parts).agg(pl.struct(self.person).n_unique().alias("n"))["n"]
            values |= {"least": per.min(), "most": per.max()} if per.min() != per.max() else {"every": per.max()}
        return Proposal({role: "+".join(parts)}, Message(DETAILS[role], values))


def _pairs_of(columns: Sequence[Content], first: str, second: str) -> list[tuple[Content, Content]]:
    """Pairs of columns whose names differ in a side."""
    by_rest: dict[tuple[str, ...], dict[str, Content]] = {}
    for content in columns:
        words = re.split(r"[\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z0-9])", "_", content.name).lower())
        varies = content.distinct > 1 or bool(SYSTEMS & set(words))
        if varies and not content.is_other and {first, second} & set(words):
            rest = tuple(word for word in words if word not in (first, second))
            by_rest.setdefault(rest, {})[first if first in words else second] = content
    return [(pair[first], pair[second]) for pair in by_rest.values() if len(pair) == PAIR]


def shown_sides(
    answers: Content, columns: Sequence[Content], sides: tuple[str, str] | None
) -> list[tuple[Content, Content]]:
    """The pairs of columns that show the options of answers such as A and B, or 1 and 2.

    Without names of sides, the answers are the names of two columns, or repeat one of them in every row.
    """
    if sides is not None:
        return [pair for pair in _pairs_of(columns, *sides) if _are_sides(answers, *pair, sides)]
    options = [c for c in columns if c.distinct > 1 and not c.is_number and not c.is_other and c.filled > SPARSE]
    return [(one, other) for one, other in combinations(options, PAIR) if _are_sides(answers, one, other, ("", ""))]


def _names_sides(content: Content) -> bool:
    """Whether the values are only sides of the screen: left, 1right, top."""
    values = {re.sub(r"[^a-z]", "", value.lower()) for value in content.values[:50]} - {"middle", "center", "centre"}
    return len(values) == 2 and any(values == {*sides} for sides in (("left", "right"), ("top", "bottom"), ("l", "r")))


def _are_sides(answers: Content, first: Content, second: Content, names: tuple[str, str]) -> bool:
    """Whether the answers name two sides, or repeat one of the two columns in every row."""
    sides = _sides_named(answers.values, names, (first.name, second.name))
    if len(set(sides.values()) - {"none"}) > 1:
        # Beside two sentences, 0, 1 and 2 may label how they are related.
        return NUMBERED_TIE not in sides or any(word in COMPARED_OUTPUTS for word in words_of(first.name))
    return names_one_of(answers, first, second)


def names_one_of(answers: Content, first: Content, second: Content) -> bool:
    """Whether each answer except ties repeats one of two columns in its row, and these always differ."""
    if first.is_number or answers.is_number or answers.distinct < PAIR or len(answers.cells) != len(first.cells):
        return False
    if len({*answers.values[:MOST_LEVELS]} - {*first.values, *second.values}) > MOST_TIES:
        return False
    cells = {"a": answers.cells, "l": first.cells, "r": second.cells}
    rows = pl.DataFrame({name: column.cast(pl.String) for name, column in cells.items()}).drop_nulls()
    ties = [value for value in answers.values[: MOST_LEVELS + 1] if TIES.fullmatch(value.lower())]
    chosen = rows.filter(~pl.col("a").is_in(ties))
    if 2 * chosen.height < rows.height or rows.height < SPARSE * answers.cells.count() or not chosen.height:
        return False
    return chosen.select(((pl.col("a") == pl.col("l")) ^ (pl.col("a") == pl.col("r"))).all()).item()  # type: ignore[no-any-return]


MOST_TIES = 2
TIES = re.compile(
    r"(?:(?:they are|about|roughly|nearly|almost|the|both(?: are)?)\s+)*(?:s|t|=|tie|tied|none|neither|both|same|"
    r"similar|equal|equally|equally good|equally bad|no preference|no difference|draw)( ?\(.*\))?"
)
"""Answers that prefer neither option."""
NUMBERED_TIE = "0"
"""No preference, if 1 and 2 are the two sides."""
COMPARED_OUTPUTS = word_list("compared_outputs")
SYSTEMS = {"model", "system", "models", "systems"}
"""What is compared with another also where it is the same in all trials."""


def _sides_named(answers: Sequence[str], sides: tuple[str, str], columns: Sequence[str] = ()) -> dict[str, str]:
    """The side that each answer names, directly or through the column that holds what was shown there.

    >>> _sides_named(["model_a", "B", "tie"], ("a", "b"), ("model_a", "model_b"))
    {'model_a': 'left', 'B': 'right', 'tie': 'none'}
    >>> _sides_named(["A is much better", "Sentence B", "about the same"], ("a", "b"))
    {'A is much better': 'left', 'Sentence B': 'right', 'about the same': 'none'}
    >>> _sides_named(["A>>B", "A=B", "A<B"], ("a", "b"))
    {'A>>B': 'left', 'A=B': 'none', 'A<B': 'right'}
    >>> _sides_named(["ours", "baseline"], ("", ""), ("ours_summary", "baseline_summary"))
    {'ours': 'left', 'baseline': 'right'}
    """
    by_word = dict(zip(sides, ("left", "right"), strict=True))
    for names in (columns, _own_words(columns)):
        by_word |= dict(zip((name.lower() for name in names), ("left", "right"), strict=False))
    by_answer = {}
    for answer in answers:
        word = answer.strip().lower()
        preferred, compared = PREFERRED.fullmatch(re.sub(r"[-_]", " ", word)), COMPARED.fullmatch(word)
        tied = TIES.fullmatch(word) or (word == NUMBERED_TIE and "1" in by_word and "2" in by_word)
        side = by_word.get(word) or ("none" if tied else by_word.get(preferred[1]) if preferred else None)
        if compared and {by_word.get(compared[1]), by_word.get(compared[3])} == {"left", "right"}:
            side = {">": by_word[compared[1]], "<": by_word[compared[3]]}.get(compared[2][0], "none")
        if side is None:
            return {}
        by_answer[answer] = side
    return by_answer


def _own_words(columns: Sequence[str]) -> list[str]:
    """The distinctive part of each column's name, without the words that all of them begin or end with."""
    words = [re.split(r"[\W_]+", name) for name in columns]
    for _ in range(2):
        while len(words) == PAIR and min(map(len, words)) > 1 and words[0][-1] == words[1][-1]:
            words = [name[:-1] for name in words]
        words = [name[::-1] for name in words]
    return ["_".join(name) for name in words]


DEGREES = "much|far|lot|significantly|slightly|somewhat|little|bit|marginally|clearly|strongly|weakly"
DEGREE = rf"(?:(?:very |a )?(?:{DEGREES})\s+)"
PREFERRED = re.compile(
    rf"{DEGREE}?(?:(?:i prefer|prefer|the|sentence|option|version|text|response|candidate|number)\s+)*"
    r"(left|right|a|b|1|2|first|second|top|bottom|above|below)"
    r"(?:\s+(?:one|sentence|option|version|text|response))?"
    rf"(?:\s+(?:is\s+)?{DEGREE}?(?:better|more natural|more acceptable|preferred))?"
)
"""A side in a few words, perhaps with how much better it is."""
COMPARED = re.compile(r"(\w+)\s*(>{1,3}|<{1,3}|={1,2}|~)\s*(\w+)")
SIDES = (("left", "right"), ("a", "b"), ("1", "2"), ("first", "second"), ("top", "bottom"), ("above", "below"))
"""The names of the two options of a choice."""


def sides_of(answers: Sequence[str], columns: Sequence[str] = ()) -> dict[str, str]:
    """The side that each answer names in other words; empty if the answers name no sides.

    >>> sides_of(["A", "B"]), sides_of(["left", "right"]), sides_of(["yes", "no"])
    ({'A': 'left', 'B': 'right'}, {}, {})
    """
    for sides in SIDES:
        by_answer = _sides_named(answers, sides, columns)
        if len(set(by_answer.values()) - {"none"}) > 1:
            return {answer: side for answer, side in by_answer.items() if answer != side}
    return {}


def are_systems(answers: Content, columns: Sequence[Content]) -> bool:
    """Whether answers are the names of two columns, each with the texts of one system."""
    names = [content.name for content in columns]
    return all(c.is_text for c in columns) and bool(sides_of(answers.values, names)) and not sides_of(answers.values)


def sides_notes(sides: Mapping[str, str]) -> list[Message]:
    """The notes on the answers that are read as sides, and on degrees that are not used if several name one side."""
    note = Message("form.sides", {"answers": [f"{answer}={side}" for answer, side in sorted(sides.items())]})
    graded = any(list(sides.values()).count(side) > 1 for side in ("left", "right"))
    return [note, Message("form.graded")] if graded else [note]


def _is_beside(content: Content) -> bool:
    """Whether a column is named after something beside the answers; the chosen option is the answer."""
    return bool(NO_ANSWERS.fullmatch(content.plain)) and words_of(content.name)[:1] not in (["chosen"], ["selected"])


def _is_beside_the_answer(content: Content) -> bool:
    """Whether a column is an accuracy, a comment or a correct answer."""
    pattern = (
        r".*(correct|accuracy|iscorrect|incorrect|comments?|feedback|enjoyment|asses|confidence|expected.*|attempts)|"
        r"(n|num)?(wrongs?|errors|mistakes)|"
        r"comprehension\d*|(comprehension|attention|attn|bot|manipulation)(check|passed)\w*"
    )
    if content.plain in NAMES["expected"] or words_of(content.name)[:1] == ["correct"]:
        return True
    return bool(re.fullmatch(pattern, content.plain)) or words_of(content.name)[-1:] in (["corr"], ["acc"])


ASKS = re.compile(r"(is|are|does|do|did|which|what|how|who)_([^\W_]+_){2,}")
"""The beginnings of column names that Figure Eight (CrowdFlower) makes of questions."""


def _says_answer(content: Content) -> bool:
    """Whether a column has a word for answers in its name, or asks; MTurk puts Answer before everything.

    The column of what was rated may be called rating_stimulus.
    """
    words = words_of(content.name)
    asks = content.name.endswith("?") or ASKS.match(content.name.lower())
    if words == ["code"] or (asks and len(words) >= PAIR):
        return True
    parts = words[1:] if words[:1] == ["answer"] else words
    return parts[-1:] not in (["stimulus"], ["item"]) and any(
        part in ANSWER_WORDS or ANSWER_STEMS.fullmatch(part) for part in parts
    )


def _says_rating(content: Content) -> bool:
    """Whether a column's name says that answers are ratings: rating_response beside choice_response."""
    return any(word == "slider" or ANSWER_STEMS.fullmatch(word) for word in words_of(content.name))


def _is_of_check(content: Content) -> bool:
    """Whether a column's name says that it holds answers to checks, such as attention_answer."""
    return bool(CHECK_WORDS & set(words_of(content.name)))


def are_instants(values: Sequence[str]) -> bool:
    """Whether at least half of the values are points in time.

    >>> are_instants(["2026-05-03 12:34", "x"]), are_instants(["past", "present"])
    (True, False)
    """
    moments = instants(pl.Series(values, dtype=pl.String))
    return 2 * moments.null_count() <= len(moments)


def cut(text: str, most: int = 40) -> str:
    """A text, shortened if it is long."""
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"


def _is_list(content: Content) -> bool:
    """Whether cells hold lists written as text."""
    sample = content.values[:50]
    return bool(sample) and all(value[:1] == "[" and value[-1:] == "]" for value in sample)
