"""A bit flip in the header of a stored batch harms no other partition, and ends every read."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from pathlib import Path

import lmdb
import pytest

from application.partitions import log_cleaner
from application.partitions.delete_records import RecordsToDelete
from application.partitions.fetch_query import FetchItem, FetchQuery
from application.partitions.list_offsets import MAX_TIMESTAMP, Search
from application.ports.pending import Pending
from application.records.filter import ALL_RECORDS
from application.records.plan import ScanPlan
from domain.errors import BrokerError
from domain.messages.batch import batches_in
from infrastructure.storage.lmdb.keys import KEY
from tests.fakes.batches import TIMESTAMP, record_batch
from tests.fakes.broker import InProcessBroker
from tests.fakes.compaction import messages_of

BATCHES = 4
#: An existing topic has deletions and compactions in time; so many passes are more than enough.
PASSES = 300


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two partitions, each with one entry of four batches."""
    folder = tmp_path_factory.mktemp("whole")
    broker = InProcessBroker(f"lmdb://{folder}")
    broker.topic("t", 2, retention_bytes="1")
    for number in range(BATCHES):
        for index in range(2):
            batch = record_batch([("k", "v", (), TIMESTAMP + number)] * 2)
            assert not isinstance(broker.append(batch, index=index), BrokerError)
    broker.run()
    broker.close()
    return folder


