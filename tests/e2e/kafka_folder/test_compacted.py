"""Logs that Kafka has compacted, or cut by retention, under transactions: Ottla continues."""

from __future__ import annotations

import json
import random
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.e2e.broker_process import (
    NOTHING_EXPIRES,
    Address,
    BrokerProcess,
    command,
    environment,
    wait_until,
)
from tests.e2e.kafka_folder.filling import SETTINGS, producer
from tests.e2e.kafka_folder.reading import everything
from tests.e2e.kafka_folder.test_import import import_folder
from tests.oracle.kafka import KafkaNotFound, find_jars, running_kafka

SECONDS = 8.0
_OFTEN = {"segment.ms": "100", "min.cleanable.dirty.ratio": "0.01", "delete.retention.ms": "0"}
TOPICS = {
    "compacts": {"cleanup.policy": "compact", **_OFTEN},
    "both": {"cleanup.policy": "compact,delete", "retention.ms": "2000", **_OFTEN},
    "deletes": {"segment.ms": "100", "retention.ms": "2000"},
}


def load(address: Address) -> None:
    chance = random.Random(39)
    admin = AdminClient({"bootstrap.servers": address.bootstrap})
    new = [NewTopic(name, 1, 1, config=configs) for name, configs in TOPICS.items()]
    for created in admin.create_topics(new).values():
        created.result()
    senders = [producer(address, transactional_id=f"sender-{one}") for one in range(3)]
    for sender in senders:
        sender.init_transactions(30)
    plain = producer(address, enable_idempotence=True)
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        sender = chance.choice(senders)
        sender.begin_transaction()
        for topic in TOPICS:
            for _ in range(chance.randrange(4)):
                value = None if chance.random() < 0.2 else b"v%d" % chance.randrange(1000)
                sender.produce(topic, key=b"k%d" % chance.randrange(8), value=value)
            plain.produce(topic, key=b"p%d" % chance.randrange(5), value=b"x")
        assert sender.flush(30) == plain.flush(30) == 0
        end = sender.abort_transaction if chance.random() < 0.4 else sender.commit_transaction
        end(30)


def newest(partition: dict[str, Any]) -> dict[str, str]:
    """The committed value of each key."""
    committed = set(partition["committed"])
    values = {one[3]: one[4] for one in partition["records"] if one[0] in committed}
    return {key: value for key, value in values.items() if value is not None}


@pytest.mark.long
def test_what_kafka_has_compacted_is_read_and_compacted_further(tmp_path: Path) -> None:
    try:
        jars = find_jars()
    except KafkaNotFound as reason:
        pytest.skip(str(reason))
    kafka = tmp_path / "kafka"
    kafka.mkdir()
    with running_kafka(jars, kafka, SETTINGS + "log.cleaner.backoff.ms=100\n") as address:
        load(address)
        time.sleep(4)  # retention and the cleaner come to rest
        expected = everything(address.bootstrap, dict.fromkeys(TOPICS, 1))
    compacted = expected["compacts"][0]
    assert len(compacted["records"]) < compacted["high"] / 5
    assert expected["deletes"][0]["low"] > 0
    assert import_folder(kafka / "data", tmp_path / "ottla" / "data").returncode == 0
    verify = command("storage", "verify", str(tmp_path / "ottla" / "data"))
    subprocess.run(verify, env=environment(), check=True)
    rarely, often = (("--set", f"log.cleaner.backoff.ms={one}") for one in (3_600_000, 200))
    with BrokerProcess(tmp_path / "ottla", "lmdb", (*NOTHING_EXPIRES, *rarely)) as broker:
        found = everything(broker.bootstrap, dict.fromkeys(TOPICS, 1))
        assert json.loads(json.dumps(found)) == json.loads(json.dumps(expected))
        assert broker.terminate() == 0
    with BrokerProcess(tmp_path / "ottla", "lmdb", (*NOTHING_EXPIRES, *often)) as broker:
        sender = producer(Address(*broker.address))
        for number in range(200):
            at = int(time.time() * 1000) + number * 200
            sender.produce("compacts", key=b"k%d" % (number % 8), value=b"new", timestamp=at)
            sender.flush(30)
        wait_until(lambda: "log_compacted" in broker.log())
        [after] = everything(broker.bootstrap, {"compacts": 1})["compacts"]
        assert newest(after) == newest(compacted) | {f"k{one}": "new" for one in range(8)}
        assert broker.terminate() == 0
    subprocess.run(verify, env=environment(), check=True)
