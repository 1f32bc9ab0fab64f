"""Writes captured.jsonl: what a real Kafka appends to __transaction_state, and what its own
formatter prints of it.

    python -m tests.golden.capture_transaction_topic [--kafka LIBS]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from domain.features import TRANSACTION_VERSION, UNSAFE_DOWNGRADE
from domain.topics.topic import TRANSACTION_TOPIC
from domain.transactions.transaction import LAST_EPOCH
from interfaces.kafka.wire.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)
from interfaces.kafka.wire.messages.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from tests.e2e.broker_process import Address
from tests.golden.capture_offsets_topic import captured, printed, records
from tests.oracle.kafka import find_jars, running_kafka
from tests.oracle.scenario_run import ScenarioRun
from tests.oracle.transactions import Producer
from tests.tool import Arguments

FORMATTER = "TransactionLogMessageFormatter"
CAPTURED = Path(__file__).parent / "transaction_topic/captured.jsonl"
EXHAUSTED = "exhausted"
EXPIRATION_MS = 15_000
SETTINGS = f"""
transactional.id.expiration.ms={EXPIRATION_MS}
transaction.remove.expired.transaction.cleanup.interval.ms=1000
"""


def story(address: Address) -> None:
    """Commits and aborts of both transaction versions, offsets, a fenced producer."""
    run = ScenarioRun(address, "golden", "transactions", 0)
    one, other = run.topic("a", 3), run.topic("b")
    producer = Producer(run)
    producer.add(one, 0, 2)
    producer.add(other)
    producer.end()
    producer.add(one, 1)
    offsets = AddOffsetsToTxnRequest(
        transactional_id=producer.name,
        producer_id=producer.id,
        producer_epoch=producer.epoch,
        group_id="Grüße",
    )
    assert run.call(offsets, AddOffsetsToTxnResponse, 3).error_code == 0
    producer.end(committed=False, version=5)
    producer.add(other)
    producer.init()
    run.close()


def exhaust(address: Address) -> None:
    """A producer whose last transaction ends with the last epoch, and gets a new producer id."""
    run = ScenarioRun(address, "golden", "transactions", 1)
    topic, producer = run.topic("a"), Producer(run, EXHAUSTED)
    while producer.epoch < LAST_EPOCH:
        producer.init()
    producer.add(topic)
    producer.end(version=5)
    run.close()


def version_0(address: Address) -> None:
    run = ScenarioRun(address, "golden", "transactions", 2)
    key = FeatureUpdateKey(
        feature=TRANSACTION_VERSION, max_version_level=0, upgrade_type=UNSAFE_DOWNGRADE
    )
    updated = run.call(UpdateFeaturesRequest(feature_updates=[key]), UpdateFeaturesResponse, 1)
    assert updated.error_code == 0, updated
    producer = Producer(run)
    producer.add(run.topic("a", 2), 0, 1)
    producer.end()
    run.close()


def main(arguments: list[str]) -> None:
    parser = Arguments(prog="tests.golden.capture_transaction_topic")
    parser.add_argument("--kafka", type=Path, help="a folder with the jars of a Kafka 4.2")
    jars = parser.parse_args(arguments).kafka or find_jars()
    with (
        tempfile.TemporaryDirectory() as folder,
        running_kafka(jars, Path(folder), SETTINGS) as address,
    ):
        for part in (story, exhaust, version_0):
            part(address)
        time.sleep(EXPIRATION_MS / 1000 + 3)  # then come the tombstones
        found = records(address, TRANSACTION_TOPIC)
        shown = printed(address, jars, FORMATTER, TRANSACTION_TOPIC)
    of_exhausted = [at for at, one in enumerate(shown) if EXHAUSTED in str(one["key"])]
    # The others differ in the epoch only.
    dropped = set(of_exhausted[2:-6])
    lines = list(captured(found, {0: iter(shown)}))
    CAPTURED.parent.mkdir(exist_ok=True)
    CAPTURED.write_text("".join(one for at, one in enumerate(lines) if at not in dropped))


if __name__ == "__main__":
    main(sys.argv[1:])
