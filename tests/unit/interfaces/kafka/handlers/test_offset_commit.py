from __future__ import annotations

from typing import Any

import pytest

from domain.errors import (
    FencedInstanceId,
    RebalanceInProgress,
    StaleMemberEpoch,
    UnknownMemberId,
)
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.groups import FakeGroup
from tests.fakes.logs import FakeRequestLog
from tests.fakes.offset_requests import (
    at,
    commit,
    fetch_group,
    found,
    offset_commit,
    offsets_of,
)

VERSIONS = range(2, 11)


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka(offset_metadata_max_bytes="8")
    kafka.topic("t", 3)
    kafka.topic("u", 1)
    return kafka


@pytest.fixture
def client(kafka: FakeKafka) -> FakeClient:
    return kafka.client()


def named(kafka: FakeKafka, name: str, version: int) -> str | bytes:
    return kafka.existing(name).topic_id if version >= 10 else name


@pytest.mark.parametrize("version", VERSIONS)
def test_anybody_may_commit_to_a_group_that_nobody_is_in(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    t = named(kafka, "t", version)
    codes = commit(client, "g", (t, [at(0, 5, "note"), at(2, 6, None, 4)]), version=version)
    assert codes == {t: [(0, 0), (2, 0)]}
    epoch = 4 if version >= 6 else -1
    assert found(fetch_group(client, "g")) == {"t": {0: (5, -1, "note", 0), 2: (6, epoch, "", 0)}}


@pytest.mark.parametrize("offset", [4, 0, -1, -5, -(2**63), 2**63 - 1])
def test_any_offset_is_taken(client: FakeClient, offset: int) -> None:
    commit(client, "g", ("t", [at(0, 100)]))
    assert commit(client, "g", ("t", [at(0, offset)])) == {"t": [(0, 0)]}
    assert offsets_of(client, "g") == {"t": {0: offset}}


def test_an_empty_group_id_is_one_too(client: FakeClient) -> None:
    assert commit(client, "", ("t", [at(0)])) == {"t": [(0, 0)]}
    assert offsets_of(client, "") == {"t": {0: 5}}


@pytest.mark.parametrize("version", VERSIONS)
def test_partitions_that_are_not_there_are_refused_beside_those_that_are(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    t, u = named(kafka, "t", version), named(kafka, "u", version)
    nope: str | bytes = b"?" * 16 if version >= 10 else "nope"
    codes = commit(
        client,
        "g",
        (nope, [at(0), at(1)]),
        (t, [at(7), at(0), at(-1), at(1)]),
        (u, [at(5)]),
        (u, [at(0)]),
        version=version,
    )
    gone = 100 if version >= 10 else 3
    assert codes == {
        nope: [(0, gone), (1, gone)],
        t: [(7, 3), (-1, 3), (0, 0), (1, 0)],
        u: [(5, 3), (0, 0)],
    }
    assert offsets_of(client, "g") == {"t": {0: 5, 1: 5}, "u": {0: 5}}


def test_an_id_of_zeros_is_an_unknown_one(client: FakeClient) -> None:
    assert commit(client, "g", (bytes(16), [at(0)]), version=10) == {bytes(16): [(0, 100)]}


@pytest.mark.parametrize(
    ("metadata", "code"), [("8" * 8, 0), ("9" * 9, 12), ("é" * 8, 0), ("😀" * 4, 0), ("😀" * 5, 12)]
)
def test_metadata_has_its_limit(client: FakeClient, metadata: str, code: int) -> None:
    codes = commit(client, "g", ("t", [at(0, 5, metadata), at(1, 6, "ok")]))
    assert codes == {"t": [(0, code), (1, 0)]}
    assert offsets_of(client, "g")["t"].keys() == ({0, 1} if code == 0 else {1})


def test_of_a_partition_that_is_named_twice_the_later_one_counts(
    kafka: FakeKafka, client: FakeClient
) -> None:
    request = offset_commit("g", ("t", [at(0, 1), at(0, 2)]), ("t", [at(0, 3), at(1, 4)]))
    answer = client.ask(request, 9)
    assert [[p.error_code for p in topic.partitions] for topic in answer.topics] == [[0, 0]] * 2
    assert offsets_of(client, "g") == {"t": {0: 3, 1: 4}}


def test_nothing_to_commit_is_answered_at_once(client: FakeClient) -> None:
    assert commit(client, "g") == {}
    assert commit(client, "g", ("t", []), generation_id_or_member_epoch=4) == {}


# ---- the group


@pytest.mark.parametrize(("version", "code"), [(2, 22), (8, 22), (9, 69), (10, 69)])
def test_a_generation_of_an_unknown_group_is_refused(
    kafka: FakeKafka, client: FakeClient, version: int, code: int
) -> None:
    t = named(kafka, "t", version)
    codes = commit(
        client, "g", (t, [at(0), at(9)]), version=version, generation_id_or_member_epoch=0
    )
    assert codes == {t: [(9, 3), (0, code)]}
    assert kafka.broker.groups.registry.find("g") is None


def test_where_no_partition_is_there_the_group_is_not_asked(client: FakeClient) -> None:
    codes = commit(client, "g", ("nope", [at(0)]), generation_id_or_member_epoch=3)
    assert codes == {"nope": [(0, 3)]}


def test_a_generation_of_a_group_without_members_is_refused(client: FakeClient) -> None:
    commit(client, "g", ("t", [at(0)]))
    codes = commit(client, "g", ("t", [at(0), at(1)]), generation_id_or_member_epoch=0)
    assert codes == {"t": [(0, 25), (1, 25)]}


@pytest.mark.parametrize(
    ("refusal", "code"),
    [
        (UnknownMemberId(), 25),
        (RebalanceInProgress(), 27),
        (FencedInstanceId(), 82),
        (StaleMemberEpoch(), 113),
    ],
)
def test_what_the_group_refuses_is_said_of_each_partition(
    kafka: FakeKafka, client: FakeClient, refusal: Any, code: int
) -> None:
    group = FakeGroup("g")
    group.refusal = refusal
    kafka.broker.groups.registry.put(group)
    codes = commit(client, "g", ("t", [at(0), at(1)]), ("u", [at(0), at(3)]))
    assert codes == {"u": [(3, 3), (0, code)], "t": [(0, code), (1, code)]}
    group.refusal = None
    assert offsets_of(client, "g") == {}


def test_a_commit_is_as_good_as_a_heartbeat(kafka: FakeKafka, client: FakeClient) -> None:
    group = FakeGroup("g")
    kafka.broker.groups.registry.put(group)
    kafka.clock.advance(40)
    commit(client, "g", ("t", [at(0)]), member_id="m", generation_id_or_member_epoch=2)
    assert group.renewals == [("m", 40)]


def test_members_are_told_apart_by_all_they_say(kafka: FakeKafka, client: FakeClient) -> None:
    asked: list[tuple[str, str | None, int, bool]] = []

    class Asked(FakeGroup):
        def check_commit(
            self, member_id: str, instance_id: str | None, epoch: int, knows_epochs: bool
        ) -> None:
            asked.append((member_id, instance_id, epoch, knows_epochs))

    kafka.broker.groups.registry.put(Asked("g"))
    for version in (6, 7, 9):
        instance = {"group_instance_id": "i"} if version >= 7 else {}
        commit(
            client, "g", ("t", [at(0)]), version=version, member_id="m",
            generation_id_or_member_epoch=4, **instance,
        )  # fmt: skip
    assert asked == [("m", None, 4, False), ("m", "i", 4, False), ("m", "i", 4, True)]


# ---- what is kept


@pytest.mark.parametrize("version", [2, 4])
def test_a_retention_time_of_its_own_is_kept(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    commit(client, "g", ("t", [at(0)]), version=version, retention_time_ms=5000)
    commit(client, "h", ("t", [at(0)]), version=version)
    now_ms = kafka.clock.now_ms()
    (own,) = kafka.broker.groups.offsets.of("g")["t"].values()
    (brokers,) = kafka.broker.groups.offsets.of("h")["t"].values()
    assert (own.commit_timestamp_ms, own.expire_timestamp_ms) == (now_ms, now_ms + 5000)
    assert (brokers.commit_timestamp_ms, brokers.expire_timestamp_ms) == (now_ms, None)


def test_the_answer_leaves_with_the_commit(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.commit.hold()
    client.send(offset_commit("g", ("t", [at(0)])), 9)
    kafka.run()
    assert client.answers() == []
    kafka.commit.let_go()
    kafka.run()
    assert len(client.answers()) == 1


def test_what_could_not_be_kept_is_to_be_tried_again(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.commit.fail_next()
    codes = commit(client, "g", ("t", [at(0), at(1, 5, "9" * 9), at(8)]), ("nope", [at(0)]))
    assert codes == {"t": [(8, 3), (0, 15), (1, 12)], "nope": [(0, 3)]}
    assert offsets_of(client, "g") == {}
    assert commit(client, "g", ("t", [at(0)])) == {"t": [(0, 0)]}


def test_before_all_is_loaded_clients_are_told_to_wait(
    kafka: FakeKafka, client: FakeClient
) -> None:
    kafka.broker.groups.offsets.loaded = False
    codes = commit(client, "g", ("t", [at(0), at(8)]))
    assert codes == {"t": [(8, 3), (0, 14)]}


def test_a_client_that_left_is_not_answered(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.commit.hold()
    client.send(offset_commit("g", ("t", [at(0)])), 9)
    kafka.run()
    client.transport.drop()
    kafka.commit.let_go()
    kafka.run()
    assert client.answers() == []
    assert offsets_of(kafka.client(), "g") == {"t": {0: 5}}


@pytest.mark.parametrize("version", VERSIONS)
def test_what_nobody_foresaw_is_said_of_each_partition(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    class Broken(FakeGroup):
        def renew_session(self, member_id: str, now_ms: int) -> None:
            raise RuntimeError("a fault")

    kafka.broker.groups.registry.put(Broken("g"))
    t = named(kafka, "t", version)
    assert commit(client, "g", (t, [at(0), at(1)]), version=version) == {t: [(0, -1), (1, -1)]}


def test_the_request_log_hears_each_code_once() -> None:
    kafka = FakeKafka(FakeRequestLog(enabled=True))
    kafka.topic("t", 1)
    kafka.commit.fail_next()
    commit(kafka.client(), "g", ("t", [at(0), at(8), at(9)]))
    (record,) = kafka.request_log.records
    assert (record.kind.title, record.topics, record.error_codes) == ("OffsetCommit", 1, (3, 15))
