// All groups.

import { get } from '../api.js'
import { count } from '../format.js'
import { empty } from '../states.js'
import { listView } from './list_view.js'
import { groupLink, stateBadge } from './parts.js'

export function open(root, { query, signal }) {
  listView(root, {
    query,
    signal,
    title: 'Groups',
    place: 'groups',
    noun: 'group',
    ms: 3000,
    rowsOf: async () => (await get('console/data/groups', { signal })).data,
    keyOf: (group) => group.group_id,
    textOf: (group) => group.group_id,
    none: empty('There are no groups yet', 'A group appears with its first member or its first committed offset.'),
    sort: { by: 'lag', down: true },
    columns: [
      { name: 'group', title: 'Group', compare: (group) => group.group_id, cell: (group) => groupLink(group.group_id) },
      { name: 'state', title: 'State', width: 'clamp(84px, 17vw, 168px)', compare: (group) => group.state, cell: (group) => stateBadge(group.state) },
      { name: 'kind', title: 'Protocol', wider: true, width: '104px', compare: (group) => group.kind, cell: (group) => group.kind },
      { name: 'members', title: 'Members', end: true, wide: true, width: '92px', compare: (group) => group.members, cell: (group) => count(group.members) },
      { name: 'topics', title: 'Topics', end: true, wide: true, width: '80px', compare: (group) => group.topics, cell: (group) => count(group.topics) },
      { name: 'lag', title: 'Lag', end: true, width: 'clamp(88px, 11vw, 110px)', compare: (group) => group.lag, cell: (group) => count(group.lag) },
    ],
  })
}
