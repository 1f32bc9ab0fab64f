"""Testing: faults, time, reset and snapshots of a broker with `testing`."""

from __future__ import annotations

from collections.abc import Collection

from starlette.requests import Request
from starlette.responses import Response

from interfaces.rest.errors import RestError
from interfaces.rest.exchange import exchange_of
from interfaces.rest.pending import outcome_of
from interfaces.rest.responses import JsonResponse
from interfaces.rest.routes.resource import ShortRoutes, delete, get, post
from interfaces.rest.shapes.common import ListOf, fields
from interfaces.rest.shapes.testing import (
    AdvanceClock,
    ClockBody,
    FaultBody,
    MoveCoordinator,
    NewFault,
    ResetDone,
    SnapshotBody,
)
from interfaces.rest.testing import Testing
from interfaces.suggestions import did_you_mean


class TestingRoutes(ShortRoutes):
    tag = "testing"
    prefix = "/test"

    @property
    def _testing(self) -> Testing:
        assert self._admin.testing is not None
        return self._admin.testing

    @post("/faults", FaultBody, status_code=201)
    async def add_fault(self, body: NewFault) -> JsonResponse:
        """Applies to the next requests that match, of any connection."""
        faults = self._testing.faults
        _check_name("api", body.api, faults.apis)
        if body.error is not None:
            _check_name("error", body.error, faults.errors)
        return JsonResponse(fields(FaultBody, faults.add(**dict(body))), 201)

    @get("/faults", ListOf[FaultBody])
    async def list_faults(self, request: Request) -> Response:
        """Also those that have matched as often as they should."""
        bodies = (fields(FaultBody, each) for each in self._testing.faults.all())
        return await self._list(request, "FaultList", bodies)

    @delete("/faults")
    async def delete_faults(self) -> Response:
        self._testing.faults.clear()
        return Response(status_code=204)

    @delete("/faults/{fault_id}")
    async def delete_fault(self, fault_id: int) -> Response:
        if not self._testing.faults.remove(fault_id):
            raise RestError(404, f"there is no fault {fault_id}")
        return Response(status_code=204)

    @post("/coordinator", FaultBody, status_code=201)
    async def move_coordinator(self, body: MoveCoordinator) -> JsonResponse:
        """Requests of the group get NOT_COORDINATOR until their client sends FindCoordinator."""
        return JsonResponse(
            fields(FaultBody, self._testing.faults.move_coordinator(body.group)), 201
        )

    @get("/clock", ClockBody)
    async def get_clock(self) -> JsonResponse:
        return self._clock()

    @post("/clock", ClockBody)
    async def advance_clock(self, body: AdvanceClock) -> JsonResponse:
        """Timers that are due fire before the response: sessions, retention of offsets, ..."""
        await self._testing.advance(body.advance_ms)
        return self._clock()

    def _clock(self) -> JsonResponse:
        body = ClockBody(now_ms=self._admin.clock.now_ms(), advanced_ms=self._testing.advanced_ms)
        return JsonResponse(body)

    @post("/reset", ResetDone)
    async def reset(self, request: Request) -> JsonResponse:
        """Deletes all topics, groups, committed offsets, dynamic configs, ACLs, quotas, faults, and
        users other than super users and one's own, durably."""
        catalog, groups = self._broker.catalog, self._broker.groups.registry
        body = ResetDone(topics=len(catalog), groups=len(groups))
        self._testing.faults.clear()
        by = exchange_of(request).principal
        failure = await outcome_of(lambda: self._broker.reset.reset(by))
        if failure is not None:
            raise failure
        return JsonResponse(body)

    @post("/snapshots", SnapshotBody, status_code=201)
    async def take_snapshot(self) -> JsonResponse:
        """Of topics with their ids, records, producers, groups, offsets and configs."""
        return JsonResponse(SnapshotBody(snapshot_id=self._testing.take_snapshot()), 201)

    @post("/snapshots/{snapshot_id}/restore", SnapshotBody)
    async def restore_snapshot(self, snapshot_id: str) -> JsonResponse:
        """Replaces all data; connections of Kafka clients end, as with a restart of the broker."""
        await self._testing.restore_snapshot(snapshot_id)
        return JsonResponse(SnapshotBody(snapshot_id=snapshot_id))

    @delete("/snapshots/{snapshot_id}")
    async def delete_snapshot(self, snapshot_id: str) -> Response:
        await self._testing.delete_snapshot(snapshot_id)
        return Response(status_code=204)


def _check_name(field: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        raise RestError(422, f"{field}: unknown name {name}{did_you_mean(name, known)}", 42201)
