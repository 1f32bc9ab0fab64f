// A table of any length: only visible rows are in the page, between two spacers, and the window's
// scroll bar moves through all of them. So all rows have the same height.

import { h, replace } from './dom.js'

const OVERSCAN = 8

/**
 * columns: {name, title, cell(row), compare(row) -> number | string, width, end, wide, wider}
 * Narrow screens hide `wide` columns, less narrow ones `wider` columns; `end` columns are numbers.
 */
export class Table {
  constructor({ label, columns, sort, signal, keyOf, onsort }) {
    this.columns = columns
    this.sort = sort ?? { by: columns[0].name, down: false }
    this.keyOf = keyOf
    this.onsort = onsort
    this.all = []
    this.sorted = []
    this.rendered = new Map()
    this.above = h('tr', { class: 'spacer', 'aria-hidden': 'true' }, h('td'))
    this.below = h('tr', { class: 'spacer', 'aria-hidden': 'true' }, h('td'))
    this.body = h('tbody', {}, this.above, this.below)
    this.heads = columns.map((column) => this.#head(column))
    this.element = h(
      'table',
      { class: 'rows', 'aria-label': label },
      h('colgroup', {}, columns.map((column) => this.#col(column))),
      h('thead', {}, h('tr', { 'aria-rowindex': 1 }, this.heads)),
      this.body,
    )
    const paint = () => this.#paintSoon()
    window.addEventListener('scroll', paint, { signal, passive: true })
    window.addEventListener('resize', paint, { signal })
    this.element.addEventListener('keydown', (event) => this.#key(event))
    this.#showSort()
  }

  #paintSoon() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null
      this.paint()
    })
  }

  #col(column) {
    const col = h('col', { class: room(column) })
    if (column.width) col.style.width = column.width
    return col
  }

  #head(column) {
    const facts = { scope: 'col', class: classes(column) }
    if (!column.compare) return h('th', facts, column.title)
    const press = h('button', { type: 'button', class: 'sort', onclick: () => this.sortBy(column) }, column.title)
    return h('th', facts, press)
  }

  sortBy(column) {
    const same = this.sort.by === column.name
    this.sort = { by: column.name, down: same ? !this.sort.down : Boolean(column.end) }
    this.#showSort()
    this.rows = this.all
    this.onsort?.(this.sort)
  }

  #showSort() {
    this.columns.forEach((column, n) => {
      if (!column.compare) return
      const direction = this.sort.down ? 'descending' : 'ascending'
      this.heads[n].setAttribute('aria-sort', column.name === this.sort.by ? direction : 'none')
    })
  }

  get rows() {
    return this.sorted
  }

  set rows(rows) {
    const focused = this.#focused()
    const key = focused && this.keyOf(this.sorted[focused.row])
    this.all = rows
    const column = this.columns.find((one) => one.name === this.sort.by && one.compare)
    this.sorted = column ? sortedBy(rows, column.compare, this.sort.down) : [...rows]
    this.element.setAttribute('aria-rowcount', this.sorted.length + 1)
    // Unchanged rows stay in the page: the user may be selecting their text.
    for (const [n, { data }] of this.rendered) {
      if (data !== JSON.stringify(this.sorted[n])) this.rendered.delete(n)
    }
    this.paint(false)
    // Rows are placed by where the table stands, so once more when it is in the page.
    if (!this.element.isConnected) this.#paintSoon()
    if (focused) {
      const row = this.sorted.findIndex((one) => this.keyOf(one) === key)
      if (row >= 0) this.#focusOn({ row, at: focused.at })
    }
  }

  paint(keepFocus = true) {
    const height = this.#rowHeight()
    const top = this.body.getBoundingClientRect().top
    const shown = Math.ceil(window.innerHeight / height) + 2 * OVERSCAN
    const start = Math.max(0, Math.min(this.sorted.length - shown, Math.floor(-top / height) - OVERSCAN))
    const end = Math.min(this.sorted.length, start + shown)
    const focused = this.#focused()
    const rendered = new Map()
    for (let n = start; n < end; n += 1) rendered.set(n, this.rendered.get(n) ?? this.#render(n))
    this.rendered = rendered
    this.above.firstChild.style.height = `${start * height}px`
    this.below.firstChild.style.height = `${(this.sorted.length - end) * height}px`
    replace(this.body, this.above, Array.from(rendered.values(), ({ tr }) => tr), this.below)
    if (keepFocus && focused) this.#focusOn(focused)
  }

  #rowHeight() {
    return parseFloat(getComputedStyle(this.element).getPropertyValue('--row')) || 44
  }

  #render(n) {
    const row = this.sorted[n]
    const cells = this.columns.map((column) => h('td', { class: classes(column) }, column.cell(row)))
    return { tr: h('tr', { 'data-row': n, 'aria-rowindex': n + 2 }, cells), data: JSON.stringify(row) }
  }

  /** The row with the focus, and the element in it. */
  #focused() {
    const tr = document.activeElement?.closest('tr[data-row]')
    if (!tr || !this.body.contains(tr)) return null
    return { row: Number(tr.dataset.row), at: focusable(tr).indexOf(document.activeElement) }
  }

  #focusOn({ row, at }) {
    const tr = this.rendered.get(row)?.tr
    const target = tr && focusable(tr)[at]
    if (target && target !== document.activeElement) target.focus({ preventScroll: true })
  }

  /** Arrow keys move between rows, to the same element in each. */
  #key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -Infinity, End: Infinity }[event.key]
    const row = event.target.closest('tr[data-row]')
    if (step === undefined || !row || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return
    event.preventDefault()
    const next = Math.max(0, Math.min(this.sorted.length - 1, Number(row.dataset.row) + step))
    const at = Math.max(0, focusable(row).indexOf(event.target))
    const height = this.#rowHeight()
    const top = this.body.getBoundingClientRect().top + next * height
    if (top < 2 * height) window.scrollBy(0, top - 2 * height)
    else if (top + height > window.innerHeight - 64) window.scrollBy(0, top + height - window.innerHeight + 64)
    this.paint()
    this.#focusOn({ row: next, at })
  }
}

function classes(column) {
  return [room(column), column.end && 'end', column.act && 'act'].filter(Boolean).join(' ') || null
}

function room(column) {
  return (column.wide && 'wide') || (column.wider && 'wider') || null
}

function focusable(row) {
  return [...row.querySelectorAll('a, button, input')]
}

const TEXTS = new Intl.Collator('en', { numeric: true })

function sortedBy(rows, valueOf, down) {
  const decorated = rows.map((row) => [valueOf(row), row])
  const sign = down ? -1 : 1
  decorated.sort(([a], [b]) => sign * compared(a, b))
  return decorated.map(([, row]) => row)
}

/** Unknown values sort as the smallest. */
function compared(a, b) {
  if (typeof a === 'string' && typeof b === 'string') return TEXTS.compare(a, b)
  return (a ?? -Infinity) - (b ?? -Infinity) || 0
}
