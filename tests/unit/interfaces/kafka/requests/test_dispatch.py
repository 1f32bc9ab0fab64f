"""The catch-all: what nobody foresaw is logged with its traceback and answered -1."""

from __future__ import annotations

from typing import Any

import pytest

from interfaces.kafka.requests.apis import APIS, BY_KEY, Api
from interfaces.kafka.requests.dispatch import Routes
from interfaces.kafka.wire.messages import api_versions
from tests.fakes.answers import error_codes
from tests.fakes.client import FakeKafka, raw_frame
from tests.fakes.plain_requests import REQUESTS
from tests.fakes.requests import produce

VERSIONS = [
    pytest.param(api.name, version, id=f"{api.name}-{version}")
    for api in APIS
    for version in range(api.first_served, api.max_version + 1)
]

#: What a plain request is told where the broker knows a topic and nothing else; in one version or
#: in all.
REFUSED: dict[str | tuple[str, int], set[int]] = {
    "create_topics": {36},
    "consumer_group_describe": {69},
    "delete_groups": {69},
    "offset_delete": {69},
    ("join_group", 4): {79},
    "heartbeat": {25},
    "leave_group": {25},
    "sync_group": {25},
    ("describe_groups", 6): {69},
    "describe_acls": {54},
    "create_acls": {54},
    "delete_acls": {54},
    "elect_leaders": {84},
}


@pytest.mark.parametrize(("name", "version"), VERSIONS)
def test_what_nobody_foresaw_is_answered_with_minus_one(
    name: str, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kafka = FakeKafka()
    client = kafka.client()
    (key,) = (api.key for api in APIS if api.name == name)
    route = kafka.shared.dispatch._routes.find(key, version)
    assert route is not None

    def broken(request: object, call: object) -> None:
        raise RuntimeError("nobody foresaw this")

    monkeypatch.setattr(route, "handle", broken)
    response = client.ask(REQUESTS[name](version), version)
    assert -1 in error_codes(response)
    (line,) = kafka.events.of("request_failed")
    assert isinstance(line["error"], RuntimeError)
    assert (line["version"], line["correlation_id"]) == (version, 1)
    assert not client.closed


def test_a_failed_request_without_a_response_closes_its_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kafka = FakeKafka()
    client = kafka.client()
    route = kafka.shared.dispatch._routes.find(0, 9)
    assert route is not None

    def broken(request: object, call: object) -> None:
        raise RuntimeError("nobody foresaw this")

    monkeypatch.setattr(route, "handle", broken)
    client.send(produce(acks=0), 9)
    kafka.run()
    assert client.closed and client.frames() == []


@pytest.mark.parametrize(("name", "version"), VERSIONS)
def test_every_api_answers_in_every_version(name: str, version: int) -> None:
    kafka = FakeKafka()
    topic = kafka.topic("t")
    request: Any = REQUESTS[name](version)
    for data in getattr(request, "topic_data", None) or getattr(request, "topics", None) or ():
        if getattr(data, "topic_id", bytes(16)) != bytes(16):
            data.topic_id = topic.topic_id
    response = kafka.client().ask(request, version)
    assert error_codes(response) - {0} == REFUSED.get((name, version), REFUSED.get(name, set()))
    assert kafka.events.of("request_failed") == []


@pytest.mark.parametrize("version", [5, 6, 99, 32767, -1])
def test_an_unknown_version_of_api_versions_is_told_which_there_are(version: int) -> None:
    kafka = FakeKafka()
    client = kafka.client()
    sent = raw_frame(18, version, b"\1\2\3", correlation_id=77)
    client.transport.receive(sent)
    kafka.run()
    counts = kafka.shared.dispatch._routes.made[18, 0].counts
    assert (counts.requests, counts.bytes_in) == (1, len(sent))
    (answer,) = client.frames()
    assert answer[:4] == (77).to_bytes(4, "big")
    response, end = api_versions.ApiVersionsResponse.decode(0, answer, 4)
    assert end == len(answer)
    assert response.error_code == 35
    assert [(r.api_key, r.min_version, r.max_version) for r in response.api_keys] == [(18, 0, 4)]
    assert not client.closed


def test_an_answer_that_cannot_be_made_closes_its_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kafka = FakeKafka()
    kafka.topic("t")
    client, other = kafka.client(), kafka.client()
    route = kafka.shared.dispatch._routes.find(0, 9)
    assert route is not None

    def broken(response: object) -> list[bytes | memoryview]:
        raise RuntimeError("cannot be encoded")

    client.send(REQUESTS["produce"](9), 9)
    other.send(REQUESTS["produce"](8), 8)
    monkeypatch.setattr(route, "encode", broken)
    kafka.run()
    assert client.closed
    assert len(other.answers()) == 1
    assert len(kafka.events.of("request_failed")) == 1


def test_a_failure_that_cannot_be_answered_either_closes_its_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kafka = FakeKafka()
    client = kafka.client()
    route = kafka.shared.dispatch._routes.find(60, 1)
    assert route is not None

    def broken(response: object) -> list[bytes | memoryview]:
        raise RuntimeError("cannot be encoded")

    monkeypatch.setattr(route, "encode", broken)
    client.send(REQUESTS["describe_cluster"](1), 1)
    kafka.run()
    assert client.closed
    assert len(kafka.events.of("request_failed")) == 1


# ---- routes


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
def test_every_version_that_is_served_has_a_route_and_no_other_has(api: Api) -> None:
    routes = Routes()
    for version in range(api.first_served, api.max_version + 1):
        route = routes.find(api.key, version)
        assert route is not None
        assert (route.api, route.version) == (api, version)
        assert routes.find(api.key, version) is route
    for version in (-1, api.first_served - 1, api.max_version + 1, 32767):
        assert routes.find(api.key, version) is None


@pytest.mark.parametrize("key", [-1, 4, 8, 27, 93, 32767])
def test_an_api_that_is_not_in_the_table_has_no_route(key: int) -> None:
    assert Routes().find(key, 0) is None


def test_produce_is_advertised_from_zero_and_works_from_three() -> None:
    produce = BY_KEY[0]
    assert (produce.min_version, produce.first_served, produce.max_version) == (0, 3, 13)
    assert not produce.serves(2)


def test_headers_are_tagged_from_the_flexible_version_on() -> None:
    routes = Routes()
    for key, first in ((0, 9), (1, 12), (3, 9), (19, 5), (75, 0)):
        for version in range(BY_KEY[key].first_served, BY_KEY[key].max_version + 1):
            route = routes.find(key, version)
            assert route is not None
            assert (route.tagged_request, route.tagged_response) == (version >= first,) * 2


def test_api_versions_never_has_a_tagged_response_header() -> None:
    routes = Routes()
    for version in range(5):
        route = routes.find(18, version)
        assert route is not None
        assert (route.tagged_request, route.tagged_response) == (version >= 3, False)
