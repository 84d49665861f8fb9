"""Logging in: only with the password, not too often, never from another site; nothing of the dashboard without it."""

from __future__ import annotations

import re
from typing import Any

from field.admin.fielding import PASSWORD, Fielded, log_in, set_password
from field.server.visitor import Visitor
from karat.field.admin.login import NAME, hashed
from karat.field.server.headers import Limits
from karat.field.store import admins

OPEN = ("/admin/login",)


def admin_routes(app: Any) -> list[tuple[str, str]]:
    """Every method and path under /admin, with something in place of the names."""
    found = []
    pending = [("", route) for route in app.routes]
    while pending:
        prefix, route = pending.pop()
        if hasattr(route, "original_router"):
            below = prefix + route.include_context.prefix
            pending += [(below, inner) for inner in route.original_router.routes]
            continue
        path = prefix + getattr(route, "path", "")
        for method in getattr(route, "methods", None) or ():
            if path.startswith("/admin"):
                filled = path.replace("{slug}", "blind").replace("{name}", "codebook.csv")
                found.append((method, re.sub(r"\{\w+\}", "p-abcdef", filled)))
    return sorted(set(found))


def test_nothing_is_shown_without_a_login(visitor: Visitor) -> None:
    routes = admin_routes(visitor.app)
    assert len(routes) >= 13
    for method, path in routes:
        if path in OPEN:
            continue
        if method == "POST":
            reply = visitor.post(path, {"csrf": "made up"}, follow=False)
        else:
            reply = visitor.ask(method, path, follow=False)
        if path.endswith("/live"):
            assert reply.status == 401, (method, path)
        else:
            assert reply.status == 303, (method, path)
            assert reply.headers["location"].startswith("/admin/login"), (method, path)
        assert "Blind" not in reply.text


def test_the_right_password_opens_and_logging_out_closes(visitor: Visitor) -> None:
    assert "Studies" in log_in(visitor).text
    page = visitor.get("/admin/blind")
    assert page.status == 200
    assert "Log in" in visitor.send(page.form("/logout")).text
    assert visitor.get("/admin", follow=False).status == 303


def test_logging_out_ends_the_login_on_the_server(visitor: Visitor) -> None:
    log_in(visitor)
    copied = dict(visitor.cookies)
    elsewhere = Visitor(visitor.app, visitor.runner, visitor.slug, cookies=copied)
    assert elsewhere.get("/admin/blind").status == 200
    visitor.send(visitor.get("/admin/blind").form("/logout"))
    assert elsewhere.get("/admin", follow=False).status == 303


def test_wrong_passwords_do_not_lock_out_a_known_browser(visitor: Visitor) -> None:
    log_in(visitor)
    stranger = Visitor(visitor.app, visitor.runner, visitor.slug)
    visitor.app.state.limits = Limits(visitor.app.state.config, clock=lambda: 0.0)
    found = [log_in(stranger, f"guess number {number}").status for number in range(12)]
    assert found.count(429) == 2
    assert log_in(stranger).status == 429
    # A withdrawal has a limit of its own, although it comes from the same address.
    form = stranger.get("/s/blind/withdraw").form("/withdraw")
    assert stranger.send(form, {"code": "aaaa-bbbb-cccc"}).status == 422
    # The one who is logged in goes on, and can log in again from this browser.
    assert visitor.get("/admin/blind").status == 200
    visitor.send(visitor.get("/admin/blind").form("/logout"))
    assert "Studies" in log_in(visitor).text
    # The cookie of a known browser is no way around the limit.
    assert [log_in(visitor, f"guess number {number}").status for number in range(12)].count(429) >= 2


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(visitor: Visitor) -> None:
    cookie = log_in(visitor, follow=False).headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "max-age=" in cookie


