from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest

from interfaces.cli.client import Clients
from interfaces.cli.consume import existing_topics
from tests.e2e.admin.cli.conftest import PATIENCE_S, Ottla, create_filled
from tests.e2e.broker_process import BrokerProcess
from tests.e2e.conftest import unused_topic_name


@pytest.fixture(scope="module")
def filled(cli_broker: BrokerProcess) -> str:
    """Ten records in one partition, a second apart from 2023-11-14T22:13:20Z; for reading only."""
    ottla, name = Ottla(cli_broker.bootstrap), unused_topic_name()
    ottla.run("topic", "create", name)
    records = "".join(f"{1_700_000_000_000 + n * 1000} k{n} v{n}\n" for n in range(10))
    ottla.run("produce", "-t", name, "-f", r"%T %k %v\n", stdin=records.encode())
    return name


def test_each_line_is_a_record(ottla: Ottla, name: str) -> None:
    produced = ottla.run("produce", "-t", name, stdin="grüße\n\nlast".encode())
    assert f"{name}-0 @ 0-2" in produced.errors
    assert ottla.run("consume", name, "-e").lines == ["grüße", "", "last"]


def test_records_have_keys_headers_timestamps_and_tombstones(ottla: Ottla, name: str) -> None:
    ottla.run("topic", "create", name, "-p", "2")
    options = ("-p", "1", "-H", "h=1", "-H", "h=2", "-T", "@2023-11-14T22:13:20Z", "-Z")
    ottla.run("produce", "-t", name, "-K", ":", *options, stdin=b"a:b:c\nno key\ngone:\n")
    consumed = ottla.run("consume", name, "-e", "-f", r"%p %o %k=%v %h %T %K %S\n")
    assert consumed.lines == [
        "1 0 a=b:c h=1,h=2 1700000000000 1 3",
        "1 1 =no key h=1,h=2 1700000000000 -1 6",
        "1 2 gone= h=1,h=2 1700000000000 4 -1",
    ]
    for json_option in ("--output", "-f", "-o"):
        last = json.loads(ottla.run("consume", name, "-o", "2", "-n", "1", json_option, "json").out)
        assert (last["key"], last["value"], last["offset"]) == ("gone", None, 2)
        assert last["headers"] == [{"name": "h", "value": "1"}, {"name": "h", "value": "2"}]


def test_json_lines_are_produced_as_they_were_consumed(ottla: Ottla, name: str) -> None:
    lines = [
        {
            "topic": name,
            "partition": 2,
            "timestamp": 1_700_000_000_000,
            "key": None,
            "value_base64": "/wA=",
            "headers": [{"name": "h", "value": None}, {"name": "h", "value_base64": "/w=="}],
        },
        {"topic": name, "partition": 0, "key": "k", "value": None, "timestamp": 5, "headers": []},
    ]
    ottla.run("topic", "create", name, "-p", "3")
    given = "\n".join(map(json.dumps, lines)).encode()
    ottla.run("produce", "--json-lines", "--keep-partitions", stdin=given)
    consumed = ottla.run("consume", name, "-e", "-o", "json")
    shown = [json.loads(line) for line in consumed.lines]
    assert sorted(shown, key=str) == sorted((one | {"offset": 0} for one in lines), key=str)
    large = json.dumps(lines[1] | {"partition": 1 << 40}).encode()
    ottla.run("produce", "--json-lines", "--keep-partitions", stdin=large, code=2)
    copy = f"{name}-2"
    ottla.run("topic", "create", copy)
    ottla.run("produce", copy, "--json-lines", "-H", "new=1", stdin=consumed.raw)
    every = ottla.run("consume", copy, "-e", "-f", r"%p %T %k %S %H\n").lines
    assert sorted(every) == ["0 1700000000000  2 3", "0 5 k -1 1"]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (("--grep", "^v[13]$"), ["v1", "v3"]),
        (("--grep", "k7"), ["v7"]),
        (("--grep", "v", "--grep", "[89]", "-n", "1"), ["v8"]),
        (("--where", "$.total > 10"), []),
    ],
)
def test_only_matching_records_are_printed(
    ottla: Ottla, filled: str, condition: tuple[str, ...], expected: list[str]
) -> None:
    assert ottla.run("consume", filled, "-e", *condition).lines == expected


