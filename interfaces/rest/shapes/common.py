"""Fields that all shapes share."""

from __future__ import annotations

from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict
from typing_extensions import TypedDict

from interfaces.rest.urls import Urls

T = TypeVar("T")


class Metadata(TypedDict):
    self: str
    resource_name: str


class ListMetadata(TypedDict):
    self: str
    next: str | None


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


class ErrorBody(TypedDict):
    error_code: int
    message: str
    correlation_id: str


def resource(kind: str, urls: Urls, *path: str | int) -> Resource:
    """`path` leads to it below the cluster.

    Confluent's resource names are that path with nouns in the singular:
    crn:///kafka=ID/topic=orders/partition=0 for topics/orders/partitions/0.
    """
    pairs = zip(path[::2], path[1::2], strict=False)
    name = "".join(f"/{str(nouns)[:-1]}={key}" for nouns, key in pairs)
    if len(path) % 2:
        name += f"/{path[-1]}"
    return {
        "kind": kind,
        "metadata": {
            "self": urls(*path),
            "resource_name": f"crn:///kafka={urls.cluster_id}{name}",
        },
        "cluster_id": urls.cluster_id,
    }
