"""The pages of a study over HTTP: made, shown, checked, saved, and locked to what belongs to it."""

from __future__ import annotations

import html
import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from http.cookiejar import CookieJar
from pathlib import Path

import pytest

from field.admin.fielding import Fielded, write_study
from karat.field.store import Store, studies
from karat.studio.jobs import curve_sizes
from karat.studio.servers import exported
from karat.studio.study_pages import servers_of
from karat.studio.workspace import Workspace, database_of
from karat.study.settings import OrderSettings
from karat.study.study import load
from studio.conftest import SECONDS, Browser, StudioApp
from studio.test_study_files import SHEET


@pytest.fixture
def address(studio: StudioApp, browser: Browser, tmp_path: Path) -> Iterator[str]:
    """A study made from a pasted sheet."""
    studio.app.state.workspace = Workspace(tmp_path, studio.cases.root)
    sheet = browser.send("POST", "/sheets?name=items.csv", SHEET.encode()).json()
    assert (sheet["sets"], [one["levels"] for one in sheet["factors"]]) == (8, [["that", "whether"], ["short", "long"]])
    assert sheet["language"] in ("en", None)
    made = browser.send("POST", "/studies", {"name": "Islands", "source": "sheet", "sheet": sheet["sheet"]})
    assert made.status == 201, made.text
    yield made.json()["address"].removeprefix(browser.keys.base).removesuffix("/design")
    servers_of(studio.app).close()


def test_every_page_of_a_study_is_there(browser: Browser, address: str) -> None:
    for tab in ("design", "items", "preview", "rehearse", "run", "results", "history"):
        page = browser.inside(f"{address}/{tab}")
        assert page.status == 200, tab
        assert "Islands" in page.text
    assert f"{browser.keys.base}{address}/design" in browser.inside("/").text
    shown = browser.inside(f"{address}/design").text
    assert '"factors": {"complementizer": ["that", "whether"], "length": ["short", "long"]}' in shown, "in their order"
    assert browser.inside("/studies/nothing/design").status == 404


def test_studies_that_cannot_be_read_hide_no_others(browser: Browser, address: str, tmp_path: Path) -> None:
    for name, study, data in (("bytes", b'title = "\xff"', None), ("database", b'title = "d"', b"rubbish" * 300)):
        (tmp_path / name / "karat-data").mkdir(parents=True)
        (tmp_path / name / "study.toml").write_bytes(study)
        if data is not None:
            (tmp_path / name / "karat-data" / "karat.db").write_bytes(data)
    page = browser.inside("/")
    assert (page.status, page.text.count(">unreadable<")) == (200, 2)
    assert f"{browser.keys.base}{address}/design" in page.text
    broken = re.findall(r'href="([^"]*/studies/[^"/]+/design)"', page.text)
    assert len(broken) == 3
    assert {browser.inside(one.removeprefix(browser.keys.base)).status for one in broken} <= {200, 409}


def test_a_page_checks_saves_and_learns_of_a_conflict(browser: Browser, address: str, tmp_path: Path) -> None:
    change = {"path": ["title"], "before": "Islands", "after": "Bridges"}
    found = browser.send(
        "POST", f"{address}/check", {"changes": [{**change, "path": ["titel"], "before": None}]}
    ).json()
    assert (found["counts"]["error"], found["findings"][0]["path"]) == (1, ["titel"])
    assert browser.send("POST", f"{address}/save", {"changes": [change]}).json()["written"] == ["study.toml"]
    again = browser.send("POST", f"{address}/save", {"changes": [{**change, "after": "Tunnels"}]})
    assert (again.status, again.json()["conflict"]) == (409, ["title"])
    assert 'title    = "Bridges"' in (tmp_path / "islands" / "study.toml").read_text(encoding="utf-8")
    first = min(path.name for path in (tmp_path / "islands" / "history").glob("2*"))
    assert browser.send("POST", f"{address}/history", {"name": first}).json()["written"] == ["study.toml"]