def test_records_are_found_by_a_field_of_their_json(
    cli_broker: BrokerProcess, ottla: Ottla, name: str
) -> None:
    create_filled(cli_broker, name, [b'{"total": 9}', b'{"total": 11}', b"plain"])
    assert ottla.run("consume", name, "-e", "--where", "$.total > 10").lines == ['{"total": 11}']


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_a_file_is_one_record(ottla: Ottla, name: str, tmp_path: Path, codec: str) -> None:
    content = bytes(range(256)) * 40
    file = tmp_path / "content"
    file.write_bytes(content)
    ottla.run("produce", "-t", name, "-k", "file", "-z", codec, str(file), str(file))
    assert ottla.run("consume", name, "-e", "-f", "%v").raw == content * 2


def test_the_first_word_is_the_topic_unless_an_option_names_it(
    ottla: Ottla, name: str, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_text("content")
    ottla.run("produce", name, stdin=b"line\n")
    ottla.run("produce", name, str(file))
    ottla.run("produce", "-t", name, str(file))
    assert ottla.run("consume", name, "-e").lines == ["line", "content", "content"]
    assert f"-t TOPIC {file}" in ottla.run("produce", str(file), code=2).errors


@pytest.mark.parametrize(
    "where, expected",
    [
        (("-o", "+8"), range(8, 10)),
        (("-o", "-3:9"), range(7, 9)),
        (("-o", "@1700000005000"), range(5, 10)),
        (("-o", "@2023-11-14T22:13:21Z:@2023-11-14T22:13:23Z"), range(1, 3)),
        (("-o", "end"), range(0)),
        (("-o", "4", "-n", "2"), range(4, 6)),
    ],
)
def test_records_are_consumed_between_any_positions(
    ottla: Ottla, filled: str, where: tuple[str, ...], expected: range
) -> None:
    assert ottla.run("consume", filled, *where, "-e").lines == [f"v{n}" for n in expected]


def test_several_topics_are_consumed_by_name_and_by_pattern(
    cli_broker: BrokerProcess, ottla: Ottla, name: str
) -> None:
    both = [f"{name}-1", f"{name}-2"]
    for topic in both:
        create_filled(cli_broker, topic, [b"x"])
    for topics in (both, [f"^{name}-[12]$"]):
        assert sorted(ottla.run("consume", *topics, "-n", "2", "-f", r"%t\n").lines) == both
    for topic in (f"^{name}-3", f"{name}-3"):
        assert topic in ottla.run("consume", topic, code=1).errors


def test_consume_waits_for_a_missing_topic(ottla: Ottla, name: str) -> None:
    with ottla.start("consume", name, "--wait", "-n", "1") as process:
        assert process.stderr is not None
        assert name in process.stderr.readline().decode()
        ottla.run("produce", name, stdin=b"first\n")
        out, errors = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out, errors) == (0, b"first\n", b"")
    ottla.run("consume", f"{name}-2", "--wait", "--idle", "0.1", code=1)
    ottla.run("consume", "bad name", "--wait", code=2)


@pytest.mark.long
def test_consume_waits_for_a_topic_also_while_the_broker_is_down(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes: list[str] = []
    with BrokerProcess(tmp_path) as broker:
        options = [("reconnect.backoff.max.ms", "100")]
        parsed = argparse.Namespace(
            bootstrap_server=broker.bootstrap, client_options=options, timeout=1.0, idle=None,
            topics=[name], wait=True, profile=None, command_config=None,
        )  # fmt: skip
        clients = Clients(parsed)
        sleep = time.sleep

        def stop(_: float) -> None:
            monkeypatch.setattr(time, "sleep", sleep)
            broker.kill()

        def start(note: str) -> None:
            notes.append(note)
            if len(notes) == 1:
                return
            broker.start()
            Ottla(broker.bootstrap).run("topic", "create", name)

        monkeypatch.setattr(time, "sleep", stop)
        clients.note = start
        consumer = clients.consumer()
        assert existing_topics(clients, consumer, parsed) == [name]
        consumer.close()
    assert len(notes) == 2


def test_a_group_continues_at_its_committed_offsets(ottla: Ottla, filled: str) -> None:
    for expected in (range(4), range(4, 8), range(8, 10)):
        consumed = ottla.run("consume", filled, "-g", filled, "-e", "-n", "4")
        assert consumed.lines == [f"v{n}" for n in expected]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_a_command_without_a_message(
    ottla: Ottla, filled: str, number: int
) -> None:
    process = ottla.start("consume", filled)
    assert process.stdout is not None
    assert process.stdout.readline() == b"v0\n"
    process.send_signal(number)
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, errors) == (130, b"")


