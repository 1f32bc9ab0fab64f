"""Broker: a broker process, and what tests do with it without a client library."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from interfaces.embed.admin import Admin
from interfaces.embed.aio import Aio
from interfaces.embed.process import BrokerProcess
from interfaces.embed.records import Data, Headers, Record, entries_of, record_of
from interfaces.embed.rest import RestError
from interfaces.embed.testing import Clock, Duration, Fault, milliseconds

Found = TypeVar("Found")

#: Between two looks; it doubles up to the second.
WAIT_S = (0.002, 0.05)
PAGE = {"format": "base64", "order": "oldest", "limit": 10_000}

#: Error codes of REST: no such topic, group or committed offset yet.
MISSING = (40403, 40404, 40408)


class Broker(BrokerProcess):
    """The methods that use REST raise RestError if the broker refuses a request."""

    @property
    def admin(self) -> Admin:
        """Topics, groups, offsets and configs."""
        return Admin(self.rest)

    @property
    def aio(self) -> Aio:
        """The same methods as coroutines: `await broker.aio.produce("orders", b"coffee")`."""
        return Aio(self)

    def create_topic(
        self, topic: str, partitions: int = 1, configs: dict[str, object] | None = None
    ) -> None:
        self.admin.create_topic(topic, partitions, configs)

    def delete_topic(self, topic: str) -> None:
        self.admin.delete_topic(topic)

    def produce(
        self,
        topic: str,
        *values: Data,
        key: Data = None,
        headers: Headers = (),
        partition: int | None = None,
    ) -> None:
        """Returns when the records are durable. The topic has to exist."""
        for entries in entries_of(values, key, headers, partition):
            sent = self.rest.post("topics", topic, "records:batch", body={"entries": entries})
            for failure in sent["failures"]:
                raise RestError(failure["error_code"], failure["message"])

    def records(self, topic: str) -> list[Record]:
        """All records, in the order of partitions and offsets."""
        found: list[Record] = []
        cursor = None
        while True:
            page = self.rest.get("topics", topic, "records", cursor=cursor, **PAGE)
            found += [record_of(topic, body) for body in page["data"]]
            cursor = page["next_cursor"]
            if cursor is None:
                return sorted(found, key=lambda record: (record.partition, record.offset))

    def wait_for_records(self, topic: str, count: int, timeout_s: float = 10.0) -> list[Record]:
        """Returns all records of the topic as soon as there are `count`; raises TimeoutError."""
        seen = 0

        def look() -> list[Record] | None:
            nonlocal seen
            seen = sum(log.end - log.start for log in self.admin.offsets(topic).values())
            return self.records(topic) if seen >= count else None

        return _wait(look, timeout_s, lambda: f"{topic} has {seen} of {count} records")

    def wait_for_lag(self, group: str, lag: int = 0, timeout_s: float = 10.0) -> None:
        """Until the group has committed offsets, with `lag` or less in all; raises TimeoutError."""
        lags: dict[tuple[str, int], int] = {}

        def look() -> bool | None:
            nonlocal lags
            lags = self.admin.lag(group)
            return True if lags and sum(lags.values()) <= lag else None

        def state() -> str:
            shown = ", ".join(f"{topic}-{index}: {n}" for (topic, index), n in lags.items())
            return f"group {group} has " + (f"lag {shown}" if lags else "no committed offsets")

        _wait(look, timeout_s, state)

    def fail(
        self,
        api: str = "*",
        error: str | None = None,
        *,
        delay: Duration = 0,
        disconnect: str | None = None,
        times: int | None = 1,
        topic: str | None = None,
        group: str | None = None,
        client_id: str | None = None,
    ) -> Fault:
        """The next requests that match get `error`, as "NOT_LEADER_OR_FOLLOWER", or lose their
        connection "before" they are handled or "after" it, or are only delayed. `times`: how many;
        None is all, until the fault is removed.
        """
        fields: dict[str, object] = {
            "api": api,
            "error": error,
            "delay_ms": milliseconds(delay),
            "disconnect": disconnect,
            "times": times,
            "topic": topic,
            "group": group,
            "client_id": client_id,
        }
        return Fault(self.rest, fields)

    def move_coordinator(self, group: str) -> None:
        """Each client of the group gets NOT_COORDINATOR until it looks for the coordinator."""
        self.rest.post("test", "coordinator", body={"group": group})

    @property
    def clock(self) -> Clock:
        """The clock of the broker: `broker.clock.advance("10m")`."""
        return Clock(self.rest)

    def reset(self) -> None:
        """Deletes all topics, groups, dynamic configs and faults; clients stay connected."""
        self.rest.post("test", "reset", body=None)

    def snapshot(self) -> str:
        """Of all data; for `restore`."""
        taken: str = self.rest.post("test", "snapshots", body=None)["snapshot_id"]
        return taken

    def restore(self, snapshot: str) -> None:
        """Replaces all data. Connections of clients end, as when a broker restarts."""
        self.rest.post("test", "snapshots", snapshot, "restore", body=None)


def _wait(look: Callable[[], Found | None], timeout_s: float, state: Callable[[], str]) -> Found:
    """Repeats `look` until it returns something."""
    deadline = time.monotonic() + timeout_s
    pause_s, longest_s = WAIT_S
    while True:
        try:
            found = look()
        except RestError as error:
            if error.error_code not in MISSING:
                raise
            found = None
        if found is not None:
            return found
        if time.monotonic() > deadline:
            raise TimeoutError(f"{state()} after {timeout_s:g} s")
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, longest_s)
