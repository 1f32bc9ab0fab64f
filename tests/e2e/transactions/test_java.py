"""The Java client's transactional producer; 3.9 is the last one that knows version 1 only."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.line_process import LineProcess
from tests.e2e.test_java import FOLDER, compiled
from tests.e2e.transactions.lines import LineClient
from tests.e2e.transactions.stories import TransactionStories


@pytest.fixture(scope="module", params=["4.2.0", pytest.param("3.9.2", marks=pytest.mark.long)])
def java(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LineProcess]:
    errors = tmp_path_factory.mktemp("java") / "stderr"
    process = LineProcess(compiled(request.param, FOLDER / "Transactions.java"), errors)
    yield process
    process.close()


class TestJava(TransactionStories):
    @pytest.fixture
    def client(self, java: LineProcess, bootstrap: str) -> LineClient:
        return LineClient(java, bootstrap)
