// A page with one table: heading, search field, number of rows, and a text for an empty table.

import { h, replace, to } from '../dom.js'
import { count, plural } from '../format.js'
import { note } from '../router.js'
import { filled } from '../states.js'
import { Table } from '../table.js'
import { matches, noMatch, searchField } from './parts.js'

/**
 * The address keeps search and sort. `noun` is what a row is, `textOf(row)` what the search looks in,
 * `none` is shown without rows, `action` beside the heading. Other facts are those of Table. Returns
 * a function that loads the rows again.
 */
export function listView(root, { query, signal, title, place, noun, ms, rowsOf, textOf, none, action, ...facts }) {
  let search = query.q ?? ''
  let rows = []
  const { sort } = facts
  const table = new Table({
    ...facts,
    label: title,
    signal,
    sort: { by: query.sort ?? sort.by, down: query.down ? query.down === '1' : sort.down },
    onsort: remember,
  })
  const total = h('small', { 'aria-live': 'polite' })
  const nothing = h('div')
  const card = h('div', { class: 'card' }, table.element, nothing)

  function remember() {
    const { by, down } = table.sort
    note(to(place, { q: search, sort: by === sort.by ? '' : by, down: down === sort.down ? '' : Number(down) }))
  }

  function show() {
    const found = rows.filter((row) => matches(textOf(row), search))
    const all = plural(rows.length, noun)
    total.textContent = search ? `${count(found.length)} of ${all}` : all
    table.element.hidden = !found.length
    table.rows = found
    replace(nothing, !rows.length ? none : !found.length && noMatch(noun, search))
    return card
  }

  const field = searchField(`Search ${title.toLowerCase()}`, search, (text) => {
    search = text
    show()
    remember()
  })
  const content = h('div')
  replace(
    root,
    h('div', { class: 'head' }, h('div', { class: 'grow' }, h('h1', {}, title)), action),
    h('div', { class: 'line-up' }, field, total),
    content,
  )
  return filled(content, {
    signal,
    ms,
    fetching: rowsOf,
    draw: (fetched) => {
      rows = fetched
      return show()
    },
  })
}
