"""Platforms: what a visit says, how participants return, and that nobody is sent astray."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.field.content.links import links
from karat.field.content.platforms import Visit, completion, person_hash, platform, submit_address
from karat.study.file import StudyError
from karat.study.settings import FieldSettings, RecruitmentSettings
from messages import refuses
from tests.field.content.pages import small, template

SANDBOX = "https://workersandbox.mturk.com/mturk/externalSubmit"
URL = "https://panel.example.org/back?p={pid}&s={session}&c={code}"


VISIT = Visit("w1", "a1", "h1")


def returned(
    outcome: str = "complete", visit: Visit = VISIT, how: str = "both", **recruitment: object
) -> tuple[str, str | None, object, bool]:
    stated = RecruitmentSettings.model_validate(recruitment)
    field = FieldSettings.model_validate({"completion": how})
    end = completion(platform(stated), stated, field, outcome, visit, "own1")
    return end.code, end.redirect, end.post, end.ask_to_return


def test_prolific() -> None:
    where = platform(RecruitmentSettings(platform="Prolific"))
    query = {"PROLIFIC_PID": "5f0a" * 6, "STUDY_ID": "5e" * 12, "SESSION_ID": "5d" * 12, "workerId": "no"}
    assert where.read(query) == Visit("5f0a" * 6, "5d" * 12, "5e" * 12)
    assert where.read({}) == Visit()
    assert where.needs_person
    assert not where.framed
    complete = "https://app.prolific.com/submissions/complete?cc="
    codes = {"completion_code": "C1", "screened_out_code": "S1", "failed_quiz_code": "F1", "no_consent_code": "N1"}
    for outcome, code in zip(("complete", "screened-out", "failed-quiz", "declined"), codes.values(), strict=True):
        assert returned(outcome, platform="prolific", **codes) == (code, complete + code, None, False)
    for outcome in ("screened-out", "failed-quiz", "declined", "full", "withdrawn"):
        assert returned(outcome, platform="prolific", completion_code="C1") == ("", None, None, True)
    # A code that Prolific does not know would count as none: nobody is sent there with it.
    assert returned(platform="prolific") == ("own1", None, None, False)


def test_codes_links_or_both() -> None:
    stated = {"platform": "prolific", "completion_code": "C1"}
    address = "https://app.prolific.com/submissions/complete?cc=C1"
    assert returned(how="both", **stated)[:2] == ("C1", address)
    assert returned(how="code", **stated)[:2] == ("C1", None)
    assert returned(how="redirect", **stated)[:2] == ("", address)
    # Without an address there is only the code, whatever was asked for.
    assert returned(how="redirect", platform="link")[:2] == ("own1", None)


def test_mturk() -> None:
    where = platform(RecruitmentSettings(platform="mturk"))
    query = {"workerId": "W1", "assignmentId": "A1", "hitId": "H1", "turkSubmitTo": "https://workersandbox.mturk.com"}
    visit = where.read(query)
    assert visit == Visit("W1", "A1", "H1", submit_to=SANDBOX)
    preview = where.read(query | {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"})
    assert (preview.preview, preview.person, preview.submit_to) == (True, "", None)
    assert where.framed
    assert all(origin.startswith("https://") and origin.endswith(".mturk.com") for origin in where.frame_ancestors)
    code, redirect, post, asked = returned(visit=visit, platform="mturk")
    assert (code, redirect, asked) == ("own1", None, False)
    assert vars(post) == {  # type: ignore[call-overload]
        "url": SANDBOX, "fields": {"assignmentId": "A1", "outcome": "complete", "code": "own1"},
    }  # fmt: skip
    assert returned("screened-out", visit, platform="mturk") == ("", None, None, True)
    assert returned("complete", Visit("W1", "A1"), platform="mturk")[:3] == ("own1", None, None)


@pytest.mark.parametrize(
    "address",
    [
        "https://workersandbox.mturk.com", "https://workersandbox.mturk.com/", SANDBOX, SANDBOX + "/",
        "https://workersandbox.mturk.com:443/mturk/externalSubmit", "https://WORKERSANDBOX.mturk.com",
    ],
)  # fmt: skip
def test_both_spellings_of_the_submit_address(address: str) -> None:
    assert submit_address(address) == SANDBOX


@pytest.mark.parametrize(
    "address",
    [
        "", "http://www.mturk.com/", "https://evil.example/", "https://www.mturk.com.evil.example/",
        "https://www.mturk.com@evil.example/", "https://user@www.mturk.com/", "https://www.mturk.com:8443/",
        "https://evil.example/www.mturk.com", "//www.mturk.com", "javascript:alert(1)", "https://mturk.com",
        "https://www.mturk.com/other", "https://www.mturk.com/?to=x", "https://[::1", "https://www.mturk.com\\@evil.x/",
        "https://www.mturk.com/#x", "https://xwww.mturk.com",
    ],
)  # fmt: skip
def test_other_submit_addresses_are_not_used(address: str) -> None:
    assert submit_address(address) is None


@given(st.text(max_size=60) | st.text(max_size=20).map(lambda end: f"https://www.mturk.com{end}"))
def test_whatever_is_sent_the_form_goes_to_mturk(address: str) -> None:
    assert submit_address(address) in (None, SANDBOX, SANDBOX.replace("workersandbox", "www"),
                                       SANDBOX.replace("workersandbox", "worker"))  # fmt: skip


def test_other_platforms_by_template() -> None:
    stated = {"platform": "crowdee", "completion_url": URL, "id_parameter": "user"}
    where = platform(RecruitmentSettings.model_validate(stated))
    assert where.read({"user": "u1", "session": "s1", "pid": "x"}) == Visit("u1", "s1")
    assert (where.title, where.needs_person, where.form_targets) == ("Crowdee", True, ("https://panel.example.org",))
    address = "https://panel.example.org/back?p=u%2B1&s=&c=own1"
    assert returned(visit=Visit("u+1"), **stated)[:2] == ("own1", address)
    # What a visitor calls themselves is filled in once, and cannot bring in further slots or signs.
    assert returned(visit=Visit("{code}"), **stated)[1] == "https://panel.example.org/back?p=%7Bcode%7D&s=&c=own1"
    assert returned("screened-out", **stated) == ("", None, None, True)
    assert returned("screened-out", screened_out_code="S1", **stated)[0] == "S1"


def test_a_plain_link_is_open_to_all() -> None:
    where = platform(RecruitmentSettings())
    assert (where.name, where.title, where.needs_person) == ("link", "", False)
    assert where.read({"pid": "me@example.org"}).person == "me@example.org"
    assert returned("screened-out", platform="link") == ("", None, None, False)


@pytest.mark.parametrize("text", ["<script>", "a b", "...", "x" * 129, "a\nb", "é", '"', "a/b", ""])
def test_what_cannot_be_an_identifier_is_none(text: str) -> None:
    assert platform(RecruitmentSettings()).read({"pid": text}).person == ""


def test_hashes_of_people() -> None:
    one = person_hash(b"key", "prolific", "p1")
    assert len(one) == 64
    assert one == person_hash(b"key", "prolific", "p1")
    others = {person_hash(b"other", "prolific", "p1"), person_hash(b"key", "mturk", "p1"),
              person_hash(b"key", "prolific", "p2"), person_hash(b"key", "prolificp", "1")}  # fmt: skip
    assert one not in others
    assert len(others) == 4


def test_links_for_prolific(tmp_path: Path) -> None:
    result = links(template("likert", "de"), "https://x.org/", "wort")
    parameters = "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    assert f"https://x.org/s/wort/{parameters}" in result
    for text in ("first language: German", "raised monolingual", "country of residence", "not a student of languages",
                 'missing: add completion_code = "..."', "screened_out_code"):  # fmt: skip
        assert text in result
    stated = '[recruitment]\nplatform = "prolific"\ncompletion_code = "C9"\nnot_from = ["pilot"]\nwaiting_days = 40\n'
    own = links(small(tmp_path, rest=stated), "https://x.org", "s")
    assert "C9, for participants who finish" in own
    assert "participants of pilot, for 40 days" in own
    assert "missing" not in own
    assert max(len(line) for line in own.splitlines() if "://" not in line) <= 112


def test_links_for_others(tmp_path: Path) -> None:
    turk = links(small(tmp_path / "a", rest='[recruitment]\nplatform = "mturk"\n'), "https://x.org", "s")
    assert "<ExternalURL>https://x.org/s/s/</ExternalURL>" in turk
    plain = links(small(tmp_path / "b"), "https://x.org", "s")
    assert "https://x.org/s/s/" in plain
    assert "?pid=" in plain
    stated = f'[recruitment]\nplatform = "sona"\ncompletion_url = "{URL}"\nonly_from = ["first"]\n'
    other = links(small(tmp_path / "c", rest=stated), "https://x.org", "s")
    assert URL in other
    assert "participants of first alone" in other
    invited = links(small(tmp_path / "d", rest="[recruitment]\ninvitations = true\n"), "https://x.org", "s")
    assert "one-time links" in invited


@pytest.mark.parametrize(
    ("key", "names"),
    [
        ('completion_url = "https://x.org/?c={cod}"', ("completion_url", "{cod}", "{pid}", "{session}")),
        ('completion_url = "http://x.org/"', ("line 7", "completion_url", "https://")),
        ('completion_url = "javascript:alert(1)"', ("line 7", "completion_url", "https://")),
        ('completion_url = "https://{pid}.org/"', ("line 7", "completion_url", "https://")),
        ('completion_url = "https://x.org/a b"', ("completion_url", "blank")),
        ('completion_code = "C 1"', ("completion_code",)),
        ('id_parameter = "a&b"', ("id_parameter",)),
        ('only_from = ["a"]\nnot_from = ["a"]', ("only_from", "a", "not_from")),
        ("waiting_days = 3", ("waiting_days", "not_from")),
        ("list_quota = 0", ("list_quota",)),
    ],
)
def test_flaws_of_recruitment_are_reported(tmp_path: Path, key: str, names: tuple[str, ...]) -> None:
    with refuses(StudyError, *names):
        small(tmp_path, rest=f"[recruitment]\n{key}\n")
