# pip install confluent-kafka
# Commits a message after the work on it is done; a failed message is delivered again.
from confluent_kafka import Consumer


def book(text):
    print("booked", text, flush=True)


consumer = Consumer(
    {
        "bootstrap.servers": "localhost:9092",
        "group.id": "bookkeeping-python",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
    }
)
consumer.subscribe(["invoices"])
try:
    while True:
        message = consumer.poll(1)
        if message is None:
            continue
        if message.error():
            print("error:", message.error(), flush=True)
        else:
            book(message.value().decode())
            consumer.commit(message, asynchronous=False)
except KeyboardInterrupt:
    pass
finally:
    consumer.close()
