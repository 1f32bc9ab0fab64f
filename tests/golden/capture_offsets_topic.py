"""Writes captured.jsonl: what a real Kafka appends to __consumer_offsets, and what its own
formatters print of it.

    python -m tests.golden.capture_offsets_topic [--kafka LIBS]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaError, TopicPartition

from domain.topics.topic import OFFSETS_TOPIC
from interfaces.kafka.wire.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from interfaces.kafka.wire.messages.leave_group import LeaveGroupResponse
from interfaces.kafka.wire.messages.offset_commit import OffsetCommitResponse
from interfaces.kafka.wire.messages.offset_delete import OffsetDeleteResponse
from tests.e2e.broker_process import Address
from tests.oracle.groups import commit, committed, delete_offsets, leave_all, stable
from tests.oracle.kafka import find_jars, running_kafka
from tests.oracle.scenario_run import ScenarioRun
from tests.tool import Arguments

CAPTURED = Path(__file__).parent / "offsets_topic/captured.jsonl"
#: By the version of the key.
FORMATTERS = {1: "OffsetsMessageFormatter", 2: "GroupMetadataMessageFormatter"}


def story(address: Address) -> None:
    """Commits, expiring ones, generations of a dynamic and of a static member, deletions."""
    run = ScenarioRun(address, "golden", "offsets", 0)
    topic = run.topic("a", 3)
    committed(run, "reader", topic, 5, 7)
    committed(run, "reader", topic, 6, metadata="up to here, ä€😀", leader_epoch=3)
    expiring = commit("Grüße", topic, 9, first=2)
    expiring.retention_time_ms = 86_400_000
    run.call(expiring, OffsetCommitResponse, 2)
    run.call(commit("reader", topic, 8, first=2), OffsetCommitResponse, 10)
    dynamic = stable(run, "dynamic", {"range": b"one", "roundrobin": b"two"})
    member = (dynamic.member_id, dynamic.generation)
    committed(run, "dynamic", topic, 3, member=member)
    run.call(leave_all("dynamic", dynamic.member_id), LeaveGroupResponse, 3)
    static = stable(run, "static", group_instance_id="first", rebalance_timeout_ms=7_000)
    run.call(delete_offsets("reader", {topic: [1]}), OffsetDeleteResponse, 0)
    run.call(DeleteGroupsRequest(groups_names=["reader", "dynamic"]), DeleteGroupsResponse, 2)
    run.call(leave_all("static", (static.member_id, "first")), LeaveGroupResponse, 3)
    run.close()


def records(address: Address, topic: str) -> list[tuple[bytes, bytes | None]]:
    """All records of partition 0, in order."""
    consumer = Consumer(
        {
            "bootstrap.servers": f"{address.host}:{address.port}",
            "group.id": "capture",
            "enable.partition.eof": True,
            "enable.auto.commit": False,
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    found: list[tuple[bytes, bytes | None]] = []
    while True:
        message = consumer.poll(10)
        assert message is not None, "no end of the partition"
        if message.error() is not None:
            assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
            consumer.close()
            return found
        found.append((message.key(), message.value()))


def printed(
    address: Address, jars: Path, formatter: str, topic: str = OFFSETS_TOPIC
) -> list[dict[str, Any]]:
    """What one of Kafka's formatters prints of the records of its kind, in order."""
    tool = ["java", "-cp", f"{jars}/*", "org.apache.kafka.tools.consumer.ConsoleConsumer"]
    place = ["--bootstrap-server", f"{address.host}:{address.port}", "--topic", topic]
    named = ["--formatter", f"org.apache.kafka.tools.consumer.{formatter}"]
    command = [*tool, *place, *named, "--from-beginning", "--timeout-ms", "4000"]
    output = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    decode = json.JSONDecoder().raw_decode
    found: list[dict[str, Any]] = []
    at = output.find("{")
    while at >= 0:
        line, end = decode(output, at)
        found.append(line)
        at = output.find("{", end)
    return found


def captured(
    found: Iterable[tuple[bytes, bytes | None]], shown: Mapping[int, Iterator[dict[str, Any]]]
) -> Iterator[str]:
    """A line per record; what is printed of it is the next one of its kind."""
    for key, value in found:
        line = {
            "key": key.hex(),
            "value": None if value is None else value.hex(),
            "printed": next(shown[key[1]]),
        }
        yield json.dumps(line) + "\n"


def main(arguments: list[str]) -> None:
    parser = Arguments(prog="tests.golden.capture_offsets_topic")
    parser.add_argument("--kafka", type=Path, help="a folder with the jars of a Kafka 4.2")
    jars = parser.parse_args(arguments).kafka or find_jars()
    with tempfile.TemporaryDirectory() as folder, running_kafka(jars, Path(folder)) as address:
        story(address)
        found = records(address, OFFSETS_TOPIC)
        shown = {kind: iter(printed(address, jars, name)) for kind, name in FORMATTERS.items()}
    CAPTURED.write_text("".join(captured(found, shown)))


if __name__ == "__main__":
    main(sys.argv[1:])
