from __future__ import annotations

from typing import Any

import pytest

from domain.errors import GroupIdNotFound, StaleMemberEpoch, UnknownMemberId
from interfaces.kafka.handlers import offset_fetch
from interfaces.kafka.wire.messages.delete_groups import DeleteGroupsRequest
from interfaces.kafka.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.groups import FakeGroup
from tests.fakes.offset_requests import at, commit, fetch_group, found

VERSIONS = range(1, 11)
NOTHING = (-1, -1, "", 0)


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t", 3)
    kafka.topic("u", 1)
    commit(kafka.client(), "g", ("t", [at(0, 5, "note", 2), at(1, -7)]), ("u", [at(0, 9)]))
    return kafka


@pytest.fixture
def client(kafka: FakeKafka) -> FakeClient:
    return kafka.client()


def named(kafka: FakeKafka, name: str, version: int) -> str | bytes:
    return kafka.existing(name).topic_id if version >= 10 else name


@pytest.mark.parametrize("version", VERSIONS)
def test_what_was_committed_is_read_and_the_rest_is_minus_one(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    t = named(kafka, "t", version)
    answer = fetch_group(client, "g", {t: [0, 2, 1, 99]}, version)
    epoch = 2 if version >= 5 else -1
    assert answer.error_code == 0
    assert found(answer) == {
        t: {0: (5, epoch, "note", 0), 1: (-7, -1, "", 0), 2: NOTHING, 99: NOTHING}
    }


@pytest.mark.parametrize("version", range(2, 11))
def test_null_topics_are_all(kafka: FakeKafka, client: FakeClient, version: int) -> None:
    answer = fetch_group(client, "g", None, version)
    t, u = named(kafka, "t", version), named(kafka, "u", version)
    assert {name: set(parts) for name, parts in found(answer).items()} == {t: {0, 1}, u: {0}}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_group_that_is_not_there_has_committed_nothing(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    t = named(kafka, "t", version)
    answer = fetch_group(client, "never", {t: [0]}, version)
    assert (answer.error_code, found(answer)) == (0, {t: {0: NOTHING}})
    if version >= 2:
        answer = fetch_group(client, "never", None, version)
        assert (answer.error_code, answer.topics) == (0, [])


@pytest.mark.parametrize("version", range(1, 10))
def test_a_topic_that_is_not_there_has_nothing_either(client: FakeClient, version: int) -> None:
    answer = fetch_group(client, "g", {"nope": [3]}, version)
    assert (answer.error_code, found(answer)) == (0, {"nope": {3: NOTHING}})


def test_an_unknown_topic_id_is_an_error(kafka: FakeKafka, client: FakeClient) -> None:
    t = kafka.existing("t").topic_id
    answer = fetch_group(client, "g", {t: [0], b"?" * 16: [1, 2], bytes(16): [3]}, 10)
    missing = (-1, -1, "", 100)
    assert answer.error_code == 0
    assert found(answer) == {
        t: {0: (5, 2, "note", 0)},
        b"?" * 16: {1: missing, 2: missing},
        bytes(16): {3: missing},
    }


def test_no_topics_are_none(client: FakeClient) -> None:
    assert fetch_group(client, "g", {}, 7).topics == []
    assert fetch_group(client, "g", {}, 9).topics == []


def test_many_groups_are_asked_in_one_request(kafka: FakeKafka, client: FakeClient) -> None:
    topics = [OffsetFetchRequestTopics(name="t", partition_indexes=[1, 1])]
    request = OffsetFetchRequest(
        groups=[
            OffsetFetchRequestGroup(group_id="g", topics=topics),
            OffsetFetchRequestGroup(group_id="never", topics=None),
            OffsetFetchRequestGroup(group_id="g", topics=None),
        ]
    )
    answer = client.ask(request, 9)
    assert [(one.group_id, one.error_code) for one in answer.groups] == [
        ("g", 0), ("never", 0), ("g", 0),
    ]  # fmt: skip
    first, second, third = answer.groups
    assert [p.committed_offset for p in first.topics[0].partitions] == [-7, -7]
    assert second.topics == []
    assert {one.name for one in third.topics} == {"t", "u"}
    assert client.ask(OffsetFetchRequest(groups=[]), 9).groups == []


# ---- who may read


@pytest.mark.parametrize(("refusal", "code"), [(UnknownMemberId(), 25), (StaleMemberEpoch(), 113)])
def test_what_the_group_refuses_is_said_once(
    kafka: FakeKafka, client: FakeClient, refusal: Any, code: int
) -> None:
    group = FakeGroup("g")
    group.refusal = refusal
    kafka.broker.groups.registry.put(group)
    for version in range(2, 11):
        answer = fetch_group(client, "g", {named(kafka, "t", version): [0]}, version)
        assert (answer.error_code, answer.topics) == (code, [])
    answer = fetch_group(client, "g", {"t": [0, 1]}, 1)
    refused = (-1, -1, "", code)
    assert found(answer) == {"t": {0: refused, 1: refused}}


def test_a_dead_group_has_committed_nothing(kafka: FakeKafka, client: FakeClient) -> None:
    group = FakeGroup("g")
    group.refusal = GroupIdNotFound()
    kafka.broker.groups.registry.put(group)
    answer = fetch_group(client, "g", {"t": [0]})
    assert (answer.error_code, found(answer)) == (0, {"t": {0: NOTHING}})


def test_members_say_who_they_are_from_version_9_on(kafka: FakeKafka, client: FakeClient) -> None:
    asked: list[tuple[str | None, int]] = []

    class Asked(FakeGroup):
        def check_fetch(self, member_id: str | None, epoch: int) -> None:
            asked.append((member_id, epoch))

    kafka.broker.groups.registry.put(Asked("g"))
    for version in (1, 7, 8):
        fetch_group(client, "g", {"t": [0]}, version)
    fetch_group(client, "g", {"t": [0]}, 9, member_id="m", member_epoch=3)
    assert asked == [(None, -1)] * 3 + [("m", 3)]


@pytest.mark.parametrize("version", VERSIONS)
def test_before_all_is_loaded_clients_are_told_to_wait(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    kafka.broker.groups.offsets.loaded = False
    t = named(kafka, "t", version)
    answer = fetch_group(client, "g", {t: [0]}, version)
    if version == 1:
        assert found(answer) == {"t": {0: (-1, -1, "", 14)}}
    else:
        assert (answer.error_code, answer.topics) == (14, [])


# ---- limits


def test_the_limit_of_a_fetch_is_none_of_committed_offsets() -> None:
    kafka = FakeKafka(fetch_max_bytes="1024")
    kafka.topic("t", 1000)
    client = kafka.client()
    commit(client, "g", ("t", [at(n, metadata="n" * 4000) for n in range(1000)]))
    answer = fetch_group(client, "g", {"t": list(range(1000))})
    assert (answer.error_code, len(answer.topics[0].partitions)) == (0, 1000)


def test_an_answer_does_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offset_fetch, "RESPONSE_BYTES", 0)
    kafka = FakeKafka(fetch_max_bytes="4000")
    kafka.topic("t", 3)
    client = kafka.client()
    commit(client, "g", ("t", [at(0, 5, "n" * 900), at(1, 5, "ü" * 900)]))
    assert fetch_group(client, "g", {"t": [0, 0]}, 7).error_code == 0
    answer = fetch_group(client, "g", {"t": [0, 0, 0, 0]}, 7)
    assert (answer.error_code, answer.topics) == (42, [])
    assert fetch_group(client, "g", {"t": [1]}, 7).error_code == 0
    assert fetch_group(client, "g", {"t": [1, 2]}, 7).error_code == 42
    groups = [OffsetFetchRequestGroup(group_id="g", topics=None)] * 2
    groups[:0] = [
        OffsetFetchRequestGroup(
            group_id="g", topics=[OffsetFetchRequestTopics(name="t", partition_indexes=[0])]
        )
    ] * 3
    answered = client.ask(OffsetFetchRequest(groups=groups), 9).groups
    assert [one.error_code for one in answered] == [0, 0, 0, 42, 42]


@pytest.mark.parametrize("version", VERSIONS)
def test_what_nobody_foresaw_is_answered_in_the_form_of_the_version(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    class Broken(FakeGroup):
        def check_fetch(self, member_id: str | None, epoch: int) -> None:
            raise RuntimeError("a fault")

    kafka.broker.groups.registry.put(Broken("g"))
    answer = fetch_group(client, "g", {named(kafka, "t", version): [0]}, version)
    if version == 1:
        assert found(answer) == {"t": {0: (-1, -1, "", -1)}}
    else:
        assert (answer.error_code, answer.topics) == (-1, [])


def test_a_deletion_shows_when_it_is_durable_and_not_before(
    kafka: FakeKafka, client: FakeClient
) -> None:
    kafka.commit.hold()
    client.send(DeleteGroupsRequest(groups_names=["g"]), 2)
    kafka.scheduler.run_pass()
    other = kafka.client()
    assert found(fetch_group(other, "g", {"t": [0]}, 8)) == {"t": {0: (5, 2, "note", 0)}}
    kafka.commit.let_go()
    kafka.run()
    assert found(fetch_group(other, "g", {"t": [0]}, 8)) == {"t": {0: NOTHING}}
