// The configs of a topic: what is set, what is default, and where each value comes from.

import { get, path, send } from '../api.js'
import { ask, toast } from '../dialog.js'
import { badge, button, h, replace } from '../dom.js'
import { filled } from '../states.js'
import { ConfigForm } from './config_form.js'
import { configValue, effectBadge, matches, searchField } from './parts.js'

export function open(root, { name, signal }) {
  const content = h('div', {})
  replace(root, content)
  const again = filled(content, {
    signal,
    fetching: async () => {
      const [definitions, configs] = await Promise.all([
        get('configs/topics', { signal }),
        get(path`topics/${name}/configs`, { signal }),
      ])
      return { definitions: definitions.data, configs: configs.data }
    },
    draw: ({ definitions, configs }) => view(name, definitions, configs, (changed) => (changed ? again() : null)),
  })
}

function view(name, definitions, configs, done) {
  const own = configs.filter((config) => isOwn(config))
  const values = Object.fromEntries(own.map((config) => [config.name, config.value]))
  const documented = Object.fromEntries(definitions.map((definition) => [definition.name, definition]))
  const change = button('Change configs', { class: 'primary', onclick: async () => done(await edit(name, definitions, values)) })
  const rows = configs
    .toSorted((a, b) => isOwn(b) - isOwn(a) || a.name.localeCompare(b.name))
    .map((config) => ({ config, element: row(config, documented[config.name]) }))
  const search = searchField('Search configs', '', (text) => {
    for (const { config, element } of rows) element.hidden = !matches(`${config.name} ${documented[config.name]?.documentation ?? ''}`, text)
  })
  return h(
    'div',
    { class: 'stack' },
    h('div', { class: 'line-up' }, search, h('small', {}, own.length ? `${own.length} set for this topic` : 'nothing is set for this topic'), h('span', { class: 'spring' }), change),
    h('div', { class: 'card' }, h('dl', { class: 'configs' }, rows.map(({ element }) => element))),
  )
}

function isOwn(config) {
  return config.source === 'DYNAMIC_TOPIC_CONFIG'
}

function row(config, definition) {
  const own = isOwn(config)
  return h(
    'div',
    { class: own ? 'config own' : 'config' },
    h('dt', {}, h('code', {}, config.name), own && [badge('set', 'accent'), ' ', effectBadge(config.effect)]),
    h(
      'dd',
      {},
      h('div', { class: 'value' }, configValue(config.name, config.value)),
      own && h('div', { class: 'soft' }, 'instead of ', configValue(config.name, definition?.default)),
      !own && config.source !== 'DEFAULT_CONFIG' && h('div', { class: 'soft' }, `from ${config.source.toLowerCase().replaceAll('_', ' ')}`),
    ),
    h('dd', { class: 'soft' }, definition?.documentation),
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
      const data = changes.map(([config, value]) =>
        value === null ? { name: config, operation: 'DELETE' } : { name: config, value, operation: 'SET' },
      )
      await send('POST', path`topics/${name}/configs:alter`, { data })
      toast(`${changes.length === 1 ? 'One config is' : `${changes.length} configs are`} changed.`)
    },
  })
}
