"""An archive of a study, ready for a repository such as OSF or Zenodo: a folder in the form of Psych-DS.

    dataset_description.json    what the data are, and every column (`karat.report.archive_documents`)
    README.md                   what is where, what was left out, how to check and to read it
    data/                       judgments and participants as CSV; data/raw has both as one Parquet file and as one
                                workbook whose texts are text cells
    materials/                  the study file, the tables that it names and their images
    documentation/              codebook, methods, preregistration, literature
    results/                    the screening and the report
    checksums.txt               SHA-256 of every file, as `sha256sum --check` reads it

Participants get new names before anything is computed, so no old name can get into a result. The screening uses all
columns; then the personal ones are removed (`karat.report.pseudonyms`), and with them the answers that eligibility
quotes. Everything is written to a temporary folder beside the target, which is renamed at the end.
"""

import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from karat import __version__
from karat.errors import KaratError, counted
from karat.judgments import Judgments
from karat.judgments.files import MOST_SHEET_ROWS, write_workbook
from karat.languages import language_codes
from karat.languages.language import typeset
from karat.measure.export import write_r
from karat.measure.measures import Measures
from karat.report.archive_documents import RULES, WORKBOOK, codebook, data_name, dataset_description, readme
from karat.report.build import ReportData, build
from karat.report.export import write as write_report
from karat.report.literature import bibtex, cited
from karat.report.pseudonyms import Pseudonymous, pseudonymous, removed_columns, stripped
from karat.report.words import methods, preregistration
from karat.screen.criteria.eligibility import without_answers
from karat.screen.run import run as screen
from karat.screen.screening import Screening
from karat.study.file import rules_text
from karat.study.study import Study
from karat.types import NamedSteps

CODES = ("completion_code", "screened_out_code", "failed_quiz_code", "no_consent_code")
ROW_ID = "row_id"
WORD = re.compile(r"[\w@.+-]+")
FEWEST_LETTERS = 4
"""Shorter names of participants, and names of letters only, are not searched in the files, because such words also mean
other things."""


@dataclass(frozen=True)
class Archive:
    """The files of an archive, and what was removed."""

    folder: Path
    files: tuple[Path, ...]
    """All files, relative to the folder."""
    removed: dict[str, str]
    """The columns that were removed, and why they are personal."""
    names: dict[str, str]
    """From old names of participants to new ones; the archive does not contain it."""
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        removed = ", ".join(self.removed) or "none"
        text = f"{self.folder}: {counted(len(self.files), 'file')}; columns removed as personal: {removed}."
        return " ".join([text, *self.notes])


def archive(
    judgments: Judgments,
    folder: str | Path,
    study: Study | None = None,
    rules: Mapping[str, Any] | None = None,
    *,
    keep: Collection[str] = (),
    creators: Sequence[str] = (),
    license: str = "",  # noqa: A002
    report: bool = True,
    seed: int | None = None,
    progress: NamedSteps = lambda _: nullcontext(),
) -> Archive:
    """Write judgments, study, screening and report to a folder; personal columns stay out unless `keep` names them.

    The report and the methods take as long as all measures; `report=False` leaves them out. The same `seed` gives
    participants the same new names.

    >>> import karat, tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     found = archive(karat.datasets.load("crowd"), f"{place}/new", rules={"completion": {}}, report=False)
    ...     [path.as_posix() for path in found.files if path.parts[0] == "data"]
    ['data/raw/judgments.parquet', 'data/raw/judgments.xlsx', 'data/study-Judgments_description-judgments_data.csv', \
'data/study-Judgments_description-participants_data.csv']
    """
    target = Path(folder)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise KaratError(f"{target} already exists and is not empty. Give another folder, so that nothing is mixed up.")
    if "trial" not in judgments.frame.columns and "time" in judgments.frame.columns:
        judgments = judgments.with_row_order()  # only times give the order, and they do not go into the archive
    moved = pseudonymous(judgments, study, seed)
    removed = {name: moved.personal[name] for name in removed_columns(moved.personal, keep, judgments)}
    with progress("screening"):
        screening = without_columns(screen(moved.judgments, rules, study), removed)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as temporary:
        draft = Path(temporary) / "archive"
        notes = _tables(draft, screening, study, creators, license)
        screening.write(draft / "results" / "screening")
        texts = _reported(draft, build(screening, study, progress=progress), progress) if report else []
        if study is not None:
            texts += [("preregistration", typeset(preregistration(study, code)), code) for code in language_codes()]
        _texts(draft / "documentation", texts)
        notes += _materials(draft / "materials", study, screening)
        notes += _old_names(draft, moved)
        kept_columns = [name for name in moved.personal if name not in removed]
        text = readme(screening, study, removed, kept_columns, notes, report=report)
        (draft / "README.md").write_text(text, encoding="utf-8")
        files = _checksums(draft)
        if target.exists():
            target.rmdir()
        draft.rename(target)
    return Archive(target, files, removed, moved.names, tuple(notes))


def without_columns(screening: Screening, removed: Collection[str]) -> Screening:
    """The screening without personal columns, and without the answers that eligibility quotes from them."""
    evidence = dict(screening.evidence)
    if "eligibility" in evidence:
        settings = evidence["eligibility"].settings
        looked_at = {*settings["answers"], *settings["same"], *settings["same"].values()}
        if looked_at & set(removed):
            evidence["eligibility"] = without_answers(evidence["eligibility"])
    return replace(screening, judgments=stripped(screening.judgments, removed), evidence=evidence)


