"""The progress of a stream in a consumer group, so that tools show its lag; never read again."""

from __future__ import annotations

from collections.abc import Mapping

from interfaces.spark.kafka.broker import Broker
from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.query.failures import WrongOption
from interfaces.spark.query.ranges import Place

_PATIENCE_S = 5.0


def mirrored_group(options: KafkaOptions) -> str | None:
    """None: the stream keeps its progress to its checkpoint."""
    if not options.flag("commitOffsetsToGroup", False):
        return None
    if options.own_group is None:
        raise WrongOption("commitOffsetsToGroup=true needs the group in kafka.group.id")
    return options.own_group


def mirror(broker: Broker, group: str, offsets: Mapping[Place, int]) -> None:
    """What the group cannot take is not the query's failure: the checkpoint has it."""
    from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition

    places = [TopicPartition(*place, offset) for place, offset in offsets.items()]
    if not places:
        return
    try:
        asked = broker.admin.alter_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(group, places)], request_timeout=_PATIENCE_S
        )
        for answer in asked.values():
            answer.result(_PATIENCE_S + 1)
    except (KafkaException, TimeoutError):
        pass
