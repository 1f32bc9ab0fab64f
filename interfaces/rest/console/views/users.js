// Users with SCRAM credentials: passwords are set, never shown.

import { get, may, path, send } from '../api.js'
import { ask, toast } from '../dialog.js'
import { button, field, h } from '../dom.js'
import { empty } from '../states.js'
import { listView } from './list_view.js'

export function open(root, { query, signal }) {
  const again = listView(root, {
    query,
    signal,
    title: 'Users',
    place: 'users',
    noun: 'user',
    ms: 5000,
    rowsOf: async () => (await get('users', { signal })).data,
    keyOf: (one) => one.user_name,
    textOf: (one) => one.user_name,
    none: empty('There are no users', 'Users with SCRAM credentials appear here.'),
    action: may('ALTER') && button('New user', { onclick: () => setPassword('', again) }, 'plus'),
    sort: { by: 'user', down: false },
    columns: [
      { name: 'user', title: 'User', compare: (one) => one.user_name, cell: (one) => h('span', { title: one.user_name }, one.user_name) },
      { name: 'mechanisms', title: 'Mechanisms', wide: true, cell: mechanisms },
      may('ALTER') && { name: 'password', title: h('span', { class: 'unseen' }, 'Password'), end: true, act: true, width: '150px', cell: (one) => button('Set password', { class: 'small', 'aria-label': `Set the password of ${one.user_name}`, onclick: () => setPassword(one.user_name, again) }) },
      may('ALTER') && { name: 'delete', title: h('span', { class: 'unseen' }, 'Delete'), end: true, act: true, width: '100px', cell: (one) => button('Delete', { class: 'small', 'aria-label': `Delete ${one.user_name}`, onclick: () => remove(one.user_name, again) }) },
    ].filter(Boolean),
  })
}

function mechanisms({ credentials }) {
  return credentials.map((one) => `${one.mechanism} (${one.iterations} iterations)`).join(', ')
}

async function setPassword(user, again) {
  const name = h('input', { value: user, required: true, autocomplete: 'off', spellcheck: 'false', disabled: Boolean(user) })
  const password = h('input', { type: 'password', required: true, autocomplete: 'new-password' })
  const done = await ask({
    title: user ? `Set the password of ${user}` : 'New user',
    body: h('div', { class: 'stack' },
      field('User', name, 'ACLs name it User:NAME.'),
      field('Password', password, 'For SCRAM-SHA-256 and SCRAM-SHA-512. Open connections stay as they are.')),
    action: 'Set password',
    focus: user ? password : name,
    run: () => send('PUT', path`users/${name.value}`, { password: password.value }),
  })
  if (done) {
    toast(`The password of ${name.value} is set.`)
    again()
  }
}

async function remove(user, again) {
  const done = await ask({
    title: 'Delete this user?',
    body: h('p', {}, `${user} cannot log in any more. Open connections stay until they authenticate again; ACLs and quotas stay.`),
    action: 'Delete',
    danger: true,
    run: () => send('DELETE', path`users/${user}`),
  })
  if (done) {
    toast(`User ${user} is deleted.`)
    again()
  }
}
