"""How the browser assets are fetched: by the lock file, once, and with a clear sentence when it fails."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from field import browser
from field.web.stub import WEB
from messages import refuses
from tools import get_assets, install_chromium


@pytest.fixture
def web(tmp_path: Path) -> Path:
    """A copy of the package files, with packages as npm would leave them."""
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copyfile(WEB / name, tmp_path / name)
    return tmp_path


def fake_npm(web: Path) -> None:
    for package in get_assets.served(web):
        folder = web / "node_modules" / package.rsplit(" ", 1)[0]
        (folder / "dist").mkdir(parents=True)
        (folder / "package.json").write_text('{"license": "MIT"}')
        (folder / "dist" / "index.browser.min.js").write_text("var jsPsychModule = {};")
    (web / "node_modules" / "seedrandom" / "LICENSE").write_text("Permission is hereby granted")


def test_assets_are_fetched_once(web: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Path] = []

    def npm(folder: Path) -> None:
        calls.append(folder)
        fake_npm(folder)

    monkeypatch.setattr(get_assets, "run_npm", npm)
    assert get_assets.get_assets(web).startswith("got the browser assets: ")
    assert "jspsych 8." in " ".join(get_assets.served(web))
    assert get_assets.get_assets(web) == "the browser assets are up to date"
    assert len(calls) == 1
    assert sorted(path.name for path in (web / "vendor").iterdir()) == ["jspsych.js", "licences.txt", "made"]
    licences = (web / "vendor" / "licences.txt").read_text()
    assert "Permission is hereby granted" in licences
    assert "(c) the authors of jspsych; licensed as MIT" in licences
    assert "axe-core" not in licences
    shutil.rmtree(web / "node_modules")
    (web / "package-lock.json").write_text((web / "package-lock.json").read_text() + "\n")
    assert get_assets.get_assets(web).startswith("got")


def failing(*_: Any, **__: Any) -> Any:
    class Done:
        returncode, stdout, stderr = 1, "", "no such registry"

    return Done()


def test_a_failure_says_what_to_do(web: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(get_assets, "find_npm", lambda: "/usr/bin/npm")
    monkeypatch.setattr(get_assets.subprocess, "run", failing)
    assert get_assets.main(web) == 1
    said = capsys.readouterr().err
    assert all(name in said for name in ("npm ci", "no such registry", "make setup"))


def test_without_node_the_wheel_is_tried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(get_assets.shutil, "which", lambda *_, **__: None)
    monkeypatch.setattr(get_assets.sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(get_assets.subprocess, "run", failing)
    with refuses(get_assets.AssetsError, "Node.js 18", "apt-get install nodejs npm", "make setup"):
        get_assets.find_npm()


def test_chromium_is_found_or_said_to_be_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any) -> None:
    monkeypatch.setenv("KARAT_CHROMIUM", str(tmp_path / "nowhere"))
    assert browser.chromium_path() is None
    with refuses(pytest.skip.Exception, "KARAT_CHROMIUM=/path/to/chromium"), browser.chromium():
        pass
    (tmp_path / "nowhere").touch()
    assert browser.chromium_path() == str(tmp_path / "nowhere")
    monkeypatch.delenv("KARAT_CHROMIUM")
    monkeypatch.setattr(install_chromium.shutil, "which", lambda *_: None)
    assert install_chromium.main() == 0
    assert "apt-get install chromium" in capsys.readouterr().out
