"""Spark's own Kafka connector: four jars out of Maven packages, copied once to the tests' cache.

One by one, not through the connector's POM, which asks for what Spark has already.
"""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from pathlib import Path

from tests.e2e.line_process import cache_folder

VERSION = "4.2.0"
_PACKAGES = (
    ("org.apache.spark", "spark-sql-kafka-0-10_2.13", VERSION),
    ("org.apache.spark", "spark-token-provider-kafka-0-10_2.13", "4.0.0"),
    ("org.apache.kafka", "kafka-clients", "3.9.2"),
    ("org.apache.commons", "commons-pool2", "2.13.1"),
)
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
_ATTEMPTS, _PATIENCE_S = 3, 300


class ConnectorNotFound(Exception):
    """Why it cannot be had on this machine."""


def connector_jars() -> list[Path]:
    """For `spark.jars`, which has to be said when the JVM starts."""
    home = cache_folder() / "spark-connector"
    folder = home / VERSION
    jars = [folder / f"{name}-{version}.jar" for _, name, version in _PACKAGES]
    if all(jar.exists() for jar in jars):
        return jars
    mvn = shutil.which("mvn")
    if mvn is None:
        raise ConnectorNotFound("no mvn on this machine, for Spark's own connector")
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        for package, jar in zip(_PACKAGES, jars, strict=True):
            if not jar.exists():
                _copy(mvn, ":".join(package), home / "arriving")
                folder.mkdir(exist_ok=True)
                (home / "arriving" / jar.name).replace(jar)
    return jars


def _copy(mvn: str, package: str, folder: Path) -> None:
    goal = [_COPY, f"-Dartifact={package}", f"-DoutputDirectory={folder}"]
    said = ""
    for _ in range(_ATTEMPTS):
        try:
            done = subprocess.run(
                [mvn, "-B", "-q", *goal], capture_output=True, text=True, timeout=_PATIENCE_S
            )
        except subprocess.TimeoutExpired:
            said = f"no end within {_PATIENCE_S} s"
            continue
        if done.returncode == 0:
            return
        said = (done.stdout + done.stderr).strip()[-500:]
    raise ConnectorNotFound(f"{package} cannot be had: {said}")
