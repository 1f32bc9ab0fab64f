"""Polls committed offsets and assignments of groups."""

from __future__ import annotations

import struct
import threading
from collections.abc import Iterable, Mapping
from typing import Self

from interfaces.kafka.wire.messages import consumer_group_describe as described
from tests.e2e.broker_process import Address
from tests.e2e.groups.churn.history import GroupChecker, Place, View
from tests.e2e.raw_client import RawClient, Reader, array, string

OFFSET_FETCH, DESCRIBE_GROUPS, CONSUMER_GROUP_DESCRIBE = 9, 15, 69
COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, GROUP_ID_NOT_FOUND = 14, 15, 69
PAUSE_S = 0.02
ALL_TOPICS = struct.pack(">i", -1)


class CoordinatorNotAvailable(Exception):
    """The broker has just started, or is between two sessions."""


def fetched_offsets(client: RawClient, group: str) -> dict[Place, int]:
    frame = client.request(OFFSET_FETCH, 2, string(group) + ALL_TOPICS)
    found = {}
    for _ in range(frame.take("i")[0]):
        topic = frame.string()
        for _ in range(frame.take("i")[0]):
            partition, offset = frame.take("iq")
            _metadata = frame.string()
            [error] = frame.take("h")
            assert error == 0, f"OffsetFetch of {group}: error {error}"
            found[topic, partition] = offset
    [error] = frame.take("h")
    if error in (COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS):
        raise CoordinatorNotAvailable
    assert error == 0, f"OffsetFetch of {group}: error {error}"
    return {place: offset for place, offset in found.items() if offset >= 0}


def assigned_bytes(data: bytes) -> frozenset[Place]:
    """Decodes ConsumerProtocolAssignment."""
    if not data:
        return frozenset()
    reader = Reader(data)
    _version, topics = reader.take("hi")
    places = set()
    for _ in range(topics):
        topic = reader.string()
        for _ in range(reader.take("i")[0]):
            places.add((topic, reader.take("i")[0]))
    return frozenset(places)


def classic_view(client: RawClient, group: str) -> View:
    frame = client.request(DESCRIBE_GROUPS, 0, array([string(group)]))
    _count, error = frame.take("ih")
    assert error == 0, f"DescribeGroups of {group}: error {error}"
    _group, state, _kind, _protocol = (frame.string() for _ in range(4))
    assigned = {}
    for _ in range(frame.take("i")[0]):
        member, _client, _host = (frame.string() for _ in range(3))
        _metadata = frame.blob(frame.take("i")[0])
        assigned[member] = assigned_bytes(frame.blob(frame.take("i")[0]))
    return View(group, state == "Stable", assigned)


def consumer_view(client: RawClient, group: str) -> View:
    request = described.ConsumerGroupDescribeRequest(group_ids=[group])
    body = b"\0" + b"".join(bytes(piece) for piece in request.encode(0))
    frame = client.request(CONSUMER_GROUP_DESCRIBE, 0, body)
    response, _ = described.ConsumerGroupDescribeResponse.decode(0, frame.data, 5)
    [found] = response.groups
    if found.error_code == GROUP_ID_NOT_FOUND:  # a classic group
        return classic_view(client, group)
    assert found.error_code == 0, f"ConsumerGroupDescribe of {group}: error {found.error_code}"
    return View(
        group,
        found.group_state == "Stable",
        {member.member_id: places(member.assignment) for member in found.members},
        {member.member_id: places(member.target_assignment) for member in found.members},
        found.group_epoch,
    )


def places(assignment: described.Assignment) -> frozenset[Place]:
    return frozenset(
        (topic.topic_name, partition)
        for topic in assignment.topic_partitions
        for partition in topic.partitions
    )


class Watcher:
    """Polls in a thread until the context ends."""

    def __init__(self, address: Address, checkers: Iterable[GroupChecker], protocol: str) -> None:
        self.address, self.checkers = address, {one.group: one for one in checkers}
        self.view = classic_view if protocol == "classic" else consumer_view
        self.newest: Mapping[str, View] = {}
        self.failure: BaseException | None = None
        self.enough, self.looked = threading.Event(), threading.Condition()
        self.thread = threading.Thread(target=self.watch, daemon=True)

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_failure: object) -> None:
        self.enough.set()
        self.thread.join()

    def watch(self) -> None:
        try:
            with self.address.connect() as client:
                while not self.enough.wait(PAUSE_S):
                    self.look(client)
        except BaseException as failure:
            self.failure = failure
            raise
        finally:
            with self.looked:
                self.looked.notify_all()

    def look(self, client: RawClient) -> None:
        newest = {}
        for group, checker in self.checkers.items():
            checker.fetched(fetched_offsets(client, group))
            newest[group] = self.view(client, group)
            checker.saw(newest[group])
        with self.looked:
            self.newest = newest
            self.looked.notify_all()

    def settled(self) -> bool:
        return bool(self.newest) and all(
            self.checkers[group].settled(view) for group, view in self.newest.items()
        )

    def wait_until_settled(self, patience_s: float) -> None:
        with self.looked:
            self.looked.wait_for(lambda: self.failure or self.settled(), patience_s)
        if self.failure:
            raise self.failure
        assert self.settled(), f"not settled within {patience_s} s: {self.newest}"
