// Records as rows; each row opens into its details.

import { content } from '../bytes.js'
import { h, icon } from '../dom.js'
import { ZONE, plural, time, zonedTime } from '../format.js'
import { details, preview } from './record.js'

const COLUMNS = [
  [null, 'open'],
  ['Partition', 'number wide'],
  ['Offset', 'number'],
  [`Time (${ZONE})`, 'time wide'],
  ['Key', 'key'],
  ['Value', 'value'],
]

const TIME = 3

export class RecordTable {
  constructor(topic) {
    this.topic = topic
    this.size = 0
    this.body = h('tbody')
    this.element = h(
      'table',
      { class: 'rows records', 'aria-label': 'Records' },
      h('colgroup', {}, COLUMNS.map(([, kind]) => h('col', { class: kind }))),
      h('thead', {}, h('tr', {}, COLUMNS.map(([title, kind]) => h('th', { scope: 'col', class: kind, title }, title ?? h('span', { class: 'unseen' }, 'Open'))))),
      this.body,
    )
    this.element.addEventListener('keydown', (event) => this.#key(event))
  }

  add(records) {
    this.body.append(...records.map((record) => this.#row(record)))
    this.size += records.length
  }

  /** Adds records at the top; at most `most` rows stay. */
  addOnTop(records, most) {
    this.body.prepend(...records.map((record) => this.#row(record)).reverse())
    this.size += records.length
    while (this.size > most) {
      // The details of an open row are a row too.
      if (!this.body.lastChild.classList.contains('opened')) this.size -= 1
      this.body.lastChild.remove()
    }
  }

  #row(record) {
    const press = h('button', { type: 'button', class: 'icon-button', 'aria-expanded': 'false', 'aria-label': `Record ${record.offset} of partition ${record.partition_id}` }, icon('right'))
    const cells = [
      press,
      String(record.partition_id),
      String(record.offset),
      time(record.timestamp),
      preview(content(record.key, record.key_format)),
      [preview(content(record.value, record.value_format)), record.headers.length > 0 && h('span', { class: 'badge' }, plural(record.headers.length, 'header'))],
    ]
    const row = h('tr', { class: 'pressable' }, cells.map((cell, n) => h('td', { class: COLUMNS[n][1], title: n === TIME ? zonedTime(record.timestamp) : null }, cell)))
    row.addEventListener('click', (event) => {
      if (event.target.closest('button') === press || !event.target.closest('a, button')) toggle(this.topic, record, row, press)
    })
    return row
  }

  #key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (!step || !event.target.matches('[aria-expanded]')) return
    event.preventDefault()
    const all = [...this.body.querySelectorAll('[aria-expanded]')]
    all[all.indexOf(event.target) + step]?.focus()
  }
}

function toggle(topic, record, row, press) {
  const opened = press.getAttribute('aria-expanded') === 'true'
  press.setAttribute('aria-expanded', String(!opened))
  press.replaceChildren(icon(opened ? 'right' : 'down'))
  if (opened) row.nextSibling.remove()
  else row.after(h('tr', { class: 'opened' }, h('td', { colspan: shownCells(row) }, details(topic, record))))
}

/** A cell that spans hidden columns would create new ones. */
function shownCells(row) {
  return [...row.cells].filter((cell) => cell.offsetParent !== null).length
}
