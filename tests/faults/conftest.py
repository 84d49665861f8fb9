"""Databases and the study for the fault tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from field.conftest import (
    postgresql_engine,
    postgresql_template,
    postgresql_url,
    sqlite_template,
    sqlite_url,
    store_url,
)
from karat.study.init import write_study

__all__ = ["postgresql_engine", "postgresql_template", "postgresql_url", "sqlite_template", "sqlite_url", "store_url"]


@pytest.fixture
def study_folder(tmp_path: Path) -> Path:
    """The rating study of `karat init`, which knows its visitors by the ids of a platform, for as many as come."""
    folder = tmp_path / "ratings"
    write_study(folder, "likert")
    file = folder / "study.toml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("participants       = 36", "participants       = 1000"), encoding="utf-8")
    return folder
