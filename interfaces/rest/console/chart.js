// Line charts of up to an hour, as SVG: a grid of three lines, one path per series, and the values at
// the pointer.

import { h, replace, svg } from './dom.js'

const HEIGHT = 160
const LEFT = 66
const BOTTOM = 20
const TOP = 8
/** A line has a gap where no point follows within this time: the broker was not running. */
const GAP_MS = 30_000

export const perSecond = (format) => (n) => `${format(n)}/s`

/** series: {name, tone, field}; format(value) returns a text. A point has its time in at_ms. */
export class Chart {
  constructor({ title, series, format, thousand = 1000 }) {
    this.series = series
    this.format = format
    this.thousand = thousand
    this.points = []
    this.legend = h('span', { class: 'legend' })
    this.canvas = svg('svg', { role: 'img', 'aria-label': title })
    this.element = h('figure', { class: 'card chart' }, h('figcaption', {}, h('h2', {}, title), this.legend), this.canvas)
    this.canvas.addEventListener('pointermove', (event) => this.#hover(event))
    this.canvas.addEventListener('pointerleave', () => this.#hover(null))
    new ResizeObserver(() => this.draw(this.points)).observe(this.canvas)
  }

  draw(points) {
    this.points = points
    this.width = this.canvas.clientWidth || 480
    this.canvas.setAttribute('viewBox', `0 0 ${this.width} ${HEIGHT}`)
    this.until = points.at(-1)?.at_ms ?? 0
    const shownMs = this.until - (points[0]?.at_ms ?? 0)
    // Whole minutes, few at first.
    const minutes = Math.max(1, Math.ceil(shownMs / 60_000 - 0.1))
    this.spanMs = Math.max(minutes * 60_000, shownMs)
    this.top = ceiling(Math.max(0, ...points.flatMap((point) => this.series.map(({ field }) => point[field] ?? 0))), this.thousand)
    const grid = [0, 0.5, 1].map((share) => this.#gridLine(share))
    const axis = [
      svg('text', { x: LEFT, y: HEIGHT - 4, class: 'tick' }, `${minutes} min ago`),
      svg('text', { x: this.width, y: HEIGHT - 4, class: 'tick', 'text-anchor': 'end' }, 'now'),
    ]
    const lines = this.series.map(({ tone, field }) => svg('path', { d: this.#path(field), class: `line ${tone}` }))
    this.cursor = svg('line', { class: 'cursor', y1: TOP, y2: HEIGHT - BOTTOM, x1: -9, x2: -9 })
    replace(this.canvas, grid, axis, lines, this.#placeholder(), this.cursor)
    this.#showValues(points.at(-1))
  }

  /** A text in place of lines: an empty grid looks like a failure. */
  #placeholder() {
    const known = this.points.some((point) => this.series.some(({ field }) => (point[field] ?? null) !== null))
    return known ? null : svg('text', { x: (LEFT + this.width) / 2, y: HEIGHT / 2 - 10, class: 'tick', 'text-anchor': 'middle' }, 'no data yet')
  }

  #gridLine(share) {
    const y = this.#y(share * this.top)
    return [
      svg('line', { class: 'grid', x1: LEFT, x2: this.width, y1: y, y2: y }),
      svg('text', { class: 'tick', x: LEFT - 8, y: y + 4, 'text-anchor': 'end' }, this.format(share * this.top)),
    ]
  }

  #x(at) {
    return LEFT + (this.width - LEFT) * (1 - (this.until - at) / this.spanMs)
  }

  #y(value) {
    return HEIGHT - BOTTOM - ((HEIGHT - BOTTOM - TOP) * value) / this.top
  }

  /** A line with gaps where values are unknown; a value between two gaps is a dot. */
  #path(field) {
    let before = -Infinity
    return this.points
      .map((point) => {
        const value = point[field] ?? null
        const follows = point.at_ms - before < GAP_MS
        before = value === null ? -Infinity : point.at_ms
        if (value === null) return ''
        const place = `${this.#x(point.at_ms).toFixed(1)} ${this.#y(value).toFixed(1)}`
        return follows ? `L${place}` : `M${place}h0`
      })
      .join('')
  }

  #hover(event) {
    if (!event || !this.points.length) {
      this.cursor?.setAttribute('transform', 'translate(0 0)')
      this.#showValues(this.points.at(-1))
      return
    }
    const box = this.canvas.getBoundingClientRect()
    const x = ((event.clientX - box.left) / box.width) * this.width
    const nearest = this.points.reduce((best, point) =>
      Math.abs(this.#x(point.at_ms) - x) < Math.abs(this.#x(best.at_ms) - x) ? point : best,
    )
    this.cursor.setAttribute('transform', `translate(${this.#x(nearest.at_ms) + 9} 0)`)
    this.#showValues(nearest)
  }

  #showValues(point) {
    replace(
      this.legend,
      this.series.map(({ name, tone, field }) => {
        const value = point?.[field] ?? null
        return h('span', { class: `key ${tone}` }, `${name} `, h('b', {}, value === null ? '–' : this.format(value)))
      }),
    )
  }
}

/** The next round number, so that the scale changes seldom. */
function ceiling(value, thousand) {
  let unit = 1
  while (value >= unit * thousand) unit *= thousand
  while (value > 0 && value < unit / 1000) unit /= 1000
  const round = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((step) => step * unit >= value)
  return (round ?? thousand) * unit
}
