"""The registry of rules: each has a name, a grade, what it says, where it comes from and how to mend a study."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from karat.study.check.draft import Draft, Spot
from karat.study.check.findings import Finding, Grade


@dataclass(frozen=True)
class Flaw:
    """What a rule says about one study; the registry adds name, grade and source."""

    message: str
    mend: str = ""
    spot: Spot = (None, None)
    must: bool = False
    """Whether this one must be mended, of a rule whose findings need not always."""


Test = Callable[[Draft], Iterator[Flaw]]


@dataclass(frozen=True)
class CheckRule:
    """A rule of the check."""

    name: str
    grade: Grade
    what: str
    """When there is a finding, in half a sentence."""
    source: str
    mend: str
    test: Test
    must: bool = False
    """Whether it must be mended: no questionnaire can be made or served else, so that it cannot be intended."""

    def findings(self, draft: Draft) -> Iterator[Finding]:
        """What the rule finds in a study."""
        for flaw in self.test(draft):
            file, line = flaw.spot
            mend = flaw.mend or self.mend
            yield Finding(self.grade, self.name, flaw.message, self.source, mend, file, line, self.must or flaw.must)


RULES: dict[str, CheckRule] = {}


def rule(
    name: str, grade: Grade, what: str, *, source: str = "", mend: str, must: bool = False
) -> Callable[[Test], Test]:
    """Register a function from a study to its flaws as a rule of the check."""

    def registered(test: Test) -> Test:
        RULES[name] = CheckRule(name, grade, what, source, mend, test, must)
        return test

    return registered
