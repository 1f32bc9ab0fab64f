// One record to copy: as JSON, and as commands that read it.

import { path, withQuery } from '../api.js'
import { show } from '../dialog.js'
import { copyButton, h } from '../dom.js'
import { latest } from '../pulse.js'

const SHOWN = 4096

export function showCopies(topic, record) {
  show(
    `Record ${record.offset} of partition ${record.partition_id}`,
    Object.entries(copies(topic, record)).map(([name, text]) =>
      h('section', { class: 'copy' },
        h('div', { class: 'line-up' }, h('h3', {}, name), h('span', { class: 'spring' }), copyButton(() => text)),
        h('pre', { tabindex: '0', 'aria-label': name }, text.slice(0, SHOWN)),
      )),
  )
}

function copies(topic, record) {
  const { partition_id: partition, offset } = record
  const query = { partition, offset, order: 'oldest', limit: 1 }
  const address = new URL(withQuery(path`topics/${topic}/records`, query), document.baseURI)
  const at = `-b ${bootstrap()} -p ${partition} -o ${offset}`
  return {
    JSON: JSON.stringify(line(topic, record)),
    curl: `curl '${address}'`,
    kcat: `kcat -C -t ${topic} ${at} -c 1 -e`,
    ottla: `ottla consume ${topic} ${at} -n 1 -e --output json`,
  }
}

/** Without an advertised address clients use the one they connect to. */
function bootstrap() {
  const listener = latest?.overview?.broker.listeners[0]
  return listener?.advertised ?? `${location.hostname}:${listener?.address.split(':').at(-1) ?? 9092}`
}

/** As `ottla consume --output json` prints it. */
function line(topic, { partition_id: partition, offset, timestamp, headers, ...record }) {
  return {
    topic, partition, offset, timestamp,
    ...field('key', record.key, record.key_format),
    ...field('value', record.value, record.value_format),
    headers: headers.map(({ name, value, value_format }) => ({ name, ...field('value', value, value_format) })),
  }
}

function field(name, text, format) {
  return { [format === 'base64' ? `${name}_base64` : name]: text }
}
