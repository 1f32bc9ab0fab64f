// Polls the overview every two seconds while the page is visible. The broker's own history fills the
// charts with the time before, and with the time in which the page was hidden.

import { get } from './api.js'
import { every } from './live.js'

const INTERVAL_MS = 2000
const TIMEOUT_MS = 10_000
const SPAN_MS = 60 * 60_000

/** Samples of GET /history, and one with the same fields for each poll. */
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
  let overview, follows
  try {
    // A broker that hangs accepts connections and does not respond.
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    overview = await get('console/data/overview', { signal })
    // After a pause or a restart a rate would be an average over an unknown time.
    const passed = before ? overview.at_ms - before.at_ms : 0
    follows = passed > 0 && passed < 10_000 && overview.started_at_ms === before.started_at_ms
    if (!follows) merge((await get('history', { signal })).data)
  } catch (failure) {
    before = null
    away = failure.status ? null : away ?? Date.now()
    notify({ overview: latest?.overview ?? null, failure, away })
    return
  }
  if (follows) history.push(sample(before, overview))
  while (history[0]?.at_ms < overview.at_ms - SPAN_MS) history.shift()
  before = overview
  away = null
  notify({ overview, failure: null, away })
}

function notify(update) {
  latest = update
  for (const watcher of watchers) watcher(update)
}

/** A restarted broker has no samples of the time before: those of the page stay. */
function merge(samples) {
  const since = samples[0]?.at_ms ?? Infinity
  history.splice(0, history.length, ...history.filter((one) => one.at_ms < since), ...samples)
}

function sample(old, now) {
  const seconds = (now.at_ms - old.at_ms) / 1000
  const one = { at_ms: now.at_ms, connections: now.connections }
  for (const [name, total] of Object.entries(now.totals)) one[`${name}_per_sec`] = (total - old.totals[name]) / seconds
  for (const [name, places] of Object.entries(now.durations)) {
    const counts = places.map((n, place) => n - old.durations[name][place])
    one[`${name}_p50_us`] = quantile(counts, 0.5)
    one[`${name}_p99_us`] = quantile(counts, 0.99)
  }
  return one
}

/** In microseconds. A bucket counts durations by their bit length in nanoseconds. */
function quantile(counts, share) {
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

export function begin() {
  every(INTERVAL_MS, new AbortController().signal, poll)
}
