"""One Spark session for each test process: a JVM takes ten seconds to start. The stories of Kafka's
protocol run on three brokers, too, with --long.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from tests.e2e.broker_process import BrokerProcess
from tests.e2e.conftest import EXTERNAL, THREE, Broker, alive, new_topic
from tests.e2e.spark.connector import ConnectorNotFound, connector_jars
from tests.e2e.spark.shared_classes import java_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


#: Spark finds no difference between brokers on LMDB and in memory.
BROKERS = ("external",) if EXTERNAL else ("lmdb", pytest.param(THREE, marks=pytest.mark.long))
#: The first test of a session starts the JVM.
PATIENCE_S = 240
os.environ.setdefault("JDK_JAVA_OPTIONS", java_options())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(PATIENCE_S))


@pytest.fixture(scope="session")
def spark(
    tmp_path_factory: pytest.TempPathFactory, connector_found: list[Path] | str
) -> Iterator[SparkSession]:
    pytest.importorskip("pyspark", reason="needs Spark")
    from interfaces.spark.registration import register
    from interfaces.spark.session import open_session

    folder = tmp_path_factory.mktemp("spark")
    settings = [
        ("spark.local.dir", str(folder / "local")),
        ("spark.sql.warehouse.dir", str(folder / "warehouse")),
        ("spark.driver.memory", "1g"),
        ("spark.sql.shuffle.partitions", "2"),
        # Planning each stage again takes longer than stages of a few rows.
        ("spark.sql.adaptive.enabled", "false"),
    ]
    if not isinstance(connector_found, str):  # only when a JVM starts
        settings += [("spark.jars", ",".join(map(str, connector_found)))]
    session = open_session("tests", "local[2]", settings)
    register(session)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def connector_found() -> list[Path] | str:
    """The jars of Spark's own connector, or the reason why there are none."""
    try:
        return connector_jars()
    except ConnectorNotFound as missing:
        return str(missing)


@pytest.fixture(scope="session")
def connector(connector_found: list[Path] | str) -> str:
    """The format of Spark's own connector."""
    if isinstance(connector_found, str):
        pytest.skip(connector_found)
    return "kafka"


@pytest.fixture(params=BROKERS)
def spark_broker(
    request: pytest.FixtureRequest, running_brokers: Callable[[str], Broker]
) -> Broker:
    return alive(running_brokers(request.param))


@pytest.fixture
def lmdb_broker(running_brokers: Callable[[str], Broker]) -> BrokerProcess:
    """For stories that read its folder, too."""
    broker = alive(running_brokers("lmdb"))
    if not isinstance(broker, BrokerProcess):
        pytest.skip("reads the folder of a broker; OTTLA_TEST_BOOTSTRAP names another")
    return broker


@pytest.fixture
def servers(spark_broker: Broker) -> str:
    return spark_broker.bootstrap


@pytest.fixture
def topic(spark_broker: Broker) -> str:
    return new_topic(spark_broker, 2)


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    return str(tmp_path / f"checkpoint-{uuid4().hex[:8]}")
