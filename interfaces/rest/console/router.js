// The address of each view is in the hash: views can be linked, the back button works, and the server
// sees one page only.

export function parseRoute(hash) {
  const [path, ...query] = hash.replace(/^#\/?/, '').split('?')
  const parts = path.split('/').filter(Boolean).map(unescape)
  return { parts, query: Object.fromEntries(new URLSearchParams(query.join('?'))) }
}

/**
 * A name as a part of an address. Browsers resolve `.` and `..` even when they are encoded, and drop
 * empty parts; a byte that no text contains marks them, and the broker removes it.
 */
export function escaped(name) {
  return (['', '.', '..'].includes(name) ? '%FF' : '') + encodeURIComponent(name)
}

function unescape(part) {
  try {
    return decodeURIComponent(part.replaceAll('%FF', ''))
  } catch {
    return part
  }
}

export function go(address) {
  location.hash = address
}

/** Loads the view again after a change. */
export function again() {
  window.dispatchEvent(new HashChangeEvent('hashchange'))
}

/** Keeps the state of a view (search, sort) in the address, without loading it again. */
export function note(address) {
  if (location.hash !== address) history.replaceState(history.state, '', address)
}
