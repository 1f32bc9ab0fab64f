// All topics.

import { get } from '../api.js'
import { button, h, iconButton, replace, to } from '../dom.js'
import { bytes, count, plural } from '../format.js'
import { go, note } from '../router.js'
import { empty, filled } from '../states.js'
import { Table } from '../table.js'
import { deleteTopic } from './delete_topic.js'
import { matches, searchField } from './parts.js'

const EACH_MS = 5000

const COLUMNS = [
  { name: 'name', title: 'Topic', compare: (topic) => topic.name, cell: (topic) => h('a', { href: to('topics', topic.name), title: topic.name }, topic.name) },
  { name: 'partitions', title: 'Partitions', end: true, width: 'clamp(94px, 12vw, 104px)', compare: (topic) => topic.partitions, cell: (topic) => count(topic.partitions) },
  { name: 'records', title: 'Records', end: true, width: 'clamp(94px, 12vw, 112px)', compare: (topic) => topic.records, cell: (topic) => count(topic.records) },
  { name: 'size', title: 'Size', end: true, wide: true, width: '92px', compare: (topic) => topic.size_bytes, cell: (topic) => bytes(topic.size_bytes) },
  { name: 'lag', title: 'Lag', end: true, wide: true, width: '104px', compare: (topic) => topic.lag, cell: (topic) => (topic.lag === null ? h('span', { class: 'soft' }, 'no group') : count(topic.lag)) },
  { name: 'configs', title: 'Own configs', end: true, wider: true, width: '124px', compare: (topic) => topic.configs, cell: (topic) => (topic.configs ? h('a', { href: to('topics', topic.name, 'configs') }, count(topic.configs)) : h('span', { class: 'soft' }, '–')) },
]

export function asObjects({ columns, rows }) {
  return rows.map((row) => Object.fromEntries(columns.map((name, n) => [name, row[n]])))
}

export function open(root, { query, signal }) {
  let search = query.q ?? ''
  let topics = []
  const table = new Table({
    label: 'Topics',
    signal,
    keyOf: (topic) => topic.name,
    sort: { by: query.sort ?? 'name', down: query.down === '1' },
    onsort: remember,
    columns: [...COLUMNS, { name: 'actions', title: h('span', { class: 'unseen' }, 'Delete'), end: true, act: true, wide: true, width: '48px', cell: actions }],
  })
  const told = h('small', { 'aria-live': 'polite' })
  const content = h('div', {})
  const card = h('div', { class: 'card' }, table.element)
  const nothing = h('div', { class: 'card' })

  function actions(topic) {
    return iconButton(`Delete ${topic.name}`, 'bin', async () => {
      if (await deleteTopic(topic.name)) again()
    })
  }

  function remember() {
    note(to('topics', { q: search, sort: table.sort.by === 'name' ? '' : table.sort.by, down: table.sort.down ? '1' : '' }))
  }

  function show() {
    const found = search ? topics.filter((topic) => matches(topic.name, search)) : topics
    told.textContent = search ? `${count(found.length)} of ${plural(topics.length, 'topic')}` : plural(topics.length, 'topic')
    card.hidden = !found.length
    nothing.hidden = found.length > 0
    table.rows = found
    if (!topics.length) replace(nothing, empty('There are no topics yet', 'A topic is made here, or by the first client that asks for it.', h('a', { class: 'button primary', href: to('new-topic') }, 'New topic')))
    else if (!found.length) replace(nothing, empty('No topic has this in its name', search))
    return [card, nothing]
  }

  const field = searchField('Search topics', search, (text) => {
    search = text
    show()
    remember()
  })
  replace(
    root,
    h('div', { class: 'head' }, h('div', { class: 'grow' }, h('h1', {}, 'Topics')), button('New topic', { class: 'primary', onclick: () => go(to('new-topic')) }, 'plus')),
    h('div', { class: 'line-up' }, field, told),
    content,
  )
  const again = filled(content, {
    signal,
    ms: EACH_MS,
    fetching: async () => asObjects(await get('console/data/topics', { signal })),
    draw: (fetched) => {
      topics = fetched
      const first = !content.contains(card)
      const made = show()
      // The rows are placed by where the table stands: once more when it does.
      if (first) requestAnimationFrame(() => table.paint())
      return first ? made : null
    },
  })
}

