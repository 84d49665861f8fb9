"""The findings of a check, and the registry of its rules, each with its name, grade, source and fix."""

import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from karat.errors import counted
from karat.messages import ENGLISH, Message, render
from karat.study.check.draft import Draft, Spot

Grade = Literal["error", "warning", "hint"]
GRADES: tuple[Grade, ...] = ("error", "warning", "hint")
WIDTH = 100
INDENT = 11


@dataclass(frozen=True)
class Finding:
    """A finding: the flaw, the source of the rule, the fix, and the place."""

    grade: Grade
    rule: str
    message: str
    source: str = ""
    fix: str = ""
    file: str | None = None
    line: int | None = None
    must: bool = False
    """Whether it cannot be allowed, because no questionnaire can be made with it."""
    typed: Message | None = None
    """The message as code and values, if the rule has one."""

    def sentence(self, language: str = ENGLISH) -> str:
        """The message in a language; rules without a typed message are in English."""
        return self.message if self.typed is None else render(self.typed, language)

    @property
    def code(self) -> str:
        """The code of this kind of finding, which does not change with its wording; the rule if it has only one."""
        return f"check.{self.rule.replace('-', '_')}" if self.typed is None else self.typed.code

    @property
    def place(self) -> str:
        """The file and line of the flaw, such as `items.csv:34`; empty if it has no single place."""
        return "" if self.file is None else self.file if self.line is None else f"{self.file}:{self.line}"

    def __str__(self) -> str:
        source = f"[{self.source}]" if self.source else ""
        parts = [f"{self.rule}: {self.message}", self.fix, source, self.place]
        return " ".join(part for part in parts if part)


@dataclass(frozen=True)
class Report:
    """The findings of a check, errors first."""

    head: str
    findings: tuple[Finding, ...]
    allowed: tuple[Finding, ...] = ()
    """The findings that the study allows."""
    cost: Message | None = None
    """The cost of the participants, if the study has their pay."""

    @property
    def errors(self) -> int:
        """The number of errors."""
        return self.counts()["error"]

    def counts(self) -> dict[Grade, int]:
        """The number of findings of each grade."""
        return {grade: sum(finding.grade == grade for finding in self.findings) for grade in GRADES}

    def lines(self, width: int = WIDTH) -> list[str]:
        """The report as printed lines."""
        printed = [self.head, *([] if self.cost is None else [str(self.cost)]), ""]
        for finding in self.findings:
            wrapped = textwrap.wrap(str(finding), width - INDENT, break_long_words=False, break_on_hyphens=False)
            printed += [f"  {finding.grade:<{INDENT - 2}}{wrapped[0]}", *(" " * INDENT + line for line in wrapped[1:])]
        printed += [""] if self.findings else []
        return [*printed, self.summary()]

    def summary(self) -> str:
        """The last line: the number of findings, and how to proceed."""
        allowed = f" {counted(len(self.allowed), 'finding')} allowed by [check] allow." if self.allowed else ""
        if not self.findings:
            return f"Nothing to fix.{allowed}"
        numbers = ", ".join(counted(number, grade) for grade, number in self.counts().items() if number)
        worst = [finding for finding in self.findings if finding.grade == self.findings[0].grade]
        sole = len(worst) == 1
        them = f"the {worst[0].grade}{'' if sole else 's'}"
        needed = _rules(finding for finding in worst if finding.must)
        rules = _rules(finding for finding in worst if not finding.must)
        names = ", ".join(f'"{rule}"' for rule in rules)
        allow = f"[check] allow = [{names}]{'.' + allowed if allowed else ''}"
        if not rules:
            return f"{numbers}. Fix {them}: no questionnaire can be made {'with it' if sole else 'with them'}.{allowed}"
        if needed:
            first = f"Fix {', '.join(needed)}: otherwise no questionnaire can be made."
            return f"{numbers}. {first} Fix the rest, or allow it if intended: {allow}"
        return f"{numbers}. Fix {them}, or allow {'it' if sole else 'them'} if intended: {allow}"

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data, for JSON."""
        return {
            "study": self.head,
            "cost": None if self.cost is None else self.cost.to_dict(),
            "counts": self.counts(),
            "findings": [_plain(finding) for finding in self.findings],
            "allowed": [_plain(finding) for finding in self.allowed],
        }


def _plain(finding: Finding) -> dict[str, Any]:
    typed = {} if finding.typed is None else finding.typed.to_dict()["values"]
    fields = {name: value for name, value in asdict(finding).items() if name != "typed"}
    return fields | {"code": finding.code, "values": typed}


def _rules(findings: Iterable[Finding]) -> list[str]:
    """The distinct rules of findings."""
    return list(dict.fromkeys(finding.rule for finding in findings))


@dataclass(frozen=True)
class Flaw:
    """A flaw of a study; the registry adds name, grade and source of the rule."""

    message: str | Message
    fix: str = ""
    spot: Spot = (None, None)
    must: bool = False
    """Whether this finding must be fixed, even if others of its rule may be allowed."""


Test = Callable[[Draft], Iterator[Flaw]]


@dataclass(frozen=True)
class CheckRule:
    """A rule of the check."""

    name: str
    grade: Grade
    what: str
    """The condition for a finding, in half a sentence."""
    source: str
    fix: str
    test: Test
    must: bool = False
    """Whether it must be fixed and cannot be allowed, because no questionnaire could be made or served otherwise."""

    def findings(self, draft: Draft) -> Iterator[Finding]:
        """The findings of the rule in a study."""
        for flaw in self.test(draft):
            file, line = flaw.spot
            fix = flaw.fix or self.fix
            text, must = str(flaw.message), self.must or flaw.must
            typed = flaw.message if isinstance(flaw.message, Message) else None
            yield Finding(self.grade, self.name, text, self.source, fix, file, line, must, typed)


RULES: dict[str, CheckRule] = {}


def rule(
    grade: Grade, source: str = "", fix: str = "", *, must: bool = False, name: str = ""
) -> Callable[[Test], Test]:
    """Register a function from a study to its flaws as a rule of the check.

    The first sentence of its docstring is the condition for a finding; its name with hyphens is that of the rule. A
    source that begins with a section is in Pieper, Börner and Kiss.
    """
    cited = f"Pieper et al., {source}" if source.startswith("section") else source

    def registered(test: Test) -> Test:
        what = " ".join((test.__doc__ or "").split()).split(". ")[0].removesuffix(".")
        rule_name = name or test.__name__.replace("_", "-")
        RULES[rule_name] = CheckRule(rule_name, grade, f"{what[:1].lower()}{what[1:]}", cited, fix, test, must)
        return test

    return registered
