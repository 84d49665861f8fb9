"""Loaded by Dask into each worker of a local cluster: Ctrl-C is for the process that started them, which ends them."""

from __future__ import annotations

import signal


def dask_setup(worker: object) -> None:
    """Called by Dask as a worker begins."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
