// Dialogs and passing notes. The browser's own <dialog> keeps the focus inside and gives it back.

import { button, h, iconButton, replace } from './dom.js'
import { correlation, messageOf } from './states.js'

/**
 * Asks before something is done. `run` does it: while it runs nothing else can be pressed, and when
 * it fails, or returns false, the dialog stays; a failure is told. What is closed before `run` is
 * through aborts the signal that it is given. Resolves to whether it was done.
 * `named` is given a function that words the button anew; `focus` is where somebody begins to type.
 */
export function ask({ title, body, action, danger = false, wide = false, typed, run, named, focus }) {
  return new Promise((resolve) => {
    const fault = h('div', { class: 'fault', role: 'alert', hidden: true })
    const word = typed ? h('input', { autocomplete: 'off', spellcheck: 'false', id: 'typed-name' }) : null
    const confirm = h('button', { class: `button ${danger ? 'danger' : 'primary'}`, type: 'submit' }, action)
    const cancel = button('Cancel', { onclick: () => dialog.close() })
    const form = h(
      'form',
      { method: 'dialog', novalidate: true },
      h('header', {}, h('h2', { id: 'dialog-title' }, title), iconButton('Close', 'close', () => dialog.close())),
      body,
      typed && h('div', { class: 'field' }, h('label', { for: 'typed-name' }, 'Type ', h('code', {}, typed), ' to confirm'), word),
      fault,
      h('footer', {}, cancel, confirm),
    )
    const dialog = h('dialog', { 'aria-labelledby': 'dialog-title', class: wide ? 'wide-dialog' : null }, form)
    const closing = new AbortController()
    let done = false

    if (word) {
      confirm.disabled = true
      word.addEventListener('input', () => (confirm.disabled = word.value !== typed))
    }
    form.addEventListener('submit', async (event) => {
      event.preventDefault()
      if (confirm.disabled) return
      confirm.disabled = true
      fault.hidden = true
      try {
        if ((await run(closing.signal)) !== false) {
          done = true
          dialog.close()
        }
      } catch (failure) {
        replace(fault, messageOf(failure), failure.correlationId && correlation(failure.correlationId))
        fault.hidden = false
      } finally {
        confirm.disabled = Boolean(word) && word.value !== typed
      }
    })
    named?.((words) => (confirm.textContent = words))
    dialog.addEventListener('close', () => {
      closing.abort()
      dialog.remove()
      resolve(done)
    })
    // The view that asked may be gone, by the back button.
    window.addEventListener('hashchange', () => dialog.close(), { once: true })
    document.body.append(dialog)
    dialog.showModal()
    ;(focus ?? word ?? (danger ? cancel : confirm)).focus()
  })
}

export function show(title, ...body) {
  const dialog = h(
    'dialog',
    { 'aria-labelledby': 'dialog-title' },
    h('form', { method: 'dialog' }, h('header', {}, h('h2', { id: 'dialog-title' }, title), iconButton('Close', 'close', () => dialog.close())), body),
  )
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
}

export function toast(words) {
  const note = h('div', { class: 'toast' }, words)
  document.getElementById('toasts').append(note)
  setTimeout(() => note.remove(), 6000)
}
