// npm install kafkajs
const { Kafka, Partitioners } = require('kafkajs')

async function main() {
  const kafka = new Kafka({ clientId: 'first-message', brokers: ['localhost:9092'] })
  const admin = kafka.admin()
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await admin.connect()
  await producer.connect()

  if (!(await admin.listTopics()).includes('telegrams')) {
    await admin.createTopics({ topics: [{ topic: 'telegrams', numPartitions: 1 }] })
  }
  const [sent] = await producer.send({
    topic: 'telegrams',
    messages: [{ key: 'first', value: 'hello from KafkaJS' }],
  })
  console.log('kept at offset', sent.baseOffset)

  await producer.disconnect()
  await admin.disconnect()
}

main()
