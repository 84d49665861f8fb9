"""Where files go, and where they never do."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from karat.errors import KaratError
from karat.studio.column_guesses import classify
from karat.studio.folder import StudioError, pack, place_of, unpack
from messages import refuses

PARTS = st.one_of(
    st.sampled_from(["..", ".", "", "/", "\\", "C:", "a", "~", "con", "\0", "a.csv"]), st.text(max_size=8)
)


@given(st.lists(PARTS, min_size=1, max_size=6), st.sampled_from(["/", "\\", ""]))
def test_no_name_leads_out_of_the_folder(parts: list[str], slash: str) -> None:
    folder = Path("/somewhere/private")
    try:
        place = place_of(folder, slash.join(parts))
    except StudioError:
        return
    assert Path(os.path.normpath(place)) == place
    assert place.is_relative_to(folder)
    assert place != folder


def zipped(path: Path, members: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return path


def test_an_archive_that_points_outside_is_refused(tmp_path: Path) -> None:
    zipped(tmp_path / "study.zip", {"study.toml": "", "../../evil.csv": "x"})
    with refuses(KaratError, "study.zip", "evil.csv"):
        classify(tmp_path)
    assert [path.name for path in tmp_path.rglob("*")] == ["study.zip"]


def test_an_archive_that_is_too_large_is_refused(tmp_path: Path) -> None:
    with refuses(StudioError, "study.zip"):
        unpack(zipped(tmp_path / "study.zip", {"study.toml": "x" * 11}), ["study.toml"], limit=10)


def test_packed_and_read_again(tmp_path: Path) -> None:
    (tmp_path / "made" / "inner").mkdir(parents=True)
    (tmp_path / "made" / "inner" / "ä.csv").write_text("ä", encoding="utf-8")
    pack(tmp_path / "made", tmp_path / "made" / "all.zip")
    packed = zipfile.ZipFile(io.BytesIO((tmp_path / "made" / "all.zip").read_bytes()))
    assert {name: packed.read(name).decode() for name in packed.namelist()} == {"all/inner/ä.csv": "ä"}
