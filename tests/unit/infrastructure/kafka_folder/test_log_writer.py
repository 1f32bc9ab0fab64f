"""What Kafka 4.2 wrote for the same batches: tests/golden/kafka_folder/partition.json.

It had a topic with index.interval.bytes=300 and segment.ms=60000, two producers, and transactions.
"""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path

from domain.messages.batch import batches_in
from domain.partitions.transactions import AbortedTransaction
from infrastructure.kafka_folder import files
from infrastructure.kafka_folder.checkpoints import checkpoint, partition_metadata
from infrastructure.kafka_folder.log_writer import LogWriter
from infrastructure.kafka_folder.producer_snapshot import entry_of, read_snapshot, snapshot
from tests.fakes.batches import record_batch

GOLDEN = Path(__file__).parents[3] / "golden/kafka_folder/partition.json"
WRITTEN = {
    name: base64.b64decode(content) for name, content in json.loads(GOLDEN.read_text()).items()
}
SEGMENT_BYTES, SEGMENT_MS, INTERVAL_BYTES, END = 1 << 30, 60_000, 300, 54


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_segments_and_indexes_are_those_of_kafka(tmp_path: Path) -> None:
    log = LogWriter(tmp_path, SEGMENT_BYTES, SEGMENT_MS, 0, INTERVAL_BYTES)
    for name in sorted(WRITTEN):
        if name.endswith(".log"):
            for batch in batches_in(WRITTEN[name]):
                log.append(batch)
    [index] = [content for name, content in WRITTEN.items() if name.endswith(".txnindex")]
    for _version, *entry in struct.iter_unpack(">hqqqq", index):
        log.add_aborted(AbortedTransaction(*entry))
    log.close(END)
    log.write(files.LEADER_EPOCHS, checkpoint(["0 0"]))
    topic_id = base64.urlsafe_b64decode(WRITTEN[files.PARTITION_METADATA].split()[-1] + b"==")
    log.write(files.PARTITION_METADATA, partition_metadata(topic_id))
    written = {name: one for name, one in WRITTEN.items() if not name.endswith(".snapshot")}
    assert contents(tmp_path) == written


def test_a_snapshot_of_producers_is_that_of_kafka(tmp_path: Path) -> None:
    golden = WRITTEN[f"{END:020d}.snapshot"]
    path = tmp_path / "snapshot"
    path.write_bytes(golden)
    states = [entry.state() for entry in read_snapshot(path)]
    assert states
    assert snapshot(map(entry_of, states)) == golden


def test_a_segment_ends_at_its_size(tmp_path: Path) -> None:
    batch = record_batch(["x" * 60])
    log = LogWriter(tmp_path, 2 * len(batch), SEGMENT_MS)
    for offset in range(5):
        log.append(next(batches_in(bytes(record_batch(["x" * 60], base_offset=offset)))))
    log.close(5)
    names = sorted(path.name for path in tmp_path.glob("*.log"))
    assert names == [f"{offset:020d}.log" for offset in (0, 2, 4)]


def test_a_log_without_batches_has_an_empty_segment(tmp_path: Path) -> None:
    LogWriter(tmp_path, 1, 1).close(7)
    assert contents(tmp_path) == {f"{7:020d}.{kind}": b"" for kind in ("index", "log", "timeindex")}
