// The newest requests, and the stages of each.

import { get } from '../api.js'
import { badge, choice, field, h, icon, iconButton, options, pauseButton, replace, to } from '../dom.js'
import { ZONE, bytes, clockTime, micros, plural, zonedTime } from '../format.js'
import { settled } from '../live.js'
import { note } from '../router.js'
import { empty, filled } from '../states.js'
import { Table } from '../table.js'

const LIMIT = 500
const TYPED = [
  ['correlation_id', 'Correlation id', 'numeric'],
  ['client_id', 'Client id', null],
  ['topic', 'Topic', null],
  ['slow_ms', 'Slower than (ms)', 'numeric'],
]
const STAGES = [
  ['queue_us', 'Queued', 'four'],
  ['decode_us', 'Decoding', 'three'],
  ['handle_us', 'Handling', 'one'],
  ['wait_us', 'Waiting for a commit, data or members', 'two-tone'],
  ['send_us', 'Responding', 'five'],
]

export function open(root, { query, signal }) {
  const inputs = TYPED.map(([name, , mode]) =>
    h('input', { name, value: query[name] ?? '', inputmode: mode, autocomplete: 'off', spellcheck: 'false', 'data-search': name === 'correlation_id' }),
  )
  const api = choice(apiOptions([], query.api), query.api ?? '', { name: 'api' })
  const outcome = choice([['', 'All'], ['true', 'Only failures']], query.errors ?? '', { name: 'errors' })
  const hides = h('input', { type: 'checkbox', checked: query.polling === 'false' })
  const detail = h('div', { 'aria-live': 'polite' })
  const content = h('div', {})
  const table = requestTable(signal, show)
  const card = h('div', { class: 'card requests' }, table.element)
  let paused = false
  let chosen = false

  function filter() {
    const typed = Object.fromEntries(inputs.map((input) => [input.name, input.value.trim()]))
    return { ...typed, api: api.value, errors: outcome.value, polling: hides.checked && 'false' }
  }

  let offered = ''

  function offer(apis) {
    offered = apis.join()
    const chosen = api.value
    replace(api, options(apiOptions(apis, chosen)))
    api.value = chosen
  }

  const pause = pauseButton((now) => {
    paused = now
    if (!paused) again()
  })

  function show(request) {
    chosen = true
    replace(detail, split(request, () => replace(detail)))
    detail.scrollIntoView({ block: 'nearest' })
  }

  const changed = settled(200, () => {
    chosen = false
    replace(detail)
    note(to('requests', filter()))
    again()
  })

  replace(
    root,
    h('div', { class: 'head' }, h('div', { class: 'grow' }, h('h1', {}, 'Requests'), h('p', { class: 'soft' }, `Times in ${ZONE}`)), pause),
    h(
      'form',
      { class: 'card filters many', 'aria-label': 'Which requests', oninput: changed, onsubmit: (event) => event.preventDefault() },
      TYPED.map(([, title], n) => field(title, inputs[n])),
      field('API', api),
      field('Outcome', outcome),
      h('label', { class: 'check whole' }, hides, 'Hide successful Fetch and heartbeat requests'),
    ),
    detail,
    content,
  )
  const again = filled(content, {
    signal,
    ms: 2000,
    fetching: async () => (paused && content.contains(card) ? null : get('requestz', { signal, query: { ...filter(), limit: LIMIT } })),
    draw: (response) => {
      if (response === null) return null
      if (response.apis.join() !== offered) offer(response.apis)
      const requests = response.data.map((request) => ({ ...request, at: Date.parse(request.time) }))
      if (!requests.length) return h('div', { class: 'card' }, empty('No such request', 'The broker holds the newest requests, and failed or slow ones for some minutes. Its log may have others.'))
      table.rows = requests
      if (filter().correlation_id && requests.length === 1 && !chosen) show(requests[0])
      return card
    },
  })
}

