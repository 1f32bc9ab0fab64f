"""Raw producers and Kafka producers on one stream, and a broker that dies: acknowledged records are
at their positions.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from tests.crash.broker import VIOLENT, Broker, Nursery
from tests.crash.faults import RAW_FAULTS
from tests.crash.ledger import Broken
from tests.crash.points import ENGINES, FLUSHES
from tests.crash.raw_stream import SETTINGS, StreamLedger
from tests.crash.store import check_store

RAW_PRODUCERS = 4
POINTS = [
    f"positions: {moment}"
    for moment in (
        "staged, first",
        "staged, again",
        "before the commit",
        "committed, no response sent",
    )
]
#: In a commit, or after its positions are sent.
OTHER_POINTS = ["within a commit", "all responses of a pass are sent"]


def live(
    ledger: StreamLedger,
    points: list[str],
    fault: str | None = None,
    kafka_producers: int = 1,
    most_passages: int = 12,
) -> None:
    """A death at each point; an empty one is SIGKILL at a random moment."""
    broker, chance = ledger.broker, ledger.chance
    assert broker.start()
    ledger.create_topic()
    broker.kill()
    for point in points:
        passage = chance.randint(1, most_passages)
        moment_us = int(10 ** chance.uniform(0, 3))
        plan: dict[str, Any] = {}
        if point:
            plan = {"point": point, "passage": passage, "moment_us": moment_us}
        assert broker.start(fault=fault, **plan)
        seconds = chance.uniform(0.01, 0.15)
        ledger.produce(RAW_PRODUCERS, kafka_producers, seconds, until_it_dies=bool(point))
        assert broker.wait() in VIOLENT
        assert broker.start(fault=fault)
        ledger.check()
        broker.kill()


@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    ("flush", "engine"), [*((flush, "lmdb") for flush in FLUSHES), ("interval", "files")]
)
def test_acknowledged_records_are_at_their_positions(
    nursery: Nursery, tmp_path: Path, flush: str, engine: str
) -> None:
    broker = Broker(nursery, tmp_path, flush, settings=SETTINGS, engine=engine)
    ledger = StreamLedger(broker, random.Random(flush))
    live(ledger, ["", ledger.chance.choice(OTHER_POINTS), ledger.chance.choice(POINTS)])
    assert ledger.acknowledged and ledger.stored
    check_store(tmp_path / "data", engine)
    assert '"level":"error"' not in broker.log(1 << 20)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("flush", FLUSHES)
def test_acknowledged_records_are_at_their_positions_after_many_deaths(
    nursery: Nursery, tmp_path: Path, flush: str, engine: str
) -> None:
    """New seeds each time; OTTLA_TEST_SEED sets the first."""
    first = int(os.environ.get("OTTLA_TEST_SEED", "") or int.from_bytes(os.urandom(3), "big"))
    for seed in range(first, first + 10):
        print(f"seed {seed}")
        folder = tmp_path / str(seed)
        folder.mkdir()
        broker = Broker(nursery, folder, flush, settings=SETTINGS, engine=engine)
        ledger = StreamLedger(broker, random.Random(seed))
        points = ["", "", *OTHER_POINTS, *POINTS] * 2
        ledger.chance.shuffle(points)
        live(ledger, points)
        check_store(folder / "data", engine)


@pytest.mark.parametrize("fault", RAW_FAULTS)
def test_an_injected_fault_is_found(fault: str, nursery: Nursery, tmp_path: Path) -> None:
    broker = Broker(nursery, tmp_path, "os", settings=SETTINGS)
    ledger = StreamLedger(broker, random.Random(fault))
    try:
        with pytest.raises(Broken, match=r"lost, or elsewhere|two records|has changed|read"):
            # Positions of batches that wait for the index are found again.
            live(ledger, [RAW_FAULTS[fault][1]] * 8, fault, kafka_producers=0, most_passages=3)
    finally:
        broker.kill()