def test_wrong_names_and_wrong_passwords_get_the_same_answer(visitor: Visitor) -> None:
    (form,) = visitor.get("/admin/login").forms
    wrong = visitor.send(form, {"name": NAME, "password": "not the password"})
    nobody = visitor.send(form, {"name": "nobody", "password": PASSWORD})
    assert wrong.status == nobody.status == 403
    strip = re.compile(r'name="csrf" value="[^"]*"')
    assert strip.sub("", wrong.text) == strip.sub("", nobody.text)


def test_a_flood_of_logins_is_stopped(visitor: Visitor) -> None:
    visitor.app.state.limits = Limits(visitor.app.state.config, clock=lambda: 0.0)
    found = [log_in(visitor, f"guess number {number}").status for number in range(12)]
    assert found == [403] * 10 + [429] * 2
    assert log_in(visitor).status == 429  # the right password must wait too


def test_failed_logins_are_reported(visitor: Visitor) -> None:
    log_in(visitor, "not the password")
    assert "1 failed login as admin" in log_in(visitor).text


def test_a_login_form_of_another_page_is_refused(visitor: Visitor) -> None:
    assert visitor.post("/admin/login", {"name": NAME, "password": PASSWORD}).status == 403
    (form,) = visitor.get("/admin/login").forms
    visitor.headers["origin"] = "https://elsewhere.example"
    assert visitor.send(form, {"name": NAME, "password": PASSWORD}).status == 403


def test_after_the_login_only_our_own_pages_follow(visitor: Visitor) -> None:
    for address in ("https://elsewhere.example/", "//elsewhere.example/admin", "/\\elsewhere.example", "/s/blind/"):
        (form,) = visitor.get(f"/admin/login?next={address}").forms
        reply = visitor.send(form, {"name": NAME, "password": PASSWORD}, follow=False)
        assert reply.headers["location"] == "/admin"
    (form,) = visitor.get("/admin/login?next=/admin/blind").forms
    reply = visitor.send(form, {"name": NAME, "password": PASSWORD}, follow=False)
    assert reply.headers["location"] == "/admin/blind"


def test_forms_without_their_text_are_refused(researcher: Visitor, fielded: Fielded) -> None:
    for method, path in admin_routes(researcher.app):
        if method == "POST" and path not in OPEN:
            for text in ({}, {"csrf": ""}, {"csrf": "x" * 43}):
                reply = researcher.post(path, text | {"state": "paused", "decision": "excluded"}, follow=False)
                assert reply.status == 403, path
    assert "Pause" in researcher.get("/admin/blind").text  # it still runs


def test_a_form_from_another_site_is_refused(researcher: Visitor) -> None:
    form = next(form for form in researcher.get("/admin/blind").forms if form.action.endswith("/state"))
    researcher.headers["sec-fetch-site"] = "cross-site"
    assert researcher.send(form, follow=False).status == 403


def test_a_new_password_ends_old_logins(researcher: Visitor, fielded: Fielded) -> None:
    fielded.store.call(admins.set_password, NAME, hashed("another password"))
    assert researcher.get("/admin", follow=False).status == 303
    set_password(fielded.store)


def test_a_forged_cookie_opens_nothing(researcher: Visitor) -> None:
    text = researcher.cookies["karat-admin"]
    for forged in (text[:-1] + ("A" if text[-1] != "A" else "B"), "x" + text, text.split(".")[0] + ".", ""):
        researcher.cookies["karat-admin"] = forged
        assert researcher.get("/admin", follow=False).status == 303


def test_a_wrong_password_keeps_the_page_to_open(visitor: Visitor) -> None:
    (form,) = visitor.get("/admin/login?next=/admin/blind/people").forms
    (again,) = visitor.send(form, {"name": NAME, "password": "not the password"}).forms
    reply = visitor.send(again, {"name": NAME, "password": PASSWORD}, follow=False)
    assert reply.headers["location"] == "/admin/blind/people"


def test_a_study_may_be_called_live(visitor: Visitor) -> None:
    reply = visitor.get("/admin/live", follow=False)
    assert (reply.status, reply.headers["location"]) == (303, "/admin/login?next=/admin/live")
