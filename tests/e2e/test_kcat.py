"""kcat, as people type it."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from tests.e2e.conftest import CreateTopic
from tests.e2e.librdkafka import deliver, producer, read, read_values

pytestmark = pytest.mark.skipif(shutil.which("kcat") is None, reason="no kcat on this machine")


def kcat(bootstrap: str, *arguments: str, stdin: bytes = b"") -> bytes:
    done = subprocess.run(
        ["kcat", "-b", bootstrap, *arguments], input=stdin, capture_output=True, timeout=60
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def test_kcat_lists_brokers_topics_and_partitions(
    bootstrap: str, create_topic: CreateTopic
) -> None:
    name = create_topic(2)
    listed = json.loads(kcat(bootstrap, "-L", "-J", "-t", name))
    assert {broker["name"] for broker in listed["brokers"]} == set(bootstrap.split(","))
    (topic,) = listed["topics"]
    assert [p["partition"] for p in topic["partitions"]] == [0, 1]
    assert f'topic "{name}" with 2 partitions' in kcat(bootstrap, "-L", "-t", name).decode()


def test_lines_become_messages(bootstrap: str, topic: str) -> None:
    kcat(bootstrap, "-P", "-t", topic, "-p", "0", stdin=b"one\ntwo\nthree\n")
    assert read_values(bootstrap, topic, 3) == [b"one", b"two", b"three"]


def test_keys_headers_and_null_values_are_produced(bootstrap: str, topic: str) -> None:
    marks = ("-K", ":", "-Z", "-H", "origin=kcat")
    kcat(bootstrap, "-P", "-t", topic, "-p", "0", *marks, stdin=b"key:value\ngone:\n")
    full, tombstone = read(bootstrap, topic, 2)
    assert (full.key(), full.value(), full.headers()) == (b"key", b"value", [("origin", b"kcat")])
    assert (tombstone.key(), tombstone.value()) == (b"gone", None)


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_compressed_messages_can_be_read_again(bootstrap: str, topic: str, codec: str) -> None:
    lines = b"".join(b"line %d\n" % n for n in range(500))
    kcat(bootstrap, "-P", "-t", topic, "-p", "0", "-z", codec, stdin=lines)
    assert kcat(bootstrap, "-C", "-t", topic, "-p", "0", "-e", "-q") == lines


def test_kcat_reads_from_an_offset_to_the_end(bootstrap: str, topic: str) -> None:
    deliver(producer(bootstrap), topic, *[b"%d" % n for n in range(10)])
    where = ("-C", "-t", topic, "-p", "0", "-e", "-q")
    assert kcat(bootstrap, *where, "-o", "7") == b"7\n8\n9\n"
    assert kcat(bootstrap, *where, "-o", "-2") == b"8\n9\n"
    assert kcat(bootstrap, *where, "-o", "beginning", "-c", "1") == b"0\n"


def test_kcat_reads_from_a_timestamp(bootstrap: str, topic: str) -> None:
    sender = producer(bootstrap)
    for number in range(4):
        deliver(sender, topic, b"%d" % number, timestamp=1_600_000_000_000 + 1000 * number)
    since = ("-o", "s@1600000001500", "-e", "-q")
    assert kcat(bootstrap, "-C", "-t", topic, "-p", "0", *since) == b"2\n3\n"


def test_kcat_prints_a_message_as_json(bootstrap: str, topic: str) -> None:
    deliver(producer(bootstrap), topic, b"value", key=b"key", headers=[("h", b"1")])
    line = kcat(bootstrap, "-C", "-t", topic, "-p", "0", "-J", "-e", "-q")
    message = json.loads(line)
    assert (message["topic"], message["partition"], message["offset"]) == (topic, 0, 0)
    assert (message["key"], message["payload"], message["headers"]) == ("key", "value", ["h", "1"])


def test_kcat_finds_an_offset_for_a_timestamp(bootstrap: str, topic: str) -> None:
    deliver(producer(bootstrap), topic, b"x", timestamp=1_600_000_000_000)
    found = kcat(bootstrap, "-Q", "-t", f"{topic}:0:1500000000000").decode()
    assert f"{topic} [0] offset 0" in found
