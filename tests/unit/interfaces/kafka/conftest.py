"""A broker and one client; a file whose tests need topics or settings has its own `kafka`."""

from __future__ import annotations

import pytest

from tests.fakes.client import FakeClient, FakeKafka


@pytest.fixture
def kafka() -> FakeKafka:
    return FakeKafka(num_partitions="4")


@pytest.fixture
def client(kafka: FakeKafka) -> FakeClient:
    return kafka.client()
