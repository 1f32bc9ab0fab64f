// One record: its preview in a row, and its details.

import { content, hexDump, prettyJson, toHex } from '../bytes.js'
import { badge, button, h, replace, to } from '../dom.js'
import { bytes, count, zonedTime } from '../format.js'

const PREVIEW = 300
const DUMPED = 4096

/** One line. null, the empty text and the word null look different. */
export function preview({ data, text }) {
  if (data === null) return h('span', { class: 'nothing' }, 'null')
  if (!data.length) return h('span', { class: 'nothing' }, 'empty')
  if (text === null) return h('span', { class: 'mono soft' }, toHex(data.subarray(0, 40)))
  return h('span', { class: 'mono' }, text.slice(0, PREVIEW).replace(/\s+/g, ' '))
}

export function details(topic, record) {
  const headers = record.headers.map(({ name, value, value_format }) => [name, content(value, value_format)])
  const link = to('topics', topic, 'messages', { from: 'offset', partition: record.partition_id, offset: record.offset })
  return h(
    'div',
    { class: 'record' },
    h('div', { class: 'line-up' },
      h('span', {}, 'Partition ', h('b', {}, String(record.partition_id)), ', offset ', h('b', {}, count(record.offset))),
      h('span', { class: 'soft' }, `${zonedTime(record.timestamp)}${record.timestamp_type === 'log_append_time' ? ', stamped by the broker' : ''}`),
      h('span', { class: 'spring' }),
      h('a', { class: 'button small', href: link }, 'Link'),
      h('a', { class: 'button small', href: to('topics', topic, 'produce', { replay: `${record.partition_id}:${record.offset}` }) }, 'Replay'),
    ),
    part('Key', content(record.key, record.key_format)),
    part('Value', content(record.value, record.value_format)),
    h('section', {}, h('h3', {}, 'Headers ', h('small', {}, String(headers.length))), headers.length > 0 && headerTable(headers)),
  )
}

function headerTable(headers) {
  return h('div', { class: 'scroll' }, h('table', { class: 'headers' }, h('tbody', {}, headers.map(([name, value]) =>
    h('tr', {}, h('th', { scope: 'row' }, h('code', {}, name)), h('td', {}, whole(value))),
  ))))
}

function whole(value) {
  return value.data?.length && value.text !== null ? h('span', { class: 'mono' }, value.text) : preview(value)
}

function part(title, value) {
  const head = h('h3', {}, title, ' ')
  if (value.data === null || !value.data.length) return h('section', {}, head, preview(value))
  const pretty = value.text === null ? null : prettyJson(value.text)
  const forms = []
  if (pretty !== null) forms.push(['JSON', () => pretty])
  if (value.text !== null) forms.push(['Text', () => value.text])
  forms.push(['Hex', () => dump(value.data)])
  const shown = h('pre', { tabindex: '0', 'aria-label': title })
  const choices = forms.map(([name, text], n) =>
    button(name, {
      class: 'small plain',
      'aria-pressed': String(n === 0),
      onclick: (event) => {
        for (const other of choices) other.setAttribute('aria-pressed', String(other === event.currentTarget))
        shown.textContent = text()
      },
    }),
  )
  shown.textContent = forms[0][1]()
  const copy = button('Copy', { class: 'small plain', onclick: () => navigator.clipboard?.writeText(shown.textContent) }, 'copy')
  replace(head, title, ' ', h('small', {}, bytes(value.data.length)), value.text === null && badge('binary'))
  return h('section', {}, h('div', { class: 'line-up' }, head, h('span', { class: 'spring' }), choices, copy), shown)
}

function dump(data) {
  const more = data.length > DUMPED ? `\n… ${count(data.length - DUMPED)} bytes more` : ''
  return hexDump(data.subarray(0, DUMPED)) + more
}
