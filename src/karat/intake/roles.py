"""Which columns of a table hold what: participants, items, answers. Names suggest, content decides, the user confirms.

A role is certain where the column's name is one of those that karat knows for it and its content fits. Everything else
is a proposal: the reading then waits for an answer (see `karat.intake.reading`).

What was judged is the smallest set of columns that distinguishes all stimuli: one column where one does, else several
together (`verb+content`). Columns that describe participants, positions, times, platforms and answers are not part of
the design. Answers are recognised by how they are distributed: a design gives every participant each level equally
often, answers do not.
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
from karat.intake.guess import NAMES, are_verdicts, guess_columns, joined, plain, without_unit
from karat.intake.personal import OF_ITEMS_TOO, describes_a_person
from karat.intake.reading import Proposal, Question
from karat.intake.words import word_list
from karat.judgments.columns import FUNCTIONS
from karat.judgments.times import UNIX_2000, instants
from karat.messages import Message

PERSON_WORDS = word_list("person_words")
PERSON_IDS = word_list("person_ids")
FEWEST_PEOPLE = 5
"""A column with fewer values may be of people where no other is."""
ITEM_WORDS = word_list("item_words")
ITEM = ("item", "položka", "项目", "項目", "항목")
"""The word for an item that several sentences belong to; a sentence has another one."""
NUMBERED_ITEMS = ("itemid", "itemnumber", "itemno", "itemnr", "itemnum")
EXPERIMENTS = ("exp", "expt", "experiment", "subexperiment", "subexp", "study", "substudy", "expname", "experimentname")
"""Names of columns with one of several experiments that were run together; each counts its items from 1."""
ANSWER_WORDS = word_list("answer_words")
ANSWER_STEMS = re.compile(
    r"judge?m?e?n?t?|rating|accept\w*|natural\w*|grammatical\w*|likert\w*|bewert\w*|urteil\w*|estimat\w*|"
    r"offensive\w*|toxicity|politeness|fluency|coherence|funniness|similarity|relatedness|typicality|appropriateness"
)
"""Words of which names of columns with answers are made, also where other words follow."""
CHOSEN = re.compile(
    r"(chosen|selected|picked|winner|winning|preferred|response|answer)[_. ]?\w*"
    r"(cond\w*|type|version|item|structure|variant)"
)
"""Names of columns that say what an answer amounts to."""
CHOICE_MADE = "chosen|selected|picked|preferred"
"""The last words of names of columns that mark what was chosen among several rows."""
NO_ANSWERS = re.compile(
    r".*(correct|accuracy|expected|gold|truth|confidence|comments?|feedback|enjoyment|asses|language|time|condition|"
    r"type|options?|labels?list)"
)
NO_ANSWER_WORDS = (
    "acc", "corr", "rt", "rts", "order", "rule", "key", "time", "condition", "type", "start", "end", "onset", "offset",
)  # fmt: skip
"""Columns beside the answers: whether they are right, how long they took, what was offered and when."""
QUESTION_NAMES = word_list("question_names")
DIMENSIONS = word_list("dimensions")
WEAK_ANSWERS = ("label", "value", "score", "annotation", "selected", "choice")
VAGUE_ANSWERS = ("value", "score", "annotation", "selected")
"""Names that many columns have: they are proposed, never certain."""
CERTAIN_ANSWERS = ("response", "answer", "rating", "judgment", "judgement")
CHECK_WORDS = {"attention", "attn", "attncheck", "catch", "check", "comprehension", "comp", "bot", "manipulation"}
"""Words in the names of columns with answers to comprehension questions and attention checks."""
WEAK_ITEMS = ("task", "taskid", "question", "questionid", "example", "tid")
WORKERS = ("worker", "workerid")
"""Workers of a crowd have tasks: beside them a task is an item."""
SHEET = "sheet"
"""The column that holds the name of the sheet of each row where several sheets are read together."""
OWN_FILE = "results_file"
"""The column that holds the name of the file of each row where one study is in several files."""
FUNCTION_NAMES = word_list("function_names")
LIST_NAMES = ("list", "group")
BESIDE_LISTS = {"filler", "practice", "attention"}
"""What a column of lists says of the trials that all lists share; control may be a list or a group of its own."""
ACCURACY = ("accuracy", "acc", "correct", "iscorrect", "responseaccuracy", "answeraccuracy")
RIGHT = (["acc"], ["accuracy"], ["corr"])
SCALE_NAMES = ("answertype", "responsetype", "scaletype", "answerformat", "responseformat", "answerscale")
"""Names of columns that say on which scale an answer was given."""
SESSION_NAMES = ("session", "survey", "visit", "run", "list", "part", "phase", "block", "wave", "day", "assignmentid")
FEWEST_IN_LIST = 0.5
FEWEST_FILLED = 0.05
DESIGNED = 0.4
"""Below this dispersion a design gives every participant each level equally often."""
FREE = 0.7
"""Above it, nothing fixes how often a participant has each level."""
FEWEST_SHARED = 0.2
"""The share of participants that two groups must have in common to be numbered each on its own."""
PAIR = 2
FEW_WORDS = 7
PHRASE = 2
OVERDISPERSED = 1.5
"""Participants differ in how often they have each level by more than this where the level is an answer."""
MOST_LEVELS = 11
MOST_TEXTS = 6
MOST_NUMBERED = 20
"""A number with more values is a slider or names items."""
MOST_FACTOR_LEVELS = 4
"""A column with more levels may be part of what was judged even if it is crossed with the rest."""
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
"""What is said for a proposal. Values of participants are never shown."""
NEARLY = 0.97
LONGEST_CODE = 4
"""A word of a file's name says something from this length on; shorter ones are codes such as exp1."""
MOST_FUNCTIONS = 40
NUMBERED = re.compile(r"[^\W\d_]+[\W_]*\d+")
"""A word with a number, as example1 or control_2."""
PLACE = re.compile(r"(?i)(trial|slide|page|screen|position)[\W_]*\d+")
"""A place in the questionnaire with its number, as Trial7."""
FLAGS = (("no", "yes"), ("false", "true"), ("0", "1"), ("n", "y"), ("nein", "ja"), ("non", "oui"), ("0.0", "1.0"))
"""What a column that marks some trials says of the others, and of these."""
MARKED = r"</?[a-z]{1,6}>"
"""Marks around parts of a text, such as <v> and </v> around an error."""
CHECKS, MOST_CHECKS = ("attention", "control", "calibration"), 1 / 3
"""Functions that few trials have, and the share of trials up to which a column may mark them."""
ONE_PERSON = 0.9
MOSTLY_OWN = 0.98
"""A column with so many different values has one for each row."""
FEWEST_TIMED = 2
MOSTLY = 0.8
MOST_TICKED = 4
ANSWERED = 0.9
FEWEST_ITEMS = 8
FEWEST_SEEN = 3
"""So many times as many texts as levels, and rows as texts, show that a level follows from a text."""


@dataclass
class Roles:
    """What each of karat's columns is in the file, what is still to be asked, and what was assumed."""

    mapping: dict[str, str] = field(default_factory=dict)
    open: list[Question] = field(default_factory=list)
    functions: dict[str, str] = field(default_factory=dict)
    """How the values of the column of item functions are read."""
    notes: list[Message] = field(default_factory=list)
    contents: Contents | None = None


def find_roles(frame: pl.DataFrame, mapping: Mapping[str, str], file: str = "") -> Roles:
    """The roles of the columns of a table; what was given is taken as it is. A file is often named for its answers."""
    return _RoleSearch(frame, mapping, file).result()


def shown_items(shown: pl.DataFrame, answers: Mapping[str, Sequence[str | None]]) -> tuple[list[str], list[Question]]:
    """The columns that tell stimuli apart where a tool's file names no item, and what to ask about them.

    Parameters
    ----------
    shown
        The study's own columns, one row per answer.
    answers
        What the reader knows of each answer: participant, response and perhaps question.
    """
    known = {role: pl.Series(f" {role}", values, dtype=pl.String) for role, values in answers.items()}
    roles = find_roles(shown.with_columns(known.values()), {role: cells.name for role, cells in known.items()})
    parts = joined(roles.mapping.get("item", ""), shown.columns)
    return [part for part in parts if part in shown.columns], [one for one in roles.open if one.role == "item"]


