"""One broker per file, which looks for timed out transactions all the time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.broker_process import NOTHING_EXPIRES, Address, BrokerProcess
from tests.e2e.conftest import EXTERNAL, Broker

#: With OTTLA_TEST_BOOTSTRAP, the broker needs it too.
CLEANUP = "transaction.abort.timed.out.transaction.cleanup.interval.ms=20"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    if EXTERNAL:
        host, _, port = EXTERNAL.rpartition(":")
        yield Address(host, int(port))
        return
    folder = tmp_path_factory.mktemp("transactions")
    with BrokerProcess(folder, arguments=[*NOTHING_EXPIRES, "--set", CLEANUP]) as broker:
        yield broker
        assert broker.terminate() == 0
