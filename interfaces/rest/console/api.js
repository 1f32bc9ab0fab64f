// The broker's REST interface. Every failure, also of the network, is a Failure with the
// correlation id under which the broker's log has the request.

import { escaped } from './router.js'

export class Failure extends Error {
  constructor(message, correlationId, { status = 0, code = 0 } = {}) {
    super(message)
    this.correlationId = correlationId
    this.status = status
    this.code = code
  }
}

let session = { principal: null, csrf_token: null, cluster_authorized_operations: [] }

/** Asks the broker who uses this page. */
export async function openSession() {
  session = await get('session')
  return session
}

/** Whether the user may do this to the cluster: DESCRIBE, ALTER, ... */
export function may(operation) {
  return session.cluster_authorized_operations.includes(operation)
}

/** Escapes the parts of a path. */
export function path(strings, ...parts) {
  return strings.reduce((whole, text, n) => whole + escaped(parts[n - 1]) + text)
}

export function withQuery(address, query) {
  const set = Object.entries(query ?? {}).filter(([, value]) => ![undefined, null, '', false].includes(value))
  const text = new URLSearchParams(set).toString()
  return text ? `${address}?${text}` : address
}

export function get(address, { signal, query } = {}) {
  return request('GET', withQuery(address, query), { signal }, json)
}

export function send(method, address, body, { signal } = {}) {
  return request(method, address, { body, signal }, json)
}

/** Fails as a download would, but reads no more than the head of the response. */
export function tried(address) {
  return request('GET', address, {}, (response) => response.body.cancel())
}

/** Calls `line` with each line of a response of JSON lines, and returns the last one. */
export function sendForLines(method, address, body, { signal, line }) {
  return request(method, address, { body, signal }, async (response, id) => {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    let last = null
    let rest = ''
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      const lines = (rest + piece.value).split('\n')
      rest = lines.pop()
      for (const text of lines) {
        last = parse(text)
        if (last?.error_code) throw failureOf(response, last, id)
        line(last)
      }
    }
    if (!last?.done) throw new Failure('The broker closed the connection before the end.', id)
    return last
  })
}

async function request(method, address, { body, signal }, read) {
  const id = `console-${newId()}`
  try {
    const response = await fetched(method, address, { body: body && JSON.stringify(body), signal, headers: { 'X-Correlation-ID': id } })
    if (!response.ok) throw failureOf(response, parse(await response.text()), id)
    return await read(response, id)
  } catch (error) {
    if (error.name === 'AbortError' || error instanceof Failure) throw error
    throw new Failure('The broker does not respond.', id)
  }
}

/** The response, whatever its status. Without a login it leads to the page of the login. */
export async function fetched(method, address, { body, signal, headers = {} }) {
  // With this header the browser does not ask for a password itself.
  const all = { ...headers, 'X-Requested-With': 'XMLHttpRequest' }
  if (body !== undefined) all['Content-Type'] = 'application/json'
  if (session.csrf_token && method !== 'GET') all['X-CSRF-Token'] = session.csrf_token
  const response = await fetch(address, { method, headers: all, body, signal, cache: 'no-store' })
  if (response.status === 401 && address !== 'login') {
    const page = location.pathname.endsWith('/docs') ? 'login?docs' : 'login'
    location.assign(page + location.hash)
  }
  return response
}

async function json(response, id) {
  const text = await response.text()
  const parsed = parse(text)
  // A refused record is reported in a response with status 200.
  if (parsed?.error_code !== undefined && parsed.error_code !== 200) throw failureOf(response, parsed, id)
  if (text && parsed === undefined) throw new Failure('The response is not JSON.', id, { status: response.status })
  return parsed
}

function failureOf(response, parsed, id) {
  return new Failure(
    parsed?.message ?? `HTTP ${response.status} ${response.statusText}`,
    parsed?.correlation_id ?? response.headers.get('X-Correlation-ID') ?? id,
    { status: response.status, code: parsed?.error_code },
  )
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
