"""A map over jobs that do not depend on each other: in this process, in several, or on a cluster.

Code that computes asks for `Executor` and calls its `map`; where the jobs run is said once, by `open_executor`.
Results come back in the order of the jobs, and a job brings its own seed along, so that the numbers are the same
wherever it ran.
"""

from karat.executors.executor import SERIAL, Executor, ExecutorError, Serial, as_map
from karat.executors.processes import open_executor
from karat.types import Map, Progress

__all__ = ["SERIAL", "Executor", "ExecutorError", "Map", "Progress", "Serial", "as_map", "open_executor"]
