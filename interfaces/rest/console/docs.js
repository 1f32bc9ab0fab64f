// The page of the REST API: every operation of /openapi.json, with a form that sends it.

import { fetched, get, openSession, withQuery } from './api.js'
import { prettyJson } from './bytes.js'
import { badge, button, field, h, replace } from './dom.js'
import { escaped } from './router.js'
import { loading, trouble } from './states.js'

const V3 = '/v3/clusters/{cluster_id}/'
const TONES = { get: 'good', delete: 'bad', put: 'warn', patch: 'warn', post: 'accent' }
// Characters that are shown of a response, which may have no end.
const SHOWN = 64 * 1024

const ROOT = new URL('.', document.baseURI).href

const main = document.getElementById('main')
const view = h('div', { class: 'view' }, loading())
replace(main, view)
open()

async function open() {
  try {
    await openSession()
    draw(await get('openapi.json'))
  } catch (failure) {
    replace(view, trouble(failure, open))
  }
}

function draw(api) {
  const tags = new Map()
  for (const [path, methods] of Object.entries(api.paths)) {
    if (path.startsWith(V3)) continue
    for (const [method, operation] of Object.entries(methods)) {
      const [tag] = operation.tags
      tags.set(tag, [...(tags.get(tag) ?? []), operationCard(api, method, path, operation)])
    }
  }
  const names = [...tags.keys()].sort()
  replace(document.getElementById('nav'), names.map((tag) => h('a', { href: `#${tag}` }, h('span', {}, tag))))
  replace(
    view,
    h('h1', {}, 'REST API'),
    h('p', {}, 'Every path below also exists under ', h('code', {}, V3.slice(0, -1)), ', as in version 3 of Confluent’s REST API; groups are ', h('code', {}, 'consumer-groups'), ' there.'),
    h('div', { class: 'line-up' }, h('a', { class: 'button', href: 'openapi.json' }, 'openapi.json')),
    names.map((tag) => h('section', { id: tag }, h('h2', {}, tag), tags.get(tag))),
  )
}

function operationCard(api, method, path, operation) {
  const details = h(
    'details',
    { class: 'card', ontoggle: () => details.children.length === 1 && details.append(operationBody(api, method, path, operation)) },
    h('summary', {}, badge(method.toUpperCase(), TONES[method]), h('code', {}, path), h('span', { class: 'soft' }, operation.summary)),
  )
  return details
}

function operationBody(api, method, path, operation) {
  const inputs = (operation.parameters ?? []).map((parameter) => [parameter, h('input', { placeholder: typeOf(parameter.schema) })])
  const schema = operation.requestBody?.content['application/json'].schema
  const body = schema && h('textarea', { rows: 10, spellcheck: 'false', value: JSON.stringify(resolved(api, schema).examples[0], null, 2) })
  const curl = h('pre', { 'aria-label': 'curl' })
  const output = h('pre', { 'aria-label': 'Response', role: 'status', hidden: true })
  let sending = null
  const send = button('Send', { class: method === 'delete' ? 'danger' : 'primary', onclick: () => press() })

  function address() {
    const query = {}
    let filled = path
    for (const [{ name, in: place }, input] of inputs) {
      if (place === 'path') filled = filled.replace(`{${name}}`, input.value ? escaped(input.value) : `{${name}}`)
      else query[name] = input.value
    }
    return withQuery(ROOT + filled.slice(1), query)
  }

  function update() {
    const parts = [`curl -X ${method.toUpperCase()}`, quoted(address())]
    if (body) parts.push("-H 'content-type: application/json'", `-d ${quoted(body.value)}`)
    curl.textContent = parts.join(' ')
  }

  async function press() {
    if (sending) return sending.abort()
    sending = new AbortController()
    replace(send, 'Stop')
    output.hidden = false
    output.textContent = ''
    try {
      await show(output, await fetched(method.toUpperCase(), address(), { body: body?.value, signal: sending.signal }))
    } catch (failure) {
      output.textContent += failure.name === 'AbortError' ? '\n(stopped)' : '\nThe broker does not respond.'
    }
    sending = null
    replace(send, 'Send')
  }

  const filled = h(
    'div',
    { class: 'stack', oninput: update },
    operation.description && h('p', {}, operation.description),
    inputs.length > 0 && h('div', { class: 'fields' }, inputs.map(([{ name, in: place, required, description }, input]) => field(`${name}${required ? '' : ' (optional)'}`, input, description ?? `in the ${place}`))),
    body && field('Body', body),
    schema && shape('Fields of the body', api, schema),
    curl,
    h('div', { class: 'line-up' }, send),
    output,
    shape('Fields of the response', api, responseSchema(operation)),
  )
  update()
  return filled
}

async function show(output, response) {
  const head = `HTTP ${response.status} ${response.statusText}\n\n`
  let text = ''
  output.textContent = head
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  for (let piece = await reader?.read(); piece && !piece.done && text.length < SHOWN; piece = await reader.read()) {
    text += piece.value
    output.textContent = head + text
  }
  if (text.length >= SHOWN) {
    output.textContent += '\n(the rest is not shown)'
    await reader.cancel()
  } else if (response.headers.get('Content-Type') === 'application/json') output.textContent = head + (prettyJson(text) ?? text)
}

// ---- schemas

function resolved(api, schema) {
  const named = schema.anyOf?.find((one) => one.$ref) ?? schema
  return named.$ref ? api.components.schemas[nameOf(named)] : named
}

function nameOf(schema) {
  return schema.$ref.split('/').at(-1)
}

function responseSchema({ responses }) {
  const [, success] = Object.entries(responses).find(([status]) => status.startsWith('2'))
  return success.content?.['application/json']?.schema ?? {}
}

function typeOf(schema) {
  if (schema.$ref) return nameOf(schema)
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ')
  if (schema.enum) return schema.enum.join(', ')
  if (schema.type === 'array') return `array of ${typeOf(schema.items ?? {})}`
  return schema.const ?? schema.type ?? 'any'
}

/** The fields of an object, and of the objects in it. */
function shape(title, api, schema) {
  const rows = rowsOf(api, schema, '', 0)
  return rows.length > 0 && h('details', {}, h('summary', {}, title), h('table', { class: 'shape' }, rows))
}

function rowsOf(api, schema, before, depth) {
  const { properties = {}, required = [] } = resolved(api, schema)
  return Object.entries(properties).flatMap(([name, one]) => [
    h('tr', {}, h('th', { scope: 'row' }, h('code', {}, before + name)), h('td', {}, typeOf(one), required.includes(name) ? '' : ' (optional)'), h('td', { class: 'soft' }, one.description ?? '')),
    ...(depth < 2 ? rowsOf(api, one.items ?? one, `${before}${name}.`, depth + 1) : []),
  ])
}

/** For a shell. */
function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`
}
