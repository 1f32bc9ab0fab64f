// The groups with committed offsets for a topic, and their lag.

import { get } from '../api.js'
import { h } from '../dom.js'
import { count } from '../format.js'
import { empty, filled } from '../states.js'
import { Table } from '../table.js'
import { groupLink, stateBadge } from './parts.js'

export function open(root, { name, signal }) {
  const table = new Table({
    label: 'Consumers',
    signal,
    keyOf: (group) => group.group_id,
    sort: { by: 'lag', down: true },
    columns: [
      { name: 'group', title: 'Group', compare: (group) => group.group_id, cell: (group) => groupLink(group.group_id) },
      { name: 'state', title: 'State', width: 'clamp(84px, 17vw, 168px)', compare: (group) => group.state, cell: (group) => stateBadge(group.state) },
      { name: 'members', title: 'Members', end: true, wide: true, width: '92px', compare: (group) => group.members, cell: (group) => count(group.members) },
      { name: 'partitions', title: 'Committed partitions', end: true, wider: true, width: '190px', compare: (group) => group.partitions, cell: (group) => count(group.partitions) },
      { name: 'lag', title: 'Lag', end: true, width: 'clamp(88px, 11vw, 110px)', compare: (group) => group.lag, cell: (group) => count(group.lag) },
    ],
  })
  const card = h('div', { class: 'card' }, table.element)
  const none = h('div', { class: 'card' }, empty('No group has committed an offset here', 'Consumers without a group do not commit offsets.'))
  filled(root, {
    signal,
    ms: 3000,
    fetching: () => get('console/data/consumers', { signal, query: { topic: name } }),
    draw: ({ data }) => {
      table.rows = data
      return data.length ? card : none
    },
  })
}
