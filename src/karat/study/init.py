"""A study to start from: a complete small example for each task, or a study from sentence pairs or item sets."""

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
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from karat.errors import KaratError, Problems, ProblemsError
from karat.judgments.columns import meant
from karat.languages import language_of
from karat.study.setting_base import NAME, known_words, toml

if TYPE_CHECKING:
    from karat.judgments.scales import Scale
    from karat.judgments.tables import FileTable
    from karat.messages import Message
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
"""The example studies with their descriptions."""
LANGUAGES: Mapping[str, str] = {"en": "English", "de": "German"}
"""The languages of example studies."""
USUAL_LANGUAGE = "en"
LEAST_USUAL, LEAST_DIFFERENT = 0.04, 2
"""Sentences of a language have at least this share of its most frequent words, and this many distinct ones."""
WITH_PROBES = ("likert", "yes-no")
"""Studies with examples of honeypots, shibboleths and modality checks."""
SENTENCES = (
    ("acceptable", "less_acceptable"),
    ("sentence", "sentence_2"),
    ("sentence_1", "sentence_2"),
    ("good", "bad"),
    ("grammatical", "ungrammatical"),
    ("gut", "schlecht"),
    ("a", "b"),
)
"""Names of the two columns of a table of pairs, the better sentence first if one is better."""
PREFERENCES = ("good", "bad", "grammatical", "ungrammatical", "acceptable", "less_acceptable", "gut", "schlecht")
"""Names of columns that are themselves the preference of experts."""
PREFERRED = ("preferred", "better", "expert", "expected")
"""Columns with the sentence that experts prefer in each pair: 1 or 2, or the name of its column."""
IDS = ("pair", "pair_id", "item", "id")
PAIR = 2


class PairsError(ProblemsError):
    """A table of sentence pairs from which no study can be made."""


class StudyExistsError(KaratError, FileExistsError):
    """A study that would overwrite another one."""


def write_study(folder: str | Path, task: str, language: str = "en", probes: bool = False) -> list[Path]:
    """Write a complete small study to a folder without overwriting existing files.

    With `probes`, the study has a table of honeypots, shibboleths and modality checks to edit.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_study(folder, "yes-no")]
    ['study.toml', 'items.csv']
    """
    contents = _template(task, language)
    return _written(Path(folder), _with_probes(contents, task, language) if probes else contents)


def _with_probes(contents: dict[str, bytes], task: str, language: str) -> dict[str, bytes]:
    """The files of a study with a table of probes."""
    folder = files("karat.study") / "templates" / "probes" / language
    if task not in WITH_PROBES:
        tasks = " and ".join(WITH_PROBES)
        raise KaratError(f"There are example probes for {tasks}. Write one of these studies and copy its probes.csv.")
    study = re.sub(rb'(?m)^items(\s*)= "(.+?)"', rb'items\1= ["\2", "probes.csv"]', contents[NAME], count=1)
    files_of = {file.name: file.read_bytes() for file in folder.iterdir()}
    table = files_of.pop(f"{task}.csv")
    others = {name: content for name, content in files_of.items() if not name.endswith(".csv")}
    return contents | {NAME: study, "probes.csv": table} | others


def study_from_pairs(
    pairs: str | Path, folder: str | Path, language: str | None = None, sheet: str | None = None
) -> list[Path]:
    """Make a study from a table with two columns of sentences: each pair is shown once, and the better one is chosen.

    Participants may also see no difference. If the table has the preference of experts, in the names of its columns
    (good, bad) or in a column `preferred`, it is also in the item table (`status`), so that decisions on pairs need no
    other file.

    The study has calibration, control and attention pairs, texts and screening rules. Sentences are copied unchanged;
    `karat check` reports their flaws. `sheet` is that of a workbook, by default the first.
    """
    rows, texts, _ = read_pairs(pairs, sheet)
    contents = _template("pairs", language_for(texts, language)[0])
    extra = contents["fillers.csv"].decode().count("\n") - 1
    contents["items.csv"] = _items(rows)
    text = _with_no_difference(contents[NAME].decode())
    about = language_of(_language(text)).counted(len(rows), "pair")
    text = _headed(text, Path(pairs), "--from-pairs", about, len(rows) + extra, "choice", ["fillers.csv"])
    contents[NAME] = text.encode()
    return _written(Path(folder), contents)


