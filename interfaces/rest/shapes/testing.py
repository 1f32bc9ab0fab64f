"""Bodies of the routes under /test/."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from typing_extensions import TypedDict

from interfaces.rest.shapes.common import RequestModel

#: Ten years.
MAX_ADVANCE_MS = 3653 * 86_400_000

Disconnect = Literal["before", "after"]


class NewFault(RequestModel):
    """Requests that match get `error`, or lose their connection, or are only delayed."""

    api: Annotated[
        str, Field(description="As in Kafka's protocol; * is every API.", examples=["Produce"])
    ]
    error: Annotated[
        str | None,
        Field(
            description="Kafka's name of an error code: the request is not handled.",
            examples=["NOT_LEADER_OR_FOLLOWER"],
        ),
    ] = None
    delay_ms: Annotated[
        int, Field(ge=0, le=3_600_000, description="Before anything else happens.", examples=[0])
    ] = 0
    disconnect: Annotated[
        Disconnect | None,
        Field(
            description="before: the connection closes and the request is not handled; after: the "
            "request is handled and durable, and the connection closes in place of the response.",
            examples=[None],
        ),
    ] = None
    times: Annotated[
        int | None,
        Field(ge=1, le=2**31 - 1, description="null: until the fault is removed.", examples=[1]),
    ] = 1
    topic: Annotated[
        str | None, Field(description="Only requests that name it.", examples=["orders"])
    ] = None
    group: Annotated[
        str | None, Field(description="Only requests that name it.", examples=[None])
    ] = None
    client_id: Annotated[
        str | None, Field(description="Only requests of this client id.", examples=[None])
    ] = None

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


class MoveCoordinator(RequestModel):
    group: Annotated[str, Field(min_length=1, examples=["billing"])]


class AdvanceClock(RequestModel):
    advance_ms: Annotated[
        int, Field(ge=0, le=MAX_ADVANCE_MS, description="Never backward.", examples=[600_000])
    ]


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
