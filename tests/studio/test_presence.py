"""When the last page is closed, and when it is not."""

from __future__ import annotations

from karat.studio.guard import GRACE, LONGEST_SILENCE, Presence


def over_after(presence: Presence, seconds: float, most: float = 1e6) -> bool:
    """Let time pass, second by second, as the server does."""
    return any(presence.tick(1.0) for _ in range(round(min(seconds, most))))


def test_nobody_has_left_who_never_came() -> None:
    assert not over_after(Presence(), 10_000)


def test_closing_the_last_page_closes_the_door() -> None:
    presence = Presence()
    presence.tell("a", "here")
    presence.tell("b", "here")
    presence.tell("a", "left")
    assert not over_after(presence, 2 * GRACE)
    presence.tell("b", "left")
    assert not over_after(presence, GRACE - 1)
    assert over_after(presence, 1)


def test_going_to_another_page_does_not() -> None:
    presence = Presence()
    presence.tell("a", "here")
    presence.tell("a", "left")
    assert not over_after(presence, GRACE - 1)
    presence.seen()  # the other page was asked for
    assert not over_after(presence, GRACE - 1)
    presence.tell("b", "here")
    assert not over_after(presence, LONGEST_SILENCE["here"])


def test_crashed_browsers_are_noticed_sleeping_ones_awaited() -> None:
    presence = Presence()
    presence.tell("a", "here")
    assert over_after(presence, LONGEST_SILENCE["here"] + GRACE)
    presence = Presence()
    presence.tell("a", "asleep")
    assert not over_after(presence, LONGEST_SILENCE["here"] + 10 * GRACE)
    assert over_after(presence, LONGEST_SILENCE["asleep"])
