// Connections of Kafka clients.

import { get } from '../api.js'
import { badge, h, to } from '../dom.js'
import { bytes, count, duration, plural } from '../format.js'
import { empty } from '../states.js'
import { listView } from './list_view.js'

export function open(root, { query, signal }) {
  listView(root, {
    query,
    signal,
    title: 'Connections',
    place: 'connections',
    noun: 'connection',
    ms: 2000,
    rowsOf: async () => (await get('connz', { signal })).data,
    keyOf: (one) => one.connection_id,
    textOf: (one) => `${one.client_id ?? ''} ${software(one)} ${one.address}`,
    none: empty('No client is connected', 'Kafka clients appear here when they connect.'),
    sort: { by: 'id', down: true },
    columns: [
      { name: 'client', title: 'Client', compare: (one) => one.client_id ?? '', cell: (one) => h('a', { href: to('requests', { client_id: one.client_id ?? '' }), title: one.client_id ?? '' }, one.client_id ?? '–') },
      { name: 'software', title: 'Software', wider: true, width: 'clamp(100px, 34vw - 268px, 340px)', compare: software, cell: (one) => h('span', { title: software(one) }, software(one)) },
      { name: 'address', title: 'From', wide: true, width: '150px', compare: (one) => one.address, cell: (one) => one.address },
      { name: 'id', title: 'Number', end: true, wider: true, width: '84px', compare: (one) => one.connection_id, cell: (one) => count(one.connection_id) },
      { name: 'since', title: 'For', end: true, wide: true, width: '102px', compare: (one) => -one.since_ms, cell: (one) => duration(Date.now() - one.since_ms) },
      { name: 'in', title: 'In', end: true, wide: true, width: '82px', compare: (one) => one.bytes_in, cell: (one) => bytes(one.bytes_in) },
      { name: 'out', title: 'Out', end: true, wide: true, width: '82px', compare: (one) => one.bytes_out, cell: (one) => bytes(one.bytes_out) },
      { name: 'state', title: 'Now', width: '116px', compare: (one) => one.in_flight, cell: state },
    ],
  })
}

function software(one) {
  return [one.software_name, one.software_version].filter(Boolean).join(' ')
}

function state(one) {
  if (one.unread_bytes) return badge(`${bytes(one.unread_bytes)} unread`, 'warn')
  if (one.in_flight) return badge(plural(one.in_flight, 'request'), 'accent')
  return h('span', { class: 'soft' }, one.idle ? 'idle' : 'active')
}
