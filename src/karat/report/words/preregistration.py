"""What will be done, in a few paragraphs, from the study file alone: fit for a registry before there are any data."""

from __future__ import annotations

from karat.languages import language_of
from karat.report.build import ReportData
from karat.report.words.design import asked
from karat.report.words.exclusions import to_be_excluded
from karat.report.words.measured import to_be_measured
from karat.report.words.sample import recruited
from karat.study.study import Study


def preregistration(planned: ReportData | Study, language: str = "en") -> str:
    """What a study will ask, of whom, whom it will exclude and what it will compare, in paragraphs.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from karat.study import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "items.csv").write_text("item,function,sentence\\nt1,test,It rains.\\n")
    ...     _ = Path(folder, "study.toml").write_text(
    ...         'title = "Rain"\\n[[block]]\\ntask = "likert"\\nitems = "items.csv"\\n'
    ...         "[screening]\\ncompletion = { at_least = 0.8 }\\n"
    ...     )
    ...     text = preregistration(load(folder))
    >>> text.split(". ")[0]
    'Participants will rate each stimulus on a scale of 5 points'
    >>> "Completion: at least 80 % of 1 trials answered, no person twice [@pieper]." in text
    True
    """
    words = language_of(language, planned=True)
    study = planned if isinstance(planned, Study) else planned.study
    if study is None:
        return words.say("no study")
    paragraphs = [
        asked(words, study),
        recruited(words, study),
        to_be_excluded(words, study),
        [*to_be_measured(words, study), words.say("fingerprint", fingerprint=study.fingerprint)],
    ]
    return "\n\n".join(" ".join(sentences) for sentences in paragraphs)
