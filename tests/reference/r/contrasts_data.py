"""Write the test trials of the bundled ratings for contrasts.R: python tests/reference/r/contrasts_data.py"""

from __future__ import annotations

from pathlib import Path

import polars as pl

import karat

tests = karat.datasets.load("likert").frame.filter(pl.col("function") == "test")
columns = ["participant", "item", "response", "trial", "rt", "order", "integration"]
tests.select(columns).write_csv(Path(__file__).parent / "contrasts.csv")
