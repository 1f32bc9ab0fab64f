import { path, send } from '../api.js'
import { ask, toast } from '../dialog.js'
import { h } from '../dom.js'

export async function deleteTopic(name) {
  const done = await ask({
    title: 'Delete this topic?',
    body: h('p', {}, 'Its records and the committed offsets of all groups for it are deleted too. This cannot be undone.'),
    action: 'Delete',
    danger: true,
    typed: name,
    run: () => send('DELETE', path`topics/${name}`),
  })
  if (done) toast(`Topic ${name} is deleted.`)
  return done
}
