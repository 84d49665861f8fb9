"""What the store refuses, as errors that are sentences."""

from __future__ import annotations

from karat.errors import KaratError


class StoreError(KaratError):
    """A database that cannot be opened, or a request that it cannot fulfil."""


class NoSessionError(StoreError):
    """A token that belongs to no session, or no longer does."""

    def __init__(self) -> None:
        super().__init__("There is no session with this token. Open the link of the study again.")


class SessionEndedError(StoreError):
    """A session that has ended takes no more answers."""

    def __init__(self, state: str) -> None:
        super().__init__(f"The session has ended ({state}) and takes no more answers.")
        self.state = state
