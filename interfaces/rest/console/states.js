// What a view shows while its data is loading, empty or not available.

import { Failure } from './api.js'
import { button, h, icon, iconButton, replace } from './dom.js'
import { every } from './live.js'

export function loading(text = 'Loading…') {
  return h('div', { class: 'state loading', role: 'status' }, h('span', { class: 'spinner', 'aria-hidden': 'true' }), text)
}

export function empty(title, text, ...actions) {
  return h('div', { class: 'state empty' }, h('strong', {}, title), text && h('p', {}, text), actions)
}

export function trouble(failure, retry) {
  return h(
    'div',
    { class: 'state trouble', role: 'alert' },
    h('strong', {}, icon('warning'), messageOf(failure)),
    correlation(failure),
    retry && button('Try again', { onclick: retry }, 'again'),
  )
}

/** A failure inside a form or a dialog. */
export function fault(failure) {
  return h('div', { class: 'fault', role: 'alert' }, messageOf(failure), correlation(failure))
}

function messageOf(failure) {
  return failure instanceof Failure ? failure.message : `The console itself failed: ${failure.message}`
}

function correlation({ correlationId: id }) {
  if (!id) return null
  const copy = iconButton('Copy the correlation id', 'copy', () => navigator.clipboard?.writeText(id))
  return h('p', { class: 'correlation' }, 'correlation id ', h('code', {}, id), copy)
}

/**
 * Shows in `element` what `draw` returns for what `fetching` returns. With `ms` it fetches again at
 * that interval; if a later fetch fails, the view stays below a line with the failure. `draw` may
 * return the same element every time. Returns a function that fetches at once.
 */
export function filled(element, { signal, ms, fetching, draw }) {
  let drawn = false
  let shown = null
  const stale = h('div', { class: 'stale', hidden: true })
  const content = h('div', {}, loading())
  replace(element, stale, content)

  async function turn() {
    try {
      const fetched = await fetching()
      if (signal.aborted) return
      const made = draw(fetched)
      if (made && content.firstChild !== made) replace(content, made)
      drawn = true
      shown = null
      stale.hidden = true
    } catch (failure) {
      // The same failure is not drawn again: the user may be about to press its button.
      if (signal.aborted || shown === messageOf(failure)) return
      shown = messageOf(failure)
      stale.hidden = !drawn
      replace(drawn ? stale : content, trouble(failure, again))
    }
  }

  function again() {
    shown = null
    if (!drawn) replace(content, loading())
    return turn()
  }

  if (ms) every(ms, signal, turn)
  else turn()
  return again
}
