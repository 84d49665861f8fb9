"""The rules of the house: imports point one way, importing stays light, everything public is documented."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

import karat
from messages import refuses

FLOORS = [
    ["errors", "types", "signals", "languages", "messages", "packages", "plots", "jupyter", "judgments", "section",
     "executors"],
    ["models"],
    ["study", "intake"],
    ["datasets"],
    ["simulate"],
    ["screen", "measure"],
    ["report"],
    ["field"],
    ["studio"],
    ["demo"],
    ["cli"],
    ["__main__"],
]  # fmt: skip
"""From the ground up. A module may import from its own package and from the floors below it."""
GROUND_ORDER = FLOORS[0]


def modules(root: Path) -> list[Path]:
    return sorted((root / "src" / "karat").rglob("*.py"))


class Source:
    """What the rules ask of a module. Its tree is not kept: those of all modules slow the garbage collector down."""

    def __init__(self, tree: ast.Module) -> None:
        self.documented = ast.get_docstring(tree) is not None
        self.classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
        plain = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
        typed = [node.target for node in tree.body if isinstance(node, ast.AnnAssign)]
        parts = (part for target in (*plain, *typed) for part in ast.walk(target))
        self.assigned = [part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
        self.names = set(self.assigned)
        self.imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]


@cache
def source(path: Path) -> Source:
    return Source(ast.parse(path.read_text(encoding="utf-8")))


def floor_of(package: str) -> int:
    return next(number for number, packages in enumerate(FLOORS) if package in packages)


def imported_packages(path: Path) -> set[str]:
    """The packages of karat that a module imports, anywhere in it."""
    found = set()
    for node in source(path).imports:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif node.module == "karat":
            names = [f"karat.{alias.name}" for alias in node.names]
        else:
            names = [node.module or ""]
        found |= {name.split(".")[1] for name in names if name.startswith("karat.") and name != "karat.__version__"}
    return found


def test_imports_point_downwards(root: Path) -> None:
    for path in modules(root):
        package = path.relative_to(root / "src" / "karat").parts[0].removesuffix(".py")
        if package == "__init__":
            continue
        for other in imported_packages(path) - {package}:
            if package in GROUND_ORDER and other in GROUND_ORDER:
                assert GROUND_ORDER.index(other) < GROUND_ORDER.index(package), f"{path.name} imports {other}"
            else:
                assert floor_of(other) < floor_of(package), f"{path} imports karat.{other}, which is above or beside it"


def test_the_test_of_imports_can_fail(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text(
        "from karat import intake\nimport karat.cli.main\nfrom karat.screen.criteria.remfod import remfod\n"
    )
    assert imported_packages(path) == {"intake", "cli", "screen"}
    assert floor_of("cli") > floor_of("intake") > floor_of("judgments")


def imported_modules(path: Path, known: set[str]) -> set[str]:
    """The modules of karat that a module imports, anywhere in it; those for type checkers count."""
    found = set()
    for node in source(path).imports:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif node.module:
            whole = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= whole & known or {node.module}
    return found & known


def reached(start: str, imports: dict[str, set[str]]) -> set[str]:
    """All modules that a module needs, directly or not."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = imports[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def test_no_module_imports_itself_by_way_of_others(root: Path) -> None:
    names = {
        ".".join(path.relative_to(root / "src").with_suffix("").parts).removesuffix(".__init__"): path
        for path in modules(root)
    }
    del names["karat"]  # it names everything, and every module may ask it for the version
    imports = {name: imported_modules(path, set(names)) - {name} for name, path in names.items()}
    assert [name for name in imports if name in reached(name, imports)] == []


@cache
def read_tests(root: Path) -> dict[Path, str]:
    return {path: path.read_text(encoding="utf-8") for path in (root / "tests").rglob("*.py")}


def test_names_of_tests_are_short(root: Path) -> None:
    names = [
        name for text in read_tests(root).values() for name in re.findall(r"^ *def (test_\w+)", text, re.MULTILINE)
    ]
    assert [name for name in names if len(name) > 60] == []


FROM_KARAT = re.compile(r"^[ \t]*from karat[\w.]* import (\([^)]*\)|.*)$", re.MULTILINE)


def private_imports(text: str) -> list[str]:
    """The private names that a text imports from karat; it is not parsed, for there are hundreds of tests."""
    return [name for names in FROM_KARAT.findall(text) for name in re.findall(r"(?<!\w)(?<!as )_(?!_)\w+", names)]


def test_tests_import_nothing_private(root: Path) -> None:
    read = read_tests(root)
    assert {str(path): private_imports(text) for path, text in read.items() if private_imports(text)} == {}
    assert private_imports("    from karat.x import a, _b as c\nfrom karat import (\n    _d,\n    e,\n)\n") == [
        "_b",
        "_d",
    ]
    assert private_imports("from karat import __version__, a as _a\nfrom other import _b\n") == []


