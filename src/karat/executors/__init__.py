"""A map over independent jobs: in this process, in several processes, or on a cluster.

Code that computes takes an `Executor` and calls its `map`; `open_executor` decides where the jobs run. Results are in
the order of the jobs, and each job has its own seed, so the numbers are the same wherever it runs.
"""

from karat.executors.executor import SERIAL, Executor, ExecutorError, Serial, as_map
from karat.executors.processes import open_executor
from karat.types import Map, Progress

__all__ = ["SERIAL", "Executor", "ExecutorError", "Map", "Progress", "Serial", "as_map", "open_executor"]
