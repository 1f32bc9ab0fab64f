// One record: its previews in a row, and its details.

import { content } from '../bytes.js'
import { button, h, to } from '../dom.js'
import { count, zonedTime } from '../format.js'
import { contentView, preview } from './content_view.js'
import { showCopies } from './record_copies.js'

/** The headers in one line. */
export function headersPreview({ headers }) {
  return headers.map(({ name, value, value_format }) => [h('span', { class: 'mono soft' }, `${name}=`), preview(content(value, value_format)), ' '])
}

export function details(topic, record) {
  const { partition_id: partition, offset, timestamp } = record
  const link = to('topics', topic, 'messages', { from: 'offset', partition, offset })
  return h(
    'div',
    { class: 'record' },
    h('div', { class: 'line-up' },
      h('span', {}, 'Partition ', h('b', {}, String(partition)), ', offset ', h('b', {}, count(offset))),
      h('span', { class: 'soft' }, `${zonedTime(timestamp)}${record.timestamp_type === 'log_append_time' ? ', set by the broker' : ''}`),
      h('span', { class: 'spring' }),
      button('Copy as', { class: 'small', onclick: () => showCopies(topic, record) }, 'copy'),
      h('a', { class: 'button small', href: link }, 'Link'),
      h('a', { class: 'button small', href: to('topics', topic, 'produce', { replay: `${partition}:${offset}` }) }, 'Replay'),
    ),
    contentView('Key', content(record.key, record.key_format)),
    contentView('Value', content(record.value, record.value_format)),
    h('section', {}, h('h3', {}, 'Headers ', h('small', {}, String(record.headers.length))), record.headers.length > 0 && headerTable(record.headers)),
  )
}

function headerTable(headers) {
  return h('div', { class: 'scroll' }, h('table', { class: 'headers' }, h('tbody', {}, headers.map(({ name, value, value_format }) =>
    h('tr', {}, h('th', { scope: 'row' }, h('code', {}, name)), h('td', {}, whole(content(value, value_format)))),
  ))))
}

function whole(value) {
  return value.data?.length && value.text !== null ? h('span', { class: 'mono' }, value.text) : preview(value)
}
