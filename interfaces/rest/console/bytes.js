// Keys, values and headers: bytes, text, JSON or null.

const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
/** Not in texts: bytes with these are UTF-8 only by chance, as binary numbers often are. */
const NO_TEXT = /[^\P{Cc}\t\n\r]|\p{Noncharacter_Code_Point}/u

/** {data: Uint8Array | null, text: string | null}: text is null if the bytes are not text. */
export function content(value, format) {
  if (format === 'null' || value === null || value === undefined) return { data: null, text: null }
  if (format === 'base64') return ofBytes(fromBase64(value))
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return { data: new TextEncoder().encode(text), text: readable(text) }
}

function readable(text) {
  return NO_TEXT.test(text) ? null : text
}

export function ofBytes(data) {
  let text = null
  try {
    text = readable(STRICT.decode(data))
  } catch {
    // Not UTF-8.
  }
  return { data, text }
}

export function fromBase64(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
}

export function toBase64(data) {
  let text = ''
  for (let n = 0; n < data.length; n += 0x8000) text += String.fromCharCode(...data.subarray(n, n + 0x8000))
  return btoa(text)
}

/** "0a ff" or "0aff"; null for other texts. */
export function fromHex(text) {
  const digits = text.replace(/\s+/g, '')
  if (digits.length % 2 || /[^0-9a-f]/i.test(digits)) return null
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16))
}

export function toHex(data) {
  return Array.from(data, hex).join(' ')
}

function hex(byte) {
  return byte.toString(16).padStart(2, '0')
}

/** Sixteen bytes per line: offset, hex, printable characters. */
export function hexDump(data) {
  const lines = []
  for (let at = 0; at < data.length; at += 16) {
    const row = data.subarray(at, at + 16)
    const letters = Array.from(row, (byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '·')).join('')
    lines.push(`${at.toString(16).padStart(6, '0')}  ${toHex(row).padEnd(47)}  ${letters}`)
  }
  return lines.join('\n')
}

/**
 * Indented JSON, or null if the text is not JSON. Only white space is added: parsing and formatting
 * would change long numbers, repeated names and the spelling of numbers.
 */
export function prettyJson(text) {
  if (!/^\s*[[{]/.test(text) || !isJson(text)) return null
  let depth = 0
  let out = ''
  const line = () => `\n${'  '.repeat(depth)}`
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g)
  tokens.forEach((token, n) => {
    if (token === '{' || token === '[') {
      const closes = tokens[n + 1] === '}' || tokens[n + 1] === ']'
      depth += 1
      out += closes ? token : token + line()
    } else if (token === '}' || token === ']') {
      depth -= 1
      out += tokens[n - 1] === '{' || tokens[n - 1] === '[' ? token : line() + token
    } else if (token === ',') out += token + line()
    else if (token === ':') out += ': '
    else out += token
  })
  return out
}

function isJson(text) {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
