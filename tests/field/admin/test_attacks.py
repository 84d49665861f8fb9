"""What people try on the dashboard who have no business there, and what it makes of hostile data."""

from __future__ import annotations

from field.admin.fielding import Fielded, log_in
from field.server.visitor import Visitor
from karat.field.server.headers import Limits
from karat.field.store import arrivals

PATHS = (
    "/admin/../etc/passwd", "/admin/%2e%2e/s/blind/", "/admin/blind/download/..%2F..%2Fkarat.db",
    "/admin/blind/download/%2e%2e%2fsecret", "/admin/blind/download/judgments.csv%00.zip", "/admin/blind/download/",
    "/admin/%00", "/admin/blind/people/..%2f..", "/admin/blind/people/' OR 1=1 --", "/admin/blind/people/%00",
)  # fmt: skip


def test_path_tricks(researcher: Visitor) -> None:
    for path in PATHS:
        reply = researcher.get(path)
        assert reply.status == 404, path
        assert "root:" not in reply.text


def test_floods_of_made_up_logins_are_stopped(visitor: Visitor) -> None:
    visitor.app.state.limits = Limits(visitor.app.state.config, clock=lambda: 0.0)
    found = []
    for number in range(12):
        visitor.headers = {"x-forwarded-for": f"203.0.113.{number}", "x-real-ip": f"203.0.113.{number}"}
        found.append(log_in(visitor, f"guess number {number}").status)
    assert found == [403] * 10 + [429] * 2


def test_what_platforms_send_is_shown_as_text(researcher: Visitor, fielded: Fielded) -> None:
    script = "<script>alert(1)</script>"
    arrived = fielded.come(platform=script, identity=arrivals.Identity(script, script, script), person_hash="h")
    fielded.answer(arrived)
    for path in ("/admin", "/admin/blind", "/admin/blind/live", f"/admin/blind/people/{arrived.participant}"):
        reply = researcher.get(path)
        assert reply.status == 200
        assert script not in reply.text
        assert "unsafe" not in reply.headers["content-security-policy"]
    assert "&lt;script&gt;" in researcher.get(f"/admin/blind/people/{arrived.participant}").text


def test_nothing_of_the_dashboard_stays_in_a_cache_or_a_frame(researcher: Visitor) -> None:
    for path in ("/admin", "/admin/blind", "/admin/login"):
        headers = researcher.get(path).headers
        assert headers["cache-control"] == "no-store"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
