from __future__ import annotations

import pytest

from interfaces.kafka.requests.apis import APIS
from interfaces.kafka.wire.messages.api_versions import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from tests.fakes.client import FakeClient, FakeKafka


def ask(
    client: FakeClient, version: int, name: str = "a-client", software: str = "1.2.3"
) -> ApiVersionsResponse:
    request = ApiVersionsRequest(client_software_name=name, client_software_version=software)
    response: ApiVersionsResponse = client.ask(request, version)
    return response


@pytest.mark.parametrize("version", range(5))
def test_every_api_of_the_table_is_advertised(version: int) -> None:
    response = ask(FakeKafka().client(), version)
    assert response.error_code == 0
    assert [(row.api_key, row.min_version, row.max_version) for row in response.api_keys] == [
        (api.key, api.min_version, api.max_version) for api in APIS
    ]


@pytest.mark.parametrize(("version", "supported", "finalized"), [(2, 0, 0), (3, 0, 1), (4, 1, 1)])
def test_groups_of_the_consumer_protocol_are_a_finalized_feature(
    version: int, supported: int, finalized: int
) -> None:
    """Before version 4 nobody may be told of a feature that could be at 0."""
    response = ask(FakeKafka().client(), version)
    assert response.supported_features == supported * [
        SupportedFeatureKey(name="group.version", min_version=0, max_version=1)
    ]
    assert response.finalized_features == finalized * [
        FinalizedFeatureKey(name="group.version", max_version_level=1, min_version_level=1)
    ]
    assert response.finalized_features_epoch == finalized - 1


def test_produce_is_advertised_from_version_0() -> None:
    rows = {row.api_key: row for row in ask(FakeKafka().client(), 3).api_keys}
    assert rows[0].min_version == 0


@pytest.mark.parametrize("version", [3, 4])
@pytest.mark.parametrize(
    ("name", "software"),
    [
        *(("", "1"), ("a", ""), ("a b", "1"), ("a", "1_2"), ("-a", "1"), ("a", "1.")),
        *((".", "1"), ("a", "ä"), ("a\n", "1")),
    ],
)
def test_an_illegal_software_name_or_version_is_refused(
    version: int, name: str, software: str
) -> None:
    client = FakeKafka().client()
    response = ask(client, version, name, software)
    assert (response.error_code, response.api_keys) == (42, [])
    assert not client.closed


@pytest.mark.parametrize(("name", "software"), [("a", "1"), ("apache-kafka-java", "4.2.0-rc.1")])
def test_a_legal_one_is_remembered(name: str, software: str) -> None:
    client = FakeKafka().client()
    assert ask(client, 3, name, software).error_code == 0
    info = client.session.client
    assert (info.software_name, info.software_version) == (name, software)


@pytest.mark.parametrize("version", [0, 1, 2])
def test_older_versions_do_not_tell_their_software(version: int) -> None:
    client = FakeKafka().client()
    assert ask(client, version, "", "").error_code == 0
    assert client.session.client.software_name == ""
