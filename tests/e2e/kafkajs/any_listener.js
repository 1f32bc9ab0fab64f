// Reads {bootstrap, topic, ca, cert, key}: produces records over TLS; prints the base offset.
const fs = require('fs')
const { Kafka, logLevel } = require('kafkajs')

const request = JSON.parse(fs.readFileSync(0, 'utf8'))
const { ca, cert, key } = request
const kafka = new Kafka({
  brokers: [request.bootstrap],
  ssl: { ca: [ca], cert, key },
  logLevel: logLevel.NOTHING,
  retry: { retries: 0 },
})

async function main() {
  const producer = kafka.producer()
  await producer.connect()
  const messages = [{ value: 'x'.repeat(100000) }, { value: 'end' }]
  const [sent] = await producer.send({ topic: request.topic, messages })
  await producer.disconnect()
  console.log(sent.baseOffset)
}

main().catch((failure) => {
  console.log(`${failure.name} ${failure.message}`)
  process.exitCode = 1
})
