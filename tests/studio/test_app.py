"""From dropped files to a report, over HTTP, as the page asks for it."""

from __future__ import annotations

import html
import io
import json
import re
import zipfile
from pathlib import Path

import pytest

from intake.cases import CASES, FIXTURES, Case
from karat.messages import Message
from karat.studio.folder import LIMIT
from karat.study.init import write_study
from studio.conftest import Browser, StudioApp


def text_of(page: str) -> str:
    return html.unescape(page)


def mapping_of(studio: StudioApp, address: str) -> dict[str, str]:
    seen = studio.cases.known[address.rsplit("/", 1)[1]].seen
    assert seen is not None
    return seen.columns.mapped


def test_results_become_a_report(studio: StudioApp, browser: Browser, results: bytes) -> None:
    address = browser.drop({"results.csv": results})
    page = browser.inside(address)
    # The column item is different in every row, so the sentence is what was judged.
    assert "8 participants, 10 items, 80 answers" in page.text
    assert mapping_of(studio, address) == {
        "participant": "workerId", "item": "sentence", "response": "ANSWER", "rt": "rt",
    }  # fmt: skip
    message = Message("table.columns", {"columns": ["participant=workerId", "item=sentence", "response=ANSWER"]})
    assert str(message) in text_of(page.text)
    wanted = {"mapping": mapping_of(studio, address) | {"item": "item"}, "scales": {"": "ordinal:1-7"}}
    assert browser.send("POST", f"{address}/look", wanted).status == 202
    browser.wait(address)
    page = browser.inside(address)
    assert "8 participants, 80 items, 80 answers" in page.text
    assert "scale      ordinal: 1, 2, 3, 4, 5, 6, 7" in page.text
    assert "karat report results.csv --map item=item --scale ordinal:1-7" in page.text

    wanted["mapping"] = mapping_of(studio, address)
    assert browser.send("POST", f"{address}/report", wanted).status == 202
    browser.wait(address)
    page = browser.inside(address)
    assert "No exclusion rule was stated, so all 8 participants stay in the analysis." in page.text

    report = browser.inside(f"{address}/report.html")
    assert report.status == 200
    assert "karat report results.csv --map item=item --scale ordinal:1-7" in report.text
    assert report.headers["content-security-policy"].startswith("sandbox allow-scripts ")
    played = json.loads(re.findall(r'id="playback-data">(.*?)</script>', report.text)[0])["participants"]
    assert set(re.findall(r'report\.html#participant=([^"]+)"', page.text)) == set(played)
    archive = browser.inside(f"{address}/everything.zip")
    assert "attachment" in archive.headers["content-disposition"]
    packed = zipfile.ZipFile(io.BytesIO(archive.body))
    names = {name.removeprefix("results-karat/") for name in packed.namelist()}
    wanted_names = {"report.html", "command.txt", "screening/screening.json", "screening/judgments.parquet"}
    assert wanted_names <= names
    screening = json.loads(packed.read("results-karat/screening/screening.json"))
    assert screening["summary"]["participants"] == 8

    kept = Path(browser.send("POST", f"{address}/keep").json()["folder"])
    assert kept.parent == studio.cases.target
    assert (kept / "report.html").is_file()
    case = studio.cases.known[address.rsplit("/", 1)[1]]
    assert browser.send("POST", f"{address}/delete").status == 204
    assert not case.folder.exists()
    assert (kept / "screening" / "participants.csv").is_file()
    assert browser.inside(address).status == 404


def test_what_cannot_be_read_can_be_corrected(studio: StudioApp, browser: Browser) -> None:
    address = browser.drop({"odd.csv": b"who,thing,said\np1,a,5\np2,b,1\np3,a,4\np4,b,2\n"})
    page = text_of(browser.inside(address).text)
    assert "4 answers" not in page
    assert "--map" in page
    mapping = {"participant": "who", "item": "thing", "response": "said"}
    browser.send("POST", f"{address}/look", {"mapping": mapping})
    browser.wait(address)
    page = text_of(browser.inside(address).text)
    assert "4 participants, 2 items, 4 answers" in page
    browser.send("POST", f"{address}/look", {"mapping": mapping, "scales": {"": "ordinl:1-5"}})
    browser.wait(address)
    page = text_of(browser.inside(address).text)
    assert "ordinl:1-5" in page
    assert 'id="map-item"' in page  # the columns of the last time can still be corrected


def test_two_columns_may_be_the_ends_of_what_is_right(studio: StudioApp, browser: Browser) -> None:
    rows = "".join(
        f"w{person},s{item},{item},{item + 1},{item},{900 + item}\n" for person in (1, 2) for item in (1, 2, 3)
    )
    address = browser.drop({"ranges.csv": f"worker,sentence,low,high,rating,time\n{rows}".encode()})
    assert 'id="upto-expected"' in browser.inside(address).text
    wanted = mapping_of(studio, address) | {"expected": "low..high", "time": ""}
    assert browser.send("POST", f"{address}/look", {"mapping": wanted}).status == 202
    browser.wait(address)
    assert mapping_of(studio, address)["expected"] == "low..high"
    page = text_of(browser.inside(address).text)
    assert "karat report ranges.csv --map expected=low..high</code>" in page
    assert "<td>1-2</td>" in page
    assert "<td>0.901</td>" in page


