// The records of a topic: from where one wants, filtered, or as they come.

import { get, path } from '../api.js'
import { button, h, replace, to } from '../dom.js'
import { count, plural } from '../format.js'
import { note } from '../router.js'
import { empty, loading, trouble } from '../states.js'
import { Controls } from './message_controls.js'
import { RecordTable } from './record_table.js'
import { Tail } from './tail.js'

export function open(root, { name, topic, query, signal }) {
  const controls = new Controls(name, topic.partitions_count, query, begin)
  const result = h('div', { class: 'stack' })
  let running = new AbortController()
  signal.addEventListener('abort', () => running.abort())

  function begin() {
    note(to('topics', name, 'messages', controls.address()))
    running.abort()
    running = new AbortController()
    const facts = { name, controls, signal: running.signal }
    if (controls.isLive) new Tail(result, facts)
    else browse(result, facts)
  }

  replace(root, h('div', { class: 'card' }, controls.element), result)
  begin()
}

/** A page, and further ones below it as they are asked for. */
function browse(result, { name, controls, signal }) {
  const asked = controls.query()
  const table = new RecordTable(name)
  const card = h('div', { class: 'card scroll' }, table.element)
  const told = h('p', { class: 'soft', 'aria-live': 'polite' })
  const more = h('div', {})
  let looked = 0
  replace(result, loading())

  async function page(cursor) {
    replace(more, loading())
    try {
      const answer = await get(path`topics/${name}/records`, { signal, query: { ...asked, cursor } })
      if (!signal.aborted) draw(answer)
    } catch (failure) {
      if (signal.aborted) return
      if (table.size) replace(more, trouble(failure, () => page(cursor)))
      else replace(result, h('div', { class: 'card' }, trouble(failure, () => page(cursor))))
    }
  }

  function draw(answer) {
    table.add(answer.data)
    looked += answer.scanned
    const next = answer.next_cursor
    const sought = controls.isFiltered ? ` of ${count(looked)} looked through` : ''
    told.textContent = `${plural(table.size, 'record')}${sought}${next ? '' : '; there are no more'}`
    replace(more, next && h('div', { class: 'line-up' }, button(controls.isFiltered ? 'Look further' : 'More', { onclick: () => page(next) }, 'down')))
    if (table.size) replace(result, told, card, more)
    else if (next) replace(result, h('div', { class: 'card' }, empty('Nothing found so far', told.textContent)), more)
    else if (asked.offset === '') replace(result, h('div', { class: 'card' }, nothing(controls.isFiltered, name)))
    else beyond()
  }

  /** Why nothing is found from an offset on: perhaps the log does not go so far. */
  async function beyond() {
    replace(result, loading())
    try {
      const ends = await endsOf(name, asked.partition, signal)
      if (signal.aborted) return
      const last = ends.reduce((one, other) => (other.log_end_offset > one.log_end_offset ? other : one))
      const isPast = last.log_end_offset > 0 && Number(asked.offset) >= last.log_end_offset
      replace(result, h('div', { class: 'card' }, isPast ? past(asked.offset, last, ends.length > 1) : nothing(controls.isFiltered, name)))
    } catch (failure) {
      if (!signal.aborted) replace(result, h('div', { class: 'card' }, trouble(failure, beyond)))
    }
  }

  page()
}

/** The logs that were looked into, and where each ends. */
async function endsOf(name, partition, signal) {
  if (partition !== '') return [await get(path`topics/${name}/partitions/${partition}`, { signal })]
  const answer = await get(path`topics/${name}/partitions`, { signal })
  return answer.data
}

function past(offset, last, several) {
  const where = several ? `The longest log, of partition ${last.partition_id},` : `The log of partition ${last.partition_id}`
  return empty(`Offset ${count(Number(offset))} lies past the end`, `${where} ends at ${count(last.log_end_offset)}: that offset is the next to be written.`)
}

function nothing(filtered, name) {
  if (filtered) return empty('No record fits', 'Another text, another place, or another time may.')
  return empty('There are no records here', 'What is produced is shown here.', h('a', { class: 'button', href: to('topics', name, 'produce') }, 'Produce one'))
}
