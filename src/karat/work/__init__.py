"""A map over tasks that do not depend on each other: in this process, in several, or on a cluster.

Code that computes asks for `Work` and calls its `map`; where the tasks run is said once, by `opened`. Results come back
in the order of the tasks, and a task brings its own seed along, so that the numbers are the same wherever it ran.
"""

from karat.work.opened import opened
from karat.work.work import HERE, Here, Map, Progress, Work, WorkError, as_map

__all__ = ["HERE", "Here", "Map", "Progress", "Work", "WorkError", "as_map", "opened"]
