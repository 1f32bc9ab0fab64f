from __future__ import annotations

import pytest

from tests.fakes.admin import FakeAdmin


@pytest.fixture
def admin() -> FakeAdmin:
    return FakeAdmin()
