"""The container. No engine builds it here: its steps are done in folders, with Python as its base image has it.

What that leaves open is the base image itself, and the user and the folder that are made in it.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shlex
import shutil
import socket
import subprocess
import time
import tomllib
import urllib.request
from pathlib import Path
from urllib.error import URLError

import pytest

from conftest import ROOT
from environments import empty_environment, interpreter
from tools import build

DOCKERFILE = ROOT / "deploy" / "Dockerfile"
VENDOR = "src/karat/field/web/vendor"
NOT_HERE = ("useradd", "mkdir /data", "chown")
"""What only a container can do to its own system."""
MACHINE = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV", "KARAT"))}
"""How packages are reached from this machine, and nothing of the tests' own environment."""


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


def test_assets_are_made_by_one_script_everywhere() -> None:
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


def test_the_container_installs_what_is_pinned_by_hash() -> None:
    """Every dependency has a hash, in the version of constraints.txt; nothing is resolved while the image is made."""
    installs = [" ".join(words) for words in list(stages().values())[-1] if words[:3] == ["RUN", "pip", "install"]]
    assert "--require-hashes" in installs[0]
    assert "--no-deps --no-build-isolation" in installs[0]
    text = (DOCKERFILE.parent / "requirements.txt").read_text(encoding="utf-8")
    pinned = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", text, re.MULTILINE))
    assert len(re.findall(r"^[a-z0-9-]+==.*\\\n {4}--hash=sha256:", text, re.MULTILINE)) == len(pinned)
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    for name, version in pinned.items():
        assert f"{name}=={version}" in constraints, name
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    assert {re.split(r"[^a-z0-9-]", one)[0] for one in wanted} <= set(pinned)


@pytest.mark.parametrize("name", ["jspsych.js", "licences.txt"])
def test_the_folder_is_what_the_script_fills(name: str) -> None:
    script = (ROOT / "tools" / "get_assets.py").read_text(encoding="utf-8")
    assert f'vendor / "{name}"' in script


class Image:
    """The image in a folder: each stage has its own below it, and an environment of Python beside."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        ignored = (DOCKERFILE.parent / "Dockerfile.dockerignore").read_text(encoding="utf-8").split()
        files = build.git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard").splitlines()
        self.context = [
            name
            for name in files
            if (ROOT / name).is_file() and not any(fnmatch.fnmatch(f"{name}/", f"{one}/*") for one in ignored)
        ]

    def python(self, stage: str) -> Path:
        return self.folder / f"{stage}-python" / "bin"

    def make(self, stage: str, instructions: list[list[str]]) -> None:
        root = self.folder / stage
        root.mkdir()
        empty_environment(self.python(stage).parent, interpreter(12))
        for kind, *words in instructions:
            if kind == "COPY":
                self.copy(root, words)
            elif kind == "RUN":
                self.run(stage, words)

    def copy(self, root: Path, words: list[str]) -> None:
        if words[0].startswith("--from="):
            source = self.folder / words[0].removeprefix("--from=") / words[1].removeprefix("/karat/")
            shutil.copytree(source, root / words[2])
            return
        *sources, target = words
        for source in sources:
            inside = [name for name in self.context if source == "." or name == source]
            assert inside, f"{source} is not in the context"
            for name in inside:
                # A file goes into the folder that is named; the whole keeps its paths.
                place = root / target / (name if source == "." else Path(name).name)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, place)

    def run(self, stage: str, words: list[str]) -> None:
        """Run a command that finds the programs of the environment alone, as an image without Node.js would."""
        commands = [
            command for command in " ".join(map(quoted, words)).split(" && ") if not command.startswith(NOT_HERE)
        ]
        line = ["/bin/sh", "-c", " && ".join(commands)]
        alone = {**MACHINE, "PATH": str(self.python(stage))}
        done = subprocess.run(line, cwd=self.folder / stage, env=alone, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def quoted(word: str) -> str:
    return word if word == "&&" else shlex.quote(word)


@pytest.mark.slow
@pytest.mark.skipif(
    not build.is_checkout(ROOT), reason="not a git checkout, so that it is not known what belongs to it"
)
def test_the_steps_of_the_image_make_a_server(tmp_path: Path) -> None:
    image, last = Image(tmp_path), "served"
    first, second = stages().values()
    image.make("assets", first)
    image.make(last, second)
    (entry,) = (words for words in second if words[0] == "ENTRYPOINT")
    command = [word.strip("[],") for word in entry[1:]]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    here = {"karat": str(image.python(last) / "karat"), "/study": str(tmp_path / last / "examples" / "likert"),
            "/data": str(tmp_path / "data"), "0.0.0.0": "127.0.0.1", "8000": port}  # fmt: skip
    bare = {"PATH": "", "HOME": str(tmp_path), "KARAT_ADMIN_PASSWORD": "only for this test", "LANG": "C.UTF-8"}
    with (tmp_path / "output.txt").open("w") as result:
        started = [here.get(word, word) for word in command]
        process = subprocess.Popen(started, env=bare, cwd=tmp_path, stdout=result, stderr=result)
    try:
        assert "How sentences sound" in fetched(f"http://127.0.0.1:{port}/s/likert/", process)
        assert "initJsPsych" in fetched(f"http://127.0.0.1:{port}/static/vendor/jspsych.js", process)
    finally:
        process.terminate()
        process.wait(60)


def fetched(address: str, process: subprocess.Popen[bytes]) -> str:
    """The page, as soon as there is a server; two minutes at most."""
    end = time.monotonic() + 120
    while True:
        try:
            with urllib.request.urlopen(address, timeout=60) as answer:
                return str(answer.read().decode())
        except URLError:
            if process.poll() is not None or time.monotonic() > end:
                raise
            time.sleep(0.2)
