import { describe, expect, it } from '@jest/globals'
import { logEvents, memoryStore, type TokenStore } from '../../src/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { asked, loginOf, open } from '../support/people.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { settle } from '../support/watched-clock.ts'

const STORES: [string, () => TokenStore][] = [
  ['memoryStore', memoryStore],
  ['a register', () => sharedStore(new MemoryRegister())],
]

describe.each(STORES)('given a manager on %s that was notified that a login is required', (_, makeStore) => {
  it.each(['logout', 'reset'] as const)(
    'F362: when another user has logged in elsewhere since, then %s ends no login, and revokes nothing',
    async (act) => {
      const store = makeStore()
      const [form, elsewhere] = [open(store), open(store)]
      expect(await asked(form.tokens.getAccessToken())).toBe('ERR_LOGIN_REQUIRED')
      expect(form.tokens.status().login).toBe('required')
      await elsewhere.tokens.adopt(loginOf('carol', 'carol'))
      await form.tokens[act]()
      await settle()
      expect([form.source.revoked, elsewhere.source.revoked]).toEqual([[], []])
      expect(await asked(open(store).tokens.getAccessToken())).toBe('carol')
      expect(await asked(elsewhere.tokens.getAccessToken())).toBe('carol')
    },
  )

  it('F362: when a manager has not been notified, then its logout ends the stored login', async () => {
    const store = makeStore()
    await open(store).tokens.adopt(loginOf('carol', 'carol'))
    const program = open(store)
    await program.tokens.logout()
    expect(program.source.revoked).toEqual(['carol-r'])
    expect(await asked(open(store).tokens.getAccessToken())).toBe('ERR_LOGIN_REQUIRED')
  })

  it('F386: when a manager finds the login of its store, then there is no new login, no renewal, and no log line', async () => {
    const store = makeStore()
    await open(store).tokens.adopt(loginOf('carol', 'carol'))
    const { tokens, observed } = open(store)
    const lines: unknown[] = []
    const log = (...line: unknown[]) => lines.push(...line)
    logEvents(tokens, { info: log, warn: log, error: log })
    expect(await asked(tokens.getAccessToken())).toBe('carol')
    await settle()
    expect(observed.loginChanged).toEqual([{ login: 'present', by: 'store', account: 'unknown' }])
    expect([observed.renewed, observed.renewalFailed]).toEqual([[], []])
    expect(lines.filter((line) => !String(line).includes('tokens-unencrypted'))).toEqual([])
  })

  it('F386: when a visitor has no login, then there is no failure, and no log line', async () => {
    const { tokens, observed } = open(makeStore())
    const lines: unknown[] = []
    const log = (...line: unknown[]) => lines.push(...line)
    logEvents(tokens, { info: log, warn: log, error: log })
    expect(await asked(tokens.getAccessToken())).toBe('ERR_LOGIN_REQUIRED')
    await settle()
    expect(observed.loginChanged).toMatchObject([{ login: 'required', by: 'store', reason: 'none-yet' }])
    expect(observed.renewalFailed).toEqual([])
    expect(lines.filter((line) => !String(line).includes('tokens-unencrypted'))).toEqual([])
  })

  it('F386: when another user logs in elsewhere later, then that is reported as before', async () => {
    const store = makeStore()
    const { tokens, observed, clock } = open(store)
    await tokens.adopt(loginOf('alice', 'alice'))
    await open(store, clock).tokens.adopt(loginOf('bob', 'bob'))
    await asked(tokens.renew())
    await settle()
    expect(observed.loginChanged.map(({ by, account }) => [by, account])).toEqual([
      ['here', 'unknown'],
      ['elsewhere', 'other'],
    ])
  })
})

describe('given a store that is unavailable', () => {
  it.each(['private', 'fail'] as const)(
    'F350: when a user logs in with onUnavailable %s, then the login is used here at once, and adopt rejects until the store has it',
    async (onUnavailable) => {
      const register = new MemoryRegister()
      const store = sharedStore(register, { onUnavailable })
      const { tokens, clock } = open(store)
      const read = register.read.bind(register)
      register.read = () => Promise.reject(new Error('away'))
      const adopted = asked(tokens.adopt(loginOf('alice', 'alice')))
      expect(tokens.peekAccessToken()).toBe('alice')
      expect(await adopted).toBe('ERR_STORE_UNAVAILABLE')
      expect([tokens.peekAccessToken(), tokens.status().login]).toEqual(['alice', 'present'])
      register.read = read
      await clock.advance(61_000)
      expect(await asked(tokens.getAccessToken())).toBe('access-1')
      expect(await asked(open(store, clock).tokens.getAccessToken())).toBe('access-1')
    },
  )
})
