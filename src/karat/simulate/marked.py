"""What all simulations share: what they refuse, and the mark of simulated participants, whose `source` is `simulated`.

The mark stands in the table of participants, in every file and format, so that it survives CSV and Parquet; and it
stays where the column `behaviour`, which says how each of them answered, is taken out before data are handed to
students.
"""

from __future__ import annotations

import polars as pl

from karat.errors import KaratError

SIMULATED = "simulated"


def simulated(people: pl.DataFrame) -> int:
    """How many of these participants are simulated.

    >>> simulated(pl.DataFrame({"participant": ["p1", "p2"], "source": ["simulated", "prolific"]}))
    1
    """
    return int((people["source"].cast(pl.String) == SIMULATED).sum()) if "source" in people.columns else 0


class SimulateError(KaratError, ValueError):
    """A crowd, a questionnaire or a design that cannot be simulated."""
