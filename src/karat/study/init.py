"""A study to begin with: a complete small example for every task, or one made from sentence pairs or item sets."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from karat.errors import KaratError, Problems, ProblemsError
from karat.judgments.columns import meant
from karat.languages import language_of
from karat.study.setting_base import NAME, known_words, toml

if TYPE_CHECKING:
    from karat.judgments.scales import Scale
    from karat.judgments.tables import FileTable
    from karat.study.item_sheets import CrossedFactors, ItemSets

TEMPLATES: Mapping[str, str] = {
    "likert": "ratings on a scale of points; two factors, sentences made from templates and a lexicon",
    "yes-no": "natural or not; one factor",
    "choice": "which of two conditions sounds better; two factors, one of them compared",
    "pairs": "which sentence of a pair sounds better; each pair a contrast of its own",
    "magnitude": "numbers relative to a measure; one factor",
    "differential": "ratings on pairs of adjectives; each participant judges some of the sentences",
    "label": "one of several categories; one factor",
    "norming": "the separate study that verifies control sentences",
    "antonyms": "the pre-study of a differential: which pairs of adjectives suit the texts",
}
"""The studies that can be written, and what each is."""
LANGUAGES: Mapping[str, str] = {"en": "English", "de": "German"}
"""The languages that there are example studies in."""
USUAL_LANGUAGE = "en"
LEAST_USUAL, LEAST_DIFFERENT = 0.04, 2
"""Sentences of a language have at least this share of its most frequent words, and this many of them."""
WITH_PROBES = ("likert", "yes-no")
"""Studies for which there are examples of honeypots, shibboleths and modality checks."""
SENTENCES = (
    ("acceptable", "less_acceptable"),
    ("sentence", "sentence_2"),
    ("sentence_1", "sentence_2"),
    ("good", "bad"),
    ("grammatical", "ungrammatical"),
    ("gut", "schlecht"),
    ("a", "b"),
)
"""Names of the two columns of a table of pairs, the better sentence first where one is better."""
PREFERENCES = ("good", "bad", "grammatical", "ungrammatical", "acceptable", "less_acceptable", "gut", "schlecht")
"""Names of columns that say which sentence experts prefer."""
PREFERRED = ("preferred", "better", "expert", "expected")
"""Columns that say for each pair which sentence experts prefer: 1 or 2, or the name of its column."""
IDS = ("pair", "pair_id", "item", "id")
PAIR = 2


class PairsError(ProblemsError):
    """A table of sentence pairs that cannot be made into a study."""


class StudyExistsError(KaratError, FileExistsError):
    """A study that would be written over another one."""


def write_study(folder: str | Path, task: str, language: str = "en", probes: bool = False) -> list[Path]:
    """Write a complete small study to a folder; nothing that is there already is overwritten.

    With `probes`, a table of honeypots, shibboleths and modality checks comes with it, for you to edit.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_study(folder, "yes-no")]
    ['study.toml', 'items.csv']
    """
    contents = _template(task, language)
    return _written(Path(folder), _with_probes(contents, task, language) if probes else contents)


def _with_probes(contents: dict[str, bytes], task: str, language: str) -> dict[str, bytes]:
    """The files of a study, with probes beside its items."""
    folder = files("karat.study") / "templates" / "probes" / language
    if task not in WITH_PROBES:
        known = " and ".join(WITH_PROBES)
        raise KaratError(f"There are example probes for {known}. Write one of these studies and copy its probes.csv.")
    found = re.sub(rb'(?m)^items(\s*)= "(.+?)"', rb'items\1= ["\2", "probes.csv"]', contents[NAME], count=1)
    files_of = {file.name: file.read_bytes() for file in folder.iterdir()}
    table = files_of.pop(f"{task}.csv")
    others = {name: content for name, content in files_of.items() if not name.endswith(".csv")}
    return contents | {NAME: found, "probes.csv": table} | others


def study_from_pairs(pairs: str | Path, folder: str | Path, language: str | None = None) -> list[Path]:
    """Make a study from a table with two columns of sentences: every pair is shown once, the better one is chosen.

    Participants may also see no difference. Where the table says which sentence experts prefer, by the names of its
    columns (good, bad) or in a column `preferred`, the item table says so too (`status`), so that decisions on pairs
    need no other file.

    Calibration, control and attention pairs, texts and screening rules come with it. Sentences are taken over as they
    are: what may be wrong with them is for the check to say.
    """
    rows = _pairs(Path(pairs))
    contents = _template("pairs", language_for(chain.from_iterable(row[1:3] for row in rows), language)[0])
    extra = contents["fillers.csv"].decode().count("\n") - 1
    contents["items.csv"] = _items(rows)
    text = _with_no_difference(contents[NAME].decode())
    about = language_of(_language(text)).counted(len(rows), "pair")
    text = _headed(text, Path(pairs), "--from-pairs", about, len(rows) + extra, "choice", ["fillers.csv"])
    contents[NAME] = text.encode()
    return _written(Path(folder), contents)


SETS_TASKS = ("likert", "yes-no", "magnitude")
"""Tasks for which a study can be made from item sets."""
TASK_OF = {
    "ordinal": "likert", "continuous": "likert", "binary": "yes-no", "magnitude": "magnitude", "choice": "choice",
    "nominal": "label",
}  # fmt: skip
"""The task for sentences that were judged on a kind of scale."""
MOST_CATEGORIES = 12
"""More answers than these are texts of their own, not categories to choose from."""


def task_of_results(sets: ItemSets, factors: CrossedFactors) -> str:
    """The task for sentences as results hold them: what was asked of them, by the scale."""
    if sets.scale is None:
        return "likert"
    if sets.paired or factors.compared is not None:
        return "choice"
    known = f"Choose --task {' or '.join(SETS_TASKS)} to ask something else about these sentences."
    if sets.scale.kind == "choice":
        raise KaratError(f"The answers are choices between two, and one sentence per choice was found. {known}")
    if sets.scale.kind == "nominal" and len(sets.scale.levels) > MOST_CATEGORIES:
        raise KaratError(
            f"The answers are {len(sets.scale.levels)} different texts, and categories to choose from are at most "
            f"{MOST_CATEGORIES}. Shorten them to categories in the file. {known}"
        )
    return TASK_OF[sets.scale.kind]


def study_from_sets(
    sets: ItemSets, factors: CrossedFactors, folder: str | Path, language: str = "en", task: str = "likert"
) -> list[Path]:
    """Make a study from item sets: Latin-square lists over the conditions, with the fillers that the sheet has.

    A sheet with one column per condition is copied beside the study file, which reads it as it is. Item files and
    results of other tools become an item table; after results, the study has their scale. Where the sets have no
    calibration, control or attention items beside them, those of the template are written as examples.
    """
    from karat.study.tasks import TASKS

    known = tasks_for(sets, factors)
    if task not in known:
        raise KaratError(f"These sentences make a study with the task {' or '.join(known)}, not {task}.")
    if not TASKS[task].compares:
        sets, factors = _one_at_a_time(sets), replace(factors, compared=None)
    template = _template("pairs" if TASKS[task].compares and sets.paired else task, language)
    change = _scale_change(template[NAME].decode(), sets.scale, task)
    contents: dict[str, bytes] = {NAME: b""}
    contents["items.csv" if not sets.wide else sets.source.name] = (
        sets.source.read_bytes() if sets.wide else _table(_test_rows(sets, factors, change))
    )
    functions = {row["function"] for row in sets.fillers}
    if sets.fillers:
        contents["fillers.csv"] = _table([change.respelled(row, sets.scale) for row in sets.fillers])
    # Examples of other categories would have no right answer.
    examples = [] if task == TASK_OF["nominal"] else [
        change.stretched(row) for row in _rows_beside(template)
        if (not sets.fillers or row["function"] != "filler") and row["function"] not in functions
        and not functions.intersection(("control", "attention"))
    ]  # fmt: skip
    if examples:
        contents["examples.csv"] = _table(examples)
    extra = len(sets.fillers) + len(examples)
    text = change.text
    if not any("status" in row for row in (*sets.fillers, *examples, *sets.beside.values())):
        text = re.sub(r"^in_a_row\b.*\n", "", text, flags=re.MULTILINE)
    for rule, function in RULES_OF.items():
        if function not in functions and all(row["function"] != function for row in examples):
            text = re.sub(rf"^{rule}\s+= .*\n", "", text, flags=re.MULTILINE)
    contents[NAME] = _about_sets(text, sets, factors, list(contents)[1:], extra, task).encode()
    return _written(Path(folder), contents)


def notes_on_task(sets: ItemSets, task: str) -> list[str]:
    """What results do not say, and a study with their task needs."""
    if task != TASK_OF["nominal"]:
        return []
    notes = [
        "Results do not say how participants were asked for a category. Edit prompt, instructions and quiz in "
        "study.toml."
    ]
    if not {row["function"] for row in sets.fillers} & set(RULES_OF.values()):
        notes.append(
            "There are no control and attention items, because karat has no examples for these categories. Add "
            "sentences whose category is certain, with the column expected."
        )
    return notes


def language_seen(texts: Iterable[str]) -> str | None:
    """The language of sentences, by its most frequent words; None where it is not clearly one of the examples'."""
    words = Counter(re.findall(r"[^\W\d_]+", " ".join(texts).lower()))
    usual = {name: {word: words[word] for word in own if word in words} for name, own in known_words()["usual"].items()}
    share = {name: sum(own.values()) / max(1, words.total()) for name, own in usual.items()}
    second, first = sorted(share, key=lambda name: share[name])[-2:]
    known = share[first] >= max(LEAST_USUAL, 5 * share[second]) and len(usual[first]) >= LEAST_DIFFERENT
    return first if known else None


