"""Look for known vulnerabilities in what karat uses, in Python and in the browser: make audit

Both registries are asked over the network. Where one cannot be reached, that is said, and it is no failure: what was
found nowhere else would otherwise depend on the line.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PINNED = ROOT / "deploy" / "requirements.txt"
WEB = ROOT / "src" / "karat" / "field" / "web"
UNREACHABLE = (
    "connection", "could not find a version", "enotfound", "eai_again", "econnrefused", "etimedout", "timed out",
    "name resolution", "max retries", "endpoint", "no module named", "service unavailable",
)  # fmt: skip


@dataclass(frozen=True)
class Audit:
    """How one audit ended: `clean`, `found` or `unreachable`, with what the program said."""

    name: str
    outcome: str
    said: str

    def line(self) -> str:
        """What is printed of it.

        >>> Audit("npm audit", "clean", "").line()
        'npm audit   no known vulnerability'
        """
        words = {
            "clean": "no known vulnerability",
            "found": f"vulnerabilities:\n{self.said}",
            "unreachable": f"not done, because its registry or program cannot be reached:\n{self.said[-400:]}",
        }
        return f"{self.name:<11} {words[self.outcome]}"


def judged(name: str, status: int, said: str) -> Audit:
    """What the end of a program means.

    >>> judged("pip-audit", 1, "urllib3: Max retries exceeded").outcome
    'unreachable'
    >>> judged("pip-audit", 1, "jinja2 3.1.0 PYSEC-2024-1").outcome
    'found'
    """
    if status == 0:
        return Audit(name, "clean", said)
    unreachable = any(word in said.lower() for word in UNREACHABLE)
    return Audit(name, "unreachable" if unreachable else "found", said.strip())


def run(name: str, *command: str, folder: Path = ROOT) -> Audit:
    """Run a program that audits."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Audit(name, "unreachable", str(error))
    return judged(name, done.returncode, done.stdout + done.stderr)


def main() -> int:
    """Audit both; 1 where something was found."""
    audits = [
        run("pip-audit", sys.executable, "-m", "pip_audit", "--requirement", str(PINNED), "--require-hashes",
            "--disable-pip"),
        run("npm audit", "npm", "audit", "--package-lock-only", folder=WEB),
    ]  # fmt: skip
    print("\n".join(audit.line() for audit in audits))
    return int(any(audit.outcome == "found" for audit in audits))


if __name__ == "__main__":
    sys.exit(main())
