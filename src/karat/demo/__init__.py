"""The main job from end to end: bundled results read and screened; a study served, answered by bots, and screened."""

from __future__ import annotations

from karat.demo.results import Demo, has_screen, has_terminal, ratings_by_kind, run
from karat.demo.served import Served, serve

__all__ = ["Demo", "Served", "has_screen", "has_terminal", "ratings_by_kind", "run", "serve"]
