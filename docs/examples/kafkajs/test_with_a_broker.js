// npm install kafkajs; node --test test_with_a_broker.js
const { spawn } = require('node:child_process')
const { existsSync, mkdtempSync, readFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { after, before, test } = require('node:test')
const { setTimeout: sleep } = require('node:timers/promises')
const assert = require('node:assert')
const { Kafka, logLevel } = require('kafkajs')

let broker, address

before(async () => {
  const ready = join(mkdtempSync(join(tmpdir(), 'ottla-')), 'ready.json')
  const places = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0', '--storage', 'memory://']
  const options = [...places, '--testing', '--exit-with-stdin', '--ready-file', ready]
  broker = spawn('ottla', ['serve', ...options], { stdio: ['pipe', 'ignore', 'ignore'] })
  while (!existsSync(ready)) {
    assert.strictEqual(broker.exitCode, null, 'ottla serve has ended')
    await sleep(5)
  }
  address = JSON.parse(readFileSync(ready))
})

after(() => broker.stdin.end())

test('a producer retries', async () => {
  const fault = { api: 'Produce', error: 'NOT_LEADER_OR_FOLLOWER', topic: 'orders' }
  const response = await fetch(`http://${address.admin[0]}/test/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(fault),
  })
  assert.strictEqual(response.status, 201)

  const brokers = [address.bootstrap_servers]
  const retry = { initialRetryTime: 10 }
  const producer = new Kafka({ brokers, retry, logLevel: logLevel.NOTHING }).producer()
  await producer.connect()
  const [sent] = await producer.send({ topic: 'orders', messages: [{ value: 'coffee' }] })
  assert.strictEqual(sent.baseOffset, '0')
  await producer.disconnect()
})
