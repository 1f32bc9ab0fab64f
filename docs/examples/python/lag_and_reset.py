# pip install confluent-kafka
# How far a group is behind: python lag_and_reset.py GROUP
# Everything once more, while nobody is in it: python lag_and_reset.py GROUP --reset
import sys

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--reset"]):
    sys.exit("usage: python lag_and_reset.py GROUP [--reset]")
group = sys.argv[1]
admin = AdminClient({"bootstrap.servers": "localhost:9092"})

asked = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])
committed = asked[group].result().topic_partitions
if not committed:
    sys.exit(f"group {group} has no committed offsets")

if len(sys.argv) > 2:
    beginning = [TopicPartition(place.topic, place.partition, 0) for place in committed]
    wanted = [ConsumerGroupTopicPartitions(group, beginning)]
    places = admin.alter_consumer_group_offsets(wanted)[group].result().topic_partitions
    refused = [place for place in places if place.error]
    for place in refused:
        print(place.topic, place.partition, "is not reset:", place.error.str())
    if any(place.error.code() == KafkaError.UNKNOWN_MEMBER_ID for place in refused):
        print(group, "has members: stop all its consumers first")
    print("reset", len(places) - len(refused), "of", len(places), "partitions")
    sys.exit(1 if refused else 0)

ends = admin.list_offsets(
    {TopicPartition(c.topic, c.partition): OffsetSpec.latest() for c in committed}
)
for place, end in ends.items():
    [offset] = [c.offset for c in committed if c == place]
    print(place.topic, place.partition, "is", end.result().offset - offset, "behind")
