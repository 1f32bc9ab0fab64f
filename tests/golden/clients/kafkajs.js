// node kafkajs.js ADDRESS SASL_ADDRESS: what a KafkaJS program does, once through.
const { Kafka, CompressionTypes, logLevel, ConfigResourceTypes, AclResourceTypes,
  AclOperationTypes, AclPermissionTypes, ResourcePatternTypes } = require('kafkajs')

const [address, saslAddress] = process.argv.slice(2)
const settings = { clientId: 'golden', logLevel: logLevel.NOTHING, retry: { retries: 1 } }
const kafka = new Kafka({ ...settings, brokers: [address] })

async function attempt(what, action) {
  try {
    await action()
  } catch (error) {
    console.log(`  kafkajs ${what}: ${error.message}`)
  }
}

async function topics(admin) {
  const create = (what, topic, more = {}) =>
    attempt(what, () => admin.createTopics({ topics: [topic], waitForLeaders: false, ...more }))
  await create('create', { topic: 'js-plain', numPartitions: 2, replicationFactor: 1 })
  await create('create with configs', {
    topic: 'js-configs',
    replicaAssignment: [{ partition: 0, replicas: [1] }],
    configEntries: [{ name: 'retention.ms', value: '60000' }],
  })
  await create('validate', { topic: 'js-checked' }, { validateOnly: true })
  await create('duplicate', { topic: 'js-plain' })
  await create('bad name', { topic: 'js bad/name' })
  await create('bad config', { topic: 'js-x', configEntries: [{ name: 'no.such', value: '1' }] })
  await attempt('create partitions', () =>
    admin.createPartitions({ topicPartitions: [{ topic: 'js-plain', count: 3 }] }))
  await attempt('fewer partitions', () =>
    admin.createPartitions({ topicPartitions: [{ topic: 'js-plain', count: 1 }] }))
  await admin.listTopics()
  await admin.fetchTopicMetadata({ topics: ['js-plain'] })
  await attempt('unknown', () => admin.fetchTopicMetadata({ topics: ['js-nowhere'] }))
  await admin.describeCluster()
}

async function produce() {
  const messages = [
    { partition: 0, timestamp: '1700000000000', key: 'k', value: 'v', headers: { h: ['1', '2'] } },
    { partition: 0, timestamp: '1700000000001', key: Buffer.from([0, 255]), value: null },
  ]
  const producer = kafka.producer()
  await producer.connect()
  for (const acks of [0, 1, -1]) await producer.send({ topic: 'js-plain', acks, messages })
  await producer.send({ topic: 'js-plain', compression: CompressionTypes.GZIP, messages })
  await attempt('acks 2', () => producer.send({ topic: 'js-plain', acks: 2, messages }))
  await producer.disconnect()
  const idempotent = kafka.producer({ idempotent: true, maxInFlightRequests: 1 })
  await idempotent.connect()
  for (let turn = 0; turn < 2; turn++) await idempotent.send({ topic: 'js-plain', messages })
  await idempotent.disconnect()
}

async function consume(groupId, more) {
  const consumer = kafka.consumer({ groupId, sessionTimeout: 6000, maxWaitTimeInMs: 300, ...more })
  await consumer.connect()
  await consumer.subscribe({ topics: ['js-plain'], fromBeginning: true })
  let seen = 0
  await consumer.run({ autoCommitThreshold: 1, eachMessage: async () => { seen++ } })
  while (seen < 8) await new Promise((done) => setTimeout(done, 50))
  consumer.seek({ topic: 'js-plain', partition: 0, offset: '5000' })
  await new Promise((done) => setTimeout(done, 1000))
  await attempt('describe groups', () => admin.describeGroups([groupId]))
  await attempt('delete a live group', () => admin.deleteGroups([groupId]))
  await consumer.disconnect()
}

async function transactions() {
  const producer = kafka.producer({ transactionalId: 'js-txn', maxInFlightRequests: 1, idempotent: true })
  await producer.connect()
  const first = await producer.transaction()
  await first.send({ topic: 'js-plain', messages: [{ partition: 1, value: 'in a transaction' }] })
  await first.sendOffsets({
    consumerGroupId: 'js-group',
    topics: [{ topic: 'js-plain', partitions: [{ partition: 1, offset: '1' }] }],
  })
  await first.commit()
  const second = await producer.transaction()
  await second.send({ topic: 'js-plain', messages: [{ partition: 1, value: 'given up' }] })
  await second.abort()
  await producer.disconnect()
}

async function administer(admin) {
  const topic = 'js-plain'
  await admin.fetchTopicOffsets(topic)
  await admin.fetchTopicOffsetsByTimestamp(topic, 1700000000001)
  await admin.listGroups()
  await admin.fetchOffsets({ groupId: 'js-group', topics: [topic] })
  await admin.setOffsets({ groupId: 'js-group', topic, partitions: [{ partition: 0, offset: '1' }] })
  await admin.describeGroups(['js-group', 'js-nobody'])
  const resource = { type: ConfigResourceTypes.TOPIC, name: topic }
  const configNames = ['retention.ms', 'cleanup.policy']
  await admin.describeConfigs({ includeSynonyms: true, resources: [{ ...resource, configNames }] })
  await admin.alterConfigs({ resources: [
    { ...resource, configEntries: [{ name: 'retention.ms', value: '70000' }] }] })
  await attempt('bad config value', () => admin.alterConfigs({ resources: [
    { ...resource, configEntries: [{ name: 'retention.ms', value: 'x' }] }] }))
  await attempt('delete records', () =>
    admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '1' }] }))
  await attempt('reassign', () => admin.alterPartitionReassignments({ topics: [
    { topic, partitionAssignment: [{ partition: 0, replicas: [1] }] }] }))
  await attempt('reassignments', () =>
    admin.listPartitionReassignments({ topics: [{ topic, partitions: [0] }] }))
  const acl = {
    resourceType: AclResourceTypes.TOPIC,
    resourceName: topic,
    resourcePatternType: ResourcePatternTypes.LITERAL,
    principal: 'User:bob',
    host: '*',
    operation: AclOperationTypes.READ,
    permissionType: AclPermissionTypes.ALLOW,
  }
  await attempt('create acls', () => admin.createAcls({ acl: [acl] }))
  await attempt('describe acls', () => admin.describeAcls(acl))
  await attempt('delete acls', () => admin.deleteAcls({ filters: [acl] }))
  await attempt('delete groups', () => admin.deleteGroups(['js-group', 'js-nobody']))
}

async function authenticate() {
  for (const [mechanism, password] of [['plain', 'secret'], ['scram-sha-256', 'secret'], ['plain', 'wrong']]) {
    const sasl = { mechanism, username: mechanism === 'plain' ? 'alice' : 'carol', password }
    const admin = new Kafka({ ...settings, brokers: [saslAddress], sasl }).admin()
    await attempt(`sasl ${mechanism} ${password}`, async () => {
      await admin.connect()
      await admin.listTopics()
    })
    await admin.disconnect()
  }
}

const admin = kafka.admin()
async function main() {
  await admin.connect()
  await topics(admin)
  await produce()
  await consume('js-group', {})
  await transactions()
  await administer(admin)
  await attempt('delete topics', () => admin.deleteTopics({ topics: ['js-configs'] }))
  await attempt('delete unknown', () => admin.deleteTopics({ topics: ['js-nowhere'] }))
  await admin.disconnect()
  await authenticate()
}
main().then(() => process.exit(0), (error) => { console.error(error); process.exit(1) })
