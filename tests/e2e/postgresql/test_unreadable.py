"""`ottla consume` of records whose object is missing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.contract.s3_objects import Objects
from tests.contract.s3_server import running_s3
from tests.e2e.admin.cli.conftest import Ottla
from tests.e2e.broker_process import BrokerProcess, environment
from tests.e2e.conftest import EXTERNAL, new_topic
from tests.e2e.librdkafka import deliver, producer

pytestmark = pytest.mark.skipif(bool(EXTERNAL), reason="starts a broker of its own")

_LINE = "ottla: topic {} partition 0: offset 1 cannot be read: Disk error when trying to access log"


class Unreadable(NamedTuple):
    """Three records, each in an object of its own; that of the second is missing."""

    ottla: Ottla
    topic: str
    objects: Objects
    lost: str
    data: bytes

    @property
    def line(self) -> str:
        return _LINE.format(self.topic)


@pytest.fixture
def unreadable(tmp_path: Path, url: str) -> Iterator[Unreadable]:
    objects = Objects(running_s3())
    stored = f"{url}{objects.url}&commit.to=objects"
    variables = environment() | running_s3().environment | {"OTTLA_STORAGE": stored}
    with BrokerProcess(tmp_path / "broker", "default", variables=variables) as broker:
        topic = new_topic(broker)
        written: list[str] = []
        for _ in range(3):
            assert not deliver(producer(broker.bootstrap), topic, os.urandom(100_000)).errors
            written += set(objects.names()) - set(written)
        assert len(written) == 3
        assert broker.terminate() == 0
        data = objects.data(written[1])
        objects.delete(written[1])
        broker.start()
        yield Unreadable(Ottla(broker.bootstrap), topic, objects, written[1], data)


@pytest.mark.long
def test_what_cannot_be_read_is_named_and_ends_after_the_timeout(unreadable: Unreadable) -> None:
    consume = ("consume", unreadable.topic, "-f", "%o\\n")
    done = unreadable.ottla.run(*consume, "-g", "readers", "--timeout", "4", code=1)
    assert done.out == "0\n"
    waits, ends = done.errors.splitlines()
    assert ends.startswith(unreadable.line) and ends.endswith("(KAFKA_STORAGE_ERROR)")
    assert waits == f"{ends} (still waiting)"
    # Long enough for a machine that is busy.
    done = unreadable.ottla.run(*consume, "--idle", "6", code=1)
    assert (done.out, done.errors.splitlines()[-1]) == ("0\n", ends)


@pytest.mark.long
def test_a_consumer_goes_on_when_the_object_is_back(unreadable: Unreadable) -> None:
    consume = ("consume", unreadable.topic, "-f", "%o\\n", "-n", "3", "--timeout", "60")
    with unreadable.ottla.start(*consume) as process:
        assert process.stderr is not None and process.stdout is not None
        assert process.stderr.readline().decode().startswith(unreadable.line)
        unreadable.objects.put(unreadable.lost, unreadable.data)
        assert process.stdout.read() == b"0\n1\n2\n"
        assert process.wait() == 0
