// New records, as server-sent events: the newest at the top.

import { path, withQuery } from '../api.js'
import { badge, h, pauseButton, replace } from '../dom.js'
import { count, plural } from '../format.js'
import { empty } from '../states.js'
import { RecordTable } from './record_table.js'

const MOST_ROWS = 500
const MOST_HELD = 2000

export class Tail {
  constructor(result, { name, controls, signal }) {
    this.table = new RecordTable(name)
    this.held = []
    this.seen = 0
    this.paused = false
    this.state = h('span', { role: 'status' })
    this.total = h('span', { class: 'soft' })
    const pause = pauseButton((paused) => {
      this.paused = paused
      this.#draw()
    })
    this.waiting = h('div', { class: 'card' }, empty('Waiting for records', 'Records produced from now on appear here.'))
    this.card = h('div', { class: 'card scroll', hidden: true }, this.table.element)
    replace(result, h('div', { class: 'line-up' }, this.state, this.total, h('span', { class: 'spring' }), this.table.columnsButton, pause), this.waiting, this.card)
    const query = { ...controls.query(), order: '', limit: '', transactions: '' }
    this.source = new EventSource(withQuery(path`topics/${name}/records:tail`, query))
    signal.addEventListener('abort', () => this.source.close())
    this.#listen()
    this.#showState('waiting', 'connecting')
  }

  #listen() {
    this.source.addEventListener('open', () => this.#showState('good', 'live'))
    this.source.addEventListener('error', () => {
      const over = this.source.readyState === EventSource.CLOSED
      this.#showState('bad', over ? 'ended by the broker' : 'the broker does not respond; trying again')
    })
    this.source.addEventListener('end', (event) => {
      this.source.close()
      this.#showState('bad', JSON.parse(event.data).reason)
    })
    this.source.addEventListener('record', (event) => this.#add(JSON.parse(event.data)))
  }

  #showState(tone, text) {
    replace(this.state, badge(text, tone))
  }

  #add(record) {
    this.seen += 1
    this.held.push(record)
    if (this.held.length > MOST_HELD) this.held.shift()
    // Draws once per frame, however many records come.
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null
      this.#draw()
    })
  }

  #draw() {
    if (!this.paused && this.held.length) {
      this.table.addOnTop(this.held.splice(0), MOST_ROWS)
      this.waiting.hidden = true
      this.card.hidden = false
    }
    this.total.textContent = `${plural(this.seen, 'record')} received${this.paused && this.held.length ? `, ${count(this.held.length)} not shown yet` : ''}`
  }
}
