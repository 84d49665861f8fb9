"""The wheel: what is in it, and that it works alone in an empty environment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
import zipfile
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urljoin
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

NOT_SHIPPED = ("package.json", "package-lock.json", ".npmrc", "made")
"""What the browser's assets are made with, and the mark that they were."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(root)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    (path,) = folder.glob("*.whl")
    return path


def test_wheel_has_data_and_types(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    data = ("datasets/likert.parquet", "datasets/crowd.parquet", "study/templates/likert/de/study.toml")
    web = ("field/web/vendor/jspsych.js", "field/web/vendor/licences.txt", "field/web/static/js/main.js")
    page = ("report/templates/page.html", "report/templates/page.css", "report/templates/page.js")
    studio = (
        "studio/templates/home.html",
        "studio/static/studio.js",
        "studio/static/studio.css",
        "field/content/texts/de.toml",
    )
    for wanted in ("karat/py.typed", *(f"karat/{name}" for name in (*data, *web, *page, *studio))):
        assert wanted in names
    assert not [name for name in names if "node_modules" in name or name.endswith("package-lock.json")]
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not [name for name in names if name.startswith("tests")]


def test_wheel_has_every_file_of_the_package(wheel: Path, root: Path) -> None:
    source = root / "src"
    there = {
        path.relative_to(source).as_posix()
        for path in (source / "karat").rglob("*")
        if path.is_file() and not {"node_modules", "__pycache__"} & set(path.parts) and path.name not in NOT_SHIPPED
    }
    assert there - set(zipfile.ZipFile(wheel).namelist()) == set()


@pytest.mark.slow
def test_wheel_works_alone(wheel: Path, tmp_path: Path, root: Path) -> None:
    folder = tmp_path / "empty environment"
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "-q", "install"]
    subprocess.run([*pip, "--constraint", str(root / "constraints.txt"), str(wheel)], check=True)

    def karat(*arguments: str) -> str:
        command = [str(python), "-m", "karat", *arguments]
        return subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    assert "convert" in karat("--help")
    assert "48 participants" in karat("datasets", "likert")
    karat("init", "my study", "--task", "choice", "--language", "de")
    assert "1 warning." in karat("check", "my study")  # that Prolific needs a code
    assert "written" in karat("plan", "my study", "-o", "plan")
    results = tmp_path / "results.csv"
    results.write_text("participant,item,response\np1,a,1\np1,b,3\n")
    assert "written" in karat("convert", str(results), "-o", "out.parquet")
    assert "1 participant, 2 items, 2 answers" in karat("convert", "out.parquet")
    assert "Evidence only" in karat("screen", "out.parquet", "--out", "screened")
    assert "study link" in karat("links", "my study")
    dataset = subprocess.run(
        [str(python), "-c", "import karat; print(karat.datasets.path('likert'))"],
        cwd=tmp_path, check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    karat("report", dataset, "-o", "report.html")
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "48 participants" in report
    assert "<svg" in report
    assert "@media print" in report
    assert_the_door_opens(python, tmp_path)
    code = "import karat; print(len(karat.datasets.load('crowd')))"
    done = subprocess.run([str(python), "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout == "9600\n"
    names = ("pandas", "pyarrow", "psycopg", "playwright")
    absent = f"import importlib.util as u; print([n for n in {names} if u.find_spec(n)])"
    done = subprocess.run([str(python), "-c", absent], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"


def assert_the_door_opens(python: Path, folder: Path) -> None:
    """The start page of `karat open` comes with its looks and its script."""
    command = [str(python), "-m", "karat", "open", "--no-open", "--keep", str(folder / "kept")]
    browser = build_opener(HTTPCookieProcessor(CookieJar()))
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"TMPDIR": str(folder)},
    ) as opened:  # fmt: skip
        try:
            assert opened.stdout is not None
            address = opened.stdout.readline().split()[1]
            onward = re.search(r'href="([^"]+)"', browser.open(address).read().decode())
            assert onward is not None
            page = browser.open(urljoin(address, onward[1])).read().decode()
            assert "Drop files or a folder here" in page
            parts = re.findall(r'(?:href|src)="(/[^"]+\.(?:css|js|svg))"', page)
            assert len(parts) == 5
            for part in parts:
                assert browser.open(urljoin(address, part)).read()
        finally:
            opened.terminate()
        messages, errors = opened.communicate(timeout=60)
    assert errors == ""
    assert messages.splitlines()[-1].startswith("Closed. Dropped files are deleted.")
    assert not list(folder.glob("karat-open-*"))
