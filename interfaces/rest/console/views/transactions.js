// Transactions of producers, and the partitions in which they hold back consumers.

import { get, path, send } from '../api.js'
import { ask, toast } from '../dialog.js'
import { button, h, to } from '../dom.js'
import { count, duration, plural } from '../format.js'
import { empty } from '../states.js'
import { listView } from './list_view.js'
import { stateBadge } from './parts.js'

export function open(root, { query, signal }) {
  const again = listView(root, {
    query,
    signal,
    title: 'Transactions',
    place: 'transactions',
    noun: 'transactional id',
    ms: 2000,
    rowsOf: async () => (await get('transactions', { signal })).data,
    keyOf: (one) => one.transactional_id,
    textOf: (one) => `${one.transactional_id} ${one.partitions.map(place).join(' ')}`,
    none: empty('There are no transactional ids', 'Producers with a transactional.id appear here.'),
    sort: { by: 'open', down: true },
    columns: [
      { name: 'id', title: 'Transactional id', compare: (one) => one.transactional_id, cell: (one) => h('span', { title: one.transactional_id }, one.transactional_id) },
      { name: 'state', title: 'State', width: 'clamp(96px, 17vw, 168px)', compare: (one) => one.state, cell: (one) => stateBadge(one.state) },
      { name: 'open', title: 'Open for', end: true, width: 'clamp(84px, 11vw, 110px)', compare: (one) => one.open_for_ms, cell: openFor },
      { name: 'producer', title: 'Producer id', end: true, wider: true, width: '104px', compare: (one) => one.producer_id, cell: (one) => String(one.producer_id) },
      { name: 'partitions', title: 'Partitions', wide: true, compare: (one) => one.partitions.length, cell: partitions },
      { name: 'held', title: 'Held back', end: true, wide: true, width: '110px', compare: held, cell: (one) => count(held(one)) },
      { name: 'abort', title: h('span', { class: 'unseen' }, 'Abort'), end: true, act: true, wide: true, width: '90px', cell: (one) => one.state === 'ONGOING' && button('Abort', { class: 'small', 'aria-label': `Abort ${one.transactional_id}`, onclick: () => abort(one, again) }) },
    ],
  })
}

function place({ topic_name: topic, partition_id: partition }) {
  return `${topic}-${partition}`
}

function openFor(one) {
  const text = one.open_for_ms === null ? '–' : duration(one.open_for_ms)
  return h('span', { title: `transaction.timeout.ms is ${duration(one.timeout_ms)}` }, text)
}

function partitions(one) {
  if (!one.partitions.length) return h('span', { class: 'soft' }, 'none')
  const [{ topic_name: topic }] = one.partitions
  const more = one.partitions.length > 1 && ` and ${plural(one.partitions.length - 1, 'other')}`
  return h('span', { title: one.partitions.map(place).join(', ') }, h('a', { href: to('topics', topic, 'partitions') }, place(one.partitions[0])), more)
}

/** Offsets that read_committed consumers do not get yet, in partitions where it is the oldest one. */
function held(one) {
  if (one.open_for_ms === null) return null
  return one.partitions
    .filter((each) => each.first_offset !== null && each.first_offset === each.last_stable_offset)
    .reduce((sum, each) => sum + each.high_watermark - each.last_stable_offset, 0)
}

async function abort({ transactional_id: id }, again) {
  const done = await ask({
    title: 'Abort this transaction?',
    body: h('p', {}, 'Its records are not visible to read_committed consumers, and its producer is fenced: it has to start again.'),
    action: 'Abort',
    danger: true,
    run: () => send('POST', path`transactions/${id}:abort`),
  })
  if (done) {
    toast(`The transaction of ${id} is aborted.`)
    again()
  }
}
