// One topic: its head, and a tab for each view of it.

import { get, path } from '../api.js'
import { button, h, markCurrent, replace, to } from '../dom.js'
import { bytes, duration, plural, short } from '../format.js'
import { every } from '../live.js'
import { again, go } from '../router.js'
import { loading, trouble } from '../states.js'
import { cloneTopic } from './clone_topic.js'
import { deleteRecords } from './delete_records.js'
import { deleteTopic } from './delete_topic.js'
import { groupLink } from './parts.js'
import * as messages from './messages.js'
import * as produce from './produce.js'
import * as configs from './topic_configs.js'
import * as consumers from './topic_consumers.js'
import * as metrics from './topic_metrics.js'
import * as partitions from './topic_partitions.js'

const FACTS_MS = 3000
/** Groups with a link; the others are a number. */
const LINKED_GROUPS = 3

const TABS = {
  messages: ['Messages', messages],
  partitions: ['Partitions', partitions],
  consumers: ['Consumers', consumers],
  metrics: ['Metrics', metrics],
  configs: ['Configs', configs],
  produce: ['Produce', produce],
}

export async function open(root, { names: [name, tab = 'messages'], query, signal, same }) {
  if (!same || !root.querySelector('.tabs')) await head(root, name, signal)
  const tabs = root.querySelector('.tabs')
  if (signal.aborted || !tabs) return
  const [, view] = Object.hasOwn(TABS, tab) ? TABS[tab] : TABS.messages
  const link = tabs.querySelector(`[data-tab="${CSS.escape(tab)}"]`)
  markCurrent(tabs.children, link)
  // On a phone the tabs are wider than the screen. scrollIntoView would scroll the page too.
  if (link) tabs.scrollLeft = link.offsetLeft - (tabs.clientWidth - link.offsetWidth) / 2
  view.open(root.querySelector('.tab'), { name, topic: root.topic, query, signal })
  every(FACTS_MS, signal, () => update(root.facts, name, signal))
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
  root.facts = [h('span', {}, plural(topic.partitions_count, 'partition')), h('span')]
  title.append(h('div', { class: 'soft' }, root.facts))
  replace(
    root,
    h('div', { class: 'head' }, title, h('div', { class: 'actions' }, actions(name, topic.partitions_count))),
    h('nav', { class: 'tabs', 'aria-label': 'Topic' }, Object.entries(TABS).map(([tab, [label]]) => h('a', { href: to('topics', name, tab), 'data-tab': tab }, label))),
    h('div', { class: 'tab stack' }),
  )
}

/** The last figures stay while a request fails: the tab below shows failures. */
async function update([figures, groups], name, signal) {
  const topic = await get(path`console/data/topics/${name}`, { signal }).catch(() => null)
  if (!topic) return
  figures.textContent = [
    plural(topic.partitions, 'partition'),
    topic.records !== null && plural(topic.records, topic.compaction ? 'offset' : 'record'),
    topic.size_bytes !== null && bytes(topic.size_bytes),
    topic.oldest_timestamp !== null && oldest(topic),
    topic.expires_at !== null && (topic.expires_at > topic.at_ms ? `next deletion in ${duration(topic.expires_at - topic.at_ms)}` : 'deletion is due'),
    ...(topic.compaction ? compactionOf(topic.compaction, topic.at_ms) : []),
    topic.messages_in_per_sec !== null && `${short(topic.messages_in_per_sec)} records/s in`,
  ].filter(Boolean).join(' · ')
  const more = topic.groups.length - LINKED_GROUPS
  const links = h('span', {}, topic.groups.length > 0 && ' · read by ', topic.groups.slice(0, LINKED_GROUPS).map((id, n) => [n > 0 && ', ', groupLink(id)]), more > 0 && [' and ', h('a', { href: to('topics', name, 'consumers') }, plural(more, 'more group'))])
  // A link stays while its group does: the user may be about to press it.
  if (!groups.isEqualNode(links)) replace(groups, ...links.childNodes)
}

function oldest({ at_ms, oldest_timestamp, expires_at }) {
  if (oldest_timestamp <= at_ms) return `oldest ${duration(at_ms - oldest_timestamp)}`
  return `oldest ${duration(oldest_timestamp - at_ms)} in the future${expires_at === null ? '' : ': retains the records behind it'}`
}

function compactionOf({ dirty_ratio, min_dirty_ratio, uncleanable, compacted_at, records_removed }, at_ms) {
  const { active_segment: active, open_transaction: open, 'min.compaction.lag.ms': young } = uncleanable
  return [
    'log.cleaner.enable' in uncleanable ? 'the cleaner is off' : `dirty: ${percent(dirty_ratio)}, compacted above ${percent(min_dirty_ratio)}`,
    active && `${plural(active, 'record')} in the active segment, not compacted yet`,
    open && `${plural(open, 'record')} above an open transaction, not compacted yet`,
    young && `${plural(young, 'record')} younger than min.compaction.lag.ms or in the active segment, not compacted yet`,
    compacted_at !== null && `compacted ${duration(at_ms - compacted_at)} ago, ${plural(records_removed, 'record')} removed since the start`,
  ]
}

function percent(ratio) {
  return `${Math.round(100 * ratio)} %`
}

function actions(name, partitionsCount) {
  const clone = async () => {
    const made = await cloneTopic(name)
    if (made) go(to('topics', made))
  }
  const removeRecords = async () => {
    if (await deleteRecords(name, partitionsCount)) again()
  }
  const remove = async () => {
    if (await deleteTopic(name)) go(to('topics'))
  }
  return [
    button('Clone', { onclick: clone }, 'copy'),
    button('Delete records', { onclick: removeRecords }, 'cut'),
    button('Delete', { onclick: remove }, 'bin'),
  ]
}
