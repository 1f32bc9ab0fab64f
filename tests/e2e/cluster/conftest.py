"""Three brokers over one PostgreSQL, which the stories leave as they were."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.contract.postgres_server import running_postgres
from tests.e2e.cluster.brokers import Brokers, new_schema, store_of
from tests.e2e.conftest import EXTERNAL, unused_topic_name
from tests.e2e.groups.members import ClientProcess

NODE_IDS = (1, 2, 3)
#: Its lease is never over while a test runs: who takes its partitions has not waited for that.
LONG_LEASE = 3
_AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
_SECURITY = (
    *("--set", "listener.security.protocol.map=OPEN:PLAINTEXT,LOGIN:SASL_PLAINTEXT"),
    *("--set", "sasl.enabled.mechanisms=SCRAM-SHA-256"),
    *("--set", f"authorizer.class.name={_AUTHORIZER}"),
    *("--set", "super.users=User:ANONYMOUS"),
)

NewTopic = Callable[..., str]


@pytest.fixture(scope="session")
def running_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokers]:
    if EXTERNAL:
        pytest.skip("starts brokers of its own; OTTLA_TEST_BOOTSTRAP names another")
    folder, schema = tmp_path_factory.mktemp("cluster"), new_schema()
    stores = dict.fromkeys(NODE_IDS, store_of(running_postgres().folder, schema))
    more = {one: list(_SECURITY) for one in NODE_IDS}
    more[LONG_LEASE] += ["--set", "broker.session.timeout.ms=600000"]
    with Brokers(folder, stores, ("OPEN", "LOGIN"), more) as brokers:
        yield brokers


@pytest.fixture
def cluster(running_cluster: Brokers) -> Iterator[Brokers]:
    running_cluster.wait_for_nodes()
    yield running_cluster
    for broker in running_cluster.all.values():
        assert broker.process is not None
        if broker.process.poll() is not None:
            broker.start()


@pytest.fixture
def new_topic(cluster: Brokers) -> NewTopic:
    """Of six partitions, two of each broker, which all brokers know."""

    def create(partitions: int = 6) -> str:
        name = unused_topic_name()
        cluster.create_topic(name, partitions)
        return name

    return create


@pytest.fixture(scope="session")
def client_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., object]]:
    running: dict[str, ClientProcess] = {}

    def started(client: str) -> ClientProcess:
        if client not in running:
            running[client] = ClientProcess(client, tmp_path_factory.mktemp(client) / "stderr")
        return running[client]

    yield started
    for process in running.values():
        process.close()
