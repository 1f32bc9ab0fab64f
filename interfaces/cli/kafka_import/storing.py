"""The rows of a plan: what the store must not have, and the commit that completes an import."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from application.ports.commit import at_once
from domain.features import DEFAULT_LEVELS, TRANSACTION_VERSION, FinalizedFeatures
from domain.topics.topic import Topic
from infrastructure.opening import Contents
from infrastructure.storage.engine import Storage
from interfaces.cli.failures import CommandFailed
from interfaces.cli.kafka_import.copying import Ids
from interfaces.cli.kafka_import.plan import Plan


def check_conflicts(found: Contents, plan: Plan) -> None:
    """Raises CommandFailed for what cannot be in one store; what the store has stays."""
    if found.offsets_place is not None:
        raise CommandFailed(
            f"the committed offsets of the store are in {found.offsets_place}: import into a store "
            "that has them itself"
        )
    topics = found.topics.load()
    names = {topic.name for topic in topics} & {topic.name for topic in plan.topics}
    if names:
        raise CommandFailed(f"the store has a topic {min(names)} already")
    ids = {topic.topic_id for topic in topics} & {topic.topic_id for topic in plan.topics}
    if ids:
        raise CommandFailed("the store has a topic with the id of one in the folder")
    transactions = list(found.transactions.load())
    for one in plan.transactions:
        for other in transactions:
            if one.transactional_id == other.transactional_id:
                raise CommandFailed(f"the store has a transactional id {one.transactional_id}")
    pending = {producer_id for producer_id, _ in found.pending_offsets.load()}
    if both := pending & plan.pending.keys():
        raise CommandFailed(f"the store has an open transaction of producer {min(both)}, too")
    for what in _existing(found, plan):
        plan.skip(what, "the store has its own")


def _existing(found: Contents, plan: Plan) -> Iterator[str]:
    """Removes from the plan what the store has, and names it if it differs."""
    users = found.users.load()
    for name in sorted(plan.users.keys() & users):
        if plan.users.pop(name) != users[name]:
            yield f"user {name}"
    quotas = found.quotas.load()
    for entity in list(plan.quotas.keys() & quotas):
        if dict(plan.quotas.pop(entity)) != dict(quotas[entity]):
            yield f"quota of {entity}"
    configs = found.configs.load()
    for resource in list(plan.configs.keys() & configs):
        if plan.configs.pop(resource) != configs[resource]:
            yield f"configs of {resource.kind.value} {resource.name or '(all)'}"
    groups = {change.group_id for change in found.groups.load()}
    # Their offsets are of topics that the store does not have.
    plan.groups = [change for change in plan.groups if change.group_id not in groups]
    level = plan.transaction_version
    features = found.cluster.features()
    current = DEFAULT_LEVELS if features is None else features.levels
    if found.cluster.cluster_id() is None and features is None:
        return
    plan.transaction_version = None
    if level is not None and level != current[TRANSACTION_VERSION]:
        yield f"feature {TRANSACTION_VERSION}={level}"


def store_rows(storage: Storage, found: Contents, plan: Plan, ids: Ids) -> None:
    """Everything but the logs, in one commit; until then no topic. Raises StorageFailed."""
    for topic in plan.topics:
        partition_ids = tuple(ids[one] for one in topic.partitions)
        found.topics.save(Topic(topic.name, topic.topic_id, partition_ids, topic.configs))
        for partition_id in partition_ids:
            found.topics.dropped(partition_id)
    for change in plan.groups:
        found.groups.save(change)
    for producer_id, writes in plan.pending.items():
        found.pending_offsets.save(producer_id, writes)
    for transaction in plan.transactions:
        found.transactions.save(transaction.transactional_id, transaction)
    for name, credentials in plan.users.items():
        found.users.save(name, credentials)
    for binding in plan.acls:
        found.acls.save(binding, True)
    for entity, quotas in plan.quotas.items():
        found.quotas.save(entity, quotas)
    for resource, configs in plan.configs.items():
        found.configs.save(resource, configs)
    _store_cluster(storage, found, plan)
    found.imports.save(plan.source, {})
    at_once(partial(found.offsets.apply, plan.offsets))  # commits all


def _store_cluster(storage: Storage, found: Contents, plan: Plan) -> None:
    cluster = found.cluster
    if cluster.cluster_id() is None:
        cluster.name_cluster(plan.cluster_id)
    cluster.reserve_producer_ids(max(cluster.next_producer_id(), plan.next_producer_id))
    level = plan.transaction_version
    if level is not None and level != DEFAULT_LEVELS[TRANSACTION_VERSION]:
        cluster.save_features(FinalizedFeatures(1, {**DEFAULT_LEVELS, TRANSACTION_VERSION: level}))
    if storage.raise_leader_epoch is not None:
        storage.raise_leader_epoch(plan.leader_epoch)
