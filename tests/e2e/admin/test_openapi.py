"""Responses of a real broker match the OpenAPI description, for valid and invalid requests.

Schemathesis generates the same requests in each run. Paths of Confluent's v3 have the same routes
as the short ones (a unit test compares their descriptions), so they are tested with --long only.
"""

from __future__ import annotations

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

from interfaces.rest.serving.docs import openapi
from interfaces.rest.urls import V3
from tests.e2e.admin.conftest import AdminClient
from tests.e2e.broker_process import BrokerProcess

CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
)
DESCRIPTION = openapi()
schema = schemathesis.openapi.from_dict(DESCRIPTION)

#: Every other generated name is replaced by that of an existing resource.
EXISTING: dict[str, Any] = {
    "topic_name": "story",
    "group_id": "readers",
    "broker_id": 1,
    "name": "message.max.bytes",
}


@pytest.fixture(scope="module")
def described_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """A broker of its own: requests create topics with random names."""
    folder = tmp_path_factory.mktemp("described-broker")
    with BrokerProcess(folder, "memory", ["--admin", "127.0.0.1:0"]) as broker:
        yield broker
        assert broker.terminate() == 0, broker.log()
        assert "request_failed" not in broker.log(1 << 30)


def operations() -> Iterator[Any]:
    for path, methods in DESCRIPTION["paths"].items():
        if path.endswith("records:tail"):
            continue  # the response has no end
        marks = [pytest.mark.long] if path.startswith(f"{V3}/") else []
        for method in methods:
            yield pytest.param(f"{method.upper()} {path}", marks=marks)


# schema.parametrize gives all tests the same name, and xdist runs only one of them.
@pytest.mark.parametrize("operation", [*operations()])
def test_every_response_matches_its_description(
    operation: str, described_broker: BrokerProcess
) -> None:
    method, _, path = operation.partition(" ")
    described = schema[path][method]
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
    @given(case=cases(described))
    def check(case: schemathesis.Case[Any]) -> None:
        use_existing(case, described_broker.ready["cluster_id"])
        admin.post("/topics", {"name": "story", "partitions": 2})
        admin.post("/groups/readers/offsets", {"to": "latest", "topic": "story"})
        case.call_and_validate(base_url=base_url, checks=checks_of(operation))

    check()


def checks_of(operation: str) -> list[Any]:
    """The response to records is a line of JSON per record, which is not one JSON text."""
    if operation.startswith("POST ") and operation.endswith("/records"):
        return [not_a_server_error, status_code_conformance]
    return list(CHECKS)


def cases(described: Any) -> SearchStrategy[schemathesis.Case[Any]]:
    """Valid requests, and invalid ones if there is a parameter or a body."""
    valid: SearchStrategy[schemathesis.Case[Any]] = described.as_strategy()
    if not (described.body or described.path_parameters or described.query):
        return valid
    invalid: SearchStrategy[schemathesis.Case[Any]] = described.as_strategy(
        generation_mode=schemathesis.GenerationMode.NEGATIVE
    )
    return valid | invalid


def use_existing(case: schemathesis.Case, cluster_id: str) -> None:
    for name, value in list(case.path_parameters.items()):
        if name == "cluster_id":
            case.path_parameters[name] = cluster_id
        elif name in EXISTING and len(str(value)) % 2:
            case.path_parameters[name] = EXISTING[name]
        elif name == "partition_id" and isinstance(value, int):
            case.path_parameters[name] = value % 3
