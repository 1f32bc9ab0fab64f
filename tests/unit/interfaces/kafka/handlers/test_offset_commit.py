from __future__ import annotations

import pytest

from domain.errors import BrokerError, FencedInstanceId, StaleMemberEpoch
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.copies import FakeCopies
from tests.fakes.groups import FakeGroup
from tests.fakes.offset_requests import at, commit, offset_commit, offsets_of


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka(offset_metadata_max_bytes="8")
    kafka.topic("t", 3)
    kafka.topic("u", 1)
    return kafka


@pytest.mark.parametrize(
    ("metadata", "code"), [("8" * 8, 0), ("9" * 9, 12), ("é" * 8, 0), ("😀" * 4, 0), ("😀" * 5, 12)]
)
def test_metadata_is_limited_per_partition(client: FakeClient, metadata: str, code: int) -> None:
    codes = commit(client, "g", ("t", [at(0, 5, metadata), at(1, 6, "ok")]))
    assert codes == {"t": [(0, code), (1, 0)]}
    assert offsets_of(client, "g")["t"].keys() == ({0, 1} if code == 0 else {1})


# ---- the group


@pytest.mark.parametrize(("refusal", "code"), [(FencedInstanceId(), 82), (StaleMemberEpoch(), 113)])
def test_an_error_of_the_group_is_the_error_of_each_known_partition(
    kafka: FakeKafka, client: FakeClient, refusal: BrokerError, code: int
) -> None:
    group = FakeGroup("g")
    group.refusal = refusal
    kafka.broker.groups.registry.put(group)
    codes = commit(client, "g", ("t", [at(0), at(1)]), ("u", [at(0), at(3)]))
    assert codes == {"u": [(3, 3), (0, code)], "t": [(0, code), (1, code)]}
    group.refusal = None
    assert offsets_of(client, "g") == {}


def test_a_commit_renews_the_session_like_a_heartbeat(kafka: FakeKafka, client: FakeClient) -> None:
    group = FakeGroup("g")
    kafka.broker.groups.registry.put(group)
    kafka.clock.advance(40)
    commit(client, "g", ("t", [at(0)]), member_id="m", generation_id_or_member_epoch=2)
    assert group.renewals == [("m", 40)]


# ---- persistence


def test_a_commit_needs_as_many_copies_as_the_offsets_topic_requires() -> None:
    copies = FakeCopies(1)
    kafka = FakeKafka(copies=copies, offsets_topic="on", min_insync_replicas="2")
    kafka.broker.start_upkeep()
    kafka.scheduler.advance(100)
    kafka.topic("t")
    client = kafka.client()
    assert commit(client, "g", ("t", [at(0)])) == {"t": [(0, 15)]}
    assert offsets_of(client, "g") == {}
    copies.count = 2
    assert commit(client, "g", ("t", [at(0)])) == {"t": [(0, 0)]}


@pytest.mark.parametrize("version", [2, 4])
def test_the_retention_time_of_a_request_is_persisted(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    commit(client, "g", ("t", [at(0)]), version=version, retention_time_ms=5000)
    commit(client, "h", ("t", [at(0)]), version=version)
    now_ms = kafka.clock.now_ms()
    (own,) = kafka.broker.groups.offsets.of("g")["t"].values()
    (default,) = kafka.broker.groups.offsets.of("h")["t"].values()
    assert (own.commit_timestamp_ms, own.expire_timestamp_ms) == (now_ms, now_ms + 5000)
    assert (default.commit_timestamp_ms, default.expire_timestamp_ms) == (now_ms, None)


@pytest.mark.parametrize("client_left", [False, True])
def test_the_response_comes_with_the_commit(
    kafka: FakeKafka, client: FakeClient, client_left: bool
) -> None:
    kafka.commit.hold()
    client.send(offset_commit("g", ("t", [at(0)])), 9)
    kafka.run()
    assert client.responses() == []
    if client_left:
        client.transport.drop()
    kafka.commit.let_go()
    kafka.run()
    assert len(client.responses()) == (0 if client_left else 1)
    assert offsets_of(kafka.client(), "g") == {"t": {0: 5}}


def test_a_failed_commit_is_a_retriable_error(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.commit.fail_next()
    codes = commit(client, "g", ("t", [at(0), at(1, 5, "9" * 9), at(8)]), ("absent", [at(0)]))
    assert codes == {"t": [(8, 3), (0, 15), (1, 12)], "absent": [(0, 3)]}
    assert offsets_of(client, "g") == {}
    assert commit(client, "g", ("t", [at(0)])) == {"t": [(0, 0)]}
