"""CreateTopics (key 19), versions 2-7.

4  -1 for the broker's default number of partitions and replicas (accepted in all versions)
5  flexible; partitions, replication factor and configs in the response (KIP-525)
6  THROTTLING_QUOTA_EXCEEDED (KIP-599)
7  topic ids
"""

from __future__ import annotations

from application.topics.create import USE_DEFAULT, NewTopic
from domain.configs.topic import deciding_source, describe_topic_configs
from domain.errors import BrokerError, TopicAuthorizationFailed
from domain.security.access import Operation, ResourceType
from interfaces.kafka.handlers.shared.topics_once import Changed, respond_to_each
from interfaces.kafka.requests.call import Call
from interfaces.kafka.requests.config_numbers import SOURCES
from interfaces.kafka.requests.error_codes import CODES
from interfaces.kafka.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)

FIRST_WITH_QUOTA_ERROR = 6

#: Kafka's message for a topic that the client may not create.
NOT_AUTHORIZED = "Authorization failed."


def handle(request: CreateTopicsRequest, call: Call) -> None:
    create = call.broker.topics.create_topics.create
    quota = call.mutation_quota(FIRST_WITH_QUOTA_ERROR)
    default = call.broker.config.default_replication_factor
    factors = {topic.name: _factor(topic, default) for topic in request.topics}
    respond_to_each(
        request.topics,
        call,
        quota,
        lambda once: create(
            [_new_topic(topic) for topic in once],
            request.validate_only,
            call.requester,
            quota.record,
        ),
        lambda name, topic, _: _result(name, topic, factors[name], call),
        lambda results: CreateTopicsResponse(topics=results),
    )


def _new_topic(topic: CreatableTopic) -> NewTopic:
    return NewTopic(
        topic.name,
        topic.num_partitions,
        topic.replication_factor,
        [(one.partition_index, one.broker_ids) for one in topic.assignments],
        {config.name: config.value for config in topic.configs},
    )


def _factor(topic: CreatableTopic, default: int) -> int:
    if topic.assignments:
        return len(topic.assignments[0].broker_ids)
    return default if topic.replication_factor == USE_DEFAULT else topic.replication_factor


def _result(name: str, topic: Changed, factor: int, call: Call) -> CreatableTopicResult:
    if isinstance(topic, BrokerError):
        return CreatableTopicResult(
            name=name, error_code=call.code(topic), error_message=topic.message or None, configs=[]
        )
    if not call.allows(Operation.DESCRIBE_CONFIGS, ResourceType.TOPIC, topic.name):
        return CreatableTopicResult(
            name=topic.name,
            topic_id=topic.topic_id,
            topic_config_error_code=CODES[TopicAuthorizationFailed],
            configs=None,
        )
    config = call.broker.config
    return CreatableTopicResult(
        name=topic.name,
        topic_id=topic.topic_id,
        error_code=0,
        error_message=None,
        num_partitions=len(topic.partition_ids),
        replication_factor=factor,
        configs=[
            CreatableTopicConfigs(
                name=entry.name,
                value=entry.text,
                read_only=False,
                config_source=SOURCES[deciding_source(entry.name, topic.configs, config)],
                is_sensitive=entry.definition.sensitive,
            )
            for entry in describe_topic_configs(topic.configs, config)
        ],
    )
