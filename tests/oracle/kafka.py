"""Runs Apache Kafka: one KRaft node on an empty folder, or several of one cluster."""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.e2e.broker_process import Address
from tests.e2e.line_process import cache_folder
from tests.e2e.raw_client import INIT_PRODUCER_ID, string

VERSION = "4.2.0"
FIND_COORDINATOR, GROUP, TRANSACTION = 10, 0, 1
START_TIMEOUT_S = 90
STOP_TIMEOUT_S = 20
#: A folder with the jars of Kafka.
JARS_VARIABLE = "OTTLA_TEST_KAFKA"
POM = Path(__file__).parent / "pom.xml"
#: No two of a process are the same; those of processes rarely are.
_PORTS = iter(range(random.randrange(20_000, 30_000), 32_000))
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"

_NODE = """
process.roles=broker,controller
node.id={node}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}{more}
controller.listener.names=CONTROLLER
log.dirs={folder}/data
"""
_ALONE = """
controller.quorum.bootstrap.servers=127.0.0.1:{controller}
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
"""
PROPERTIES = """
offsets.topic.num.partitions=1
transaction.state.log.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=true
num.partitions=1
"""
JAVA = ("java", "-Xmx400m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


class KafkaNotFound(Exception):
    """The reason why this machine has no Kafka."""


def find_jars() -> Path:
    """The folder of the environment variable, or jars that Maven copies to the cache once."""
    if shutil.which("java") is None:
        raise KafkaNotFound("no java on this machine")
    named = os.environ.get(JARS_VARIABLE)
    if named:
        return Path(named)
    folder = cache_folder() / "kafka" / VERSION
    complete = folder / ".complete"
    if not complete.exists():
        mvn = shutil.which("mvn")
        if mvn is None:
            raise KafkaNotFound(f"no mvn on this machine, and no {JARS_VARIABLE}")
        goal = [COPY, f"-Dkafka.version={VERSION}", f"-DoutputDirectory={folder}"]
        copied = subprocess.run(
            [mvn, "-B", "-q", "-f", str(POM), *goal], capture_output=True, text=True, timeout=600
        )
        if copied.returncode:
            raise KafkaNotFound(f"Maven failed: {copied.stdout[-500:]}")
        complete.touch()
    return folder


def format_folder(
    java: Sequence[str],
    folder: Path,
    properties: str,
    listeners: Iterable[str] = (),
    options: Sequence[str] = (),
    cluster_id: str = "",
) -> int:
    """Formats a folder for one node on free ports; returns the port for clients.

    `listeners` are further ones (`TLS://127.0.0.1:1234`); `options` are those of Kafka's tool.
    Without `cluster_id` it has a random one. Raises CalledProcessError with the output.
    """
    controller = free_port()
    more = "".join(f",{listener}" for listener in listeners)
    properties = _ALONE.format(controller=controller) + properties
    identity = cluster_id or _random_uuid(java)
    options = ["--standalone", *options]
    return _format(java, folder, 1, controller, more, properties, identity, options)


def format_nodes(java: Sequence[str], folder: Path, properties: str, count: int) -> list[Path]:
    """Formats a folder for each node of one cluster; all of them are brokers and controllers."""
    controllers = {node: free_port() for node in range(1, count + 1)}
    voters = ",".join(f"{node}@127.0.0.1:{port}" for node, port in controllers.items())
    properties += f"controller.quorum.voters={voters}\n"
    identity = _random_uuid(java)
    for node, controller in controllers.items():
        (folder / str(node)).mkdir()
        _format(java, folder / str(node), node, controller, "", properties, identity)
    return [folder / str(node) for node in controllers]


def _format(
    java: Sequence[str],
    folder: Path,
    node: int,
    controller: int,
    more: str,
    properties: str,
    identity: str,
    options: Sequence[str] = (),
) -> int:
    port = free_port()
    file = folder / "server.properties"
    own = _NODE.format(node=node, port=port, controller=controller, more=more, folder=folder)
    file.write_text(own + properties)
    tool = *java, "kafka.tools.StorageTool", "format", "-t", identity, "-c", str(file)
    _output_of(*tool, *options)
    return port


def _random_uuid(java: Sequence[str]) -> str:
    return _output_of(*java, "kafka.tools.StorageTool", "random-uuid").split()[-1]


def _output_of(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@contextmanager
def running_kafka(
    jars: Path,
    folder: Path,
    properties: str = "",
    listeners: Iterable[str] = (),
    options: Sequence[str] = (),
) -> Iterator[Address]:
    """Yields the address of the plaintext listener."""
    java = [*JAVA, "-cp", f"{jars}/*"]
    port = format_folder(java, folder, PROPERTIES + properties, listeners, options)
    with started_kafka(java, folder, port) as address:
        yield address


@contextmanager
def started_kafka(java: Sequence[str], folder: Path, port: int) -> Iterator[Address]:
    """On a folder that was formatted."""
    file = folder / "server.properties"
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            [*java, "kafka.Kafka", str(file)],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait(process, port, folder)
        yield Address("127.0.0.1", port)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(process: subprocess.Popen[bytes], port: int, folder: Path) -> None:
    """Waits until it has coordinators and assigns producer ids."""
    deadline = time.monotonic() + START_TIMEOUT_S
    while True:
        try:
            with Address("127.0.0.1", port).connect(5) as client:
                client.init_producer_id()
                for kind in (GROUP, TRANSACTION):
                    response = client.request(FIND_COORDINATOR, 1, string("oracle") + bytes([kind]))
                    _throttle, error = response.take("ih")
                    assert error == 0
                named = string("oracle") + struct.pack(">i", 1_000)
                _throttle, error = client.request(INIT_PRODUCER_ID, 0, named).take("ih")
                assert error == 0
                return
        except (OSError, AssertionError):
            if process.poll() is not None or time.monotonic() > deadline:
                output = (folder / "output").read_text()[-2000:]
                raise AssertionError(f"Kafka did not start:\n{output}") from None
            time.sleep(0.1)


def free_port() -> int:
    """For a program that needs to know its port; below those that the system gives to others."""
    for port in _PORTS:
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")
