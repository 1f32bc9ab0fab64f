// npm install kafkajs
// Commits a message after the work on it is done; a failed message is delivered again.
const { Kafka } = require('kafkajs')

const kafka = new Kafka({ clientId: 'invoices', brokers: ['localhost:9092'] })
const consumer = kafka.consumer({ groupId: 'bookkeeping-js' })

async function book(text) {
  console.log('booked', text)
}

async function run() {
  await consumer.connect()
  await consumer.subscribe({ topics: ['invoices'], fromBeginning: true })
  await consumer.run({
    autoCommit: false,
    eachMessage: async ({ topic, partition, message }) => {
      await book(message.value.toString())
      const offset = String(Number(message.offset) + 1) // the next offset
      await consumer.commitOffsets([{ topic, partition, offset }])
    },
  })
}

async function stop() {
  await consumer.disconnect() // after the current message; leaves the group
  process.exit()
}

process.once('SIGINT', stop)
process.once('SIGTERM', stop)
run().catch(console.error)
