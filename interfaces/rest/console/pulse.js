// Polls the overview every two seconds while the page is visible, and keeps five minutes of it, so
// that the charts have data when the user returns to them.

import { get } from './api.js'
import { every } from './live.js'

const INTERVAL_MS = 2000
const TIMEOUT_MS = 10_000
const SPAN_MS = 5 * 60_000

/** {at, rates}: rates per second between two polls; null rates are a gap. */
export const history = []
export let latest = null

const watchers = new Set()
let before = null
let away = null

export function watch(watcher, signal) {
  watchers.add(watcher)
  signal?.addEventListener('abort', () => watchers.delete(watcher))
  if (latest) watcher(latest)
}

async function poll() {
  let overview
  try {
    // A broker that hangs accepts connections and does not respond.
    overview = await get('console/data/overview', { signal: AbortSignal.timeout(TIMEOUT_MS) })
  } catch (failure) {
    before = null
    away = failure.status ? null : away ?? Date.now()
    notify({ overview: latest?.overview ?? null, failure, away })
    return
  }
  const seconds = before ? (overview.at_ms - before.at_ms) / 1000 : 0
  // After a pause or a restart a rate would be an average over an unknown time.
  const follows = before && seconds > 0 && seconds < 10 && overview.started_at_ms === before.started_at_ms
  history.push({ at: overview.at_ms, rates: follows ? rates(before, overview, seconds) : null })
  while (history[0].at < overview.at_ms - SPAN_MS) history.shift()
  before = overview
  away = null
  notify({ overview, failure: null, away })
}

function notify(update) {
  latest = update
  for (const watcher of watchers) watcher(update)
}

function rates(old, now, seconds) {
  const per = (name) => (now.totals[name] - old.totals[name]) / seconds
  const rated = Object.fromEntries(Object.keys(now.totals).map((name) => [name, per(name)]))
  for (const [api, places] of Object.entries(now.durations)) {
    const counts = places.map((n, place) => n - (old.durations[api]?.[place] ?? 0))
    rated[`${api}_p50`] = quantile(counts, 0.5)
    rated[`${api}_p99`] = quantile(counts, 0.99)
  }
  return rated
}

/** In microseconds. A bucket counts durations by their bit length in nanoseconds. */
export function quantile(counts, share) {
  const all = counts.reduce((sum, n) => sum + n, 0)
  if (all <= 0) return null
  let left = share * all
  for (const [place, n] of counts.entries()) {
    if (left <= n) {
      const low = place ? 2 ** (place - 1) : 0
      return (low + (2 ** place - low) * (left / n)) / 1000
    }
    left -= n
  }
  return null
}

every(INTERVAL_MS, new AbortController().signal, poll)
