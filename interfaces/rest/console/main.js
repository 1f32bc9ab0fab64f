// The frame around the views: navigation, theme, connection to the broker, keyboard.

import { Failure, tried } from './api.js'
import { h, icon, iconButton, replace, to } from './dom.js'
import { show } from './dialog.js'
import { clockTime, offset, plural } from './format.js'
import { parseRoute } from './router.js'
import { empty, loading, trouble } from './states.js'
import { watch } from './pulse.js'

const PLACES = [
  ['overview', 'Overview', to(), 'o'],
  ['topics', 'Topics', to('topics'), 't'],
  ['groups', 'Groups', to('groups'), 'g'],
  ['requests', 'Requests', to('requests'), 'r'],
  ['connections', 'Connections', to('connections'), 'c'],
  ['configs', 'Configs', to('configs'), 's'],
]

// Each module is loaded on first use.
const VIEWS = {
  overview: () => import('./views/overview.js'),
  topics: () => import('./views/topics.js'),
  'new-topic': () => import('./views/new_topic.js'),
  topic: () => import('./views/topic.js'),
  groups: () => import('./views/groups.js'),
  group: () => import('./views/group.js'),
  requests: () => import('./views/requests.js'),
  connections: () => import('./views/connections.js'),
  configs: () => import('./views/configs.js'),
}

const main = document.getElementById('main')
const away = h('div', { class: 'away-line', role: 'alert', hidden: true })
let leaving = new AbortController()
let shown = null
// Browsers do not retry the import of a module that failed to load; only reloading the page does.
let unloaded = false

function viewOf([place = 'overview', name, ...rest]) {
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
  mark(place)
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
      replace(root, empty('There is no such page', location.hash, h('a', { class: 'button', href: to() }, 'To the overview')))
      return
    }
    const module = await VIEWS[view]()
    if (!signal.aborted) await module.open(root, { names, query, signal, same })
  } catch (failure) {
    const mayBeUnloaded = !(failure instanceof Failure)
    const isBack = mayBeUnloaded && unloaded && (await responds())
    if (signal.aborted) return
    if (isBack) return location.reload()
    unloaded ||= mayBeUnloaded
    replace(root, trouble(failure, route))
  }
}

function responds() {
  return tried('console/main.js').then(() => true, () => false)
}

function mark(place) {
  const links = PLACES.map(([name, title, address]) =>
    h('a', { href: address, 'aria-current': name === place ? 'page' : null }, icon(name), h('span', {}, title)),
  )
  const nav = document.getElementById('nav')
  if (!nav.firstChild) return replace(nav, links)
  // The links stay in the page, so the focus does too.
  for (const [n, link] of [...nav.children].entries()) {
    if (PLACES[n][0] === place) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
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
    try {
      localStorage.setItem('ottla-theme', theme)
    } catch {
      // Without storage the choice lasts as long as the page.
    }
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
  ['?', 'these keys'],
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
  else if (event.key === '?') show('Keys', h('dl', { class: 'facts keys' }, KEYS.map(([name, text]) => [h('dt', {}, h('kbd', {}, name)), h('dd', {}, text)])))
  else if (event.key === '/') main.querySelector('[data-search]')?.focus()
  else return
  event.preventDefault()
  before = null
}

// ---- begin

const pulse = h('span', { class: 'pulse waiting' }, 'Connecting…')
replace(document.getElementById('foot'), pulse, h('div', { class: 'row' }, themeButton(), iconButton('Keys', 'keys', () => key(new KeyboardEvent('keydown', { key: '?' })))))

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

window.addEventListener('hashchange', route)
window.addEventListener('keydown', key)
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault()
  main.focus()
})
route()
