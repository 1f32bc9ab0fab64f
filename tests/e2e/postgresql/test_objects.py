"""A broker over PostgreSQL and a bucket: old records in objects, and what tools say of them."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from urllib.request import urlopen

import pytest

from interfaces.main.__main__ import main
from tests.contract.s3_objects import Objects
from tests.contract.s3_server import running_s3
from tests.e2e.broker_process import PATIENCE_S, BrokerProcess, environment, wait_until
from tests.e2e.conftest import EXTERNAL, new_topic
from tests.e2e.librdkafka import deliver, producer, read_values
from tests.e2e.postgresql.test_doctor import doctor

MB = 1 << 20
#: A table and a half.
VALUES = 400


@pytest.fixture
def objects(monkeypatch: pytest.MonkeyPatch) -> Objects:
    for name, value in running_s3().environment.items():
        monkeypatch.setenv(name, value)
    return Objects(running_s3())


def value_of(number: int) -> bytes:
    return random.Random(number).randbytes(900_000)


def ottla(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main(list(arguments)) == code
    return capsys.readouterr().out


@pytest.mark.long
@pytest.mark.skipif(bool(EXTERNAL), reason="starts a broker of its own")
def test_old_records_are_in_objects(
    tmp_path: Path, url: str, objects: Objects, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = f"{url}{objects.url}&local.bytes=0&delete.delay.ms=0"
    variables = environment() | running_s3().environment | {"OTTLA_STORAGE": stored}
    arguments = ("--admin", "127.0.0.1:0")
    with BrokerProcess(tmp_path / "broker", "default", arguments, variables=variables) as broker:
        topic = new_topic(broker)
        sender = producer(broker.bootstrap, **{"message.max.bytes": MB})
        for at in range(0, VALUES, 50):
            sent = [value_of(number) for number in range(at, at + 50)]
            assert not deliver(sender, topic, *sent).errors
        wait_until(lambda: len(objects.names()) >= 8)
        metrics = urlopen(f"http://{broker.admin.bootstrap}/metrics", timeout=PATIENCE_S).read()
        assert b'ottla_object_requests_total{request="write"}' in metrics
        assert b'ottla_store_batch_bytes{place="objects"}' in metrics
        broker.kill()
        broker.start()
        read = read_values(broker.bootstrap, topic, VALUES)
        digests = [hashlib.sha256(value).digest() for value in read]
        assert digests == [hashlib.sha256(value_of(n)).digest() for n in range(VALUES)]
        assert broker.terminate() == 0
    assert f"objects can be written to {objects.shown}" in doctor(url)
    objects.put(f"{objects.names()[0].partition('/')[0]}/lost", b"x")
    found = json.loads(ottla(capsys, "storage", "verify", url, "-o", "json"))
    notes = [one["what"] for one in found if one["where"] == "objects"]
    assert "lost (1 bytes) is not known to the store" in notes[0]
    assert {one["level"] for one in found} == {"ok", "note"}
    lost = objects.names()[0]
    objects.delete(lost)
    shown = ottla(capsys, "storage", "verify", url, "-o", "json", code=1)
    problems = [one["what"] for one in json.loads(shown) if one["level"] == "problem"]
    assert f"{lost} is missing" in problems
    facts = json.loads(ottla(capsys, "storage", "info", url, "-o", "json"))
    assert facts["objects"] == objects.shown and facts["object_bytes"] > 200 * MB
