from __future__ import annotations

import pytest

from interfaces.kafka.requests.apis import APIS
from interfaces.kafka.wire.messages.api_versions import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from tests.fakes.client import FakeClient


def api_versions(
    client: FakeClient, version: int, name: str = "a-client", software: str = "1.2.3"
) -> ApiVersionsResponse:
    request = ApiVersionsRequest(client_software_name=name, client_software_version=software)
    response: ApiVersionsResponse = client.request(request, version)
    return response


@pytest.mark.parametrize(("version", "supported"), [(0, 0), (2, 0), (3, 1), (4, 2)])
def test_all_apis_and_features_are_advertised(
    client: FakeClient, version: int, supported: int
) -> None:
    """Before version 4 clients do not accept a feature whose lowest version is 0."""
    response = api_versions(client, version)
    assert response.error_code == 0
    rows = [(row.api_key, row.min_version, row.max_version) for row in response.api_keys]
    assert rows == [(api.key, api.min_version, api.max_version) for api in APIS]
    assert rows[0][:2] == (0, 0), "clients need Produce version 0"
    features = [
        SupportedFeatureKey(name="group.version", min_version=1, max_version=1),
        SupportedFeatureKey(name="transaction.version", min_version=0, max_version=2),
    ]
    assert response.supported_features == features[:supported]
    finalized = [
        FinalizedFeatureKey(name="group.version", max_version_level=1, min_version_level=1),
        FinalizedFeatureKey(name="transaction.version", max_version_level=2, min_version_level=2),
    ]
    assert response.finalized_features == (finalized if supported else [])
    assert response.finalized_features_epoch == (0 if supported else -1)


@pytest.mark.parametrize("version", [3, 4])
@pytest.mark.parametrize(
    ("name", "software"),
    [
        *(("", "1"), ("a", ""), ("a b", "1"), ("a", "1_2"), ("-a", "1"), ("a", "1.")),
        *((".", "1"), ("a", "ä"), ("a\n", "1")),
    ],
)
def test_an_illegal_software_name_or_version_is_refused(
    client: FakeClient, version: int, name: str, software: str
) -> None:
    response = api_versions(client, version, name, software)
    assert (response.error_code, response.api_keys) == (42, [])
    assert not client.closed


@pytest.mark.parametrize(("name", "software"), [("a", "1"), ("apache-kafka-java", "4.2.0-rc.1")])
def test_the_session_has_the_software_of_its_client_from_version_3_on(
    client: FakeClient, name: str, software: str
) -> None:
    info = client.session.client
    assert api_versions(client, 2, "", "").error_code == 0
    assert info.software_name == ""
    assert api_versions(client, 3, name, software).error_code == 0
    assert (info.software_name, info.software_version) == (name, software)
