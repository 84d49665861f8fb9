"""The one table: judgments, their columns and scales, and the files they come from and go to."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from karat.judgments.table import Judgments, scales_by_question

__all__ = ["Judgments", "scales_by_question"]


def __getattr__(name: str) -> Any:
    # Columns and scales are also needed without a table: a study file is checked without polars.
    if name in __all__:
        from karat.judgments import table

        return getattr(table, name)
    raise AttributeError(f"module 'karat.judgments' has no attribute {name!r}")
