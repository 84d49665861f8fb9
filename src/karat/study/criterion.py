"""The declaration of a screening criterion: everything that karat needs to know about it, in the criterion's file."""

import pkgutil
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import Field

from karat.study.setting_base import Settings

Given = Mapping[str, Any]
"""Settings of a criterion by name, as written or completed."""


class CriterionSettings(Settings):
    """The base of the settings of all criteria."""

    @classmethod
    def resolved(cls, given: Given) -> dict[str, Any]:
        """The settings with the values that follow from others, such as from a rule."""
        return dict(given)


class PassSettings(CriterionSettings):
    """The right answers that exclude participants who guess."""

    alpha: float = Field(0.05, gt=0, lt=1, description="The highest probability that a guesser passes.")
    slips: int | None = Field(
        None, ge=0, description="How many wrong answers are tolerated; by default as alpha allows."
    )
    account: str = Field("positional", description="How ratings are judged.")


@dataclass(frozen=True)
class Alternative:
    """An alternative form of a criterion, for the multiverse."""

    words: str
    settings: Given | None
    """The settings that differ from the usual ones; None if the criterion is left out."""
    source: str
    usual: bool = False
    """Whether it is also tried if a study has no rules."""
    ratings: bool = False
    """Whether it is an account of ratings, which adds nothing for other answers."""
    where: str | None = None
    """A setting without which it is not tried, because it takes long and is computed for many rules."""


def left_out(usual: bool = False) -> Alternative:
    """The alternative without the criterion."""
    return Alternative("out", None, "left to the model", usual)


@dataclass(frozen=True)
class Criterion:
    """A criterion: its name in `[screening]`, its question, its settings, and the function that computes it."""

    name: str
    title: str
    """The name in sentences, diagrams and reports."""
    asks: str
    """The participants it flags, as the end of a sentence: who rushed or paused in too many trials."""
    settings: type[CriterionSettings]
    computed_by: str | Callable[..., Any]
    """A function from judgments and the settings to `Evidence`, or its place as "module:function"."""
    stage: Literal["completion", "clock", "answers"] = "answers"
    """The stage in which it runs; cutoffs are computed on the data that earlier stages leave."""
    needs_functions: tuple[str, ...] = ()
    """Item functions that must occur."""
    needs_repeated_questions: bool = False
    needs_quiz: bool = False
    needs_eligibility: bool = False
    by_the_key: bool = False
    """Whether it compares answers with right answers, so that its notes report doubts about these."""
    unasked: bool = True
    """Whether it also runs if the study names no criteria."""
    in_tasks: bool = False
    """Whether it consists of many jobs for other processes: the function takes `executor` too."""
    in_parts: bool = False
    """Whether the function takes judgments in parts as well (`karat.screen.one_part`)."""
    shown_blind: bool = False
    """Whether its reasons may be shown while a study runs, because they reveal no answers to test trials."""
    alternatives: tuple[Alternative, ...] = (left_out(),)
    """Other forms that a careful researcher might have chosen."""
    of_the_study: tuple[str, ...] = ()
    """Settings about the study, such as the length of the questionnaire, which alternatives keep."""
    looks_at: Callable[[Given], Collection[str]] = lambda settings: ()
    """From settings to the columns about participants that it uses; these are not background variables."""
    careless: bool = True
    """Whether it looks for careless answers, so that the number it flags can be compared with the Spammer Index."""
    from_study: Callable[[Any], dict[str, Any]] | None = None
    """From a `Study` to the settings that follow from it."""
    implied: Callable[[Given], dict[str, Any]] | None = None
    """From settings to the defaults that they change."""
    impossible: Callable[[Any, Any], Iterator[tuple[str, str]]] | None = None
    """From the draft of a study and the settings to the reasons why it cannot be computed, with their fixes."""
    cites: tuple[str, ...] | Callable[[Given], tuple[str, ...]] = ()
    """The keys of its literature, or a function from settings to them."""
    wording: Callable[[Given], list[str]] | None = None
    """From settings to the ends of the keys of its texts, "" for `needs.<name>` itself."""
    shares: tuple[str, ...] = ()
    """Settings that are shown in per cent."""
    idle_without: Mapping[str, str] = field(default_factory=dict)
    """Settings without effect unless another one is set."""

    @property
    def function(self) -> Callable[..., Any]:
        """The function that computes it, imported if it is given by name."""
        function: Any = self.computed_by
        return pkgutil.resolve_name(function) if isinstance(function, str) else function  # type: ignore[no-any-return]

    def compute(self, *given: Any, **settings: Any) -> Any:
        """The evidence."""
        return self.function(*given, **settings)

    def literature(self, settings: Given) -> tuple[str, ...]:
        """The keys of its literature, with these settings."""
        return self.cites(settings) if callable(self.cites) else self.cites

    def texts(self, settings: Given) -> list[str]:
        """The keys of the texts that describe it with these settings."""
        ends = [""] if self.wording is None else self.wording(settings)
        return [f"needs.{self.name}.{end}" if end else f"needs.{self.name}" for end in ends]
