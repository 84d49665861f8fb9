"""Whether somebody still has the page open.

A page says every few seconds that it is there, and says goodbye when it is closed. A browser may let a page in the
background sleep; the page says that too. Time is counted in the server's own ticks: while a laptop is closed, neither
page nor server runs, and nobody has left.
"""

from __future__ import annotations

from typing import Literal

State = Literal["here", "asleep", "left"]
LONGEST_SILENCE = {"here": 180.0, "asleep": 12 * 3600.0}
"""Seconds after which a page that says nothing is taken as closed. Browsers let hidden pages speak once a minute."""
GRACE = 10.0
"""Seconds without any page before the app closes: going from one page to the next takes a moment."""
MOST_PAGES = 1000


class Presence:
    """The pages that are open.

    >>> presence = Presence()
    >>> presence.tell("a page", "here")
    >>> presence.tell("a page", "left")
    >>> presence.tick(5), presence.tick(6)
    (False, True)
    """

    def __init__(self) -> None:
        self._pages: dict[str, tuple[State, float]] = {}
        self._ever = False
        self._empty = 0.0

    def tell(self, page: str, state: State) -> None:
        """Note what a page says of itself."""
        self._pages.pop(page, None)
        if state != "left" and len(self._pages) < MOST_PAGES:
            self._pages[page] = (state, 0.0)
        self.seen()

    def seen(self) -> None:
        """Note that a page was asked for; it will soon say that it is there."""
        self._ever = True
        self._empty = 0.0

    def tick(self, seconds: float) -> bool:
        """Let time pass; whether everybody has left. Before the first page is opened, nobody has."""
        aged = {page: (state, silent + seconds) for page, (state, silent) in self._pages.items()}
        self._pages = {page: kept for page, kept in aged.items() if kept[1] < LONGEST_SILENCE[kept[0]]}
        self._empty = 0.0 if self._pages else self._empty + seconds
        return self._ever and self._empty >= GRACE
