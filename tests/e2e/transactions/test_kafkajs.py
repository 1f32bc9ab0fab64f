"""KafkaJS's transactional producer, with the oldest versions of the APIs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.line_process import LineProcess
from tests.e2e.transactions.lines import LineClient, kafkajs_process
from tests.e2e.transactions.stories import TransactionStories


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LineProcess]:
    with kafkajs_process(tmp_path_factory.mktemp("kafkajs")) as process:
        yield process


class TestKafkaJS(TransactionStories):
    @pytest.fixture
    def client(self, node: LineProcess, bootstrap: str) -> LineClient:
        return LineClient(node, bootstrap)
