// The page that asks for user and password. It leads back to the page that it was opened from.

import { send } from './api.js'
import { field, h, replace } from './dom.js'
import { fault } from './states.js'

const user = h('input', { required: true, autocomplete: 'username', autocapitalize: 'none', spellcheck: 'false' })
const password = h('input', { type: 'password', required: true, autocomplete: 'current-password' })
const press = h('button', { class: 'button primary', type: 'submit' }, 'Log in')
const faults = h('div', { hidden: true })

async function logIn(event) {
  event.preventDefault()
  press.disabled = true
  faults.hidden = true
  try {
    await send('POST', 'login', { user: user.value, password: password.value })
    location.replace((location.search === '?docs' ? 'docs' : './') + location.hash)
  } catch (failure) {
    password.value = ''
    replace(faults, fault(failure))
    faults.hidden = false
    press.disabled = false
    password.focus()
  }
}

replace(
  document.getElementById('main'),
  h('form', { class: 'card login', onsubmit: logIn },
    h('h1', {}, 'Log in'),
    field('User', user),
    field('Password', password),
    faults,
    press),
)
user.focus()
