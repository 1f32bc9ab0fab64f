// One group: members, assignments and lag.

import { get, path, send } from '../api.js'
import { Chart } from '../chart.js'
import { ask, toast } from '../dialog.js'
import { button, h, iconButton, replace, to } from '../dom.js'
import { count, plural, short } from '../format.js'
import { go } from '../router.js'
import { empty, filled } from '../states.js'
import { Table } from '../table.js'
import { groupName, stateBadge } from './parts.js'
import { resetOffsets } from './reset_offsets.js'

export function open(root, { names: [id], signal }) {
  const head = h('div', { class: 'head' })
  const content = h('div')
  let shown = null
  // Kafka accepts no commits for a group with an empty id.
  const reset = id !== '' && (async (place) => ((await resetOffsets(id, shown, place)) ? again() : null))
  const lags = lagTable(signal, reset)
  const members = memberTable(signal)
  const lag = h('small')
  const noLags = empty('No committed offsets', 'The lag is known when the group has committed an offset.')
  const noMembers = empty('The group has no members', 'Its committed offsets remain, and can be reset.')
  const chart = new Chart({ title: 'Lag', format: short, series: [{ name: 'all partitions', tone: 'one', field: 'lag' }] })
  const past = h('div')
  const sections = h(
    'div',
    { class: 'stack' },
    past,
    h('section', { class: 'card' }, h('h2', {}, 'Partitions', lag), lags.element, noLags),
    h('section', { class: 'card' }, h('h2', {}, 'Members'), members.element, noMembers),
  )
  replace(root, head, content)
  drawHead(null)

  function drawHead(group) {
    const crumbs = h('div', { class: 'crumbs' }, h('a', { href: to('groups') }, 'Groups'), '/')
    replace(head, h('div', { class: 'grow' }, crumbs, h('h1', {}, groupName(id)), group && facts(group)), group && actions())
  }

  function actions() {
    const remove = button('Delete', { onclick: () => deleteGroup(id) }, 'bin')
    return h('div', { class: 'actions' }, reset && button('Reset offsets', { onclick: () => reset({}) }), remove)
  }

  filled(past, {
    signal,
    ms: 5000,
    fetching: () => get(path`groups/${id}/history`, { signal }),
    draw: ({ data }) => {
      chart.draw(data)
      return chart.element
    },
  })
  const again = filled(content, {
    signal,
    ms: 2000,
    fetching: () => get(path`console/data/groups/${id}`, { signal }),
    draw: (group) => {
      shown = group
      // The buttons stay while only numbers change: the user may be about to press one.
      const state = JSON.stringify([group.state, group.members.length])
      if (head.dataset.state !== state) drawHead(group)
      head.dataset.state = state
      const all = total(group.partitions)
      lag.textContent = all === null ? 'other brokers lead some: their lag is not known here' : `total lag ${count(all)}`
      fill(lags, group.partitions, noLags)
      fill(members, group.members, noMembers)
      return sections
    },
  })
}

function fill(table, rows, nothing) {
  table.rows = rows
  table.element.hidden = !rows.length
  nothing.hidden = rows.length > 0
}

/** null: other brokers lead some of them. */
function total(partitions) {
  if (partitions.some((one) => one.is_elsewhere)) return null
  return partitions.reduce((sum, one) => sum + (one.lag ?? 0), 0)
}

function facts(group) {
  return h(
    'div',
    { class: 'line-up soft' },
    stateBadge(group.state),
    h('span', {}, `${group.kind} protocol`),
    group.assignor && h('span', {}, group.assignor),
    h('span', {}, plural(group.members.length, 'member')),
  )
}

function lagTable(signal, reset) {
  return new Table({
    label: 'Lag by partition',
    signal,
    keyOf: (one) => `${one.topic}:${one.partition}`,
    sort: { by: 'topic', down: false },
    columns: [
      { name: 'topic', title: 'Topic', compare: (one) => one.topic, cell: (one) => h('a', { href: to('topics', one.topic, 'consumers'), title: one.topic }, one.topic) },
      { name: 'partition', title: 'Partition', end: true, width: 'clamp(88px, 11vw, 98px)', compare: (one) => one.partition, cell: (one) => String(one.partition) },
      { name: 'current', title: 'Committed', end: true, wide: true, width: '110px', compare: (one) => one.current_offset, cell: (one) => count(one.current_offset) },
      { name: 'end', title: 'End', end: true, wide: true, width: '110px', compare: (one) => one.end_offset, cell: (one) => count(one.end_offset) },
      { name: 'lag', title: 'Lag', end: true, width: 'clamp(88px, 11vw, 110px)', compare: (one) => one.lag, cell: (one) => h('b', {}, count(one.lag)) },
      { name: 'member', title: 'Assigned to', wide: true, width: 'clamp(110px, 14vw, 300px)', compare: (one) => one.client_id ?? '', cell: (one) => (one.member_id === null ? h('span', { class: 'soft' }, 'no member') : h('span', { title: one.member_id }, one.client_id)) },
      reset && { name: 'reset', title: h('span', { class: 'unseen' }, 'Reset'), end: true, act: true, wide: true, width: '48px', cell: (one) => iconButton(`Reset partition ${one.partition} of ${one.topic}`, 'again', () => reset(one)) },
    ].filter(Boolean),
  })
}

function memberTable(signal) {
  return new Table({
    label: 'Members',
    signal,
    keyOf: (member) => member.member_id,
    columns: [
      { name: 'client', title: 'Client', compare: (member) => member.client_id, cell: (member) => h('span', { title: member.client_id }, member.client_id) },
      { name: 'id', title: 'Member id', wide: true, compare: (member) => member.member_id, cell: (member) => h('code', { title: member.member_id }, member.member_id) },
      { name: 'host', title: 'From', wide: true, width: '140px', compare: (member) => member.host, cell: (member) => member.host },
      { name: 'assigned', title: 'Assigned', compare: (member) => assigned(member), cell: (member) => h('span', { title: assigned(member) }, assigned(member) || h('span', { class: 'soft' }, 'nothing')) },
    ],
  })
}

function assigned(member) {
  return Object.entries(member.assigned).map(([topic, partitions]) => `${topic} ${partitions.join(', ')}`).join('; ')
}

async function deleteGroup(id) {
  const done = await ask({
    title: 'Delete this group?',
    body: h('p', {}, 'Its committed offsets are lost. Its consumers start again where auto.offset.reset says.'),
    action: 'Delete',
    danger: true,
    typed: id,
    run: () => send('DELETE', path`groups/${id}`),
  })
  if (done) {
    toast(`Group ${id} is deleted.`)
    go(to('groups'))
  }
}