def is_native(frame: pl.DataFrame, mapping: Mapping[str, str]) -> bool:
    """Whether a table needs no search: it has karat's own names for what it needs, the user gave them, or it is tiny.

    What a few rows hold does not show what a column is; there the names decide, as far as they are known.
    """
    by_name = guess_columns(frame.columns, dict(mapping))
    choice = {"left", "right"} <= set(by_name)
    needed = [role for role in ("participant", "item", "response") if not (role == "item" and choice)]
    if all(mapping.get(role, role) == role and role in frame.columns for role in needed):
        # Numbers and words are answers to different questions, which another column may tell apart.
        given = frame.group_by(pl.col("response").cast(pl.String), maintain_order=True).len()
        given = given.filter(~pl.col("response").is_in(MISSING))
        number = Content("response", given["response"]).numbers.is_not_null()
        numbers, words = (int(part["len"].sum()) for part in (given.filter(number), given.filter(~number)))
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
    """Whether a column under another name says of some trials that they are fillers, practice or checks."""
    named = [n for n in frame.columns if plain(n) in FUNCTION_NAMES or "type" in words_of(n)]
    return any(BESIDE_LISTS & set(Content(name, frame[name]).functions.values()) for name in named)


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
        found = self.roles.mapping
        self.roles.mapping = {role: found[role] for role in NAMES if role in found} | found
        return self.roles

    # -- helpers

    def _free(self) -> list[Content]:
        return [self.contents[name] for name in self.contents.names if name not in self.taken]

    def _take(self, role: str, source: str) -> None:
        self.roles.mapping[role] = source
        self.taken |= set(joined(source, self.contents.names))

    def _take_question(self, source: str) -> None:
        self._take("question", source)
        self.roles.notes.append(Message("role.question", {"column": source}))

    def _ask(self, role: str, choices: Sequence[Proposal]) -> None:
        self.roles.open.append(Question(role, tuple(choices)))

    @property
    def person(self) -> list[str]:
        source = self.roles.mapping.get("participant", "")
        return joined(source, self.contents.names) if source else []

    @property
    def question(self) -> list[str]:
        """The column of the question, where it is known from the form of the table or from the user."""
        source = self.roles.mapping.get("question", "")
        return joined(source, self.contents.names) if source else []

    def _of_person(self, content: Content) -> bool:
        """Whether a column is the same in all rows of a participant; with one row each, this says nothing."""
        if not self.person or self.contents.combinations(self.person) >= NEARLY * self.contents.codes.height:
            return False
        return self.contents.follows(content.name, self.person)

    def _dispersion(self, content: Content) -> float:
        """How much participants differ in how often they have each value, beside what chance would give."""
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
            # What was shown comes again with each question on it, and would seem to differ more than by chance.
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
        found = []
        for content in self._free():
            name = content.plain
            exact = name in NAMES["participant"]
            word = any(part in PERSON_WORDS for part in words_of(content.name)) and not content.is_text
            loose = name in PERSON_IDS or content.are_person_codes
            loose = loose or content.name == OWN_FILE
            if not (exact or word or loose) or content.filled < FEWEST_IN_LIST or content.distinct < 1:
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
            others = [name for name in self.contents.names if name != content.name]
            varied = alone or any(self.contents.varies_within(other, content.name) for other in others)
            if not varied or (content.distinct == 1 and not exact):
                continue
            rank = NAMES["participant"].index(name) if exact else 99
            # The subject of a sentence has a type too.
            few = not exact and content.distinct < FEWEST_PEOPLE
            found.append((content.filled < 0.9, not exact, alone, few, -people, not word, content.distinct == 1, rank,
                          content))  # fmt: skip
        rivals = [one[-1] for one in found]
        found = [one for one in found if not self._holds_verdicts(one[-1], rivals)]
        found.sort(key=lambda one: one[:-1])
        if not found or (found[0][1] and self._shares_hashes(found[0][-1])):
            self._participant_of_ibex()
            self._participant_by_trials()
            return
        best, sure = found[0][-1], not any(found[0][:3])
        group = SHEET if self._counts_anew(best) else self._group_of_people(best)
        if group:
            self._take("participant", f"{group}+{best.name}")
            self._ask(
                "participant", [self._choice("participant", parts) for parts in ([group, best.name], [best.name])]
            )
            return
        self._take("participant", best.name)
        if not sure:
            rest = [one[-1] for one in found[1:] if not self._same(one[-1].name, best.name)]
            self._ask("participant", [self._choice("participant", [one.name]) for one in [best, *rest][:3]])
        twin = [one[-1].name for one in found[1:] if self._same(one[-1].name, best.name)]
        self.taken |= set(twin)
        empty = [c for c in self._free() if c.plain in NAMES["participant"] and c.filled < FEWEST_IN_LIST]
        for content in empty:
            self.taken.add(content.name)
            values = {"column": content.name, "share": round(100 * (1 - content.filled)), "used": best.name}
            self.roles.notes.append(Message("role.empty_participant", values))

    verdicts: str = ""
    """A column that is called judge and holds what was said."""

    def _holds_verdicts(self, content: Content, rivals: Sequence[Content]) -> bool:
        """Whether what is called a judge is what people said: few values, which come again on everything judged.

        A judge judges each thing once. This shows where others may be the participants, or where no other column is
        called as answers are.
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
        """Whether participants are numbered from 1 on each sheet of a workbook: then 1 is somebody else on each."""
        if SHEET not in self.contents.names or not content.is_whole:
            return False
        sheets = pl.DataFrame({"sheet": self.contents[SHEET].cells, "n": content.numbers}).drop_nulls()
        each = sheets.group_by("sheet").agg(
            pl.col("n").min().alias("low"), pl.col("n").max().alias("high"), pl.col("n").n_unique().alias("people")
        )
        counted = (each["low"] == 1) & (each["high"] == each["people"]) & (each["people"] > 1)
        return each.height > 1 and bool(counted.all())

    def _group_of_people(self, content: Content) -> str | None:
        """A column that cannot vary, such as age (adult, child), where many participants have several of its levels."""
        for other in self._free():
            named = describes_a_person(other.name) and other.plain not in OF_ITEMS_TOO
            if named and not other.is_number and 1 < other.distinct <= MOST_FACTOR_LEVELS and other.filled > NEARLY:
                both = self.contents.combinations([other.name, content.name]) - content.distinct
                if both >= FEWEST_SHARED * content.distinct:
                    return other.name
        return None

    def _is_once_per_file(self, content: Content) -> bool:
        """Whether a column is another one in every row of a file: it numbers what was judged, not who judged."""
        if OWN_FILE not in self.contents.names:
            return False
        return self.contents.combinations([content.name, OWN_FILE]) >= NEARLY * self.contents.codes.height

    def _numbers_texts(self, content: Content) -> bool:
        """Whether texts that come again are always under one id: it is theirs, as several people judge a text."""
        texts = [c.name for c in self._free() if c is not content and c.is_text and 2 * c.distinct <= self.rows]
        return any(self.contents.follows(content.name, [name]) for name in texts)

    def _has_one_answer(self) -> bool:
        """Whether exactly one column is called as answers are: then a row with its own participant is a trial."""
        named = [c for c in self._free() if c.plain in NAMES["response"] and c.distinct > 1]
        return len(named) == 1

    def _shares_hashes(self, content: Content) -> bool:
        """Whether several people have the hash of one address: results under it came at several times."""
        times = [c.name for c in self._free() if RECEIVED.search(c.plain) and c.is_whole]
        if not times or not all(re.fullmatch(r"[0-9a-f]{32}", value) for value in content.values[:20]):
            return False
        both = self.contents.combinations([times[0], content.name])
        return content.distinct < both <= self.rows / 3

    def _participant_of_ibex(self) -> None:
        """Ibex identifies people by the time at which results came and the hash of the address."""
        plainly = {content.plain: content.name for content in self._free()}
        hashes = [name for key, name in plainly.items() if "md5" in key or key == "hash"]
        times = [name for key, name in plainly.items() if RECEIVED.search(key)]
        if hashes and times:
            self._take("participant", f"{times[0]}+{hashes[0]}")
            self._ask("participant", [self._choice("participant", [times[0], hashes[0]])])

    def _participant_by_trials(self) -> None:
        """Codes that are called after nobody, and of which each has every item at most once, and several items."""
        if "participant" in {*self.roles.mapping, *self.by_name}:
            return
        items = [c for c in self._free() if (c.is_text or self._names_items(c)) and c.distinct >= FEWEST_ITEMS]
        items = [c for c in items if c.distinct <= self.rows / PAIR]
        for content in self._free():
            coded = all(re.search(r"\d", value) for value in content.values) and not content.is_text
            if not coded or content in items or not FEWEST_PEOPLE <= content.distinct <= self.rows / FEWEST_ITEMS:
                continue
            if content.is_other or PLACES.fullmatch(content.plain) or LAYOUT.fullmatch(content.plain):
                continue
            each = [item for item in items if self.contents.varies_within(item.name, content.name)]
            once = NEARLY * self.contents.codes.height
            if any(self.contents.combinations([content.name, item.name]) >= once for item in each):
                self._take("participant", content.name)
                self._ask("participant", [self._choice("participant", [content.name])])
                return

    def _same(self, one: str, other: str) -> bool:
        return self.contents.follows(one, [other]) and self.contents.follows(other, [one])

    def _functions(self) -> None:
        """A column whose values all say what a trial is for; or one in which a level is called filler or practice."""
        if "function" in self.mapping:
            return
        whole, part = [], []
        several = joined(self.mapping.get("item", ""), self.contents.names)
        joint = [self.contents[name] for name in several if len(several) > 1]
        for content in [*self._free(), *joint]:
            named = content.plain in FUNCTION_NAMES or "type" in words_of(content.name)
            exact = content.plain in NAMES["function"]
            known = self._known_functions(content, is_named=named or exact)
            if not known or content.distinct > MOST_FUNCTIONS or self._of_person(content) or content.is_text:
                if exact and content.distinct and not self._of_person(content):
                    self._not_functions(content)
                continue
            every = len(known) == content.distinct and (len(set(known.values())) > 1 or exact)
            marked = {word for word in known.values() if word != "test"}
            if every and (named or len(marked) > 0):
                whole.append((not exact, not named, known, content))
            elif marked and (content.plain not in LIST_NAMES or marked <= BESIDE_LISTS):
                part.append((not exact, not named, -len(known), known, content))
        chosen = min(whole, key=lambda one: one[:-2], default=None) or min(part, key=lambda one: one[:-2], default=None)
        if chosen is None:
            if not self._functions_by_flag():
                self._functions_of_items()
            return
        known, content = chosen[-2:]
        if not chosen[0] and set(map(str.lower, content.values)) <= set(FUNCTIONS):
            self._take("function", content.name)
            return
        self.roles.functions = {value: known.get(value, "test") for value in content.values}
        self.roles.functions |= self._functions_by_cells(content)
        self.roles.mapping["function"] = self._with_functions_of_rest(content)
        if chosen in whole or not chosen[1] or content.plain in LIST_NAMES:
            self.taken.add(content.name)
        spelled = {v: f for v, f in self.roles.functions.items() if f != "test" and " + " not in v}
        self._note_functions(self.roles.mapping["function"], spelled)

    def _known_functions(self, content: Content, *, is_named: bool) -> dict[str, str]:
        """The levels of a column that name functions; a column that is named so may do it in phrases."""
        # A phrase that contains such a word is a level of something else, such as "with training".
        known = {
            v: f for v, f in content.functions.items()
            if is_named or len(v.split()) < PHRASE or flagged_function(words_of(v))
        }  # fmt: skip
        if "control" in known.values() and self._is_baseline(content, known):
            known = {value: function for value, function in known.items() if function != "control"}
        return known if is_named else self._without_judged(content, known)

    def _without_judged(self, content: Content, functions: Mapping[str, str]) -> dict[str, str]:
        """The functions without words such as train or anchor that are judged, like many others and no more often."""
        bare = [value for value in content.values if re.fullmatch(r"[^\W\d]+", value)]
        if content.distinct <= MOST_LEVELS or len(bare) < MOSTLY * content.distinct:
            return dict(functions)
        rows = dict(content.cells.value_counts().iter_rows())
        usual = content.cells.count() / content.distinct
        return {v: f for v, f in functions.items() if v not in bare or ONE_PERSON * rows.get(v, 0) > usual}

    def _is_baseline(self, content: Content, functions: Mapping[str, str]) -> bool:
        """Whether control is a condition: the same named items were shown in it and in the other levels.

        Numbers of items may begin anew for control items, so they show nothing.
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

    def _note_functions(self, column: str, functions: Mapping[str, str]) -> None:
        spelled = [f"{value}={function}" for value, function in functions.items()]
        self.roles.notes.append(Message("role.functions", {"column": column, "functions": spelled}))

    def _with_functions_of_rest(self, content: Content) -> str:
        """The column of functions, joined with one that names functions only where the first says test or nothing.

        One of the two must be empty where the other names them: a condition that is called control has all its rows.
        """
        own = self.roles.functions
        marked = content.cells.replace_strict(own, default="test", return_dtype=pl.String) != "test"
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
            both = {
                f"{one} + {two}": word if word != "test" else more[two] for one, word in own.items() for two in more
            }
            self.roles.functions = {**more, **own, **both}
            return f"{content.name}+{other.name}"
        return content.name

    def _functions_by_flag(self) -> bool:
        """A column such as practice or is_filler that says yes in the trials of that function; whether there is one."""
        marks: dict[str, pl.Series] = {}
        found: dict[str, tuple[str, dict[str, str]]] = {}
        for content in self._free():
            function = flagged_function(words_of(content.name))
            values = {value.strip().lower(): value for value in content.values}
            no = next((low for low, high in FLAGS if {low, high} == set(values)), None)
            if function is None or no is None or self._of_person(content):
                continue
            marks[content.name] = (content.cells != values[no]).fill_null(False)
            found[content.name] = function, {value: "test" if low == no else function for low, value in values.items()}
        for name, (function, functions) in found.items():
            both = any((marks[name] & marks[other]).any() for other, (own, _) in found.items() if own != function)
            share = marks[name].sum() / self.contents[name].cells.drop_nulls().len()
            if function in CHECKS and (both or share > MOST_CHECKS):
                continue  # what was asked about, such as how much attention an event draws and who has control of it
            self.roles.functions = functions
            self.roles.mapping["function"] = name
            self.taken.add(name)
            self._note_functions(name, {value: word for value, word in functions.items() if word != "test"})
            return True
        return False

    def _functions_of_items(self) -> None:
        """Items whose names say what they are for: example1 and control2 among many others."""
        for content in self._free():
            if content.distinct <= MOST_FUNCTIONS or content.is_text or content.is_number or self._of_person(content):
                continue
            words = {value: function_word(re.sub(r"[\W\d_]+", "", value)) for value in content.values}
            known = {value: word for value, word in words.items() if word is not None and NUMBERED.fullmatch(value)}
            if known and 2 * len(known) <= content.distinct and set(known.values()) - {"test"}:
                self.roles.functions = {value: known.get(value, "test") for value in content.values}
                self.roles.mapping["function"] = content.name
                self._note_functions(content.name, {value: word for value, word in known.items() if word != "test"})
                return

    def _functions_by_cells(self, content: Content) -> dict[str, str]:
        """Levels without a word for a function, where the same cells are empty as in practice or attention trials.

        This shows only where the test items have a word of their own: main, test or critical.
        """
        known = content.functions
        if "test" not in known.values() or len(known) == content.distinct:
            return {}
        others = [name for name in self.contents.names if name != content.name]
        counts = self.contents.frame.group_by(content.name).agg(pl.col(others).null_count() == pl.len())
        empty = {str(level): cells for level, *cells in counts.iter_rows() if level is not None}
        tested = [empty[level] for level, word in known.items() if word == "test" and level in empty]
        found = {}
        for level, cells in empty.items():
            alike = [known[other] for other in known if known[other] != "test" and empty.get(other) == cells]
            if level not in known and alike and cells not in tested:
                found[level] = "attention" if "attention" in alike else alike[0]
        return found

    def _not_functions(self, content: Content) -> None:
        values = {"column": content.name, "values": content.values[:4], "n": content.distinct}
        self.roles.notes.append(Message("role.no_function", values))

    def _times(self) -> None:
        for role in ("rt", "time"):
            source = self.by_name.get(role)
            if role in self.mapping or source is None or source in self.taken:
                continue
            content = self.contents[source]
            numbers = content.numbers.drop_nulls()
            if role == "time" and len(numbers) and (numbers < UNIX_2000).all():
                # Numbers too small for points in time are response times, or what has passed since the start.
                if "rt" not in self.roles.mapping and not self._rises(content):
                    self._take("rt", source)
                continue
            clock = content.values and all(re.fullmatch(r"\d{1,2}:\d\d(:\d\d([.,]\d+)?)?", v) for v in content.values)
            if role == "rt" and not clock and numbers.len() < 0.9 * content.cells.drop_nulls().len():
                continue
            if role == "rt" and self._is_of_session(content):
                continue
            if role == "time" and self.person and self._of_person(content):
                continue
            if role == "time" and content.distinct and not are_instants(content.values):
                values = {"column": source, "values": [cut(value) for value in content.values[:3]]}
                self.roles.notes.append(Message("role.other_content", values))
                continue
            if content.filled > 0:
                self._take(role, source)
        timed = [
            c for c in self._free() if words_of(c.name)[-1:] in (["rt"], ["rts"]) and c.is_number and c.filled > 0.3
        ]
        # Beside the times of words and blocks, that of the answer is called response_rt or choice_rt.
        answered = [c for c in timed if set(words_of(c.name)[:-1]) & set(ANSWER_WORDS)]
        timed = answered if len(answered) == 1 else timed or [
            c for c in self._free()
            if without_unit(c.name)[1] and c.is_other and c.is_number and c.filled > ANSWERED
            and not self._is_of_session(c) and not self._rises(c)
        ]  # fmt: skip
        if "rt" not in self.roles.mapping and len(timed) == 1:
            self._take("rt", timed[0].name)

    def _is_of_session(self, content: Content) -> bool:
        """Whether a time is the same in all rows of a participant or of a session: then it times the whole.

        The working time of a crowd worker with one row is that of the whole, too.
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
        beside = _is_beside(content) or any(w in NO_ANSWER_WORDS for w in words_of(content.name)[-1:])
        # The key that was pressed may be the point of a scale.
        beside = beside and not (content.plain == "key" and self._are_points(content))
        if (
            beside
            or PLACES.fullmatch(content.plain)
            or content.filled < 1 - SPARSE
            or words_of(content.name)[-1:] == ["id"]
        ):
            return False
        return content.is_number or content.distinct <= 60 or _is_list(content)

    def _may_be_response(self, content: Content) -> bool:
        """Whether a column may hold the answers: by its name, or by how its values are distributed."""
        exact = content.plain in NAMES["response"]
        if content.functions and len(content.functions) == content.distinct:
            return False
        if content.is_whole and self._is_position(content):
            return False
        if content.plain in NAMES["expected"] and not self._differs_on_stimuli(content):
            return False
        if exact:
            shown = content.is_text and self._is_of_item(content)
            return content.distinct > 1 and content.filled > FEWEST_FILLED and not shown
        worded = content.is_text and not sides_of(content.values[: MOST_LEVELS + 1])
        if not self._is_answer_like(content) or content.plain in NAMES["item"] or worded:
            return False
        if content.plain in LIST_NAMES:
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
        """Whether a text that several participants saw always comes with the same value: then it was shown, too."""
        texts = [
            c.name for c in self._free()
            if c is not content and c.is_text and FEWEST_ITEMS <= c.distinct <= self.rows / FEWEST_SEEN
            and c.distinct >= FEWEST_SEEN * content.distinct and c.filled > NEARLY
        ]  # fmt: skip
        return any(self.contents.follows(content.name, [text]) for text in texts)

    def _are_points(self, content: Content) -> bool:
        """Whether a column holds points of a scale that no design gave: answers, whatever the column is called."""
        if not self.person or not content.is_whole or not FEWEST_ANSWERS <= content.distinct <= MOST_LEVELS:
            return False
        low, high = float(str(content.numbers.min())), float(str(content.numbers.max()))
        if low not in (0.0, 1.0) or high > MOST_LEVELS or content.distinct < high - low:
            return False
        if self._names_items(content) or PLACES.fullmatch(content.plain) or LAYOUT.fullmatch(content.plain):
            return False
        named = content.plain in SESSION_NAMES or content.is_other or content.is_about_people
        return not named and not self._of_person(content) and self._dispersion(content) >= FREE

    def _differs_on_stimuli(self, content: Content) -> bool:
        """Whether participants have different values where all that may describe a stimulus is the same."""
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
        """Whether everybody has the same value on the same item: it was shown or is right, as answers would differ."""
        items = [
            c.name for c in self._free()
            if c is not content and not _says_answer(c)
            and (self._names_items(c) or c.is_text or words_of(c.name)[-1:] == ["id"])
            and not {"chosen", "selected", "preferred"} & set(words_of(c.name))
            and FEWEST_ITEMS <= c.distinct <= self.rows / 2 - FEWEST_ROWS
        ]  # fmt: skip
        asked = [c.name for c in self._free() if c.plain in QUESTION_NAMES]
        return bool(self.person) and any(
            self._is_judged_once(name, asked) and self.contents.follows(content.name, [name]) for name in items
        )

    def _is_key(self, content: Content) -> bool:
        """Whether a column called label or score holds what is right of an item."""
        return content.plain in WEAK_ANSWERS and self._is_of_item(content)

    def _response(self) -> None:
        if "response" in self.mapping:
            return
        if self._keyed():
            return
        found = []
        for content in self._free():
            if self._may_be_response(content):
                exact = content.plain in NAMES["response"]
                rank = NAMES["response"].index(content.plain) if exact else 99
                found.append((not self._is_answer_like(content) or self._is_key(content), not exact,
                              content.plain in WEAK_ANSWERS, _is_of_check(content),
                              not _says_answer(content), not self._names_file(content), rank, not _says_rating(content),
                              not content.is_number, content))  # fmt: skip
        found.sort(key=lambda one: one[:-1])
        unnamed = not any(_says_answer(one[-1]) for one in found)
        if not found or self._is_key(found[0][-1]) or (unnamed and self._given_as_right()):
            self._propose_response()
            if not found or "response" in self.roles.mapping:
                return
        best = found[0][-1]
        full = [one[-1] for one in found if one[-1].filled > 0.6]
        if best.filled < 0.5 and full:
            best = full[0]
        rated = [one for one in full if one.name.startswith((f"{best.name}_", f"{best.name}.")) and one.is_number]
        if best.distinct == PAIR and not best.is_number and rated and rated[0].distinct > PAIR:
            best = rated[0]  # in two words, a check beside the rating
        sure = best.plain in NAMES["response"] and best.plain not in VAGUE_ANSWERS and not found[0][0]
        rivals = [
            one[-1] for one in found
            if one[-1] is not best and one[-1].plain in NAMES["response"] and one[-1].filled >= 0.3
            and not self._same(one[-1].name, best.name) and self._dispersion(one[-1]) >= 1
        ]  # fmt: skip
        if _is_list(best):
            sure = False
        self._take("response", best.name)
        if not sure or rivals or best.filled < 0.5:
            others = [*rivals, *(one[-1] for one in found if one[-1] is not best and one[-1] not in rivals)]
            self._ask("response", [self._choice("response", [one.name]) for one in [best, *others][:3]])
        self.second = [
            one[-1].name for one in found
            if one[-1] is not best and (self._dispersion(one[-1]) >= 1 or (_says_answer(one[-1]) and one[-1].is_number))
        ]  # fmt: skip

    def _keyed(self) -> bool:
        """Answers beside columns with their keys, as Figure Eight (CrowdFlower) and Toloka name them."""
        keys = {
            c.name: key for c in self._free() if c.distinct > 1 and "expected" not in self.mapping
            for key in (f"{c.name}_gold", c.name.replace("OUTPUT:", "GOLDEN:"))
            if key != c.name and key in self.contents.names
        }  # fmt: skip
        # A question that follows some answers to another stands behind that one.
        answers = sorted(keys, key=lambda name: -self.contents[name].filled)
        for name in answers[:1]:
            self._take("response", name)
            self._take("expected", keys[name])
        if len(answers) > 1:
            self._ask("response", [self._choice("response", [name]) for name in answers[:3]])
        return bool(answers)

    second: Sequence[str] = ()

    def _time_of_answer(self) -> None:
        """Of several response times, the one that is called after the answers: judge.rt beside judge.keys."""
        source = self.roles.mapping.get("response", "")
        names = {plain(f"{source.rpartition('.')[0]}.rt"), plain(f"{source}_rt"), plain(f"rt_{source}")}
        own = next((c.name for c in self._free() if c.plain in names and c.is_number), None)
        if "rt" not in self.roles.mapping and own is not None:
            self._take("rt", own)

    def _answered_only(self) -> None:
        """Where only some rows have an answer, what was judged is looked for in these: others are not trials."""
        source = self.roles.mapping.get("response")
        if source not in self.contents.names or self.contents[source].filled >= ANSWERED:
            return
        rows = self.contents.frame.filter(pl.col(source).is_not_null())
        if rows.height:
            self.contents, self.rows, self.levels = Contents(rows), rows.height, {}

    def _with_items_only(self) -> None:
        """Without the rows of other tasks, which a column of few levels keeps apart and in which no item is shown."""
        few = [c for c in self._free() if 1 < c.distinct <= MOST_LEVELS and c.filled == 1]
        for content in self._free() if "item" not in self.mapping else ():
            empty = content.cells.is_null()
            shown = self._names_items(content) and FEWEST_ITEMS <= content.distinct <= content.cells.count() / PAIR
            if not shown or not 0 < empty.mean() <= FEWEST_SHARED:  # type: ignore[operator]
                continue
            for other in few:
                kinds = (
                    pl.DataFrame({"level": other.cells, "empty": empty}).group_by("level").agg(pl.col("empty").mean())
                )
                if set(kinds["empty"]) == {0.0, 1.0}:
                    rows = self.contents.frame.filter(~empty)
                    self.contents, self.rows, self.levels = Contents(rows), rows.height, {}
                    return

    def _names_file(self, content: Content) -> bool:
        """Whether the file is called after a column: mega-veridicality.csv holds judgments of veridicality."""
        return any(len(word) > LONGEST_CODE and word in self.file_words for word in words_of(content.name))

    def _propose_response(self) -> None:
        """Where no name or distribution decides, what differs between participants on the same stimuli is offered.

        Of one participant, or where each item was judged once, only names say what the answers are.
        """
        once = any(self._names_items(c) and c.distinct >= NEARLY * self.rows for c in self._free())
        alone = bool(self.person) and (once or self.contents.combinations(self.person) == 1)
        # Where people are mostly right, they have the levels of a key nearly as often as each other.
        keys = [set(c.values) for c in self._free() if self._is_key(c)]
        found = [
            content for content in self._free()
            if self._is_answer_like(content) and content.plain not in NAMES["item"] and not content.is_text
            and (content.is_number or content.distinct <= FEW_WORDS) and not CHOSEN.fullmatch(content.name.lower())
            and not self._is_position(content) and not ROW_NUMBERS.fullmatch(content.plain)
            and not (content.functions and len(content.functions) == content.distinct)
            and (_says_answer(content) or self._dispersion(content) >= DESIGNED or set(content.values) in keys)
            and (self._differs_on_stimuli(content) or (alone and _says_answer(content)))
        ]  # fmt: skip
        found.sort(key=lambda c: (not _says_answer(c), not c.is_whole, -self._dispersion(c)))
        found = self._shown_on_a_side() or found
        if not any(_says_answer(c) for c in found):
            # Where no answer is left, the table may say whether it was right.
            named = [c for c in self._free() if c.plain in ACCURACY or words_of(c.name)[-1:] in RIGHT]
            right = [c for c in named if set(c.values) == {"0", "1"}]
            right += self._given_as_right()
            found = [*right, *(c for c in found if c not in right)]
        if found:
            self._take("response", found[0].name)
            self._ask("response", [self._choice("response", [one.name]) for one in found[:3]])

    def _given_as_right(self) -> list[Content]:
        """Columns called correct_response in which people differ: what is right is the same for everybody."""
        return [c for c in self._free() if c.plain in NAMES["expected"] and self._differs_on_stimuli(c)]

    def _shown_on_a_side(self) -> list[Content]:
        """A column that holds, in every row, what one of two others shows: the one of two stimuli that was chosen."""
        free = self._free()
        texts = [c for c in free if c.is_text and not _says_answer(c)][:MOST_TEXTS]
        # What is called chosen may stand beside texts that are called by their conditions, such as good and bad.
        named = [c for c in free if c.is_text and _says_answer(c)]
        return [
            *(content for first, second in SIDES for pair in _pairs_of(free, first, second)
              for content in free if content not in pair and names_one_of(content, *pair)),
            *(c for pair in combinations(texts, PAIR) for c in named if names_one_of(c, *pair)),
        ][:1]  # fmt: skip

    def _is_position(self, content: Content) -> bool:
        """Whether a whole number only counts what came before: distinct within people, and rising as they go on."""
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
        named = [self.by_name["trial"]] if "trial" in self.by_name else []
        named += [c.name for c in self._free() if PLACES.fullmatch(c.plain) and c.name not in named]
        for name in named:
            if name in self.taken:
                continue
            content = self.contents[name]
            if not content.is_whole or content.filled < 0.5:
                if content.plain in NAMES["trial"] and content.distinct > 1:
                    values = {"column": name, "values": content.values[:3]}
                    self.roles.notes.append(Message("role.no_position", values))
                continue
            keys = [*self.person, *self.question, name]
            if self.person and self.contents.combinations(keys) < 0.3 * self.contents.codes.height:
                continue
            if self._numbers_items(content):
                continue
            self._take("trial", name)
            return

    def _numbers_items(self, content: Content) -> bool:
        """Whether a number belongs to the item: everybody has it on the same item, and skips those of other items.

        In a fixed order, too, a position follows from the item, but nobody skips one.
        """
        shared = [c.name for c in self._free() if c is not content and FEWEST_ITEMS <= c.distinct <= self.rows / PAIR]
        if not self.person or not any(self._same(content.name, name) for name in shared):
            return False
        numbers = self.contents.frame.select(*self.person, pl.col(content.name).cast(pl.Float64, strict=False))
        each = numbers.group_by(self.person).agg(
            (pl.col(content.name).max() - pl.col(content.name).min() + 1).alias("span"), pl.len().alias("n")
        )
        return bool((each["span"] > each["n"]).mean() > MOSTLY)  # type: ignore[operator]

    def _design(self) -> list[Content]:
        """The columns that may say what was judged."""
        found, uneven = [], []
        for content in self._free():
            if content.distinct < 2 or content.filled < 1 - SPARSE or content.distinct >= MOSTLY_OWN * self.rows:
                continue
            if content.is_other or content.is_about_people or self._is_second_answer(content):
                continue
            if (
                (ROW_NUMBERS.fullmatch(content.plain) and not self._is_judged_by_several(content))
                or CHOSEN.fullmatch(content.name.lower())
                or (LAYOUT.fullmatch(content.plain) and not self._is_heard(content))
                or _is_beside_the_answer(content)
                or _is_list(content)
            ):
                continue
            if content.is_number and not content.is_whole and content.distinct > MOST_LEVELS:
                continue
            if self._is_written_by_one(content) or LOOPS.fullmatch(content.plain) or _names_sides(content):
                continue
            if self._holds_the_answer(content) or self._is_part_of_answer(content) or self._is_marked(content):
                continue
            if "trial" in self.roles.mapping and all(PLACE.fullmatch(value) for value in content.values):
                continue
            named = content.plain in NAMES["item"] and not PLACES.fullmatch(content.plain)
            named = named or self._is_judged_by_several(content) or self._is_id(content)
            if self._of_person(content) or (not named and self._is_position(content)):
                continue
            measured = content.distinct <= MOST_LEVELS or (content.is_number and content.distinct > 20)
            measured = measured and not self._names_items(content) and not self._between_lists(content)
            if (measured and self._dispersion(content) > OVERDISPERSED) or self._is_ticked(content):
                uneven.append(content)
                continue
            found.append(content)
        # Positions that begin anew in each block say nothing of the item where something else does.
        shown = [content for content in found if not (PLACES.fullmatch(content.plain) and content.is_whole)] or found
        return [*shown, *(content for content in uneven if self._is_crossed_between(content, shown))]

    def _holds_the_answer(self, content: Content) -> bool:
        """Whether all who have the same text gave the same of several answers: the text has the answer in it."""
        source = self.roles.mapping.get("response", "")
        if source not in self.contents.names or not content.is_text or self.contents[source].distinct <= PAIR:
            return False
        again = self.contents.codes.height - self.contents.combinations([content.name])
        return again >= FEWEST_ROWS and self.contents.follows(source, [content.name])

    def _is_marked(self, content: Content) -> bool:
        """Whether participants marked parts of a text: without the marks, it follows from other columns."""
        if not content.is_text or not content.cells.str.contains(MARKED).mean() >= FEWEST_FILLED:  # type: ignore[operator]
            return False
        bare = Contents(self.contents.frame.with_columns(content.cells.str.replace_all(MARKED, "").alias(content.name)))
        return bare[content.name].distinct < NEARLY * content.distinct

    def _is_part_of_answer(self, content: Content) -> bool:
        """Whether a column comes from the same cells as the answers, response[2] beside response[1], or codes them."""
        source, part = self.roles.mapping.get("response", ""), r"\[\d+\]$"
        if re.search(part, source) and re.sub(part, "", source) == re.sub(part, "", content.name):
            return True
        shared = source in self.contents.names and FEWEST_ITEMS <= content.distinct <= self.rows / PAIR
        return shared and self._same(source, content.name)

    def _is_heard(self, content: Content) -> bool:
        """Whether a column names the speakers that listeners judge."""
        return "speaker" in words_of(content.name) and any("listener" in words_of(name) for name in self.person)

    def _is_judged_by_several(self, content: Content) -> bool:
        """Whether what is called a row is a row of the materials: most participants have it, each of them once."""
        if not self.person or content.plain != "row" or 2 * content.distinct > self.rows:
            return False
        in_order = content.numbers.is_sorted() or content.numbers.is_sorted(descending=True)
        return self._is_judged_once(content.name, []) and (in_order or not self._is_position(content))

    def _is_id(self, content: Content) -> bool:
        """Whether a column is an id with more values than anybody has answers; sorted by it, a file looks counted."""
        if words_of(content.name)[-1:] != ["id"] or not self.person:
            return False
        answers = self.contents.codes.group_by([*self.person, *self.question]).len()["len"]
        return content.distinct > int(answers.max())  # type: ignore[arg-type]

    def _is_crossed_between(self, content: Content, design: Sequence[Content]) -> bool:
        """Whether a column is a factor that most participants have one level of: all stimuli come in every level."""
        if not design or not self.person or content.distinct > MOST_LEVELS:
            return False
        levels = self.contents.codes.group_by(self.person).agg(pl.col(content.name).n_unique().alias("n"))["n"]
        if (levels == 1).mean() < MOSTLY:  # type: ignore[operator]
            return False
        names = [one.name for one in design]
        crossed = self.contents.combinations(names) * content.distinct
        return self.contents.combinations([*names, content.name]) >= NEARLY * crossed

    def _is_written_by_one(self, content: Content) -> bool:
        """Whether nearly every value is one participant's own, as comments and reasons are; stimuli are shared."""
        if not self.person or content.distinct < FEWEST_ITEMS or self._names_items(content) or not content.is_text:
            return False
        several = self.contents.codes.group_by(content.name).agg(pl.struct(self.person).n_unique().alias("n"))["n"]
        people = self.contents.combinations(self.person) if self.person else 0
        return people >= FEWEST_ITEMS and bool((several == 1).mean() >= ONE_PERSON)  # type: ignore[operator]

    def _is_ticked(self, content: Content) -> bool:
        """Whether a column is a box that participants tick or not: true and false, by nobody's design."""
        values = {re.sub(r'[\s"]', "", value).lower() for value in content.values} - {""}
        if not {"true", "false"} <= values or len(values) > MOST_TICKED or self._between_lists(content):
            return False
        return self._dispersion(content) >= FREE and self._differs_on_stimuli(content)

    def _is_second_answer(self, content: Content) -> bool:
        """Whether a column holds answers to another question on the same stimuli."""
        if content.name in self.second or self._are_points(content) or self._has_the_same_answers(content):
            return True
        if self._shares_a_level(content) or re.search(rf"(?:^|[\W_])(?:{CHOICE_MADE})$", content.name.lower()):
            return True
        if content.plain in CERTAIN_ANSWERS and content.distinct <= MOST_LEVELS and self._differs_on_stimuli(content):
            return True
        if self._is_slider(content):
            return True
        if not _says_answer(content) or not self._is_answer_like(content):
            return False
        once = not self.person or self.contents.combinations(self.person) >= NEARLY * self.contents.codes.height
        source = self.roles.mapping.get("response", "")
        once = once and content.is_number and source in self.contents.names and self.contents[source].is_number
        return (once or self._dispersion(content) >= FREE) and self._differs_on_stimuli(content)

    def _is_slider(self, content: Content) -> bool:
        """Whether a number with many values comes again for participants, by no design; that of an item does not."""
        if not self.person or not content.is_whole or content.distinct <= MOST_NUMBERED:
            return False
        if self._names_items(content) or words_of(content.name)[-1:] == ["id"] or self._dispersion(content) < FREE:
            return False
        again = self.contents.combinations([*self.person, *self.question, content.name])
        return again < NEARLY * self.contents.codes.height and self._differs_on_stimuli(content)

    def _shares_a_level(self, content: Content) -> bool:
        """Whether a column has one word in common with the answers, always in the same rows, such as no-error."""
        source = self.roles.mapping.get("response", "")
        if source not in self.contents.names or content.is_number or content.distinct > FEW_LEVELS:
            return False
        answers = self.contents[source]
        common = set(content.values) & set(answers.values)
        if len(common) != 1 or min(content.distinct, answers.distinct) <= PAIR:
            return False
        (level,) = common
        if (content.cells == level).mean() < 1 - ANSWERED:  # type: ignore[operator]
            return False
        return bool(((content.cells == level).fill_null(False) == (answers.cells == level).fill_null(False)).all())

    def _has_the_same_answers(self, content: Content) -> bool:
        """Whether a column has the levels of the answers, and people differ in it where they judged the same."""
        source = self.roles.mapping.get("response", "")
        if source not in self.contents.names or not 2 <= content.distinct <= MOST_LEVELS:
            return False
        given = {value.strip().lower() for value in self.contents[source].values}
        if not {value.strip().lower() for value in content.values} <= given or self._between_lists(content):
            return False
        again = re.sub(r"\d", "", content.plain) == re.sub(r"\d", "", plain(source))  # label1, label2
        return (again or self._dispersion(content) >= DESIGNED) and self._differs_on_stimuli(content)

    def _between_lists(self, content: Content) -> bool:
        """Whether a column is the same throughout each list of a participant: lists differ in it, answers would not."""
        lists = [c.name for c in self.contents if c.plain in SESSION_NAMES]  # type: ignore[attr-defined]
        return any(self.contents.follows(content.name, [*self.person, one]) for one in lists if one != content.name)

    def _names_items(self, content: Content) -> bool:
        return content.plain in NAMES["item"] or any(word in ITEM_WORDS for word in words_of(content.name))

    def _sides(self) -> None:
        """Two columns whose names differ in a side, where the answers are these sides or what stands there."""
        source = self.roles.mapping.get("response")
        if (
            source not in self.contents.names
            or {"item", "left", "right"} & set(self.roles.mapping)
            or "left" in self.by_name
        ):
            return
        answers = self.contents[source]
        found = next(filter(None, (shown_sides(answers, self._free(), sides) for sides in (*SIDES, None))), [])
        # Systems come again and can be compared; the texts that they wrote come once.
        pairs = sorted(found, key=lambda pair: pair[0].distinct)
        for side, content in zip(("left", "right"), pairs[0] if pairs else (), strict=False):
            self._take(side, content.name)
        if pairs:
            choices = [
                Proposal({"left": one.name, "right": other.name}, self._choice("item", [one.name, other.name]).detail)
                for one, other in pairs[:3]
            ]
            self._ask("item", choices)

    def _item(self) -> None:
        names = self.contents.names
        numbered = plain(self.by_name.get("item", "")) in ("item", "itemid") or self._names_systems()
        if {"left", "right"} <= set(self.roles.mapping) and not numbered:
            self._prompt_of_choices()
            asked = self._question()
            known = [self.roles.mapping[role] for role in ("left", "right", "item") if role in self.roles.mapping]
            shown = [name for source in known for name in joined(source, names)]
            if asked and self._asks_again(shown, asked):
                self._take_question(asked)
            return
        self._scale_of_answers()
        self._dimension_of_people()
        question = self._question()
        if "item" in self.mapping or ({"left", "right"} <= set(self.by_name) and "item" not in self.by_name):
            if question and self._parts_answers(self.contents[question]):
                self._take_question(question)
            return
        design = self._without_numbers_of_trials([content for content in self._design() if content.name != question])
        named = [c for c in self._free() if c.plain in NAMES["item"] and c in design]
        native = min(named, key=self._is_weak, default=None)
        native = next((c for c in design if c.plain in (*ITEM, "itemid")), native)
        if not design and question and question not in self.taken and self._asks_again([], question):
            self._take_question(question)
            question, self.levels = None, {}
            design = self._without_numbers_of_trials(self._design())
        if not design:
            self._constant_item()
            return
        sure, parts = self._parts(design, native, question)
        apart = question and "question" not in self.roles.mapping
        if question and apart and (self._asks_again(parts, question) or self._parts_answers(self.contents[question])):
            self._take_question(question)
        elif question and question not in self.taken and "question" not in self.mapping:
            sure, parts = self._parts([*design, self.contents[question]], native, None)
        own = [c for c in self._free() if c.distinct >= MOSTLY_OWN * self.rows and self._names_items(c)]
        people = self.contents.combinations(self.person) if self.person else 0
        once = people == 1 or self.contents.combinations(parts) >= MOSTLY_OWN * self.rows
        if own and not sure and len(parts) > 1 and once:
            # Nothing was judged twice: the column with a value for each row names it best.
            design, parts = [*design, *(self.contents[name] for name in parts)], [own[0].name]
        same = [c for c in self._free() if c.plain in NAMES["item"] and c.distinct == 1 and c.filled > ANSWERED]
        if same and not sure and people == self.rows:
            # Everybody answered once: conditions may differ where the item is the same.
            design, parts = [*design, *(self.contents[name] for name in parts)], [same[0].name]
        self._take("item", "+".join(parts))
        if not sure:
            options = [parts, *([native.name] for native in [native] if native is not None)]
            # Numbers drawn at random for each trial look like answers.
            drawn = [c.name for c in self._free() if self._are_points(c) and not _says_answer(c)]
            options += [[*parts, *drawn]] if drawn else []
            options += [[c.name] for c in sorted(design, key=lambda c: -c.distinct) if c.distinct > 2]
            distinct = list(dict.fromkeys(tuple(option) for option in options))
            self._ask("item", [self._choice("item", list(option)) for option in distinct[:3]])

    def _names_systems(self) -> bool:
        """Whether the answers are the names of the columns with the two texts: then these are the same two systems."""
        named = [self.roles.mapping.get(role, "") for role in ("response", "left", "right")]
        known = [self.contents[name] for name in named if name in self.contents.names]
        return len(known) == len(named) and are_systems(known[0], known[1:])

    def _prompt_of_choices(self) -> None:
        """Where the same two systems are compared again and again, what they answered to is the item."""
        named = (c.name for c in self._free() if self._names_items(c) and not _says_answer(c))
        source = self.by_name.get("item") or next(named, None)
        if "item" in self.mapping or source is None or source in self.taken:
            return
        sides = [name for side in ("left", "right") for name in joined(self.roles.mapping[side], self.contents.names)]
        pairs = self.contents.combinations(sides)
        if self.contents[source].filled > ANSWERED and self.contents.combinations([*sides, source]) > 2 * pairs:
            self._take("item", source)

    def _constant_item(self) -> None:
        """Everybody judged the same thing, or each participant something else: what is named like an item is asked."""
        named = [c for c in self._free() if self._names_items(c) and c.distinct and not PLACES.fullmatch(c.plain)
                 and not c.is_other and c.filled > SPARSE and (c.is_whole or not c.is_number)]  # fmt: skip
        named.sort(key=lambda c: (c.distinct < 2, c.is_number))
        if named and self.rows >= FEWEST_ROWS:
            self._take("item", named[0].name)
            self._ask("item", [self._choice("item", [one.name]) for one in named[:3]])

    def _parts(self, design: list[Content], native: Content | None, question: str | None) -> tuple[bool, list[str]]:
        """What distinguishes stimuli, and whether that is certain."""
        names = [content.name for content in design]
        full = self.contents.combinations(names)
        asked = [question] if question else self.question
        if native is not None and native.plain in ITEM and self._is_judged_once(native.name, asked):
            return True, [native.name]
        single = [c for c in design if self.contents.combinations([c.name]) >= NEARLY * full and not c.is_about_people]
        single.sort(key=lambda c: (c.plain not in NAMES["item"], not self._names_items(c), "id" not in words_of(c.name),
                                   c.is_text))  # fmt: skip
        if single:
            best = single[0]
            codes = [c for c in single if "id" in words_of(c.name) and not c.is_text and not c.is_other]
            if best.is_text and codes:
                best = codes[0]
            named = best.plain in NAMES["item"] and not self._is_weak(best)
            texts = [c for c in design if c.is_text and c is not best]
            has_id = "id" in words_of(best.name) and any(self._same(best.name, c.name) for c in texts)
            # An id that each participant has once, and from which the rest of the design follows, is that of the item.
            has_id = has_id or (best.plain == "id" and len(design) > 1 and self._is_judged_once(best.name, asked))
            return named or has_id, [best.name]
        if native is not None and self._is_judged_once(native.name, asked) and not self._is_weak(native):
            return True, [self._code_of(native, design)]
        if native is not None and native.plain in (*ITEM, *NUMBERED_ITEMS):
            apart = [c.name for c in design if c.plain in EXPERIMENTS]
            if apart and self._is_judged_once(native.name, [*asked, *apart[:1]]):
                return False, [*apart[:1], native.name]
        numbered = [c for c in design if words_of(c.name)[-1:] == ["id"] and c.distinct >= FEWEST_ITEMS
                    and self._is_judged_once(c.name, asked)]  # fmt: skip
        if numbered:
            best = max(numbered, key=lambda c: c.distinct)
            shown = any(
                c is not best and c.distinct > PAIR and self.contents.follows(c.name, [best.name]) for c in design
            )
            return best.plain == "id" and shown, [best.name]
        texts = [c for c in design if c.is_text and FEWEST_ITEMS <= c.distinct <= self.rows / PAIR
                 and self._is_judged_once(c.name, asked)]  # fmt: skip
        # The same question may be put twice, once about oneself and once about somebody else, and have a number.
        alike = [name for name in names if texts and self._same(name, texts[0].name)]
        rest = [name for name in names if name not in alike]
        if (
            texts
            and {c.name for c in texts} <= {*alike}
            and self.contents.combinations([*self.person, *asked, *rest]) < ANSWERED * self.rows
        ):
            return False, [texts[0].name]
        shared = self._shared(names)
        full = self.contents.combinations(shared)
        keep = sorted(
            (c for c in design if c.name in shared),
            key=lambda c: (self._names_items(c), not c.is_text, not c.is_number, c.distinct, -names.index(c.name)),
        )
        kept = [c.name for c in keep]
        for content in keep:
            rest = [name for name in kept if name != content.name]
            if rest and self.contents.combinations(rest) >= full:
                kept = rest
        kept = self._without_factors(kept)
        if len(kept) > MOST_PARTS:
            kept = sorted(kept, key=lambda name: -self.contents[name].distinct)[:MOST_PARTS]
        return False, [name for name in self.contents.names if name in kept]

    def _without_factors(self, parts: list[str]) -> list[str]:
        """The parts of an item without factors: columns with a few levels in each of which people judged all the rest.

        A factor stays if people saw each item in one of its levels only: the parts together are then what they judged.
        One of two parts stays as well, because it may be the system that made each of the texts.
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
        """The id that says more than a text does: it has a value where practice items have no text."""
        codes = [
            c.name for c in design
            if text.is_text and not c.is_text and "id" in words_of(c.name)
            and self.contents.follows(text.name, [c.name])
            and (c.filled > text.filled or self._same(c.name, text.name))
        ]  # fmt: skip
        return codes[0] if codes else text.name

    def _without_numbers_of_trials(self, design: list[Content]) -> list[Content]:
        """Without ids of which each trial has one of its own, where another column says what each trial showed.

        Numbers drawn at random for each trial are no ids either.
        """
        asked = max(self.contents.combinations(self.question), 1)
        design = [c for c in design if not self._is_drawn(c, design)]
        own = [c for c in design if asked * c.distinct >= NEARLY * self.rows]
        rest = [c for c in design if c not in own]
        shown = [c for c in rest if c.distinct >= FEWEST_ITEMS and self._is_judged_once(c.name, self.question)]
        return rest if shown else design

    def _is_drawn(self, content: Content, design: Sequence[Content]) -> bool:
        """Whether a number was drawn at random for each trial: with it stimuli hardly come again, without it most do.

        Some participants then have a number twice, by chance.
        """
        if not content.is_number or content.distinct <= MOST_LEVELS or self._names_items(content) or not self.person:
            return False
        rest = [c.name for c in design if not (c.is_number and c.distinct > MOST_LEVELS)]
        rows, stimuli = self.contents.codes.height, self.contents.combinations(rest) if rest else 0
        return (
            stimuli >= FEWEST_ITEMS and 2 * stimuli <= rows
            and self.contents.combinations([*rest, content.name]) >= ANSWERED * rows
            and self.contents.combinations([*self.person, *self.question, content.name]) < rows
        )  # fmt: skip

    def _shared(self, names: list[str]) -> list[str]:
        """Columns that together identify what several participants judged, without texts made anew for every trial.

        Names drawn at random for the people in a story, for example, make nearly every text one of its own.
        """
        rows = self.contents.codes.height
        people = self.contents.combinations(self.person) if self.person else 0
        if people < FEWEST_ITEMS or 2 * self.contents.combinations(names) <= rows:
            return names
        left = list(names)
        while 2 * self.contents.combinations(left) > rows:
            rest = {
                n: self.contents.combinations([o for o in left if o != n]) for n in left if self.contents[n].is_text
            }
            if not rest or len(left) == 1:
                return names
            left.remove(min(rest, key=lambda name: rest[name]))
        return left if self.contents.combinations(left) >= FEWEST_ITEMS else names

    def _is_weak(self, content: Content) -> bool:
        """Whether the name of a column alone does not make it the item."""
        if content.plain in ("task", "taskid") and any(self.contents[name].plain in WORKERS for name in self.person):
            return False
        return content.plain in WEAK_ITEMS

    def _is_judged_once(self, name: str, asked: Sequence[str]) -> bool:
        """Whether participants see each item once, or again only as a repetition."""
        if not self.person:
            return True
        keys = [*self.person, name, *asked, *self._sessions()]
        return self.contents.combinations(keys) >= 0.9 * self.contents.codes.height

    def _sessions(self) -> list[str]:
        return [c.name for c in self.contents if c.plain in ("session", "repetition")]  # type: ignore[attr-defined]

    def _scale_of_answers(self) -> None:
        """A column that names the scale of each answer is the question: its levels have fewer answers, or more."""
        source = self.roles.mapping.get("response")
        for content in self._free() if source in self.contents.names and "question" not in self.mapping else []:
            if content.plain not in SCALE_NAMES or content.distinct < 2 or content.filled < NEARLY:
                continue
            both = pl.DataFrame({"level": content.cells, "answer": self.contents[str(source)].cells}).drop_nulls()
            each = both.group_by("level").agg(pl.col("answer").n_unique().alias("n"), pl.len().alias("rows"))
            few, most = each["n"].to_list(), each["rows"].to_list()
            if min(most) >= FEWEST_ROWS and min(few) > 1 and max(few) >= MORE_ANSWERS * min(few):
                self._take("question", content.name)
                self.roles.notes.append(Message("role.scales", {"column": content.name}))
                return

    def _dimension_of_people(self) -> None:
        """A column that names what each participant rated: words for valence by some and for arousal by others."""
        for content in self._free() if not {"question", "item"} & set(self.roles.mapping) else []:
            if content.plain in DIMENSIONS and 2 <= content.distinct <= MOST_QUESTIONS and self._of_person(content):
                self._take("question", content.name)
                self.roles.notes.append(Message("role.dimension", {"column": content.name}))
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
        """Whether some levels of a column are answered in numbers and the others in words: they ask different things.

        This shows only where the same participants have both.
        """
        source = self.roles.mapping.get("response")
        if source not in self.contents.names or not 2 <= content.distinct <= MOST_QUESTIONS or content.filled < NEARLY:
            return False
        if not self.person or self._of_person(content):
            return False
        if content.plain in NAMES["item"] and content.plain not in QUESTION_NAMES:
            return False
        answers = self.contents[source]
        kinds = pl.DataFrame({"level": content.cells, "answer": answers.cells, "number": answers.numbers.is_not_null()})
        shares = kinds.drop_nulls().group_by("level").agg(pl.col("number").mean(), pl.len().alias("n"))
        least = shares["n"].min()
        few = not isinstance(least, int) or least * MOST_QUESTIONS < self.rows
        kinds_of = {"numbers" if s >= NEARLY else "words" if s <= 1 - NEARLY else "both" for s in shares["number"]}
        return not few and kinds_of == {"numbers", "words"}

    def _asks_again(self, parts: Sequence[str], question: str) -> bool:
        """Whether the same participants answer the levels of a column on the same stimuli."""
        keys = [*self.person, *(part for part in parts if part != question)]
        return self.contents.combinations(keys) < 0.75 * self.contents.combinations([*keys, question])

    def _named(self) -> None:
        """What content did not find and a name suggests is proposed."""
        for role in ("participant", "response", "item"):
            source = self.by_name.get(role)
            found = role in self.roles.mapping or source is None or source in self.taken
            sides = {*self.by_name, *self.roles.mapping}
            if found or source is None or (role == "item" and {"left", "right"} <= sides):
                continue
            if not self.contents[source].distinct:
                continue
            said = role == "participant" and (source == self.verdicts or are_verdicts(self.contents[source].cells))
            if not said and (self.contents[source].distinct > 1 or role == "participant"):
                self._take(role, source)
                self._ask(role, [self._choice(role, [source])])

    def _others(self) -> None:
        """The columns that karat knows by name and whose content fits; the others stay as they are."""
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
                self.roles.notes.append(Message("role.other_content", {"column": source, "values": content.values[:3]}))

    def _is_asked_of_item(self, content: Content) -> bool:
        """Whether each of many items has a question of its own: then the question is a part of what was judged."""
        items = joined(self.roles.mapping.get("item", ""), self.contents.names)
        return content.distinct > MOST_QUESTIONS and bool(items) and self.contents.follows(content.name, items)

    def _fits_answers(self, content: Content) -> bool:
        """Whether a column of right answers is about these answers: at least half of its values are among them."""
        source = self.roles.mapping.get("response")
        if source not in self.contents.names or self.mapping.get("expected"):
            return True
        given = {value.strip().lower() for value in self.contents[source].values}
        if all(re.fullmatch(r"-?[\d.]+", value) for value in given):
            right = [bool(re.fullmatch(r"[-\d.| ]+", value)) for value in content.values]
        else:
            right = [bool(given & {one.strip().lower() for one in value.split("|")}) for value in content.values]
        return 2 * sum(right) >= len(right)

    def _choice(self, role: str, parts: Sequence[str]) -> Proposal:
        combinations = self.contents.combinations(list(parts)) if len(parts) > 1 else self.contents[parts[0]].distinct
        sample = [str(value) for value in self.contents[parts[0]].values[:3]]
        if len(parts) > 1:
            head = self.contents.frame.select(parts).drop_nulls().unique(maintain_order=True).head(2)
            sample = [" + ".join(str(cell) for cell in row) for row in head.iter_rows()]
        values: dict[str, object] = {"n": combinations, "sample": [cut(one) for one in sample]}
        if role == "item" and self.person:
            per = self.contents.codes.group_by(list(parts)).agg(pl.struct(self.person).n_unique().alias("n"))["n"]
            values |= {"least": per.min(), "most": per.max()} if per.min() != per.max() else {"every": per.max()}
        return Proposal({role: "+".join(parts)}, Message(DETAILS[role], values))


def _pairs_of(columns: Sequence[Content], first: str, second: str) -> list[tuple[Content, Content]]:
    """Two columns whose names differ in a side."""
    named: dict[tuple[str, ...], dict[str, Content]] = {}
    for content in columns:
        words = re.split(r"[\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z0-9])", "_", content.name).lower())
        varies = content.distinct > 1 or bool(SYSTEMS & set(words))
        if varies and not content.is_other and {first, second} & set(words):
            rest = tuple(word for word in words if word not in (first, second))
            named.setdefault(rest, {})[first if first in words else second] = content
    return [(pair[first], pair[second]) for pair in named.values() if len(pair) == PAIR]


def shown_sides(
    answers: Content, columns: Sequence[Content], sides: tuple[str, str] | None
) -> list[tuple[Content, Content]]:
    """The pairs of columns that show what answers such as A and B, or 1 and 2, chose between.

    Without names of sides, the answers are the names of the two columns, or in every row what one of them shows.
    """
    if sides is not None:
        return [pair for pair in _pairs_of(columns, *sides) if _are_sides(answers, *pair, sides)]
    shown = [c for c in columns if c.distinct > 1 and not c.is_number and not c.is_other and c.filled > SPARSE]
    return [(one, other) for one, other in combinations(shown, PAIR) if _are_sides(answers, one, other, ("", ""))]


def _names_sides(content: Content) -> bool:
    """Whether the values only say on which side of the screen something was: left, 1right, top."""
    values = {re.sub(r"[^a-z]", "", value.lower()) for value in content.values[:50]} - {"middle", "center", "centre"}
    return len(values) == 2 and any(values == {*sides} for sides in (("left", "right"), ("top", "bottom"), ("l", "r")))


def _are_sides(answers: Content, first: Content, second: Content, names: tuple[str, str]) -> bool:
    """Whether the answers are the names of two sides, or in every row what one of the two sides shows."""
    sides = _sides_named(answers.values, names, (first.name, second.name))
    if len(set(sides.values()) - {"none"}) > 1:
        # Beside two sentences, 0, 1 and 2 may be labels of how they are related.
        return NUMBERED_TIE not in sides or any(word in COMPARED_OUTPUTS for word in words_of(first.name))
    return names_one_of(answers, first, second)


def names_one_of(answers: Content, first: Content, second: Content) -> bool:
    """Whether each answer that is no tie is what one of two columns shows in its row, where these always differ."""
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
"""Answers that prefer neither of two."""
NUMBERED_TIE = "0"
"""Neither, where 1 and 2 are the two sides."""
COMPARED_OUTPUTS = word_list("compared_outputs")
SYSTEMS = {"model", "system", "models", "systems"}
"""What is compared with another also where it is the same in all trials."""


def _sides_named(answers: Sequence[str], sides: tuple[str, str], columns: Sequence[str] = ()) -> dict[str, str]:
    """Each answer with the side it names, by itself or as the column does that holds what was shown there.

    >>> _sides_named(["model_a", "B", "tie"], ("a", "b"), ("model_a", "model_b"))
    {'model_a': 'left', 'B': 'right', 'tie': 'none'}
    >>> _sides_named(["A is much better", "Sentence B", "about the same"], ("a", "b"))
    {'A is much better': 'left', 'Sentence B': 'right', 'about the same': 'none'}
    >>> _sides_named(["A>>B", "A=B", "A<B"], ("a", "b"))
    {'A>>B': 'left', 'A=B': 'none', 'A<B': 'right'}
    >>> _sides_named(["ours", "baseline"], ("", ""), ("ours_summary", "baseline_summary"))
    {'ours': 'left', 'baseline': 'right'}
    """
    known = dict(zip(sides, ("left", "right"), strict=True))
    for names in (columns, _own_words(columns)):
        known |= dict(zip((name.lower() for name in names), ("left", "right"), strict=False))
    found = {}
    for answer in answers:
        word = answer.strip().lower()
        said, compared = PREFERRED.fullmatch(re.sub(r"[-_]", " ", word)), COMPARED.fullmatch(word)
        tied = TIES.fullmatch(word) or (word == NUMBERED_TIE and "1" in known and "2" in known)
        side = known.get(word) or ("none" if tied else known.get(said[1]) if said else None)
        if compared and {known.get(compared[1]), known.get(compared[3])} == {"left", "right"}:
            side = {">": known[compared[1]], "<": known[compared[3]]}.get(compared[2][0], "none")
        if side is None:
            return {}
        found[answer] = side
    return found


def _own_words(columns: Sequence[str]) -> list[str]:
    """What is in the name of each column only, without the words that all of them begin or end with."""
    words = [re.split(r"[\W_]+", name) for name in columns]
    for _ in range(2):
        while len(words) == PAIR and min(map(len, words)) > 1 and words[0][-1] == words[1][-1]:
            words = [own[:-1] for own in words]
        words = [own[::-1] for own in words]
    return ["_".join(own) for own in words]


DEGREES = "much|far|lot|significantly|slightly|somewhat|little|bit|marginally|clearly|strongly|weakly"
DEGREE = rf"(?:(?:very |a )?(?:{DEGREES})\s+)"
PREFERRED = re.compile(
    rf"{DEGREE}?(?:(?:i prefer|prefer|the|sentence|option|version|text|response|candidate|number)\s+)*"
    r"(left|right|a|b|1|2|first|second|top|bottom|above|below)"
    r"(?:\s+(?:one|sentence|option|version|text|response))?"
    rf"(?:\s+(?:is\s+)?{DEGREE}?(?:better|more natural|more acceptable|preferred))?"
)
"""A side within a few words, and perhaps how much better it is."""
COMPARED = re.compile(r"(\w+)\s*(>{1,3}|<{1,3}|={1,2}|~)\s*(\w+)")
SIDES = (("left", "right"), ("a", "b"), ("1", "2"), ("first", "second"), ("top", "bottom"), ("above", "below"))
"""What the two stimuli of a choice are called."""


def sides_of(answers: Sequence[str], columns: Sequence[str] = ()) -> dict[str, str]:
    """Answers that name a side in other words, each with the side; empty where they do not.

    >>> sides_of(["A", "B"]), sides_of(["left", "right"]), sides_of(["yes", "no"])
    ({'A': 'left', 'B': 'right'}, {}, {})
    """
    for sides in SIDES:
        found = _sides_named(answers, sides, columns)
        if len(set(found.values()) - {"none"}) > 1:
            return {answer: side for answer, side in found.items() if answer != side}
    return {}


def are_systems(answers: Content, shown: Sequence[Content]) -> bool:
    """Whether answers are the names of two columns, each with the texts that one system wrote."""
    names = [content.name for content in shown]
    return all(c.is_text for c in shown) and bool(sides_of(answers.values, names)) and not sides_of(answers.values)


def sides_notes(sides: Mapping[str, str]) -> list[Message]:
    """The note on how answers are read as sides, and that degrees are not used where several name one side."""
    note = Message("form.sides", {"answers": [f"{answer}={side}" for answer, side in sorted(sides.items())]})
    graded = any(list(sides.values()).count(side) > 1 for side in ("left", "right"))
    return [note, Message("form.graded")] if graded else [note]


def _is_beside(content: Content) -> bool:
    """Whether a column is called after something beside the answers; the chosen option is the answer."""
    return bool(NO_ANSWERS.fullmatch(content.plain)) and words_of(content.name)[:1] not in (["chosen"], ["selected"])


def _is_beside_the_answer(content: Content) -> bool:
    """Whether a column is an accuracy, a comment or a right answer."""
    pattern = (
        r".*(correct|accuracy|iscorrect|incorrect|comments?|feedback|enjoyment|asses|confidence|expected.*|attempts)|"
        r"(n|num)?(wrongs?|errors|mistakes)|"
        r"comprehension\d*|(comprehension|attention|attn|bot|manipulation)(check|passed)\w*"
    )
    if content.plain in NAMES["expected"] or words_of(content.name)[:1] == ["correct"]:
        return True
    return bool(re.fullmatch(pattern, content.plain)) or words_of(content.name)[-1:] in (["corr"], ["acc"])


ASKS = re.compile(r"(is|are|does|do|did|which|what|how|who)_([^\W_]+_){2,}")
"""How the names of columns begin that Figure Eight (CrowdFlower) makes of questions."""


def _says_answer(content: Content) -> bool:
    """Whether the name of a column has a word for answers in it, or asks; MTurk puts Answer before everything.

    What was rated may be called rating_stimulus.
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
    """Whether the name of a column says how answers were given: rating_response beside choice_response."""
    return any(word == "slider" or ANSWER_STEMS.fullmatch(word) for word in words_of(content.name))


def _is_of_check(content: Content) -> bool:
    """Whether the name of a column says that it holds answers to checks, such as attention_answer."""
    return bool(CHECK_WORDS & set(words_of(content.name)))


def are_instants(values: Sequence[str]) -> bool:
    """Whether at least half of the values are points in time.

    >>> are_instants(["2026-05-03 12:34", "x"]), are_instants(["past", "present"])
    (True, False)
    """
    found = instants(pl.Series(values, dtype=pl.String))
    return 2 * found.null_count() <= len(found)


def cut(text: str, most: int = 40) -> str:
    """A text, cut where it is long."""
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"


def _is_list(content: Content) -> bool:
    """Whether cells hold lists written as text."""
    sample = content.values[:50]
    return bool(sample) and all(value[:1] == "[" and value[-1:] == "]" for value in sample)
