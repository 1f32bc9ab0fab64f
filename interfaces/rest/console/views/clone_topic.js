// Clones a topic: the same partitions and configs, and optionally its records.

import { path, send, sendForLines } from '../api.js'
import { ask, toast } from '../dialog.js'
import { field, h } from '../dom.js'
import { count } from '../format.js'

/** Resolves to the new topic's name, or null. */
export async function cloneTopic(name) {
  const input = h('input', { autocomplete: 'off', spellcheck: 'false', maxlength: '249', value: `${name}-copy`.slice(0, 249) })
  const records = h('input', { type: 'checkbox', id: 'clone-records' })
  const bar = h('progress', { max: '1', value: '0', 'aria-label': 'Records copied' })
  const status = h('span', { class: 'soft' })
  const progress = h('div', { class: 'stack tight', hidden: true }, bar, status)

  function report({ copied_records: copied, total_records: total }) {
    bar.max = Math.max(total, 1)
    bar.value = total ? copied : 1
    status.textContent = `${count(copied)} of ${count(total)} records`
  }

  const done = await ask({
    title: `Clone ${name}`,
    body: [
      field('Name of the new topic', input, 'The copy has the same partitions and configs.'),
      h('label', { class: 'check', for: 'clone-records' }, records, 'Copy existing records'),
      progress,
    ],
    action: 'Clone',
    focus: input,
    run: async (signal) => {
      const body = { topic_name: input.value.trim(), records: records.checked }
      if (!records.checked) return send('POST', path`topics/${name}:clone`, body, { signal })
      input.disabled = records.disabled = true
      progress.hidden = false
      report({ copied_records: 0, total_records: 0 })
      bar.removeAttribute('value')
      status.textContent = 'Copying. Closing this dialog stops it and deletes the copy.'
      try {
        return await sendForLines('POST', path`topics/${name}:clone`, body, { signal, line: report })
      } finally {
        input.disabled = records.disabled = false
        progress.hidden = true
      }
    },
  })
  if (!done) return null
  toast(`Topic ${input.value.trim()} is a clone of ${name}.`)
  return input.value.trim()
}
