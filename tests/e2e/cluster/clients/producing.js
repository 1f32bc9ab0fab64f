// A producer of KafkaJS: lines as in Producing.java, with settings as JSON.
'use strict'

const readline = require('node:readline')
const { Kafka, Partitioners, logLevel } = require('kafkajs')

const MOST_UNSENT = 100
const state = { sent: 0, waiting: 0, errors: [], stopped: false, running: Promise.resolve() }
const pause = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds))

// With a lost connection KafkaJS gives up its producer id at once.
async function connected(producer) {
  for (;;) {
    try {
      return await producer.connect()
    } catch (error) {
      console.error(error.message)
      await pause(100)
    }
  }
}

// One at a time to each partition: KafkaJS keeps no order of several.
async function produce(bootstrap, topic, partitions, name, settings) {
  const kafka = new Kafka({
    brokers: bootstrap.split(','),
    logLevel: logLevel.NOTHING,
    ...settings.client,
  })
  const createPartitioner = Partitioners.DefaultPartitioner
  const producer = kafka.producer({ createPartitioner, ...settings.producer })
  await connected(producer)
  const last = Array.from({ length: partitions }, () => Promise.resolve())

  async function send(partition, value) {
    try {
      const [{ baseOffset }] = await producer.send({ topic, messages: [{ partition, value }] })
      if (settings.reports) process.stdout.write(`${partition}\t${baseOffset}\t${value}\n`)
    } catch (error) {
      state.errors.push(`${value}: ${error.name} ${error.message}`)
    }
    state.waiting -= 1
  }

  while (!state.stopped) {
    if (state.waiting < MOST_UNSENT) {
      const [partition, value] = [state.sent % partitions, `${name}:${state.sent}`]
      state.sent += 1
      state.waiting += 1
      last[partition] = last[partition].then(() => send(partition, value))
    }
    await pause(5)
  }
  await Promise.all(last)
  await producer.disconnect()
}

const commands = {
  start: (bootstrap, topic, partitions, name, settings = '{}') => {
    state.running = produce(bootstrap, topic, Number(partitions), name, JSON.parse(settings))
    return 'ok'
  },
  stop: async () => {
    state.stopped = true
    await state.running
    return JSON.stringify({ sent: state.sent, errors: state.errors })
  },
}

readline
  .createInterface({ input: process.stdin })
  .on('line', async line => {
    const [name, ...rest] = line.split('\t')
    process.stdout.write((await commands[name](...rest)) + '\n')
  })
  .on('close', () => process.exit(0))
