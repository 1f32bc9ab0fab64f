from __future__ import annotations

import pytest

from tests.fakes.admin import FakeAdmin
from tests.fakes.client import FakeKafka


@pytest.fixture
def kafka() -> FakeKafka:
    return FakeKafka()


@pytest.fixture
def admin(kafka: FakeKafka) -> FakeAdmin:
    return FakeAdmin(kafka)