def test_the_page_says_where_the_flags_of_a_terminal_are(browser: Browser) -> None:
    page = text_of(browser.inside(browser.drop({"bad.csv": b"participant,item,response\np1,a,1\np1,b\n"})).text)
    assert "--skip-bad" in page
    assert 'id="map-item"' in page


@pytest.mark.slow
def test_what_was_left_out_is_in_the_report(browser: Browser, results: bytes) -> None:
    address = browser.drop({"results.csv": results + b",line 99,s01,ok,3,1000\n"})
    assert browser.send("POST", f"{address}/report", {"skip_bad": True}).status == 202
    browser.wait(address)
    assert "1 of 81 rows" in text_of(browser.inside(f"{address}/report.html").text)


def test_a_bad_row_stops_it_unless_it_is_left_out(browser: Browser) -> None:
    address = browser.drop({"bad.csv": b"participant,item,response\np1,a,1\n,b,2\np2,a,2\n"})
    assert "line 3, participant" in text_of(browser.inside(address).text)
    assert browser.send("POST", f"{address}/look", {"skip_bad": True}).status == 202
    browser.wait(address)
    assert "2 participants, 1 item, 2 answers" in browser.inside(address).text


def test_a_study_is_checked(browser: Browser, tmp_path: Path) -> None:
    write_study(tmp_path / "study", "likert")
    files = {path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in (tmp_path / "study").iterdir()}
    address = browser.drop(files)
    page = browser.inside(address)
    assert "completion-code" in page.text
    assert "karat check study/study.toml" in page.text
    assert browser.send("POST", f"{address}/report").status == 202  # nothing to report on, and no harm
    browser.wait(address)
    assert "The result" not in browser.inside(address).text


