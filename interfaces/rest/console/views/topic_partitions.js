// The partitions of a topic: leaders, offsets, records, size.

import { get, path, send } from '../api.js'
import { ask, toast } from '../dialog.js'
import { badge, button, field, h, replace, to } from '../dom.js'
import { bytes, count } from '../format.js'
import { filled } from '../states.js'
import { Table } from '../table.js'

/** Where several brokers share the partitions. */
const LEADERS = [
  { name: 'leader', title: 'Leader', end: true, width: '92px', compare: (one) => one.leader ?? -1, cell: (one) => (one.leader === null ? badge('none', 'bad') : String(one.leader)) },
  { name: 'epoch', title: 'Epoch', end: true, wide: true, width: '92px', compare: (one) => one.leader_epoch, cell: (one) => count(one.leader_epoch) },
  { name: 'replicas', title: 'Replicas', wide: true, width: '132px', compare: (one) => one.replicas.join(), cell: replicas },
]

export function open(root, { name, signal }) {
  const tableOf = (several) => new Table({
    label: 'Partitions',
    signal,
    keyOf: (one) => one.partition,
    columns: [
      { name: 'partition', title: 'Partition', width: 'clamp(88px, 12vw, 112px)', compare: (one) => one.partition, cell: (one) => h('a', { href: to('topics', name, 'messages', { partition: one.partition }) }, String(one.partition)) },
      ...(several ? LEADERS : []),
      { name: 'start', title: 'Log start offset', end: true, compare: (one) => one.start_offset, cell: (one) => count(one.start_offset) },
      { name: 'end', title: 'Log end offset', end: true, compare: (one) => one.end_offset, cell: (one) => count(one.end_offset) },
      { name: 'records', title: 'Offsets', end: true, wide: true, compare: (one) => records(one), cell: (one) => count(records(one)) },
      { name: 'size', title: 'Size', end: true, wide: true, compare: (one) => one.size_bytes, cell: (one) => bytes(one.size_bytes) },
    ],
  })
  const content = h('div')
  const card = h('div', { class: 'card' })
  let table = null
  let known = 0
  const more = button('Add partitions', { onclick: () => add(name, known, again) }, 'plus')
  replace(root, h('div', { class: 'line-up' }, h('span', { class: 'spring' }), more), content)
  const again = filled(content, {
    signal,
    ms: 3000,
    fetching: () => get('console/data/partitions', { signal, query: { topic: name } }),
    draw: ({ data }) => {
      known = data.length
      if (!table) {
        table = tableOf('leader' in (data[0] ?? {}))
        replace(card, table.element)
      }
      table.rows = data
      return card
    },
  })
}

function replicas(one) {
  const listed = one.replicas.join(', ')
  return one.offline.length ? [listed, ' ', badge(`${one.offline.join(', ')} offline`, 'warn')] : listed
}

function records(one) {
  return one.end_offset === null ? null : one.end_offset - one.start_offset
}

async function add(name, known, again) {
  const total = h('input', { type: 'number', min: String(known + 1), value: String(known + 1) })
  const done = await ask({
    title: 'Add partitions',
    body: [
      h('p', {}, 'Partitions cannot be removed again, and new records with a key may go to another partition than before.'),
      field('Partitions in all', total, `There are ${known} now.`),
    ],
    action: 'Add',
    run: () => send('PATCH', path`topics/${name}`, { partitions_count: Number(total.value) }),
  })
  if (done) {
    toast(`${name} has ${total.value} partitions.`)
    again()
  }
}
