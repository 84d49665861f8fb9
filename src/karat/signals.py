"""Handle signals that end a process while something must not be interrupted."""

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType


@contextmanager
def signals_handled(names: Sequence[str], handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Use a handler within the block for the signals of these names that this system has."""
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, signal.SIG_DFL if previous is None else previous)


@contextmanager
def interruptible() -> Iterator[None]:
    """Within the block, Ctrl-C ends a question at once. The handler of polars lets it wait until Enter is pressed."""
    with signals_handled(("SIGINT",), signal.default_int_handler):
        yield


@contextmanager
def signals_held() -> Iterator[None]:
    """Delay signals that end the process until after the block, because it may start a process that must be ended."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    try:
        with signals_handled(("SIGTERM", "SIGHUP", "SIGINT"), lambda number, _: came.append(number)):
            yield
    finally:
        for number in came:
            signal.raise_signal(number)
