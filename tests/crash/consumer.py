"""Consumers beside the producers: records that a consumer has read must persist."""

from __future__ import annotations

from tests.crash.fleet import Client
from tests.crash.ledger import Broken, PartitionLedger
from tests.crash.topics import Topics
from tests.e2e.raw_client import FETCH, Reader, fetch_body, read_fetched, split_batches

STORAGE_ERROR = 56


class Consumer(Client):
    def __init__(self, topics: Topics) -> None:
        super().__init__("consumer")
        self.topics = topics
        self.turn = 0
        self.positions: dict[PartitionLedger, int] = {}

    def begin(self) -> None:
        super().begin()
        self.positions.clear()

    def send_next(self) -> None:
        if self.pending:
            return
        main = self.topics.main
        self.turn = (self.turn + 1) % main.partitions
        ledger = main.ledger(self.turn)
        position = self.positions.setdefault(ledger, ledger.next_offset_seen)
        body = fetch_body(main.name, self.turn, position, max_wait_ms=5, max_bytes=1 << 18)
        self.send_request(FETCH, 4, body, ledger)

    def on_response(self, context: PartitionLedger, response: Reader) -> None:
        fetched = read_fetched(response)
        if fetched.error == STORAGE_ERROR and self.reads_may_fail:
            return
        if fetched.error:
            raise Broken(f"{context.name} cannot be read: error {fetched.error}")
        if fetched.high_watermark < context.next_offset_seen:
            raise Broken(f"{context.name}: the high watermark fell to {fetched.high_watermark}")
        context.next_offset_seen = fetched.high_watermark
        for found in context.sees(split_batches(fetched.records)):
            self.positions[context] = found.next_offset
