// Records as rows, in the chosen columns; each row opens into its details.

import { content } from '../bytes.js'
import { choose, chosen } from '../choices.js'
import { show } from '../dialog.js'
import { badge, button, h, icon, replace } from '../dom.js'
import { ZONE, bytes, time, zonedTime } from '../format.js'
import { preview } from './content_view.js'
import { details, headersPreview } from './record.js'

/** name: [title, class, the cell of a record] */
const COLUMNS = {
  partition: ['Partition', 'partition wide', (record) => String(record.partition_id)],
  offset: ['Offset', 'offset', (record) => String(record.offset)],
  timestamp: [`Timestamp (${ZONE})`, 'time wide', (record) => h('span', { title: zonedTime(record.timestamp) }, time(record.timestamp))],
  size: ['Size', 'size wide', (record) => bytes(record.size)],
  key: ['Key', 'key', (record) => preview(content(record.key, record.key_format))],
  headers: ['Headers', 'headers wide', headersPreview],
  value: ['Value', 'value', (record) => preview(content(record.value, record.value_format))],
}
/** Only of pages with transactions. */
const TRANSACTION = ['Transaction', 'transaction', transactionOf]
const STANDARD = ['partition', 'offset', 'timestamp', 'key', 'value']

// Of all topics.
let columns = known(chosen('columns')?.split(',') ?? [])

function known(names) {
  const found = Object.keys(COLUMNS).filter((name) => names.includes(name))
  return found.length ? found : STANDARD
}

const TONES = { open: 'accent', committed: 'good', aborted: 'bad' }

function transactionOf({ transaction, producer_id: id, producer_epoch: epoch }) {
  if (!transaction) return h('span', { class: 'soft' }, '–')
  const state = badge(transaction.replace('_', ' '), TONES[transaction])
  state.title = `producer id ${id}, epoch ${epoch}`
  return state
}

export class RecordTable {
  constructor(topic, transactions = false) {
    this.topic = topic
    this.transactions = transactions
    this.size = 0
    this.body = h('tbody')
    this.element = h('table', { class: 'rows records', 'aria-label': 'Records' })
    this.element.addEventListener('keydown', (event) => this.#key(event))
    this.columnsButton = button('Columns', { onclick: () => this.#chooseColumns() }, 'columns')
    this.#draw()
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

  /** What is shown of a record: chosen columns, and its transaction. */
  get #shown() {
    const shown = columns.map((name) => COLUMNS[name])
    return this.transactions ? [...shown, TRANSACTION] : shown
  }

  #draw() {
    const shown = this.#shown
    const heads = shown.map(([title, kind]) => h('th', { scope: 'col', class: kind, title }, title))
    replace(
      this.element,
      h('colgroup', {}, h('col', { class: 'open' }), shown.map(([, kind]) => h('col', { class: kind }))),
      h('thead', {}, h('tr', {}, h('th', { scope: 'col', class: 'open' }, h('span', { class: 'unseen' }, 'Open')), heads)),
      this.body,
    )
    const records = [...this.body.querySelectorAll('.pressable')].map((row) => row.record)
    replace(this.body, records.map((record) => this.#row(record)))
  }

  #chooseColumns() {
    const box = ([name, [title]]) => h('label', { class: 'check' }, h('input', { type: 'checkbox', value: name, checked: columns.includes(name) }), title)
    const boxes = h('div', { class: 'stack tight' }, Object.entries(COLUMNS).map(box))
    boxes.addEventListener('change', () => {
      columns = known([...boxes.querySelectorAll(':checked')].map((one) => one.value))
      choose('columns', columns)
      this.#draw()
    })
    show('Columns', boxes)
  }

  #row(record) {
    const press = h('button', { type: 'button', class: 'icon-button', 'aria-expanded': 'false', 'aria-label': `Record ${record.offset} of partition ${record.partition_id}` }, icon('right'))
    const cells = this.#shown.map(([, kind, cell]) => h('td', { class: kind }, cell(record)))
    const row = h('tr', { class: 'pressable' }, h('td', { class: 'open' }, press), cells)
    row.record = record
    row.addEventListener('click', (event) => {
      if (event.target.closest('button') === press || !event.target.closest('a, button')) toggle(this.topic, row, press)
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

function toggle(topic, row, press) {
  const opened = press.getAttribute('aria-expanded') === 'true'
  press.setAttribute('aria-expanded', String(!opened))
  press.replaceChildren(icon(opened ? 'right' : 'down'))
  if (opened) row.nextSibling.remove()
  else row.after(h('tr', { class: 'opened' }, h('td', { colspan: shownCells(row) }, details(topic, row.record))))
}

/** A cell that spans hidden columns would create new ones. */
function shownCells(row) {
  return [...row.cells].filter((cell) => cell.offsetParent !== null).length
}
