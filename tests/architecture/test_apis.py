"""Compares the table of APIs with the files of each API: five files and one row."""

from __future__ import annotations

import pytest

from interfaces.kafka.requests.apis import APIS, Api
from tests.architecture.repository import ROOT

each_api = pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)


@each_api
def test_a_row_has_its_files(api: Api) -> None:
    files = [
        f"interfaces/kafka/wire/messages/{api.name}.py",
        f"interfaces/kafka/handlers/{api.name}.py",
        f"tests/oracle/scenarios/{api.name}.py",
    ]
    assert [file for file in files if not (ROOT / file).is_file()] == []


@each_api
def test_a_row_has_golden_bytes(api: Api) -> None:
    golden = ROOT / "tests/golden" / api.name
    assert golden.is_dir()
    assert any(path.is_file() and path.name != "__init__.py" for path in golden.iterdir())


@each_api
def test_a_row_agrees_with_its_messages(api: Api) -> None:
    messages = api.messages()
    for suffix in ("Request", "Response"):
        message = getattr(messages, api.title + suffix)
        assert message.api_key == api.key
        assert message.min_version <= api.first_served <= api.max_version <= message.max_version
    assert api.min_version <= api.first_served


def test_rows_are_in_the_order_of_their_keys_each_key_once() -> None:
    keys = [api.key for api in APIS]
    assert keys == sorted(set(keys))


def test_every_handler_has_a_row() -> None:
    handlers = {path.stem for path in (ROOT / "interfaces/kafka/handlers").glob("*.py")}
    assert handlers - {"__init__"} == {api.name for api in APIS}
