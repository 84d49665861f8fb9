"""Bots: participants that answer over HTTP, for the demo, the fault tests and the benchmark."""

from karat.field.bots.behaviour import Behaviour, opinions
from karat.field.bots.client import Client, Reply
from karat.field.bots.walk import WalkRecord, visit

__all__ = ["Behaviour", "Client", "Reply", "WalkRecord", "opinions", "visit"]
