"""Calls that only some systems have: each is guarded, so that nothing known stops karat on Windows and macOS."""

from __future__ import annotations

import ast
import re
from pathlib import Path

MODULES = {"fcntl", "pwd", "grp", "resource", "termios", "tty", "pty", "syslog", "posix", "msvcrt", "winreg"}
"""Modules that one kind of system has."""
CALLS = {
    "os": {
        "fork", "forkpty", "kill", "killpg", "getuid", "geteuid", "getgid", "getpgid", "setsid", "setuid", "nice",
        "chown", "fchmod", "uname", "getloadavg", "mkfifo", "sched_getaffinity", "sched_setaffinity", "statvfs", "sync",
        "wait", "waitpid", "O_NOFOLLOW", "O_DIRECTORY", "O_CLOEXEC", "startfile",
    },
    "signal": {"SIGKILL", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGSTOP", "SIGCONT", "SIGCHLD", "SIGPIPE",
               "alarm", "setitimer", "pause"},
    "socket": {"AF_UNIX", "SO_REUSEPORT"},
    "time": {"tzset"},
}  # fmt: skip
KEYWORDS = {"preexec_fn", "pass_fds", "user", "group", "umask"}
"""Of starting a process."""
GUARDS = re.compile(r"hasattr|getattr|os\.name|sys\.platform|is_file\(\)|suppress|ImportError|AttributeError")


class Finder(ast.NodeVisitor):
    """The calls of one module that no condition above them guards."""

    def __init__(self) -> None:
        self.guards: list[str] = []
        self.found: list[tuple[int, str]] = []
        self.guarded: list[tuple[int, str]] = []

    def visit(self, node: ast.AST) -> None:
        guard = self._guard(node)
        self.guards.append(guard)
        name = _name(node)
        if name:
            line = getattr(node, "lineno", 0)
            (self.guarded if GUARDS.search(" ".join(self.guards)) else self.found).append((line, name))
        self.generic_visit(node)
        self.guards.pop()

    def _guard(self, node: ast.AST) -> str:
        if isinstance(node, ast.If | ast.IfExp | ast.While):
            return ast.unparse(node.test)
        if isinstance(node, ast.With):
            return " ".join(ast.unparse(item.context_expr) for item in node.items)
        if isinstance(node, ast.Try):
            return " ".join(ast.unparse(one.type) for one in node.handlers if one.type is not None)
        if isinstance(node, ast.FunctionDef):  # one that returns before, where the system has not got it
            early = [one for one in node.body if isinstance(one, ast.If) and isinstance(one.body[-1], ast.Return)]
            return " ".join(ast.unparse(one.test) for one in early)
        return ""


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Import):
        return ", ".join(one.name for one in node.names if one.name.partition(".")[0] in MODULES)
    if isinstance(node, ast.ImportFrom):
        return node.module or "" if (node.module or "").partition(".")[0] in MODULES else ""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}" if node.attr in CALLS.get(node.value.id, ()) else ""
    if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("subprocess."):
        return ", ".join(one.arg for one in node.keywords if one.arg in KEYWORDS)
    return ""


def test_what_some_systems_lack_is_guarded(root: Path) -> None:
    unguarded, guarded = [], set()
    calls = [rf"{module}\.{name}" for module, names in CALLS.items() for name in names]
    of_interest = re.compile(rf"\b({'|'.join([*MODULES, *calls, 'subprocess'])})\b")
    for path in sorted((root / "src" / "karat").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        finder = Finder()
        finder.visit(ast.parse(text if of_interest.search(text) else ""))
        unguarded += [f"{path.relative_to(root)}:{line}: {name}" for line, name in finder.found]
        guarded |= {name for _, name in finder.guarded}
    assert unguarded == []
    assert guarded == {"os.nice", "os.sched_getaffinity", "resource", "signal.SIGKILL"}, "the list of what is used"


def test_the_finder_sees_an_unguarded_call() -> None:
    finder = Finder()
    finder.visit(ast.parse("import os, fcntl\nos.fork()\nif hasattr(os, 'nice'):\n    os.nice(1)\n"))
    assert [name for _, name in finder.found] == ["fcntl", "os.fork"]
    assert [name for _, name in finder.guarded] == ["os.nice"]


def test_every_system_has_a_launcher(root: Path) -> None:
    launchers = {path.suffix: path for path in (root / "deploy" / "launchers").iterdir()}
    assert set(launchers) == {".bat", ".command", ".desktop"}
    assert all("karat" in path.read_text(encoding="utf-8") for path in launchers.values())
    assert launchers[".command"].stat().st_mode & 0o100
