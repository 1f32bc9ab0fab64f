"""`ottla requests` over the REST side of a broker."""

from __future__ import annotations

import json

from tests.e2e.admin.cli.conftest import PATIENCE_S, Ottla
from tests.e2e.broker_process import BrokerProcess


def test_requests_are_found_and_followed(admin_broker: BrokerProcess, name: str) -> None:
    ottla = Ottla(admin_broker.bootstrap)
    for client, code in ((f"{name}-1", 0), (f"{name}-2", 1)):
        ottla.run("topic", "create", name, "-X", f"client.id={client}", code=code)

    api = ("--api", "CreateTopics")
    [created] = ottla.run("requests", "--client-id", f"{name}-1", *api).rows
    assert (created[1], created[4], created[6:]) == (f"{name}-1", "CreateTopics", ["0", name, "-"])
    failed = ("--errors", "--client-id", f"{name}-2", "-n", "1", "-o", "json")
    where = ("--admin", admin_broker.admin.bootstrap)
    shown = json.loads(ottla.run("requests", *where, *failed).out)
    assert (shown["client_id"], shown["errors"]) == (f"{name}-2", ["TOPIC_ALREADY_EXISTS"])
    # Other connections of the client have requests with the same number.
    number = ("--correlation-id", created[3], "--client-id", f"{name}-1", *api)
    assert ottla.run("requests", *where, *number).rows == [created]

    third = ("--client-id", f"{name}-3")
    with ottla.start("requests", *where, "-f", *third, "-o", "json") as following:
        assert following.stdout is not None
        ottla.run("topic", "list", "-X", f"client.id={name}-3")
        assert json.loads(following.stdout.readline())["client_id"] == f"{name}-3"
        following.terminate()
        _, errors = following.communicate(timeout=PATIENCE_S)
    assert (following.returncode, errors) == (130, b"")


def test_another_server_ends_the_command(admin_broker: BrokerProcess) -> None:
    ottla = Ottla(admin_broker.bootstrap)
    for wrong in (admin_broker.bootstrap, "127.0.0.1:1", f"{admin_broker.admin.bootstrap}/nowhere"):
        done = ottla.run("requests", "--admin", wrong, code=1)
        assert (wrong.partition("/")[0] in done.errors, done.errors.count("\n")) == (True, 1)
    done = ottla.run("requests", "-b", admin_broker.admin.bootstrap, code=1)
    assert (admin_broker.admin.bootstrap in done.errors, done.errors.count("\n")) == (True, 1)
