// KafkaJS tells stories: a line of JSON in ({story, bootstrap, ...}) gives a line of JSON out
// ({ok, result} or {ok: false, error}). pytest starts this once and asks for one at a time.
'use strict'

const readline = require('node:readline')
const zlib = require('node:zlib')
const { promisify } = require('node:util')
const { Kafka, CompressionCodecs, CompressionTypes, Partitioners, logLevel } = require('kafkajs')

CompressionCodecs[CompressionTypes.Snappy] = require('kafkajs-snappy')
if (zlib.zstdCompress) {
  CompressionCodecs[CompressionTypes.ZSTD] = () => ({
    compress: encoder => promisify(zlib.zstdCompress)(encoder.buffer),
    decompress: buffer => promisify(zlib.zstdDecompress)(buffer),
  })
}

const CODECS = {
  none: CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  zstd: CompressionTypes.ZSTD,
}

// Bytes travel as base64, null stays null.
const bytes = text => (text === null || text === undefined ? null : Buffer.from(text, 'base64'))

const base64 = buffer => (buffer === null ? null : buffer.toString('base64'))

const message = ({ key, value, headers, partition, timestamp }) => ({
  key: bytes(key),
  value: bytes(value),
  ...(headers && {
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, v]) => [name, Array.isArray(v) ? v.map(bytes) : bytes(v)])
    ),
  }),
  ...(partition !== undefined && { partition }),
  ...(timestamp !== undefined && { timestamp: String(timestamp) }),
})

async function withProducer(kafka, settings, use) {
  const producer = kafka.producer({
    createPartitioner: Partitioners.DefaultPartitioner,
    ...settings,
  })
  await producer.connect()
  try {
    return await use(producer)
  } finally {
    await producer.disconnect()
  }
}

async function withAdmin(kafka, use) {
  const admin = kafka.admin()
  await admin.connect()
  try {
    return await use(admin)
  } finally {
    await admin.disconnect()
  }
}

const stories = {
  codecs: async () => [
    'none',
    'gzip',
    'snappy',
    ...(zlib.zstdCompress ? ['zstd'] : []),
  ],

  send: (kafka, { topic, messages, settings = {}, acks = -1, codec = 'none' }) =>
    withProducer(kafka, settings, producer =>
      producer.send({
        topic,
        acks,
        compression: CODECS[codec],
        messages: messages.map(message),
      })
    ),

  sendBatch: (kafka, { topicMessages, acks = -1 }) =>
    withProducer(kafka, {}, producer =>
      producer.sendBatch({
        acks,
        topicMessages: topicMessages.map(({ topic, messages }) => ({
          topic,
          messages: messages.map(message),
        })),
      })
    ),

  // Many sends in flight at once over one connection.
  sendMany: (kafka, { topic, count, settings = {} }) =>
    withProducer(kafka, settings, async producer => {
      const sent = await Promise.all(
        Array.from({ length: count }, (_, n) =>
          producer.send({ topic, messages: [{ value: String(n), partition: 0 }] })
        )
      )
      return sent.map(([report]) => report)
    }),

  // The first records of a topic, in a new group.
  consume: async (kafka, { topic, count }) => {
    const consumer = kafka.consumer({ groupId: `stories-${Date.now()}`, maxWaitTimeInMs: 100 })
    const records = []
    await consumer.connect()
    await consumer.subscribe({ topics: [topic], fromBeginning: true })
    await new Promise((resolve, reject) => {
      const eachMessage = async ({ message: { key, value, headers } }) => {
        records.push({ key: base64(key), value: base64(value), headers: Object.keys(headers) })
        if (records.length === count) resolve()
      }
      consumer.run({ eachMessage }).catch(reject)
    }).finally(() => consumer.disconnect())
    return records
  },

  admin: (kafka, { method, argument }) =>
    withAdmin(kafka, async admin => (await admin[method](argument)) ?? null),

  // What it knows of the topic it has from what it was asked before.
  deleteRecords: (kafka, { topic, partitions }) =>
    withAdmin(kafka, async admin => {
      await admin.fetchTopicOffsets(topic)
      await admin.deleteTopicRecords({ topic, partitions })
      return admin.fetchTopicOffsets(topic)
    }),

  offsetsByTime: (kafka, { topic, timestamp }) =>
    withAdmin(kafka, admin => admin.fetchTopicOffsetsByTimestamp(topic, timestamp)),
}

const told = error => ({
  name: error.name,
  type: error.type ?? error.cause?.type ?? null,
  code: error.code ?? null,
  message: error.message,
  errors: (error.errors ?? []).map(told),
})

async function tell(line) {
  const { story, bootstrap, retries = 5, ...rest } = JSON.parse(line)
  const kafka = new Kafka({
    clientId: 'kafkajs-stories',
    brokers: bootstrap.split(','),
    logLevel: logLevel.NOTHING,
    retry: { retries, initialRetryTime: 20, maxRetryTime: 500 },
  })
  try {
    return { ok: true, result: await stories[story](kafka, rest) }
  } catch (error) {
    return { ok: false, error: told(error) }
  }
}

const lines = readline.createInterface({ input: process.stdin })
lines.on('line', async line => process.stdout.write(JSON.stringify(await tell(line)) + '\n'))
