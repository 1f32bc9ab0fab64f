// Parts that several views share.

import { badge, h, icon, to } from '../dom.js'
import { configWords } from '../format.js'
import { settled } from '../live.js'
import { empty } from '../states.js'

const TONES = { stable: 'good', empty: '', dead: 'bad', preparingrebalance: 'warn', completingrebalance: 'warn', assigning: 'warn', reconciling: 'warn', ongoing: 'accent', preparecommit: 'warn', prepareabort: 'warn' }

export function stateBadge(state) {
  const made = badge(state, TONES[state.toLowerCase().replaceAll('_', '')] ?? '')
  made.title = state // a narrow column cuts it
  return made
}

/** A search field. `search` is called with its text, a moment after the last key. */
export function searchField(label, value, search) {
  const input = h('input', { type: 'search', 'aria-label': label, placeholder: label, value: value ?? '', 'data-search': true, autocomplete: 'off', spellcheck: 'false' })
  input.addEventListener('input', settled(80, () => search(input.value.trim())))
  return h('div', { class: 'search' }, icon('search'), input)
}

export function matches(text, search) {
  return text.toLowerCase().includes(search.toLowerCase())
}

export function noMatch(noun, search) {
  return empty(`No ${noun} matches`, search)
}

/** A config's value, with a larger unit beside long numbers. */
export function configValue(name, value) {
  if (value === null || value === undefined) return h('span', { class: 'soft' }, 'not set')
  if (value === '') return h('span', { class: 'soft' }, 'empty')
  const words = configWords(name, value)
  return [h('code', {}, value), words && h('span', { class: 'soft' }, ` ${words}`)]
}

export function effectBadge({ effect }) {
  return effect !== 'yes' && badge('no effect', 'warn')
}

/** A config or setting with its documentation. Badges mark one that is set, and one without effect. */
export function configRow({ name, effect, documentation }, isSet, value, ...notes) {
  const badges = isSet && [badge('set', 'accent'), ' ', effectBadge({ effect })]
  return h(
    'div',
    { class: isSet ? 'config own' : 'config' },
    h('dt', {}, h('code', {}, name), badges),
    h('dd', {}, h('div', { class: 'value' }, value), notes),
    h('dd', { class: 'soft' }, documentation),
  )
}

export function softLine(...text) {
  return h('div', { class: 'soft' }, text)
}

/** The id of a group may be empty. */
export function groupName(id) {
  return id === '' ? h('span', { class: 'nothing' }, 'no name') : id
}

export function groupLink(id, facts) {
  return h('a', { href: to('groups', id), title: id, ...facts }, groupName(id))
}
