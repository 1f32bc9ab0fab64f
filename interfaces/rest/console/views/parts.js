// What more than one view shows.

import { badge, h, icon, to } from '../dom.js'
import { configWords } from '../format.js'
import { settled } from '../live.js'

const TONES = { stable: 'good', empty: '', dead: 'bad', preparingrebalance: 'warn', completingrebalance: 'warn', assigning: 'warn', reconciling: 'warn' }

export function stateBadge(state) {
  const made = badge(state, TONES[state.toLowerCase().replaceAll('_', '')] ?? '')
  made.title = state // where a narrow column cuts it
  return made
}

/** A search field; `search` is told what stands in it, a moment after the last key. */
export function searchField(label, value, search) {
  const input = h('input', { type: 'search', 'aria-label': label, placeholder: label, value: value ?? '', 'data-search': true, autocomplete: 'off', spellcheck: 'false' })
  input.addEventListener('input', settled(80, () => search(input.value.trim())))
  return h('div', { class: 'search' }, icon('search'), input)
}

/** A config's value as it is written, and in words where those help. */
export function configValue(name, value) {
  if (value === null || value === undefined) return h('span', { class: 'soft' }, 'not set')
  if (value === '') return h('span', { class: 'soft' }, 'empty')
  const words = configWords(name, value)
  return [h('code', {}, value), words && h('span', { class: 'soft' }, ` ${words}`)]
}

/** Marks a config that is set and does not do what it says. */
export function effectBadge(effect) {
  if (!effect || effect === 'yes') return null
  return badge(effect === 'in part' ? 'effect in part' : 'no effect', 'warn')
}

export function matches(text, search) {
  return text.toLowerCase().includes(search.toLowerCase())
}

/** A group may have no name at all. */
export function groupName(id) {
  return id === '' ? h('span', { class: 'nothing' }, 'no name') : id
}

export function groupLink(id, facts) {
  return h('a', { href: to('groups', id), title: id, ...facts }, groupName(id))
}
