"""`ottla serve --secure` on an empty folder: clients use exactly what it printed."""

from __future__ import annotations

import os
import re
import shlex
import ssl
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPSConnection
from pathlib import Path

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tests.e2e.broker_process import BrokerProcess, command, environment
from tests.e2e.groups.kafka_tools import run_tool, started_tools
from tests.e2e.node_packages import program, with_kafkajs


class Secured:
    def __init__(self, broker: BrokerProcess) -> None:
        self.broker = broker
        #: With the port that the system chose.
        self.printed = broker.log().replace("127.0.0.1:0", broker.bootstrap)

    def part(self, title: str) -> str:
        """The lines below a title."""
        found = re.search(rf"^(?:#|//) {title}.*\n((?:.+\n)+)", self.printed, re.MULTILINE)
        assert found is not None, self.printed
        return found[1]

    def librdkafka(self) -> dict[str, str]:
        lines = self.part("librdkafka").splitlines()
        return dict(line.split("=", 1) for line in lines)


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    arguments = ("--secure", "--admin", "127.0.0.1:0")
    with BrokerProcess(tmp_path_factory.mktemp("secure"), arguments=arguments) as broker:
        yield Secured(broker)


def test_librdkafka_and_the_command_line_use_what_was_printed(secured: Secured) -> None:
    assert len(AdminClient(secured.librdkafka()).list_topics(timeout=30).brokers) == 1
    words = shlex.split(secured.part("ottla"))
    assert words[0] == "ottla"
    listed = subprocess.run(
        command(*words[1:]), capture_output=True, text=True, timeout=60, env=environment()
    )
    assert (listed.returncode, listed.stderr) == (0, "")


def test_clients_without_the_password_are_refused(secured: Secured) -> None:
    settings = secured.librdkafka() | {"sasl.password": "wrong"}
    with pytest.raises(KafkaException):
        AdminClient(settings).list_topics(timeout=0.5)


def test_rest_has_the_same_user(secured: Secured) -> None:
    login = f"admin:{secured.librdkafka()['sasl.password']}".encode()
    basic = {"Authorization": f"Basic {b64encode(login).decode()}"}

    def status(headers: dict[str, str]) -> int:
        admin, trusted = secured.broker.admin, secured.librdkafka()["ssl.ca.location"]
        context = ssl.create_default_context(cafile=trusted)
        connection = HTTPSConnection(admin.host, admin.port, timeout=30, context=context)
        with closing(connection):
            connection.request("GET", "/topics", headers=headers)
            return connection.getresponse().status

    assert (status({}), status(basic)) == (401, 200)


def test_commands_that_use_rest_are_the_same_user(secured: Secured) -> None:
    *_, bootstrap, _, config = shlex.split(secured.part("ottla"))
    admin = secured.broker.admin.bootstrap

    def run(*words: str) -> tuple[int, str]:
        done = subprocess.run(
            command(*words), capture_output=True, text=True, timeout=60, env=environment()
        )
        return done.returncode, done.stdout + done.stderr

    code, shown = run("requests", "--admin", admin)
    assert (code, "sasl.username" in shown) == (1, True)
    for where in (("--admin", f"https://{admin}"), ("--admin", admin), ("-b", bootstrap)):
        code, shown = run("requests", *where, "--command-config", config)
        assert (code, shown.startswith("TIME")) == (0, True), shown
    # As the health check of the image does.
    assert run("cluster", "health", "--admin", admin) == (0, "HEALTHY  yes\n")


def test_later_starts_are_secured_with_the_same_password(tmp_path: Path) -> None:
    listeners = ("--listen", "127.0.0.1:0", "--listen", "PLAINTEXT://127.0.0.1:0")
    with BrokerProcess(tmp_path, arguments=("--secure", *listeners)) as broker:
        settings = Secured(broker).librdkafka()
        assert broker.terminate() == 0
        for arguments in (["--secure"], []):
            broker.arguments = arguments
            broker.log_file.unlink()
            broker.start()
            assert "password" not in broker.log()
            assert len(AdminClient(settings).list_topics(timeout=30).brokers) == 1
            assert broker.terminate() == 0


@pytest.mark.long
def test_kafkajs_uses_what_was_printed(secured: Secured) -> None:
    script = f"""
const {{ Kafka }} = require('kafkajs')
const admin = {secured.part("KafkaJS").strip()}.admin()
admin.connect().then(() => admin.describeCluster()).then(found => console.log(found.brokers.length))
  .then(() => admin.disconnect())
"""
    done = subprocess.run(
        [program("node"), "-e", script],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | with_kafkajs(),
    )
    assert (done.stdout, done.returncode) == ("1\n", 0), done.stderr


@pytest.mark.long
def test_kafkas_tools_use_what_was_printed(secured: Secured, tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text(secured.part("Java"))
    config = ("--command-config", str(file))
    tools = started_tools(tmp_path)

    def run(name: str, *words: str) -> str:
        return run_tool(tools, name, secured.broker.bootstrap, *words, *config)

    try:
        ann = ("--entity-type", "users", "--entity-name", "ann")
        scram = "SCRAM-SHA-512=[password=PaSs-of-ann]"
        assert "Completed" in run("kafka-configs", "--alter", *ann, "--add-config", scram)
        quota = "producer_byte_rate=1024"
        assert "Completed" in run("kafka-configs", "--alter", *ann, "--add-config", quota)
        described = run("kafka-configs", "--describe", *ann)
        assert "producer_byte_rate=1024" in described
        assert "SCRAM-SHA-512=iterations=4096" in described
        allowed = ("--allow-principal", "User:ann", "--producer", "--topic", "orders")
        run("kafka-acls", "--add", *allowed)
        listed = run("kafka-acls", "--list", "--topic", "orders")
        assert "principal=User:ann, host=*, operation=WRITE, permissionType=ALLOW" in listed
    finally:
        tools.close()
