// The groups that have read from a topic, and how far each has come.

import { get } from '../api.js'
import { h, replace, to } from '../dom.js'
import { count } from '../format.js'
import { empty, filled } from '../states.js'
import { Table } from '../table.js'
import { groupLink, stateBadge } from './parts.js'
import { asObjects } from './topics.js'

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
  const content = h('div', {})
  replace(root, content)
  filled(content, {
    signal,
    ms: 3000,
    fetching: async () => asObjects(await get('console/data/consumers', { signal, query: { topic: name } })),
    draw: (groups) => {
      if (!groups.length) return h('div', { class: 'card' }, empty('No group has committed an offset here', 'Consumers without a group leave no trace.'))
      table.rows = groups
      if (content.contains(table.element)) return null
      requestAnimationFrame(() => table.paint())
      return h('div', { class: 'card' }, table.element)
    },
  })
}
