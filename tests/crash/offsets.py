"""Commits offsets, and checks which of them persist after a restart."""

from __future__ import annotations

from interfaces.kafka.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from interfaces.kafka.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
)
from interfaces.kafka.wire.schema import Request
from tests.crash.fleet import Client
from tests.crash.ledger import Broken
from tests.crash.topics import Topic, Topics
from tests.e2e.raw_client import RawClient, Reader

VERSION, FETCH_VERSION = 9, 8
#: The tagged fields after the correlation id of a flexible response.
TAGS = 5
UNKNOWN_TOPIC, LOADING, NOT_AVAILABLE, STORAGE = 3, 14, 15, 56
#: Error codes while a store fails.
REFUSED = (NOT_AVAILABLE, STORAGE)
IN_FLIGHT = 5


class OffsetLedger:
    """Offsets of one topic in one group: each request commits one number for all partitions."""

    def __init__(self, group_id: str, topic: Topic) -> None:
        self.group_id, self.topic, self.partitions = group_id, topic, topic.partitions
        self.sent = 0
        #: The largest offset that was acknowledged, or read after a restart.
        self.acknowledged = 0

    def check(self, found: dict[int, tuple[int, str]]) -> None:
        where = f"{self.group_id}: {self.topic.name}"
        if not found and not self.acknowledged:
            return
        numbers = {number for number, _ in found.values()}
        if len(numbers) != 1 or len(found) != self.partitions:
            raise Broken(f"{where}: a request is persisted in parts: {found}")
        (number,) = numbers
        if number < self.acknowledged:
            raise Broken(f"{where}: {self.acknowledged} was committed, and it is at {number}")
        if number > self.sent:
            raise Broken(f"{where}: no client committed {number}")
        if any(metadata != _metadata(number) for _, metadata in found.values()):
            raise Broken(f"{where}: {found} is with other metadata")
        self.acknowledged = number


class Ledgers:
    """Offsets of all groups."""

    def __init__(self) -> None:
        #: By group and topic; a name may be reused for another topic.
        self.by_topic: dict[tuple[str, Topic], OffsetLedger] = {}

    def of(self, group_id: str, topic: Topic) -> OffsetLedger:
        key = group_id, topic
        if key not in self.by_topic:
            self.by_topic[key] = OffsetLedger(group_id, topic)
        return self.by_topic[key]

    def check(self, client: RawClient, topics: Topics) -> None:
        for group_id in sorted({group_id for group_id, _ in self.by_topic}):
            found = _fetch(client, group_id)
            for (owner, topic), ledger in self.by_topic.items():
                if owner == group_id and topics.by_name.get(topic.name) is topic:
                    ledger.check(found.pop(topic.name, {}))
            for topic in found:
                raise Broken(f"{group_id} has offsets of {topic}, which is not there")


def _fetch(client: RawClient, group_id: str) -> dict[str, dict[int, tuple[int, str]]]:
    """Waits until the broker has loaded its offsets."""
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group_id, topics=None)])
    while True:
        body = b"\0" + b"".join(request.encode(FETCH_VERSION))
        response = client.request(request.api_key, FETCH_VERSION, body)
        [group] = OffsetFetchResponse.decode(FETCH_VERSION, response.data, TAGS)[0].groups
        if group.error_code == LOADING:
            continue
        if group.error_code:
            raise Broken(f"{group_id}: its offsets cannot be read: error {group.error_code}")
        return {
            topic.name: {
                one.partition_index: (one.committed_offset, one.metadata or "")
                for one in topic.partitions
            }
            for topic in group.topics
        }


def _metadata(number: int) -> str:
    return f"number {number}" * (number % 4)


def commit_request(
    ledger: OffsetLedger, number: int, member_id: str = "", generation: int = -1
) -> OffsetCommitRequest:
    partitions = [
        OffsetCommitRequestPartition(
            partition_index=index, committed_offset=number, committed_metadata=_metadata(number)
        )
        for index in range(ledger.partitions)
    ]
    return OffsetCommitRequest(
        group_id=ledger.group_id,
        member_id=member_id,
        generation_id_or_member_epoch=generation,
        topics=[OffsetCommitRequestTopic(name=ledger.topic.name, partitions=partitions)],
    )


def codes_of_commit(response: Reader) -> set[int]:
    found = OffsetCommitResponse.decode(VERSION, response.data, TAGS)[0]
    return {one.error_code for topic in found.topics for one in topic.partitions}


def flexible(request: Request, version: int) -> bytes:
    return b"\0" + b"".join(request.encode(version))


class OffsetCommitter(Client):
    """Commits without membership; several requests in flight, each with a larger number."""

    def __init__(self, name: str, topics: Topics, ledgers: Ledgers) -> None:
        super().__init__(name)
        self.topics, self.ledgers = topics, ledgers

    def send_next(self) -> None:
        main = self.topics.main
        while len(self.pending) < IN_FLIGHT:
            ledger = self.ledgers.of(self.name, main)
            ledger.sent += 1
            request = commit_request(ledger, ledger.sent)
            context = ledger, ledger.sent
            self.send_request(request.api_key, VERSION, flexible(request, VERSION), context)

    def on_response(self, context: tuple[OffsetLedger, int], response: Reader) -> None:
        ledger, number = context
        codes = codes_of_commit(response)
        if codes == {0}:
            ledger.acknowledged = max(ledger.acknowledged, number)
        elif codes == {NOT_AVAILABLE} and self.may_lack_coordinator:
            pass  # the next one may succeed
        elif not codes <= {LOADING} and not (self.storage_may_fail and codes <= set(REFUSED)):
            raise Broken(f"{self.name}: OffsetCommit failed with {codes}")
