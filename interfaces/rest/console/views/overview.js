// Rates, lag and state of the broker.

import { Chart, perSecond } from '../chart.js'
import { badge, choice, h, replace, to } from '../dom.js'
import { bytes, count, duration, micros, offset, plural, short, time } from '../format.js'
import { history, watch } from '../pulse.js'
import { empty, loading, trouble } from '../states.js'
import { groupLink, stateBadge } from './parts.js'

const RANGES = [['5', 'Last 5 minutes'], ['60', 'Last hour']]
/** Of all charts, in minutes; also when the user returns to this view. */
let range = '60'

function charts() {
  const chart = (title, format, ...series) =>
    new Chart({ title, format, thousand: title === 'Bytes' ? 1024 : 1000, series: series.map(([name, tone, field]) => ({ name, tone, field })) })
  return [
    chart('Records', perSecond(short), ['in', 'one', 'messages_in_per_sec']),
    chart('Bytes', perSecond(bytes), ['in', 'one', 'bytes_in_per_sec'], ['out', 'two-tone', 'bytes_out_per_sec']),
    chart('Requests', perSecond(short), ['all', 'one', 'requests_per_sec'], ['with an error', 'five', 'errors_per_sec']),
    chart('Produce latency', micros, ['p50', 'one', 'produce_p50_us'], ['p99', 'two-tone', 'produce_p99_us']),
    chart('Commit time', micros, ['p50', 'one', 'commit_p50_us'], ['p99', 'two-tone', 'commit_p99_us']),
    chart('Connections', short, ['open', 'one', 'connections']),
  ]
}

export function open(root, { signal }) {
  const drawn = charts()
  const span = choice(RANGES, range, { 'aria-label': 'Time range of the charts', class: 'range', onchange: draw })
  const head = h('div', { class: 'head' }, h('h1', { class: 'grow' }, 'Overview'), span)
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

  function draw() {
    range = span.value
    const since = (history.at(-1)?.at_ms ?? 0) - Number(range) * 60_000
    for (const chart of drawn) chart.draw(history.filter((one) => one.at_ms >= since))
  }

  watch(({ overview, failure }) => {
    if (!overview) return replace(root, head, trouble(failure))
    if (!stale.isConnected) replace(root, head, figures)
    replace(stale, failure && trouble(failure))
    replace(tiles, tilesOf(overview))
    draw()
    replace(lag, lagOf(overview))
    replace(facts, factsOf(overview))
  }, signal)
}

function tile(title, value, below, address) {
  const inner = [h('dt', {}, title), h('dd', {}, value), h('dd', { class: 'below' }, below)]
  return h('div', { class: 'card tile' }, address ? h('a', { href: address }, inner) : inner)
}

function tilesOf(overview) {
  const last = history.at(-1)
  return [
    tile('Records in', last ? `${short(last.messages_in_per_sec)}/s` : '–', `${short(overview.totals.messages_in)} in total`),
    tile('Topics', count(overview.topics), plural(overview.partitions, 'partition')),
    tile('Groups', count(overview.groups), `${count(overview.groups_with_lag)} with lag${overview.groups_of_unknown_lag ? `, ${count(overview.groups_of_unknown_lag)} unknown` : ''}`),
    tile('Connections', count(overview.connections), `of ${count(overview.max_connections)}`),
    tile('Data', bytes(overview.disk.data_bytes), overview.disk.total_bytes > 0 ? `${bytes(overview.disk.free_bytes)} of ${bytes(overview.disk.total_bytes)} free` : `in ${overview.disk.place}`),
  ]
}

function lagOf(overview) {
  const title = h('h2', {}, 'Groups with the most lag', h('a', { href: to('groups') }, 'All groups'))
  if (!overview.lagging.length && overview.groups_of_unknown_lag) {
    return [title, empty('The lag is not known here', 'Other brokers lead partitions of these groups: ottla group describe asks them.')]
  }
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

function brokerOf(one) {
  const facts = [`leads ${plural(one.partitions_led, 'partition')}`, one.rack && `rack ${one.rack}`, one.version && `Ottla ${one.version}`, one.session_id && `session ${one.session_id}, lease ${duration(one.lease_ms)}`]
  return [
    `${one.node_id} `,
    h('code', {}, one.addresses.join(', ')),
    ` ${facts.filter(Boolean).join(', ')} `,
    one.is_controller && badge('controller', 'accent'),
    one.state !== 'ALIVE' && badge(one.state.toLowerCase(), one.state === 'STARTING' ? 'warn' : 'bad'),
  ]
}

function factsOf(overview) {
  const { broker } = overview
  const pairs = [
    ['Version', `Ottla ${broker.version}, Python ${broker.python}`],
    ['Cluster', h('code', {}, broker.cluster_id)],
    ['Node', String(broker.node_id)],
    overview.brokers.length > 0 && ['Brokers', overview.brokers.map((one) => h('div', {}, brokerOf(one)))],
    ['Uptime', `${duration(overview.at_ms - overview.started_at_ms)}, since ${time(overview.started_at_ms).slice(0, 19)} ${offset(overview.started_at_ms)}`],
    ['Listeners', broker.listeners.map((one) => h('div', {}, h('code', {}, `${one.name}://${one.address}`), one.advertised && ` advertised as ${one.advertised}`))],
    ['Storage', h('code', {}, broker.storage)],
    ['Flush', broker.flush],
    ['State', overview.not_ready.length ? badge(overview.not_ready.join('; '), 'bad') : badge('ready', 'good')],
  ]
  return [h('h2', {}, 'Broker'), h('dl', { class: 'facts' }, pairs.filter(Boolean).map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]))]
}
