// Dialogs and toasts. The browser's own <dialog> keeps the focus inside and gives it back.

import { button, h, iconButton, replace } from './dom.js'
import { fault } from './states.js'

/**
 * Asks for confirmation and calls `run`. The dialog stays open while `run` works, when it fails, and
 * when it returns false. Closing the dialog aborts the signal passed to `run`. Resolves to whether
 * `run` succeeded.
 * `typed` has to be typed before the button works; `named` receives a function that renames the
 * button; `focus` has the focus at first.
 */
export function ask({ title, body, action, danger = false, wide = false, typed, run, named, focus }) {
  return new Promise((resolve) => {
    const faults = h('div', { hidden: true })
    const word = typed ? h('input', { autocomplete: 'off', spellcheck: 'false', id: 'typed-name' }) : null
    const confirm = h('button', { class: `button ${danger ? 'danger' : 'primary'}`, type: 'submit' }, action)
    const cancel = button('Cancel', { onclick: () => dialog.close() })
    const dialog = open(
      title,
      wide ? 'wide-dialog' : null,
      body,
      typed && h('div', { class: 'field' }, h('label', { for: 'typed-name' }, 'Type ', h('code', {}, typed), ' to confirm'), word),
      faults,
      h('footer', {}, cancel, confirm),
    )
    const closing = new AbortController()
    const allow = () => (confirm.disabled = Boolean(word) && word.value !== typed)
    let done = false

    allow()
    word?.addEventListener('input', allow)
    dialog.firstChild.addEventListener('submit', async (event) => {
      event.preventDefault()
      if (confirm.disabled) return
      confirm.disabled = true
      faults.hidden = true
      try {
        if ((await run(closing.signal)) !== false) {
          done = true
          dialog.close()
        }
      } catch (failure) {
        replace(faults, fault(failure))
        faults.hidden = false
      } finally {
        allow()
      }
    })
    named?.((name) => (confirm.textContent = name))
    dialog.addEventListener('close', () => {
      closing.abort()
      resolve(done)
    })
    ;(focus ?? word ?? (danger ? cancel : confirm)).focus()
  })
}

export function show(title, ...body) {
  open(title, null, ...body)
}

function open(title, kind, ...body) {
  const close = iconButton('Close', 'close', () => dialog.close())
  const form = h('form', { method: 'dialog', novalidate: true }, h('header', {}, h('h2', { id: 'dialog-title' }, title), close), body)
  const dialog = h('dialog', { 'aria-labelledby': 'dialog-title', class: kind }, form)
  dialog.addEventListener('close', () => dialog.remove())
  // The back button leaves the view that opened the dialog.
  window.addEventListener('hashchange', () => dialog.close(), { once: true })
  document.body.append(dialog)
  dialog.showModal()
  return dialog
}

export function toast(text) {
  const note = h('div', { class: 'toast' }, text)
  document.getElementById('toasts').append(note)
  setTimeout(() => note.remove(), 6000)
}
