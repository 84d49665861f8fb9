"""The container: nothing builds it here, so that at least what it needs is seen to be in it."""

from __future__ import annotations

import re
import shlex

import pytest

from conftest import ROOT

DOCKERFILE = ROOT / "deploy" / "Dockerfile"
VENDOR = "src/karat/field/web/vendor"


def stages() -> dict[str, list[list[str]]]:
    """The instructions of each stage, as words."""
    text = re.sub(r"\\\n", " ", DOCKERFILE.read_text(encoding="utf-8"))
    found: dict[str, list[list[str]]] = {}
    for line in text.splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["FROM"]:
            found[words[-1]] = []
        elif words:
            list(found.values())[-1].append(words)
    return found


def test_the_assets_are_made_by_the_script_that_makes_them_everywhere() -> None:
    instructions = stages()["assets"]
    copied = [word for words in instructions if words[0] == "COPY" for word in words[1:-1]]
    for needed in ("tools/get_assets.py", "pyproject.toml", "src/karat/field/web/package.json",
                   "src/karat/field/web/package-lock.json", "src/karat/field/web/.npmrc"):  # fmt: skip
        assert needed in copied
        assert (ROOT / needed).is_file()
    runs = [" ".join(words) for words in instructions if words[0] == "RUN"]
    # The script installs a dependency group, which older versions of pip do not know.
    assert "pip>=25.1" in runs[-1]
    assert runs[-1].endswith("python tools/get_assets.py")


def test_the_image_has_the_script_of_the_trials_and_its_licences() -> None:
    names = list(stages())
    last = stages()[names[-1]]
    source = last.index(["COPY", ".", "."])
    vendor = last.index(["COPY", "--from=assets", f"/karat/{VENDOR}", VENDOR])
    install = next(place for place, words in enumerate(last) if words[:3] == ["RUN", "pip", "install"])
    # The source may hold assets of the machine on which it lies; those of the lock file come after it.
    assert source < vendor < install


@pytest.mark.parametrize("name", ["jspsych.js", "licences.txt"])
def test_the_folder_is_what_the_script_fills(name: str) -> None:
    script = (ROOT / "tools" / "get_assets.py").read_text(encoding="utf-8")
    assert f'vendor / "{name}"' in script
