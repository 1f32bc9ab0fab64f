// All topics.

import { get } from '../api.js'
import { button, h, iconButton, to } from '../dom.js'
import { bytes, count } from '../format.js'
import { go } from '../router.js'
import { empty } from '../states.js'
import { deleteTopic } from './delete_topic.js'
import { listView } from './list_view.js'

const COLUMNS = [
  { name: 'name', title: 'Topic', compare: (topic) => topic.name, cell: (topic) => h('a', { href: to('topics', topic.name), title: topic.name }, topic.name) },
  { name: 'partitions', title: 'Partitions', end: true, width: 'clamp(94px, 12vw, 104px)', compare: (topic) => topic.partitions, cell: (topic) => count(topic.partitions) },
  { name: 'records', title: 'Offsets', end: true, width: 'clamp(94px, 12vw, 112px)', compare: (topic) => topic.records, cell: (topic) => count(topic.records) },
  { name: 'size', title: 'Size', end: true, wide: true, width: '92px', compare: (topic) => topic.size_bytes, cell: (topic) => bytes(topic.size_bytes) },
  { name: 'lag', title: 'Lag', end: true, wide: true, width: '104px', compare: (topic) => topic.lag, cell: (topic) => (!topic.has_groups ? h('span', { class: 'soft' }, 'no group') : count(topic.lag)) },
  { name: 'configs', title: 'Configs set', end: true, wider: true, width: '124px', compare: (topic) => topic.configs, cell: (topic) => (topic.configs ? h('a', { href: to('topics', topic.name, 'configs') }, count(topic.configs)) : h('span', { class: 'soft' }, '–')) },
]

export function open(root, { query, signal }) {
  const create = to('new-topic')
  const remove = (topic) => async () => ((await deleteTopic(topic.name)) ? again() : null)
  const again = listView(root, {
    query,
    signal,
    title: 'Topics',
    place: 'topics',
    noun: 'topic',
    ms: 5000,
    rowsOf: async () => (await get('console/data/topics', { signal })).data,
    keyOf: (topic) => topic.name,
    textOf: (topic) => topic.name,
    none: empty('There are no topics yet', 'Create a topic here, or produce to one: clients create topics on first use.', h('a', { class: 'button primary', href: create }, 'New topic')),
    action: button('New topic', { class: 'primary', onclick: () => go(create) }, 'plus'),
    sort: { by: 'name', down: false },
    columns: [...COLUMNS, { name: 'actions', title: h('span', { class: 'unseen' }, 'Delete'), end: true, act: true, wide: true, width: '48px', cell: (topic) => iconButton(`Delete ${topic.name}`, 'bin', remove(topic)) }],
  })
}
