"""OttlaContainer, with a class of testcontainers whose containers are processes without Docker."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Self
from urllib.request import urlopen

import pytest

from tests.e2e.broker_process import BrokerProcess, environment
from tests.e2e.conftest import EXTERNAL
from tests.e2e.librdkafka import PATIENCE_S, admin, deliver, producer, read_values

pytestmark = pytest.mark.skipif(bool(EXTERNAL), reason="OTTLA_TEST_BOOTSTRAP names another broker")

MODULE = "interfaces.embed.testcontainers"


def container_class(folder: Path) -> type:
    """testcontainers.core.container.DockerContainer; mapped ports are those of the process."""

    class DockerContainer:
        host = "127.0.0.1"

        def __init__(self, image: str) -> None:
            self.image = image
            # Of the Containerfile.
            self.env = {"KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://localhost:9092"}
            self.exposed: tuple[int, ...] = ()

        def with_env(self, name: str, value: str) -> Self:
            self.env[name] = value
            return self

        def with_exposed_ports(self, *ports: int) -> Self:
            self.exposed = ports
            return self

        def start(self) -> Self:
            listeners = self.env["KAFKA_LISTENERS"].split(",")
            self.ports = [int(one.rpartition(":")[2]) for one in listeners]
            listen = [f"{one.partition('://')[0]}://127.0.0.1:0" for one in listeners]
            options = [word for one in listen for word in ("--listen", one)]
            self.process = BrokerProcess(
                folder,
                "memory",
                [*options, "--admin", "127.0.0.1:0"],
                variables=environment() | self.env,
            )
            self.process.start()
            return self

        def get_container_host_ip(self) -> str:
            return self.host

        def get_exposed_port(self, port: int) -> int:
            assert port in self.exposed
            if port == 8082:
                return self.process.admin.port
            found: int = self.process.ready["listeners"][self.ports.index(port)]["port"]
            return found

        def __enter__(self) -> Self:
            return self.start()

        def __exit__(self, *_: object) -> None:
            self.process.kill()

    return DockerContainer


@pytest.fixture
def containers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("testcontainers", "testcontainers.core", "testcontainers.core.container"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    edge = sys.modules["testcontainers.core.container"]
    monkeypatch.setattr(edge, "DockerContainer", container_class(tmp_path), raising=False)
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    yield import_module(MODULE)
    sys.modules.pop(MODULE, None)


def address_in_metadata(bootstrap: str) -> str:
    [broker] = admin(bootstrap).list_topics(timeout=PATIENCE_S).brokers.values()
    return f"{broker.host}:{broker.port}"


def test_clients_on_the_host_are_directed_to_the_mapped_port(containers: Any) -> None:
    with containers.OttlaContainer() as ottla:
        bootstrap = ottla.get_bootstrap_server()
        assert address_in_metadata(bootstrap) == bootstrap
        deliver(producer(bootstrap), "visits", b"hello")
        assert read_values(bootstrap, "visits", 1) == [b"hello"]
        with urlopen(f"{ottla.get_admin_url()}/topics", timeout=PATIENCE_S) as response:
            assert [one["topic_name"] for one in json.load(response)["data"]] == ["visits"]
        inside = ottla.process.ready["listeners"][1]
        address = f"{inside['host']}:{inside['port']}"
        assert address_in_metadata(address) == address


def test_an_address_that_the_broker_refuses_stops_the_start(containers: Any) -> None:
    container = containers.OttlaContainer()
    container.host = "0.0.0.0"
    with pytest.raises(RuntimeError, match=r"advertised\.listeners"):
        container.start()
    container.process.kill()


def test_a_container_without_rest_is_not_ready_in_time(containers: Any) -> None:
    container = containers.OttlaContainer().with_env("KAFKA_ADMIN_LISTENERS", "off")
    container.get_exposed_port = lambda port: 9
    with pytest.raises(TimeoutError):
        container.start(timeout_s=0)
    container.process.kill()