def language_for(texts: Iterable[str], stated: str | None) -> tuple[str, list[str]]:
    """The language of a study, as stated or as its sentences look, and a note where it is a guess or they differ."""
    seen = language_seen(texts)
    if stated is None and seen not in (None, USUAL_LANGUAGE):
        return seen, [f"The sentences look {LANGUAGES[seen]}, so texts and examples are {LANGUAGES[seen]} too."]
    stated = stated or USUAL_LANGUAGE
    if seen in (None, stated) or stated not in LANGUAGES:
        return stated, []
    return stated, [
        f"The sentences look {LANGUAGES[seen]}, but texts and examples are {LANGUAGES[stated]}. "
        f"For {LANGUAGES[seen]} ones, use --language {seen}."
    ]


def tasks_for(sets: ItemSets, factors: CrossedFactors) -> tuple[str, ...]:
    """The tasks of a study from item sets; choices and categories need results that were obtained with them."""
    scale = sets.scale
    choice = ("choice",) if sets.paired or factors.compared is not None else ()
    few = scale is not None and scale.kind == "nominal" and len(scale.levels) <= MOST_CATEGORIES
    return *SETS_TASKS, *choice, *(("label",) if few else ())


def _test_rows(sets: ItemSets, factors: CrossedFactors, change: _ScaleChange) -> list[dict[str, str]]:
    """The rows of the item table: a sentence each, and in pairs its partner's name."""
    rows = []
    for item, own in sets.sets.items():
        for name, sentence in own.items():
            beside = change.respelled(sets.beside.get((item, name), {}), sets.scale)
            named = {"item": item, **dict(zip(factors.levels, factors.cells[name], strict=True))}
            if sets.paired:
                pair = f"t{item}" if item.isdecimal() else item
                named = {"item": f"{pair}{name}", "function": "test", "pair": pair}
            rows.append({**named, "sentence": sentence, **beside})
    return rows


