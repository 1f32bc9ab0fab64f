// KafkaJS's transactional producer: a line of tab-separated fields with the verb in front gives
// "ok" and the result, "fenced", or what went wrong. See tests/e2e/transactions/lines.py.
'use strict'

const readline = require('node:readline')
const { randomUUID } = require('node:crypto')
const { Kafka, Partitioners, logLevel } = require('kafkajs')

const FENCED = ['PRODUCER_FENCED', 'INVALID_PRODUCER_EPOCH']

// Producers, with their open transaction, and consumers, by name.
const handles = new Map()

async function consume(kafka, groupId, topic, count, readUncommitted) {
  const consumer = kafka.consumer({ groupId, readUncommitted, maxWaitTimeInMs: 100 })
  const found = []
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await new Promise(resolve =>
    consumer.run({
      autoCommit: false,
      eachMessage: async ({ partition, message }) => {
        found.push({ partition, offset: message.offset, value: message.value.toString() })
        if (found.length === count) resolve()
      },
    })
  )
  return { consumer, groupId, topic, found: found.slice(0, count) }
}

const end = how => async (kafka, name) => {
  const { transaction } = handles.get(name)
  await transaction[how]()
}

const verbs = {
  producer: async (kafka, name, transactionalId, timeout) => {
    const producer = kafka.producer({
      createPartitioner: Partitioners.DefaultPartitioner,
      idempotent: true,
      maxInFlightRequests: 1,
      transactionalId,
      transactionTimeout: Number(timeout),
    })
    await producer.connect()
    await handles.get(name)?.producer.disconnect()
    handles.set(name, { producer })
  },

  begin: async (kafka, name) => {
    const handle = handles.get(name)
    handle.transaction = await handle.producer.transaction()
  },

  send: async (kafka, name, topic, partition, ...values) => {
    const messages = values.map(value => ({ value, partition: Number(partition) }))
    await handles.get(name).transaction.send({ topic, messages })
  },

  send_offsets: async (kafka, name, member) => {
    const { groupId, topic, found } = handles.get(member)
    const { partition, offset } = found.at(-1)
    const partitions = [{ partition, offset: String(Number(offset) + 1) }]
    const offsets = { consumerGroupId: groupId, topics: [{ topic, partitions }] }
    await handles.get(name).transaction.sendOffsets(offsets)
  },

  commit: end('commit'),
  abort: end('abort'),

  consumer: async (kafka, name, group, topic, count) => {
    handles.set(name, await consume(kafka, group, topic, Number(count), false))
    return handles.get(name).found.map(one => one.value)
  },

  close: (kafka, name) => handles.get(name).consumer.disconnect(),

  read: async (kafka, topic, count, level) => {
    const uncommitted = level === 'read_uncommitted'
    const { consumer, found } = await consume(kafka, randomUUID(), topic, Number(count), uncommitted)
    await consumer.disconnect()
    return found.map(one => one.value)
  },
}

async function run(line) {
  const [verb, bootstrap, ...fields] = line.split('\t')
  const retry = { retries: 5, initialRetryTime: 20, maxRetryTime: 500 }
  const kafka = new Kafka({ brokers: bootstrap.split(','), logLevel: logLevel.NOTHING, retry })
  try {
    return ['ok', ...((await verbs[verb](kafka, ...fields)) ?? [])]
  } catch (error) {
    return [FENCED.includes(error.type) ? 'fenced' : 'failed', `${error.type} ${error.message}`]
  }
}

const lines = readline.createInterface({ input: process.stdin })
lines.on('line', async line => process.stdout.write((await run(line)).join('\t') + '\n'))
lines.on('close', () => process.exit(0))
