"""Groups, committed offsets and transactions of a plan.

Members are not imported: they join again, as after a session timeout. An open transaction stays
open: its producer ends it, or the broker aborts it after its timeout.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from domain.groups.classic.changes import GroupMetadataChanged
from domain.groups.consumer.changes import EpochChanged, TargetEpochChanged
from domain.groups.offsets import CommittedOffset
from domain.topics.topic import NO_TOPIC_ID
from domain.transactions.transaction import Transaction
from interfaces.cli.kafka_import.group_image import GroupImage, OffsetPlace
from interfaces.cli.kafka_import.plan import Plan


def plan_groups(plan: Plan, image: GroupImage, transactions: Mapping[str, Transaction]) -> None:
    now_ms = time.time_ns() // 1_000_000
    for group, found in sorted(image.classic.items()):
        if group not in image.consumer:
            plan.groups.append(GroupMetadataChanged(group, found.image(now_ms)))
    for group, epoch in sorted(image.consumer.items()):
        plan.groups += [
            EpochChanged(group, epoch),
            TargetEpochChanged(group, image.targets.get(group, 0)),
        ]
    for group in sorted(image.share):
        plan.skip(f"share group {group}", "share groups are not served")
    for group in sorted(image.streams):
        plan.skip(f"streams group {group}", "streams groups (KIP-1071) are not served")
    topics = {topic.name: topic.topic_id for topic in plan.topics}
    unknown: Counter[str] = Counter()
    for (group, topic, partition), (_, committed) in sorted(image.offsets.items()):
        found_offset = _of_topic(committed, topics.get(topic))
        if found_offset is None:
            unknown[topic] += 1
        else:
            plan.offsets.append((group, topic, partition, found_offset))
    for topic, count in sorted(unknown.items()):
        plan.notes.append(f"{count} committed offsets of topic {topic}, which is not imported")
    _plan_transactions(plan, image, transactions, topics)
    of_offsets = {group for group, *_ in plan.offsets}
    of_pending = {group for writes in plan.pending.values() for group, *_ in writes}
    of_groups = {change.group_id for change in plan.groups}
    plan.group_ids = sorted(of_offsets | of_pending | of_groups)


def _of_topic(committed: CommittedOffset, topic_id: bytes | None) -> CommittedOffset | None:
    """None: the topic is not there, or is another one of the name."""
    if topic_id is None or committed.topic_id not in (topic_id, NO_TOPIC_ID):
        return None
    return replace(committed, topic_id=topic_id)


def _plan_transactions(
    plan: Plan,
    image: GroupImage,
    transactions: Mapping[str, Transaction],
    topics: Mapping[str, bytes],
) -> None:
    plan.transactions = [one for _, one in sorted(transactions.items())]
    unfinished = {
        one.producer_id for one in transactions.values() if one.is_open or one.is_prepared
    }
    for producer_id, places in image.pending.items():
        if producer_id not in unfinished:
            plan.skip(
                f"offsets of producer {producer_id}",
                "of a transaction that no transactional id has",
            )
            continue
        for place, (offset, committed) in places.items():
            pending = _pending(place, offset, committed, image, topics)
            if pending is not None:
                plan.pending.setdefault(producer_id, []).append((*place, pending))


def _pending(
    place: OffsetPlace,
    offset: int,
    pending: CommittedOffset,
    image: GroupImage,
    topics: Mapping[str, bytes],
) -> CommittedOffset | None:
    """The later of it and a plain commit counts: Kafka compares offsets of records, Ottla times."""
    found = _of_topic(pending, topics.get(place[1]))
    before = image.offsets.get(place)
    if found is None or before is None:
        return found
    if before[0] > offset:
        return None
    least_ms = before[1].commit_timestamp_ms + 1
    return replace(found, commit_timestamp_ms=max(found.commit_timestamp_ms, least_ms))
