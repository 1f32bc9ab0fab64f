# pip install confluent-kafka
from confluent_kafka import Consumer, Producer

producer = Producer({"bootstrap.servers": "localhost:9092"})
producer.produce("letters", key="first", value="hello from Python")
producer.flush(10)

consumer = Consumer(
    {
        "bootstrap.servers": "localhost:9092",
        "group.id": "letter-readers",
        "auto.offset.reset": "earliest",
    }
)
consumer.subscribe(["letters"])
message = consumer.poll(10)
if message is None:
    print("no record within 10 seconds")
elif message.error():
    print("error:", message.error())
else:
    print(message.offset(), message.value().decode())
consumer.close()
