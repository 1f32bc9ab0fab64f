// Records as they come, over server-sent events: newest at the top, until somebody pauses.

import { path, withQuery } from '../api.js'
import { badge, button, h, icon, replace } from '../dom.js'
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
    this.told = h('span', { class: 'soft' })
    this.pause = button('Pause', { 'aria-pressed': 'false', onclick: () => this.#toggle() }, 'pause')
    this.waiting = h('div', { class: 'card' }, empty('Waiting for records', 'What is produced from now on appears here.'))
    this.card = h('div', { class: 'card scroll', hidden: true }, this.table.element)
    replace(result, h('div', { class: 'line-up' }, this.state, this.told, h('span', { class: 'spring' }), this.pause), this.waiting, this.card)
    const query = { ...controls.query(), order: '', limit: '' }
    this.source = new EventSource(withQuery(path`topics/${name}/records:tail`, query))
    signal.addEventListener('abort', () => this.source.close())
    this.#listen()
    this.#say('waiting', 'connecting')
  }

  #listen() {
    this.source.addEventListener('open', () => this.#say('good', 'live'))
    this.source.addEventListener('error', () => {
      const over = this.source.readyState === EventSource.CLOSED
      this.#say('bad', over ? 'ended by the broker' : 'the broker does not answer; trying again')
    })
    this.source.addEventListener('end', (event) => {
      this.source.close()
      this.#say('bad', JSON.parse(event.data).reason)
    })
    this.source.addEventListener('record', (event) => this.#come(JSON.parse(event.data)))
  }

  #say(tone, words) {
    replace(this.state, badge(words, tone))
  }

  #come(record) {
    this.seen += 1
    this.held.push(record)
    if (this.held.length > MOST_HELD) this.held.shift()
    // Many may come between two frames; the page is drawn once for all of them.
    this.asked ??= requestAnimationFrame(() => {
      this.asked = null
      this.#draw()
    })
  }

  #draw() {
    if (!this.paused && this.held.length) {
      this.table.addOnTop(this.held.splice(0), MOST_ROWS)
      this.waiting.hidden = true
      this.card.hidden = false
    }
    this.told.textContent = `${plural(this.seen, 'record')} seen${this.paused && this.held.length ? `, ${count(this.held.length)} held back` : ''}`
  }

  #toggle() {
    this.paused = !this.paused
    this.pause.setAttribute('aria-pressed', String(this.paused))
    replace(this.pause, icon(this.paused ? 'play' : 'pause'), h('span', {}, this.paused ? 'Go on' : 'Pause'))
    this.#draw()
  }
}
