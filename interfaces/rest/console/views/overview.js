// Rates, lag and state of the broker.

import { Chart } from '../chart.js'
import { badge, h, replace, to } from '../dom.js'
import { bytes, count, duration, micros, offset, plural, short, time } from '../format.js'
import { history, watch } from '../pulse.js'
import { empty, loading, trouble } from '../states.js'
import { groupLink, stateBadge } from './parts.js'

const perSecond = (format) => (n) => `${format(n)}/s`

function charts() {
  const series = (name, tone, rate) => ({ name, tone, valueOf: (point) => point.rates?.[rate] ?? null })
  return [
    new Chart({ title: 'Records', format: perSecond(short), series: [series('in', 'one', 'records_in')] }),
    new Chart({
      title: 'Bytes',
      format: perSecond(bytes),
      thousand: 1024,
      series: [series('in', 'one', 'bytes_in'), series('out', 'two-tone', 'bytes_out')],
    }),
    new Chart({
      title: 'Produce latency',
      format: micros,
      series: [series('p50', 'one', 'Produce_p50'), series('p99', 'two-tone', 'Produce_p99')],
    }),
    new Chart({
      title: 'Requests',
      format: perSecond(short),
      series: [series('all', 'one', 'requests'), series('with an error', 'five', 'errors')],
    }),
  ]
}

export function open(root, { signal }) {
  const drawn = charts()
  const head = h('div', { class: 'head' }, h('h1', {}, 'Overview'))
  const stale = h('div', { class: 'stale' })
  const tiles = h('dl', { class: 'tiles' })
  const lag = h('section', { class: 'card' })
  const facts = h('section', { class: 'card' })
  const figures = [
    stale,
    tiles,
    h('div', { class: 'two' }, drawn.map((chart) => chart.element)),
    h('div', { class: 'two' }, lag, facts),
  ]
  replace(root, head, loading())

  watch(({ overview, failure }) => {
    if (!overview) return replace(root, head, trouble(failure))
    if (!stale.isConnected) replace(root, head, figures)
    replace(stale, failure && trouble(failure))
    replace(tiles, tilesOf(overview))
    for (const chart of drawn) chart.draw(history)
    replace(lag, lagOf(overview))
    replace(facts, factsOf(overview))
  }, signal)
}

function tile(title, value, below, address) {
  const inner = [h('dt', {}, title), h('dd', {}, value), h('dd', { class: 'below' }, below)]
  return h('div', { class: 'card tile' }, address ? h('a', { href: address }, inner) : inner)
}

function tilesOf(overview) {
  const rates = history.at(-1)?.rates
  return [
    tile('Records in', rates ? `${short(rates.records_in)}/s` : '–', `${short(overview.totals.records_in)} in total`),
    tile('Topics', count(overview.topics), plural(overview.partitions, 'partition')),
    tile('Groups', count(overview.groups), `${count(overview.groups_with_lag)} with lag`),
    tile('Connections', count(overview.connections), `of ${count(overview.max_connections)}`),
    tile('Data', bytes(overview.disk.data_bytes), overview.disk.total_bytes > 0 ? `${bytes(overview.disk.free_bytes)} of ${bytes(overview.disk.total_bytes)} free` : 'in memory'),
  ]
}

function lagOf(overview) {
  const title = h('h2', {}, 'Groups with the most lag', h('a', { href: to('groups') }, 'All groups'))
  if (!overview.lagging.length) {
    return [title, empty(overview.groups ? 'No group lags behind' : 'There are no groups yet', overview.groups ? 'All groups have read all records.' : 'A group appears with its first member or its first committed offset.')]
  }
  const most = overview.lagging[0].lag
  return [
    title,
    h('ul', { class: 'lags' }, overview.lagging.map((group) =>
      h('li', {},
        h('div', { class: 'line-up' },
          groupLink(group.group_id, { class: 'clip' }),
          stateBadge(group.state),
          h('span', { class: 'spring' }),
          h('b', { class: 'end' }, count(group.lag)),
        ),
        bar(group.lag / most),
      ),
    )),
  ]
}

function bar(share) {
  const inner = h('i')
  inner.style.width = `${Math.max(1, Math.min(100, share * 100))}%`
  return h('div', { class: 'bar', 'aria-hidden': 'true' }, inner)
}

function factsOf(overview) {
  const { broker } = overview
  const pairs = [
    ['Version', `Ottla ${broker.version}, Python ${broker.python}`],
    ['Cluster', h('code', {}, broker.cluster_id)],
    ['Node', String(broker.node_id)],
    ['Uptime', `${duration(overview.at_ms - overview.started_at_ms)}, since ${time(overview.started_at_ms).slice(0, 19)} ${offset(overview.started_at_ms)}`],
    ['Listeners', broker.listeners.map((one) => h('div', {}, h('code', {}, `${one.name}://${one.address}`), one.advertised && ` advertised as ${one.advertised}`))],
    ['Storage', h('code', {}, broker.storage)],
    ['Flush', broker.flush],
    ['State', overview.not_ready.length ? badge(overview.not_ready.join('; '), 'bad') : badge('ready', 'good')],
  ]
  return [h('h2', {}, 'Broker'), h('dl', { class: 'facts' }, pairs.map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]))]
}
