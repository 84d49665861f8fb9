"""The page that says what is in an archive, what was left out of it, and how to check and to read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from karat import __version__
from karat.errors import counted
from karat.screen.screening import Screening
from karat.study.study import Study

RULES = "rules.toml"
"""The file in materials/ with the rules, where there is no study file to state them."""


def readme(
    screening: Screening, study: Study | None, removed: Mapping[str, str], kept: Sequence[str], notes: Sequence[str],
    *, report: bool,
) -> str:  # fmt: skip
    """The text of README.md.

    >>> import karat
    >>> screening = karat.screen.run(karat.datasets.load("crowd"), {"completion": {}})
    >>> print(readme(screening, None, {"age": "describes participants"}, [], [], report=False).splitlines()[2])
    9,600 judgments by 120 participants; archived with karat 0.1.0 in the form of Psych-DS.
    """
    judgments = screening.judgments
    counts = f"{counted(len(judgments), 'judgment')} by {counted(judgments.participants.height, 'participant')}"
    lines = [
        f"# {'Judgments' if study is None else study.title}\n",
        f"{counts}; archived with karat {__version__} in the form of Psych-DS.\n",
        "## What is where\n",
        "- `dataset_description.json`: what the data are, and every column",
        "- `data/`: judgments and participants as CSV; `data/raw/judgments.parquet` has both, with types and scales",
        *(
            ["- `materials/`: the study file, its tables and images, as they were used"]
            if study is not None
            else [f"- `materials/{RULES}`: the rules of screening"]
            if screening.exclude is not None
            else []
        ),
        "- `documentation/codebook.csv`: every column with its meaning, type, values and missing cells",
        *(["- `documentation/methods.*.md`: methods in words, cited by keys of `literature.bib`"] if report else []),
        *([] if study is None else ["- `documentation/preregistration.*.md`: what the study file states beforehand"]),
        "- `results/screening/`: what each criterion found about whom, and who stays",
        *(["- `results/report.html`: the report; open it in a browser"] if report else []),
        "- `checksums.txt`: SHA-256 of every file; check them with `sha256sum --check checksums.txt`\n",
        "## Who took part\n",
        "Participants have new names, dealt at random. " + _columns(removed, kept) + "\n",
        _screened(screening, study) + "\n",
        "## How to read the tables\n",
        "Everything under `data/` is raw: all answers of everybody, as they were given. Only names and the order of "
        "participants are new, and the columns above are gone. A spreadsheet may run a text that begins with =, +, - "
        "or @ as a formula: import the columns as text. In `results/screening/` an apostrophe marks such texts.\n",
        "```text",
        f"karat screen data/raw/judgments.parquet{_rules(screening, study)}",
        "```\n",
        "finds the screening again, but for criteria that look at columns that were taken away.",
    ]
    lines += ["\n## To look at before publishing\n", *(f"- {note}" for note in notes)] if notes else []
    return "\n".join(lines) + "\n"


def _columns(removed: Mapping[str, str], kept: Sequence[str]) -> str:
    told = [f"`{name}` ({why})" for name, why in removed.items()]
    text = f"Columns that were taken away: {', '.join(told)}." if told else "No column was taken away."
    return text + (f" Kept on request: {', '.join(f'`{name}`' for name in kept)}." if kept else "")


def _rules(screening: Screening, study: Study | None) -> str:
    """The flag that gives the rules to a command again."""
    if study is not None:
        return f" --study materials/{study.path.name}"
    return "" if screening.exclude is None else f" --rules materials/{RULES}"


def _screened(screening: Screening, study: Study | None) -> str:
    everyone, gone = screening.judgments.participants.height, len(screening.excluded)
    if screening.exclude is None:
        return "No rule of exclusion was stated, so that nobody is excluded."
    rules = "the rules that were given" if study is None else f"the rules of the study file ({study.fingerprint})"
    told = f"By {rules}, {gone:,} of {counted(everyone, 'participant')} are excluded; their data are here as well."
    return told + (f" {' and '.join(screening.skipped)} could not run." if screening.skipped else "")
