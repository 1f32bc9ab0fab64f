"""Runs the programs of docs/examples that use groups.

Those with a first message are run by tests/e2e/test_readme.py.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka import ConsumerGroupState
from confluent_kafka.admin import AdminClient

from tests.e2e.conftest import StartBroker
from tests.e2e.groups.settings import ARGUMENTS
from tests.e2e.groups.stories import commit
from tests.e2e.librdkafka import deliver, producer
from tests.e2e.node_packages import program, with_kafkajs
from tests.e2e.program import Program
from tests.e2e.test_readme import EXAMPLES, written

#: Run by test_readme.py and test_testing_with_ottla.py in tests/e2e, and by
#: tests/e2e/spark/test_readme_snippet.py.
FIRST = (
    "java/OttlaBroker.java",
    "kafkajs/first_message.js",
    "kafkajs/test_with_a_broker.js",
    "python/first_message_aiokafka.py",
    "python/first_message_confluent.py",
    "python/read_with_spark.py",
    "python/test_with_a_broker.py",
)
WITHOUT_A_GROUP = (
    "java/OttlaBroker.java",
    "kafkajs/test_with_a_broker.js",
    "python/read_with_spark.py",
)
#: For each: its topic, and its output for the value "one".
READERS = {
    "python/consumer_group.py": ("letters", "0 0 one"),
    "python/consumer_group_aiokafka.py": ("postcards", "0 0 one"),
    "python/consumer_group_kip_848.py": ("news", "0 0 one"),
    "python/manual_commit.py": ("invoices", "booked one"),
    "kafkajs/manual_commit.js": ("invoices", "booked one"),
}
WORKER, LAG = "python/consumer_group.py", "python/lag_and_reset.py"


@pytest.fixture
def servers(start_broker: StartBroker) -> str:
    return start_broker(*ARGUMENTS, "--set", "num.partitions=2").bootstrap


def command(example: str, folder: Path, servers: str) -> list[str]:
    path = EXAMPLES / example
    runner = sys.executable if path.suffix == ".py" else program("node")
    return [runner, written(path.read_text("utf-8"), folder, path.name, servers)]


def started(example: str, folder: Path, servers: str) -> Program:
    packages = with_kafkajs() if example.endswith(".js") else {}
    return Program(command(example, folder, servers), packages)


def groups_with_members(servers: str) -> list[str]:
    admin = AdminClient({"bootstrap.servers": servers})
    listed = admin.list_consumer_groups().result()
    assert listed.errors == []
    return [one.group_id for one in listed.valid if one.state != ConsumerGroupState.EMPTY]


def lag_and_reset(servers: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    line = [*command(LAG, folder, servers), *arguments]
    return subprocess.run(line, capture_output=True, text=True, timeout=50, check=False)


def test_every_example_has_its_own_group() -> None:
    group_id = re.compile(r"""(?:"group.id": |group_id=|groupId: )["']([^"']+)["']""")
    found = [
        group for path in EXAMPLES.rglob("*.*") for group in group_id.findall(path.read_text())
    ]
    assert len(found) == len(READERS) + len(FIRST) - len(WITHOUT_A_GROUP)
    assert len(found) == len(set(found))


def test_every_example_is_tested() -> None:
    programs = {
        str(path.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("*.*") if path.suffix != ".md"
    }
    assert programs == {*READERS, *FIRST, LAG}


@pytest.mark.parametrize("example", READERS)
def test_a_reader_reads_existing_and_new_records(
    example: str, servers: str, tmp_path: Path
) -> None:
    topic, output = READERS[example]
    deliver(producer(servers), topic, b"one", partition=0)
    with started(example, tmp_path, servers) as reader:
        reader.wait_for(output)
        deliver(producer(servers), topic, b"two", partition=0)
        reader.wait_for(output.replace("one", "two").replace("0 0", "0 1"))
        assert reader.interrupt() == 0, reader.lines
    assert groups_with_members(servers) == []


def test_two_workers_share_a_topic_and_one_takes_over(servers: str, tmp_path: Path) -> None:
    deliver(producer(servers), "letters", b"one", partition=0)
    with (
        started(WORKER, tmp_path, servers) as first,
        started(WORKER, tmp_path, servers) as second,
    ):
        for worker in (first, second):
            worker.wait_until(lambda lines: {"mine: [0]", "mine: [1]"} & set(lines))
        # librdkafka for Python fails when the signal meets the call that assigns partitions.
        for partition in (0, 1):
            deliver(producer(servers), "letters", b"two", partition=partition)
        first.wait_until(lambda lines: any(line.endswith(" two") for line in lines))
        assert first.interrupt() == 0, first.lines
        second.wait_until(lambda lines: lines[-1:] == ["mine: [0, 1]"])


def test_consumer_lag_is_shown_and_reset(servers: str, tmp_path: Path) -> None:
    def lag(*arguments: str) -> str:
        ended = lag_and_reset(servers, tmp_path, "mail-room", *arguments)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    deliver(producer(servers), "letters", b"a", b"b", b"c", partition=0)
    with started(WORKER, tmp_path, servers) as worker:
        worker.wait_for("0 2 c")
        assert worker.interrupt() == 0, worker.lines
    assert lag() == "letters 0 is 0 behind\n"
    deliver(producer(servers), "letters", b"d", partition=0)
    assert lag() == "letters 0 is 1 behind\n"
    assert lag("--reset") == "reset 1 of 1 partitions\n"
    assert lag() == "letters 0 is 4 behind\n"


@pytest.mark.parametrize(
    "example, group", [(WORKER, "mail-room"), ("python/consumer_group_kip_848.py", "news-desk")]
)
def test_resetting_a_group_with_members_is_refused_with_the_reason(
    example: str, group: str, servers: str, tmp_path: Path
) -> None:
    topic = READERS[example][0]
    deliver(producer(servers), topic, b"one", b"two", partition=0)
    commit(servers, group, topic, 1)
    with started(example, tmp_path, servers) as reader:
        reader.wait_for("0 1 two")
        ended = lag_and_reset(servers, tmp_path, group, "--reset")
    assert ended.returncode == 1, ended.stderr
    assert ended.stdout.splitlines() == [
        f"{topic} 0 is not reset: Broker: Unknown member",
        f"{group} has members: stop all its consumers first",
        "reset 0 of 1 partitions",
    ]


def test_a_group_without_commits_is_reported(servers: str, tmp_path: Path) -> None:
    for arguments in ([], ["mail-room", "reset"]):
        ended = lag_and_reset(servers, tmp_path, *arguments)
        assert (ended.returncode, ended.stdout) == (1, "")
        assert ended.stderr == "usage: python lag_and_reset.py GROUP [--reset]\n"
    for arguments in (["nobody"], ["nobody", "--reset"]):
        ended = lag_and_reset(servers, tmp_path, *arguments)
        assert (ended.returncode, ended.stdout) == (1, "")
        assert ended.stderr == "group nobody has no committed offsets\n"
