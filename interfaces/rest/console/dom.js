// All elements are made here. Strings become text nodes and attributes: nothing in this file parses a
// string as HTML.

import { withQuery } from './api.js'
import { escaped } from './router.js'

const SVG = 'http://www.w3.org/2000/svg'

export function h(tag, facts, ...children) {
  return dressed(document.createElement(tag), facts, children)
}

export function svg(tag, facts, ...children) {
  return dressed(document.createElementNS(SVG, tag), facts, children)
}

function dressed(element, facts, children) {
  for (const [name, value] of Object.entries(facts ?? {})) {
    if (value === undefined || value === null || value === false) continue
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value)
    else if (name === 'value' || name === 'checked' || name === 'disabled') element[name] = value
    else element.setAttribute(name, value === true ? '' : value)
  }
  element.append(...nodes(children))
  return element
}

function nodes(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false)
}

export function replace(element, ...children) {
  element.replaceChildren(...nodes(children))
  return element
}

/** The address of a view. Every part is escaped, so a name cannot lead to another view. */
export function to(...parts) {
  const query = typeof parts.at(-1) === 'object' ? parts.pop() : {}
  const path = parts.map((part) => escaped(String(part))).join('/')
  return withQuery(`#/${path}`, query)
}

const ICONS = {
  overview: 'M3 12l4-5 4 3 6-7M3 17h14',
  topics: 'M4 5h12M4 10h12M4 15h8',
  groups: 'M7 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM1.8 17c.4-3.2 2.4-5 5.2-5s4.8 1.8 5.2 5M13.5 8.5a2.5 2.5 0 1 0 0-5M14.5 12c2 .4 3.4 2 3.7 4.5',
  transactions: 'M4 4h12v12H4zM7 10l2.2 2.2L13 8.4',
  requests: 'M3 6h11l-3-3M17 14H6l3 3',
  connections: 'M7 3v4M13 3v4M5 7h10v3a5 5 0 0 1-10 0zM10 15v3',
  configs: 'M3 6h7M14 6h3M12 4v4M3 14h3M10 14h7M8 12v4',
  users: 'M10 10a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM3.5 17c.6-3.4 3-5 6.5-5s5.9 1.6 6.5 5',
  acls: 'M5.5 9h9v8h-9zM7.5 9V6.5a2.5 2.5 0 0 1 5 0V9M10 12.5v2',
  quotas: 'M3 15a7 7 0 1 1 14 0M10 15l3.5-5',
  search: 'M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12zM13.5 13.5L17 17',
  sun: 'M10 13.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M4.3 15.7l1.1-1.1M14.6 5.4l1.1-1.1',
  moon: 'M16.5 11.6A7 7 0 1 1 8.4 3.5a5.6 5.6 0 0 0 8.1 8.1z',
  plus: 'M10 4v12M4 10h12',
  keys: 'M2.5 5.5h15v9h-15zM5.5 8.5h.1M8.5 8.5h.1M11.5 8.5h.1M14.5 8.5h.1M7 11.7h6',
  bin: 'M4 6h12M8 6V3.5h4V6M5.5 6l.8 11h7.4l.8-11M8.5 9v5M11.5 9v5',
  cut: 'M4 6h12M4 10h4M12 10h4M4 14h4M12 14h4M10 8v8',
  close: 'M5 5l10 10M15 5L5 15',
  columns: 'M3 4h14v12H3zM8 4v12M13 4v12',
  copy: 'M7 7h9v9H7zM13 7V4H4v9h3',
  right: 'M8 5l5 5-5 5',
  down: 'M5 8l5 5 5-5',
  pause: 'M7 5v10M13 5v10',
  play: 'M7 4.5l8 5.5-8 5.5z',
  again: 'M16 10a6 6 0 1 1-2-4.5M16 3v4h-4',
  download: 'M10 3v9M6 9l4 4 4-4M4 16.5h12',
  warning: 'M10 3l7.5 13.5h-15zM10 8.5v3.5M10 14.2v.3',
}

export function icon(name) {
  return svg('svg', { class: 'icon', viewBox: '0 0 20 20', 'aria-hidden': 'true' }, svg('path', { d: ICONS[name] }))
}

export function button(label, facts, name) {
  const { class: extra = '', ...rest } = facts ?? {}
  return h('button', { type: 'button', ...rest, class: `button ${extra}`.trim() }, name && icon(name), h('span', {}, label))
}

export function iconButton(label, name, onclick, facts) {
  return h('button', { type: 'button', class: 'icon-button', 'aria-label': label, title: label, onclick, ...facts }, icon(name))
}

/** Copies what `text` returns. Browsers have a clipboard for HTTPS and loopback addresses only. */
export function copyButton(text) {
  if (!navigator.clipboard) return null
  const press = button('Copy', { class: 'small plain', onclick: copy }, 'copy')
  async function copy() {
    await navigator.clipboard.writeText(text())
    press.lastChild.textContent = 'Copied'
    setTimeout(() => (press.lastChild.textContent = 'Copy'), 2000)
  }
  return press
}

let labels = 0

/** A label above its input, with a help text below. */
export function field(label, input, help) {
  labels += 1
  input.id ||= `field-${labels}`
  const note = help && h('small', { class: 'help', id: `${input.id}-help` }, help)
  if (note) input.setAttribute('aria-describedby', note.id)
  return h('div', { class: 'field' }, h('label', { for: input.id }, label), input, note)
}

export function options(pairs) {
  return pairs.map(([value, text]) => h('option', { value }, text))
}

export function choice(pairs, value, facts) {
  const select = h('select', facts, options(pairs))
  select.value = value
  return select
}

/** Marks one of these links as the one of the current view. */
export function markCurrent(links, current) {
  for (const link of links) {
    if (link === current) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  }
}

/** The first 1,000 partitions, after a choice without a number. */
export function partitionChoice(none, partitions, value, facts) {
  const numbers = Array.from({ length: Math.min(partitions, 1000) }, (_, n) => [String(n), String(n)])
  return choice([['', none], ...numbers], value, facts)
}

export function badge(text, tone = '') {
  return h('span', { class: `badge ${tone}`.trim() }, text)
}

/** A button that pauses and resumes; `toggle` receives the new state. */
export function pauseButton(toggle) {
  let paused = false
  const press = button('Pause', { 'aria-pressed': 'false', onclick: turn }, 'pause')
  function turn() {
    paused = !paused
    press.setAttribute('aria-pressed', String(paused))
    replace(press, icon(paused ? 'play' : 'pause'), h('span', {}, paused ? 'Resume' : 'Pause'))
    toggle(paused)
  }
  return press
}