def flip(
    folder: Path, at: int, bits: int, last_offset: int = 2 * BATCHES - 1, batch: int = 1
) -> None:
    """In the header of a batch of the entry that ends at the offset."""
    with lmdb.Environment(str(folder), max_dbs=8, lib_version=0) as environment:
        batches = environment.open_db(b"batches", create=False)
        with environment.begin(write=True, db=batches) as txn:
            key = KEY.pack(0, last_offset)
            entry = bytearray(txn.get(key) or b"")
            entry[len(entry) // BATCHES * batch + at] ^= bits
            txn.put(key, bytes(entry))


def settled(broker: InProcessBroker, pending: object) -> object:
    """The result within a bounded number of passes; errors of the broker are results."""
    results: list[object] = []
    if not isinstance(pending, Pending):
        return pending
    pending.then(results.append, results.append)
    for _ in range(PASSES):
        if results:
            break
        broker.scheduler.advance(10)
    [result] = results
    assert isinstance(result, BrokerError) or not isinstance(result, Exception), result
    return result


def attempt(broker: InProcessBroker, call: Callable[[], object]) -> object:
    try:
        return settled(broker, call())
    except BrokerError as refused:
        return refused


def fetch(broker: InProcessBroker, index: int, offset: int) -> object:
    query = FetchQuery([FetchItem("t", bytes(16), index, offset, 1 << 20, -1)], 0, 1, 1 << 20, True)
    return attempt(broker, lambda: broker.broker.messages.fetch.fetch(query))


def find(broker: InProcessBroker, index: int, timestamp: int) -> object:
    service = broker.broker.messages.list_offsets
    search = attempt(broker, lambda: service.find(broker.partition("t", index), timestamp, False))
    if isinstance(search, Search):
        attempt(broker, lambda: service.complete([search]))
        assert search.result is not None
        return search.result
    return search


def browse(broker: InProcessBroker, index: int) -> Iterator[object]:
    service = broker.broker.messages.browse
    for newest_first in (False, True):
        options = ScanPlan([], ALL_RECORDS, newest_first=newest_first)
        plan = attempt(broker, lambda options=options: service.plan("t", [index], options))
        if not isinstance(plan, ScanPlan):
            yield plan
            continue
        scan = service.scan(plan)
        for _ in range(PASSES):
            part = attempt(broker, scan.next)
            if isinstance(part, BrokerError) or part.end is not None:
                break
        else:
            raise AssertionError("a scan without an end")
        yield part


def read_all(broker: InProcessBroker, index: int) -> list[object]:
    found = [fetch(broker, index, offset) for offset in range(2 * BATCHES)]
    found += [find(broker, index, TIMESTAMP + number) for number in range(BATCHES)]
    found += [find(broker, index, MAX_TIMESTAMP), *browse(broker, index)]
    return found


#: Ends of fields: base offset, length, magic, checksum, attributes, last offset delta, timestamps,
#: producer id, number of records, the first record.
ENDS = (0, 7, 8, 11, 16, 17, 22, 23, 26, 35, 42, 43, 57, 60, 61)


@pytest.mark.parametrize("places", [ENDS, pytest.param(range(62), marks=pytest.mark.long)])
def test_a_damaged_header_harms_no_other_partition_and_ends_no_job(
    whole: Path, tmp_path: Path, places: Sequence[int]
) -> None:
    for at, bits in zip(places, cycle((0x80, 0x01)), strict=False):
        folder = tmp_path / str(at)
        shutil.copytree(whole, folder)
        flip(folder, at, bits)
        broker = InProcessBroker(f"lmdb://{folder}", log_retention_check_interval_ms="10")
        read_all(broker, 0)
        assert broker.partition("t", 1).high_watermark == 2 * BATCHES
        assert not [one for one in read_all(broker, 1) if isinstance(one, BrokerError)]
        broker.broker.start_upkeep()  # retention removes all but the damage
        for _ in range(20):
            broker.scheduler.advance(500)
        assert broker.partition("t", 1).log_start_offset >= 2 * (BATCHES - 1)
        deletion = [RecordsToDelete("t", index, -1) for index in range(2)]
        attempt(
            broker,
            lambda broker=broker, deletion=deletion: broker.broker.messages.delete_records.delete(
                deletion
            ),
        )
        assert broker.partition("t", 1).log_start_offset == 2 * BATCHES
        broker.close()


@pytest.fixture(scope="module")
def compacted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Entries of four batches of one record; every third record has the same key."""
    folder = tmp_path_factory.mktemp("compacted")
    broker = InProcessBroker(f"lmdb://{folder}")
    broker.topic("t", cleanup_policy="compact", segment_ms="1", min_cleanable_dirty_ratio="0")
    for number in range(6 * BATCHES):
        key = f"{number:02}" if number % 3 else "00"
        batch = record_batch([(key, f"{number:02}", (), TIMESTAMP + 2 * number)])
        assert not isinstance(broker.append(batch), BrokerError)
        if number % BATCHES == BATCHES - 1:
            broker.run()
    broker.partition("t").request_snapshot()  # a start reads no headers
    broker.broker.commits.touch(broker.partition("t"))
    broker.run()
    broker.close()
    return folder


@pytest.mark.parametrize(
    "batch, bits, read_bytes",
    [(0, 8, 400), (1, 2, 1), (1, 2, 400)],
    ids=["8 is 0", "9 is 11, at the end of a read", "9 is 11"],
)
def test_compaction_removes_nothing_because_of_a_damaged_offset(
    compacted: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    batch: int,
    bits: int,
    read_bytes: int,
) -> None:
    monkeypatch.setattr(log_cleaner, "READ_BYTES_HERE", read_bytes)
    folder = shutil.copytree(compacted, tmp_path / "damaged")
    flip(folder, 7, bits, last_offset=11, batch=batch)
    broker = InProcessBroker(f"lmdb://{folder}", log_cleaner_backoff_ms="10")
    broker.broker.start_upkeep()
    broker.scheduler.advance(1000)
    partition_id = broker.partition("t").partition_id
    stored = broker.core.storage.log.read(partition_id, 0, 2**62, 2**62, True)
    left = [message.value for one in batches_in(stored) for message in messages_of(one)]
    assert len(left) == len(set(left))
    only = {b"%02d" % number for number in range(6 * BATCHES) if number % 3}
    assert only <= set(left)
    broker.close()
