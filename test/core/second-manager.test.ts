import { describe, expect, it } from '@jest/globals'
import {
  type AnomalyKind,
  clientCredentials,
  createTokenManager,
  loginPassword,
  memoryStore,
  type TokenManagerOptions,
  type TokenSource,
} from '../../src/index.ts'
import { known } from '../../src/core/second-manager.ts'
import { oauth2 } from '../../src/oauth2/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { ScriptedSource } from '../support/managed.ts'
import { settle } from '../support/watched-clock.ts'

const baseUrl = 'https://payments.example.com/api'
const tokenEndpoint = 'https://login.example.com/token'

let accounts = 0
/** @returns A name that no other test has: each account is reported once in a process. */
const fresh = () => `account-${(accounts += 1)}`

const SOURCES: Record<string, (name: string) => TokenSource> = {
  clientCredentials: (clientId) => clientCredentials({ baseUrl, clientId, clientSecret: 's' }),
  loginPassword: (login) => loginPassword({ baseUrl, login, password: 'p' }),
  'oauth2 with client credentials': (clientId) => oauth2({ tokenEndpoint, clientId, clientSecret: 's' }),
}
const source = (name: string) => SOURCES.clientCredentials!(name)

/** @returns A manager, and the anomalies that a listener has received from the start. */
function manage(options: TokenManagerOptions) {
  const tokens = createTokenManager(options)
  const told: AnomalyKind[] = []
  tokens.on('anomaly', ({ kind }) => told.push(kind))
  return { tokens, told }
}

/** @returns What managers with these options report while they exist at the same time. */
async function toldBy(...all: TokenManagerOptions[]): Promise<AnomalyKind[][]> {
  const managed = all.map((options) => manage(options))
  await settle()
  await Promise.all(managed.map(({ tokens }) => tokens.close()))
  return managed.map(({ told }) => told)
}

describe('given two managers of one account in a process, without a shared store (F382)', () => {
  it.each(Object.keys(SOURCES))('when their sources are of %s, then the later one reports it', async (kind) => {
    const name = fresh()
    const again = () => ({ source: SOURCES[kind]!(name) })
    expect(await toldBy(again(), again(), again())).toEqual([[], ['second-manager'], []])
    expect(await toldBy(again(), again())).toEqual([[], []])
  })

  it('when one of them has a store, then the later one reports it', async () => {
    const name = fresh()
    expect(await toldBy({ source: source(name), store: memoryStore() }, { source: source(name) })).toEqual([
      [],
      ['second-manager'],
    ])
  })

  it('then the message states the remedy, and not the account', async () => {
    const name = fresh()
    const messages: string[] = []
    const first = createTokenManager({ source: source(name) })
    const second = createTokenManager({ source: source(name) })
    second.on('anomaly', ({ message }) => messages.push(message))
    await settle()
    expect(messages).toEqual([expect.stringMatching(/use one manager, or one store for both$/)])
    expect(messages.join()).not.toContain(name)
    await Promise.all([first.close(), second.close()])
  })
})

describe('F428: given two managers of one account whose stores have nothing in common', () => {
  it('when each has a memoryStore, then the later one reports it', async () => {
    const name = fresh()
    const own = () => ({ source: source(name), store: memoryStore() })
    expect(await toldBy(own(), own(), own())).toEqual([[], ['second-manager'], []])
  })

  it('when one has a memoryStore, and the other one a shared store, then the later one reports it', async () => {
    const [one, other] = [fresh(), fresh()]
    const shared = sharedStore(new MemoryRegister())
    const reported = [[], ['second-manager']]
    expect(await toldBy({ source: source(one), store: memoryStore() }, { source: source(one), store: shared })).toEqual(
      reported,
    )
    expect(
      await toldBy({ source: source(other), store: shared }, { source: source(other), store: memoryStore() }),
    ).toEqual(reported)
  })
})

