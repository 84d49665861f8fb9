"""What a researcher does: states, decisions, erasure, invitations."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping

from field.admin.fielding import Fielded
from field.server.visitor import Reply, Visitor
from karat.field.store import arrivals, export, progress, schema, studies


def submit(visitor: Visitor, page: str, action: str, fields: Mapping[str, str]) -> Reply:
    """Send one of the forms of a page, with other values in its fields."""
    forms = [form for form in visitor.get(page).forms if form.action.endswith(action)]
    return visitor.post(forms[0].action, {**forms[0].filled({}), **fields})


def state(fielded: Fielded) -> str:
    with fielded.store.read() as connection:
        row = studies.find(connection, fielded.slug)
    assert row is not None
    return row.state


def sessions(fielded: Fielded, name: str) -> list[progress.Session]:
    with fielded.store.read() as connection:
        return progress.find(connection, fielded.id, name)


def test_pause_resume_close(researcher: Visitor, fielded: Fielded) -> None:
    assert "The study is paused" in submit(researcher, "/admin/blind", "/state", {"state": "paused"}).text
    assert fielded.come().outcome == "paused"
    assert "The study is running" in submit(researcher, "/admin/blind", "/state", {"state": "running"}).text
    assert fielded.come().outcome == "new"
    asked = submit(researcher, "/admin/blind", "/state", {"state": "closed"})
    assert state(fielded) == "running"
    page = researcher.send(asked.form("/state"))
    assert state(fielded) == "closed"
    assert "The study is closed" in page.text
    assert fielded.come().outcome == "closed"
    assert "no longer blind" not in page.text


def test_a_study_that_is_opened_again_is_no_longer_blind(researcher: Visitor, fielded: Fielded) -> None:
    submit(researcher, "/admin/blind", "/state", {"state": "closed", "confirm": "yes"})
    page = submit(researcher, "/admin/blind", "/state", {"state": "running"})
    assert "no longer blind: answers to test trials" in page.text


def test_states_that_cannot_follow_are_refused(researcher: Visitor, fielded: Fielded) -> None:
    for wanted in ("draft", "running", "", "open"):
        assert submit(researcher, "/admin/blind", "/state", {"state": wanted}).status == 422
    assert state(fielded) == "running"


def test_excluding_frees_the_place_and_restoring_takes_it_back(researcher: Visitor, fielded: Fielded) -> None:
    names = [fielded.finish(region=region) for region in ("north", "south") * 4]
    assert fielded.come().outcome == "full"
    page = submit(researcher, f"/admin/blind/people/{names[2]}", "/decision", {"decision": "excluded"})
    assert "says nothing about payment" in page.text
    assert "Excluding data does not mean refusing payment" in page.text
    (gone,) = sessions(fielded, names[2])
    assert gone.state == "excluded"
    assert "7 of 8 eligible" in researcher.get("/admin/blind").text
    next_one = fielded.come()
    assert next_one.outcome == "new"
    assert next_one.list == gone.list
    page = submit(researcher, f"/admin/blind/people/{names[2]}", "/decision", {"decision": "restored"})
    assert sessions(fielded, names[2])[0].state == "complete"


def test_unknown_decisions_are_refused(researcher: Visitor, fielded: Fielded) -> None:
    name = fielded.finish()
    assert submit(researcher, f"/admin/blind/people/{name}", "/decision", {"decision": "paid"}).status == 422
    assert sessions(fielded, name)[0].state == "complete"


def test_erasing_asks_for_the_name(researcher: Visitor, fielded: Fielded) -> None:
    name, other = fielded.finish(), fielded.finish()
    page = submit(researcher, f"/admin/blind/people/{name}", "/erase", {"confirm": "yes"})
    assert '<p class="notice bad" role="alert">Nothing was done' in page.text
    assert sessions(fielded, name)
    page = submit(researcher, f"/admin/blind/people/{name}", "/erase", {"confirm": name})
    assert "data are erased" in page.text
    assert not sessions(fielded, name)
    with fielded.store.read() as connection:
        left = export.judgments(connection, fielded.id, fielded.study)
    assert left.frame["participant"].unique().to_list() == [other]


def test_a_withdrawal_code_erases_the_answers(researcher: Visitor, fielded: Fielded) -> None:
    name, other = fielded.finish(), fielded.finish()
    page = submit(researcher, "/admin/blind/danger", "/withdraw", {"code": "aaaa-bbbb-cccc"})
    assert '<p class="notice bad" role="alert">Nothing was erased' in page.text
    # The form is there again for another try.
    page = researcher.send(page.form("/withdraw"), {"code": f" {fielded.codes[name].upper()} "})
    assert "are erased" in page.text
    with fielded.store.read() as connection:
        left = export.judgments(connection, fielded.id, fielded.study)
    assert left.frame["participant"].unique().to_list() == [other]


def test_anonymising_takes_the_ids_away(researcher: Visitor, fielded: Fielded) -> None:
    identity = arrivals.Identity("worker-1", "s", "t")
    assert fielded.come(now=1000.0, person_hash="h" * 64, identity=identity, platform="prolific").outcome == "new"

    def ids() -> str:
        with fielded.store.read() as connection:
            return export.participants(connection, fielded.id, with_ids=True).write_csv()

    assert "worker-1" in ids()
    assert "Nothing was done" in submit(researcher, "/admin/blind/danger", "/anonymise", {"confirm": "no"}).text
    assert "worker-1" in ids()
    anonymised = submit(researcher, "/admin/blind/danger", "/anonymise", {"confirm": "blind"})
    assert anonymised.path.endswith("said=anonymised")
    assert "worker-1" not in ids()


def test_nobody_is_anonymised_while_answering(researcher: Visitor, fielded: Fielded) -> None:
    fielded.come()
    reply = submit(researcher, "/admin/blind/danger", "/anonymise", {"confirm": "blind"})
    assert reply.status == 422
    assert "still answering" in reply.text


def test_one_time_links_are_made_and_only_their_hashes_kept(researcher: Visitor, fielded: Fielded) -> None:
    page = submit(researcher, "/admin/blind/data", "/invitations", {"count": "3"})
    links = re.findall(r"http://127\.0\.0\.1:8000/s/blind/\?invitation=([\w-]{22})", page.text)
    assert len(set(links)) == 3
    for wrong in ("0", "1001", "-1", "many", "1" * 30):
        assert submit(researcher, "/admin/blind/data", "/invitations", {"count": wrong}).status == 422
    with fielded.store.read() as connection:
        stored = [tuple(row) for row in connection.exec_driver_sql("SELECT code_hash FROM invitation")]
    assert len(stored) == 3
    assert not set(links) & {row[0] for row in stored}


def test_a_participant_may_go_on_in_another_browser(researcher: Visitor, fielded: Fielded) -> None:
    arrived = fielded.come(person_hash="p", resume_hash="r")
    fielded.answer(arrived, share=0.5)
    ids = {"person_hash": "p", "resume_hash": "r", "ids_prove": False}
    assert fielded.come(**ids).outcome == "taken"
    submit(researcher, f"/admin/blind/people/{arrived.participant}", "/release", {})
    assert fielded.come(**ids).outcome == "resumed"
    assert fielded.come(**ids).outcome == "taken"


def test_warnings_say_what_to_look_into(researcher: Visitor, fielded: Fielded) -> None:
    first = fielded.come(person_hash="p", resume_hash="r")
    assert "participants reconcile" not in researcher.get("/admin/blind").text
    assert fielded.come(person_hash="q", resume_hash="r").outcome == "taken"
    assert "participants reconcile" in researcher.get("/admin/blind").text
    full = schema.session.update().values(stored=190_000_000, last_seen=time.time() - 21 * 60)
    fielded.store.call(lambda connection: connection.execute(full).rowcount)
    page = researcher.get("/admin/blind").text
    assert "190 MB of the 200 MB" in page
    assert "0 running" in page  # gone for over twenty minutes
    assert "1 left without finishing" in page
    assert "left at: consent" in researcher.get(f"/admin/blind/people/{first.participant}").text
