"""Refuses unknown parameters of a query, which would otherwise be ignored without a word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl

from pydantic import BaseModel
from starlette.requests import Request

from interfaces.rest.errors import RestError
from interfaces.rest.responses import encodable


async def known_query(request: Request) -> None:
    """A dependency of every route but the console page, whose script reads the query."""
    query = request.scope["query_string"]
    if not query:
        return
    parameters = list(_parameters(request.scope["route"].dependant))
    if any(isinstance(kind, type) and issubclass(kind, BaseModel) for _, kind in parameters):
        return  # of a model, which knows what it has
    names = {name for name, _ in parameters}
    for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True):
        if name not in names:
            raise RestError(422, encodable(f"unknown parameter {name}"), 42201)


def _parameters(dependant: Any) -> Iterator[tuple[str, Any]]:
    """Names and types, also those that other dependencies of the route take."""
    for parameter in dependant.query_params:
        yield parameter.alias, parameter.field_info.annotation
    for other in dependant.dependencies:
        yield from _parameters(other)
