import { describe, expect, it } from '@jest/globals'
import type { TokenManagerOptions } from '../../src/index.ts'
import { failing, failingWith, held, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { storeWith } from '../support/store-with.ts'
import { settle } from '../support/watched-clock.ts'

type Answer = ScriptedSource['script'][number]

/** The refresh of a manager has failed. Its store has executed the release, and responds when the test calls `open`. */
async function whileReleasing(answer: Answer, options: Partial<TokenManagerOptions> = {}) {
  let open = (): void => undefined
  const answered = new Promise<void>((resolve) => (open = resolve))
  const store = storeWith((record) => ({
    async release(...args) {
      const said = await record.release(...args)
      await answered
      return said
    },
  }))
  const world = manage(new ScriptedSource({ pairs: true }), { store, renewal: { keepWarm: 'never' }, ...options })
  const { source, tokens } = world
  await tokens.getAccessToken()
  source.script.push(answer)
  const waiting = outcome(tokens.renew())
  await settle()
  expect(source.kinds).toBe('obtain refresh')
  return { ...world, waiting, open }
}

describe('given a refresh that failed, and a reset() while the store responds to its release (F275)', () => {
  it.each<[string, Answer]>([
    ['was lost', failingWith('ERR_TOKEN_SERVICE_UNAVAILABLE', 'unknown')],
    ['reported an unusable refresh token', failing(400)],
    ['rejected the refresh token', failing(401)],
  ])('when its response %s, then tokens adopted afterwards are refreshed, not obtained again', async (_, answer) => {
    const { source, tokens, open } = await whileReleasing(answer)
    await tokens.reset()
    const adopted = tokens.adopt(source.grant({ refreshToken: 'adopted' }))
    open()
    await adopted
    await tokens.renew()
    expect(source.calls.slice(2).map(({ refreshToken }) => refreshToken)).toContain('adopted')
  })

  it('when its refresh token was rejected, then the reset explains it: nothing is suspicious, then or later', async () => {
    const { source, tokens, observed, open, clock } = await whileReleasing(failing(401), { onSuspicious: 'stop' })
    await tokens.reset()
    open()
    await settle()
    expect(await tokens.getAccessToken()).toBe('access-2')
    await clock.advance(120_000)
    expect([observed.suspicious, observed.renewalFailed, source.calls.length]).toEqual([[], [], 3])
    expect(tokens.status()).toMatchObject({ counts: { suspicions: 0 } })
  })

  it.each<[string, Answer]>([
    ['the service failed', failing(503)],
    ['the service asked for a pause', failing(429, { retryAfterMs: 600_000 })],
    ['the credentials were rejected', failingWith('ERR_CREDENTIALS_REJECTED', 'rejected')],
  ])('when %s, then there is no cool-down: callers obtain at once', async (_, answer) => {
    const { source, tokens, observed, open, waiting } = await whileReleasing(answer)
    await tokens.reset()
    open()
    await waiting
    expect(await tokens.getAccessToken()).toBe('access-2')
    expect(source.kinds).toBe('obtain refresh obtain')
    expect([observed.retry, observed.renewalFailed]).toEqual([[], []])
    expect(tokens.status()).not.toHaveProperty('lastError')
  })

  it('when an exchange of the next renewal is in flight, then the response of the last one does not touch it', async () => {
    const { source, tokens, open, waiting } = await whileReleasing(
      failingWith('ERR_TOKEN_SERVICE_UNAVAILABLE', 'unknown'),
    )
    await tokens.reset()
    const gate = held(() => source.grant())
    source.script.push(gate.answer)
    open()
    await settle()
    expect(source.kinds).toBe('obtain refresh obtain')
    gate.open()
    await waiting
    await tokens.renew()
    expect(source.kinds).toBe('obtain refresh obtain refresh')
  })
})
