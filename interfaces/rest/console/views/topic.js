// One topic: its head, and a tab for each view of it.

import { get, path } from '../api.js'
import { button, h, replace, to } from '../dom.js'
import { plural } from '../format.js'
import { again, go } from '../router.js'
import { loading, trouble } from '../states.js'
import { cloneTopic } from './clone_topic.js'
import { deleteTopic } from './delete_topic.js'
import { truncateTopic } from './truncate_topic.js'

const TABS = {
  messages: ['Messages', () => import('./messages.js')],
  partitions: ['Partitions', () => import('./topic_partitions.js')],
  consumers: ['Consumers', () => import('./topic_consumers.js')],
  configs: ['Configs', () => import('./topic_configs.js')],
  produce: ['Produce', () => import('./produce.js')],
}

export async function open(root, { names: [name, tab = 'messages'], query, signal, same }) {
  if (!same || !root.querySelector('.tabs')) await head(root, name, signal)
  if (signal.aborted || !root.querySelector('.tabs')) return
  for (const link of root.querySelectorAll('.tabs a')) {
    if (link.dataset.tab === tab) mark(link)
    else link.removeAttribute('aria-current')
  }
  const content = root.querySelector('.tab')
  replace(content, loading())
  const [, load] = Object.hasOwn(TABS, tab) ? TABS[tab] : TABS.messages
  const module = await load()
  if (!signal.aborted) module.open(content, { name, topic: root.topic, query, signal })
}

/** On a phone the tabs are wider than the screen. scrollIntoView would scroll the page too. */
function mark(link) {
  const tabs = link.parentNode
  link.setAttribute('aria-current', 'page')
  tabs.scrollLeft = link.offsetLeft - (tabs.clientWidth - link.offsetWidth) / 2
}

async function head(root, name, signal) {
  const crumbs = h('div', { class: 'crumbs' }, h('a', { href: to('topics') }, 'Topics'), '/')
  const title = h('div', { class: 'grow' }, crumbs, h('h1', {}, name))
  replace(root, h('div', { class: 'head' }, title), loading())
  let topic
  try {
    topic = await get(path`topics/${name}`, { signal })
  } catch (failure) {
    if (!signal.aborted) replace(root, h('div', { class: 'head' }, title), trouble(failure, () => head(root, name, signal)))
    return
  }
  root.topic = topic
  title.append(h('span', { class: 'soft' }, plural(topic.partitions_count, 'partition')))
  replace(
    root,
    h('div', { class: 'head' }, title, h('div', { class: 'actions' }, actions(name, topic.partitions_count))),
    h('nav', { class: 'tabs', 'aria-label': 'Topic' }, Object.entries(TABS).map(([tab, [label]]) => h('a', { href: to('topics', name, tab), 'data-tab': tab }, label))),
    h('div', { class: 'tab stack' }),
  )
}

function actions(name, partitionsCount) {
  const clone = async () => {
    const made = await cloneTopic(name)
    if (made) go(to('topics', made))
  }
  const truncate = async () => {
    if (await truncateTopic(name, partitionsCount)) again()
  }
  const remove = async () => {
    if (await deleteTopic(name)) go(to('topics'))
  }
  return [
    button('Clone', { onclick: clone }, 'copy'),
    button('Truncate', { onclick: truncate }, 'cut'),
    button('Delete', { onclick: remove }, 'bin'),
  ]
}
