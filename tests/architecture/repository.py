"""The tracked files, for the architecture tests."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


@cache
def tracked_files() -> tuple[str, ...]:
    """Files that git tracks, or would track after `git add .`, relative to the root."""
    listed = subprocess.check_output(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, text=True
    )
    return tuple(name for name in listed.split("\0") if name and (ROOT / name).is_file())
