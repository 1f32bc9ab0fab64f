"""The table of APIs against the files it promises: adding an API is five files and one row."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from tests.architecture.repository import ROOT, snake_case

if not (ROOT / "interfaces/kafka/apis.py").exists():
    pytest.skip("there is no table of APIs yet", allow_module_level=True)

APIS: tuple[Any, ...] = importlib.import_module("interfaces.kafka.apis").APIS
each_api = pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)


@each_api
def test_a_row_has_its_files(api: Any) -> None:
    name = snake_case(api.name)
    files = [
        f"interfaces/kafka/wire/messages/{name}.py",
        f"interfaces/kafka/handlers/{name}.py",
        f"tests/unit/interfaces/kafka/handlers/test_{name}.py",
    ]
    assert [file for file in files if not (ROOT / file).is_file()] == []


@each_api
def test_a_row_has_golden_bytes(api: Any) -> None:
    golden = ROOT / "tests/golden" / snake_case(api.name)
    assert golden.is_dir()
    assert any(path.is_file() and path.name != "__init__.py" for path in golden.iterdir())


@each_api
def test_a_row_agrees_with_its_messages(api: Any) -> None:
    module = importlib.import_module(f"interfaces.kafka.wire.messages.{snake_case(api.name)}")
    for message in (getattr(module, f"{api.name}Request"), getattr(module, f"{api.name}Response")):
        assert message.key == api.key
        # The low end may be below what is valid: Produce 0-2 are advertised for librdkafka's sake.
        assert api.min_version <= api.max_version <= message.max_version


def test_rows_are_in_the_order_of_their_keys_each_key_once() -> None:
    keys = [api.key for api in APIS]
    assert keys == sorted(set(keys))


def test_every_handler_has_a_row() -> None:
    handlers = {path.stem for path in (ROOT / "interfaces/kafka/handlers").glob("*.py")}
    assert handlers - {"__init__"} == {snake_case(api.name) for api in APIS}
