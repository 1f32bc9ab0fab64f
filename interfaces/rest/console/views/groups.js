// All groups.

import { get } from '../api.js'
import { h, replace, to } from '../dom.js'
import { count, plural } from '../format.js'
import { note } from '../router.js'
import { empty, filled } from '../states.js'
import { Table } from '../table.js'
import { groupLink, matches, searchField, stateBadge } from './parts.js'
import { asObjects } from './topics.js'

export function open(root, { query, signal }) {
  let search = query.q ?? ''
  let groups = []
  const table = new Table({
    label: 'Groups',
    signal,
    keyOf: (group) => group.group_id,
    sort: { by: query.sort ?? 'lag', down: query.down !== '0' },
    onsort: remember,
    columns: [
      { name: 'group', title: 'Group', compare: (group) => group.group_id, cell: (group) => groupLink(group.group_id) },
      { name: 'state', title: 'State', width: 'clamp(84px, 17vw, 168px)', compare: (group) => group.state, cell: (group) => stateBadge(group.state) },
      { name: 'kind', title: 'Protocol', wider: true, width: '104px', compare: (group) => group.kind, cell: (group) => group.kind },
      { name: 'members', title: 'Members', end: true, wide: true, width: '92px', compare: (group) => group.members, cell: (group) => count(group.members) },
      { name: 'topics', title: 'Topics', end: true, wide: true, width: '80px', compare: (group) => group.topics, cell: (group) => count(group.topics) },
      { name: 'lag', title: 'Lag', end: true, width: 'clamp(88px, 11vw, 110px)', compare: (group) => group.lag, cell: (group) => count(group.lag) },
    ],
  })
  const told = h('small', { 'aria-live': 'polite' })
  const content = h('div', {})
  const card = h('div', { class: 'card' }, table.element)
  const nothing = h('div', { class: 'card' })

  function remember() {
    note(to('groups', { q: search, sort: table.sort.by === 'lag' ? '' : table.sort.by, down: table.sort.down ? '' : '0' }))
  }

  function show() {
    const found = search ? groups.filter((group) => matches(group.group_id, search)) : groups
    told.textContent = search ? `${count(found.length)} of ${plural(groups.length, 'group')}` : plural(groups.length, 'group')
    card.hidden = !found.length
    nothing.hidden = found.length > 0
    table.rows = found
    if (!groups.length) replace(nothing, empty('There are no groups yet', 'A group appears with its first member, or with the first offset that is committed for it.'))
    else if (!found.length) replace(nothing, empty('No group has this in its name', search))
    return [card, nothing]
  }

  const field = searchField('Search groups', search, (text) => {
    search = text
    show()
    remember()
  })
  replace(root, h('div', { class: 'head' }, h('div', { class: 'grow' }, h('h1', {}, 'Groups'))), h('div', { class: 'line-up' }, field, told), content)
  filled(content, {
    signal,
    ms: 3000,
    fetching: async () => asObjects(await get('console/data/groups', { signal })),
    draw: (fetched) => {
      groups = fetched
      const first = !content.contains(card)
      const made = show()
      if (first) requestAnimationFrame(() => table.paint())
      return first ? made : null
    },
  })
}
