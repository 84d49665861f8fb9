"""Names for annotators whom a tool knows only by their e-mail address, which karat does not keep."""

from __future__ import annotations

from dataclasses import dataclass, field

from karat.messages import Message


@dataclass
class Annotators:
    """Gives out names in the order in which the addresses appear.

    >>> annotators = Annotators()
    >>> [annotators.name(who) for who in ("7", "ann@example.org", "bo@example.org", "ann@example.org")]
    ['7', 'annotator_1', 'annotator_2', 'annotator_1']
    """

    _addresses: dict[str, str] = field(default_factory=dict)

    def name(self, known: str | None) -> str | None:
        """The annotator as the tool calls them, or a name of our own instead of an address."""
        if known is None or "@" not in known:
            return known
        return self._addresses.setdefault(known, f"annotator_{len(self._addresses) + 1}")

    def notes(self) -> list[Message]:
        """A note that says so, where it happened."""
        if not self._addresses:
            return []
        return [Message("annotators.renamed", {"n": len(self._addresses)})]
