"""Every REST path has a row in the table of rights, and the table has no other rows."""

from __future__ import annotations

from interfaces.rest.rights import ROUTES, access_of
from interfaces.rest.routes import console
from interfaces.rest.routes.groups import ConfluentGroupRoutes, GroupRoutes
from interfaces.rest.routes.testing import TestingRoutes as ControlRoutes
from interfaces.rest.serving.app import OWN, RESOURCES
from interfaces.rest.urls import V3
from tests.fakes.admin import FakeAdmin


def _served() -> set[str]:
    admin = FakeAdmin().admin
    own = [*OWN, ControlRoutes, *RESOURCES, GroupRoutes]
    routers = [("", kind(admin).router()) for kind in own]
    routers += [(V3, kind(admin).router()) for kind in (*RESOURCES, ConfluentGroupRoutes)]
    routers.append(("", console.router()))
    return {
        f"{method} {prefix}{route.path}"
        for prefix, router in routers
        for route in router.routes
        for method in route.methods  # type: ignore[attr-defined]
    }


def test_every_route_has_a_row() -> None:
    assert [api for api in sorted(_served()) if access_of(api) is None] == []


def test_every_row_has_a_route() -> None:
    assert ROUTES.keys() <= _served()
