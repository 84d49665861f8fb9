"""`karat check` while somebody types: check a study with its unsaved changes, and locate every finding.

The check reads files. So the changes of the page are written to a temporary folder, beside copies of the other files;
the study folder itself does not change.
"""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from karat.errors import KaratError, ProblemsError
from karat.field.publish import pictures_in
from karat.studio.study_files import StudyEdit, StudyFolder, read_grid
from karat.study.check import check
from karat.study.check.findings import Finding
from karat.study.file import toml_lines
from karat.study.setting_base import NAME
from karat.study.study import load


def live_check(files: StudyFolder, edit: StudyEdit) -> dict[str, Any]:
    """The findings of the check in a study with the changes of a page, as plain data.

    Each finding has a grade, its sentences, and its place: `path`, a key of the study file, or `table` and `row`,
    counted from 0.
    """
    with tempfile.TemporaryDirectory(prefix="karat-check-") as scratch:
        folder = Path(scratch) / files.folder.name
        folder.mkdir()
        try:
            copy_edited(files, edit, folder)
            head, findings = _findings(folder)
            return _placed(StudyFolder(folder), head, list(map(_as_data, findings)))
        except KaratError as error:
            return _result("", [_as_data(Finding("error", "", str(error)))])


def copy_edited(files: StudyFolder, edit: StudyEdit, folder: Path) -> None:
    """Write a study with the changes of a page to another folder, with empty files for its pictures."""
    written = files.edited(edit)
    for name, content in written.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    if NAME not in written:
        shutil.copyfile(files.path, folder / NAME)
    for name in StudyFolder(folder).table_names():
        if name not in written and (files.folder / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(files.folder / name, folder / name)
    for path in pictures_in(files.folder):
        place = folder / path.relative_to(files.folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()  # the check only needs its existence


def _findings(folder: Path) -> tuple[str, Sequence[Finding]]:
    """The headline and the findings of reading and checking a study."""
    try:
        report = check(load(folder))
    except ProblemsError as error:
        findings = [
            Finding("error", problem.column or "", str(problem), file=problem.file or NAME, line=problem.number)
            for problem in error.problems
        ]
        return error.headline, findings or [Finding("error", "", str(error))]
    return report.head, report.findings


def _as_data(finding: Finding) -> dict[str, Any]:
    return {name: getattr(finding, name) for name in ("grade", "rule", "message", "fix", "source", "file", "line")}


def _placed(files: StudyFolder, head: str, findings: list[dict[str, Any]]) -> dict[str, Any]:
    """Add to the findings the key or the row that they are about."""
    keys = {line: list(path) for path, line in toml_lines(files.text()).items()}
    rows: dict[str, dict[int, int]] = {}
    for finding in findings:
        file, line = finding["file"], finding["line"]
        if file is None or line is None:
            continue
        if file == NAME:
            path = next((keys[number] for number in range(line, 0, -1) if number in keys), None)
            finding["path"] = None if path is None else _whole_path(path, finding["rule"])
            continue
        if file not in rows:
            rows[file] = _row_lines(files, file)
        if line in rows[file]:
            finding |= {"table": file, "row": rows[file][line]}
    return _result(head, findings)


def _whole_path(path: list[str | int], name: str) -> list[str | int]:
    """A path with the keys inside an inline table, which have no line of their own.

    >>> _whole_path(["block", 0, "scale"], "block.scale.labels")
    ['block', 0, 'scale', 'labels']
    """
    keys = [part for part in path if isinstance(part, str)]
    parts = name.split(".")
    return [*path, *parts[len(keys) :]] if parts[: len(keys)] == keys else path


def _row_lines(files: StudyFolder, name: str) -> dict[int, int]:
    try:
        return {line: row for row, line in enumerate(read_grid(files.folder / name, name).lines)}
    except KaratError:
        return {}


def _result(head: str, findings: list[dict[str, Any]]) -> dict[str, Any]:
    counts = {grade: sum(finding["grade"] == grade for finding in findings) for grade in ("error", "warning", "hint")}
    return {"head": head, "findings": findings, "counts": counts}
