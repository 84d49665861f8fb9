"""Where a server keeps studies, sessions, planned trials and answers: SQLite, or PostgreSQL by its address."""

from karat.field.store.engine import NoSessionError, SessionEndedError, StoreError
from karat.field.store.store import Store

__all__ = ["NoSessionError", "SessionEndedError", "Store", "StoreError"]