function requestTable(signal, show) {
  return new Table({
    label: 'Requests',
    signal,
    keyOf: (request) => `${request.connection_id}:${request.correlation_id}`,
    sort: { by: 'at', down: true },
    columns: [
      { name: 'at', title: 'When', width: 'clamp(110px, 17vw, 132px)', compare: (request) => request.at, cell: (request) => h('button', { type: 'button', class: 'link', title: zonedTime(request.at), 'aria-label': `${request.api} at ${clockTime(request.at)}: show its stages`, onclick: () => show(request) }, clockTime(request.at)) },
      { name: 'api', title: 'API', compare: (request) => request.api, cell: (request) => h('span', { title: title(request) }, failed(request), request.api, request.version !== null && h('span', { class: 'soft' }, ` v${request.version}`)) },
      { name: 'id', title: 'Correlation id', end: true, wider: true, width: '124px', compare: (request) => request.correlation_id, cell: (request) => h('span', { title: request.correlation_id }, request.correlation_id) },
      { name: 'client', title: 'Client', wide: true, width: 'clamp(96px, 36vw - 364px, 190px)', compare: client, cell: (request) => h('span', { title: client(request) }, client(request)) },
      { name: 'took', title: 'Duration', end: true, width: 'clamp(86px, 9vw, 92px)', compare: (request) => request.total_us, cell: (request) => micros(request.total_us) },
      { name: 'split', title: 'Stages', wider: true, width: '72px', cell: (request) => bar(request) },
      { name: 'outcome', title: 'Outcome', wide: true, width: 'clamp(212px, 20.6vw, 320px)', compare: (request) => request.errors.join(), cell: (request) => (request.errors.length ? h('span', { title: request.errors.join(', ') }, badge(request.errors.join(', '), 'bad')) : h('span', { class: 'soft' }, 'ok')) },
    ],
  })
}

/** APIs that were requested since the start, the chosen one, and all HTTP requests as one. */
function apiOptions(apis, chosen) {
  const names = new Set([...apis, chosen].filter((one) => one && one !== 'http'))
  return [['', 'All'], ...[...names].sort().map((one) => [one, one]), ['http', 'HTTP']]
}

/** Without a client id, as over HTTP, its software. */
function client(request) {
  return request.client_id ?? (request.software || '–')
}

/** HTTP requests have no version. */
function title(request) {
  return request.version === null ? request.api : `${request.api} v${request.version}`
}

/** A mark for narrow screens, which hide the column of the outcome. */
function failed(request) {
  if (!request.errors.length) return null
  const words = `failed: ${request.errors.join(', ')}`
  return h('span', { class: 'narrow failed', role: 'img', 'aria-label': words, title: words }, icon('warning'))
}

/** A segment for each stage, as long as its share of the time. */
function bar(request) {
  const words = STAGES.map(([name, title]) => `${title} ${micros(request[name])}`).join(', ')
  return h('div', { class: 'split', role: 'img', 'aria-label': words, title: words }, STAGES.map(([name, , tone]) => {
    const piece = h('i', { class: tone })
    piece.style.flexGrow = request[name]
    return piece
  }))
}

function split(request, close) {
  const others = Object.entries(request).filter(([name]) => ['group', 'resource', 'topic', 'topic_id', 'path'].includes(name))
  const pairs = [
    ['Client', client(request)],
    ['Software', request.software || '–'],
    ['From', `${request.peer} over ${request.listener}${request.connection_id ? `, connection ${request.connection_id}` : ''}`],
    ['When', zonedTime(request.at)],
    ['Bytes', `${bytes(request.bytes_in)} in, ${bytes(request.bytes_out)} out`],
    ['Subject', [request.topics > 0 && plural(request.topics, 'topic'), ...others.map(([name, value]) => `${name} ${value}`)].filter(Boolean).join(', ')],
    ['Outcome', request.errors.length ? badge(request.errors.join(', '), 'bad') : 'ok'],
  ]
  return h(
    'section',
    { class: 'card', 'aria-label': 'One request' },
    h('h2', {}, `${title(request)}, correlation id ${request.correlation_id}`, iconButton('Close', 'close', close)),
    h(
      'div',
      { class: 'padded stack' },
      h('div', { class: 'large' }, bar(request)),
      h('ol', { class: 'stages' }, STAGES.map(([name, title, tone]) => h('li', {}, h('span', { class: `key ${tone}` }, title), h('b', { class: 'end' }, micros(request[name]))))),
      h('p', {}, 'Total ', h('b', {}, micros(request.total_us)), '.'),
    ),
    h('dl', { class: 'facts' }, pairs.map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)])),
  )
}
