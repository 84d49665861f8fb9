"""The benchmark of scale: its judgments, what it measures, its targets and its page."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

import karat
from benchmarks.marked import check_page, write_page
from benchmarks.scale_parts import generated, measured, page, screened
from benchmarks.scale_parts.measured import Measured
from benchmarks.scale_parts.page import Size
from conftest import ROOT
from karat.executors import SERIAL
from karat.judgments.parts import open_parts
from messages import refuses


def test_a_part_is_judgments_and_does_not_depend_on_the_others() -> None:
    part = generated.part_of(3, range(10, 14))
    assert karat.Judgments(part.frame, part.scales) == part
    assert part.participants["participant"].to_list() == [f"p{number:07d}" for number in range(10, 14)]
    counts = part.frame.group_by("participant", "function").len().filter(pl.col("function") == "test")
    assert counts["len"].to_list() == [generated.SHARES[0]] * 4
    assert part.frame.equals(generated.part_of(3, range(10, 14)).frame)


def test_parts_hold_everybody_once(tmp_path: Path) -> None:
    sizes = [generated.write_part(tmp_path, 23, 4, number) for number in range(4)]
    parts = open_parts(tmp_path)
    names = [name for number in range(4) for name in parts.read(number).participants["participant"]]
    assert names == [f"p{number:07d}" for number in range(23)]
    assert min(sizes) > 0
    assert generated.parts_for(1_000_000) == 6
    assert generated.parts_for(10**9) == 512


def test_memory_is_that_of_all_processes_together() -> None:
    child = "import time; a = bytearray(60_000_000); time.sleep(3)"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}]); print('{{\"seconds\": 1}}')"
    found = measured.measure([sys.executable, "-c", code])
    assert found.found == {"seconds": 1}
    if Path("/proc/self/smaps_rollup").exists():
        assert found.peak > 60_000_000
        assert os.getpid() in measured.family(os.getpid())


def test_what_fails_or_takes_too_long_is_reported() -> None:
    failed = measured.measure([sys.executable, "-c", "raise SystemExit('no room')"])
    assert (failed.found, failed.why) == (None, "no room")
    slow = measured.measure([sys.executable, "-c", "import time; time.sleep(60)"], limit=0.5)
    assert slow.found is None
    assert "not done" in slow.why
    with refuses(SystemExit, "no room"):
        page.found_of(failed)


def test_room_is_looked_at_first(tmp_path: Path) -> None:
    measured.check_room(tmp_path, 1, 1)
    with refuses(SystemExit, tmp_path, "1000000000 GB"):
        measured.check_room(tmp_path, 10**18, 1)
    if measured.available_memory() is not None:
        with refuses(SystemExit, "1000000000.0 GB"):
            measured.check_room(tmp_path, 1, 10**18)


def test_passes_are_timed_by_criterion(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    timed = screened.Timed(SERIAL, tmp_path)
    for name in ("remfod", "remfod, round 1", "markov"):
        assert timed.map(pow, 2, [1, 2], name=name) == [2, 4]
    assert {name: len(own) for name, own in timed.passes.items()} == {"remfod": 2, "markov": 1}
    assert timed.between == 5
    assert screened.rules_of("markov") == {"markov": {}, "exclude": "any"}


def done(seconds: float, peak: int = 10**9, **more: Any) -> Measured:
    found = {"seconds": seconds, "start": 2.0, "between": 30e6, "written": 1e6, "rounds": 8, "flagged": {}, **more}
    return Measured(found, peak, seconds)


def sized(trials: int, one: float, two: float, memory: float | None = None) -> Size:
    passes = {"remfod": [1.0, 0.1, 0.2, 0.3, 2.0]}
    alone = {name: done(4.0, passes=passes) for name in screened.CRITERIA}
    in_memory = None if memory is None else Measured({"seconds": memory}, 10**9, memory)
    return Size(trials, 64, 5 * trials, {1: done(one), 2: done(two)}, in_memory, alone)


def test_targets_can_be_held_and_missed() -> None:
    held = page.targets([sized(1_000_000, 10, 6, 4), sized(10_000_000, 100, 60)])
    assert [one.holds for one in held] == [True] * 4
    assert sum("as fast as 1, 10,000,000 trials" in one.name for one in held) == 1
    missed = page.targets([sized(1_000_000, 10, 9, 4), sized(10_000_000, 200, 150)])
    assert [one.holds for one in missed] == [True, False, False, False]
    large = Size(1, 1, 1, {1: done(1, 9 * 10**9), 2: done(1)})
    assert not page.targets([large])[0].holds


def test_costs_follow_from_the_constants() -> None:
    constants = page.constants_of([sized(1_000_000, 10, 6, 4)])
    assert constants["bytes"] == 5
    assert constants["remfod"] == 250_000
    assert (constants["first pass"], constants["round pass"], constants["last pass"]) == (1.0, 0.2, 2.0)
    table = page.cost_table(constants, "(2,000 per second here)")
    assert "| 3.3 core-hours |" in table
    assert "| 139 hours |" in table


def test_rounds_without_passes_have_no_constant() -> None:
    whole = sized(1_000_000, 10, 6, 4)
    alone = {name: done(4.0, passes={"remfod": [1.0, 2.0]}) for name in screened.CRITERIA}
    constants = page.constants_of([replace(whole, alone=alone)])
    assert (constants["first pass"], constants["last pass"]) == (1.0, 2.0)
    assert "round pass" not in constants
    assert "a pass of a round, core-seconds a million answers | no pass of its own" in page.constants_table(
        constants, ""
    )


def test_tables_go_between_their_markers(tmp_path: Path) -> None:
    size = sized(1_000_000, 10, 6, 4)
    constants = page.constants_of([size])
    tables = {
        "summary": page.summary_table(page.targets([size]), "command", "machine"), "sizes": page.size_table([size]),
        "peer": page.peer_table([size]), "constants": page.constants_table(constants, "command"),
        "cost": page.cost_table(constants, ""),
    }  # fmt: skip
    assert tuple(tables) == page.PARTS
    path = tmp_path / "page.md"
    path.write_text((ROOT / "docs" / "scale.md").read_text(encoding="utf-8"), encoding="utf-8")
    check_page(path, page.PARTS)
    write_page(path, tables)
    write_page(path, tables)
    text = path.read_text(encoding="utf-8")
    assert all(text.count(table) == 1 for table in tables.values())
    path.write_text("nothing")
    with refuses(SystemExit, path, "<!-- summary -->"):
        check_page(path, page.PARTS)
