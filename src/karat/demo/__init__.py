"""The life of a study in two minutes: written, checked, served, answered by bots, screened, measured, reported."""

from __future__ import annotations

from karat.demo.served import Served, serve, simulated
from karat.demo.story import Answered, DemoResult, report

__all__ = ["Answered", "DemoResult", "Served", "report", "serve", "simulated"]
