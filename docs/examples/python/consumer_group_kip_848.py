# pip install confluent-kafka
# KIP-848: the broker assigns partitions; members keep consuming during a rebalance.
from confluent_kafka import Consumer

consumer = Consumer(
    {
        "bootstrap.servers": "localhost:9092",
        "group.id": "news-desk",
        "group.protocol": "consumer",
        "auto.offset.reset": "earliest",
    }
)
consumer.subscribe(["news"])
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
    consumer.close()