def test_only_what_belongs_to_the_study_is_reached(browser: Browser, address: str, tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("item,sentence\n1,secret\n", encoding="utf-8")
    assert browser.inside(f"{address}/tables/items.csv").status == 200
    for name in ("..%2Fsecret.csv", "%2Fetc%2Fpasswd", "study.toml"):
        assert browser.inside(f"{address}/tables/{name}").status in (404, 409)
    table = {"version": "", "columns": ["item"], "rows": [["1"]]}
    assert browser.send("POST", f"{address}/save", {"tables": {"../secret.csv": table}}).status == 409
    assert "secret" in (tmp_path / "secret.csv").read_text(encoding="utf-8")
    assert browser.send("POST", "/studies", {"name": "../../x", "source": "template"}).status == 201
    assert (tmp_path / "x" / "study.toml").is_file()
    assert browser.inside(f"{address}/results/..%2F..%2Fx/report.html").status == 404


def test_the_preview_is_for_this_browser_and_this_frame(studio: StudioApp, browser: Browser, address: str) -> None:
    workspace, servers = studio.app.state.workspace, servers_of(studio.app)
    (project,) = workspace.projects()
    found = servers.preview(project, 2)
    assert (found.lists, found.list_number, found.trial) == (4, 2, 1)
    with urllib.request.urlopen(found.address) as reply:
        assert f"frame-ancestors http://127.0.0.1:{browser.keys.port}" in reply.headers["content-security-policy"]
        assert "karat-preview=" in reply.headers["set-cookie"]
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(found.address.partition("?")[0])
    assert refused.value.code == 403
    refused.value.close()
    page = browser.inside(f"{address}/preview")
    assert page.headers["content-security-policy"].endswith(f"frame-src {found.origin}")


@pytest.mark.slow
def test_the_preview_begins_at_any_trial(studio: StudioApp, browser: Browser, address: str) -> None:
    (project,) = studio.app.state.workspace.projects()
    servers = servers_of(studio.app)
    left = []
    for trial in (12, 15):
        found = servers.preview(project, 3, trial)
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        assert 'id="trials"' in opener.open(found.address).read().decode()
        with opener.open(f"{found.origin}/api/preview-{project.id}/trials") as reply:
            left.append(json.load(reply)["left"])
    assert left[0] - left[1] == 3
    last = servers.preview(project, 99, 9999)
    assert (last.list_number, last.trial) == (4, last.trials)
    assert f'max="{last.trials}" value="4"' in browser.inside(f"{address}/preview?trial=4").text


def test_a_study_is_made_from_results_of_another_tool(studio: StudioApp, browser: Browser, tmp_path: Path) -> None:
    studio.app.state.workspace = Workspace(tmp_path, studio.cases.root)
    rows = ["subject,item,cond,sentence,ANSWER"]
    rows += [
        f"s{who},{item},{cond},The {noun} is {cond} today.,{(who + item) % 7 + 1}"
        for who in range(6) for item, noun in enumerate(("dog", "cat", "bird", "fish"), 1) for cond in ("up", "off")
    ]  # fmt: skip
    case = browser.drop({"old results.csv": "\n".join(rows).encode()}, look=False)
    choices = {"new_study": True, "answered": {"item": "item"}, "scales": {"": "ordinal:1-7"}}
    assert browser.send("POST", f"{case}/look", {"new_study": True}).status == 202
    browser.wait(case)
    assert browser.send("POST", f"{case}/look", choices).status == 202
    browser.wait(case)
    shown = re.findall(r'<td class="why">(.*?)</td>', browser.inside(case).text)
    assert shown == ["The dog is off today.", "The dog is up today."]
    wanted = {"name": "Again", "source": "results", "case": case.rsplit("/", 1)[1], "factors": ["place"]}
    assert browser.send("POST", "/studies", {**wanted, "case": "none"}).status == 409
    made = browser.send("POST", "/studies", wanted)
    assert made.status == 201, made.text
    study = load(tmp_path / "again")
    assert (study.title, study.settings.block[0].factors["place"].levels) == ("Again", ["off", "up"])
    assert study.settings.block[0].scale.points == 7
    assert browser.send("POST", f"{case}/look", {**choices, "sentence": "participant"}).status == 202
    browser.wait(case)
    assert 'class="notice bad failure"' in browser.inside(case).text, "names of participants are no sentences of items"


def test_choices_and_categories_of_another_tool_become_studies(
    studio: StudioApp, browser: Browser, tmp_path: Path
) -> None:
    studio.app.state.workspace = Workspace(tmp_path, studio.cases.root)
    rows = ["subject,item,text_a,text_b,order_a,order_b,ANSWER,label"]
    for who in range(6):
        for item in range(1, 5):
            sides = [(f"Item {item} comes in {order}.", order) for order in ("SO", "OS")][:: 1 if who % 2 else -1]
            (one, first), (two, second) = sides
            rows.append(f"s{who},{item},{one},{two},{first},{second},{'AB'[(who + item) % 2]},{'xyz'[who % 3]}")
    columns = {"item": "item", "left": "text_a", "right": "text_b", "response": "ANSWER"}
    asked = {"choice": {"answered": columns},
             "label": {"answered": {"item": "item", "response": "label"}, "scales": {"": "nominal:x,y,z"}}}  # fmt: skip
    for task, more in asked.items():
        case = browser.drop({f"{task}.csv": "\n".join(rows).encode()}, look=False)
        for choices in ({}, more):
            assert browser.send("POST", f"{case}/look", {"new_study": True, **choices}).status == 202
            browser.wait(case)
        page = browser.inside(case).text
        assert f"<option selected>{task}</option>" in page, "the task that was asked is the first proposal"
        wanted = {"name": task, "source": "results", "case": case.rsplit("/", 1)[1], "task": task}
        made = browser.send("POST", "/studies", wanted)
        assert made.status == 201, made.text
        assert load(tmp_path / task).settings.block[0].task == task
    assert load(tmp_path / "choice").settings.block[0].compared == "order"


def finished(browser: Browser, address: str, kind: str) -> str:
    """Wait for a job of a page; gives the page after it."""
    end = time.monotonic() + SECONDS
    while browser.inside(f"{address}/jobs/{kind}/progress").json()["working"]:
        assert time.monotonic() < end
        time.sleep(0.1)
    return browser.inside(f"{address}/rehearse").text


@pytest.mark.slow
def test_the_power_curve_has_a_slider_and_a_table(browser: Browser, address: str, tmp_path: Path) -> None:
    assert browser.send("POST", f"{address}/power", {"effect": -1}).status == 422
    assert browser.send("POST", f"{address}/power", {"effect": 1.2, "exclude": 0.1}).status == 202
    page = finished(browser, address, "power")
    rows = json.loads(re.findall(r'id="power-rows">(.*?)</script>', page)[0])
    assert [row["participants"] for row in rows] == curve_sizes(rows[0]["participants"], 36)
    assert rows[0]["power"] < rows[-1]["power"]
    assert page.count('<circle class="point"') == page.count('<th scope="row">') == len(rows)
    changes = [{"path": ["power"], "before": None, "after": rows[3]["record"]}]
    assert browser.send("POST", f"{address}/save", {"changes": changes}).json()["written"] == ["study.toml"]
    assert load(tmp_path / "islands").settings.power.participants == rows[3]["participants"]
    assert "has changed since" in browser.inside(f"{address}/rehearse").text


@pytest.mark.slow
def test_power_that_cannot_be_computed_says_why(browser: Browser, address: str) -> None:
    assert browser.send("POST", f"{address}/power", {"contrast": "nothing"}).status == 202
    assert 'class="notice bad"' in finished(browser, address, "power")


@pytest.mark.slow
def test_publishing_builds_a_folder_and_texts_lead_there(browser: Browser, address: str, tmp_path: Path) -> None:
    assert browser.send("POST", f"{address}/publish", {"address": "http://x"}).status == 409
    assert "Links and texts" not in browser.inside(f"{address}/run").text
    made = browser.send("POST", f"{address}/publish", {"address": "study.example.org"})
    assert {"compose.yaml", "karat.service", "islands/study.toml"} <= set(made.json()["written"])
    page = browser.inside(f"{address}/run").text
    for link in ("https://study.example.org/s/islands/?PROLIFIC_PID=", "<ExternalURL>https://study", "Invitation to a"):
        assert html.escape(link) in page
    assert browser.inside(f"{address}/publish").text.count("study.example.org/admin") == 1
    assert browser.inside(f"{address}/publish/folder.zip").status == 200
    assert len(re.findall(r'class="project"', browser.inside("/").text)) == 1, "the copy is no study of its own"
    seen = browser.send("POST", f"{address}/publish/look", {"address": "https://nothing.invalid"}).json()["found"]
    assert [(one["good"], one["code"]) for one in seen] == [(False, "publish.no_name")]


@pytest.mark.slow
def test_rules_are_tried_on_simulations_before_saving(browser: Browser, address: str) -> None:
    rules = {"completion": {"at_least": 0.9}, "attention": {}, "exclude": "any"}
    before = json.loads(re.findall(r'id="study-settings">(.*?)</script>', browser.inside(f"{address}/design").text)[0])
    change = {"path": ["screening"], "before": before.get("screening"), "after": rules}
    assert browser.send("POST", f"{address}/rules", {"changes": [change]}).status == 202
    finished(browser, address, "rules")
    found = browser.inside(f"{address}/rules").json()["result"]
    kinds = [kind for kind, _ in found["kinds"]]
    assert (kinds[0], [row["name"] for row in found["rows"]]) == ("attentive", ["completion", "attention"])
    flagged = {row["name"]: dict(zip(kinds, row["flagged"], strict=True)) for row in found["rows"]}
    assert flagged["completion"]["drop-out"] == 3
    assert flagged["attention"]["guesser"] > flagged["attention"]["attentive"]


@pytest.mark.slow
def test_the_order_of_trials_is_edited_and_checked(browser: Browser, address: str, tmp_path: Path) -> None:
    page = browser.inside(f"{address}/design").text
    for key in OrderSettings.model_fields:
        assert f'id="f-order-{key}"' in page
    changes = [
        {
            "path": ["order", "in_a_row"],
            "before": load(tmp_path / "islands").settings.order.in_a_row,
            "after": {"length": 2},
        },
        {"path": ["order", "keep_ratio"], "before": None, "after": True},
    ]
    wrong = [{**changes[0], "after": {"colour": 2}}]
    found = browser.send("POST", f"{address}/check", {"changes": wrong}).json()["findings"]
    assert [one["path"] for one in found if one["grade"] == "error"] == [["order", "in_a_row"]]
    assert browser.send("POST", f"{address}/save", {"changes": changes}).status == 200
    order = load(tmp_path / "islands").settings.order
    assert (order.in_a_row, order.keep_ratio) == ({"length": 2}, True)
    assert ">\nlength = 2</textarea>" in browser.inside(f"{address}/design").text


def test_reporting_a_running_study_is_recorded(tmp_path: Path) -> None:
    database = database_of(tmp_path / "blind")
    path = write_study(tmp_path / "blind")
    with closing(Store.open(database)) as store:
        Fielded.start(store, path).finish()
    (project,) = Workspace(tmp_path, tmp_path / "scratch").projects()
    exported(project, tmp_path / "drop", answers=False)
    with closing(Store.open(database)) as store, store.read() as connection:
        assert studies.unblinded_at(connection, "blind") is None
    exported(project, tmp_path / "drop")
    assert (tmp_path / "drop" / "blind.parquet").is_file()
    with closing(Store.open(database)) as store, store.read() as connection:
        assert studies.unblinded_at(connection, "blind") is not None
