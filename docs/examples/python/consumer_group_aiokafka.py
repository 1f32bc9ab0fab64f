# pip install aiokafka
import asyncio

from aiokafka import AIOKafkaConsumer


async def main():
    async with AIOKafkaConsumer(
        "postcards",
        bootstrap_servers="localhost:9092",
        group_id="collectors",
        auto_offset_reset="earliest",
    ) as consumer:
        async for message in consumer:
            print(message.partition, message.offset, message.value.decode(), flush=True)


try:
    asyncio.run(main())
except KeyboardInterrupt:
    pass
