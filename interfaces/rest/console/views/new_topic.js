// A new topic.

import { get, send } from '../api.js'
import { toast } from '../dialog.js'
import { field, h, replace, to } from '../dom.js'
import { go } from '../router.js'
import { fault, filled } from '../states.js'
import { ConfigForm } from './config_form.js'

/** The configs that most topics set; the others are below. */
const FIRST = ['cleanup.policy', 'retention.ms', 'max.message.bytes', 'compression.type']

export function open(root, { signal }) {
  const content = h('div')
  replace(root, h('div', { class: 'head' }, h('h1', {}, 'New topic')), content)
  filled(content, {
    signal,
    fetching: () => get('configs/topics', { signal }),
    draw: (definitions) => form(definitions.data),
  })
}

function form(definitions) {
  const name = h('input', { id: 'topic-name', required: true, maxlength: '249', autocomplete: 'off', spellcheck: 'false', pattern: '[a-zA-Z0-9._\\-]+' })
  const partitions = h('input', { type: 'number', min: '1', id: 'partitions', placeholder: 'default' })
  const first = new ConfigForm(FIRST.map((config) => definitions.find((one) => one.name === config)))
  const others = new ConfigForm(definitions.filter((one) => !FIRST.includes(one.name)))
  const faults = h('div', { hidden: true })
  const validate = h('button', { type: 'submit', class: 'button', value: 'validate' }, 'Validate')
  const create = h('button', { type: 'submit', class: 'button primary', value: 'create' }, 'Create topic')

  requestAnimationFrame(() => name.focus())

  async function submit(event) {
    event.preventDefault()
    const validateOnly = event.submitter === validate
    faults.hidden = true
    validate.disabled = create.disabled = true
    const set = Object.entries({ ...first.changes(), ...others.changes() }).map(([config, value]) => ({ name: config, value }))
    const body = { topic_name: name.value, configs: set, validate_only: validateOnly }
    if (partitions.value) body.partitions_count = Number(partitions.value)
    try {
      await send('POST', 'topics', body)
      if (validateOnly) {
        toast(`${name.value} could be created like this.`)
      } else {
        toast(`Topic ${name.value} is created.`)
        go(to('topics', name.value))
      }
    } catch (failure) {
      replace(faults, fault(failure))
      faults.hidden = false
      faults.scrollIntoView({ block: 'nearest' })
    } finally {
      validate.disabled = create.disabled = false
    }
  }

  return h(
    'form',
    { class: 'stack', onsubmit: submit },
    h(
      'section',
      { class: 'card padded stack' },
      h(
        'div',
        { class: 'config-list' },
        field('Name', name, 'Letters, digits, dots, underscores and hyphens.'),
        field('Partitions', partitions, 'Empty: num.partitions of the broker.'),
      ),
      first.list,
      faults,
      h('div', { class: 'line-up' }, create, validate, h('a', { class: 'button plain', href: to('topics') }, 'Cancel')),
    ),
    h('section', { class: 'card' }, h('h2', {}, 'Other configs', h('small', { class: 'soft' }, 'empty: the default')), h('div', { class: 'padded' }, others.element)),
  )
}

