"""Where Apache Kafka's jars come from: a folder, or Maven packages that are copied once."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.oracle.kafka import KafkaNotFound, find_jars

MAVEN = "maven"


class NoKafka(Exception):
    """Kafka's jars are not available; says why."""


def jars(named: str) -> Path:
    try:
        folder = find_jars() if named == MAVEN else Path(named)
    except KafkaNotFound as missing:
        raise NoKafka(str(missing)) from None
    if shutil.which("java") is None:
        raise NoKafka("there is no java on the PATH")
    if not any(folder.glob("kafka_2.13-*.jar")):
        raise NoKafka(f"{folder} holds no kafka_2.13 jar")
    return folder.absolute()


def version(folder: Path) -> str:
    [jar, *_] = folder.glob("kafka_2.13-*.jar")
    return jar.stem.removeprefix("kafka_2.13-")
