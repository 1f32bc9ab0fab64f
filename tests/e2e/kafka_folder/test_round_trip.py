"""The folder of a real Kafka is imported, exported, and imported again; with --long a Kafka 4.2 is
started on the exported folder, too.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from infrastructure.kafka_folder.cluster_image import TOPIC, read_cluster
from infrastructure.kafka_folder.folder import KafkaFolder
from tests.e2e.admin.cli.conftest import Ottla
from tests.e2e.broker_process import BrokerProcess, wait_until
from tests.e2e.kafka_folder.filling import GROUPS, SETTINGS, TOPICS, expected
from tests.e2e.kafka_folder.formatted import formatted
from tests.e2e.kafka_folder.test_import import OPTIONS, import_folder
from tests.fakes.kafka_folder import expected_of, unpacked
from tests.oracle.kafka import (
    JAVA,
    PROPERTIES,
    KafkaNotFound,
    find_jars,
    format_folder,
    started_kafka,
)

PATIENCE_S = 20.0
CLI = Ottla("127.0.0.1:1")
#: The open transaction of the folder has timed out long ago, and is aborted.
ABORTED = "transactions", 1


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpacked(tmp_path_factory.mktemp("original"))


@pytest.fixture(scope="module")
def imported(original: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """The data folder of a broker, and what clients saw."""
    data = tmp_path_factory.mktemp("imported") / "data"
    assert import_folder(original, data).returncode == 0
    end = expected_of(original.parent)["topics"][ABORTED[0]][ABORTED[1]]["high"] + 1
    return data, served(data, end)


def served(data: Path, end_offset: int) -> Any:
    with BrokerProcess(data.parent, "lmdb", OPTIONS) as broker:
        with broker.connect() as client:
            wait_until(lambda: client.end_offset(*ABORTED) == end_offset)
        found = seen(broker.bootstrap)
        assert broker.terminate() == 0
    return found


def seen(bootstrap: str) -> Any:
    listed = AdminClient({"bootstrap.servers": bootstrap}).list_consumer_groups().result(PATIENCE_S)
    types = {one.group_id: one.type.name for one in listed.valid if one.group_id in GROUPS}
    return json.loads(json.dumps(expected(bootstrap) | {"types": types}))


def cluster_of(folder: Path) -> list[Any]:
    """Without what a node has for itself: its topics, leader epochs, ids of ACLs."""
    with KafkaFolder(folder) as opened:
        image = read_cluster(opened)
    ids = {one.topic_id: one.name for one in image.topics.values() if one.name in TOPICS}
    kept = [key for key in image.configs if key[0] != TOPIC or key[1] in TOPICS]
    acls = []
    for one in image.acls.values():
        one.id = b""
        acls.append(repr(one))
    credentials = {key: repr(one) for key, one in image.credentials.items()}
    configs = {key: image.configs[key] for key in kept}
    return [ids, configs, credentials, sorted(acls), image.quotas]


def test_the_folder_comes_back(original: Path, imported: tuple[Path, Any], tmp_path: Path) -> None:
    data, before = imported
    with KafkaFolder(original) as opened:
        cluster_id = opened.cluster_id
    folder = formatted(tmp_path / "kafka", cluster_id)
    CLI.run("export", "kafka", str(folder), "--data", str(data))
    assert cluster_of(folder) == cluster_of(original)
    again = tmp_path / "again" / "data"
    assert import_folder(folder, again).returncode == 0
    assert served(again, before["topics"][ABORTED[0]][ABORTED[1]]["high"]) == before


@pytest.mark.long
def test_kafka_serves_what_came_from_kafka(
    original: Path, imported: tuple[Path, Any], tmp_path: Path
) -> None:
    try:
        java = [*JAVA, "-cp", f"{find_jars()}/*"]
    except KafkaNotFound as missing:
        pytest.skip(str(missing))
    data, before = imported
    with KafkaFolder(original) as opened:
        cluster_id = opened.cluster_id
    folder = tmp_path / "kafka"
    folder.mkdir()
    properties = PROPERTIES + SETTINGS + "offsets.retention.check.interval.ms=2000000000\n"
    port = format_folder(java, folder, properties, cluster_id=cluster_id)
    CLI.run("export", "kafka", str(folder / "data"), "--data", str(data))
    with started_kafka(java, folder, port) as address:
        found = seen(address.bootstrap)
    assert found["groups"] == before["groups"]
    assert found["types"] == before["types"]
    for topic, partitions in before["topics"].items():
        assert found["topics"][topic] == partitions, topic
