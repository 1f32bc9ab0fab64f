"""Each API in each version has a route; unexpected exceptions are logged and become error -1."""

from __future__ import annotations

import pytest

from interfaces.kafka.requests.apis import APIS, BY_KEY, Api
from interfaces.kafka.requests.call import Route
from interfaces.kafka.requests.dispatch import Routes
from interfaces.kafka.wire.messages import api_versions
from tests.fakes.client import FakeKafka, raw_frame
from tests.fakes.plain_requests import REQUESTS, plain_request
from tests.fakes.requests import produce
from tests.fakes.results import error_codes

#: Error codes of a plain request where only topic `t` exists; in one version or in all.
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
    "unregister_broker": {102},
    "add_partitions_to_txn": {49},
    "add_offsets_to_txn": {49},
    "end_txn": {49},
    "txn_offset_commit": {49},
    "describe_transactions": {105},
    "sasl_handshake": {34},
    "sasl_authenticate": {34},
}


def versions(api: Api) -> range:
    return range(api.first_served, api.max_version + 1)


def broken(*_: object) -> list[bytes | memoryview]:
    raise RuntimeError("a fault")


def route_of(kafka: FakeKafka, key: int, version: int) -> Route:
    route = kafka.shared.dispatch._routes.find(key, version)
    assert route is not None
    return route


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
def test_an_unexpected_exception_is_logged_and_becomes_error_minus_one(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    kafka = FakeKafka()
    for version in versions(api):
        client = kafka.client()
        monkeypatch.setattr(route_of(kafka, api.key, version), "handle", broken)
        response = client.request(REQUESTS[api.name](version), version)
        assert -1 in error_codes(response), version
        line = kafka.events.of("request_failed")[-1]
        assert isinstance(line["error"], RuntimeError)
        assert (line["version"], line["correlation_id"]) == (version, 1)
        assert not client.closed
    assert len(kafka.events.of("request_failed")) == len(versions(api))


def test_an_unexpected_exception_with_acks_0_closes_the_connection(
    kafka: FakeKafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = kafka.client()
    monkeypatch.setattr(route_of(kafka, 0, 9), "handle", broken)
    client.send(produce(acks=0), 9)
    kafka.run()
    assert client.closed and client.frames() == []


@pytest.mark.parametrize("at_once", [True, False])
def test_a_response_that_cannot_be_encoded_closes_its_connection(
    kafka: FakeKafka, monkeypatch: pytest.MonkeyPatch, at_once: bool
) -> None:
    """At once, or after the commit, with which another connection gets its response."""
    kafka.topic("t")
    client, other = kafka.client(), kafka.client()
    other.send(REQUESTS["produce"](8), 8)
    if at_once:
        monkeypatch.setattr(route_of(kafka, 60, 1), "encode", broken)
        client.send(REQUESTS["describe_cluster"](1), 1)
    else:
        client.send(REQUESTS["produce"](9), 9)
        monkeypatch.setattr(route_of(kafka, 0, 9), "encode", broken)
    kafka.run()
    assert client.closed
    assert len(other.responses()) == 1
    assert len(kafka.events.of("request_failed")) == 1


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
def test_each_api_has_a_response_in_each_version(api: Api) -> None:
    for version in versions(api):
        kafka = FakeKafka()
        request = plain_request(api.name, version, kafka.topic("t").topic_id)
        codes = error_codes(kafka.client().request(request, version)) - {0}
        assert codes == REFUSED.get((api.name, version), REFUSED.get(api.name, set())), version
        assert kafka.events.of("request_failed") == []


@pytest.mark.parametrize("version", [5, 6, 99, 32767, -1])
def test_the_response_to_an_unknown_version_of_api_versions_has_the_known_ones(
    kafka: FakeKafka, version: int
) -> None:
    client = kafka.client()
    sent = raw_frame(18, version, b"\1\2\3", correlation_id=77)
    client.transport.receive(sent)
    kafka.run()
    counts = kafka.shared.dispatch._routes.made[18, 0].counts
    assert (counts.requests, counts.bytes_in) == (1, len(sent))
    (frame,) = client.frames()
    assert frame[:4] == (77).to_bytes(4, "big")
    response, end = api_versions.ApiVersionsResponse.decode(0, frame, 4)
    assert end == len(frame)
    assert response.error_code == 35
    assert [(r.api_key, r.min_version, r.max_version) for r in response.api_keys] == [(18, 0, 4)]
    assert not client.closed


# ---- routes


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
def test_only_served_versions_have_a_route(api: Api) -> None:
    routes = Routes()
    for version in versions(api):
        route = routes.find(api.key, version)
        assert route is not None
        assert (route.api, route.version) == (api, version)
        assert routes.find(api.key, version) is route
    for version in (-1, api.first_served - 1, api.max_version + 1, 32767):
        assert routes.find(api.key, version) is None


def test_an_unknown_api_has_no_route() -> None:
    for key in (-1, 4, 8, 27, 93, 32767):
        assert Routes().find(key, 0) is None


def test_produce_is_advertised_from_version_0_and_served_from_version_3() -> None:
    produce = BY_KEY[0]
    assert (produce.min_version, produce.first_served, produce.max_version) == (0, 3, 13)
    assert not produce.serves(2)


@pytest.mark.parametrize(("key", "first"), [(0, 9), (1, 12), (3, 9), (18, 3), (19, 5), (75, 0)])
def test_headers_have_tagged_fields_from_the_flexible_version_on(key: int, first: int) -> None:
    """Responses of ApiVersions never, because a client does not know the version yet."""
    for version in versions(BY_KEY[key]):
        route = Routes().find(key, version)
        assert route is not None
        assert route.tagged_request == (version >= first)
        assert route.tagged_response == (version >= first and key != 18)
