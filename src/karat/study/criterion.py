"""What a screening criterion is: all that karat needs to know of it, declared once, in the criterion's own file."""

import pkgutil
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import Field

from karat.study.setting_base import Settings

Given = Mapping[str, Any]
"""Settings of a criterion by their names, as stated or completed."""


class CriterionSettings(Settings):
    """What the settings of all criteria share."""

    @classmethod
    def resolved(cls, given: Given) -> dict[str, Any]:
        """The settings with the values that are used where none is given and something else decides, such as a rule."""
        return dict(given)


class PassSettings(CriterionSettings):
    """How many right answers keep somebody who guesses out."""

    alpha: float = Field(0.05, gt=0, lt=1, description="The highest probability that a guesser passes.")
    slips: int | None = Field(
        None, ge=0, description="How many wrong answers are tolerated; by default as alpha allows."
    )
    account: str = Field("positional", description="How ratings are judged.")


@dataclass(frozen=True)
class Alternative:
    """Another reasonable way to state a criterion, for the multiverse."""

    words: str
    settings: Given | None
    """What differs from the usual settings; None where the criterion is left out."""
    source: str
    usual: bool = False
    """Whether it is also tried where a study states no rules."""
    ratings: bool = False
    """Whether it is an account of ratings, which says nothing new of other answers."""
    where: str | None = None
    """A setting that must be stated for it to be tried, because it takes long and is computed for many rules."""


def left_out(usual: bool = False) -> Alternative:
    """The alternative of not asking for a criterion."""
    return Alternative("out", None, "left to the model", usual)


@dataclass(frozen=True)
class Criterion:
    """A criterion: its name in `[screening]`, what it asks, its settings, and what computes it."""

    name: str
    title: str
    """How it is called in sentences, diagrams and reports."""
    asks: str
    """The participants it flags, as the end of a sentence: who rushed or paused in too many trials."""
    settings: type[CriterionSettings]
    computed_by: str | Callable[..., Any]
    """A function from judgments and the settings to `Evidence`, or where it is, as "module:function"."""
    stage: Literal["completion", "clock", "answers"] = "answers"
    """When it runs: cutoffs are computed on the data that earlier stages left."""
    needs_functions: tuple[str, ...] = ()
    """Item functions of which there must be trials."""
    needs_repeated_questions: bool = False
    needs_quiz: bool = False
    needs_eligibility: bool = False
    by_the_key: bool = False
    """Whether it compares answers with right ones, so that doubts about these are a note of it."""
    unasked: bool = True
    """Whether it also runs where no criteria are stated."""
    in_tasks: bool = False
    """Whether it is made of many tasks, which may be done elsewhere: the function takes `executor` too."""
    in_parts: bool = False
    """Whether the function takes judgments in parts as well (`karat.screen.one_part`)."""
    shown_blind: bool = False
    """Whether its reasons may be shown while a study runs, because they say nothing of answers to test trials."""
    alternatives: tuple[Alternative, ...] = (left_out(),)
    """What else a careful researcher might have stated."""
    of_the_study: tuple[str, ...] = ()
    """Settings that decide nothing about people, such as the length of the questionnaire: alternatives keep them."""
    looks_at: Callable[[Given], Collection[str]] = lambda settings: ()
    """From settings to the columns about participants that it looks at; these are not background variables."""
    careless: bool = True
    """Whether it looks for careless answers, so that the number it flags can be compared with the Spammer Index."""
    from_study: Callable[[Any], dict[str, Any]] | None = None
    """From a `Study` to the settings that it knows without stating them."""
    implied: Callable[[Given], dict[str, Any]] | None = None
    """From stated settings to others that are not the usual ones then."""
    impossible: Callable[[Any, Any], Iterator[tuple[str, str]]] | None = None
    """From the draft of a study and the stated settings to what can never be computed, and how to fix it."""
    cites: tuple[str, ...] | Callable[[Given], tuple[str, ...]] = ()
    """The keys of its literature, or a function from settings to them."""
    wording: Callable[[Given], list[str]] | None = None
    """From settings to the ends of the text keys that say what it asks for, "" for `needs.<name>` itself."""
    shares: tuple[str, ...] = ()
    """Settings that are shown in per cent."""
    idle_without: Mapping[str, str] = field(default_factory=dict)
    """Settings that mean nothing unless another is stated."""

    @property
    def function(self) -> Callable[..., Any]:
        """What computes it; loaded now, where it is named."""
        found: Callable[..., Any] = (
            pkgutil.resolve_name(self.computed_by) if isinstance(self.computed_by, str) else self.computed_by
        )
        return found

    def compute(self, *given: Any, **settings: Any) -> Any:
        """Its evidence."""
        return self.function(*given, **settings)

    def literature(self, settings: Given) -> tuple[str, ...]:
        """The keys of its literature, with these settings."""
        return self.cites(settings) if callable(self.cites) else self.cites

    def texts(self, settings: Given) -> list[str]:
        """The keys of the texts that say what it asks for, with these settings."""
        ends = [""] if self.wording is None else self.wording(settings)
        return [f"needs.{self.name}.{end}" if end else f"needs.{self.name}" for end in ends]
