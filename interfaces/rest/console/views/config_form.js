// Inputs for topic configs, each with its documentation and default.

import { badge, button, choice, field, h, replace } from '../dom.js'
import { configValue, effectBadge, matches, searchField } from './parts.js'

/**
 * definitions: the data of GET /configs/topics; values: the configs that are set, by name.
 * `changes()` returns {name: value}, or null as a value for configs to reset.
 */
export class ConfigForm {
  constructor(definitions, values = {}) {
    this.values = values
    this.inputs = new Map()
    this.rows = definitions.map((definition) => this.#row(definition))
    this.list = h('div', { class: 'config-list' }, this.rows.map(({ element }) => element))
    this.element = h('div', { class: 'stack' }, searchField('Search configs', '', (text) => this.#search(text)), this.list)
  }

  #row(definition) {
    const { name } = definition
    const input = inputOf(definition, this.values[name])
    const mark = h('span', {})
    const update = () => {
      const isSet = input.value !== ''
      replace(mark, isSet && badge('set', 'accent'))
      back.hidden = !isSet
    }
    const back = button('Use the default', { class: 'small plain', onclick: () => ((input.value = ''), update()) })
    input.addEventListener('input', update)
    this.inputs.set(name, input)
    const labelled = field(name, input, definition.documentation)
    labelled.classList.add('config')
    labelled.prepend(h('div', { class: 'line-up' }, labelled.firstChild, mark, effectBadge(definition)))
    labelled.append(h('div', { class: 'line-up' }, h('small', {}, 'Default: ', configValue(name, definition.default)), h('span', { class: 'spring' }), back))
    update()
    return { element: labelled, text: `${name} ${definition.documentation}` }
  }

  #search(text) {
    for (const { element, text: all } of this.rows) element.hidden = !matches(all, text)
  }

  changes() {
    const changed = {}
    for (const [name, input] of this.inputs) {
      const before = this.values[name] ?? ''
      if (input.value !== before) changed[name] = input.value === '' ? null : input.value
    }
    return changed
  }
}

function inputOf({ name, type, allowed, default: standard }, value) {
  const facts = { name, autocomplete: 'off', spellcheck: 'false' }
  const choices = type === 'BOOLEAN' ? ['true', 'false'] : allowed.startsWith('one of ') && allowed.slice(7).split(', ')
  if (choices) return choice([['', `default (${standard})`], ...choices.map((one) => [one, one])], value ?? '', facts)
  const numeric = ['INT', 'LONG', 'DOUBLE'].includes(type)
  return h('input', { ...facts, inputmode: numeric ? 'numeric' : null, placeholder: allowed, value: value ?? '' })
}
