"""What all shapes have."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict
from typing_extensions import TypedDict


class Metadata(TypedDict):
    self: str
    resource_name: str


class ListMetadata(TypedDict):
    self: str
    next: str | None


class Related(TypedDict):
    related: str


class Asked(BaseModel):
    """A body: a field that is not known is refused, so that nothing looks obeyed that is not."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class ErrorBody(TypedDict):
    error_code: int
    message: str
    correlation_id: str


def resource(cluster_id: str, *path: tuple[str, str | int]) -> str:
    """A name in Confluent's notation: crn:///kafka=ID/topic=orders/partition=0."""
    return f"crn:///kafka={cluster_id}" + "".join(f"/{kind}={name}" for kind, name in path)
