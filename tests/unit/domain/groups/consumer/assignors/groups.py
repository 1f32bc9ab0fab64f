"""Groups to assign partitions to, made by hypothesis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from hypothesis import strategies as st

from domain.groups.consumer.assignors.assignor import AssignedMember, Partitions

TOPICS = [bytes([n]) * 16 for n in range(1, 6)]

counts = st.fixed_dictionaries({topic: st.integers(1, 12) for topic in TOPICS})
subscriptions = st.frozensets(st.sampled_from(TOPICS))
member_ids = st.text("abcdefghij", min_size=1, max_size=3)


def with_subscriptions(
    topics: Mapping[str, frozenset[bytes]], assigned: Mapping[str, Partitions] | None = None
) -> dict[str, AssignedMember]:
    before = assigned or {}
    return {one: AssignedMember(None, topics[one], before.get(one, {})) for one in topics}


different = st.dictionaries(member_ids, subscriptions, max_size=8)
alike = st.builds(
    lambda names, topics: dict.fromkeys(names, topics),
    st.sets(member_ids, min_size=1, max_size=8),
    st.frozensets(st.sampled_from(TOPICS), min_size=1),
)


def flat(assigned: Mapping[str, Partitions]) -> list[tuple[str, bytes, int]]:
    return [
        (member_id, topic, partition)
        for member_id, partitions in assigned.items()
        for topic, ones in partitions.items()
        for partition in ones
    ]


def check_complete(
    topics: Mapping[str, frozenset[bytes]],
    partition_counts: Mapping[bytes, int],
    assigned: Mapping[str, Partitions],
) -> None:
    """Every partition of a subscribed topic is somebody's, once, and that one is subscribed."""
    assert set(assigned) == set(topics)
    given = Counter((topic, partition) for _, topic, partition in flat(assigned))
    wanted = frozenset[bytes]().union(*topics.values())
    assert given == Counter(
        (topic, partition) for topic in wanted for partition in range(partition_counts[topic])
    )
    assert all(topic in topics[member_id] for member_id, topic, _ in flat(assigned))
    assert all(ones for partitions in assigned.values() for ones in partitions.values())


def size(partitions: Partitions) -> int:
    return sum(map(len, partitions.values()))


def moved(before: Mapping[str, Partitions], after: Mapping[str, Partitions]) -> int:
    """Partitions that somebody had before and somebody else has now."""
    owners = {(topic, one): member_id for member_id, topic, one in flat(before)}
    return sum(
        owners.get((topic, one), member_id) != member_id for member_id, topic, one in flat(after)
    )
