// Which view an address stands for. Addresses are kept in the hash, so that the page needs no
// server behind it, each view can be linked, and the browser's own back button works.

export function parseRoute(hash) {
  const [rawPath, rawQuery = ''] = splitOnce(hash.replace(/^#\/?/, ''), '?')
  const parts = rawPath.split('/').filter(Boolean).map(unescape)
  return { parts, query: Object.fromEntries(new URLSearchParams(rawQuery)) }
}

function splitOnce(text, mark) {
  const at = text.indexOf(mark)
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

/**
 * A name as a part of an address. Dots alone would lead elsewhere, however they are written, and
 * nothing would be no part: the byte before them is not in any text, and the broker leaves it out.
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

/** What is shown is fetched anew, after it was changed. */
export function again() {
  window.dispatchEvent(new HashChangeEvent('hashchange'))
}

/** A view tells where it stands now, without being made anew: what is searched, how it is sorted. */
export function note(address) {
  if (location.hash !== address) history.replaceState(history.state, '', address)
}
