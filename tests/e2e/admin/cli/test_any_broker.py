"""The same commands against Apache Kafka."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaException, Producer

from tests.e2e.admin.cli.conftest import Ottla
from tests.oracle.kafka import KafkaNotFound, find_jars, running_kafka

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ottla]:
    try:
        jars = find_jars()
    except KafkaNotFound as reason:
        pytest.skip(str(reason))
    with running_kafka(jars, tmp_path_factory.mktemp("kafka")) as address:
        yield Ottla(address.bootstrap)


def test_topics_and_their_configs(kafka: Ottla, name: str) -> None:
    kafka.run("topic", "create", name, "-p", "2", "-c", "retention.ms=5000")
    assert kafka.run("topic", "list", f"^{name}$").rows == [[name, "2", "1"]]
    assert not kafka.run("topic", "config", "set", name, "retention.ms=7000").errors
    [row] = json.loads(kafka.run("topic", "config", "get", name, "retention.ms", "-o", "json").out)
    assert (row["value"], row["source"], row["effect"]) == ("7000", "topic", "yes")
    kafka.run("topic", "config", "unset", name, "retention.ms")
    [described] = json.loads(kafka.run("topic", "describe", name, "-o", "json").out)
    assert "retention.ms" not in described["configs"]
    assert "already exists" in kafka.run("topic", "create", name, code=1).errors
    kafka.run("topic", "add-partitions", name, "-n", "1")
    assert kafka.run("topic", "list", f"^{name}$", "-d").rows == [[name, "3", "1", "0", "0"]]
    assert len(kafka.run("cluster", "logdirs", name).rows) == 3
    kafka.run("topic", "delete", name)


def test_records_offsets_and_deleted_records(kafka: Ottla, name: str) -> None:
    kafka.run("topic", "create", name)
    stamped = "".join(f"{1_700_000_000_000 + n * 1000} {n}\n" for n in range(10)).encode()
    kafka.run("produce", "-t", name, "-f", r"%T %v\n", "-z", "lz4", stdin=stamped)
    assert kafka.run("consume", name, "-o", "@1700000007000", "-e").lines == ["7", "8", "9"]
    assert kafka.run("consume", name, "-o", "-3:9", "-e").lines == ["7", "8"]
    kafka.run("topic", "trim", name, "-o", "+4")
    assert kafka.run("offsets", name).rows == [[name, "0", "4", "10"]]
    kafka.run("topic", "clone", name, f"{name}-2")
    copied = kafka.run("consume", f"{name}-2", "-e", "-o", "json", "--where", "$ >= 8")
    kafka.run("produce", name, "--json-lines", stdin=copied.raw)
    assert kafka.run("consume", name, "-e", "-f", r"%T %v\n").lines[-2:] == [
        "1700000008000 8",
        "1700000009000 9",
    ]


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_groups(kafka: Ottla, name: str, protocol: str, tmp_path: Path) -> None:
    kafka.run("topic", "create", name)
    kafka.run("produce", "-t", name, stdin=b"0\n1\n2\n3\n")
    chosen = ("-X", f"group.protocol={protocol}", "--timeout", "20")
    assert kafka.run("consume", name, "-g", name, "-n", "2", *chosen).lines == ["0", "1"]
    assert kafka.run("group", "describe", name).rows == [
        [name, name, "0", "2", "4", "2", "-", "-", "-"]
    ]
    assert [name, protocol.capitalize(), "Empty"] in kafka.run("group", "list").rows
    assert kafka.run("group", "seek", name, "--to", "+1").rows == [[name, name, "0", "3", "2"]]
    exported = kafka.run("group", "describe", name, "--export")
    assert exported.lines == [f"{name},0,3"]
    file = tmp_path / "offsets.csv"
    file.write_bytes(exported.raw)
    assert kafka.run("group", "seek", name, "--from-file", str(file)).rows[0][3:] == ["3", "3"]
    assert len(kafka.run("group", "offset-delete", name, "-t", name).lines) == 1


def test_transactions(kafka: Ottla, name: str) -> None:
    kafka.run("topic", "create", name)
    config = {"bootstrap.servers": kafka.bootstrap, "transactional.id": name, "log_level": 0}
    for _ in range(2):
        producer = Producer(config)
        producer.init_transactions(60)
        producer.begin_transaction()
        producer.produce(name, b"1", partition=0)
        producer.flush()
        [row] = kafka.run("txn", "list", name, "--duration-filter", "1ms").rows
        assert row[3] == "Ongoing"
        [described] = json.loads(kafka.run("txn", "describe", name, "-o", "json").out)
        assert described["topic_partitions"] == [f"{name}-0"]
        assert not kafka.run("txn", "find-hanging", "--max-transaction-timeout", "1ms").rows
        kafka.run("txn", "abort", name)
        with pytest.raises(KafkaException):
            producer.commit_transaction(60)
    shown = json.loads(kafka.run("txn", "describe-producers", name, "0", "-o", "json").out)
    assert [one["current_transaction_start_offset"] for one in shown] == [None]
    assert "does not exist" in kafka.run("txn", "abort", f"{name}-2", code=1).errors


def test_a_transaction_of_a_partition(kafka: Ottla, name: str) -> None:
    kafka.run("topic", "create", name)
    config = {"bootstrap.servers": kafka.bootstrap, "transactional.id": name, "log_level": 0}
    producer = Producer(config)
    producer.init_transactions(60)
    producer.begin_transaction()
    producer.produce(name, b"1", partition=0)
    producer.flush()
    kafka.run("txn", "abort", "-t", name, "-p", "0", "--start-offset", "0")
    shown = json.loads(kafka.run("txn", "describe-producers", name, "0", "-o", "json").out)
    assert [one["current_transaction_start_offset"] for one in shown] == [None]


def test_configs_of_a_broker(kafka: Ottla) -> None:
    [setting] = kafka.run("broker", "config", "set", "log.cleaner.threads=2").lines
    assert setting.endswith(": log.cleaner.threads=2")
    assert kafka.run("broker", "config", "get", "log.cleaner.threads").rows == [
        ["log.cleaner.threads", "2", "broker"]
    ]
    kafka.run("broker", "config", "unset", "log.cleaner.threads")


def test_health_doctor_and_perf(kafka: Ottla, name: str) -> None:
    kafka.run("topic", "create", name)
    assert kafka.run("cluster", "health", "-w", "-e").lines[-1] == "HEALTHY  yes"
    assert all(line.startswith("ok ") for line in kafka.run("doctor").lines)
    kafka.run("perf", "produce", name, "-n", "1000")
    assert ", 1000, " in kafka.run("perf", "consume", name, "-n", "1000").lines[1]
    assert len(kafka.run("perf", "e2e", name, "-n", "10").lines) == 3
