// What happens again and again, and only while somebody looks.

/** Calls `work` now and then each `ms` while the page is visible, until `signal` is aborted. */
export function every(ms, signal, work) {
  let timer = null
  let running = false

  async function turn() {
    clearTimeout(timer)
    timer = null
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
  return turn
}

/** The last of many calls within `ms`. */
export function settled(ms, work) {
  let timer = null
  return (...args) => {
    clearTimeout(timer)
    timer = setTimeout(() => work(...args), ms)
  }
}
