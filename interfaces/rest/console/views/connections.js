// Who is connected.

import { get } from '../api.js'
import { badge, h, replace, to } from '../dom.js'
import { bytes, count, duration, plural } from '../format.js'
import { note } from '../router.js'
import { empty, filled } from '../states.js'
import { Table } from '../table.js'
import { matches, searchField } from './parts.js'

export function open(root, { query, signal }) {
  let search = query.q ?? ''
  let connections = []
  const table = new Table({
    label: 'Connections',
    signal,
    keyOf: (one) => one.connection_id,
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
  const told = h('small', { 'aria-live': 'polite' })
  const content = h('div', {})
  const card = h('div', { class: 'card' }, table.element)
  const nothing = h('div', { class: 'card' })

  function show() {
    const found = search ? connections.filter((one) => matches(`${one.client_id ?? ''} ${software(one)} ${one.address}`, search)) : connections
    told.textContent = search ? `${count(found.length)} of ${plural(connections.length, 'connection')}` : plural(connections.length, 'connection')
    card.hidden = !found.length
    nothing.hidden = found.length > 0
    table.rows = found
    if (!connections.length) replace(nothing, empty('Nobody is connected', 'Kafka clients that connect are shown here.'))
    else if (!found.length) replace(nothing, empty('No connection fits', search))
  }

  const field = searchField('Search connections', search, (text) => {
    search = text
    show()
    note(to('connections', { q: search }))
  })
  replace(root, h('div', { class: 'head' }, h('div', { class: 'grow' }, h('h1', {}, 'Connections'))), h('div', { class: 'line-up' }, field, told), content)
  filled(content, {
    signal,
    ms: 2000,
    fetching: async () => (await get('connz', { signal })).data,
    draw: (fetched) => {
      connections = fetched
      show()
      if (content.contains(card)) return null
      requestAnimationFrame(() => table.paint())
      return [card, nothing]
    },
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
