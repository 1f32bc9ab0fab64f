// Deletes records of a topic or of one partition: all, or those before an offset.

import { Failure, path, send } from '../api.js'
import { ask, toast } from '../dialog.js'
import { choice, field, h, partitionChoice } from '../dom.js'

export async function deleteRecords(name, partitionsCount) {
  const partition = partitionChoice('All', partitionsCount, '')
  const range = choice([['all', 'All records'], ['before', 'Those before an offset']], 'all')
  const offset = h('input', { type: 'number', min: '0', step: '1' })
  const offsetField = field('Before offset', offset, 'The new log start offset.')
  const update = () => {
    offsetField.hidden = range.value !== 'before'
    offset.required = !offsetField.hidden
  }
  update()

  function body() {
    if (range.value === 'before' && !/^[0-9]+$/.test(offset.value)) throw new Failure('Enter an offset.', null)
    const before = range.value === 'before' ? Number(offset.value) : null
    if (partition.value) return { partitions: [{ partition_id: Number(partition.value), ...(before === null ? {} : { offset: before }) }] }
    return before === null ? {} : { before_offset: before }
  }

  const done = await ask({
    title: 'Delete records of this topic?',
    body: h('div', { class: 'stack', oninput: update },
      h('p', {}, 'This cannot be undone. The topic stays, with its configs, and offsets are not reused.'),
      h('div', { class: 'fields' }, field('Partition', partition), field('Which', range), offsetField),
    ),
    action: 'Delete records',
    danger: true,
    typed: name,
    run: async () => {
      const response = await send('POST', path`topics/${name}:truncate`, body())
      const refused = response.partitions.find((one) => one.error_code)
      if (refused) throw new Failure(`Partition ${refused.partition_id}: ${refused.message}`, null)
    },
  })
  if (done) toast(`Records of ${name} are deleted.`)
  return done
}
