// Consumers of KafkaJS. Lines in and out are those of tests/e2e/groups/clients/lines.py.
'use strict'

const readline = require('node:readline')
const { Kafka, logLevel } = require('kafkajs')

const say = facts => process.stdout.write(JSON.stringify(facts) + '\n')
const fields = line => Object.fromEntries(line.split('\t').map(field => field.split(/=(.*)/s)))
const places = text =>
  text.split(',').map(place => {
    const [topic, partition, offset] = place.split(':')
    return { topic, partition: Number(partition), offset }
  })

const told = (topic, partition, { offset, value }) => [
  topic,
  partition,
  Number(offset),
  value.toString(),
]

// The two ways to be handed records.
const handlers = {
  each_message: member => ({
    eachMessage: async ({ topic, partition, message }) =>
      say({ member, records: [told(topic, partition, message)] }),
  }),
  each_batch: member => ({
    eachBatch: async ({ batch, resolveOffset, heartbeat }) => {
      for (const message of batch.messages) {
        say({ member, records: [told(batch.topic, batch.partition, message)] })
        resolveOffset(message.offset)
      }
      await heartbeat()
    },
  }),
}

const client = (bootstrap, clientId) =>
  new Kafka({
    clientId,
    brokers: bootstrap.split(','),
    logLevel: logLevel.NOTHING,
    retry: { retries: 20, initialRetryTime: 20, maxRetryTime: 200 },
  })

async function join(wanted) {
  const { member, group, bootstrap, topics, handler = 'each_message' } = wanted
  const sessionTimeout = Number(wanted.session_ms ?? 10000)
  const consumer = client(bootstrap, member).consumer({
    groupId: group,
    sessionTimeout,
    rebalanceTimeout: 10000,
    heartbeatInterval: Math.min(sessionTimeout / 5, 200),
    metadataMaxAge: 500,
    maxWaitTimeInMs: 100,
  })
  const { GROUP_JOIN, REBALANCING, CRASH } = consumer.events
  consumer.on(REBALANCING, () => say({ member, assigned: [] }))
  consumer.on(GROUP_JOIN, ({ payload: { memberAssignment } }) => {
    const held = Object.entries(memberAssignment)
    say({ member, assigned: held.flatMap(([topic, some]) => some.map(p => [topic, p])) })
  })
  consumer.on(CRASH, ({ payload: { error, restart } }) => {
    if (!restart) say({ member, died: error.message })
  })
  await consumer.connect()
  const names = topics.split(',')
  await consumer.subscribe({
    topics: topics.startsWith('^') ? [new RegExp(topics)] : names,
    fromBeginning: (wanted.reset ?? 'earliest') === 'earliest',
  })
  await consumer.run({
    autoCommit: (wanted.commit ?? 'auto') === 'auto',
    partitionsConsumedConcurrently: 3,
    ...handlers[handler](member),
  })
  return consumer
}

const perTopic = text =>
  places(text).map(({ topic, partition }) => ({ topic, partitions: [partition] }))

const actions = {
  commit: (consumer, { places: text }) => consumer.commitOffsets(places(text)),
  seek: (consumer, { places: text }) => places(text).forEach(place => consumer.seek(place)),
  pause: (consumer, { places: text }) => consumer.pause(perTopic(text)),
  resume: (consumer, { places: text }) => consumer.resume(perTopic(text)),
  leave: consumer => consumer.disconnect(),
}

async function administer({ bootstrap, method, argument }) {
  const admin = client(bootstrap, 'admin').admin()
  await admin.connect()
  try {
    return await admin[method](JSON.parse(argument))
  } finally {
    await admin.disconnect()
  }
}

const members = new Map()

async function perform(command) {
  if (command.do === 'admin') return administer(command)
  if (command.do !== 'join') return actions[command.do](members.get(command.member), command)
  members.set(command.member, await join(command))
}

async function obey(command) {
  const id = Number(command.id)
  try {
    say({ id, result: (await perform(command)) ?? null })
  } catch (error) {
    say({ id, error: error.type ?? error.message })
  }
}

readline
  .createInterface({ input: process.stdin })
  .on('line', line => obey(fields(line)))
  .on('close', () => process.exit(0))
