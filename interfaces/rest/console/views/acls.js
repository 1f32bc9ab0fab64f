// ACLs, and the question whether somebody may do something.

import { get, may, send, withQuery } from '../api.js'
import { ask, toast } from '../dialog.js'
import { badge, button, choice, field, h, replace } from '../dom.js'
import { empty } from '../states.js'
import { listView } from './list_view.js'

const FIELDS = ['resource_type', 'resource_name', 'pattern_type', 'principal', 'host', 'operation', 'permission']
const RESOURCES = ['TOPIC', 'GROUP', 'TRANSACTIONAL_ID', 'CLUSTER', 'USER', 'DELEGATION_TOKEN']
const OPERATIONS = ['ALL', 'READ', 'WRITE', 'CREATE', 'DELETE', 'ALTER', 'DESCRIBE', 'CLUSTER_ACTION', 'DESCRIBE_CONFIGS', 'ALTER_CONFIGS', 'IDEMPOTENT_WRITE']
const CLUSTER = 'kafka-cluster'

export function open(root, { query, signal }) {
  const again = listView(root, {
    query,
    signal,
    title: 'ACLs',
    place: 'acls',
    noun: 'ACL',
    ms: 5000,
    rowsOf: async () => (await get('acls', { signal })).data,
    keyOf: (one) => one.metadata.self,
    textOf: words,
    none: empty('There are no ACLs', 'Without one, only super users may do anything, unless allow.everyone.if.no.acl.found is true.'),
    action: [button('May …?', { onclick: question }), may('ALTER') && button('New ACL', { onclick: () => create(again) }, 'plus')],
    sort: { by: 'principal', down: false },
    columns: [
      { name: 'principal', title: 'Principal', compare: (one) => one.principal, cell: (one) => h('span', { title: one.principal }, one.principal) },
      { name: 'permission', title: 'May', width: '84px', compare: (one) => one.permission, cell: (one) => badge(one.permission.toLowerCase(), one.permission === 'ALLOW' ? 'good' : 'bad') },
      { name: 'operation', title: 'Operation', width: 'clamp(96px, 14vw, 168px)', compare: (one) => one.operation, cell: (one) => one.operation },
      { name: 'resource', title: 'Resource', compare: resource, cell: (one) => h('span', { title: resource(one) }, resource(one)) },
      { name: 'host', title: 'From', wide: true, width: '130px', compare: (one) => one.host, cell: (one) => one.host },
      may('ALTER') && { name: 'delete', title: h('span', { class: 'unseen' }, 'Delete'), end: true, act: true, width: '100px', cell: (one) => button('Delete', { class: 'small', 'aria-label': `Delete: ${words(one)}`, onclick: () => remove(one, again) }) },
    ].filter(Boolean),
  })
}

function resource({ resource_type: type, resource_name: name, pattern_type: pattern }) {
  return `${type} ${name}${pattern === 'PREFIXED' ? ' (prefix)' : ''}`
}

function words(one) {
  return `${one.principal} from ${one.host}: ${one.permission} ${one.operation} on ${resource(one)}`
}

/** The inputs that name an operation of a principal on a resource, and their values. */
function inputs() {
  const principal = h('input', { placeholder: 'User:alice', required: true, autocomplete: 'off', spellcheck: 'false' })
  const operation = choice(OPERATIONS.map((one) => [one, one]), 'READ')
  const type = choice(RESOURCES.map((one) => [one, one]), 'TOPIC')
  const name = h('input', { required: true, autocomplete: 'off', spellcheck: 'false' })
  const host = h('input', { value: '*', autocomplete: 'off', spellcheck: 'false' })
  type.addEventListener('change', () => {
    if (type.value === 'CLUSTER') name.value = CLUSTER
  })
  const values = () => ({ principal: principal.value, operation: operation.value, resource_type: type.value, resource_name: name.value, host: host.value })
  return { principal, operation, type, name, host, values }
}

async function create(again) {
  const { principal, operation, type, name, host, values } = inputs()
  const permission = choice([['ALLOW', 'may'], ['DENY', 'may not']], 'ALLOW')
  const pattern = choice([['LITERAL', 'exactly'], ['PREFIXED', 'all that begin so']], 'LITERAL')
  const done = await ask({
    title: 'New ACL',
    wide: true,
    body: h('div', { class: 'stack' },
      h('div', { class: 'fields' }, field('Principal', principal, 'User:* is everybody.'), field('From the address', host, '* is every one.')),
      h('div', { class: 'fields' }, field('Permission', permission), field('Operation', operation)),
      h('div', { class: 'fields' }, field('Resource', type), field('Name', name, '* is every one.'), field('The name is meant', pattern))),
    action: 'Create',
    focus: principal,
    run: () => send('POST', 'acls', { ...values(), permission: permission.value, pattern_type: pattern.value }),
  })
  if (done) {
    toast('The ACL is created.')
    again()
  }
}

async function remove(one, again) {
  const done = await ask({
    title: 'Delete this ACL?',
    body: h('p', {}, words(one)),
    action: 'Delete',
    danger: true,
    run: () => send('DELETE', withQuery('acls', Object.fromEntries(FIELDS.map((name) => [name, one[name]])))),
  })
  if (done) {
    toast('The ACL is deleted.')
    again()
  }
}

async function question() {
  const { principal, operation, type, name, host, values } = inputs()
  const answer = h('div', { 'aria-live': 'polite' })
  await ask({
    title: 'May somebody do something?',
    wide: true,
    body: h('div', { class: 'stack' },
      h('div', { class: 'fields' }, field('Principal', principal), field('From the address', host)),
      h('div', { class: 'fields' }, field('Operation', operation), field('Resource', type), field('Name', name)),
      answer),
    action: 'Ask',
    focus: principal,
    run: async () => {
      const { allowed, reason, acl } = await send('POST', './acls:test', values())
      replace(answer, badge(allowed ? 'yes' : 'no', allowed ? 'good' : 'bad'), ` ${reason}`, acl && h('div', { class: 'soft' }, words(acl)))
      return false
    },
  })
}
