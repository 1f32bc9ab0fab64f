// Repeated work, only while the page is visible.

/** Calls `work` now and every `ms` while the page is visible, until `signal` is aborted. */
export function every(ms, signal, work) {
  let timer = null
  let running = false

  async function turn() {
    clearTimeout(timer)
    if (running || signal.aborted || document.hidden) return
    running = true
    try {
      await work()
    } finally {
      running = false
      if (!signal.aborted && !document.hidden) timer = setTimeout(turn, ms)
    }
  }

  document.addEventListener('visibilitychange', turn, { signal })
  signal.addEventListener('abort', () => clearTimeout(timer))
  turn()
}

/** Only the last of several calls within `ms` is made. */
export function settled(ms, work) {
  let timer = null
  return (...values) => {
    clearTimeout(timer)
    timer = setTimeout(() => work(...values), ms)
  }
}
