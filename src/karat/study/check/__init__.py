"""The check of a study before money is spent, with findings in three grades.

Every rule is a small function that tests a study and yields its flaws. It is registered with its name, grade, source
and fix; `docs/reference/checks.md` lists all rules.
"""

from collections.abc import Iterator

from karat.errors import shown
from karat.judgments.columns import meant
from karat.study.check import alike, balance, controls, expected, recruitment, texts
from karat.study.check.draft import Draft
from karat.study.check.findings import GRADES, RULES, CheckRule, Finding, Flaw, Report, rule
from karat.study.size import study_cost
from karat.study.study import Study, load

__all__ = ["RULES", "CheckRule", "Draft", "Finding", "Flaw", "Report", "check", "load", "rule"]

THEMES = (alike, balance, controls, expected, recruitment, texts)
"""Modules that register rules when they are loaded."""


@rule("warning", fix="Fix the name, or remove it.")
def allow(draft: Draft) -> Iterator[Flaw]:
    """`[check] allow` names a rule that does not exist, or one that cannot be allowed. Such names would silently
    allow nothing."""
    for name in draft.study.settings.check.allow:
        if name in RULES and RULES[name].must:
            text = f"{name} cannot be allowed, because no questionnaire can be made with what it finds."
            yield Flaw(text, "Fix what it finds, and remove it from allow.", draft.at("check", "allow"))
        elif name not in RULES:
            yield Flaw(f"there is no rule {shown(name)}.", meant(name, list(RULES), ""), draft.at("check", "allow"))


def check(study: Study) -> Report:
    """Run all rules on a study; findings that `[check] allow` names are separate.

    >>> from karat.study.init import write_study
    >>> folder = getfixture("tmp_path") / "study"
    >>> written = write_study(folder, "likert")
    >>> [finding.rule for finding in check(load(folder)).findings]
    ['completion-code']
    """
    draft = Draft(study)
    findings = [finding for rule in RULES.values() for finding in rule.findings(draft)]
    findings.sort(key=lambda finding: GRADES.index(finding.grade))
    names = study.settings.check.allow
    allowed = [finding for finding in findings if finding.rule in names and not finding.must]
    remaining = tuple(finding for finding in findings if finding not in allowed)
    cost = study_cost(study.settings.recruitment, draft.longest, study.settings.questionnaire.sessions)
    return Report(draft.head(), remaining, tuple(allowed), cost)
