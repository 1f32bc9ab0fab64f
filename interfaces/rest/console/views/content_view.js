// A key or a value: in one line, and as JSON, text or hex.

import { hexDump, prettyJson, toHex } from '../bytes.js'
import { badge, button, copyButton, h, replace } from '../dom.js'
import { bytes } from '../format.js'

const PREVIEW = 400
/** More characters, or bytes in hex, are shown on request: a browser is slow with them. */
const SHOWN = 16_384
/** Longer JSON is shown without colours and folds. */
const COLOURED = 131_072
const TOKEN = /("(?:[^"\\]|\\.)*"?)(:?)|(true|false|null)|(-?\d[^,]*)/g

/** One line. null, the empty text and the word null look different. */
export function preview({ data, text }) {
  if (data === null) return h('span', { class: 'nothing' }, 'null')
  if (!data.length) return h('span', { class: 'nothing' }, 'empty')
  if (text === null) return h('span', { class: 'mono soft' }, toHex(data.subarray(0, 40)))
  return h('span', { class: 'mono' }, text.slice(0, PREVIEW).replace(/\s+/g, ' '))
}

export function contentView(title, { data, text }) {
  const head = h('h3', {}, title)
  if (data === null || !data.length) return h('section', {}, head, preview({ data, text }))
  head.append(h('small', {}, bytes(data.length)), ...(text === null ? [badge('binary')] : []))
  const forms = formsOf(data, text)
  const choices = forms.map((form) => button(form.name, { class: 'small plain', onclick: () => draw(form) }))
  const shown = h('pre', { tabindex: '0', 'aria-label': title })
  const rest = h('div', {})
  let current = null

  function draw(form, most = SHOWN) {
    current = form
    choices.forEach((choice, n) => choice.setAttribute('aria-pressed', String(forms[n] === form)))
    replace(shown, form.draw(form.text(most)))
    replace(rest, form.size > most && button('Show all', { class: 'small', onclick: () => draw(form, form.size) }, 'down'))
  }

  draw(forms[0])
  return h('section', {}, h('div', { class: 'line-up' }, head, h('span', { class: 'spring' }), choices, copyButton(() => current.text(current.size))), shown, rest)
}

/** size: of the whole content; text: of so much of it. */
function formsOf(data, text) {
  const pretty = text === null ? null : prettyJson(text)
  const plain = (shown) => shown
  return [
    pretty !== null && { name: 'JSON', size: pretty.length, text: (most) => pretty.slice(0, most), draw: jsonView },
    text !== null && { name: 'Text', size: text.length, text: (most) => text.slice(0, most), draw: plain },
    { name: 'Hex', size: data.length, text: (most) => hexDump(data.subarray(0, most)), draw: plain },
  ].filter(Boolean)
}

/** Indented JSON in colours; objects and arrays can be folded. The text stays as it is. */
function jsonView(text) {
  if (text.length > COLOURED) return text
  const root = h('div', {})
  const open = [root]
  for (const line of text.split('\n')) {
    if (/[[{]$/.test(line)) {
      const fold = h('details', { open: true }, h('summary', { 'data-end': line.endsWith('[') ? ']' : '}' }, coloured(line)))
      open.at(-1).append(fold)
      open.push(fold)
    } else {
      open.at(-1).append(...coloured(line), '\n')
      if (/^ *[\]}]/.test(line)) open.pop()
    }
  }
  return root
}

function coloured(line) {
  const parts = []
  let done = 0
  for (const { 0: token, 1: text, 2: colon, 3: word, index } of line.matchAll(TOKEN)) {
    const kind = text ? (colon ? 'name' : 'text') : word ? 'word' : 'number'
    const shown = text ?? token
    parts.push(line.slice(done, index), h('span', { class: `json-${kind}` }, shown))
    done = index + shown.length
  }
  return [...parts, line.slice(done)]
}
