"""What packages add to a study that is served: the script of a task, and a platform."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from field.server.conftest import KNOWN, TEXTS, Served, write
from field.server.visitor import answer_to
from karat.errors import KaratError
from karat.field.content.links import links
from karat.field.content.platforms import PLATFORMS, platform
from karat.field.content.texts import words
from karat.field.store.schema import answer, identity, session
from karat.study.settings import RecruitmentSettings
from messages import refuses
from own_package import files_of, installed

BLOCK = '[[block]]\ntask = "thermometer"\nitems = "items.csv"\n'
PANEL = '[recruitment]\nplatform = "Panel"\nscreened_out_code = "OUT"\nparticipants = 1\n'
MEMBER = {"member": "m204", "visit": "v9", "survey": "s1"}
Serve = Callable[..., Served]


@pytest.fixture
def thermometer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tasks: None) -> Iterator[Path]:
    with installed(tmp_path / "site", "thermometer", files_of("task.md"), monkeypatch) as folder:
        yield folder


@pytest.fixture
def panel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with installed(tmp_path / "site", "panel", files_of("platform.md"), monkeypatch):
        yield


def test_the_script_of_a_task_and_no_other_file_is_served(serve: Serve, tmp_path: Path, thermometer: Path) -> None:
    (thermometer / "secret.js").write_text("secret")
    person = serve(write(tmp_path / "study", TEXTS + BLOCK)).visitor()
    page = person.go_on(person.arrive(), KNOWN)
    address = "/s/study/task/thermometer.js"
    assert f'<link rel="modulepreload" href="{address}">' in page.text
    assert f'{{"thermometer": "{address}"}}' in page.text
    reply = person.get(address)
    assert reply.text == files_of("task.md")["js"]
    assert reply.headers["content-type"].startswith("text/javascript")
    assert reply.headers["cache-control"] == "no-cache"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in reply.headers["content-security-policy"]
    assert person.ask("GET", address, headers={"if-none-match": reply.headers["etag"]}).status == 304
    for other in ("secret.js", "thermometer.py", "likert.js", "..%2Fsecret.js", "thermometer.js%2F..%2Fsecret.js"):
        assert person.get(f"/s/study/task/{other}").status == 404, other


def test_what_is_no_place_on_the_line_is_refused(serve: Serve, tmp_path: Path, thermometer: Path) -> None:
    served = serve(write(tmp_path / "study", TEXTS + BLOCK))
    person = served.visitor()
    person.go_on(person.arrive(), KNOWN)
    places = iter(["0", "100", "62.5"])
    sent = person.answer_all(respond=lambda trial, scale: next(places))
    assert [row["response"] for row in served.rows(answer)] == ["0", "100", "62.5"]
    assert len(sent) == 3
    other = served.visitor()
    other.go_on(other.arrive(), KNOWN)
    body = other.api("GET", "trials").json()
    trial = next(one for one in body["trials"] if one["kind"] == "trial")
    assert body["scales"][trial["scale"]] | {"low": 0, "high": 100, "kind": "line"} == body["scales"][trial["scale"]]
    for wrong in ("101", "-1", "hot", "1e1", "", "NaN", "1_0", "0." + "1" * 23):
        sent = {"answers": [answer_to(trial, body["scales"], lambda *_, wrong=wrong: wrong)], "events": [], "have": []}
        reply = other.api("POST", "answers", sent).json()
        assert [one["reason"] for one in reply["refused"]] == ["not offered"], wrong


def test_a_task_without_its_script_is_reported_at_the_start(serve: Serve, tmp_path: Path, thermometer: Path) -> None:
    study = write(tmp_path / "study", TEXTS + BLOCK)
    (thermometer / "thermometer.js").unlink()
    with refuses(KaratError, thermometer / "thermometer.js"):
        serve(study)


@pytest.mark.usefixtures("panel")
def test_a_platform_from_arrival_to_return(serve: Serve, tmp_path: Path) -> None:
    served = serve(write(tmp_path / "study", TEXTS + PANEL))
    assert "panel" not in PLATFORMS
    assert words("en")["landing.id_missing"] in served.visitor().get("/s/study/").text
    looking = served.visitor().get("/s/study/?member=m204&mode=look")
    assert words("en")["landing.preview"] in looking.text
    person = served.visitor()
    person.go_on(person.arrive(**MEMBER), KNOWN)
    person.answer_all()
    page = person.go_on(person.get("/s/study/go"), KNOWN)
    (row,) = served.rows(session)
    assert f"https://panel.example.org/return?visit=v9&amp;code={row['completion_code']}" in page.text
    assert "form-action 'self' https://panel.example.org;" in page.headers["content-security-policy"]
    assert row["platform"] == "panel"
    assert "m204" not in str(row)
    assert served.rows(identity)[0]["platform_id"] == "m204"
    # The panel counts its places itself: one more than were wanted is let in.
    assert served.visitor().arrive(member="m205", visit="v10").status == 200
    assert len(served.rows(session)) == 2


@pytest.mark.usefixtures("panel")
def test_what_to_paste_on_it(tmp_path: Path) -> None:
    result = links(write(tmp_path / "study", TEXTS + PANEL), "https://x.org", "s")
    assert "for the panel:" in result
    assert "https://x.org/s/s/?member=$MEMBER&visit=$VISIT&survey=$SURVEY" in result


def test_a_missing_package_is_a_link_and_a_broken_one_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stated = RecruitmentSettings(platform="panel")
    assert (platform(stated).person, platform(stated).title) == ("pid", "Panel")
    broken = files_of("platform.md") | {"py": "PANEL = 1\n"}
    with (
        installed(tmp_path / "site", "panel", broken, monkeypatch),
        refuses(KaratError, "karat-panel", "Platform", "panel = panel:PANEL"),
    ):
        platform(stated)


def test_platform_names_stay_in_platforms(root: Path) -> None:
    field = root / "src" / "karat" / "field"
    own = field / "content" / "platforms"
    for path in [*field.rglob("*.py"), *(field / "web" / "templates").rglob("*.html")]:
        text = path.read_text(encoding="utf-8")
        asked = [name for name in PLATFORMS if f'"{name}"' in text.replace('>>> person_hash(b"key"', "")]
        assert path.is_relative_to(own) or not asked, path
