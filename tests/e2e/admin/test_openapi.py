"""Responses of a real broker match the OpenAPI description, for valid and invalid requests.

Schemathesis generates the same requests in each run. Paths of Confluent's v3 have the same routes
as the short ones (a unit test compares their descriptions), so they are tested with --long only.
Schemathesis is imported within the test: every process of a run collects this file, and one of them
runs it.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from interfaces.rest.urls import V3
from tests.e2e.admin.conftest import AdminClient
from tests.e2e.broker_process import BrokerProcess

#: Every other generated name is replaced by that of an existing resource.
EXISTING: dict[str, Any] = {
    "topic_name": "story",
    "group_id": "readers",
    "broker_id": 1,
    "name": "message.max.bytes",
}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("v3", [False, pytest.param(True, marks=pytest.mark.long)])
def test_every_response_matches_its_description(
    tmp_path_factory: pytest.TempPathFactory, v3: bool
) -> None:
    """On a broker of its own: requests create topics with random names."""
    import requests
    import schemathesis

    failures = []
    folder = tmp_path_factory.mktemp("described-broker")
    with (
        BrokerProcess(folder, "memory", ["--testing", "--admin", "127.0.0.1:0"]) as broker,
        requests.Session() as session,
    ):
        description = AdminClient(broker).get("/openapi.json").json
        schema = schemathesis.openapi.from_dict(description)
        for path, methods in description["paths"].items():
            if path.startswith(f"{V3}/") is not v3 or path.endswith("records:tail"):
                continue  # the response of a tail has no end
            for method in methods:
                try:
                    check(schema[path][method], broker, session)
                except Exception as failure:
                    failures.append(f"{method.upper()} {path}: {failure!r}")
        assert failures == []
        assert broker.terminate() == 0, broker.log()
        assert "request_failed" not in broker.log(1 << 30)


def check(operation: Any, broker: BrokerProcess, session: Any) -> None:
    admin = AdminClient(broker)
    admin.post("/topics", {"name": "story", "partitions": 2})
    admin.post("/groups/readers/offsets", {"to": "latest", "topic": "story"})
    checks = checks_of(operation)

    @settings(
        max_examples=4,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases(operation))
    def check_response(case: Any) -> None:
        use_existing(case, broker.ready["cluster_id"])
        base_url = f"http://{broker.admin.bootstrap}"
        case.call_and_validate(base_url=base_url, session=session, checks=checks)

    check_response()


def checks_of(operation: Any) -> list[Any]:
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    general = [not_a_server_error, checks.status_code_conformance]
    if operation.method == "post" and operation.path.endswith("/records"):
        # The response to records is a line of JSON per record, which is not one JSON text.
        return general
    return [
        *general,
        checks.content_type_conformance,
        checks.response_headers_conformance,
        checks.response_schema_conformance,
    ]


def cases(operation: Any) -> Any:
    """Valid requests, and invalid ones if there is a parameter or a body."""
    from schemathesis import GenerationMode

    valid = operation.as_strategy()
    if not (operation.body or operation.path_parameters or operation.query):
        return valid
    return valid | operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)


def use_existing(case: Any, cluster_id: str) -> None:
    for name, value in list(case.path_parameters.items()):
        if name == "cluster_id":
            case.path_parameters[name] = cluster_id
        elif name in EXISTING and len(str(value)) % 2:
            case.path_parameters[name] = EXISTING[name]
        elif name == "partition_id" and isinstance(value, int):
            case.path_parameters[name] = value % 3
