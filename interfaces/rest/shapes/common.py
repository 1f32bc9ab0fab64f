"""Bodies: a class declares the fields of each, for the schema and for the JSON.

An annotation with a path is a link, and one with a function reads the field of the source, which
else has an attribute of the same name.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Any, Generic, NamedTuple, NotRequired, TypeVar, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict
from typing_extensions import TypedDict

from interfaces.rest.names import in_path
from interfaces.rest.urls import Urls

T = TypeVar("T")


class Metadata(TypedDict):
    self: str
    resource_name: str


class ListMetadata(TypedDict):
    self: str
    next: str | None


#: Annotated with the path below the cluster, or from `/` on with that below the resource.
class Related(TypedDict):
    related: str


class Resource(TypedDict):
    kind: str
    metadata: Metadata
    cluster_id: str


class ListOf(TypedDict, Generic[T]):
    kind: str
    metadata: ListMetadata
    data: list[T]


class RequestModel(BaseModel):
    """A request's body or query. Unknown fields are refused: a misspelt one must not be ignored."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


def example(**body: object) -> dict[str, Any]:
    """The json_schema_extra of a model: a body that clients can send, for the description."""
    return {"examples": [body]}


class ErrorBody(TypedDict):
    error_code: int
    message: str
    correlation_id: str


class Head(NamedTuple):
    kind: str
    #: Below the cluster, with names of fields: topics/{topic_name}.
    path: str


_HEADS: dict[object, Head] = {}


def resource(kind: str, path: str) -> Callable[[type[T]], type[T]]:
    """Decorates the class of a resource."""

    def declare(shape: type[T]) -> type[T]:
        _HEADS[shape] = Head(kind, path)
        return shape

    return declare


@cache
def _fields(shape: object) -> dict[str, Any]:
    """The required fields of a class, with the path of a link or the getter of a value."""
    return {
        name: next(iter(getattr(hint, "__metadata__", ())), attrgetter(name))
        for name, hint in get_type_hints(shape, include_extras=True).items()
        if get_origin(hint) is not NotRequired and name not in Resource.__annotations__
    }


def fields(shape: object, source: object = None, /, **given: object) -> dict[str, Any]:
    """The fields but for links: given, or read of the source."""
    return {
        name: given[name] if name in given else read(source)
        for name, read in _fields(shape).items()
        if callable(read)
    }


def body(
    shape: object, urls: Urls, of: object = None, /, head: Head | None = None, **given: object
) -> dict[str, Any]:
    """The JSON of a resource. Paths may also have names that are given and no fields.

    Confluent's resource names are the path with nouns in the singular:
    crn:///kafka=ID/topic=orders/partition=0 for topics/orders/partitions/0.
    """
    kind, path = head or _HEADS[shape]
    found = fields(shape, of, **given)
    values = {**given, **found}
    encoded = _Encoded(values)
    name = f"crn:///kafka={urls.cluster_id}"
    for place, step in enumerate(path.split("/") if path else ()):
        name += f"={step.format_map(values)}" if place % 2 else f"/{step.removesuffix('s')}"
    url = f"{urls.cluster}/{path.format_map(encoded)}" if path else urls.cluster
    links = {
        name: {
            "related": (url if link.startswith("/") else f"{urls.cluster}/")
            + link.format_map(encoded)
        }
        for name, link in _fields(shape).items()
        if isinstance(link, str)
    }
    metadata = {"self": url, "resource_name": name}
    return {"kind": kind, "metadata": metadata, "cluster_id": urls.cluster_id, **found, **links}


class _Encoded(dict[str, Any]):
    """Values as parts of a path."""

    def __getitem__(self, name: str) -> str:
        return in_path(str(super().__getitem__(name)))
