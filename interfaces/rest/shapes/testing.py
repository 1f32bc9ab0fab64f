"""Bodies of the routes under /test/."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator
from typing_extensions import TypedDict

from interfaces.rest.shapes.common import RequestModel, example

#: Ten years.
MAX_ADVANCE_MS = 3653 * 86_400_000

Disconnect = Literal["before", "after"]


class NewFault(
    RequestModel,
    json_schema_extra=example(
        api="Produce", error="NOT_LEADER_OR_FOLLOWER", times=2, topic="orders"
    ),
):
    """Requests that match get `error`, or lose their connection, or are only delayed."""

    api: str = Field(description="As in Kafka's protocol; * is every API.")
    error: str | None = Field(
        None, description="Kafka's name of an error code: the request is not handled."
    )
    delay_ms: int = Field(0, ge=0, le=3_600_000, description="Before anything else happens.")
    disconnect: Disconnect | None = Field(
        None,
        description="before: the connection closes and the request is not handled; after: the "
        "request is handled and durable, and the connection closes in place of the response.",
    )
    times: int | None = Field(
        1, ge=1, le=2**31 - 1, description="null: until the fault is removed."
    )
    topic: str | None = Field(None, description="Only requests that name it.")
    group: str | None = Field(None, description="Only requests that name it.")
    client_id: str | None = Field(None, description="Only requests of this client id.")

    @model_validator(mode="after")
    def _has_one_effect(self) -> Self:
        if self.error is not None and self.disconnect is not None:
            raise ValueError("error and disconnect exclude each other")
        if self.error is None and self.disconnect is None and not self.delay_ms:
            raise ValueError("error, disconnect or delay_ms is required")
        return self


class FaultBody(TypedDict):
    fault_id: int
    api: str
    error: str | None
    delay_ms: int
    disconnect: str | None
    times: int | None
    topic: str | None
    group: str | None
    client_id: str | None
    #: Requests so far.
    matched: int


class MoveCoordinator(RequestModel, json_schema_extra=example(group="invoices")):
    group: str = Field(min_length=1)


class AdvanceClock(RequestModel, json_schema_extra=example(advance_ms=600_000)):
    advance_ms: int = Field(ge=0, le=MAX_ADVANCE_MS, description="Never backward.")


class ClockBody(TypedDict):
    now_ms: int
    #: By all requests together.
    advanced_ms: int


class ResetDone(TypedDict):
    """What was deleted."""

    topics: int
    groups: int


class SnapshotBody(TypedDict):
    snapshot_id: str
