from __future__ import annotations

import pytest

from interfaces.kafka.requests.apis import APIS, BY_KEY, Api
from interfaces.kafka.requests.routes import Routes


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
