"""Fetches what clients in other languages need, before any test is timed: `-m tests.e2e.prepare`.

The tests do it themselves where this was not run; what is missing is the reason of a skip.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.e2e import test_java
from tests.e2e.node_packages import AXE, KAFKAJS, installed
from tests.e2e.spark import shared_classes
from tests.e2e.spark.connector import ConnectorNotFound, connector_jars


def main() -> None:
    needed: dict[str, Callable[[], object]] = {
        "KafkaJS": lambda: installed(KAFKAJS),
        "axe-core": lambda: installed(AXE),
        "Spark's own Kafka connector": connector_jars,
        "an archive of Spark's classes": shared_classes.make,
    }
    for version in test_java.VERSIONS:
        needed[f"the Java client {version}"] = lambda version=version: test_java.compiled(version)
    newest = test_java.VERSIONS[0]
    needed["the Java client in groups"] = lambda: test_java.compiled(newest, test_java.MEMBERS)
    needed["Kafka Streams and Connect"] = lambda: test_java.compiled(
        newest, test_java.STREAMS, test_java.APPLICATIONS
    )
    needed["an exactly-once application of Kafka Streams"] = lambda: test_java.compiled(
        newest, test_java.WORD_COUNT, test_java.APPLICATIONS
    )
    for what, fetch in needed.items():
        try:
            fetch()
        except (ConnectorNotFound, pytest.skip.Exception) as missing:
            print(f"test: without {what}: {missing}", flush=True)


if __name__ == "__main__":
    main()
