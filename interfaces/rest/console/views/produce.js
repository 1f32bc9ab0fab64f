// Produces a record: a new one, or a copy of an existing one.

import { Failure, get, path, send } from '../api.js'
import { content, fromHex, toBase64, toHex } from '../bytes.js'
import { button, choice, field, h, iconButton, partitionChoice, replace, to } from '../dom.js'
import { ZONE, count, fromInput, plural } from '../format.js'
import { fault, loading, trouble } from '../states.js'

const TYPES = [['text', 'Text'], ['json', 'JSON'], ['hex', 'Hex'], ['null', 'null']]

export async function open(root, { name, topic, query, signal }) {
  if (!query.replay) {
    replace(root, form(name, topic, null))
    return
  }
  replace(root, loading())
  const [partition, offset] = query.replay.split(':')
  try {
    const { data } = await get(path`topics/${name}/records`, { signal, query: { partition, offset, order: 'oldest', limit: 1, format: 'string' } })
    const record = data.find((one) => String(one.offset) === offset)
    if (!signal.aborted) replace(root, form(name, topic, record ?? null, record ? null : `There is no record ${offset} in partition ${partition} any more.`))
  } catch (failure) {
    if (!signal.aborted) replace(root, trouble(failure, () => open(root, { name, topic, query, signal })))
  }
}

function form(name, topic, record, notice) {
  const key = new Content('Key', record ? content(record.key, record.key_format) : { data: null, text: null }, 2)
  const value = new Content('Value', record ? content(record.value, record.value_format) : { data: new Uint8Array(), text: '' }, 8)
  const headers = new Headers(record?.headers ?? [])
  const partition = partitionChoice('By key', topic.partitions_count, record ? String(record.partition_id) : '')
  const at = h('input', { type: 'datetime-local', step: '0.001' })
  const outcome = h('div', { role: 'status' })
  const press = h('button', { type: 'submit', class: 'button primary' }, 'Produce')
  const add = button('Add to a transaction', { onclick: () => attempt(async () => added(body())) }, 'plus')
  const commit = button('Commit', { hidden: true, onclick: () => attempt(commitAll) })
  const discard = button('Discard', { class: 'plain', hidden: true, onclick: () => attempt(async () => added(null)) })
  let entries = []

  function body() {
    const made = { key: key.body(), value: value.body(), headers: headers.body() }
    if (partition.value) made.partition_id = Number(partition.value)
    if (at.value) made.timestamp = new Date(fromInput(at.value)).toISOString()
    return made
  }

  /** `entry`: null discards all of them. Nothing is sent before the commit. */
  function added(entry) {
    entries = entry ? [...entries, { ...entry, id: String(entries.length + 1) }] : []
    commit.hidden = discard.hidden = !entries.length
    commit.lastChild.textContent = `Commit ${plural(entries.length, 'record')}`
    replace(outcome, entries.length > 0 && h('p', { class: 'notice' }, `The transaction has ${plural(entries.length, 'record')}. None is sent before the commit.`))
  }

  async function commitAll() {
    const { successes } = await send('POST', path`topics/${name}/records:batch`, { transaction: {}, entries })
    added(null)
    const where = { from: 'offset', partition: successes[0].partition_id, offset: successes[0].offset, transactions: 'true' }
    replace(outcome, h('p', { class: 'done' }, 'Committed ', h('a', { href: to('topics', name, 'messages', where) }, plural(successes.length, 'record')), ' as one transaction.'))
  }

  async function produce() {
    const report = await send('POST', path`topics/${name}/records`, body())
    const where = { from: 'offset', partition: report.partition_id, offset: report.offset }
    replace(outcome, h('p', { class: 'done' }, 'Produced record ', h('a', { href: to('topics', name, 'messages', where) }, `${count(report.offset)} of partition ${report.partition_id}`), '.'))
  }

  async function attempt(step) {
    const buttons = [press, add, commit, discard]
    for (const one of buttons) one.disabled = true
    try {
      await step()
    } catch (failure) {
      replace(outcome, fault(failure))
    } finally {
      for (const one of buttons) one.disabled = false
    }
  }

  function submit(event) {
    event.preventDefault()
    attempt(produce)
  }

  return h(
    'form',
    { class: 'card padded stack', onsubmit: submit, 'aria-label': 'Produce a record' },
    notice && h('p', { class: 'notice' }, notice),
    record && h('p', { class: 'soft' }, `A copy of record ${record.offset} of partition ${record.partition_id}, with a new offset.`),
    key.element,
    value.element,
    headers.element,
    h('div', { class: 'fields' }, field('Partition', partition), field('Timestamp', at, `In ${ZONE}. Empty: now.`)),
    outcome,
    h('div', { class: 'line-up' }, press, add, commit, discard),
  )
}

