# pip install aiokafka
import asyncio

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

SERVERS = "localhost:9092"


async def main():
    async with AIOKafkaProducer(bootstrap_servers=SERVERS) as producer:
        await producer.send_and_wait("postcards", b"hello from asyncio")

    # No group: the partition is assigned by hand.
    async with AIOKafkaConsumer(bootstrap_servers=SERVERS, group_id=None) as consumer:
        consumer.assign([TopicPartition("postcards", 0)])
        await consumer.seek_to_beginning()
        message = await consumer.getone()
        print(message.offset, message.value.decode())


asyncio.run(main())
