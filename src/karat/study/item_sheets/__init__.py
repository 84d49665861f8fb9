"""Item sets as labs keep them: a sheet, the item files of other tools, or the results of an earlier study."""

from karat.study.item_sheets.results import SIDE_TIES, sets_from_results
from karat.study.item_sheets.sets import CrossedFactors, ItemSets, SetsError, guess_factors, stated_factors
from karat.study.item_sheets.sheets import read_sets, with_fillers
from karat.study.item_sheets.tool_files import function_of

__all__ = [
    "SIDE_TIES", "CrossedFactors", "ItemSets", "SetsError", "function_of", "guess_factors", "read_sets",
    "sets_from_results", "stated_factors", "with_fillers",
]  # fmt: skip
