"""What all tests share."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parent.parent
SHARED = ROOT.parent / "shared"

# Twelve examples a property keep the default run short; HYPOTHESIS_EXAMPLES=500 looks closer.
settings.register_profile(
    "karat",
    max_examples=int(os.environ.get("HYPOTHESIS_EXAMPLES", "12")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
)
settings.load_profile("karat")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays to the end: the garbage collector need not go through it again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(20_000, 20, 50)  # most of what a test makes goes without it


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Tests have no examples: looking for some in each of their files takes a while."""
    found = yield
    return [one for one in found if type(one).__name__ != "DoctestModule"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test that is marked `few(n)`, n cases belong to the default run, spread over all; the others are slow."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("few") and not item.get_closest_marker("slow"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for found in cases.values():
        marker = found[0].get_closest_marker("few")
        assert marker is not None
        kept = {len(found) * number // marker.args[0] for number in range(marker.args[0])}
        for number, item in enumerate(found):
            if number not in kept:
                item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def reference() -> Path:
    """The reference data, where they are."""
    folder = SHARED / "reference"
    if not folder.is_dir():
        pytest.skip("the reference data (../shared/reference) are not on this machine")
    return folder


@pytest.fixture
def criteria() -> Iterator[None]:
    """Criteria may be registered: afterwards there are those that there were."""
    from karat.study.criteria import CRITERIA

    before = dict(CRITERIA)
    yield
    CRITERIA.clear()
    CRITERIA.update(before)


@pytest.fixture
def tasks() -> Iterator[None]:
    """Tasks may be registered, also by packages: afterwards there are those that there were."""
    from karat.study import tasks

    before = dict(tasks._added)
    yield
    tasks._added.clear()
    tasks._added.update(before)
