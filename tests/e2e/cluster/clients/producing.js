// A producer of KafkaJS. A line in gives a line out, as in Producing.java.
'use strict'

const readline = require('node:readline')
const { Kafka, Partitioners, logLevel } = require('kafkajs')

const state = { sent: 0, errors: [], stopped: false, running: Promise.resolve() }

async function produce(bootstrap, topic, partitions) {
  const kafka = new Kafka({ brokers: bootstrap.split(','), logLevel: logLevel.NOTHING })
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  while (!state.stopped) {
    const message = { partition: state.sent % partitions, value: `js:${state.sent}` }
    state.sent += 1
    try {
      await producer.send({ topic, messages: [message] })
    } catch (error) {
      state.errors.push(error.message)
    }
    await new Promise(resolve => setTimeout(resolve, 5))
  }
  await producer.disconnect()
}

const commands = {
  start: (bootstrap, topic, partitions) => {
    state.running = produce(bootstrap, topic, Number(partitions))
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