IN_BRACKETS = r"(?:[^()]|\((?:[^()]|\([^()]*\))*\))*?"
MATCHED = re.compile(rf"\bpytest\.(?:raises|warns)\({IN_BRACKETS}[,(\s]match=")
PATCHED = re.compile(r'\bsetattr\(\s*(?:(?:[^(),"]|\([^()]*\))+,\s*)?"(?:[\w.]+\.)?(?:[A-Z][A-Z0-9_]+|_[a-z]\w*)"')


def test_tests_match_no_sentences_and_patch_nothing_private(root: Path) -> None:
    """Errors are asked for by `raises` and `refuses` of tests/messages.py; what a test changes is an argument."""
    read = read_tests(root)
    for rule in (MATCHED, PATCHED):
        assert {str(path): found for path, text in read.items() if (found := rule.findall(text))} == {}


def test_the_test_of_matches_and_patches_can_fail() -> None:
    raising = "pytest." + "raises("
    assert MATCHED.search(f'{raising}\n    (A, B.of(1)), match="x"\n)')
    assert MATCHED.search(f'{raising}A, match=words), open("x")')
    assert not MATCHED.search(f"{raising}A), found(match=1):")
    for patched in (
        '"karat.x.SMALL", 0)',
        'module, "SMALL", 0)',
        'module, "_small", 0)',
        '\n    imported("x"), "SMALL_2", 0)',
    ):
        assert PATCHED.search("monkeypatch.set" + f"attr({patched}")
    for patched in ('"karat.x.small", 0)', 'Class, "small", Other.SMALL)', '"karat.x.Small", 0)'):
        assert not PATCHED.search(f"monkeypatch.setattr({patched}")


def test_importing_stays_light() -> None:
    heavy = ["scipy.stats", "matplotlib", "fastapi", "starlette", "uvicorn", "sqlalchemy", "pandas", "dask", "jax"]
    code = (
        "import sys, karat\n"
        "print([name for name in sys.modules if name.startswith('karat.') or name == 'polars'])\n"
        f"karat.read; karat.Judgments; print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['karat.errors', 'karat.packages']\n[]\n"


def test_everything_public_is_there_and_has_an_example_that_runs() -> None:
    finder = doctest.DocTestFinder(recurse=False)
    for name in karat.__all__:
        thing = getattr(karat, name)
        assert name in dir(karat)
        assert inspect.getdoc(thing), name
        if not inspect.ismodule(thing) and not (inspect.isclass(thing) and issubclass(thing, Exception)):
            assert any(test.examples for test in finder.find(thing, name)), f"karat.{name} has no example"
    with refuses(AttributeError, "'nothing'"):
        _ = karat.nothing


def test_a_class_name_means_one_thing(root: Path) -> None:
    homes: dict[str, list[str]] = {}
    for path in modules(root):
        for name in source(path).classes:
            homes.setdefault(name, []).append(str(path.relative_to(root)))
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def test_type_aliases_are_defined_once(root: Path) -> None:
    shared = {"Floats", "Ints", "Bools", "Progress", "NamedSteps"}
    for path in modules(root):
        assert path.name == "types.py" or not source(path).names & shared, path


def test_a_constant_means_one_thing_in_its_module(root: Path) -> None:
    twice = {
        str(path.relative_to(root)): [name for name, times in Counter(source(path).assigned).items() if times > 1]
        for path in modules(root)
    }
    assert {path: names for path, names in twice.items() if names} == {}


def test_modules_say_what_they_are(root: Path) -> None:
    for path in modules(root):
        assert source(path).documented, path


def test_a_folder_reads_like_a_table_of_contents(root: Path) -> None:
    one_per_kind = {"cli", "screen/criteria", "intake/readers"}
    package, installed = root / "src" / "karat", {"__pycache__", "node_modules", "vendor"}
    files = [path.parent.relative_to(package) for path in package.rglob("*") if path.is_file()]
    number = Counter(folder.as_posix() for folder in files if not installed & set(folder.parts))
    assert {folder for folder, many in number.items() if many > 20} <= one_per_kind


@pytest.mark.parametrize(
    "name", ["even_odd", "inconsistency", "mahalanobis", "person_total", "scale_use", "too_regular"]
)
def test_a_criterion_is_one_file(root: Path, name: str) -> None:
    """A criterion that no other one builds on is named in its own file and in the registry only."""
    naming = {path.stem for path in modules(root) if re.search(rf"\b{name}\b", path.read_text(encoding="utf-8"))}
    assert naming == {name, "__init__"}


def test_no_registry_and_no_path_of_a_machine_is_named(root: Path) -> None:
    done = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("not a git checkout")
    words = ["pypi" + ".org", "pythonhosted" + ".org", "registry.npm" + "js", "index" + "-url"]
    for name in done.stdout.splitlines():
        path = root / name
        if path.suffix in (".md", ".txt", ".toml", ".py", ".yml", ".yaml", ".cfg", ".json", "") and path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            assert not [word for word in words if word in text], name
            assert not re.search(r"/(?:home|work|Users)/\w+/", text), name
