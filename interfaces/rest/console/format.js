// Numbers, sizes and times as text.

const WHOLE = new Intl.NumberFormat('en-US')

export function count(n) {
  return n === null || n === undefined ? '–' : WHOLE.format(n)
}

/** With few digits: 1,234,567 is 1.2 M. */
export function short(n) {
  if (n === null || n === undefined) return '–'
  return scaled(n, 1000, ['', ' k', ' M', ' G', ' T'])
}

export function bytes(n) {
  if (n === null || n === undefined) return '–'
  return scaled(n, 1024, [' B', ' KiB', ' MiB', ' GiB', ' TiB', ' PiB'])
}

function scaled(n, step, units) {
  let unit = 0
  while (Math.abs(n) >= step && unit < units.length - 1) {
    n /= step
    unit += 1
  }
  const digits = unit === 0 ? (Number.isInteger(n) ? 0 : 1) : Math.abs(n) < 10 ? 1 : 0
  return `${n.toFixed(digits)}${units[unit]}`
}

/** A duration of microseconds. */
export function micros(us) {
  if (us === null || us === undefined) return '–'
  if (us === 0) return '0'
  if (us < 1000) return `${us < 10 ? us.toFixed(1) : Math.round(us)} µs`
  if (us < 1_000_000) return `${(us / 1000).toFixed(us < 10_000 ? 1 : 0)} ms`
  return `${(us / 1_000_000).toFixed(us < 10_000_000 ? 1 : 0)} s`
}

/** A duration of milliseconds, in the two largest units. */
export function duration(ms) {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  const parts = []
  let seconds = Math.floor(ms / 1000)
  for (const [unit, size] of [['d', 86400], ['h', 3600], ['min', 60], ['s', 1]]) {
    if (seconds >= size) {
      parts.push(`${Math.floor(seconds / size)} ${unit}`)
      seconds %= size
    }
  }
  return parts.slice(0, 2).join(' ')
}

/** Local time to the millisecond: 2024-05-06 07:08:09.123. */
export function time(ms) {
  if (ms === null || ms === undefined || ms < 0) return '–'
  const local = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000)
  return Number.isNaN(local.getTime()) ? String(ms) : local.toISOString().slice(0, -1).replace('T', ' ')
}

/** The offset of local time at that time: UTC+01:00. */
export function offset(ms) {
  const minutes = -new Date(ms).getTimezoneOffset()
  const two = (n) => String(Math.floor(Math.abs(n))).padStart(2, '0')
  return `UTC${minutes < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`
}

/** Local time with its offset. */
export function zonedTime(ms) {
  const text = time(ms)
  return text.includes(':') ? `${text} ${offset(ms)}` : text
}

/** The time zone of the browser. */
export const ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone

export function clockTime(ms) {
  return time(ms).slice(11)
}

/** The value of a datetime-local input in milliseconds; null if it is empty. */
export function fromInput(text) {
  const ms = new Date(text).getTime()
  return Number.isNaN(ms) ? null : ms
}

/** A config's value with a larger unit: 604800000 ms is 7 d. */
export function configWords(name, value) {
  const n = Number(value)
  if (value === null || value === '' || !Number.isFinite(n) || n < 1000) return null
  if (n >= 9e18) return 'no limit'
  if (name.endsWith('.ms')) return duration(n)
  if (name.endsWith('.bytes')) return bytes(n)
  return null
}

export function plural(n, one, many = `${one}s`) {
  return `${count(n)} ${n === 1 ? one : many}`
}
