from __future__ import annotations

import pytest

from application.state.runtime import ignore
from domain.errors import GroupIdNotFound, StaleMemberEpoch
from interfaces.kafka.handlers import offset_fetch
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.groups import FakeGroup, committed
from tests.fakes.offset_requests import at, commit, fetch_group, found
from tests.fakes.structs import Fields, request_for

#: The shape of the response changes with version 2, the leader epoch comes with 5, groups with 8.
VERSIONS = [1, 2, 5, 8, 10]
NOTHING = (-1, -1, "", 0)


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t", 3)
    kafka.topic("u", 1)
    commit(kafka.client(), "g", ("t", [at(0, 5, "note", 2), at(1, -7)]), ("u", [at(0, 9)]))
    return kafka


def named(kafka: FakeKafka, name: str, version: int) -> str | bytes:
    return kafka.existing(name).topic_id if version >= 10 else name


def requested(*indexes: int, topic: str = "t", group_id: str = "g") -> Fields:
    """All topics if there are no indexes."""
    topics = [{"name": topic, "partition_indexes": list(indexes)}]
    return {"group_id": group_id, "topics": topics if indexes else None}


def assert_failed(kafka: FakeKafka, client: FakeClient, version: int, code: int) -> None:
    """In version 1 each partition has the error, later the group."""
    response = fetch_group(client, "g", {named(kafka, "t", version): [0]}, version)
    if version == 1:
        assert found(response) == {"t": {0: (-1, -1, "", code)}}
    else:
        assert (response.error_code, response.topics) == (code, [])


# ---- the group


@pytest.mark.parametrize("version", VERSIONS)
def test_an_error_of_the_group_has_the_form_of_the_version(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    """It refuses, it has a fault, or committed offsets are not loaded yet."""

    class Broken(FakeGroup):
        def check_fetch(self, member_id: str | None, epoch: int) -> None:
            raise refusal

    kafka.broker.groups.registry.put(Broken("g"))
    refusal: Exception = StaleMemberEpoch()
    assert_failed(kafka, client, version, 113)
    refusal = RuntimeError("a fault")
    assert_failed(kafka, client, version, -1)
    kafka.broker.groups.offsets.loaded = False
    assert_failed(kafka, client, version, 14)


def test_a_dead_group_has_no_committed_offsets(kafka: FakeKafka, client: FakeClient) -> None:
    group = FakeGroup("g")
    group.refusal = GroupIdNotFound()
    kafka.broker.groups.registry.put(group)
    response = fetch_group(client, "g", {"t": [0]})
    assert (response.error_code, found(response)) == (0, {"t": {0: NOTHING}})


# ---- limits


def test_fetch_max_bytes_does_not_limit_committed_offsets() -> None:
    kafka = FakeKafka(fetch_max_bytes="1024")
    kafka.topic("t", 1000)
    client = kafka.client()
    commit(client, "g", ("t", [at(n, metadata="n" * 4000) for n in range(1000)]))
    response = fetch_group(client, "g", {"t": list(range(1000))})
    assert (response.error_code, len(response.topics[0].partitions)) == (0, 1000)


def test_a_response_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offset_fetch, "RESPONSE_BYTES", 0)
    kafka = FakeKafka(fetch_max_bytes="4000")
    kafka.topic("t", 3)
    client = kafka.client()
    commit(client, "g", ("t", [at(0, 5, "n" * 900), at(1, 5, "ü" * 900)]))
    for indexes, code in (([0, 0], 0), ([0, 0, 0, 0], 42), ([1], 0), ([1, 2], 42)):
        assert fetch_group(client, "g", {"t": indexes}, 7).error_code == code, indexes
    groups = [requested(0)] * 3 + [requested()] * 2
    answered = client.request(request_for("offset_fetch", groups=groups), 9).groups
    assert [one.error_code for one in answered] == [0, 0, 0, 42, 42]


def test_a_deletion_is_visible_when_it_is_durable(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.commit.hold()
    client.send(request_for("delete_groups", groups_names=["g"]), 2)
    kafka.scheduler.run_pass()
    other = kafka.client()
    assert found(fetch_group(other, "g", {"t": [0]}, 8)) == {"t": {0: (5, 2, "note", 0)}}
    kafka.commit.let_go()
    kafka.run()
    assert found(fetch_group(other, "g", {"t": [0]}, 8)) == {"t": {0: NOTHING}}


# ---- transactions


@pytest.mark.parametrize("version", [7, 8, 10])
def test_an_offset_is_unstable_while_a_transaction_has_one(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    """Without `require_stable` the client gets the committed one."""
    pending = committed(6, topic_id=kafka.existing("t").topic_id)
    groups = kafka.broker.groups
    groups.transactional_offsets.add("g", 7, [("g", "t", i, pending) for i in (0, 2)], ignore)
    kafka.run()
    name = named(kafka, "t", version)
    topics = {name: [0, 1, 2]}
    before = {0: (5, 2, "note", 0), 1: (-7, -1, "", 0), 2: NOTHING}
    assert found(fetch_group(client, "g", topics, version)) == {name: before}
    unstable = (-1, -1, "", 88)
    response = fetch_group(client, "g", topics, version, require_stable=True)
    assert found(response) == {name: {0: unstable, 1: before[1], 2: unstable}}
    response = fetch_group(client, "g", None, version, require_stable=True)
    assert found(response)[name] == {0: unstable, 1: before[1]}
