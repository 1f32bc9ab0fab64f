// What the broker is doing, asked for each two seconds while the page is looked at, and kept for
// some minutes so that the charts are there when one comes back to them.

import { get } from './api.js'
import { every } from './live.js'

const EACH_MS = 2000
const PATIENCE_MS = 10_000
const SPAN_MS = 5 * 60_000

/** {at, rates}: what happened between two looks, per second; null rates are a gap. */
export const history = []
export let latest = null

const watchers = new Set()
let before = null
let away = null

export function watch(tell, signal) {
  watchers.add(tell)
  signal?.addEventListener('abort', () => watchers.delete(tell))
  if (latest) tell(latest)
}

async function look() {
  let overview
  try {
    // A broker that hangs takes connections and answers nothing.
    overview = await get('console/data/overview', { signal: AbortSignal.timeout(PATIENCE_MS) })
  } catch (failure) {
    before = null
    away = failure.status ? null : away ?? Date.now()
    tellAll({ overview: latest?.overview ?? null, failure, away })
    return
  }
  const seconds = before ? (overview.at_ms - before.at_ms) / 1000 : 0
  // After a pause, or a restart, a rate would be an average over what nobody looked at.
  const follows = before && seconds > 0 && seconds < 10 && overview.started_at_ms === before.started_at_ms
  history.push({ at: overview.at_ms, rates: follows ? rates(before, overview, seconds) : null })
  while (history[0].at < overview.at_ms - SPAN_MS) history.shift()
  before = overview
  away = null
  tellAll({ overview, failure: null, away })
}

function tellAll(news) {
  latest = news
  for (const tell of watchers) tell(news)
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

/** Microseconds. A duration counts in the place of its bit length, in nanoseconds. */
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

every(EACH_MS, new AbortController().signal, look)
