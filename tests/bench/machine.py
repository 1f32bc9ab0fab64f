"""What the figures were measured with: machine, versions, revision."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PACKAGES = ("uvloop", "lmdb", "crc32c", "confluent-kafka")
_TOOLS = {"java": ["java", "-version"], "go": ["go", "version"]}


def describe() -> dict[str, object]:
    return {
        "cpus": os.cpu_count(),
        "cpu": _field("/proc/cpuinfo", "model name"),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
        "system": f"{platform.system()} {platform.release()}",
        "python": sys.version.split()[0],
        **{name: _version(name) for name in _PACKAGES},
        **{name: _first_line(command) for name, command in _TOOLS.items()},
    }


def revision() -> str:
    return _first_line(["git", "describe", "--always", "--dirty"])


def busy() -> list[float]:
    """The load before the run: what else the machine did."""
    return [round(one, 2) for one in os.getloadavg()]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


def _first_line(command: list[str]) -> str:
    if shutil.which(command[0]) is None:
        return "none"
    done = subprocess.run(command, capture_output=True, text=True)
    lines = (done.stdout + done.stderr).strip().splitlines()
    return lines[0] if lines else "none"


def _field(file: str, name: str) -> str:
    for line in Path(file).read_text().splitlines():
        if line.startswith(name):
            return line.partition(":")[2].strip()
    return "unknown"