/** Inputs normalise or hide these characters. */
const HIDDEN = /\r/
const HIDDEN_IN_A_LINE = /[\t\n\r]/

function typeOf(data, text, hidden) {
  if (data === null) return 'null'
  return text === null || hidden.test(text) ? 'hex' : 'text'
}

function written(type, data, text) {
  if (type === 'null') return ''
  return type === 'hex' ? toHex(data) : text
}

/** A key or a value: its type and its text. */
class Content {
  constructor(title, { data, text }, rows) {
    this.title = title
    const type = typeOf(data, text, HIDDEN)
    this.type = choice(TYPES, type, { 'aria-label': `${title}: type`, class: 'type' })
    this.area = h('textarea', { rows, spellcheck: 'false', value: written(type, data, text) })
    this.type.addEventListener('change', () => this.#update())
    this.element = field(title, this.area)
    this.element.classList.add('content')
    this.element.prepend(h('div', { class: 'line-up' }, this.element.firstChild, h('span', { class: 'spring' }), this.type))
    this.#update()
  }

  #update() {
    this.area.hidden = this.type.value === 'null'
  }

  body() {
    const text = this.area.value
    if (this.type.value === 'null') return null
    if (this.type.value === 'text') return { type: 'STRING', data: text }
    if (this.type.value === 'hex') return { type: 'BINARY', data: hexAsBase64(this.title, text) }
    try {
      JSON.parse(text)
    } catch (fault) {
      throw new Failure(`${this.title}: ${fault.message}`)
    }
    // Unchanged: parsing and formatting would change long numbers.
    return { type: 'STRING', data: text }
  }
}

class Headers {
  constructor(headers) {
    this.rows = []
    this.list = h('div', { class: 'stack tight' })
    const add = button('Add a header', { class: 'small', onclick: () => this.#add('', { data: new Uint8Array(), text: '' }).focus() }, 'plus')
    this.element = h('fieldset', {}, h('legend', {}, 'Headers'), this.list, add)
    for (const { name, value, value_format } of headers) this.#add(name, content(value, value_format))
  }

  #add(name, { data, text }) {
    const label = h('input', { value: name, 'aria-label': 'Name of the header', placeholder: 'name', autocomplete: 'off', spellcheck: 'false' })
    const kind = typeOf(data, text, HIDDEN_IN_A_LINE)
    const type = choice(TYPES.filter(([one]) => one !== 'json'), kind, { 'aria-label': 'Type of the header' })
    const value = h('input', { value: written(kind, data, text), 'aria-label': 'Value of the header', placeholder: 'value', autocomplete: 'off', spellcheck: 'false' })
    const row = { label, type, value }
    const hide = () => (value.disabled = type.value === 'null')
    type.addEventListener('change', hide)
    hide()
    const element = h('div', { class: 'header-row' }, label, type, value, iconButton('Remove this header', 'close', () => {
      element.remove()
      this.rows.splice(this.rows.indexOf(row), 1)
    }))
    this.rows.push(row)
    this.list.append(element)
    return label
  }

  body() {
    const encoded = {
      null: () => null,
      text: (_name, text) => toBase64(new TextEncoder().encode(text)),
      hex: (name, text) => hexAsBase64(`Header ${name}`, text),
    }
    return this.rows.map(({ label: { value: name }, type, value }) => ({ name, value: encoded[type.value](name, value.value) }))
  }
}

function hexAsBase64(title, text) {
  const data = fromHex(text)
  if (!data) throw new Failure(`${title}: expected pairs of hex digits.`)
  return toBase64(data)
}
