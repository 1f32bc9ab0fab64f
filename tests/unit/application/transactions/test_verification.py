"""Reads of transactions that other brokers coordinate."""

from __future__ import annotations

from collections import deque

from application.ports.log_store import NotInMemory
from application.ports.pending import Pending
from application.transactions.verification import MOST_READS, Found, TransactionVerification
from infrastructure.cluster.placement import SingleNode


def test_more_requests_than_answers_are_remembered_all_get_theirs() -> None:
    """Each runs again when its read is done, and would read again if the answer was forgotten."""
    reads: deque[Pending[Found]] = deque()

    def read(transactional_id: str) -> Pending[Found]:
        reads.append(Pending())
        return reads[-1]

    verification = TransactionVerification(read, SingleNode(1, None, 0))
    done: set[int] = set()

    def request(number: int) -> None:
        try:
            verification.read((number, 1), f"t{number}", number)
        except NotInMemory as later:
            later.loading.then(lambda _: request(number))
        else:
            done.add(number)

    for number in range(MOST_READS + 1):
        request(number)
    for _ in range(MOST_READS + 1):
        reads.popleft().resolve(None)
    assert len(done) == MOST_READS + 1
    assert not reads
