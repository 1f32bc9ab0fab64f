# pip install aiokafka
import asyncio

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

SERVERS = "localhost:9092"


async def main():
    async with AIOKafkaProducer(bootstrap_servers=SERVERS) as producer:
        await producer.send_and_wait("postcards", b"hello from asyncio")

    async with AIOKafkaConsumer(
        "postcards",
        bootstrap_servers=SERVERS,
        group_id="postcard-readers",
        auto_offset_reset="earliest",
    ) as consumer:
        message = await consumer.getone()
        print(message.offset, message.value.decode())


asyncio.run(main())
