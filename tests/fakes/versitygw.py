"""The Versity S3 Gateway, a program in Go that is built once per version."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.line_process import cache_folder

_VERSION = "v1.8.0"
_PACKAGE = "github.com/versity/versitygw/cmd/versitygw"
BUILD_TIMEOUT_S = 900


def versitygw() -> Path:
    """Skips without Go, or if its sources cannot be had."""
    if shutil.which("go") is None:
        pytest.skip("no go on this machine")
    home = cache_folder() / f"versitygw-{_VERSION}"
    home.mkdir(parents=True, exist_ok=True)
    program = home / "versitygw"
    with (home / "lock").open("w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        if not program.exists():
            done = subprocess.run(
                ["go", "install", f"{_PACKAGE}@{_VERSION}"],
                env=os.environ | {"GOBIN": str(home)},
                capture_output=True,
                text=True,
                timeout=BUILD_TIMEOUT_S,
            )
            if done.returncode != 0:
                pytest.skip(f"versitygw cannot be built: {done.stderr.strip()[-500:]}")
    return program
