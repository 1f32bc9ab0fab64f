"""Spark's own Kafka connector: four jars out of Maven packages, copied once to the tests' cache.

One by one: the connector's POM also requires packages that Spark has already.
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
    """The reason why this machine cannot have the connector."""


def connector_jars() -> list[Path]:
    """For the setting `spark.jars` of a new JVM."""
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
    output = ""
    for _ in range(_ATTEMPTS):
        try:
            subprocess.run(
                [mvn, "-B", "-q", *goal],
                check=True,
                capture_output=True,
                text=True,
                timeout=_PATIENCE_S,
            )
            return
        except subprocess.CalledProcessError as failed:
            output = f"{failed.stdout}{failed.stderr}".strip()[-500:]
        except subprocess.TimeoutExpired:
            output = f"no end within {_PATIENCE_S} s"
    raise ConnectorNotFound(f"{package} cannot be fetched: {output}")