SETS_TASKS = ("likert", "yes-no", "magnitude")
"""Tasks of studies from item sets."""
TASK_OF = {
    "ordinal": "likert", "continuous": "likert", "binary": "yes-no", "magnitude": "magnitude", "choice": "choice",
    "nominal": "label",
}  # fmt: skip
"""The task for sentences with answers on a kind of scale."""
MOST_CATEGORIES = 12
"""More distinct answers are texts, not categories to choose from."""


def task_of_results(sets: ItemSets, factors: CrossedFactors) -> str:
    """The task of the results from which item sets come, by their scale; likert for other item sets."""
    if sets.scale is None:
        return "likert"
    if sets.paired or factors.compared is not None:
        return "choice"
    fix = f"Choose --task {' or '.join(SETS_TASKS)} to ask something else about these sentences."
    if sets.scale.kind == "choice":
        raise KaratError(f"The answers are choices between two, and one sentence per choice was found. {fix}")
    if sets.scale.kind == "nominal" and len(sets.scale.levels) > MOST_CATEGORIES:
        raise KaratError(
            f"The answers are {len(sets.scale.levels)} different texts, and categories to choose from are at most "
            f"{MOST_CATEGORIES}. Shorten them to categories in the file. {fix}"
        )
    return TASK_OF[sets.scale.kind]


def study_from_sets(
    sets: ItemSets, factors: CrossedFactors, folder: str | Path, language: str = "en", task: str = "likert"
) -> list[Path]:
    """Make a study from item sets: Latin-square lists over the conditions, with the fillers of the sheet.

    A sheet with one column per condition is copied next to the study file, which reads it directly. Item files and
    results of other tools become an item table; a study from results has their scale. If the sets come without
    calibration, control or attention items, those of the template are written as examples.
    """
    from karat.study.tasks import TASKS

    tasks = tasks_for(sets, factors)
    if task not in tasks:
        raise KaratError(f"These sentences make a study with the task {' or '.join(tasks)}, not {task}.")
    if not TASKS[task].compares:
        sets, factors = _one_at_a_time(sets), replace(factors, compared=None)
    elif not sets.paired:
        factors = replace(factors, compared=compared_factor(factors))
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
    """Notes on the parts of a study with this task that are missing from results."""
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
    """The language of sentences, by its most frequent words; None if it is not clearly one of `LANGUAGES`."""
    words = Counter(re.findall(r"[^\W\d_]+", " ".join(texts).lower()))
    usual = {name: {word: words[word] for word in top if word in words} for name, top in known_words()["usual"].items()}
    share = {name: sum(counts.values()) / max(1, words.total()) for name, counts in usual.items()}
    second, first = sorted(share, key=lambda name: share[name])[-2:]
    clear = share[first] >= max(LEAST_USUAL, 5 * share[second]) and len(usual[first]) >= LEAST_DIFFERENT
    return first if clear else None


def language_for(texts: Iterable[str], chosen: str | None) -> tuple[str, list[str]]:
    """The language of a study, chosen or guessed from its sentences, and a note if it is a guess or the two differ."""
    seen = language_seen(texts)
    if chosen is None and seen not in (None, USUAL_LANGUAGE):
        return seen, [f"The sentences look {LANGUAGES[seen]}, so texts and examples are {LANGUAGES[seen]} too."]
    chosen = chosen or USUAL_LANGUAGE
    if seen in (None, chosen) or chosen not in LANGUAGES:
        return chosen, []
    return chosen, [
        f"The sentences look {LANGUAGES[seen]}, but texts and examples are {LANGUAGES[chosen]}. "
        f"For {LANGUAGES[seen]} ones, use --language {seen}."
    ]


def tasks_for(sets: ItemSets, factors: CrossedFactors) -> tuple[str, ...]:
    """The tasks of a study from item sets; categories need results of such a task."""
    scale = sets.scale
    choice = ("choice",) if sets.paired or compared_factor(factors) is not None else ()
    few = scale is not None and scale.kind == "nominal" and len(scale.levels) <= MOST_CATEGORIES
    return *SETS_TASKS, *choice, *(("label",) if few else ())


def compared_factor(factors: CrossedFactors) -> str | None:
    """The factor that a choice compares: that of the results, else the last one with two levels."""
    two = [name for name, levels in factors.levels.items() if len(levels) == 2]
    return factors.compared or (two[-1] if two else None)


