"""The folder of a real Kafka, and one that each test may change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from interfaces.main.__main__ import main
from tests.fakes.kafka_folder import unpacked

Import = Callable[..., int]


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Do not change it."""
    return unpacked(tmp_path_factory.mktemp("kafka"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return unpacked(tmp_path / "kafka")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def run(store: Path) -> Import:
    """Runs `ottla import kafka`; returns its exit code."""

    def run(folder: Path, *options: str) -> int:
        return main(["import", "kafka", str(folder), "--data", str(store), *options])

    return run