def test_a_broken_pipe_ends_a_command_without_a_message(ottla: Ottla, filled: str) -> None:
    with ottla.start("consume", filled) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"v0\n"
        process.stdout.close()
        assert process.wait(PATIENCE_S) == 141
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_a_typed_line_is_sent_at_once(ottla: Ottla, name: str) -> None:
    ottla.run("topic", "create", name)
    process = ottla.start("produce", "-t", name, stdin=subprocess.PIPE)
    assert process.stdin is not None
    os.write(process.stdin.fileno(), b"first\n")
    assert ottla.run("consume", name, "-n", "1").lines == ["first"]
    process.communicate(b"second\n", timeout=PATIENCE_S)
    assert process.returncode == 0
    assert ottla.run("consume", name, "-e").lines == ["first", "second"]


def test_a_missing_partition_is_named(ottla: Ottla, name: str) -> None:
    ottla.run("topic", "create", name)
    for lines in (b"99 x\n", b"0 x\n" * 50 + b"99 x\n" * 50):
        done = ottla.run("produce", "-q", "-t", name, "-f", r"%p %v\n", stdin=lines, code=1)
        assert done.errors == f"ottla: {name} has no partition 99\n"
    assert ottla.run("consume", name, "-p", "99", "-e", code=1).errors == done.errors


@pytest.mark.parametrize(
    "config, options, why",
    [
        ("max.message.bytes=1000", (), "max.message.bytes=1000"),
        ("cleanup.policy=compact", (), "cleanup.policy=compact"),
        (
            "message.timestamp.before.max.ms=1000",
            ("-T", "@1"),
            "message.timestamp.after.max.ms=3600000, message.timestamp.before.max.ms=1000",
        ),
    ],
)
def test_a_refused_record_is_reported_with_the_config_that_refuses_it(
    ottla: Ottla, name: str, config: str, options: tuple[str, ...], why: str
) -> None:
    ottla.run("topic", "create", name, "-c", config)
    done = ottla.run("produce", "-q", "-t", name, *options, stdin=b"x" * 5000 + b"\n", code=1)
    assert done.errors.endswith(f"; {name} has {why}\n")


@pytest.mark.long
def test_a_topic_that_the_broker_does_not_create_is_named_within_seconds(ottla: Ottla) -> None:
    for waits, words in (("1h", ("produce",)), ("0.5", ("perf", "produce", "-n", "9"))):
        arguments = (*words, "__consumer_offsets", "--timeout", waits)
        assert "does not create it" in ottla.run(*arguments, stdin=b"x\n", code=1).errors


@pytest.mark.long
def test_produce_ends_when_the_disk_of_the_broker_is_full(tmp_path: Path) -> None:
    with BrokerProcess(tmp_path) as broker:
        assert broker.pid is not None
        resource.prlimit(broker.pid, resource.RLIMIT_FSIZE, (300_000, -1))
        large = tmp_path / "large"
        large.write_bytes(bytes(900_000))
        producing = ("produce", "-q", "-t", "x", "--timeout", "0.5", str(large))
        errors = Ottla(broker.bootstrap).run(*producing, code=1).errors
        resource.prlimit(broker.pid, resource.RLIMIT_FSIZE, (-1, -1))
    assert "the log of the broker has the reason" in errors