describe('F434: given two managers of one login in a process, without a shared store', () => {
  const login = (account?: string, clientId = 'app') => oauth2({ grant: 'login', tokenEndpoint, clientId, account })

  it('when both have the same account, or none, then the later one reports it, once', async () => {
    const [name, clientId] = [fresh(), fresh()]
    const named = () => ({ source: login(name) })
    const unnamed = () => ({ source: login(undefined, clientId) })
    expect(await toldBy(named(), named(), named())).toEqual([[], ['second-manager'], []])
    expect(await toldBy(unnamed(), unnamed())).toEqual([[], ['second-manager']])
    const one = login(fresh())
    expect(await toldBy({ source: one }, { source: one })).toEqual([[], ['second-manager']])
  })

  it('when each has a memoryStore, then the later one reports it', async () => {
    const name = fresh()
    const own = () => ({ source: login(name), store: memoryStore() })
    expect(await toldBy(own(), own())).toEqual([[], ['second-manager']])
  })

  it('then the message is about a login, and states the remedy', async () => {
    const name = fresh()
    const messages: string[] = []
    const [first, second] = [createTokenManager({ source: login(name) }), createTokenManager({ source: login(name) })]
    second.on('anomaly', ({ message }) => messages.push(message))
    await settle()
    expect(messages).toEqual([
      expect.stringMatching(/of this login share no store: use one manager, or one store for both/),
    ])
    expect(messages.join()).not.toContain(name)
    await Promise.all([first.close(), second.close()])
  })

  it('when they share a store, or their accounts differ, or one was closed, then nothing is reported', async () => {
    const [name, store] = [fresh(), memoryStore()]
    expect(await toldBy({ source: login(name), store }, { source: login(name), store })).toEqual([[], []])
    expect(await toldBy({ source: login(fresh()) }, { source: login(fresh()) })).toEqual([[], []])
    const again = fresh()
    expect(await toldBy({ source: login(again) })).toEqual([[]])
    expect(await toldBy({ source: login(again) })).toEqual([[]])
  })
})

describe('given managers that are not two of one account (F382)', () => {
  it('when they share a store, or each has one, then nothing is reported', async () => {
    const [name, store] = [fresh(), memoryStore()]
    expect(await toldBy({ source: source(name), store }, { source: source(name), store })).toEqual([[], []])
    const stores = [sharedStore(new MemoryRegister()), sharedStore(new MemoryRegister())]
    expect(await toldBy(...stores.map((own) => ({ source: source(name), store: own })))).toEqual([[], []])
  })

  it('when the accounts, the services or the scopes differ, or no account has a name, then nothing is reported', async () => {
    const name = fresh()
    const elsewhere = clientCredentials({ baseUrl: 'https://other.example.com', clientId: name, clientSecret: 's' })
    const credentials = () => ({ clientId: name, clientSecret: 's' })
    const scoped = (scope: string) => oauth2({ tokenEndpoint, clientId: name, clientSecret: 's', scope })
    const unnamed = () => clientCredentials({ baseUrl, credentials })
    const sources = [source(name), source(fresh()), elsewhere, unnamed(), unnamed(), scoped('a'), scoped('b')]
    expect((await toldBy(...sources.map((own) => ({ source: own })))).flat()).toEqual([])
  })

  it('when different users log in, or the sources are custom, then nothing is reported', async () => {
    const person = () => oauth2({ grant: 'login', tokenEndpoint, clientId: 'app', account: fresh() })
    const other = () => oauth2({ grant: () => ({ grant_type: 'x' }), tokenEndpoint, clientId: 'app', account: 'a' })
    const sources = [person(), person(), other(), other(), new ScriptedSource(), new ScriptedSource()]
    expect((await toldBy(...sources.map((own) => ({ source: own })))).flat()).toEqual([])
  })

  it('when the first one was closed, before or in the same turn, then nothing is reported', async () => {
    const name = fresh()
    const first = manage({ source: source(name) })
    await first.tokens.close()
    const second = manage({ source: source(name) })
    await settle()
    const third = manage({ source: source(name) })
    void second.tokens.close()
    await settle()
    const fourth = manage({ source: source(name) })
    void fourth.tokens.close()
    await settle()
    expect([first, second, third, fourth].flatMap(({ told }) => told)).toEqual([])
    await third.tokens.close()
  })

  it('when the runtime has no WeakRef, then managers work, and nothing is reported', async () => {
    const { WeakRef: own } = globalThis
    Reflect.deleteProperty(globalThis, 'WeakRef')
    try {
      const name = fresh()
      expect(await toldBy({ source: source(name) }, { source: source(name) })).toEqual([[], []])
    } finally {
      Object.defineProperty(globalThis, 'WeakRef', { value: own, configurable: true, writable: true })
    }
  })
})

describe('given a process that opens and closes managers of many accounts', () => {
  it('then it keeps no entry for most of those without an open manager, and one for each open manager', async () => {
    const names = Array.from({ length: 100 }, fresh)
    const open = names.map((name) => createTokenManager({ source: source(name) }))
    for (let count = 0; count < 2_000; count += 1) await createTokenManager({ source: source(fresh()) }).close()
    expect(names.filter((name) => known.has(source(name).id))).toEqual(names)
    expect(known.size).toBeLessThan(3 * names.length)
    await Promise.all(open.map((tokens) => tokens.close()))
  })
})
