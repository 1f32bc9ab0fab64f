// Quotas of users, client ids and addresses.

import { get, may, send } from '../api.js'
import { ask, toast } from '../dialog.js'
import { button, choice, field, h } from '../dom.js'
import { empty } from '../states.js'
import { listView } from './list_view.js'

const KINDS = [['user', 'user'], ['client_id', 'client id'], ['ip', 'address']]
const KEYS = [
  ['producer_byte_rate', 'producer_byte_rate, bytes a second'],
  ['consumer_byte_rate', 'consumer_byte_rate, bytes a second'],
  ['request_percentage', 'request_percentage, of the time of the broker'],
  ['controller_mutation_rate', 'controller_mutation_rate, partitions a second'],
  ['connection_creation_rate', 'connection_creation_rate, of an address, a second'],
]

export function open(root, { query, signal }) {
  const again = listView(root, {
    query,
    signal,
    title: 'Quotas',
    place: 'quotas',
    noun: 'quota',
    ms: 5000,
    rowsOf: async () => (await get('quotas', { signal })).data.flatMap(rows),
    keyOf: (one) => `${words(one)} ${one.key}`,
    textOf: (one) => `${words(one)} ${one.key}`,
    none: empty('There are no quotas', 'Clients use as much as the broker has.'),
    action: may('ALTER_CONFIGS') && button('New quota', { onclick: () => create(again) }, 'plus'),
    sort: { by: 'entity', down: false },
    columns: [
      { name: 'entity', title: 'Of', compare: words, cell: (one) => h('span', { title: words(one) }, words(one)) },
      { name: 'quota', title: 'Quota', compare: (one) => one.key, cell: (one) => one.key },
      { name: 'value', title: 'Value', end: true, width: '140px', compare: (one) => one.value, cell: (one) => one.value.toLocaleString('en') },
      may('ALTER_CONFIGS') && { name: 'remove', title: h('span', { class: 'unseen' }, 'Remove'), end: true, act: true, width: '110px', cell: (one) => button('Remove', { class: 'small', 'aria-label': `Remove ${one.key} of ${words(one)}`, onclick: () => remove(one, again) }) },
    ].filter(Boolean),
  })
}

function rows({ entity, quotas }) {
  return Object.entries(quotas).map(([key, value]) => ({ entity, key, value }))
}

function words({ entity }) {
  return KINDS.filter(([kind]) => kind in entity).map(([kind, text]) => `${text} ${entity[kind] ?? '(default)'}`).join(', ')
}

function alter(entity, key, value) {
  return send('POST', './quotas:alter', { data: [{ entity, quotas: { [key]: value } }] })
}

async function create(again) {
  const names = KINDS.map(([kind, text]) => [kind, text, h('input', { autocomplete: 'off', spellcheck: 'false' })])
  const key = choice(KEYS, 'producer_byte_rate')
  const value = h('input', { type: 'number', min: '0', step: 'any', required: true })
  const entity = () => Object.fromEntries(names.filter(([, , input]) => input.value).map(([kind, , input]) => [kind, input.value === '*' ? null : input.value]))
  const done = await ask({
    title: 'New quota',
    wide: true,
    body: h('div', { class: 'stack' },
      h('div', { class: 'fields' }, names.map(([, text, input]) => field(text[0].toUpperCase() + text.slice(1), input, '* is the default of all without their own.'))),
      h('div', { class: 'fields' }, field('Quota', key), field('Value', value))),
    action: 'Set',
    focus: names[0][2],
    run: () => alter(entity(), key.value, Number(value.value)),
  })
  if (done) {
    toast('The quota is set.')
    again()
  }
}

async function remove(one, again) {
  const done = await ask({
    title: 'Remove this quota?',
    body: h('p', {}, `${one.key} of ${words(one)}`),
    action: 'Remove',
    danger: true,
    run: () => alter(one.entity, one.key, null),
  })
  if (done) {
    toast('The quota is removed.')
    again()
  }
}
