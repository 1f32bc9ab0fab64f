// Rates of a topic in the last hour.

import { get, path } from '../api.js'
import { Chart, perSecond } from '../chart.js'
import { h } from '../dom.js'
import { bytes, short } from '../format.js'
import { filled } from '../states.js'

export function open(root, { name, signal }) {
  const charts = [
    new Chart({ title: 'Records', format: perSecond(short), series: [{ name: 'in', tone: 'one', field: 'messages_in_per_sec' }] }),
    new Chart({
      title: 'Bytes',
      format: perSecond(bytes),
      thousand: 1024,
      series: [{ name: 'in', tone: 'one', field: 'bytes_in_per_sec' }, { name: 'out', tone: 'two-tone', field: 'bytes_out_per_sec' }],
    }),
  ]
  const figures = h('div', { class: 'two' }, charts.map((chart) => chart.element))
  filled(root, {
    signal,
    ms: 5000,
    fetching: () => get(path`topics/${name}/history`, { signal }),
    draw: ({ data }) => {
      for (const chart of charts) chart.draw(data)
      return figures
    },
  })
}
