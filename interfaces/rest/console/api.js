// The broker's REST interface. Every failure, also of the network, is a Failure with the
// correlation id under which the broker's log has it.

import { escaped } from './router.js'

export class Failure extends Error {
  constructor(message, correlationId, { status = 0, code = 0 } = {}) {
    super(message)
    this.correlationId = correlationId
    this.status = status
    this.code = code
  }
}

/** Escapes the parts of a path. */
export function path(strings, ...parts) {
  return strings.reduce((whole, text, n) => whole + escaped(parts[n - 1]) + text)
}

export function withQuery(address, query) {
  const asked = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null && value !== '' && value !== false) asked.append(name, value)
  }
  const text = asked.toString()
  return text ? `${address}?${text}` : address
}

export function get(address, { signal, query } = {}) {
  return ask('GET', withQuery(address, query), undefined, signal)
}

export function send(method, address, body, { signal } = {}) {
  return ask(method, address, body, signal)
}

/** Fails as the answer would, of which nothing but its beginning is fetched. */
export async function tried(address) {
  const id = `console-${newId()}`
  const enough = new AbortController()
  let response, text
  try {
    response = await fetch(address, { headers: { 'X-Correlation-ID': id }, signal: enough.signal, cache: 'no-store' })
    if (!response.ok) text = await response.text()
  } catch {
    throw new Failure('The broker does not answer.', id)
  } finally {
    enough.abort()
  }
  if (!response.ok) throw refusal(response, parse(text), id)
}

function refusal(response, parsed, id) {
  return new Failure(
    parsed?.message ?? `HTTP ${response.status} ${response.statusText}`,
    parsed?.correlation_id ?? response.headers.get('X-Correlation-ID') ?? id,
    { status: response.status, code: parsed?.error_code },
  )
}

async function ask(method, address, body, signal) {
  const id = `console-${newId()}`
  const headers = { 'X-Correlation-ID': id, Accept: 'application/json' }
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  let response, text
  try {
    response = await fetch(address, {
      method, headers, signal, cache: 'no-store', body: body === undefined ? undefined : JSON.stringify(body),
    })
    text = await response.text()
  } catch (error) {
    if (error.name === 'AbortError') throw error
    throw new Failure('The broker does not answer.', id)
  }
  const parsed = parse(text)
  // A record that is refused is told of in an answer that is well.
  const refused = parsed?.error_code !== undefined && parsed.error_code !== 200
  if (!response.ok || refused) throw refusal(response, parsed, id)
  if (text && parsed === undefined) throw new Failure('The answer is no JSON.', id, { status: response.status })
  return parsed
}

/** An answer that comes as lines of JSON, each told as it comes; the last one is returned. */
export async function sendForLines(method, address, body, { signal, line }) {
  const id = `console-${newId()}`
  const headers = { 'X-Correlation-ID': id, 'Content-Type': 'application/json' }
  let last = null
  try {
    const response = await fetch(address, { method, headers, signal, cache: 'no-store', body: JSON.stringify(body) })
    if (!response.ok) throw refusal(response, parse(await response.text()), id)
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    let rest = ''
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      const lines = (rest + piece.value).split('\n')
      rest = lines.pop()
      for (const text of lines) {
        last = parse(text)
        if (last?.error_code) throw new Failure(last.message, id, { status: response.status, code: last.error_code })
        line(last)
      }
    }
  } catch (error) {
    if (error.name === 'AbortError' || error instanceof Failure) throw error
    throw new Failure('The broker does not answer.', id)
  }
  if (!last?.done) throw new Failure('The broker broke off in the midst of it.', id)
  return last
}

function parse(text) {
  try {
    return text ? JSON.parse(text) : null
  } catch {
    return undefined
  }
}

function newId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
