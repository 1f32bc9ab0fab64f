"""KafkaJS, run by node: its producer and its admin client. Its consumer always needs a group."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.e2e.conftest import CreateTopic, unused_topic_name
from tests.e2e.librdkafka import read, read_values
from tests.e2e.line_process import LineProcess
from tests.e2e.node_packages import kafkajs_command

TIMES_MS = [1_600_000_000_000 + 1000 * n for n in range(4)]
Run = Callable[..., Any]


class KafkaJSError(Exception):
    """What KafkaJS threw; `kinds` are Kafka's names of it and of all it holds."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.kinds = {error["type"], error["name"]} | {e["type"] for e in error["errors"]}


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LineProcess]:
    errors = tmp_path_factory.mktemp("kafkajs") / "stderr"
    command, where = kafkajs_command("stories.js")
    process = LineProcess(command, errors, os.environ | where)
    yield process
    process.close()


@pytest.fixture
def run(node: LineProcess, bootstrap: str) -> Run:
    def run_story(story: str, **arguments: Any) -> Any:
        request = {"story": story, "bootstrap": bootstrap, **arguments}
        response = json.loads(node.request(json.dumps(request)))
        if not response["ok"]:
            raise KafkaJSError(response["error"])
        return response["result"]

    return run_story


@pytest.fixture
def admin(run: Run) -> Run:
    return lambda method, argument=None: run("admin", method=method, argument=argument)


def base64(data: bytes | None) -> str | None:
    return None if data is None else b64encode(data).decode()


def message(value: bytes | None, key: bytes | None = None, **fields: Any) -> dict[str, Any]:
    return {"value": base64(value), "key": base64(key), **fields}


def test_a_sent_message_gets_its_offset(run: Run, bootstrap: str, topic: str) -> None:
    for offset in ("0", "1"):
        (report,) = run("send", topic=topic, messages=[message(b"hello")])
        assert report["topicName"] == topic
        assert (report["partition"], report["errorCode"], report["baseOffset"]) == (0, 0, offset)
    assert read_values(bootstrap, topic, 2) == [b"hello", b"hello"]


@pytest.mark.parametrize("acks", [-1, 0, 1])
def test_a_message_arrives_with_each_acks(run: Run, bootstrap: str, topic: str, acks: int) -> None:
    run("send", topic=topic, acks=acks, messages=[message(b"one"), message(b"two")])
    assert read_values(bootstrap, topic, 2) == [b"one", b"two"]


def test_a_compressed_batch_is_returned_unchanged(
    run: Run, bootstrap: str, create_topic: CreateTopic
) -> None:
    codecs = run("codecs")  # zstd among them where node itself has it
    values: list[bytes | None] = [b"%d " % n * 50 for n in range(100)]
    assert {"gzip", "snappy"} <= set(codecs)
    for codec in codecs:
        topic = create_topic()
        run("send", topic=topic, codec=codec, messages=[message(value) for value in values])
        assert read_values(bootstrap, topic, 100) == values, codec


def test_keys_values_and_headers_can_be_null_or_binary(
    run: Run, bootstrap: str, topic: str
) -> None:
    every_byte = bytes(range(256))
    headers = {"binary": base64(every_byte), "twice": [base64(b"a"), base64(b"b")]}
    full = message(every_byte, every_byte[::-1], headers=headers)
    run("send", topic=topic, messages=[message(None), message(b"", b""), full])
    nothing, hollow, found = read(bootstrap, topic, 3)
    assert (nothing.key(), nothing.value()) == (None, None)
    assert (hollow.key(), hollow.value()) == (b"", b"")
    assert (found.key(), found.value()) == (every_byte[::-1], every_byte)
    assert found.headers() == [("binary", every_byte), ("twice", b"a"), ("twice", b"b")]


def test_one_request_has_batches_for_many_topics(
    run: Run, bootstrap: str, create_topic: CreateTopic
) -> None:
    topics = [create_topic(2), create_topic(2)]
    sent = [
        {"topic": name, "messages": [message(b"%d" % p, partition=p) for p in range(2)]}
        for name in topics
    ]
    reports = run("sendBatch", topicMessages=sent)
    assert len(reports) == 4
    assert not any(report["errorCode"] for report in reports)
    for name in topics:
        for partition in range(2):
            assert read_values(bootstrap, name, 1, partition) == [b"%d" % partition]


@pytest.mark.parametrize("idempotent", [False, True])
def test_concurrent_sends_all_arrive_once(
    run: Run, bootstrap: str, topic: str, idempotent: bool
) -> None:
    settings = {"idempotent": True, "maxInFlightRequests": 1} if idempotent else {}
    reports = run("sendMany", topic=topic, count=200, settings=settings)
    assert sorted(int(report["baseOffset"]) for report in reports) == list(range(200))
    values = read_values(bootstrap, topic, 200)
    assert sorted(int(value or b"") for value in values) == list(range(200))