def _one_at_a_time(sets: ItemSets) -> ItemSets:
    """Sets whose fillers are single sentences: those of a choice become two, without the right choice."""
    rows: list[Mapping[str, str]] = []
    for row in sets.fillers:
        if "sentence_2" not in row:
            rows.append(row)
            continue
        kept = {name: cell for name, cell in row.items() if name not in ("sentence", "sentence_2", "expected")}
        rows += [
            {**kept, "item": f"{row['item']}{letter}", "sentence": row[name]}
            for letter, name in (("a", "sentence"), ("b", "sentence_2"))
        ]
    return replace(sets, fillers=tuple(rows))


RULES_OF = {"controls": "control", "attention": "attention"}
"""Screening rules of the templates that judge by items of a function."""


@dataclass(frozen=True)
class _ScaleChange:
    """The study file of a template with the scale of results, and how answers are spelled on it."""

    text: str
    spelled: Mapping[str, str] = field(default_factory=dict)
    """An answer of the results -> of the study."""
    own: Mapping[str, str] = field(default_factory=dict)
    """An answer of the template -> of the study."""
    points: int = 0
    """Of a rating scale that is not that of the template."""

    def respelled(self, row: Mapping[str, str], scale: Scale | None) -> dict[str, str]:
        """A row of results with its right answers as the study spells them, left out where it cannot."""
        if scale is None or "expected" not in row or "sentence_2" in row:
            return dict(row)
        right = scale.expected(row["expected"]) if self.spelled else ()
        spellings = [new for old, new in self.spelled.items() if old in right]
        ends = (
            f"{spellings[0]}-{spellings[-1]}"
            if len(spellings) > 1
            and spellings[0].isdecimal()
            and int(spellings[-1]) - int(spellings[0]) == len(spellings) - 1
            else "|".join(spellings)
        )
        return {name: cell for name, cell in {**row, "expected": ends}.items() if cell}

    def stretched(self, row: Mapping[str, str]) -> dict[str, str]:
        """An example of the template on the scale of the study."""
        made = dict(row)
        if self.points and "acceptability" in row:
            made["acceptability"] = str(round(1 + (int(row["acceptability"]) - 1) * (self.points - 1) / (POINTS - 1)))
        if self.points and "expected" in row:
            low, _, high = row["expected"].partition("-")
            # Inwards, so that a guesser is right no more often than on the scale of the template.
            first = math.ceil((int(low) - 1) * self.points / POINTS) + 1
            last = max(first, int(high or low) * self.points // POINTS)
            made["expected"] = f"{first}-{last}" if last > first else str(first)
        if "expected" in row and row["expected"] in self.own:
            made["expected"] = self.own[row["expected"]]
        return made


POINTS = 5
"""Of the rating scale of the template."""
SLIDER_POINTS = 101


def _language(text: str) -> str:
    """The language of a study file."""
    return str(tomllib.loads(text)["language"])


def _with_no_difference(text: str) -> str:
    """The study file of choices in which "no difference" can be answered, and its instructions say so."""
    more = known_words()["no_difference"][_language(text)]
    instructed = re.sub(r'^(instructions = """\n.*)$', rf"\1 {more}", text, count=1, flags=re.MULTILINE)
    return re.sub(
        r"^(prompt\s*=)", "scale     = { no_difference = true }\n\\1", instructed, count=1, flags=re.MULTILINE
    )


def _scale_change(text: str, scale: Scale | None, task: str) -> _ScaleChange:
    """The study file of a template with the scale of results, where it has one for its task."""
    from karat.study.item_sheets import SIDE_TIES
    from karat.study.tasks import TASKS

    if TASKS[task].compares:
        words_in = {word for level in (scale.levels if scale else ()) for word in re.split(r"\W+", level.lower())}
        return _ScaleChange(_with_no_difference(text) if words_in.intersection(SIDE_TIES) else text)
    if scale is None or TASK_OF.get(scale.kind) != task or scale.kind == "magnitude":
        return _ScaleChange(text)
    line = next(line for line in text.splitlines() if line.startswith("scale "))
    words: list[str] = json.loads(line[line.index("[") : line.index("]") + 1])
    levels = scale.levels
    named = not all(re.fullmatch(r"-?\d+|true|false", level) for level in levels)
    if scale.kind == "nominal":
        text = text.replace(line, f"scale     = {{ levels = {toml(list(levels))} }}", 1)
        known = ", ".join(levels).replace("\\", "/").replace('"', "'")
        for words_of in known_words()["label"]:
            text = text.replace(words_of["old"], words_of["new"].format(levels=known))
        return _ScaleChange(text, {level: level for level in levels})
    if scale.kind == "binary":
        new = list(levels) if named else words
        text = text.replace(line, f"scale     = {{ levels = {toml(new)} }}", 1)
        return _ScaleChange(text, dict(zip(levels, new, strict=True)), dict(zip(words, new, strict=True)))
    points = len(levels) or SLIDER_POINTS
    spelled = {level: str(number) for number, level in enumerate(levels, start=1)}
    if points == POINTS and not named:
        return _ScaleChange(text, spelled)
    labels = list(levels) if levels and named else [words[0], words[-1]]
    slider = "" if levels else ", slider = true"
    text = text.replace(line, f"scale     = {{ points = {points}{slider}, labels = {toml(labels)} }}", 1)
    for words_of in known_words()["scale"]:
        text = text.replace(words_of["old"], words_of["rated"].format(n=points) if levels else words_of["moved"])
    return _ScaleChange(text, spelled, points=points if points != POINTS else 0)


def _rows_beside(template: Mapping[str, bytes]) -> list[dict[str, str]]:
    """What a template shows beside its test items."""
    rows = [row for name, content in template.items() if name.endswith(".csv")
            for row in csv.DictReader(content.decode().splitlines())]  # fmt: skip
    from karat.study.items import KNOWN

    known = [{name: cell for name, cell in row.items() if name in KNOWN and cell} for row in rows]
    return [row for row in known if row.get("function", "test") != "test" and "sentence" in row]


def _table(rows: Sequence[Mapping[str, str]]) -> bytes:
    """Rows as CSV, with a column for everything that any of them has."""
    text = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def _about_sets(
    text: str, sets: ItemSets, factors: CrossedFactors, tables: Sequence[str], extra: int, task: str
) -> str:
    """The study file of a template with the items, factors, lists and contrasts of item sets."""
    from karat.study.tasks import TASKS

    levels = {
        name: {"levels": own, "between": "items"} if name in factors.between else own
        for name, own in factors.levels.items()
    }
    keys = [f"items     = {toml(list(tables))}"]
    if sets.wide:
        keys += [f"sheets    = {toml(sets.sheet)}"] if sets.sheet else []
        keys += [f"wide      = {toml({name: factors.cells[name] for name in sets.conditions})}"]
    keys += [f"factors   = {toml(levels)}"] if levels else []
    keys += [f"compared  = {toml(factors.compared)}"] if factors.compared else []
    keys += [f"lists     = {factors.lists}"] if not (TASKS[task].compares and sets.paired) else []
    lines, done = [], False
    for line in re.sub(r"\[\[contrast\]\]\n(?:.+\n)*\n?", "", text).splitlines():
        if re.match(r"(templates|lexicon|items|factors|compared|lists)\s*=", line):
            lines += [] if done else keys
            done = True
        else:
            lines.append(line)
    # A reader looks for the planned comparisons before the long texts.
    contrasts = _contrasts_of(factors)
    whole = "\n".join(lines).replace("[texts]\n", f"{contrasts}[texts]\n", 1) + "\n"
    number = len(sets.sets)
    about = language_of(_language(text)).counted(number, "item set")
    option = "--from-sets" if sets.scale is None else "--from-results"
    return _headed(whole, sets.source, option, about, number + extra, task, tables)


def _contrasts_of(factors: CrossedFactors) -> str:
    """The planned comparisons: of each factor with two levels, and their interaction.

    In choices the compared factor is the answer: its levels are compared over all trials, and at each level of the
    other factors.
    """
    two = {name: list(own) for name, own in factors.levels.items() if len(own) == 2}
    if factors.compared is not None:
        if factors.compared not in two:
            return ""
        head = f"factor = {toml(factors.compared)}\nlevels = {toml(two[factors.compared])}\n"
        at = [(name, level) for name, own in two.items() if name != factors.compared for level in own]
        return f"[[contrast]]\nname   = {toml(factors.compared)}\n{head}\n" + "".join(
            f"[[contrast]]\nname   = {toml(f'{factors.compared}, {level}')}\n{head}within = {toml({name: level})}\n\n"
            for name, level in at
        )
    interaction = f"[[contrast]]\nname    = {toml(' x '.join(two))}\nfactors = {toml(list(two))}\n\n"
    return (interaction if len(two) > 1 else "") + "".join(
        f"[[contrast]]\nname   = {toml(name)}\nfactor = {toml(name)}\nlevels = {toml(own)}\n\n"
        for name, own in two.items()
    )


def _template(task: str, language: str) -> dict[str, bytes]:
    """The files of a template, the study file first.

    A study file says what differs from the one that all templates of its language extend.
    """
    if task not in TEMPLATES:
        from karat.study.tasks import instead_of

        fix = instead_of(task) or meant(task, list(TEMPLATES))
        raise KaratError(f"There is no example study for the task {task}. {fix}")
    if language not in LANGUAGES:
        known = " and ".join(LANGUAGES)
        raise KaratError(f"There are example studies in {known}, not in {language}. Take one and translate its texts.")
    from jinja2 import Environment, PackageLoader

    folder = files("karat.study") / "templates" / task / language
    loader = PackageLoader("karat.study", "templates")
    jinja = Environment(loader=loader, trim_blocks=True, keep_trailing_newline=True)  # noqa: S701 - TOML, not HTML
    study = jinja.get_template(f"{task}/{language}/{NAME}").render().encode()
    # Fillers come after the tables with the test items.
    tables = sorted((file for file in folder.iterdir() if file.name != NAME), key=lambda file: (
        file.name == "fillers.csv", file.name))  # fmt: skip
    return {NAME: study} | {file.name: file.read_bytes() for file in tables}


def _written(folder: Path, contents: Mapping[str, bytes]) -> list[Path]:
    """Write all files or, where one of them is there already, none."""
    paths = [folder / name for name in contents]
    there = [path for path in paths if path.exists()]
    if there:
        raise StudyExistsError(
            f"{there[0]} already exists, and nothing is overwritten. Choose another folder, or remove what is in it."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, content in zip(paths, contents.values(), strict=True):
            with path.open("xb") as file:
                file.write(content)
    except OSError as error:
        raise KaratError(f"{folder} cannot be written: {error.strerror or error}.") from None
    return paths


def _pairs(path: Path) -> list[tuple[str, str, str, int | None]]:
    """The pairs of a table: a name and two sentences each, and which of them experts prefer: 1, 2 or nobody knows."""
    if not path.is_file():
        raise KaratError(f"There is no file {path}. Give a CSV file or a spreadsheet with two columns of sentences.")
    from karat.judgments.source import SourceFile
    from karat.judgments.tables import read_table
    from karat.study.item_sheets.sets import are_sentences
    from karat.study.item_sheets.sheets import is_sentence
    from karat.study.items import plain

    table = read_table(SourceFile(path))
    columns = {plain(name): name for name in table.frame.columns}
    named = next(((columns[a], columns[b]) for a, b in SENTENCES if a in columns and b in columns), None)
    texts = [name for name in table.frame.columns if are_sentences(table.frame[name], more_than=1)]
    found = named or ((texts[0], texts[1]) if len(texts) == PAIR else None)
    if found is None:
        known = ", ".join(f"{a} and {b}" for a, b in SENTENCES)
        raise PairsError(
            f"{path.name}: which columns are the sentences? There are {', '.join(table.frame.columns)}. "
            f"Name them as one of these: {known}."
        )
    if all(is_sentence(name) for name in found):
        raise PairsError(f"{path.name} begins with sentences. Put a row above them that names the columns.")
    problems = Problems()
    problems.extend(table.problems)
    for column in found:
        for row in table.frame[column].is_null().arg_true().to_list():
            problems.at(table.locate(row), "is empty", "A pair needs two sentences.", column)
    names = _names(table, columns, problems)
    better = _preferences(table, columns, found, problems)
    if not names and not problems:
        raise PairsError(f"{path.name} has no pairs.")
    if problems:
        raise PairsError(f"{path.name} is not readable as sentence pairs:", problems)
    return list(zip(names, *(table.frame[name].to_list() for name in found), better, strict=True))


def _preferences(
    table: FileTable, columns: Mapping[str, str], sentences: tuple[str, str], problems: Problems
) -> list[int | None]:
    """Which sentence of each pair experts prefer, where the table says so."""
    from karat.study.items import plain

    column = next((columns[name] for name in PREFERRED if name in columns), None)
    if column is None or column in sentences:
        first = 1 if plain(sentences[0]) in PREFERENCES else None
        return [first] * table.frame.height
    words = {"1": 1, "2": 2, plain(sentences[0]): 1, plain(sentences[1]): 2}
    stated = table.frame[column].to_list()
    for row, word in enumerate(stated):
        if word is not None and plain(word) not in words:
            fix = f"Write 1, 2, {sentences[0]} or {sentences[1]}, or leave the cell empty."
            problems.at(table.locate(row), "names no sentence of the pair", fix, column, value=word)
    return [None if word is None else words.get(plain(word)) for word in stated]


def _names(table: FileTable, columns: Mapping[str, str], problems: Problems) -> list[str]:
    """A name for each pair: what a column says, else a number."""
    column = next((columns[name] for name in IDS if name in columns), None)
    width = len(str(table.frame.height))
    if column is None:
        return [f"{number:0{width}}" for number in range(1, table.frame.height + 1)]
    names = table.frame[column]
    for mask, what, fix in (
        (names.is_null(), "is empty", "Give every pair a name, or leave out the column."),
        (names.is_duplicated() & names.is_not_null(), "occurs twice", "Give every pair a name of its own."),
    ):
        for row in mask.arg_true().to_list():
            problems.at(table.locate(row), what, fix, column, value=names[row])
    return [(name or "").zfill(width) if (name or "").isdigit() else name or "" for name in names.to_list()]


def _items(pairs: Sequence[tuple[str, str, str, int | None]]) -> bytes:
    """The item table: two rows per pair, with the status of the two where experts prefer one."""
    # A letter in front keeps names of pairs apart from those of the fillers, whatever the table calls them.
    rows = [
        {
            "item": f"t{name}{letter}",
            "function": "test",
            "pair": f"t{name}",
            "sentence": sentence,
            "status": "" if better is None else "grammatical" if better == place else "marked",
        }
        for name, first, second, better in pairs
        for place, letter, sentence in ((1, "a", first), (2, "b", second))
    ]
    if not any(row["status"] for row in rows):
        rows = [{name: cell for name, cell in row.items() if name != "status"} for row in rows]
    return _table(rows)


def _headed(text: str, source: Path, option: str, about: str, trials: int, task: str, tables: Sequence[str]) -> str:
    """A study file of a template with the head, the title and the duration of a study that is made from a table."""
    from karat.study.tasks import AROUND_MINUTES, TASKS

    minutes = math.ceil(trials * TASKS[task].seconds / 60) + int(AROUND_MINUTES)
    # What a file is called may have quotation marks and line breaks, which would end the text of the title.
    table, title = (re.sub(r"[^\w .,()+-]", " ", name).strip() for name in (source.name, source.stem.replace("_", " ")))
    about = f"{title or 'items'}: {about}"
    examples = next((name for name in ("examples.csv", "fillers.csv") if name in tables), None)
    made, of_examples = (words.format(option=option, table=table, examples=examples)
                         for words in known_words()["made"][_language(text)])  # fmt: skip
    if examples == "examples.csv" or option == "--from-pairs":
        made += of_examples
    for pattern, new in (
        *([(r"\A# .*\n", "")] if option != "--from-pairs" else []),
        (r"^# .*`karat check`.*$", made),
        (r"^title( *)= .*$", rf'title\1= "{about}"'),
        (r"^minutes( *)= \S+", rf"minutes\1= {minutes}"),
    ):
        text = re.sub(pattern, new, text, count=1, flags=re.MULTILINE)
    return text
