# pip install confluent-kafka
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

producer = Producer({"bootstrap.servers": "localhost:9092"})
producer.produce("letters", key="first", value="hello from Python")
producer.flush(10)

# No group: the partition is assigned by hand. The client wants a group.id all the same.
consumer = Consumer(
    {"bootstrap.servers": "localhost:9092", "group.id": "unused", "enable.auto.commit": False}
)
consumer.assign([TopicPartition("letters", 0, OFFSET_BEGINNING)])
message = consumer.poll(10)
print(message.offset(), message.value().decode())
consumer.close()
