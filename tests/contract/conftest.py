from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.engines import ENGINES, Engine, OpenStore

_LASTING = {name: engine for name, engine in ENGINES.items() if engine.persistent}


@pytest.fixture(params=ENGINES.values(), ids=ENGINES.keys())
def engine(request: pytest.FixtureRequest) -> Engine:
    chosen: Engine = request.param
    return chosen


@pytest.fixture(params=_LASTING.values(), ids=_LASTING.keys())
def lasting_engine(request: pytest.FixtureRequest) -> Engine:
    chosen: Engine = request.param
    return chosen


@pytest.fixture
def store(engine: Engine, tmp_path: Path) -> Iterator[OpenStore]:
    opened = OpenStore(engine, tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def lasting_store(lasting_engine: Engine, tmp_path: Path) -> Iterator[OpenStore]:
    """Only of engines that keep what is committed: it is closed and opened again."""
    opened = OpenStore(lasting_engine, tmp_path)
    yield opened
    opened.close()