def _test_rows(sets: ItemSets, factors: CrossedFactors, change: _ScaleChange) -> list[dict[str, str]]:
    """The rows of the item table, one per sentence, with the name of its pair."""
    rows = []
    for item, sentences in sets.sets.items():
        for name, sentence in sentences.items():
            beside = change.respelled(sets.beside.get((item, name), {}), sets.scale)
            cells = {"item": item, **dict(zip(factors.levels, factors.cells[name], strict=True))}
            if sets.paired:
                pair = f"t{item}" if item.isdecimal() else item
                cells = {"item": f"{pair}{name}", "function": "test", "pair": pair}
            rows.append({**cells, "sentence": sentence, **beside})
    return rows


def _one_at_a_time(sets: ItemSets) -> ItemSets:
    """Sets with single sentences as fillers; those of a choice become two rows without a right answer."""
    rows: list[Mapping[str, str]] = []
    for row in sets.fillers:
        if "sentence_2" not in row:
            rows.append(row)
            continue
        shared = {name: cell for name, cell in row.items() if name not in ("sentence", "sentence_2", "expected")}
        rows += [
            {**shared, "item": f"{row['item']}{letter}", "sentence": row[name]}
            for letter, name in (("a", "sentence"), ("b", "sentence_2"))
        ]
    return replace(sets, fillers=tuple(rows))


RULES_OF = {"controls": "control", "attention": "attention"}
"""Screening rules of the templates, and the function of the items that each uses."""


