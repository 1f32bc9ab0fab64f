"""Deletes records of short-lived topics: a log starts at the requested offset or later."""

from __future__ import annotations

import random
import struct
from typing import NamedTuple

from tests.crash.fleet import Client
from tests.crash.ledger import ALL, Broken, PartitionLedger
from tests.crash.topics import Topic, Topics
from tests.e2e.raw_client import LIST_OFFSETS, Reader, array, string

DELETE_RECORDS = 21
UNKNOWN_TOPIC, STORAGE_ERROR = 3, 56


class Deletion(NamedTuple):
    topic: Topic
    index: int
    offset: int

    @property
    def ledger(self) -> PartitionLedger:
        return self.topic.ledger(self.index)


class Deleter(Client):
    def __init__(self, chance: random.Random, topics: Topics) -> None:
        super().__init__("deleter")
        self.chance, self.topics = chance, topics

    def send_next(self) -> None:
        if self.pending:
            return
        others = self.topics.others()
        if others and self.chance.random() < 0.3:
            self._delete(self.chance.choice(others))
        else:
            deletion = string(self.topics.main.name) + array([struct.pack(">iq", 0, -1)])
            self.send_request(LIST_OFFSETS, 1, struct.pack(">i", -1) + array([deletion]), None)

    def _delete(self, topic: Topic) -> None:
        index = self.chance.randrange(topic.partitions)
        # Acknowledged deletions persist.
        offsets = [ALL, *topic.ledger(index).acknowledged]
        deletion = Deletion(topic, index, self.chance.choice(offsets))
        deletion.ledger.deletion_requested(deletion.offset)
        row = struct.pack(">iq", index, deletion.offset)
        body = array([string(topic.name) + array([row])]) + struct.pack(">i", 30_000)
        self.send_request(DELETE_RECORDS, 1, body, deletion)

    def on_response(self, context: Deletion | None, response: Reader) -> None:
        if context is None:
            return
        response.take("ii")
        response.string()
        _count, _index, low_watermark, error = response.take("iiqh")
        topic = context.topic
        if error == 0:
            if low_watermark < context.offset:
                raise Broken(f"{context.ledger.name}: {context} gets {low_watermark}")
            context.ledger.deletes(low_watermark)
        elif error == STORAGE_ERROR and (self.storage_may_fail or self.reads_may_fail):
            pass
        elif error != UNKNOWN_TOPIC or not (topic.deleting or topic.topic_id in self.topics.gone):
            raise Broken(f"{context.ledger.name}: no records are deleted: error {error}")
