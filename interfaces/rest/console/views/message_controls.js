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
const WHERE = [['text', 'Anywhere'], ['key_contains', 'Key'], ['value_contains', 'Value'], ['header_contains', 'Headers'], ['json', 'JSON field']]
const OPERATORS = ['==', '!=', '<', '<=', '>', '>=', 'contains', 'exists']
const TRANSACTIONS = [['', 'Records only'], ['true', 'With states and markers']]
const FORMATS = ['ndjson', 'csv', 'parquet']
const STANDARD = { from: 'newest', offset: '', time: '', partition: '', where: 'text', field: '', operator: '==', text: '', limit: '50', transactions: '' }

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
      field: typed('field', { placeholder: 'customer.id', required: true }),
      operator: choice(OPERATORS.map((one) => [one, one]), values.operator, { name: 'operator' }),
      text: typed('text', { type: 'search', 'data-search': true }),
      limit: choice([['50', '50'], ['200', '200'], ['1000', '1,000']], values.limit, { name: 'limit' }),
      transactions: choice(TRANSACTIONS, values.transactions, { name: 'transactions' }),
    }
    const { from, partition, where, limit, transactions } = this.inputs
    this.fields = {
      offset: field('Offset', this.inputs.offset),
      time: field('Time', this.inputs.time, `In ${ZONE}.`),
      field: field('Field', this.inputs.field),
      operator: field('Operator', this.inputs.operator),
      text: field('Text', this.inputs.text),
      limit: field('Page size', limit),
      transactions: field('Transactions', transactions),
    }
    this.condition = h('code', { 'aria-live': 'polite' })
    this.links = FORMATS.map((format) => h('a', { class: 'button small', download: true, 'aria-label': `Download as ${format}`, onclick: (event) => this.#download(event) }, icon('download'), format))
    this.faults = h('div', { class: 'whole' })
    this.downloads = h('span', { class: 'line-up' }, this.links)
    this.element = h(
      'form',
      { class: 'filters', 'aria-label': 'Which records' },
      h('div', { class: 'group' },
        field('Show', from), this.fields.offset, this.fields.time, field('Partition', partition), this.fields.limit, this.fields.transactions,
        h('div', { class: 'group' }, field('Search in', where), this.fields.field, this.fields.operator, this.fields.text),
      ),
      h('div', { class: 'line-up' }, h('button', { type: 'submit', class: 'button primary' }, icon('search'), 'Show'), this.condition, h('span', { class: 'spring' }), this.downloads),
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
    const { from, where, operator } = this.#values()
    const isJson = where === 'json'
    const shown = { offset: from === 'offset', time: from === 'time', field: isJson, operator: isJson, text: !isJson || operator !== 'exists' }
    for (const [name, isShown] of Object.entries(shown)) {
      this.fields[name].hidden = this.inputs[name].disabled = !isShown
    }
    this.inputs.text.required = isJson
    this.fields.text.firstChild.textContent = isJson ? 'Value' : 'Text'
    this.condition.textContent = this.#condition()
    this.fields.limit.hidden = this.fields.transactions.hidden = this.downloads.hidden = this.isLive
    const query = { ...this.query(), order: '', limit: '', transactions: '' }
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
    return this.inputs.text.value !== '' || this.#condition() !== ''
  }

  /** On a JSON field, as the broker and `ottla consume --where` take it. */
  #condition() {
    const { where, field: name, operator, text } = this.#values()
    if (where !== 'json' || !name) return ''
    const field = name.startsWith('$') ? name : `$${name.startsWith('[') ? '' : '.'}${name}`
    return operator === 'exists' ? field : `${field} ${operator} ${text}`
  }

  /** The values that are not the default. */
  address() {
    const values = this.#values()
    const { from, where, text } = values
    if (from !== 'offset') values.offset = ''
    if (from !== 'time') values.time = ''
    if (!text && where !== 'json') values.where = 'text'
    if (values.where !== 'json') Object.assign(values, { field: '', operator: '==' })
    return Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== STANDARD[name]))
  }

  query() {
    const { from, offset, time, partition, where, text, limit, transactions } = this.#values()
    return {
      partition,
      limit,
      transactions,
      // Text comes as text, other bytes as base64.
      format: 'string',
      order: from === 'newest' ? 'newest' : 'oldest',
      offset: from === 'offset' ? offset : '',
      timestamp: from === 'time' ? fromInput(time) : '',
      ...(where === 'json' ? { where: this.#condition() } : text ? { [where]: text } : {}),
    }
  }
}
