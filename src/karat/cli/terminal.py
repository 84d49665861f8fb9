"""Whether somebody watches, and on what."""

from __future__ import annotations

import os
import sys


def has_terminal() -> bool:
    """Whether somebody reads what is printed and can press a key."""
    return sys.stdin.isatty() and sys.stdout.isatty() and not os.environ.get("CI")


def has_screen() -> bool:
    """Whether there is a screen that could show a page."""
    return sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
