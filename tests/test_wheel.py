"""The wheel: what is in it, and that it works alone in an empty environment."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest


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
    for wanted in ("karat/py.typed", *(f"karat/{name}" for name in (*data, *web))):
        assert wanted in names
    assert not [name for name in names if "node_modules" in name or name.endswith("package-lock.json")]
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not [name for name in names if name.startswith("tests")]


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
    assert "Nothing to mend." in karat("check", "my study")
    assert "written" in karat("plan", "my study", "-o", "plan")
    results = tmp_path / "results.csv"
    results.write_text("participant,item,response\np1,a,1\np1,b,3\n")
    assert "written" in karat("convert", str(results), "-o", "out.parquet")
    assert "1 participant, 2 items, 2 answers" in karat("convert", "out.parquet")
    assert "Evidence only" in karat("screen", "out.parquet", "--out", "screened")
    assert "study link" in karat("links", "my study")
    code = "import karat; print(len(karat.datasets.load('crowd')))"
    done = subprocess.run([str(python), "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout == "9600\n"
    names = ("pandas", "pyarrow", "psycopg", "playwright")
    absent = f"import importlib.util as u; print([n for n in {names} if u.find_spec(n)])"
    done = subprocess.run([str(python), "-c", absent], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"
