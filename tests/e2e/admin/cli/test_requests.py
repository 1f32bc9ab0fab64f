"""`ottla requests` over the REST side of a broker."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.e2e.admin.cli.conftest import PATIENCE_S, Ottla
from tests.e2e.broker_process import BrokerProcess


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    admin = ("--admin", "127.0.0.1:0")
    with BrokerProcess(tmp_path_factory.mktemp("requests"), "memory", admin) as broker:
        yield broker


def test_requests_are_found_and_followed(broker: BrokerProcess, name: str) -> None:
    ottla = Ottla(broker.bootstrap)
    where = ("--admin", broker.admin.bootstrap)
    ottla.run("produce", name, "-X", "client.id=first", stdin=b"x\n")
    ottla.run("topic", "create", name, "-X", "client.id=second", code=1)

    [produced] = ottla.run("requests", *where, "--client-id", "first", "--api", "Produce").rows
    assert (produced[1], produced[4], produced[6:]) == ("first", "Produce", [name, "-"])
    failed = ("--errors", "--api", "CreateTopics", "-n", "1", "-o", "json")
    shown = json.loads(ottla.run("requests", *where, *failed).out)
    assert (shown["client_id"], shown["errors"]) == ("second", ["TOPIC_ALREADY_EXISTS"])
    number = ("--correlation-id", produced[3], "--api", "Produce")
    assert ottla.run("requests", *where, *number).rows == [produced]

    with ottla.start("requests", *where, "-f", "--client-id", "third", "-o", "json") as following:
        assert following.stdout is not None
        ottla.run("topic", "list", "-X", "client.id=third")
        assert json.loads(following.stdout.readline())["client_id"] == "third"
        following.terminate()
        _, errors = following.communicate(timeout=PATIENCE_S)
    assert (following.returncode, errors) == (130, b"")


def test_another_server_is_not_asked_for_long(broker: BrokerProcess, ottla: Ottla) -> None:
    for wrong in (broker.bootstrap, "127.0.0.1:1", f"{broker.admin.bootstrap}/nowhere"):
        done = ottla.run("requests", "--admin", wrong, code=1)
        assert (wrong.partition("/")[0] in done.errors, done.errors.count("\n")) == (True, 1)