def test_a_study_names_dropped_files_only(browser: Browser, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("item,function,sentence\nsecret-item,test,A secret sentence.\n")
    write_study(tmp_path / "study", "likert")
    text = (tmp_path / "study" / "study.toml").read_text(encoding="utf-8")
    for named in (str(secret), "../" * 12 + str(secret).lstrip("/")):
        changed, count = re.subn(r"(?m)^items +=.*$", f'items = "{named}"', text)
        assert count == 1
        page = browser.inside(browser.drop({"study.toml": changed.encode()})).text
        assert "not among the dropped files" in page
        assert "secret-item" not in page


def test_a_zip_with_a_study_is_checked(browser: Browser, tmp_path: Path) -> None:
    write_study(tmp_path / "study", "likert")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in (tmp_path / "study").iterdir():
            text = path.read_text(encoding="utf-8")
            archive.writestr(f"study/{path.name}", text.replace('language = "en"', 'language = "en"\nmisspelt = 1'))
        archive.writestr("__MACOSX/._study.toml", "no text of a study")
    page = text_of(browser.inside(browser.drop({"my study.zip": packed.getvalue()})).text)
    assert "study.toml" in page
    assert "misspelt" in page


def test_the_rules_of_a_study_apply_to_results(studio: StudioApp, browser: Browser, results: bytes) -> None:
    study = """title = "Small"
language = "en"
[[block]]
task = "likert"
items = "items.csv"
scale = { points = 5 }
[screening]
completion = { at_least = 0.9 }
exclude = "any"
"""
    items = "item,sentence\n" + "".join(f"s{number:02},Sentence {number}.\n" for number in range(10))
    first = results.decode().splitlines()
    half = [line for line in first if not line.startswith("w0,") or line.split(",")[2] < "s04"]
    files = {"study.toml": study, "items.csv": items, "results.csv": "\n".join(half) + "\n"}
    address = browser.drop({name: text.encode() for name, text in files.items()})
    mapping = mapping_of(studio, address) | {"item": "sentence"}
    browser.send("POST", f"{address}/report", {"mapping": mapping})
    browser.wait(address)
    page = text_of(browser.inside(address).text)
    assert "Small (study.toml)" in page
    assert "7 of 8 participants" in page


@pytest.mark.few(8)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_format_of_the_readers(case: Case, studio: StudioApp, browser: Browser) -> None:
    files = {path.relative_to(FIXTURES / case.name).as_posix(): path.read_bytes() for path in case.paths()}
    beside = {path.name: path.read_bytes() for path in (FIXTURES / case.name).glob("*.csv-metadata.json")}
    people = {path.name: path.read_bytes() for path in (FIXTURES / case.name).glob("*.participants.csv")}
    address = browser.drop({**files, **beside, **people})
    seen = studio.cases.known[address.rsplit("/", 1)[1]].seen
    assert seen is not None
    if case.source == "auto" and not case.flags:
        assert seen.failure is None
        assert {"participant", "response"} <= set(seen.columns.mapped)
        intake = case.read()
        assert seen.found == tuple(intake.judgments.summary().splitlines())


@pytest.mark.parametrize(
    "name", ["../x.csv", "/etc/x.csv", "a/../../x.csv", "..", ".hidden", "a//b", "a\\..\\x", "a\nb.csv", "x" * 300, ""]
)
def test_names_that_lead_elsewhere_are_refused(name: str, studio: StudioApp, browser: Browser) -> None:
    before = {path for path in studio.cases.root.rglob("*") if path.is_file()}
    address = browser.drop({}, look=False)
    reply = browser.send("PUT", f"{address}/files/{name.replace('/', '%2F')}".replace("\n", "%0A"), b"participant")
    assert reply.status in (404, 409)
    assert reply.json()["error"]
    assert {path for path in studio.cases.root.rglob("*") if path.is_file()} == before


def test_the_limit_is_stated_and_holds(studio: StudioApp, browser: Browser) -> None:
    assert f"{LIMIT // 1024**2} MB" in browser.inside("/").text
    address = browser.drop({}, look=False)
    reply = browser.send("PUT", f"{address}/files/a.csv", b"a", {"content-length": str(LIMIT + 1)})
    assert reply.status == 413
    assert "500 MB" in reply.json()["error"]
    studio.cases.known[address.rpartition("/")[2]].size = LIMIT - 3
    assert browser.send("PUT", f"{address}/files/a.csv", b"abc").status == 204
    assert browser.send("PUT", f"{address}/files/a.csv", b"abd").status == 204  # a new version takes its place
    assert browser.send("PUT", f"{address}/files/b.csv", b"a", {"content-length": "0"}).status == 413


@pytest.mark.slow
def test_work_can_be_stopped_and_begun_again(browser: Browser, results: bytes) -> None:
    address = browser.drop({"results.csv": results}, look=False)
    assert browser.send("POST", f"{address}/look").status == 202
    again = browser.send("POST", f"{address}/look")
    assert again.status in (202, 409)
    browser.send("POST", f"{address}/stop")
    browser.wait(address)
    browser.send("POST", f"{address}/look")
    browser.wait(address)
    assert "80 answers" in browser.inside(address).text


def test_what_the_page_may_not_send(browser: Browser, results: bytes) -> None:
    address = browser.drop({"results.csv": results})
    for wrong in ({"mapping": 1}, {"rt_unit": "hours"}, {"unknown": 1}, {"sheet": "x" * 2000}):
        assert browser.send("POST", f"{address}/look", wrong).status == 422
    assert browser.send("POST", "/cases/nothing/look").status == 404
    assert browser.inside(f"{address}/report.html").status == 404
    assert browser.inside(f"{address}/everything.zip").status == 404
    assert browser.send("POST", f"{address}/keep").status == 409


def test_markup_in_files_is_text(browser: Browser) -> None:
    rows = "".join(f"<script>p{n}</script>,<img src=x>,{n}\n" for n in (1, 2, 3))
    address = browser.drop({"<b>x.csv": f"participant,item,response\n{rows}".encode()})
    page = browser.inside(address).text
    assert "&lt;script&gt;p1&lt;/script&gt;" in page
    assert "<script>p" not in page
    assert "<b>x" not in page
    assert "<img" not in page


def test_what_a_file_leaves_open_is_asked_before_it_is_read(browser: Browser, crossed: bytes) -> None:
    address = browser.drop({"results.csv": crossed})
    page = browser.inside(address).text
    assert page.count("data-asked=") == 2
    assert "verb + content" in page
    assert 'id="choices"' not in page
    assert "s1" not in page
    assert browser.send("POST", f"{address}/report").status == 202
    browser.wait(address)
    assert "data-asked=" in browser.inside(address).text, "no report before the answers"
    answered = {"response": "acceptability", "item": "verb+content"}
    assert browser.send("POST", f"{address}/look", {"answered": answered}).status == 202
    browser.wait(address)
    page = browser.inside(address).text
    assert "9 participants, 12 items, 108 answers" in page
    assert '<option value="verb+content" selected>' in page
    assert "--map response=acceptability --map item=verb+content" in page
    # The form sends what it shows; the answers stay.
    mapping = {"participant": "subject", "item": "content", "response": "acceptability"}
    assert browser.send("POST", f"{address}/look", {"mapping": mapping}).status == 202
    browser.wait(address)
    assert "9 participants, 4 items, 108 answers" in browser.inside(address).text


def test_a_wide_table_is_asked_about_and_read(browser: Browser) -> None:
    names = [f"G1[SQ{n:03}]" for n in range(1, 9)]
    rows = [",".join([str(p), "2022-01-05", *(str((p * n) % 5 + 1) for n in range(8))]) for p in range(1, 13)]
    content = "\n".join([",".join(["id", "submitdate", *names]), *rows]) + "\n"
    address = browser.drop({"survey.csv": content.encode()})
    assert 'data-asked="wide"' in browser.inside(address).text
    browser.send("POST", f"{address}/look", {"answered": {}, "wide": "participant"})
    browser.wait(address)
    page = browser.inside(address).text
    assert "12 participants, 8 items, 96 answers" in page
    assert "--wide participant" in page
