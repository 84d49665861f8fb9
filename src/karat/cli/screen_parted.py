"""Screening in parts, from the command line: every step is named, and a choice of criteria waits for no long fit."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.cli.executor_options import ExecutorOptions
from karat.cli.progress import stepping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from karat.judgments.parts import Parts
    from karat.screen.parted import PartedScreening
    from karat.study.study import Study


def screened(
    parts: Parts,
    rules: Mapping[str, Any] | None,
    study: Study | None,
    place: ExecutorOptions,
    out: Path | None,
    *,
    chosen: bool,
    quiet: bool,
) -> PartedScreening:
    """Screen parts where the flags say, with the Spammer Index; beside a choice of criteria only where it is quick."""
    from karat.screen.parted import run_in_parts
    from karat.screen.rules import asked

    settings, _ = asked(rules, study)
    # The verdicts are a step of their own.
    steps = stepping("screening in parts", len(settings) + 1, quiet=quiet)
    with _folder(out) as folder, place.open_executor() as executor, steps as progress:
        return run_in_parts(
            parts, rules, study, executor, out=folder, progress=progress, spammer_index="quick" if chosen else True
        )


@contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    """The folder to write to, or one for the time of the screening."""
    if out is not None:
        yield out
        return
    with tempfile.TemporaryDirectory(prefix="karat-") as folder:
        yield Path(folder)