def _tables(
    folder: Path, screening: Screening, study: Study | None, creators: Sequence[str], license_: str
) -> list[str]:  # fmt: skip
    """Write the data, the codebook and the description of both; returns notes."""
    judgments = screening.judgments
    title = "Judgments" if study is None else study.title
    (folder / "data" / "raw").mkdir(parents=True)
    (folder / "documentation").mkdir()
    notes, sheets = [], {}
    for name, table in (("judgments", judgments.frame), ("participants", judgments.participants)):
        moments = [column for column, dtype in table.schema.items() if isinstance(dtype, pl.Datetime)]
        plain = table.with_columns(pl.col(moments).dt.strftime("%Y-%m-%dT%H:%M:%S%.6fZ"))
        sheets[name] = plain
        plain.write_csv(folder / "data" / data_name(title, name))
        if ROW_ID in plain.columns and plain[ROW_ID].is_duplicated().any():
            notes.append(
                f"{ROW_ID} repeats among the {name}: Psych-DS keeps the name {ROW_ID} for a column with every value "
                "once. Call it otherwise."
            )
    judgments.to_parquet(folder / "data" / "raw" / "judgments.parquet")
    if len(judgments) <= MOST_SHEET_ROWS:
        write_workbook(folder / "data" / "raw" / WORKBOOK, sheets)
    else:
        notes.append(
            f"{len(judgments):,} judgments are more than a sheet holds, so that data/raw/{WORKBOOK} is missing."
        )
    book = codebook(judgments, study)
    book.with_columns(pl.col(pl.String).replace("", None)).write_csv(folder / "documentation" / "codebook.csv")
    people = counted(judgments.participants.height, "participant")
    sentence = f"{counted(len(judgments), 'judgment')} of language by {people}, archived by karat {__version__}."
    language = "" if study is None else study.settings.language
    about = dataset_description(title, sentence, book, language=language, creators=creators, license=license_)
    text = json.dumps(about, ensure_ascii=False, indent=2)
    (folder / "dataset_description.json").write_text(text + "\n", encoding="utf-8")
    blank = book.filter(pl.col("meaning") == "")["column"].unique(maintain_order=True).to_list()
    notes += [f"documentation/codebook.csv has no meaning for {', '.join(blank)}: fill it in."] if blank else []
    return notes


def _reported(folder: Path, gathered: ReportData, progress: NamedSteps) -> list[tuple[str, str, str]]:
    """Write the report and the R scripts; returns the texts on methods in each language."""
    with progress("writing the report"):
        write_report(gathered, folder / "results" / "report.html")
    if isinstance(gathered.measures, Measures):
        write_r(gathered.measures, folder / "results")
    return [("methods", typeset(methods(gathered, code)), code) for code in language_codes()]


def _texts(folder: Path, texts: Sequence[tuple[str, str, str]]) -> None:
    """Write texts with citations by key, as Markdown, and the literature that they cite."""
    for name, text, language in texts:
        (folder / f"{name}.{language}.md").write_text(text + "\n", encoding="utf-8")
    keys = cited(" ".join(text for _, text, _ in texts))
    if keys:
        (folder / "literature.bib").write_text(bibtex(keys), encoding="utf-8")


def _materials(folder: Path, study: Study | None, screening: Screening) -> list[str]:
    """Copy the study file, its tables and images; without a study file, write the rules. Returns notes."""
    if study is None:
        if screening.exclude is None:
            return ["There is no study file, so materials/ is missing."]
        folder.mkdir()
        rules = {**screening.settings, "exclude": screening.exclude}
        (folder / RULES).write_text(rules_text(rules), encoding="utf-8")
        return [f"There is no study file: materials/ has the rules alone ({RULES})."]
    home, notes = study.path.parent, []
    tables = [name for block in study.settings.block
              for name in (*block.items, block.templates, block.lexicon, block.questions) if name]  # fmt: skip
    images = [name for block in study.blocks for column in ("image", "image_2") if column in block.items.frame.columns
              for name in block.items.frame[column].drop_nulls()]  # fmt: skip
    for name in dict.fromkeys([study.path.name, *tables, *images]):
        if not (home / name).is_file():
            notes.append(f"There is no file {name}, so materials/ lacks it.")
            continue
        place = folder / name
        if not place.resolve().is_relative_to(folder.resolve()):
            place = _free(folder / Path(name).name)
            notes.append(f"{name} lies outside the folder of the study; it is materials/{place.name} here.")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(home / name, place)
    if any(getattr(study.settings.recruitment, code) for code in CODES):
        notes.append(f"{study.path.name} holds codes of the platform: publish it when the study is over.")
    return notes


def _free(place: Path) -> Path:
    """The path, or one beside it if another file has it already."""
    number = 1
    free = place
    while free.exists():
        number += 1
        free = place.with_name(f"{place.stem}-{number}{place.suffix}")
    return free


def _old_names(folder: Path, moved: Pseudonymous) -> list[str]:
    """Notes on files that contain old names of participants, such as in a column that was kept."""
    old = {name for name in moved.names if len(name) >= FEWEST_LETTERS and not name.isalpha()}
    notes = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.suffix not in (".csv", ".json", ".md", ".html", ".svg") or name.startswith("materials/"):
            continue
        words = WORD.findall(path.read_text(encoding="utf-8"))
        # A name at the end of a sentence is followed by a full stop.
        names = old.intersection(words) | old.intersection(word.rstrip(".") for word in words)
        if names:
            notes.append(
                f"{name} has the former name of {counted(len(names), 'participant')}: look before you publish."
            )
    return notes


def _checksums(folder: Path) -> tuple[Path, ...]:
    """Write the checksums; returns all files."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder).as_posix()}" for path in files
    ]
    (folder / "checksums.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tuple(path.relative_to(folder) for path in [*files, folder / "checksums.txt"])
