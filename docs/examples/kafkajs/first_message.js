// npm install kafkajs
const { Kafka, Partitioners } = require('kafkajs')

const kafka = new Kafka({ clientId: 'my-app', brokers: ['localhost:9092'] })
const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner })
const consumer = kafka.consumer({ groupId: 'telegram-readers' })

async function run() {
  await producer.connect()
  await producer.send({
    topic: 'telegrams',
    messages: [{ value: 'Hello KafkaJS user!' }],
  })

  await consumer.connect()
  await consumer.subscribe({ topics: ['telegrams'], fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ topic, partition, message }) => {
      console.log(topic, partition, message.offset, message.value.toString())
    },
  })
}

async function stop() {
  await consumer.disconnect() // leaves the group
  await producer.disconnect()
  process.exit()
}

process.once('SIGINT', stop)
process.once('SIGTERM', stop)
run().catch(console.error)
