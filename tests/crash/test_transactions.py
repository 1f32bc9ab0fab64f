"""Consume, transform, produce in one group while its members and the broker are killed: each record
has one copy.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.crash.broker import Nursery
from tests.crash.chain import Chain
from tests.crash.kafka_copiers import KafkaChain
from tests.crash.ledger import Broken
from tests.crash.transaction_faults import TRANSACTION_FAULTS
from tests.oracle.kafka import KafkaNotFound

LIVES, FILES_LIVES, LONG_LIVES, KAFKA_LIVES = 12, 3, 80, 10
FAULTY_LIVES = (4, 4, 16, 80)


def copy(chain: Chain, lives: int) -> None:
    """Raises with all that is needed to see what happened."""
    try:
        problems = chain.run(lives)
    except (Broken, AssertionError) as failure:
        problems = [f"{type(failure).__name__}: {failure}"]
    assert not problems, f"seed {chain.seed}, {chain.events}\n" + "\n".join(problems[:20])


def test_each_record_is_copied_once(nursery: Nursery, tmp_path: Path) -> None:
    copy(Chain(nursery, tmp_path, seed=1), LIVES)


def test_each_record_is_copied_once_in_files(nursery: Nursery, tmp_path: Path) -> None:
    copy(Chain(nursery, tmp_path, seed=2, engine="files"), FILES_LIVES)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("protocol", "offsets", "engine"),
    [
        ("classic", "", "lmdb"),
        ("classic", "sqlite://", "lmdb"),
        ("consumer", "", "lmdb"),
        ("classic", "", "files"),
        ("consumer", "", "files"),
    ],
)
def test_each_record_is_copied_once_for_a_minute(
    protocol: str, offsets: str, engine: str, nursery: Nursery, tmp_path: Path
) -> None:
    seed = int(os.environ.get("OTTLA_TEST_SEED", "") or int.from_bytes(os.urandom(3), "big"))
    chain = Chain(nursery, tmp_path, seed, offsets=offsets, protocol=protocol, engine=engine)
    copy(chain, LONG_LIVES)
    assert chain.reached == set(chain.points)


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("grouped", [True, False])
def test_copiers_of_kafka_copy_each_record_once(
    grouped: bool, nursery: Nursery, tmp_path: Path
) -> None:
    copy(kafka_chain(nursery, tmp_path, grouped=grouped), KAFKA_LIVES)


@pytest.mark.long
def test_a_fault_is_found_with_copiers_of_kafka(nursery: Nursery, tmp_path: Path) -> None:
    chain = kafka_chain(nursery, tmp_path, fault="does_not_index_aborted_transactions")
    names = {problem.partition(":")[0] for problem in chain.run(3)}
    assert "aborted read" in names


def kafka_chain(nursery: Nursery, folder: Path, **named: Any) -> Chain:
    try:
        return KafkaChain(nursery, folder, seed=1, **named)
    except KafkaNotFound as reason:
        pytest.skip(str(reason))


#: The rest with --long.
SHORT = ("does_not_index_aborted_transactions",)


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "fault",
    [
        one if one in SHORT else pytest.param(one, marks=pytest.mark.long)
        for one in TRANSACTION_FAULTS
    ],
)
def test_an_injected_fault_is_found(fault: str, nursery: Nursery, tmp_path: Path) -> None:
    """Whether a life shows it is chance, so there are more and more."""
    for seed, lives in enumerate(FAULTY_LIVES):
        chain = Chain(nursery, tmp_path / str(seed), seed, fault)
        names = {problem.partition(":")[0] for problem in chain.run(lives)}
        if names & TRANSACTION_FAULTS[fault][1]:
            return
    pytest.fail(f"not found: {names=}")
