// Every setting of the broker: its value, where that comes from, and what it means.

import { get, path, send } from '../api.js'
import { ask, toast } from '../dialog.js'
import { badge, button, choice, field, h, replace, to } from '../dom.js'
import { plural } from '../format.js'
import { note } from '../router.js'
import { empty, filled } from '../states.js'
import { configValue, effectBadge, matches, searchField } from './parts.js'

export function open(root, { query, signal }) {
  let search = query.q ?? ''
  let rows = []
  const told = h('small', { 'aria-live': 'polite' })
  const content = h('div', {})
  const list = h('dl', { class: 'configs' })
  const nothing = h('div', {}, empty('No setting has this in its name or documentation'))
  const only = choice([['', 'All settings'], ['set', 'Only what is set']], query.only ?? '', { 'aria-label': 'Which settings' })

  function show() {
    let shown = 0
    for (const { setting, element } of rows) {
      element.hidden = !(matches(`${setting.name} ${setting.documentation}`, search) && (!only.value || isSet(setting)))
      shown += element.hidden ? 0 : 1
    }
    told.textContent = plural(shown, 'setting')
    nothing.hidden = shown > 0
    note(to('configs', { q: search, only: only.value }))
  }

  const words = searchField('Search settings', search, (text) => {
    search = text
    show()
  })
  only.addEventListener('change', show)
  replace(root, h('div', { class: 'head' }, h('div', { class: 'grow' }, h('h1', {}, 'Configs'), h('p', { class: 'soft' }, 'Settings of the broker. Those of a topic are on its page.'))), h('div', { class: 'line-up' }, words, h('div', {}, only), told), content)
  const again = filled(content, {
    signal,
    fetching: () => get('configs', { signal }),
    draw: (answer) => {
      rows = answer.data.map((setting) => ({ setting, element: row(setting, () => again()) }))
      replace(list, rows.map(({ element }) => element))
      show()
      return h('div', { class: 'card' }, list, nothing)
    },
  })
}

function isSet(setting) {
  return setting.source !== 'DEFAULT_CONFIG'
}

function row(setting, changed) {
  const { name, value } = setting
  const set = isSet(setting)
  const shown = setting.is_sensitive ? h('span', { class: 'soft' }, 'secret') : configValue(name, value)
  return h(
    'div',
    { class: set ? 'config own' : 'config' },
    h('dt', {}, h('code', {}, name), set && [badge('set', 'accent'), ' ', effectBadge(setting.effect)]),
    h(
      'dd',
      {},
      h('div', { class: 'value' }, shown),
      set && h('div', { class: 'soft' }, `from ${setting.origin}`),
      set && value !== setting.default && h('div', { class: 'soft' }, 'instead of ', configValue(name, setting.default)),
      !setting.is_read_only && button('Change', { class: 'small plain', 'aria-label': `Change ${name}`, onclick: async () => ((await change(setting)) ? changed() : null) }),
    ),
    h('dd', { class: 'soft' }, setting.documentation),
  )
}

async function change(setting) {
  const { name } = setting
  const input = h('input', { value: setting.source === 'DYNAMIC_DEFAULT_BROKER_CONFIG' ? setting.value ?? '' : '', placeholder: setting.value ?? setting.allowed, autocomplete: 'off', spellcheck: 'false' })
  const done = await ask({
    title: name,
    body: [h('p', { class: 'soft' }, setting.documentation), field('Value', input, `${setting.allowed}. Left empty: back to what file, command line or default say.`)],
    action: 'Save',
    run: () => (input.value === '' ? send('DELETE', path`broker-configs/${name}`) : send('PUT', path`broker-configs/${name}`, { value: input.value })),
  })
  if (done) toast(`${name} is changed.`)
  return done
}
