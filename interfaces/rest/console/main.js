// The frame around the views: navigation, user, theme, connection to the broker, keyboard.

import { may, openSession, send } from './api.js'
import { choose } from './choices.js'
import { button, h, icon, iconButton, markCurrent, replace, to } from './dom.js'
import { show, toast } from './dialog.js'
import { clockTime, offset, plural } from './format.js'
import { parseRoute } from './router.js'
import { empty, loading, trouble } from './states.js'
import { begin, watch } from './pulse.js'
import * as acls from './views/acls.js'
import * as configs from './views/configs.js'
import * as connections from './views/connections.js'
import * as group from './views/group.js'
import * as groups from './views/groups.js'
import * as newTopic from './views/new_topic.js'
import * as overview from './views/overview.js'
import * as quotas from './views/quotas.js'
import * as requests from './views/requests.js'
import * as topic from './views/topic.js'
import * as topics from './views/topics.js'
import * as transactions from './views/transactions.js'
import * as users from './views/users.js'

// The last value: what a user needs to do to the cluster to be shown the place.
const PLACES = [
  ['overview', 'Overview', to(), 'o', 'DESCRIBE'],
  ['topics', 'Topics', to('topics'), 't'],
  ['groups', 'Groups', to('groups'), 'g'],
  ['transactions', 'Transactions', to('transactions'), 'x'],
  ['requests', 'Requests', to('requests'), 'r', 'DESCRIBE'],
  ['connections', 'Connections', to('connections'), 'c', 'DESCRIBE'],
  ['configs', 'Configs', to('configs'), 's', 'DESCRIBE_CONFIGS'],
  ['users', 'Users', to('users'), 'u', 'DESCRIBE'],
  ['acls', 'ACLs', to('acls'), 'a', 'DESCRIBE'],
  ['quotas', 'Quotas', to('quotas'), 'q', 'DESCRIBE_CONFIGS'],
]

const LINKS = PLACES.map(([name, title, address]) => h('a', { href: address }, icon(name), h('span', {}, title)))
const VIEWS = { overview, topics, 'new-topic': newTopic, topic, groups, group, transactions, requests, connections, configs, users, acls, quotas }

const main = document.getElementById('main')
const away = h('div', { class: 'away-line', role: 'alert', hidden: true })
let leaving = new AbortController()
let shown = null

function viewOf([place = 'overview', name, ...rest]) {
  if (place === 'overview' && !may('DESCRIBE')) return ['topics', 'topics', []]
  if (place === 'topics' && name !== undefined) return ['topic', 'topics', [name, ...rest]]
  if (place === 'groups' && name !== undefined) return ['group', 'groups', [name, ...rest]]
  if (place === 'new-topic') return ['new-topic', 'topics', []]
  return [place, place, [name, ...rest]]
}

async function route() {
  const { parts, query } = parseRoute(location.hash)
  const [view, place, names] = viewOf(parts)
  leaving.abort()
  leaving = new AbortController()
  const { signal } = leaving
  markCurrent(LINKS, LINKS[PLACES.findIndex(([name]) => name === place)])
  document.title = `${[names[0], PLACES.find(([name]) => name === place)?.[1]].filter(Boolean).join(' · ')} · Ottla`
  // The same view is updated in place: a topic's head does not flicker between its tabs.
  const same = shown?.view === view && shown.name === names[0]
  const root = same ? shown.root : h('div', { class: 'view' }, loading())
  if (!same) {
    replace(main, away, root)
    window.scrollTo(0, 0)
  }
  shown = { view, name: names[0], root }
  try {
    if (!Object.hasOwn(VIEWS, view)) {
      replace(root, empty('Page not found', location.hash, h('a', { class: 'button', href: to() }, 'To the overview')))
      return
    }
    await VIEWS[view].open(root, { names, query, signal, same })
  } catch (failure) {
    if (!signal.aborted) replace(root, trouble(failure, route))
  }
}

// ---- theme

function isDark() {
  const chosen = document.documentElement.dataset.theme
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches
}

function themeButton() {
  const press = iconButton('', 'moon', () => {
    const theme = isDark() ? 'light' : 'dark'
    document.documentElement.dataset.theme = theme
    choose('theme', theme)
    update()
  })

  function update() {
    const label = isDark() ? 'Light theme' : 'Dark theme'
    press.setAttribute('aria-label', label)
    press.title = label
    replace(press, icon(isDark() ? 'sun' : 'moon'))
  }

  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', update)
  update()
  return press
}

// ---- keyboard

const KEYS = [
  ['/', 'search'],
  ...PLACES.map(([, title, , key]) => [`g ${key}`, title.toLowerCase()]),
  ['n', 'a new topic'],
  ['↑ ↓', 'previous, next row of a table'],
  ['Esc', 'close a dialog, leave a field'],
  ['?', 'this list'],
]

let before = null

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return
  if (event.target.closest('input, select, textarea')) {
    if (event.key === 'Escape') event.target.blur()
    return
  }
  const place = before === 'g' && PLACES.find(([, , , letter]) => letter === event.key)
  before = event.key
  if (place) location.hash = place[2]
  else if (event.key === 'n') location.hash = to('new-topic')
  else if (event.key === '?') show('Keyboard shortcuts', h('dl', { class: 'facts keys' }, KEYS.map(([name, text]) => [h('dt', {}, h('kbd', {}, name)), h('dd', {}, text)])))
  else if (event.key === '/') main.querySelector('[data-search]')?.focus()
  else return
  event.preventDefault()
  before = null
}

// ---- begin

const pulse = h('span', { class: 'pulse waiting' }, 'Connecting…')
const user = h('div', { class: 'row user', hidden: true })
replace(document.getElementById('foot'), pulse, user, h('a', { class: 'wide', href: 'docs' }, 'REST API'), h('div', { class: 'row' }, themeButton(), iconButton('Keyboard shortcuts', 'keys', () => key(new KeyboardEvent('keydown', { key: '?' })))))

watch(({ overview, failure, away: since }) => {
  pulse.className = failure ? 'pulse bad' : 'pulse'
  replace(pulse, failure ? 'No response' : plural(overview.connections, 'connection'))
  showAway(since)
})

/** Greys out all figures while the broker does not respond, and presses "Try again" when it does. */
function showAway(since) {
  if (Boolean(since) !== away.hidden) return
  away.hidden = !since
  document.body.classList.toggle('away', Boolean(since))
  if (since) replace(away, icon('warning'), `The broker has not been reachable since ${clockTime(since).slice(0, 8)} (${offset(since)}). All figures are from before that.`)
  else for (const retry of main.querySelectorAll('.trouble .button')) retry.click()
}

function showUser({ principal, csrf_token: token }) {
  user.hidden = principal === 'User:ANONYMOUS'
  replace(user, h('span', { title: principal }, principal.replace(/^User:/, '')), token && button('Log out', { class: 'small plain', onclick: logOut }))
}

async function logOut() {
  try {
    await send('POST', 'logout')
    location.assign('login')
  } catch (failure) {
    toast(failure.message)
  }
}

async function start() {
  try {
    showUser(await openSession())
  } catch (failure) {
    replace(main, away, h('div', { class: 'view' }, trouble(failure, start)))
    return
  }
  replace(document.getElementById('nav'), LINKS.filter((_, n) => PLACES[n][4] === undefined || may(PLACES[n][4])))
  pulse.hidden = !may('DESCRIBE')
  if (may('DESCRIBE')) begin()
  window.addEventListener('hashchange', route)
  route()
}

window.addEventListener('keydown', key)
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault()
  main.focus()
})
start()
