"""Makes the plan of an import from a folder. Writes nothing; raises FolderRefused."""

from __future__ import annotations

from domain.configs.topic import validate_topic_configs
from domain.errors import BrokerError
from domain.features import FEATURES, TRANSACTION_VERSION
from domain.topics.topic import INTERNAL_TOPICS, OFFSETS_TOPIC, TRANSACTION_TOPIC
from infrastructure.kafka_folder.cluster_image import TOPIC, ClusterImage, TopicImage, read_cluster
from infrastructure.kafka_folder.folder import METADATA_TOPIC, KafkaFolder
from infrastructure.kafka_folder.refused import FolderRefused
from interfaces.cli.kafka_import.internal_topics import read_groups, read_transactions
from interfaces.cli.kafka_import.plan import PartitionPlan, Plan, TopicPlan
from interfaces.cli.kafka_import.planned_groups import plan_groups
from interfaces.cli.kafka_import.planned_security import plan_configs, plan_security

#: Those of other features say what brokers and controllers may write, or are of other features.
_OF_GROUPS = "group.version"


def make_plan(folder: KafkaFolder) -> Plan:
    image = read_cluster(folder)
    plan = Plan(folder.directory_id or f"{folder.cluster_id}/{folder.node_id}", folder.cluster_id)
    _check_places(folder, image, plan)
    for topic in sorted(image.topics.values(), key=lambda one: one.name):
        elsewhere = [number for number in topic.partitions if not _is_here(folder, topic, number)]
        if elsewhere:
            plan.skip(
                f"partitions {', '.join(map(str, elsewhere))} of topic {topic.name}",
                "they are on other nodes, and a topic is served whole or not at all"
                if topic.name not in INTERNAL_TOPICS
                else "they are on other nodes, with their groups and transactions",
            )
        if topic.name in INTERNAL_TOPICS:
            if topic.name not in (OFFSETS_TOPIC, TRANSACTION_TOPIC):
                plan.notes.append(f"topic {topic.name}: of share groups")
        elif not elsewhere:
            plan.topics.append(_topic(folder, topic, image, plan))
    epochs = [
        one.leader_epoch for topic in image.topics.values() for one in topic.partitions.values()
    ]
    # As the next start of Kafka: no client has seen it yet.
    plan.leader_epoch = max(epochs, default=-1) + 1
    groups = read_groups(folder)
    transactions = read_transactions(folder, groups)
    plan_groups(plan, groups, transactions)
    plan_security(plan, image)
    plan_configs(plan, image)
    _plan_features(plan, image)
    producer_ids = [one.producer_id for one in transactions.values()]
    plan.next_producer_id = max(image.next_producer_id, max(producer_ids, default=-1) + 1)
    return plan


def _check_places(folder: KafkaFolder, image: ClusterImage, plan: Plan) -> None:
    """Each partition of this node has a folder, and each folder a topic."""
    known = {
        (topic.name, number): topic.topic_id
        for topic in image.topics.values()
        for number in topic.partitions
        if _is_here(folder, topic, number)
    }
    for place in known:
        if place not in folder.partitions:
            raise FolderRefused(
                f"{folder.path} has no folder {place[0]}-{place[1]}: is it in another of log.dirs?"
            )
    for place, path in sorted(folder.partitions.items()):
        if place in known:
            if known[place] != folder.log(place).topic_id:
                raise FolderRefused(f"{path} belongs to another topic of this name")
        elif place[0] != METADATA_TOPIC:
            plan.skip(f"folder {path.name}", "the metadata has no such topic")
    plan.notes += [f"folder {name}: of no topic" for name in folder.left_over]


def _is_here(folder: KafkaFolder, topic: TopicImage, number: int) -> bool:
    return int(folder.node_id) in topic.partitions[number].replicas


def _topic(folder: KafkaFolder, topic: TopicImage, image: ClusterImage, plan: Plan) -> TopicPlan:
    if sorted(topic.partitions) != list(range(len(topic.partitions))) or not topic.partitions:
        raise FolderRefused(f"topic {topic.name} has partitions {sorted(topic.partitions)}")
    configs = _topic_configs(topic.name, image.configs.get((TOPIC, topic.name), {}), plan)
    partitions = []
    for number in sorted(topic.partitions):
        place = topic.name, number
        log, cleaned = folder.log(place), folder.cleaned_offset(place)
        one = PartitionPlan(topic.name, number, log, cleaned)
        one.is_replicated = len(topic.partitions[number].replicas) > 1
        partitions.append(one)
    return TopicPlan(topic.name, topic.topic_id, configs, partitions)


def _topic_configs(name: str, found: dict[str, str], plan: Plan) -> dict[str, str]:
    """Those that the broker accepts, each one and together."""
    configs: dict[str, str] = {}
    for config, value in sorted(found.items()):
        try:
            validate_topic_configs({config: value})
        except BrokerError as refused:
            plan.skip(f"config {config} of topic {name}", refused.message)
        else:
            configs[config] = value
    try:
        validate_topic_configs(configs)
    except BrokerError as refused:
        plan.skip(f"configs of topic {name}", refused.message)
        return {}
    return configs


def _plan_features(plan: Plan, image: ClusterImage) -> None:
    level = image.features.get(TRANSACTION_VERSION, 0)
    lowest, highest = FEATURES[TRANSACTION_VERSION]
    if lowest <= level <= highest:
        plan.transaction_version = level
    else:
        plan.skip(f"feature {TRANSACTION_VERSION}={level}", f"at most {highest}")
    if not image.features.get(_OF_GROUPS, 0):
        plan.notes.append(f"feature {_OF_GROUPS}=0: consumer groups (KIP-848) are always on")
