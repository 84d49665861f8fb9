"""Have a Chromium for the browser tests: make test

On Debian and its kin, as root, the package is installed. Elsewhere a sentence says how to get one; the tests that need
it are then skipped, and counted.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HOW = (
    "There is no Chromium: the browser tests will be skipped. To run them, install it\n"
    "(Debian and Ubuntu: apt-get install chromium; macOS: brew install --cask chromium;\n"
    "elsewhere: python -m playwright install chromium) or say KARAT_CHROMIUM=/path/to/chromium."
)


def main() -> int:
    """Install Chromium where that is ours to do; never fails, for the other tests do not need it."""
    if os.environ.get("KARAT_CHROMIUM") or any(shutil.which(name) for name in NAMES):
        return 0
    if not (shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0):
        print(HOW)
        return 0
    print("installing chromium for the browser tests")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", "chromium"]
    for command in (["apt-get", "update", "-q"], install):
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            print(f"{' '.join(command)} failed:\n{done.stderr.strip()}\n{HOW}")
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
