"""karat: from a study file to defensible judgments of language.

These names are loaded when they are first used, so that `import karat` stays fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.packages import load_when_used

__version__ = "0.1.0"

if TYPE_CHECKING:
    from karat import datasets as datasets
    from karat import errors as errors
    from karat import intake as intake
    from karat import measure as measure
    from karat import report as report
    from karat import screen as screen
    from karat import simulate as simulate
    from karat import study as study
    from karat.errors import IntakeError as IntakeError
    from karat.errors import JudgmentsError as JudgmentsError
    from karat.errors import KaratError as KaratError
    from karat.errors import ScaleError as ScaleError
    from karat.intake import read as read
    from karat.judgments import Judgments as Judgments
    from karat.judgments import scales as scales
    from karat.judgments.scales import Binary as Binary
    from karat.judgments.scales import Choice as Choice
    from karat.judgments.scales import Continuous as Continuous
    from karat.judgments.scales import Magnitude as Magnitude
    from karat.judgments.scales import Nominal as Nominal
    from karat.judgments.scales import Ordinal as Ordinal

__all__ = load_when_used(__name__)
