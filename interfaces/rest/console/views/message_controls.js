// The form above the records, its address, and the query to the broker.

import { path, tried, withQuery } from '../api.js'
import { choice, field, h, icon, partitionChoice, replace } from '../dom.js'
import { ZONE, fromInput } from '../format.js'
import { trouble } from '../states.js'

const FROM = [
  ['newest', 'Newest first'],
  ['oldest', 'Oldest first'],
  ['offset', 'From an offset'],
  ['time', 'From a time'],
  ['live', 'Live'],
]
// Parameters of the query, and their labels.
const WHERE = [['text', 'Anywhere'], ['key_contains', 'Key'], ['value_contains', 'Value'], ['header_contains', 'Headers']]
const FORMATS = ['ndjson', 'csv', 'parquet']
const STANDARD = { from: 'newest', offset: '', time: '', partition: '', where: 'text', text: '', limit: '50' }

export class Controls {
  constructor(topic, partitions, query, begin) {
    const values = { ...STANDARD, ...query }
    const typed = (name, facts) => h('input', { name, value: values[name], autocomplete: 'off', spellcheck: 'false', ...facts })
    this.topic = topic
    this.inputs = {
      from: choice(FROM, values.from, { name: 'from' }),
      offset: typed('offset', { inputmode: 'numeric', pattern: '[0-9]+', required: true }),
      time: typed('time', { type: 'datetime-local', step: '0.001', required: true }),
      partition: partitionChoice('All', partitions, values.partition, { name: 'partition' }),
      where: choice(WHERE, values.where, { name: 'where' }),
      text: typed('text', { type: 'search', 'data-search': true }),
      limit: choice([['50', '50'], ['200', '200'], ['1000', '1,000']], values.limit, { name: 'limit' }),
    }
    const { from, offset, time, partition, where, text, limit } = this.inputs
    this.fields = { offset: field('Offset', offset), time: field('Time', time, `In ${ZONE}.`), limit: field('Records per page', limit) }
    this.links = FORMATS.map((format) => h('a', { class: 'button small', download: true, 'aria-label': `Download as ${format}`, onclick: (event) => this.#download(event) }, icon('download'), format))
    this.faults = h('div', { class: 'whole' })
    this.downloads = h('span', { class: 'line-up' }, this.links)
    this.element = h(
      'form',
      { class: 'filters', 'aria-label': 'Which records' },
      field('Show', from), this.fields.offset, this.fields.time, field('Partition', partition),
      field('Search in', where), field('Text', text), this.fields.limit,
      h('div', { class: 'line-up' }, h('button', { type: 'submit', class: 'button primary' }, icon('search'), 'Show'), h('span', { class: 'spring' }), this.downloads),
      this.faults,
    )
    this.element.addEventListener('submit', (event) => {
      event.preventDefault()
      begin()
    })
    this.element.addEventListener('input', () => this.#update())
    // A choice takes effect at once, a text with Enter or the button.
    this.element.addEventListener('change', (event) => {
      if (event.target.tagName === 'SELECT' && this.element.checkValidity()) begin()
    })
    this.#update()
  }

  #update() {
    replace(this.faults)
    const from = this.inputs.from.value
    for (const [name, shown] of [['offset', from === 'offset'], ['time', from === 'time']]) {
      this.fields[name].hidden = !shown
      this.inputs[name].disabled = !shown
    }
    this.fields.limit.hidden = this.downloads.hidden = this.isLive
    const query = { ...this.query(), order: '', limit: '' }
    FORMATS.forEach((format, n) => {
      this.links[n].href = withQuery(path`topics/${this.topic}/records:download`, { ...query, format })
    })
  }

  /** A browser does not show why a download is refused, so the request is tried first. */
  async #download(event) {
    event.preventDefault()
    const { href } = event.currentTarget
    replace(this.faults)
    try {
      await tried(href)
    } catch (failure) {
      replace(this.faults, trouble(failure))
      return
    }
    h('a', { href, download: true }).click()
  }

  #values() {
    return Object.fromEntries(Object.entries(this.inputs).map(([name, input]) => [name, input.value]))
  }

  get isLive() {
    return this.inputs.from.value === 'live'
  }

  get isFiltered() {
    return this.inputs.text.value !== ''
  }

  /** The values that are not the default. */
  address() {
    const values = this.#values()
    const { from, text } = values
    if (from !== 'offset') values.offset = ''
    if (from !== 'time') values.time = ''
    if (!text) values.where = 'text'
    return Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== STANDARD[name]))
  }

  query() {
    const { from, offset, time, partition, where, text, limit } = this.#values()
    return {
      partition,
      limit,
      // Text comes as text, other bytes as base64.
      format: 'string',
      order: from === 'newest' ? 'newest' : 'oldest',
      offset: from === 'offset' ? offset : '',
      timestamp: from === 'time' ? fromInput(time) : '',
      ...(text ? { [where]: text } : {}),
    }
  }
}
