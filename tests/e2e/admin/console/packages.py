"""What the tests of the console take from npm."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.line_process import cache_folder
from tests.e2e.test_kafkajs import program

FOLDER = Path(__file__).parent / "axe"


def installed_axe() -> Path:
    """The script of axe-core as locked, installed once per version of the lock."""
    lock = (FOLDER / "package-lock.json").read_bytes()
    home = cache_folder() / f"axe-{hashlib.sha256(lock).hexdigest()[:12]}"
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        if not (home / "complete").exists():
            for name in ("package.json", "package-lock.json", ".npmrc"):
                shutil.copy(FOLDER / name, home / name)
            npm = [program("npm"), "ci", "--ignore-scripts", "--loglevel=error"]
            done = subprocess.run(npm, cwd=home, capture_output=True, text=True, timeout=180)
            if done.returncode != 0:
                pytest.skip(f"axe-core cannot be installed: {done.stderr.strip()[-500:]}")
            (home / "complete").touch()
    return home / "node_modules/axe-core/axe.min.js"
