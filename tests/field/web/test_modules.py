"""The browser's modules that need no page, by the test runner of Node.js."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from field.web.stub import WEB

SCRIPTS = WEB / "static" / "js"
MARKUP = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
STYLES = r"setAttribute\(\s*[\"']style|cssText"


def test_the_modules_by_node() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no Node.js on this machine: the tests of the browser's modules need one")
    files = sorted(str(path) for path in (Path(__file__).parent / "js").glob("*.test.js"))
    done = subprocess.run([node, "--test", *files], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# fail 0" in done.stdout or "fail 0" in done.stdout


def test_no_script_makes_markup_of_data_or_writes_styles_inline() -> None:
    for path in SCRIPTS.rglob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text), (
            path
        )
        assert not re.search(r"setAttribute\(\s*[\"']style|cssText", text), path


def test_scripts_and_styles_name_no_other_site() -> None:
    for path in [*SCRIPTS.rglob("*.js"), *(WEB / "static" / "css").glob("*.css")]:
        assert not re.search(r"https?://", path.read_text(encoding="utf-8")), path
    lock = (WEB / "package-lock.json").read_text(encoding="utf-8")
    assert "resolved" not in lock


def test_modules_are_short() -> None:
    for path in SCRIPTS.rglob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert text.startswith("/**\n"), path
        assert len(text.splitlines()) <= 300, path


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_server_has_every_word_of_the_page(language: str) -> None:
    texts = WEB.parent / "content" / "texts" / f"{language}.toml"
    sent = tomllib.loads(texts.read_text(encoding="utf-8"))["browser"]
    source = (SCRIPTS / "words.js").read_text(encoding="utf-8")
    own = dict(re.findall(r'^  (\w+): "(.*)",$', source, re.MULTILINE))
    assert len(own) > 30
    for key, text in own.items():
        assert sorted(re.findall(r"\{\w+\}", sent[key])) == sorted(re.findall(r"\{\w+\}", text)), key
