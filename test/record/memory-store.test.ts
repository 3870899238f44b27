import { expect, it } from '@jest/globals'
import { inspect } from 'node:util'
import { createTokenManager, memoryStore } from '../../src/index.ts'
import { manage, ScriptedSource } from '../support/managed.ts'
import { tokenStoreContract } from '../support/token-store-contract.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { settle, watchedClock } from '../support/watched-clock.ts'

tokenStoreContract('memory', memoryStore)

it('given two managers on one store, when the second needs a token, then it adopts the token of the first', async () => {
  const store = memoryStore()
  const clock = manualClock()
  const one = manage(new ScriptedSource(), { store }, clock)
  const other = manage(new ScriptedSource(), { store }, clock)
  expect(await one.tokens.getAccessToken()).toBe(await other.tokens.getAccessToken())
  expect([one.source.kinds, other.source.kinds, other.tokens.status().counts.adoptions]).toEqual(['obtain', '', 1])
  expect(other.observed.renewed).toMatchObject([{ by: 'adopted', because: 'cold', attempts: 0 }])
})

it('given two managers on one store, when both need a token at once, then one requests it and the other polls for it', async () => {
  const store = memoryStore()
  const clock = watchedClock()
  const one = manage(new ScriptedSource({ takesMs: 3_000 }), { store }, clock)
  const other = manage(new ScriptedSource(), { store }, clock)
  const both = Promise.all([one.tokens.getAccessToken(), other.tokens.getAccessToken()])
  await clock.advance(5_000)
  expect(await both).toEqual(['access-1', 'access-1'])
  expect(other.source.calls).toHaveLength(0)
  const polls = clock.delays.filter((ms) => [250, 500, 1_000].includes(ms))
  expect(polls).toEqual([250, 500, 1_000, 1_000, 1_000].slice(0, polls.length))
})

it('given two managers on one store, when one cools down, then so does the other, with the same code', async () => {
  const store = memoryStore()
  const clock = manualClock()
  const one = manage(new ScriptedSource(), { store, retry: { maxAttempts: 1 } }, clock)
  const other = manage(new ScriptedSource(), { store }, clock)
  one.source.script.push(() => {
    throw new Error('down')
  })
  await expect(one.tokens.getAccessToken()).rejects.toMatchObject({ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE' })
  await expect(other.tokens.getAccessToken()).rejects.toMatchObject({
    code: 'ERR_TOKEN_SERVICE_UNAVAILABLE',
    retryAt: clock.wallNow() + 5_000,
  })
  expect(other.source.calls).toHaveLength(0)
})

it('given a stored token in its hard window, when another manager starts, then it renews instead of adopting', async () => {
  const store = memoryStore()
  const clock = manualClock()
  const one = manage(new ScriptedSource(), { store, renewal: { keepWarm: 'never' } }, clock)
  await one.tokens.getAccessToken()
  await clock.advance(57_000)
  const other = manage(new ScriptedSource(), { store }, clock)
  await other.tokens.getAccessToken()
  expect(other.source.kinds).toBe('obtain')
})

it('given a store that holds tokens, when it is printed, then the tokens are not', async () => {
  const store = memoryStore()
  const { tokens } = manage(new ScriptedSource({ pairs: true }), { store })
  await tokens.getAccessToken()
  for (const thing of [store, tokens, tokens.status()])
    expect(inspect(thing, { depth: Infinity, showHidden: true }) + JSON.stringify(thing)).not.toMatch(
      /access-1|refresh-1/,
    )
})

it('given a source that does not name its account, when a store is given without a key, then that is rejected', () => {
  const source = { id: '', obtain: () => Promise.resolve({ accessToken: 'a', accessLifetimeMs: 60_000 }) }
  expect(() => createTokenManager({ source, store: memoryStore() })).toThrow(/storeKey/)
  createTokenManager({ source, store: memoryStore(), storeKey: 'mine' })
  createTokenManager({ source })
})

it('given a manager, when no caller needs a token, then no request is made and no timer runs', async () => {
  const { clock, source } = manage()
  await settle()
  expect([source.calls.length, clock.pendingTimers]).toEqual([0, 0])
})
