from __future__ import annotations

import pytest

from domain.groups.embedded_protocol import write_assignment
from tests.fakes.batches import record_batch
from tests.fakes.classic_members import Member, join_all
from tests.fakes.client import FakeKafka
from tests.fakes.mixed_group import classic
from tests.fakes.offset_requests import at, commit


@pytest.fixture
def group(kafka: FakeKafka) -> str:
    """Without members; committed offset 4 of 10 records in partition 0 of `t`, 0 of 0 in 1."""
    kafka.topic("t", 2)
    kafka.appended(record_batch(["r"] * 10), "t", 0)
    commit(kafka.client(), "g", ("t", [at(0, 4), at(1, 0)]))
    return "g"


@pytest.fixture
def member(kafka: FakeKafka, group: str) -> Member:
    """The one member of a classic group."""
    member = classic(kafka)
    join_all(member)
    member.sync({member.member_id: write_assignment(1, {"t": [0, 1]})})
    return member
