"""A broker that stores in files is killed under load: Kafka's tool finds nothing wrong in them."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.crash.broker import Broker, Nursery
from tests.crash.deaths import killed_after
from tests.crash.life import Life
from tests.crash.points import FILES_POINTS_OF_COMPACTION, FLUSHES
from tests.crash.test_compaction import SETTINGS, SMALL, KeyedLog, die_at
from tests.e2e.kafka_folder.dumped import files_of, problems
from tests.oracle.kafka import JAVA, KafkaNotFound, find_jars

#: Files of a check at least, so that it says something.
FEWEST = 3
LONG_LIVES = 10


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as nursery:
        yield nursery


@pytest.fixture(scope="module")
def java() -> list[str]:
    try:
        return [*JAVA, "-cp", f"{find_jars()}/*"]
    except KafkaNotFound as reason:
        pytest.skip(str(reason))


def check(java: Sequence[str], store: Path, with_active: bool, gaps: bool = False) -> None:
    files = files_of(store, with_active)
    assert len(files) >= FEWEST
    assert problems(java, files, gaps) == []


def check_life(java: Sequence[str], life: Life, deaths: int) -> None:
    for _ in range(deaths):
        life.live(killed_after(life.chance.randrange(300, 600), life.chance))
    check(java, life.broker.folder / "data", with_active=False)
    assert life.broker.start()
    life._check()
    life.broker.kill()
    check(java, life.broker.folder / "data", with_active=True)


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("flush", FLUSHES)
def test_kafka_reads_what_many_killed_brokers_have_written(
    flush: str, java: Sequence[str], nursery: Nursery, tmp_path: Path
) -> None:
    """New seeds each time; OTTLA_TEST_SEED sets the first."""
    first = int(os.environ.get("OTTLA_TEST_SEED", "") or int.from_bytes(os.urandom(3), "big"))
    for seed in range(first, first + LONG_LIVES):
        print(f"seed {seed}")
        check_life(java, Life(nursery, tmp_path / str(seed), seed, flush, engine="files"), 4)
        shutil.rmtree(tmp_path / str(seed))


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("flush", FLUSHES)
def test_kafka_reads_what_a_broker_has_compacted_that_was_killed(
    flush: str, java: Sequence[str], nursery: Nursery, tmp_path: Path
) -> None:
    for number, point in enumerate(FILES_POINTS_OF_COMPACTION):
        folder = tmp_path / str(number)
        folder.mkdir()
        broker = Broker(nursery, folder, flush, settings=(*SETTINGS, SMALL), engine="files")
        log = KeyedLog(broker, random.Random(f"{flush} {number}"))
        die_at(log, [point])
        check(java, folder / "data", with_active=False, gaps=True)
        assert broker.start()
        log.check()
        broker.kill()
        check(java, folder / "data", with_active=True, gaps=True)


@pytest.mark.long
@pytest.mark.parametrize(("suffix", "place"), [(".log", -1), (".index", -1), (".timeindex", 7)])
def test_kafkas_tool_finds_a_changed_byte(
    suffix: str, place: int, java: Sequence[str], nursery: Nursery, tmp_path: Path
) -> None:
    life = Life(nursery, tmp_path, 1, "commit", engine="files")
    life.live(killed_after(300, life.chance))
    files = files_of(tmp_path / "data", with_active=False)
    changed = next(one for one in files if one.suffix == suffix and one.stat().st_size)
    content = bytearray(changed.read_bytes())
    content[place] ^= 1
    changed.write_bytes(content)
    assert problems(java, [changed]) != []
