"""Programs of Node, and the packages of npm that tests are made of."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.line_process import cache_folder

KAFKAJS = Path(__file__).parent / "kafkajs"
AXE = Path(__file__).parent / "admin/console/axe"


def program(name: str) -> str:
    """From the PATH, or beside python, where a wheel of node puts it."""
    places = os.environ.get("PATH", "") + os.pathsep + str(Path(sys.executable).parent)
    found = shutil.which(name, path=places)
    if found is None:
        pytest.skip(f"no {name} on this machine")
    return found


def installed(folder: Path) -> Path:
    """node_modules as the lock in this folder says, installed once per version of the lock."""
    lock = (folder / "package-lock.json").read_bytes()
    home = cache_folder() / f"{folder.name}-{hashlib.sha256(lock).hexdigest()[:12]}"
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        if not (home / "complete").exists():
            for name in ("package.json", "package-lock.json", ".npmrc"):
                shutil.copy(folder / name, home / name)
            npm = [program("npm"), "ci", "--ignore-scripts", "--loglevel=error"]
            done = subprocess.run(npm, cwd=home, capture_output=True, text=True, timeout=180)
            if done.returncode != 0:
                why = done.stderr.strip()[-500:]
                pytest.skip(f"the packages of {folder.name} cannot be installed: {why}")
            (home / "complete").touch()
    return home / "node_modules"


def kafkajs_command(script: str) -> tuple[list[str], dict[str, str]]:
    """What runs a script of ours that needs KafkaJS, and its environment's part."""
    return [program("node"), str(KAFKAJS / script)], with_kafkajs()


def with_kafkajs() -> dict[str, str]:
    return {"NODE_PATH": str(installed(KAFKAJS))}
