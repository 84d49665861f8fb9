"""A function done by a process of its own: it takes its memory along when it ends, and the server keeps answering.

The process reads the function and its arguments from standard input and writes the result to standard output. Both ends
are ours, so that pickled data are safe here.
"""

import asyncio
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import TypeVar

from karat.errors import KaratError
from karat.messages import message_of

T = TypeVar("T")
LONGEST_SECONDS = 300.0
NICENESS = 5
"""Participants come first; with 10, two busy processors kept a dashboard waiting for minutes."""


async def in_child(function: Callable[..., T], *arguments: object, seconds: float = LONGEST_SECONDS) -> T:
    """What a function of a module gives back, computed by another process; a KaratError is raised again here."""
    asked = pickle.dumps((function, arguments))
    process = subprocess.Popen(
        [sys.executable, "-m", "karat.field.admin.child"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip
    # A thread waits for it, and not asyncio's own watcher, which never ends where a server stops at the wrong moment.
    work = asyncio.get_running_loop().run_in_executor(None, process.communicate, asked)
    try:
        received, _ = await asyncio.wait_for(asyncio.shield(work), seconds)
    except TimeoutError:
        raise KaratError(
            f"This took longer than {seconds:,.0f} seconds and was stopped. Do it in a terminal: karat export, then "
            "karat screen."
        ) from None
    finally:
        process.kill()
        await asyncio.wait([work])
    if process.returncode:
        raise KaratError("The process that was to compute this ended without a result; the server's log says why.")
    done, result = pickle.loads(received)  # noqa: S301 - written by our own process
    if not done:
        raise KaratError(result)
    value: T = result
    return value


def main() -> None:
    """Do what standard input asks for."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    function, arguments = pickle.load(sys.stdin.buffer)  # noqa: S301 - written by our own server
    out, sys.stdout = sys.stdout, sys.stderr
    try:
        result = (True, function(*arguments))
    except KaratError as error:
        result = (False, message_of(error))
    out.buffer.write(pickle.dumps(result))
    out.flush()


if __name__ == "__main__":
    main()
