import { describe, expect, it } from '@jest/globals'
import { dynamoRegister } from '../../examples/registers/dynamodb.ts'
import { durableObjectRegister, TokenObject } from '../../examples/registers/durable-object.ts'
import { etcdRegister } from '../../examples/registers/etcd.ts'
import { natsRegister } from '../../examples/registers/nats.ts'
import { sharedStore } from '../../src/store/index.ts'
import { tokenRegisterChecks } from '../../tools/testing/index.ts'
import { manage, ScriptedSource } from '../support/managed.ts'

/** Each response of a server arrives in a later turn, so that the steps of many owners interleave. */
const later = () => new Promise<void>((resolve) => setImmediate(resolve))
let requests = 0
const received = () => {
  requests += 1
  return later()
}

interface EtcdCall {
  readonly key: string
  readonly compare: readonly { readonly key: string; readonly target: string; readonly value?: string }[]
  readonly success: readonly { readonly requestPut: { readonly key: string; readonly value: string } }[]
}

/** The three calls of etcd's JSON gateway that the recipe makes, as in its documentation. */
function etcd(): typeof fetch {
  const values = new Map<string, string>()
  const answers: Record<string, (call: EtcdCall) => object> = {
    'lease/grant': () => ({ ID: '7', TTL: '60' }),
    'kv/range': ({ key }) => (values.has(key) ? { kvs: [{ key, value: values.get(key) }], count: '1' } : {}),
    'kv/txn'({ compare, success }) {
      const holds = compare.every(({ key, target, value }) =>
        target === 'CREATE' ? !values.has(key) : values.get(key) === value,
      )
      if (holds) for (const { requestPut } of success) values.set(requestPut.key, requestPut.value)
      return holds ? { succeeded: true } : {}
    },
  }
  return async (url, init) => {
    await received()
    const answer = answers[(url as string).split('/v3/')[1]!]!(JSON.parse(init?.body as string) as EtcdCall)
    await later()
    return Response.json(answer, { headers: { Date: new Date().toUTCString() } })
  }
}

/** A NATS bucket: `create` and `update` reject unless the revision is the expected one. */
function bucket(): Parameters<typeof natsRegister>[0] {
  const entries = new Map<string, { value: string; revision: number }>()
  let last = 0
  const put = async (key: string, value: string, expected: number | undefined) => {
    await received()
    if (!/^[-/_=.a-zA-Z0-9]+$/.test(key)) throw new Error('invalid key')
    if (entries.get(key)?.revision !== expected) throw Object.assign(new Error('wrong last sequence'), { code: 10_071 })
    entries.set(key, { value, revision: (last += 1) })
    return last
  }
  return {
    async get(key) {
      await received()
      const entry = entries.get(key)
      return entry ? { operation: 'PUT', revision: entry.revision, string: () => entry.value } : null
    },
    create: (key, value) => put(key, value, undefined),
    update: put,
  }
}

/** A DynamoDB table with the two conditions of the recipe. */
function documents(): Parameters<typeof dynamoRegister>[0] {
  const items = new Map<string, Record<string, unknown>>()
  return {
    async get(input) {
      await received()
      const Item = items.get((input as { Key: { id: string } }).Key.id)
      return { ...(Item && { Item }) }
    },
    async put(input) {
      await received()
      const { Item, ConditionExpression, ExpressionAttributeValues } = input as {
        Item: { id: string }
        ConditionExpression: string
        ExpressionAttributeValues?: Record<string, unknown>
      }
      const stands = items.get(Item.id)
      const holds =
        ConditionExpression === 'attribute_not_exists(id)'
          ? stands === undefined
          : stands?.text === ExpressionAttributeValues?.[':expected']
      if (!holds) throw Object.assign(new Error('failed'), { name: 'ConditionalCheckFailedException' })
      items.set(Item.id, Item)
    },
  }
}

/** Durable Objects: each handles one request at a time. `npm run test:runtimes` runs the same checks in workerd. */
function objects(): Parameters<typeof durableObjectRegister>[0] {
  const open = new Map<unknown, { object: TokenObject; turn: Promise<unknown> }>()
  const create = () => {
    const values = new Map<string, string>()
    const put = (name: string, value: string) => later().then(() => void values.set(name, value))
    const get = (name: string) => later().then(() => values.get(name))
    const storage = { get, put, setAlarm: later, deleteAll: () => later().then(() => values.clear()) }
    return { object: new TokenObject({ storage }), turn: Promise.resolve() }
  }
  return {
    idFromName: (name) => name,
    get: (id) => ({
      async fetch(url, init) {
        const one = open.get(id) ?? create()
        open.set(id, one)
        await received()
        const answered = one.turn.then(() => one.object.fetch(new Request(url, init)))
        one.turn = answered
        return answered
      },
    }),
  }
}

const send = etcd()
const namespace = objects()
const shared = bucket()
const table = documents()

describe.each([
  ['etcd', () => etcdRegister('http://etcd', send), 5],
  ['NATS', () => natsRegister(shared), 5],
  ['Durable Objects', () => durableObjectRegister(namespace), 3],
  ['DynamoDB', () => dynamoRegister(table, 'tokens'), 3],
])('given the recipe of a register in %s, and a stand-in for its server', (_, open, perRenewal) => {
  const checks = tokenRegisterChecks(async () => ({ register: open() }))
  it.each(checks)('when it is checked: $name, then the check passes', ({ run }) => run())

  // One read and two replaces. A replace takes etcd a lease, too, and NATS a read of the revision.
  it(`when a token is renewed, then that takes ${perRenewal} requests`, async () => {
    const { tokens } = manage(new ScriptedSource({ pairs: true }), { store: sharedStore(open()), storeKey: 'renewed' })
    await tokens.getAccessToken()
    requests = 0
    await tokens.renew()
    expect(requests).toBe(perRenewal)
    await tokens.close()
  })
})