def test_a_message_over_the_limit_is_refused(run: Run, create_topic: CreateTopic) -> None:
    small = create_topic(max__message__bytes="2000")
    with pytest.raises(KafkaJSError) as refused:
        run("send", topic=small, messages=[message(bytes(3000))], retries=0)
    assert "MESSAGE_TOO_LARGE" in refused.value.kinds


def test_a_large_message_is_accepted(run: Run, bootstrap: str, topic: str) -> None:
    big = os.urandom(1_000_000)
    run("send", topic=topic, messages=[message(big)])
    assert read_values(bootstrap, topic, 1) == [big]


def test_an_unknown_topic_is_created_on_first_use(run: Run, bootstrap: str) -> None:
    name = unused_topic_name()
    run("send", topic=name, messages=[message(b"first")])
    assert read_values(bootstrap, name, 1) == [b"first"]


def test_an_unknown_topic_is_refused_without_auto_creation(run: Run) -> None:
    with pytest.raises(KafkaJSError) as refused:
        run(
            "send",
            topic=unused_topic_name(),
            messages=[message(b"lost")],
            settings={"allowAutoTopicCreation": False},
            retries=0,
        )
    assert "UNKNOWN_TOPIC_OR_PARTITION" in refused.value.kinds


def test_a_topic_is_created_listed_and_deleted(admin: Run) -> None:
    name = unused_topic_name()
    configs = [{"name": "retention.ms", "value": "60000"}]
    new = {"topic": name, "numPartitions": 3, "configEntries": configs}
    assert admin("createTopics", {"topics": [new], "waitForLeaders": True}) is True
    assert name in admin("listTopics")
    assert admin("deleteTopics", {"topics": [name]}) is None
    assert name not in admin("listTopics")


def test_an_existing_topic_is_not_created_again(admin: Run, topic: str) -> None:
    assert admin("createTopics", {"topics": [{"topic": topic}]}) is False


def test_metadata_has_partitions_and_leaders(admin: Run, create_topic: CreateTopic) -> None:
    name = create_topic(3)
    (found,) = admin("fetchTopicMetadata", {"topics": [name]})["topics"]
    assert found["name"] == name
    assert sorted(p["partitionId"] for p in found["partitions"]) == [0, 1, 2]
    for partition in found["partitions"]:
        assert partition["replicas"] == partition["isr"] == [partition["leader"]]


def test_start_and_end_offsets_are_listed(run: Run, admin: Run, create_topic: CreateTopic) -> None:
    name = create_topic(2)
    run("send", topic=name, messages=[message(b"x", partition=1)] * 5)
    found = {o["partition"]: (o["low"], o["high"]) for o in admin("fetchTopicOffsets", name)}
    assert found == {0: ("0", "0"), 1: ("0", "5")}


def test_records_are_deleted_up_to_an_offset(run: Run, topic: str) -> None:
    run("send", topic=topic, messages=[message(b"x", partition=0)] * 5)
    for offset, low in [("3", "3"), ("-1", "5")]:
        partitions = [{"partition": 0, "offset": offset}]
        (found,) = run("deleteRecords", topic=topic, partitions=partitions)
        assert (found["low"], found["high"]) == (low, "5")


def test_offsets_are_found_by_time(run: Run, topic: str) -> None:
    for stamp in TIMES_MS:
        run("send", topic=topic, messages=[message(b"x", timestamp=stamp)])
    for stamp, offset in [(0, "0"), (TIMES_MS[1] + 1, "2"), (TIMES_MS[3], "3")]:
        (found,) = run("offsetsByTime", topic=topic, timestamp=stamp)
        assert (stamp, found["offset"]) == (stamp, offset)


@pytest.mark.parametrize("codec", ["gzip", "snappy"])
def test_offsets_are_found_by_time_inside_a_compressed_batch(
    run: Run, topic: str, codec: str
) -> None:
    messages = [message(b"x" * 100, timestamp=stamp) for stamp in TIMES_MS]
    run("send", topic=topic, codec=codec, messages=messages)
    (found,) = run("offsetsByTime", topic=topic, timestamp=TIMES_MS[2])
    assert found["offset"] == "2"


def test_partitions_are_added(admin: Run, topic: str) -> None:
    admin("createPartitions", {"topicPartitions": [{"topic": topic, "count": 4}]})
    (found,) = admin("fetchTopicMetadata", {"topics": [topic]})["topics"]
    assert len(found["partitions"]) == 4


def test_the_cluster_is_described(admin: Run, bootstrap: str) -> None:
    cluster = admin("describeCluster")
    addresses = {f"{node['host']}:{node['port']}" for node in cluster["brokers"]}
    assert addresses == set(bootstrap.split(","))
    assert cluster["controller"] in {node["nodeId"] for node in cluster["brokers"]}
    assert len(cluster["clusterId"]) == 22
