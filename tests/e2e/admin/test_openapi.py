"""Whatever is asked within the description, and around it, is answered as the description says.

Schemathesis makes the requests: right ones and wrong ones, from the committed description, always
the same. The broker behind it is a real one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.e2e.admin.conftest import AdminClient
from tests.e2e.broker_process import ROOT, BrokerProcess

CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
)
DESCRIPTION: dict[str, Any] = json.loads((ROOT / "docs/openapi.json").read_text("utf-8"))
schema = schemathesis.openapi.from_dict(DESCRIPTION)
#: What answers without an end has tests of its own.
ENDLESS = [path for path in DESCRIPTION["paths"] if path.endswith("records:tail")]

#: Of names that are made up, every other one is of something that is there.
THERE: dict[str, Any] = {
    "topic_name": "story",
    "group_id": "readers",
    "broker_id": 1,
    "name": "message.max.bytes",
}


@pytest.fixture(scope="module")
def described_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """One of its own: nobody knows what will be in it."""
    folder = tmp_path_factory.mktemp("described-broker")
    with BrokerProcess(folder, "memory", ["--admin", "127.0.0.1:0"]) as broker:
        yield broker
        assert broker.terminate() == 0, broker.log()
        assert "request_failed" not in broker.log(1 << 30)


def test_the_description_is_the_one_that_is_committed(admin: AdminClient) -> None:
    assert admin.get("/openapi.json").json == DESCRIPTION


def operations() -> list[str]:
    return [
        f"{method.upper()} {path}"
        for path, methods in DESCRIPTION["paths"].items()
        for method in methods
        if path not in ENDLESS
    ]


# Not by schema.parametrize: its tests all have one name, of which xdist runs one.
@pytest.mark.parametrize("operation", operations())
def test_every_answer_is_as_described(operation: str, described_broker: BrokerProcess) -> None:
    method, _, path = operation.partition(" ")
    asked = schema[path][method]
    admin = AdminClient(described_broker)
    base_url = f"http://{described_broker.admin.bootstrap}"

    @settings(
        max_examples=6,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases(asked))
    def play(case: schemathesis.Case[Any]) -> None:
        point_at_what_is_there(case, described_broker.ready["cluster_id"])
        admin.post("/topics", {"name": "story", "partitions": 2})
        admin.post("/groups/readers/offsets", {"to": "latest", "topic": "story"})
        case.call_and_validate(base_url=base_url, checks=checks_of(operation))

    play()


def checks_of(operation: str) -> list[Any]:
    """A report for each record, one after the other: of none or of two it is no JSON text."""
    if operation.startswith("POST ") and operation.endswith("/records"):
        return [not_a_server_error, status_code_conformance]
    return list(CHECKS)


def cases(asked: Any) -> SearchStrategy[schemathesis.Case[Any]]:
    """Right ones, and where anything can be wrong, wrong ones."""
    right: SearchStrategy[schemathesis.Case[Any]] = asked.as_strategy()
    if not (asked.body or asked.path_parameters or asked.query):
        return right
    wrong: SearchStrategy[schemathesis.Case[Any]] = asked.as_strategy(
        generation_mode=schemathesis.GenerationMode.NEGATIVE
    )
    return right | wrong


def point_at_what_is_there(case: schemathesis.Case, cluster_id: str) -> None:
    for name, value in list(case.path_parameters.items()):
        if name == "cluster_id":
            case.path_parameters[name] = cluster_id
        elif name in THERE and len(str(value)) % 2:
            case.path_parameters[name] = THERE[name]
        elif name == "partition_id" and isinstance(value, int):
            case.path_parameters[name] = value % 3
