// The records of a topic: from any position, filtered, or live.

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

/** A page of records; a button adds the next page below. */
function browse(result, { name, controls, signal }) {
  const query = controls.query()
  const table = new RecordTable(name, Boolean(query.transactions))
  const card = h('div', { class: 'card scroll' }, table.element)
  const total = h('p', { class: 'soft', 'aria-live': 'polite' })
  const above = h('div', { class: 'line-up' }, total, h('span', { class: 'spring' }), table.columnsButton)
  const more = h('div', {})
  let scanned = 0
  replace(result, loading())

  async function page(cursor) {
    replace(more, loading())
    try {
      const response = await get(path`topics/${name}/records`, { signal, query: { ...query, cursor } })
      if (!signal.aborted) draw(response)
    } catch (failure) {
      if (signal.aborted) return
      if (table.size) replace(more, trouble(failure, () => page(cursor)))
      else replace(result, h('div', { class: 'card' }, trouble(failure, () => page(cursor))))
    }
  }

  function draw(response) {
    table.add(response.data)
    scanned += response.scanned
    const next = response.next_cursor
    const share = controls.isFiltered ? ` found, ${count(scanned)} scanned` : ''
    total.textContent = `${!next && table.size > 1 ? 'All ' : ''}${plural(table.size, 'record')}${share}`
    replace(more, next && h('div', { class: 'line-up' }, button(controls.isFiltered ? 'Continue the search' : 'More', { onclick: () => page(next) }, 'down')))
    if (table.size) replace(result, above, card, more)
    else if (next) replace(result, h('div', { class: 'card' }, empty('Nothing found so far', total.textContent)), more)
    else replace(result, h('div', { class: 'card' }, past(query.offset, response.partitions) ?? nothing(controls.isFiltered, name)))
  }

  page()
}

/** A text for an offset past the end of all logs. */
function past(offset, partitions) {
  const end = Math.max(...partitions.map((one) => one.log_end_offset))
  if (offset === '' || end === 0 || Number(offset) < end) return null
  return empty(`Offset ${count(Number(offset))} lies past the end`, `The last record has the offset ${count(end - 1)}.`)
}

function nothing(filtered, name) {
  if (filtered) return empty('No record matches', 'Try another text, position or time.')
  return empty('No records', 'Records appear here when they are produced.', h('a', { class: 'button', href: to('topics', name, 'produce') }, 'Produce one'))
}
