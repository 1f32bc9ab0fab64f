// Resets the offsets of a group, with a preview before.

import { path, send } from '../api.js'
import { ask, toast } from '../dialog.js'
import { choice, field, h, replace } from '../dom.js'
import { ZONE, count, fromInput, plural } from '../format.js'

const AIMS = [
  ['earliest', 'The earliest record'],
  ['latest', 'The end'],
  ['offset', 'An offset'],
  ['timestamp', 'A time'],
  ['shift_by', 'Forward or back by a number of records'],
]

/** `place` may have a topic, and a partition of it, which are chosen at first. */
export async function resetOffsets(id, group, place) {
  const topics = [...new Set(group.partitions.map((one) => one.topic))]
  const topic = choice([['', 'All topics'], ...topics.map((name) => [name, name])], place.topic ?? '')
  const aim = choice(AIMS, 'earliest')
  const partitions = h('input', { placeholder: 'all', autocomplete: 'off', inputmode: 'numeric', value: place.partition })
  const number = h('input', { type: 'number', step: '1', value: '0' })
  const at = h('input', { type: 'datetime-local', step: '0.001' })
  const onlyOf = field('Partitions', partitions, 'Numbers with commas. Empty: all.')
  const numberField = field('Offset', number)
  const timeField = field('Time', at, `In ${ZONE}.`)
  const preview = h('div', { 'aria-live': 'polite' })
  let previewed = null

  function request() {
    const body = { to: aim.value }
    if (topic.value) {
      body.topic = topic.value
      if (partitions.value.trim()) body.partitions = partitions.value.split(',').map((one) => Number(one.trim()))
    }
    if (aim.value === 'offset') body.offset = Number(number.value)
    if (aim.value === 'shift_by') body.shift_by = Number(number.value)
    if (aim.value === 'timestamp') body.timestamp = fromInput(at.value)
    return body
  }

  function update() {
    numberField.hidden = aim.value !== 'offset' && aim.value !== 'shift_by'
    numberField.firstChild.textContent = aim.value === 'shift_by' ? 'Records (negative: back)' : 'Offset'
    timeField.hidden = aim.value !== 'timestamp'
    onlyOf.hidden = !topic.value
    // The preview is of another request.
    previewed = null
    replace(preview)
    rename?.('Preview')
  }

  let rename = null
  const form = h('div', { class: 'stack', oninput: update },
    h('div', { class: 'fields' }, field('Topics', topic), onlyOf),
    h('div', { class: 'fields' }, field('Reset to', aim), numberField, timeField),
    preview,
  )
  update()

  const done = await ask({
    title: `Reset offsets of ${id}`,
    body: form,
    action: 'Preview',
    wide: true,
    named: (renameButton) => (rename = renameButton),
    run: async () => {
      const body = request()
      if (JSON.stringify(body) === previewed) {
        await send('POST', path`groups/${id}/offsets`, { ...body, dry_run: false })
        return true
      }
      const { data } = await send('POST', path`groups/${id}/offsets`, { ...body, dry_run: true })
      replace(preview, table(data))
      previewed = JSON.stringify(body)
      rename(`Reset ${plural(data.length, 'partition')}`)
      return false
    },
  })
  if (done) toast(`Offsets of ${id} are reset.`)
  return done
}

function table(resets) {
  const cell = (value) => h('td', { class: 'end' }, value === null ? h('span', { class: 'soft' }, 'none') : count(value))
  return h('div', { class: 'scroll preview', tabindex: '0', role: 'region', 'aria-label': 'Preview' }, h('table', { class: 'rows small' },
    h('thead', {}, h('tr', {}, ['Topic', 'Partition', 'Current offset', 'New offset'].map((title, n) => h('th', { scope: 'col', class: n ? 'end' : null }, title)))),
    h('tbody', {}, resets.map((one) => h('tr', {}, h('td', {}, one.topic_name), h('td', { class: 'end' }, String(one.partition_id)), cell(one.before), cell(one.after)))),
  ))
}
