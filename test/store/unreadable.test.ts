import { describe, expect, it } from '@jest/globals'
import { TokenError } from '../../src/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { manage, outcome, ScriptedSource } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { person } from '../../src/login/index.ts'

const GRANT = { accessToken: 'adopted', accessLifetimeMs: 60_000, refreshToken: 'theirs' }
const login = () => Object.assign(new ScriptedSource({ pairs: true }), { login: person })

function start(source = login()) {
  const clock = manualClock()
  const register = new MemoryRegister(clock)
  const owner = () => manage(source, { store: sharedStore(register), storeKey: 'a' }, clock)
  const stored = () => [...register.values.values()][0]!.value
  const write = (value: string) => {
    for (const [key, { until }] of register.values) register.values.set(key, { value, until })
  }
  /** Changes the stored state. */
  const change = (changes: (state: { tokens: object }) => object) => {
    const envelope = JSON.parse(stored()) as { box: string }
    write(JSON.stringify({ ...envelope, box: JSON.stringify(changes(JSON.parse(envelope.box) as { tokens: object })) }))
  }
  const state = () => JSON.parse((JSON.parse(stored()) as { box: string }).box) as { tokens: object }
  return { clock, owner, stored, write, change, state }
}

describe('given an unreadable record of a login (F298)', () => {
  const damaged = async () => {
    const world = start()
    await world.owner().tokens.adopt(GRANT)
    world.write('garbage')
    return world
  }

  it('when a caller needs a token, then the record stays, and no user is sent to log in', async () => {
    const { clock, owner, stored } = await damaged()
    const { tokens, source, observed } = owner()
    const asked = outcome(tokens.getAccessToken({ maxWaitMs: 5_000 }))
    await clock.advance(5_000)
    expect(await asked).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE', retryable: true })
    expect([stored(), source.calls, observed.anomaly.map(({ kind }) => kind)]).toEqual([
      'garbage',
      [],
      expect.arrayContaining(['stored-tokens-unusable']),
    ])
  })

  it.each(['adopt', 'logout', 'reset'] as const)('when a caller calls %s, then the record is replaced', async (act) => {
    const { clock, owner, stored } = await damaged()
    const { tokens } = owner()
    const done = act === 'adopt' ? tokens.adopt(GRANT) : tokens[act]()
    await clock.advance(2_000)
    await done
    expect(stored()).toContain('"schema":1')
  })

  it('when the source can obtain, then the next lease replaces the record', async () => {
    const { owner, stored, write } = start(new ScriptedSource({ pairs: true }) as never)
    await owner().tokens.getAccessToken()
    write('garbage')
    expect(await owner().tokens.getAccessToken()).toBe('access-2')
    expect(stored()).toContain('"schema":1')
  })
})

describe('given a record with optional members of a later release (F297)', () => {
  it('when this release renews it, then those of the record are kept, and those of the token set are dropped (F354)', async () => {
    const { owner, change, state } = start()
    await owner().tokens.adopt(GRANT)
    change(({ tokens, ...members }) => ({
      ...members,
      later: 'kept',
      tokens: { ...tokens, hint: { of: 'the login' } },
    }))
    const { tokens, source } = owner()
    expect(await tokens.getAccessToken()).toBe('adopted')
    await tokens.renew()
    expect(source.kinds).toBe('refresh')
    expect(state()).toMatchObject({ later: 'kept', tokens: { accessToken: 'access-1' } })
    expect(state().tokens).not.toHaveProperty('hint')
  })

  it('when an exchange fails, then those of the token set are kept, and those of the lease and of the cool-down are dropped (F354)', async () => {
    const { owner, change, state } = start()
    await owner().tokens.adopt(GRANT)
    const { tokens, source } = owner()
    source.script.push(() => {
      change((all) => {
        const { lease } = all as { lease?: object }
        return { ...all, tokens: { ...all.tokens, hint: 1 }, lease: { ...lease, hint: 1 } }
      })
      throw new TokenError('ERR_THROTTLED', 'later', { outcome: 'deferred', retryAfterMs: 100_000 })
    })
    await outcome(tokens.renew())
    const { lease, coolDown, ...members } = state() as Record<string, object | undefined>
    expect([members.tokens, lease, coolDown]).toMatchObject([{ hint: 1 }, undefined, { code: 'ERR_THROTTLED' }])
    expect(coolDown).not.toHaveProperty('hint')
  })

  it.each(['logout', 'reset'] as const)(
    'when it clears the tokens by %s(), then those of the record are kept (F354)',
    async (act) => {
      const { owner, change, state } = start()
      const { tokens } = owner()
      await tokens.adopt(GRANT)
      change((all) => ({ ...all, later: 'kept' }))
      await tokens[act]()
      expect(state()).toMatchObject({ later: 'kept' })
      expect(state()).not.toHaveProperty('tokens')
    },
  )

  it('when a user logs in, then those of the earlier login are gone', async () => {
    const { owner, change, state } = start()
    await owner().tokens.adopt(GRANT)
    change(({ tokens, ...members }) => ({ ...members, tokens: { ...tokens, hint: 'of the earlier login' } }))
    await owner().tokens.adopt({ ...GRANT, accessToken: 'later', refreshToken: 'later-refresh' })
    expect(state().tokens).not.toHaveProperty('hint')
  })
})
