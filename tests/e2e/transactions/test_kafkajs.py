"""KafkaJS's transactional producer, with the oldest versions of the APIs."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.e2e.line_process import LineProcess
from tests.e2e.node_packages import kafkajs_command
from tests.e2e.transactions.lines import LineClient
from tests.e2e.transactions.stories import TransactionStories


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LineProcess]:
    errors = tmp_path_factory.mktemp("kafkajs") / "stderr"
    command, where = kafkajs_command("transactions.js")
    process = LineProcess(command, errors, os.environ | where)
    yield process
    process.close()


class TestKafkaJS(TransactionStories):
    @pytest.fixture
    def client(self, node: LineProcess, bootstrap: str) -> LineClient:
        return LineClient(node, bootstrap)