@dataclass(frozen=True)
class _ScaleChange:
    """The study file of a template with the scale of results, and the spelling of answers on it."""

    text: str
    spelled: Mapping[str, str] = field(default_factory=dict)
    """Answer of the results -> answer of the study."""
    of_template: Mapping[str, str] = field(default_factory=dict)
    """Answer of the template -> answer of the study."""
    points: int = 0
    """The points of a rating scale other than that of the template."""

    def respelled(self, row: Mapping[str, str], scale: Scale | None) -> dict[str, str]:
        """A row of results with its right answers in the spelling of the study, without those it does not have."""
        if scale is None or "expected" not in row or "sentence_2" in row:
            return dict(row)
        right = scale.expected(row["expected"]) if self.spelled else ()
        spellings = [new for old, new in self.spelled.items() if old in right]
        expected = "|".join(spellings)
        if len(spellings) > 1 and spellings[0].isdecimal():
            first, last = spellings[0], spellings[-1]
            expected = f"{first}-{last}" if int(last) - int(first) == len(spellings) - 1 else expected
        return {name: cell for name, cell in {**row, "expected": expected}.items() if cell}

    def stretched(self, row: Mapping[str, str]) -> dict[str, str]:
        """An example of the template on the scale of the study."""
        example = dict(row)
        if self.points and "acceptability" in row:
            point = 1 + (int(row["acceptability"]) - 1) * (self.points - 1) / (POINTS - 1)
            example["acceptability"] = str(round(point))
        if self.points and "expected" in row:
            low, _, high = row["expected"].partition("-")
            # Rounded inwards, so that a guesser is right no more often than on the scale of the template.
            first = math.ceil((int(low) - 1) * self.points / POINTS) + 1
            last = max(first, int(high or low) * self.points // POINTS)
            example["expected"] = f"{first}-{last}" if last > first else str(first)
        if "expected" in row and row["expected"] in self.of_template:
            example["expected"] = self.of_template[row["expected"]]
        return example


POINTS = 5
"""The points of the rating scale of the template."""
SLIDER_POINTS = 101


def _language(text: str) -> str:
    """The language of a study file."""
    return str(tomllib.loads(text)["language"])


def _with_no_difference(text: str) -> str:
    """The study file of choices with the answer "no difference", also in its instructions."""
    more = known_words()["no_difference"][_language(text)]
    instructed = re.sub(r'^(instructions = """\n.*)$', rf"\1 {more}", text, count=1, flags=re.MULTILINE)
    return re.sub(
        r"^(prompt\s*=)", "scale     = { no_difference = true }\n\\1", instructed, count=1, flags=re.MULTILINE
    )


def _scale_change(text: str, scale: Scale | None, task: str) -> _ScaleChange:
    """The study file of a template with the scale of results, if the task has it."""
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
    worded = not all(re.fullmatch(r"-?\d+|true|false", level) for level in levels)
    if scale.kind == "nominal":
        text = text.replace(line, f"scale     = {{ levels = {toml(list(levels))} }}", 1)
        categories = ", ".join(levels).replace("\\", "/").replace('"', "'")
        for words_of in known_words()["label"]:
            text = text.replace(words_of["old"], words_of["new"].format(levels=categories))
        return _ScaleChange(text, {level: level for level in levels})
    if scale.kind == "binary":
        new = list(levels) if worded else words
        text = text.replace(line, f"scale     = {{ levels = {toml(new)} }}", 1)
        return _ScaleChange(text, dict(zip(levels, new, strict=True)), dict(zip(words, new, strict=True)))
    points = len(levels) or SLIDER_POINTS
    spelled = {level: str(number) for number, level in enumerate(levels, start=1)}
    if points == POINTS and not worded:
        return _ScaleChange(text, spelled)
    labels = list(levels) if levels and worded else [words[0], words[-1]]
    slider = "" if levels else ", slider = true"
    text = text.replace(line, f"scale     = {{ points = {points}{slider}, labels = {toml(labels)} }}", 1)
    return _ScaleChange(text, spelled, points=points if points != POINTS else 0)


def _rows_beside(template: Mapping[str, bytes]) -> list[dict[str, str]]:
    """The rows of a template that are not test items."""
    rows = [row for name, content in template.items() if name.endswith(".csv")
            for row in csv.DictReader(content.decode().splitlines())]  # fmt: skip
    from karat.study.items import KNOWN

    cells = [{name: cell for name, cell in row.items() if name in KNOWN and cell} for row in rows]
    return [row for row in cells if row.get("function", "test") != "test" and "sentence" in row]


def _table(rows: Sequence[Mapping[str, str]]) -> bytes:
    """Rows as CSV, with the columns of all of them."""
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
        name: {"levels": levels_of_factor, "between": "items"} if name in factors.between else levels_of_factor
        for name, levels_of_factor in factors.levels.items()
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
    # Planned comparisons are easier to find before the long texts.
    contrasts = _contrasts_of(factors)
    whole = "\n".join(lines).replace("[texts]\n", f"{contrasts}[texts]\n", 1) + "\n"
    number = len(sets.sets)
    about = language_of(_language(text)).counted(number, "item set")
    option = "--from-sets" if sets.scale is None else "--from-results"
    return _headed(whole, sets.source, option, about, number + extra, task, tables)


def _contrasts_of(factors: CrossedFactors) -> str:
    """The planned comparisons: each factor with two levels, and their interaction.

    In choices the compared factor is the answer, and its levels are compared over all trials and at each level of the
    other factors.
    """
    two = {name: list(levels) for name, levels in factors.levels.items() if len(levels) == 2}
    if factors.compared is not None:
        if factors.compared not in two:
            return ""
        head = f"factor = {toml(factors.compared)}\nlevels = {toml(two[factors.compared])}\n"
        at = [(name, level) for name, levels in two.items() if name != factors.compared for level in levels]
        return f"[[contrast]]\nname   = {toml(factors.compared)}\n{head}\n" + "".join(
            f"[[contrast]]\nname   = {toml(f'{factors.compared}, {level}')}\n{head}within = {toml({name: level})}\n\n"
            for name, level in at
        )
    interaction = f"[[contrast]]\nname    = {toml(' x '.join(two))}\nfactors = {toml(list(two))}\n\n"
    return (interaction if len(two) > 1 else "") + "".join(
        f"[[contrast]]\nname   = {toml(name)}\nfactor = {toml(name)}\nlevels = {toml(levels)}\n\n"
        for name, levels in two.items()
    )


def _template(task: str, language: str) -> dict[str, bytes]:
    """The files of a template, the study file first, which extends a common one for all templates of its language."""
    if task not in TEMPLATES:
        from karat.study.tasks import instead_of

        fix = instead_of(task) or meant(task, list(TEMPLATES))
        raise KaratError(f"There is no example study for the task {task}. {fix}")
    if language not in LANGUAGES:
        names = " and ".join(LANGUAGES)
        raise KaratError(f"There are example studies in {names}, not in {language}. Take one and translate its texts.")
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
    """Write all files, or none if one of them already exists."""
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


class SentencePairs(NamedTuple):
    """The pairs of a table."""

    rows: list[tuple[str, str, str, int | None]]
    """Name, two sentences, and the one that experts prefer (1, 2, or None if unknown)."""
    texts: list[str]
    """The sentences, each after the name of its column, which shows the language of short tables."""
    notes: list[Message]
    """How the table was read, such as from which sheet."""


def read_pairs(path: str | Path, sheet: str | None = None) -> SentencePairs:
    """Read the pairs of a table with two columns of sentences."""
    path = Path(path)
    if not path.is_file():
        raise KaratError(f"There is no file {path}. Give a CSV file or a spreadsheet with two columns of sentences.")
    from karat.judgments.source import SourceFile
    from karat.judgments.tables import read_table
    from karat.study.item_sheets.sets import are_sentences
    from karat.study.item_sheets.sheets import is_sentence
    from karat.study.items import flaws, plain

    table = read_table(SourceFile(path), sheet=sheet)
    columns = {plain(name): name for name in table.frame.columns}
    by_name = next(((columns[a], columns[b]) for a, b in SENTENCES if a in columns and b in columns), None)
    texts = [name for name in table.frame.columns if are_sentences(table.frame[name], more_than=1)]
    sentences = by_name or ((texts[0], texts[1]) if len(texts) == PAIR else None)
    if sentences is None:
        examples = ", ".join(f"{a} and {b}" for a, b in SENTENCES)
        raise PairsError(
            f"{path.name}: which columns are the sentences? The columns are {', '.join(table.frame.columns)}. "
            f"Name them as one of these: {examples}."
        )
    if all(is_sentence(name) for name in sentences):
        raise PairsError(f"{path.name} begins with sentences. Put a row above them that names the columns.")
    problems = flaws(table)
    for column in sentences:
        for row in table.frame[column].is_null().arg_true().to_list():
            problems.at(table.locate(row), "is empty", "A pair needs two sentences.", column)
    names = _names(table, columns, problems)
    better = _preferences(table, columns, sentences, problems)
    if not names and not problems:
        raise PairsError(f"{path.name} has no pairs.")
    if problems:
        raise PairsError(f"{path.name} is not readable as sentence pairs:", problems)
    cells = {name: table.frame[name].to_list() for name in sentences}
    rows = list(zip(names, *cells.values(), better, strict=True))
    texts = [f"{name} {sentence}" for name, own in cells.items() for sentence in own]
    return SentencePairs(rows, texts, table.notes)


def _preferences(
    table: FileTable, columns: Mapping[str, str], sentences: tuple[str, str], problems: Problems
) -> list[int | None]:
    """The sentence of each pair that experts prefer, if the table has it."""
    from karat.study.items import plain

    column = next((columns[name] for name in PREFERRED if name in columns), None)
    if column is None or column in sentences:
        first = 1 if plain(sentences[0]) in PREFERENCES else None
        return [first] * table.frame.height
    words = {"1": 1, "2": 2, plain(sentences[0]): 1, plain(sentences[1]): 2}
    cells = table.frame[column].to_list()
    for row, word in enumerate(cells):
        if word is not None and plain(word) not in words:
            fix = f"Write 1, 2, {sentences[0]} or {sentences[1]}, or leave the cell empty."
            problems.at(table.locate(row), "names no sentence of the pair", fix, column, value=word)
    return [None if word is None else words.get(plain(word)) for word in cells]


def _names(table: FileTable, columns: Mapping[str, str], problems: Problems) -> list[str]:
    """A name for each pair, from a column or else a number."""
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
    """The item table: two rows per pair, with their status if experts prefer one."""
    # The letter distinguishes the names of pairs from those of the fillers, whatever they are in the table.
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
    """A study file of a template with the header, title and duration of a study from a table."""
    from karat.study.tasks import AROUND_MINUTES, TASKS

    minutes = math.ceil(trials * TASKS[task].seconds / 60) + int(AROUND_MINUTES)
    # The name of a file may have quotation marks and line breaks, which would end the text of the title.
    table, title = (re.sub(r"[^\w .,()+-]", " ", name).strip() for name in (source.name, source.stem.replace("_", " ")))
    about = f"{title or 'items'}: {about}"
    examples = next((name for name in ("examples.csv", "fillers.csv") if name in tables), None)
    head, of_examples = (words.format(option=option, table=table, examples=examples)
                         for words in known_words()["made"][_language(text)])  # fmt: skip
    if examples == "examples.csv" or option == "--from-pairs":
        head += of_examples
    for pattern, new in (
        *([(r"\A# .*\n", "")] if option != "--from-pairs" else []),
        (r"^# .*`karat check`.*$", head),
        (r"^title( *)= .*$", rf'title\1= "{about}"'),
        (r"^minutes( *)= \S+", rf"minutes\1= {minutes}"),
    ):
        text = re.sub(pattern, new, text, count=1, flags=re.MULTILINE)
    return text
