// All settings of the broker: value, origin and documentation.

import { get, may, path, send } from '../api.js'
import { ask, toast } from '../dialog.js'
import { button, choice, field, h, replace, to } from '../dom.js'
import { plural } from '../format.js'
import { note } from '../router.js'
import { filled } from '../states.js'
import { configRow, configValue, matches, noMatch, searchField, softLine } from './parts.js'

export function open(root, { query, signal }) {
  let search = query.q ?? ''
  let rows = []
  const total = h('small', { 'aria-live': 'polite' })
  const content = h('div')
  const list = h('dl', { class: 'configs' })
  const nothing = h('div')
  const only = choice([['', 'All settings'], ['set', 'Only settings that are set']], query.only ?? '', { 'aria-label': 'Which settings', onchange: show })

  function show() {
    const shown = rows.filter(({ setting, element }) => {
      const fits = matches(`${setting.name} ${setting.documentation}`, search) && (!only.value || isSet(setting))
      element.hidden = !fits
      return fits
    })
    total.textContent = plural(shown.length, 'setting')
    replace(nothing, !shown.length && noMatch('setting', search))
    note(to('configs', { q: search, only: only.value }))
  }

  const field = searchField('Search settings', search, (text) => {
    search = text
    show()
  })
  replace(
    root,
    h('div', { class: 'head' }, h('div', { class: 'grow' }, h('h1', {}, 'Configs'), h('p', { class: 'soft' }, 'Settings of the broker. Configs of a topic are on its page.'))),
    h('div', { class: 'line-up' }, field, h('div', {}, only), total),
    content,
  )
  const again = filled(content, {
    signal,
    fetching: () => get('configs', { signal }),
    draw: ({ data }) => {
      rows = data.map((setting) => ({ setting, element: row(setting, () => again()) }))
      replace(list, rows.map(({ element }) => element))
      show()
      return h('div', { class: 'card' }, list, nothing)
    },
  })
}

function isSet(setting) {
  return setting.source !== 'DEFAULT_CONFIG'
}

function row(setting, again) {
  const { name, value } = setting
  const set = isSet(setting)
  return configRow(
    setting,
    set,
    setting.is_sensitive ? h('span', { class: 'soft' }, 'secret') : configValue(name, value),
    set && softLine('from ', setting.origin),
    set && value !== setting.default && softLine('default ', configValue(name, setting.default)),
    !setting.is_read_only && may('ALTER_CONFIGS') && button('Change', { class: 'small plain', 'aria-label': `Change ${name}`, onclick: async () => ((await change(setting)) ? again() : null) }),
  )
}

async function change(setting) {
  const { name } = setting
  const input = h('input', { value: setting.source === 'DYNAMIC_DEFAULT_BROKER_CONFIG' ? setting.value ?? '' : '', placeholder: setting.value ?? setting.allowed, autocomplete: 'off', spellcheck: 'false' })
  const done = await ask({
    title: name,
    body: [h('p', { class: 'soft' }, setting.documentation), field('Value', input, `${setting.allowed}. Empty: the value of the file, the command line or the default.`)],
    action: 'Save',
    run: () => (input.value === '' ? send('DELETE', path`broker-configs/${name}`) : send('PUT', path`broker-configs/${name}`, { value: input.value })),
  })
  if (done) toast(`${name} is changed.`)
  return done
}
