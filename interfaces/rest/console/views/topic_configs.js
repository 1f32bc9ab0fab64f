// The configs of a topic: those that are set come first.

import { get, path, send } from '../api.js'
import { ask, toast } from '../dialog.js'
import { button, h } from '../dom.js'
import { filled } from '../states.js'
import { ConfigForm } from './config_form.js'
import { configRow, configValue, matches, searchField, softLine } from './parts.js'

export function open(root, { name, signal }) {
  const again = filled(root, {
    signal,
    fetching: () => Promise.all([get('configs/topics', { signal }), get(path`topics/${name}/configs`, { signal })]),
    draw: ([{ data: definitions }, { data: configs }]) => view(name, definitions, configs, () => again()),
  })
}

function view(name, definitions, configs, again) {
  const own = configs.filter(isOwn)
  const values = Object.fromEntries(own.map((config) => [config.name, config.value]))
  const documented = Object.fromEntries(definitions.map((definition) => [definition.name, definition]))
  const change = button('Change configs', { class: 'primary', onclick: async () => ((await edit(name, definitions, values)) ? again() : null) })
  const rows = configs
    .toSorted((a, b) => isOwn(b) - isOwn(a) || a.name.localeCompare(b.name))
    .map((config) => row(config, documented[config.name]))
  const search = searchField('Search configs', '', (text) => {
    for (const element of rows) element.hidden = !matches(element.textContent, text)
  })
  return h(
    'div',
    { class: 'stack' },
    h('div', { class: 'line-up' }, search, h('small', {}, own.length ? `${own.length} set for this topic` : 'nothing is set for this topic'), h('span', { class: 'spring' }), change),
    h('div', { class: 'card' }, h('dl', { class: 'configs' }, rows)),
  )
}

function isOwn(config) {
  return config.source === 'DYNAMIC_TOPIC_CONFIG'
}

function row(config, definition) {
  const own = isOwn(config)
  return configRow(
    { ...definition, ...config },
    own,
    configValue(config.name, config.value),
    own && softLine('default ', configValue(config.name, definition?.default)),
    !own && config.source !== 'DEFAULT_CONFIG' && softLine(`from ${config.source.toLowerCase().replaceAll('_', ' ')}`),
  )
}

async function edit(name, definitions, values) {
  const form = new ConfigForm(definitions, values)
  return ask({
    title: `Configs of ${name}`,
    body: form.element,
    action: 'Save',
    wide: true,
    run: async () => {
      const changes = Object.entries(form.changes())
      if (!changes.length) return
      const data = changes.map(([config, value]) => ({ name: config, value, operation: value === null ? 'DELETE' : 'SET' }))
      await send('POST', path`topics/${name}/configs:alter`, { data })
      toast(`${changes.length === 1 ? 'One config is' : `${changes.length} configs are`} changed.`)
    },
  })
}
