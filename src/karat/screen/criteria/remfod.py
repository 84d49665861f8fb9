"""The declaration of remfod; `karat.screen.remfod` computes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from karat.study.criterion import Alternative, Criterion, CriterionSettings, Given, left_out
from karat.study.time_rules import TIME_RULES


class RemfodSettings(CriterionSettings):
    """Who rushed or paused in too many trials."""

    rule: Literal[
        "remfod", "participant", "function", "global", "miller-3", "miller-2.5", "miller-2", "mean-sd", "single"
    ] = Field("remfod", description="By which rule times are outlying; all but remfod are for comparison.")
    upper: float | None = Field(
        None,
        gt=0,
        description="MADs above the median beyond which a time is an intermission; by default 2.5, or the rule's.",
    )
    lower: float | None = Field(
        None, gt=0, description="MADs below the median beyond which a time is a rush; by default 1.5, or the rule's."
    )
    genuine_at_least: float | None = Field(
        None, ge=0, le=1, description="The share of trials that must be neither; by default 0.9, or the rule's."
    )
    mad_constant: float = Field(1.4826, gt=0, description="What makes a MAD comparable with a standard deviation.")
    length: str | None = Field(
        None, description="A column with the length of the sentence or its text: times are adjusted for it first."
    )
    inclusive: bool = Field(False, description="Whether a time that equals a cutoff is outlying, as in published code.")

    @classmethod
    def resolved(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """With the factors of the rule, where they are left to it.

        >>> RemfodSettings.resolved({"rule": "remfod", "upper": 3.0, "lower": None})
        {'rule': 'remfod', 'upper': 3.0, 'lower': 1.5, 'genuine_at_least': 0.9}
        """
        usual = TIME_RULES[given.get("rule", "remfod")]
        factors = {key: getattr(usual, key) for key in ("upper", "lower", "genuine_at_least")}
        return {**given, **{key: value for key, value in factors.items() if given.get(key) is None}}


def _wording(settings: Given) -> list[str]:
    return ["" if settings.get("rule", "remfod") == "remfod" else "rule"]


def _cites(settings: Given) -> tuple[str, ...]:
    miller = str(settings.get("rule", "")).startswith("miller")
    return ("pieper", "miller1991") if miller else ("pieper",)


CRITERION = Criterion(
    name="remfod",
    title="Response times (ReMFOD)",
    asks="who rushed or paused in too many trials",
    settings=RemfodSettings,
    computed_by="karat.screen.remfod:remfod",
    stage="clock",
    in_parts="karat.screen.parted.remfod:remfod_in_parts",
    shown_blind=True,
    of_the_study=("length", "mad_constant"),
    wording=_wording,
    shares=("genuine_at_least",),
    cites=_cites,
    alternatives=(
        Alternative("90 % genuine", {}, "Pieper, Börner and Kiss", usual=True),
        Alternative("80 % genuine", {"genuine_at_least": 0.8}, "lenient", usual=True),
        Alternative("95 % genuine", {"genuine_at_least": 0.95}, "strict"),
        Alternative("by participant only", {"rule": "participant"}, "Pieper, Börner and Kiss, figure 2"),
        Alternative("3 MADs both ways", {"upper": 3.0, "lower": 3.0}, "the conservative choice of Leys et al."),
        left_out(usual=True),
    ),
)
