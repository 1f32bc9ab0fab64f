"""A broker with short session timeouts, with --long three of them too, and members of any client.

A broker of OTTLA_TEST_BOOTSTRAP needs the settings of settings.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import pytest

from tests.e2e.broker_process import Address, BrokerProcess
from tests.e2e.conftest import EXTERNAL, THREE, Broker, three_brokers, unused_topic_name
from tests.e2e.groups.kafka_tools import started_tools
from tests.e2e.groups.members import ClientProcess, Flavour, Member
from tests.e2e.groups.settings import ARGUMENTS
from tests.e2e.line_process import LineProcess

pytest.register_assert_rewrite("tests.e2e.groups.stories")


class Join(Protocol):
    """Joins a new member to the group, with the flavour of the module and these settings."""

    def __call__(
        self,
        *topics: str,
        flavour: Flavour | None = None,
        apart: bool = False,
        to: str | None = None,
        **settings: str,
    ) -> Member: ...


@pytest.fixture(scope="session", params=("lmdb", pytest.param(THREE, marks=pytest.mark.long)))
def group_broker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Broker]:
    if EXTERNAL:
        host, _, port = EXTERNAL.rpartition(":")
        yield Address(host, int(port))
        return
    if request.param == THREE:
        brokers = three_brokers(tmp_path_factory.mktemp("brokers"), ARGUMENTS)
        yield brokers
        brokers.terminate()
        return
    broker = BrokerProcess(tmp_path_factory.mktemp("broker-groups"), "lmdb", ARGUMENTS)
    broker.start()
    yield broker
    code = broker.terminate()
    assert code == 0, f"SIGTERM ended it with {code}:\n{broker.log()}"


@pytest.fixture
def broker(group_broker: Broker) -> Broker:
    return group_broker


@pytest.fixture
def group() -> str:
    return unused_topic_name().replace("story", "group")


@pytest.fixture(scope="session")
def client_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Any]]:
    """One process per client, or a new one for a member that will be killed."""
    running: dict[str, ClientProcess] = {}
    apart: list[ClientProcess] = []

    def started(client: str, alone: bool = False) -> ClientProcess:
        if alone or client not in running or running[client].ended:
            process = ClientProcess(client, tmp_path_factory.mktemp(client) / "stderr")
            apart.append(process)
            if alone:
                return process
            running[client] = process
        return running[client]

    yield started
    for process in apart:
        process.close()


@pytest.fixture(scope="session")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LineProcess]:
    process = started_tools(tmp_path_factory.mktemp("tools"))
    yield process
    process.close()


@pytest.fixture
def flavour() -> Flavour:
    """The client of the members; overridden by the files of clients."""
    return Flavour("confluent", {})


@pytest.fixture
def join(
    request: pytest.FixtureRequest,
    group: str,
    flavour: Flavour,
    client_process: Callable[..., ClientProcess],
) -> Iterator[Join]:
    joined: list[Member] = []
    usual = flavour

    def join(
        *topics: str,
        flavour: Flavour | None = None,
        apart: bool = False,
        to: str | None = None,
        **settings: str,
    ) -> Member:
        chosen = flavour or usual
        facts = {
            "bootstrap": to or request.getfixturevalue("bootstrap"),
            "group": group,
            "topics": ",".join(topics),
            **chosen.settings,
            **settings,
        }
        joined.append(client_process(chosen.client, apart).join(**facts))
        return joined[-1]

    yield join
    staying = [member for member in joined if not member.gone]
    leaving = [(m.process, m.process.send(member=m.name, do="leave")) for m in staying]
    for process, number in leaving:
        process.outcome(number)
