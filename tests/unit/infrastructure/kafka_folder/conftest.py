"""The folder of a real Kafka, and one that each test may change."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.kafka_folder import unpacked


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Do not change it."""
    return unpacked(tmp_path_factory.mktemp("kafka"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return unpacked(tmp_path)
