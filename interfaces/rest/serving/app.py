"""create_app: all routes, and the responses to requests that fail."""

from __future__ import annotations

from functools import cache
from typing import Any, NoReturn

from fastapi import Depends, FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request

from domain.errors import BrokerError
from interfaces.rest.admin import Admin
from interfaces.rest.errors import NO_JSON, RestError, message_of, phrase, refusal_of
from interfaces.rest.exchange import exchange_of
from interfaces.rest.faults import is_no_json, words_of
from interfaces.rest.names import use_any_name
from interfaces.rest.responses import JsonResponse, error_body
from interfaces.rest.rights import authorized
from interfaces.rest.routes import console
from interfaces.rest.routes.acls import AclRoutes
from interfaces.rest.routes.brokers import BrokerRoutes, ClusterRoutes
from interfaces.rest.routes.clone import CloneRoutes
from interfaces.rest.routes.configs import (
    BrokerConfigRoutes,
    ClusterConfigRoutes,
    SettingRoutes,
    TopicConfigRoutes,
)
from interfaces.rest.routes.connections import ConnectionRoutes
from interfaces.rest.routes.console_data import ConsoleDataRoutes
from interfaces.rest.routes.groups import ConfluentGroupRoutes, GroupRoutes
from interfaces.rest.routes.health import HealthRoutes
from interfaces.rest.routes.history import HistoryRoutes
from interfaces.rest.routes.metrics import MetricsRoutes
from interfaces.rest.routes.partitions import PartitionRoutes
from interfaces.rest.routes.produce import ProduceRoutes
from interfaces.rest.routes.quotas import QuotaRoutes
from interfaces.rest.routes.records import RecordRoutes
from interfaces.rest.routes.resource import Routes
from interfaces.rest.routes.session import SessionRoutes
from interfaces.rest.routes.testing import TestingRoutes
from interfaces.rest.routes.topics import TopicRoutes
from interfaces.rest.routes.transactions import TransactionRoutes
from interfaces.rest.routes.truncate import TruncateRoutes
from interfaces.rest.routes.users import UserRoutes
from interfaces.rest.serving.methods import METHODS, methods_of
from interfaces.rest.serving.queries import known_query
from interfaces.rest.shapes.common import ErrorBody
from interfaces.rest.urls import V3

#: The version of the paths and shapes, not of the broker.
API_VERSION = "v3"
#: With both the short paths and those of Confluent's v3.
RESOURCES: tuple[type[Routes], ...] = (
    TopicRoutes,
    PartitionRoutes,
    TopicConfigRoutes,
    BrokerConfigRoutes,
    ClusterConfigRoutes,
    BrokerRoutes,
    RecordRoutes,
    ProduceRoutes,
    TruncateRoutes,
    CloneRoutes,
    TransactionRoutes,
    UserRoutes,
    AclRoutes,
    QuotaRoutes,
)
#: With the short paths only.
OWN: tuple[type[Routes], ...] = (
    ConsoleDataRoutes,
    HealthRoutes,
    MetricsRoutes,
    HistoryRoutes,
    ConnectionRoutes,
    SettingRoutes,
    ClusterRoutes,
    SessionRoutes,
)


def create_app(admin: Admin, testing: bool, described: bool = False) -> FastAPI:
    """`testing`: with the routes of a broker that has `testing`. `described`: with the shapes of
    responses, which only the OpenAPI description needs, and which take half of the time.
    """
    use_any_name()
    app = FastAPI(
        title="Ottla",
        version=API_VERSION,
        # FastAPI's pages load scripts from other hosts; the description is a route of ours.
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        default_response_class=JsonResponse,
        generate_unique_id_function=_operation_id,
        responses={"4XX": {"model": ErrorBody}, "5XX": {"model": ErrorBody}} if described else None,
    )
    if not described:
        describe = cache(lambda: create_app(admin, testing, described=True).openapi())
        app.openapi = describe  # type: ignore[method-assign]
    app.add_exception_handler(BrokerError, _broker_error)
    app.add_exception_handler(RestError, _rest_error)
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _unexpected)

    clusters = ClusterRoutes(admin)
    fields = [Depends(authorized), Depends(known_query)]
    known = [Depends(authorized), Depends(clusters.known_cluster), Depends(known_query)]

    for resource in (*OWN, TestingRoutes) if testing else OWN:
        app.include_router(resource(admin, described).router(), dependencies=fields)
    for resource in RESOURCES:
        both = resource(admin, described).router()
        app.include_router(both, dependencies=fields)
        app.include_router(both, prefix=V3, dependencies=known)
    app.include_router(GroupRoutes(admin, described).router(), dependencies=fields)
    groups = ConfluentGroupRoutes(admin, described).router()
    app.include_router(groups, prefix=V3, dependencies=known)
    if not testing:
        app.add_route("/test/{path:path}", _needs_testing, [*METHODS], include_in_schema=False)
    # Takes every path below /console; the query is for the page.
    app.include_router(console.router())
    return app


def make_ready(app: FastAPI) -> None:
    """Builds in the calling thread what the first request would build on the loop."""
    app.middleware_stack = app.build_middleware_stack()
    nowhere = {"type": "http", "method": "GET", "path": "/-", "root_path": "", "headers": []}
    for route in app.routes:
        # FastAPI builds an included router when it is first matched.
        route.matches(nowhere)


async def _needs_testing(_request: Request) -> NoReturn:
    raise RestError(404, "/test/ is served by a broker with --testing")


def _operation_id(route: APIRoute) -> str:
    """list_topics, and list_topics_v3 for the same operation under /v3."""
    return f"{route.name}_v3" if route.path_format.startswith("/v3/") else route.name


def _respond(request: Request, status: int, code: int, message: str) -> JsonResponse:
    exchange = exchange_of(request)
    exchange.error_code = code
    return JsonResponse(error_body(code, message, exchange.correlation_id), status)


def _broker_error(request: Request, error: Any) -> JsonResponse:
    status, code = refusal_of(error)
    return _respond(request, status, code, message_of(error))


def _rest_error(request: Request, error: Any) -> JsonResponse:
    return _respond(request, error.status_code, error.code, error.message)


def _http_error(request: Request, error: Any) -> JsonResponse:
    """Unknown path, unknown method, a body that is not JSON."""
    status = error.status_code
    headers = dict(error.headers or {})
    if status == 405 and _is_unknown_action(request):
        status, headers = 404, {}
    elif status == 405:
        # Starlette's lists only the methods of the first route of this path.
        headers["allow"] = ", ".join(methods_of(request.scope, request.app.routes))
    response = _respond(request, status, status, phrase(status))
    response.headers.update(headers)
    return response


def _is_unknown_action(request: Request) -> bool:
    """As in POST /topics/orders:nope. Topic names have no colon."""
    api, path = exchange_of(request).api, request.scope["path"]
    return api == "POST /topics/{topic_name}" and ":" in path.rpartition("/")[2]


def _unexpected(request: Request, _error: Any) -> JsonResponse:
    """Starlette raises the error again, and the gate logs it."""
    return _respond(request, 500, 500, phrase(500))


def _not_valid(request: Request, error: Any) -> JsonResponse:
    faults = error.errors()
    if is_no_json(faults):
        return _respond(request, 400, NO_JSON, "the body is not JSON")
    return _respond(request, 422, 42201, words_of(faults))
