"""Where a server keeps studies, sessions, planned trials and answers: SQLite, or PostgreSQL by its address."""

from karat.field.store.engine import DatabaseMovedError, NoSessionError, SessionEndedError, StoreError
from karat.field.store.store import Store

__all__ = ["DatabaseMovedError", "NoSessionError", "SessionEndedError", "Store", "StoreError"]
