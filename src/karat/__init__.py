"""karat: from a study file to defensible judgments of language.

Packages are loaded when they are first used, so that `import karat` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_PACKAGES = {
    "datasets": "karat.datasets",
    "errors": "karat.errors",
    "intake": "karat.intake",
    "measure": "karat.measure",
    "report": "karat.report",
    "scales": "karat.judgments.scales",
    "screen": "karat.screen",
    "simulate": "karat.simulate",
    "study": "karat.study",
}
_NAMES = {
    "read": "karat.intake",
    "Judgments": "karat.judgments",
    "Binary": "karat.judgments.scales",
    "Choice": "karat.judgments.scales",
    "Ordinal": "karat.judgments.scales",
    "Nominal": "karat.judgments.scales",
    "Magnitude": "karat.judgments.scales",
    "Continuous": "karat.judgments.scales",
    "KaratError": "karat.errors",
    "IntakeError": "karat.errors",
    "JudgmentsError": "karat.errors",
    "ScaleError": "karat.errors",
}

if TYPE_CHECKING:
    from karat import datasets, errors, intake, measure, report, screen, simulate, study
    from karat.errors import IntakeError, JudgmentsError, KaratError, ScaleError
    from karat.intake import read
    from karat.judgments import Judgments, scales
    from karat.judgments.scales import Binary, Choice, Continuous, Magnitude, Nominal, Ordinal

__all__ = [
    "Binary",
    "Choice",
    "Continuous",
    "IntakeError",
    "Judgments",
    "JudgmentsError",
    "KaratError",
    "Magnitude",
    "Nominal",
    "Ordinal",
    "ScaleError",
    "datasets",
    "errors",
    "intake",
    "measure",
    "read",
    "report",
    "scales",
    "screen",
    "simulate",
    "study",
]


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(_PACKAGES[name])
    if name in _NAMES:
        return getattr(import_module(_NAMES[name]), name)
    raise AttributeError(f"module 'karat' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
