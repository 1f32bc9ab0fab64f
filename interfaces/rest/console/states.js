// What stands where the data is not: it is being fetched, there is none, or it cannot be had.

import { Failure } from './api.js'
import { button, h, icon, iconButton, replace } from './dom.js'
import { every } from './live.js'

export function loading(words = 'Loading…') {
  return h('div', { class: 'state loading', role: 'status' }, h('span', { class: 'spinner', 'aria-hidden': 'true' }), words)
}

export function empty(title, words, ...actions) {
  return h('div', { class: 'state empty' }, h('strong', {}, title), words && h('p', {}, words), actions)
}

export function trouble(failure, retry) {
  return h(
    'div',
    { class: 'state trouble', role: 'alert' },
    h('strong', {}, icon('warning'), messageOf(failure)),
    failure.correlationId && correlation(failure.correlationId),
    retry && button('Try again', { onclick: retry }, 'again'),
  )
}

export function messageOf(failure) {
  return failure instanceof Failure ? failure.message : `The console itself failed: ${failure.message}`
}

export function correlation(id) {
  return h(
    'p',
    { class: 'correlation' },
    'correlation id ',
    h('code', {}, id),
    iconButton('Copy the correlation id', 'copy', () => navigator.clipboard?.writeText(id)),
  )
}

/**
 * Fills `element` with what `fetching` brings: `draw` is given it, and returns nodes. With `ms` it is
 * asked again so often; what is drawn then stays while a later answer fails, below a line that says so.
 */
export function filled(element, { signal, ms, fetching, draw }) {
  let drawn = false
  let told = null
  const stale = h('div', { class: 'stale', hidden: true })
  const content = h('div', {}, loading())
  replace(element, stale, content)

  async function turn() {
    try {
      const fetched = await fetching()
      if (signal.aborted) return
      const made = draw(fetched)
      if (made) replace(content, made)
      drawn = true
      told = null
      stale.hidden = true
    } catch (failure) {
      // What is told already stays: somebody may be reading it, or about to press its button.
      if (signal.aborted || told === messageOf(failure)) return
      told = messageOf(failure)
      if (drawn) {
        replace(stale, trouble(failure, again))
        stale.hidden = false
      } else {
        replace(content, trouble(failure, again))
      }
    }
  }

  function again() {
    told = null
    if (!drawn) replace(content, loading())
    return turn()
  }

  if (ms) every(ms, signal, turn)
  else turn()
  return again
}
