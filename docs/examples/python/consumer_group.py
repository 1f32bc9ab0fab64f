# pip install confluent-kafka
# Start it twice: the two share the partitions of the topic. Stop one: the other takes over.
from confluent_kafka import Consumer

consumer = Consumer(
    {
        "bootstrap.servers": "localhost:9092",
        "group.id": "mail-room",
        "auto.offset.reset": "earliest",
    }
)


def assigned(consumer, partitions):
    print("mine:", [partition.partition for partition in partitions], flush=True)


consumer.subscribe(["letters"], on_assign=assigned)
try:
    while True:
        message = consumer.poll(1)
        if message is None:
            continue
        if message.error():
            print("error:", message.error(), flush=True)
        else:
            print(message.partition(), message.offset(), message.value().decode(), flush=True)
except KeyboardInterrupt:
    pass
finally:
    consumer.close()  # commits what was read and leaves the group
