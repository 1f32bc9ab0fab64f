// node capture.js ADDRESS TOPIC CODEC RECORDS: sends the records as one batch with KafkaJS.
const { readFileSync } = require('fs')
const { Kafka, CompressionTypes, CompressionCodecs, logLevel } = require('kafkajs')

const [address, topic, codec, records] = process.argv.slice(2)
const unpacked = (field) => (field === null ? null : Buffer.from(field, 'base64'))

const messages = JSON.parse(readFileSync(records)).map((row) => {
  const headers = {}
  for (const [name, content] of row.headers) (headers[name] ||= []).push(unpacked(content))
  const { timestamp, key, value } = row
  return { partition: 0, timestamp: `${timestamp}`, key: unpacked(key), value: unpacked(value), headers }
})

async function main() {
  CompressionCodecs[CompressionTypes.Snappy] = require('kafkajs-snappy')
  const producer = new Kafka({ brokers: [address], logLevel: logLevel.ERROR }).producer()
  await producer.connect()
  const compression = { none: 0, gzip: 1, snappy: 2 }[codec]
  await producer.send({ topic, messages, compression })
  await producer.disconnect()
}
main().catch((error) => { console.error(error); process.exit(1) })
