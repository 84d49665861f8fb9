"""Paragraphs for a paper in two languages: methods, and a preregistration before there are data.

Every number comes from the study file, the screening or the measures. Literature is cited by key, [@bates2015]: see
`karat.report.literature`, which writes the entries and can put names and years in place of the keys.
"""

from karat.languages import language_of
from karat.report.build import ReportData
from karat.report.outcomes import Outcomes
from karat.report.words.design import answered, asked
from karat.report.words.exclusions import excluded, to_be_excluded
from karat.report.words.measured import measured, to_be_measured
from karat.report.words.sample import recruited, simulated_notice, took_part
from karat.simulate.behaviours import simulated
from karat.study.study import Study

__all__ = ["methods", "preregistration"]


def methods(gathered: ReportData, language: str = "en") -> str:
    """The methods in paragraphs, with an empty line between them."""
    words, study, judgments = language_of(language), gathered.study, gathered.judgments
    made_up, everyone = simulated(judgments.participants), judgments.participants.height
    plan = None if 0 < everyone == made_up else study
    right = gathered.outcomes.accuracy if isinstance(gathered.outcomes, Outcomes) else None
    paragraphs = [
        simulated_notice(words, judgments, "simulated.methods"),
        [*([] if study is None else asked(words, study)), *answered(words, judgments, study is not None)],
        [*([] if plan is None else recruited(words, plan)), *took_part(words, judgments, study)],
        excluded(words, gathered.screening, study, gathered.index),
        measured(words, gathered.measures, study, gathered.versions, right),
    ]
    return "\n\n".join(" ".join(sentences) for sentences in paragraphs if sentences)


def preregistration(planned: ReportData | Study, language: str = "en") -> str:
    """The preregistration in paragraphs: design, participants, exclusions and comparisons."""
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
